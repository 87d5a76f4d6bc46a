//! Takes of one period.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use uidring::TakeError;
use uidring::series::{Series, SeriesError, SeriesGenerator};

use super::{SOON, clock, definition, file, in_time, series, texts, time, until};

#[test]
fn a_number_has_its_text_its_value_and_its_period() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    let orders = series.create("orders", definition("SO{yyyy}{MM}{dd}-{n:6}")).unwrap();
    let number = orders.take().unwrap();
    assert_eq!(number.to_string(), "SO20261124-000001");
    assert_eq!((number.value(), number.period().to_string()), (1, "2026-11-24".to_owned()));
    assert_eq!(texts(orders.take_n(2)), ["SO20261124-000002", "SO20261124-000003"]);
    let back = orders.pattern().parse("SO20261124-000042").unwrap();
    assert_eq!((back.value(), back.period()), (42, number.period()));
}

#[test]
fn a_number_has_the_text_that_its_pattern_writes_on_each_day() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    let patterns = [
        "{yyyy}{MM}{dd}-{n:12}",
        "{{{yy}/{DDD}}}-{n}",
        "{GGGG}W{ww}-{n:3}{check:luhn}",
        "{n:18}.{q}Q{yyyy}{check:mod97_10}!",
        "{fy}/{MM}-{n:5}{check:mod11_10}",
        "{n:1}-{scope}-{yyyy}{check:damm}",
        "C{n}",
    ];
    let numbers: Vec<SeriesGenerator> = (1..)
        .zip(patterns)
        .map(|(index, pattern)| {
            let mut definition = definition(pattern);
            if pattern.contains("{fy}") {
                definition = definition.fiscal_year_from(4, 1);
            }
            let numbers = series.create(&format!("series-{index}"), definition).unwrap();
            if numbers.pattern().has_scope() { numbers.scope("shop-7") } else { numbers }
        })
        .collect();
    for day in ["2026-11-24", "2026-11-25", "2027-01-01", "2028-02-29", "2028-12-31"] {
        clock.set(time(&format!("{day}T12:00:00Z")));
        for numbers in &numbers {
            for number in numbers.take_n(2) {
                let (number, pattern) = (number.unwrap(), numbers.pattern());
                let scope = pattern.has_scope().then_some("shop-7");
                let text = pattern.format(day.parse().unwrap(), scope, number.value());
                assert_eq!(Ok(number.to_string()), text);
            }
        }
    }
}

#[test]
fn the_zone_of_the_definition_says_which_day_it_is() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T20:00:00Z");
    let series = series(&store, &clock);
    for (name, zone, text) in [
        ("shanghai", "Asia/Shanghai", "20261125-1"),
        ("lima", "America/Lima", "20261124-1"),
        ("utc", "UTC", "20261124-1"),
    ] {
        let definition = definition("{yyyy}{MM}{dd}-{n}").time_zone(zone);
        assert_eq!(series.create(name, definition).unwrap().take().unwrap().as_str(), text);
    }
}

#[test]
fn numbers_go_on_after_a_restart_and_none_is_lost_with_a_clean_end() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    for run in 0..3 {
        let series = series(&store, &clock);
        let orders = series.create("orders", definition("{yyyy}-{n:4}")).unwrap();
        let first = run * 2 + 1;
        let expected = [first, first + 1].map(|number| format!("2026-{number:04}"));
        assert_eq!(texts(orders.take_n(2)), expected);
        drop(orders);
        series.shutdown().unwrap();
    }
}

#[test]
fn threads_and_processes_take_each_number_once() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let all: Vec<Series> = (0..3).map(|_| series(&store, &clock)).collect();
    let name = |text: &str| text.to_owned();
    let taken: Vec<String> = thread::scope(|scope| {
        let takers: Vec<_> = (0..6)
            .map(|index| {
                let orders = all[index % 3].create("orders", definition("O{n}")).unwrap();
                scope.spawn(move || texts(orders.take_n(2000)))
            })
            .collect();
        takers.into_iter().flat_map(|taker| taker.join().unwrap()).map(|text| name(&text)).collect()
    });
    let different: BTreeSet<&String> = taken.iter().collect();
    assert_eq!((taken.len(), different.len()), (12_000, 12_000));
}

#[test]
fn a_number_that_does_not_fit_is_an_error_before_it_is_given() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    let tickets = series.create("tickets", definition("T{yyyy}{n:1}").first(3)).unwrap();
    assert_eq!(texts(tickets.take_n(7)), (3..=9).map(|n| format!("T2026{n}")).collect::<Vec<_>>());
    for _ in 0..3 {
        let error = tickets.take().unwrap_err();
        assert!(matches!(error, SeriesError::Full { largest: 9, .. }), "{error:?}");
        let said = "the series \"tickets\" has given all numbers of 2026: 9 is the largest that \
                    fits its pattern; change it to one with a wider number, which may begin at \
                    once";
        assert_eq!(error.to_string(), said);
    }
    // The next year has its own.
    let next = "2027-05-01".parse().unwrap();
    assert_eq!(tickets.take_for(next).unwrap().as_str(), "T20273");
}

/// Neither a process that is killed nor one that is idle has all numbers of a small period.
#[test]
fn a_process_takes_a_part_of_the_numbers_of_a_small_period() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let all: Vec<Series> = (0..4).map(|_| series(&store, &clock)).collect();
    let orders = all.iter().map(|series| series.create("orders", definition("{yyyy}-{n:2}")));
    let orders: Vec<SeriesGenerator> = orders.map(Result::unwrap).collect();
    for orders in &orders {
        orders.take().unwrap();
    }
    // One in use and one ahead.
    let last = orders[0].counters().unwrap()[0].last;
    assert!(last <= 4 * 2 * 10, "{last}");
}

#[test]
fn a_take_that_does_not_wait_asks_for_the_numbers_of_a_period() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    let orders = series.create("orders", definition("{yyyy}-{n}")).unwrap();
    until("the first numbers come", || match orders.try_take() {
        Ok(number) => number.as_str() == "2026-1",
        Err(error) => {
            assert!(matches!(error, SeriesError::Loading { .. }), "{error:?}");
            !error.is_transient()
        }
    });
    assert_eq!(orders.try_take().unwrap().as_str(), "2026-2");
}

/// Nor does it wait for the definition, where others have changed that.
#[test]
fn a_take_that_does_not_wait_reads_no_definition() {
    let (folder, store) = file();
    let store = store.with_timeout(10 * SOON);
    let clock = clock("2026-11-24T12:00:00Z");
    let [here, there] = [(); 2].map(|()| series(&store, &clock));
    let orders = here.create("orders", definition("{yyyy}-{n:3}")).unwrap();
    there.change("orders", definition("{yyyy}-{n:5}"), "2027-01-01".parse().unwrap()).unwrap();
    clock.set(time("2027-01-01T00:00:00Z"));
    until("it is refused", || matches!(orders.try_take(), Err(SeriesError::Changed { .. })));
    let db = Connection::open(folder.path().join("uidring.db")).unwrap();
    db.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let mine = orders.clone();
    let error = in_time(move || mine.try_take()).unwrap_err();
    assert!(matches!(error, SeriesError::Loading { .. }), "{error:?}");
    drop(db);
    until("the first number comes", || {
        orders.try_take().is_ok_and(|number| number.as_str() == "2027-00001")
    });
}

/// What a load brings after a shutdown has begun goes back, and is given by the next process.
#[test]
fn the_first_numbers_that_come_after_a_shutdown_has_begun_are_given_once() {
    let (folder, store) = file();
    let store = store.with_timeout(10 * SOON);
    let clock = clock("2026-11-24T12:00:00Z");
    let here = series(&store, &clock);
    let orders = here.create("orders", definition("{yyyy}-{n}")).unwrap();
    let db = Connection::open(folder.path().join("uidring.db")).unwrap();
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(matches!(orders.try_take(), Err(SeriesError::Loading { .. })));
    // The load begins, and then the shutdown.
    thread::sleep(Duration::from_millis(200));
    let shutdown = thread::spawn(move || here.shutdown());
    thread::sleep(Duration::from_millis(200));
    drop(db);
    shutdown.join().unwrap().unwrap();
    let error = orders.try_take().unwrap_err();
    assert!(matches!(error, SeriesError::Take(TakeError::ShutDown)), "{error:?}");
    let next = series(&store, &clock).get("orders").unwrap();
    assert_eq!(next.take().unwrap().as_str(), "2026-1");
}

#[test]
fn tasks_take_as_threads_do() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    let taken = pollster::block_on(async {
        let orders = series.create_async("orders", definition("{yyyy}-{n}")).await.unwrap();
        assert_eq!(series.get_async("orders").await.unwrap().name(), "orders");
        let mut texts = Vec::new();
        for _ in 0..3 {
            texts.push(orders.take_async().await.unwrap().to_string());
        }
        texts
    });
    assert_eq!(taken, ["2026-1", "2026-2", "2026-3"]);
}

#[test]
fn a_series_that_is_there_is_used_only_as_it_is() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    series.create("orders", definition("{yyyy}-{n:4}")).unwrap();
    series.create("orders", definition("{yyyy}-{n:4}")).unwrap();
    for (other, field) in [
        (definition("{yyyy}-{n:5}"), "pattern"),
        (definition("{yyyy}-{n:4}").time_zone("Asia/Tokyo"), "time_zone"),
        (definition("{yyyy}-{n:4}").gapless(), "gapless"),
        (definition("{yyyy}-{n:4}").step(7), "step"),
        (definition("{yyyy}-{n:4}").first(7), "first"),
    ] {
        match series.create("orders", other).unwrap_err() {
            SeriesError::Differs { field: found, .. } => assert_eq!(found, field),
            error => panic!("{error:?}"),
        }
    }
}

/// With the same pattern it would write the same texts.
#[test]
fn who_is_sent_to_another_series_is_told_to_give_it_another_pattern() {
    let (_folder, store) = file();
    let series = series(&store, &clock("2026-11-24T12:00:00Z"));
    series.create("customers", definition("C-{n}")).unwrap();
    let gapless = series.create("customers", definition("C-{n}").gapless());
    let step = definition("C-{n}").step(1000);
    let step = series.change("customers", step, "2027-01-01".parse().unwrap());
    for error in [gapless.unwrap_err(), step.unwrap_err()] {
        let said = "create one of another name, and give it a pattern that writes other texts, \
                    because it counts from its first number";
        assert!(error.to_string().ends_with(said), "{error}");
    }
}

#[test]
fn what_cannot_be_a_series_is_refused_with_the_reason() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    for name in ["", "a/b", "ä", &"a".repeat(65)] {
        let error = series.create(name, definition("{n}")).unwrap_err();
        assert!(matches!(error, SeriesError::BadName { .. }), "{error:?}");
        assert!(error.to_string().contains("a name is 1 to 64 characters"), "{error}");
    }
    let error = series.create("a", definition("{n}").time_zone("Mars/North")).unwrap_err();
    assert!(error.to_string().starts_with("there is no time zone \"Mars/North\""), "{error}");
    series.create("orders", definition("{n}")).unwrap();
    let error = series.get("ordres").unwrap_err().to_string();
    assert!(error.contains("has no series \"ordres\"; did you mean \"orders\"?"), "{error}");
    assert_eq!(series.list().unwrap().len(), 1);
}

#[test]
fn a_clock_beyond_all_years_is_an_error() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    let orders = series.create("orders", definition("{yyyy}-{n}")).unwrap();
    clock.set(std::time::UNIX_EPOCH + std::time::Duration::from_secs(400_000_000_000));
    let error = orders.take().unwrap_err();
    assert!(matches!(error, SeriesError::Clock { .. }), "{error:?}");
    // So do clocks without a battery, until somebody sets them.
    let ever = series.create("ever", definition("C{n}")).unwrap();
    for unset in ["1970-01-01T00:00:07Z", "1980-01-06T00:00:00Z", "2000-01-01T00:00:00Z"] {
        clock.set(super::time(unset));
        let error = orders.take().unwrap_err();
        assert!(matches!(error, SeriesError::Clock { .. }), "{error:?}");
        let begin = format!("the clock shows {unset}, and no number is given for a year before");
        assert!(error.to_string().starts_with(&begin), "{error}");
        assert!(ever.take().is_ok(), "its numbers show no year");
    }
    let short = series.create("short", definition("{yy}-{n}")).unwrap();
    clock.set(super::time("2100-01-01T00:00:00Z"));
    let error = short.take().unwrap_err().to_string();
    assert!(error.contains("2100-01-01"), "{error}");
}

#[test]
fn rows_that_others_have_written_are_told_as_they_are() {
    let (folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    let orders = series.create("orders", definition("{yyyy}-{n:4}")).unwrap();
    let today = "2026-11-24".parse().unwrap();
    orders.take_for(today).unwrap();
    let db = Connection::open(folder.path().join("uidring.db")).unwrap();
    // No version can follow this one.
    db.execute("UPDATE uidring_series_version SET version = 4294967295", []).unwrap();
    let orders = series.get("orders").unwrap();
    assert_eq!(orders.parse("2026-0001").unwrap().value(), 1);
    let next_year = "2027-01-01".parse().unwrap();
    let error = series.change("orders", definition("{yyyy}-{n:5}"), next_year).unwrap_err();
    assert!(matches!(error, SeriesError::BadChange { .. }), "{error:?}");
    db.execute("UPDATE uidring_series_version SET version = 1", []).unwrap();
    let orders = series.get("orders").unwrap();
    db.execute("DELETE FROM uidring_series", []).unwrap();
    let error = orders.take_n_for(next_year, 1).unwrap_err();
    assert!(matches!(error, SeriesError::NoSuchSeries { .. }), "{error:?}");
}

#[test]
fn after_a_shutdown_the_status_says_so_and_nothing_is_created() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let ours = series(&store, &clock);
    let orders = ours.create("orders", definition("SO{yyyy}-{n:4}")).unwrap();
    assert!(orders.status().obstacle.is_none());
    orders.take().unwrap();
    let status = orders.status();
    assert!(status.obstacle.is_none() && status.numbers.unwrap().in_memory > 0);
    ours.clone().shutdown().unwrap();
    let status = orders.status();
    assert!(matches!(status.obstacle, Some(SeriesError::Take(TakeError::ShutDown))));
    assert_eq!(status.numbers.unwrap().in_memory, 0);
    for error in [
        ours.create("late", definition("L-{n}")).unwrap_err(),
        ours.create("orders", definition("SO{yyyy}-{n:4}")).unwrap_err(),
        ours.get("orders").unwrap_err(),
    ] {
        assert!(matches!(error, SeriesError::Take(TakeError::ShutDown)), "{error}");
    }
    let others = series(&store, &clock);
    assert!(matches!(others.get("late"), Err(SeriesError::NoSuchSeries { .. })));
}

/// At midnight, with the store away, the numbers of yesterday are none that a take could give.
#[test]
fn the_status_says_why_takes_fail() {
    let (folder, store) = file();
    let clock = clock("2026-11-24T23:59:00Z");
    let ours = series(&store, &clock);
    let full = ours.create("full", definition("F{yyyy}-{n:1}")).unwrap();
    assert_eq!(full.take_n(9).flatten().count(), 9);
    assert!(full.take().is_err());
    until("full", || matches!(full.status().obstacle, Some(SeriesError::Full { .. })));

    let days = ours.create("days", definition("{yyyy}{MM}{dd}-{n:4}")).unwrap();
    days.take().unwrap();
    let path = folder.path().join("uidring.db");
    let away = folder.path().join("away.db");
    std::fs::rename(&path, &away).unwrap();
    assert!(days.take().is_ok() && days.status().obstacle.is_none());
    clock.set(time("2026-11-25T00:00:01Z"));
    let failed = days.take().unwrap_err();
    let obstacle = days.status().obstacle.unwrap();
    assert_eq!(obstacle.to_string(), failed.to_string());
    assert!(days.status().period.is_none());
    std::fs::rename(&away, &path).unwrap();
    until("back", || days.take().is_ok());
    assert!(days.status().obstacle.is_none());
}
