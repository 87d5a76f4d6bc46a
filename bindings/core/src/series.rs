//! [`SeriesStore`], the numbers that people see.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use arc_swap::ArcSwap;
use uidring::series::{
    Date, Dialect, GaplessGenerator, GaplessSeries, Parsed, Period, Series, SeriesDefinition,
    SeriesError, SeriesGenerator, SeriesNumber,
};
use uidring_args::{present_definition, with_causes};

use crate::counting::{Counting, Reading, Transaction};
use crate::error::{Error, Kind};
use crate::files;
use crate::options::{self, NewSeries, SeriesOptions};
use crate::status;
use crate::store::{Close, Open, OpenFile, open_store};

/// The most numbers of one call.
const MOST: u64 = 1_000_000;

/// The series of a store, or those that are counted in transactions alone.
#[derive(Clone, Debug)]
pub struct SeriesStore {
    place: Place,
    /// The series that have been used. Each keeps the numbers that it has loaded for as long as it
    /// is held, and to get it from the library again would ask the store. It is read and changed
    /// without a lock: in a forked process, one that was held at the fork is never released.
    used: Arc<ArcSwap<BTreeMap<Box<str>, OneSeries>>>,
}

/// Where the series are.
#[derive(Clone, Debug)]
enum Place {
    /// In a store that is open.
    Opened {
        series: Series,
        /// The name of the store: its address without a password, or the path of its file.
        store: Box<str>,
        is_file: bool,
        file: OpenFile,
    },
    /// Where the program's transactions are. No store is open.
    Transactions(GaplessSeries),
}

/// One series that has been used.
#[derive(Clone, Debug)]
pub struct OneSeries(SeriesGenerator);

/// What a number of a series says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadNumber {
    /// The number itself, counted from the first of its period.
    pub value: u64,
    /// The period in which it was counted.
    pub period: Period,
    /// The period that the text shows: that one, or a part of it.
    pub shown: Period,
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
        let (store, file) = open_store(address, &options.login, Some(loading.timeout))?;
        let builder = Series::builder()
            .store(&store)
            .max_wait(loading.max_wait)
            .ahead(loading.ahead)
            .refresh(loading.refresh)
            .loads(loading.loads)
            .shutdown_deadline(loading.shutdown_deadline);
        let series = builder.build()?;
        let (is_file, store) = (store.file().is_some(), store.to_string().into());
        let place = Place::Opened { series, store, is_file, file };
        Ok(SeriesStore { place, used: Arc::default() })
    }
}

impl Close for SeriesStore {
    fn close(&self) -> Result<(), Error> {
        if let Place::Opened { series, file, .. } = &self.place {
            series.clone().shutdown()?;
            file.close();
        }
        Ok(())
    }
}

impl SeriesStore {
    /// Series that are counted in the program's transactions, by which they are read as well. No
    /// store is open, so there are no others.
    #[must_use]
    pub fn in_transactions() -> SeriesStore {
        SeriesStore { place: Place::Transactions(GaplessSeries::new()), used: Arc::default() }
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
        let definition = options.series.complete(definition);
        let definition = definition.map_err(|error| Error::argument(with_causes(&error)))?;
        let series = self.opened("create a series")?;
        series.create(name, definition).map_err(about_series)?;
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

    /// Begins to count the next number of a gapless series in the program's transaction. Where its
    /// driver does not say that one `has_begun`, the database is asked.
    ///
    /// # Errors
    /// As [`next`](SeriesStore::next), or the database is another than that of the series.
    pub fn count_in(
        &self,
        name: &str,
        scope: Option<&str>,
        date: Option<&str>,
        dialect: Dialect,
        has_begun: bool,
    ) -> Result<Counting, Error> {
        let (date, transaction) = (date.map(day).transpose()?, Transaction { dialect, has_begun });
        match &self.place {
            Place::Opened { store, is_file, .. } => {
                check_dialect(store, *is_file, dialect)?;
                Ok(Counting::of_opened(self.get(name, scope)?, date, transaction))
            }
            Place::Transactions(series) => {
                let series = unopened(series, name, scope)?;
                Ok(Counting::of_unopened(series, date, transaction))
            }
        }
    }

    /// Whether [`count_in`](SeriesStore::count_in) asks the store first.
    #[must_use]
    pub fn asks_store(&self, name: &str) -> bool {
        matches!(self.place, Place::Opened { .. }) && self.used(name).is_none()
    }

    /// Begins to read a series by the program's transaction, for [`parse`](SeriesStore::parse) and
    /// [`format`](SeriesStore::format). `None` where a store is open, which they ask.
    #[must_use]
    pub fn read_in(&self, name: &str, dialect: Dialect) -> Option<Reading> {
        match &self.place {
            Place::Opened { .. } => None,
            Place::Transactions(series) => Some(Reading::of(series.get(name), dialect)),
        }
    }

    /// Reads a number of the series.
    ///
    /// # Errors
    /// The text is no number of the series, or the store cannot be used.
    pub fn parse(&self, name: &str, text: &str) -> Result<ReadNumber, Error> {
        let parsed = match &self.place {
            // Asks the store, because another process may have changed the pattern.
            Place::Opened { series, .. } => series.get(name).map_err(about_series)?.parse(text),
            Place::Transactions(series) => {
                series.get(name).parse(text).ok_or_else(|| unread(name))?
            }
        };
        let parsed: Parsed = parsed.map_err(|error| Error::argument(with_causes(&error)))?;
        Ok(ReadNumber {
            value: parsed.value(),
            period: parsed.period(),
            shown: parsed.shown(),
            scope: parsed.scope().map(str::to_owned),
        })
    }

    /// The text of a number of the series: of a `scope`, and of the period of a `date` instead of
    /// today's, as [`next`](SeriesStore::next) writes it.
    ///
    /// # Errors
    /// No number of the series is like that, or the store cannot be used.
    pub fn format(
        &self,
        name: &str,
        number: u64,
        scope: Option<&str>,
        date: Option<&str>,
    ) -> Result<String, Error> {
        let date = date.map(day).transpose()?;
        let text = match &self.place {
            Place::Opened { series, .. } => {
                let series = series.get(name).map_err(about_series)?;
                let series = OneSeries(series).of_scope(scope)?;
                match date {
                    Some(date) => series.format_for(date, number),
                    None => series.format(number),
                }
            }
            Place::Transactions(series) => {
                let series = unopened(series, name, scope)?;
                series.format(date, number).ok_or_else(|| unread(name))?
            }
        };
        text.map_err(about_series)
    }

    /// Gives a series a wider number at once, in which nothing but the number is another: the way
    /// on where a period has given all its numbers.
    ///
    /// # Errors
    /// More than the number would be another, or the store cannot be used.
    pub fn widen(&self, name: &str, pattern: &str) -> Result<(), Error> {
        let series = self.opened("widen a series")?;
        let series_of_name = series.get(name).map_err(about_series)?;
        let (record, present) =
            (series_of_name.record().map_err(about_series)?, series_of_name.pattern());
        let wider = present_definition(&record, &present)
            .clone()
            .with_pattern(pattern)
            .map_err(|error| Error::argument(with_causes(&error)))?;
        series.widen(name, wider).map_err(about_series)?;
        Ok(())
    }

    /// The state of a series and of a scope of it, as a JSON object.
    ///
    /// # Errors
    /// The store has no such series, or cannot be used.
    pub fn status(&self, name: &str, scope: Option<&str>) -> Result<String, Error> {
        let series = self.get(name, scope)?;
        let store = match &self.place {
            Place::Opened { store, .. } => Some(&**store),
            Place::Transactions(_) => None,
        };
        Ok(status::series(name, scope, store, &series.status()))
    }

    /// The series in the store that is open. `what` needs one.
    fn opened(&self, what: &str) -> Result<&Series, Error> {
        match &self.place {
            Place::Opened { series, .. } => Ok(series),
            Place::Transactions(_) => {
                let message = format!(
                    "to {what} needs a store, and these series are counted in transactions alone: \
                     open the series of a store, or use the tool uidring series"
                );
                Err(Error { kind: Kind::Refused, message })
            }
        }
    }

    fn get(&self, name: &str, scope: Option<&str>) -> Result<SeriesGenerator, Error> {
        if let Some(series) = self.used.load().get(name) {
            return series.of_scope(scope);
        }
        let series = OneSeries(self.opened("take a number")?.get(name).map_err(about_series)?);
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
        Ok(match named(scope)? {
            Some(scope) => self.0.scope(scope),
            None => self.0.clone(),
        })
    }
}

/// The scope, if one is named.
fn named(scope: Option<&str>) -> Result<Option<&str>, Error> {
    // A variable that was never set: the numbers of the series itself are not meant.
    if scope == Some("") {
        let problem = "a scope is not empty: name one, or none where the series has no scopes";
        return Err(Error::argument(problem));
    }
    Ok(scope)
}

fn unopened(
    series: &GaplessSeries,
    name: &str,
    scope: Option<&str>,
) -> Result<GaplessGenerator, Error> {
    let series = series.get(name);
    Ok(match named(scope)? {
        Some(scope) => series.scope(scope),
        None => series,
    })
}

/// No transaction has read the series.
fn unread(name: &str) -> Error {
    Error::argument(format!(
        "this process has not read the series {name:?} yet: count a number of it first, or read it \
         by a transaction"
    ))
}

/// The kind of database that a binding names: `sqlite`, `postgres` or `mysql`.
///
/// # Errors
/// There is no such kind.
pub fn dialect(name: &str) -> Result<Dialect, Error> {
    match name {
        "sqlite" => Ok(Dialect::Sqlite),
        "postgres" => Ok(Dialect::Postgres),
        "mysql" => Ok(Dialect::MySql),
        other => Err(Error::argument(format!(
            "there is no kind of database {other:?}: there are sqlite, postgres and mysql"
        ))),
    }
}

/// Fails where the series of `store` are in another kind of database, or in a file that the program
/// must not open beside the library.
fn check_dialect(store: &str, is_file: bool, dialect: Dialect) -> Result<(), Error> {
    if is_file {
        if dialect == Dialect::Sqlite {
            return Err(files::two_copies(store));
        }
    } else if store.starts_with("postgres") == (dialect == Dialect::Postgres)
        && store.starts_with("mysql") == (dialect == Dialect::MySql)
    {
        return Ok(());
    }
    let message = format!(
        "the transaction is in a database of {dialect:?}, and the series are those of {store}: \
         make the transaction there, or keep the series in the database of the documents"
    );
    Err(Error { kind: Kind::Refused, message })
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

    #[test]
    fn a_number_begins_anew_as_the_options_say() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("uidring.db");
        let series = SeriesStore::open(file.to_str().unwrap(), &[]).unwrap();
        let next = |name, date| series.next(name, None, Some(date)).unwrap().into_string();
        series.create("bills", "{yy}{MM}-{n:1}", &[("restart", "year")]).unwrap();
        assert_eq!(next("bills", "2031-01-31"), "3101-1");
        assert_eq!(next("bills", "2031-02-01"), "3102-2");
        let parsed = series.parse("bills", "3102-2").unwrap();
        let periods = [parsed.period.to_string(), parsed.shown.to_string()];
        assert_eq!((parsed.value, periods), (2, ["2031".to_owned(), "2031-02".to_owned()]));
        // Nothing but the number becomes another.
        series.widen("bills", "{yy}{MM}-{n:2}").unwrap();
        assert_eq!(next("bills", "2031-03-01"), "3103-03");
        let options = [("restart", "fiscal-year"), ("fiscal_year_from", "04-06")];
        series.create("tax", "{yyyy}{MM}{dd}-{n}", &options).unwrap();
        assert_eq!(next("tax", "2031-04-05"), "20310405-1");
        assert_eq!(next("tax", "2031-04-06"), "20310406-1");
        for (options, why) in [
            (&options[..1], "nothing says when a fiscal year begins"),
            (&[("restart", "yearly")], "a number cannot begin anew with \"yearly\""),
            (&[("restart", "month")], "at byte 0 of the pattern"),
            (&[("fiscal_year_from", "4")], "write them like 04-06"),
        ] {
            let error = series.create("no", "{yyyy}-{n}", options).unwrap_err();
            assert!(error.message.contains(why), "{}", error.message);
        }
    }

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
        again.widen("inv", "I{n:3}").unwrap();
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
