//! The tables of the page: tags and series, each with its state and, below it, the reason.

use maud::{Markup, html};
use uidring_args::visible;

use crate::http::operators::series_line::SeriesLine;
use crate::http::operators::status::Status;
use crate::http::operators::tag_line::TagLine;
use crate::http::operators::view::{KEYS, Key, View};
use crate::text::{grouped, length, rate, time_of_day, whole_seconds};

/// How many series are listed at once.
const SERIES: usize = 100;

/// The number of failing tags.
pub(crate) fn failing(status: &Status) -> String {
    match status.tags_failing {
        1 => "1 tag fails".to_owned(),
        many => format!("{} tags fail", grouped(many as u64)),
    }
}

pub(crate) fn tags(status: &Status, view: &View) -> Markup {
    html! {
        section aria-labelledby="tags-title" {
            h2 #tags-title {
                "Tags used here (" (grouped(status.tag_count as u64)) ")"
                @if status.tags_failing > 0 { " " strong #failing { (failing(status)) } }
            }
            form #search role="search" {
                label for="filter" { "Search tags" }
                input #filter name="tag" type="search" value=(view.tag) autocomplete="off"
                    spellcheck="false";
                @if view.key != Key::Tag || view.is_descending {
                    input type="hidden" name="sort" value=(view.sort());
                }
                button { "Search" }
                span #found role="status" { (found(status, view)) }
            }
            div .wide role="region" aria-labelledby="tags-title" tabindex="0" {
                table #tags {
                    thead { tr { @for column in KEYS { (head(column, view)) } } }
                    tbody { (rows(&status.tags, status.health.tells_of_source())) }
                }
            }
            (pages(status, view))
            p .note {
                "Those of which this process has given numbers since its start. All are in "
                a href="v1/tags" { "/v1/tags" } "."
            }
        }
    }
}

fn found(status: &Status, view: &View) -> String {
    match (status.tag_count, status.tags_found) {
        (0, _) => "No tag has been used since the start.".to_owned(),
        (_, found) if !view.tag.is_empty() => format!("{} found", grouped(found as u64)),
        _ => String::new(),
    }
}

fn head((_, text, key): (&str, &str, Key), view: &View) -> Markup {
    let direction = if view.is_descending { "descending" } else { "ascending" };
    html! {
        th scope="col" aria-sort=[(key == view.key).then_some(direction)] {
            a href=(view.sorted_by(key).link()) { (text) }
        }
        @if key == Key::Tag { th scope="col" { "State" } }
    }
}

/// The heading of tags that fail for a reason already shown among the conditions.
const TOLD: &str = "The database gives no numbers, as said above.";

/// The rows of the table of tags. Each reason stands below the first of the tags that fail for it.
/// `is_told` says whether the conditions already show why no tag gets numbers.
fn rows(tags: &[TagLine], is_told: bool) -> Markup {
    let columns = KEYS.len() + 1;
    let reason = |tag: &TagLine| {
        let reason = tag.problem.clone()?;
        Some(match tag.advice {
            // The row's own error already says it.
            _ if tag.is_of_row => (reason, ""),
            _ if is_told => (TOLD.to_owned(), ""),
            advice => (reason + ".", advice.unwrap_or_default()),
        })
    };
    let reasons: Vec<_> = tags.iter().map(reason).collect();
    let before = std::iter::once(&None).chain(&reasons);
    html! {
        @for ((tag, reason), before) in tags.iter().zip(&reasons).zip(before) {
            (row(tag, reason.is_some() && reason == before))
            @if let Some((text, advice)) = reason.as_ref().filter(|_| reason != before) {
                (reason_row(columns, tag.class(), text, advice))
            }
        }
    }
}

/// The reason of the row above it.
fn reason_row(columns: usize, class: Option<&str>, text: &str, advice: &str) -> Markup {
    html! {
        tr .reason .failing[class == Some("failing")] .warned[class == Some("warned")] {
            td colspan=(columns) { p { (text) @if !advice.is_empty() { " " i { (advice) } } } }
        }
    }
}

/// The class of a row in this state.
fn class(state: &str) -> Option<&'static str> {
    match state {
        "ok" => None,
        "from-memory" | "nearly-full" => Some("warned"),
        _ => Some("failing"),
    }
}

impl TagLine {
    fn class(&self) -> Option<&'static str> {
        class(self.state)
    }
}

/// A state as people read it. `until` is when what is in memory ends.
fn state(state: &str, until: Option<&str>, is_as_above: bool) -> Markup {
    html! {
        (state.replace('-', " "))
        @if let Some(until) = until.filter(|_| state == "from-memory") {
            " until " (time_of_day(until))
        }
        @if is_as_above { ", as above" }
    }
}

/// A cell with the name of its column, which stands beside it where the window is narrow.
fn cell(column: &str, content: impl maud::Render) -> Markup {
    html! { td data-label=(column) { (content) } }
}

fn row(tag: &TagLine, is_as_above: bool) -> Markup {
    // The maximum must be above zero, even before the first load.
    let segment = tag.max_in_memory.unwrap_or(tag.segment).max(1);
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    let in_memory = html! {
        @if let Some(in_memory) = tag.in_memory {
            meter min="0" max=(segment) low=(segment / 4) high=(segment / 2)
                optimum=(segment) value=(in_memory.min(segment)) aria-label="fill" {}
            " " span {
                (grouped(in_memory))
                @if let Some(most) = tag.max_in_memory { " of " (grouped(most)) }
            }
        } @else { "–" }
    };
    html! {
        tr class=[tag.class()] {
            th scope="row" { bdi { (visible(&tag.tag)) } }
            (cell("State", state(tag.state, tag.until.as_deref(), is_as_above)))
            (cell("Per second", rate(tag.per_second)))
            (cell("In memory", in_memory))
            (cell("Empty in", or_none(tag.empty_in.map(length))))
            (cell("Last load", grouped(tag.segment)))
            (cell("Loaded", or_none(tag.age.map(|age| format!("{} ago", whole_seconds(age))))))
            (cell("Load took", or_none(tag.load_seconds.map(length))))
            (cell("Taken", grouped(tag.taken)))
        }
    }
}

/// Links to the previous and the next page of tags, if there are several.
fn pages(status: &Status, view: &View) -> Markup {
    let (shown, found) = (status.tags.len() as u64, status.tags_found as u64);
    let link = |name: &str, rel: &str, offset: Option<u64>| {
        html! {
            @if let Some(offset) = offset {
                " " a rel=(rel) href=(view.from(offset).link()) { (name) }
            }
        }
    };
    let before = (view.offset > 0).then(|| view.offset.saturating_sub(view.limit));
    let behind = view.offset.saturating_add(shown);
    html! {
        @if shown < found {
            nav #pages aria-label="Pages of tags" {
                @if shown > 0 { (grouped(view.offset + 1)) " to " (grouped(behind)) " of " }
                @else { "none of " }
                (grouped(found))
                (link("Previous", "prev", before))
                (link("Next", "next", (shown > 0 && behind < found).then_some(behind)))
            }
        }
    }
}

/// The columns of the table of series.
const COLUMNS: [&str; 5] = ["Series", "State", "Per second", "Scopes", "Taken"];

/// The table of series, if there are any.
pub(crate) fn series(status: &Status) -> Markup {
    let series = &status.series;
    let is_told = status.health.tells_of_source();
    let reason = |line| reason_of_series(line, is_told);
    let reasons: Vec<Option<String>> = series.iter().map(reason).collect();
    html! {
        section #series aria-labelledby="series-title" {
            @if !series.is_empty() {
                h2 #series-title { "Series used here (" (grouped(status.series_count as u64)) ")" }
                div .wide role="region" aria-labelledby="series-title" tabindex="0" {
                    table {
                        thead { tr { @for head in COLUMNS { th scope="col" { (head) } } } }
                        tbody {
                            @for (line, reason) in series.iter().zip(&reasons).take(SERIES) {
                                (series_row(line))
                                @if let Some(reason) = reason {
                                    (reason_row(COLUMNS.len(), class(line.state), reason,
                                        line.advice.filter(|_| reason != TOLD).unwrap_or_default()))
                                }
                            }
                        }
                    }
                }
                @if series.len() > SERIES {
                    p .note { "The first " (SERIES) ", those that fail before the others." }
                }
            }
        }
    }
}

/// Why a series gives no numbers, or none of some periods, or soon none.
fn reason_of_series(line: &SeriesLine, is_told: bool) -> Option<String> {
    let of = |text: &str, periods: &[String]| {
        (!periods.is_empty()).then(|| format!("{text} {}.", periods.join("; ")))
    };
    let is_told = is_told && line.is_shared;
    let problem = line.problem.as_ref();
    let problem = problem.map(|why| if is_told { TOLD.to_owned() } else { format!("{why}.") });
    let reasons = [
        problem,
        of("All numbers are given of", &line.full),
        of("80 % of all numbers, or more, are given of", &line.nearly_full),
    ];
    let reasons: Vec<String> = reasons.into_iter().flatten().collect();
    (!reasons.is_empty()).then(|| reasons.join(" "))
}

fn series_row(line: &SeriesLine) -> Markup {
    html! {
        tr class=[class(line.state)] {
            th scope="row" { bdi { (visible(&line.series)) } }
            (cell("State", state(line.state, line.until.as_deref(), false)))
            (cell("Per second", rate(line.per_second)))
            (cell("Scopes", grouped(line.scopes as u64)))
            (cell("Taken", grouped(line.taken)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_stands_once_below_the_first_of_its_tags() {
        let line = |tag: &str, problem: Option<&str>| TagLine {
            tag: tag.into(),
            problem: problem.map(str::to_owned),
            state: if problem.is_some() { "empty" } else { "ok" },
            ..TagLine::default()
        };
        let lines = [("a", Some("away")), ("b", Some("away")), ("c", Some("full")), ("d", None)];
        let lines = lines.map(|(tag, problem)| line(tag, problem));
        let text = rows(&lines, false).into_string();
        let places = [">a<", "away.", ">b<", "as above", ">c<", "full.", ">d<"].map(|part| {
            assert_eq!(text.matches(part).count(), 1, "{part}: {text}");
            text.find(part)
        });
        assert!(places.is_sorted(), "{text}");
        // The database's line is further up on the page.
        let [mut row, database, ..] = lines;
        row.is_of_row = true;
        let told = rows(&[row, database], true).into_string();
        assert_eq!((told.matches("away").count(), told.matches(TOLD).count()), (1, 1), "{told}");
    }
}
