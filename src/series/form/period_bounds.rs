//! How long a period holds in a time zone.

use std::error::Error;
use std::fmt;

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

use super::date::Date;
use super::period::{Period, Unit};

/// A period, and a time for which a clock on the wall is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PeriodBounds {
    /// The period.
    pub period: Period,
    /// The date of the reading of the clock.
    pub date: Date,
    /// The first millisecond since 1970 of the time that the reading is in.
    pub begin_ms: i64,
    /// The millisecond after its last one.
    pub end_ms: i64,
}

/// A clock is not in the years 1 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeOutOfRange {
    /// What it reads, in milliseconds since 1970.
    pub unix_ms: i64,
}

impl fmt::Display for TimeOutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the clock reads {} ms after 1970, which is not in the years 1 to 9999: set it right",
            self.unix_ms
        )
    }
}

impl Error for TimeOutOfRange {}

/// The period in which a clock on the wall is at a reading of the system's clock, and the longest
/// time around it for which the wall's clock is in that period without a break.
///
/// A zone that sets its clocks back over midnight is in a day twice, in two spans.
pub(crate) fn bounds_at(
    unit: Unit,
    zone: &TimeZone,
    unix_ms: i64,
) -> Result<PeriodBounds, TimeOutOfRange> {
    let local = Local { unit, zone };
    let now = Timestamp::from_millisecond(unix_ms).map_err(|_| TimeOutOfRange { unix_ms })?;
    let (period, date) =
        local.period(now, zone.to_offset(now)).ok_or(TimeOutOfRange { unix_ms })?;
    if unit == Unit::Ever {
        return Ok(PeriodBounds { period, date, begin_ms: i64::MIN, end_ms: i64::MAX });
    }
    let (begin, end) = (local.begin(now, period), local.end(now, period));
    let begin_ms = begin.map_or(i64::MIN, Timestamp::as_millisecond);
    let end_ms = end.map_or(i64::MAX, Timestamp::as_millisecond);
    Ok(PeriodBounds { period, date, begin_ms, end_ms })
}

struct Local<'a> {
    unit: Unit,
    zone: &'a TimeZone,
}

impl Local<'_> {
    fn period(&self, at: Timestamp, offset: Offset) -> Option<(Period, Date)> {
        let date =
            Date::from_civil(offset.to_datetime(at).date()).filter(|date| date.year() > 0)?;
        Some((self.unit.period(date), date))
    }

    /// The first instant of the period around `at`. `None` is before all times.
    fn begin(&self, at: Timestamp, period: Period) -> Option<Timestamp> {
        let midnight = period.first()?.to_civil().to_datetime(jiff::civil::Time::midnight());
        let mut at = at;
        loop {
            let offset = self.zone.to_offset(at);
            let begin = offset.to_timestamp(midnight).ok();
            // The offset holds since this transition.
            let next = at.checked_add(jiff::SignedDuration::from_nanos(1)).unwrap_or(at);
            let since = self.zone.preceding(next).next().map(|transition| transition.timestamp());
            let Some(since) = since else { return begin };
            if begin.is_some_and(|begin| begin > since) {
                return begin;
            }
            let before = since.checked_sub(jiff::SignedDuration::from_nanos(1)).ok()?;
            if self.period(before, self.zone.to_offset(before)).map(|found| found.0) != Some(period)
            {
                return Some(since);
            }
            at = before;
        }
    }

    /// The first instant after `at` that is not in the period. `None` is after all times.
    fn end(&self, at: Timestamp, period: Period) -> Option<Timestamp> {
        let next = period.next().and_then(Period::first);
        let midnight = next?.to_civil().to_datetime(jiff::civil::Time::midnight());
        let mut at = at;
        loop {
            let offset = self.zone.to_offset(at);
            let end = offset.to_timestamp(midnight).ok();
            let until = self.zone.following(at).next().map(|transition| transition.timestamp());
            let Some(until) = until else { return end };
            if end.is_some_and(|end| end < until) {
                return end;
            }
            if self.period(until, self.zone.to_offset(until)).map(|found| found.0) != Some(period) {
                return Some(until);
            }
            at = until;
        }
    }
}

#[cfg(test)]
#[allow(clippy::panic, clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MINUTE: i64 = 60_000;
    const HOUR: i64 = 60 * MINUTE;
    const UNITS: [Unit; 7] = [
        Unit::Day,
        Unit::Week,
        Unit::Month,
        Unit::Quarter,
        Unit::Year,
        Unit::FiscalYear { first_month: 4, first_day: 6 },
        Unit::Ever,
    ];
    /// Zones in which days are missing, come twice, or begin at odd times, and others.
    const ZONES: [&str; 14] = [
        "UTC",
        "Europe/Berlin",
        "America/New_York",
        "Asia/Shanghai",
        "Asia/Kathmandu",
        "Australia/Lord_Howe",
        "America/Sao_Paulo",
        "America/St_Johns",
        "Africa/Casablanca",
        "Antarctica/Troll",
        "Pacific/Apia",
        "Pacific/Kwajalein",
        "Asia/Manila",
        "America/Juneau",
    ];

    fn zone(name: &str) -> TimeZone {
        TimeZone::get(name).unwrap()
    }

    fn ms(time: &str) -> i64 {
        time.parse::<Timestamp>().unwrap().as_millisecond()
    }

    fn bounds(unit: Unit, zone_name: &str, time: &str) -> PeriodBounds {
        bounds_at(unit, &zone(zone_name), ms(time)).unwrap()
    }

    /// The text of the period, and when it begins and ends.
    fn texts(bounds: PeriodBounds) -> (String, String, String) {
        let time = |ms| Timestamp::from_millisecond(ms).unwrap().to_string();
        (bounds.period.to_string(), time(bounds.begin_ms), time(bounds.end_ms))
    }

    fn assert_span(unit: Unit, zone: &str, times: &[&str], expected: [&str; 3]) {
        let [period, begin, end] = expected.map(str::to_owned);
        for time in times {
            let found = texts(bounds(unit, zone, time));
            assert_eq!(found, (period.clone(), begin.clone(), end.clone()), "{zone} at {time}");
        }
    }

    #[test]
    fn a_day_is_the_day_of_the_zone() {
        assert_span(
            Unit::Day,
            "Asia/Shanghai",
            &["2026-11-23T16:00:00Z", "2026-11-24T15:59:59.999Z"],
            ["2026-11-24", "2026-11-23T16:00:00Z", "2026-11-24T16:00:00Z"],
        );
        let bounds = bounds(Unit::Month, "Asia/Shanghai", "2026-11-23T16:00:00Z");
        assert_eq!(bounds.date.to_string(), "2026-11-24");
    }

    #[test]
    fn a_day_may_have_23_or_25_hours() {
        for (day, hours) in [("2026-03-29", 23), ("2026-10-25", 25), ("2026-10-26", 24)] {
            let bounds = bounds(Unit::Day, "Europe/Berlin", &format!("{day}T12:00:00Z"));
            assert_eq!(bounds.period.to_string(), day);
            assert_eq!(bounds.end_ms - bounds.begin_ms, hours * HOUR, "{day}");
        }
        // Lord Howe Island sets its clocks by half an hour.
        let bounds = bounds(Unit::Day, "Australia/Lord_Howe", "2026-04-05T00:00:00Z");
        assert_eq!(bounds.end_ms - bounds.begin_ms, 24 * HOUR + HOUR / 2);
    }

    #[test]
    fn a_day_that_a_zone_skips_has_no_time() {
        // Samoa went over the date line at the end of the 29th.
        assert_span(
            Unit::Day,
            "Pacific/Apia",
            &["2011-12-29T10:00:00Z", "2011-12-30T09:59:59.999Z"],
            ["2011-12-29", "2011-12-29T10:00:00Z", "2011-12-30T10:00:00Z"],
        );
        assert_span(
            Unit::Day,
            "Pacific/Apia",
            &["2011-12-30T10:00:00Z"],
            ["2011-12-31", "2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z"],
        );
        assert_span(
            Unit::Month,
            "Pacific/Apia",
            &["2011-12-30T09:59:59.999Z", "2011-12-30T10:00:00Z"],
            ["2011-12", "2011-12-01T10:00:00Z", "2011-12-31T10:00:00Z"],
        );
    }

    #[test]
    fn a_day_without_a_midnight_begins_later() {
        // At midnight it was one o'clock.
        assert_span(
            Unit::Day,
            "America/Sao_Paulo",
            &["2018-11-04T03:00:00Z", "2018-11-05T01:59:59.999Z"],
            ["2018-11-04", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"],
        );
        assert_span(
            Unit::Day,
            "America/Sao_Paulo",
            &["2018-11-04T02:59:59.999Z"],
            ["2018-11-03", "2018-11-03T03:00:00Z", "2018-11-04T03:00:00Z"],
        );
    }

    #[test]
    fn a_day_goes_on_where_its_last_hour_comes_twice() {
        // At midnight it was eleven o'clock again.
        assert_span(
            Unit::Day,
            "America/Sao_Paulo",
            &["2018-02-17T02:00:00Z", "2018-02-18T01:59:59.999Z", "2018-02-18T02:00:00Z"],
            ["2018-02-17", "2018-02-17T02:00:00Z", "2018-02-18T03:00:00Z"],
        );
    }

    #[test]
    fn a_midnight_that_comes_twice_makes_four_spans() {
        // At one minute past midnight it was a minute past eleven again.
        let midnight = ms("2006-10-29T02:30:00Z");
        let mut spans = Vec::new();
        for after in [-1, 0, MINUTE, HOUR] {
            let bounds = bounds_at(Unit::Day, &zone("America/St_Johns"), midnight + after).unwrap();
            spans.push((
                bounds.period.to_string(),
                bounds.begin_ms - midnight,
                bounds.end_ms - midnight,
            ));
        }
        let (before, after) = ("2006-10-28".to_owned(), "2006-10-29".to_owned());
        assert_eq!(
            spans,
            [
                (before.clone(), -24 * HOUR, 0),
                (after.clone(), 0, MINUTE),
                (before, MINUTE, HOUR),
                (after, HOUR, 25 * HOUR),
            ]
        );
        let month = bounds_at(Unit::Month, &zone("America/St_Johns"), midnight).unwrap();
        assert_eq!(month.period.to_string(), "2006-10");
        assert_eq!(month.end_ms - month.begin_ms, 31 * 24 * HOUR + HOUR);
    }

    #[test]
    fn weeks_and_fiscal_years_begin_at_midnight_of_the_zone() {
        assert_span(
            Unit::Week,
            "America/New_York",
            &["2027-01-01T12:00:00Z"],
            ["2026-W53", "2026-12-28T05:00:00Z", "2027-01-04T05:00:00Z"],
        );
        assert_span(
            Unit::FiscalYear { first_month: 4, first_day: 6 },
            "Asia/Tokyo",
            &["2026-04-05T15:00:00Z", "2027-04-05T14:59:59.999Z"],
            ["FY2026-04-06", "2026-04-05T15:00:00Z", "2027-04-05T15:00:00Z"],
        );
    }

    #[test]
    fn a_series_that_never_begins_anew_has_all_times() {
        let bounds = bounds(Unit::Ever, "Asia/Shanghai", "2026-11-23T16:00:00Z");
        assert_eq!((bounds.begin_ms, bounds.end_ms), (i64::MIN, i64::MAX));
        assert_eq!(
            (bounds.period.to_string(), bounds.date.to_string()),
            ("ever".into(), "2026-11-24".into())
        );
    }

    #[test]
    fn a_clock_is_read_in_the_years_1_to_9999() {
        let first = ms("0001-01-01T00:00:00Z");
        for unit in UNITS {
            let at = |unix_ms| bounds_at(unit, &TimeZone::UTC, unix_ms);
            assert_eq!(at(first).unwrap().date.to_string(), "0001-01-01");
            assert_eq!(at(first - 1), Err(TimeOutOfRange { unix_ms: first - 1 }));
            assert!(at(ms("9999-12-30T21:59:59Z")).is_ok());
            for unix_ms in [i64::MIN, i64::MAX] {
                assert_eq!(at(unix_ms), Err(TimeOutOfRange { unix_ms }));
            }
        }
        assert_eq!(
            TimeOutOfRange { unix_ms: -62_135_596_800_001 }.to_string(),
            "the clock reads -62135596800001 ms after 1970, which is not in the years 1 to 9999: \
             set it right"
        );
    }

    /// A time of 1840 to 2140, at random or near a change of the zone's clocks.
    fn times() -> impl Strategy<Value = (&'static str, i64)> {
        let range = ms("1840-01-01T00:00:00Z")..ms("2140-01-01T00:00:00Z");
        let zone_and_time = (prop::sample::select(&ZONES), range);
        (zone_and_time, prop::option::of(-2 * HOUR..2 * HOUR)).prop_map(|((name, at), near)| {
            let time = Timestamp::from_millisecond(at).unwrap();
            let zone = zone(name);
            let change = zone.following(time).next().map(|change| change.timestamp());
            let near = near.zip(change).map(|(near, change)| change.as_millisecond() + near);
            (name, near.unwrap_or(at))
        })
    }

    /// The period, as another reading of the same rules tells it.
    fn period(unit: Unit, zone: &TimeZone, unix_ms: i64) -> Period {
        let time = Timestamp::from_millisecond(unix_ms).unwrap();
        unit.period(Date::from_civil(zone.to_datetime(time).date()).unwrap())
    }

    proptest! {
        #[test]
        fn spans_tile_the_time(
            unit in prop::sample::select(&UNITS[..6]),
            (name, at) in times(),
            shares in prop::collection::vec(0..1000_i64, 8),
        ) {
            let zone = zone(name);
            let bounds = bounds_at(unit, &zone, at).unwrap();
            prop_assert!((bounds.begin_ms..bounds.end_ms).contains(&at));
            prop_assert_eq!(bounds.period, period(unit, &zone, at));
            // It is in the period from its first to its last millisecond.
            let part = (bounds.end_ms - bounds.begin_ms) / 1000;
            let inside = shares.iter().map(|share| bounds.begin_ms + part * share);
            for inside in inside.chain([bounds.begin_ms, bounds.end_ms - 1]) {
                prop_assert_eq!(period(unit, &zone, inside), bounds.period);
                let again = bounds_at(unit, &zone, inside).unwrap();
                prop_assert_eq!((again.begin_ms, again.end_ms), (bounds.begin_ms, bounds.end_ms));
            }
            // Those beside it touch it, and are in other periods.
            let before = bounds_at(unit, &zone, bounds.begin_ms - 1).unwrap();
            let after = bounds_at(unit, &zone, bounds.end_ms).unwrap();
            prop_assert_eq!((before.end_ms, after.begin_ms), (bounds.begin_ms, bounds.end_ms));
            for (one, next) in [(before, bounds), (bounds, after)] {
                prop_assert_ne!(one.period, next.period);
                // Periods come in their order, unless the clocks are set back.
                let end = Timestamp::from_millisecond(one.end_ms).unwrap();
                let last = Timestamp::from_millisecond(one.end_ms - 1).unwrap();
                let is_set_back = zone.to_offset(end) < zone.to_offset(last);
                prop_assert!(one.period < next.period || is_set_back);
            }
        }
    }
}
