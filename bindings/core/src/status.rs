//! The state of what a binding holds, as JSON: lengths in milliseconds, times in RFC 3339.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde_json::{Value, json};
use uidring::lend::LentStatus;
use uidring::segment::SegmentStatus;
use uidring::series::{SeriesError, SeriesStatus};
use uidring::{PastStatus, Status, TakeError};

use crate::error::{Error, Kind};

pub(crate) fn uids(status: &Status, layout: &str) -> String {
    json!({
        "state": state(status.obstacle.as_ref()),
        "layout": layout,
        "worker_id": status.worker_id,
        "worker_ids": status.worker_ids,
        "worker_ids_left": status.worker_ids_left,
        "new_workers": status.new_workers,
        "at_worker_limit": status.at_worker_limit,
        "oldest": time(status.oldest),
        "newest": time(status.newest),
        "lead_ms": ms(status.lead),
        "lag_ms": ms(status.lag),
        "exact_time": status.exact_time,
        "waits": status.waits,
        "clock_steps": status.clock_steps,
        "clock_skew_ms": status.clock_skew_ms,
        "at_lead_limit": status.at_lead_limit,
        "refused_jump_ms": status.refused_jump.map(ms),
        "available": status.available,
        "obstacle": status.obstacle.map(|obstacle| obstacle.to_string()),
        "reserved_until": status.reserved_until.and_then(time),
        "taken": status.taken,
        "lost": status.lost,
        "skipped": status.skipped,
        "refilled_inline": status.refilled_inline,
        "refilled_by_filler": status.refilled_by_filler,
        "filler": status.filler.to_string(),
        "expires_at": time(status.expires_at),
    })
    .to_string()
}

pub(crate) fn past(status: &PastStatus, obstacle: Option<&Error>, layout: &str) -> String {
    json!({
        "state": match obstacle.map(|error| error.kind) {
            None => RUNNING,
            Some(Kind::Closed) => CLOSED,
            Some(Kind::Forked) => FORKED,
            Some(_) => FAILING,
        },
        "obstacle": obstacle.map(|error| &error.message),
        "layout": layout,
        "worker_id": status.worker_id,
        "workers": status.workers,
        "taken": status.taken,
        "ticks": status.ticks,
    })
    .to_string()
}

pub(crate) fn lent(status: &LentStatus) -> String {
    json!({
        "state": if status.is_held { "held" } else { "lost" },
        "id": status.id,
        "time_left_ms": ms(status.time_left),
        "renewals": status.renewals,
        "failed_renewals": status.failed_renewals,
        "last_error": status.last_error,
    })
    .to_string()
}

pub(crate) fn tag(name: &str, status: &SegmentStatus) -> String {
    let mut value = numbers(status);
    value["state"] = json!(state(status.obstacle.as_ref()));
    value["obstacle"] = json!(obstacle(status.obstacle, "the segments"));
    value["tag"] = json!(name);
    value.to_string()
}

pub(crate) fn series(name: &str, scope: Option<&str>, status: &SeriesStatus) -> String {
    let take_error = match &status.obstacle {
        Some(SeriesError::Take(error)) => Some(error),
        _ => None,
    };
    let is_failing = status.obstacle.is_some() && take_error.is_none();
    json!({
        "state": if is_failing { FAILING } else { state(take_error) },
        "obstacle": obstacle(status.obstacle.clone(), "the series"),
        "series": name,
        "scope": scope,
        "scopes": status.scopes,
        "full": status.full,
        "nearly_full": status.nearly_full,
        "tight": status.tight.iter().map(|counter| json!({
            "scope": counter.scope,
            "period": counter.period.to_string(),
            "last": counter.last,
            "largest": counter.largest,
        })).collect::<Vec<_>>(),
        "period": status.period.map(|period| period.to_string()),
        "numbers": status.numbers.as_ref().map(numbers),
    })
    .to_string()
}

const RUNNING: &str = "running";
const FAILING: &str = "failing";
const CLOSED: &str = "closed";
const FORKED: &str = "forked";

/// The state in a word, by what a take would say.
fn state(obstacle: Option<&TakeError>) -> &'static str {
    match obstacle {
        None => RUNNING,
        Some(TakeError::ShutDown) => CLOSED,
        Some(TakeError::Forked) => FORKED,
        Some(_) => FAILING,
    }
}

fn obstacle(error: Option<impl Into<Error>>, what: &str) -> Option<String> {
    error.map(|error| error.into().about(what).message)
}

fn numbers(status: &SegmentStatus) -> Value {
    json!({
        "in_memory": status.in_memory,
        "max_in_memory": status.max_in_memory,
        "taken": status.taken,
        "lost": status.lost,
        "rate": status.rate,
        "empty_in_ms": status.empty_in.map(ms),
        "delta": status.delta,
        "segment": status.segment,
        "last_number": status.last_number,
        "loads": status.loads,
        "load_time_ms": ms(status.load_time),
        "failures": status.failures,
        "last_failure": status.last_failure.as_ref().map(|error| uidring_args::with_causes(error)),
        "failing_for_ms": status.failing_for.map(ms),
        "waits": status.waits,
        "longest_wait_ms": ms(status.longest_wait),
    })
}

fn ms(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}

/// Null for a time that no calendar has.
fn time(time: SystemTime) -> Option<String> {
    Timestamp::try_from(time).ok().map(|time| time.to_string())
}
