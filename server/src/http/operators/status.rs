//! `/v1/status`: the state of the service, for its page and for programs.

use std::sync::atomic::Ordering;
use std::time::{Instant, SystemTime};

use axum::Json;
use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use serde::Serialize;
use uidring::{PastStatus, UidGenerator};
use utoipa::ToSchema;

use crate::app::App;
use crate::app::health::Health;
use crate::app::supply::{self, Generators};
use crate::app::tags;
use crate::http::describe::Problems;
use crate::http::loans::PoolRow;
use crate::http::operator_access::{AccessDenied, check_admin};
use crate::http::operators::series_line::SeriesLine;
use crate::http::operators::tag_line::{TagLine, micros, seconds};
use crate::http::operators::view::{MAX_TAGS, View};
use crate::http::problem::Problem;
use crate::process::events;
use crate::process::{output, threads};
use crate::routes::Route;
use crate::security::tls::Tls;
use crate::stats::counters::sum;
use crate::stats::requests;
use crate::text::rfc3339;

/// The most series in one answer.
const MOST_SERIES: usize = 5000;

/// The state of the service, its generators, its tags and its series.
#[utoipa::path(
    get, path = Route::Status.text(), operation_id = "status", tag = "Operation",
    params(
        ("tag" = Option<String>, Query,
            description = "Lists the tags whose name has this text in it, in small letters or not"),
        ("sort" = Option<String>, Query,
            description = "Lists the tags in this order, with a - in front the highest first. \
                Those that fail come before the others",
            pattern = "^-?(tag|per_second|in_memory|empty_in|segment|age|load_seconds|taken)$"),
        ("offset" = Option<u64>, Query, description = "Leaves out so many at the beginning"),
        ("limit" = Option<u32>, Query,
            description = "Lists so many at most; 5,000 unless it says otherwise",
            minimum = 1, maximum = 5000),
    ),
    responses((status = 200, description = "How it is now", body = Status), Problems),
)]
pub(crate) async fn status(
    State(app): State<&'static App>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Result<Json<Status>, Problem>, AccessDenied> {
    check_admin(app, &headers)?;
    let view = View::read(query.as_deref(), MAX_TAGS);
    Ok(view.map(|view| Json(Status::of(app, &view))))
}

/// Times are in RFC 3339, and durations in seconds.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Status {
    pub(crate) health: Health,
    /// The name of this instance: its host name by default.
    pub(crate) name: String,
    pub(crate) version: &'static str,
    pub(crate) now: String,
    pub(crate) started: String,
    pub(crate) database: Database,
    pub(crate) generators: Vec<Generator>,
    /// UIDs of times that were. Absent before a client has asked for some.
    pub(crate) past: Option<Past>,
    pub(crate) connections: usize,
    pub(crate) max_connections: u32,
    pub(crate) process: Process,
    /// The answers to clients since the start, by status.
    pub(crate) answers: Vec<Answers>,
    /// Ids handed out since the start.
    pub(crate) given: Totals,
    /// The rates of the last seconds, the newest last.
    pub(crate) per_second: PerSecond,
    /// How many tags this process has used. `tags` may list only some of them.
    pub(crate) tag_count: usize,
    /// How many of them fail.
    pub(crate) tags_failing: usize,
    /// How many of them match the search.
    pub(crate) tags_found: usize,
    /// Failing tags come first.
    pub(crate) tags: Vec<TagLine>,
    /// How many series this process has used.
    pub(crate) series_count: usize,
    /// The series that this process has used. Failing ones come first, and there are 5,000 at most.
    pub(crate) series: Vec<SeriesLine>,
    /// The pools of worker ids, as they were when the service last looked, once a client has lent
    /// an id.
    pub(crate) pools: Vec<PoolRow>,
    /// The newest first.
    pub(crate) events: Vec<Event>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Database {
    /// The name of the database, without a password.
    pub(crate) name: Option<String>,
    pub(crate) up: bool,
    /// Since when the database has been up or away.
    pub(crate) since: String,
    pub(crate) problem: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Generator {
    pub(crate) kind: &'static str,
    /// `ok`; `from-memory` if the registry reserves no further ticks; `empty` if no UIDs are given.
    pub(crate) state: &'static str,
    /// Why the registry reserves no further ticks, or why no UIDs are given.
    pub(crate) problem: Option<String>,
    /// What to do about it.
    pub(crate) advice: Option<&'static str>,
    /// Absent before the generator has started, as is what follows from it.
    pub(crate) worker: Option<u64>,
    /// How many worker ids are larger and can be given, if they can run out.
    pub(crate) workers_left: Option<u64>,
    pub(crate) is_leased: bool,
    /// When the ticks end that are reserved for a leased worker id. UIDs end then, unless further
    /// ones are reserved before.
    pub(crate) lease_until: Option<String>,
    pub(crate) layout: Option<String>,
    pub(crate) time_ends: Option<String>,
    pub(crate) taken: u64,
    pub(crate) available: u64,
    /// How far the newest tick that lies ready is ahead of the clock. With nobody taking, that is
    /// the length of the ring.
    pub(crate) lead: f64,
    /// How far the tick of the next UID is ahead of the clock.
    pub(crate) ahead: f64,
    /// How far it is behind the clock.
    pub(crate) lag: f64,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Past {
    /// The worker id that was taken on last.
    pub(crate) worker: u64,
    /// How many worker ids were used up.
    pub(crate) workers: u64,
    pub(crate) taken: u64,
    /// Of how many ticks it is remembered what was taken.
    pub(crate) ticks: usize,
    /// Why there are no more.
    pub(crate) problem: Option<String>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Process {
    /// How many panics were caught.
    pub(crate) panics: u64,
    /// Lines of the log that could not be written.
    pub(crate) log_lines_lost: u64,
    /// When the first TLS certificate of the chain expires.
    pub(crate) certificate_ends: Option<String>,
}

/// Answers with one status. Rare statuses are left out.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Answers {
    pub(crate) status: u16,
    pub(crate) count: u64,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Totals {
    pub(crate) uids: u64,
    pub(crate) numbers: u64,
    pub(crate) segments: u64,
    pub(crate) numbers_in_segments: u64,
    /// Numbers of series.
    pub(crate) series_numbers: u64,
    /// Worker ids that were lent.
    pub(crate) worker_ids: u64,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PerSecond {
    pub(crate) uids: Vec<u64>,
    /// Dense numbers, including those in segments to clients, and numbers of series.
    pub(crate) numbers: Vec<u64>,
    /// Requests of clients. Requests for the operators' paths do not count.
    pub(crate) requests: Vec<u64>,
    /// Failed answers. Mistakes of clients do not count.
    pub(crate) errors: Vec<u64>,
    /// The median response time. Null if there were no requests.
    pub(crate) median_seconds: Vec<Option<f64>>,
    /// The 99th percentile of response times.
    pub(crate) slowest_seconds: Vec<Option<f64>>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Event {
    pub(crate) at: String,
    pub(crate) level: String,
    pub(crate) text: String,
    pub(crate) times: u64,
}

impl Status {
    pub(crate) fn of(app: &App, view: &View) -> Status {
        let (states, series) = (tags::states(app), app.series_states());
        let now = SystemTime::now();
        let rates = app.watch.rates.last();
        let generators = supply::generators(app).map(|of| Generator::of(app, of)).collect();
        let events = events::recent().into_iter().map(|event| Event {
            at: rfc3339(event.at),
            level: event.level.to_string().to_ascii_lowercase(),
            text: event.text,
            times: event.times,
        });
        let health = Health::of(app, &states, &series);
        let tag_rate = app.watch.tag_rates.since(Instant::now());
        let mut tags: Vec<TagLine> =
            states.into_iter().map(|state| TagLine::of(state, now, &tag_rate)).collect();
        let tag_count = tags.len();
        let tags_failing = tags.iter().filter(|tag| tag.is_failing).count();
        let tags_found = view.apply(&mut tags);
        let series_rate = app.watch.series_rates.since(Instant::now());
        let lines = series.into_iter().map(|of| SeriesLine::of(of, &series_rate));
        let mut series: Vec<SeriesLine> = lines.collect();
        // In the order of what is worse: nothing, from memory, and periods of it.
        series.sort_by_key(|line| (line.problem.is_none(), line.state == "ok"));
        let series_count = series.len();
        series.truncate(MOST_SERIES);
        Status {
            health,
            name: app.options.name(),
            version: env!("CARGO_PKG_VERSION"),
            now: rfc3339(now),
            started: rfc3339(app.watch.started),
            database: Database::of(app),
            generators,
            past: app.past.status().as_ref().map(Past::of),
            // ORDERING: a statistic.
            connections: app.connections.load(Ordering::Relaxed),
            max_connections: app.options.limits.max_connections,
            process: Process {
                panics: threads::panics().count,
                log_lines_lost: output::lost(),
                certificate_ends: app.tls.as_ref().and_then(Tls::ends).map(rfc3339),
            },
            answers: requests::answers(app.counters.iter().map(|thread| &thread.requests))
                .map(|(status, count)| Answers { status, count })
                .collect(),
            given: Totals {
                uids: sum(&app.counters, |of| &of.uids),
                numbers: sum(&app.counters, |of| &of.numbers),
                segments: sum(&app.counters, |of| &of.segments),
                numbers_in_segments: sum(&app.counters, |of| &of.numbers_in_segments),
                series_numbers: sum(&app.counters, |of| &of.series_numbers),
                worker_ids: sum(&app.counters, |of| &of.worker_ids),
            },
            per_second: PerSecond {
                uids: rates.iter().map(|rate| rate.uids).collect(),
                numbers: rates.iter().map(|rate| rate.numbers).collect(),
                requests: rates.iter().map(|rate| rate.requests).collect(),
                errors: rates.iter().map(|rate| rate.errors).collect(),
                median_seconds: rates.iter().map(|rate| rate.median.map(micros)).collect(),
                slowest_seconds: rates.iter().map(|rate| rate.slowest.map(micros)).collect(),
            },
            tag_count,
            tags_failing,
            tags_found,
            tags,
            series_count,
            series,
            pools: app.loans.seen().into_iter().map(PoolRow::from).collect(),
            events: events.collect(),
        }
    }
}

impl Past {
    fn of(status: &PastStatus) -> Past {
        Past {
            worker: status.worker_id,
            workers: status.workers,
            taken: status.taken,
            ticks: status.ticks,
            problem: status.broken_rule.map(|broken| broken.to_string()),
        }
    }
}

impl Database {
    fn of(app: &App) -> Database {
        let problem = app.database_trouble();
        Database {
            name: app.tags().ok().map(|tags| tags.source.name()),
            up: problem.is_none(),
            since: rfc3339(app.watch.database_since()),
            problem: problem.map(|trouble| trouble.text),
        }
    }
}

impl Generator {
    fn of(app: &App, generators: Generators<'_>) -> Generator {
        let supply = generators.supply(app);
        let status = generators.uids.map(UidGenerator::status);
        let is_own = generators.kind == "uids";
        let status = status.as_ref();
        Generator {
            kind: generators.kind,
            state: supply.state_name(),
            problem: supply.why().map(|why| why.text.clone()),
            advice: supply.why().map(|why| why.cause.advice()),
            worker: status.map(|status| status.worker_id),
            workers_left: status.and_then(|status| status.worker_ids_left),
            is_leased: !is_own || app.options.generator.registry_config().lease.is_some(),
            lease_until: status.and_then(|status| status.reserved_until).map(rfc3339),
            layout: generators.uids.map(|uids| uids.layout().to_string()),
            time_ends: status.map(|status| rfc3339(status.expires_at)),
            taken: status.map_or(0, |status| status.taken),
            available: status.map_or(0, |status| status.available),
            lead: status.map_or(0.0, |status| seconds(status.lead)),
            ahead: status.map_or(0.0, |status| {
                seconds(status.oldest.duration_since(SystemTime::now()).unwrap_or_default())
            }),
            lag: status.map_or(0.0, |status| seconds(status.lag)),
        }
    }
}
