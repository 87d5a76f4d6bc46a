//! [`Supplier`]: a source as the loader sees it, and [`Reporting`], how its tags are shown to
//! people.

use crate::segment::{Segment, SegmentError, SegmentSource};

/// What people know a tag by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagLabel<'a> {
    /// Its own name.
    Tag(&'a str),
    /// One period of one scope of a series. The scope is empty if none was named.
    #[cfg_attr(not(feature = "series"), allow(dead_code))]
    Series { series: &'a str, period: &'a str, scope: &'a str },
}

/// How tags and errors are shown to people, in events and metrics.
#[derive(Clone, Copy, Debug)]
pub struct Reporting {
    /// Whether the tags are periods and scopes of series.
    pub is_of_series: bool,
    /// What people know the tag of this name by.
    pub tag_label: fn(&str) -> TagLabel<'_>,
    /// An error of a load in words that people know.
    pub error: fn(SegmentError) -> SegmentError,
}

/// For tags that people know by their names.
impl Default for Reporting {
    fn default() -> Reporting {
        Reporting {
            is_of_series: false,
            tag_label: |tag| TagLabel::Tag(tag),
            error: std::convert::identity,
        }
    }
}

/// How many counters have given most of the numbers that fit, and how many all of them.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(not(feature = "metrics"), allow(dead_code))]
pub struct Fullness {
    pub nearly_full: u64,
    pub full: u64,
}

/// What the loader takes numbers from.
pub trait Supplier: Send + Sync + 'static {
    fn source(&self) -> &dyn SegmentSource;

    /// Takes the next numbers of `tag`, as [`SegmentSource::load`] does. Takers wait for `wanted`
    /// of them.
    fn load(&self, tag: &str, count: Option<u64>, wanted: u64) -> Result<Segment, SegmentError> {
        let _ = wanted;
        self.source().load(tag, count)
    }

    fn reporting(&self) -> Reporting {
        Reporting::default()
    }

    /// Whether operators have yet to be told that the row of `tag` went back. They are then.
    fn is_news(&self, _tag: &str) -> bool {
        true
    }

    /// Of the counters of series that still count, as far as this process knows.
    #[cfg_attr(not(feature = "metrics"), allow(dead_code))]
    fn fullness(&self) -> Fullness {
        Fullness::default()
    }
}

impl Supplier for Box<dyn SegmentSource> {
    fn source(&self) -> &dyn SegmentSource {
        &**self
    }
}
