//! [`LeaseManager`]: the worker ids of a generator. One is in use, and one may be spare. Ids no
//! longer in use are given back.

use std::collections::VecDeque;
use std::mem;
use std::num::NonZeroU64;
use std::time::Duration;

use crate::backend::StorageError;
use crate::clock::Stopwatch;
use crate::engine::Engine;
use crate::engine::events;
use crate::engine::status::is_large_skew;
use crate::filler::alarm::{Alarm, Rest};
use crate::filler::allowance::Allowance;
use crate::filler::registry_calls::{Answer, CallThread, RegistryCalls};
use crate::filler::reservation_plan::{FIRST_RETRY, ReservationPlan, Retry};
use crate::registry::RegistryError;
use crate::registry::{Lease, WorkerRegistry};
use crate::support::rule::{BrokenRule, Rule};
use crate::sync::Arc;

/// The worker ids of a generator.
pub struct LeaseManager {
    calls: RegistryCalls,
    /// The lease in use.
    lease: Lease,
    /// Whether another generator has the worker id now.
    is_lost: bool,
    alarm: Alarm,
    /// Runs while a needed grant is outstanding: further ticks or, if the lease is lost, another
    /// worker id.
    needed: Option<Stopwatch>,
    plan: ReservationPlan,
    /// A worker id that has not been taken on yet.
    spare: Option<Lease>,
    /// Whether the spare is to be taken on as soon as it arrives.
    is_spare_awaited: bool,
    /// Worker ids to give back.
    retired: Vec<Lease>,
    /// The worker ids in use before, each with its last tick that was reserved: those used last.
    previous: VecDeque<(u64, u64)>,
    /// When another worker id may be requested after a refusal.
    retry: Retry,
    allowance: Allowance,
    /// Whether operators know that this machine's clock and the registry's are far apart.
    has_reported_skew: bool,
}

const LAST_RETRY: Duration = Duration::from_secs(60);

/// Shorter than `LAST_RETRY`, since takes may be waiting for the reservation.
const LAST_RESERVE_RETRY: Duration = Duration::from_secs(5);

/// How many worker ids that were in use before are remembered.
const MOST_REMEMBERED: usize = 64;

/// If the registry does not answer within this time, or within an eighth of the lease, there is an
/// event.
const LONGEST_PATIENCE: Duration = Duration::from_secs(5);

/// The shortest sleep of the filler if only the lease needs it.
const SHORTEST_REST: Duration = Duration::from_millis(10);

impl LeaseManager {
    /// Starts with `lease`. `allowance` says how many further ids may be taken on.
    pub fn new(
        registry: Box<dyn WorkerRegistry>,
        lease: Lease,
        allowance: Allowance,
    ) -> LeaseManager {
        LeaseManager {
            calls: RegistryCalls::new(registry),
            is_lost: false,
            alarm: Alarm::None,
            needed: None,
            plan: ReservationPlan::new(&lease),
            lease,
            spare: None,
            is_spare_awaited: false,
            retired: Vec::new(),
            previous: VecDeque::new(),
            retry: Retry::default(),
            allowance,
            has_reported_skew: false,
        }
    }

    /// Tells operators how far this machine's clock and the registry's are apart, as the last call
    /// has shown it. Must not be called while a call is running.
    pub fn compare_clocks(&mut self, engine: &Engine) {
        let skew_ms = self.calls.clock_skew_ms();
        engine.flags.set_clock_skew_ms(skew_ms);
        let is_large = skew_ms.is_some_and(is_large_skew);
        if is_large != mem::replace(&mut self.has_reported_skew, is_large) {
            match skew_ms {
                Some(skew_ms) if is_large => events::clock_skew(skew_ms),
                _ => events::clocks_agree(),
            }
        }
    }

    /// The clock was set, so that it is not known how far it is from the registry's.
    pub fn forget_clock_skew(&mut self, engine: &Engine) {
        engine.flags.set_clock_skew_ms(None);
        self.has_reported_skew = false;
    }

    /// The registry's name.
    #[cfg(feature = "metrics")]
    pub fn registry_name(&self) -> String {
        self.calls.registry_name()
    }

    /// The thread of a registry call.
    pub fn call_thread(&self) -> CallThread {
        self.calls.call_thread()
    }

    /// The lease in use.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Whether another generator has the worker id now.
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Whether no further worker id may be taken on for now.
    pub fn is_allowance_used_up(&self) -> bool {
        !self.allowance.is_any_left()
    }

    /// Whether a worker id that was needed at once has arrived and not been taken on yet.
    pub fn has_awaited_spare(&self) -> bool {
        self.is_spare_awaited && self.spare.is_some()
    }

    /// Whether a registry call is under way and none was refused before, so that it is worth
    /// waiting for.
    pub fn is_first_try(&self) -> bool {
        self.calls.is_busy() && self.retry.refused.is_none()
    }

    /// Takes on the next worker id, which starts at the present tick. Returns false if there is
    /// none yet, or no tick for it.
    pub fn take_on_next(&mut self, engine: &Arc<Engine>, now_ms: i64) -> bool {
        let fresh = engine.limits.fresh_tick(now_ms);
        // No worker id is used up for the last tick of the layout.
        if !engine.limits.is_due(fresh, now_ms) || fresh >= engine.limits.final_tick {
            return false;
        }
        let Some(lease) = self.spare.take() else {
            self.is_spare_awaited = true;
            self.request_another(engine, now_ms);
            return false;
        };
        if let Err(broken) = self.check_new(&lease) {
            engine.ring.break_rule(broken);
            return false;
        }
        engine.take_on(&lease, now_ms);
        engine.counters.new_workers.add(1);
        (self.is_lost, self.is_spare_awaited, self.plan) =
            (false, false, ReservationPlan::new(&lease));
        self.needed = None;
        // What the registry has refused was about the lease before.
        engine.flags.set_registry_down(false);
        let before = mem::replace(&mut self.lease, lease);
        let (worker, old) = (self.lease.worker, before.worker);
        if self.previous.len() == MOST_REMEMBERED {
            self.previous.pop_front();
        }
        self.previous.push_back((before.worker, before.last));
        self.retired.push(before);
        events::worker_id_changed(worker, old);
        self.alarm.recovered(worker, engine.limits.layout.begin_of(self.lease.last));
        true
    }

    /// Fails if this generator has had ticks of `lease` already.
    fn check_new(&self, lease: &Lease) -> Result<(), BrokenRule> {
        let previous = self.previous.iter().copied().chain([(self.lease.worker, self.lease.last)]);
        let before =
            previous.filter(|(worker, _)| *worker == lease.worker).map(|(_, last)| last).max();
        let Some(last) = before else { return Ok(()) };
        Rule::WorkerIdOnce.check(lease.first > last, lease.worker, lease.first, last)
    }

    /// Requests a spare worker id if there is none, so that no taker waits for a database.
    pub fn request_spare(&mut self, engine: &Arc<Engine>, now_ms: i64) {
        // A leased id is requested only when it is needed: a spare one would need reservations.
        if self.spare.is_none() && self.lease.is_permanent() {
            self.request_another(engine, now_ms);
        }
    }

    fn request_another(&mut self, engine: &Arc<Engine>, now_ms: i64) {
        if self.calls.is_busy() || !self.retry.is_due() {
            return;
        }
        // A generator that has lost its lease has none that it could go on with.
        if !self.is_lost && !self.allowance.is_any_left() {
            self.allowance.announce();
            return;
        }
        let request = engine.limits.request(now_ms);
        let check = move |lease: Lease| lease.check(&request.layout);
        let doing = "take another worker id".to_owned();
        self.calls.start(
            engine,
            doing,
            move |registry| registry.assign(&request).and_then(check),
            Answer::Assigned,
        );
    }

    /// Reserves further ticks when half of the reserved ones are used up, or when half of the
    /// lease's duration is over.
    pub fn reserve_if_due(&mut self, engine: &Arc<Engine>, now_ms: i64) {
        let Some(duration) = self.lease.duration() else { return };
        if self.is_lost {
            return;
        }
        let now = engine.limits.fresh_tick(now_ms);
        let used = self.used(engine).max(now);
        let (reserved, layout) = (self.lease.last, &engine.limits.layout);
        let Some(from) = self.plan.due_from(used, now, reserved, duration, layout) else {
            // The clock has gone back before anything was requested.
            if !self.calls.is_busy() && self.plan.retry.refused.is_none() {
                self.needed = None;
            }
            return;
        };
        // Also while another call is running: if that one hangs, operators must learn of it.
        self.needed.get_or_insert_with(Stopwatch::start);
        if self.calls.is_busy() || !self.plan.retry.is_due() {
            return;
        }
        let last = self.plan.request(from, reserved, duration, layout);
        let (lease, max) = (self.lease.clone(), layout.max_tick());
        let doing = format!("reserve the ticks of worker id {} up to {last}", lease.worker);
        let (asked, failing) = (lease.clone(), doing.clone());
        let reserve =
            move |registry: &mut dyn WorkerRegistry| match registry.reserve(&asked, last)? {
                reserved if reserved == asked.last && reserved < last => {
                    let message = format!(
                        "the registry answered with tick {reserved}, which is no later than before"
                    );
                    Err(StorageError::failed(failing, message).into())
                }
                reserved => Ok(reserved.min(max)),
            };
        self.calls.start(engine, doing, reserve, |result| Answer::Reserved(lease, result));
    }

    /// Reports to operators a reservation that is overdue, and the rest of the lease.
    pub fn watch(&mut self, engine: &Engine, now_ms: i64) {
        let (Some(duration), Some(needed)) = (self.lease.duration(), &self.needed) else { return };
        let (worker, waited) = (self.lease.worker, needed.elapsed());
        if waited >= (duration / 8).min(LONGEST_PATIENCE) {
            if self.is_lost {
                self.alarm.lost();
            } else {
                self.alarm.unreachable(worker, waited, None);
            }
        }
        let used = self.used(engine).max(engine.limits.fresh_tick(now_ms));
        let left = self.lease.last.saturating_sub(used);
        let tick = engine.limits.layout.tick();
        let rest = Rest {
            time: tick.saturating_mul(u32::try_from(left).unwrap_or(u32::MAX)),
            is_low: left < self.plan.covered / 4,
            is_exhausted: engine.is_lease_used_up(),
        };
        self.alarm.update(worker, &rest);
    }

    /// The tick published last, if it is of this worker id. The ring may still be full of another
    /// worker's blocks, far ahead.
    fn newest_tick(&self, engine: &Engine) -> Option<u64> {
        let newest = engine.newest();
        (engine.codec.worker_of(newest) == self.lease.worker).then(|| engine.codec.tick_of(newest))
    }

    /// How long the leases need no maintenance. `None` if they never do, unless takers or a
    /// registry's answer wake the filler.
    pub fn rest(&self, engine: &Engine, now_ms: i64) -> Option<Duration> {
        if self.needed.is_some() || self.is_lost || !self.retired.is_empty() {
            return Some(FIRST_RETRY);
        }
        let duration = self.lease.duration()?;
        if self.lease.last >= engine.limits.layout.max_tick() {
            return None;
        }
        // Reservations are due at half of what is left, or of the duration, so this is in time.
        let left = engine.limits.lead(self.lease.last, now_ms).min(duration);
        Some((left / 4).max(SHORTEST_REST))
    }

    /// Gives back one worker id that is no longer in use.
    pub fn give_back(&mut self, engine: &Arc<Engine>) {
        if self.calls.is_busy() {
            return;
        }
        if let Some(lease) = self.retired.pop() {
            let worker = lease.worker;
            // Every reserved tick counts as used, since a taker may be about to publish one.
            let release =
                move |registry: &mut dyn WorkerRegistry| registry.release(&lease, lease.last);
            self.calls.start(engine, giving_back(worker), release, move |result| {
                Answer::Released(worker, result)
            });
        }
    }

    /// Handles the answer of a registry call, if there is one. Fails with the worker id that the
    /// answer says was not given back.
    pub fn handle_answer(&mut self, engine: &Engine) -> Result<(), (u64, RegistryError)> {
        let answer = self.calls.take_answer();
        if answer.is_some() {
            self.compare_clocks(engine);
        }
        match answer {
            Some(Answer::Assigned(Ok(lease))) => {
                self.retry.refused = None;
                // The id is used up when it is assigned, whether or not it is taken on.
                self.allowance.use_one();
                self.spare = Some(lease);
            }
            Some(Answer::Assigned(Err(error))) => {
                if self.retry.refused.is_none() {
                    events::no_new_worker(&error);
                }
                self.retry.back_off(LAST_RETRY);
            }
            // A reservation of a lease that is no longer in use is ignored.
            Some(Answer::Reserved(lease, result)) if lease.is(&self.lease) => {
                self.handle_reservation(engine, result);
            }
            Some(Answer::Released(worker, result)) => {
                return handle_release(worker, result).map_err(|error| (worker, error));
            }
            Some(Answer::Reserved(..)) | None => {}
        }
        Ok(())
    }

    fn handle_reservation(&mut self, engine: &Engine, result: Result<u64, RegistryError>) {
        match result {
            Ok(last) if last < self.lease.last => {
                let (rule, bound) = (Rule::ReservationKept, self.lease.last);
                let worker = self.lease.worker;
                engine.ring.break_rule(BrokenRule { rule, worker, found: last, bound });
            }
            Ok(last) => {
                self.plan.done(last);
                self.lease.last = last;
                self.needed = None;
                let reserved_until = engine.limits.layout.begin_of(last);
                self.alarm.recovered(self.lease.worker, reserved_until);
                engine.flags.set_registry_down(false);
            }
            Err(RegistryError::LeaseLost { worker }) => {
                self.is_lost = true;
                // The registry has answered. From now on another worker id is needed.
                self.needed = Some(Stopwatch::start());
                events::lease_lost(worker);
            }
            Err(error) => {
                let waited = self.needed.map_or(Duration::ZERO, Stopwatch::elapsed);
                self.alarm.unreachable(self.lease.worker, waited, Some(&error));
                engine.flags.set_registry_down(true);
                self.plan.retry.back_off(LAST_RESERVE_RETRY);
            }
        }
    }

    /// Gives back all worker ids. No ticket is claimed any more. Returns the first error, with the
    /// worker id that was not given back.
    pub fn finish(&mut self, engine: &Engine) -> Result<(), (u64, RegistryError)> {
        // This is final, since no ticket is claimed any more.
        let used = self.used(engine);
        let mut result = self.handle_answer(engine);
        // A permanent id need not be given back, so nothing waits for a call that hangs. Its thread
        // ends by itself.
        let is_any_leased = !self.retired.iter().chain([&self.lease]).all(Lease::is_permanent);
        if self.calls.is_busy() && !is_any_leased {
            return result;
        }
        // Waits for the running call.
        self.calls.finish();
        result = result.and(self.handle_answer(engine));
        if let Some(broken) = engine.ring.broken_rule() {
            // Nobody may begin before all is used up that was reserved.
            let left = (self.lease.worker, RegistryError::other(broken));
            return if is_any_leased { Err(left) } else { Ok(()) };
        }
        let retired = self.retired.drain(..).map(|lease| (lease.last, lease));
        // It was not used.
        let spare = self.spare.take().map(|lease| (lease.first.saturating_sub(1), lease));
        for (used, lease) in retired.chain([(used, self.lease.clone())]).chain(spare) {
            let release = |registry: &mut dyn WorkerRegistry| registry.release(&lease, used);
            let released = self.calls.call_now(giving_back(lease.worker), release);
            let released = handle_release(lease.worker, released);
            result = result.and(released.map_err(|error| (lease.worker, error)));
        }
        result
    }

    /// The last tick of the lease from which a UID may have been taken so far. If there is none,
    /// the tick before the first one of the lease.
    fn used(&self, engine: &Engine) -> u64 {
        let position = engine.ring.cursor.position();
        let used = match engine.base_of_block(position >> engine.ring.shift()).map(NonZeroU64::get)
        {
            Some(base) if engine.codec.worker_of(base) == self.lease.worker => {
                let is_untouched = position & engine.ring.max_offset() == 0;
                engine.codec.tick_of(base).saturating_sub(is_untouched.into())
            }
            // This worker's blocks come later in the ring.
            Some(_) => 0,
            // A taker that holds a ticket may still publish any tick that is reserved.
            None if engine.ring.cursor.ended().is_some() => self.lease.last,
            None => self.newest_tick(engine).unwrap_or(self.lease.last),
        };
        // The tick may belong to an earlier lease of the same id.
        used.max(self.lease.first.saturating_sub(1))
    }

    /// Whether the answer of a registry call is still to be handled. Waits until the call ends, so
    /// that the next maintenance handles it.
    #[cfg(test)]
    pub fn is_call_pending(&mut self) -> bool {
        self.calls.finish();
        self.calls.is_busy()
    }
}

fn giving_back(worker: u64) -> String {
    format!("give worker id {worker} back")
}

fn handle_release(worker: u64, result: Result<(), RegistryError>) -> Result<(), RegistryError> {
    match result {
        // If the lease is lost, another generator has the id already.
        Ok(()) | Err(RegistryError::LeaseLost { .. }) => Ok(()),
        Err(error) => {
            events::not_released(worker, &error);
            Err(error)
        }
    }
}
