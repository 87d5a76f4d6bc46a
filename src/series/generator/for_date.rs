//! Numbers of the period of a date that the caller names.

use super::SeriesGenerator;
use crate::engine::TakeError;
use crate::series::error::SeriesError;
use crate::series::form::date::Date;
use crate::series::form::number::{MOST_AT_ONCE, SeriesNumber};
use crate::series::memory::handle::Handle;
use crate::series::memory::series_cache::MOST_RELOADS;

impl SeriesGenerator {
    /// Takes the next number of the period of a `date`: that of the document, not of the call. Its
    /// text shows that date. For the present period this is as fast as
    /// [`take`](SeriesGenerator::take). For any other it asks the store, as no numbers of it are in
    /// memory.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::series::{Series, SeriesDefinition};
    /// # let folder = tempfile::tempdir()?;
    /// # let store = uidring::Store::open(folder.path().join("uidring.db"))?;
    /// # let series = Series::builder().store(&store).build()?;
    /// let orders = series.create("orders", SeriesDefinition::new("SO{yyyy}{MM}{dd}-{n:6}")?)?;
    /// assert_eq!(orders.take_for("2025-11-01".parse()?)?.to_string(), "SO20251101-000001");
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`take`](SeriesGenerator::take).
    pub fn take_for(&self, date: Date) -> Result<SeriesNumber, SeriesError> {
        let cached = self.handle.cached_series()?;
        let (version, period) = cached.version_on(date);
        version.definition.pattern().check_date(date)?;
        let Handle { shared, scope, .. } = &self.handle;
        if let Some(number) = scope.take_in_period(shared, self.name(), period, date)? {
            return Ok(number);
        }
        let mut numbers = self.take_from_store(date, 1)?;
        numbers.pop().ok_or(SeriesError::Changed { series: self.name().to_owned() })
    }

    /// Takes the next `count` numbers of the period of a `date`, at least one and at most a
    /// million. They ascend, and are those that so many calls of
    /// [`take_for`](SeriesGenerator::take_for) would get: of the present period from memory, as far
    /// as they are there, and of any other from the store, in one call and without gaps between
    /// them. If fewer fit the pattern, it takes those.
    ///
    /// # Errors
    ///
    /// As [`take`](SeriesGenerator::take).
    pub fn take_n_for(&self, date: Date, count: u64) -> Result<Vec<SeriesNumber>, SeriesError> {
        let count = count.clamp(1, MOST_AT_ONCE);
        let cached = self.handle.cached_series()?;
        let (version, period) = cached.version_on(date);
        self.handle.check_text(version, date)?;
        // At most a million.
        let all = usize::try_from(count).unwrap_or(usize::MAX);
        let Handle { shared, scope, .. } = &self.handle;
        let mut numbers = scope.take_many_in_period(shared, self.name(), period, date, all)?;
        let left = count - numbers.len() as u64;
        if left == 0 {
            return Ok(numbers);
        }
        match self.take_from_store(date, left) {
            Ok(rest) => numbers.extend(rest),
            Err(SeriesError::Full { .. } | SeriesError::Closed { .. }) if !numbers.is_empty() => {}
            Err(error) => return Err(error),
        }
        Ok(numbers)
    }

    /// Takes the next `count` numbers of the period of a `date` by a call to the store.
    fn take_from_store(&self, date: Date, count: u64) -> Result<Vec<SeriesNumber>, SeriesError> {
        self.handle.scope.check()?;
        let ended = if self.handle.shared.segments.is_forked() {
            Some(TakeError::Forked)
        } else {
            self.handle.shared.segments.has_ended().then_some(TakeError::ShutDown)
        };
        if let Some(ended) = ended {
            return Err(ended.into());
        }
        let mut cached = self.handle.cached_series()?;
        for _ in 0..MOST_RELOADS {
            if cached.is_gapless() {
                return Err(SeriesError::Gapless { series: self.name().to_owned() });
            }
            let (version, period) = cached.version_on(date);
            self.handle.check_text(version, date)?;
            let counter = self.handle.counter(version, period);
            // What was in memory comes first.
            self.handle.shared.segments.wait_for_return(&counter.tag());
            match self.handle.shared.cache.take(&counter, count) {
                Ok(taken) => {
                    let pattern = version.definition.pattern();
                    let scope = &self.handle.scope.name;
                    let number = |number| pattern.number(date, scope, number);
                    return Ok((taken.first..=taken.last).map(number).collect());
                }
                Err(SeriesError::Changed { .. }) => {
                    cached = self.handle.shared.cache.reload(self.name())?;
                }
                Err(error) => {
                    self.handle.shared.cache.failed(&counter, &error);
                    return Err(error);
                }
            }
        }
        Err(SeriesError::Changed { series: self.name().to_owned() })
    }
}
