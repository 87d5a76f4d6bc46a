//! [`SegmentAdmin`]: operators' actions on tags.

use std::fmt;

use crate::segment::{SegmentError, SegmentSource, TagRecord};

/// Actions on tags that operators need and programs do not: changing and removing them.
///
/// The sources in databases implement it. It is a trait so that a tool can choose the source at run
/// time:
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
    /// [`SegmentError::NoSuchTag`]; [`SegmentError::Lower`] if numbers would be given twice;
    /// [`SegmentError::BadTag`] if the change makes no sense; otherwise as for
    /// [`load`](SegmentSource::load).
    fn set(&self, tag: &str, change: &TagChange) -> Result<TagRecord, SegmentError>;

    /// Removes the row of `tag`, and returns it as it was. If `next` is given, removes the row only
    /// if that is still its next number, so that nobody has taken any since it was read.
    ///
    /// After that, no record remains of which numbers were given. A new tag of the same name gives
    /// them again, unless its first number is above them.
    ///
    /// # Errors
    ///
    /// [`SegmentError::NoSuchTag`], also where the answer to the removal was lost and the row is
    /// gone, which this call or another one may have removed; [`SegmentError::Moved`] if the tag
    /// has another next number; otherwise as for [`load`](SegmentSource::load).
    fn remove(&self, tag: &str, next: Option<u64>) -> Result<TagRecord, SegmentError>;
}

/// A change of a tag. Fields that are not set stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagChange {
    pub(super) next: Option<u64>,
    pub(super) step: Option<u64>,
    pub(super) max_step: MaxStep,
    pub(super) description: Option<String>,
}

/// The change of the largest step.
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

    /// The next number, which must not be below the present one. The numbers between are never
    /// given.
    #[must_use]
    pub fn next(self, next: u64) -> TagChange {
        TagChange { next: Some(next), ..self }
    }

    /// How many numbers a process takes at once, at least.
    #[must_use]
    pub fn step(self, step: u64) -> TagChange {
        TagChange { step: Some(step), ..self }
    }

    /// How many numbers a process takes at once, at most. With `None`, the process decides.
    #[must_use]
    pub fn max_step(self, max_step: impl Into<Option<u64>>) -> TagChange {
        TagChange { max_step: MaxStep::Set(max_step.into()), ..self }
    }

    /// A free text for people, of at most 256 characters.
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> TagChange {
        TagChange { description: Some(description.into()), ..self }
    }
}

/// A row of tinyid's table `tiny_id_token`: the token permits taking numbers of the tag.
///
/// A token that may be used for several tags has a row for each.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TinyIdToken {
    /// The token that clients send.
    pub token: String,
    /// The tag, tinyid's `biz_type`.
    pub tag: String,
}

/// Hides the token, which is a secret.
impl fmt::Debug for TinyIdToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TinyIdToken").field("tag", &self.tag).finish_non_exhaustive()
    }
}
