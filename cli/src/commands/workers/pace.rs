//! How fast new worker ids are given, and how long they last.

use std::fmt;
use std::time::{Duration, SystemTime};

use indicatif::HumanCount;
use serde::Serialize;
use uidring_args::quantity::rounded;

use crate::text::words::span;

const DAY: Duration = Duration::from_secs(24 * 3600);
/// The pace is that of one week, so that each weekday counts.
const WINDOW: Duration = Duration::from_secs(7 * 24 * 3600);

/// The pace of the last week.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Pace {
    /// New ids a day.
    per_day: f64,
    /// For how many days they were counted.
    over_days: f64,
    /// How long the others last at this pace; `None` where there was no new one.
    days_left: Option<f64>,
}

impl Pace {
    /// Computes the pace from the time when the `first` id was given, from the largest id given,
    /// and from how many are left. `newest_by` finds the newest id that was given by a time. `None`
    /// if the first id is less than a day old, because that says little about the days to come.
    #[allow(clippy::cast_precision_loss)] // three digits are shown
    pub(crate) fn of<E>(
        first: Option<SystemTime>,
        largest: u64,
        left: u64,
        now: SystemTime,
        newest_by: impl FnOnce(SystemTime) -> Result<Option<u64>, E>,
    ) -> Result<Option<Pace>, E> {
        let age = first.and_then(|first| now.duration_since(first).ok());
        let Some(over) = age.filter(|age| *age >= DAY).map(|age| age.min(WINDOW)) else {
            return Ok(None);
        };
        // Ids ascend, so all larger ones are younger, including those of deleted rows.
        let Some(before) = newest_by(now - over)? else { return Ok(None) };
        let over_days = over.as_secs_f64() / DAY.as_secs_f64();
        let per_day = largest.saturating_sub(before) as f64 / over_days;
        let days_left = (per_day > 0.0).then(|| left as f64 / per_day);
        Ok(Some(Pace { per_day, over_days, days_left }))
    }

    /// Whether the ids run out within a year.
    pub(crate) fn is_alarming(self) -> bool {
        self.days_left.is_some_and(|days| days < 365.0)
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let over = days(self.over_days);
        match self.days_left {
            None => write!(f, "no new one in the last {over}"),
            Some(left) => write!(
                f,
                "at {} new ones a day, as in the last {over}, the rest last {}",
                rate(self.per_day),
                days(left)
            ),
        }
    }
}

fn days(days: f64) -> String {
    span(Duration::from_secs(rounded(days * DAY.as_secs_f64())))
}

fn rate(per_day: f64) -> String {
    match per_day {
        ..0.995 => format!("{per_day:.2}"),
        0.995..99.95 => format!("{per_day:.1}"),
        many => HumanCount(rounded(many)).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{DAY, Pace};
    use std::convert::Infallible;
    use std::time::{Duration, SystemTime};

    /// Of ids in order, each with the time when it was given.
    fn pace_of(
        given: &[(u64, SystemTime)],
        largest: u64,
        left: u64,
        now: SystemTime,
    ) -> Option<Pace> {
        let first = given.first().map(|(_, first)| *first);
        let newest_by = |time| {
            let newest = given.iter().rev().find(|(_, given)| *given <= time);
            Ok::<_, Infallible>(newest.map(|(id, _)| *id))
        };
        let Ok(pace) = Pace::of(first, largest, left, now, newest_by);
        pace
    }

    /// Of ids, each given so many days ago.
    fn pace(given: &[(u64, f64)], largest: u64) -> Option<Pace> {
        let now = SystemTime::UNIX_EPOCH + 1000 * DAY;
        let given: Vec<_> =
            given.iter().map(|&(id, days)| (id, now + DAY - DAY.mul_f64(1.0 + days))).collect();
        pace_of(&given, largest, 1_000_000 - largest, now)
    }

    fn pace_text(given: &[(u64, f64)], largest: u64) -> String {
        pace(given, largest).map_or_else(String::new, |pace| pace.to_string())
    }

    #[test]
    fn the_last_seven_days_count() {
        assert_eq!(
            pace_text(&[(1, 30.0), (2, 8.0), (3, 6.0), (4, 1.0)], 4),
            "at 0.29 new ones a day, as in the last 7 days, the rest last 9,582 years"
        );
    }

    #[test]
    fn a_younger_registry_counts_as_long_as_it_is_old() {
        assert_eq!(
            pace_text(&[(1, 2.0), (2, 1.5), (25, 0.5)], 25),
            "at 12.0 new ones a day, as in the last 2 days, the rest last 228 years"
        );
        assert_eq!(pace_text(&[(1, 0.9), (2, 0.5), (3, 0.1)], 3), "");
        assert_eq!(pace_text(&[], 0), "");
        // A clock that was wrong, here or there.
        assert_eq!(pace_text(&[(1, -1.0)], 1), "");
    }

    #[test]
    fn ids_of_deleted_rows_count() {
        assert_eq!(pace_text(&[(10, 7.0)], 10), "no new one in the last 7 days");
        assert_eq!(
            pace_text(&[(10, 8.0)], 10 + 7 * 5000),
            "at 5,000 new ones a day, as in the last 7 days, the rest last 192 days"
        );
        assert!(pace(&[(10, 8.0)], 10 + 7 * 5000).is_some_and(Pace::is_alarming));
        assert!(!pace(&[(10, 8.0)], 11).is_some_and(Pace::is_alarming));
    }

    #[test]
    fn the_longest_time_is_no_trouble() {
        let now = SystemTime::UNIX_EPOCH + 1000 * DAY;
        let given = [(1, now - Duration::from_secs(700_000))];
        assert!(
            pace_of(&given, 2, u64::MAX, now)
                .is_some_and(|pace| pace.to_string().ends_with(" years"))
        );
    }
}
