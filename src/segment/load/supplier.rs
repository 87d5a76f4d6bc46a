//! [`Supplier`]: a source as the loader sees it, and [`Telling`], how its tags are told to people.

use crate::segment::{Segment, SegmentError, SegmentSource};

/// What people know a tag by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject<'a> {
    /// Its own name.
    Tag(&'a str),
    /// One period of one scope of a series. The scope is empty if none was named.
    #[cfg_attr(not(feature = "series"), allow(dead_code))]
    Series { series: &'a str, period: &'a str, scope: &'a str },
}

/// How tags and errors are told to people.
#[derive(Clone, Copy, Debug)]
pub struct Telling {
    /// Whether the tags are periods and scopes of series.
    pub is_of_series: bool,
    /// What people know the tag of this name by.
    pub subject: fn(&str) -> Subject<'_>,
    /// An error of a load in words that people know.
    pub error: fn(SegmentError) -> SegmentError,
}

/// How tags are told that people know by their names.
impl Default for Telling {
    fn default() -> Telling {
        Telling {
            is_of_series: false,
            subject: |tag| Subject::Tag(tag),
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

    fn telling(&self) -> Telling {
        Telling::default()
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
