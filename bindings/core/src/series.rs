//! [`SeriesStore`], the numbers that people see.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use arc_swap::ArcSwap;
use uidring::series::{
    Date, Period, Series, SeriesDefinition, SeriesError, SeriesGenerator, SeriesNumber,
};
use uidring_args::with_causes;

use crate::error::Error;
use crate::options::{self, NewSeries, SeriesOptions};
use crate::status;
use crate::store::{Close, Open, open_store};

/// The most numbers of one call.
const MOST: u64 = 1_000_000;

/// The series of a store.
#[derive(Clone, Debug)]
pub struct SeriesStore {
    series: Series,
    /// The series that have been used. Each keeps the numbers that it has loaded for as long as it
    /// is held, and to get it from the library again would ask the store. It is read and changed
    /// without a lock: in a forked process, one that was held at the fork is never released.
    used: Arc<ArcSwap<BTreeMap<Box<str>, OneSeries>>>,
}

/// One series that has been used.
#[derive(Clone, Debug)]
pub struct OneSeries(SeriesGenerator);

/// What a number of a series says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadNumber {
    /// The number itself, counted from the first of its period.
    pub value: u64,
    /// The period.
    pub period: Period,
    /// The scope, where the text shows it.
    pub scope: Option<String>,
}

/// The text of a period, as `2026-11-24`, `2026-W48` or `ever`. It lies on the stack.
#[derive(Clone, Copy, Debug)]
pub struct PeriodText {
    bytes: [u8; PeriodText::MOST],
    len: usize,
}

impl PeriodText {
    /// The most bytes that the text of a period has.
    pub const MOST: usize = 15;

    /// The text of `period`. A thread remembers its last one, because nearly all numbers are of the
    /// same period as the one before.
    #[must_use]
    pub fn of(period: Period) -> PeriodText {
        thread_local! {
            static LAST: Cell<Option<(Period, PeriodText)>> = const { Cell::new(None) };
        }
        if let Some((last, text)) = LAST.get()
            && last == period
        {
            return text;
        }
        let mut text = PeriodText { bytes: [0; PeriodText::MOST], len: 0 };
        // Each text fits.
        let _ = write!(text, "{period}");
        LAST.set(Some((period, text)));
        text
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }
}

impl fmt::Write for PeriodText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

impl Open for SeriesStore {
    fn open(address: &str, options: &[(&str, &str)]) -> Result<SeriesStore, Error> {
        let options: SeriesOptions = options::parse(options)?;
        let loading = &options.loading;
        let builder = Series::builder()
            .store(&open_store(address, Some(loading.timeout))?)
            .max_wait(loading.max_wait)
            .ahead(loading.ahead)
            .refresh(loading.refresh)
            .loads(loading.loads)
            .shutdown_deadline(loading.shutdown_deadline);
        Ok(SeriesStore { series: builder.build()?, used: Arc::default() })
    }
}

impl Close for SeriesStore {
    fn close(&self) -> Result<(), Error> {
        Ok(self.series.clone().shutdown()?)
    }
}

impl SeriesStore {
    /// Creates a series, or finds one that is as it is asked for.
    ///
    /// # Errors
    /// The pattern or the options are wrong, the series is there in another form, or the store
    /// cannot be used.
    pub fn create(&self, name: &str, pattern: &str, options: &[(&str, &str)]) -> Result<(), Error> {
        let options: NewSeries = options::parse(options)?;
        let definition =
            SeriesDefinition::new(pattern).map_err(|error| Error::argument(with_causes(&error)))?;
        let definition = options.series.complete(definition);
        let definition = definition.map_err(|error| Error::argument(with_causes(&error)))?;
        self.series.create(name, definition).map_err(about_series)?;
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
    ) -> Result<SeriesNumber, Error> {
        let series = self.get(name, scope)?;
        match date {
            Some(date) => series.take_for(day(date)?).map_err(about_series),
            None => series.take().map_err(about_series),
        }
    }

    /// Takes the next number of the present period if it is in memory. It never waits; `None` says
    /// that [`next`](SeriesStore::next) may have to, or fails.
    #[must_use]
    pub fn try_next(&self, name: &str, scope: Option<&str>) -> Option<SeriesNumber> {
        self.used.load().get(name)?.try_next(scope)
    }

    /// A series that has been used.
    #[must_use]
    pub fn used(&self, name: &str) -> Option<OneSeries> {
        self.used.load().get(name).cloned()
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
    ) -> Result<Vec<SeriesNumber>, Error> {
        if !(1..=MOST).contains(&count) {
            let problem = format!("a call takes 1 to {MOST} numbers of a series, and not {count}");
            return Err(Error::argument(problem));
        }
        let series = self.get(name, scope)?;
        match date {
            Some(date) => series.take_n_for(day(date)?, count).map_err(about_series),
            // Not above a million.
            None => series
                .take_batch(usize::try_from(count).unwrap_or(usize::MAX))
                .map_err(about_series),
        }
    }

    /// Reads a number of the series.
    ///
    /// # Errors
    /// The text is no number of the series, or the store cannot be used.
    pub fn parse(&self, name: &str, text: &str) -> Result<ReadNumber, Error> {
        // Asks the store, because another process may have changed the pattern.
        let series = self.series.get(name).map_err(about_series)?;
        let parsed = series.parse(text).map_err(|error| Error::argument(with_causes(&error)))?;
        Ok(ReadNumber {
            value: parsed.value(),
            period: parsed.period(),
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

    fn get(&self, name: &str, scope: Option<&str>) -> Result<SeriesGenerator, Error> {
        if let Some(series) = self.used.load().get(name) {
            return series.of_scope(scope);
        }
        let series = OneSeries(self.series.get(name).map_err(about_series)?);
        self.used.rcu(|used| {
            let mut used = BTreeMap::clone(used);
            used.insert(name.into(), series.clone());
            used
        });
        series.of_scope(scope)
    }
}

impl OneSeries {
    /// Takes the next number, as [`SeriesStore::try_next`] does.
    #[must_use]
    pub fn try_next(&self, scope: Option<&str>) -> Option<SeriesNumber> {
        match scope {
            None => self.0.try_take().ok(),
            Some(_) => self.of_scope(scope).ok()?.try_take().ok(),
        }
    }

    fn of_scope(&self, scope: Option<&str>) -> Result<SeriesGenerator, Error> {
        match scope {
            // A variable that was never set: the numbers of the series itself are not meant.
            Some("") => Err(Error::argument(
                "a scope is not empty: name one, or none where the series has no scopes",
            )),
            Some(scope) => Ok(self.0.scope(scope)),
            None => Ok(self.0.clone()),
        }
    }
}

/// The error, about series.
fn about_series(error: SeriesError) -> Error {
    Error::from(error).about("the series")
}

fn day(date: &str) -> Result<Date, Error> {
    date.parse().map_err(|error| Error::argument(format!("the date {date:?}: {error}")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::*;

    /// Before and after a restart, for one number and for many, and until it is widened.
    #[test]
    fn a_full_series_is_told_by_its_name_and_goes_on_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("uidring.db");
        let open = || SeriesStore::open(file.to_str().unwrap(), &[]).unwrap();
        let series = open();
        series.create("inv", "I{n:2}", &[]).unwrap();
        let values = |count| -> Vec<u64> {
            let numbers = series.next_many("inv", None, None, count).unwrap();
            numbers.iter().map(SeriesNumber::value).collect()
        };
        assert_eq!(series.next("inv", None, None).unwrap().value(), 1);
        assert_eq!(values(50), (2..=51).collect::<Vec<_>>());
        assert_eq!(series.next("inv", None, None).unwrap().value(), 52);
        assert_eq!(values(150), (53..=99).collect::<Vec<_>>());
        let assert_full = |series: &SeriesStore| {
            for error in [
                series.next("inv", None, None).unwrap_err(),
                series.next("inv", None, Some("2026-11-24")).unwrap_err(),
                series.next_many("inv", None, None, 9).unwrap_err(),
            ] {
                assert_eq!(error.kind, crate::error::Kind::Refused);
                let message = &error.message;
                assert!(message.starts_with("the series \"inv\" has given all"), "{message}");
                assert!(
                    message.ends_with(": uidring series change inv PATTERN --from now"),
                    "{message}"
                );
            }
        };
        assert_full(&series);
        let again = open();
        assert_full(&again);
        let status: serde_json::Value =
            serde_json::from_str(&again.status("inv", None).unwrap()).unwrap();
        assert_eq!((&status["full"], &status["tight"][0]["last"]), (&1.into(), &99.into()));
        again.series.widen("inv", SeriesDefinition::new("I{n:3}").unwrap()).unwrap();
        assert_eq!(again.next("inv", None, None).unwrap().as_str(), "I100");
        for series in [&open(), &series] {
            assert!(series.next("inv", None, None).unwrap().value() > 100);
        }
        assert_eq!(series.parse("inv", "I07").unwrap().value, 7);
    }

    #[test]
    fn a_series_that_is_used_keeps_the_numbers_that_it_has_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("uidring.db");
        let series = SeriesStore::open(file.to_str().unwrap(), &[]).unwrap();
        series.create("tickets", "T-{n}", &[]).unwrap();
        assert_eq!(series.try_next("tickets", None), None);
        for number in 1..=3 {
            assert_eq!(series.next("tickets", None, None).unwrap().value(), number);
        }
        assert_eq!(series.try_next("tickets", None).unwrap().as_str(), "T-4");
        // The store is not asked: without it, numbers go on.
        for file in std::fs::read_dir(folder.path()).unwrap() {
            std::fs::remove_file(file.unwrap().path()).unwrap();
        }
        assert_eq!(series.next("tickets", None, None).unwrap().value(), 5);
    }

    #[test]
    fn the_text_of_each_period_is_its_own() {
        let texts = [
            "2026-11-24",
            "9999-12-31",
            "2026-W48",
            "2026-11",
            "2026-Q4",
            "2026",
            "FY2026-04",
            "ever",
        ];
        for text in texts.iter().chain(texts.iter().rev()) {
            let period = text.parse().unwrap();
            assert_eq!(PeriodText::of(period).as_str(), *text);
            assert_eq!(PeriodText::of(period).as_str(), *text);
        }
    }
}
