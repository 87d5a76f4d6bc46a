//! Several numbers of a scope at once.

use super::{OnEmpty, OpenNumbers, Scope};
use crate::segment::Batch;
use crate::series::error::SeriesError;
use crate::series::form::date::Date;
use crate::series::form::number::SeriesNumber;
use crate::series::form::period::Period;
use crate::series::memory::shared::Shared;
use crate::sync::Arc;

impl Scope {
    /// Takes the next number, and as many after it as are in memory, `count` at most in all. It
    /// never waits.
    pub fn try_take_many(
        &self,
        shared: &Shared,
        series: &str,
        count: usize,
    ) -> Result<Vec<SeriesNumber>, SeriesError> {
        loop {
            // One reading for all: the rest is taken from the same period, whatever the clock says.
            let now = shared.clock.now();
            let open = self.find_open(now);
            let open = open.map_or_else(|| self.try_open_at(shared, series, now), Ok)?;
            if let Some(first) = self.take_from(&open, shared, OnEmpty::Fail) {
                let mut numbers = vec![first?];
                while numbers.len() < count
                    && let Ok(number) = open.numbers.try_take()
                {
                    numbers.push(open.write(&self.name, number.get()));
                }
                return Ok(numbers);
            }
        }
    }

    /// Takes what `count` takes of one thread would get, at least one, all of one period.
    pub fn take_many(
        &self,
        shared: &Shared,
        series: &str,
        count: usize,
    ) -> Result<Vec<SeriesNumber>, SeriesError> {
        // One reading for all.
        let now = shared.clock.now();
        let find = || {
            let open = self.find_open(now);
            open.map_or_else(|| self.open_at(shared, series, now), Ok).map(Some)
        };
        self.collect(shared, count.max(1), find, OpenNumbers::write)
    }

    /// Takes what `count` takes of this period would get, for a `date` in it, or fewer where its
    /// numbers are not those of the present period, and are not in memory.
    pub fn take_many_in_period(
        &self,
        shared: &Shared,
        series: &str,
        period: Period,
        date: Date,
        count: usize,
    ) -> Result<Vec<SeriesNumber>, SeriesError> {
        let find = || self.open_for_period(shared, series, period);
        self.collect(shared, count, find, |open, scope, number| open.write_on(date, scope, number))
    }

    /// Takes `count` numbers of what `find` opens, which is asked again where that is given up, and
    /// has `write` write them. If it finds nothing, or the period has no more, there are fewer.
    /// After another error the numbers go back.
    fn collect(
        &self,
        shared: &Shared,
        count: usize,
        find: impl Fn() -> Result<Option<Arc<OpenNumbers>>, SeriesError>,
        write: impl Fn(&OpenNumbers, &str, u64) -> SeriesNumber,
    ) -> Result<Vec<SeriesNumber>, SeriesError> {
        let mut taken: Vec<(Arc<OpenNumbers>, Batch)> = Vec::new();
        let mut left = count;
        let end = loop {
            let open = match find() {
                Ok(Some(open)) => open,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            };
            let (batch, failure) = open.numbers.batch(left as u64);
            left -= batch.len();
            let failure = failure.map(|error| self.failed(&open, shared, error));
            taken.push((open, batch));
            match failure {
                None => break Ok(()),
                Some(Some(error)) => break Err(error),
                Some(None) => {}
            }
        };
        match end {
            Err(SeriesError::Full { .. } | SeriesError::Closed { .. }) if left < count => {}
            Err(error) => {
                taken.into_iter().rev().for_each(|(_, batch)| batch.give_back());
                return Err(error);
            }
            Ok(()) => {}
        }
        let numbers = taken.iter().flat_map(|(open, batch)| {
            batch.numbers().map(|number| write(open, &self.name, number))
        });
        Ok(numbers.collect())
    }
}
