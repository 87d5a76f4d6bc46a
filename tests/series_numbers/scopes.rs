//! Scopes, and what becomes of those that rest.

use std::time::Duration;

use uidring::series::{Series, SeriesError};

use super::{clock, definition, file, series, texts, until};

#[test]
fn each_scope_counts_by_itself() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    let orders = series.create("orders", definition("{scope}/{yyyy}-{n}")).unwrap();
    let (one, other) = (orders.scope("shop-1"), orders.scope("shop-2"));
    assert_eq!(texts(one.take_n(2)), ["shop-1/2026-1", "shop-1/2026-2"]);
    assert_eq!(texts(other.take_n(1)), ["shop-2/2026-1"]);
    assert_eq!(texts(orders.scope("shop-1").take_n(1)), ["shop-1/2026-3"]);
    // The pattern shows the scope, so that it needs one.
    assert!(matches!(orders.take(), Err(SeriesError::Format(_))));
    for bad in ["shop 1", "a/b", "ü", &"a".repeat(65)] {
        assert!(matches!(orders.scope(bad).take(), Err(SeriesError::Scope(_))), "{bad}");
    }
}

#[test]
fn a_scope_that_rests_gives_its_numbers_back() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let build = || Series::builder().store(&store).clock(clock.clone());
    let resting = build().rest(Duration::from_millis(50)).build().unwrap();
    let other = build().build().unwrap();
    let orders = resting.create("orders", definition("{yyyy}-{n}")).unwrap();
    assert_eq!(orders.take().unwrap().as_str(), "2026-1");
    let last = || orders.counters().unwrap()[0].last;
    assert_eq!(last(), 100);
    until("the range goes back", || last() == 1);
    // Another process goes on without a gap, and so does this one.
    assert_eq!(other.get("orders").unwrap().take().unwrap().as_str(), "2026-2");
    drop(other);
    assert_eq!(orders.take().unwrap().as_str(), "2026-3");
}

#[test]
fn the_rest_of_a_day_goes_back_when_it_is_over() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T23:00:00Z");
    let series = series(&store, &clock);
    let orders = series.create("orders", definition("{yyyy}{MM}{dd}-{n}")).unwrap();
    orders.take().unwrap();
    clock.advance(Duration::from_secs(3600));
    orders.take().unwrap();
    until("the range goes back", || orders.counters().unwrap()[0].last == 1);
}

#[test]
fn a_shutdown_at_midnight_gives_the_rest_of_both_days_back() {
    for hour in 0..20_u64 {
        let (_folder, store) = file();
        let clock = clock("2026-11-24T12:00:00Z");
        let all = series(&store, &clock);
        let orders = all.create("orders", definition("{yyyy}{MM}{dd}-{n}")).unwrap();
        orders.take().unwrap();
        clock.advance(Duration::from_secs(12 * 3600 + hour));
        orders.take().unwrap();
        drop(orders);
        all.shutdown().unwrap();
        let counters = series(&store, &clock).get("orders").unwrap().counters().unwrap();
        let last: Vec<u64> = counters.iter().map(|counter| counter.last).collect();
        assert_eq!(last, [1, 1]);
    }
}

/// Near the end of a period a range that is left over is of no use.
#[test]
fn ranges_are_smaller_near_the_end_of_a_period() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T23:59:51Z");
    let series = series(&store, &clock);
    let orders = series.create("orders", definition("{yyyy}{MM}{dd}-{n}").step(1000)).unwrap();
    orders.take().unwrap();
    // 9 s of 15 min.
    assert_eq!(orders.counters().unwrap()[0].last, 10);
}

#[test]
fn scopes_that_nobody_uses_are_forgotten() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    let orders = series.create("orders", definition("{scope}-{n}")).unwrap();
    for index in 0..20_000 {
        let _ = orders.scope(&format!("s{index}"));
    }
    assert!(orders.status().scopes < 5_000, "{} scopes", orders.status().scopes);
}
