//! Scopes, and what becomes of those that rest.

use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use tempfile::TempDir;
use uidring::series::{Series, SeriesError, SeriesGenerator, SeriesNumber};

use super::old_copies::is_went_back;
use super::{SOON, clock, definition, file, in_time, series, texts, until};

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

/// In many a binding and command the scope comes first, and the date after it. A counter of its own
/// would have given the texts of today again.
#[test]
fn a_date_in_the_place_of_a_scope_is_refused() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    let orders = series.create("orders", definition("{yyyy}{MM}{dd}-{n}")).unwrap();
    assert_eq!(texts(orders.take_n(1)), ["20261124-1"]);
    let misplaced = orders.scope("2026-11-24");
    for taken in [misplaced.take().map(|number| vec![number]), misplaced.take_batch(2)] {
        let error = taken.unwrap_err().to_string();
        assert!(error.contains("scope \"2026-11-24\"") && error.ends_with("give none"), "{error}");
    }
    // Any other scope is the caller's to keep apart, and so is one beside a date.
    assert_eq!(texts(orders.scope("2026-11-24a").take_n(1)), ["20261124-1"]);
    let date = "2026-11-25".parse().unwrap();
    assert_eq!(misplaced.take_for(date).unwrap().as_str(), "20261125-1");
    let rooms = series.create("rooms", definition("{scope}/{n:3}")).unwrap();
    assert_eq!(texts(rooms.scope("2026-11-24").take_n(1)), ["2026-11-24/001"]);
}

#[test]
fn a_scope_that_rests_gives_its_numbers_back() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let build = || Series::builder().store(&store).clock(clock.clone());
    let resting = build().rest(Duration::from_secs(1)).build().unwrap();
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

/// A series whose scopes rest soon, and a database that answers nothing meanwhile.
fn resting_in_an_outage() -> (SeriesGenerator, Connection, TempDir) {
    let (folder, store) = file();
    let store = store.with_timeout(10 * SOON);
    let builder = Series::builder().store(&store).clock(clock("2026-11-24T12:00:00Z"));
    let builder = builder.rest(Duration::from_secs(1)).max_wait(Duration::from_millis(100));
    let builder = builder.shutdown_deadline(Duration::ZERO);
    let series = builder.build().unwrap();
    let orders = series.create("orders", definition("{yyyy}-{n}")).unwrap();
    orders.take().unwrap();
    let db = Connection::open(folder.path().join("uidring.db")).unwrap();
    db.execute_batch("BEGIN EXCLUSIVE").unwrap();
    (orders, db, folder)
}

/// What `take` returns once the scope rests.
fn taken_at_rest(orders: &SeriesGenerator, take: Take) -> SeriesError {
    let orders = orders.clone();
    in_time(move || {
        loop {
            // A scope that is used does not rest yet.
            thread::sleep(Duration::from_secs(2));
            if let Err(error) = take(&orders) {
                return error;
            }
        }
    })
}

type Take = fn(&SeriesGenerator) -> Result<SeriesNumber, SeriesError>;

/// Its numbers are on their way back to the row, and nobody knows for how long.
#[test]
fn a_try_for_a_scope_that_rests_does_not_wait_for_the_database() {
    let (orders, db, _folder) = resting_in_an_outage();
    for _ in 0..3 {
        let error = taken_at_rest(&orders, SeriesGenerator::try_take);
        assert!(matches!(error, SeriesError::Loading { .. }), "{error:?}");
    }
    drop(db);
    until("it answers again", || orders.try_take().is_ok());
}

#[test]
fn a_take_of_a_scope_that_rests_waits_for_so_long_and_no_longer() {
    let (orders, db, _folder) = resting_in_an_outage();
    let error = taken_at_rest(&orders, SeriesGenerator::take);
    assert!(error.is_transient(), "{error:?}");
    drop(db);
    until("it answers again", || orders.take().is_ok());
}

/// The process knows the numbers that it has had, as long as it lives.
#[test]
fn a_counter_that_went_back_gives_nothing_after_a_rest_either() {
    let (folder, store) = file();
    let builder = Series::builder().store(&store).clock(clock("2026-11-24T12:00:00Z"));
    let series = builder.rest(Duration::from_secs(1)).build().unwrap();
    let orders = series.create("orders", definition("{yyyy}-{n}").step(10)).unwrap();
    assert_eq!(orders.take_n(30).filter_map(Result::ok).count(), 30);
    let db = Connection::open(folder.path().join("uidring.db")).unwrap();
    db.execute_batch("UPDATE uidring_series_counter SET last_number = 3").unwrap();
    let went_back = |taken: Result<_, _>| taken.is_err_and(|error| is_went_back(&error));
    // What was loaded before is good.
    until("it is noticed", || went_back(orders.take()));
    for _ in 0..3 {
        thread::sleep(Duration::from_secs(2));
        assert!(went_back(orders.take()));
    }
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

/// A series in a file that others have locked for as long as the connection lives, and that is
/// waited for without end. `first_uses` scopes have asked for their first numbers.
fn asked_while_locked(first_uses: usize) -> (SeriesGenerator, Connection, TempDir) {
    let (folder, store) = file();
    let store = store.with_timeout(10 * SOON);
    let builder = Series::builder().store(&store).clock(clock("2026-11-24T12:00:00Z"));
    let builder = builder.max_wait(Duration::from_millis(100));
    let series = builder.shutdown_deadline(Duration::ZERO).build().unwrap();
    let orders = series.create("orders", definition("{scope}-{n}")).unwrap();
    let db = Connection::open(folder.path().join("uidring.db")).unwrap();
    db.execute_batch("BEGIN EXCLUSIVE").unwrap();
    for index in 0..first_uses {
        let error = orders.scope(&format!("s{index}")).try_take().unwrap_err();
        assert!(matches!(error, SeriesError::Loading { .. }), "{error:?}");
    }
    // The first loads begin, and wait for the file.
    thread::sleep(Duration::from_millis(200));
    (orders, db, folder)
}

/// Any text can be a scope, so those that are asked for once and never again are of no number.
#[test]
fn few_scopes_that_nobody_waits_for_are_loaded_before_one_that_somebody_waits_for() {
    let (orders, db, _folder) = asked_while_locked(1000);
    drop(db);
    let shop = orders.scope("shop");
    // Others are before it in the queue, so this may take longer than a take waits.
    until("it comes", || shop.take().is_ok_and(|number| number.as_str() == "shop-1"));
    let scopes = orders.counters().unwrap().len();
    assert!((5..100).contains(&scopes), "{scopes} scopes");
    // The others get theirs when they ask again.
    until("they come", || (900..1000).all(|at| orders.scope(&format!("s{at}")).try_take().is_ok()));
}

#[test]
fn a_take_whose_load_does_not_begin_ends_and_leaves_the_queue() {
    let (orders, db, _folder) = asked_while_locked(10);
    let gone = orders.scope("gone");
    let error = in_time(move || gone.take()).unwrap_err();
    assert!(error.is_transient(), "{error:?}");
    drop(db);
    until("the next one comes", || orders.scope("shop").take().is_ok());
    let scopes: Vec<String> =
        orders.counters().unwrap().into_iter().map(|counter| counter.scope).collect();
    assert!(!scopes.contains(&"gone".to_owned()), "{scopes:?}");
}
