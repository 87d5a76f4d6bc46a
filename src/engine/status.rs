//! [`Status`]: the state of a generator, for operators.

use std::fmt;
use std::time::{Duration, SystemTime};

use crate::clock::{human, utc};
use crate::engine::error::TakeError;
use crate::engine::filler_signal::FillerState;
use crate::support::rule::BrokenRule;
use crate::sync::Counter;

/// Statistics since the generator was built.
#[derive(Debug, Default)]
pub struct Counters {
    /// Blocks published by takers.
    pub refilled_inline: Counter,
    /// Blocks published by the filler.
    pub refilled_by_filler: Counter,
    /// Takes that waited, once for each time.
    pub waits: Counter,
    /// How often the clock was seen to have gone back.
    pub clock_steps: Counter,
    /// Worker ids taken on after the first one.
    pub new_workers: Counter,
}

/// A generator's state at one moment, from [`UidGenerator::status`](crate::UidGenerator::status).
///
/// Counters are since the generator was built. They are read one after the other while takes go on,
/// so they need not add up to the last digit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// The worker id in the UIDs published now.
    pub worker_id: u64,
    /// How many worker ids the registry gives in all, if they can run out.
    pub worker_ids: Option<u64>,
    /// How many of them are larger than `worker_id`. Permanent ids are given in order, so none of
    /// these had been given when this one was. Of leased ids, which are given again, others may
    /// have some.
    pub worker_ids_left: Option<u64>,
    /// Worker ids taken on after the first one: by
    /// [`LeadLimit::NewWorker`](crate::LeadLimit::NewWorker), or because a lease was lost.
    pub new_workers: u64,
    /// Whether the generator may take on no further worker id at the lead limit for now:
    /// [`max_new_workers`](crate::Builder::max_new_workers) says how many it may.
    pub at_worker_limit: bool,
    /// The tick of the next UID.
    pub oldest: SystemTime,
    /// The tick published last.
    pub newest: SystemTime,
    /// How far `newest` is ahead of the clock: how much time is borrowed.
    pub lead: Duration,
    /// How far `oldest` is behind the clock.
    pub lag: Duration,
    /// Whether each UID has the tick of its take, by
    /// [`exact_time`](crate::Builder::exact_time).
    pub exact_time: bool,
    /// Takes that waited: for the next tick because one was full, for a clock that had gone back,
    /// or for the registry.
    pub waits: u64,
    /// How often the clock was seen to have gone back. In exact time it is read as UIDs are taken,
    /// and a step back that no taker comes upon is not seen.
    pub clock_steps: u64,
    /// How far the clock of this machine was ahead of the registry's at the last call, in
    /// milliseconds; negative if it was behind. `None` where the registry has no clock of its own,
    /// and after this machine's was set, until the next call.
    pub clock_skew_ms: Option<i64>,
    /// Whether `max_lead` is used up. In exact time: whether takes wait for longer than until the
    /// next tick, because the clock has gone back.
    pub at_lead_limit: bool,
    /// How far the clock is ahead after a jump that exceeds
    /// [`max_forward_jump`](crate::Builder::max_forward_jump) and is not followed.
    pub refused_jump: Option<Duration>,
    /// UIDs in the ring that nobody has taken; in exact time, those of the present tick. Zero after
    /// a shutdown.
    pub available: u64,
    /// Why a take would fail now, or wait for longer than until the next tick. `None` while UIDs
    /// are given.
    pub obstacle: Option<TakeError>,
    /// The rule that did not hold, if the generator has ended because of that.
    pub broken_rule: Option<BrokenRule>,
    /// When the ticks end that the registry has reserved, if worker ids are leased. UIDs end then,
    /// unless the registry reserves further ticks before.
    pub reserved_until: Option<SystemTime>,
    /// UIDs taken, including those that `fill` and local takers have claimed.
    pub taken: u64,
    /// UIDs that nobody will get: their taker was stopped in the middle of a take until their block
    /// was overwritten, or a failed take gave them back after later ones had been taken.
    pub lost: u64,
    /// UIDs skipped because their tick had become stale, or lay too far ahead of a clock set back.
    /// Zero in exact time, which skips what is left of each tick.
    pub skipped: u64,
    /// Blocks published by takers: when the ring was empty, or when they took so fast that the
    /// filler left the refill to them.
    pub refilled_inline: u64,
    /// Blocks published by the filler, including the first filling of the ring.
    pub refilled_by_filler: u64,
    /// What the filler thread is doing.
    pub filler: FillerState,
    /// When the clock reaches the end of the time field.
    pub expires_at: SystemTime,
}

impl Status {
    /// [`clock_skew_ms`](Status::clock_skew_ms), if it is more than a minute: one of the two clocks
    /// is wrong then.
    #[must_use]
    pub fn large_clock_skew_ms(&self) -> Option<i64> {
        self.clock_skew_ms.filter(|ms| is_large_skew(*ms))
    }

    /// When the time field will be used up if the lead keeps growing as it has since `earlier`, a
    /// status of the same generator `elapsed` ago. This is never later than
    /// [`expires_at`](Status::expires_at).
    #[must_use]
    pub fn expires_at_pace(&self, earlier: &Status, elapsed: Duration) -> SystemTime {
        let grown = self.lead.saturating_sub(earlier.lead).as_secs_f64() / elapsed.as_secs_f64();
        match self.expires_at.duration_since(self.newest) {
            Ok(left) if grown.is_finite() => {
                let left = left.div_f64(1.0 + grown);
                // Counted from the newest tick, which is ahead of the clock by the lead.
                (self.newest + left)
                    .checked_sub(self.lead)
                    .map_or(self.expires_at, |end| end.min(self.expires_at))
            }
            _ => self.expires_at,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Status { worker_id, new_workers, available, taken, lost, .. } = self;
        write!(f, "worker {worker_id}")?;
        if *new_workers > 0 {
            let limit = if self.at_worker_limit { ", and no further one for now" } else { "" };
            write!(f, " (after {new_workers} others{limit})")?;
        }
        writeln!(f, ", filler {}", self.filler)?;
        self.write_ticks(f)?;
        if let Some(jump) = self.refused_jump {
            writeln!(f, "the clock is {jump:?} ahead after a jump, which is not followed")?;
        }
        if self.exact_time {
            writeln!(f, "UIDs: {taken} taken, {available} left in this tick, {lost} lost")?;
        } else {
            let Status { skipped, refilled_by_filler, refilled_inline, .. } = self;
            writeln!(
                f,
                "UIDs: {taken} taken, {available} in the ring, {skipped} skipped as stale, {lost} \
                 lost"
            )?;
            writeln!(
                f,
                "refills: {refilled_by_filler} by the filler, {refilled_inline} by takers"
            )?;
        }
        if let Some(obstacle) = self.obstacle {
            writeln!(f, "takes get no UID: {obstacle}")?;
        }
        if let Some(broken) = self.broken_rule {
            writeln!(f, "the rule that did not hold: {broken}")?;
        }
        if let Some(skew) = self.large_clock_skew_ms() {
            let side = if skew > 0 { "ahead of" } else { "behind" };
            let by = Duration::from_millis(skew.unsigned_abs());
            writeln!(f, "the clock is {} {side} the registry's", human(by))?;
        }
        writeln!(f, "takes waited: {}; steps of the clock back: {}", self.waits, self.clock_steps)?;
        write!(f, "the time field ends at {}", utc(self.expires_at))
    }
}

/// Whether operators have to know how far two clocks are apart: by more than a minute, which the
/// time of a call and of a network that is slow do not explain.
pub fn is_large_skew(ms: i64) -> bool {
    ms.unsigned_abs() > 60_000
}

impl Status {
    fn write_ticks(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Status { lead, lag, .. } = self;
        if self.exact_time {
            write!(f, "exact time, tick {}: lead {lead:?}", utc(self.oldest))?;
        } else {
            let (oldest, newest) = (utc(self.oldest), utc(self.newest));
            write!(f, "ticks {oldest} to {newest}: lead {lead:?}, lag {lag:?}")?;
        }
        writeln!(f, "{}", if self.at_lead_limit { ", at the lead limit" } else { "" })
    }
}

impl fmt::Display for FillerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FillerState::Running => "running",
            FillerState::Panicked => "panicked",
            FillerState::Stopped => "stopped",
        })
    }
}
