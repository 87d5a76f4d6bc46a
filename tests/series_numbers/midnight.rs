//! Text and number come from one reading of the clock.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use uidring::clock::ManualClock;
use uidring::series::{Parsed, Period};

use super::{clock, definition, file, series, time};

fn parsed(orders: &uidring::series::SeriesGenerator, text: &str) -> Parsed {
    orders.pattern().parse(text).unwrap()
}

#[test]
fn each_day_begins_at_one_and_a_clock_that_steps_back_goes_on_with_yesterday() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T23:59:59Z");
    let series = series(&store, &clock);
    let orders = series.create("orders", definition("{yyyy}{MM}{dd}-{n}")).unwrap();
    let take = || orders.take().unwrap().to_string();
    assert_eq!((take(), take()), ("20261124-1".into(), "20261124-2".into()));
    clock.advance(Duration::from_secs(1));
    assert_eq!((take(), take()), ("20261125-1".into(), "20261125-2".into()));
    clock.rewind(Duration::from_secs(1));
    assert_eq!(take(), "20261124-3");
    clock.advance(Duration::from_secs(1));
    assert_eq!(take(), "20261125-3");
}

/// Each take reads the clock anew, so that a clock that moves on by itself is over midnight within
/// the batch.
#[test]
fn a_batch_is_of_one_day_whatever_the_clock_does_meanwhile() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T23:59:59Z");
    let series = series(&store, &clock);
    let definition = definition("{yyyy}{MM}{dd}-{n:9}").step(5);
    let orders = series.create("orders", definition).unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                clock.advance(Duration::from_secs(1));
                thread::yield_now();
                clock.rewind(Duration::from_secs(1));
            }
        });
        let mut last = BTreeMap::new();
        for _ in 0..200 {
            let numbers = orders.take_batch(50).unwrap();
            assert_eq!(numbers.len(), 50);
            for number in &numbers {
                assert_eq!(number.period(), numbers[0].period());
                let parsed = parsed(&orders, number.as_str());
                assert_eq!((parsed.period(), parsed.value()), (number.period(), number.value()));
            }
            assert!(numbers.is_sorted_by_key(uidring::series::SeriesNumber::value));
            let values = last.entry(numbers[0].period()).or_insert_with(BTreeSet::new);
            assert!(numbers.iter().all(|number| values.insert(number.value())), "given twice");
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_batch_that_does_not_wait_gives_what_is_in_memory() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    let orders = series.create("orders", definition("{yyyy}-{n}").step(10)).unwrap();
    orders.take().unwrap();
    let some = orders.try_take_batch(1000).unwrap();
    assert!((9..1000).contains(&some.len()), "{}", some.len());
    assert_eq!(some[0].to_string(), "2026-2");
    let all = orders.rest_of(some.clone(), 1000).unwrap();
    assert_eq!((all.len(), &all[..some.len()]), (1000, &some[..]));
    assert!(all.is_sorted_by(|one, other| one.value() < other.value()));
}

/// A clock that others move over midnight again and again while threads take.
#[test]
fn no_text_comes_twice_and_none_is_of_another_day_than_its_number() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T23:59:00Z");
    let all = [series(&store, &clock), series(&store, &clock)];
    let is_over = AtomicBool::new(false);
    let count = AtomicUsize::new(0);
    let taken: Vec<Vec<(Period, u64, String)>> = thread::scope(|scope| {
        let takers: Vec<_> = (0..4)
            .map(|index| {
                let definition = definition("{yyyy}{MM}{dd}-{n:6}").step(5);
                let orders = all[index % 2].create("orders", definition).unwrap();
                let (is_over, count) = (&is_over, &count);
                scope.spawn(move || {
                    let mut taken = Vec::new();
                    while !is_over.load(Ordering::Relaxed) {
                        let number = orders.take().unwrap();
                        taken.push((number.period(), number.value(), number.into_string()));
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                    taken
                })
            })
            .collect();
        // A slow disk needs more midnights for as many numbers.
        let mut midnights = 0;
        while (midnights < 30 || count.load(Ordering::Relaxed) <= 1000)
            && !takers.iter().any(thread::ScopedJoinHandle::is_finished)
        {
            thread::sleep(Duration::from_millis(15));
            clock.advance(Duration::from_secs(90));
            thread::sleep(Duration::from_millis(15));
            clock.rewind(Duration::from_secs(90));
            midnights += 1;
        }
        is_over.store(true, Ordering::Relaxed);
        takers.into_iter().map(|taker| taker.join().unwrap()).collect()
    });
    let orders = all[0].get("orders").unwrap();
    let mut texts = BTreeSet::new();
    for (period, value, text) in taken.iter().flatten() {
        let parsed = parsed(&orders, text);
        assert_eq!((parsed.period(), parsed.value()), (*period, *value));
        assert!(texts.insert(text.clone()), "{text} was given twice");
    }
    // Each thread has the numbers of a day in order.
    for taken in &taken {
        let mut last = BTreeMap::new();
        for (period, value, text) in taken {
            let before = last.insert(*period, *value);
            assert!(before.is_none_or(|before| before < *value), "{text} after {before:?}");
        }
        assert!(last.len() <= 2, "{last:?}");
    }
}

#[test]
fn processes_whose_clocks_differ_by_minutes_share_both_days() {
    let (_folder, store) = file();
    let (early, late) = (clock("2026-11-24T23:58:00Z"), clock("2026-11-25T00:02:00Z"));
    let [early, late] = [&early, &late].map(|clock| series(&store, clock));
    let definition = || definition("{yyyy}{MM}{dd}-{n}").step(1);
    let [early, late] =
        [&early, &late].map(|series| series.create("orders", definition()).unwrap());
    for _ in 0..3 {
        assert!(early.take().unwrap().as_str().starts_with("20261124-"));
        assert!(late.take().unwrap().as_str().starts_with("20261125-"));
    }
    // The document's day, whatever the clock shows.
    let day = "2026-11-24".parse().unwrap();
    assert!(late.take_for(day).unwrap().as_str().starts_with("20261124-"));
}

#[test]
fn a_date_of_the_past_and_of_the_future_has_its_own_numbers() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    let orders = series.create("orders", definition("{yyyy}{MM}{dd}-{n}")).unwrap();
    let take = |day: &str| orders.take_for(day.parse().unwrap()).unwrap().to_string();
    assert_eq!(take("2026-11-01"), "20261101-1");
    assert_eq!(take("2027-01-01"), "20270101-1");
    assert_eq!(take("2026-11-01"), "20261101-2");
    assert_eq!(take("2026-11-24"), "20261124-1");
    assert_eq!(orders.take().unwrap().as_str(), "20261124-2");
    let numbers = orders.take_n_for("2026-11-01".parse().unwrap(), 3).unwrap();
    let numbers: Vec<&str> = numbers.iter().map(AsRef::as_ref).collect();
    assert_eq!(numbers, ["20261101-3", "20261101-4", "20261101-5"]);
}

/// The days of a zone, as a clock walks over them.
fn days(zone: &str, from: &str, step: Duration, count: usize) -> Vec<String> {
    let (_folder, store) = file();
    let clock: ManualClock = clock(from);
    let series = series(&store, &clock);
    let definition = definition("{yyyy}-{MM}-{dd}/{n}").time_zone(zone);
    let orders = series.create("orders", definition).unwrap();
    let walk = (0..count).map(|_| {
        let text = orders.take().unwrap().to_string();
        clock.advance(step);
        text
    });
    walk.collect()
}

#[test]
fn days_of_23_and_of_25_hours_and_one_that_is_not_there() {
    let hour = Duration::from_secs(3600);
    let count = |texts: &[String], day: &str| texts.iter().filter(|t| t.starts_with(day)).count();
    // Clocks in Berlin go forward on 2026-03-29, and back on 2026-10-25.
    let spring = days("Europe/Berlin", "2026-03-28T23:00:00Z", hour, 30);
    assert_eq!((count(&spring, "2026-03-29"), count(&spring, "2026-03-30")), (23, 7));
    let autumn = days("Europe/Berlin", "2026-10-24T22:00:00Z", hour, 30);
    assert_eq!((count(&autumn, "2026-10-25"), count(&autumn, "2026-10-26")), (25, 5));
    // Samoa had no 2011-12-30.
    let samoa = days("Pacific/Apia", "2011-12-29T10:00:00Z", hour, 48);
    assert_eq!((count(&samoa, "2011-12-29"), count(&samoa, "2011-12-30")), (24, 0));
    assert_eq!(count(&samoa, "2011-12-31"), 24);
    // Each number of a day comes after the one before.
    assert_eq!(samoa[23..26], ["2011-12-29/24", "2011-12-31/1", "2011-12-31/2"]);
}

#[test]
fn a_take_that_waits_over_midnight_belongs_to_one_day() {
    let (folder, store) = file();
    let clock = clock("2026-11-24T23:59:59Z");
    let series = series(&store.with_timeout(Duration::from_secs(20)), &clock);
    let definition = definition("{yyyy}{MM}{dd}-{n}").step(1);
    let orders = series.create("orders", definition).unwrap();
    // Somebody has the file locked while the clock goes over midnight.
    let db = rusqlite::Connection::open(folder.path().join("uidring.db")).unwrap();
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    let waiting = {
        let orders = orders.clone();
        thread::spawn(move || orders.take())
    };
    thread::sleep(Duration::from_millis(100));
    clock.set(time("2026-11-25T00:00:01Z"));
    db.execute_batch("COMMIT").unwrap();
    let number = waiting.join().unwrap().unwrap();
    assert_eq!((number.as_str(), number.period().to_string()), ("20261124-1", "2026-11-24".into()));
    assert_eq!(orders.take().unwrap().as_str(), "20261125-1");
}
