//! The charts of the page: the last two minutes, each chart with its own scale.

use std::fmt::Write as _;

use maud::{Markup, html};

use crate::http::operators::status::PerSecond;
use crate::stats::counter::float;
use crate::stats::rates::SECONDS;
use crate::text::{grouped, length};

/// The height of the drawing. Its width is one unit per second, and browsers stretch it.
const HEIGHT: f64 = 40.0;

/// A line of a chart: its style, its name, and its values, the newest last.
struct Line {
    class: &'static str,
    name: &'static str,
    values: Vec<Option<f64>>,
}

/// How values are formatted, and the smallest upper end of the scale.
struct Unit {
    text: fn(f64) -> String,
    least: f64,
}

const COUNT: Unit = Unit { text: count, least: 1.0 };
const TIME: Unit = Unit { text: length, least: 0.001 };

pub(crate) fn charts(rates: &PerSecond) -> Markup {
    let counts = |values: &[u64]| values.iter().map(|&value| Some(float(value))).collect();
    let line = |class, name, values| Line { class, name, values };
    // Without errors the line is not red, so that it does not alarm.
    let errors = if rates.errors.iter().any(|&count| count > 0) { "errors" } else { "none" };
    html! {
        section #charts aria-label="The last two minutes" {
            (chart("uids", "UIDs per second", COUNT, &[line("first", "", counts(&rates.uids))]))
            (chart("numbers", "Numbers per second", COUNT,
                &[line("first", "", counts(&rates.numbers))]))
            (chart("requests", "Requests per second", COUNT, &[
                line("first", "all", counts(&rates.requests)),
                line(errors, "errors", counts(&rates.errors)),
            ]))
            (chart("latency", "Time of answers", TIME, &[
                line("first", "99 %", rates.slowest_seconds.clone()),
                line("second", "50 %", rates.median_seconds.clone()),
            ]))
        }
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // it was one
fn count(value: f64) -> String {
    grouped(value as u64)
}

fn chart(id: &str, title: &str, Unit { text, least }: Unit, lines: &[Line]) -> Markup {
    let values = lines.iter().flat_map(|line| line.values.iter().flatten());
    let most = values.fold(0.0, |most, &value| value.max(most));
    let top = round_up(most.max(least));
    let now = |line: &Line| line.values.last().copied().flatten();
    let now = |line| now(line).map_or_else(|| "–".to_owned(), text);
    let middle = SECONDS / 2;
    html! {
        figure id=(id) {
            figcaption {
                span { (title) }
                @for line in lines {
                    " "
                    span class=(line.class) {
                        @if !line.name.is_empty() { (line.name) " " }
                        strong { (now(line)) }
                    }
                }
            }
            div .plot {
                span .top { (text(top)) }
                span .zero { "0" }
                svg viewBox={ "0 0 " (SECONDS - 1) " " (HEIGHT) } preserveAspectRatio="none"
                    role="img" aria-label={ (title) " over two minutes, at most " (text(most)) } {
                    path .grid d={ "M0,20H" (SECONDS - 1) "M" (middle) ",0V" (HEIGHT) } {}
                    @for line in lines { path class=(line.class) d=(path(&line.values, top)) {} }
                }
                span .ago { "2 min ago" }
                span .middle { "1 min ago" }
                span .now { "now" }
            }
        }
    }
}

/// Rounds up to 1, 2 or 5 times a power of ten.
fn round_up(value: f64) -> f64 {
    let power = 10_f64.powi(exponent(value));
    let steps = [1.0, 2.0, 5.0].map(|step| step * power);
    steps.into_iter().find(|&step| value <= step).unwrap_or(10.0 * power)
}

/// The exponent of the highest power of ten that is not above `value`.
#[allow(clippy::cast_possible_truncation)] // a logarithm is small
fn exponent(value: f64) -> i32 {
    value.log10().floor() as i32
}

/// An SVG path. The newest second is on the right, and missing values interrupt the line.
fn path(values: &[Option<f64>], top: f64) -> String {
    let first = SECONDS - values.len().min(SECONDS);
    let mut path = String::new();
    let mut is_broken = true;
    for (second, value) in (first..).zip(values) {
        if let Some(value) = value {
            let height = HEIGHT - value / top * HEIGHT;
            // A value between two missing ones is drawn as a dot.
            let (step, dot) = if is_broken { ("M", "h0") } else { ("L", "") };
            // Writing to a `String` never fails.
            let _ = write!(path, "{step}{second},{height:.2}{dot}");
        }
        is_broken = value.is_none();
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_ends_at_a_round_number() {
        for (value, expected) in [
            (1.0, 1.0),
            (1.1, 2.0),
            (3.0, 5.0),
            (5.1, 10.0),
            (32_000.0, 50_000.0),
            (100_000.0, 100_000.0),
            (0.001, 0.001),
            (0.0042, 0.005),
        ] {
            let found = round_up(value);
            assert!((found - expected).abs() < expected * 1e-9, "{value}: {found}");
        }
    }

    #[test]
    fn the_newest_second_is_on_the_right() {
        let values = [Some(0.0), Some(5.0), None, Some(10.0)];
        assert_eq!(path(&values, 10.0), "M116,40.00h0L117,20.00M119,0.00h0");
        assert_eq!(path(&[], 1.0), "");
    }

    #[test]
    fn each_chart_has_a_scale_with_its_unit() {
        let rates = PerSecond {
            uids: vec![45_000],
            numbers: vec![32_000],
            requests: vec![7],
            errors: vec![2],
            median_seconds: vec![None],
            slowest_seconds: vec![Some(0.03)],
        };
        let text = charts(&rates).into_string();
        let tops: Vec<&str> = text.split("class=\"top\">").skip(1).collect();
        let tops: Vec<&str> = tops.iter().filter_map(|rest| rest.split('<').next()).collect();
        assert_eq!(tops, ["50,000", "50,000", "10", "50 ms"]);
        for now in ["45,000", "32,000", "7", "2", "30 ms", "–"] {
            assert_eq!(
                text.matches(&format!("<strong>{now}</strong>")).count(),
                1,
                "{now}: {text}"
            );
        }
    }
}
