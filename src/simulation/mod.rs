//! Simulations of the generator without its thread: a test moves the clock and runs the filler by
//! hand. Each step is deterministic and checks the guarantees.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::unchecked_time_subtraction
)]

#[cfg(feature = "tracing")]
mod events;
#[cfg(all(feature = "contract", any(feature = "etcd", feature = "redis", feature = "zookeeper")))]
mod keys;
mod leases;
#[cfg(feature = "tracing")]
mod segment_events;
mod segments;

use std::collections::{HashMap, HashSet};
use std::time::{Duration, SystemTime};

use proptest::prelude::*;

use crate::clock::{Clock, ManualClock, Stopwatch};
use crate::engine::Engine;
use crate::engine::TakeError;
use crate::engine::lead::LeadLimit;
use crate::engine::status::Status;
use crate::filler::Filler;
use crate::filler::allowance::Allowance;
use crate::filler::lease_manager::LeaseManager;
use crate::filler::maintenance::Maintenance;
use crate::generator::UidGenerator;
use crate::generator::builder::Builder;
use crate::generator::local::LocalTaker;
use crate::layout::{FieldOrder, Layout};
use crate::registry::RegistryError;
use crate::registry::{Lease, Request, WorkerRegistry};
use crate::support::callbacks::caught;
use crate::sync::{Arc, Mutex, lock, thread};
use crate::uid::Uid;

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

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

#[test]
fn steady_low_rate() {
    let mut world = World::new(settings());
    world.steady(1000, 1);
    assert!(world.status().lag <= SECOND);
    assert_eq!(world.status().new_workers, 0);
}

#[test]
fn steady_high_rate_borrows() {
    let mut world = World::new(settings());
    world.steady(100, 80);
    // At ten times the layout's rate, each second borrows nine more. The ring adds its own.
    let lead = world.status().lead.as_secs();
    assert!((900..=910).contains(&lead), "{lead}");
}

#[test]
fn bursts() {
    let mut world = World::new(settings());
    for _ in 0..50 {
        world.take_many(100);
        world.pass(Duration::from_millis(12_500));
    }
    // The average rate is the layout's, so in the end only the ring is borrowed.
    world.pass(20 * SECOND);
    assert!(world.status().lead <= 8 * SECOND);
}

#[test]
fn idle_hours_then_burst() {
    let mut world = World::new(settings());
    world.pass(5 * HOUR);
    let before = world.status().skipped;
    assert!(before >= 5 * 3600 * 7, "ticks without takes are skipped: {before}");
    world.take_many(1000);
    assert_eq!(world.status().skipped, before, "nothing is skipped under load");
}

/// Works like `UidGenerator::take`. In a simulation nobody wakes a waiting take, so this is only
/// for `LeadLimit::Fail`.
fn take_or_wait(engine: &Engine) -> Result<Uid, TakeError> {
    engine.ring.take().or_else(|ticket| engine.take_slowly(ticket))
}

fn rollback(by: Duration) {
    for policy in [LeadLimit::NewWorker, LeadLimit::Wait, LeadLimit::Fail] {
        let mut world = World::new(Settings {
            policy,
            max_lead: 2 * YEAR,
            start: settings().start + YEAR,
            ..settings()
        });
        world.steady(10, 4);
        let to = world.now() - by;
        world.jump(to);
        // UIDs continue where they were, and the lead shows how far the clock is behind.
        world.take_many(100);
        assert!(world.status().lead >= by);
        assert_eq!(world.worker(), 1);
        world.steady(10, 4);
    }
}

#[test]
fn rollback_by_a_second() {
    rollback(SECOND);
}

#[test]
fn rollback_by_an_hour() {
    rollback(HOUR);
}

#[test]
fn rollback_by_a_year() {
    rollback(YEAR);
}

#[test]
fn rollback_beyond_max_lead_takes_a_new_worker() {
    let mut world = World::new(settings());
    world.take_many(20);
    let to = world.now() - DAY;
    world.jump(to);
    world.take_many(100);
    assert_eq!(world.worker(), 2);
    // This happens each time, and no UID is repeated when the clock returns to where it was.
    for hours in 0..50 {
        world.jump(to - 2 * hours * HOUR);
        world.take_many(100);
    }
    world.jump(to + DAY);
    world.steady(10, 4);
}

#[test]
fn rollback_ends_the_ready_range_that_takers_are_in() {
    let mut world = World::new(Settings {
        slots: 64,
        max_lead: 40 * SECOND,
        policy: LeadLimit::Fail,
        ..settings()
    });
    world.take_by(take_or_wait).unwrap();
    let to = world.now() - 30 * SECOND;
    world.jump(to);
    let taken = (0..1000).take_while(|_| world.take_by(take_or_wait).is_ok()).count();
    assert_eq!(taken, 11 * 8 - 1, "ten seconds ahead, the first of which is begun");
}

#[test]
fn rollback_puts_blocks_of_two_workers_beyond_max_lead() {
    let ms = Duration::from_millis;
    let layout = Layout::new(40, 12, 2).unwrap().with_tick(ms(300)).unwrap();
    let start = layout.epoch() + YEAR;
    let mut world =
        World::new(Settings { layout, start, slots: 64, max_lead: ms(2086), ..settings() });
    for (back, count) in [(1086, 161), (846, 85), (615, 1000)] {
        let to = world.now() - ms(back);
        world.jump(to);
        for _ in 0..count {
            // A take that reaches blocks that are no longer due makes the filler drop them.
            world.take().or_else(|_| world.take()).unwrap();
        }
    }
}

#[test]
fn rollback_beyond_max_lead_waits_for_the_clock() {
    for policy in [LeadLimit::Wait, LeadLimit::Fail] {
        let mut world = World::new(Settings { policy, ..settings() });
        world.take_many(20);
        let to = world.now() - 2 * HOUR;
        world.jump(to);
        let wait = world.take().unwrap_err().retry_in().unwrap();
        assert!((HOUR..=HOUR + 8 * SECOND).contains(&wait), "{wait:?}");
        assert!(world.status().at_lead_limit);
        world.pass(wait - Duration::from_millis(2));
        world.take().unwrap_err();
        world.pass(Duration::from_millis(2));
        world.take_many(4); // the rest of that second
        world.take().unwrap_err();
    }
}

fn forward_jump(by: Duration) {
    let mut world = World::new(settings());
    world.take_many(50);
    let to = world.now() + by;
    world.jump(to);
    world.steady(10, 4);
    assert_eq!(world.worker(), 1);
}

#[test]
fn forward_jump_by_a_second() {
    forward_jump(SECOND);
}

#[test]
fn forward_jump_by_an_hour() {
    forward_jump(HOUR);
}

#[test]
fn forward_jump_by_ten_years() {
    forward_jump(10 * YEAR);
}

#[test]
fn forward_jump_beyond_the_limit_is_not_followed() {
    let mut world =
        World::new(Settings { max_forward_jump: Some(HOUR), max_lead: 20 * YEAR, ..settings() });
    let start = world.now();
    world.take_many(50);
    world.clock.set(start + 10 * YEAR);
    world.run_filler();
    // The limit on the lag refers to the time that the generator follows.
    world.limits.max_lag = 11 * YEAR;
    for _ in 0..5 {
        let uid = world.take().unwrap();
        assert!(world.limits.layout.parts(uid).time < start + HOUR);
        world.run_filler();
    }
    let jump = world.status().refused_jump.unwrap();
    assert!(jump > 10 * YEAR - HOUR && jump <= 10 * YEAR, "{jump:?}");
    world.limits.max_lag = SECOND;
    world.jump(start + 2 * SECOND);
    assert_eq!(world.status().refused_jump, None);
    world.steady(10, 4);
}

#[test]
fn leap_second_is_repeated() {
    let mut world = World::new(settings());
    for _ in 0..5 {
        world.steady(3, 20);
        let to = world.now() - SECOND;
        world.jump(to);
    }
    world.steady(3, 20);
}

#[test]
fn clock_is_stuck() {
    let mut world = World::new(Settings { policy: LeadLimit::Wait, ..settings() });
    // The ticks from the clock's to the one an hour later, and no more.
    world.take_many(3601 * 8);
    let error = world.take().unwrap_err();
    assert!(matches!(error, TakeError::LeadLimit { retry_in_ms: 750 }), "{error:?}");
}

#[test]
fn lead_limit_with_a_new_worker() {
    let mut world = World::new(settings());
    world.take_many(100_000);
    assert_eq!(world.status().new_workers, 100_000 / (3601 * 8));
}

#[test]
fn one_uid_beyond_the_limit_takes_one_worker_id_however_long_the_ring() {
    for lead in [1, 3, 7, 31] {
        let mut world = World::new(Settings { slots: 64, max_lead: lead * SECOND, ..settings() });
        world.take_many(8 * u64::from(lead + 1));
        while world.take().is_err() {}
        assert_eq!(world.status().new_workers, 1, "lead {lead} s");
    }
}

#[test]
fn lead_limit_with_a_new_worker_but_none_to_be_had() {
    let mut world = World::new(settings());
    let lease = Lease::permanent(1, &settings().layout);
    let allowance = Allowance::new(u64::MAX, HOUR);
    let workers = LeaseManager::new(Box::new(Refusing), lease, allowance);
    world.maintenance = Maintenance::new(workers, fastrand::Rng::with_seed(1), None, 0);
    world.take_many(3601 * 8);
    for _ in 0..20 {
        world.take().unwrap_err();
        world.pass(SECOND);
        world.take_many(8);
    }
    assert_eq!(world.status().new_workers, 0);
}

struct Refusing;

impl WorkerRegistry for Refusing {
    fn assign(&mut self, _: &Request) -> Result<Lease, RegistryError> {
        Err(RegistryError::Exhausted { used: 1, capacity: 1, next: None })
    }
}

#[test]
fn lead_limit_with_waiting_or_failing_paces_to_the_layout() {
    for policy in [LeadLimit::Wait, LeadLimit::Fail] {
        let mut world = World::new(Settings { policy, ..settings() });
        world.take_many(3601 * 8);
        for _ in 0..50 {
            // Failed takes consume nothing.
            for _ in 0..100 {
                world.take().unwrap_err();
            }
            world.pass(SECOND);
            world.take_many(8);
        }
    }
}

#[test]
fn failing_takes_use_nothing_up() {
    let world = World::new(Settings { policy: LeadLimit::Fail, max_lead: SECOND, ..settings() });
    let take = || take_or_wait(&world.engine);
    for _ in 0..16 {
        take().unwrap();
    }
    for _ in 0..1000 {
        assert!(matches!(take(), Err(TakeError::LeadLimit { .. })));
    }
    for _ in 0..10 {
        world.clock.advance(SECOND);
        for _ in 0..8 {
            // At most the ticket that found the end of the window is lost.
            let uid = take();
            assert!(uid.is_ok() || take().is_err());
        }
    }
    assert!(world.engine.taken() >= 16 + 10 * 7);
}

#[test]
fn idling_uses_no_worker_ids_up_even_where_the_ring_is_longer_than_the_lead() {
    for max_lead in [Duration::ZERO, SECOND, 3 * SECOND, 7 * SECOND] {
        let mut world = World::new(Settings { max_lead, ..settings() });
        world.pass(HOUR);
        world.steady(100, 1);
        assert_eq!(world.status().new_workers, 0, "{max_lead:?}");
    }
}

#[test]
fn max_lag_shorter_than_a_tick_is_kept() {
    for max_lag in [Duration::ZERO, SECOND / 3, SECOND / 2] {
        let mut world = World::new(Settings { max_lag, ..settings() });
        world.steady(100, 7);
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

#[test]
fn a_uid_at_every_moment_where_the_tick_does_not_divide_the_lag() {
    let ms = Duration::from_millis;
    for (tick, lag) in
        [(999, 1000), (700, 1000), (500, 600), (100, 150), (10, 15), (1, 1), (1000, 1999)]
    {
        a_uid_at_every_moment(tick, Duration::ZERO, ms(lag));
    }
    for (tick, lead, lag) in [(999, 999, 0), (700, 1000, 300), (10, 15, 5), (1, 1, 0)] {
        a_uid_at_every_moment(tick, ms(lead), ms(lag));
    }
}

/// Takers that wait for each tick come to the next one a little late. No tick is skipped for them.
#[test]
fn nothing_wasted_where_takers_wait_for_each_tick() {
    let layout = Layout::new(41, 10, 4).unwrap().with_tick(Duration::from_millis(1)).unwrap();
    let start = layout.epoch() + YEAR;
    let mut world = World::new(Settings {
        layout,
        start,
        max_lead: Duration::ZERO,
        policy: LeadLimit::Wait,
        ..settings()
    });
    while world.take().is_ok() {}
    let before = world.taken;
    for moment in 0..1000_u32 {
        world.pass(Duration::from_micros(500 + 700 * u64::from(moment % 7)));
        while world.take().is_ok() {}
    }
    let ticks = world.now().duration_since(start).unwrap().as_millis() as u64;
    assert_eq!(world.taken - before, ticks * 16);
}

/// While the clock shows a time long before the epoch, no UID is due.
#[test]
fn a_clock_before_the_epoch_gives_no_uid_too_far_ahead() {
    for policy in [LeadLimit::NewWorker, LeadLimit::Wait, LeadLimit::Fail] {
        let layout = settings().layout;
        for start in [layout.epoch(), layout.epoch() + YEAR] {
            let mut world = World::new(Settings { start, policy, ..settings() });
            world.take().unwrap();
            world.jump(SystemTime::UNIX_EPOCH);
            for _ in 0..20 {
                assert!(world.take().unwrap_err().retry_in() > Some(YEAR), "{policy:?}");
                world.pass(SECOND);
            }
            world.jump(start + DAY);
            world.take_many(100);
        }
    }
}

#[test]
fn millisecond_ticks() {
    let layout = Layout::new(41, 10, 12).unwrap().with_tick(Duration::from_millis(1)).unwrap();
    let mut world = World::new(Settings { layout, start: layout.epoch() + HOUR, ..settings() });
    world.steady(20, 50);
    world.take_many(100_000);
    world.steady(20, 50);
    assert_eq!(world.worker(), 1);
}

/// Each tick without takes uses up as many tickets as a block has UIDs.
#[test]
fn idling_through_the_whole_time_field_leaves_room_for_tickets() {
    let layout = Layout::new(20, 1, 42).unwrap();
    let start = layout.epoch();
    for slots in [2, 1024, 65_536] {
        let policy = LeadLimit::Wait;
        let mut world = World::new(Settings {
            layout,
            start,
            slots,
            policy,
            max_lead: 100 * DAY,
            ..settings()
        });
        let lap = Duration::from_secs(slots as u64);
        while world.now() + lap < layout.expires_at() {
            world.jump(world.now() + lap);
            assert!(
                world.take().is_ok(),
                "{slots} slots, at tick {}",
                layout.signed_tick_at(world.now())
            );
        }
    }
}

/// The clock goes back until half of the ring lies beyond the limit, and then forward again. That
/// publishes nothing, but there are UIDs to take again.
#[cfg(feature = "async")]
#[test]
fn a_task_is_woken_when_the_clock_reaches_what_the_ring_holds() {
    let tick = SECOND / 10;
    let layout = Layout::new(40, 12, 2).unwrap().with_tick(tick).unwrap();
    let mut world = World::new(Settings {
        layout,
        start: layout.epoch() + YEAR,
        max_lead: 10 * SECOND,
        policy: LeadLimit::Wait,
        max_forward_jump: Some(HOUR),
        ..settings()
    });
    while world.take().is_ok() {}
    world.jump(world.now() + 8 * tick);
    world.jump(world.now() - 4 * tick);
    // The filler has not run since.
    while world.engine.try_take().is_ok() {}
    let context = std::task::Context::from_waker(std::task::Waker::noop());
    let engine = Arc::clone(&world.engine);
    let mut turn = crate::engine::turn::Turn::new(&*engine);
    assert!(turn.poll(&context).is_pending());
    assert!(!world.engine.waiters.is_empty());
    let to = world.now() + tick;
    world.jump(to);
    assert!(world.engine.waiters.is_empty());
    world.take().unwrap();
}

#[test]
fn claims_made_long_before_the_first_maintenance_expire() {
    let Settings { layout, start, .. } = settings();
    let clock = ManualClock::new(start);
    let builder = Builder::new().registry(Counting(0)).layout(layout).clock(clock.clone());
    let (engine, mut maintenance, _) = builder.assemble(fastrand::Rng::with_seed(7)).unwrap();
    let end = engine.claims_end();
    clock.advance(30 * SECOND);
    maintenance.run_once(&engine);
    assert_ne!(engine.claims_end(), end);
}

/// A waiting taker does not get a UID of a previous worker while its tick lies beyond the limit.
#[test]
fn rollback_drops_what_a_waiting_taker_holds_of_a_worker_before() {
    let mut world = World::new(Settings { slots: 64, max_lead: 3 * SECOND, ..settings() });
    world.take_many(8);
    // The first ticket of its block.
    let ticket = world.engine.ring.cursor.claim(1);
    world.clock.set(world.now() - DAY);
    // The registry has not answered yet.
    world.maintenance.run_once(&world.engine);
    let engine = Arc::clone(&world.engine);
    let waiting = thread::spawn(move || engine.take_slowly(ticket).unwrap());
    while world.engine.waiters.is_empty() {
        thread::yield_now();
    }
    world.run_filler();
    let parts = world.limits.layout.parts(waiting.join().unwrap());
    assert_eq!(parts.worker, world.worker());
    assert!(parts.time <= world.now() + world.limits.max_lead, "{parts:?}");
}

/// The clock goes on by more ticks than the ring has slots at once: the blocks of the threads that
/// wait are not overwritten before these have been woken.
#[test]
fn waiting_threads_keep_their_tickets_however_far_the_clock_goes_on() {
    let (max_lead, max_lag, policy) = (Duration::ZERO, HOUR, LeadLimit::Wait);
    let mut world = World::new(Settings { max_lead, max_lag, policy, ..settings() });
    while world.engine.try_take().is_ok() {}
    world.engine.ring.cursor.open();
    // Half a block each, in order: those of eight blocks, as many as the ring has.
    let claims: Vec<_> = (0..16).map(|_| world.engine.ring.cursor.claim(4)).collect();
    let waiting: Vec<_> = claims
        .iter()
        .map(|&first| {
            let engine = Arc::clone(&world.engine);
            thread::spawn(move || engine.wait_for_base(first..first + 4).unwrap())
        })
        .collect();
    while world.engine.waiters.threads() < claims.len() {
        thread::yield_now();
    }
    world.jump(world.now() + 100 * SECOND);
    let bases: Vec<_> = waiting.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert!(bases.iter().all(Option::is_some) && bases.is_sorted(), "{bases:?}");
    assert_eq!(world.status().lost, 0);
}

/// Of a block that was overwritten before its tickets were given back, one is tried, not each.
#[test]
fn blocks_that_are_gone_are_left_at_once() {
    let mut world = World::new(settings());
    world.take_many(8);
    let count = 8 * 8;
    let first = world.engine.ring.cursor.claim(count);
    // It refills the ring from the cursor on.
    world.run_filler();
    let cursor = &world.engine.ring.cursor;
    cursor.close();
    cursor.give_back(first..first + count);
    cursor.open();
    while world.engine.ring.cursor.position() < first + count {
        world.take().unwrap();
    }
    let lost = world.engine.ring.cursor.lost();
    assert!((1..8).contains(&lost), "{lost}");
}

/// A clock that lets something happen right after it was read, as if its reader was suspended.
#[derive(Clone)]
struct Slow {
    clock: ManualClock,
    then: Arc<Mutex<Option<Then>>>,
}

type Then = Box<dyn FnOnce() + Send>;

impl Clock for Slow {
    fn now(&self) -> SystemTime {
        let now = self.clock.now();
        let then = lock(&self.then).take();
        if let Some(then) = then {
            then();
        }
        now
    }
}

/// A generator that borrows nothing, whose filler has run once.
fn with_slow_clock(policy: LeadLimit) -> (Slow, Arc<Engine>, Maintenance) {
    let Settings { layout, start, .. } = settings();
    let slow = Slow { clock: ManualClock::new(start), then: Arc::default() };
    let builder = Builder::new()
        .registry(Counting(0))
        .layout(layout)
        .clock(slow.clone())
        .max_lead(Duration::ZERO)
        .on_lead_limit(policy);
    let (engine, mut maintenance, _) = builder.assemble(fastrand::Rng::with_seed(7)).unwrap();
    maintenance.run_once(&engine);
    (slow, engine, maintenance)
}

/// What claims add to the cursor of a closed ring is undone before it reaches the top bit, also
/// while the filler hangs and the clock panics.
#[test]
fn claims_from_a_closed_ring_do_not_open_it_however_many() {
    let (slow, engine, mut maintenance) = with_slow_clock(LeadLimit::Fail);
    while engine.take_slowly(engine.ring.cursor.claim(1)).is_ok() {}
    let position = engine.ring.cursor.position();
    for count in 0..80 {
        if count < 40 {
            *lock(&slow.then) = Some(Box::new(|| panic!("the clock is broken")));
        }
        let claim = caught(|| engine.claim_many(1 << 60));
        assert!(claim.is_none_or(|claim| claim.is_err()), "{count}");
        assert!(engine.ring.cursor.is_closed(), "{count}");
    }
    assert_eq!(engine.ring.cursor.position(), position);
    slow.clock.advance(SECOND);
    maintenance.run_once(&engine);
    assert!(engine.try_take().is_ok());
}

#[test]
fn a_late_maintenance_takes_no_clock_that_went_on_for_one_that_went_back() {
    let (slow, engine, mut maintenance) = with_slow_clock(LeadLimit::Wait);
    engine.try_take().unwrap();
    // While the filler is suspended, takers go on to the next tick.
    let (takers, clock) = (Arc::clone(&engine), slow.clock.clone());
    *lock(&slow.then) = Some(Box::new(move || {
        while takers.try_take().is_ok() {}
        clock.advance(SECOND);
        takers.try_take().unwrap();
    }));
    let end = engine.claims_end();
    maintenance.run_once(&engine);
    assert!(!engine.ring.cursor.is_closed());
    assert_eq!((engine.claims_end(), engine.status().new_workers), (end, 0));
}

#[test]
fn forward_jump_beyond_the_limit_lets_time_go_on_however_often_it_is_looked_at() {
    let mut world = World::new(Settings { max_forward_jump: Some(HOUR), ..settings() });
    world.jump(world.now() + 2 * HOUR);
    let refused = |world: &World| world.status().refused_jump.unwrap();
    let (before, since) = (refused(&world), Stopwatch::start());
    while since.elapsed() < SECOND / 5 {
        world.run_filler();
    }
    assert!(before - refused(&world) >= SECOND / 10);
}

#[test]
fn last_tick_of_the_layout() {
    for policy in [LeadLimit::NewWorker, LeadLimit::Wait, LeadLimit::Fail] {
        let layout = settings().layout;
        ends(Settings { start: layout.expires_at() - SECOND, policy, ..settings() });
        // The number after the last tick of a worker is the next worker's, so a tick is left out.
        let layout = layout.with_order(FieldOrder::WorkerFirst);
        ends(Settings { layout, start: layout.expires_at() - 2 * SECOND, policy, ..settings() });
    }
}

/// Takes the UIDs of the last tick, and finds that there are no more.
fn ends(settings: Settings) {
    let policy = settings.policy;
    let mut world = World::new(settings);
    world.take_many(8);
    let end = TakeError::TimeExhausted { expires_at_ms: 2_840_967_424_000 };
    assert_eq!(world.take().unwrap_err(), end, "{policy:?}");
    world.pass(10 * SECOND);
    assert_eq!(world.take().unwrap_err(), end, "{policy:?}");
    assert_eq!(
        end.to_string().split(';').next().unwrap(),
        "the layout's time field is used up: it ends at 2060-01-10T13:37:04Z"
    );
}

/// The rest of the time field is borrowed, and another worker id may use it again. Until there is
/// one, takes fail, and the filler rests.
#[test]
fn at_the_end_of_a_workers_time_nobody_spins() {
    for order in [FieldOrder::TimeFirst, FieldOrder::WorkerFirst] {
        let layout = settings().layout.with_order(order);
        let start = layout.expires_at() - HOUR / 2;
        let world = World::new(Settings { layout, start, ..settings() });
        // The filler, which would take on another worker id, does not run.
        let engine = &world.engine;
        let error = std::iter::repeat_with(|| engine.try_take()).find_map(Result::err).unwrap();
        assert_eq!(engine.newest_tick(), engine.limits.final_tick);
        assert!(error.retry_in().is_some_and(|wait| wait >= SECOND), "{order:?}: {error}");
        let _waiting = engine.waiters.wait_with(engine.ring.cursor.position());
        let pause = engine.maintenance_pause(engine.now_ms());
        assert!(pause >= SECOND / 2, "{order:?}: {pause:?}");
    }
}

#[test]
fn the_end_of_time_is_not_borrowed_across() {
    for (order, ticks) in [(FieldOrder::TimeFirst, 10), (FieldOrder::WorkerFirst, 9)] {
        let layout = settings().layout.with_order(order);
        let mut world = World::new(Settings {
            layout,
            start: layout.expires_at() - 10 * SECOND,
            policy: LeadLimit::Wait,
            ..settings()
        });
        world.take_many(8 * ticks);
        let error = world.take().unwrap_err();
        assert!(matches!(error, TakeError::TimeExhausted { .. }), "{order:?}: {error}");
    }
}

#[test]
fn uids_of_a_quiet_service_spread_over_any_number_of_shards() {
    let layout = Layout::DEFAULT;
    let mut world = World::new(Settings { layout, start: layout.epoch() + YEAR, ..settings() });
    let mut uids = Vec::new();
    for _ in 0..50_000 {
        world.pass(SECOND);
        uids.push(world.take().unwrap().get());
    }
    let plain: Vec<u64> = uids.iter().map(|&uid| uid & !layout.max_sequence()).collect();
    let mut plain_failures = 0;
    for n in 2..=1024 {
        assert!(is_uniform(&uids, n), "uid % {n}");
        plain_failures += u32::from(!is_uniform(&plain, n));
    }
    assert!(
        plain_failures >= 512,
        "the test can fail: it refuses sequences that begin at 0 for {plain_failures} of 1023"
    );
}

/// The UIDs of `takes` takes, `rate` a second, each at some moment of its share of the time.
fn at_rate(settings: Settings, rate: f64, takes: u32) -> Vec<u64> {
    let mut world = World::new(settings);
    let mut rng = fastrand::Rng::with_seed(7);
    // A take when its time has come, looked at every millisecond at most.
    let mut passed = Duration::ZERO;
    let mut take = |nth: u32| {
        let due = Duration::from_secs_f64((f64::from(nth) + rng.f64()) / rate);
        if due > passed + Duration::from_millis(1) {
            world.pass(due - passed);
            passed = due;
        }
        world.take().unwrap().get()
    };
    (0..takes).map(&mut take).collect()
}

fn spread_over_shards(layout: Layout, rates: &[(f64, u32)]) {
    for &(rate, takes) in rates {
        // Blocks of a quiet service with short ticks begin when the filler runs, each half second.
        // So their bases have one remainder by 1000, and 4,096 offsets are not a multiple of it.
        let is_even = layout.tick() == SECOND || rate > 1_000.0;
        let start = layout.epoch() + YEAR;
        let uids = at_rate(Settings { layout, start, ..settings() }, rate, takes);
        check_shards(&uids, if is_even { &[2, 8, 64, 1000] } else { &[2, 8, 64] });
    }
}

#[test]
fn uids_of_any_rate_spread_over_shards() {
    let rates = [
        (1.0 / 3600.0, 40),
        (1.0 / 60.0, 5_000),
        (10.0, 50_000),
        (700.0, 100_000),
        (1_100.0, 100_000),
        (3_001.0, 100_000),
        (8_000.0, 100_000),
        (8_192.0, 100_000),
    ];
    spread_over_shards(Layout::DEFAULT, &rates);
}

#[test]
fn uids_of_any_rate_with_short_ticks_spread_over_shards() {
    let rates = [
        (1.0, 50_000),
        (999.0, 100_000),
        (100_000.0, 100_000),
        (600_000.0, 100_000),
        (3_001_000.0, 100_000),
        (4_096_000.0, 100_000),
    ];
    spread_over_shards(Layout::TWITTER, &rates);
    spread_over_shards(Layout::SEATA, &[(1.0, 50_000), (600_000.0, 100_000)]);
}

#[test]
fn uids_of_exact_time_spread_over_shards_at_any_rate() {
    for (layout, rate, takes) in [
        (Layout::TWITTER, 1.0 / 3600.0, 5_000),
        (Layout::TWITTER, 1.0, 30_000),
        (Layout::TWITTER, 8.0, 30_000),
        (Layout::TWITTER, 999.0, 30_000),
        (Layout::TWITTER, 1_000.0, 30_000),
        (Layout::TWITTER, 3_000.0, 30_000),
        (Layout::TWITTER, 100_000.0, 30_000),
        (Layout::TWITTER, 600_000.0, 50_000),
        (Layout::TWITTER, 3_001_000.0, 100_000),
        (Layout::SEATA, 1.0, 30_000),
        (Layout::SEATA, 600_000.0, 50_000),
        (Layout::DEFAULT, 1.0, 30_000),
        (Layout::DEFAULT, 3_001.0, 30_000),
    ] {
        let settings = Settings {
            layout,
            start: layout.epoch() + YEAR,
            policy: LeadLimit::Wait,
            // A take that comes a moment before a tick's end goes on in the next one.
            max_lead: layout.tick(),
            is_exact: true,
            ..settings()
        };
        check_shards(&at_rate(settings, rate, takes), &[2, 8, 64, 1000]);
    }
}

#[track_caller]
fn check_shards(uids: &[u64], numbers: &[u64]) {
    for &n in numbers {
        // With fewer than five UIDs for each remainder, the approximation is too coarse.
        assert!((uids.len() as u64) < 5 * n || is_uniform(uids, n), "uid % {n}");
    }
}

/// Pearson's chi-square test of `uid % n` at a level of 10^-7, with the Wilson-Hilferty
/// approximation of the quantile.
#[allow(clippy::cast_precision_loss)]
fn is_uniform(uids: &[u64], n: u64) -> bool {
    let mut counts = vec![0u32; n as usize];
    for uid in uids {
        counts[(uid % n) as usize] += 1;
    }
    let expected = uids.len() as f64 / n as f64;
    let statistic: f64 =
        counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
    let freedom = (n - 1) as f64;
    let spread = 2.0 / (9.0 * freedom);
    statistic <= freedom * (1.0 - spread + 5.2 * spread.sqrt()).powi(3)
}

/// How many ticks of the time field are used up, relative to what the taken UIDs need.
#[allow(clippy::cast_precision_loss)]
fn burned(rate: u32, seconds: u32) -> f64 {
    let layout = Layout::new(30, 23, 10).unwrap();
    let mut world =
        World::new(Settings { layout, start: layout.epoch() + YEAR, max_lead: DAY, ..settings() });
    let first = world.take().unwrap();
    let mut last = first;
    for _ in 0..seconds * 100 {
        world.pass(SECOND / 100);
        for _ in 0..rate / 100 {
            last = world.take().unwrap();
        }
    }
    let tick_of = |uid| layout.tick_at(layout.parts(uid).time).unwrap();
    let used = tick_of(last) - tick_of(first) + 1;
    used as f64 / (world.taken as f64 / (layout.max_sequence() + 1) as f64)
}

#[test]
fn nothing_wasted_under_load() {
    // A tick has 1,024 UIDs.
    for (rate, seconds) in [(1_300, 120), (12_500, 12), (250_000, 1)] {
        let burned = burned(rate, seconds);
        assert!(burned <= 1.01, "{rate} a second: {burned}");
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Take(u16),
    Fill(usize),
    /// By one of three local takers.
    Local(usize, u16),
    Pass(u32),
    Back(u32),
    Forward(u32),
    /// To a time before the epoch.
    Before,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0u16..300).prop_map(Step::Take),
        2 => (0usize..40).prop_map(Step::Fill),
        2 => (0usize..3, 0u16..100).prop_map(|(taker, count)| Step::Local(taker, count)),
        8 => prop_oneof![0u32..20_000, 0u32..50].prop_map(Step::Pass),
        2 => prop_oneof![0u32..3_000, 0u32..100_000_000].prop_map(Step::Back),
        2 => prop_oneof![0u32..3_000, 0u32..100_000_000].prop_map(Step::Forward),
        1 => Just(Step::Before),
    ]
}

proptest! {
    #[test]
    fn a_uid_at_every_moment_of_any_bounds(
        tick_ms in 1u64..=1000,
        max_lead_ms in prop_oneof![Just(0u64), 0u64..3000],
        max_lag_ms in 0u64..3000,
    ) {
        // Building fails if both limits are shorter than a tick.
        let max_lag_ms = if max_lead_ms < tick_ms { max_lag_ms.max(tick_ms) } else { max_lag_ms };
        let ms = Duration::from_millis;
        a_uid_at_every_moment(tick_ms, ms(max_lead_ms), ms(max_lag_ms));
    }

    #[test]
    fn any_mixture_keeps_the_promises(
        steps in proptest::collection::vec(step(), 1..60),
        policy in prop_oneof![
            Just(LeadLimit::NewWorker),
            Just(LeadLimit::Wait),
            Just(LeadLimit::Fail),
        ],
        slots in prop_oneof![Just(2usize), Just(8), Just(64)],
        max_lead_ms in prop_oneof![Just(0u64), 0u64..200_000],
        max_lag_ms in prop_oneof![0u64..5_000, 0u64..50],
        tick_ms in prop_oneof![Just(1u64), Just(10), Just(300), Just(1000)],
        order in prop_oneof![Just(FieldOrder::TimeFirst), Just(FieldOrder::WorkerFirst)],
        is_exact in any::<bool>(),
    ) {
        // In exact time, another worker id is never taken on.
        let is_new_worker = policy == LeadLimit::NewWorker;
        let policy = if is_exact && is_new_worker { LeadLimit::Wait } else { policy };
        let tick = Duration::from_millis(tick_ms);
        let layout = Layout::new(40, 12, 2).unwrap().with_tick(tick).unwrap().with_order(order);
        // Building fails if both limits are shorter than a tick.
        let max_lag_ms = if max_lead_ms < tick_ms { max_lag_ms.max(tick_ms) } else { max_lag_ms };
        let mut world = World::new(Settings {
            layout,
            start: layout.epoch() + YEAR,
            slots,
            max_lead: Duration::from_millis(max_lead_ms),
            max_lag: Duration::from_millis(max_lag_ms),
            policy,
            is_exact,
            max_forward_jump: None,
        });
        let mut local = [(); 3].map(|()| (world.uids.local().with_claim_length(5), Uid::MIN));
        for step in steps {
            let ms = |ms: u32| Duration::from_millis(ms.into());
            // In a simulation nobody wakes a waiting take.
            let may_fail = policy == LeadLimit::Fail;
            match step {
                Step::Take(count) => {
                    let way = if may_fail { take_or_wait } else { Engine::try_take };
                    for _ in 0..count {
                        match world.take_by(way) {
                            Ok(uid) => prop_assert!(world.seen.insert(uid), "twice: {uid:?}"),
                            Err(error) => {
                                prop_assert!(error.retry_in().is_some(), "{error}");
                                world.check_failure();
                            }
                        }
                    }
                }
                Step::Fill(length) if may_fail => {
                    if world.fill(length) < length {
                        world.check_failure();
                    }
                }
                Step::Local(taker, count) if may_fail => {
                    let (taker, last) = &mut local[taker];
                    for _ in 0..count {
                        if world.take_local(taker, last).is_err() {
                            world.check_failure();
                        }
                    }
                }
                Step::Fill(_) | Step::Local(..) => {}
                Step::Pass(time) => world.pass(ms(time)),
                Step::Back(by) => { let to = world.now() - ms(by); world.jump(to) }
                Step::Forward(by) => { let to = world.now() + ms(by); world.jump(to) }
                Step::Before => world.jump(layout.epoch() - ms(1)),
            }
            if !matches!(step, Step::Take(_) | Step::Fill(_) | Step::Local(..)) {
                world.failures = 0;
            }
        }
        // In any case there are UIDs again when the clock is past all that it has shown.
        let to = world.latest + DAY;
        world.jump(to);
        world.take().unwrap();
    }
}
