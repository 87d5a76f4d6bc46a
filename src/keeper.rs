//! What the filler does at each look: it reads the clock, moves the window, takes on another worker id when
//! the lead is used up, drops what has become stale, and fills the ring.

use std::time::Duration;

use crate::clerk::{Answer, Clerk};
use crate::clock::Stopwatch;
use crate::error::RegistryError;
use crate::events;
use crate::layout::Layout;
use crate::lead::LeadLimit;
use crate::registry::{Lease, WorkerRegistry};
use crate::shared::Shared;
use crate::sync::Arc;

/// The filler's own state.
pub struct Keeper {
    clerk: Clerk,
    lease: Lease,
    /// Another has the worker id now.
    is_lost: bool,
    upkeep: Upkeep,
    rng: fastrand::Rng,
    max_forward_jump: Option<Duration>,
    /// What the clock showed at the last look, and how long ago that is.
    seen: Option<(i64, Stopwatch)>,
    /// A worker id that has not been taken on.
    spare: Option<Lease>,
    /// It is to be taken on as soon as it is there.
    is_spare_awaited: bool,
    /// Worker ids to give back.
    left: Vec<Lease>,
    /// When the registry may be asked again, after a refusal.
    retry: Retry,
    /// No run of a local taker is of an earlier second.
    oldest_run: u64,
    demand: Demand,
    /// How far the ring was filled, and whether it was closed, when waiters were last woken.
    end: (u64, bool),
    end_announced: bool,
    /// How long ago the last look ended.
    looked: Option<Stopwatch>,
}

/// Whether UIDs are taken faster than now and then.
struct Demand {
    /// UIDs taken when the current period began.
    taken: u64,
    /// When it ends.
    until_ms: i64,
    /// Whether more than an eighth of a second's UIDs have been taken in this period or the one before.
    is_busy: bool,
}

/// Waits twice as long after each refusal.
#[derive(Default)]
struct Retry {
    refused: Option<(Stopwatch, Duration)>,
}

const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(60);
/// Takes may be waiting for it.
const LAST_RESERVE_RETRY: Duration = Duration::from_secs(5);
/// Who asks again within this time is not in need of the filler.
const SHORT_REST: Duration = Duration::from_micros(200);
/// For how many blocks takers are then left to themselves.
const UNDISTURBED: u64 = 64;
/// A jump forward that an operator would want to hear of.
const NOTED_JUMP: Duration = Duration::from_secs(60);
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

impl Keeper {
    pub fn new(
        registry: Box<dyn WorkerRegistry>,
        lease: Lease,
        rng: fastrand::Rng,
        max_forward_jump: Option<Duration>,
    ) -> Keeper {
        Keeper {
            clerk: Clerk::new(registry),
            lease,
            is_lost: false,
            upkeep: Upkeep::default(),
            rng,
            max_forward_jump,
            seen: None,
            spare: None,
            is_spare_awaited: false,
            left: Vec::new(),
            retry: Retry::default(),
            oldest_run: 0,
            demand: Demand { taken: 0, until_ms: i64::MIN, is_busy: false },
            end: (0, false),
            end_announced: false,
            looked: None,
        }
    }

    /// One look. Returns how long the next one may wait if nobody asks for it.
    pub fn look(&mut self, shared: &Arc<Shared>) -> Duration {
        if self.seen.is_none() {
            // Runs claimed before the first look are of the seconds that the ring was made with.
            self.oldest_run = self.lease.first.max(shared.limits.fresh_tick(shared.now_ms()));
        }
        let now_ms = self.read_clock(shared);
        self.demand.note(shared, now_ms);
        self.hear(shared);
        self.keep_lease(shared, now_ms);
        shared.move_window(&self.lease, now_ms);
        let is_ahead = self.heed_limit(shared, now_ms);
        if !is_ahead {
            self.refresh(shared, now_ms);
        }
        let is_short = self.fill(shared, now_ms);
        self.note_limit(shared, is_ahead || is_short, now_ms);
        self.expire_runs(shared, now_ms);
        self.take_spare(shared, now_ms);
        self.give_back(shared);
        self.announce_end(shared, now_ms);
        self.wake(shared);
        self.leave_to_takers(shared);
        shared.next_look(now_ms)
    }

    /// The time to go by. A jump forward beyond `max_forward_jump` is not followed: until the clock comes back or the
    /// generator is rebuilt, time goes on from where it was.
    fn read_clock(&mut self, shared: &Shared) -> i64 {
        let mut now_ms = shared.now_ms();
        if let Some((seen_ms, since)) = &self.seen {
            let expected_ms = seen_ms.saturating_add(i64::try_from(since.elapsed().as_millis()).unwrap_or(0));
            let jump = crate::seconds::duration_ms(now_ms.saturating_sub(expected_ms));
            let refused = self.max_forward_jump.is_some_and(|most| jump > most);
            if shared.set_refused_jump(refused.then_some(jump)) {
                events::jump_refused(jump);
            }
            if refused {
                now_ms = expected_ms;
            } else if now_ms < *seen_ms {
                events::rollback(crate::seconds::duration_ms(seen_ms - now_ms));
            } else if jump > NOTED_JUMP {
                events::jump_followed(jump);
            }
        }
        self.seen = Some((now_ms, Stopwatch::start()));
        now_ms
    }

    /// Where the clock has gone back so far that what is in the ring lies beyond the limit, it is not handed out:
    /// dropped for a new worker's seconds, or kept until it is due. True while it is kept.
    fn heed_limit(&mut self, shared: &Arc<Shared>, now_ms: i64) -> bool {
        self.drop_far_seconds(shared, now_ms);
        let front = shared.ring.cursor_block();
        let is_ahead = shared.tick(front).is_some_and(|tick| tick > shared.limits.last_tick(now_ms));
        if is_ahead {
            shared.expire_runs();
            if shared.policy == LeadLimit::NewWorker && self.change_worker(shared, now_ms) {
                shared.skip_to(shared.ring.tail(), 0);
            } else {
                shared.ring.close();
                return true;
            }
        }
        if shared.ring.is_closed() {
            shared.try_open(now_ms);
        }
        false
    }

    /// Drops the seconds of a worker before that lie beyond the limit, and those before them: the window says nothing
    /// of them.
    fn drop_far_seconds(&self, shared: &Shared, now_ms: i64) {
        let last = shared.limits.last_tick(now_ms);
        let is_of_before = |&block: &u64| {
            let base = shared.ring.base(block);
            base.is_none_or(|base| shared.seconds.worker(base.get()) != self.lease.worker)
        };
        let is_far = |&block: &u64| shared.tick(block).is_some_and(|tick| tick > last);
        // They stand before this worker's, so as a rule there are none to look at.
        let of_before = (shared.ring.cursor_block()..shared.ring.tail()).take_while(is_of_before);
        if let Some(far) = of_before.filter(is_far).last() {
            shared.expire_runs();
            shared.skip_to(far + 1, 0);
        }
    }

    /// Drops the seconds that have become stale, and those before them. The new front begins at a random place, so that
    /// the UIDs of a quiet service do not all end in the same bits.
    fn refresh(&mut self, shared: &Shared, now_ms: i64) {
        let (front, tail) = (shared.ring.cursor_block(), shared.ring.tail());
        let is_stale = |block| shared.tick(block).is_some_and(|tick| shared.limits.is_stale(tick, now_ms));
        // The last one: behind a worker's far seconds may come the next one's, which began at the clock's.
        let Some(stale) = (front..tail).rev().find(|&block| is_stale(block)) else { return };
        // A busy service is spread by its own UIDs, and skips nothing.
        let offset = if self.demand.is_busy { 0 } else { self.rng.u64(0..=shared.ring.max_offset()) };
        if shared.skip_to(stale + 1, offset) {
            events::refreshed(stale + 1 - front);
        }
    }

    /// Fills the ring, with a new worker's seconds where the lead is used up and the policy says so. True if the window
    /// ends before the ring is full.
    fn fill(&mut self, shared: &Arc<Shared>, now_ms: i64) -> bool {
        let wanted = shared.take_wanted() || self.is_spare_awaited && self.spare.is_some();
        loop {
            while !shared.signal.is_stopped() && shared.refill() {}
            if shared.signal.is_stopped() || shared.ring.is_full() {
                return false;
            }
            // Only where takers come to the end of it: a ring longer than the lead is never full.
            let left = shared.ring.blocks_from(shared.ring.cursor_block());
            // With its far seconds in the ring the worker stays: as those of a worker before they would be handed out.
            let is_far = left > 0 && shared.newest_tick() > shared.limits.last_tick(now_ms);
            let is_wanted = !is_far && (wanted || left <= 1 && self.demand.is_busy);
            if shared.policy != LeadLimit::NewWorker || !is_wanted || !self.change_worker(shared, now_ms) {
                return wanted || left == 0 && self.demand.is_busy;
            }
        }
    }

    /// Starts again at now with a new worker id. False when there is none yet, or no second for it.
    fn change_worker(&mut self, shared: &Arc<Shared>, now_ms: i64) -> bool {
        let fresh = shared.limits.fresh_tick(now_ms);
        // With the last second of the layout everything ends; it is not taken once more.
        if fresh > shared.limits.last_tick(now_ms) || fresh >= shared.limits.layout.max_tick() {
            return false;
        }
        let Some(lease) = self.spare.take() else {
            self.is_spare_awaited = true;
            self.ask_for_worker(shared, now_ms);
            return false;
        };
        events::new_worker(lease.worker);
        shared.move_window(&lease, now_ms);
        shared.count_worker();
        self.oldest_run = self.oldest_run.min(fresh);
        self.left.push(std::mem::replace(&mut self.lease, lease));
        (self.is_lost, self.is_spare_awaited, self.upkeep) = (false, false, Upkeep::default());
        true
    }

    fn ask_for_worker(&mut self, shared: &Arc<Shared>, now_ms: i64) {
        if self.clerk.is_busy() || !self.retry.is_due() {
            return;
        }
        let request = shared.limits.request(now_ms);
        let max = request.layout.max_worker();
        let fits = move |lease: Lease| match lease.worker {
            worker if worker > max => Err(RegistryError::WorkerRange { worker, max }),
            _ => Ok(lease),
        };
        self.clerk.ask(shared, move |registry| Answer::Assigned(registry.assign(&request).and_then(fits)));
    }

    /// Hears what the registry has to say, if it was asked.
    fn hear(&mut self, shared: &Shared) {
        match self.clerk.answer() {
            Some(Answer::Assigned(Ok(lease))) => {
                self.retry.refused = None;
                self.spare = Some(lease);
            }
            Some(Answer::Assigned(Err(error))) => self.refuse(&error),
            // Not for one that has been left since.
            Some(Answer::Reserved(lease, result)) if lease.holder == self.lease.holder => {
                self.hear_of_lease(shared, result);
            }
            Some(Answer::Released(result)) => hear_of_release(result),
            Some(Answer::Reserved(..)) | None => {}
        }
    }

    fn hear_of_lease(&mut self, shared: &Shared, result: Result<u64, RegistryError>) {
        match result {
            Ok(last) => {
                self.upkeep.done();
                self.lease.last = last;
                shared.set_registry_down(false);
            }
            Err(RegistryError::LeaseLost { worker }) => {
                events::lease_lost(worker);
                self.is_lost = true;
            }
            Err(error) => {
                if self.upkeep.retry.refused.is_none() {
                    events::no_reservation(&error);
                }
                shared.set_registry_down(true);
                self.upkeep.retry.back_off(LAST_RESERVE_RETRY);
            }
        }
    }

    fn refuse(&mut self, error: &RegistryError) {
        if self.retry.refused.is_none() {
            events::no_new_worker(error);
        }
        self.retry.back_off(LAST_RETRY);
    }

    /// Reserves further seconds when half of what was reserved is used up, or half of the lease's time is over. Takes
    /// on another id where the lease is lost.
    fn keep_lease(&mut self, shared: &Arc<Shared>, now_ms: i64) {
        let Some(duration) = self.lease.duration else { return };
        if self.is_lost {
            let is_replaced = self.change_worker(shared, now_ms);
            shared.set_registry_down(!is_replaced);
            return;
        }
        let now = shared.limits.fresh_tick(now_ms);
        let used = shared.newest_tick().max(now);
        if self.clerk.is_busy() || !self.upkeep.retry.is_due() {
            return;
        }
        let Some(last) = self.upkeep.reserve_to(used, self.lease.last, duration, &shared.limits.layout) else { return };
        let lease = self.lease.clone();
        self.clerk.ask(shared, move |registry| {
            let result = registry.reserve(&lease, last);
            Answer::Reserved(lease, result)
        });
    }

    /// Whether the registry has been asked. Waits until it has answered, by the next look.
    #[cfg(test)]
    pub fn is_waiting(&mut self) -> bool {
        self.clerk.settle();
        self.clerk.is_busy()
    }

    /// Gives the ids of workers before back.
    fn give_back(&mut self, shared: &Arc<Shared>) {
        if self.clerk.is_busy() {
            return;
        }
        if let Some(lease) = self.left.pop() {
            // All that it reserved counts as used: a taker may be about to publish one of its seconds.
            self.clerk.ask(shared, move |registry| Answer::Released(registry.release(&lease, lease.last)));
        }
    }

    /// Gives the worker id back. Nobody takes any more.
    pub fn finish(&mut self, shared: &Shared) {
        let newest = shared.ring.newest();
        // The seconds of a worker before, which are still in the ring, say nothing of this one's.
        let used = if shared.seconds.worker(newest) == self.lease.worker {
            shared.seconds.tick(newest)
        } else {
            self.lease.last
        };
        // What was asked last.
        self.clerk.settle();
        self.hear(shared);
        let left = self.left.drain(..).map(|lease| (lease.last, lease));
        for (used, lease) in left.chain([(used, self.lease.clone())]) {
            hear_of_release(self.clerk.ask_now(|registry| registry.release(&lease, used)));
        }
        // Taken in store, and not used.
        if let Some(spare) = self.spare.take() {
            let _ = self.clerk.ask_now(|registry| registry.release(&spare, spare.first.saturating_sub(1)));
        }
    }

    /// Takes the next worker id before it is needed, so that no taker waits for a database.
    fn take_spare(&mut self, shared: &Arc<Shared>, now_ms: i64) {
        let is_near = self.demand.is_busy && shared.limits.is_half_used(shared.newest_tick(), now_ms);
        // A lease is not taken in store: it would have to be kept alive.
        let is_wanted = shared.policy == LeadLimit::NewWorker && self.spare.is_none() && self.lease.duration.is_none();
        if is_wanted && is_near {
            self.ask_for_worker(shared, now_ms);
        }
    }

    /// Tells local takers to drop their runs if one of them may be stale.
    fn expire_runs(&mut self, shared: &Shared, now_ms: i64) {
        if shared.limits.is_stale(self.oldest_run, now_ms) {
            shared.expire_runs();
            let front = shared.tick(shared.ring.cursor_block());
            self.oldest_run = front.unwrap_or_else(|| shared.limits.fresh_tick(now_ms));
        }
    }

    /// The limit is reached when takers stand before the end of the window, and left when demand goes back or the
    /// window gets ahead of it: not in each second that a paced taker waits for.
    fn note_limit(&self, shared: &Shared, is_short: bool, now_ms: i64) {
        let newest = shared.newest_tick();
        let was = shared.is_at_limit();
        let is = is_short || was && self.demand.is_busy && newest >= shared.limits.last_tick(now_ms);
        if is && !was {
            events::lead_limit(shared.limits.lead(newest, now_ms), shared.policy);
        }
        shared.set_at_limit(is);
    }

    /// Wakes who waits, if there is something new to look at: else the two would keep each other awake.
    fn wake(&mut self, shared: &Shared) {
        let end = (shared.ring.tail(), shared.ring.is_closed() || shared.is_registry_down());
        if end != self.end {
            self.end = end;
            shared.waiters.wake_all();
        }
    }

    /// Takers so fast that they ask as soon as they have been answered go on by themselves for a while. To publish a
    /// block costs them less than to wake a thread.
    fn leave_to_takers(&mut self, shared: &Shared) {
        let since = self.looked.replace(Stopwatch::start());
        let is_haunted = since.is_some_and(|since| since.elapsed() < SHORT_REST);
        // Not for so long that they come near the end of the window: there is something to do before that.
        let left = shared.seconds.tick(shared.ring.window().last).saturating_sub(shared.newest_tick());
        shared.leave_to_takers(if is_haunted { UNDISTURBED.min(left / 4) } else { 0 });
    }

    fn announce_end(&mut self, shared: &Shared, now_ms: i64) {
        let layout = &shared.limits.layout;
        if !self.end_announced && shared.limits.lead(layout.max_tick(), now_ms) < YEAR {
            events::end_is_near(layout.expires_at());
            self.end_announced = true;
        }
    }
}

fn hear_of_release(result: Result<(), RegistryError>) {
    match result {
        // Another has it already.
        Ok(()) | Err(RegistryError::LeaseLost { .. }) => {}
        Err(error) => events::not_released(&error),
    }
}

/// How far ahead seconds are reserved, and when.
#[derive(Default)]
struct Upkeep {
    /// Since the last reservation.
    since: Option<Stopwatch>,
    /// In multiples of the lease's duration. Grows with the pace, so that a busy generator asks a few times a second at
    /// most.
    lengths: u64,
    retry: Retry,
}

/// A busy generator asks at most as often as this.
const BUSY_PERIOD: Duration = Duration::from_millis(500);

impl Upkeep {
    /// The last second to reserve now; `None` if it is not time.
    fn reserve_to(&mut self, used: u64, reserved: u64, duration: Duration, layout: &Layout) -> Option<u64> {
        let since = self.since.get_or_insert_with(Stopwatch::start).elapsed();
        let ticks = layout.ticks_in(duration).max(2);
        let lengths = self.lengths.max(1);
        let is_low = reserved.saturating_sub(used) < ticks.saturating_mul(lengths) / 2;
        let is_late = since >= duration / 2;
        if reserved >= layout.max_tick() || !(is_low || is_late) {
            return None;
        }
        self.lengths = if is_late {
            lengths.div_ceil(2)
        } else if since < BUSY_PERIOD {
            lengths.saturating_mul(2)
        } else {
            lengths
        };
        Some(used.saturating_add(ticks.saturating_mul(self.lengths)).clamp(reserved, layout.max_tick()))
    }

    fn done(&mut self) {
        (self.since, self.retry.refused) = (Some(Stopwatch::start()), None);
    }
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

impl Retry {
    fn is_due(&self) -> bool {
        self.refused.as_ref().is_none_or(|(since, pause)| since.elapsed() >= *pause)
    }

    fn back_off(&mut self, most: Duration) {
        let pause = match &self.refused {
            Some((_, pause)) => (*pause * 2).min(most),
            None => FIRST_RETRY,
        };
        self.refused = Some((Stopwatch::start(), pause));
    }
}
