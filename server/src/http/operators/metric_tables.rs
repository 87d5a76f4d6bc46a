//! The names of metrics, what they mean, and where their values are.

use std::time::SystemTime;

use uidring::lend::PoolCounts;
use uidring::{PastStatus, Status};

use crate::app::condition::Kind;
use crate::app::series::SeriesState;
use crate::app::tags::TagState;
use crate::stats::counter::{Counter, float};
use crate::stats::counters::Counters;

pub(crate) type CounterOf = fn(&Counters) -> &Counter;
pub(crate) const COUNTERS: [(&str, &str, CounterOf); 10] = [
    ("uidring_http_connections_total", "Connections accepted.", |of| &of.connections),
    ("uidring_http_connections_refused_total", "Connections above the limit.", |of| {
        &of.turned_away
    }),
    ("uidring_resp_connections_total", "Connections accepted for the Redis protocol.", |of| {
        &of.resp_connections
    }),
    ("uidring_given_uids_total", "Time-ordered ids that answers held.", |of| &of.uids),
    ("uidring_given_numbers_total", "Dense numbers that answers held.", |of| &of.numbers),
    ("uidring_given_series_numbers_total", "Numbers of series that answers held.", |of| {
        &of.series_numbers
    }),
    ("uidring_given_segments_total", "Segments that went to clients.", |of| &of.segments),
    ("uidring_lent_worker_ids_total", "Worker ids that were lent.", |of| &of.worker_ids),
    ("uidring_lent_renewals_total", "Loans of worker ids that were renewed.", |of| &of.renewals),
    ("uidring_lent_returns_total", "Worker ids that were returned.", |of| &of.returns),
];

pub(crate) type OfPool = fn(&PoolCounts) -> u64;
/// As they were when the service last looked, for all that lend from the same database.
pub(crate) const POOL_GAUGES: [(&str, &str, OfPool); 3] = [
    ("uidring_pool_held_ids", "Worker ids of the pool that have a holder.", |of| of.held),
    (
        "uidring_pool_resting_ids",
        "Worker ids of the pool that have none, and may not be lent yet.",
        |of| of.resting,
    ),
    ("uidring_pool_free_ids", "Worker ids of the pool that may be lent.", |of| of.free),
];

pub(crate) type OfUids<T> = fn(&Status) -> T;
/// The names are the same as in the library.
pub(crate) const UID_GAUGES: [(&str, &str, OfUids<f64>); 13] = [
    ("uidring_worker_id", "The worker id in the UIDs made now.", |of| float(of.worker_id)),
    (
        "uidring_worker_ids",
        "Worker ids that the registry gives in all; infinite if they do not run out.",
        |of| of.worker_ids.map_or(f64::INFINITY, float),
    ),
    (
        "uidring_worker_ids_left",
        "Of these, worker ids that are larger than the one in use.",
        |of| of.worker_ids_left.map_or(f64::INFINITY, float),
    ),
    ("uidring_filler_running", "1 if the filler runs.", |of| {
        f64::from(of.filler.to_string() == "running")
    }),
    ("uidring_lead_seconds", "How far the newest tick is ahead of the clock.", |of| {
        of.lead.as_secs_f64()
    }),
    ("uidring_lag_seconds", "How far the tick of the next UID is behind the clock.", |of| {
        of.lag.as_secs_f64()
    }),
    ("uidring_available_uids", "UIDs that can be taken now.", |of| float(of.available)),
    (
        "uidring_reserved_until_timestamp_seconds",
        "When the reserved ticks of a leased worker id end, in seconds since 1970; infinite if it \
         is permanent.",
        |of| of.reserved_until.map_or(f64::INFINITY, seconds_of),
    ),
    ("uidring_at_lead_limit", "1 if max_lead is used up.", |of| f64::from(of.at_lead_limit)),
    ("uidring_at_worker_limit", "1 if no further worker id may be taken on for now.", |of| {
        f64::from(of.at_worker_limit)
    }),
    (
        "uidring_refused_jump_seconds",
        "How far the clock is ahead after a jump that is not followed.",
        |of| of.refused_jump.unwrap_or_default().as_secs_f64(),
    ),
    (
        "uidring_clock_skew_seconds",
        "How far the clock of this machine is ahead of the registry's; negative if it is behind, \
         and 0 where the registry has no clock of its own.",
        |of| {
            let ms = of.clock_skew_ms.unwrap_or(0);
            let seconds = float(ms.unsigned_abs()) / 1000.0;
            if ms < 0 { -seconds } else { seconds }
        },
    ),
    (
        "uidring_expires_timestamp_seconds",
        "When the clock reaches the end of the time field, in seconds since 1970.",
        |of| seconds_of(of.expires_at),
    ),
];

pub(crate) const UID_COUNTERS: [(&str, &str, OfUids<u64>); 6] = [
    ("uidring_taken_uids_total", "UIDs taken.", |of| of.taken),
    ("uidring_lost_uids_total", "UIDs that nobody will get.", |of| of.lost),
    ("uidring_skipped_uids_total", "UIDs skipped as stale.", |of| of.skipped),
    ("uidring_new_workers_total", "Worker ids after the first.", |of| of.new_workers),
    ("uidring_waits_total", "Takes of UIDs that had to wait.", |of| of.waits),
    ("uidring_clock_steps_total", "How often the clock was seen to have gone back.", |of| {
        of.clock_steps
    }),
];

pub(crate) type OfPast<T> = fn(&PastStatus) -> T;
/// The names are the same as in the library.
pub(crate) const PAST_GAUGES: [(&str, &str, OfPast<f64>); 2] = [
    ("uidring_past_ticks", "Ticks of which is remembered what was taken.", |of| {
        float(of.ticks as u64)
    }),
    ("uidring_past_broken", "1 if a rule did not hold, so that takes fail.", |of| {
        f64::from(of.broken_rule.is_some())
    }),
];

pub(crate) const PAST_COUNTERS: [(&str, &str, OfPast<u64>); 2] = [
    ("uidring_past_taken_uids_total", "UIDs of times that were.", |of| of.taken),
    ("uidring_past_workers_total", "Worker ids used up for them.", |of| of.workers),
];

pub(crate) type OfTag<T> = fn(&TagState) -> Option<T>;
pub(crate) type IsSo = fn(&TagState) -> bool;
/// Totals over all tags, including those without metrics of their own.
pub(crate) const TAG_SUMS: [(&str, &str, IsSo); 3] = [
    ("uidring_tags_failing", "Tags of which no further numbers can be loaded.", |of| {
        of.trouble.is_some()
    }),
    ("uidring_tags_empty", "Of these, tags without numbers in memory: takes fail.", |of| {
        of.is_out()
    }),
    ("uidring_tags_went_back", "Of these, tags whose row gave numbers again.", |of| {
        of.kind() == Some(Kind::RowsWentBack)
    }),
];

pub(crate) const TAG_GAUGES: [(&str, &str, OfTag<f64>); 6] = [
    ("uidring_tag_in_memory_numbers", "Numbers that can be taken without a load.", |of| {
        Some(float(of.status.as_ref()?.in_memory))
    }),
    ("uidring_tag_segment_numbers", "Numbers that the last load gave.", |of| {
        Some(float(of.loads.last?.count))
    }),
    (
        "uidring_tag_last_load_timestamp_seconds",
        "When numbers were last loaded, in seconds since 1970.",
        |of| Some(seconds_of(of.loads.last?.at)),
    ),
    ("uidring_tag_failing", "1 if no further numbers can be loaded.", |of| {
        Some(f64::from(of.trouble.is_some()))
    }),
    ("uidring_tag_empty", "1 if none are in memory, either: takes fail.", |of| {
        Some(f64::from(of.is_out()))
    }),
    ("uidring_tag_went_back", "1 if the row gave numbers again.", |of| {
        Some(f64::from(of.kind() == Some(Kind::RowsWentBack)))
    }),
];

pub(crate) const TAG_COUNTERS: [(&str, &str, OfTag<u64>); 6] = [
    ("uidring_tag_taken_numbers_total", "Numbers handed out one by one.", |of| {
        Some(of.status.as_ref()?.taken)
    }),
    ("uidring_tag_client_numbers_total", "Numbers in segments that went to clients.", |of| {
        Some(of.loads.to_clients)
    }),
    ("uidring_tag_lost_numbers_total", "Numbers that nobody will get.", |of| {
        Some(of.status.as_ref()?.lost)
    }),
    ("uidring_tag_waits_total", "Takes that waited for a load.", |of| {
        Some(of.status.as_ref()?.waits)
    }),
    ("uidring_tag_loads_total", "Loads that succeeded.", |of| Some(of.loads.loads)),
    ("uidring_tag_load_failures_total", "Loads that failed.", |of| Some(of.loads.failures)),
];

pub(crate) type OfSeries = fn(&SeriesState) -> u64;
pub(crate) const SERIES_GAUGES: [(&str, &str, OfSeries); 5] = [
    ("uidring_series_scopes", "Scopes whose numbers are in memory, or were lately.", |of| {
        of.scopes as u64
    }),
    ("uidring_series_failing", "1 if no numbers are given.", |of| u64::from(of.supply.is_out())),
    ("uidring_series_from_memory", "1 if no further numbers can be loaded.", |of| {
        u64::from(of.supply.is_from_memory())
    }),
    ("uidring_series_full", "Periods of scopes that have given all their numbers.", |of| {
        of.full_count as u64
    }),
    ("uidring_series_nearly_full", "Those that have given 80 % of them, and not all.", |of| {
        of.nearly_full_count as u64
    }),
];

pub(crate) const SERIES_COUNTERS: [(&str, &str, OfSeries); 2] = [
    ("uidring_series_taken_numbers_total", "Numbers handed out.", |of| of.takes.taken),
    ("uidring_series_failures_total", "Requests that failed because of the database.", |of| {
        of.takes.failures
    }),
];

/// Seconds since 1970. Earlier times become 0.
pub(crate) fn seconds_of(time: SystemTime) -> f64 {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}
