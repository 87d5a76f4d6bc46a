//! [`Engine`]: what takers and the filler share, and the slow path of a take.

pub mod ahead;
#[cfg(feature = "async")]
pub mod async_take;
pub mod claim;
mod error;
pub mod events;
pub mod exact;
pub mod filler_signal;
mod flags;
#[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
pub mod fork;
pub mod limits;
mod refill;
pub mod status;
mod take;
pub mod timing;
#[cfg(feature = "async")]
pub mod wait_queue;
pub mod waiters;

pub use error::{FillError, SegmentFailure, TakeError};

use std::fmt;
use std::num::NonZeroU64;
use std::ops::RangeInclusive;
use std::time::SystemTime;

use crossbeam_utils::CachePadded;

use crate::clock::Clock;
use crate::engine::ahead::Ahead;
use crate::engine::exact::Exact;
use crate::engine::filler_signal::{FillerState, Signal};
use crate::engine::flags::Flags;
use crate::engine::limits::{LeadLimit, Limits};
use crate::engine::status::{Counters, Status};
use crate::engine::timing::Timing as _;
use crate::engine::waiters::Waiters;
use crate::registry::Lease;
use crate::ring::codec::TickCodec;
use crate::ring::window::Window;
use crate::ring::{Ended, Ring};
use crate::support::rule::Rule;
use crate::sync::{Arc, AtomicU64, Ordering, Parker};

/// Each expiry lowers `claims_end` by this much. No span of a local taker's claim is longer, so
/// one comparison tells whether the span is used up or has expired. At one expiry per
/// microsecond, faster than the filler can run, `claims_end` would reach zero after two years.
pub const EXPIRY_STEP: u64 = 1 << 16;
/// What `claims_end` is at first. As many numbers follow as come before it: threads that share a
/// span by an atomic add, in whatever language, go past its end.
pub const FIRST_CLAIMS_END: u64 = 1 << 62;

/// A kind of generator.
#[derive(Debug)]
pub enum Kind {
    Ahead(Ahead),
    Exact(Exact),
}

/// Calls a method of [`Timing`](crate::engine::timing::Timing) on the engine's kind.
macro_rules! by_kind {
    ($engine:expr, $method:ident $(, $argument:expr)*) => {
        match &$engine.kind {
            $crate::engine::Kind::Ahead(ahead) => ahead.$method($engine $(, $argument)*),
            $crate::engine::Kind::Exact(exact) => exact.$method($engine $(, $argument)*),
        }
    };
}
pub(crate) use by_kind;

/// A generator without its filler thread.
pub struct Engine {
    pub ring: Ring,
    /// Local takers number the UIDs of a span so that the last one comes directly before this
    /// number. To make them drop their claims, it is lowered below all numbers in use. Written by
    /// the filler, read by each local take.
    claims_end: CachePadded<AtomicU64>,
    pub signal: CachePadded<Signal>,
    pub counters: CachePadded<Counters>,
    pub flags: CachePadded<Flags>,
    pub waiters: Waiters,
    clock: Arc<dyn Clock>,
    pub codec: TickCodec,
    pub limits: Limits,
    pub policy: LeadLimit,
    /// Whether takers at the limit may read the clock themselves. They may not if a jump of the
    /// clock may be refused, which only the filler decides.
    pub takers_read_clock: bool,
    /// How the ticks of UIDs follow the clock.
    pub kind: Kind,
    /// The first ticket of the generator.
    first_ticket: u64,
    /// The worker ids of the registry, if they can run out.
    worker_ids: Option<RangeInclusive<u64>>,
}

/// The parameters of an [`Engine`].
pub struct Setup<'a> {
    pub clock: Arc<dyn Clock>,
    pub limits: Limits,
    pub policy: LeadLimit,
    pub takers_read_clock: bool,
    pub is_exact: bool,
    pub lease: &'a Lease,
    pub worker_ids: Option<RangeInclusive<u64>>,
    pub slots: usize,
    pub refill_mark: u64,
}

impl Engine {
    /// An engine with a full ring.
    pub fn new(setup: Setup<'_>) -> (Engine, Parker) {
        let Setup { takers_read_clock, is_exact, .. } = setup;
        let Setup { clock, limits, policy, lease, worker_ids, slots, refill_mark, .. } = setup;
        let (signal, parker) = filler_signal::signal();
        let codec = TickCodec::new(&limits.layout);
        let window = limits.window(&codec, limits.ms_at(clock.now()), lease);
        let mut ring = Ring::new(slots, limits.layout.sequence_bits(), codec, window);
        let kind = if is_exact {
            ring.begin_at(exact::first_ticket(&ring, lease));
            Kind::Exact(Exact)
        } else {
            Kind::Ahead(Ahead::new(slots as u64, refill_mark))
        };
        let engine = Engine {
            first_ticket: ring.cursor.position(),
            ring,
            claims_end: CachePadded::new(AtomicU64::new(FIRST_CLAIMS_END)),
            signal: CachePadded::new(signal),
            counters: CachePadded::default(),
            flags: CachePadded::default(),
            waiters: Waiters::default(),
            clock,
            codec,
            limits,
            policy,
            takers_read_clock,
            kind,
            worker_ids,
        };
        if engine.is_window_of(&window, lease) {
            by_kind!(&engine, start, lease);
        }
        (engine, parker)
    }

    /// What the clock shows.
    pub fn now_ms(&self) -> i64 {
        self.limits.ms_at(self.clock.now())
    }

    /// What the clock shows, less a jump that is not followed.
    pub fn trusted_now_ms(&self) -> i64 {
        self.now_ms().saturating_sub_unsigned(self.flags.refused_jump_ms())
    }

    /// The worker id of the blocks that are published now.
    pub fn worker(&self) -> u64 {
        self.codec.worker_of(self.ring.window().last_base())
    }

    /// The tick of `block`, if the ring holds that block.
    pub fn tick_of_block(&self, block: u64) -> Option<u64> {
        self.base_of_block(block).map(|base| self.codec.tick_of(base.get()))
    }

    /// The base of `block`, if the ring holds that block or, in exact time, if the tick of this
    /// number is reserved.
    pub fn base_of_block(&self, block: u64) -> Option<NonZeroU64> {
        by_kind!(self, base_of_block, block)
    }

    /// The tick of the block published last or, in exact time, that of the next ticket.
    pub fn newest_tick(&self) -> u64 {
        self.codec.tick_of(self.newest())
    }

    /// The base of the block published last or, in exact time, of the tick of the next ticket.
    pub fn newest(&self) -> u64 {
        by_kind!(self, newest)
    }

    /// The number of UIDs that have been taken or claimed.
    pub fn taken(&self) -> u64 {
        let claimed = self.ring.cursor.position().saturating_sub(self.first_ticket);
        claimed.saturating_sub(self.ring.cursor.skipped()).saturating_sub(self.ring.cursor.lost())
    }

    /// The number of UIDs in the ring that takes can get now.
    pub fn at_hand(&self) -> u64 {
        by_kind!(self, at_hand)
    }

    /// Whether the generator belongs to the process that this one was forked from. If so, there is
    /// no filler here, and locks may be held by threads that do not exist.
    pub fn is_forked(&self) -> bool {
        self.ring.cursor.ended() == Some(Ended::Forked)
    }

    /// Ends the generator: takes fail from now on, and the filler gives the worker id back.
    pub fn shut_down(&self) {
        self.ring.cursor.shut_down();
        self.expire_claims();
        self.signal.stop();
        // Last, because a task's waker may panic.
        self.waiters.wake_all();
    }

    /// Whether the next UIDs lie past the reserved ticks of the lease, but within the layout.
    pub fn is_lease_used_up(&self) -> bool {
        self.is_past_lease(by_kind!(self, next_tick))
    }

    fn is_past_lease(&self, tick: u64) -> bool {
        let end = self.codec.tick_of(self.ring.window().get().reserved_base);
        end < self.limits.final_tick && tick > end
    }

    /// The end of the ticks that the registry has reserved, if the layout has further ones.
    fn reserved_until(&self) -> Option<SystemTime> {
        let end = self.codec.tick_of(self.ring.window().get().reserved_base);
        (end < self.limits.final_tick).then(|| self.limits.layout.begin_of(end.saturating_add(1)))
    }

    /// Opens a closed ring if its next ticket has a UID that may be handed out. Returns whether it
    /// has.
    pub fn try_open(&self, now_ms: i64) -> bool {
        let is_due = by_kind!(self, is_cursor_due, now_ms);
        if is_due {
            self.ring.cursor.open();
        }
        is_due
    }

    /// Sets the window to what the lease in use and the clock allow. Called by the filler.
    pub fn move_window(&self, lease: &Lease, now_ms: i64) {
        by_kind!(self, move_window, lease, now_ms);
    }

    /// Continues with the ticks of another lease. Called by the filler.
    pub fn take_on(&self, lease: &Lease, now_ms: i64) {
        let window = by_kind!(self, window, lease, now_ms);
        if self.is_window_of(&window, lease) {
            self.ring.window().take_on(window);
        }
    }

    /// Sets the window of the lease in use. Called by the filler.
    pub fn set_window(&self, window: Window, lease: &Lease) {
        if self.is_window_of(&window, lease) {
            self.ring.window().set(window);
        }
    }

    /// Whether `window` lies within the ticks of `lease`. If it does not, the generator ends.
    fn is_window_of(&self, window: &Window, lease: &Lease) -> bool {
        let [first, reserved] =
            [lease.first, lease.last].map(|tick| self.codec.base_at(tick, lease.worker));
        let Window { first_base, last_base, reserved_base } = *window;
        let check = |holds, base, limit| {
            let [tick, limit] = [base, limit].map(|base| self.codec.tick_of(base));
            Rule::WindowInLease.check(holds, lease.worker, tick, limit)
        };
        let result = check(first_base >= first, first_base, first)
            .and_then(|()| check(reserved_base == reserved, reserved_base, reserved))
            .and_then(|()| check(last_base <= reserved, last_base, reserved));
        result.map_err(|broken| self.ring.break_rule(broken)).is_ok()
    }

    /// Makes local takers drop their claims.
    pub fn expire_claims(&self) {
        // ORDERING: Release: a taker that sees it claims after the position to which the cursor was
        // moved before.
        self.claims_end.fetch_sub(EXPIRY_STEP, Ordering::Release);
    }

    /// The number past the last UID of a span claimed from now on. It changes when local takers
    /// must drop their claims.
    pub fn claims_end(&self) -> u64 {
        // ORDERING: see `expire_claims`.
        self.claims_end.load(Ordering::Acquire)
    }

    /// The word that holds [`claims_end`](Engine::claims_end).
    pub fn claims_end_word(&self) -> &AtomicU64 {
        &self.claims_end
    }

    /// Whether a span whose next UID has this number is used up or has expired.
    #[inline]
    pub fn is_used_up(&self, number: u64) -> bool {
        // ORDERING: none needed: a thread never sees an older value than the one it saw before its
        // claim, and nothing else is read because of a newer one.
        number >= self.claims_end.load(Ordering::Relaxed)
    }

    /// How many worker ids the registry gives in order, if these can run out.
    pub fn worker_id_count(&self) -> Option<u64> {
        self.worker_ids.as_ref().map(|ids| {
            let difference = ids.end().checked_sub(*ids.start());
            difference.map_or(0, |difference| difference.saturating_add(1))
        })
    }

    /// The state of the generator, for operators.
    pub fn status(&self) -> Status {
        let now_ms = self.trusted_now_ms();
        let (oldest, newest) = by_kind!(self, oldest_and_newest, now_ms);
        let (layout, worker, ids) = (self.limits.layout, self.worker(), self.worker_ids.as_ref());
        Status {
            worker_id: worker,
            worker_ids: self.worker_id_count(),
            worker_ids_left: ids.map(|ids| ids.end().saturating_sub(worker)),
            new_workers: self.counters.new_workers.get(),
            at_worker_limit: self.flags.is_at_worker_limit(),
            oldest: layout.begin_of(oldest),
            newest: layout.begin_of(newest),
            lead: self.limits.lead(newest, now_ms),
            lag: self.limits.lag(oldest, now_ms),
            exact_time: matches!(self.kind, Kind::Exact(_)),
            waits: self.counters.waits.get(),
            clock_steps: self.counters.clock_steps.get(),
            clock_skew_ms: self.flags.clock_skew_ms(),
            at_lead_limit: self.flags.is_at_lead_limit(),
            refused_jump: self.flags.refused_jump(),
            available: if self.ring.cursor.ended().is_none() {
                by_kind!(self, available)
            } else {
                0
            },
            obstacle: self.lasting_obstacle(now_ms),
            broken_rule: if self.is_forked() { None } else { self.ring.broken_rule() },
            reserved_until: self.reserved_until(),
            taken: self.taken(),
            lost: self.ring.cursor.lost(),
            skipped: by_kind!(self, skipped),
            refilled_inline: self.counters.refilled_inline.get(),
            refilled_by_filler: self.counters.refilled_by_filler.get(),
            filler: if self.is_forked() { FillerState::Stopped } else { self.signal.state() },
            expires_at: layout.expires_at(),
        }
    }
}

#[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
impl fork::Abandon for Engine {
    fn abandon(&self) {
        self.ring.cursor.abandon();
        self.expire_claims();
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("ring", &self.ring)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::generator::builder::Builder;
    use crate::registry::{FixedWorker, Lease};
    use crate::ring::window::Window;

    #[test]
    fn a_window_outside_its_lease_ends_the_generator() {
        let lease = Lease::leased(1, 100..=200, Duration::from_secs(100), "one");
        for (first, last, reserved, found) in
            [(99, 200, 200, 99), (100, 201, 200, 201), (100, 200, 201, 201), (100, 200, 199, 199)]
        {
            let builder = Builder::new().registry(FixedWorker::new(1));
            let assembled = builder.assemble(fastrand::Rng::with_seed(7));
            let Ok((engine, _, _)) = assembled else { unreachable!("it is well") };
            let base_at = |tick| engine.codec.base_at(tick, 1);
            let [first_base, last_base, reserved_base] = [first, last, reserved].map(base_at);
            let before = engine.ring.window().get();
            engine.set_window(Window { first_base, last_base, reserved_base }, &lease);
            assert_eq!(engine.ring.window().get(), before);
            let broken = engine.ring.broken_rule().map(|broken| (broken.rule, broken.found));
            assert_eq!(broken, Some((Rule::WindowInLease, found)));
            let rule = Rule::WindowInLease;
            assert_eq!(engine.try_take(), Err(TakeError::BrokenRule { rule }));
        }
    }
}
