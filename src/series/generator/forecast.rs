//! [`Forecast`], when the numbers of a period run out.

use std::time::SystemTime;

use crate::clock::{from_unix_ms, unix_ms};
use crate::series::error::SeriesError;
use crate::series::form::period::Period;
use crate::series::memory::nearly_full::{is_tight, percent, saturated};
use crate::series::memory::series_cache::CachedSeries;
use crate::series::store::CounterRecord;

/// A pace is told after so many milliseconds. A process takes numbers for about a quarter of an
/// hour at once, so the pace of a shorter time says little.
const LEAST_MS: i128 = 15 * 60 * 1000;

/// How far the numbers of one counter go, from
/// [`SeriesGenerator::forecast`](super::SeriesGenerator::forecast).
///
/// It takes for granted that the numbers go on at their mean pace since the first one. It knows
/// nothing of what is to come, such as Christmas.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Forecast {
    /// The scope; empty if none was named.
    pub scope: String,
    /// The period.
    pub period: Period,
    /// The last number given. Processes may still have some of them in memory.
    pub last: u64,
    /// The largest number that fits the pattern.
    pub largest: u64,
    /// How many numbers have been given: from the first of the period to `last`.
    pub given: u64,
    /// When the first of them was given, if that is known.
    pub since: Option<SystemTime>,
    /// What `last` will be when the period ends, even if that is more than `largest`. `None` if the
    /// period never ends, and if the first number was given less than 15 minutes ago.
    pub expected: Option<u64>,
    /// When the largest number will have been given, if that is before the end of the period. It is
    /// in the past if it has been given. `None` if numbers are left at the end, and if the first
    /// was given less than 15 minutes ago.
    pub full_at: Option<SystemTime>,
}

impl Forecast {
    /// The part of the largest number that the last one is, in percent, rounded down.
    #[must_use]
    pub fn percent(&self) -> u64 {
        percent(self.last, self.largest)
    }

    /// Whether it is time for a pattern with a wider number: from 80 % of the largest number on,
    /// which the last one has reached, or will have reached when the period ends.
    #[must_use]
    pub fn is_tight(&self) -> bool {
        let most = self.expected.map_or(self.last, |expected| expected.max(self.last));
        is_tight(most, self.largest)
    }
}

/// The forecast for each counter of the present period. If there is none, for those of the newest
/// period before it.
pub(crate) fn forecast(
    cached: &CachedSeries,
    counters: &[CounterRecord],
    now: i64,
) -> Result<Vec<Forecast>, SeriesError> {
    let span = cached.version_at(now)?.1;
    let begun = counters.iter().map(|counter| counter.period).filter(|it| *it <= span.period);
    let Some(newest) = begun.max() else { return Ok(Vec::new()) };
    let end = match newest == span.period {
        true if span.end_ms == i64::MAX => End::Never,
        true => End::At(span.end_ms),
        false => End::Past,
    };
    let of_newest = counters.iter().filter(|counter| counter.period == newest);
    Ok(of_newest.map(|counter| of_counter(cached, counter, now, end)).collect())
}

/// When a period ends, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Past,
    At(i64),
    Never,
}

fn of_counter(cached: &CachedSeries, counter: &CounterRecord, now: i64, end: End) -> Forecast {
    let version = cached.record.version(counter.version);
    let definition = &version.unwrap_or_else(|| cached.record.newest()).definition;
    let (first, largest) = (definition.first_number(), definition.pattern().largest());
    let CounterRecord { last, created, updated, .. } = *counter;
    let given = (last + 1).saturating_sub(first);
    let left = largest.saturating_sub(last);
    let pace = created.and_then(|created| Pace::since(unix_ms(created), now, given));
    let full_ms = pace.and_then(|pace| pace.full(now, left));
    Forecast {
        scope: counter.scope.clone(),
        period: counter.period,
        last,
        largest,
        given,
        since: created,
        expected: match end {
            End::Past => Some(last),
            End::At(end) => pace.map(|pace| last.saturating_add(pace.numbers(now, end))),
            End::Never => None,
        },
        full_at: match end {
            _ if left == 0 => updated.or_else(|| from_unix_ms(now.into())),
            End::Past => None,
            End::At(end) => full_ms.filter(|at| *at < end.into()).and_then(from_unix_ms),
            End::Never => full_ms.and_then(from_unix_ms),
        },
    }
}

/// So many numbers in so many milliseconds, at least one of each.
#[derive(Clone, Copy, Debug)]
struct Pace {
    given: u128,
    ms: u128,
}

impl Pace {
    /// `None` if the time is too short, or no number has been given.
    fn since(created: i128, now: i64, given: u64) -> Option<Pace> {
        let ms = i128::from(now) - created;
        let is_known = given > 0 && ms >= LEAST_MS;
        is_known.then_some(Pace { given: given.into(), ms: ms.unsigned_abs() })
    }

    /// How many numbers it gives between two times.
    fn numbers(self, from: i64, to: i64) -> u64 {
        let ms = i128::from(to) - i128::from(from);
        let ms = u128::try_from(ms).unwrap_or(0);
        // Both are below 2^65, so this does not overflow.
        saturated(ms.saturating_mul(self.given) / self.ms)
    }

    /// When it has given `left` numbers more, in milliseconds since 1970.
    fn full(self, now: i64, left: u64) -> Option<i128> {
        let ms = u128::from(left).checked_mul(self.ms)?.div_ceil(self.given);
        i128::from(now).checked_add(ms.try_into().ok()?)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::series::store::{SeriesRecord, SeriesVersion};
    use crate::series::{Date, SeriesDefinition};
    use proptest::prelude::*;

    fn ms(time: &str) -> i64 {
        time.parse::<jiff::Timestamp>().unwrap().as_millisecond()
    }

    fn time(time: &str) -> SystemTime {
        time.parse::<jiff::Timestamp>().unwrap().into()
    }

    fn cached(pattern: &str) -> CachedSeries {
        let definition = SeriesDefinition::new(pattern).unwrap();
        cached_of(definition)
    }

    fn cached_of(definition: SeriesDefinition) -> CachedSeries {
        let version = SeriesVersion { number: 1, begins: Date::MIN, definition };
        let (name, closed_before) = ("orders".to_owned(), Date::MIN);
        let versions = vec![version];
        CachedSeries::of(SeriesRecord { name, versions, closed_before, revision: 0, created: 0 })
            .unwrap()
    }

    fn counter(period: &str, last: u64, created: &str) -> CounterRecord {
        CounterRecord {
            scope: String::new(),
            period: period.parse().unwrap(),
            version: 1,
            last,
            created: Some(time(created)),
            updated: Some(time(created)),
        }
    }

    /// The forecast for one counter.
    fn of(pattern: &str, counter: CounterRecord, now: &str) -> Forecast {
        let mut all = forecast(&cached(pattern), &[counter], ms(now)).unwrap();
        assert_eq!(all.len(), 1);
        all.remove(0)
    }

    #[test]
    fn a_day_goes_on_at_its_pace() {
        let counter = counter("2026-11-24", 400, "2026-11-24T06:00:00Z");
        let forecast = of("{yyyy}{MM}{dd}-{n:4}", counter, "2026-11-24T12:00:00Z");
        assert_eq!((forecast.given, forecast.expected), (400, Some(1200)));
        assert_eq!((forecast.full_at, forecast.percent(), forecast.is_tight()), (None, 4, false));
    }

    #[test]
    fn numbers_that_run_out_before_the_end_are_told_with_the_time() {
        let counter = counter("2026-11-24", 333, "2026-11-24T00:00:00Z");
        let forecast = of("{yyyy}{MM}{dd}-{n:3}", counter, "2026-11-24T06:00:00Z");
        assert_eq!(forecast.expected, Some(1332));
        assert_eq!(forecast.full_at, Some(time("2026-11-24T18:00:00Z")));
        assert_eq!((forecast.percent(), forecast.is_tight()), (33, true));
    }

    #[test]
    fn it_is_tight_from_80_percent_on_now_or_at_the_end() {
        let at = |last| {
            let counter = counter("2026-11-24", last, "2026-11-24T12:00:00Z");
            of("{yyyy}{MM}{dd}-{n:3}", counter, "2026-11-24T18:00:00Z")
        };
        let told = [399, 400, 499, 500].map(|last| (at(last).is_tight(), at(last).full_at));
        let midnight = time("2026-11-24T23:59:16.800Z");
        assert_eq!(told, [(false, None), (true, None), (true, None), (true, Some(midnight))]);
    }

    #[test]
    fn what_is_full_says_since_when() {
        let counter = counter("2026-11-24", 99, "2026-11-24T06:00:00Z");
        let forecast = of("{yyyy}{MM}{dd}-{n:2}", counter, "2026-11-24T06:00:01Z");
        assert_eq!(forecast.full_at, Some(time("2026-11-24T06:00:00Z")));
        assert_eq!((forecast.percent(), forecast.is_tight()), (100, true));
    }

    #[test]
    fn the_first_quarter_of_an_hour_says_nothing_of_the_pace() {
        let at = |now| of("{n:3}", counter("ever", 100, "2026-11-24T06:00:00Z"), now).full_at;
        assert_eq!(at("2026-11-24T06:14:59Z"), None);
        // A clock that is behind that of the store.
        assert_eq!(at("2026-11-24T05:00:00Z"), None);
        assert_eq!(at("2026-11-24T06:15:00Z"), Some(time("2026-11-24T08:29:51Z")));
    }

    #[test]
    fn a_series_that_never_begins_anew_has_no_end_to_expect() {
        let counter = counter("ever", 100, "2026-11-14T00:00:00Z");
        let forecast = of("C-{n}", counter, "2026-11-24T00:00:00Z");
        assert_eq!((forecast.expected, forecast.percent()), (None, 0));
        // What is full after the end of all times is not told.
        assert_eq!((forecast.full_at, forecast.is_tight()), (None, false));
        let forecast = |last| {
            let counter = self::counter("ever", last, "2026-11-14T00:00:00Z");
            let forecast = of("C-{n:4}", counter, "2026-11-24T00:00:00Z");
            (forecast.full_at.is_some(), forecast.is_tight())
        };
        assert_eq!([100, 7999, 8000].map(forecast), [(true, false), (true, false), (true, true)]);
    }

    #[test]
    fn what_was_given_counts_from_the_first_number_on() {
        let definition = SeriesDefinition::new("{yyyy}-{n:5}").unwrap().first(5000);
        let counters = [
            counter("2026", 4999, "2026-01-01T00:00:00Z"),
            CounterRecord {
                scope: "shop-7".to_owned(),
                ..counter("2026", 5099, "2026-01-01T00:00:00Z")
            },
        ];
        let all = forecast(&cached_of(definition), &counters, ms("2026-07-02T12:00:00Z")).unwrap();
        let told =
            |forecast: &Forecast| (forecast.scope.clone(), forecast.given, forecast.expected);
        // None has been given where all went back.
        assert_eq!(told(&all[0]), (String::new(), 0, None));
        assert_eq!(told(&all[1]), ("shop-7".to_owned(), 100, Some(5199)));
    }

    #[test]
    fn without_a_present_period_the_newest_one_is_told_as_it_ended() {
        let counters = ["2026-11-20", "2026-11-22", "2026-12-01"];
        let counters = counters.map(|day| counter(day, 40, "2026-11-20T00:00:00Z"));
        let cached = cached("{yyyy}{MM}{dd}-{n:2}");
        let all = forecast(&cached, &counters, ms("2026-11-24T12:00:00Z")).unwrap();
        assert_eq!(all.len(), 1);
        assert_eq!(
            (all[0].period.to_string(), all[0].expected),
            ("2026-11-22".to_owned(), Some(40))
        );
        assert_eq!(all[0].full_at, None);
        assert_eq!(forecast(&cached, &[], ms("2026-11-24T12:00:00Z")).unwrap(), []);
    }

    proptest! {
        /// `full_at` is before the end exactly if more is expected than fits.
        #[test]
        fn the_two_answers_agree(
            width in 1_u32..=18,
            part in 0_u128..1_000_000,
            begin in 0_i64..86_000_000,
            over in 900_000_i64..86_400_000,
        ) {
            let (midnight, end) = (ms("2026-11-24T00:00:00Z"), ms("2026-11-25T00:00:00Z"));
            let now = (midnight + begin + over).min(end - 1);
            prop_assume!(i128::from(now - midnight - begin) >= LEAST_MS);
            let pattern = format!("{{yyyy}}{{MM}}{{dd}}-{{n:{width}}}");
            let cached = cached(&pattern);
            let largest = 10_u64.pow(width) - 1;
            let last = u64::try_from(u128::from(largest) * part / 1_000_000).unwrap();
            let created = from_unix_ms((midnight + begin).into());
            let period = "2026-11-24".parse().unwrap();
            let scope = String::new();
            let counter =
                CounterRecord { scope, period, version: 1, last, created, updated: created };
            let forecast = &forecast(&cached, &[counter], now).unwrap()[0];
            if last == 0 {
                prop_assert_eq!((forecast.expected, forecast.full_at), (None, None));
            } else if let Some(full) = forecast.full_at {
                prop_assert!(forecast.expected.unwrap() >= largest);
                prop_assert!((now..end).contains(&i64::try_from(unix_ms(full)).unwrap()));
            } else {
                prop_assert!(forecast.expected.unwrap() <= largest);
                prop_assert!(forecast.expected.unwrap() >= last);
            }
        }
    }
}
