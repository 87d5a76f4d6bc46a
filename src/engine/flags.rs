//! [`Flags`]: the state that the filler and takers tell each other besides the ring's own.

use std::time::Duration;

use crate::sync::{AtomicBool, AtomicU64, Ordering};

/// Changes rarely.
#[derive(Debug, Default)]
pub struct Flags {
    /// The jump of the clock that is not followed, in milliseconds; 0 for none. Written by the filler.
    refused_jump_ms: AtomicU64,
    /// Whether `max_lead` is used up. Written by the filler.
    at_lead_limit: AtomicBool,
    /// Whether no further worker id may be taken on for now. Written by the filler.
    at_worker_limit: AtomicBool,
    /// Whether the last reservation failed. Written by the filler.
    registry_down: AtomicBool,
    /// Whether a taker wants what lies beyond the limit, and the filler does not know yet.
    wanted: AtomicBool,
}

impl Flags {
    /// Notes the jump that is not followed. True if there was none before.
    pub fn set_refused_jump(&self, jump: Option<Duration>) -> bool {
        let ms = jump.map_or(0, |jump| u64::try_from(jump.as_millis()).unwrap_or(u64::MAX));
        // ORDERING: see `refused_jump_ms`.
        self.refused_jump_ms.swap(ms, Ordering::Relaxed) == 0 && ms != 0
    }

    /// By how much the clock is ahead of the time that is followed.
    pub fn refused_jump_ms(&self) -> u64 {
        // ORDERING: takers move the window by this only where there are no such jumps.
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

    /// Whether the last reservation failed. Else the next one is on its way.
    pub fn is_registry_down(&self) -> bool {
        // ORDERING: a taker that reads it late waits a little longer, or fails once too often.
        self.registry_down.load(Ordering::Relaxed)
    }

    /// Notes that a UID is wanted beyond the limit. True if the filler has to be asked.
    pub fn want(&self) -> bool {
        // ORDERING: Release, pairs with `take_wanted`: the question to the filler comes after it.
        !self.wanted.swap(true, Ordering::AcqRel)
    }

    /// Whether a UID has been wanted beyond the limit since the last time. For the filler.
    pub fn take_wanted(&self) -> bool {
        // ORDERING: Acquire, pairs with `want`.
        self.wanted.swap(false, Ordering::AcqRel)
    }
}
