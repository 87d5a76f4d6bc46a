//! [`Ranges`], the numbers of fast series as a source of segments.

use std::time::Duration;

use super::counter::Counter;
use super::definition::SeriesDefinition;
use super::known::Known;
use super::series_error::SeriesError;
use super::store::Taken;
use crate::clock::{Clock, unix_ms};
use crate::segment::{Segment, SegmentError, SegmentSource, Tag, TagRecord};
use crate::sync::{Arc, lock};

/// Gives the numbers of each [`Counter`] in ranges, as those of the tag of its name.
pub(crate) struct Ranges {
    pub known: Arc<Known>,
    pub clock: Arc<dyn Clock>,
    /// For how long a range should last.
    pub refresh: Duration,
}

impl Ranges {
    fn counter<'a>(&self, tag: &'a str) -> Result<Counter<'a>, SegmentError> {
        Counter::of_tag(tag).ok_or_else(|| {
            let (store, tag) = (self.name(), tag.to_owned());
            SegmentError::NoSuchTag { store, tag, alike: Vec::new() }
        })
    }

    fn error(&self, tag: &str, error: SeriesError) -> SegmentError {
        error.into_segment(tag, self.name())
    }

    /// How many of `count` numbers to take: fewer near the end of the period, after which the rest
    /// is of no use.
    fn sized(&self, counter: &Counter<'_>, count: u64) -> u64 {
        let Ok(now) = i64::try_from(unix_ms(self.clock.now())) else { return count };
        let Ok(known) = self.known.get(counter.series) else { return count };
        let Ok((_, span)) = known.load().at(now).map(|(version, span)| (version.number, span))
        else {
            return count;
        };
        let left = u128::from(span.end_ms.saturating_sub(now).unsigned_abs());
        let refresh = self.refresh.as_millis().max(1);
        if span.period != counter.period || left >= refresh {
            return count;
        }
        let part = u128::from(count) * left / refresh;
        u64::try_from(part).unwrap_or(count).max(1)
    }
}

impl SegmentSource for Ranges {
    fn name(&self) -> String {
        self.known.store.name()
    }

    fn load(&self, tag: &str, count: Option<u64>) -> Result<Segment, SegmentError> {
        let counter = self.counter(tag)?;
        let told = |error| self.error(tag, error);
        let known = self.known.get(counter.series).map_err(told)?.load_full();
        let definition = known.record.version(counter.version).map(|version| &version.definition);
        let step = definition.map_or(1, SeriesDefinition::step_size);
        let most = definition.map_or(1, SeriesDefinition::most_at_once);
        let count = self.sized(&counter, count.unwrap_or(step).min(most));
        let taken = self.known.take(&counter, count).map_err(told)?;
        let mut segment = Segment::new(taken.first, taken.last - taken.first + 1, 1, taken.last);
        segment.step = step;
        if let Some(definition) = definition {
            segment.largest = definition.pattern().largest();
        }
        Ok(segment)
    }

    fn give_back(&self, tag: &str, unused: &Segment) -> Result<bool, SegmentError> {
        let counter = self.counter(tag)?;
        let (first, last) = (unused.first, unused.row_end);
        // Before the row is: whoever finds it lower knows why.
        let row = self.known.given.give_back(&counter, first, last);
        let given = row.map_or(Ok(false), |created| {
            self.known.store.give_back(&counter, Taken { first, last, created })
        });
        lock(&self.known.rested(counter.series)).insert(counter.scope.into());
        given.map_err(|error| self.error(tag, error))
    }

    /// Counters are not tags that anybody lists.
    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        Ok(Vec::new())
    }

    /// Counters are made by their first load.
    fn create(&self, tag: &str, _: &Tag) -> Result<TagRecord, SegmentError> {
        let problem = "numbers of series are counted by series".to_owned();
        Err(SegmentError::BadTag { tag: tag.to_owned(), problem })
    }
}
