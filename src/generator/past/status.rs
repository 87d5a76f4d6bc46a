//! What a generator of the past has done, and its metrics.

#[cfg(feature = "metrics")]
use crate::filler::metrics::{StatusMetrics, gauge_of};
use crate::support::rule::BrokenRule;

/// What a [`PastGenerator`](crate::PastGenerator) has done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PastStatus {
    /// The worker id that it took on last.
    pub worker_id: u64,
    /// How many worker ids it has taken on.
    pub workers: u64,
    /// How many UIDs were taken.
    pub taken: u64,
    /// Of how many ticks it remembers what was taken.
    pub ticks: usize,
    /// The rule that did not hold, if it has ended because of one.
    pub broken_rule: Option<BrokenRule>,
}

impl PastStatus {
    /// That of a process in which the generator is not.
    pub const NOTHING: PastStatus =
        PastStatus { worker_id: 0, workers: 0, taken: 0, ticks: 0, broken_rule: None };
}

/// The metrics of a generator whose first worker id is `generator` of `registry`.
#[cfg(feature = "metrics")]
pub fn metrics(generator: u64, registry: &str) -> StatusMetrics<PastStatus> {
    let labels = vec![("generator", generator.to_string()), ("registry", registry.to_owned())];
    StatusMetrics::<PastStatus>::new(labels)
        .gauge("uidring_past_ticks", "Ticks of which is remembered what was taken.", |status| {
            gauge_of(status.ticks as u64)
        })
        .gauge("uidring_past_broken", "1 if a rule did not hold, so that takes fail.", |status| {
            f64::from(status.broken_rule.is_some())
        })
        .counter("uidring_past_taken_uids_total", "UIDs of times that were.", |status| status.taken)
        .counter("uidring_past_workers_total", "Worker ids used up for them.", |status| {
            status.workers
        })
}
