//! Totals of tags, for the metrics.

#[cfg(feature = "metrics")]
use std::ops::Range;
use std::time::Duration;

use super::Scheduler;
#[cfg(feature = "metrics")]
use crate::segment::load::alarm::Measured;
use crate::segment::load::loaded_tag::LoadedTag;
use crate::segment::tag::engine::TagEngine;
use crate::support::named::ByName;
use crate::sync::{Arc, lock};

/// Totals of several tags, for the metrics.
#[cfg(feature = "metrics")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    pub in_memory: u64,
    pub taken: u64,
    pub lost: u64,
    pub waits: u64,
    pub longest_wait: Duration,
}

#[cfg(feature = "metrics")]
impl Totals {
    pub fn add(&mut self, tag: &TagEngine) {
        let counters = &tag.counters;
        let (claimed, left) = tag.claimed_and_left();
        let lost = tag.lost();
        self.in_memory += left;
        self.taken += claimed.saturating_sub(lost);
        self.lost += lost;
        self.waits += counters.waits.get();
        self.longest_wait = self.longest_wait.max(counters.longest_wait());
    }
}

/// A source and some of its tags, for the metrics.
#[cfg(feature = "metrics")]
#[derive(Debug, Default)]
pub struct Source {
    pub measured: Measured,
    /// How many tags are in use.
    pub tags: usize,
    /// The totals of those that were given up.
    pub retired_totals: Totals,
    /// The index after the last tag that was read, unless that was the last of all.
    pub next: Option<usize>,
    /// Tags that have begun to fail.
    pub failed: Vec<Arc<LoadedTag>>,
    /// Tags that the program named and that now have numbers.
    pub named: Vec<Arc<LoadedTag>>,
}

impl Scheduler {
    /// Reads the state of the source for the metrics. Adds the tags with these indexes to `tags`,
    /// and looks up those that the program named.
    #[cfg(feature = "metrics")]
    pub fn measure(
        &mut self,
        indexes: Range<usize>,
        tags: &mut Vec<Arc<LoadedTag>>,
        wanted: &[String],
    ) -> Source {
        let end = indexes.end.min(self.tags.len());
        let is_in_use = |tag: &&Arc<LoadedTag>| !lock(&tag.state).is_retired();
        tags.extend(self.tags[indexes.start.min(end)..end].iter().filter(is_in_use).cloned());
        let find = |name: &str| self.names.get(name).map(|ByName(tag)| Arc::clone(tag));
        let mut named: Vec<_> = wanted.iter().filter_map(|name| find(name)).collect();
        named.retain(|tag| lock(&tag.state).last_size > 0);
        let failed = self.alarms.take_failed().iter().filter_map(|name| find(name)).collect();
        Source {
            measured: self.alarms.measure(),
            tags: self.tags.len() - self.retired_indexes.len() - self.free_indexes.len(),
            retired_totals: self.retired_totals,
            next: (end < self.tags.len()).then_some(end),
            failed,
            named,
        }
    }
}
