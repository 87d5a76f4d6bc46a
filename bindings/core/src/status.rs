//! The state of what a binding holds, as JSON: lengths in milliseconds, times in RFC 3339.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde_json::{Value, json};
use uidring::lend::LentStatus;
use uidring::segment::SegmentStatus;
use uidring::series::{SeriesError, SeriesStatus};
use uidring::{PastStatus, Status, TakeError};

use crate::error::{Error, Kind};
use crate::watched::Answers;

pub(crate) fn uids(status: &Status, answers: &Answers, layout: &str) -> String {
    let state = state(status.obstacle.as_ref());
    let is_live = is_live(state);
    let reserved_until = status.reserved_until.filter(|_| is_live);
    let left = |until: SystemTime| until.duration_since(SystemTime::now()).unwrap_or_default();
    json!({
        "state": state,
        "layout": layout,
        "store": if is_live { store(answers) } else { Value::Null },
        "worker_id": is_live.then_some(status.worker_id),
        "worker_ids": status.worker_ids,
        "worker_ids_left": status.worker_ids_left.filter(|_| is_live),
        "new_workers": status.new_workers,
        "at_worker_limit": is_live && status.at_worker_limit,
        "oldest": time(status.oldest).filter(|_| is_live),
        "newest": time(status.newest).filter(|_| is_live),
        "lead_ms": if is_live { ms(status.lead) } else { 0 },
        "lag_ms": if is_live { ms(status.lag) } else { 0 },
        "exact_time": status.exact_time,
        "waits": status.waits,
        "clock_steps": status.clock_steps,
        "clock_skew_ms": status.clock_skew_ms.filter(|_| is_live),
        "at_lead_limit": is_live && status.at_lead_limit,
        "refused_jump_ms": status.refused_jump.filter(|_| is_live).map(ms),
        "available": status.available,
        "obstacle": status.obstacle.map(|obstacle| obstacle.to_string()),
        "leased": reserved_until.is_some(),
        "reserved_until": reserved_until.and_then(time),
        "lease_left_ms": reserved_until.map(|until| ms(left(until))),
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

/// What the store has answered. Null where there is none, or it was not asked yet.
fn store(answers: &Answers) -> Value {
    answers.last().map_or(Value::Null, |answer| {
        json!({
            "name": answer.name,
            "reachable": answer.error.is_none(),
            "since": time(answer.since),
            "asked_at": time(answer.asked),
            "error": answer.error,
        })
    })
}

/// Whether takes may give something in this state, now or later.
fn is_live(state: &str) -> bool {
    state == RUNNING || state == FAILING
}

pub(crate) fn past(
    status: &PastStatus,
    obstacle: Option<&Error>,
    answers: &Answers,
    layout: &str,
) -> String {
    let state = match obstacle.map(|error| error.kind) {
        None => RUNNING,
        Some(Kind::Closed) => CLOSED,
        Some(Kind::Forked) => FORKED,
        Some(_) => FAILING,
    };
    json!({
        "state": state,
        "obstacle": obstacle.map(|error| &error.message),
        "layout": layout,
        "store": if is_live(state) { store(answers) } else { Value::Null },
        "worker_id": is_live(state).then_some(status.worker_id),
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

pub(crate) fn tag(name: &str, store: &str, status: &SegmentStatus) -> String {
    let state = state(status.obstacle.as_ref());
    let mut value = numbers(status);
    value["state"] = json!(state);
    value["store"] = if is_live(state) { loading_store(store, Some(status)) } else { Value::Null };
    value["obstacle"] = json!(obstacle(status.obstacle, "the segments"));
    value["tag"] = json!(name);
    value.to_string()
}

/// What the store has said to those who load numbers.
fn loading_store(name: &str, status: Option<&SegmentStatus>) -> Value {
    let failing = status.and_then(|status| status.failing_for);
    let error = status.and_then(|status| status.last_failure.as_ref());
    json!({
        "name": name,
        "reachable": failing.is_none(),
        "since": failing.and_then(|length| SystemTime::now().checked_sub(length)).and_then(time),
        "error": error.filter(|_| failing.is_some()).map(|error| uidring_args::with_causes(error)),
    })
}

pub(crate) fn series(
    name: &str,
    scope: Option<&str>,
    store: Option<&str>,
    status: &SeriesStatus,
) -> String {
    let take_error = match &status.obstacle {
        Some(SeriesError::Take(error)) => Some(error),
        _ => None,
    };
    let is_failing = status.obstacle.is_some() && take_error.is_none();
    let state = if is_failing { FAILING } else { state(take_error) };
    let store = store.filter(|_| is_live(state));
    json!({
        "state": state,
        "store": store.map(|name| loading_store(name, status.numbers.as_ref())),
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

/// The fields of a state, for a language that reads no JSON: a name, its value, the next name and
/// so on. What is null has no value. A field of a field is `store.name`, and one of a list
/// `tight.0.scope`.
#[must_use]
pub fn flat(state: &str) -> Vec<(String, Option<String>)> {
    let mut fields = Vec::new();
    flatten("", &serde_json::from_str(state).unwrap_or_default(), &mut fields);
    fields
}

fn flatten(name: &str, value: &Value, fields: &mut Vec<(String, Option<String>)>) {
    let inner = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                flatten(&inner(key), value, fields);
            }
        }
        Value::Array(elements) => {
            for (index, value) in elements.iter().enumerate() {
                flatten(&inner(&index.to_string()), value, fields);
            }
        }
        Value::Null => fields.push((name.to_owned(), None)),
        Value::String(text) => fields.push((name.to_owned(), Some(text.clone()))),
        other => fields.push((name.to_owned(), Some(other.to_string()))),
    }
}

#[cfg(test)]
mod tests {
    use super::flat;

    #[test]
    fn each_field_has_a_name_and_a_value() {
        let text = r#"{"a":1,"b":null,"c":{"d":"x","e":{"f":true}},"g":[{"h":2.5},{"h":null}]}"#;
        let expected = [
            ("a", Some("1")),
            ("b", None),
            ("c.d", Some("x")),
            ("c.e.f", Some("true")),
            ("g.0.h", Some("2.5")),
            ("g.1.h", None),
        ];
        let fields = flat(text);
        let fields: Vec<_> = fields.iter().map(|(a, b)| (a.as_str(), b.as_deref())).collect();
        assert_eq!(fields, expected);
    }
}
