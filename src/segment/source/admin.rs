//! What operators do with tags.

use std::fmt;

use crate::segment::{SegmentError, SegmentSource, TagRecord};

/// What operators do with tags, besides what programs do: they change and remove them.
///
/// The sources in databases have it. It is a trait, so that a tool can be told at run time which of
/// them it works on:
///
/// ```
/// # #[cfg(feature = "sqlite")] {
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("uidring.db");
/// use uidring::segment::{SegmentAdmin, SqliteSegments, Tag, TagChange};
///
/// let tags: Box<dyn SegmentAdmin> = Box::new(SqliteSegments::open(&file)?);
/// tags.create("orders", &Tag::new())?;
/// tags.set("orders", &TagChange::new().step(5000).next(1_000_001))?;
/// for tag in tags.tags()? {
///     println!("{} gives {} next", tag.tag, tag.next);
/// }
/// # assert_eq!(tags.tags()?[0].next, 1_000_001);
/// tags.remove("orders", Some(1_000_001))?;
/// # assert!(tags.tags()?.is_empty());
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait SegmentAdmin: SegmentSource {
    /// Changes the row of `tag`, and returns it as it is then.
    ///
    /// This is safe at any time: processes go on with the numbers that they have.
    ///
    /// # Errors
    ///
    /// [`SegmentError::NoSuchTag`]; [`SegmentError::Lower`] when numbers would be given twice;
    /// [`SegmentError::BadTag`] when the change makes no sense; else as
    /// [`load`](SegmentSource::load).
    fn set(&self, tag: &str, change: &TagChange) -> Result<TagRecord, SegmentError>;

    /// Removes the row of `tag`, and returns it as it was. If `next` is given, the row is removed
    /// only while that is its next number: nobody has taken any since it was seen.
    ///
    /// Nothing is left that knows which numbers were given. A new tag of the same name gives them
    /// again, unless its first number is above them.
    ///
    /// # Errors
    ///
    /// [`SegmentError::NoSuchTag`]; [`SegmentError::Moved`] when the tag has another next number;
    /// else as [`load`](SegmentSource::load).
    fn remove(&self, tag: &str, next: Option<u64>) -> Result<TagRecord, SegmentError>;
}

/// What is to be changed of a tag; the rest stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagChange {
    pub(super) next: Option<u64>,
    pub(super) step: Option<u64>,
    pub(super) max_step: MaxStep,
    pub(super) description: Option<String>,
}

/// What becomes of the most numbers at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum MaxStep {
    #[default]
    Keep,
    Set(Option<u64>),
}

impl TagChange {
    /// Changes nothing yet.
    #[must_use]
    pub fn new() -> TagChange {
        TagChange::default()
    }

    /// The next number, not below the one that is next now. The numbers between are never given.
    #[must_use]
    pub fn next(self, next: u64) -> TagChange {
        TagChange { next: Some(next), ..self }
    }

    /// How many numbers a process takes at least.
    #[must_use]
    pub fn step(self, step: u64) -> TagChange {
        TagChange { step: Some(step), ..self }
    }

    /// The most numbers that a process takes at once; `None` where the process decides.
    #[must_use]
    pub fn max_step(self, max_step: impl Into<Option<u64>>) -> TagChange {
        TagChange { max_step: MaxStep::Set(max_step.into()), ..self }
    }

    /// What people want to know about it, in 256 characters at most.
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> TagChange {
        TagChange { description: Some(description.into()), ..self }
    }
}

/// A row of tinyid's table `tiny_id_token`: whoever has the token may take numbers of the tag.
///
/// A token that may be used for several tags has a row for each.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TinyIdToken {
    /// What a client sends.
    pub token: String,
    /// The tag, tinyid's `biz_type`.
    pub tag: String,
}

/// Without the token, which is a secret.
impl fmt::Debug for TinyIdToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TinyIdToken").field("tag", &self.tag).finish_non_exhaustive()
    }
}
