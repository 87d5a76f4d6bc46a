//! The fields of a date.

use super::super::date::Date;
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
    FiscalYear,
}

impl Field {
    pub const ALL: [Field; 9] = [
        Field::Year,
        Field::ShortYear,
        Field::Month,
        Field::Day,
        Field::DayOfYear,
        Field::WeekYear,
        Field::Week,
        Field::Quarter,
        Field::FiscalYear,
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
        }
    }

    /// How many digits it has.
    pub const fn width(self) -> usize {
        match self {
            Field::Year | Field::WeekYear | Field::FiscalYear => 4,
            Field::DayOfYear => 3,
            Field::ShortYear | Field::Month | Field::Day | Field::Week => 2,
            Field::Quarter => 1,
        }
    }

    /// What it shows of a date, where fiscal years begin with a month.
    pub fn of(self, date: Date, first_month: u8) -> u16 {
        match self {
            Field::Year => date.year(),
            Field::ShortYear => date.year() % 100,
            Field::Month => date.month().into(),
            Field::Day => date.day().into(),
            Field::DayOfYear => date.to_civil().day_of_year().unsigned_abs(),
            Field::WeekYear => iso_week(date).0,
            Field::Week => iso_week(date).1.into(),
            Field::Quarter => ((date.month() - 1) / 3 + 1).into(),
            Field::FiscalYear => date.year().saturating_sub(u16::from(date.month() < first_month)),
        }
    }

    /// Whether it is the same on all days of each period of a unit.
    pub const fn is_fixed_in(self, unit: Unit) -> bool {
        match unit {
            Unit::Day => true,
            Unit::Week => matches!(self, Field::WeekYear | Field::Week),
            Unit::Month => matches!(
                self,
                Field::Year | Field::ShortYear | Field::Month | Field::Quarter | Field::FiscalYear
            ),
            Unit::Quarter => matches!(self, Field::Year | Field::ShortYear | Field::Quarter),
            Unit::Year => matches!(self, Field::Year | Field::ShortYear),
            Unit::FiscalYear { .. } => matches!(self, Field::FiscalYear),
            Unit::Ever => false,
        }
    }
}
