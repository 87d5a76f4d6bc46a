//! Dates and periods, and their texts.

use proptest::prelude::*;
use uidring::series::{Date, Period, Unit};

const UNITS: [Unit; 9] = [
    Unit::Day,
    Unit::Week,
    Unit::Month,
    Unit::Quarter,
    Unit::Year,
    Unit::FiscalYear { first_month: 1, first_day: 1 },
    Unit::FiscalYear { first_month: 10, first_day: 1 },
    Unit::FiscalYear { first_month: 4, first_day: 6 },
    Unit::Ever,
];

fn date(text: &str) -> Date {
    text.parse().unwrap()
}

fn period(text: &str) -> Period {
    text.parse().unwrap()
}

/// Any date. A tenth of them are near the ends of the calendar.
pub fn dates() -> impl Strategy<Value = Date> {
    let years =
        prop_oneof![8 => 1990_u16..=2110, 2 => 0_u16..=9999, 1 => 0_u16..=2, 1 => 9998_u16..=9999];
    let dates = (years, 1_u8..=12, 1_u8..=31);
    dates.prop_filter_map("no such day", |(year, month, day)| Date::new(year, month, day))
}

#[test]
fn a_date_is_a_day_of_the_calendar() {
    assert_eq!(
        Date::new(2028, 2, 29).map(|date| (date.year(), date.month(), date.day())),
        Some((2028, 2, 29))
    );
    for (year, month, day) in [
        (2026, 2, 29),
        (2026, 0, 1),
        (2026, 13, 1),
        (2026, 1, 0),
        (2026, 1, 32),
        (10_000, 1, 1),
        (u16::MAX, 255, 255),
    ] {
        assert_eq!(Date::new(year, month, day), None);
    }
    assert!(date("2026-11-01") < date("2026-11-02") && date("0999-12-31") < date("1000-01-01"));
}

#[test]
fn only_the_text_of_iso_8601_is_a_date() {
    for text in [
        "",
        "2026",
        "2026-11",
        "2026-11-1",
        "20261101",
        "2026-02-29",
        "2026-11-01 ",
        "+026-11-01",
        "2026-+1-01",
        "2026-11-01-01",
        "2026/11/01",
        "２０２６-11-01",
    ] {
        let error = text.parse::<Date>().unwrap_err().to_string();
        let expected = format!("{text:?} is not a date of the calendar: write one like 2026-11-01");
        assert_eq!(error, expected);
    }
}

#[test]
fn a_period_says_its_unit() {
    for (text, unit, first, next) in [
        ("2026-11-24", Unit::Day, "2026-11-24", "2026-11-25"),
        ("2026-12-31", Unit::Day, "2026-12-31", "2027-01-01"),
        ("2026-W48", Unit::Week, "2026-11-23", "2026-W49"),
        ("2026-W53", Unit::Week, "2026-12-28", "2027-W01"),
        ("2025-W01", Unit::Week, "2024-12-30", "2025-W02"),
        ("2026-12", Unit::Month, "2026-12-01", "2027-01"),
        ("2026-Q4", Unit::Quarter, "2026-10-01", "2027-Q1"),
        ("2026", Unit::Year, "2026-01-01", "2027"),
        ("FY2026-04", Unit::FiscalYear { first_month: 4, first_day: 1 }, "2026-04-01", "FY2027-04"),
        (
            "FY2026-04-06",
            Unit::FiscalYear { first_month: 4, first_day: 6 },
            "2026-04-06",
            "FY2027-04-06",
        ),
    ] {
        let found = period(text);
        assert_eq!((found.unit(), found.first()), (unit, Some(date(first))), "{text}");
        assert_eq!(found.next(), Some(period(next)), "{text}");
        assert_eq!(found.to_string(), text);
    }
    assert_eq!((period("ever").first(), period("ever").next()), (None, None));
    for last in
        ["9999-12-31", "9999-W52", "9999-12", "9999-Q4", "9999", "FY9999-07", "FY9999-07-31"]
    {
        assert_eq!(period(last).next(), None, "{last}");
    }
}

#[test]
fn what_is_no_period_is_refused() {
    for text in [
        "",
        "Ever",
        "26",
        "2026-",
        "2026-13",
        "2026-00",
        "2026-1",
        "2026-W00",
        "2025-W53",
        "2026-W1",
        "2026-Q0",
        "2026-Q5",
        "2026-Q",
        "FY2026",
        "FY2026-00",
        "FY2026-13",
        "FY2026-04-01",
        "FY2026-02-29",
        "FY2028-02-29",
        "FY2026-04-31",
        "FY2026-04-6",
        "2026-11-31",
        "2026-w48",
    ] {
        let error = text.parse::<Period>().unwrap_err().to_string();
        assert!(error.starts_with(&format!("{text:?} is not a period: ")), "{error}");
    }
}

#[test]
fn a_week_belongs_to_the_year_of_its_thursday() {
    for (day, week) in [
        ("2024-12-30", "2025-W01"),
        ("2026-12-31", "2026-W53"),
        ("2027-01-03", "2026-W53"),
        ("2027-01-04", "2027-W01"),
        ("0001-01-01", "0001-W01"),
        ("9999-12-31", "9999-W52"),
    ] {
        assert_eq!(Unit::Week.period(date(day)), period(week), "{day}");
    }
}

#[test]
fn a_day_for_fiscal_years_that_is_none_is_the_nearest() {
    let of = |first_month, first_day| {
        Unit::FiscalYear { first_month, first_day }.period(date("2026-11-24")).to_string()
    };
    assert_eq!([of(0, 1), of(12, 1), of(13, 1)], ["FY2026-01", "FY2025-12", "FY2025-12"]);
    assert_eq!([of(4, 0), of(2, 29), of(4, 31)], ["FY2026-04", "FY2026-02-28", "FY2026-04-30"]);
}

#[test]
fn a_fiscal_year_begins_on_its_day() {
    let unit = Unit::FiscalYear { first_month: 4, first_day: 6 };
    for (day, year) in [
        ("2026-04-05", "FY2025-04-06"),
        ("2026-04-06", "FY2026-04-06"),
        ("2027-04-05", "FY2026-04-06"),
        ("2028-02-29", "FY2027-04-06"),
    ] {
        assert_eq!(unit.period(date(day)), period(year), "{day}");
    }
}

proptest! {
    #[test]
    fn a_date_is_read_back(date in dates()) {
        prop_assert_eq!(date.to_string().parse::<Date>().unwrap(), date);
    }

    #[test]
    fn a_period_is_read_back_and_has_its_dates(
        date in dates(),
        unit in prop::sample::select(&UNITS),
    ) {
        let period = unit.period(date);
        prop_assert_eq!(period.to_string().parse::<Period>().unwrap(), period);
        prop_assert_eq!(period.unit(), unit);
        if let Some(first) = period.first() {
            prop_assert_eq!(unit.period(first), period);
            prop_assert!(first <= date || date.year() == 0);
        }
        if let Some(next) = period.next() {
            prop_assert!(period < next && next.first().unwrap() > date);
            prop_assert_eq!(unit.period(next.first().unwrap()), next);
        }
    }

    #[test]
    fn periods_are_in_the_order_of_their_dates(
        one in dates(),
        other in dates(),
        unit in prop::sample::select(&UNITS),
    ) {
        prop_assert!(one > other || unit.period(one) <= unit.period(other));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,12}|[0-9WQFY-]{0,12}") {
        if let Ok(date) = text.parse::<Date>() {
            prop_assert_eq!(date.to_string(), text.clone());
        }
        if let Ok(period) = text.parse::<Period>() {
            prop_assert_eq!(period.to_string(), text);
        }
    }
}
