//! Why there are no numbers of a tag.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::backend::StorageError;
use crate::clock::human;
#[cfg(feature = "series")]
use crate::engine::SegmentFailure;
use crate::engine::TakeError;
use crate::sync::Arc;

/// An error returned by a source of segments.
///
/// An error says what is wrong and what to do. What the database, the driver or the server said is
/// its [`source`](Error::source). The field `store` of an error is where the tags are: the file, or
/// the address without the password. An error can be cloned, because all who wait for a load get
/// the one of it.
///
/// A source of one's own says [`NoSuchTag`](SegmentError::NoSuchTag) and
/// [`RanOut`](SegmentError::RanOut) where they are so, and for all else
/// [`unreachable`](SegmentError::unreachable) or [`other`](SegmentError::other).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SegmentError {
    /// The source has no such tag.
    NoSuchTag {
        /// Where it was looked for.
        store: String,
        /// The tag.
        tag: String,
        /// Tags there that are alike, the most alike first.
        alike: Vec<String>,
    },
    /// There can be no tag of this name, or with these properties.
    BadTag {
        /// The name.
        tag: String,
        /// What is wrong with it, as a sentence about it.
        problem: String,
    },
    /// The tag is there, and its next number is below the one that it should begin with.
    Behind {
        /// Where it is.
        store: String,
        /// The tag.
        tag: String,
        /// Its next number.
        next: u64,
        /// The first number that was asked for.
        first: u64,
    },
    /// Another table of the same database has given the numbers of a tag that is to be created:
    /// Leaf's, or tinyid's.
    GivenElsewhere {
        /// The database.
        store: String,
        /// The tag.
        tag: String,
        /// The other table.
        table: &'static str,
        /// The last number that it has given.
        last: u64,
    },
    /// The tag is there, and is not as it should be created. It was not changed.
    Differs {
        /// Where it is.
        store: String,
        /// The tag.
        tag: String,
        /// What differs: `step`, `max_step` or `description`.
        field: &'static str,
        /// What the tag has there; `None` for nothing. A description is in quotation marks.
        there: Option<Box<str>>,
        /// What was asked for.
        asked: Box<str>,
    },
    /// A lower next number would give numbers twice.
    Lower {
        /// Where the tag is.
        store: String,
        /// The tag.
        tag: String,
        /// Its next number.
        next: u64,
        /// The next number that was asked for.
        asked: u64,
    },
    /// The next number of the tag is another than the one that was seen: others have taken some, or
    /// an operator has changed it.
    Moved {
        /// Where the tag is.
        store: String,
        /// The tag.
        tag: String,
        /// Its next number.
        next: u64,
        /// The next number that was seen before.
        seen: u64,
    },
    /// The row of the tag has values that give no numbers, or wrong ones.
    BadRow {
        /// Where it is.
        store: String,
        /// The tag.
        tag: String,
        /// What is wrong with it or what to do, as a sentence about the row.
        problem: String,
    },
    /// All numbers of the tag have been given.
    RanOut {
        /// Where it is.
        store: String,
        /// The tag.
        tag: String,
        /// The last number that the row could give.
        last: u64,
    },
    /// The row gives numbers again that this process has had: it was set back, or restored from an
    /// old copy.
    WentBack {
        /// Where it is.
        store: String,
        /// The tag.
        tag: String,
        /// The first number that it gave now.
        first: u64,
        /// The last number that it gave before.
        last: u64,
    },
    /// Two databases of the source give the same numbers.
    DatabasesOverlap {
        /// The name of the source.
        store: String,
        /// The tag.
        tag: String,
        /// The first number that both gave.
        first: u64,
        /// The last number that both gave.
        last: u64,
    },
    /// The database or the server cannot be used, or not now.
    Storage(StorageError),
    /// A series gives no numbers of a period and scope. The text is that of `error`.
    #[cfg(feature = "series")]
    Series {
        /// What is the matter; `None` where the period goes on, as after a change of its pattern.
        failure: Option<SegmentFailure>,
        /// A [`SeriesError`](crate::series::SeriesError).
        error: Arc<dyn Error + Send + Sync>,
    },
    /// A source of another crate failed, as [`unreachable`](SegmentError::unreachable) and
    /// [`other`](SegmentError::other) say it.
    Other {
        /// Whether the same call may succeed in a moment.
        is_transient: bool,
        /// What happened.
        source: Arc<dyn Error + Send + Sync>,
    },
    /// What is left has not been given back in time.
    NotGivenBack {
        /// How long it was waited for.
        waited: Duration,
    },
    /// The generator of the tags has ended.
    Ended {
        /// Why.
        cause: TakeError,
    },
}

impl SegmentError {
    /// The error of a source of one's own that cannot be reached for now. The same call is tried
    /// again, with growing pauses.
    ///
    /// ```
    /// use std::error::Error;
    /// use uidring::segment::SegmentError;
    ///
    /// let error = SegmentError::unreachable("the connection was refused");
    /// assert!(error.is_transient());
    /// assert_eq!(error.to_string(), "the source of numbers cannot be reached for now");
    /// assert_eq!(error.source().unwrap().to_string(), "the connection was refused");
    /// ```
    #[must_use]
    pub fn unreachable(cause: impl Into<Box<dyn Error + Send + Sync>>) -> SegmentError {
        SegmentError::Other { is_transient: true, source: Arc::from(cause.into()) }
    }

    /// The error of a source of one's own that failed in a way that another try will not mend.
    ///
    /// ```
    /// use uidring::segment::SegmentError;
    ///
    /// let cause = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
    /// let error = SegmentError::other(cause);
    /// assert!(!error.is_transient());
    /// assert_eq!(error.to_string(), "the source of numbers failed");
    /// ```
    #[must_use]
    pub fn other(cause: impl Into<Box<dyn Error + Send + Sync>>) -> SegmentError {
        SegmentError::Other { is_transient: false, source: Arc::from(cause.into()) }
    }

    /// Whether the same call may succeed in a moment: the row is locked, or the server is down or
    /// does not answer.
    ///
    /// ```
    /// # use uidring::segment::SegmentError;
    /// let error = SegmentError::RanOut { store: "ids.db".into(), tag: "a".into(), last: 9 };
    /// assert!(!error.is_transient());
    /// ```
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            SegmentError::Storage(error) => error.is_transient(),
            SegmentError::Other { is_transient, .. } => *is_transient,
            _ => false,
        }
    }
}

impl From<StorageError> for SegmentError {
    fn from(error: StorageError) -> SegmentError {
        SegmentError::Storage(error)
    }
}

impl fmt::Display for SegmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SegmentError::NoSuchTag { store, tag, alike } => no_such_tag(f, store, tag, alike),
            SegmentError::BadTag { tag, problem } => {
                write!(f, "the tag {tag:?} cannot be used: {problem}")
            }
            SegmentError::Behind { store, tag, next, first } => write!(
                f,
                "{store} has the tag {tag:?} already, and its next number is {next}, below the \
                 first one asked for, {first}; use it as it is, or set its next number"
            ),
            SegmentError::GivenElsewhere { store, tag, table, last } => write!(
                f,
                "the table {table} in {store} has given the numbers of the tag {tag:?} up to \
                 {last}: take them from that table, or see that nobody does any more, and create \
                 the tag with a first number above {last}"
            ),
            SegmentError::Differs { store, tag, field, there, asked } => write!(
                f,
                "{store} has the tag {tag:?} already, and its {field} is {}, and {asked} was asked \
                 for; ask for no {field} to use it as it is, or change its row",
                there.as_deref().unwrap_or("not set")
            ),
            SegmentError::Lower { store, tag, next, asked } => write!(
                f,
                "the tag {tag:?} in {store} has given its numbers below {next}, and would give \
                 those from {asked} on twice; name {next} or more"
            ),
            SegmentError::Moved { store, tag, next, seen } => write!(
                f,
                "the tag {tag:?} in {store} is in use: its next number is {next}, and was {seen} \
                 when it was looked at; see who takes from it"
            ),
            SegmentError::BadRow { store, tag, problem } => {
                write!(f, "the row of the tag {tag:?} in {store} cannot be used: {problem}")
            }
            SegmentError::RanOut { store, tag, last } => write!(
                f,
                "the tag {tag:?} in {store} has no numbers left: {last} was the last; go on with \
                 another tag"
            ),
            SegmentError::WentBack { store, tag, first, last } => write!(
                f,
                "the row of the tag {tag:?} in {store} went back: it gives {first} after {last}; \
                 set its next number, and after the restore of an old copy the worker ids too, \
                 above all that were given, and restart this program"
            ),
            SegmentError::DatabasesOverlap { store, tag, first, last } => write!(
                f,
                "two databases of {store} give the same numbers of the tag {tag:?}, from {first} \
                 to {last}; give each database a remainder of its own and a next number above all \
                 that were given, and restart this program"
            ),
            SegmentError::Storage(error) => write!(f, "{error}"),
            #[cfg(feature = "series")]
            SegmentError::Series { error, .. } => write!(f, "{error}"),
            SegmentError::Other { is_transient: true, .. } => {
                f.write_str("the source of numbers cannot be reached for now")
            }
            SegmentError::Other { is_transient: false, .. } => {
                f.write_str("the source of numbers failed")
            }
            SegmentError::NotGivenBack { waited } => write!(
                f,
                "not all numbers were given back within {}; those that were not are lost",
                human(*waited)
            ),
            SegmentError::Ended { .. } => f.write_str("the generator of the tags has ended"),
        }
    }
}

fn no_such_tag(
    f: &mut fmt::Formatter<'_>,
    store: &str,
    tag: &str,
    alike: &[String],
) -> fmt::Result {
    write!(f, "{store} has no tag {tag:?}; ")?;
    if let [most @ .., last] = alike {
        f.write_str("did you mean ")?;
        for tag in most {
            write!(f, "{tag:?} or ")?;
        }
        write!(f, "{last:?}? If not, ")?;
    }
    f.write_str(
        "create it first, and if it was there before, with a first number above all that were \
         given",
    )
}

impl Error for SegmentError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // Its text is that of this error.
            SegmentError::Storage(error) => error.source(),
            #[cfg(feature = "series")]
            SegmentError::Series { error, .. } => error.source(),
            SegmentError::Other { source, .. } => Some(&**source),
            SegmentError::Ended { cause } => Some(cause),
            _ => None,
        }
    }
}
