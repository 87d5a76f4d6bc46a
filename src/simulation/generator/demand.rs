//! Takers that take at various rates, and not at all: no tick is wasted, and none is missed.

use super::*;
use crate::simulation::DAY;

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

#[test]
fn millisecond_ticks() {
    let layout = Layout::new(41, 10, 12).unwrap().with_tick(Duration::from_millis(1)).unwrap();
    let mut world = World::new(Settings { layout, start: layout.epoch() + HOUR, ..settings() });
    world.steady(20, 50);
    world.take_many(100_000);
    world.steady(20, 50);
    assert_eq!(world.worker(), 1);
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
