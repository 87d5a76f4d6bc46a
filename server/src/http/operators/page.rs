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
use crate::app::health::Health;
use crate::app::supply::title;
use crate::http::describe::Problems;
use crate::http::operator_access::{AccessDenied, check_admin};
use crate::http::operators::chart::charts;
use crate::http::operators::status::{Answers, Database, Event, Generator, Past, Status};
use crate::http::operators::tables::{self, failing};
use crate::http::operators::view::View;
use crate::http::problem::Problem;
use crate::routes::Route;
use crate::text::{clock, grouped, length};

/// Only the page's own script and style are allowed, and only its search form.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    connect-src 'self'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// How many tags are listed at once. More would take a browser too long to draw each second.
const ROWS: u64 = 100;
/// A UID that is so many seconds before or behind the clock is as it should be.
const LITTLE: f64 = 2.0;

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
) -> Result<Result<Response, Problem>, AccessDenied> {
    check_admin(app, &headers)?;
    let headers: [(HeaderName, &str); 5] = [
        (CONTENT_TYPE, "text/html;charset=UTF-8"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
    ];
    let view = View::read(query.as_deref(), ROWS);
    Ok(view.map(|view| {
        (headers, document(&Status::of(app, &view), &view).into_string()).into_response()
    }))
}

fn document(status: &Status, view: &View) -> Markup {
    let name = level_name(status.health.level);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title {
                    (name) @if status.tags_failing > 0 { ", " (failing(status)) }
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
                    (tables::tags(status, view))
                    (tables::series(status))
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

/// Where docs/operations/alerts.md explains an alert.
fn explained(alert: &str) -> String {
    let repository = env!("CARGO_PKG_REPOSITORY");
    format!("{repository}/blob/main/docs/operations/alerts.md#{}", alert.to_lowercase())
}

/// The conditions, the worst first. A reason or an advice that several share is shown once: the
/// first with its reason, the last with the advice. Those of tags and series are in their tables.
fn health(health: &Health) -> Markup {
    let name = level_name(health.level);
    let conditions = &health.conditions;
    let is_first = |index: usize| {
        let why = &conditions[index].why;
        !conditions[..index].iter().any(|before| before.why == *why && !before.kind.is_in_table())
    };
    let is_last = |index: usize, advice: &str| {
        let mut behind = conditions[index + 1..].iter();
        behind.all(|condition| condition.kind.is_in_table() || condition.advice != advice)
    };
    html! {
        div #health role="status" aria-live="polite" class=(name) {
            strong { (name) } " "
            ul {
                @if conditions.is_empty() { li { (health.text) } }
                @for (index, condition) in conditions.iter().enumerate() {
                    li .condition {
                        @if condition.kind.is_in_table() || !is_first(index) {
                            (condition.text)
                        } @else { (condition.sentence()) }
                        @if !condition.kind.is_in_table() && is_last(index, condition.advice) {
                            " " i { (condition.advice) }
                        }
                        @if let Some(alert) = condition.alert {
                            " " a href=(explained(alert)) rel="noreferrer" { (alert) }
                        }
                    }
                }
            }
        }
    }
}

/// The name of the level. It is also the CSS class.
fn level_name(level: Level) -> &'static str {
    match level {
        Level::Ok => "Healthy",
        Level::Warning => "Warning",
        Level::Down => "Down",
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
                    dt { (title(generator.kind)) }
                    dd id={ "state-" (generator.kind) } class=[generator.class()] {
                        (generator.availability())
                    }
                }
                @if generator.worker.is_some() {
                    div {
                        dt { "Worker id of " (title(generator.kind)) }
                        dd id={ "worker-" (generator.kind) } { (worker(generator)) }
                    }
                    div {
                        dt { "Time of " (title(generator.kind)) }
                        dd id={ "time-" (generator.kind) } { (time(generator)) }
                    }
                }
            }
            @if let Some(past) = &status.past {
                div {
                    dt { "UIDs of the past" }
                    dd #past class=[past.problem.is_some().then_some("problem")] {
                        (past_uids(past))
                    }
                }
            }
            @for pool in &status.pools {
                div {
                    dt { "Worker ids of the pool " (visible(&pool.pool)) }
                    dd class=[(pool.free == 0).then_some("problem")] {
                        (grouped(pool.held)) " held · " (grouped(pool.resting)) " resting · "
                        (grouped(pool.free)) " free"
                    }
                }
            }
            div { dt { "Answers" } dd #answers { (answers(&status.answers)) } }
            @if let Some(end) = &status.process.certificate_ends {
                div { dt { "Certificate" } dd #certificate { "until " (clock(end)) } }
            }
            div { dt { "Database" } dd #database { (database(&status.database)) } }
        }
    }
}

fn past_uids(past: &Past) -> String {
    let Past { workers, taken, ticks, .. } = past;
    let worker_ids = if *workers == 1 { "worker id" } else { "worker ids" };
    let (taken, workers, ticks) = (grouped(*taken), grouped(*workers), grouped(*ticks as u64));
    match &past.problem {
        Some(problem) => format!("ended after {taken}: {problem}"),
        None => format!("{taken} taken, {workers} {worker_ids} used up, {ticks} ticks remembered"),
    }
}

fn worker(generator: &Generator) -> String {
    let until = match (&generator.lease_until, generator.is_leased) {
        (Some(until), _) => format!("leased until {}", clock(until)),
        (None, true) => "leased".to_owned(),
        (None, false) => "kept for good".to_owned(),
    };
    let left = generator.workers_left.map(|left| format!(", {} left", grouped(left)));
    let worker = generator.worker.unwrap_or_default();
    format!("{worker}, {until}{}", left.unwrap_or_default())
}

/// The time of the next UID. What lies ready behind it is ahead of the clock, which is as it should
/// be.
fn time(generator: &Generator) -> String {
    let off = |seconds: f64, name: &str| format!("{} {name} the clock", length(seconds));
    match (generator.ahead, generator.lag) {
        (ahead, _) if ahead >= LITTLE => off(ahead, "ahead of"),
        (_, lag) if lag >= LITTLE => off(lag, "behind"),
        _ => "that of the clock".to_owned(),
    }
}

/// How many answers there were, by their status.
fn answers(answers: &[Answers]) -> Markup {
    html! {
        @if answers.is_empty() { "none yet" }
        @for (index, of) in answers.iter().enumerate() {
            @if index > 0 { " · " }
            span class=[(of.status >= 500).then_some("problem")] {
                (of.status) ": " (grouped(of.count))
            }
        }
    }
}

impl Generator {
    /// Whether its UIDs are given.
    fn availability(&self) -> String {
        match (self.state, &self.lease_until) {
            ("ok", _) => "given".to_owned(),
            ("empty", _) => "NOT GIVEN".to_owned(),
            (_, Some(until)) => format!("until {}", clock(until)),
            (_, None) => "from memory".to_owned(),
        }
    }

    fn class(&self) -> Option<&'static str> {
        match self.state {
            "ok" => None,
            "empty" => Some("problem"),
            _ => Some("warned"),
        }
    }
}

fn database(database: &Database) -> String {
    let name = database.name.as_deref().unwrap_or("not reached yet");
    let state = if database.up { "reachable" } else { "AWAY" };
    format!("{state} since {} · {name}", clock(&database.since))
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
