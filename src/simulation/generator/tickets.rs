//! What becomes of tickets whose takers wait, of claims, and of a closed ring.

use super::clock::with_slow_clock;
use super::*;
use crate::support::callbacks::catch_panic;
use crate::sync::{lock, thread};

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
    let mut turn = crate::engine::async_take::AsyncTake::new(&*engine);
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
        let claim = catch_panic(|| engine.claim_many(1 << 60));
        assert!(claim.is_none_or(|claim| claim.is_err()), "{count}");
        assert!(engine.ring.cursor.is_closed(), "{count}");
    }
    assert_eq!(engine.ring.cursor.position(), position);
    slow.clock.advance(SECOND);
    maintenance.run_once(&engine);
    assert!(engine.try_take().is_ok());
}
