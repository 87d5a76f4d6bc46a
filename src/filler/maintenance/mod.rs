//! [`Maintenance`]: the work of the filler at each wake-up. It reads the clock, moves the window,
//! takes on another worker id if the lead is used up, drops stale blocks, and fills the ring.

mod clock;
mod limits;
mod wake;

use std::time::Duration;

use crate::clock::Stopwatch;
use crate::engine::Engine;
use crate::engine::Kind;
use crate::engine::ahead::Ahead;
use crate::engine::events;
use crate::engine::limits::LeadLimit;
use crate::engine::waiters::SHORTEST_WAIT;
use crate::filler::lease_manager::LeaseManager;
#[cfg(feature = "metrics")]
use crate::filler::metrics::Metrics;
use crate::filler::registry_calls::CallThread;
use crate::registry::RegistryError;
use crate::sync::Arc;
use wake::{State, TakeableEnd};

/// The filler's state from one maintenance to the next.
pub struct Maintenance {
    leases: LeaseManager,
    rng: fastrand::Rng,
    max_forward_jump: Option<Duration>,
    /// The time on the clock when it was last followed, and the time since then.
    followed: Option<(i64, Stopwatch)>,
    /// The time since the last maintenance.
    last_run: Option<Stopwatch>,
    /// No local taker has a claim of an earlier tick.
    oldest_claimed_tick: u64,
    /// The earliest tick of the workers taken on since takers were last at a block of a previous
    /// one; `None` when they are past those.
    first_tick: Option<u64>,
    demand: Demand,
    /// The end for which waiting takers were last woken.
    end: TakeableEnd,
    /// The state for which waiting takers were last woken.
    state: State,
    /// Whether operators know of a rule that did not hold.
    has_reported_broken_rule: bool,
    /// Whether the event for the end of the time field was sent.
    end_announced: bool,
    #[cfg(feature = "metrics")]
    metrics: Metrics,
}

/// Whether UIDs are taken often.
struct Demand {
    /// How many UIDs had been taken when the current period began.
    taken: u64,
    /// When the current period ends.
    until_ms: i64,
    /// Whether more than an eighth of a block has been taken in this period or the one before.
    is_busy: bool,
}

/// If the filler runs again within this interval, for whatever reason, it leaves refills to takers.
/// Usually they have woken it, and refill faster than waking it is worth. So takers wake it at most
/// about 20 times per second. Each wake-up occupies a core, and takes longer than all but one in
/// 10,000 takes.
const SHORT_REST: Duration = Duration::from_millis(50);

/// How many blocks takers then refill themselves.
const UNDISTURBED: u64 = 1024;

/// The interval at which the filler checks for changes that no taker reports.
const WATCH: Duration = Duration::from_secs(1);

/// The longest sleep if nothing can change without a wake-up. The event for the end of the time
/// field may be late by this much.
const LONG_REST: Duration = Duration::from_secs(3600);
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

impl Maintenance {
    /// Starts with a ring whose first block has the tick `oldest_claimed_tick`.
    pub fn new(
        leases: LeaseManager,
        rng: fastrand::Rng,
        max_forward_jump: Option<Duration>,
        oldest_claimed_tick: u64,
    ) -> Maintenance {
        Maintenance {
            #[cfg(feature = "metrics")]
            metrics: Metrics::new(leases.lease().worker, &leases.registry_name()),
            leases,
            rng,
            max_forward_jump,
            followed: None,
            last_run: None,
            oldest_claimed_tick,
            first_tick: None,
            demand: Demand { taken: 0, until_ms: i64::MIN, is_busy: false },
            end: TakeableEnd::default(),
            state: State::default(),
            has_reported_broken_rule: false,
            end_announced: false,
        }
    }

    /// Runs one maintenance. Returns how long the filler may sleep unless it is woken.
    pub fn run_once(&mut self, engine: &Arc<Engine>) -> Duration {
        let pause = match engine.ring.broken_rule() {
            None => self.maintain(engine),
            Some(_) => LONG_REST,
        };
        if !self.report_broken_rule(engine) {
            return pause;
        }
        // Last, because a task's waker may panic.
        engine.waiters.wake_all();
        LONG_REST
    }

    /// Tells operators once of a rule that did not hold. Returns whether there is one.
    fn report_broken_rule(&mut self, engine: &Engine) -> bool {
        let broken = engine.ring.broken_rule();
        if let Some(broken) = broken.filter(|_| !self.has_reported_broken_rule) {
            self.has_reported_broken_rule = true;
            engine.expire_claims();
            events::rule_broken(&broken);
        }
        broken.is_some()
    }

    fn maintain(&mut self, engine: &Arc<Engine>) -> Duration {
        let (now_ms, since) = self.read_clock(engine);
        self.demand.update(engine, now_ms);
        // An event has told of a worker id that was not given back.
        let _ = self.leases.handle_answer(engine);
        self.reserve_or_replace(engine, now_ms);
        engine.move_window(self.leases.lease(), now_ms);
        match &engine.kind {
            Kind::Exact(_) => {
                watch_exact(engine, now_ms);
                self.finish_run(engine, now_ms);
                self.exact_pause(engine, now_ms)
            }
            Kind::Ahead(ahead) => {
                self.publish(engine, now_ms);
                self.finish_run(engine, now_ms);
                leave_to_takers(engine, ahead, since);
                engine.maintenance_pause(now_ms)
            }
        }
    }

    /// Drops the blocks that may not be handed out any more, and fills the ring.
    fn publish(&mut self, engine: &Arc<Engine>, now_ms: i64) {
        let is_held_back = self.enforce_lead_limit(engine, now_ms);
        if !is_held_back {
            self.drop_stale_blocks(engine, now_ms);
        }
        let is_end_reached = self.fill(engine, now_ms);
        self.update_lead_limit(engine, is_held_back || is_end_reached, now_ms);
        self.expire_claims(engine, now_ms);
        self.leave_previous_worker(engine);
        self.prepare_spare(engine, now_ms);
        engine.flags.set_at_worker_limit(self.leases.is_allowance_used_up());
    }

    fn finish_run(&mut self, engine: &Arc<Engine>, now_ms: i64) {
        self.leases.watch(engine, now_ms);
        self.leases.give_back(engine);
        self.announce_end(engine, now_ms);
        self.wake(engine, now_ms);
    }

    /// How long the filler may sleep in exact time, where takers do not depend on it.
    fn exact_pause(&self, engine: &Engine, now_ms: i64) -> Duration {
        // Watches each second until operators have been told that the limit is left, and for the
        // metrics.
        let is_watching = engine.flags.is_at_lead_limit() || engine.flags.is_ahead();
        let pause = if is_watching || cfg!(feature = "metrics") { WATCH } else { LONG_REST };
        let pause = self.leases.rest(engine, now_ms).map_or(pause, |rest| rest.min(pause));
        // Wakes before the clock can reach the end of the window.
        let often = |jump| pause.min(jump / 2).max(SHORTEST_WAIT);
        let pause = self.max_forward_jump.map_or(pause, often);
        engine.pause_for_tasks(pause, now_ms)
    }

    /// Fills the ring. If the lead is used up and the policy says so, takes on a new worker for
    /// that. Returns whether takers have reached the end of the window.
    fn fill(&mut self, engine: &Arc<Engine>, now_ms: i64) -> bool {
        let wanted = engine.flags.take_wanted() || self.leases.has_awaited_spare();
        loop {
            while !engine.signal.is_stopped() && engine.refill() {}
            // If the window still has ticks, the ring is short only because takers were fast.
            if engine.signal.is_stopped() || engine.ring.is_full() || !engine.is_window_used_up() {
                return false;
            }
            // The registry is about to reserve more ticks. Another worker id would not arrive
            // sooner.
            if engine.is_lease_used_up() && !self.leases.has_awaited_spare() {
                return false;
            }
            // A new worker is taken on only if takers come to the end of the window, since a ring
            // longer than the lead is never full.
            let left = engine.ring.blocks_from(engine.ring.cursor_block());
            // The worker stays while blocks of it lie beyond the limit: they would become blocks of
            // a previous worker, which the window does not hold back.
            let is_far = left > 0 && !engine.limits.is_due(engine.newest_tick(), now_ms);
            // The worker taken on in the previous round may already have brought what is wanted.
            let is_wanted = !is_far && (wanted && left == 0 || left <= 1 && self.demand.is_busy);
            if engine.policy != LeadLimit::NewWorker
                || !is_wanted
                || !self.change_worker(engine, now_ms)
            {
                return left == 0 && (wanted || self.demand.is_busy);
            }
        }
    }

    /// Takes on the next worker id, which starts at the present tick. Returns false if there is
    /// none yet, or no tick for it.
    fn change_worker(&mut self, engine: &Arc<Engine>, now_ms: i64) -> bool {
        let is_changed = self.leases.take_on_next(engine, now_ms);
        if is_changed {
            let fresh = engine.limits.fresh_tick(now_ms);
            self.oldest_claimed_tick = self.oldest_claimed_tick.min(fresh);
            self.first_tick = Some(self.first_tick.map_or(fresh, |first| first.min(fresh)));
        }
        is_changed
    }

    /// Reserves further ticks of the lease if needed. If the lease is lost, takes on another id.
    fn reserve_or_replace(&mut self, engine: &Arc<Engine>, now_ms: i64) {
        if self.leases.is_lost() {
            let is_replaced = self.change_worker(engine, now_ms);
            engine.flags.set_registry_down(!is_replaced && !self.leases.is_first_try());
        } else {
            self.leases.reserve_if_due(engine, now_ms);
        }
    }

    /// Requests the next worker id before it is needed.
    fn prepare_spare(&mut self, engine: &Arc<Engine>, now_ms: i64) {
        let is_near =
            self.demand.is_busy && engine.limits.is_half_used(engine.newest_tick(), now_ms);
        if engine.policy == LeadLimit::NewWorker && is_near {
            self.leases.request_spare(engine, now_ms);
        }
    }

    /// Gives back all worker ids. No takes are possible any more. Returns the first error, with the
    /// worker id that was not given back.
    pub fn finish(&mut self, engine: &Engine) -> Result<(), (u64, RegistryError)> {
        let result = self.leases.finish(engine);
        self.report_broken_rule(engine);
        result
    }

    /// Brings the metrics up to date, if there are any. Separate from [`run_once`], so that they
    /// show what became of it.
    ///
    /// [`run_once`]: Maintenance::run_once
    #[cfg_attr(not(feature = "metrics"), allow(clippy::unused_self))]
    pub fn update_metrics(&mut self, engine: &Engine) {
        #[cfg(feature = "metrics")]
        self.metrics.update(engine);
        #[cfg(not(feature = "metrics"))]
        let _ = engine;
    }

    /// The thread of a registry call.
    pub fn call_thread(&self) -> CallThread {
        self.leases.call_thread()
    }

    /// See [`LeaseManager::is_call_pending`].
    #[cfg(test)]
    pub fn is_call_pending(&mut self) -> bool {
        self.leases.is_call_pending()
    }

    /// Makes local takers drop their claims if one of them may be stale.
    fn expire_claims(&mut self, engine: &Engine, now_ms: i64) {
        if engine.limits.is_stale(self.oldest_claimed_tick, now_ms) {
            // Read before the expiry: later claims are not older than this.
            let current = self.tick_of_cursor(engine);
            engine.expire_claims();
            // Behind blocks of a previous worker, which may be far ahead, come those of this one.
            let next = engine.limits.fresh_tick(now_ms).min(engine.newest_tick() + 1);
            let next = self.first_tick.map_or(next, |first| first.min(next));
            self.oldest_claimed_tick = current.unwrap_or(next);
        }
    }

    /// The tick of the block at the cursor, if that is published and of this worker.
    fn tick_of_cursor(&self, engine: &Engine) -> Option<u64> {
        let base = engine.ring.published_base(engine.ring.cursor_block())?.get();
        let is_of_this = engine.codec.worker_of(base) == self.leases.lease().worker;
        is_of_this.then(|| engine.codec.tick_of(base))
    }

    /// Makes local takers drop what they have claimed of a previous worker when takers come to the
    /// first block of this one. Its UIDs may be further ahead than all that follow, and the limits
    /// are compared with the claim made last.
    fn leave_previous_worker(&mut self, engine: &Engine) {
        if self.first_tick.is_some() && self.tick_of_cursor(engine).is_some() {
            engine.expire_claims();
            self.first_tick = None;
        }
    }

    /// Sends an event in the last year of the time field.
    fn announce_end(&mut self, engine: &Engine, now_ms: i64) {
        let layout = &engine.limits.layout;
        if !self.end_announced && engine.limits.lead(layout.max_tick(), now_ms) < YEAR {
            events::time_ends(layout.expires_at());
            self.end_announced = true;
        }
    }
}

/// In exact time: records whether UIDs are ahead of the clock, and by more than they may be.
fn watch_exact(engine: &Engine, now_ms: i64) {
    // Cleared first: a taker that finds it cleared wakes the filler again.
    engine.flags.take_wanted();
    if engine.newest_tick() <= engine.limits.clock_tick(now_ms) {
        engine.flags.clear_ahead();
    }
    if engine.ring.cursor.is_closed() {
        engine.try_open(now_ms);
    }
    // Takers that wait for the next tick hold its tickets, so one tick ahead is usual.
    let tick = engine.ring.cursor_block();
    let is_far = engine.limits.until_allowed(tick, now_ms) > engine.limits.layout.tick();
    if is_far && !engine.flags.is_at_lead_limit() {
        events::lead_limit(engine.limits.lead(tick, now_ms), engine.policy);
    }
    engine.flags.set_at_lead_limit(is_far);
}

/// Lets takers refill the ring themselves for a while if the filler runs at very short intervals.
/// Publishing a block costs them less than waking a thread.
fn leave_to_takers(engine: &Engine, ahead: &Ahead, since: Duration) {
    // Limited, so that takers do not come near the end of the window, where the filler has work to
    // do.
    let left =
        engine.codec.tick_of(engine.ring.window().last_base()).saturating_sub(engine.newest_tick());
    // Not while takers wait, because the filler wakes them.
    let is_left = since < SHORT_REST && engine.waiters.is_empty();
    ahead.leave_to_takers(engine, if is_left { UNDISTURBED.min(left / 4) } else { 0 });
}

impl Demand {
    /// Counts the UIDs taken in this period.
    fn update(&mut self, engine: &Engine, now_ms: i64) {
        let taken = engine.taken();
        let is_busy = taken.saturating_sub(self.taken) > (engine.ring.max_offset() + 1) / 8;
        let until_ms = engine.limits.next_maintenance_ms(now_ms);
        if until_ms != self.until_ms {
            *self = Demand { taken, until_ms, is_busy };
        } else if is_busy {
            self.is_busy = true;
        }
    }
}
