//! What the filler does at each look: it reads the clock, moves the window, has another worker id
//! taken on when the lead is used up, drops what has become stale, and fills the ring.

use std::time::Duration;

use crate::clock::Stopwatch;
use crate::engine::Engine;
use crate::engine::events;
use crate::engine::lead::LeadLimit;
use crate::filler::lease_manager::LeaseManager;
use crate::sync::Arc;

/// The filler's own state.
pub struct Maintenance {
    workers: LeaseManager,
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

impl Maintenance {
    /// For a ring that begins with the second `oldest_run`.
    pub fn new(
        workers: LeaseManager,
        rng: fastrand::Rng,
        max_forward_jump: Option<Duration>,
        oldest_run: u64,
    ) -> Maintenance {
        Maintenance {
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
    pub fn run_once(&mut self, engine: &Arc<Engine>) -> Duration {
        let (now_ms, since) = self.read_clock(engine);
        self.demand.note(engine, now_ms);
        self.workers.hear(engine);
        self.keep_lease(engine, now_ms);
        engine.move_window(self.workers.lease(), now_ms);
        let is_ahead = self.heed_limit(engine, now_ms);
        if !is_ahead {
            self.refresh(engine, now_ms);
        }
        let is_short = self.fill(engine, now_ms);
        self.note_limit(engine, is_ahead || is_short, now_ms);
        self.expire_runs(engine, now_ms);
        self.keep_spare(engine, now_ms);
        engine.flags.set_at_worker_limit(self.workers.is_allowance_used_up());
        self.workers.give_back(engine);
        self.announce_end(engine, now_ms);
        self.wake(engine, now_ms);
        leave_to_takers(engine, since);
        engine.next_look(now_ms)
    }

    /// The time to go by. A jump forward beyond `max_forward_jump` is not followed: until the clock
    /// comes back or the generator is rebuilt, time goes on from where it was. With it, how long
    /// ago the last look was.
    fn read_clock(&mut self, engine: &Engine) -> (i64, Duration) {
        // Before the clock is read: a thread that is put to sleep in between does not see a jump.
        let look = Stopwatch::start();
        let now_ms = engine.now_ms();
        let since = self.last_look.replace(look).map_or(Duration::MAX, |last| last.elapsed());
        if let Some((seen_ms, seen)) = &self.seen {
            let expected_ms =
                seen_ms.saturating_add(i64::try_from(seen.elapsed().as_millis()).unwrap_or(0));
            let jump = crate::engine::limits::duration_ms(now_ms.saturating_sub(expected_ms));
            let refused = self.max_forward_jump.is_some_and(|most| jump > most);
            if engine.flags.set_refused_jump(refused.then_some(jump)) {
                events::jump_refused(jump);
            }
            if refused {
                // By the time last followed, all along: each step's rounding would add up.
                return (expected_ms, since);
            }
            if now_ms < *seen_ms {
                events::rollback(crate::engine::limits::duration_ms(seen_ms - now_ms));
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
    fn heed_limit(&mut self, engine: &Arc<Engine>, now_ms: i64) -> bool {
        if engine.ring.is_closed() {
            engine.ring.settle();
        }
        self.drop_far_seconds(engine, now_ms);
        let is_beyond = |tick: Option<u64>| {
            let is_far = |now_ms| tick.is_some_and(|tick| !engine.limits.is_due(tick, now_ms));
            // Looked at again: takers that read the clock may have gone on by it while this thread
            // was asleep.
            is_far(now_ms) && (!engine.takers_read_clock || is_far(engine.now_ms()))
        };
        if is_beyond(Some(engine.claimed_tick())) {
            // A local taker may hold a run of it.
            engine.expire_runs();
        }
        if is_beyond(engine.tick(engine.ring.cursor_block())) {
            let is_changed =
                engine.policy == LeadLimit::NewWorker && self.change_worker(engine, now_ms);
            if is_changed {
                engine.skip_to(engine.ring.tail(), 0);
            } else {
                engine.ring.close();
            }
            // Behind it, so that no run claimed before is taken for a later one.
            engine.expire_runs();
            if !is_changed {
                return true;
            }
        }
        if engine.ring.is_closed() {
            engine.try_open(now_ms);
        }
        false
    }

    /// Drops the seconds of a worker before that lie beyond the limit, and those before them: the
    /// window says nothing of them.
    fn drop_far_seconds(&self, engine: &Engine, now_ms: i64) {
        let is_of_before = |&block: &u64| {
            let base = engine.ring.base(block);
            base.is_none_or(|base| engine.codec.worker(base.get()) != self.workers.lease().worker)
        };
        let is_far = |&block: &u64| {
            engine.tick(block).is_some_and(|tick| !engine.limits.is_due(tick, now_ms))
        };
        // They stand before this worker's, so as a rule there are none to look at.
        let of_before = (engine.ring.cursor_block()..engine.ring.tail()).take_while(is_of_before);
        if let Some(far) = of_before.filter(is_far).last() {
            engine.skip_to(far + 1, 0);
            engine.expire_runs();
        }
    }

    /// Drops the seconds that have become stale, and those before them. The next one begins at a
    /// random place, so that the UIDs of a quiet service do not all end in the same bits.
    fn refresh(&mut self, engine: &Engine, now_ms: i64) {
        let (current, tail) = (engine.ring.cursor_block(), engine.ring.tail());
        let is_stale =
            |block| engine.tick(block).is_some_and(|tick| engine.limits.is_stale(tick, now_ms));
        // The last one: behind a worker's far seconds may come the next one's, which began at the
        // clock's.
        let Some(stale) = (current..tail).rev().find(|&block| is_stale(block)) else { return };
        // A busy service is spread by its own UIDs, and skips nothing.
        let offset =
            if self.demand.is_busy { 0 } else { self.rng.u64(0..=engine.ring.max_offset()) };
        if engine.skip_to(stale + 1, offset) {
            events::refreshed(stale + 1 - current);
        }
    }

    /// Fills the ring, with a new worker's seconds where the lead is used up and the policy says
    /// so. True if the window ends before the ring is full.
    fn fill(&mut self, engine: &Arc<Engine>, now_ms: i64) -> bool {
        let wanted = engine.flags.take_wanted() || self.workers.is_awaited_here();
        loop {
            while !engine.signal.is_stopped() && engine.refill() {}
            // If it is not full any more, takers have been fast: that is not the end of the window.
            if engine.signal.is_stopped() || engine.ring.is_full() || !engine.is_window_used_up() {
                return false;
            }
            // More is to come from the registry, and another worker id would not come sooner.
            if engine.is_lease_used_up() && !self.workers.is_awaited_here() {
                return false;
            }
            // Only where takers come to the end of it: a ring longer than the lead is never full.
            let left = engine.ring.blocks_from(engine.ring.cursor_block());
            // With its far seconds in the ring the worker stays: as those of a worker before they
            // would be handed out.
            let is_far = left > 0 && !engine.limits.is_due(engine.newest_tick(), now_ms);
            // What is wanted may have come with the worker before.
            let is_wanted = !is_far && (wanted && left == 0 || left <= 1 && self.demand.is_busy);
            if engine.policy != LeadLimit::NewWorker
                || !is_wanted
                || !self.change_worker(engine, now_ms)
            {
                return left == 0 && (wanted || self.demand.is_busy);
            }
        }
    }

    /// Starts again at now with a new worker id. False when there is none yet, or no second for it.
    fn change_worker(&mut self, engine: &Arc<Engine>, now_ms: i64) -> bool {
        let is_changed = self.workers.change(engine, now_ms);
        if is_changed {
            self.oldest_run = self.oldest_run.min(engine.limits.fresh_tick(now_ms));
        }
        is_changed
    }

    /// Sees to it that there are seconds to publish. Takes on another id where the lease is lost.
    fn keep_lease(&mut self, engine: &Arc<Engine>, now_ms: i64) {
        if self.workers.is_lost() {
            let is_replaced = self.change_worker(engine, now_ms);
            engine.flags.set_registry_down(!is_replaced && !self.workers.is_first_try());
        } else {
            self.workers.keep_lease(engine, now_ms);
        }
    }

    /// Has the next worker id fetched before it is needed.
    fn keep_spare(&mut self, engine: &Arc<Engine>, now_ms: i64) {
        let is_near =
            self.demand.is_busy && engine.limits.is_half_used(engine.newest_tick(), now_ms);
        if engine.policy == LeadLimit::NewWorker && is_near {
            self.workers.keep_spare(engine, now_ms);
        }
    }

    /// Gives the worker ids back. Nobody takes any more.
    pub fn finish(&mut self, engine: &Engine) {
        self.workers.finish(engine);
    }

    /// Whether the registry has been asked. Waits until it has answered, by the next look.
    #[cfg(test)]
    pub fn is_waiting(&mut self) -> bool {
        self.workers.is_waiting()
    }

    /// Tells local takers to drop their runs if one of them may be stale.
    fn expire_runs(&mut self, engine: &Engine, now_ms: i64) {
        if engine.limits.is_stale(self.oldest_run, now_ms) {
            // Before: what is claimed from now on comes behind it.
            let current = engine.tick(engine.ring.cursor_block());
            engine.expire_runs();
            self.oldest_run = current.unwrap_or_else(|| engine.limits.fresh_tick(now_ms));
        }
    }

    /// The limit is reached when takers stand before the end of the window, and left when demand
    /// goes back or the window gets ahead of it: not in each second that a paced taker waits for.
    fn note_limit(&self, engine: &Engine, is_short: bool, now_ms: i64) {
        let newest = engine.newest_tick();
        let was = engine.flags.is_at_lead_limit();
        let is =
            is_short || was && self.demand.is_busy && !engine.limits.is_due(newest + 1, now_ms);
        if is && !was {
            events::lead_limit(engine.limits.lead(newest, now_ms), engine.policy);
        }
        engine.flags.set_at_lead_limit(is);
    }

    /// Wakes those that wait, if there is something new for them: else they and the filler would
    /// keep each other awake.
    fn wake(&mut self, engine: &Engine, now_ms: i64) {
        let state = State {
            is_closed: engine.ring.is_closed(),
            is_registry_down: engine.flags.is_registry_down(),
            is_time_over: engine.limits.is_over(now_ms),
        };
        let end = End { tail: engine.ring.tail(), window: engine.ring.window().last() };
        if state != self.state {
            engine.waiters.wake_all();
        } else if end != self.end {
            engine.waiters.wake_threads(end.tail << engine.ring.shift());
        }
        (self.state, self.end) = (state, end);
        #[cfg(feature = "async")]
        engine.waiters.line.call_anew(engine.at_hand());
    }

    fn announce_end(&mut self, engine: &Engine, now_ms: i64) {
        let layout = &engine.limits.layout;
        if !self.end_announced && engine.limits.lead(layout.max_tick(), now_ms) < YEAR {
            events::end_is_near(layout.expires_at());
            self.end_announced = true;
        }
    }
}

/// Takers so fast that they ask as soon as they have been answered refill the ring by themselves
/// for a while. To publish a block costs them less than to wake a thread.
fn leave_to_takers(engine: &Engine, since: Duration) {
    // Not for so long that they come near the end of the window: there is something to do before
    // that.
    let left = engine.codec.tick(engine.ring.window().last()).saturating_sub(engine.newest_tick());
    // Nor while tasks wait: the filler calls them.
    let is_left = since < SHORT_REST && engine.waiters.is_empty();
    engine.leave_to_takers(if is_left { UNDISTURBED.min(left / 4) } else { 0 });
}

impl Demand {
    fn note(&mut self, engine: &Engine, now_ms: i64) {
        let taken = engine.taken();
        let is_busy = taken.saturating_sub(self.taken) > (engine.ring.max_offset() + 1) / 8;
        let until_ms = engine.limits.next_look(now_ms);
        if until_ms != self.until_ms {
            *self = Demand { taken, until_ms, is_busy };
        } else if is_busy {
            self.is_busy = true;
        }
    }
}
