//! The worker ids of a generator: the one whose seconds it publishes, the next one, and those to
//! give back.

use std::mem;
use std::num::NonZeroU64;
use std::time::Duration;

use crate::clock::Stopwatch;
use crate::engine::Engine;
use crate::engine::events;
use crate::filler::registry_calls::{Answer, RegistryCalls};
use crate::layout::Layout;
use crate::registry::RegistryError;
use crate::registry::{Lease, WorkerRegistry};
use crate::sync::Arc;

pub struct LeaseManager {
    calls: RegistryCalls,
    lease: Lease,
    /// Another has the worker id now.
    is_lost: bool,
    upkeep: Upkeep,
    /// A worker id that has not been taken on.
    spare: Option<Lease>,
    /// It is to be taken on as soon as it is there.
    is_spare_awaited: bool,
    /// Worker ids to give back.
    left: Vec<Lease>,
    /// When the registry may be asked for another, after a refusal.
    retry: Retry,
    allowance: Allowance,
}

/// How far ahead seconds are reserved, and when.
struct Upkeep {
    /// Since the last reservation.
    since: Option<Stopwatch>,
    /// How many ticks are reserved at a time: at first as many as came with the lease, later as
    /// many as its duration has. Grows with the pace, so that a busy generator asks a few times a
    /// second at most.
    ticks: u64,
    retry: Retry,
}

/// How many worker ids that do not come back may be taken on: so many an hour, which may all be
/// taken at once. It counts in ids times the nanoseconds of an hour: so many ids an hour is so many
/// of these a nanosecond.
struct Allowance {
    per_hour: u128,
    /// What was used up and had not come again when this was counted.
    used: u128,
    counted: Stopwatch,
    /// It has been said that all is used up, since none was.
    is_announced: bool,
}

/// Waits twice as long after each refusal.
#[derive(Default)]
struct Retry {
    refused: Option<(Stopwatch, Duration)>,
}

/// In nanoseconds.
const HOUR: u128 = 3_600_000_000_000;
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(60);
/// Takes may be waiting for it.
const LAST_RESERVE_RETRY: Duration = Duration::from_secs(5);
/// A busy generator asks for seconds at most as often as this.
const BUSY_PERIOD: Duration = Duration::from_millis(500);

impl LeaseManager {
    /// With up to `max_new_workers` further ids an hour.
    pub fn new(
        registry: Box<dyn WorkerRegistry>,
        lease: Lease,
        max_new_workers: u32,
    ) -> LeaseManager {
        LeaseManager {
            calls: RegistryCalls::new(registry),
            is_lost: false,
            upkeep: Upkeep::new(&lease),
            lease,
            spare: None,
            is_spare_awaited: false,
            left: Vec::new(),
            retry: Retry::default(),
            allowance: Allowance::new(max_new_workers),
        }
    }

    /// The right to the worker id whose seconds are published.
    pub fn lease(&self) -> &Lease {
        &self.lease
    }

    /// Whether another has the worker id now.
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Whether as many worker ids have been used up as may be for now.
    pub fn is_allowance_used_up(&self) -> bool {
        !self.allowance.is_any_left()
    }

    /// Whether a worker id has come that was asked for when it was needed.
    pub fn is_awaited_here(&self) -> bool {
        self.is_spare_awaited && self.spare.is_some()
    }

    /// Whether the registry has been asked, and has refused nothing before: it is worth waiting
    /// for.
    pub fn is_first_try(&self) -> bool {
        self.calls.is_busy() && self.retry.refused.is_none()
    }

    /// Takes on the next worker id, which starts at now. False when there is none yet, or no second
    /// for it.
    pub fn change(&mut self, engine: &Arc<Engine>, now_ms: i64) -> bool {
        let fresh = engine.limits.fresh_tick(now_ms);
        // With the last second of the layout everything ends; it is not taken once more.
        if !engine.limits.is_due(fresh, now_ms) || fresh >= engine.limits.layout.max_tick() {
            return false;
        }
        let Some(lease) = self.spare.take() else {
            self.is_spare_awaited = true;
            self.ask_for_another(engine, now_ms);
            return false;
        };
        events::new_worker(lease.worker);
        engine.take_on(&lease, now_ms);
        engine.counters.new_workers.add(1);
        (self.is_lost, self.is_spare_awaited, self.upkeep) = (false, false, Upkeep::new(&lease));
        self.left.push(mem::replace(&mut self.lease, lease));
        true
    }

    /// Sees to it that there is a next worker id, so that no taker waits for a database.
    pub fn keep_spare(&mut self, engine: &Arc<Engine>, now_ms: i64) {
        // A lease is not taken in store: it would have to be kept alive.
        if self.spare.is_none() && self.lease.duration.is_none() {
            self.ask_for_another(engine, now_ms);
        }
    }

    fn ask_for_another(&mut self, engine: &Arc<Engine>, now_ms: i64) {
        if self.calls.is_busy() || !self.retry.is_due() {
            return;
        }
        // Leased ones are given back.
        if self.lease.duration.is_none() && !self.allowance.is_any_left() {
            self.allowance.announce();
            return;
        }
        let request = engine.limits.request(now_ms);
        let check = move |lease: Lease| lease.check(&request.layout);
        let doing = "take another worker id".to_owned();
        self.calls.ask(
            engine,
            doing,
            move |registry| registry.assign(&request).and_then(check),
            Answer::Assigned,
        );
    }

    /// Reserves further seconds when half of what was reserved is used up, or half of the lease's
    /// time is over.
    pub fn keep_lease(&mut self, engine: &Arc<Engine>, now_ms: i64) {
        let Some(duration) = self.lease.duration else { return };
        if self.is_lost || self.calls.is_busy() || !self.upkeep.retry.is_due() {
            return;
        }
        let now = engine.limits.fresh_tick(now_ms);
        let used = self.used(engine).max(now);
        let layout = &engine.limits.layout;
        let Some(last) = self.upkeep.reserve_to(used, now, self.lease.last, duration, layout)
        else {
            return;
        };
        let (lease, max) = (self.lease.clone(), engine.limits.layout.max_tick());
        let doing = format!("reserve the seconds of worker id {} up to {last}", lease.worker);
        let (asked, failing) = (lease.clone(), doing.clone());
        let reserve = move |registry: &mut dyn WorkerRegistry| match registry
            .reserve(&asked, last)?
        {
            reserved if reserved <= asked.last && reserved < last => Err(RegistryError::Storage {
                doing: failing,
                source: format!(
                    "the registry answered with {reserved}, which is no further than before"
                )
                .into(),
            }),
            reserved => Ok(reserved.min(max)),
        };
        self.calls.ask(engine, doing, reserve, |result| Answer::Reserved(lease, result));
    }

    /// The second published last, if it is of this worker id. The ring may still be full of
    /// another's, far ahead.
    fn newest_tick(&self, engine: &Engine) -> Option<u64> {
        let newest = engine.ring.newest();
        (engine.codec.worker(newest) == self.lease.worker).then(|| engine.codec.tick(newest))
    }

    /// Gives the ids of workers before back.
    pub fn give_back(&mut self, engine: &Arc<Engine>) {
        if self.calls.is_busy() {
            return;
        }
        if let Some(lease) = self.left.pop() {
            let worker = lease.worker;
            // All that it reserved counts as used: a taker may be about to publish one of its
            // seconds.
            let release =
                move |registry: &mut dyn WorkerRegistry| registry.release(&lease, lease.last);
            self.calls.ask(engine, giving_back(worker), release, Answer::Released);
        }
    }

    /// Hears what the registry has to say, if it was asked.
    pub fn hear(&mut self, engine: &Engine) {
        match self.calls.answer() {
            Some(Answer::Assigned(Ok(lease))) => {
                self.retry.refused = None;
                // By being given, whether it is taken on or not.
                if lease.duration.is_none() {
                    self.allowance.use_one();
                }
                self.spare = Some(lease);
            }
            Some(Answer::Assigned(Err(error))) => {
                if self.retry.refused.is_none() {
                    events::no_new_worker(&error);
                }
                self.retry.back_off(LAST_RETRY);
            }
            // Not for one that has been left since.
            Some(Answer::Reserved(lease, result)) if lease.is(&self.lease) => {
                self.hear_of_lease(engine, result);
            }
            Some(Answer::Released(result)) => hear_of_release(result),
            Some(Answer::Reserved(..)) | None => {}
        }
    }

    fn hear_of_lease(&mut self, engine: &Engine, result: Result<u64, RegistryError>) {
        match result {
            Ok(last) => {
                self.upkeep.done();
                self.lease.last = last;
                engine.flags.set_registry_down(false);
            }
            Err(RegistryError::LeaseLost { worker }) => {
                events::lease_lost(worker);
                self.is_lost = true;
            }
            Err(error) => {
                if self.upkeep.retry.refused.is_none() {
                    events::no_reservation(&error);
                }
                engine.flags.set_registry_down(true);
                self.upkeep.retry.back_off(LAST_RESERVE_RETRY);
            }
        }
    }

    /// Gives all ids back. Nobody takes any more.
    pub fn finish(&mut self, engine: &Engine) {
        // For good, as nobody takes any more.
        let used = self.used(engine);
        // What was asked last.
        self.calls.settle();
        self.hear(engine);
        let left = self.left.drain(..).map(|lease| (lease.last, lease));
        for (used, lease) in left.chain([(used, self.lease.clone())]) {
            hear_of_release(
                self.calls
                    .ask_now(giving_back(lease.worker), |registry| registry.release(&lease, used)),
            );
        }
        // Taken in store, and not used.
        if let Some(spare) = self.spare.take() {
            let used = spare.first.saturating_sub(1);
            let _ = self
                .calls
                .ask_now(giving_back(spare.worker), |registry| registry.release(&spare, used));
        }
    }

    /// The last second of the lease that somebody may have a UID of so far, or the one before its
    /// first.
    fn used(&self, engine: &Engine) -> u64 {
        let position = engine.ring.position();
        let used = match engine.ring.base(position >> engine.ring.shift()).map(NonZeroU64::get) {
            Some(base) if engine.codec.worker(base) == self.lease.worker => {
                let is_untouched = position & engine.ring.max_offset() == 0;
                engine.codec.tick(base).saturating_sub(is_untouched.into())
            }
            // This worker's seconds come later.
            Some(_) => 0,
            None => self.newest_tick(engine).unwrap_or(self.lease.last),
        };
        // It may be one of a lease before, of the same id.
        used.max(self.lease.first.saturating_sub(1))
    }

    /// Whether the registry has been asked. Waits until it has answered, by the next look.
    #[cfg(test)]
    pub fn is_waiting(&mut self) -> bool {
        self.calls.settle();
        self.calls.is_busy()
    }
}

fn giving_back(worker: u64) -> String {
    format!("give worker id {worker} back")
}

fn hear_of_release(result: Result<(), RegistryError>) {
    match result {
        // Another has it already.
        Ok(()) | Err(RegistryError::LeaseLost { .. }) => {}
        Err(error) => events::not_released(&error),
    }
}

impl Upkeep {
    fn new(lease: &Lease) -> Upkeep {
        Upkeep { since: None, ticks: (lease.last - lease.first).max(1), retry: Retry::default() }
    }

    /// The last second to reserve now; `None` if it is not time.
    fn reserve_to(
        &mut self,
        used: u64,
        now: u64,
        reserved: u64,
        duration: Duration,
        layout: &Layout,
    ) -> Option<u64> {
        let since = self.since.get_or_insert_with(Stopwatch::start).elapsed();
        let is_low = reserved.saturating_sub(used) < (self.ticks / 2).max(1);
        let is_late = since >= duration / 2;
        if reserved >= layout.max_tick() || !(is_low || is_late) {
            return None;
        }
        let enough = layout.ticks_in(duration).max(2);
        self.ticks = if self.ticks < enough {
            self.ticks.saturating_mul(2).min(enough)
        } else if is_late {
            self.ticks.div_ceil(2).max(enough)
        } else if since < BUSY_PERIOD {
            self.ticks.saturating_mul(2)
        } else {
            self.ticks
        };
        // Only to show that it is alive: where it is ahead of the clock, it has enough, and a crash
        // wastes no more.
        let from = if is_low { used } else { now };
        Some(from.saturating_add(self.ticks).clamp(reserved, layout.max_tick()))
    }

    fn done(&mut self) {
        (self.since, self.retry.refused) = (Some(Stopwatch::start()), None);
    }
}

impl Allowance {
    fn new(per_hour: u32) -> Allowance {
        Allowance {
            per_hour: per_hour.into(),
            used: 0,
            counted: Stopwatch::start(),
            is_announced: false,
        }
    }

    fn used(&self) -> u128 {
        self.used.saturating_sub(self.counted.elapsed().as_nanos().saturating_mul(self.per_hour))
    }

    fn is_any_left(&self) -> bool {
        self.used() + HOUR <= self.per_hour * HOUR
    }

    fn use_one(&mut self) {
        let used = self.used();
        self.is_announced &= used > 0;
        (self.used, self.counted) = (used + HOUR, Stopwatch::start());
    }

    /// Once, until all has come again: else each id that comes would be one more time.
    fn announce(&mut self) {
        if !mem::replace(&mut self.is_announced, true) {
            events::new_workers_used_up(self.per_hour);
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
