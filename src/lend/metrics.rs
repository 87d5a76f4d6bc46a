//! The gauges of pools, and the counter of renewals that failed.

use super::store::PoolCounts;

/// The pool, and its store.
pub(super) type Labels = [(&'static str, String); 2];

#[cfg(feature = "metrics")]
pub(super) fn show_counts(labels: &Labels, counts: PoolCounts) {
    use metrics::{describe_gauge, gauge};

    use crate::support::callbacks::catch_panic;

    let all = [
        ("uidring_pool_held_ids", "Worker ids of the pool that have a holder.", counts.held),
        (
            "uidring_pool_resting_ids",
            "Worker ids of the pool that have none, and may not be lent yet.",
            counts.resting,
        ),
        ("uidring_pool_free_ids", "Worker ids of the pool that may be lent.", counts.free),
    ];
    let show = || {
        for (name, what, count) in all {
            describe_gauge!(name, what);
            // A pool has 22 bits at most.
            gauge!(name, labels).set(f64::from(u32::try_from(count).unwrap_or(u32::MAX)));
        }
    };
    catch_panic(show);
}

#[cfg(not(feature = "metrics"))]
pub(super) fn show_counts(_: &Labels, _: PoolCounts) {}

#[cfg(feature = "metrics")]
pub(super) fn count_failure(labels: &Labels) {
    use metrics::{counter, describe_counter};

    use crate::support::callbacks::catch_panic;

    let count = || {
        let name = "uidring_pool_renewal_failures_total";
        describe_counter!(name, "Renewals of lent worker ids that failed.");
        counter!(name, labels).increment(1);
    };
    catch_panic(count);
}

#[cfg(not(feature = "metrics"))]
pub(super) fn count_failure(_: &Labels) {}
