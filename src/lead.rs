//! [`LeadLimit`]: what to do when no more seconds may be borrowed.

/// What happens when UIDs have been taken so fast that their time is [`max_lead`](crate::Builder::max_lead) ahead of
/// the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LeadLimit {
    /// The filler takes another worker id from the registry and starts again at the clock's second. Throughput goes on;
    /// the order of UIDs starts anew with each worker id, and worker ids are used up. Where the registry has none, as
    /// [`Wait`](LeadLimit::Wait).
    NewWorker,
    /// A take waits, parked, until the next second is due: no more than `2^sequence_bits` UIDs a tick. Who came first
    /// goes on first.
    Wait,
    /// A take fails with [`TakeError::LeadLimit`](crate::TakeError::LeadLimit), which says when to try again.
    Fail,
}
