//! [`SeriesStore`], the numbers that people see.

use uidring::Store;
use uidring::series::{Date, Series, SeriesDefinition, SeriesGenerator, SeriesNumber};
use uidring_args::with_causes;

use crate::error::Error;
use crate::options::{self, NewSeries, SeriesOptions};
use crate::status;

/// The most numbers of one call.
const MOST: u64 = 1_000_000;

/// The series of a store.
#[derive(Clone, Debug)]
pub struct SeriesStore(Series);

/// A number of a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issued {
    /// The text that people see.
    pub text: String,
    /// The number itself, counted from the first of its period.
    pub value: u64,
    /// The period, as `2026-11-24`, `2026-W48` or `ever`.
    pub period: String,
    /// The scope, where it is known.
    pub scope: Option<String>,
}

impl SeriesStore {
    /// Opens the series of the store at `address`.
    ///
    /// # Errors
    /// The options are wrong, or the store cannot be used.
    pub fn open(address: &str, options: &[(&str, &str)]) -> Result<SeriesStore, Error> {
        let options: SeriesOptions = options::parse(options)?;
        let loading = &options.loading;
        let builder = Series::builder()
            .store(&Store::open(address)?.with_timeout(loading.timeout))
            .max_wait(loading.max_wait)
            .ahead(loading.ahead)
            .refresh(loading.refresh)
            .loads(loading.loads)
            .shutdown_deadline(loading.shutdown_deadline);
        Ok(SeriesStore(builder.build()?))
    }

    /// Creates a series, or finds one that is as it is asked for.
    ///
    /// # Errors
    /// The pattern or the options are wrong, the series is there in another form, or the store
    /// cannot be used.
    pub fn create(&self, name: &str, pattern: &str, options: &[(&str, &str)]) -> Result<(), Error> {
        let options: NewSeries = options::parse(options)?;
        let definition =
            SeriesDefinition::new(pattern).map_err(|error| Error::argument(with_causes(&error)))?;
        self.0.create(name, options.series.complete(definition))?;
        Ok(())
    }

    /// Takes the next number: of a `scope`, if one is named, and of the period of a `date` such as
    /// `2026-11-24` instead of today's.
    ///
    /// # Errors
    /// The store has no such series, there is no such scope or date, or the store cannot be used.
    pub fn next(
        &self,
        name: &str,
        scope: Option<&str>,
        date: Option<&str>,
    ) -> Result<Issued, Error> {
        let series = self.get(name, scope)?;
        let number = match date {
            Some(date) => series.take_for(day(date)?)?,
            None => series.take()?,
        };
        Ok(issued(number, scope))
    }

    /// Takes the next `count` numbers, at least one and at most a million. If fewer fit the
    /// pattern, it takes those.
    ///
    /// # Errors
    /// As [`next`](SeriesStore::next).
    pub fn next_many(
        &self,
        name: &str,
        scope: Option<&str>,
        date: Option<&str>,
        count: u64,
    ) -> Result<Vec<Issued>, Error> {
        if !(1..=MOST).contains(&count) {
            let problem = format!("a call takes 1 to {MOST} numbers of a series, and not {count}");
            return Err(Error::argument(problem));
        }
        let series = self.get(name, scope)?;
        let numbers = match date {
            Some(date) => series.take_n_for(day(date)?, count)?,
            // Not above a million.
            None => series.take_batch(usize::try_from(count).unwrap_or(usize::MAX))?,
        };
        Ok(numbers.into_iter().map(|number| issued(number, scope)).collect())
    }

    /// Reads a number of the series.
    ///
    /// # Errors
    /// The text is no number of the series, or the store cannot be used.
    pub fn parse(&self, name: &str, text: &str) -> Result<Issued, Error> {
        let parsed =
            self.0.get(name)?.parse(text).map_err(|error| Error::argument(with_causes(&error)))?;
        Ok(Issued {
            text: text.to_owned(),
            value: parsed.value(),
            period: parsed.period().to_string(),
            scope: parsed.scope().map(str::to_owned),
        })
    }

    /// The state of a series and of a scope of it, as a JSON object.
    ///
    /// # Errors
    /// The store has no such series, or cannot be used.
    pub fn status(&self, name: &str, scope: Option<&str>) -> Result<String, Error> {
        let series = self.get(name, scope)?;
        Ok(status::series(name, scope, &series.status()))
    }

    /// Ends all takes, and gives back what is left of each scope. A second close succeeds.
    ///
    /// # Errors
    /// Numbers have not been given back in time, and are lost. All takes have ended even so.
    pub fn close(&self) -> Result<(), Error> {
        Ok(self.0.clone().shutdown()?)
    }

    fn get(&self, name: &str, scope: Option<&str>) -> Result<SeriesGenerator, Error> {
        let series = self.0.get(name)?;
        Ok(match scope {
            Some(scope) => series.scope(scope),
            None => series,
        })
    }
}

fn day(date: &str) -> Result<Date, Error> {
    date.parse().map_err(|error| Error::argument(format!("the date {date:?}: {error}")))
}

fn issued(number: SeriesNumber, scope: Option<&str>) -> Issued {
    Issued {
        value: number.value(),
        period: number.period().to_string(),
        scope: scope.map(str::to_owned),
        text: number.into_string(),
    }
}
