//! [`SeriesNumber`], one number of a series.

use std::fmt;

use super::period::Period;

/// The most numbers that one call takes by a date or in a transaction.
pub(crate) const MOST_AT_ONCE: u64 = 1_000_000;

/// A number that people see.
///
/// Its text and its parts come from one reading of the clock: the text is that of the period that
/// it shows, and the number was counted in the period around that one.
///
/// ```
/// # #[cfg(feature = "sqlite")] {
/// # use uidring::series::{Series, SeriesDefinition};
/// # let folder = tempfile::tempdir()?;
/// # let store = uidring::Store::open(folder.path().join("uidring.db"))?;
/// # let series = Series::builder().store(&store).build()?;
/// let customers = series.create("customers", SeriesDefinition::new("C-{n:5}")?)?;
/// let number = customers.take()?;
/// assert_eq!(number.to_string(), "C-00001");
/// assert_eq!((number.value(), number.period().to_string()), (1, "ever".to_owned()));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SeriesNumber {
    text: String,
    value: u64,
    period: Period,
    shown: Period,
}

impl SeriesNumber {
    pub(crate) fn new(text: String, value: u64, period: Period, shown: Period) -> SeriesNumber {
        SeriesNumber { text, value, period, shown }
    }

    /// The number itself, counted from the first of its period.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.value
    }

    /// The period in which it was counted.
    #[must_use]
    pub fn period(&self) -> Period {
        self.period
    }

    /// The period that the text shows: that of [`period`](SeriesNumber::period), or a part of it.
    #[must_use]
    pub fn shown(&self) -> Period {
        self.shown
    }

    /// The text that people see.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The text that people see, without a copy.
    #[must_use]
    pub fn into_string(self) -> String {
        self.text
    }
}

impl fmt::Display for SeriesNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl AsRef<str> for SeriesNumber {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl From<SeriesNumber> for String {
    fn from(number: SeriesNumber) -> String {
        number.text
    }
}
