//! [`Period`], the time within which a series counts on, and [`Unit`], how long it is.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use jiff::civil::{ISOWeekDate, Weekday};

use super::date::{Date, digits};
use super::error::SeriesDefinitionError;
use super::first_day::FirstDay;

/// How long a [`Period`] is: what the counter of a series begins anew with.
///
/// It follows from the fields of a [`Pattern`](crate::series::Pattern), unless
/// [`restart`](crate::series::SeriesDefinition::restart) says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// A day.
    Day,
    /// A week of ISO 8601: it begins on a Monday and belongs to the year that its Thursday is in.
    Week,
    /// A month.
    Month,
    /// A quarter of a calendar year.
    Quarter,
    /// A calendar year.
    Year,
    /// A fiscal year: the twelve months from a given day on, which each year has. What is no such
    /// day counts as the nearest one of its month, or of the nearest month.
    FiscalYear {
        /// The month of its first day, `1..=12`.
        first_month: u8,
        /// The day of that month, `1..=31`.
        first_day: u8,
    },
    /// All time: the series never begins anew.
    Ever,
}

impl Unit {
    /// The period of this length that contains `date`.
    ///
    /// The first week of the year 0 begins on its third day, and the first fiscal year on its given
    /// day. The days before them count to them.
    ///
    /// ```
    /// use uidring::series::Unit;
    ///
    /// let date = "2026-11-24".parse()?;
    /// assert_eq!(Unit::Quarter.period(date).to_string(), "2026-Q4");
    /// assert_eq!(Unit::FiscalYear { first_month: 12, first_day: 1 }.period(date).to_string(),
    ///     "FY2025-12");
    /// # Ok::<(), uidring::series::ParseDateError>(())
    /// ```
    #[must_use]
    pub fn period(self, date: Date) -> Period {
        let (year, month) = (date.year(), date.month());
        match self {
            Unit::Day => Period { first: date, unit: self },
            Unit::Week => {
                let day = date.to_civil();
                let since = day.weekday().to_monday_zero_offset();
                let monday = day.checked_sub(jiff::Span::new().days(since)).ok();
                Period::week(monday.and_then(Date::from_civil).unwrap_or(FIRST_MONDAY))
            }
            Unit::Month => Period::month(year, month),
            Unit::Quarter => Period::quarter(year, (month - 1) / 3 + 1),
            Unit::Year => Period::begin(self, year, 1),
            Unit::FiscalYear { first_month, first_day } => {
                let first_day = FirstDay::nearest(first_month, first_day);
                Period::fiscal_year(first_day.year_of(date), first_day)
            }
            Unit::Ever => Period::EVER,
        }
    }

    /// The name of this length of time, as options and tables have it: `day`, `week`, `month`,
    /// `quarter`, `year`, `fiscal-year` or, of what never begins anew, `never`.
    ///
    /// ```
    /// use uidring::series::Unit;
    ///
    /// assert_eq!((Unit::Month.name(), Unit::Ever.name()), ("month", "never"));
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Day => "day",
            Unit::Week => "week",
            Unit::Month => "month",
            Unit::Quarter => "quarter",
            Unit::Year => "year",
            Unit::FiscalYear { .. } => "fiscal-year",
            Unit::Ever => "never",
        }
    }

    /// The unit of a [`name`](Unit::name). A fiscal year begins on a day that the name does not
    /// say: on the `month` and the `day` of `fiscal_year_from`.
    ///
    /// ```
    /// use uidring::series::Unit;
    ///
    /// assert_eq!(Unit::from_name("year", None)?, Unit::Year);
    /// let british = Unit::FiscalYear { first_month: 4, first_day: 6 };
    /// assert_eq!(Unit::from_name("fiscal-year", Some((4, 6)))?, british);
    /// assert!(Unit::from_name("fiscal-year", None).is_err());
    /// # Ok::<(), uidring::series::SeriesDefinitionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SeriesDefinitionError`], if there is no such unit, or it is a fiscal year without its
    /// first day.
    pub fn from_name(
        name: &str,
        fiscal_year_from: Option<(u8, u8)>,
    ) -> Result<Unit, SeriesDefinitionError> {
        const UNITS: [Unit; 6] =
            [Unit::Day, Unit::Week, Unit::Month, Unit::Quarter, Unit::Year, Unit::Ever];
        if let Some(unit) = UNITS.into_iter().find(|unit| unit.name() == name) {
            return Ok(unit);
        }
        if name != "fiscal-year" {
            return Err(SeriesDefinitionError::Unit { name: name.into() });
        }
        let (first_month, first_day) = fiscal_year_from.ok_or(SeriesDefinitionError::NoFirstDay)?;
        Ok(Unit::FiscalYear { first_month, first_day })
    }

    /// The fiscal years that begin on this day.
    pub(super) fn fiscal_year(first_day: FirstDay) -> Unit {
        Unit::FiscalYear { first_month: first_day.month(), first_day: first_day.day() }
    }
}

/// 0000-01-03.
const FIRST_MONDAY: Date = Date::MIN.with_day(3);

/// The time within which a series counts on: a day, a week, a month, … or all time.
///
/// Periods of one [`Unit`] are in the order of time. The text of a period says its unit as well,
/// so that it can be read back:
///
/// | text | period |
/// |---|---|
/// | `2026-11-24` | a day |
/// | `2026-W48` | a week of ISO 8601 |
/// | `2026-11` | a month |
/// | `2026-Q4` | a quarter |
/// | `2026` | a year |
/// | `FY2026-04` | the fiscal year from April 2026 on |
/// | `FY2026-04-06` | the fiscal year from 6 April 2026 on |
/// | `ever` | all time |
///
/// ```
/// use uidring::series::{Period, Unit};
///
/// let week: Period = "2026-W53".parse()?;
/// assert_eq!((week.unit(), week.first()), (Unit::Week, Some("2026-12-28".parse()?)));
/// assert_eq!(week.next(), Some("2027-W01".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Period {
    // Before the unit, because periods are compared in this order.
    first: Date,
    unit: Unit,
}

impl Period {
    pub(super) const EVER: Period = Period { first: Date::MIN, unit: Unit::Ever };

    /// The first day, or `None` if the period is all time.
    #[must_use]
    pub fn first(self) -> Option<Date> {
        if self.unit == Unit::Ever { None } else { Some(self.first) }
    }

    /// The period after this one, or `None` if there is none before the year 10000.
    #[must_use]
    pub fn next(self) -> Option<Period> {
        let span = jiff::Span::new();
        let span = match self.unit {
            Unit::Day => span.days(1),
            Unit::Week => span.days(7),
            Unit::Month => span.months(1),
            Unit::Quarter => span.months(3),
            Unit::Year | Unit::FiscalYear { .. } => span.months(12),
            Unit::Ever => return None,
        };
        let first = Date::from_civil(self.first.to_civil().checked_add(span).ok()?)?;
        Some(Period { first, unit: self.unit })
    }

    /// How long the period is.
    #[must_use]
    pub fn unit(self) -> Unit {
        self.unit
    }

    /// The week that begins with this day, a Monday.
    fn week(monday: Date) -> Period {
        Period { first: monday, unit: Unit::Week }
    }

    /// The period that begins with a month that is one of the twelve.
    fn begin(unit: Unit, year: u16, month: u8) -> Period {
        Period { first: Date::new(year, month, 1).unwrap_or(Date::MAX), unit }
    }

    fn month(year: u16, month: u8) -> Period {
        Period::begin(Unit::Month, year, month)
    }

    fn quarter(year: u16, quarter: u8) -> Period {
        Period::begin(Unit::Quarter, year, quarter * 3 - 2)
    }

    fn fiscal_year(year: u16, first_day: FirstDay) -> Period {
        Period { first: first_day.in_year(year), unit: Unit::fiscal_year(first_day) }
    }
}

/// The Monday of a week of ISO 8601.
pub(super) fn monday(year: u16, week: u8) -> Option<Date> {
    let (year, week) = (i16::try_from(year).ok()?, i8::try_from(week).ok()?);
    let week = ISOWeekDate::new(year, week, Weekday::Monday).ok()?;
    Date::from_civil(week.date())
}

/// The year and the week of ISO 8601. The year is 10000 for no date, and 0 for those before.
pub(super) fn iso_week(date: Date) -> (u16, u8) {
    let week = date.to_civil().iso_week_date();
    (u16::try_from(week.year()).unwrap_or(0), week.week().unsigned_abs())
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month) = (self.first.year(), self.first.month());
        match self.unit {
            Unit::Day => write!(f, "{}", self.first),
            Unit::Week => {
                let (year, week) = iso_week(self.first);
                write!(f, "{year:04}-W{week:02}")
            }
            Unit::Month => write!(f, "{year:04}-{month:02}"),
            Unit::Quarter => write!(f, "{year:04}-Q{}", (month - 1) / 3 + 1),
            Unit::Year => write!(f, "{year:04}"),
            Unit::FiscalYear { first_day: 1, .. } => write!(f, "FY{year:04}-{month:02}"),
            Unit::FiscalYear { .. } => write!(f, "FY{}", self.first),
            Unit::Ever => f.write_str("ever"),
        }
    }
}

impl fmt::Debug for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Period {
    type Err = ParsePeriodError;

    fn from_str(text: &str) -> Result<Period, ParsePeriodError> {
        read(text).ok_or_else(|| ParsePeriodError { text: text.into() })
    }
}

fn read(text: &str) -> Option<Period> {
    if text == "ever" {
        return Some(Period::EVER);
    }
    if let Some(fiscal) = text.strip_prefix("FY") {
        let (year, begins) = fiscal.split_once('-')?;
        let first_day = if begins.contains('-') {
            let (month, day) = FirstDay::read(begins)?;
            FirstDay::new(month, day).filter(|first_day| first_day.day() > 1)?
        } else {
            FirstDay::new(digits(begins, 2)?, 1)?
        };
        return Some(Period::fiscal_year(digits(year, 4)?, first_day));
    }
    let Some((year, rest)) = text.split_once('-') else {
        return Some(Period::begin(Unit::Year, digits(text, 4)?, 1));
    };
    let year = digits(year, 4)?;
    if let Some(week) = rest.strip_prefix('W') {
        return Some(Period::week(monday(year, digits(week, 2)?)?));
    }
    if let Some(quarter) = rest.strip_prefix('Q') {
        let quarter = digits(quarter, 1).filter(|quarter| (1..=4).contains(quarter))?;
        return Some(Period::quarter(year, quarter));
    }
    if rest.contains('-') {
        return Some(Unit::Day.period(text.parse().ok()?));
    }
    let month = digits(rest, 2).filter(|month| (1..=12).contains(month))?;
    Some(Period::month(year, month))
}

/// A text is not a [`Period`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsePeriodError {
    text: String,
}

impl fmt::Display for ParsePeriodError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is not a period: write one like 2026-11-24, 2026-W48, 2026-11, 2026-Q4, 2026, \
             FY2026-04, FY2026-04-06 or ever",
            self.text
        )
    }
}

impl Error for ParsePeriodError {}
