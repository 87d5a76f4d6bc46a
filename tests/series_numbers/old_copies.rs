//! Rows that go back: a process that has been given a number does not give it again, whatever is
//! put in the place of its counters while it lives.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use uidring::Store;
use uidring::series::{Date, Series, SeriesError, SeriesGenerator, SeriesNumber};

use super::{SOON, clock, definition, file, series, until};

/// All numbers that a process was given, none twice.
#[derive(Default)]
struct Given(BTreeSet<u64>);

impl Given {
    fn note(&mut self, taken: &[SeriesNumber]) {
        for number in taken {
            assert!(self.0.insert(number.value()), "{number} was given again");
        }
    }

    /// Takes in all ways for a while: nothing comes, because the row went back.
    fn assert_refused(&mut self, orders: &SeriesGenerator) {
        let day = orders_day();
        let since = Instant::now();
        loop {
            let taken = orders.take().map(|number| [number]);
            if taken.as_ref().is_err_and(is_went_back) {
                break;
            }
            assert!(since.elapsed() < SOON, "{taken:?}");
            self.note(taken.as_ref().map_or(&[], |number| number));
            thread::sleep(Duration::from_millis(1));
        }
        for _ in 0..20 {
            let all = [
                orders.take().map(|number| vec![number]),
                orders.take_batch(5),
                orders.take_n_for(day, 5),
                orders.take_for(day).map(|number| vec![number]),
            ];
            for taken in all {
                self.note(taken.as_deref().unwrap_or_default());
                assert!(taken.as_ref().is_err_and(is_went_back), "{taken:?}");
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// It is told by the names of the series and its period.
pub(crate) fn is_went_back(error: &SeriesError) -> bool {
    let said = error.to_string();
    assert!(!said.contains("/1/") && !said.contains("tag"), "{said}");
    matches!(error, SeriesError::WentBack { .. })
}

fn orders_day() -> Date {
    "2026-11-24".parse().unwrap()
}

/// The file of the store in `folder`, and a name for another one.
fn files(folder: &Path) -> (PathBuf, PathBuf) {
    (folder.join("uidring.db"), folder.join("away.db"))
}

/// Does something with the file while nobody is in the middle of writing to it.
fn at_rest(file: &Path, what: impl FnOnce()) {
    let db = Connection::open(file).unwrap();
    db.busy_timeout(Duration::from_secs(60)).unwrap();
    db.execute_batch("BEGIN EXCLUSIVE").unwrap();
    what();
}

fn set_row(file: &Path, last: i64) {
    let db = Connection::open(file).unwrap();
    db.busy_timeout(Duration::from_secs(60)).unwrap();
    let sql = "UPDATE uidring_series_counter SET last_number = ?1";
    assert_eq!(db.execute(sql, [last]).unwrap(), 1);
}

/// Takes numbers until none is left in memory. Returns the error.
fn take_all(orders: &SeriesGenerator, given: &mut Given) -> SeriesError {
    loop {
        match orders.take() {
            Ok(number) => given.note(&[number]),
            Err(error) => return error,
        }
    }
}

#[test]
#[cfg_attr(windows, ignore = "Windows renames no file that is open")]
fn an_old_copy_after_an_outage_gives_nothing_again() {
    let (folder, store) = file();
    let (file, away) = files(folder.path());
    let series = series(&store, &clock("2026-11-24T12:00:00Z"));
    let orders = series.create("orders", definition("{yyyy}-{n}").step(10)).unwrap();
    let mut given = Given::default();
    given.note(&[orders.take().unwrap()]);
    let copy = folder.path().join("copy.db");
    at_rest(&file, || {
        fs::copy(&file, &copy).unwrap();
    });
    assert!(fs::metadata(&copy).unwrap().len() > 0);
    given.note(&orders.take_batch(50).unwrap());
    at_rest(&file, || fs::rename(&file, &away).unwrap());
    let error = take_all(&orders, &mut given);
    assert!(matches!(error, SeriesError::Storage(_)), "{error:?}");
    fs::rename(&copy, &file).unwrap();
    given.assert_refused(&orders);
}

#[test]
fn numbers_that_come_from_the_store_at_once_do_not_come_again() {
    let (folder, store) = file();
    let series = series(&store, &clock("2026-11-24T12:00:00Z"));
    let orders = series.create("orders", definition("{yyyy}-{n}").step(10)).unwrap();
    let mut given = Given::default();
    let day = orders_day();
    // Nothing of the period is in memory.
    given.note(&orders.take_n_for(day, 3).unwrap());
    set_row(&files(folder.path()).0, 0);
    given.assert_refused(&orders);
}

#[test]
fn a_batch_has_no_number_twice() {
    let (folder, store) = file();
    let series = series(&store, &clock("2026-11-24T12:00:00Z"));
    let orders = series.create("orders", definition("{yyyy}-{n}").step(10)).unwrap();
    let mut given = Given::default();
    given.note(&[orders.take().unwrap()]);
    set_row(&files(folder.path()).0, 0);
    for _ in 0..3 {
        // What is in memory is good.
        match orders.take_batch(100) {
            Ok(numbers) => given.note(&numbers),
            Err(error) => assert!(is_went_back(&error), "{error:?}"),
        }
    }
    take_all(&orders, &mut given);
    given.assert_refused(&orders);
}

#[test]
fn a_row_that_goes_back_while_its_scope_rests_gives_nothing_again() {
    let (folder, store) = file();
    let builder = Series::builder().store(&store).clock(clock("2026-11-24T12:00:00Z"));
    let series = builder.rest(Duration::from_secs(1)).build().unwrap();
    let orders = series.create("orders", definition("{yyyy}-{n}").step(10)).unwrap();
    let mut given = Given::default();
    given.note(&orders.take_batch(5).unwrap());
    until("the range goes back", || orders.counters().unwrap()[0].last == 5);
    // What went back is this process's again, as long as nothing else happens.
    given.note(&[orders.take().unwrap()]);
    until("the range goes back", || orders.counters().unwrap()[0].last == 6);
    set_row(&files(folder.path()).0, 0);
    given.assert_refused(&orders);
    // Whoever raised it meanwhile may have given the numbers that this process has had.
    set_row(&files(folder.path()).0, 100);
    given.assert_refused(&orders);
}

#[test]
fn a_clock_that_steps_back_over_midnight_meets_no_old_copy() {
    let (folder, store) = file();
    let clock = clock("2026-11-24T23:00:00Z");
    let series = series(&store, &clock);
    let orders = series.create("orders", definition("{yyyy}{MM}{dd}-{n}")).unwrap();
    let mut given = Given::default();
    given.note(&orders.take_batch(5).unwrap());
    clock.advance(Duration::from_secs(3600));
    orders.take().unwrap();
    until("the range goes back", || orders.counters().unwrap()[0].last == 5);
    let db = Connection::open(files(folder.path()).0).unwrap();
    let sql = "UPDATE uidring_series_counter SET last_number = 2 WHERE period = '2026-11-24'";
    assert_eq!(db.execute(sql, []).unwrap(), 1);
    clock.set(super::time("2026-11-24T23:30:00Z"));
    given.assert_refused(&orders);
}

/// Another series of the same name, in tables that were made anew.
#[test]
#[cfg_attr(windows, ignore = "Windows renames no file that is open")]
fn tables_made_anew_give_nothing_until_the_old_ones_are_back() {
    let (folder, store) = file();
    let (file, away) = files(folder.path());
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    let orders = series.create("orders", definition("{yyyy}-{n}").step(10)).unwrap();
    let mut given = Given::default();
    given.note(&[orders.take().unwrap()]);
    at_rest(&file, || fs::rename(&file, &away).unwrap());
    take_all(&orders, &mut given);
    let others = super::series(&Store::open(&file).unwrap(), &clock);
    let theirs = others.create("orders", definition("{yyyy}-{n}").step(10)).unwrap();
    theirs.take_n_for(orders_day(), 1000).unwrap();
    let is_foreign = |error: SeriesError| error.to_string().contains("not the one that this");
    until("it is noticed", || orders.take().is_err_and(is_foreign));
    for _ in 0..10 {
        for taken in [orders.take(), orders.scope("shop").take(), orders.take_for(orders_day())] {
            assert!(is_foreign(taken.unwrap_err()));
        }
        thread::sleep(Duration::from_millis(10));
    }
    drop((theirs, others));
    at_rest(&file, || fs::rename(&away, &file).unwrap());
    until("it goes on", || match orders.take() {
        Ok(number) => number.value() > given.0.len() as u64,
        Err(_) => false,
    });
}

/// As on a server whose standby was promoted without the period's first commit. Each period begins
/// at 1, and all take as many numbers, so the row made anew soon ends where the one before did.
#[test]
fn a_row_made_anew_gives_nothing_and_gets_nothing_back() {
    let (folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let [one, other] = [(); 2].map(|()| series(&store, &clock));
    let orders = one.create("orders", definition("{yyyy}-{n}").step(10)).unwrap();
    let theirs = other.get("orders").unwrap();
    let mut given = Given::default();
    given.note(&[orders.take().unwrap()]);
    let last = orders.counters().unwrap()[0].last;
    let db = Connection::open(files(folder.path()).0).unwrap();
    db.busy_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(db.execute("DELETE FROM uidring_series_counter", []).unwrap(), 1);
    // The time at which a row was written tells it from another.
    thread::sleep(Duration::from_millis(5));
    theirs.take().unwrap();
    assert_eq!(orders.counters().unwrap()[0].last, last);
    given.assert_refused(&orders);
    drop(orders);
    one.shutdown().unwrap();
    assert_eq!(theirs.counters().unwrap()[0].last, last);
}

/// What another series has given must not go back because this process ends.
#[test]
#[cfg_attr(windows, ignore = "Windows renames no file that is open")]
fn nothing_goes_back_to_tables_made_anew() {
    let (folder, store) = file();
    let (file, away) = files(folder.path());
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    let orders = series.create("orders", definition("{yyyy}-{n}").step(10)).unwrap();
    orders.take().unwrap();
    let last = orders.counters().unwrap()[0].last;
    at_rest(&file, || fs::rename(&file, &away).unwrap());
    let others = super::series(&Store::open(&file).unwrap(), &clock);
    let theirs = others.create("orders", definition("{yyyy}-{n}").step(10)).unwrap();
    theirs.take().unwrap();
    drop(orders);
    series.shutdown().unwrap();
    assert_eq!(theirs.counters().unwrap()[0].last, last);
}
