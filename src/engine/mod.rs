//! What takers and filler share, and what a taker does when its UID is not simply at hand.

pub mod claim;
mod error;
pub mod events;
#[cfg(all(unix, not(uidring_loom)))]
pub mod fork;
pub mod lead;
pub mod limits;
#[cfg(feature = "async")]
pub mod line;
pub mod signal;
pub mod status;
#[cfg(feature = "async")]
pub mod turn;
pub mod waiters;

pub use error::{FillError, TakeError};

use std::fmt;
use std::num::NonZeroU64;
use std::ops::Range;
use std::time::Duration;

use crossbeam_utils::CachePadded;

use crate::clock::Clock;
use crate::engine::lead::LeadLimit;
use crate::engine::limits::{Limits, duration_ms};
use crate::engine::signal::{FillerState, Signal};
use crate::engine::status::Status;
use crate::engine::waiters::Waiters;
use crate::registry::Lease;
use crate::ring::codec::TickCodec;
use crate::ring::{self, Block, Ring};
use crate::sync::{Arc, AtomicBool, AtomicU64, Ordering, Parker};
use crate::uid::Uid;

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
    counts: CachePadded<Counts>,
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

/// What is written rarely: statistics, and a mark for the filler.
#[derive(Default)]
struct Counts {
    /// Blocks published by takers.
    inline: AtomicU64,
    /// Blocks published by the filler.
    filler: AtomicU64,
    /// Worker ids taken on after the first.
    workers: AtomicU64,
    /// The jump of the clock that is not followed, in milliseconds; 0 for none.
    refused_jump_ms: AtomicU64,
    /// Whether `max_lead` is used up.
    at_limit: AtomicBool,
    /// Whether no further worker id may be taken on for now.
    at_worker_limit: AtomicBool,
    /// The last reservation failed.
    registry_down: AtomicBool,
    /// A taker wants what lies beyond the limit, and the filler does not know yet.
    wanted: AtomicBool,
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
/// Longest sleep of a waiting taker before it looks by itself: the filler may be starved.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
const SHORTEST_WAIT: Duration = Duration::from_millis(1);

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
            counts: CachePadded::default(),
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
        // ORDERING: takers move the window by this only where there are no such jumps.
        let jump_ms = self.counts.refused_jump_ms.load(Ordering::Relaxed);
        self.now_ms().saturating_sub_unsigned(jump_ms)
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

    /// The tick of the ticket claimed last, or, where its block is not published, the one published
    /// last: no run is of a later one.
    pub fn claimed_tick(&self) -> u64 {
        let block = (self.ring.position() - 1) >> self.ring.shift();
        self.tick(block).unwrap_or_else(|| self.newest_tick())
    }

    /// Whether the window ends before the next second.
    pub fn is_window_used_up(&self) -> bool {
        self.codec.next(self.ring.newest(), self.ring.window().get()).is_none()
    }

    /// UIDs that somebody has, or holds a run of.
    pub fn taken(&self) -> u64 {
        (self.ring.position() - self.first_ticket)
            .saturating_sub(self.ring.skipped())
            .saturating_sub(self.ring.lost())
    }

    /// Publishes the blocks that there is room for, and says whether there were any. For the
    /// filler.
    pub fn refill(&self) -> bool {
        // One look at the cursor serves them all: each takes its cache line away from the takers.
        let current = self.ring.cursor_block();
        let mut is_any = false;
        while self.ring.refill(current, &self.counts.filler) {
            is_any = true;
        }
        is_any
    }

    /// Claims `count` tickets; from a closed ring, once it is open. The first, and the base of its
    /// block if that is known.
    #[inline]
    pub fn claim_run(&self, count: u64) -> Result<(u64, Option<NonZeroU64>), TakeError> {
        let claim = self.ring.claim_run(count);
        if ring::is_closed(claim.0) { self.claim_when_open(count) } else { Ok(claim) }
    }

    #[cold]
    #[inline(never)]
    fn claim_when_open(&self, count: u64) -> Result<(u64, Option<NonZeroU64>), TakeError> {
        loop {
            self.wait_until(None, |now_ms| self.is_open(now_ms).then_some(()))?;
            let claim = self.ring.claim_run(count);
            if !ring::is_closed(claim.0) {
                return Ok(claim);
            }
        }
    }

    /// What a take does with a ticket that does not lie in the stretch at the front, and with what
    /// it gets from a closed ring.
    #[cold]
    #[inline(never)]
    pub fn take_slowly(&self, mut ticket: u64) -> Result<Uid, TakeError> {
        loop {
            if ring::is_closed(ticket) {
                ticket = self.claim_run(1)?.0;
            }
            match self.base(ticket..ticket + 1)? {
                Some(base) => return Ok(self.ring.uid(ticket, base)),
                None => self.ring.lose(1),
            }
            ticket = self.ring.claim(1);
        }
    }

    /// The base of the block of the first of `tickets`, which the caller holds; `None` if it has
    /// been overwritten.
    ///
    /// While it waits for a block beyond the window, the caller keeps its tickets, so waiters are
    /// served in order. A caller that may not wait closes the ring, so that the takes that fail
    /// after it claim nothing, and gives its tickets back.
    pub fn base(&self, tickets: Range<u64>) -> Result<Option<NonZeroU64>, TakeError> {
        let ticket = tickets.start;
        let found = match self.find(ticket) {
            Block::Beyond => self.wait_until(Some(ticket), |now_ms| {
                self.extend_window(now_ms);
                match self.find(ticket) {
                    Block::Beyond => None,
                    // The filler has dropped it for another worker's.
                    Block::Published(base) if self.is_far_of_before(base.get(), now_ms) => {
                        Some(Block::Overwritten)
                    }
                    found => Some(found),
                }
            }),
            found => Ok(found),
        };
        match found {
            Ok(Block::Published(base)) => Ok(Some(base)),
            Ok(_) => Ok(None),
            Err(error) => {
                // A forked process's copy is closed, and takes no lock.
                if error != TakeError::Forked {
                    self.ring.close();
                    self.ring.give_back(tickets);
                }
                Err(error)
            }
        }
    }

    /// Whether a base is of a worker before, and beyond the limit: the window says nothing of it.
    fn is_far_of_before(&self, base: u64, now_ms: i64) -> bool {
        self.codec.worker(base) != self.worker()
            && !self.limits.is_due(self.codec.tick(base), now_ms)
    }

    /// What became of the block of `ticket`. Who moves the front there looks after the ring.
    fn find(&self, ticket: u64) -> Block {
        let block = ticket >> self.ring.shift();
        let found = self.ring.block(block, &self.counts.inline);
        let Block::Published(base) = found else { return found };
        let left = self.ring.blocks_from(block);
        // The last one by itself, so that the ring is looked after before it is used up.
        if self.ring.advance(ticket, base, self.range.min(left.saturating_sub(1)))
            && left <= self.refill_mark
        {
            // ORDERING: a hint.
            let is_left_to_takers = block < self.undisturbed_until.load(Ordering::Relaxed);
            // Or the filler has been asked and has not come yet.
            if is_left_to_takers || left <= 1 {
                (0..self.range).all(|_| self.ring.refill(block, &self.counts.inline));
            }
            if !is_left_to_takers {
                self.signal.ask();
            }
        }
        found
    }

    /// Takes the next UID, or says at once why there is none.
    pub fn try_take(&self) -> Result<Uid, TakeError> {
        let mut published = None;
        loop {
            match self.ring.try_claim(published) {
                Ok((ticket, Some(base))) => return Ok(self.ring.uid(ticket, base)),
                Ok((ticket, None)) => match self.look_by_the_clock(|| self.find(ticket)) {
                    Ok(Block::Published(base)) => return Ok(self.ring.uid(ticket, base)),
                    Ok(_) => self.ring.lose(1),
                    // The clock has just gone back.
                    Err(now_ms) => {
                        self.ring.give_back(ticket..ticket + 1);
                        published = None;
                        self.want_unless_due(now_ms)?;
                    }
                },
                Err(Some(block)) => {
                    match self.look_by_the_clock(|| self.ring.block(block, &self.counts.inline)) {
                        Ok(_) => published = Some(block),
                        Err(now_ms) => self.want_unless_due(now_ms)?,
                    }
                }
                Err(None) if self.is_forked() => return Err(TakeError::Forked),
                Err(None) => {
                    let now_ms = self.trusted_now_ms();
                    if !self.is_open(now_ms) {
                        self.want_unless_due(now_ms)?;
                    }
                }
            }
        }
    }

    /// What became of a block. If it is beyond the window, the window is moved on first: it may
    /// have been drawn back by what the filler had read of the clock before. If it still is, what
    /// the clock shows.
    fn look_by_the_clock(&self, look: impl Fn() -> Block) -> Result<Block, i64> {
        match look() {
            Block::Beyond => {}
            found => return Ok(found),
        }
        let now_ms = self.trusted_now_ms();
        self.extend_window(now_ms);
        match look() {
            Block::Beyond => Err(now_ms),
            found => Ok(found),
        }
    }

    /// Sleeps until `look` finds something, looking when the filler has something new, and when the
    /// tick of `ticket` is due: of the next one, for a caller that has none. Fails at once where
    /// waiting does not help, or is not wanted.
    fn wait_until<T>(
        &self,
        ticket: Option<u64>,
        look: impl Fn(i64) -> Option<T>,
    ) -> Result<T, TakeError> {
        if self.is_forked() {
            return Err(TakeError::Forked);
        }
        let mut waiting = None;
        loop {
            let now_ms = self.trusted_now_ms();
            if let Some(found) = look(now_ms) {
                return Ok(found);
            }
            let ticket = ticket.unwrap_or_else(|| self.ring.position());
            let error = self.want(ticket, now_ms);
            if !self.is_worth_waiting(error) {
                return Err(error);
            }
            if waiting.is_none() {
                // Looks once more: nobody wakes this thread for what has changed before.
                waiting = Some(self.waiters.wait_with(ticket));
            } else {
                let due = error.retry_in().unwrap_or(LONGEST_WAIT);
                waiters::park(due.clamp(SHORTEST_WAIT, LONGEST_WAIT));
            }
        }
    }

    /// Whether a take waits where it would fail with `error`.
    pub fn is_worth_waiting(&self, error: TakeError) -> bool {
        match error {
            TakeError::LeadLimit { .. } => self.policy != LeadLimit::Fail,
            TakeError::LeaseExhausted { .. } => !self.is_registry_down(),
            _ => false,
        }
    }

    /// UIDs in the ring that a take may get.
    pub fn at_hand(&self) -> u64 {
        if self.ring.is_closed() { 0 } else { self.ring.available() }
    }

    /// Lets takers refill the ring so many blocks far before they ask for it. For the filler.
    pub fn leave_to_takers(&self, blocks: u64) {
        let until = if blocks > 0 { self.ring.tail() + blocks } else { 0 };
        // ORDERING: a hint.
        self.undisturbed_until.store(until, Ordering::Relaxed);
    }

    /// Whether the last reservation failed. Else the next one is on its way.
    pub fn is_registry_down(&self) -> bool {
        // ORDERING: a taker that reads it late waits a little longer, or fails once too often.
        self.counts.registry_down.load(Ordering::Relaxed)
    }

    pub fn set_registry_down(&self, down: bool) {
        // ORDERING: as in `is_registry_down`.
        self.counts.registry_down.store(down, Ordering::Relaxed);
    }

    /// As `want`, but no error where the next second is due: the filler has just moved the window
    /// by what the clock showed a moment before.
    fn want_unless_due(&self, now_ms: i64) -> Result<(), TakeError> {
        match self.want(self.ring.position(), now_ms) {
            TakeError::LeadLimit { retry_in_ms: 0 } if self.takers_read_clock => Ok(()),
            error => Err(error),
        }
    }

    /// Lets the filler know that a UID is wanted beyond the limit, and says why `ticket` has none.
    fn want(&self, ticket: u64, now_ms: i64) -> TakeError {
        // ORDERING: the question to the filler comes after it, and brings it along.
        if !self.counts.wanted.swap(true, Ordering::AcqRel) {
            self.signal.ask();
        }
        self.obstacle(ticket, now_ms)
    }

    /// Whether a UID has been wanted beyond the limit since the last time. For the filler.
    pub fn take_wanted(&self) -> bool {
        // ORDERING: see `want`.
        self.counts.wanted.swap(false, Ordering::AcqRel)
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

    /// Why `ticket` has no UID.
    fn obstacle(&self, ticket: u64, now_ms: i64) -> TakeError {
        let layout = &self.limits.layout;
        let due = self.due(ticket);
        if self.is_behind_lease(due) {
            return TakeError::LeaseExhausted { worker: self.worker() };
        }
        // A new worker can use what is left of the time field once more, but for its last second.
        let ends = due > layout.max_tick() && self.policy != LeadLimit::NewWorker;
        if ends || self.limits.is_over(now_ms) {
            TakeError::TimeExhausted { expires_at_ms: layout.expires_at_ms() }
        } else {
            let retry_in = self.limits.until_allowed(due, now_ms);
            TakeError::LeadLimit {
                retry_in_ms: u64::try_from(retry_in.as_millis()).unwrap_or(u64::MAX),
            }
        }
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

    /// Sets the window to what the lease in use and the clock allow. For the filler.
    ///
    /// Its first tick moves on only where the tick that follows the newest is stale. Else none is
    /// skipped: takers that wait for each tick, and are a little late, get the UIDs of all of them.
    pub fn move_window(&self, lease: &Lease, now_ms: i64) {
        let mut window = self.limits.window(&self.codec, now_ms, lease);
        let following = self.codec.following(self.ring.newest(), self.ring.window().get());
        if !self.limits.is_stale(self.codec.tick(following), now_ms) {
            // Not before the lease: what follows is of the lease in use.
            window.first = window.first.min(following);
        }
        self.ring.window().set(window);
        if self.codec.is_beyond(self.ring.newest(), window.last) {
            self.ring.draw_back();
        }
    }

    /// Goes on with the seconds of another lease. For the filler.
    pub fn take_on(&self, lease: &Lease, now_ms: i64) {
        self.ring.window().take_on(self.limits.window(&self.codec, now_ms, lease));
    }

    /// Whether a ring that was closed is open, or can be opened.
    fn is_open(&self, now_ms: i64) -> bool {
        !self.ring.is_closed() || self.takers_read_clock && self.try_open(now_ms)
    }

    /// Opens a closed ring if its next ticket has a UID that may be handed out.
    pub fn try_open(&self, now_ms: i64) -> bool {
        self.extend_window(now_ms);
        let block = self.ring.cursor_block();
        let due = match self.ring.block(block, &self.counts.inline) {
            Block::Published(base) => self.limits.is_due(self.codec.tick(base.get()), now_ms),
            Block::Overwritten => true,
            Block::Beyond => false,
        };
        if due {
            self.ring.open();
        }
        due
    }

    /// Moves the cursor into `block`, past what is stale; not if takers are there already.
    pub fn skip_to(&self, block: u64, offset: u64) -> bool {
        self.ring.skip_to((block << self.ring.shift()) + offset)
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

    pub fn count_worker(&self) {
        // ORDERING: a statistic.
        self.counts.workers.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes the jump that is not followed. True if there was none before.
    pub fn set_refused_jump(&self, jump: Option<Duration>) -> bool {
        let ms = jump.map_or(0, |jump| u64::try_from(jump.as_millis()).unwrap_or(u64::MAX));
        // ORDERING: a statistic.
        self.counts.refused_jump_ms.swap(ms, Ordering::Relaxed) == 0 && ms != 0
    }

    pub fn is_at_limit(&self) -> bool {
        // ORDERING: a statistic.
        self.counts.at_limit.load(Ordering::Relaxed)
    }

    pub fn set_at_limit(&self, at_limit: bool) {
        // ORDERING: a statistic.
        self.counts.at_limit.store(at_limit, Ordering::Relaxed);
    }

    pub fn set_at_worker_limit(&self, at_limit: bool) {
        // ORDERING: a statistic.
        self.counts.at_worker_limit.store(at_limit, Ordering::Relaxed);
    }

    /// How long the filler may sleep unless it is asked.
    pub fn next_look(&self, now_ms: i64) -> Duration {
        let pause = duration_ms(self.limits.next_look(now_ms) - now_ms);
        if self.at_hand() > 0 || self.waiters.is_empty() {
            return pause;
        }
        // The first that is not published: somebody waits for it, or for a later one.
        let due = self.next_due();
        if due > self.codec.tick(self.ring.window().get().reserved) {
            // It comes with an answer of the registry, not with time.
            return pause;
        }
        pause.min(self.limits.until_allowed(due, now_ms)).max(SHORTEST_WAIT)
    }

    pub fn status(&self) -> Status {
        let now_ms = self.trusted_now_ms();
        let newest = self.newest_tick();
        let oldest = self.tick(self.ring.cursor_block()).unwrap_or(newest);
        let layout = self.limits.layout;
        // ORDERING: statistics.
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let Counts { inline, filler, workers, refused_jump_ms, .. } = &*self.counts;
        let refused_jump_ms = read(refused_jump_ms);
        Status {
            worker_id: self.worker(),
            new_workers: read(workers),
            // ORDERING: a statistic.
            at_worker_limit: self.counts.at_worker_limit.load(Ordering::Relaxed),
            oldest: layout.time_of(oldest),
            newest: layout.time_of(newest),
            lead: self.limits.lead(newest, now_ms),
            lag: self.limits.lag(oldest, now_ms),
            at_lead_limit: self.is_at_limit(),
            refused_jump: (refused_jump_ms > 0).then(|| Duration::from_millis(refused_jump_ms)),
            available: self.ring.available(),
            taken: self.taken(),
            lost: self.ring.lost(),
            skipped: self.ring.skipped(),
            refilled_inline: read(inline),
            refilled_by_filler: read(filler),
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
