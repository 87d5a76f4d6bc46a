//! [`Series`], all series of a store.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use super::current::Shared;
use super::date::Date;
use super::definition::SeriesDefinition;
use super::generator::SeriesGenerator;
use super::known::Known;
use super::period::Period;
use super::scopes::Scopes;
use super::series_error::{SeriesError, not_a_beginning};
use super::source::Ranges;
use super::store::{SeriesRecord, SeriesVersion};
use super::version::{check_change, check_widening};
use crate::clock::{Clock, SystemClock};
#[cfg(feature = "async")]
use crate::generator::blocking;
use crate::segment::{Builder as SegmentsBuilder, SegmentError, Segments};
use crate::store::Store;
use crate::sync::{Arc, Mutex, Weak, lock};

/// The series of one store. One per process is enough.
///
/// This is a handle: clones share one loader, which takes ranges of numbers from the store before
/// they are needed, smaller ones near the end of a period. When a period is over, and when a scope
/// has given no number for [`rest`](Builder::rest), what is left of its range goes back.
///
/// When the last handle is dropped, including each [`SeriesGenerator`], everything left is given
/// back. The drop waits for the store. If the process is killed, the numbers in memory are lost:
/// use [`gapless`](SeriesDefinition::gapless) where no number may be missing.
///
/// ```
/// # #[cfg(feature = "sqlite")] {
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("uidring.db");
/// use uidring::Store;
/// use uidring::series::{Series, SeriesDefinition};
///
/// let store = Store::open(file)?;
/// let series = Series::builder().store(&store).build()?;
/// let definition = SeriesDefinition::new("SO{yyyy}{MM}{dd}-{n:6}")?.time_zone("Asia/Shanghai");
/// let orders = series.create("orders", definition)?;
/// let number = orders.take()?;
/// assert_eq!(number.value(), 1);
/// println!("{number}"); // SO20261124-000001
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Series {
    shared: Arc<Shared>,
    /// The scopes of each series that is in use.
    used: Arc<Mutex<HashMap<String, Weak<Scopes>>>>,
}

impl Series {
    /// Starts a configuration.
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// Creates a series, or uses the one of this name if its newest version is what `new` asks for.
    ///
    /// A name is 1 to 64 characters: letters and digits of ASCII, `-`, `_` and `.`.
    ///
    /// # Errors
    ///
    /// [`SeriesError::Definition`] and [`SeriesError::BadName`] if there can be no such series;
    /// [`SeriesError::Differs`] if it is there, and is another; [`SeriesError::Take`] after a
    /// shutdown, when nothing is created; [`SeriesError::Storage`].
    // `new` is taken by value because it is built for this one call.
    #[allow(clippy::needless_pass_by_value)]
    pub fn create(
        &self,
        name: &str,
        new: SeriesDefinition,
    ) -> Result<SeriesGenerator, SeriesError> {
        self.shared.check_end()?;
        check_name(name)?;
        new.check()?;
        let record = self.shared.known.store.create(name, &new)?;
        self.compare(&record, &new)?;
        self.generator(record)
    }

    /// The series of this name.
    ///
    /// # Errors
    ///
    /// [`SeriesError::NoSuchSeries`], with similar names, or [`SeriesError::Storage`].
    pub fn get(&self, name: &str) -> Result<SeriesGenerator, SeriesError> {
        self.shared.check_end()?;
        self.generator(self.shared.known.store.record(name)?)
    }

    /// Does what [`create`](Series::create) does, on a thread of its own, so that no runtime is
    /// blocked.
    ///
    /// # Errors
    ///
    /// As for [`create`](Series::create).
    #[cfg(feature = "async")]
    pub async fn create_async(
        &self,
        name: &str,
        new: SeriesDefinition,
    ) -> Result<SeriesGenerator, SeriesError> {
        let (series, name) = (self.clone(), name.to_owned());
        apart(move || series.create(&name, new)).await
    }

    /// Does what [`get`](Series::get) does, on a thread of its own, so that no runtime is blocked.
    ///
    /// # Errors
    ///
    /// As for [`get`](Series::get).
    #[cfg(feature = "async")]
    pub async fn get_async(&self, name: &str) -> Result<SeriesGenerator, SeriesError> {
        let (series, name) = (self.clone(), name.to_owned());
        apart(move || series.get(&name)).await
    }

    /// Writes the numbers of a series by `new` from the day `begins` on, with which a period of
    /// both definitions begins. Older numbers are still read by the version that wrote them. Other
    /// processes learn of it by themselves.
    ///
    /// The time zone, the first month of fiscal years and whether the series is gapless stay.
    ///
    /// If `new` only has a wider number, `begins` may be any day of the present period that is not
    /// in the future, whatever numbers have been given: then it does what
    /// [`widen`](Series::widen) does.
    ///
    /// # Errors
    ///
    /// [`SeriesError::BadChange`] if the day is within a period, or is closed, or is one of which
    /// numbers have been given, or if a number of the new version could have the text of an older
    /// one; [`SeriesError::Differs`] if something else than the pattern, the step or the first
    /// number differs; otherwise as for [`create`](Series::create).
    #[allow(clippy::needless_pass_by_value)]
    pub fn change(
        &self,
        name: &str,
        new: SeriesDefinition,
        begins: Date,
    ) -> Result<SeriesRecord, SeriesError> {
        self.shared.check_fork()?;
        new.check()?;
        let known = self.shared.known.learn_again(name)?;
        let record = &known.record;
        self.compare_fixed(record, &new)?;
        let changed = self.change_from(record, &new, begins);
        let (Err(SeriesError::BadChange { series, problem }), Ok((version, span))) =
            (&changed, known.at(self.shared.now_ms()))
        else {
            return changed;
        };
        if !new.only_widens(&version.definition) {
            return changed;
        }
        let is_present = span.period.first().is_none_or(|first| first <= begins);
        if is_present && begins <= span.date {
            return self.widen_from(record, version, &new);
        }
        let today = span.date;
        let problem = format!("{problem}; to widen the number at once, name {today}");
        Err(SeriesError::BadChange { series: series.clone(), problem })
    }

    /// Writes the numbers of a series by `new` from now on, which is as it was, but for a wider
    /// number: the way on when a period has given all its numbers. Those of the present period go
    /// on, as do those of others that the same version wrote. Other processes learn of it when
    /// they next ask the store, and write until then those that they have in memory as before.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::series::{Series, SeriesDefinition};
    /// # let folder = tempfile::tempdir()?;
    /// # let store = uidring::Store::open(folder.path().join("uidring.db"))?;
    /// # let series = Series::builder().store(&store).build()?;
    /// let seats = series.create("seats", SeriesDefinition::new("S{n:1}")?)?;
    /// assert_eq!(seats.take_batch(9)?[8].to_string(), "S9");
    /// assert!(seats.take().is_err());
    /// series.widen("seats", SeriesDefinition::new("S{n:2}")?)?;
    /// assert_eq!(seats.take()?.to_string(), "S10");
    /// assert_eq!(seats.parse("S9")?.value(), 9);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SeriesError::BadChange`] if more than the number becomes another; otherwise as for
    /// [`change`](Series::change).
    #[allow(clippy::needless_pass_by_value)]
    pub fn widen(&self, name: &str, new: SeriesDefinition) -> Result<SeriesRecord, SeriesError> {
        self.shared.check_fork()?;
        new.check()?;
        let known = self.shared.known.learn_again(name)?;
        self.compare_fixed(&known.record, &new)?;
        let (version, _) = known.at(self.shared.now_ms())?;
        if !new.only_widens(&version.definition) {
            let before = version.definition.pattern();
            let problem = format!(
                "only a wider number may begin at once, and {} is not {before} with one; name the \
                 day with which it begins",
                new.pattern()
            );
            return Err(SeriesError::BadChange { series: name.to_owned(), problem });
        }
        self.widen_from(&known.record, version, &new)
    }

    /// Adds a version that begins with the period that begins with this day.
    fn change_from(
        &self,
        record: &SeriesRecord,
        new: &SeriesDefinition,
        begins: Date,
    ) -> Result<SeriesRecord, SeriesError> {
        for definition in [&record.latest().definition, new] {
            let period = definition.pattern().unit().period(begins);
            if period.first() != Some(begins) || period.next().is_none() {
                return Err(not_a_beginning(&record.name, begins, period));
            }
        }
        check_change(record, new, begins)?;
        self.store_version(record, new, begins)
    }

    /// Puts `new`, which widens `version`, in its place.
    fn widen_from(
        &self,
        record: &SeriesRecord,
        version: &SeriesVersion,
        new: &SeriesDefinition,
    ) -> Result<SeriesRecord, SeriesError> {
        check_widening(record, version, new)?;
        let record = self.store_version(record, new, version.begins)?;
        let scopes = lock(&self.used).get(&record.name).and_then(Weak::upgrade);
        if let Some(scopes) = scopes {
            scopes.leave(version.number);
        }
        Ok(record)
    }

    fn store_version(
        &self,
        record: &SeriesRecord,
        new: &SeriesDefinition,
        begins: Date,
    ) -> Result<SeriesRecord, SeriesError> {
        let (store, newest) = (&self.shared.known.store, record.newest().number);
        let record = store.change(&record.name, newest, new, begins)?;
        self.shared.known.learn(record.clone())?;
        Ok(record)
    }

    /// All series of the store, sorted by their names. Each call asks the store.
    ///
    /// # Errors
    ///
    /// [`SeriesError::Storage`].
    pub fn list(&self) -> Result<Vec<SeriesRecord>, SeriesError> {
        self.shared.check_fork()?;
        self.shared.known.store.records()
    }

    /// Closes a period of a series that is over, and all before it: none of them gives a number any
    /// more, in no scope and for no date. Of a series that is not gapless, a process whose clock is
    /// behind may still give those of such a period that it has in memory, and one that is just
    /// asking the store for some gets them.
    ///
    /// # Errors
    ///
    /// [`SeriesError::NotClosable`] if the period is not over, or is none of the series.
    pub fn close(&self, name: &str, period: Period) -> Result<SeriesRecord, SeriesError> {
        self.shared.check_fork()?;
        let known = self.shared.known.learn_again(name)?;
        let refused =
            |problem| Err(SeriesError::NotClosable { series: name.to_owned(), period, problem });
        let (Some(first), Some(next)) = (period.first(), period.next().and_then(Period::first))
        else {
            return refused("it never ends");
        };
        if known.on(first).1 != period {
            return refused("the series does not count by such periods; name one as list shows it");
        }
        let (_, span) = known.at(self.shared.now_ms())?;
        if span.date < next {
            return refused("it is not over yet; close it when it is");
        }
        let record = self.shared.known.store.close(name, next)?;
        self.shared.known.learn(record.clone())?;
        Ok(record)
    }

    /// Removes what the store knows of the numbers of closed periods. Returns of how many counters.
    ///
    /// # Errors
    ///
    /// [`SeriesError::NoSuchSeries`] or [`SeriesError::Storage`].
    pub fn prune(&self, name: &str) -> Result<u64, SeriesError> {
        self.shared.check_fork()?;
        self.shared.known.store.prune(name)
    }

    /// Where the series are, without a password.
    #[must_use]
    pub fn store_name(&self) -> String {
        self.shared.known.store.name()
    }

    /// Ends all takes, gives back what is left of each scope, and returns whether that succeeded.
    /// Dropping the last handle does the same, but returns nothing, and waits as long as the store
    /// does.
    ///
    /// # Errors
    ///
    /// [`SeriesError`] if giving back failed. Those numbers are lost, but everything has ended.
    pub fn shutdown(self) -> Result<(), SeriesError> {
        self.shared.segments.clone().shutdown().map_err(SeriesError::of_segment)
    }

    fn generator(&self, record: SeriesRecord) -> Result<SeriesGenerator, SeriesError> {
        let name = record.name.clone();
        let known = self.shared.known.learn(record)?;
        let mut used = lock(&self.used);
        let scopes = used.get(&name).and_then(Weak::upgrade).unwrap_or_else(|| {
            let rested = self.shared.known.rested(&name);
            let scopes = Arc::new(Scopes::new(&name, known, rested));
            used.insert(name, Arc::downgrade(&scopes));
            scopes
        });
        Ok(SeriesGenerator::new(Arc::clone(&self.shared), scopes))
    }

    /// Fails if the newest version is another than `asked`.
    fn compare(&self, record: &SeriesRecord, asked: &SeriesDefinition) -> Result<(), SeriesError> {
        self.compare_fixed(record, asked)?;
        let there = &record.newest().definition;
        let (pattern, step) = (there.pattern(), there.step_size());
        let fields = [
            ("pattern", pattern.to_string(), asked.pattern().to_string()),
            ("step", step.to_string(), asked.step_size().to_string()),
            ("first", there.first_number().to_string(), asked.first_number().to_string()),
        ];
        self.compare_fields(record, fields)
    }

    /// Fails if what no version changes is another than `asked`.
    fn compare_fixed(
        &self,
        record: &SeriesRecord,
        asked: &SeriesDefinition,
    ) -> Result<(), SeriesError> {
        let there = &record.newest().definition;
        let month = |definition: &SeriesDefinition| {
            let month = definition.fiscal_first_month();
            month.map_or("not set".to_owned(), |month| month.to_string())
        };
        let zone = |definition: &SeriesDefinition| definition.time_zone_name().to_owned();
        let fields = [
            ("time_zone", zone(there), zone(asked)),
            ("gapless", there.is_gapless().to_string(), asked.is_gapless().to_string()),
            ("fiscal_year", month(there), month(asked)),
        ];
        self.compare_fields(record, fields)
    }

    fn compare_fields<const N: usize>(
        &self,
        record: &SeriesRecord,
        fields: [(&'static str, String, String); N],
    ) -> Result<(), SeriesError> {
        match fields.into_iter().find(|(_, there, asked)| there != asked) {
            None => Ok(()),
            Some((field, there, asked)) => {
                let (store, series) = (self.store_name(), record.name.clone());
                Err(SeriesError::Differs { store, series, field, there, asked })
            }
        }
    }
}

impl fmt::Debug for Series {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Series").field("store", &self.store_name()).finish_non_exhaustive()
    }
}

/// Runs `call` on a thread of its own.
#[cfg(feature = "async")]
async fn apart<T: Send + 'static>(
    call: impl FnOnce() -> Result<T, SeriesError> + Send + 'static,
) -> Result<T, SeriesError> {
    let result = blocking::run("uidring-series", call).await;
    result.unwrap_or_else(|error| Err(SeriesError::Load(SegmentError::other(error))))
}

/// Fails unless there can be a series of this name.
fn check_name(name: &str) -> Result<(), SeriesError> {
    super::scope::valid_scope(name).map_err(|_| SeriesError::BadName {
        series: name.to_owned(),
        problem: "a name is 1 to 64 characters: letters and digits of ASCII, '-', '_' and '.'"
            .to_owned(),
    })
}

/// The configuration of [`Series`].
#[must_use]
#[derive(Debug)]
pub struct Builder {
    store: Option<Store>,
    clock: Option<DebugClock>,
    segments: SegmentsBuilder,
    refresh: Duration,
    rest: Duration,
}

/// A clock has nothing to show.
struct DebugClock(Arc<dyn Clock>);

impl fmt::Debug for DebugClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

/// How long a range should last, unless it is set.
const REFRESH: Duration = Duration::from_secs(15 * 60);
/// How long a scope may give no number before it rests, unless it is set.
const REST: Duration = Duration::from_secs(10 * 60);

impl Builder {
    fn new() -> Builder {
        let segments = Segments::builder();
        Builder { store: None, clock: None, segments, refresh: REFRESH, rest: REST }
    }

    /// The store that the series are in: a SQLite file, or a server of PostgreSQL, MySQL or
    /// MariaDB. There is no default.
    pub fn store(self, store: &Store) -> Builder {
        Builder { store: Some(store.clone()), ..self }
    }

    /// The clock that says which day it is: the system's unless set.
    pub fn clock(self, clock: impl Clock) -> Builder {
        Builder { clock: Some(DebugClock(Arc::new(clock))), ..self }
    }

    /// How long a take waits when no numbers are in memory, before it fails: one second unless set.
    pub fn max_wait(self, max_wait: Duration) -> Builder {
        Builder { segments: self.segments.max_wait(max_wait), ..self }
    }

    /// How much demand is kept in memory: numbers for at least this time at the present rate. 10
    /// seconds unless set.
    pub fn ahead(self, ahead: Duration) -> Builder {
        Builder { segments: self.segments.ahead(ahead), ..self }
    }

    /// How often a busy scope asks the store: about once in this time, 15 minutes unless set.
    pub fn refresh(self, refresh: Duration) -> Builder {
        Builder { segments: self.segments.refresh(refresh), refresh, ..self }
    }

    /// The most numbers of a scope in memory, which are lost if the process is killed: as many as
    /// `ahead` and `refresh` ask for unless set. A larger step of the series takes precedence.
    pub fn max_in_memory(self, max_in_memory: u64) -> Builder {
        Builder { segments: self.segments.max_in_memory(max_in_memory), ..self }
    }

    /// How many loads of different scopes run at once: 4 unless set.
    pub fn loads(self, loads: usize) -> Builder {
        Builder { segments: self.segments.loads(loads), ..self }
    }

    /// How long a scope may give no number before it is given up, and what is left of its range
    /// goes back: 10 minutes unless set, and at least a second. It may take half as long again.
    pub fn rest(self, rest: Duration) -> Builder {
        // The loader looks twice in this time.
        Builder { rest: rest.max(Duration::from_secs(1)), ..self }
    }

    /// How long a shutdown waits until everything left has been given back: 15 seconds unless set.
    pub fn shutdown_deadline(self, shutdown_deadline: Duration) -> Builder {
        Builder { segments: self.segments.shutdown_deadline(shutdown_deadline), ..self }
    }

    /// Starts the loader. Where the store is a file, it is made if it does not exist.
    ///
    /// ```
    /// # use uidring::series::Series;
    /// let error = Series::builder().build().unwrap_err();
    /// assert_eq!(error.to_string(), "series need a store: call Builder::store");
    /// ```
    ///
    /// # Errors
    ///
    /// [`SeriesError::NoStore`], [`SeriesError::Storage`] when the store is of a kind that has no
    /// series, or a file that cannot be used, and [`SeriesError::Load`] when no thread can be
    /// started.
    pub fn build(self) -> Result<Series, SeriesError> {
        let store = self.store.ok_or(SeriesError::NoStore)?.series()?;
        let clock = self.clock.map_or_else(|| Arc::new(SystemClock) as Arc<dyn Clock>, |c| c.0);
        let known = Arc::new(Known::new(store));
        let source =
            Ranges { known: Arc::clone(&known), clock: Arc::clone(&clock), refresh: self.refresh };
        let segments = self.segments.rest(self.rest).supplier(source).build();
        let segments = segments.map_err(|error| SeriesError::Load(SegmentError::other(error)))?;
        Ok(Series { shared: Arc::new(Shared { known, segments, clock }), used: Arc::default() })
    }
}
