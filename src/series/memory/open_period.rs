//! [`OpenPeriod`], the period in which a series counts now.

use std::time::SystemTime;

use crate::clock::from_unix_ms;
use crate::series::form::number::SeriesNumber;
use crate::series::form::pattern::Pattern;
use crate::series::form::period::Period;
use crate::series::form::period_bounds::PeriodBounds;
use crate::series::store::SeriesVersion;

/// A period of a series, and how its numbers are written. All scopes share one.
#[derive(Debug)]
pub(crate) struct OpenPeriod {
    version: u32,
    bounds: PeriodBounds,
    /// The time of the bounds as the clock tells it, so that a take has nothing to compute. `None`
    /// where the platform has no such time.
    begin: Option<SystemTime>,
    end: Option<SystemTime>,
    /// With the date of the period.
    pub pattern: Pattern,
}

impl OpenPeriod {
    pub fn new(version: &SeriesVersion, bounds: PeriodBounds) -> OpenPeriod {
        OpenPeriod {
            version: version.number,
            bounds,
            begin: from_unix_ms(bounds.begin_ms.into()),
            end: from_unix_ms(bounds.end_ms.into()),
            pattern: version.definition.pattern().on(bounds.date),
        }
    }

    /// Whether it is the period of this bounds, written by this version. The date may be any in it.
    pub fn is_of(&self, version: &SeriesVersion, bounds: PeriodBounds) -> bool {
        self.version == version.number
            && PeriodBounds { date: self.bounds.date, ..bounds } == self.bounds
    }

    /// Whether the clock is in the period when it reads `now`.
    #[inline]
    pub fn contains(&self, now: SystemTime) -> bool {
        self.begin.is_none_or(|begin| begin <= now) && self.end.is_none_or(|end| now < end)
    }

    /// Whether this version of the series writes its numbers.
    pub fn is_of_version(&self, version: u32) -> bool {
        self.version == version
    }

    pub fn period(&self) -> Period {
        self.bounds.period
    }

    /// The number as people see it.
    #[inline]
    pub fn write(&self, scope: &str, number: u64) -> SeriesNumber {
        let text = self.pattern.write(self.bounds.date, scope, number);
        SeriesNumber::new(text, number, self.bounds.period)
    }
}
