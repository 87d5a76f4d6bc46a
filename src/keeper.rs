//! What the filler does at each look: it reads the clock, moves the window, has another worker id
//! taken on when the lead is used up, drops what has become stale, and fills the ring.

use std::time::Duration;

use crate::clock::Stopwatch;
use crate::events;
use crate::lead::LeadLimit;
use crate::shared::Shared;
use crate::sync::Arc;
use crate::workers::Workers;

/// The filler's own state.
pub struct Keeper {
    workers: Workers,
    rng: fastrand::Rng,
    max_forward_jump: Option<Duration>,
    /// What the clock showed when it was last followed, and how long ago that is.
    seen: Option<(i64, Stopwatch)>,
    /// Since the last look.
    last_look: Option<Stopwatch>,
    /// No run of a local taker is of an earlier second.
    oldest_run: u64,
    demand: Demand,
    /// What waiters were last woken for.
    end: End,
    state: State,
    end_announced: bool,
}

/// Where what can be taken ends.
#[derive(Default, PartialEq, Eq)]
struct End {
    tail: u64,
    window: u64,
}

/// What else takes depend on.
#[derive(Default, PartialEq, Eq)]
struct State {
    is_closed: bool,
    is_registry_down: bool,
    is_time_over: bool,
}

/// Whether UIDs are taken faster than now and then.
struct Demand {
    /// UIDs taken when the current period began.
    taken: u64,
    /// When it ends.
    until_ms: i64,
    /// Whether more than an eighth of a second's UIDs have been taken in this period or the one
    /// before.
    is_busy: bool,
}

/// Who asks again within this time is not in need of the filler. Some 20 wake-ups a second are
/// left, at most: each takes a core away from somebody, and longer than all but one of 10,000
/// takes.
const SHORT_REST: Duration = Duration::from_millis(50);
/// For how many blocks takers are then left to themselves.
const UNDISTURBED: u64 = 1024;
/// A jump forward that an operator would want to hear of.
const NOTED_JUMP: Duration = Duration::from_secs(60);
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

impl Keeper {
    /// For a ring that begins with the second `oldest_run`.
    pub fn new(
        workers: Workers,
        rng: fastrand::Rng,
        max_forward_jump: Option<Duration>,
        oldest_run: u64,
    ) -> Keeper {
        Keeper {
            workers,
            rng,
            max_forward_jump,
            seen: None,
            last_look: None,
            oldest_run,
            demand: Demand { taken: 0, until_ms: i64::MIN, is_busy: false },
            end: End::default(),
            state: State::default(),
            end_announced: false,
        }
    }

    /// One look. Returns how long the next one may wait if nobody asks for it.
    pub fn look(&mut self, shared: &Arc<Shared>) -> Duration {
        let (now_ms, since) = self.read_clock(shared);
        self.demand.note(shared, now_ms);
        self.workers.hear(shared);
        self.keep_lease(shared, now_ms);
        shared.move_window(self.workers.lease(), now_ms);
        let is_ahead = self.heed_limit(shared, now_ms);
        if !is_ahead {
            self.refresh(shared, now_ms);
        }
        let is_short = self.fill(shared, now_ms);
        self.note_limit(shared, is_ahead || is_short, now_ms);
        self.expire_runs(shared, now_ms);
        self.keep_spare(shared, now_ms);
        shared.set_at_worker_limit(self.workers.is_allowance_used_up());
        self.workers.give_back(shared);
        self.announce_end(shared, now_ms);
        self.wake(shared, now_ms);
        leave_to_takers(shared, since);
        shared.next_look(now_ms)
    }

    /// The time to go by. A jump forward beyond `max_forward_jump` is not followed: until the clock
    /// comes back or the generator is rebuilt, time goes on from where it was. With it, how long
    /// ago the last look was.
    fn read_clock(&mut self, shared: &Shared) -> (i64, Duration) {
        // Before the clock is read: a thread that is put to sleep in between does not see a jump.
        let look = Stopwatch::start();
        let now_ms = shared.now_ms();
        let since = self.last_look.replace(look).map_or(Duration::MAX, |last| last.elapsed());
        if let Some((seen_ms, seen)) = &self.seen {
            let expected_ms =
                seen_ms.saturating_add(i64::try_from(seen.elapsed().as_millis()).unwrap_or(0));
            let jump = crate::seconds::duration_ms(now_ms.saturating_sub(expected_ms));
            let refused = self.max_forward_jump.is_some_and(|most| jump > most);
            if shared.set_refused_jump(refused.then_some(jump)) {
                events::jump_refused(jump);
            }
            if refused {
                // By the time last followed, all along: each step's rounding would add up.
                return (expected_ms, since);
            }
            if now_ms < *seen_ms {
                events::rollback(crate::seconds::duration_ms(seen_ms - now_ms));
            } else if jump > NOTED_JUMP {
                events::jump_followed(jump);
            }
        }
        self.seen = Some((now_ms, look));
        (now_ms, since)
    }

    /// Where the clock has gone back so far that what is in the ring lies beyond the limit, it is
    /// not handed out: dropped for a new worker's seconds, or kept until it is due. True while it
    /// is kept.
    fn heed_limit(&mut self, shared: &Arc<Shared>, now_ms: i64) -> bool {
        if shared.ring.is_closed() {
            shared.ring.settle();
        }
        self.drop_far_seconds(shared, now_ms);
        let is_beyond = |tick: Option<u64>| {
            let is_far = |now_ms| tick.is_some_and(|tick| !shared.limits.is_due(tick, now_ms));
            // Looked at again: takers that read the clock may have gone on by it while this thread
            // was asleep.
            is_far(now_ms) && (!shared.takers_read_clock || is_far(shared.now_ms()))
        };
        if is_beyond(Some(shared.claimed_tick())) {
            // A local taker may hold a run of it.
            shared.expire_runs();
        }
        if is_beyond(shared.tick(shared.ring.cursor_block())) {
            let is_changed =
                shared.policy == LeadLimit::NewWorker && self.change_worker(shared, now_ms);
            if is_changed {
                shared.skip_to(shared.ring.tail(), 0);
            } else {
                shared.ring.close();
            }
            // Behind it, so that no run claimed before is taken for a later one.
            shared.expire_runs();
            if !is_changed {
                return true;
            }
        }
        if shared.ring.is_closed() {
            shared.try_open(now_ms);
        }
        false
    }

    /// Drops the seconds of a worker before that lie beyond the limit, and those before them: the
    /// window says nothing of them.
    fn drop_far_seconds(&self, shared: &Shared, now_ms: i64) {
        let is_of_before = |&block: &u64| {
            let base = shared.ring.base(block);
            base.is_none_or(|base| shared.seconds.worker(base.get()) != self.workers.lease().worker)
        };
        let is_far = |&block: &u64| {
            shared.tick(block).is_some_and(|tick| !shared.limits.is_due(tick, now_ms))
        };
        // They stand before this worker's, so as a rule there are none to look at.
        let of_before = (shared.ring.cursor_block()..shared.ring.tail()).take_while(is_of_before);
        if let Some(far) = of_before.filter(is_far).last() {
            shared.skip_to(far + 1, 0);
            shared.expire_runs();
        }
    }

    /// Drops the seconds that have become stale, and those before them. The next one begins at a
    /// random place, so that the UIDs of a quiet service do not all end in the same bits.
    fn refresh(&mut self, shared: &Shared, now_ms: i64) {
        let (current, tail) = (shared.ring.cursor_block(), shared.ring.tail());
        let is_stale =
            |block| shared.tick(block).is_some_and(|tick| shared.limits.is_stale(tick, now_ms));
        // The last one: behind a worker's far seconds may come the next one's, which began at the
        // clock's.
        let Some(stale) = (current..tail).rev().find(|&block| is_stale(block)) else { return };
        // A busy service is spread by its own UIDs, and skips nothing.
        let offset =
            if self.demand.is_busy { 0 } else { self.rng.u64(0..=shared.ring.max_offset()) };
        if shared.skip_to(stale + 1, offset) {
            events::refreshed(stale + 1 - current);
        }
    }

    /// Fills the ring, with a new worker's seconds where the lead is used up and the policy says
    /// so. True if the window ends before the ring is full.
    fn fill(&mut self, shared: &Arc<Shared>, now_ms: i64) -> bool {
        let wanted = shared.take_wanted() || self.workers.is_awaited_here();
        loop {
            while !shared.signal.is_stopped() && shared.refill() {}
            // If it is not full any more, takers have been fast: that is not the end of the window.
            if shared.signal.is_stopped() || shared.ring.is_full() || !shared.is_window_used_up() {
                return false;
            }
            // More is to come from the registry, and another worker id would not come sooner.
            if shared.is_lease_used_up() && !self.workers.is_awaited_here() {
                return false;
            }
            // Only where takers come to the end of it: a ring longer than the lead is never full.
            let left = shared.ring.blocks_from(shared.ring.cursor_block());
            // With its far seconds in the ring the worker stays: as those of a worker before they
            // would be handed out.
            let is_far = left > 0 && !shared.limits.is_due(shared.newest_tick(), now_ms);
            // What is wanted may have come with the worker before.
            let is_wanted = !is_far && (wanted && left == 0 || left <= 1 && self.demand.is_busy);
            if shared.policy != LeadLimit::NewWorker
                || !is_wanted
                || !self.change_worker(shared, now_ms)
            {
                return left == 0 && (wanted || self.demand.is_busy);
            }
        }
    }

    /// Starts again at now with a new worker id. False when there is none yet, or no second for it.
    fn change_worker(&mut self, shared: &Arc<Shared>, now_ms: i64) -> bool {
        let is_changed = self.workers.change(shared, now_ms);
        if is_changed {
            self.oldest_run = self.oldest_run.min(shared.limits.fresh_tick(now_ms));
        }
        is_changed
    }

    /// Sees to it that there are seconds to publish. Takes on another id where the lease is lost.
    fn keep_lease(&mut self, shared: &Arc<Shared>, now_ms: i64) {
        if self.workers.is_lost() {
            let is_replaced = self.change_worker(shared, now_ms);
            shared.set_registry_down(!is_replaced && !self.workers.is_first_try());
        } else {
            self.workers.keep_lease(shared, now_ms);
        }
    }

    /// Has the next worker id fetched before it is needed.
    fn keep_spare(&mut self, shared: &Arc<Shared>, now_ms: i64) {
        let is_near =
            self.demand.is_busy && shared.limits.is_half_used(shared.newest_tick(), now_ms);
        if shared.policy == LeadLimit::NewWorker && is_near {
            self.workers.keep_spare(shared, now_ms);
        }
    }

    /// Gives the worker ids back. Nobody takes any more.
    pub fn finish(&mut self, shared: &Shared) {
        self.workers.finish(shared);
    }

    /// Whether the registry has been asked. Waits until it has answered, by the next look.
    #[cfg(test)]
    pub fn is_waiting(&mut self) -> bool {
        self.workers.is_waiting()
    }

    /// Tells local takers to drop their runs if one of them may be stale.
    fn expire_runs(&mut self, shared: &Shared, now_ms: i64) {
        if shared.limits.is_stale(self.oldest_run, now_ms) {
            // Before: what is claimed from now on comes behind it.
            let current = shared.tick(shared.ring.cursor_block());
            shared.expire_runs();
            self.oldest_run = current.unwrap_or_else(|| shared.limits.fresh_tick(now_ms));
        }
    }

    /// The limit is reached when takers stand before the end of the window, and left when demand
    /// goes back or the window gets ahead of it: not in each second that a paced taker waits for.
    fn note_limit(&self, shared: &Shared, is_short: bool, now_ms: i64) {
        let newest = shared.newest_tick();
        let was = shared.is_at_limit();
        let is =
            is_short || was && self.demand.is_busy && !shared.limits.is_due(newest + 1, now_ms);
        if is && !was {
            events::lead_limit(shared.limits.lead(newest, now_ms), shared.policy);
        }
        shared.set_at_limit(is);
    }

    /// Wakes those that wait, if there is something new for them: else they and the filler would
    /// keep each other awake.
    fn wake(&mut self, shared: &Shared, now_ms: i64) {
        let state = State {
            is_closed: shared.ring.is_closed(),
            is_registry_down: shared.is_registry_down(),
            is_time_over: shared.limits.is_over(now_ms),
        };
        let end = End { tail: shared.ring.tail(), window: shared.ring.windows().last() };
        if state != self.state {
            shared.waiters.wake_all();
        } else if end != self.end {
            shared.waiters.wake_threads(end.tail << shared.ring.shift());
        }
        (self.state, self.end) = (state, end);
        #[cfg(feature = "async")]
        shared.waiters.line.call_anew(shared.at_hand());
    }

    fn announce_end(&mut self, shared: &Shared, now_ms: i64) {
        let layout = &shared.limits.layout;
        if !self.end_announced && shared.limits.lead(layout.max_tick(), now_ms) < YEAR {
            events::end_is_near(layout.expires_at());
            self.end_announced = true;
        }
    }
}

/// Takers so fast that they ask as soon as they have been answered refill the ring by themselves
/// for a while. To publish a block costs them less than to wake a thread.
fn leave_to_takers(shared: &Shared, since: Duration) {
    // Not for so long that they come near the end of the window: there is something to do before
    // that.
    let left =
        shared.seconds.tick(shared.ring.windows().last()).saturating_sub(shared.newest_tick());
    // Nor while tasks wait: the filler calls them.
    let is_left = since < SHORT_REST && shared.waiters.is_empty();
    shared.leave_to_takers(if is_left { UNDISTURBED.min(left / 4) } else { 0 });
}

impl Demand {
    fn note(&mut self, shared: &Shared, now_ms: i64) {
        let taken = shared.taken();
        let is_busy = taken.saturating_sub(self.taken) > (shared.ring.max_offset() + 1) / 8;
        let until_ms = shared.limits.next_look(now_ms);
        if until_ms != self.until_ms {
            *self = Demand { taken, until_ms, is_busy };
        } else if is_busy {
            self.is_busy = true;
        }
    }
}
