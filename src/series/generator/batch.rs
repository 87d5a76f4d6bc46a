//! Several numbers at once, all of one period.

use super::SeriesGenerator;
use crate::series::error::SeriesError;
use crate::series::form::date::Date;
use crate::series::form::number::SeriesNumber;
use std::iter::FusedIterator;

impl SeriesGenerator {
    /// Takes the next `count` numbers of the present period, at least one: those that so many takes
    /// of one thread would get. All of them belong to one reading of the clock, and to one period,
    /// also at midnight. They ascend; other takers may have numbers between them.
    ///
    /// It waits for those that are not in memory. If the period has fewer that fit the pattern, it
    /// takes those. If it fails, the numbers go back, unless others have got later ones.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::series::{Series, SeriesDefinition};
    /// # let folder = tempfile::tempdir()?;
    /// # let store = uidring::Store::open(folder.path().join("uidring.db"))?;
    /// # let series = Series::builder().store(&store).build()?;
    /// let customers = series.create("customers", SeriesDefinition::new("C-{n:1}")?)?;
    /// assert_eq!(customers.take_batch(6)?.len(), 6);
    /// assert_eq!(customers.take_batch(6)?.len(), 3); // 7 to 9
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`take`](SeriesGenerator::take).
    pub fn take_batch(&self, count: usize) -> Result<Vec<SeriesNumber>, SeriesError> {
        self.handle.scope.take_many(&self.handle.shared, self.name(), count)
    }

    /// Takes up to `count` numbers of the present period, at least one, or fails at once with the
    /// reason why there is none. It gives those in memory, so there may be fewer.
    /// [`rest_of`](SeriesGenerator::rest_of) takes the others.
    ///
    /// Where nothing is in memory, it asks for numbers as [`try_take`](SeriesGenerator::try_take)
    /// does.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::series::{Series, SeriesDefinition};
    /// # let folder = tempfile::tempdir()?;
    /// # let store = uidring::Store::open(folder.path().join("uidring.db"))?;
    /// # let series = Series::builder().store(&store).build()?;
    /// let customers = series.create("customers", SeriesDefinition::new("C-{n}")?)?;
    /// customers.take()?;
    /// let numbers = customers.try_take_batch(1_000_000)?;
    /// assert_eq!(numbers[0].to_string(), "C-2");
    /// assert!(numbers.len() < 1_000_000);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`try_take`](SeriesGenerator::try_take).
    pub fn try_take_batch(&self, count: usize) -> Result<Vec<SeriesNumber>, SeriesError> {
        self.handle.scope.try_take_many(&self.handle.shared, self.name(), count)
    }

    /// Makes `numbers`, which [`try_take_batch`](SeriesGenerator::try_take_batch) took, `count` of
    /// them: it takes what is missing, of the same period. If fewer fit the pattern, or the period
    /// has been closed meanwhile, there are fewer.
    ///
    /// # Errors
    ///
    /// As [`take_n_for`](SeriesGenerator::take_n_for). Those of `numbers` are lost then.
    pub fn rest_of(
        &self,
        mut numbers: Vec<SeriesNumber>,
        count: usize,
    ) -> Result<Vec<SeriesNumber>, SeriesError> {
        let missing = count.saturating_sub(numbers.len());
        let Some(last) = numbers.last() else { return self.take_batch(count) };
        if missing == 0 {
            return Ok(numbers);
        }
        // Each day of a period has the same version. What shows no date can have any.
        let date = last.shown().first().unwrap_or(Date::first_of_year(2000));
        match self.take_n_for(date, missing as u64) {
            Ok(rest) => numbers.extend(rest),
            Err(SeriesError::Full { .. } | SeriesError::Closed { .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(numbers)
    }
}

impl SeriesGenerator {
    /// Takes `count` numbers, one at a time, as the iterator is asked for them. Over midnight, the
    /// first ones are of one day and the rest of the next. The iterator ends after an error.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::series::{Series, SeriesDefinition};
    /// # let folder = tempfile::tempdir()?;
    /// # let store = uidring::Store::open(folder.path().join("uidring.db"))?;
    /// # let series = Series::builder().store(&store).build()?;
    /// let customers = series.create("customers", SeriesDefinition::new("C-{n}")?)?;
    /// let numbers = customers.take_n(3).collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!(numbers[2].to_string(), "C-3");
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn take_n(&self, count: usize) -> SeriesTakeN {
        SeriesTakeN { generator: self.clone(), left: count }
    }
}

/// The numbers of [`SeriesGenerator::take_n`].
#[derive(Clone, Debug)]
#[must_use = "iterators are lazy: numbers are taken by `next`"]
pub struct SeriesTakeN {
    generator: SeriesGenerator,
    /// How many numbers are still to be taken.
    left: usize,
}

impl Iterator for SeriesTakeN {
    type Item = Result<SeriesNumber, SeriesError>;

    fn next(&mut self) -> Option<Result<SeriesNumber, SeriesError>> {
        if self.left == 0 {
            return None;
        }
        let result = self.generator.take();
        self.left = if result.is_ok() { self.left - 1 } else { 0 };
        Some(result)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left.min(1), Some(self.left))
    }
}

impl FusedIterator for SeriesTakeN {}
