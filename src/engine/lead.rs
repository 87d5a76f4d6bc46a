//! [`LeadLimit`]: what happens when no more ticks may be borrowed.

use std::time::Duration;

/// What happens when UIDs have been taken so fast that their time is
/// [`max_lead`](crate::Builder::max_lead) ahead of the clock.
///
/// Unless [`on_lead_limit`](crate::Builder::on_lead_limit) sets it, this is `NewWorker` if
/// `max_lead` is an hour or more, and `Wait` if it is shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LeadLimit {
    /// The filler takes another worker id from the registry and starts again at the clock's tick.
    /// Throughput continues, but the order of UIDs starts anew with each worker id, and worker ids
    /// are used up. [`max_new_workers`](crate::Builder::max_new_workers) says how many at most.
    /// Beyond that, and if the registry has no worker id, takes wait as with
    /// [`Wait`](LeadLimit::Wait).
    NewWorker,
    /// A take parks its thread until the next tick is due, so that no more than `2^sequence_bits`
    /// UIDs are taken in a tick. Waiting threads are served in order. Waiting tasks are served in
    /// order too, but only with UIDs that are left over by threads.
    Wait,
    /// A take fails with [`TakeError::LeadLimit`](crate::TakeError::LeadLimit), which says when to
    /// try again.
    Fail,
}

/// With a shorter lead, reaching the limit is nothing unusual: the clock soon catches up, and
/// worker ids would be used up before anybody notices. A load of twice the layout's rate would use
/// one up in each `max_lead` of time.
const LONG_LEAD: Duration = Duration::from_secs(3600);

impl LeadLimit {
    /// The policy for this `max_lead` if none is set.
    pub(crate) fn of(max_lead: Duration) -> LeadLimit {
        if max_lead >= LONG_LEAD { LeadLimit::NewWorker } else { LeadLimit::Wait }
    }
}
