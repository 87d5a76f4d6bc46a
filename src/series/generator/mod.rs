//! [`SeriesGenerator`], the numbers of one series.

mod batch;
mod for_date;
pub mod forecast;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod in_transaction;
mod request;
pub mod status;

pub use batch::SeriesTakeN;

use std::fmt;

use forecast::Forecast;

#[cfg(feature = "async")]
use crate::generator::blocking;
#[cfg(feature = "async")]
use crate::segment::SegmentError;
use crate::series::error::SeriesError;
use crate::series::form::date::Date;
use crate::series::form::error::ParseError;
use crate::series::form::number::SeriesNumber;
use crate::series::form::pattern::{Parsed, Pattern};
use crate::series::memory::handle::Handle;
#[cfg(feature = "async")]
use crate::series::memory::scope::OpenNumbers;
use crate::series::memory::scope::{OnEmpty, Scope};
use crate::series::memory::scopes::Scopes;
use crate::series::memory::shared::Shared;
use crate::series::store::{CounterRecord, SeriesRecord};
use crate::sync::Arc;

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

impl SeriesGenerator {
    pub(crate) fn new(shared: Arc<Shared>, scopes: Arc<Scopes>) -> SeriesGenerator {
        let scope = scopes.get("");
        SeriesGenerator { handle: Handle { shared, scopes, scope } }
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
        let scope =
            if is_forked { Arc::new(Scope::new(scope)) } else { self.handle.scopes.get(scope) };
        SeriesGenerator { handle: Handle { scope, ..self.handle.clone() } }
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
        self.handle.scope.take(&self.handle.shared, self.name(), OnEmpty::Wait)
    }

    /// Takes the next number, or fails at once with the reason why there is none. It never waits.
    /// The first call in a period asks for its numbers, and fails with [`SeriesError::Loading`].
    ///
    /// # Errors
    ///
    /// As [`take`](SeriesGenerator::take).
    pub fn try_take(&self) -> Result<SeriesNumber, SeriesError> {
        self.handle.scope.take(&self.handle.shared, self.name(), OnEmpty::Fail)
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
            let open = match self.handle.scope.find_open(self.handle.shared.clock.now()) {
                Some(open) => open,
                None => self.open_on_thread().await?,
            };
            match open.numbers.take_async().await {
                Ok(number) => return Ok(open.write(&self.handle.scope.name, number.get())),
                Err(error) => {
                    let failed = self.handle.scope.failed(&open, &self.handle.shared, error);
                    if let Some(error) = failed {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Opens the present period on a thread of its own.
    #[cfg(feature = "async")]
    async fn open_on_thread(&self) -> Result<Arc<OpenNumbers>, SeriesError> {
        let Handle { shared, scopes, scope } = self.handle.clone();
        let open = move || scope.open_at(&shared, &scopes.series, shared.clock.now());
        let opened = blocking::run("uidring-series", open).await;
        opened.unwrap_or_else(|error| Err(SeriesError::Load(SegmentError::other(error))))
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
        let cached = self.handle.scopes.cached.load();
        let version = cached
            .version_at(self.handle.shared.now_ms())
            .map_or_else(|_| cached.record.newest(), |at| at.0);
        version.definition.pattern().clone()
    }

    /// Reads a number of any version of this series: by the version that has written it.
    ///
    /// # Errors
    ///
    /// The error of the newest version, if none has written such a text.
    pub fn parse(&self, text: &str) -> Result<Parsed, ParseError> {
        self.handle.scopes.cached.load().parse(text)
    }

    /// The text of a number of the present period, as the takes of this scope write it.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::series::{Series, SeriesDefinition};
    /// # let folder = tempfile::tempdir()?;
    /// # let store = uidring::Store::open(folder.path().join("uidring.db"))?;
    /// # let series = Series::builder().store(&store).build()?;
    /// let orders = series.create("orders", SeriesDefinition::new("{scope}/{yyyy}-{n:4}")?)?;
    /// let shop = orders.scope("shop-7");
    /// assert_eq!(shop.format_for("2026-11-24".parse()?, 42)?, "shop-7/2026-0042");
    /// assert_eq!(shop.take()?.as_str(), shop.format(1)?);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`SeriesError::Format`] if the pattern does not fit the number, the scope or the date;
    /// [`SeriesError::Clock`].
    pub fn format(&self, number: u64) -> Result<String, SeriesError> {
        self.text_of(None, number)
    }

    /// Does what [`format`](SeriesGenerator::format) does, for the period of a `date`.
    ///
    /// # Errors
    ///
    /// As [`format`](SeriesGenerator::format).
    pub fn format_for(&self, date: Date, number: u64) -> Result<String, SeriesError> {
        self.text_of(Some(date), number)
    }

    fn text_of(&self, date: Option<Date>, number: u64) -> Result<String, SeriesError> {
        let (cached, now_ms) = (self.handle.scopes.cached.load(), self.handle.shared.now_ms());
        cached.format(date, now_ms, &self.handle.scope.name, number)
    }

    /// What the store knows of the series. Asks the store.
    ///
    /// # Errors
    ///
    /// [`SeriesError::NoSuchSeries`] or [`SeriesError::Storage`].
    pub fn record(&self) -> Result<SeriesRecord, SeriesError> {
        self.handle.shared.check_fork()?;
        Ok(self.handle.shared.cache.reload(self.name())?.record.clone())
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
    /// more: those of the newest periods.
    ///
    /// # Errors
    ///
    /// [`SeriesError::Storage`].
    pub fn counters_up_to(&self, most: usize) -> Result<Vec<CounterRecord>, SeriesError> {
        self.handle.shared.check_fork()?;
        self.handle.shared.cache.store.counters(self.name(), most)
    }

    /// The counters of the newest periods, and at most `most` of them, sorted as
    /// [`counters`](SeriesGenerator::counters) does; and how many there are. Asks the store.
    ///
    /// # Errors
    ///
    /// [`SeriesError::Storage`].
    pub fn newest_counters(&self, most: usize) -> Result<(Vec<CounterRecord>, u64), SeriesError> {
        self.handle.shared.check_fork()?;
        let store = &self.handle.shared.cache.store;
        Ok((store.counters(self.name(), most)?, store.count_counters(self.name())?))
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
        let cached = self.handle.shared.cache.reload(self.name())?;
        forecast::forecast(&cached, &self.counters()?, self.handle.shared.now_ms())
    }
}

impl fmt::Debug for SeriesGenerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeriesGenerator")
            .field("series", &self.name())
            .field("scope", &self.handle.scope.name)
            .finish_non_exhaustive()
    }
}
