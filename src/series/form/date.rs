//! [`Date`], a day of the calendar.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// A day of the Gregorian calendar, in the years 0 to 9999.
///
/// Its text is that of ISO 8601, by [`Display`](fmt::Display) and [`FromStr`].
///
/// ```
/// use uidring::series::Date;
///
/// let date: Date = "2026-11-01".parse()?;
/// assert_eq!(Some(date), Date::new(2026, 11, 1));
/// assert_eq!(date.to_string(), "2026-11-01");
/// assert_eq!(Date::new(2026, 2, 29), None);
/// # Ok::<(), uidring::series::ParseDateError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    // In this order, because they are compared in it.
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// The first day of the year 0.
    pub(crate) const MIN: Date = Date { year: 0, month: 1, day: 1 };
    /// The last day of the year 9999.
    pub(crate) const MAX: Date = Date { year: 9999, month: 12, day: 31 };

    /// The day of this year, month and day of the month, or `None` if there is no such day in the
    /// years 0 to 9999.
    #[must_use]
    pub fn new(year: u16, month: u8, day: u8) -> Option<Date> {
        let date = jiff::civil::Date::new(
            i16::try_from(year).ok()?,
            i8::try_from(month).ok()?,
            i8::try_from(day).ok()?,
        );
        Date::from_civil(date.ok()?)
    }

    /// The year, `0..=9999`.
    #[must_use]
    pub const fn year(self) -> u16 {
        self.year
    }

    /// The month, `1..=12`.
    #[must_use]
    pub const fn month(self) -> u8 {
        self.month
    }

    /// The day of the month, `1..=31`.
    #[must_use]
    pub const fn day(self) -> u8 {
        self.day
    }

    /// The first day of a year that is at most 9999.
    pub(crate) const fn first_of_year(year: u16) -> Date {
        Date { year, month: 1, day: 1 }
    }

    /// The last day of a year that is at most 9999.
    pub(super) const fn last_of_year(year: u16) -> Date {
        Date { year, month: 12, day: 31 }
    }

    /// The day of a year, of which the first is 1.
    pub(super) fn of_year(year: u16, day: u16) -> Option<Date> {
        let days = jiff::Span::new().days(i64::from(day.checked_sub(1)?));
        let date = Date::new(year, 1, 1)?.to_civil().checked_add(days).ok()?;
        Date::from_civil(date).filter(|date| date.year == year)
    }

    /// The same month, with a day that it has.
    pub(super) const fn with_day(self, day: u8) -> Date {
        Date { day, ..self }
    }

    /// `None` for a year that is not in 0 to 9999.
    pub(crate) fn from_civil(date: jiff::civil::Date) -> Option<Date> {
        Some(Date {
            year: u16::try_from(date.year()).ok()?,
            month: date.month().unsigned_abs(),
            day: date.day().unsigned_abs(),
        })
    }

    pub(crate) fn to_civil(self) -> jiff::civil::Date {
        // All that a `Date` has is a date of jiff's as well, so nothing is left out here.
        let year = i16::try_from(self.year).unwrap_or(i16::MAX);
        let month = i8::try_from(self.month).unwrap_or(i8::MAX);
        let day = i8::try_from(self.day).unwrap_or(i8::MAX);
        jiff::civil::Date::new(year, month, day).unwrap_or(jiff::civil::Date::MAX)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl fmt::Debug for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Date {
    type Err = ParseDateError;

    /// Reads `2026-11-01`: four digits, two and two.
    fn from_str(text: &str) -> Result<Date, ParseDateError> {
        let date = || {
            let (year, rest) = text.split_once('-')?;
            let (month, day) = rest.split_once('-')?;
            Date::new(digits(year, 4)?, digits(month, 2)?, digits(day, 2)?)
        };
        date().ok_or_else(|| ParseDateError { text: text.into() })
    }
}

/// The number that exactly `width` decimal digits are.
pub(super) fn digits<T: FromStr>(text: &str, width: usize) -> Option<T> {
    let is_number = text.len() == width && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

/// A text is not a [`Date`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseDateError {
    text: String,
}

impl fmt::Display for ParseDateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not a date of the calendar: write one like 2026-11-01", self.text)
    }
}

impl Error for ParseDateError {}
