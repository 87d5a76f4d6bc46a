//! `/`: the page for the operator on call. It is complete without its script, which only refreshes
//! it each second.

use axum::extract::{RawQuery, State};
use axum::http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use maud::{DOCTYPE, Markup, html};
use uidring_args::visible;

use crate::app::App;
use crate::app::condition::Level;
use crate::app::health::{Health, title};
use crate::http::describe::Problems;
use crate::http::operators::chart::charts;
use crate::http::operators::series_line::SeriesLine;
use crate::http::operators::status::{Database, Event, Generator, Status};
use crate::http::operators::tag_line::TagLine;
use crate::http::operators::view::{KEYS, Key, View};
use crate::http::problem::Problem;
use crate::http::viewer::{MayNotLook, may_look};
use crate::routes::Route;
use crate::text::{clock, grouped, length, rate, whole_seconds};

/// Only the page's own script and style are allowed, and only its search form.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    connect-src 'self'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// How many tags, and how many series, are listed at once. More would take a browser too long to
/// draw each second.
const ROWS: u64 = 100;
const SERIES: usize = 100;

/// The files of the page: name, media type and content.
pub(crate) const FILES: [(&str, &str, &str); 2] = [
    ("style.css", "text/css;charset=UTF-8", include_str!("page/style.css")),
    ("script.js", "text/javascript;charset=UTF-8", include_str!("page/script.js")),
];

pub(crate) fn file(kind: &'static str, text: &'static str) -> MethodRouter<&'static App> {
    let headers = [(CONTENT_TYPE, kind), (X_CONTENT_TYPE_OPTIONS, "nosniff")];
    get(move || async move { (headers, text) })
}

/// The page for the operator on call.
#[utoipa::path(
    get, path = Route::Page.text(), operation_id = "page", tag = "Operation",
    params(
        ("tag" = Option<String>, Query, description = "As in /v1/status"),
        ("sort" = Option<String>, Query, description = "As in /v1/status"),
        ("offset" = Option<u64>, Query, description = "As in /v1/status"),
        ("limit" = Option<u32>, Query, description = "As in /v1/status, but 100 unless it says \
            otherwise", minimum = 1, maximum = 5000),
    ),
    responses(
        (status = 200, description = "For people", body = String, content_type = "text/html"),
        Problems,
    ),
)]
pub(crate) async fn page(
    State(app): State<&'static App>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Result<Response, Problem>, MayNotLook> {
    may_look(app, &headers)?;
    let headers: [(HeaderName, &str); 5] = [
        (CONTENT_TYPE, "text/html;charset=UTF-8"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
    ];
    let view = View::read(query.as_deref(), ROWS);
    Ok(view
        .map(|view| (headers, whole(&Status::of(app, &view), &view).into_string()).into_response()))
}

fn whole(status: &Status, view: &View) -> Markup {
    let word = word(status.health.level);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title {
                    (word) @if status.tags_failing > 0 { ", " (failing(status)) }
                    " · " (visible(&status.name)) " · uidring"
                }
                link rel="icon" href="data:,";
                link rel="stylesheet" href="page/style.css";
                noscript { meta http-equiv="refresh" content="10"; }
                script src="page/script.js" defer {}
            }
            body {
                header {
                    h1 { "uidring " bdi #name { (visible(&status.name)) } }
                    p #about {
                        "version " (status.version) ", running since "
                        time datetime=(status.started) { (clock(&status.started)) }
                    }
                }
                main {
                    (health(&status.health))
                    (charts(&status.per_second))
                    (facts(status))
                    (tags(status, view))
                    (series(&status.series))
                    (events(&status.events))
                }
                footer {
                    p {
                        "State of " time #now datetime=(status.now) { (clock(&status.now)) }
                        ". As JSON: " a href={ "v1/status" (view.link()) } { "/v1/status" }
                        ", for Prometheus: " a href="metrics" { "/metrics" } "."
                    }
                }
            }
        }
    }
}

/// The conditions, the worst first. The reasons of failing tags are in the table of tags instead.
fn health(health: &Health) -> Markup {
    let word = word(health.level);
    let is_last = |index: usize, advice: &str| {
        let mut behind = health.conditions[index + 1..].iter();
        behind.all(|condition| condition.tags > 0 || condition.advice != advice)
    };
    html! {
        p #health role="status" aria-live="polite" class=(word) {
            strong { (word) } " "
            span {
                @if health.conditions.is_empty() { (health.text) }
                @for (index, condition) in health.conditions.iter().enumerate() {
                    span .condition {
                        @if condition.tags > 0 { (condition.text) } @else { (condition.whole()) }
                        @if condition.tags == 0 && is_last(index, condition.advice) {
                            " " i { (condition.advice) }
                        }
                    }
                }
            }
        }
    }
}

/// The name of the level. It is also the CSS class.
fn word(level: Level) -> &'static str {
    match level {
        Level::Ok => "Healthy",
        Level::Warning => "Warning",
        Level::Down => "Down",
    }
}

/// The number of failing tags.
fn failing(status: &Status) -> String {
    match status.tags_failing {
        1 => "1 tag fails".to_owned(),
        many => format!("{} tags fail", grouped(many as u64)),
    }
}

fn facts(status: &Status) -> Markup {
    let (open, most) = (status.connections as u64, u64::from(status.max_connections));
    html! {
        dl #facts {
            div {
                dt { "Connections" }
                dd #connections class=[(open >= most / 10 * 9).then_some("problem")] {
                    (grouped(open)) " of " (grouped(most))
                }
            }
            @for generator in &status.generators {
                div {
                    dt { "Worker id of " (title(generator.kind)) }
                    dd id={ "worker-" (generator.kind) } { (worker(generator)) }
                }
                div {
                    dt { "Time of " (title(generator.kind)) }
                    dd id={ "time-" (generator.kind) } {
                        "lead " (length(generator.lead)) ", lag " (length(generator.lag))
                    }
                }
            }
            @if let Some(end) = &status.process.certificate_ends {
                div { dt { "Certificate" } dd #certificate { "until " (clock(end)) } }
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
    let left = generator.workers_left.map(|left| format!(", {} left", grouped(left)));
    format!("{}, {until}{}", generator.worker, left.unwrap_or_default())
}

fn database(database: &Database) -> String {
    let name = database.name.as_deref().unwrap_or("not reached yet");
    let state = if database.up { "reachable" } else { "AWAY" };
    format!("{state} since {} · {name}", clock(&database.since))
}

fn tags(status: &Status, view: &View) -> Markup {
    html! {
        section aria-labelledby="tags-title" {
            h2 #tags-title {
                "Tags (" (grouped(status.tag_count as u64)) ")"
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

/// The rows of the table of tags. Each reason is a heading above the tags that fail for it.
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
            @if let Some((text, advice)) = reason.as_ref().filter(|_| reason != before) {
                tr .reason { td colspan=(columns) { p { (text) " " i { (advice) } } } }
            }
            (row(tag))
        }
    }
}

fn row(tag: &TagLine) -> Markup {
    // The maximum must be above zero, even before the first load.
    let segment = tag.segment.max(1);
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    let is_failing = tag.problem.is_some();
    html! {
        tr class=[is_failing.then_some("failing")] {
            th scope="row" { bdi { (visible(&tag.tag)) } }
            td { (tag.state.replace('-', " ")) }
            td { (rate(tag.per_second)) }
            td {
                @if let Some(in_memory) = tag.in_memory {
                    meter min="0" max=(segment) low=(segment / 4) high=(segment / 2)
                        optimum=(segment) value=(in_memory.min(segment)) aria-label="fill" {}
                    " " span { (grouped(in_memory)) }
                } @else { "–" }
            }
            td { (or_none(tag.empty_in.map(length))) }
            td { (grouped(tag.segment)) }
            td { (or_none(tag.age.map(|age| format!("{} ago", whole_seconds(age))))) }
            td { (or_none(tag.load_seconds.map(length))) }
            td { (grouped(tag.taken)) }
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

/// The table of series, if there are any.
fn series(series: &[SeriesLine]) -> Markup {
    html! {
        section #series aria-labelledby="series-title" {
            @if !series.is_empty() {
                h2 #series-title { "Series (" (grouped(series.len() as u64)) ")" }
                div .wide role="region" aria-labelledby="series-title" tabindex="0" {
                    table {
                        thead { tr {
                            @for head in ["Series", "State", "Per second", "Scopes", "Taken"] {
                                th scope="col" { (head) }
                            }
                        } }
                        tbody { @for line in series.iter().take(SERIES) { (series_row(line)) } }
                    }
                }
                @if series.len() > SERIES {
                    p { "The first " (SERIES) ", those that fail before the others." }
                }
            }
        }
    }
}

fn series_row(line: &SeriesLine) -> Markup {
    html! {
        tr class=[line.problem.is_some().then_some("failing")] {
            th scope="row" { bdi { (visible(&line.series)) } }
            td { @if line.problem.is_some() { "failing" } @else { "ok" } }
            td { (rate(line.per_second)) }
            td { (grouped(line.scopes as u64)) }
            td { (grouped(line.taken)) }
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
                        span {
                            (visible(&event.text))
                            @if event.times > 1 { " (" (event.times) " times)" }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_stands_once_above_its_tags() {
        let line = |tag: &str, problem: Option<&str>| TagLine {
            tag: tag.into(),
            problem: problem.map(str::to_owned),
            ..TagLine::default()
        };
        let lines = [("a", Some("away")), ("b", Some("away")), ("c", Some("full")), ("d", None)];
        let lines = lines.map(|(tag, problem)| line(tag, problem));
        let text = rows(&lines, false).into_string();
        let places = ["away", ">a<", ">b<", "full", ">c<", ">d<"].map(|part| {
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
