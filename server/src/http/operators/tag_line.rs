//! One tag in the list of `/v1/status` and of the page.

use std::time::{Duration, SystemTime};

use serde::Serialize;
use utoipa::ToSchema;

use crate::app::tags::TagState;
use crate::stats::counter::float;
use crate::stats::rates::{TagCount, TagRate};
use crate::text::rfc3339;

#[derive(Debug, Default, Serialize, ToSchema)]
pub(crate) struct TagLine {
    #[schema(value_type = String)]
    pub(crate) tag: Box<str>,
    /// The average rate of numbers handed out over the last 10 to 20 seconds.
    pub(crate) per_second: f64,
    /// Numbers that can be taken without a load. Absent if all went to clients in segments.
    pub(crate) in_memory: Option<u64>,
    /// The most of them, and so the most that a kill loses: `--max-in-memory`, or the tag's step if
    /// it is larger. Absent if the demand alone decides.
    pub(crate) max_in_memory: Option<u64>,
    /// Seconds until the memory is empty at this rate without further loads.
    pub(crate) empty_in: Option<f64>,
    /// How many numbers the last load gave. Several loads may be in memory.
    pub(crate) segment: u64,
    /// Seconds since the last load.
    pub(crate) age: Option<f64>,
    pub(crate) load_seconds: Option<f64>,
    pub(crate) loads: u64,
    pub(crate) failures: u64,
    /// Numbers handed out, including those in segments to clients.
    pub(crate) taken: u64,
    /// `ok`; `from-memory` if no further numbers can be loaded; `empty` if none are given;
    /// `went-back` if the row gave the same numbers again.
    pub(crate) state: &'static str,
    /// Until when there are numbers in memory at this rate, if no further ones can be loaded.
    pub(crate) until: Option<String>,
    /// Whether it fails by itself, and not only because the database is away for all.
    #[serde(skip)]
    pub(crate) is_failing: bool,
    /// Whether the cause lies in the row itself.
    #[serde(skip)]
    pub(crate) is_of_row: bool,
    /// Why no further numbers can be loaded, if so.
    pub(crate) problem: Option<String>,
    /// What to do about it.
    pub(crate) advice: Option<&'static str>,
}

impl TagLine {
    pub(crate) fn of(
        state: TagState,
        now: SystemTime,
        rate: impl Fn(&str, TagCount) -> TagRate,
    ) -> TagLine {
        let (count, word, supply) = (state.count(), state.state_name(), state.supply());
        let is_failing = state.kind().is_some();
        let TagState { name, status, loads, .. } = state;
        let age = loads.last.and_then(|last| now.duration_since(last.at).ok());
        let max_in_memory = status.as_ref().and_then(|status| status.max_in_memory);
        let in_memory = status.map(|status| status.in_memory);
        let TagRate { here, all } = rate(&name, count);
        let empty_in = in_memory.filter(|_| here > 0.0).map(|numbers| float(numbers) / here);
        // At the same rate.
        let left = empty_in.and_then(|left| Duration::try_from_secs_f64(left).ok());
        let until = left.filter(|_| supply.is_from_memory()).and_then(|left| now.checked_add(left));
        TagLine {
            tag: name,
            per_second: rounded(all),
            in_memory,
            max_in_memory,
            empty_in: empty_in.map(rounded),
            segment: loads.last.map_or(0, |last| last.count),
            age: age.map(seconds),
            load_seconds: loads.last.map(|last| last.took.as_secs_f64()),
            loads: loads.loads,
            failures: loads.failures,
            taken: count.here + count.to_clients,
            state: word,
            until: until.map(rfc3339),
            is_failing,
            is_of_row: supply.why().is_some_and(|why| why.cause.is_of_row()),
            advice: supply.why().map(|why| why.cause.advice()),
            problem: supply.why().map(|why| why.text.clone()),
        }
    }
}

/// Seconds, rounded to milliseconds.
pub(crate) fn seconds(time: Duration) -> f64 {
    rounded(time.as_secs_f64())
}

/// Seconds, rounded to microseconds.
pub(crate) fn micros(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

pub(crate) fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}
