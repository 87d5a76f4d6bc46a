//! The end of the time field of the layout.

use super::*;
use crate::layout::FieldOrder;
use crate::simulation::DAY;

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

#[test]
fn last_tick_of_the_layout() {
    for policy in [LeadLimit::NewWorker, LeadLimit::Wait, LeadLimit::Fail] {
        let layout = settings().layout;
        takes_last_uids(Settings { start: layout.expires_at() - SECOND, policy, ..settings() });
        // The number after the last tick of a worker is the next worker's, so a tick is left out.
        let layout = layout.with_order(FieldOrder::WorkerFirst);
        takes_last_uids(Settings {
            layout,
            start: layout.expires_at() - 2 * SECOND,
            policy,
            ..settings()
        });
    }
}

/// Takes the UIDs of the last tick, and finds that there are no more.
fn takes_last_uids(settings: Settings) {
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
