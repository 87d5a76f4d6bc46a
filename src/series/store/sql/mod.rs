//! [`SqlSeries`], series in a database with SQL.
//!
//! A counter is one row. Whoever takes numbers of it reads and locks the row, and writes the new
//! end. A row is made under the lock of its series' row, so that a change or a closing that is made
//! meanwhile comes before it or after it.

mod requests;
pub mod rows;
mod take;

use std::collections::HashMap;

use rows::{ITS_KEY, SERIES, VERSIONS, counter_of, find_counter, int, key, record, text, unsigned};

#[cfg(feature = "sqlite")]
use crate::backend::StorageError;
use crate::backend::sql;
use crate::backend::sql::{
    Access, Call, Client, Error, ErrorPhrases, OnMissing, Row, Schema, Transaction, VERSION, Value,
    limit,
};
#[cfg(feature = "sqlite")]
use crate::backend::sql::{Database as _, Deadline, Session as _};
use crate::segment::{SegmentTables, similar_names};
use crate::series::error::SeriesError;
use crate::series::form::date::Date;
use crate::series::form::definition::SeriesDefinition;
use crate::series::store::counter::Counter;
use crate::series::store::{
    CounterRecord, Remembered, SeriesRecord, SeriesStore, TakenRange, Wanted,
};
use crate::sync::{Arc, Mutex, lock};

type Fault = sql::Fault<SeriesError>;

/// Series in a database.
#[derive(Clone, Debug)]
pub(crate) struct SqlSeries<D> {
    pub(crate) client: Client<D>,
    /// When the row of each series was written that this process has had numbers of.
    created: Arc<Mutex<HashMap<String, i64>>>,
}

impl<D: SegmentTables> SqlSeries<D> {
    const SCHEMA: Schema = Schema {
        sql: D::TABLES,
        version: VERSION,
        tables: &[
            "uidring_layout",
            "uidring_series",
            "uidring_series_version",
            "uidring_series_counter",
            "uidring_request",
        ],
        witness: "SELECT count(*) = 4 FROM sqlite_master WHERE type = 'table' AND name IN \
                  ('uidring_series', 'uidring_series_version', 'uidring_series_counter', \
                  'uidring_request')",
    };
    const PHRASES: ErrorPhrases = ErrorPhrases {
        subject: "the series in",
        missing_tables: "its tables are not there; create a series, which makes them",
        incompatible_tables: "its tables uidring_series, uidring_series_version, \
            uidring_series_counter and uidring_request are not those of the schema; use the \
            uidring that made them, or give the series a database of their own",
        not_a_database: "give the series a file of their own",
        unrelated_tables: "create a series in it, which makes them",
        permissions: "give this user the rights to select, insert, update and delete in its tables \
            uidring_series, uidring_series_version, uidring_series_counter and uidring_request, \
            and to select in uidring_layout",
    };

    /// The series in the database that `client` calls.
    pub(crate) fn on(client: Client<D>) -> SqlSeries<D> {
        SqlSeries { client, created: Arc::default() }
    }

    fn call(doing: &str, access: Access) -> Call<'_> {
        Call { schema: &Self::SCHEMA, phrases: &Self::PHRASES, doing, access }
    }

    /// Makes a transaction on tables that are there.
    fn transact<R: Send>(
        &self,
        series: &str,
        doing: &str,
        access: Access,
        body: impl Fn(&mut Transaction<'_>) -> Result<R, Fault> + Sync,
    ) -> Result<R, SeriesError> {
        let unmade = || Err(self.no_such_series(series, Vec::new()));
        let checked = |transaction: &mut Transaction<'_>| {
            Self::check_version(transaction)?;
            body(transaction)
        };
        self.client.transact(&Self::call(doing, access), &OnMissing::Fail, Some(&unmade), checked)
    }

    /// A file is looked at when it is opened.
    fn check_version(transaction: &mut Transaction<'_>) -> Result<(), Error> {
        if !D::CREATES_TABLES {
            return Ok(());
        }
        match transaction.rows(D::OWN_VERSION, &[])?.pop().as_deref() {
            Some([Value::Int(VERSION), _]) => Ok(()),
            Some([Value::Int(version), _]) => Err(Error::other_version(*version, VERSION)),
            _ => Err(Error::problem(
                "its table uidring_layout has lost its row; put back what was there",
            )),
        }
    }

    fn no_such_series(&self, series: &str, alike: Vec<String>) -> SeriesError {
        let (store, series) = (self.name(), series.to_owned());
        SeriesError::NoSuchSeries { store, series, alike }
    }

    /// The series of this name, if it is there. If it `is_locked`, nobody else changes it or makes
    /// a counter of it until the end of the transaction.
    fn find(
        transaction: &mut Transaction<'_>,
        name: &str,
        is_locked: bool,
    ) -> Result<Option<SeriesRecord>, Error> {
        let lock = if is_locked { " {for update}" } else { "" };
        let sql = format!("SELECT {SERIES} FROM uidring_series WHERE name = ?{lock}");
        let row = transaction.row("uidring_series", &sql, &[name.into()])?;
        let Some(row) = row else { return Ok(None) };
        let sql = format!(
            "SELECT {VERSIONS} FROM uidring_series_version WHERE series = ? ORDER BY version"
        );
        let versions = transaction.rows(&sql, &[name.into()])?;
        record(&row, versions.iter()).map(Some)
    }

    /// Like [`find`](SqlSeries::find), but fails if there is no such series.
    fn get(
        &self,
        transaction: &mut Transaction<'_>,
        name: &str,
        is_locked: bool,
    ) -> Result<SeriesRecord, Fault> {
        if let Some(record) = Self::find(transaction, name, is_locked)? {
            return Ok(record);
        }
        let rows = transaction.rows("SELECT name FROM uidring_series", &[])?;
        let names = rows.iter().map(|row| text(row, 0, "name")).collect::<Result<Vec<_>, _>>()?;
        let alike = similar_names(name, names.into_iter().map(str::to_owned));
        Err(Fault::Refused(self.no_such_series(name, alike)))
    }

    /// The series, which nobody else changes until the end of the transaction, and of which nobody
    /// counts a number.
    fn get_for_change(
        &self,
        transaction: &mut Transaction<'_>,
        name: &str,
    ) -> Result<SeriesRecord, Fault> {
        transaction.advisory_lock("uidring_series", name)?;
        self.get(transaction, name, true)
    }

    fn insert_version(
        transaction: &mut Transaction<'_>,
        name: &str,
        number: u32,
        new: &SeriesDefinition,
        begins: Date,
    ) -> Result<(), Error> {
        let pattern = new.pattern();
        let restart = Some(pattern.unit()).filter(|unit| *unit != pattern.shown());
        let values = [
            name.into(),
            i64::from(number).into(),
            pattern.to_string().as_str().into(),
            new.step_size().into(),
            new.first_number().into(),
            begins.to_string().as_str().into(),
            restart.map_or(Value::Null, |unit| unit.name().into()),
        ];
        let sql = format!(
            "INSERT INTO uidring_series_version ({VERSIONS}, created) \
             VALUES (?, ?, ?, ?, ?, ?, ?, {{now}})"
        );
        transaction.write(&sql, &values).map(drop)
    }

    /// The series with its new version, which other processes will notice.
    fn changed(
        &self,
        transaction: &mut Transaction<'_>,
        name: &str,
    ) -> Result<SeriesRecord, Fault> {
        // Whoever takes numbers, and knows the series as it was, finds another revision. It is a
        // time, because a count would come to the same number again in a store that was put back to
        // before this change, and changed once more.
        let sql = "UPDATE uidring_series SET revision = \
                   CASE WHEN revision < {now} THEN {now} ELSE revision + 1 END WHERE name = ?";
        transaction.write(sql, &[name.into()])?;
        self.get(transaction, name, false)
    }
}

impl<D: SegmentTables> SeriesStore for SqlSeries<D> {
    fn name(&self) -> String {
        self.client.database.name()
    }

    fn create(&self, name: &str, new: &SeriesDefinition) -> Result<SeriesRecord, SeriesError> {
        let first_day = new.fiscal_first_day().map(|(month, day)| format!("{month:02}-{day:02}"));
        let values = [
            name.into(),
            new.time_zone_name().into(),
            first_day.as_deref().map_or(Value::Null, Into::into),
            i64::from(new.is_gapless()).into(),
            Date::MIN.to_string().as_str().into(),
        ];
        let sql =
            format!("INSERT INTO uidring_series ({SERIES}) VALUES (?, ?, ?, ?, ?, 0, {{now}})");
        let insert = |transaction: &mut Transaction<'_>| {
            Self::check_version(transaction)?;
            // Without a lock, which would wait for those who count: of two processes that find
            // none, the database refuses one.
            if let Some(record) = Self::find(transaction, name, false)? {
                return Ok(record);
            }
            transaction.write(&sql, &values)?;
            Self::insert_version(transaction, name, 1, new, Date::MIN)?;
            self.get(transaction, name, false)
        };
        let may_create = |_: &mut Transaction<'_>| Ok(());
        let call = Self::call("create a series in", Access::Define);
        let create = || self.client.transact(&call, &OnMissing::Create(&may_create), None, insert);
        match create() {
            // Another process may have created it since it was looked for.
            Err(error) if error.is_transient() => create(),
            result => result,
        }
    }

    fn record(&self, name: &str) -> Result<SeriesRecord, SeriesError> {
        self.transact(name, "read a series in", Access::Read, |transaction| {
            self.get(transaction, name, false)
        })
    }

    fn records(&self) -> Result<Vec<SeriesRecord>, SeriesError> {
        let read = |transaction: &mut Transaction<'_>| {
            Self::check_version(transaction)?;
            let mut records = records(transaction, "uidring_series")?;
            // Databases sort texts each in its own way.
            records.sort_by(|one: &SeriesRecord, other| one.name.cmp(&other.name));
            Ok(records)
        };
        let call = Self::call("read the series in", Access::Read);
        let unmade = || Ok(Vec::new());
        self.client.transact(&call, &OnMissing::Fail, Some(&unmade), read)
    }

    fn newest(&self, most: usize) -> Result<(Vec<SeriesRecord>, u64), SeriesError> {
        let most = limit(most);
        let newest = format!(
            "(SELECT {SERIES} FROM uidring_series ORDER BY created DESC, name LIMIT {most})"
        );
        let read = |transaction: &mut Transaction<'_>| {
            Self::check_version(transaction)?;
            let mut records = records(transaction, &newest)?;
            records.sort_by(|one, other| {
                other.created.cmp(&one.created).then_with(|| one.name.cmp(&other.name))
            });
            let all = transaction.rows("SELECT COUNT(*) FROM uidring_series", &[])?.pop();
            let all = all.map_or(Ok(0), |row| unsigned(&row, 0, "the count of series"))?;
            Ok((records, all))
        };
        let call = Self::call("read the series in", Access::Read);
        let unmade = || Ok((Vec::new(), 0));
        self.client.transact(&call, &OnMissing::Fail, Some(&unmade), read)
    }

    fn change(
        &self,
        name: &str,
        number: u32,
        new: &SeriesDefinition,
        begins: Date,
    ) -> Result<SeriesRecord, SeriesError> {
        self.transact(name, "change a series in", Access::Define, |transaction| {
            let record = self.get_for_change(transaction, name)?;
            let series = name.to_owned();
            if record.newest().number != number {
                return Err(Fault::Refused(SeriesError::Changed { series }));
            }
            let Some(next) = number.checked_add(1) else {
                let problem = format!("{number} is the largest number of a version");
                return Err(Fault::Refused(SeriesError::BadChange { series, problem }));
            };
            if record.versions.iter().any(|version| version.begins == begins) {
                Self::insert_version(transaction, name, next, new, begins)?;
                return self.changed(transaction, name);
            }
            // The counters of these days may have been removed, although they gave numbers.
            let closed_before = record.closed_before;
            if begins < closed_before {
                let problem = format!(
                    "the days before {closed_before} are closed, and their numbers would come \
                     again; name {closed_before} or a later day"
                );
                return Err(Fault::Refused(SeriesError::BadChange { series, problem }));
            }
            let sql = "SELECT COUNT(*) FROM uidring_series_counter \
                       WHERE series = ? AND begins >= ?";
            let values = [name.into(), begins.to_string().as_str().into()];
            let rows = transaction.rows(sql, &values)?;
            if rows.first().map_or(Ok(0), |row| int(row, 0, "the count"))? > 0 {
                let problem = format!(
                    "numbers of periods from {begins} on have been given; name a later day"
                );
                return Err(Fault::Refused(SeriesError::BadChange { series, problem }));
            }
            Self::insert_version(transaction, name, next, new, begins)?;
            self.changed(transaction, name)
        })
    }

    fn take(&self, counter: &Counter<'_>, wanted: Wanted<'_>) -> Result<TakenRange, SeriesError> {
        let doing = "take numbers from";
        let take = |transaction: &mut Transaction<'_>| match find_counter(transaction, counter)? {
            Some(found) => self.take_more(transaction, counter, found, wanted),
            None => self.take_first(transaction, counter, wanted),
        };
        let (taken, made) = self.transact(counter.series, doing, Access::Write, take)?;
        let created = &mut lock(&self.created);
        if !created.contains_key(counter.series) {
            created.insert(counter.series.to_owned(), made);
        }
        Ok(taken)
    }

    fn give_back(&self, counter: &Counter<'_>, unused: TakenRange) -> Result<bool, SeriesError> {
        let sql = format!(
            "UPDATE uidring_series_counter SET last_number = ?, modified = {{now}} \
             WHERE {ITS_KEY} AND last_number = ? AND created = ?"
        );
        let TakenRange { first, last, created } = unused;
        let [series, scope, period] = key(counter);
        let first = first.saturating_sub(1);
        let values = [first.into(), series, scope, period, last.into(), Value::Int(created)];
        let doing = "give numbers back to";
        self.transact(counter.series, doing, Access::Write, |transaction| {
            // The counter of another series of this name may have come to the same number.
            let created = "SELECT created FROM uidring_series WHERE name = ?";
            let rows = transaction.rows(created, &[counter.series.into()])?;
            let made = rows.first().map(|row| int(row, 0, "created")).transpose()?;
            let known = lock(&self.created).get(counter.series).copied();
            Ok(made == known && transaction.write(&sql, &values)? == 1)
        })
    }

    fn close(&self, name: &str, before: Date) -> Result<SeriesRecord, SeriesError> {
        self.transact(name, "close a period in", Access::Define, |transaction| {
            let record = self.get_for_change(transaction, name)?;
            if before <= record.closed_before {
                return Ok(record);
            }
            let sql = "UPDATE uidring_series SET closed_before = ? WHERE name = ?";
            transaction.write(sql, &[before.to_string().as_str().into(), name.into()])?;
            Ok(SeriesRecord { closed_before: before, ..record })
        })
    }

    fn prune(&self, name: &str) -> Result<u64, SeriesError> {
        self.transact(name, "prune a series in", Access::Define, |transaction| {
            let record = self.get_for_change(transaction, name)?;
            let sql = "DELETE FROM uidring_series_counter WHERE series = ? AND begins < ?";
            let before = record.closed_before.to_string();
            Ok(transaction.write(sql, &[name.into(), before.as_str().into()])?)
        })
    }

    fn recall(&self, series: &str, request: &str) -> Result<Option<Remembered>, SeriesError> {
        self.transact(series, "read an answer in", Access::Read, |transaction| {
            Ok(requests::find(transaction, series, request)?)
        })
    }

    fn remember(
        &self,
        series: &str,
        request: &str,
        asked: &str,
        answer: &str,
    ) -> Result<Remembered, SeriesError> {
        let new = Remembered { asked: asked.to_owned(), answer: answer.to_owned() };
        let store = || {
            self.transact(series, "store an answer in", Access::Write, |transaction| {
                Ok(requests::store(transaction, series, request, &new)?)
            })
        };
        match store() {
            // Another process may have stored one since it was looked for.
            Err(error) if error.is_transient() => store(),
            result => result,
        }
    }

    fn counters(&self, name: &str, most: usize) -> Result<Vec<CounterRecord>, SeriesError> {
        let most = limit(most);
        let sql = format!(
            "SELECT scope, period, version, last_number, created, modified \
             FROM uidring_series_counter WHERE series = ? \
             ORDER BY begins DESC, period, scope LIMIT {most}"
        );
        self.transact(name, "read a series in", Access::Read, |transaction| {
            let record = self.get(transaction, name, false)?;
            let rows = transaction.rows(&sql, &[name.into()])?;
            let mut counters =
                rows.iter().map(|row| counter_of(row)).collect::<Result<Vec<_>, _>>()?;
            for counter in &mut counters {
                // Another one may have taken the place of the version that last took numbers.
                let writes = record.version_on(counter.period.first().unwrap_or(Date::MIN));
                if record.begin_together(counter.version, writes.number) {
                    counter.version = writes.number;
                }
            }
            counters.sort_by(|one, other| {
                one.period.cmp(&other.period).then_with(|| one.scope.cmp(&other.scope))
            });
            Ok(counters)
        })
    }

    fn count_counters(&self, name: &str) -> Result<u64, SeriesError> {
        let sql = "SELECT COUNT(*) FROM uidring_series_counter WHERE series = ?";
        self.transact(name, "read a series in", Access::Read, |transaction| {
            let row = transaction.rows(sql, &[name.into()])?.pop().unwrap_or_default();
            Ok(unsigned(&row, 0, "the count of counters")?)
        })
    }
}

/// The series in `source`, which is a table or a query with the columns [`SERIES`], with their
/// versions, in any order.
fn records(transaction: &mut Transaction<'_>, source: &str) -> Result<Vec<SeriesRecord>, Error> {
    let series = transaction.rows(&format!("SELECT {SERIES} FROM {source} AS shown"), &[])?;
    let sql = format!(
        "SELECT {VERSIONS} FROM uidring_series_version \
         JOIN {source} AS shown ON name = series ORDER BY version"
    );
    let mut versions: HashMap<String, Vec<Row>> = HashMap::new();
    for row in transaction.rows(&sql, &[])? {
        versions.entry(text(&row, 0, "series")?.to_owned()).or_default().push(row);
    }
    let its = |row: &Row| {
        let versions = versions.get(text(row, 0, "name")?).map_or(&[][..], Vec::as_slice);
        record(row, versions.iter())
    };
    series.iter().map(its).collect()
}

#[cfg(feature = "sqlite")]
impl SqlSeries<sql::Sqlite> {
    /// Makes the file and its tables where they are missing. Once they have been seen, they are not
    /// made anew.
    pub(crate) fn make(&self) -> Result<(), StorageError> {
        if self.client.has_seen_tables() {
            return self.check();
        }
        let deadline = Deadline::after(self.client.timeout);
        let file = &self.client.database;
        let made = file.create(&Self::SCHEMA, Access::Define, sql::FileSharing::Shared, &deadline);
        if made.map_err(|error| {
            self.client.storage_error(&Self::PHRASES, "make the tables of", error)
        })? {
            self.client.warn_if_new();
        }
        Ok(())
    }

    /// Looks whether the file has the tables, and nothing more.
    pub(crate) fn check(&self) -> Result<(), StorageError> {
        let deadline = Deadline::after(self.client.timeout);
        let connected = self.client.database.connect(&Self::SCHEMA, &deadline);
        let looked = connected.and_then(|mut file| file.begin(Access::Read));
        looked.map_err(|error| self.client.storage_error(&Self::PHRASES, "open", error))
    }
}
