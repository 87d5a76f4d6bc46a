//! [`SeriesError`], why a series gives no number.

pub(crate) mod driver;

use std::error::Error;
use std::fmt;

use crate::backend::StorageError;
use crate::clock::utc_ms;
use crate::engine::{SegmentFailure, TakeError};
use crate::segment::SegmentError;
use crate::series::form::date::Date;
use crate::series::form::error::{FormatError, SeriesDefinitionError};
use crate::series::form::period::Period;
use crate::series::form::scope::ScopeError;
use crate::sync::Arc;

/// An error returned by a series, or by the store that it is in.
///
/// It says what is wrong and what to do. What the database or its driver said is its
/// [`source`](Error::source). The field `store` is the file, or the address without the password.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SeriesError {
    /// The builder was given no store.
    NoStore,
    /// The store has no series of this name.
    NoSuchSeries {
        /// Where it was looked for.
        store: String,
        /// The name.
        series: String,
        /// Series there that are alike, the most alike first.
        alike: Vec<String>,
    },
    /// There can be no series of this name.
    BadName {
        /// The name.
        series: String,
        /// What is wrong with it, as a sentence about it.
        problem: String,
    },
    /// No answer can be remembered for a request of this name.
    BadRequest {
        /// The name.
        request: String,
    },
    /// The definition gives no numbers.
    Definition(SeriesDefinitionError),
    /// There is no such scope.
    Scope(ScopeError),
    /// The pattern cannot show the number, the date or the scope.
    Format(FormatError),
    /// The series is there, and is not as it should be created. It was not changed.
    Differs {
        /// Where it is.
        store: String,
        /// The name.
        series: String,
        /// What differs: `pattern`, `time_zone`, `gapless`, `fiscal_year_from`,
        /// `restart`, `step` or `first`.
        field: &'static str,
        /// What the series has there.
        there: String,
        /// What was asked for.
        asked: String,
    },
    /// A version cannot follow the one before.
    BadChange {
        /// The name.
        series: String,
        /// Why not and what to do, as a sentence.
        problem: String,
    },
    /// The series was changed since this process read it. The next call that asks the store learns
    /// the change: each but those that do not wait, and those ask for it. In a transaction that
    /// began before the change, no call does: roll that back.
    Changed {
        /// The name.
        series: String,
    },
    /// Each number of a gapless series is taken in the transaction that uses it.
    Gapless {
        /// The name.
        series: String,
    },
    /// The series is not gapless, so its numbers are not counted in a transaction.
    NotGapless {
        /// The name.
        series: String,
    },
    /// The transaction is one of a database that does not have this series.
    OtherDatabase {
        /// The store that has it.
        store: String,
        /// The name.
        series: String,
    },
    /// The period is closed.
    Closed {
        /// The name.
        series: String,
        /// The period.
        period: Period,
    },
    /// The period cannot be closed.
    NotClosable {
        /// The name.
        series: String,
        /// The period.
        period: Period,
        /// Why not, as a sentence about it.
        problem: &'static str,
    },
    /// All numbers of the period that fit the pattern have been given.
    Full {
        /// The name.
        series: String,
        /// The scope; empty if none was named.
        scope: String,
        /// The period.
        period: Period,
        /// The largest number that fits.
        largest: u64,
    },
    /// The store gives numbers of a period again that this process has had: an old copy was put
    /// back, or the row was changed.
    WentBack {
        /// Where the series is.
        store: String,
        /// The name.
        series: String,
        /// The scope; empty if none was named.
        scope: String,
        /// The period.
        period: Period,
        /// The first number that would be given now.
        first: u64,
        /// The last number that this process had before.
        last: u64,
    },
    /// The clock shows a time outside of the years 2010 to 9999, so it has not been set; a series
    /// that begins anew at no date takes the years 1 to 9999.
    Clock {
        /// What it shows, in milliseconds since 1970.
        unix_ms: i64,
    },
    /// No number is in memory, and none has come in time; or the series has ended.
    Take(TakeError),
    /// The first numbers of a period are being loaded. The next call may have one.
    Loading {
        /// The name.
        series: String,
        /// The period.
        period: Period,
    },
    /// The store cannot be used, or not now.
    Storage(StorageError),
    /// The numbers of a scope could not be loaded.
    Load(SegmentError),
    /// The transaction could not count the number. It is the caller's to roll back.
    Transaction {
        /// The name.
        series: String,
        /// What the driver said.
        source: Arc<dyn Error + Send + Sync>,
    },
}

impl SeriesError {
    /// Whether the same call may succeed in a moment; where a transaction could not count a number,
    /// whether another transaction may, as after a deadlock or a wait that took too long.
    ///
    /// ```
    /// use uidring::series::SeriesError;
    ///
    /// assert!(SeriesError::Changed { series: "orders".to_owned() }.is_transient());
    /// assert!(!SeriesError::Gapless { series: "invoices".to_owned() }.is_transient());
    /// ```
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            SeriesError::Changed { .. } | SeriesError::Loading { .. } => true,
            SeriesError::Storage(error) => error.is_transient(),
            SeriesError::Load(error) => error.is_transient(),
            SeriesError::Transaction { source, .. } => driver::is_transient(&**source),
            _ => false,
        }
    }

    /// The error as a source of segments says it.
    pub(crate) fn into_segment(self) -> SegmentError {
        let failure = match &self {
            SeriesError::Changed { .. } => None,
            SeriesError::Full { .. } => Some(SegmentFailure::RanOut),
            SeriesError::WentBack { .. } => Some(SegmentFailure::WentBack),
            SeriesError::NoSuchSeries { .. } => Some(SegmentFailure::NoSuchTag),
            _ => Some(SegmentFailure::Failed),
        };
        match self {
            SeriesError::Storage(error) => SegmentError::Storage(error),
            SeriesError::Load(error) => error,
            error => SegmentError::Series { failure, error: Arc::new(error) },
        }
    }

    /// The error that a source of segments said.
    pub(crate) fn of_segment(error: SegmentError) -> SeriesError {
        if let SegmentError::Series { error, .. } = &error
            && let Some(error) = error.downcast_ref::<SeriesError>()
        {
            return error.clone();
        }
        match error {
            SegmentError::Storage(error) => SeriesError::Storage(error),
            SegmentError::Ended { cause } => SeriesError::Take(cause),
            error => SeriesError::Load(error),
        }
    }
}

impl From<StorageError> for SeriesError {
    fn from(error: StorageError) -> SeriesError {
        SeriesError::Storage(error)
    }
}

impl From<SeriesDefinitionError> for SeriesError {
    fn from(error: SeriesDefinitionError) -> SeriesError {
        SeriesError::Definition(error)
    }
}

impl From<ScopeError> for SeriesError {
    fn from(error: ScopeError) -> SeriesError {
        SeriesError::Scope(error)
    }
}

impl From<FormatError> for SeriesError {
    fn from(error: FormatError) -> SeriesError {
        SeriesError::Format(error)
    }
}

impl From<TakeError> for SeriesError {
    fn from(error: TakeError) -> SeriesError {
        SeriesError::Take(error)
    }
}

/// What to do where no version of the series will do. With the same pattern and the same first
/// number, the other one would write the texts of this one again.
const ANOTHER: &str = "create one of another name, and give it a pattern that writes other texts, \
                       because it counts from its first number";

/// What a scope is called after a series, if it was named.
struct InScope<'a>(&'a str);

impl fmt::Display for InScope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, " in the scope {:?}", self.0) }
    }
}

impl fmt::Display for SeriesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SeriesError::NoStore => f.write_str("series need a store: call Builder::store"),
            SeriesError::NoSuchSeries { store, series, alike } => {
                write!(f, "{store} has no series {series:?}; ")?;
                match &alike[..] {
                    [] => f.write_str(
                        "create it first, and if it was there before, with a first number above \
                         all that were given",
                    ),
                    [alike, ..] => write!(f, "did you mean {alike:?}? If it is new, create it"),
                }
            }
            SeriesError::BadName { series, problem } => {
                write!(f, "a series cannot have the name {series:?}: {problem}")
            }
            SeriesError::BadRequest { request } => write!(
                f,
                "a request cannot have the name {request:?}: it has 1 to 64 letters, digits and \
                 signs of ASCII"
            ),
            SeriesError::Definition(error) => error.fmt(f),
            SeriesError::Scope(error) => error.fmt(f),
            SeriesError::Format(error) => error.fmt(f),
            SeriesError::Differs { store, series, field, there, asked } => write!(
                f,
                "{store} has the series {series:?} already, and its {field} is {there}, where \
                 {asked} was asked for; use it as it is, or {}",
                match *field {
                    "pattern" | "step" | "first" => "change it from a later day on",
                    // No version changes them.
                    _ => ANOTHER,
                }
            ),
            SeriesError::BadChange { series, problem } => {
                write!(f, "the series {series:?} cannot be changed so: {problem}")
            }
            SeriesError::Changed { series } => {
                write!(
                    f,
                    "the series {series:?} has just been changed; try again, and in a new \
                     transaction where the number is counted in one"
                )
            }
            SeriesError::Gapless { series } => write!(
                f,
                "the series {series:?} is gapless: its numbers are taken in the transaction that \
                 stores the document, by take_in in Rust, and by next_in in other languages"
            ),
            SeriesError::NotGapless { series } => write!(
                f,
                "the series {series:?} is not gapless, so its numbers are not counted in a \
                 transaction: take them with take"
            ),
            SeriesError::OtherDatabase { store, series } => write!(
                f,
                "the transaction's database does not have the series {series:?} of {store}: make \
                 the transaction there, or keep the series in the database of the documents"
            ),
            SeriesError::Closed { series, period } => {
                write!(f, "the period {period} of the series {series:?} is closed")
            }
            SeriesError::NotClosable { series, period, problem } => {
                write!(
                    f,
                    "the period {period} of the series {series:?} cannot be closed: {problem}"
                )
            }
            SeriesError::Full { series, scope, period, largest } => write!(
                f,
                "the series {series:?}{} has given all numbers of {period}: {largest} is the \
                 largest that fits its pattern; change it to one with a wider number, which may \
                 begin at once",
                InScope(scope)
            ),
            SeriesError::WentBack { store, series, scope, period, first, last } => write!(
                f,
                "the numbers of {period} of the series {series:?}{} in {store} went back: it gives \
                 {first} after {last}; raise its counter, and after the restore of an old copy the \
                 worker ids too, above all that were given, and restart this program",
                InScope(scope)
            ),
            SeriesError::Clock { unix_ms } => write!(
                f,
                "the clock shows {}, and no number is given for a year before 2010 or after 9999: \
                 set the clock",
                utc_ms(*unix_ms)
            ),
            SeriesError::Take(error) => error.fmt(f),
            SeriesError::Loading { series, period } => write!(
                f,
                "the first numbers of {period} of the series {series:?} are being loaded; try again"
            ),
            SeriesError::Storage(error) => error.fmt(f),
            SeriesError::Load(error) => error.fmt(f),
            SeriesError::Transaction { series, .. } => write!(
                f,
                "the transaction could not count a number of the series {series:?}; roll it \
                 back{}",
                if self.is_transient() { ", and try again in a new one" } else { "" }
            ),
        }
    }
}

impl Error for SeriesError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // Their texts are that of this error.
            SeriesError::Storage(error) => error.source(),
            SeriesError::Load(error) => error.source(),
            SeriesError::Take(error) => error.source(),
            SeriesError::Transaction { source, .. } => Some(&**source),
            _ => None,
        }
    }
}

/// The error of a day that a period should begin with, and does not.
pub(crate) fn not_a_beginning(series: &str, day: Date, period: Period) -> SeriesError {
    SeriesError::BadChange {
        series: series.to_owned(),
        problem: format!(
            "a version begins with a period, and {day} is within {period}; name {}",
            match (period.first(), period.next().and_then(Period::first)) {
                (Some(first), Some(next)) => format!("{first} or {next}"),
                _ => format!("no day, as it never ends: {ANOTHER}"),
            }
        ),
    }
}
