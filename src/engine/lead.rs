//! [`LeadLimit`]: what to do when no more seconds may be borrowed.

use std::time::Duration;

/// What happens when UIDs have been taken so fast that their time is
/// [`max_lead`](crate::Builder::max_lead) ahead of the clock.
///
/// Unless [`on_lead_limit`](crate::Builder::on_lead_limit) says so, it is `NewWorker` where
/// `max_lead` is an hour or more, and `Wait` where it is shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LeadLimit {
    /// The filler takes another worker id from the registry and starts again at the clock's second.
    /// Throughput goes on; the order of UIDs starts anew with each worker id, and worker ids are
    /// used up, as many as [`max_new_workers`](crate::Builder::max_new_workers) allows. Beyond
    /// that, and where the registry has none, as [`Wait`](LeadLimit::Wait).
    NewWorker,
    /// A take waits, parked, until the next second is due: no more than `2^sequence_bits` UIDs a
    /// tick. Who came first goes on first.
    Wait,
    /// A take fails with [`TakeError::LeadLimit`](crate::TakeError::LeadLimit), which says when to
    /// try again.
    Fail,
}

/// With a shorter lead the limit is nothing out of the ordinary, the clock is soon there again, and
/// worker ids would be gone before somebody notices. A load of twice the layout's rate uses one up
/// each time that the lead has gone by.
const LONG_LEAD: Duration = Duration::from_secs(3600);

impl LeadLimit {
    /// What happens where nothing else is asked for.
    pub(crate) fn of(max_lead: Duration) -> LeadLimit {
        if max_lead >= LONG_LEAD { LeadLimit::NewWorker } else { LeadLimit::Wait }
    }
}
