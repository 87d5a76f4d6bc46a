//! What takers and filler share, and what a taker does when its UID is not simply at hand.

pub mod claim;
mod counters;
mod error;
pub mod events;
mod flags;
#[cfg(all(unix, not(uidring_loom)))]
pub mod fork;
pub mod lead;
pub mod limits;
#[cfg(feature = "async")]
pub mod line;
mod refill;
pub mod signal;
pub mod status;
mod take;
#[cfg(feature = "async")]
pub mod turn;
pub mod waiters;

pub use error::{FillError, TakeError};

use std::fmt;

use crossbeam_utils::CachePadded;

use crate::clock::Clock;
use crate::engine::counters::Counters;
use crate::engine::flags::Flags;
use crate::engine::lead::LeadLimit;
use crate::engine::limits::Limits;
use crate::engine::signal::{FillerState, Signal};
use crate::engine::status::Status;
use crate::engine::waiters::Waiters;
use crate::registry::Lease;
use crate::ring::codec::TickCodec;
use crate::ring::{Block, Ring};
use crate::sync::{Arc, AtomicU64, Ordering, Parker};

/// `runs_end` sinks by this, and no piece of a local taker's run is longer: so one comparison tells
/// whether it is used up or has expired. At one expiry a microsecond, more than the filler can
/// look, it would be at zero after nine years.
pub const EXPIRY_STEP: u64 = 1 << 16;

/// A generator without its thread.
pub struct Engine {
    pub ring: Ring,
    /// Local takers number the UIDs at hand up to here. It sinks below all those numbers when they
    /// have to drop them. Written by the filler, read by each local take.
    runs_end: CachePadded<AtomicU64>,
    pub signal: CachePadded<Signal>,
    pub counters: CachePadded<Counters>,
    pub flags: CachePadded<Flags>,
    pub waiters: Waiters,
    clock: Arc<dyn Clock>,
    pub codec: TickCodec,
    pub limits: Limits,
    pub policy: LeadLimit,
    /// Whether takers that are at the limit may read the clock by themselves: not if its jumps have
    /// to be judged first.
    pub takers_read_clock: bool,
    /// Takers refill the ring up to this block, and do not ask the filler.
    undisturbed_until: AtomicU64,
    /// The filler is asked when no more than so many blocks are left.
    refill_mark: u64,
    /// The most blocks that the front reaches over: no more than from a full ring to the mark,
    /// where takers look after it, and no more than from there to an empty one.
    range: u64,
    first_ticket: u64,
}

/// How a generator is set up.
pub struct Setup<'a> {
    pub clock: Arc<dyn Clock>,
    pub limits: Limits,
    pub policy: LeadLimit,
    pub takers_read_clock: bool,
    pub lease: &'a Lease,
    pub slots: usize,
    pub refill_mark: u64,
}

/// The most blocks that takers use up between two looks after the ring: who looks publishes as
/// many, in microseconds.
const LONGEST_STRETCH: u64 = 64;

impl Engine {
    /// With a full ring.
    pub fn new(setup: Setup<'_>) -> (Engine, Parker) {
        let Setup { clock, limits, policy, takers_read_clock, lease, slots, refill_mark } = setup;
        let (signal, parker) = signal::signal();
        let codec = TickCodec::new(&limits.layout);
        let window = limits.window(&codec, limits.ms_at(clock.now()), lease);
        let ring = Ring::new(slots, limits.layout.sequence_bits(), codec, window);
        let engine = Engine {
            first_ticket: ring.position(),
            ring,
            runs_end: CachePadded::new(AtomicU64::new(u64::MAX)),
            signal: CachePadded::new(signal),
            counters: CachePadded::default(),
            flags: CachePadded::default(),
            waiters: Waiters::default(),
            clock,
            codec,
            limits,
            policy,
            takers_read_clock,
            undisturbed_until: AtomicU64::new(0),
            refill_mark,
            range: refill_mark.min(slots as u64 - refill_mark).clamp(1, LONGEST_STRETCH),
        };
        engine.refill();
        (engine, parker)
    }

    /// What the clock shows.
    pub fn now_ms(&self) -> i64 {
        self.limits.ms_at(self.clock.now())
    }

    /// What the clock shows, but for a jump that is not followed.
    fn trusted_now_ms(&self) -> i64 {
        self.now_ms().saturating_sub_unsigned(self.flags.refused_jump_ms())
    }

    /// The worker id of the seconds published now.
    pub fn worker(&self) -> u64 {
        self.codec.worker(self.ring.window().last())
    }

    /// The second of `block`, if the ring holds it.
    pub fn tick(&self, block: u64) -> Option<u64> {
        self.ring.base(block).map(|base| self.codec.tick(base.get()))
    }

    /// The second published last.
    pub fn newest_tick(&self) -> u64 {
        self.codec.tick(self.ring.newest())
    }

    /// UIDs that somebody has, or holds a run of.
    pub fn taken(&self) -> u64 {
        (self.ring.position() - self.first_ticket)
            .saturating_sub(self.ring.skipped())
            .saturating_sub(self.ring.lost())
    }

    /// UIDs in the ring that a take may get.
    pub fn at_hand(&self) -> u64 {
        if self.ring.is_closed() { 0 } else { self.ring.available() }
    }

    /// Marks the generator as one of the process that this one was forked from. Nothing in it waits
    /// or allocates.
    #[cfg(all(unix, not(uidring_loom)))]
    pub fn abandon(&self) {
        self.ring.abandon();
        self.expire_runs();
    }

    /// Whether the generator belongs to the process that this one was forked from. Then there is no
    /// filler, and a lock may be held by a thread that does not exist.
    pub fn is_forked(&self) -> bool {
        self.ring.is_abandoned()
    }

    /// The tick of `ticket`: that of its block, or the one that its block will have.
    fn due(&self, ticket: u64) -> u64 {
        let block = ticket >> self.ring.shift();
        self.tick(block).unwrap_or_else(|| {
            // In this order: a block that is published in between makes it too early, not too late.
            let following = self.codec.following(self.ring.newest(), self.ring.window().get());
            self.codec.tick(following) + block.saturating_sub(self.ring.tail())
        })
    }

    /// The tick of the next ticket, or, where takers wait with tickets of later ones, the tick that
    /// is published next.
    fn next_due(&self) -> u64 {
        self.due(self.ring.position().min(self.ring.tail() << self.ring.shift()))
    }

    /// Whether the next UIDs lie behind what is reserved of the lease, and the layout goes on.
    pub fn is_lease_used_up(&self) -> bool {
        self.is_behind_lease(self.next_due())
    }

    fn is_behind_lease(&self, tick: u64) -> bool {
        let end = self.codec.tick(self.ring.window().get().reserved);
        end < self.limits.layout.max_tick() && tick > end
    }

    /// Lets the window end where the clock allows, if that is later.
    fn extend_window(&self, now_ms: i64) {
        if self.takers_read_clock
            && let Some(last) = self.limits.last_tick(now_ms)
        {
            self.ring.window().extend(last, &self.codec);
        }
    }

    /// Opens a closed ring if its next ticket has a UID that may be handed out.
    pub fn try_open(&self, now_ms: i64) -> bool {
        self.extend_window(now_ms);
        let block = self.ring.cursor_block();
        let due = match self.ring.block(block, &self.counters.refilled_inline) {
            Block::Published(base) => self.limits.is_due(self.codec.tick(base.get()), now_ms),
            Block::Overwritten => true,
            Block::Beyond => false,
        };
        if due {
            self.ring.open();
        }
        due
    }

    /// Tells local takers to drop their runs.
    pub fn expire_runs(&self) {
        // ORDERING: Release: who sees it claims behind where the cursor was moved to before.
        self.runs_end.fetch_sub(EXPIRY_STEP, Ordering::Release);
    }

    /// The number behind the last UID of a run claimed after this. Changes when local takers have
    /// to drop their runs.
    pub fn runs_end(&self) -> u64 {
        // ORDERING: see `expire_runs`.
        self.runs_end.load(Ordering::Acquire)
    }

    /// Whether a piece of a run whose next UID has this number is used up, or has expired.
    #[inline]
    pub fn is_used_up(&self, number: u64) -> bool {
        // ORDERING: none needed: a thread never sees an older value than it saw before its claim,
        // and the same one leads to nothing new.
        number >= self.runs_end.load(Ordering::Relaxed)
    }

    pub fn status(&self) -> Status {
        let now_ms = self.trusted_now_ms();
        let newest = self.newest_tick();
        let oldest = self.tick(self.ring.cursor_block()).unwrap_or(newest);
        let layout = self.limits.layout;
        Status {
            worker_id: self.worker(),
            new_workers: self.counters.new_workers.get(),
            at_worker_limit: self.flags.is_at_worker_limit(),
            oldest: layout.time_of(oldest),
            newest: layout.time_of(newest),
            lead: self.limits.lead(newest, now_ms),
            lag: self.limits.lag(oldest, now_ms),
            at_lead_limit: self.flags.is_at_lead_limit(),
            refused_jump: self.flags.refused_jump(),
            available: self.ring.available(),
            taken: self.taken(),
            lost: self.ring.lost(),
            skipped: self.ring.skipped(),
            refilled_inline: self.counters.refilled_inline.get(),
            refilled_by_filler: self.counters.refilled_by_filler.get(),
            filler: if self.is_forked() { FillerState::Stopped } else { self.signal.state() },
            expires_at: layout.expires_at(),
        }
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
