//! `/`: the page for whoever is on call. It shows the present state by itself; its script keeps it
//! up to date.

use axum::Router;
use axum::extract::State;
use axum::http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName};
use axum::response::IntoResponse;
use axum::routing::get;
use jiff::Timestamp;
use maud::{DOCTYPE, Markup, html};

use crate::app::App;
use crate::http::openapi::Problems;
use crate::http::status::{Database, Event, Generator, Level, PerSecond, Status, TagLine, title};
use crate::http::viewer::{MayNotLook, may_look};
use crate::rates::SECONDS;

/// Nothing runs and nothing is loaded but what is ours.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(crate) fn routes() -> Router<&'static App> {
    let file = |kind: &'static str, text: &'static str| {
        let headers = [(CONTENT_TYPE, kind), (X_CONTENT_TYPE_OPTIONS, "nosniff")];
        get(move || async move { (headers, text) })
    };
    Router::new()
        .route("/", get(page))
        .route("/page/style.css", file("text/css;charset=UTF-8", include_str!("page/style.css")))
        .route(
            "/page/script.js",
            file("text/javascript;charset=UTF-8", include_str!("page/script.js")),
        )
}

/// The page for whoever is on call.
#[utoipa::path(
    get, path = "/", operation_id = "page", tag = "Operation",
    responses(
        (status = 200, description = "For people", body = String, content_type = "text/html"),
        Problems,
    ),
)]
pub(crate) async fn page(
    State(app): State<&'static App>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, MayNotLook> {
    may_look(app, &headers)?;
    let headers: [(HeaderName, &str); 5] = [
        (CONTENT_TYPE, "text/html;charset=UTF-8"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
    ];
    Ok((headers, whole(&Status::of(app)).into_string()))
}

fn whole(status: &Status) -> Markup {
    let word = word(status.health.level);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (word) " · uidring" }
                link rel="icon" href="data:,";
                link rel="stylesheet" href="page/style.css";
                noscript { meta http-equiv="refresh" content="10"; }
                script src="page/script.js" defer {}
            }
            body {
                header {
                    h1 { "uidring" }
                    p #about {
                        "version " (status.version) ", running since "
                        time datetime=(status.started) { (clock(&status.started)) }
                    }
                }
                main {
                    p #health role="status" aria-live="polite" class=(word) {
                        strong { (word) } " " span { (status.health.text) }
                    }
                    (facts(status))
                    (chart(&status.per_second))
                    (tags(status))
                    (events(&status.events))
                }
                footer {
                    p {
                        "State of " time #now datetime=(status.now) { (clock(&status.now)) }
                        ". As JSON: " a href="v1/status" { "/v1/status" }
                        ", for Prometheus: " a href="metrics" { "/metrics" } "."
                    }
                }
            }
        }
    }
}

/// How well it is, in a word that is also the class of the line.
fn word(level: Level) -> &'static str {
    match level {
        Level::Ok => "Healthy",
        Level::Warning => "Warning",
        Level::Down => "Down",
    }
}

fn facts(status: &Status) -> Markup {
    let now = |list: &[u64]| grouped(list.last().copied().unwrap_or(0));
    html! {
        dl #facts {
            div { dt { "UIDs per second" } dd #uid-rate { (now(&status.per_second.uids)) } }
            div {
                dt { "Numbers per second" }
                dd #number-rate { (now(&status.per_second.numbers)) }
            }
            div { dt { "Connections" } dd #connections { (grouped(status.connections as u64)) } }
            @for generator in &status.generators {
                div {
                    dt { "Worker id of " (title(generator.kind)) }
                    dd id={ "worker-" (generator.kind) } { (worker(generator)) }
                }
            }
            div { dt { "Database" } dd #database { (database(&status.database)) } }
        }
    }
}

fn worker(generator: &Generator) -> String {
    let until = match (&generator.lease_until, generator.is_leased) {
        (Some(until), _) => format!("leased until {}", clock(until)),
        (None, true) => "leased".to_owned(),
        (None, false) => "kept for good".to_owned(),
    };
    format!("{}, {until}", generator.worker)
}

fn database(database: &Database) -> String {
    let name = database.name.as_deref().unwrap_or("not reached yet");
    let state = if database.up { "reachable" } else { "AWAY" };
    format!("{state} since {} · {name}", clock(&database.since))
}

/// The drawing is as wide as the seconds it shows.
const HEIGHT: u64 = 40;

/// Each line has a scale of its own: there may be a thousand UIDs for one number.
fn chart(rates: &PerSecond) -> Markup {
    let (uids, numbers) = (top(&rates.uids), top(&rates.numbers));
    html! {
        section aria-labelledby="rates" {
            h2 #rates { "The last two minutes" }
            figure {
                svg #chart viewBox={ "0 0 " (SECONDS - 1) " " (HEIGHT) } preserveAspectRatio="none"
                    role="img" aria-label="Ids per second over the last two minutes" {
                    polyline #uid-line points=(points(&rates.uids, uids)) {}
                    polyline #number-line points=(points(&rates.numbers, numbers)) {}
                }
                figcaption {
                    span .uids { "UIDs, up to " span #uid-top { (grouped(uids)) } " per second" }
                    " "
                    span .numbers {
                        "numbers, up to " span #number-top { (grouped(numbers)) } " per second"
                    }
                }
            }
        }
    }
}

fn top(rates: &[u64]) -> u64 {
    rates.iter().copied().max().unwrap_or(0)
}

/// The newest second is on the right.
fn points(rates: &[u64], top: u64) -> String {
    let first = SECONDS - rates.len();
    let point = |(index, &rate): (usize, &u64)| {
        let height = u128::from(rate) * u128::from(HEIGHT) / u128::from(top.max(1));
        format!("{},{}", first + index, u128::from(HEIGHT) - height)
    };
    rates.iter().enumerate().map(point).collect::<Vec<_>>().join(" ")
}

/// The columns of the table: their keys in the JSON, and what people call them.
const COLUMNS: [(&str, &str); 7] = [
    ("tag", "Tag"),
    ("in_memory", "In memory"),
    ("segment", "Segment"),
    ("age", "Age"),
    ("load_seconds", "Load took"),
    ("taken", "Taken"),
    ("problem", "State"),
];

fn tags(status: &Status) -> Markup {
    html! {
        section aria-labelledby="tags-title" {
            h2 #tags-title {
                "Tags " span #tag-count { "(" (grouped(status.tag_count as u64)) ")" }
            }
            div #search hidden {
                label for="filter" { "Search tags" }
                input #filter type="search" autocomplete="off" spellcheck="false";
                span #found role="status" {}
            }
            @if status.tags.is_empty() {
                p #no-tags { "No tag has been used since the start." }
            }
            div .wide role="region" aria-labelledby="tags-title" tabindex="0" {
                table #tags {
                    thead {
                        tr {
                            @for (key, text) in COLUMNS {
                                th scope="col" data-key=(key) { (text) }
                            }
                        }
                    }
                    tbody { @for tag in &status.tags { (row(tag)) } }
                }
            }
        }
    }
}

fn row(tag: &TagLine) -> Markup {
    // A meter needs a range, also before the first load.
    let segment = tag.segment.max(1);
    html! {
        tr {
            th scope="row" { (tag.tag) }
            td {
                meter min="0" max=(segment) low=(segment / 4) high=(segment / 2) optimum=(segment)
                    value=(tag.in_memory.min(segment)) aria-label="fill" {}
                " " span { (grouped(tag.in_memory)) }
            }
            td { (grouped(tag.segment)) }
            td { (tag.age.map_or_else(|| "–".to_owned(), age)) }
            td { (tag.load_seconds.map_or_else(|| "–".to_owned(), milliseconds)) }
            td { (grouped(tag.taken)) }
            td class=[tag.problem.as_ref().map(|_| "problem")] {
                (tag.problem.as_deref().unwrap_or("ok"))
            }
        }
    }
}

fn events(events: &[Event]) -> Markup {
    html! {
        section aria-labelledby="events-title" {
            h2 #events-title { "Last events" }
            ol #events {
                @for event in events {
                    li class=(event.level) {
                        time datetime=(event.at) { (clock(&event.at)) } " "
                        strong { (event.level) } " "
                        span { (event.text) @if event.times > 1 { " (" (event.times) " times)" } }
                    }
                }
            }
        }
    }
}

/// A time as people read it, in UTC.
fn clock(rfc3339: &str) -> String {
    let time = rfc3339.parse::<Timestamp>().ok();
    time.map_or_else(
        || rfc3339.to_owned(),
        |time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
    )
}

/// 1234567 as 1,234,567.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).unwrap_or_default())
        .collect();
    groups.join(",")
}

fn age(seconds: f64) -> String {
    // Ages are small, and never negative.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let seconds = seconds as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3600 % 24),
    }
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.1} ms", seconds * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_for_people() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")];
        for (number, expected) in cases {
            assert_eq!(grouped(number), expected);
        }
        assert_eq!(age(59.9), "59 s");
        assert_eq!(age(3599.0), "59 min 59 s");
        assert_eq!(age(90_000.0), "1 d 1 h");
        assert_eq!(milliseconds(0.00123), "1.2 ms");
        assert_eq!(clock("2026-11-23T12:00:00.501Z"), "2026-11-23 12:00:00 UTC");
    }

    #[test]
    fn the_newest_second_is_on_the_right() {
        assert_eq!(points(&[0, 5, 10], 10), "117,40 118,20 119,0");
        assert_eq!(points(&[], 1), "");
    }
}
