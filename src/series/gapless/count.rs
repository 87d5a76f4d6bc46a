//! The statements that count, in the syntax of each kind of database.

use std::error::Error;
use std::fmt;

use crate::backend::sql::{FRESH, Value, mark, now};
use crate::series::error::{SeriesError, driver};
use crate::series::form::date::Date;
use crate::series::form::number::{MOST_AT_ONCE, SeriesNumber};
use crate::series::form::period::Period;
use crate::series::form::scope::valid_scope;
use crate::series::memory::handle::Handle;
use crate::series::memory::known_series::KnownSeries;
use crate::series::memory::series_cache::{CachedSeries, MOST_RELOADS};
use crate::series::store::counter::Counter;
use crate::series::store::sql::rows::record_of_texts;
use crate::series::store::{SeriesRecord, SeriesVersion};
use crate::sync::{Arc, OnceLock};

/// A series, the day whose numbers are counted, and how many. `N` is what the caller gets.
pub struct Gapless<'a, N> {
    place: Place<'a>,
    /// `None`: the day of the reading of the clock.
    date: Option<Date>,
    count: u64,
    /// Makes of the numbers what the caller gets. `None` where there are none.
    finish: fn(Vec<SeriesNumber>) -> Option<N>,
}

/// Where a process knows a series from.
enum Place<'a> {
    /// From the store that it has opened.
    Opened(&'a Handle),
    /// From the program's own transactions alone.
    Read { known: &'a KnownSeries, series: &'a str, scope: &'a str },
}

impl Place<'_> {
    fn series(&self) -> &str {
        match self {
            Place::Opened(handle) => handle.name(),
            Place::Read { series, .. } => series,
        }
    }

    fn scope(&self) -> &str {
        match self {
            Place::Opened(handle) => &handle.scope.name,
            Place::Read { scope, .. } => scope,
        }
    }

    /// Where the series is.
    fn store(&self) -> String {
        match self {
            Place::Opened(handle) => handle.shared.cache.store.name(),
            Place::Read { .. } => "the database of the transaction".to_owned(),
        }
    }

    /// The series as this process knows it, if it does.
    fn cached(&self) -> Result<Option<Arc<CachedSeries>>, SeriesError> {
        match self {
            Place::Opened(handle) => handle.cached_series().map(Some),
            Place::Read { known, series, scope } => {
                if !scope.is_empty() {
                    valid_scope(scope)?;
                }
                Ok(known.get(series))
            }
        }
    }

    fn now_ms(&self) -> i64 {
        match self {
            Place::Opened(handle) => handle.shared.now_ms(),
            Place::Read { .. } => KnownSeries::now_ms(),
        }
    }

    /// Remembers the series as a transaction has read it.
    fn learn(&self, record: SeriesRecord) -> Result<Arc<CachedSeries>, SeriesError> {
        match self {
            Place::Opened(handle) => {
                handle.shared.check_fork()?;
                Ok(handle.shared.cache.insert(record)?.load_full())
            }
            Place::Read { known, .. } => known.insert(record),
        }
    }

    /// Whether a series of this name that was `created` at another time may be what is meant: where
    /// no store was opened, it is that of another database.
    fn may_be_another(&self) -> bool {
        matches!(self, Place::Read { .. })
    }

    fn counter(&self, version: &SeriesVersion, period: Period) -> Counter<'_> {
        Counter { series: self.series(), version: version.number, period, scope: self.scope() }
    }

    /// Notes the `last` number of a counter whose pattern fits the `largest`.
    fn note(&self, counter: &Counter<'_>, last: u64, largest: u64) {
        if let Place::Opened(handle) = self {
            handle.shared.cache.nearly_full.note(counter, last.min(largest), largest);
        }
    }

    /// That a counter has given the `largest` number that fits.
    fn full(&self, counter: &Counter<'_>, largest: u64) -> SeriesError {
        let (series, scope) = (counter.series.to_owned(), counter.scope.to_owned());
        let full = SeriesError::Full { series, scope, period: counter.period, largest };
        if let Place::Opened(handle) = self {
            handle.shared.cache.nearly_full.note_full(&full);
        }
        full
    }
}

/// The kinds of databases, each with a syntax of its own, for
/// [`take_with`](crate::series::SeriesGenerator::take_with).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// SQLite.
    Sqlite,
    /// PostgreSQL. The values of a statement are at `$1`, `$2` and so on.
    Postgres,
    /// MySQL and MariaDB.
    MySql,
}

impl Dialect {
    /// Whether another transaction may not meet the error to which a driver gave this `code`: a
    /// deadlock, a conflict, a wait that took too long, a connection that broke. A code is a
    /// SQLSTATE of PostgreSQL, an error number of MySQL, and a result code of SQLite. For drivers
    /// of which [`SeriesError::is_transient`] knows nothing.
    ///
    /// ```
    /// use uidring::series::Dialect;
    ///
    /// assert!(Dialect::Postgres.is_transient("40P01"));
    /// assert!(Dialect::MySql.is_transient("1213"));
    /// assert!(!Dialect::Sqlite.is_transient("19"));
    /// ```
    #[must_use]
    pub fn is_transient(self, code: &str) -> bool {
        match self {
            Dialect::Postgres => driver::is_sqlstate(code),
            Dialect::MySql => code.parse().is_ok_and(driver::is_mysql),
            Dialect::Sqlite => code.parse().is_ok_and(driver::is_sqlite),
        }
    }
}

/// What a driver said.
pub(crate) type DriverError = Box<dyn Error + Send + Sync>;

/// A row whose columns were cast to texts.
pub(crate) type Texts = Vec<Option<String>>;

/// A transaction, for the statements that count.
pub(crate) trait Driver {
    fn dialect(&self) -> Dialect;

    /// Runs a statement, in the syntax of its kind of database, and returns its rows. All their
    /// columns are texts.
    async fn rows(&mut self, sql: String, values: Vec<Value>) -> Result<Vec<Texts>, DriverError>;

    /// Fails if the statements do not run in a transaction. Most drivers have a type for one.
    async fn check_transaction(&mut self) -> Result<(), DriverError> {
        Ok(())
    }
}

impl<N> fmt::Debug for Gapless<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gapless").field("series", &self.series()).finish_non_exhaustive()
    }
}

impl<'a> Gapless<'a, SeriesNumber> {
    /// The next number of a date, or of the present period.
    pub(crate) fn one(handle: &'a Handle, date: Option<Date>) -> Gapless<'a, SeriesNumber> {
        Gapless { place: Place::Opened(handle), date, count: 1, finish: |mut all| all.pop() }
    }

    /// Of a series that the transaction reads, where it is not `known` yet.
    pub(crate) fn read(
        known: &'a KnownSeries,
        series: &'a str,
        scope: &'a str,
        date: Option<Date>,
    ) -> Gapless<'a, SeriesNumber> {
        let place = Place::Read { known, series, scope };
        Gapless { place, date, count: 1, finish: |mut all| all.pop() }
    }
}

impl<'a> Gapless<'a, Vec<SeriesNumber>> {
    /// The next `count` numbers of a date, or of the present period.
    pub(crate) fn many(
        handle: &'a Handle,
        date: Option<Date>,
        count: usize,
    ) -> Gapless<'a, Vec<SeriesNumber>> {
        let (place, count) = (Place::Opened(handle), (count as u64).clamp(1, MOST_AT_ONCE));
        Gapless { place, date, count, finish: |all| (!all.is_empty()).then_some(all) }
    }
}

impl<N> Gapless<'_, N> {
    /// The name of the series.
    pub(crate) fn series(&self) -> &str {
        self.place.series()
    }

    /// Counts the next numbers in the transaction of `driver`.
    pub(crate) async fn count(self, mut driver: impl Driver) -> Result<N, SeriesError> {
        let place = &self.place;
        // Before the database is asked for anything.
        let mut cached = place.cached()?;
        driver.check_transaction().await.map_err(|error| self.failed(error))?;
        for _ in 0..MOST_RELOADS {
            let known = match cached.take() {
                Some(known) => known,
                None => self.learn(&mut driver).await?,
            };
            let (version, date, period) = if let Some(date) = self.date {
                let (version, period) = known.version_on(date);
                (version, date, period)
            } else {
                let (version, span) = known.version_at(place.now_ms())?;
                (version, span.date, span.period)
            };
            let definition = &version.definition;
            if !definition.is_gapless() {
                return Err(SeriesError::NotGapless { series: self.series().to_owned() });
            }
            let (first, pattern) = (definition.first_number(), definition.pattern());
            pattern.check_date(date)?;
            pattern.check_scope(place.scope())?;
            let counter = place.counter(version, period);
            // What a column holds.
            let count = self.count.min((i64::MAX.unsigned_abs() - first).saturating_add(1));
            let result = count_up(&mut driver, &counter, first, count, &known.record).await;
            if let Some(last) = result.map_err(|error| self.failed(error))? {
                let (largest, before) = (pattern.largest(), last.saturating_sub(count));
                place.note(&counter, last, largest);
                if last > largest {
                    let set = set_last(&mut driver, &counter, before.max(largest)).await;
                    set.map_err(|error| self.failed(error))?;
                }
                let number = |number| pattern.number(date, place.scope(), number);
                let numbers = (before + 1..=last.min(largest)).map(number).collect();
                return (self.finish)(numbers).ok_or_else(|| place.full(&counter, largest));
            }
            cached = Some(self.find_out_why(&mut driver, &counter, &known.record).await?);
        }
        Err(SeriesError::Changed { series: self.series().to_owned() })
    }

    /// Counts by a `driver` that never waits: it returns when all is done.
    #[allow(dead_code, reason = "it is for drivers of features")]
    pub(crate) fn count_now(self, driver: impl Driver) -> Result<N, SeriesError> {
        let series = self.series().to_owned();
        without_waiting(self.count(driver)).unwrap_or(Err(SeriesError::Changed { series }))
    }

    /// Reads the series in the database of `driver`, which this process knows from then on.
    pub(crate) async fn learn(
        &self,
        driver: &mut impl Driver,
    ) -> Result<Arc<CachedSeries>, SeriesError> {
        let record = self.record(driver).await?;
        let (store, series) = (self.place.store(), self.series().to_owned());
        let unknown = SeriesError::NoSuchSeries { store, series, alike: Vec::new() };
        self.place.learn(record.ok_or(unknown)?)
    }

    /// The series in the database of `driver`, if it is there.
    async fn record(&self, driver: &mut impl Driver) -> Result<Option<SeriesRecord>, SeriesError> {
        check_connection(driver).await.map_err(|error| self.failed(error))?;
        let has_tables = has_tables(driver).await.map_err(|error| self.failed(error))?;
        if !has_tables {
            return Ok(None);
        }
        let syntax = DialectSyntax::of(driver.dialect());
        let name = || vec![self.series().into()];
        let sql = syntax.translate(
            "{fresh}SELECT {text}name), {text}time_zone), {text}fiscal_year_from), {text}gapless), \
             {text}closed_before), {text}revision), {text}created) FROM uidring_series \
             WHERE name = ?",
        );
        let series = driver.rows(sql, name()).await.map_err(|error| self.failed(error))?;
        let Some(series) = series.first() else { return Ok(None) };
        let sql = syntax.translate(
            "{fresh}SELECT {text}series), {text}version), {text}pattern), {text}step), \
             {text}first_number), {text}begins), {text}restart) FROM uidring_series_version \
             WHERE series = ? ORDER BY version",
        );
        let versions = driver.rows(sql, name()).await.map_err(|error| self.failed(error))?;
        record_of_texts(series, &versions).map(Some).map_err(|error| self.failed(error))
    }

    /// Says why the statement counted nothing for the series that is `known`. Returns it as it is,
    /// where it was changed since.
    async fn find_out_why(
        &self,
        driver: &mut impl Driver,
        counter: &Counter<'_>,
        known: &SeriesRecord,
    ) -> Result<Arc<CachedSeries>, SeriesError> {
        let name = || self.series().to_owned();
        let record = self.record(driver).await?;
        // Another series of this name is one of another database, or in another schema.
        let same =
            |record: &SeriesRecord| record.created == known.created || self.place.may_be_another();
        let Some(record) = record.filter(same) else {
            return Err(SeriesError::OtherDatabase { store: self.place.store(), series: name() });
        };
        if record.is_closed(counter.period) {
            return Err(SeriesError::Closed { series: name(), period: counter.period });
        }
        let is_news = record.revision > known.revision || record.created != known.created;
        // An older one is learned as well, in case the database went back to it. The statement that
        // counts looks at the row itself, so that nothing is counted by what is no longer so.
        let learned = self.place.learn(record)?;
        if is_news {
            return Ok(learned);
        }
        // A transaction may see the series as it was when the transaction began.
        Err(SeriesError::Changed { series: name() })
    }

    fn failed(&self, error: DriverError) -> SeriesError {
        let series = self.series().to_owned();
        SeriesError::Transaction { series, source: Arc::from(error) }
    }
}

/// Fails where a proxy before MySQL has another connection answer queries, which do not find what
/// was counted.
async fn check_connection(driver: &mut impl Driver) -> Result<(), DriverError> {
    if driver.dialect() != Dialect::MySql {
        return Ok(());
    }
    driver.rows(format!("SET {}", mark::SET), Vec::new()).await?;
    let is_set = format!("SELECT CAST({} AS CHAR)", mark::IS_SET);
    if driver.rows(is_set, Vec::new()).await? == [[Some("1".to_owned())]] {
        Ok(())
    } else {
        Err(mark::MISSING.into())
    }
}

/// Whether the database has the tables of series. It says so itself by an error that only people
/// can read, and after which PostgreSQL refuses the rest of the transaction.
async fn has_tables(driver: &mut impl Driver) -> Result<bool, DriverError> {
    let sql = match driver.dialect() {
        Dialect::Sqlite => "SELECT CAST(MAX(cid) AS TEXT) FROM pragma_table_info('uidring_series')",
        Dialect::Postgres => &format!("{FRESH}SELECT CAST(to_regclass('uidring_series') AS TEXT)"),
        Dialect::MySql => {
            "SELECT CAST(MAX(TABLE_NAME) AS CHAR) FROM information_schema.TABLES \
             WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'uidring_series'"
        }
    };
    let rows = driver.rows(sql.to_owned(), Vec::new()).await?;
    Ok(rows.into_iter().flatten().flatten().next().is_some())
}

/// Makes the counter with its `first` numbers, or counts it up by `count`. Returns the last of the
/// numbers, or `None` where the series gives none.
async fn count_up(
    driver: &mut impl Driver,
    counter: &Counter<'_>,
    first: u64,
    count: u64,
    cached: &SeriesRecord,
) -> Result<Option<u64>, DriverError> {
    let (period, begins) = (counter.period.to_string(), counter.begins().to_string());
    let version = i64::from(counter.version);
    let syntax = DialectSyntax::of(driver.dialect());
    let values = vec![
        counter.scope.into(),
        period.as_str().into(),
        begins.as_str().into(),
        version.into(),
        (first + (count - 1)).into(),
        counter.series.into(),
        begins.as_str().into(),
        cached.revision.into(),
        cached.created.into(),
        count.into(),
    ];
    let mut rows = driver.rows(count_statement(driver.dialect()).to_owned(), values).await?;
    if driver.dialect() == Dialect::MySql {
        let key = vec![counter.series.into(), counter.scope.into(), period.as_str().into()];
        rows = driver.rows(syntax.translate(COUNTED), key).await?;
        rows.retain(has_counted);
        if let Some(problem) = problem_of(&rows) {
            return Err(format!("its table uidring_series_counter {problem}").into());
        }
    }
    let number = rows.into_iter().next().and_then(|row| row.into_iter().next().flatten());
    number.map(|text| Ok(text.parse()?)).transpose()
}

/// [`COUNT`] in the syntax of this kind of database, which is made once.
fn count_statement(dialect: Dialect) -> &'static str {
    static STATEMENTS: [OnceLock<String>; 3] = [const { OnceLock::new() }; 3];
    let statement = match dialect {
        Dialect::Sqlite => &STATEMENTS[0],
        Dialect::Postgres => &STATEMENTS[1],
        Dialect::MySql => &STATEMENTS[2],
    };
    statement.get_or_init(|| DialectSyntax::of(dialect).translate(COUNT))
}

/// Whether the statement before the one that read this row with [`COUNTED`] has written something.
fn has_counted(row: &Texts) -> bool {
    let written = row.get(2).and_then(|text| text.as_deref()?.parse().ok());
    written.is_some_and(|rows: i64| rows > 0)
}

/// What is wrong with the table of MySQL whose rows [`COUNTED`] has found. PostgreSQL and SQLite
/// refuse [`COUNT`] themselves where the key is missing, and have one kind of table.
fn problem_of(rows: &[Texts]) -> Option<&'static str> {
    match rows.first()?.get(1)?.as_deref() {
        Some("no locks") => Some(
            "has another engine than InnoDB, and keeps no lock until the commit; run ALTER TABLE \
             uidring_series_counter ENGINE = InnoDB",
        ),
        Some("no key") => Some(
            "has lost its primary key, without which it gives numbers twice; keep of each period \
             and scope the row with the largest number, and put the key (series, scope, period) \
             back",
        ),
        _ => None,
    }
}

/// Makes the counter or counts it up, where the series is there and the caller's own, gapless, not
/// closed, and was not changed without the caller's knowledge. The row of the series is locked, so
/// that it stays so. The conditions are about this row alone: whoever has waited for its lock sees
/// it as it is then, and other tables as they were.
const COUNT: &str = "INSERT INTO uidring_series_counter \
    (scope, period, begins, version, last_number, series, modified, created) \
    SELECT {text?}, {text?}, {text?}, {number?}, {number?}, name, {now}, {now} \
    FROM uidring_series \
    WHERE name = {text?} AND gapless = 1 AND closed_before <= {text?} AND revision = {number?} \
    AND created = {number?} {shared lock} {lock} {if there} \
    last_number = uidring_series_counter.last_number + {number?}, modified = {now} {returning}";

/// Sets the counter back to the `last` number that the period has, as its next version may have
/// more. The transaction has the row.
async fn set_last(
    driver: &mut impl Driver,
    counter: &Counter<'_>,
    last: u64,
) -> Result<(), DriverError> {
    let period = counter.period.to_string();
    let sql = DialectSyntax::of(driver.dialect()).translate(SET_LAST);
    let key = [counter.series.into(), counter.scope.into(), period.as_str().into()];
    let values = std::iter::once(last.into()).chain(key).collect();
    driver.rows(sql, values).await?;
    Ok(())
}

const SET_LAST: &str = "UPDATE uidring_series_counter SET last_number = {number?} \
    WHERE series = {text?} AND scope = {text?} AND period = {text?}";

/// What MySQL has in place of `RETURNING`. Where [`COUNT`] has written something, the row is this
/// transaction's, so it has the number, as long as the engine has locks and the key is there. The
/// third column says so. As a condition it would not: MySQL 9 asks once for `ROW_COUNT()` in the
/// conditions of a prepared statement, and takes the answer for each time that it is executed.
const COUNTED: &str = "SELECT {text}last_number), \
    CASE WHEN (SELECT ENGINE FROM information_schema.TABLES \
        WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'uidring_series_counter') <> 'InnoDB' \
    THEN 'no locks' \
    WHEN (SELECT SUM(IF(COLUMN_NAME IN ('series', 'scope', 'period'), 1, 4)) \
        FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() \
        AND TABLE_NAME = 'uidring_series_counter' AND INDEX_NAME = 'PRIMARY') = 3 \
    THEN 'sound' ELSE 'no key' END, CAST(ROW_COUNT() AS CHAR) \
    FROM uidring_series_counter \
    WHERE series = ? AND scope = ? AND period = ?";

/// The syntax of a kind of database.
struct DialectSyntax {
    /// Pieces of statements, each with what stands for it.
    pieces: &'static [(&'static str, &'static str)],
    /// How the cast to a text ends that begins with `{text}`.
    as_text: &'static str,
    /// Whether the place of a value has a number.
    has_numbers: bool,
}

/// The lock of a row that others share already is given at once, before somebody who waits to
/// change the row: nobody could, for as long as such transactions overlap. This lock is given in
/// turn. Its key is that of [`advisory_lock`](crate::backend::sql::Dialect::advisory_lock).
const SHARED_LOCK: &str =
    "AND pg_advisory_xact_lock_shared(tableoid::INT, hashtext(name)) IS NOT NULL";

const ON_CONFLICT: &str = "ON CONFLICT (series, scope, period) DO UPDATE SET";
const RETURNING: &str = "RETURNING {text}last_number)";

impl DialectSyntax {
    fn of(dialect: Dialect) -> DialectSyntax {
        match dialect {
            Dialect::Sqlite => DialectSyntax {
                pieces: &[
                    ("{text?}", "?"),
                    ("{number?}", "?"),
                    ("{shared lock}", ""),
                    // A transaction that writes has the whole file.
                    ("{lock}", ""),
                    ("{if there}", ON_CONFLICT),
                    ("{returning}", RETURNING),
                    ("{fresh}", ""),
                    ("{now}", now::SQLITE),
                ],
                as_text: " AS TEXT)",
                has_numbers: false,
            },
            Dialect::Postgres => DialectSyntax {
                pieces: &[
                    // It would guess other types.
                    ("{text?}", "?::TEXT"),
                    ("{number?}", "?::BIGINT"),
                    ("{shared lock}", SHARED_LOCK),
                    ("{lock}", "FOR SHARE OF uidring_series"),
                    ("{if there}", ON_CONFLICT),
                    ("{returning}", RETURNING),
                    ("{fresh}", FRESH),
                    ("{now}", now::POSTGRES),
                ],
                as_text: " AS TEXT)",
                has_numbers: true,
            },
            Dialect::MySql => DialectSyntax {
                pieces: &[
                    ("{text?}", "?"),
                    ("{number?}", "?"),
                    ("{shared lock}", ""),
                    ("{lock}", "LOCK IN SHARE MODE"),
                    ("{if there}", "ON DUPLICATE KEY UPDATE"),
                    ("{returning}", ""),
                    ("{fresh}", ""),
                    ("{now}", now::MYSQL),
                ],
                as_text: " AS CHAR)",
                has_numbers: false,
            },
        }
    }

    /// `sql` in this syntax. A cast to a text is written `{text}x)`.
    fn translate(&self, sql: &str) -> String {
        let mut sql = sql.to_owned();
        for (piece, syntax) in self.pieces {
            sql = sql.replace(piece, syntax);
        }
        while let Some(at) = sql.find("{text}") {
            let close = at + sql[at..].find(')').unwrap_or(0);
            sql.replace_range(close..=close, self.as_text);
            sql.replace_range(at..at + "{text}".len(), "CAST(");
        }
        if !self.has_numbers {
            return sql;
        }
        let mut numbered = String::new();
        for (index, piece) in sql.split('?').enumerate() {
            if index > 0 {
                numbered.push('$');
                numbered.push_str(&index.to_string());
            }
            numbered.push_str(piece);
        }
        numbered
    }
}

/// The result of a future that never waits.
fn without_waiting<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(result) => Some(result),
        std::task::Poll::Pending => None,
    }
}
