//! [`FirstDay`], the day that fiscal years begin on.

use std::fmt;

use super::date::{Date, digits};

/// The day on which fiscal years begin: one that each year has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FirstDay {
    // In this order, because they are compared in it.
    month: u8,
    day: u8,
}

impl FirstDay {
    pub const NEW_YEAR: FirstDay = FirstDay { month: 1, day: 1 };

    /// `None` if not each year has this day.
    pub fn new(month: u8, day: u8) -> Option<FirstDay> {
        const NO_LEAP_YEAR: u16 = 2001;
        Date::new(NO_LEAP_YEAR, month, day).map(|_| FirstDay { month, day })
    }

    /// The day that is nearest to what may be none.
    pub fn nearest(month: u8, day: u8) -> FirstDay {
        let (month, day) = (month.clamp(1, 12), day.max(1));
        let days = (1..=day.min(31)).rev();
        days.into_iter().find_map(|day| FirstDay::new(month, day)).unwrap_or(FirstDay::NEW_YEAR)
    }

    /// Reads what [`Display`](fmt::Display) writes: two digits and two.
    pub fn read(text: &str) -> Option<(u8, u8)> {
        let (month, day) = text.split_once('-')?;
        Some((digits(month, 2)?, digits(day, 2)?))
    }

    pub fn month(self) -> u8 {
        self.month
    }

    pub fn day(self) -> u8 {
        self.day
    }

    /// The day in a year that is at most 9999.
    pub fn in_year(self, year: u16) -> Date {
        Date::new(year, self.month, self.day).unwrap_or(Date::MAX)
    }

    /// The calendar year in which the fiscal year begins that has this day. Those of the year 0
    /// before the first fiscal year count to it.
    pub fn year_of(self, date: Date) -> u16 {
        date.year().saturating_sub(u16::from(self.is_after(date.month(), date.day())))
    }

    /// Whether it comes later in a calendar year than this day.
    pub fn is_after(self, month: u8, day: u8) -> bool {
        (month, day) < (self.month, self.day)
    }

    /// How many calendar years after its first one a fiscal year ends.
    pub fn ends_later(self) -> u16 {
        u16::from(self != FirstDay::NEW_YEAR)
    }
}

impl fmt::Display for FirstDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}-{:02}", self.month, self.day)
    }
}
