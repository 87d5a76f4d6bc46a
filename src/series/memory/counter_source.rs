//! [`CounterSource`], the numbers of fast series as a source of segments.

use std::time::Duration;

use super::series_cache::SeriesCache;
use crate::clock::{Clock, saturated, unix_ms};
use crate::segment::load::supplier::{Fullness, Reporting, Supplier};
use crate::segment::{Segment, SegmentError, SegmentSource, Tag, TagRecord};
use crate::series::error::SeriesError;
use crate::series::form::definition::SeriesDefinition;
use crate::series::store::TakenRange;
use crate::series::store::counter::{Counter, tag_label};
use crate::sync::{Arc, lock};

/// Gives the numbers of each [`Counter`] in ranges, as those of the tag of its name.
pub(crate) struct CounterSource {
    pub cache: Arc<SeriesCache>,
    pub clock: Arc<dyn Clock>,
    /// For how long a range should last.
    pub refresh: Duration,
}

impl CounterSource {
    fn counter<'a>(&self, tag: &'a str) -> Result<Counter<'a>, SegmentError> {
        Counter::of_tag(tag).ok_or_else(|| {
            let (store, tag) = (self.name(), tag.to_owned());
            SegmentError::NoSuchTag { store, tag, alike: Vec::new() }
        })
    }

    /// Takes `count` numbers, as many of them as make sense, and at least `wanted`.
    fn load_at_least(
        &self,
        tag: &str,
        count: Option<u64>,
        wanted: u64,
    ) -> Result<Segment, SegmentError> {
        let counter = self.counter(tag)?;
        let cached = self.cache.get(counter.series).map_err(SeriesError::into_segment)?.load_full();
        let definition = cached.record.version(counter.version).map(|version| &version.definition);
        let step = definition.map_or(1, SeriesDefinition::step_size);
        let most = definition.map_or(1, SeriesDefinition::most_at_once);
        let count = self.limited_to_period(&counter, count.unwrap_or(step).min(most)).max(wanted);
        let taken = self.cache.take(&counter, count).map_err(SeriesError::into_segment)?;
        let mut segment = Segment::new(taken.first, taken.last - taken.first + 1, 1, taken.last);
        segment.step = step;
        if let Some(definition) = definition {
            segment.largest = definition.pattern().largest();
        }
        Ok(segment)
    }

    /// How many of `count` numbers to take: fewer near the end of the period, after which the rest
    /// is of no use.
    fn limited_to_period(&self, counter: &Counter<'_>, count: u64) -> u64 {
        let Ok(now) = i64::try_from(unix_ms(self.clock.now())) else { return count };
        let Ok(cached) = self.cache.get(counter.series) else { return count };
        let Ok((_, span)) =
            cached.load().version_at(now).map(|(version, span)| (version.number, span))
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

impl Supplier for CounterSource {
    fn source(&self) -> &dyn SegmentSource {
        self
    }

    /// What takers wait for is used at once, so that neither the end of the period nor the number
    /// of processes matters.
    fn load(&self, tag: &str, count: Option<u64>, wanted: u64) -> Result<Segment, SegmentError> {
        self.load_at_least(tag, count, wanted)
    }

    fn reporting(&self) -> Reporting {
        Reporting { is_of_series: true, tag_label, error: as_series_error }
    }

    fn is_news(&self, tag: &str) -> bool {
        Counter::of_tag(tag).is_none_or(|counter| self.cache.last_numbers.is_news(&counter))
    }

    fn fullness(&self) -> Fullness {
        self.cache.fullness(saturated(unix_ms(self.clock.now())))
    }
}

impl SegmentSource for CounterSource {
    fn name(&self) -> String {
        self.cache.store.name()
    }

    fn load(&self, tag: &str, count: Option<u64>) -> Result<Segment, SegmentError> {
        self.load_at_least(tag, count, 0)
    }

    fn give_back(&self, tag: &str, unused: &Segment) -> Result<bool, SegmentError> {
        let counter = self.counter(tag)?;
        let (first, last) = (unused.first, unused.row_end);
        // Before the row is: whoever finds it lower knows why.
        let row = self.cache.last_numbers.give_back(&counter, first, last);
        let given = row.map_or(Ok(false), |created| {
            self.cache.store.give_back(&counter, TakenRange { first, last, created })
        });
        if let Ok(true) = given {
            self.cache.nearly_full.gave_back(&counter, first.saturating_sub(1));
        }
        lock(&self.cache.idle_scopes(counter.series)).insert(counter.scope.into());
        given.map_err(SeriesError::into_segment)
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

/// An error of the loader, of which people know the tag as a period of a series.
fn as_series_error(error: SegmentError) -> SegmentError {
    match error {
        SegmentError::WentBack { store, tag, first, last } => match Counter::of_tag(&tag) {
            Some(Counter { series, scope, period, .. }) => {
                let (series, scope) = (series.to_owned(), scope.to_owned());
                SeriesError::WentBack { store, series, scope, period, first, last }.into_segment()
            }
            None => SegmentError::WentBack { store, tag, first, last },
        },
        SegmentError::BadRow { store, tag, problem } => {
            let series = Counter::of_tag(&tag).map(|counter| counter.series.to_owned());
            SegmentError::BadRow { store, tag: series.unwrap_or(tag), problem }
        }
        error => error,
    }
}
