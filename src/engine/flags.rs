//! [`Flags`]: the state that the filler and takers share besides the ring.

use std::time::Duration;

use crate::sync::{AtomicBool, AtomicU64, Ordering};

/// Shared state that changes rarely.
#[derive(Debug, Default)]
pub struct Flags {
    /// The jump of the clock that is not followed, in milliseconds; 0 if there is none. Written by
    /// the filler.
    refused_jump_ms: AtomicU64,
    /// Whether `max_lead` is used up. Written by the filler.
    at_lead_limit: AtomicBool,
    /// Whether no further worker id may be taken on for now. Written by the filler.
    at_worker_limit: AtomicBool,
    /// Whether the last reservation failed. Written by the filler.
    registry_down: AtomicBool,
    /// Whether a taker needs UIDs beyond the limit and the filler has not seen that yet.
    wanted: AtomicBool,
    /// How far the clock of this machine is ahead of the registry's, in milliseconds, with the
    /// highest bit flipped, so that 0 says that nothing is known. Written by the filler.
    clock_skew: AtomicU64,
    /// In exact time, whether UIDs are ahead of the clock. Written by takers and the filler.
    ahead: AtomicBool,
}

const HIGHEST_BIT: u64 = 1 << 63;

impl Flags {
    /// Records the jump that is not followed. Returns true if there was none before.
    pub fn set_refused_jump(&self, jump: Option<Duration>) -> bool {
        let ms = jump.map_or(0, |jump| u64::try_from(jump.as_millis()).unwrap_or(u64::MAX));
        // ORDERING: see `refused_jump_ms`.
        self.refused_jump_ms.swap(ms, Ordering::Relaxed) == 0 && ms != 0
    }

    /// How far the clock is ahead of the time that the generator follows.
    pub fn refused_jump_ms(&self) -> u64 {
        // ORDERING: an old value does no harm. Takers subtract it from the clock, and where jumps
        // may be refused they do not extend the window by the result.
        self.refused_jump_ms.load(Ordering::Relaxed)
    }

    pub fn refused_jump(&self) -> Option<Duration> {
        let ms = self.refused_jump_ms();
        (ms > 0).then(|| Duration::from_millis(ms))
    }

    pub fn set_at_lead_limit(&self, at_limit: bool) {
        // ORDERING: a statistic.
        self.at_lead_limit.store(at_limit, Ordering::Relaxed);
    }

    pub fn is_at_lead_limit(&self) -> bool {
        // ORDERING: a statistic.
        self.at_lead_limit.load(Ordering::Relaxed)
    }

    pub fn set_at_worker_limit(&self, at_limit: bool) {
        // ORDERING: a statistic.
        self.at_worker_limit.store(at_limit, Ordering::Relaxed);
    }

    pub fn is_at_worker_limit(&self) -> bool {
        // ORDERING: a statistic.
        self.at_worker_limit.load(Ordering::Relaxed)
    }

    pub fn set_registry_down(&self, down: bool) {
        // ORDERING: see `is_registry_down`.
        self.registry_down.store(down, Ordering::Relaxed);
    }

    /// Whether the last reservation failed. If not, the next one is under way or not needed.
    pub fn is_registry_down(&self) -> bool {
        // ORDERING: a taker that reads an old value waits a little longer, or fails once more.
        self.registry_down.load(Ordering::Relaxed)
    }

    pub fn set_clock_skew_ms(&self, skew_ms: Option<i64>) {
        let word = skew_ms.map_or(0, |ms| ms.cast_unsigned() ^ HIGHEST_BIT);
        // ORDERING: a statistic.
        self.clock_skew.store(word, Ordering::Relaxed);
    }

    pub fn clock_skew_ms(&self) -> Option<i64> {
        // ORDERING: a statistic.
        match self.clock_skew.load(Ordering::Relaxed) {
            0 => None,
            word => Some((word ^ HIGHEST_BIT).cast_signed()),
        }
    }

    /// Records that a UID is ahead of the clock. Returns true if the filler must be woken.
    pub fn set_ahead(&self) -> bool {
        // ORDERING: a hint. Usually it is set already, and a load leaves the line shared.
        !self.ahead.load(Ordering::Relaxed) && !self.ahead.swap(true, Ordering::Relaxed)
    }

    /// Whether a UID is ahead of the clock.
    pub fn is_ahead(&self) -> bool {
        // ORDERING: a hint.
        self.ahead.load(Ordering::Relaxed)
    }

    /// Records that no UID is ahead of the clock any more. Called by the filler.
    pub fn clear_ahead(&self) {
        // ORDERING: a hint.
        self.ahead.store(false, Ordering::Relaxed);
    }

    /// Records that a taker needs a UID beyond the limit. Returns true if the filler must be woken.
    pub fn set_wanted(&self) -> bool {
        // ORDERING: Release, pairs with `take_wanted`: the filler is woken after this.
        !self.wanted.swap(true, Ordering::AcqRel)
    }

    /// Whether a taker has needed a UID beyond the limit since the last call. Called by the filler.
    pub fn take_wanted(&self) -> bool {
        // ORDERING: Acquire, pairs with `set_wanted`.
        self.wanted.swap(false, Ordering::AcqRel)
    }
}
