//! The generator without its thread: a test moves the clock and runs the filler by hand.

mod any_mixture;
mod clock;
mod demand;
mod lead_limit;
mod shards;
mod tickets;
mod time_field;

use std::collections::{HashMap, HashSet};
use std::time::{Duration, SystemTime};

use crate::clock::{Clock, ManualClock};
use crate::engine::limits::LeadLimit;
use crate::engine::status::Status;
use crate::engine::{Engine, TakeError};
use crate::filler::Filler;
use crate::filler::maintenance::Maintenance;
use crate::generator::UidGenerator;
use crate::generator::builder::Builder;
use crate::generator::local::LocalTaker;
use crate::layout::Layout;
use crate::registry::{Lease, RegistryError, Request, WorkerRegistry};
use crate::simulation::{HOUR, SECOND, YEAR, take_or_wait};
use crate::sync::Arc;
use crate::uid::Uid;

/// Assigns the worker ids 1, 2, 3 and so on.
struct Counting(u64);

impl WorkerRegistry for Counting {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        self.0 += 1;
        Ok(Lease::permanent(self.0, &request.layout))
    }
}

/// A generator, a clock, and what has been taken so far.
struct World {
    clock: ManualClock,
    engine: Arc<Engine>,
    uids: UidGenerator,
    maintenance: Maintenance,
    /// When the filler runs next.
    due: SystemTime,
    limits: Settings,
    /// The last UID of each worker. Each must be larger than the one before, so none can be
    /// repeated.
    last: HashMap<u64, Uid>,
    /// All UIDs, in tests with local takers, whose UIDs are in no order with those of others.
    seen: HashSet<Uid>,
    taken: u64,
    /// How many takes have failed in a row since time last passed.
    failures: u32,
    /// The latest time that the clock has shown.
    latest: SystemTime,
}

#[derive(Clone, Copy, Debug)]
struct Settings {
    layout: Layout,
    start: SystemTime,
    slots: usize,
    max_lead: Duration,
    max_lag: Duration,
    policy: LeadLimit,
    is_exact: bool,
    max_forward_jump: Option<Duration>,
}

/// A year into the default layout, 8 UIDs a second.
fn settings() -> Settings {
    let layout = Layout::new(30, 20, 3).unwrap();
    Settings {
        layout,
        start: layout.epoch() + YEAR + Duration::from_millis(250),
        slots: 8,
        max_lead: HOUR,
        max_lag: SECOND,
        policy: LeadLimit::NewWorker,
        is_exact: false,
        max_forward_jump: None,
    }
}

impl World {
    fn new(limits: Settings) -> World {
        let clock = ManualClock::new(limits.start);
        let mut builder = Builder::new()
            .registry(Counting(0))
            .layout(limits.layout)
            .clock(clock.clone())
            .slots(limits.slots)
            .max_lead(limits.max_lead)
            .max_lag(limits.max_lag)
            .on_lead_limit(limits.policy)
            .max_new_workers(u32::MAX);
        if let Some(jump) = limits.max_forward_jump {
            builder = builder.max_forward_jump(jump);
        }
        if limits.is_exact {
            builder = builder.exact_time();
        }
        let (engine, maintenance, _) = builder.assemble(fastrand::Rng::with_seed(7)).unwrap();
        let mut world = World {
            clock,
            uids: UidGenerator::new(
                Arc::clone(&engine),
                Filler::without_thread(Arc::clone(&engine)),
            ),
            engine,
            maintenance,
            due: limits.start,
            limits,
            last: HashMap::new(),
            seen: HashSet::new(),
            taken: 0,
            failures: 0,
            latest: limits.start,
        };
        world.run_filler();
        world
    }

    fn now(&self) -> SystemTime {
        self.clock.now()
    }

    fn run_filler(&mut self) {
        self.latest = self.latest.max(self.now());
        self.due = self.now() + self.maintenance.run_once(&self.engine);
        // In a simulation, a registry call is done before anything else happens.
        while self.maintenance.is_call_pending() {
            self.due = self.now() + self.maintenance.run_once(&self.engine);
        }
    }

    /// Lets time pass. The filler runs when it is due.
    fn pass(&mut self, time: Duration) {
        let until = self.now() + time;
        while self.due <= until {
            self.clock.set(self.due);
            self.run_filler();
        }
        self.clock.set(until);
    }

    /// Moves the clock and runs the filler, which otherwise would see the jump within a second.
    fn jump(&mut self, to: SystemTime) {
        self.clock.set(to);
        self.run_filler();
    }

    /// Takes a UID and checks it. The filler runs if it was woken.
    fn take(&mut self) -> Result<Uid, TakeError> {
        self.take_by(Engine::try_take)
    }

    /// Like `take`, with the given function.
    fn take_by(
        &mut self,
        way: impl Fn(&Engine) -> Result<Uid, TakeError>,
    ) -> Result<Uid, TakeError> {
        let result = way(&self.engine);
        self.run_filler_if_woken();
        let uid = result?;
        self.check(uid);
        self.check_order(uid);
        Ok(uid)
    }

    /// Fills a buffer of this length, and returns how many UIDs came.
    fn fill(&mut self, length: usize) -> usize {
        let mut buffer = vec![Uid::MIN; length];
        let filled = self.uids.fill(&mut buffer).map_or_else(|error| error.filled(), |()| length);
        self.run_filler_if_woken();
        for &uid in &buffer[..filled] {
            self.check(uid);
            self.check_order(uid);
            assert!(self.seen.insert(uid), "twice: {uid:?}");
        }
        filled
    }

    /// Takes from a local taker, whose UIDs must ascend.
    fn take_local(&mut self, taker: &mut LocalTaker, last: &mut Uid) -> Result<(), TakeError> {
        let result = taker.take();
        self.run_filler_if_woken();
        let uid = result?;
        self.check(uid);
        let parts = self.limits.layout.parts(uid);
        assert!(*last < uid || parts.worker != self.limits.layout.parts(*last).worker, "ordered");
        *last = uid;
        assert!(self.seen.insert(uid), "twice: {uid:?}");
        Ok(())
    }

    /// Runs the filler if it was woken.
    fn run_filler_if_woken(&mut self) {
        if self.engine.signal.take_wake_up() {
            self.run_filler();
        }
    }

    fn check_order(&mut self, uid: Uid) {
        let before = self.last.insert(self.limits.layout.parts(uid).worker, uid);
        assert!(before < Some(uid), "unique, ordered: {before:?}, then {uid:?}");
    }

    fn check(&mut self, uid: Uid) {
        let parts = self.limits.layout.parts(uid);
        let (now, Settings { max_lag, max_lead, layout, .. }) = (self.now(), self.limits);
        if self.limits.is_exact {
            assert!(
                parts.time + layout.tick() > now,
                "exact: {:?}",
                now.duration_since(parts.time)
            );
        } else {
            assert!(parts.time + max_lag >= now, "lag: {:?}", now.duration_since(parts.time));
        }
        assert!(parts.time <= now + max_lead, "lead: {:?}", parts.time.duration_since(now));
        self.taken += 1;
        self.failures = 0;
    }

    /// Checks that a take could fail. If the clock has not gone back, it may fail only when the
    /// last tick that is due has been claimed from, and once more if another worker id was needed
    /// first.
    fn check_failure(&mut self) {
        self.failures += 1;
        let now_ms = self.engine.now_ms();
        if self.now() < self.latest {
            return;
        }
        if self.limits.policy == LeadLimit::NewWorker {
            assert!(self.failures <= 2, "{} failures in a row", self.failures);
        } else {
            let claimed = (self.engine.ring.cursor.position() - 1) >> self.engine.ring.shift();
            let tick = self.engine.tick_of_block(claimed);
            // If the block is not published, a local taker waits for it.
            assert!(
                tick.is_none() || tick >= self.engine.limits.last_tick(now_ms),
                "not all was claimed"
            );
        }
    }

    fn take_many(&mut self, count: u64) {
        for _ in 0..count {
            self.take().unwrap();
        }
    }

    /// Takes `count` UIDs in each of `seconds` seconds, spread over them.
    fn steady(&mut self, seconds: u32, count: u32) {
        for _ in 0..seconds * count {
            self.pass(SECOND / count);
            self.take().unwrap();
        }
    }

    fn status(&self) -> Status {
        self.engine.status()
    }

    fn worker(&self) -> u64 {
        self.status().worker_id
    }
}

/// A take succeeds in each tick of the clock, whatever the tick and the limits.
fn a_uid_at_every_moment(tick_ms: u64, max_lead: Duration, max_lag: Duration) {
    let layout = Layout::new(41, 8, 14).unwrap().with_tick(Duration::from_millis(tick_ms)).unwrap();
    let start = layout.epoch() + YEAR;
    let mut world = World::new(Settings {
        layout,
        start,
        max_lead,
        max_lag,
        policy: LeadLimit::Fail,
        ..settings()
    });
    for moment in 0..500 {
        world.pass(SECOND / 200);
        let uid = world.take_by(take_or_wait);
        assert!(
            uid.is_ok(),
            "{moment}: {uid:?}, tick {tick_ms} ms, lead {max_lead:?}, lag {max_lag:?}"
        );
    }
}
