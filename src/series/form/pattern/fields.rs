//! The fields of a date.

use super::super::date::Date;
use super::super::first_day::FirstDay;
use super::super::period::{Unit, iso_week};

/// A field of a date. Each has a fixed width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    Year,
    ShortYear,
    Month,
    Day,
    DayOfYear,
    WeekYear,
    Week,
    Quarter,
    /// The calendar year in which the fiscal year begins.
    FiscalYear,
    ShortFiscalYear,
    /// The calendar year in which it ends.
    FiscalYearEnd,
    ShortFiscalYearEnd,
}

impl Field {
    pub const ALL: [Field; 12] = [
        Field::Year,
        Field::ShortYear,
        Field::Month,
        Field::Day,
        Field::DayOfYear,
        Field::WeekYear,
        Field::Week,
        Field::Quarter,
        Field::FiscalYear,
        Field::ShortFiscalYear,
        Field::FiscalYearEnd,
        Field::ShortFiscalYearEnd,
    ];

    /// The name in a pattern.
    pub const fn name(self) -> &'static str {
        match self {
            Field::Year => "yyyy",
            Field::ShortYear => "yy",
            Field::Month => "MM",
            Field::Day => "dd",
            Field::DayOfYear => "DDD",
            Field::WeekYear => "GGGG",
            Field::Week => "ww",
            Field::Quarter => "q",
            Field::FiscalYear => "fy",
            Field::ShortFiscalYear => "fy:yy",
            Field::FiscalYearEnd => "fye",
            Field::ShortFiscalYearEnd => "fye:yy",
        }
    }

    /// How many digits it has.
    pub const fn width(self) -> usize {
        match self {
            Field::Year | Field::WeekYear | Field::FiscalYear | Field::FiscalYearEnd => 4,
            Field::DayOfYear => 3,
            Field::ShortYear
            | Field::Month
            | Field::Day
            | Field::Week
            | Field::ShortFiscalYear
            | Field::ShortFiscalYearEnd => 2,
            Field::Quarter => 1,
        }
    }

    /// Whether it shows the last two digits of a year, which stand for 2000 to 2099.
    pub const fn is_short(self) -> bool {
        matches!(self, Field::ShortYear | Field::ShortFiscalYear | Field::ShortFiscalYearEnd)
    }

    /// What it shows of a date, where fiscal years begin on a day.
    pub fn of(self, date: Date, first_day: FirstDay) -> u16 {
        let number = self.whole(date, first_day);
        if self.is_short() { number % 100 } else { number }
    }

    /// What it shows, or the year whose last digits it shows.
    pub fn whole(self, date: Date, first_day: FirstDay) -> u16 {
        let fiscal = || first_day.year_of(date);
        match self {
            Field::Year | Field::ShortYear => date.year(),
            Field::Month => date.month().into(),
            Field::Day => date.day().into(),
            Field::DayOfYear => date.to_civil().day_of_year().unsigned_abs(),
            Field::WeekYear => iso_week(date).0,
            Field::Week => iso_week(date).1.into(),
            Field::Quarter => ((date.month() - 1) / 3 + 1).into(),
            Field::FiscalYear | Field::ShortFiscalYear => fiscal(),
            Field::FiscalYearEnd | Field::ShortFiscalYearEnd => fiscal() + first_day.ends_later(),
        }
    }

    /// Whether it is the same on all days of each period of a unit.
    pub const fn is_fixed_in(self, unit: Unit) -> bool {
        match unit {
            Unit::Day => true,
            Unit::Week => matches!(self, Field::WeekYear | Field::Week),
            Unit::Month => {
                self.is_fiscal()
                    || matches!(
                        self,
                        Field::Year | Field::ShortYear | Field::Month | Field::Quarter
                    )
            }
            Unit::Quarter => matches!(self, Field::Year | Field::ShortYear | Field::Quarter),
            Unit::Year => matches!(self, Field::Year | Field::ShortYear),
            Unit::FiscalYear { .. } => self.is_fiscal(),
            Unit::Ever => false,
        }
    }

    /// Whether it shows a fiscal year.
    pub const fn is_fiscal(self) -> bool {
        matches!(self, Field::FiscalYear | Field::ShortFiscalYear) || self.is_fiscal_end()
    }

    /// Whether it shows the calendar year in which a fiscal year ends.
    pub const fn is_fiscal_end(self) -> bool {
        matches!(self, Field::FiscalYearEnd | Field::ShortFiscalYearEnd)
    }
}
