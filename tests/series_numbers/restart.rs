//! Numbers that begin anew with another period than the one that is shown.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use uidring::Store;
use uidring::series::{Series, SeriesDefinition, SeriesError, SeriesGenerator, Unit};

use super::{clock, definition, file, series, texts, time};

/// The month is shown, and the year counts.
fn monthly() -> SeriesDefinition {
    definition("{yy}{MM}-{n:4}").restart(Unit::Year)
}

fn text(numbers: &SeriesGenerator) -> String {
    numbers.take().unwrap().to_string()
}

/// What holds in each store.
pub fn counts_by_its_own_period(store: &Store, other: &Store) {
    let clock = clock("2026-11-30T23:59:59Z");
    let [one, other] = [store, other].map(|store| series(store, &clock));
    let bills = one.create("bills", monthly().step(10)).unwrap();
    assert_eq!(texts(bills.take_n(2)), ["2611-0001", "2611-0002"]);
    clock.set(time("2026-12-01T00:00:00Z"));
    assert_eq!(text(&bills), "2612-0003");
    // Another process reads what the series is.
    let theirs = other.get("bills").unwrap();
    assert_eq!(theirs.pattern().unit(), Unit::Year);
    assert_eq!(text(&theirs), "2612-0011");
    let parsed = theirs.parse("2611-0002").unwrap();
    assert_eq!((parsed.value(), parsed.period().to_string()), (2, "2026".to_owned()));
    assert_eq!(parsed.shown().to_string(), "2026-11");
    // A day of another year, and one of this year, which is of what is in memory.
    assert_eq!(bills.take_for("2025-07-31".parse().unwrap()).unwrap().as_str(), "2507-0001");
    assert_eq!(bills.take_for("2026-07-31".parse().unwrap()).unwrap().as_str(), "2607-0004");
    clock.set(time("2027-01-01T00:00:00Z"));
    assert_eq!(text(&bills), "2701-0001");
    let periods: Vec<_> =
        bills.counters().unwrap().iter().map(|counter| counter.period.to_string()).collect();
    assert_eq!(periods, ["2025", "2026", "2027"]);

    // The same is there already, and another is not.
    assert!(other.create("bills", monthly().step(10)).is_ok());
    let error = other.create("bills", definition("{yy}{MM}-{n:4}").step(10)).unwrap_err();
    match error {
        SeriesError::Differs { field: "restart", there, asked, .. } => {
            assert_eq!((&*there, &*asked), ("year", "month"));
        }
        error => panic!("{error:?}"),
    }
    // Wider at once, and another period from the next year on.
    one.widen("bills", definition("{yy}{MM}-{n:5}").restart(Unit::Year)).unwrap();
    let wider = theirs.take().unwrap();
    assert!(wider.value() > 1 && wider.as_str().starts_with("2701-000"), "{wider}");
    let next = definition("{yy}{MM}-{n:6}");
    one.change("bills", next, "2028-01-01".parse().unwrap()).unwrap();
    clock.set(time("2028-03-01T00:00:00Z"));
    assert_eq!(text(&theirs), "2803-000001");
    clock.set(time("2028-04-01T00:00:00Z"));
    assert_eq!(text(&theirs), "2804-000001");

    // Closed by the periods that count.
    let close = |period: &str| one.close("bills", period.parse().unwrap());
    let error = close("2026-11").unwrap_err();
    assert!(error.to_string().contains("does not count by such periods"), "{error}");
    close("2026").unwrap();
    let error = theirs.take_for("2026-12-31".parse().unwrap()).unwrap_err();
    assert!(matches!(error, SeriesError::Closed { .. }), "{error:?}");

    // British tax years.
    let from = (4, 6);
    let definition_of = |pattern| definition(pattern).fiscal_year_from(from.0, from.1);
    clock.set(time("2027-04-05T22:59:59Z"));
    let tax = definition_of("{fy:yy-yy}/{n:3}").time_zone("Europe/London");
    let tax = one.create("tax", tax).unwrap();
    let first_month_and_day = Unit::FiscalYear { first_month: 4, first_day: 6 };
    let days = definition("{yyyy}{MM}{dd}-{n:3}").restart(first_month_and_day);
    let days = one.create("tax-days", days.time_zone("Europe/London")).unwrap();
    let theirs = ["tax", "tax-days"].map(|name| other.get(name).unwrap());
    assert_eq!([&tax, &days].map(text), ["26-27/001", "20270405-001"]);
    clock.set(time("2027-04-05T23:00:00Z"));
    assert_eq!([&tax, &days].map(text), ["27-28/001", "20270406-001"]);
    clock.set(time("2027-05-01T00:00:00Z"));
    let taken = theirs.each_ref().map(text);
    assert_eq!(taken, ["27-28/063", "20270501-063"]);
    assert_eq!(theirs[0].record().unwrap().newest().definition.fiscal_first_day(), Some(from));
    assert_eq!(days.parse("20270501-063").unwrap().period().to_string(), "FY2027-04-06");

    // Never anew.
    let never = definition("{yyyy}{MM}{dd}-{n:4+}").restart(Unit::Ever);
    let never = one.create("never", never).unwrap();
    assert_eq!(text(&never), "20270501-0001");
    clock.set(time("2028-01-01T00:00:00Z"));
    assert_eq!(text(&never), "20280101-0002");
    assert_eq!(other.get("never").unwrap().pattern().unit(), Unit::Ever);
}

#[test]
fn a_file_counts_by_the_period_of_the_counter() {
    let (folder, store) = file();
    let other = Store::open(folder.path().join("uidring.db")).unwrap();
    counts_by_its_own_period(&store, &other);
}

#[test]
fn numbers_in_memory_go_on_when_another_month_is_shown() {
    let (_folder, store) = file();
    let clock = clock("2026-11-30T23:59:59Z");
    let series = series(&store, &clock);
    let bills = series.create("bills", monthly()).unwrap();
    assert_eq!(text(&bills), "2611-0001");
    let last = |bills: &SeriesGenerator| bills.counters().unwrap()[0].last;
    let loaded = last(&bills);
    clock.advance(Duration::from_secs(1));
    // Its period is that of what is in memory, before and after the first take.
    let status = bills.status();
    assert_eq!(status.period.map(|period| period.to_string()), Some("2026".to_owned()));
    assert!(status.numbers.is_some() && status.obstacle.is_none());
    let mut seen = 0;
    bills.each_scope(|scope| seen += usize::from(scope.period.to_string() == "2026"));
    assert_eq!(seen, 1);
    // Nothing is waited for.
    assert_eq!(bills.try_take().unwrap().as_str(), "2612-0002");
    assert_eq!(pollster::block_on(bills.take_async()).unwrap().as_str(), "2612-0003");
    clock.rewind(Duration::from_secs(1));
    assert_eq!(bills.try_take_batch(2).unwrap()[1].as_str(), "2611-0005");
    let number = bills.take().unwrap();
    assert_eq!(
        (number.period().to_string(), number.shown().to_string()),
        ("2026".into(), "2026-11".into())
    );
    assert_eq!(last(&bills), loaded);
}

#[test]
fn a_day_of_the_period_is_shown_as_it_is_asked_for() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    let bills = series.create("bills", monthly().step(10)).unwrap();
    assert_eq!(text(&bills), "2611-0001");
    let march = "2026-03-05".parse().unwrap();
    assert_eq!(bills.take_for(march).unwrap().as_str(), "2603-0002");
    assert_eq!(text(&bills), "2611-0003");
    // From memory, and then from the store.
    let many = bills.take_n_for(march, 300).unwrap();
    assert_eq!((many[0].as_str(), many.len()), ("2603-0004", 300));
    assert!(many.iter().all(|number| number.as_str().starts_with("2603-")));
    assert!(many.iter().all(|number| number.shown().to_string() == "2026-03"));
    let values: BTreeSet<_> = many.iter().map(uidring::series::SeriesNumber::value).collect();
    assert_eq!(values.len(), 300);
    let error = bills.take_for("2150-01-01".parse().unwrap()).unwrap_err();
    assert!(matches!(error, SeriesError::Format(_)), "{error:?}");
    // Also where all days are of one period.
    let never = series.create("never", definition("{yy}-{n}").restart(Unit::Ever)).unwrap();
    assert_eq!(text(&never), "26-1");
    let error = never.take_for("2150-01-01".parse().unwrap()).unwrap_err();
    assert!(matches!(error, SeriesError::Format(_)), "{error:?}");
    assert_eq!(never.take_for("2031-01-01".parse().unwrap()).unwrap().as_str(), "31-2");
}

#[test]
fn the_rest_of_a_batch_shows_what_its_begin_shows() {
    let (_folder, store) = file();
    let clock = clock("2026-11-30T23:59:59Z");
    let series = series(&store, &clock);
    let bills = series.create("bills", monthly().step(10)).unwrap();
    bills.take().unwrap();
    let some = bills.try_take_batch(1000).unwrap();
    clock.advance(Duration::from_secs(1));
    let all = bills.rest_of(some, 200).unwrap();
    assert_eq!(all.len(), 200);
    assert!(all.iter().all(|number| number.as_str().starts_with("2611-")), "{all:?}");
}

/// The clock goes to and fro over the end of a month, and of a year.
#[test]
fn no_number_of_a_year_comes_twice_whatever_is_shown() {
    for at in ["2026-11-30T23:59:59Z", "2026-12-31T23:59:59Z"] {
        let (_folder, store) = file();
        let clock = clock(at);
        let series = series(&store, &clock);
        let bills = definition("{yyyy}{MM}-{n:9}").restart(Unit::Year).step(7);
        let bills = series.create("bills", bills).unwrap();
        let is_over = AtomicBool::new(false);
        let take = || {
            let mut taken = Vec::new();
            for round in 0..300 {
                taken.extend(bills.take_batch(if round % 3 == 0 { 20 } else { 1 }).unwrap());
                taken.push(bills.take().unwrap());
            }
            taken
        };
        let taken = thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    clock.advance(Duration::from_secs(1));
                    thread::yield_now();
                    clock.rewind(Duration::from_secs(1));
                }
            });
            let other = scope.spawn(take);
            let mut taken = take();
            taken.extend(other.join().unwrap());
            is_over.store(true, Ordering::Relaxed);
            taken
        });
        let mut seen = BTreeSet::new();
        for number in &taken {
            let parsed = bills.parse(number.as_str()).unwrap();
            assert_eq!((parsed.value(), parsed.period()), (number.value(), number.period()));
            assert_eq!(parsed.shown(), number.shown());
            assert!(seen.insert((number.period(), number.value())), "{number} comes twice");
        }
    }
}

#[test]
fn a_clock_that_is_not_set_gives_no_number_that_shows_a_date() {
    let (_folder, store) = file();
    let clock = clock("1970-01-01T00:10:00Z");
    let series = series(&store, &clock);
    let never = definition("{yyyy}-{n}").restart(Unit::Ever);
    let error = series.create("never", never).unwrap().take().unwrap_err();
    assert!(matches!(error, SeriesError::Clock { .. }), "{error:?}");
}

#[test]
fn a_forecast_is_for_the_period_that_counts() {
    let (_folder, store) = file();
    let clock = clock("2026-11-30T12:00:00Z");
    let series = series(&store, &clock);
    let bills = series.create("bills", monthly()).unwrap();
    bills.take_batch(9000).unwrap();
    clock.set(time("2026-12-15T00:00:00Z"));
    let forecasts = bills.forecast().unwrap();
    assert_eq!(forecasts.len(), 1);
    assert_eq!((forecasts[0].period.to_string(), forecasts[0].is_tight()), ("2026".into(), true));
    assert_eq!(bills.status().tight.len(), 1);
}

#[test]
fn only_the_same_restart_widens() {
    let (_folder, store) = file();
    let clock = clock("2026-11-30T12:00:00Z");
    let series = series(&store, &clock);
    let bills = series.create("bills", monthly()).unwrap();
    bills.take().unwrap();
    let error = series.widen("bills", definition("{yy}{MM}-{n:5}")).unwrap_err();
    let sentence = "only a wider number may begin at once, and restart is month and not year, as \
                    it is in {yy}{MM}-{n:4}; name the day with which it begins";
    assert!(error.to_string().contains(sentence), "{error}");
    // No month but January begins with a period of the counter.
    let error = series.change("bills", monthly().first(7), "2026-12-01".parse().unwrap());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("2026-12-01 is within 2026"), "{error}");
}

#[test]
fn gapless_numbers_count_by_their_own_period() {
    let (folder, store) = file();
    let clock = clock("2026-11-30T23:59:59Z");
    let series: Series = series(&store, &clock);
    let bills = series.create("bills", monthly().gapless()).unwrap();
    let mut db = Connection::open(folder.path().join("uidring.db")).unwrap();
    let mut take = |date: Option<&str>, keeps: bool| {
        let mut transaction = db.transaction().unwrap();
        let number = match date {
            None => bills.take_in(&mut transaction).unwrap(),
            Some(date) => bills.take_in_for(&mut transaction, date.parse().unwrap()).unwrap(),
        };
        if keeps {
            transaction.commit().unwrap();
        } else {
            transaction.rollback().unwrap();
        }
        (number.to_string(), number.period().to_string(), number.shown().to_string())
    };
    let of = |text: &str, period: &str, shown: &str| (text.into(), period.into(), shown.into());
    assert_eq!(take(None, true), of("2611-0001", "2026", "2026-11"));
    clock.advance(Duration::from_secs(1));
    assert_eq!(take(None, false), of("2612-0002", "2026", "2026-12"));
    assert_eq!(take(None, true), of("2612-0002", "2026", "2026-12"));
    assert_eq!(take(Some("2026-03-31"), true), of("2603-0003", "2026", "2026-03"));
    assert_eq!(take(Some("2027-03-31"), true), of("2703-0001", "2027", "2027-03"));
    // Others have changed it, so that the statement finds out what it is now.
    let other = Series::builder().store(&store).clock(clock.clone()).build().unwrap();
    let wider = definition("{yy}{MM}-{n:5}").restart(Unit::Year).gapless();
    other.widen("bills", wider).unwrap();
    assert_eq!(take(None, true), of("2612-00004", "2026", "2026-12"));
}
