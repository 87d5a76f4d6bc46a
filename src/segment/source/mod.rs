//! [`SegmentSource`]: where the numbers of tags come from.

mod admin;
#[cfg(feature = "redis")]
mod cosid;
#[cfg(feature = "http")]
pub mod http;
#[cfg(any(feature = "etcd", feature = "redis", feature = "zookeeper"))]
mod key_segments;
#[cfg(feature = "_store")]
mod limits;
#[cfg(any(feature = "http", feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod round_robin;
#[cfg(feature = "_store")]
mod row;
#[cfg(feature = "_store")]
mod row_identities;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub mod sql;

pub use admin::{SegmentAdmin, TagChange, TinyIdToken};

#[cfg(feature = "redis")]
pub(crate) use cosid::CosIdSegments;
#[cfg(any(feature = "etcd", feature = "redis", feature = "zookeeper"))]
pub(crate) use key_segments::KeySegments;
#[cfg(all(
    feature = "series",
    any(feature = "mysql", feature = "postgres", feature = "sqlite")
))]
pub(crate) use row::similar_names;

use std::cmp::Ordering;

use crate::number::Number;
use crate::segment::SegmentError;

/// A table, or a server, that gives out the numbers of each tag in ranges.
///
/// Calls may block, but each must end within a time limit of the source's own. Several calls run at
/// once, for different tags.
///
/// # Example
///
/// A source that counts one tag up, in a service of one's own:
///
/// ```
/// use uidring::segment::{Segment, SegmentError, SegmentSource, Segments, Tag, TagRecord};
///
/// struct Service;
///
/// /// The size of a segment if the caller does not ask for one.
/// const STEP: u64 = 1000;
///
/// impl Service {
///     /// Adds `count` to the number that the service stores, and returns what it was before.
///     fn add(&self, count: u64) -> std::io::Result<u64> {
///         # static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
///         // ...
///         # Ok(NEXT.fetch_add(count, std::sync::atomic::Ordering::Relaxed))
///     }
/// }
///
/// impl SegmentSource for Service {
///     fn name(&self) -> String {
///         "the service".to_owned()
///     }
///
///     fn load(&self, tag: &str, count: Option<u64>) -> Result<Segment, SegmentError> {
///         if tag != "orders" {
///             let (store, tag) = (self.name(), tag.to_owned());
///             return Err(SegmentError::NoSuchTag { store, tag, alike: Vec::new() });
///         }
///         let count = count.unwrap_or(STEP);
///         let first = self.add(count).map_err(SegmentError::unreachable)?;
///         let mut segment = Segment::new(first, count, 1, first + count);
///         // Also where more were wished.
///         segment.step = STEP;
///         Ok(segment)
///     }
///
///     /// The service only counts up.
///     fn give_back(&self, _: &str, _: &Segment) -> Result<bool, SegmentError> {
///         Ok(false)
///     }
///
///     fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
///         let next = self.add(0).map_err(SegmentError::unreachable)?;
///         Ok(vec![TagRecord::new("orders", next, STEP, 1)])
///     }
///
///     fn create(&self, tag: &str, _: &Tag) -> Result<TagRecord, SegmentError> {
///         let problem = "the service has one tag, orders".to_owned();
///         Err(SegmentError::BadTag { tag: tag.to_owned(), problem })
///     }
/// }
///
/// let segments = Segments::builder().source(Service).build()?;
/// assert_eq!(segments.tag("orders")?.take()?.get(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg_attr(
    feature = "contract",
    doc = "\n[`contract::check`](crate::segment::contract::check) tests any source against this \
           contract, and [`contract::check_one_way`](crate::segment::contract::check_one_way) one \
           that takes no numbers back."
)]
pub trait SegmentSource: Send + Sync + 'static {
    /// Where the numbers come from, without a password: for errors, events and metrics.
    fn name(&self) -> String;

    /// Takes the next numbers of `tag`. When this returns, nobody else can get them, even after a
    /// power failure. `count` is how many the caller would like. `None` asks for the row's own
    /// step. A source may give more or fewer, but at least one.
    ///
    /// # Errors
    ///
    /// [`SegmentError`] says what is wrong. If it is unknown whether the source has counted the
    /// numbers as taken, they are lost, and the next call takes later ones.
    fn load(&self, tag: &str, count: Option<u64>) -> Result<Segment, SegmentError>;

    /// Gives back the unused end of the numbers loaded last. `unused` is the rest of the last
    /// segment, with those before it if they follow one another without a gap. The row is changed
    /// only if it still ends where `unused` ends. Returns whether it was changed.
    ///
    /// Whatever this returns, the caller must not use any of the numbers again, and must not give
    /// them back a second time: after an error, the row may still be changed, now or a moment
    /// later, and others may have the numbers.
    ///
    /// # Errors
    ///
    /// [`SegmentError`] says what is wrong.
    fn give_back(&self, tag: &str, unused: &Segment) -> Result<bool, SegmentError>;

    /// All tags, sorted.
    ///
    /// # Errors
    ///
    /// [`SegmentError`] says what is wrong.
    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError>;

    /// The tags whose rows were changed last, those first, and at most `most` of them; and how many
    /// tags there are. The databases read no more than that. Where nothing tells when a row was
    /// changed, the order is that of the tags.
    ///
    /// # Errors
    ///
    /// As [`tags`](SegmentSource::tags).
    fn newest_tags(&self, most: usize) -> Result<(Vec<TagRecord>, u64), SegmentError> {
        let mut tags = self.tags()?;
        let all = tags.len() as u64;
        tags.sort_by(TagRecord::newest_first);
        tags.truncate(most);
        Ok((tags, all))
    }

    /// Creates `tag`, or returns the existing row unchanged.
    ///
    /// # Errors
    ///
    /// The error of [`Tag::check`] if the tag exists and is not what `new` asks for;
    /// [`SegmentError::GivenElsewhere`] if the tag does not exist and another table of the same
    /// database has given its numbers; otherwise [`SegmentError`] says what is wrong.
    fn create(&self, tag: &str, new: &Tag) -> Result<TagRecord, SegmentError>;
}

/// For a program that chooses its source at run time.
impl<S: SegmentSource + ?Sized> SegmentSource for Box<S> {
    fn name(&self) -> String {
        (**self).name()
    }

    fn load(&self, tag: &str, count: Option<u64>) -> Result<Segment, SegmentError> {
        (**self).load(tag, count)
    }

    fn give_back(&self, tag: &str, unused: &Segment) -> Result<bool, SegmentError> {
        (**self).give_back(tag, unused)
    }

    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        (**self).tags()
    }

    fn newest_tags(&self, most: usize) -> Result<(Vec<TagRecord>, u64), SegmentError> {
        (**self).newest_tags(most)
    }

    fn create(&self, tag: &str, new: &Tag) -> Result<TagRecord, SegmentError> {
        (**self).create(tag, new)
    }
}

/// Numbers of one tag that one process may hand out: `count` numbers `first`, `first + delta`, and
/// so on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Segment {
    /// The first number, at least 1.
    pub first: u64,
    /// How many numbers there are, at least one.
    pub count: u64,
    /// The distance from one number to the next, at least 1.
    pub delta: u64,
    /// The end that the row stored before this load, in the source's own way of counting.
    pub row_start: u64,
    /// The end that the row stores after this load, in the source's own way of counting.
    pub row_end: u64,
    /// The index of the source's database that contains the row.
    pub database: usize,
    /// How many numbers the row says to take at once, at least.
    pub step: u64,
    /// How many numbers the row says to take at once, at most.
    pub max_step: Option<u64>,
    /// The largest number that the row can give. From 80 % of it on, operators are warned.
    pub largest: u64,
}

/// A new tag: its first number and its steps.
///
/// If the tag already exists, only the fields that are set here are compared: a tag whose operator
/// has changed the step is used as it is, unless the program sets a step.
///
/// ```
/// use uidring::segment::Tag;
///
/// let tag = Tag::new().first(5000).step(20_000).description("of the shop");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    pub(crate) first: u64,
    pub(crate) step: Option<u64>,
    pub(crate) max_step: Option<u64>,
    pub(crate) description: Option<String>,
}

/// What a source stores about a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TagRecord {
    /// Its name.
    pub tag: String,
    /// The next number that the source gives out. After 2<sup>63</sup> - 1, the largest number,
    /// there is none.
    pub next: u64,
    /// How many numbers a process takes at once, at least.
    pub step: u64,
    /// How many numbers a process takes at once, at most. With `None`, the process decides.
    pub max_step: Option<u64>,
    /// The distance from one number to the next.
    pub delta: u64,
    /// A free text for people.
    pub description: Option<String>,
    /// When the row was last changed.
    pub updated: Option<std::time::SystemTime>,
}

impl Tag {
    /// A tag that begins at 1 and takes 1,000 numbers at a time.
    #[must_use]
    pub fn new() -> Tag {
        Tag { first: 1, step: None, max_step: None, description: None }
    }

    /// The first number.
    #[must_use]
    pub fn first(self, first: u64) -> Tag {
        Tag { first, ..self }
    }

    /// How many numbers a process takes at once, at least: 1,000 unless set, or
    /// [`max_step`](Tag::max_step) if that is less.
    #[must_use]
    pub fn step(self, step: u64) -> Tag {
        Tag { step: Some(step), ..self }
    }

    /// How many numbers a process takes at once, at most. Unless set, the process decides. It may
    /// take that many several times before it needs them: how many it has in memory is bounded by
    /// [`Builder::max_in_memory`](super::Builder::max_in_memory).
    #[must_use]
    pub fn max_step(self, max_step: u64) -> Tag {
        Tag { max_step: Some(max_step), ..self }
    }

    /// A free text for people, of at most 256 characters.
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Tag {
        Tag { description: Some(description.into()), ..self }
    }
}

impl Tag {
    /// The record of a new tag of this name, for your own source to store.
    ///
    /// ```
    /// use uidring::segment::Tag;
    ///
    /// let record = Tag::new().first(5000).max_step(200).record("orders");
    /// assert_eq!((record.next, record.step, record.max_step), (5000, 200, Some(200)));
    /// ```
    #[must_use]
    pub fn record(&self, tag: &str) -> TagRecord {
        let step = self.step.unwrap_or(USUAL_STEP.min(self.max_step.unwrap_or(u64::MAX)));
        TagRecord {
            max_step: self.max_step,
            description: self.description.clone(),
            ..TagRecord::new(tag, self.first, step, 1)
        }
    }

    /// Fails unless the existing tag `there`, in `store`, is what this asks for: its next number is
    /// not below the first one, and its step, largest step and description are those that are set
    /// here, if they are. For your own source.
    ///
    /// ```
    /// use uidring::segment::Tag;
    ///
    /// let there = Tag::new().step(500).record("orders");
    /// Tag::new().check("the service", &there)?;
    /// let error = Tag::new().step(1000).check("the service", &there).unwrap_err();
    /// assert!(error.to_string().contains("its step is 500, and 1000 was asked for"));
    /// # Ok::<(), uidring::segment::SegmentError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SegmentError::Behind`] or [`SegmentError::Differs`].
    pub fn check(&self, store: &str, there: &TagRecord) -> Result<(), SegmentError> {
        let (next, first) = (there.next, self.first);
        if next < first {
            let (store, tag) = (store.to_owned(), there.tag.clone());
            return Err(SegmentError::Behind { store, tag, next, first });
        }
        let number = |number: u64| Box::<str>::from(number.to_string());
        let text = |text: &String| format!("{text:?}").into();
        let asked = [
            ("step", self.step.map(number), Some(number(there.step))),
            ("max_step", self.max_step.map(number), there.max_step.map(number)),
            (
                "description",
                self.description.as_ref().map(text),
                there.description.as_ref().map(text),
            ),
        ];
        for (field, asked, found) in asked {
            if let Some(asked) = asked.filter(|asked| found.as_ref() != Some(asked)) {
                let (store, tag) = (store.to_owned(), there.tag.clone());
                return Err(SegmentError::Differs { store, tag, field, there: found, asked });
            }
        }
        Ok(())
    }
}

/// The step of a tag that was created without one.
const USUAL_STEP: u64 = 1000;

impl Default for Tag {
    fn default() -> Tag {
        Tag::new()
    }
}

impl Segment {
    /// `count` numbers from `first` on, `delta` apart, of a row that now ends at `row_end`. For
    /// your own source. Its [`step`](Segment::step) is `count`, and it has no
    /// [`max_step`](Segment::max_step): set both to those of the row. If the step were always
    /// `count`, each load would be at least as large as the one before.
    #[must_use]
    pub fn new(first: u64, count: u64, delta: u64, row_end: u64) -> Segment {
        let row_start = row_end.saturating_sub(count.saturating_mul(delta));
        let (database, step, max_step) = (0, count, None);
        let largest = Number::MAX.get();
        Segment { first, count, delta, row_start, row_end, database, step, max_step, largest }
    }
}

impl TagRecord {
    /// Those that were changed last come first.
    pub(crate) fn newest_first(&self, other: &TagRecord) -> Ordering {
        other.updated.cmp(&self.updated).then_with(|| self.tag.cmp(&other.tag))
    }

    /// A tag whose next number is `next`, whose step is `step`, and whose numbers are `delta`
    /// apart. For your own source.
    #[must_use]
    pub fn new(tag: impl Into<String>, next: u64, step: u64, delta: u64) -> TagRecord {
        TagRecord {
            tag: tag.into(),
            next,
            step,
            max_step: None,
            delta,
            description: None,
            updated: None,
        }
    }
}
