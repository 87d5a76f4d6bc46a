//! How a scope opens the period in which it counts.

use std::time::SystemTime;

use super::{OnEmpty, OpenNumbers, Scope};
use crate::segment::SegmentGenerator;
use crate::series::error::SeriesError;
use crate::series::form::period::Period;
use crate::series::memory::open_period::OpenPeriod;
use crate::series::memory::series_cache::{CachedSeries, MOST_RELOADS};
use crate::series::memory::shared::{Shared, in_ms};
use crate::series::store::counter::Counter;
use crate::sync::{Arc, lock};

/// The counter of a time.
struct CounterAt {
    open_period: Arc<OpenPeriod>,
    tag: String,
}

impl Scope {
    /// The numbers of this period, if they are in memory, or are those of the present period.
    pub(super) fn open_for_period(
        &self,
        shared: &Shared,
        series: &str,
        period: Period,
    ) -> Result<Option<Arc<OpenNumbers>>, SeriesError> {
        let now = shared.clock.now();
        // A period that has just ended may have numbers, too.
        let open = self.open.load_full().filter(|open| open.period() == period);
        if let Some(open) = open.filter(|open| open.counts_at(now) || !open.numbers.is_retired()) {
            return Ok(Some(open));
        }
        shared.check_fork()?;
        let cached = shared.cache.get(series)?.load_full();
        let (version, span) = cached.version_at(in_ms(now))?;
        let pattern = version.definition.pattern();
        // A scope that is a date is meant, where the date stands beside it.
        let is_its = span.period == period && pattern.check_scope_alone(&self.name).is_ok();
        if cached.is_gapless() || !is_its {
            return Ok(None);
        }
        self.open_at(shared, series, now).map(Some)
    }

    pub(super) fn open_or_fail(
        &self,
        on_empty: OnEmpty,
        shared: &Shared,
        series: &str,
        now: SystemTime,
    ) -> Result<Arc<OpenNumbers>, SeriesError> {
        match on_empty {
            OnEmpty::Wait => self.open_at(shared, series, now),
            OnEmpty::Fail => self.record_failure(self.try_open_at(shared, series, now)),
        }
    }

    /// Opens the period of this time, and waits until its first numbers are loaded.
    #[cold]
    pub fn open_at(
        &self,
        shared: &Shared,
        series: &str,
        now: SystemTime,
    ) -> Result<Arc<OpenNumbers>, SeriesError> {
        self.record_failure(self.open_now(shared, series, now))
    }

    fn open_now(
        &self,
        shared: &Shared,
        series: &str,
        now: SystemTime,
    ) -> Result<Arc<OpenNumbers>, SeriesError> {
        self.check()?;
        shared.check_fork()?;
        let mut cached = shared.cache.get(series)?.load_full();
        for _ in 0..MOST_RELOADS {
            let at = self.counter_at(&cached, now)?;
            match shared.segments.tag(&at.tag) {
                Ok(numbers) => return Ok(self.publish(at, numbers)),
                Err(error) => match SeriesError::of_segment(error) {
                    SeriesError::Changed { .. } => cached = shared.cache.reload(series)?,
                    error => {
                        shared.cache.nearly_full.note_full(&error);
                        return Err(error);
                    }
                },
            }
        }
        Err(SeriesError::Changed { series: series.to_owned() })
    }

    /// Opens the period of this time if its first numbers are there. Otherwise they are asked for,
    /// and nothing is waited for.
    #[cold]
    pub(super) fn try_open_at(
        &self,
        shared: &Shared,
        series: &str,
        now: SystemTime,
    ) -> Result<Arc<OpenNumbers>, SeriesError> {
        self.check()?;
        shared.check_fork()?;
        let cached = shared.cache.last_read(series)?;
        let at = self.counter_at(&cached, now)?;
        let mut pending = lock(&self.pending);
        if pending.as_ref().is_none_or(|pending| pending.is_retired() || pending.tag() != at.tag) {
            *pending =
                shared.segments.begin_first_load(&at.tag).map_err(SeriesError::of_segment)?;
        }
        // What is given up has its name until its numbers are back in the row.
        let in_use = pending.as_ref().filter(|pending| !pending.is_retired());
        let loaded = in_use.and_then(|pending| shared.segments.loaded(pending));
        let Some(loaded) = loaded else {
            let (series, period) = (series.to_owned(), at.open_period.period());
            return Err(SeriesError::Loading { series, period });
        };
        *pending = None;
        drop(pending);
        match loaded.map_err(SeriesError::of_segment) {
            Ok(numbers) => Ok(self.publish(at, numbers)),
            Err(SeriesError::Changed { series }) => {
                // The next load reads the series again.
                shared.cache.mark_stale(&series);
                Err(SeriesError::Changed { series })
            }
            Err(error) => {
                shared.cache.nearly_full.note_full(&error);
                Err(error)
            }
        }
    }

    fn counter_at(&self, cached: &CachedSeries, now: SystemTime) -> Result<CounterAt, SeriesError> {
        let (version, span) = cached.version_at(in_ms(now))?;
        let name = &cached.record.name;
        if version.definition.is_gapless() {
            return Err(SeriesError::Gapless { series: name.clone() });
        }
        version.definition.pattern().check_date(span.date)?;
        let (scope, number, period) = (&*self.name, version.number, span.period);
        version.definition.pattern().check_scope_alone(scope)?;
        let tag = Counter { series: name, version: number, period, scope }.tag();
        Ok(CounterAt { open_period: cached.open_period(version, span, now)?, tag })
    }

    /// Makes the opened period that of all takes, and gives the one before up.
    fn publish(&self, at: CounterAt, numbers: SegmentGenerator) -> Arc<OpenNumbers> {
        let open = Arc::new(OpenNumbers { open_period: at.open_period, numbers });
        let before = self.open.swap(Some(Arc::clone(&open)));
        self.failure.store(None);
        if let Some(before) = before
            && before.numbers.tag() != open.numbers.tag()
        {
            before.numbers.retire();
        }
        open
    }
}
