//! [`OpenPeriod`], the period in which a series counts now, and what its texts show.

use std::time::SystemTime;

use crate::clock::from_unix_ms;
use crate::series::form::date::Date;
use crate::series::form::number::SeriesNumber;
use crate::series::form::pattern::Pattern;
use crate::series::form::period::Period;
use crate::series::form::period_bounds::PeriodBounds;
use crate::series::store::SeriesVersion;

/// A period of a series, and how its numbers are written now. All scopes share one.
#[derive(Debug)]
pub(crate) struct OpenPeriod {
    version: u32,
    /// The period in which the numbers are counted, and its time.
    period: Period,
    counting: Span,
    /// The part of it that the texts show, and its time: all of it, unless it is set how the
    /// number begins anew.
    shown: Period,
    writing: Span,
    /// A date of what is shown.
    date: Date,
    /// With the date of what is shown.
    pub pattern: Pattern,
    /// For other dates of the period.
    undated: Pattern,
}

/// A time as the clock tells it, so that a take has nothing to compute. `None` where the platform
/// has no such time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    begin: Option<SystemTime>,
    end: Option<SystemTime>,
}

impl Span {
    fn of(bounds: PeriodBounds) -> Span {
        Span {
            begin: from_unix_ms(bounds.begin_ms.into()),
            end: from_unix_ms(bounds.end_ms.into()),
        }
    }

    #[inline]
    fn contains(self, now: SystemTime) -> bool {
        self.begin.is_none_or(|begin| begin <= now) && self.end.is_none_or(|end| now < end)
    }
}

impl OpenPeriod {
    /// The period of these bounds, and what its texts show at a time in both of them.
    pub fn new(version: &SeriesVersion, bounds: PeriodBounds, shown: PeriodBounds) -> OpenPeriod {
        let pattern = version.definition.pattern();
        OpenPeriod {
            version: version.number,
            period: bounds.period,
            counting: Span::of(bounds),
            shown: shown.period,
            writing: Span::of(shown),
            date: bounds.date,
            pattern: pattern.on(bounds.date),
            undated: pattern.clone(),
        }
    }

    /// Whether it is what this version counts and writes at a time, which is in these bounds.
    pub fn is_of(&self, version: &SeriesVersion, bounds: PeriodBounds, now: SystemTime) -> bool {
        self.version == version.number
            && self.period == bounds.period
            && self.counting == Span::of(bounds)
            && self.contains(now)
    }

    /// Whether its texts are those of a clock that reads `now`.
    #[inline]
    pub fn contains(&self, now: SystemTime) -> bool {
        self.writing.contains(now)
    }

    /// Whether its numbers are those of a clock that reads `now`. What they show may be another
    /// part of the period then.
    pub fn counts_at(&self, now: SystemTime) -> bool {
        self.counting.contains(now)
    }

    /// Whether this version of the series writes its numbers.
    pub fn is_of_version(&self, version: u32) -> bool {
        self.version == version
    }

    pub fn period(&self) -> Period {
        self.period
    }

    /// The number as people see it now.
    #[inline]
    pub fn write(&self, scope: &str, number: u64) -> SeriesNumber {
        let text = self.pattern.write(self.date, scope, number);
        SeriesNumber::new(text, number, self.period, self.shown)
    }

    /// The number as people see it on a date of the period.
    pub fn write_on(&self, date: Date, scope: &str, number: u64) -> SeriesNumber {
        if self.undated.shown().period(date) == self.shown {
            return self.write(scope, number);
        }
        self.undated.number(date, scope, number)
    }
}
