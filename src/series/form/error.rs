//! What cannot be a pattern, a number of it, or a definition.

use std::error::Error;
use std::fmt;

use super::date::Date;
use super::scope::ScopeError;

/// A text is not a [`Pattern`](crate::series::Pattern), or is one in which two numbers could have
/// one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    at: usize,
    reason: String,
}

impl PatternError {
    pub(super) fn new(at: usize, reason: impl Into<String>) -> PatternError {
        PatternError { at, reason: reason.into() }
    }

    /// Where in the pattern the reason lies, in bytes.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }

    /// What is wrong there, as a sentence without the place.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {} of the pattern: {}", self.at, self.reason)
    }
}

impl Error for PatternError {}

/// A text is not a number of a [`Pattern`](crate::series::Pattern).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    at: usize,
    reason: String,
}

impl ParseError {
    pub(crate) fn new(at: usize, reason: impl Into<String>) -> ParseError {
        ParseError { at, reason: reason.into() }
    }

    /// Where in the text the reason lies, in bytes. It is the length of the text if something is
    /// missing at its end.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }

    /// What is wrong there, as a sentence without the place.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {} of the number: {}", self.at, self.reason)
    }
}

impl Error for ParseError {}

/// A number cannot be written by a [`Pattern`](crate::series::Pattern).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatError {
    /// The pattern cannot show this date.
    Date {
        /// The date.
        date: Date,
        /// The first date that it can show.
        first: Date,
        /// The last one.
        last: Date,
    },
    /// The number does not fit.
    Number {
        /// The number.
        number: u64,
        /// The largest one that fits.
        largest: u64,
    },
    /// The pattern has a scope, and none is given.
    NoScope,
    /// A scope is given, and the pattern does not show it.
    ScopeNotShown {
        /// The scope.
        scope: String,
    },
    /// The scope cannot be one.
    Scope(ScopeError),
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FormatError::Date { date, first, last } => write!(
                f,
                "the pattern cannot show the date {date}: it can show those from {first} to {last}"
            ),
            FormatError::Number { number, largest } => {
                write!(f, "the number {number} does not fit the pattern: {largest} is the largest")
            }
            FormatError::NoScope => {
                f.write_str("the pattern has a {scope}, and no scope is given: give one")
            }
            FormatError::ScopeNotShown { scope } => write!(
                f,
                "the pattern has no {{scope}} in which the scope {scope:?} could be seen: give none"
            ),
            FormatError::Scope(error) => error.fmt(f),
        }
    }
}

impl Error for FormatError {}

impl From<ScopeError> for FormatError {
    fn from(error: ScopeError) -> FormatError {
        FormatError::Scope(error)
    }
}

/// A [`SeriesDefinition`](crate::series::SeriesDefinition) has something in it that gives no
/// numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SeriesDefinitionError {
    /// There is no time zone of this name.
    TimeZone {
        /// The name.
        name: String,
        /// The name that is most like it.
        alike: Option<String>,
    },
    /// A fiscal year cannot begin on this day.
    FirstDay {
        /// The month.
        month: u8,
        /// The day of the month.
        day: u8,
    },
    /// The pattern or the counter goes by fiscal years, and nothing says when they begin.
    NoFirstDay,
    /// There is no [unit](crate::series::Unit) of this name.
    Unit {
        /// The name.
        name: String,
    },
    /// A day for fiscal years to begin on is given, and neither the pattern nor the counter goes by
    /// them.
    NoFiscalYear,
    /// Two numbers could have one text, as the number begins anew or as fiscal years begin.
    Restart(PatternError),
    /// No process can take so many numbers at once.
    Step {
        /// How many.
        step: u64,
        /// The most.
        most: u64,
    },
    /// The first number is 0, or does not fit the pattern.
    First {
        /// The first number.
        first: u64,
        /// The largest one that fits.
        largest: u64,
    },
}

impl fmt::Display for SeriesDefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SeriesDefinitionError::TimeZone { name, alike } => {
                write!(f, "there is no time zone {name:?}: ")?;
                match alike {
                    Some(alike) => write!(f, "did you mean {alike:?}?"),
                    None => f.write_str("use a name like \"Europe/Berlin\" or \"UTC\""),
                }
            }
            SeriesDefinitionError::FirstDay { month: 2, day: 29 } => f.write_str(
                "a fiscal year cannot begin on 02-29, as most years have no such day: use 02-28 \
                 or 03-01",
            ),
            SeriesDefinitionError::FirstDay { month, day } => write!(
                f,
                "a fiscal year cannot begin on {month:02}-{day:02}, as there is no such day: name \
                 the month and the day, such as 04-06",
            ),
            SeriesDefinitionError::NoFirstDay => f.write_str(
                "nothing says when a fiscal year begins: set fiscal_year_from to its first day, \
                 such as 04-06",
            ),
            SeriesDefinitionError::Unit { name } => write!(
                f,
                "a number cannot begin anew with {name:?}: use day, week, month, quarter, year, \
                 fiscal-year or never"
            ),
            SeriesDefinitionError::NoFiscalYear => f.write_str(
                "fiscal_year_from is set, and nothing goes by fiscal years: use {fy}, or restart \
                 with the fiscal year, or do not set it",
            ),
            SeriesDefinitionError::Restart(error) => error.fmt(f),
            SeriesDefinitionError::Step { step, most } => {
                write!(f, "a process cannot take {step} numbers at once: use 1 to {most}")
            }
            SeriesDefinitionError::First { first, largest } => {
                write!(f, "the first number cannot be {first}: use 1 to {largest}")
            }
        }
    }
}

impl Error for SeriesDefinitionError {}
