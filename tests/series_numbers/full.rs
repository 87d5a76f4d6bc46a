//! A period that has given all its numbers, and how it goes on.

use rusqlite::Connection;
use uidring::Store;
use uidring::series::{Date, Series, SeriesError, SeriesGenerator};

use super::{clock, definition, file, series, texts, time};

fn day(text: &str) -> Date {
    text.parse().unwrap()
}

/// Each way to take, where none has a number.
fn assert_full(numbers: &SeriesGenerator, date: Date, period: &str, scope: &str) {
    let all = [
        numbers.take(),
        numbers.take_for(date),
        numbers.take_batch(5).map(|numbers| numbers[0].clone()),
        numbers.take_n_for(date, 5).map(|numbers| numbers[0].clone()),
        numbers.take_n(2).next().unwrap(),
        numbers.rest_of(Vec::new(), 3).map(|numbers| numbers[0].clone()),
        pollster::block_on(numbers.take_async()),
        // The first one asks, and the next has the answer.
        std::iter::repeat_with(|| numbers.try_take())
            .find(|taken| !matches!(taken, Err(SeriesError::Loading { .. })))
            .unwrap(),
    ];
    for taken in all {
        let error = taken.unwrap_err();
        match &error {
            SeriesError::Full { series, scope: of, period: full, largest } => {
                let told = (series.as_str(), of.as_str(), full.to_string(), *largest);
                assert_eq!(told, ("inv", scope, period.to_owned(), 9));
            }
            error => panic!("{error:?}"),
        }
        assert!(!error.to_string().contains("inv/"), "{error}");
        assert!(!error.is_transient());
    }
    let status = numbers.status();
    assert_eq!((status.full, status.tight.len()), (1, 1), "{status:?}");
    assert_eq!(status.tight[0].scope, scope);
    assert!(status.tight[0].is_full());
}

#[test]
fn a_full_period_is_told_alike_before_and_after_a_restart() {
    let clock = clock("2026-11-24T12:00:00Z");
    for (pattern, period, scope) in
        [("{yyyy}-{n:1}", "2026", ""), ("I{n:1}", "ever", ""), ("{scope}/{n:1}", "ever", "shop-7")]
    {
        let (_folder, store) = file();
        let open = |series: &Series| {
            let numbers = series.create("inv", definition(pattern)).unwrap();
            if scope.is_empty() { numbers } else { numbers.scope(scope) }
        };
        let one = series(&store, &clock);
        let numbers = open(&one);
        assert_eq!(numbers.take_batch(20).unwrap().len(), 9);
        assert_full(&numbers, day("2026-11-24"), period, scope);
        // A second process, and a restart.
        let other = series(&store, &clock);
        assert_full(&open(&other), day("2026-11-24"), period, scope);
        drop(numbers);
        one.shutdown().unwrap();
        other.shutdown().unwrap();
        let again = series(&store, &clock);
        assert_full(&open(&again), day("2026-11-24"), period, scope);
    }
}

/// The way on, for the process that widens the number and for one that does not know of it.
fn assert_goes_on(pattern: &str, wider: &str, first: &[&str], then: &[&str]) {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let [one, other] = [series(&store, &clock), series(&store, &clock)];
    let numbers = one.create("inv", definition(pattern)).unwrap();
    let theirs = other.get("inv").unwrap();
    let (numbers, theirs) = if numbers.pattern().has_scope() {
        (numbers.scope("shop-7"), theirs.scope("shop-7"))
    } else {
        (numbers, theirs)
    };
    assert_eq!(numbers.take_batch(9).unwrap().len(), 9);
    for numbers in [&numbers, &theirs] {
        assert!(matches!(numbers.take(), Err(SeriesError::Full { .. })));
    }
    let record = one.change("inv", definition(wider), day("2026-11-24")).unwrap();
    assert_eq!(record.versions.len(), 2);
    // Each takes some at a time.
    let taken = texts(theirs.take_n(1));
    assert_eq!(taken, [first[0]]);
    assert!(numbers.take().is_ok());
    // A day of the same period that is over.
    let first = numbers.take().unwrap().period().first();
    assert!(numbers.take_for(first.unwrap_or(day("2026-01-31"))).unwrap().value() > 10);
    for (numbers, text, value) in [(&numbers, then[0], 7), (&theirs, then[1], 10)] {
        assert_eq!(numbers.parse(text).unwrap().value(), value, "{text}");
    }
    let status = theirs.status();
    assert_eq!((status.full, status.nearly_full), (0, 0), "{status:?}");
    assert_eq!(theirs.counters().unwrap()[0].version, 2);
    drop((numbers, theirs));
    one.shutdown().unwrap();
    other.shutdown().unwrap();
    let third = series(&store, &clock);
    let again = third.create("inv", definition(wider)).unwrap();
    let again = if again.pattern().has_scope() { again.scope("shop-7") } else { again };
    assert!(again.take().unwrap().value() > 10);
    assert_eq!(again.parse(then[0]).unwrap().value(), 7);
}

#[test]
fn a_wider_number_begins_at_once() {
    assert_goes_on("{yyyy}-{n:1}", "{yyyy}-{n:3}", &["2026-010"], &["2026-7", "2026-010"]);
    assert_goes_on("I{n:1}", "I{n:2}", &["I10"], &["I7", "I10"]);
    assert_goes_on("I{n:1}", "I{n}", &["I10"], &["I7", "I10"]);
    assert_goes_on("I{n:1}号", "I{n:2+}号", &["I10号"], &["I7号", "I10号"]);
    assert_goes_on(
        "{scope}/{n:1}",
        "{scope}/{n:4}",
        &["shop-7/0010"],
        &["shop-7/7", "shop-7/0010"],
    );
    assert_goes_on(
        "{yyyy}{MM}{dd}{n:1}",
        "{yyyy}{MM}{dd}{n:2}",
        &["2026112410"],
        &["202611247", "2026112410"],
    );
    assert_goes_on(
        "{GGGG}W{ww}-{n:1}{check:damm}",
        "{GGGG}W{ww}-{n:2}{check:damm}",
        &[&written("{GGGG}W{ww}-{n:2}{check:damm}", 10)],
        &[
            &written("{GGGG}W{ww}-{n:1}{check:damm}", 7),
            &written("{GGGG}W{ww}-{n:2}{check:damm}", 10),
        ],
    );
}

fn written(pattern: &str, number: u64) -> String {
    let pattern: uidring::series::Pattern = pattern.parse().unwrap();
    pattern.format(day("2026-11-24"), None, number).unwrap()
}

/// The same process writes its next number by the new pattern, and passes none over. Another one
/// first writes those that it has in memory.
#[test]
fn what_is_in_memory_is_not_lost_by_a_wider_number() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let [one, other] = [series(&store, &clock), series(&store, &clock)];
    let orders = one.create("orders", definition("{yyyy}-{n:3}").step(10)).unwrap();
    let theirs = other.get("orders").unwrap();
    assert_eq!(texts(orders.take_n(3)), ["2026-001", "2026-002", "2026-003"]);
    assert_eq!(texts(theirs.take_n(1)), ["2026-011"]);
    one.widen("orders", definition("{yyyy}-{n:4}").step(10)).unwrap();
    let mut all: Vec<u64> = vec![1, 2, 3, 11];
    for numbers in [&orders, &theirs] {
        for number in numbers.take_batch(200).unwrap() {
            let parsed = orders.parse(number.as_str()).unwrap();
            assert_eq!((parsed.value(), parsed.period()), (number.value(), number.period()));
            all.push(number.value());
        }
    }
    assert_eq!(orders.take().unwrap().as_str().len(), "2026-0000".len());
    let texts = all.iter().collect::<std::collections::BTreeSet<_>>();
    assert_eq!(texts.len(), all.len());
}

/// A change that was planned earlier stays, and a number that is widened more than once goes on.
#[test]
fn a_number_is_widened_beside_a_planned_change_and_again() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    let orders = series.create("orders", definition("{yyyy}-{n:1}")).unwrap();
    let planned = definition("{yyyy}-{MM}{n:6}");
    series.change("orders", planned, day("2027-01-01")).unwrap();
    assert_eq!(orders.take_batch(20).unwrap().len(), 9);
    series.change("orders", definition("{yyyy}-{n:2}"), day("2026-11-24")).unwrap();
    assert_eq!(orders.take_batch(100).unwrap().len(), 90);
    assert!(matches!(orders.take(), Err(SeriesError::Full { largest: 99, .. })));
    series.widen("orders", definition("{yyyy}-{n:3}")).unwrap();
    assert_eq!(texts(orders.take_n(1)), ["2026-100"]);
    let error = series.widen("orders", definition("{yyyy}-{n:2}")).unwrap_err();
    assert!(error.to_string().contains("only a wider number may begin at once"), "{error}");
    let error = series.change("orders", definition("{yyyy}-{n:4}"), day("2026-11-25")).unwrap_err();
    assert!(error.to_string().ends_with("at once, name 2026-11-24"), "{error}");
    for (text, value) in [("2026-7", 7), ("2026-42", 42), ("2026-100", 100)] {
        assert_eq!(orders.parse(text).unwrap().value(), value);
    }
    assert!(orders.parse("2027-7").is_err());
    clock.set(time("2027-01-01T00:00:00Z"));
    assert_eq!(texts(orders.take_n(1)), ["2027-01000001"]);
    assert!(orders.parse("2027-007").is_err());
    let numbers: Vec<u32> = orders.record().unwrap().versions.iter().map(|it| it.number).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
}

/// Years that are over, and days to come, go on as well.
#[test]
fn periods_that_the_same_version_wrote_go_on() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    let orders = series.create("orders", definition("{yyyy}-{n:1}")).unwrap();
    for date in ["2025-05-01", "2027-05-01"] {
        assert_eq!(orders.take_n_for(day(date), 50).unwrap().len(), 9);
        assert!(matches!(orders.take_for(day(date)), Err(SeriesError::Full { .. })));
    }
    series.widen("orders", definition("{yyyy}-{n:2}")).unwrap();
    for (date, text) in [("2025-05-01", "2025-10"), ("2027-05-01", "2027-10")] {
        assert_eq!(orders.take_for(day(date)).unwrap().as_str(), text);
        let old = text.replace("10", "9");
        assert_eq!(orders.parse(&old).unwrap().value(), 9);
    }
    assert!(series.change("orders", definition("{yyyy}-{n:3}"), day("2020-01-01")).is_err());
}

#[test]
fn gapless_numbers_are_widened_at_once_and_none_is_missing() {
    let (folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let [one, other] = [series(&store, &clock), series(&store, &clock)];
    let gapless = |pattern| definition(pattern).gapless();
    let inv = one.create("inv", gapless("{yyyy}-{n:1}")).unwrap();
    let theirs = other.get("inv").unwrap();
    let mut file = Connection::open(folder.path().join("uidring.db")).unwrap();
    let mut take = |numbers: &SeriesGenerator| {
        let mut transaction = file.transaction().unwrap();
        let number = numbers.take_in(&mut transaction)?;
        transaction.commit().unwrap();
        Ok::<_, SeriesError>(number)
    };
    for number in 1..=9 {
        assert_eq!(take(&inv).unwrap().value(), number);
    }
    for _ in 0..2 {
        match take(&theirs).unwrap_err() {
            SeriesError::Full { series, period, largest: 9, .. } => {
                assert_eq!((series.as_str(), period.to_string()), ("inv", "2026".to_owned()));
            }
            error => panic!("{error:?}"),
        }
    }
    assert_eq!((theirs.status().full, theirs.status().tight[0].last), (1, 9));
    one.change("inv", gapless("{yyyy}-{n:2}"), day("2026-11-24")).unwrap();
    for (numbers, text) in [(&theirs, "2026-10"), (&inv, "2026-11"), (&theirs, "2026-12")] {
        assert_eq!(take(numbers).unwrap().as_str(), text);
    }
    assert_eq!(theirs.status().full, 0);
    assert_eq!((inv.counters().unwrap()[0].version, inv.forecast().unwrap()[0].largest), (2, 99));
}

/// It is told before it is full: by each process that has heard of the counter.
#[test]
fn a_counter_is_told_from_80_percent_on() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let one = series(&store, &clock);
    let rooms = one.create("rooms", definition("{scope}/{yyyy}{MM}-{n:2}").step(1)).unwrap();
    assert_eq!((rooms.status().full, rooms.status().nearly_full), (0, 0));
    rooms.scope("a").take_batch(99).unwrap();
    rooms.scope("b").take_batch(81).unwrap();
    rooms.scope("c").take_batch(5).unwrap();
    // A month that is over matters to nobody any more.
    rooms.scope("a").take_n_for(day("2026-10-01"), 99).unwrap();
    let _ = rooms.scope("a").take();
    let status = rooms.status();
    let told: Vec<_> = status
        .tight
        .iter()
        .map(|it| (it.scope.as_str(), it.period.to_string(), it.is_full()))
        .collect();
    let month = "2026-11".to_owned();
    assert_eq!(told, [("a", month.clone(), true), ("b", month, false)], "{status:?}");
    assert_eq!((status.full, status.nearly_full), (1, 1));
    clock.set(time("2026-12-01T00:00:00Z"));
    assert_eq!((rooms.status().full, rooms.status().nearly_full), (0, 0));
}

/// A file that is opened by address, as a service has it.
#[test]
fn a_process_learns_of_a_wider_number_with_the_first_try() {
    let (folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let one = series(&store, &clock);
    let seats = one.create("seats", definition("S{n:1}")).unwrap();
    seats.take_batch(9).unwrap();
    for _ in 0..20 {
        assert!(matches!(seats.take(), Err(SeriesError::Full { .. })));
    }
    let beside = Store::open(folder.path().join("uidring.db")).unwrap();
    let beside = series(&beside, &clock);
    beside.widen("seats", definition("S{n:2}")).unwrap();
    assert_eq!(texts(seats.take_n(1)), ["S10"]);
}
