//! [`SeriesGenerator`], the numbers of one series.

mod batch;
pub mod forecast;
mod request;
pub mod status;

use std::fmt;
use std::iter::FusedIterator;

use crate::engine::TakeError;
#[cfg(feature = "async")]
use crate::generator::blocking;
#[cfg(feature = "async")]
use crate::segment::SegmentError;
use crate::series::error::SeriesError;
use crate::series::form::date::Date;
use crate::series::form::error::ParseError;
use crate::series::form::number::SeriesNumber;
use crate::series::form::pattern::{Parsed, Pattern};
#[cfg(any(
    feature = "postgres",
    feature = "sqlite",
    all(feature = "mysql", any(feature = "sqlx-0_8", feature = "sqlx-0_9"))
))]
use crate::series::gapless::{Gapless, GaplessTransaction};
#[cfg(feature = "async")]
use crate::series::memory::current::Open;
use crate::series::memory::current::{Current, IfNone, Shared};
use crate::series::memory::handle::Handle;
use crate::series::memory::scopes::Scopes;
use crate::series::memory::series_cache::MOST_CHANGES;
use crate::series::store::{CounterRecord, SeriesRecord};
use crate::sync::Arc;
use forecast::Forecast;
use status::{ScopeStatus, SeriesStatus};

/// Hands out the numbers of one series, or of one scope of it, to any number of threads.
///
/// This is a handle, and cloning it costs three reference counts.
///
/// # Guarantees
///
/// * **Unique**: no two takes return the same number of one period and scope, whatever threads,
///   processes and restarts take part, as long as they take from the same rows. So no two have the
///   same text, if the pattern shows the scope or no scope is named.
/// * **One reading of the clock**: the text, the number and the period of a take belong together,
///   also at midnight. A clock that steps back over midnight gives numbers of yesterday again,
///   and none twice.
/// * **Ordered**: in one process, a take that starts after another has returned gets the larger
///   number of the same period and scope, as long as that is the present period. Between processes
///   there is no order.
/// * **Never blocked**: while numbers are in memory, a take reads the clock, does no I/O and waits
///   for nothing; now and then it wakes the loader, which takes the lock of its sleep for a moment.
///   The first take of a period waits for its first numbers.
///
/// A series that is not gapless has gaps: a process that is killed loses the numbers that it has in
/// memory.
///
/// ```
/// # #[cfg(feature = "sqlite")] {
/// # use uidring::series::{Series, SeriesDefinition};
/// # let folder = tempfile::tempdir()?;
/// # let store = uidring::Store::open(folder.path().join("uidring.db"))?;
/// # let series = Series::builder().store(&store).build()?;
/// let orders = series.create("orders", SeriesDefinition::new("{scope}/{yyyy}-{n:6}")?)?;
/// let shop = orders.scope("shop-7");
/// let number = shop.take()?;
/// assert_eq!(number.to_string(), format!("shop-7/{}-000001", number.period()));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SeriesGenerator {
    handle: Handle,
}

/// The most numbers that one call takes.
const MOST: u64 = 1_000_000;
/// The most counters in a status.
const MOST_TOLD: usize = 100;

impl SeriesGenerator {
    pub(crate) fn new(shared: Arc<Shared>, scopes: Arc<Scopes>) -> SeriesGenerator {
        let current = scopes.get("");
        SeriesGenerator { handle: Handle { shared, scopes, current } }
    }

    /// The name of the series.
    #[must_use]
    pub fn name(&self) -> &str {
        self.handle.name()
    }

    /// What counts by itself within the series, such as a shop or a tenant. Each scope has a number
    /// 1 of its own. A scope of a scope is one of the series.
    ///
    /// A scope is 1 to 64 characters: letters and digits of ASCII, `-`, `_` and `.`. The takes of
    /// another one fail. A scope that rests costs nothing. If the pattern does not show the scope,
    /// numbers of two scopes have the same text: keep the scope beside it. A take of today with a
    /// date for a scope fails then, as the date was meant.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::series::{Series, SeriesDefinition};
    /// # let folder = tempfile::tempdir()?;
    /// # let store = uidring::Store::open(folder.path().join("uidring.db"))?;
    /// # let series = Series::builder().store(&store).build()?;
    /// let parcels = series.create("parcels", SeriesDefinition::new("{scope}-{n:4}")?)?;
    /// assert_eq!(parcels.scope("berlin").take()?.to_string(), "berlin-0001");
    /// assert_eq!(parcels.scope("lima").take()?.to_string(), "lima-0001");
    /// assert!(parcels.scope("São Paulo").take().is_err());
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn scope(&self, scope: &str) -> SeriesGenerator {
        let is_forked = self.handle.shared.segments.is_forked();
        // In a forked process another thread may have held the lock of the others.
        let current =
            if is_forked { Arc::new(Current::new(scope)) } else { self.handle.scopes.get(scope) };
        SeriesGenerator { handle: Handle { current, ..self.handle.clone() } }
    }

    /// Takes the next number of the present period.
    ///
    /// Lock-free while numbers are in memory. If there are none, it waits for the load that is
    /// under way, for about [`max_wait`](super::Builder::max_wait) at most. A take that fails uses
    /// nothing up.
    ///
    /// # Errors
    ///
    /// [`SeriesError::Take`] when no numbers have come in time, and after a shutdown or in a child
    /// process; [`SeriesError::Full`] when no number is left that fits; [`SeriesError::Closed`],
    /// [`SeriesError::Gapless`], [`SeriesError::Scope`], [`SeriesError::Format`] when the pattern
    /// does not fit the scope or the date; [`SeriesError::Storage`].
    #[inline]
    pub fn take(&self) -> Result<SeriesNumber, SeriesError> {
        self.handle.current.take(&self.handle.shared, self.name(), IfNone::Wait)
    }

    /// Takes the next number, or fails at once with the reason why there is none. It never waits.
    /// The first call in a period asks for its numbers, and fails with [`SeriesError::Loading`].
    ///
    /// # Errors
    ///
    /// As [`take`](SeriesGenerator::take).
    pub fn try_take(&self) -> Result<SeriesNumber, SeriesError> {
        self.handle.current.take(&self.handle.shared, self.name(), IfNone::Fail)
    }

    /// Takes the next number. Where [`take`](SeriesGenerator::take) would wait, this waits without
    /// blocking the thread. It needs no particular runtime. A future that is dropped uses nothing
    /// up.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::series::{Series, SeriesDefinition};
    /// # let folder = tempfile::tempdir()?;
    /// # let store = uidring::Store::open(folder.path().join("uidring.db"))?;
    /// # let series = Series::builder().store(&store).build()?;
    /// let customers = series.create("customers", SeriesDefinition::new("C-{n}")?)?;
    /// let number = pollster::block_on(async { customers.take_async().await })?;
    /// assert_eq!(number.to_string(), "C-1");
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`take`](SeriesGenerator::take).
    #[cfg(feature = "async")]
    pub async fn take_async(&self) -> Result<SeriesNumber, SeriesError> {
        loop {
            let open = match self.handle.current.opened(self.handle.shared.clock.now()) {
                Some(open) => open,
                None => self.open_apart().await?,
            };
            match open.numbers.take_async().await {
                Ok(number) => return Ok(open.write(&self.handle.current.scope, number.get())),
                Err(error) => {
                    let failed = self.handle.current.failed(&open, &self.handle.shared, error);
                    if let Some(error) = failed {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Opens the present period on a thread of its own.
    #[cfg(feature = "async")]
    async fn open_apart(&self) -> Result<Arc<Open>, SeriesError> {
        let Handle { shared, scopes, current } = self.handle.clone();
        let open = move || current.open_at(&shared, &scopes.series, shared.clock.now());
        let opened = blocking::run("uidring-series", open).await;
        opened.unwrap_or_else(|error| Err(SeriesError::Load(SegmentError::other(error))))
    }

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

    /// Takes the next number of the period of a `date`: that of the document, not of the call. For
    /// the present period this is as fast as [`take`](SeriesGenerator::take). For any other it asks
    /// the store, as no numbers of it are in memory.
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
        let known = self.handle.known()?;
        let period = known.on(date).1;
        if let Some(number) =
            self.handle.current.take_of(&self.handle.shared, self.name(), period)?
        {
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
        let count = count.clamp(1, MOST);
        let known = self.handle.known()?;
        let (version, period) = known.on(date);
        self.handle.check_text(version, date)?;
        // At most a million.
        let all = usize::try_from(count).unwrap_or(usize::MAX);
        let Handle { shared, current, .. } = &self.handle;
        let mut numbers = current.take_many_of(shared, self.name(), period, all)?;
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
        self.handle.current.check()?;
        let ended = if self.handle.shared.segments.is_forked() {
            Some(TakeError::Forked)
        } else {
            self.handle.shared.segments.has_ended().then_some(TakeError::ShutDown)
        };
        if let Some(ended) = ended {
            return Err(ended.into());
        }
        let mut known = self.handle.known()?;
        for _ in 0..MOST_CHANGES {
            if known.is_gapless() {
                return Err(SeriesError::Gapless { series: self.name().to_owned() });
            }
            let (version, period) = known.on(date);
            self.handle.check_text(version, date)?;
            let counter = self.handle.counter(version, period);
            // What was in memory comes first.
            self.handle.shared.segments.settle(&counter.tag());
            match self.handle.shared.known.take(&counter, count) {
                Ok(taken) => {
                    let pattern = version.definition.pattern();
                    let write = |number| self.handle.write(pattern, date, number, period);
                    return Ok((taken.first..=taken.last).map(write).collect());
                }
                Err(SeriesError::Changed { .. }) => {
                    known = self.handle.shared.known.learn_again(self.name())?;
                }
                Err(error) => {
                    self.handle.shared.known.failed(&counter, &error);
                    return Err(error);
                }
            }
        }
        Err(SeriesError::Changed { series: self.name().to_owned() })
    }

    /// Counts the next number of the present period in the caller's `transaction`: that of the
    /// document that has the number. So both are stored together, or neither is, and a rollback
    /// leaves no gap.
    ///
    /// The transaction is one of rusqlite, sqlx or tokio-postgres, as [the
    /// trait](GaplessTransaction) says. Those that wait return a future.
    ///
    /// Until it ends, all other transactions that count in the same period and scope wait: count
    /// as the last step before the commit; or as the first one, before the transaction reads, where
    /// it would be refused otherwise, as [the trait](GaplessTransaction) says.
    ///
    /// Show the number to nobody before the commit has succeeded: after a rollback, also one to a
    /// savepoint, another document gets it. So it does where a crash takes the commit back. How
    /// safe commits are is a setting of the caller's connection, such as `synchronous_commit` of
    /// PostgreSQL and `PRAGMA synchronous` of SQLite, which is to be `EXTRA` here.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::series::{Series, SeriesDefinition};
    /// # let folder = tempfile::tempdir()?;
    /// # let file = folder.path().join("uidring.db");
    /// # let store = uidring::Store::open(&file)?;
    /// # let series = Series::builder().store(&store).build()?;
    /// let definition = SeriesDefinition::new("{yyyy}-{n:5}{check:damm}")?.gapless();
    /// let invoices = series.create("invoices", definition)?;
    ///
    /// let mut database = rusqlite::Connection::open(&file)?;
    /// database.execute("CREATE TABLE invoice (number TEXT PRIMARY KEY)", [])?;
    /// let mut transaction = database.transaction()?;
    /// let number = invoices.take_in(&mut transaction)?;
    /// transaction.execute("INSERT INTO invoice VALUES (?1)", [number.as_str()])?;
    /// transaction.commit()?;
    /// assert_eq!(number.value(), 1);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SeriesError::NotGapless`], [`SeriesError::OtherDatabase`], [`SeriesError::Transaction`]
    /// when the database refuses the statement, such as to avoid a deadlock
    /// ([`is_transient`](SeriesError::is_transient) says whether a new transaction may count),
    /// [`SeriesError::Changed`] when the transaction began before a change; otherwise as
    /// [`take`](SeriesGenerator::take). Roll the transaction back after an error, and after a
    /// future that was dropped: the database may have counted, and a commit would leave a gap.
    #[cfg(any(
        feature = "postgres",
        feature = "sqlite",
        all(feature = "mysql", any(feature = "sqlx-0_8", feature = "sqlx-0_9"))
    ))]
    pub fn take_in<'a, T: GaplessTransaction>(&'a self, transaction: &'a mut T) -> T::Taken<'a> {
        transaction.count(Gapless::now(&self.handle))
    }

    /// Does what [`take_in`](SeriesGenerator::take_in) does, for the period of a `date`.
    ///
    /// # Errors
    ///
    /// As [`take_in`](SeriesGenerator::take_in).
    #[cfg(any(
        feature = "postgres",
        feature = "sqlite",
        all(feature = "mysql", any(feature = "sqlx-0_8", feature = "sqlx-0_9"))
    ))]
    pub fn take_in_for<'a, T: GaplessTransaction>(
        &'a self,
        transaction: &'a mut T,
        date: Date,
    ) -> T::Taken<'a> {
        transaction.count(Gapless::on(&self.handle, date))
    }

    /// How the numbers of today are written.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::series::{Series, SeriesDefinition};
    /// # let folder = tempfile::tempdir()?;
    /// # let store = uidring::Store::open(folder.path().join("uidring.db"))?;
    /// # let series = Series::builder().store(&store).build()?;
    /// let orders = series.create("orders", SeriesDefinition::new("SO{yyyy}{MM}{dd}-{n:6}")?)?;
    /// assert_eq!(orders.pattern().parse("SO20261124-000042")?.value(), 42);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn pattern(&self) -> Pattern {
        let known = self.handle.scopes.known.load();
        let version =
            known.at(self.handle.shared.now_ms()).map_or_else(|_| known.record.newest(), |at| at.0);
        version.definition.pattern().clone()
    }

    /// Reads a number of any version of this series: by the version that has written it.
    ///
    /// # Errors
    ///
    /// The error of the newest version, if none has written such a text.
    pub fn parse(&self, text: &str) -> Result<Parsed, ParseError> {
        let known = self.handle.scopes.known.load();
        let mut error = None;
        for version in known.record.versions.iter().rev() {
            let end = known.record.end_of(version);
            match version.definition.pattern().parse(text) {
                Ok(parsed) => {
                    let begins = parsed.period().first().unwrap_or(Date::MIN);
                    if version.begins <= begins && end.is_none_or(|end| begins < end) {
                        return Ok(parsed);
                    }
                }
                Err(wrong) => drop(error.get_or_insert(wrong)),
            }
        }
        Err(error.unwrap_or_else(|| {
            ParseError::new(0, "no version of the series wrote numbers of this period so")
        }))
    }

    /// What the store knows of the series. Asks the store.
    ///
    /// # Errors
    ///
    /// [`SeriesError::NoSuchSeries`] or [`SeriesError::Storage`].
    pub fn record(&self) -> Result<SeriesRecord, SeriesError> {
        self.handle.shared.check_fork()?;
        Ok(self.handle.shared.known.learn_again(self.name())?.record.clone())
    }

    /// The counters of the series in the store, of all scopes, sorted by the period and then by the
    /// scope. Asks the store.
    ///
    /// # Errors
    ///
    /// [`SeriesError::Storage`].
    pub fn counters(&self) -> Result<Vec<CounterRecord>, SeriesError> {
        self.counters_up_to(usize::MAX)
    }

    /// Does what [`counters`](SeriesGenerator::counters) does, for `most` of them if there are
    /// more. Which ones they are then is not said.
    ///
    /// # Errors
    ///
    /// [`SeriesError::Storage`].
    pub fn counters_up_to(&self, most: usize) -> Result<Vec<CounterRecord>, SeriesError> {
        self.handle.shared.check_fork()?;
        self.handle.shared.known.store.counters(self.name(), most)
    }

    /// How far the numbers of the present period go, for each scope that has given some. If none
    /// has, it is the same for the newest period before it. Sorted by the scope. Asks the store.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::series::{Series, SeriesDefinition};
    /// # let folder = tempfile::tempdir()?;
    /// # let store = uidring::Store::open(folder.path().join("uidring.db"))?;
    /// # let series = Series::builder().store(&store).build()?;
    /// let orders = series.create("orders", SeriesDefinition::new("{yyyy}-{n:3}")?)?;
    /// orders.take_batch(900)?;
    /// for forecast in orders.forecast()? {
    ///     assert_eq!(forecast.largest, 999);
    ///     assert!(forecast.last >= 900);
    ///     assert!(forecast.is_tight()); // time for {n:4}, from the next year on
    /// }
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SeriesError::NoSuchSeries`], [`SeriesError::Storage`], or [`SeriesError::Clock`].
    pub fn forecast(&self) -> Result<Vec<Forecast>, SeriesError> {
        self.handle.shared.check_fork()?;
        let known = self.handle.shared.known.learn_again(self.name())?;
        forecast::forecast(&known, &self.counters()?, self.handle.shared.now_ms())
    }

    /// The state of this scope in this process.
    #[must_use]
    pub fn status(&self) -> SeriesStatus {
        let Handle { shared, scopes, current } = &self.handle;
        let has_ended = shared.segments.has_ended();
        // What was given up while it rested says nothing of the next take.
        let open = current.opened(shared.clock.now());
        let open = open.filter(|open| has_ended || !open.numbers.is_retired());
        // As for `scope`.
        let is_forked = shared.segments.is_forked();
        let mut tight = if is_forked {
            Vec::new()
        } else {
            shared.known.tight(&scopes.known.load(), shared.now_ms())
        };
        let full = tight.iter().filter(|counter| counter.is_full()).count();
        let nearly_full = tight.len() - full;
        tight.truncate(MOST_TOLD);
        SeriesStatus {
            obstacle: current.obstacle(shared, open.as_ref()),
            period: open.as_ref().map(|open| open.period()),
            numbers: open.map(|open| open.numbers.status()),
            scopes: if is_forked { 0 } else { scopes.len() },
            full,
            nearly_full,
            tight,
        }
    }

    /// Calls `look` with the state of each scope of the series whose numbers of the present period
    /// this process has loaded, in no particular order. It does not ask the store.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::series::{Series, SeriesDefinition};
    /// # let folder = tempfile::tempdir()?;
    /// # let store = uidring::Store::open(folder.path().join("uidring.db"))?;
    /// # let series = Series::builder().store(&store).build()?;
    /// let parcels = series.create("parcels", SeriesDefinition::new("{scope}-{n:1}")?)?;
    /// parcels.scope("lima").take_n(9).for_each(drop);
    /// let mut full = Vec::new();
    /// parcels.each_scope(|status| {
    ///     if status.is_full() {
    ///         full.push(status.scope);
    ///     }
    /// });
    /// assert_eq!(full, ["lima"]);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn each_scope(&self, mut look: impl FnMut(ScopeStatus)) {
        let Handle { shared, scopes, .. } = &self.handle;
        // In a forked process another thread may have held the lock of the scopes.
        if shared.segments.is_forked() {
            return;
        }
        let now = shared.clock.now();
        for current in scopes.all() {
            if let Some(open) = current.opened(now).filter(|open| !open.numbers.is_retired()) {
                look(ScopeStatus {
                    scope: current.scope.to_string(),
                    period: open.period(),
                    numbers: open.numbers.status(),
                    largest: open.largest(),
                });
            }
        }
    }
}

impl fmt::Debug for SeriesGenerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeriesGenerator")
            .field("series", &self.name())
            .field("scope", &self.handle.current.scope)
            .finish_non_exhaustive()
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
