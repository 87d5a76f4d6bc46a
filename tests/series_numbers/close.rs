//! Changes of a series, and closed periods.

use uidring::series::{Date, SeriesError};

use super::{clock, definition, file, series, time};

fn day(text: &str) -> Date {
    text.parse().unwrap()
}

#[test]
fn a_closed_period_gives_no_number_in_any_process() {
    let (_folder, store) = file();
    let clock = clock("2026-12-02T12:00:00Z");
    let [one, other] = [series(&store, &clock), series(&store, &clock)];
    let orders = one.create("orders", definition("{yyyy}{MM}-{n}")).unwrap();
    let theirs = other.get("orders").unwrap();
    assert_eq!(theirs.take_for(day("2026-11-30")).unwrap().as_str(), "202611-1");

    let error = one.close("orders", "2026-12".parse().unwrap()).unwrap_err();
    assert!(error.to_string().ends_with("it is not over yet; close it when it is"), "{error}");
    let error = one.close("orders", "2026-11-30".parse().unwrap()).unwrap_err();
    assert!(error.to_string().contains("does not count by such periods"), "{error}");

    let record = one.close("orders", "2026-11".parse().unwrap()).unwrap();
    assert_eq!(record.closed_before, day("2026-12-01"));
    for generator in [&orders, &theirs, &orders.scope("shop")] {
        for day in ["2026-11-30", "2026-10-01", "1999-01-01"].map(day) {
            let error = generator.take_for(day).unwrap_err();
            assert!(matches!(error, SeriesError::Closed { .. }), "{error:?}");
        }
        assert!(generator.take_for(day("2026-12-31")).is_ok());
    }
    // An earlier one does not open what is closed.
    one.close("orders", "2026-09".parse().unwrap()).unwrap();
    assert!(orders.take_for(day("2026-11-30")).is_err());
}

#[test]
fn a_process_that_has_numbers_of_a_closed_period_gets_no_more() {
    let (_folder, store) = file();
    let (now, behind) = (clock("2026-12-01T00:01:00Z"), clock("2026-11-30T23:00:00Z"));
    let [now, behind] = [series(&store, &now), series(&store, &behind)];
    let definition = definition("{yyyy}{MM}-{n}").step(2);
    let theirs = behind.create("orders", definition).unwrap();
    theirs.take().unwrap();
    now.close("orders", "2026-11".parse().unwrap()).unwrap();
    let error = (0..10).find_map(|_| theirs.take().err()).unwrap();
    assert!(matches!(error, SeriesError::Closed { .. }), "{error:?}");
    // So it says each time.
    let error = theirs.take().unwrap_err();
    assert!(matches!(error, SeriesError::Closed { .. }), "{error:?}");
}

#[test]
fn what_is_pruned_is_not_given_again() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    let orders = series.create("orders", definition("{yyyy}{MM}{dd}-{n}")).unwrap();
    for date in ["2026-11-20", "2026-11-21", "2026-11-24"] {
        orders.take_for(day(date)).unwrap();
    }
    assert_eq!(series.prune("orders").unwrap(), 0, "nothing is closed");
    series.close("orders", "2026-11-21".parse().unwrap()).unwrap();
    assert_eq!(series.prune("orders").unwrap(), 2);
    assert_eq!(orders.counters().unwrap().len(), 1);
    assert!(matches!(orders.take_for(day("2026-11-21")), Err(SeriesError::Closed { .. })));
}

#[test]
fn a_change_begins_with_a_day_in_all_processes_and_old_numbers_are_still_read() {
    let (_folder, store) = file();
    let clock = clock("2026-12-31T12:00:00Z");
    let [one, other] = [series(&store, &clock), series(&store, &clock)];
    let orders = one.create("orders", definition("{yyyy}-{n:4}")).unwrap();
    let theirs = other.get("orders").unwrap();
    assert_eq!(theirs.take().unwrap().as_str(), "2026-0001");
    one.change("orders", definition("{yyyy}{MM}-{n:6}"), day("2027-01-01")).unwrap();
    assert_eq!(orders.take().unwrap().as_str().len(), "2026-0101".len());
    clock.set(time("2027-01-01T00:00:00Z"));
    // A process that has not heard of it.
    assert_eq!(theirs.take().unwrap().as_str(), "202701-000001");
    assert_eq!(orders.take_for(day("2027-02-03")).unwrap().as_str(), "202702-000001");
    for (text, value) in [("2026-0001", 1), ("202701-000001", 1)] {
        assert_eq!(theirs.parse(text).unwrap().value(), value);
    }
    // The version of 2027 never wrote a text of 2026.
    assert!(theirs.parse("202612-000001").is_err());
    assert!(theirs.parse("2027-0001").is_err());
}

#[test]
fn a_change_that_could_repeat_a_text_is_refused() {
    let (_folder, store) = file();
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    let orders = series.create("orders", definition("{yyyy}-{n:4}")).unwrap();
    let refused = |pattern, begins, said: &str| {
        let error = series.change("orders", definition(pattern), day(begins)).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    };
    refused("{yyyy}-{n:5}", "2027-01-02", "is within 2027; name 2027-01-01 or 2028-01-01");
    refused("{n}", "2027-01-01", "as it never ends: create one of another name");
    refused("{n:4}-{yyyy}", "2027-01-01", "could write the text of a number");
    orders.take_for(day("2027-06-01")).unwrap();
    refused("{yyyy}-{n:5}", "2027-01-01", "numbers of periods from 2027-01-01 on have been given");
    series.change("orders", definition("{yyyy}-{n:5}"), day("2028-01-01")).unwrap();
    refused("{yyyy}-{n:6}", "2028-01-01", "version 2 begins with 2028-01-01; name a later day");
    let gapless = series.change("orders", definition("{yyyy}-{n:6}").gapless(), day("2029-01-01"));
    assert!(matches!(gapless, Err(SeriesError::Differs { field: "gapless", .. })));
    assert_eq!(orders.record().unwrap().versions.len(), 2);
}

/// Its counters are gone, so that nothing else tells that its numbers have been given.
#[test]
fn a_change_does_not_begin_before_what_is_closed() {
    let (_folder, store) = file();
    let clock = clock("2026-12-01T00:00:00Z");
    let series = series(&store, &clock);
    let orders = series.create("orders", definition("{yyyy}-{MM}{n:4}")).unwrap();
    assert_eq!(orders.take_for(day("2026-01-31")).unwrap().as_str(), "2026-010001");
    series.close("orders", "2026-11".parse().unwrap()).unwrap();
    assert_eq!(series.prune("orders").unwrap(), 1);
    let yearly = definition("{yyyy}-{n:6}").first(10_001);
    match series.change("orders", yearly, day("2026-01-01")) {
        Ok(_) => panic!("{} is given again", orders.take().unwrap()),
        Err(error) => {
            let said = "the days before 2026-12-01 are closed, and their numbers would come again; \
                        name 2026-12-01 or a later day";
            assert!(error.to_string().ends_with(said), "{error}");
        }
    }
    series.change("orders", definition("{yyyy}-{MM}{n:5}"), day("2026-12-01")).unwrap();
    assert_eq!(orders.take().unwrap().as_str(), "2026-1200001");
}
