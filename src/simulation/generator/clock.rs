//! A clock that jumps, stands still, or is read by somebody who then is suspended.

use super::*;
use crate::clock::Stopwatch;
use crate::simulation::DAY;
use crate::sync::{Mutex, lock, thread};

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

/// A clock that lets something happen right after it was read, as if its reader was suspended.
#[derive(Clone)]
pub struct SlowClock {
    pub clock: ManualClock,
    pub then: Arc<Mutex<Option<Then>>>,
}

pub type Then = Box<dyn FnOnce() + Send>;

impl Clock for SlowClock {
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
pub fn with_slow_clock(policy: LeadLimit) -> (SlowClock, Arc<Engine>, Maintenance) {
    let Settings { layout, start, .. } = settings();
    let slow = SlowClock { clock: ManualClock::new(start), then: Arc::default() };
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
