//! What an operator hears of series: that the numbers of a period come to an end, and what becomes
//! of scopes that rest.

use std::time::{Duration, UNIX_EPOCH};

use uidring::Store;
use uidring::clock::ManualClock;
use uidring::series::{Series, SeriesDefinition, SeriesError};

use crate::alone::alone;
use crate::observer::EVENTS;
use crate::rows::wait_for;

#[test]
fn a_period_that_is_nearly_full_is_told_once() {
    alone("series_events::a_period_that_is_nearly_full_is_told_once", || {
        crate::observer::observe();
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("uidring.db")).unwrap();
        let rest = Duration::from_millis(50);
        let series = Series::builder().store(&store).rest(rest).build().unwrap();
        let definition = SeriesDefinition::new("{scope}-{n:2}").unwrap().step(1);
        let tickets = series.create("tickets", definition).unwrap();
        let (hall, other) = (tickets.scope("hall"), tickets.scope("other"));
        assert!(hall.take_n(99).all(|number| number.is_ok()));
        assert!(other.take_n(5).all(|number| number.is_ok()));
        let told = || -> Vec<_> {
            let events = EVENTS.lock().unwrap();
            let fields = |event: &crate::observer::Event| (event.name, event.fields.clone());
            events.iter().map(fields).filter(|(name, _)| *name == "series_nearly_full").collect()
        };
        wait_for("event", || !told().is_empty());
        let [(_, fields)] = &told()[..] else { panic!("{:?}", told()) };
        assert!(fields.contains("series=\"tickets\" period=\"ever\" scope=\"hall\""), "{fields}");
        assert!(fields.ends_with("largest=99 "), "{fields}");
        // Scopes that rest end without a word, and nothing of them fails.
        let last = |scope: &str| {
            let counters = tickets.counters().unwrap();
            counters.iter().find(|counter| counter.scope == scope).unwrap().last
        };
        wait_for("rest", || last("other") == 5);
        drop((tickets, hall, other));
        series.shutdown().unwrap();
        let names: Vec<_> = EVENTS.lock().unwrap().iter().map(|event| event.name).collect();
        let usual = [
            "new_store",
            "segments_started",
            "segments_stopped",
            "series_nearly_full",
            "series_full",
        ];
        assert!(names.iter().all(|name| usual.contains(name)), "{names:?}");
    });
}

/// In the process that gave the last number, and in one that starts later, however often it is
/// asked.
#[test]
fn a_full_period_is_told_once_by_the_series_name() {
    alone("series_events::a_full_period_is_told_once_by_the_series_name", || {
        crate::observer::observe();
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("uidring.db")).unwrap();
        let open = || Series::builder().store(&store).build().unwrap();
        let definition = SeriesDefinition::new("{scope}-{n:1}").unwrap();
        let told = |name: &str| -> Vec<_> {
            let events = EVENTS.lock().unwrap();
            events.iter().filter(|event| event.name == name).cloned().collect()
        };
        for run in 1..=2 {
            let series = open();
            let seats = series.create("seats", definition.clone()).unwrap().scope("hall");
            if run == 1 {
                assert!(seats.take_n(9).all(|number| number.is_ok()));
            }
            for _ in 0..5 {
                assert!(matches!(seats.take(), Err(SeriesError::Full { .. })));
            }
            drop(seats);
            series.shutdown().unwrap();
            let full = told("series_full");
            assert_eq!(full.len(), run, "{full:?}");
            let last = &full[run - 1];
            assert!(last.text.starts_with("ERROR "), "{last:?}");
            let names = "series=\"seats\" period=\"ever\" scope=\"hall\"";
            assert!(last.fields.contains(names), "{last:?}");
            let error = "the series \"seats\" in the scope \"hall\" has given all numbers of ever";
            assert!(last.fields.contains(error), "{last:?}");
        }
        // A wider number is no fault in another process, which has learned of it.
        let [one, other] = [open(), open()];
        let seats = one.get("seats").unwrap().scope("stalls");
        let theirs = other.get("seats").unwrap().scope("stalls");
        assert!(seats.take().is_ok());
        one.widen("seats", SeriesDefinition::new("{scope}-{n:3}").unwrap()).unwrap();
        assert!(theirs.take_n(50).all(|number| number.is_ok()));
        assert!(seats.take_n(50).all(|number| number.is_ok()));
        drop((seats, theirs));
        one.shutdown().unwrap();
        other.shutdown().unwrap();
        assert!(told("series_failed").is_empty(), "{:?}", told("series_failed"));
        for event in EVENTS.lock().unwrap().iter() {
            assert!(!event.fields.contains("seats/"), "{event:?}");
            assert!(!event.fields.contains("tag="), "{event:?}");
        }
    });
}

/// Also where no load finds it, as in the periods of other days.
#[test]
fn a_counter_that_went_back_is_told_once() {
    alone("series_events::a_counter_that_went_back_is_told_once", || {
        crate::observer::observe();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("uidring.db");
        let store = Store::open(&file).unwrap();
        let series = Series::builder().store(&store).build().unwrap();
        let orders = series.create("orders", SeriesDefinition::new("{yyyy}-{n}").unwrap()).unwrap();
        let day = "2020-02-29".parse().unwrap();
        orders.take_n_for(day, 20).unwrap();
        let db = rusqlite::Connection::open(file).unwrap();
        let set = |last: u32| {
            let sql = format!("UPDATE uidring_series_counter SET last_number = {last}");
            db.execute_batch(&sql).unwrap();
        };
        for last in [9, 9, 99] {
            set(last);
            let error = orders.take_for(day).unwrap_err();
            assert!(matches!(error, SeriesError::WentBack { last: 20, .. }), "{error}");
        }
        let told = EVENTS.lock().unwrap();
        let told: Vec<_> = told.iter().filter(|event| event.name == "series_went_back").collect();
        let [told] = told[..] else { panic!("{told:?}") };
        assert!(told.text.starts_with("ERROR "), "{told:?}");
        let names = "series=\"orders\" period=\"2020\" scope=\"\"";
        assert!(told.fields.contains(names), "{told:?}");
        assert!(told.fields.contains("it gives 10 after 20"), "{told:?}");
    });
}

/// A load finds it, and then a take of a day that has passed, which asks the store itself.
#[test]
fn a_counter_that_went_back_is_not_told_again_by_others_than_the_loader() {
    let name = "a_counter_that_went_back_is_not_told_again_by_others_than_the_loader";
    alone(&format!("series_events::{name}"), || {
        crate::observer::observe();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("uidring.db");
        let store = Store::open(&file).unwrap();
        let clock = ManualClock::new(UNIX_EPOCH + Duration::from_secs(1_790_000_000));
        let series = Series::builder().store(&store).clock(clock.clone()).build().unwrap();
        let definition = SeriesDefinition::new("{yyyy}-{n}").unwrap().step(10);
        let orders = series.create("orders", definition).unwrap();
        assert!(orders.take_n(30).all(|number| number.is_ok()));
        let db = rusqlite::Connection::open(file).unwrap();
        db.execute_batch("UPDATE uidring_series_counter SET last_number = 3").unwrap();
        while orders.take().is_ok() {}
        let told = || {
            let events = EVENTS.lock().unwrap();
            events.iter().filter(|event| event.name == "series_went_back").count()
        };
        wait_for("event", || told() > 0);
        clock.advance(Duration::from_secs(366 * 86_400));
        orders.take().unwrap();
        orders.take_for("2026-02-28".parse().unwrap()).unwrap_err();
        series.shutdown().unwrap();
        assert_eq!(told(), 1);
    });
}
