//! [`SqlLoans`], pools in a database with SQL.
//!
//! Lending locks the row of its pool, so that borrowers come one after the other. A loan is one
//! row, and each write of it is conditional on the row being as it was read.

use super::error::LendError;
use super::known_pools::{KnownPools, Pool, check_identity};
use super::rules::{Ask, LoanRow, clock_behind, first_clock, last_id, time_of};
use super::store::{Change, LoanStore, PoolCounts, PoolKey, PoolRecord};
#[cfg(feature = "sqlite")]
use crate::backend::StorageError;
use crate::backend::sql::{
    self, Access, Call, Client, Database, Error, ErrorPhrases, OnMissing, Schema, Transaction,
    VERSION, Value,
};
#[cfg(feature = "sqlite")]
use crate::backend::sql::{Deadline, Session as _};

type Fault = sql::Fault<LendError>;

/// Pools in a database.
#[derive(Clone, Debug)]
pub(crate) struct SqlLoans<D> {
    pub(crate) client: Client<D>,
    known: KnownPools,
}

/// What errors call the memory of what was lent.
const RECORDS: &str = "tables";

const LOAN: &str = "id, holder, host, since, lease_ms, rest_ms, lease_until, rests_until, \
                    clock_until, is_returned";

impl<D: Database> SqlLoans<D> {
    const SCHEMA: Schema = Schema {
        sql: D::TABLES,
        version: VERSION,
        tables: &["uidring_layout", "uidring_pool", "uidring_loan"],
        witness: "SELECT count(*) = 2 FROM sqlite_master WHERE type = 'table' AND name IN \
                  ('uidring_pool', 'uidring_loan')",
    };
    const PHRASES: ErrorPhrases = ErrorPhrases {
        subject: "the pools in",
        missing_tables: "its tables are not there; lend a worker id, which makes them",
        incompatible_tables: "its tables uidring_pool and uidring_loan are not those of the \
            schema; use the uidring that made them, or give the pools a database of their own",
        not_a_database: "give the pools a file of their own",
        unrelated_tables: "lend a worker id from it, which makes them",
        permissions: "give this user the rights to select, insert and update in its tables \
            uidring_pool and uidring_loan, and to select in uidring_layout",
    };

    /// The pools in the database that `client` calls.
    pub(crate) fn on(client: Client<D>) -> SqlLoans<D> {
        SqlLoans { client, known: KnownPools::default() }
    }

    fn call(doing: &str, access: Access) -> Call<'_> {
        Call { schema: &Self::SCHEMA, phrases: &Self::PHRASES, doing, access }
    }

    fn read<T: Send>(
        &self,
        unmade: &(dyn Fn() -> Result<T, LendError> + Sync),
        body: impl Fn(&mut Transaction<'_>) -> Result<T, Fault> + Sync,
    ) -> Result<T, LendError> {
        let call = Self::call("read the pools in", Access::Read);
        self.client.transact(&call, &OnMissing::Fail, Some(unmade), |transaction| {
            check_version::<D>(transaction)?;
            body(transaction)
        })
    }

    /// Lends an id. Returns it, and what the store's pool is then.
    fn lend(
        transaction: &mut Transaction<'_>,
        pool: &PoolKey,
        known: Option<Pool>,
        ask: &Ask,
    ) -> Result<(u64, Pool), Fault> {
        check_version::<D>(transaction)?;
        let mut found = find_pool(transaction, pool)?;
        check_identity(RECORDS, pool, known, found.map(|(pool, _)| pool))?;
        if found.is_none() {
            let sql =
                "INSERT INTO uidring_pool (name, bits, last_id, created) VALUES (?, ?, 0, {now})";
            transaction.write(sql, &[pool.name.as_str().into(), u64::from(pool.bits).into()])?;
            found = find_pool(transaction, pool)?;
        }
        let Some((row, now)) = found else { return Err(not_written().into()) };
        pool.check_width(row.bits).map_err(Fault::Refused)?;
        if ask.may_be_repeated
            && let Some(id) = repeat(transaction, pool, ask)?
        {
            return Ok((id, row));
        }
        if row.last_id < last_id(row.bits) {
            let id = row.last_id + 1;
            insert(transaction, pool, &LoanRow::lent(id, ask, now))?;
            let sql = "UPDATE uidring_pool SET last_id = ? WHERE name = ? AND last_id = ?";
            let values = [id.into(), pool.name.as_str().into(), row.last_id.into()];
            written_once(transaction.write(sql, &values)?)?;
            return Ok((id, Pool { last_id: id, ..row }));
        }
        let mut refused = None;
        while let Some((found, now)) = find_rested(transaction, pool, ask.clock)? {
            let id = found.id;
            if refused.as_ref() == Some(&found) {
                return Err(not_written().into());
            }
            if update(transaction, pool, &found, &LoanRow::lent(id, ask, now))? {
                return Ok((id, row));
            }
            refused = Some(found);
        }
        Err(Fault::Refused(why_none(transaction, pool, ask.clock)?))
    }
}

impl<D: Database> LoanStore for SqlLoans<D> {
    fn name(&self) -> String {
        self.client.database.name()
    }

    fn grant(&self, pool: &PoolKey, ask: &Ask) -> Result<u64, LendError> {
        let call = Self::call("lend a worker id of", Access::Write);
        let may_create = |_: &mut Transaction<'_>| Ok(());
        let attempt = |known| {
            self.client.transact(&call, &OnMissing::Create(&may_create), None, |transaction| {
                Self::lend(transaction, pool, known, ask)
            })
        };
        let known = self.known.get(pool);
        let (id, found) = match attempt(known) {
            // Another one may have made the pool since it was looked for.
            Err(error) if error.is_transient() && known.is_none() => attempt(self.known.get(pool)),
            result => result,
        }?;
        self.known.note(pool, found);
        Ok(id)
    }

    fn change(
        &self,
        doing: &str,
        pool: &PoolKey,
        id: u64,
        change: &Change<'_>,
    ) -> Result<(), LendError> {
        let call = Self::call(doing, Access::Write);
        let known = self.known.get(pool);
        let lost = || Err(LendError::Lost { id });
        self.client.transact(&call, &OnMissing::Fail, Some(&lost), |transaction| {
            check_version::<D>(transaction)?;
            let mut refused = None;
            loop {
                let sql = format!(
                    "SELECT {LOAN}, {{now}} FROM uidring_loan WHERE pool = ? AND id = ? \
                     {{for update}}"
                );
                let values = [pool.name.as_str().into(), id.into()];
                let found = transaction.row("uidring_loan", &sql, &values)?;
                let found = found.map(|row| loan_and_now(&row)).transpose()?;
                let changed = found.and_then(|(row, now)| Some((change(&row, now)?, row)));
                let Some((changed, row)) = changed else {
                    let found = find_pool(transaction, pool)?.map(|(pool, _)| pool);
                    check_identity(RECORDS, pool, known, found)?;
                    return Err(Fault::Refused(LendError::Lost { id }));
                };
                if changed == row || update(transaction, pool, &row, &changed)? {
                    return Ok(());
                }
                if refused.as_ref() == Some(&row) {
                    return Err(not_written().into());
                }
                refused = Some(row);
            }
        })
    }

    fn loans(&self, pool: &PoolKey) -> Result<(Vec<LoanRow>, i64), LendError> {
        self.read(&|| Ok((Vec::new(), 0)), |transaction| {
            Self::check_width(transaction, pool)?;
            let sql =
                format!("SELECT {LOAN}, {{now}} FROM uidring_loan WHERE pool = ? ORDER BY id");
            let rows = transaction.rows(&sql, &[pool.name.as_str().into()])?;
            let loans: Vec<(LoanRow, i64)> =
                rows.iter().map(|row| loan_and_now(row)).collect::<Result<_, _>>()?;
            let now = loans.iter().map(|(_, now)| *now).max().unwrap_or(0);
            Ok((loans.into_iter().map(|(loan, _)| loan).collect(), now))
        })
    }

    fn counts(&self, pool: &PoolKey) -> Result<(u64, u64), LendError> {
        self.read(&|| Ok((0, 0)), |transaction| {
            Self::check_width(transaction, pool)?;
            Ok(counts(transaction, &pool.name)?)
        })
    }

    fn width(&self, name: &str) -> Result<Option<u32>, LendError> {
        self.read(&|| Ok(None), |transaction| Ok(width(transaction, name)?))
    }

    fn pools(&self) -> Result<Vec<PoolRecord>, LendError> {
        self.read(&|| Ok(Vec::new()), |transaction| {
            let rows = transaction.rows("SELECT name, bits FROM uidring_pool", &[])?;
            let mut pools = Vec::new();
            for row in rows {
                let [Value::Text(name), Value::Int(bits)] = &row[..] else {
                    return Err(Error::IncompatibleTables(None).into());
                };
                let bits = u32::try_from(*bits).map_err(|_| Error::IncompatibleTables(None))?;
                let (held, resting) = counts(transaction, name)?;
                let counts = PoolCounts::of(bits, held, resting);
                pools.push(PoolRecord { name: name.clone(), bits, counts });
            }
            // Databases sort texts each in its own way.
            pools.sort_by(|one, other| one.name.cmp(&other.name));
            Ok(pools)
        })
    }
}

impl<D: Database> SqlLoans<D> {
    fn check_width(transaction: &mut Transaction<'_>, pool: &PoolKey) -> Result<(), Fault> {
        match width(transaction, &pool.name)? {
            Some(bits) => pool.check_width(bits).map_err(Fault::Refused),
            None => Ok(()),
        }
    }
}

#[cfg(feature = "sqlite")]
impl SqlLoans<sql::Sqlite> {
    /// Makes the file and its tables where they are missing. Once they have been seen, they are not
    /// made anew.
    pub(crate) fn make(&self) -> Result<(), StorageError> {
        if self.client.has_seen_tables() {
            return self.check();
        }
        let deadline = Deadline::after(self.client.timeout);
        let file = &self.client.database;
        let made = file.create(&Self::SCHEMA, Access::Write, sql::FileSharing::Shared, &deadline);
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

/// A file is looked at when it is opened.
fn check_version<D: Database>(transaction: &mut Transaction<'_>) -> Result<(), Error> {
    if !D::CREATES_TABLES {
        return Ok(());
    }
    // The other columns are there for their tables: a transaction that sees them sees all that is
    // made before.
    let sql = "SELECT (SELECT version FROM uidring_layout WHERE id = 1), \
               (SELECT COUNT(*) FROM uidring_pool WHERE 1 = 0), \
               (SELECT COUNT(*) FROM uidring_loan WHERE 1 = 0)";
    match transaction.rows(sql, &[])?.pop().as_deref() {
        Some([Value::Int(VERSION), ..]) => Ok(()),
        Some([Value::Int(version), ..]) => Err(Error::other_version(*version, VERSION)),
        _ => Err(Error::problem(
            "its table uidring_layout has lost its row; put back what was there",
        )),
    }
}

/// The width of the pool, if it is there.
fn width(transaction: &mut Transaction<'_>, name: &str) -> Result<Option<u32>, Error> {
    let sql = "SELECT bits FROM uidring_pool WHERE name = ?";
    match transaction.row("uidring_pool", sql, &[name.into()])?.as_deref() {
        Some([Value::Int(bits)]) => {
            u32::try_from(*bits).map(Some).map_err(|_| Error::IncompatibleTables(None))
        }
        Some(_) => Err(Error::IncompatibleTables(None)),
        None => Ok(None),
    }
}

/// The pool, whose row nobody else changes until the end of the transaction, and the database's
/// time.
fn find_pool(
    transaction: &mut Transaction<'_>,
    pool: &PoolKey,
) -> Result<Option<(Pool, i64)>, Error> {
    let sql = "SELECT bits, last_id, created, {now} FROM uidring_pool WHERE name = ? {for update}";
    let Some(row) = transaction.row("uidring_pool", sql, &[pool.name.as_str().into()])? else {
        return Ok(None);
    };
    let [Value::Int(bits), Value::Int(last_id), Value::Int(created), Value::Int(now)] = row[..]
    else {
        return Err(Error::IncompatibleTables(None));
    };
    let (Ok(bits), Ok(last_id)) = (u32::try_from(bits), u64::try_from(last_id)) else {
        return Err(Error::IncompatibleTables(None));
    };
    Ok(Some((Pool { bits, last_id, created }, now)))
}

/// Renews the loan that the same holder has already. Returns its id.
fn repeat(
    transaction: &mut Transaction<'_>,
    pool: &PoolKey,
    ask: &Ask,
) -> Result<Option<u64>, Error> {
    let sql = format!(
        "SELECT {LOAN}, {{now}} FROM uidring_loan WHERE pool = ? AND holder = ? ORDER BY id \
         {{for update}}"
    );
    let values = [pool.name.as_str().into(), ask.holder.as_str().into()];
    for row in transaction.rows(&sql, &values)? {
        let (row, now) = loan_and_now(&row)?;
        if let Some(renewed) = row.repeated(ask, now)
            && update(transaction, pool, &row, &renewed)?
        {
            return Ok(Some(row.id));
        }
    }
    Ok(None)
}

/// The id that has rested the longest, of those whose last holder's clock has shown less than
/// `clock`, and the database's time.
fn find_rested(
    transaction: &mut Transaction<'_>,
    pool: &PoolKey,
    clock: i64,
) -> Result<Option<(LoanRow, i64)>, Error> {
    let sql = format!(
        "SELECT {LOAN}, {{now}} FROM uidring_loan WHERE pool = ? AND rests_until <= {{now}} \
         AND clock_until <= ? ORDER BY rests_until, id LIMIT 1"
    );
    let most = clock.saturating_sub(first_clock(0));
    let row = transaction.rows(&sql, &[pool.name.as_str().into(), most.into()])?.pop();
    row.map(|row| loan_and_now(&row)).transpose()
}

/// Why no id may be lent to a borrower whose clock shows `clock`.
fn why_none(
    transaction: &mut Transaction<'_>,
    pool: &PoolKey,
    clock: i64,
) -> Result<LendError, Error> {
    let sql = "SELECT MIN(clock_until) FROM uidring_loan WHERE pool = ? AND rests_until <= {now}";
    let behind = transaction.rows(sql, &[pool.name.as_str().into()])?.pop();
    if let Some([Value::Int(clock_until)]) = behind.as_deref() {
        return Ok(clock_behind(*clock_until, clock));
    }
    let (held, resting) = counts(transaction, &pool.name)?;
    let sql = "SELECT MIN(rests_until), {now} FROM uidring_loan WHERE pool = ?";
    let first = transaction.rows(sql, &[pool.name.as_str().into()])?.pop();
    let Some([first, Value::Int(now)]) = first.as_deref() else {
        return Err(Error::IncompatibleTables(None));
    };
    let first_free = time_of(first.int().unwrap_or(*now));
    Ok(LendError::Full { pool: pool.name.clone(), held, resting, first_free })
}

/// How many ids have a holder, and how many rest.
fn counts(transaction: &mut Transaction<'_>, pool: &str) -> Result<(u64, u64), Error> {
    let sql = "SELECT COUNT(CASE WHEN is_returned = 0 AND lease_until > {now} THEN 1 END), \
               COUNT(CASE WHEN is_returned = 1 OR lease_until <= {now} THEN 1 END) \
               FROM uidring_loan WHERE pool = ? AND rests_until > {now}";
    let row = transaction.rows(sql, &[pool.into()])?.pop();
    match row.as_deref() {
        Some([Value::Int(held), Value::Int(resting)]) => {
            Ok((held.unsigned_abs(), resting.unsigned_abs()))
        }
        _ => Err(Error::IncompatibleTables(None)),
    }
}

fn insert(transaction: &mut Transaction<'_>, pool: &PoolKey, row: &LoanRow) -> Result<(), Error> {
    let sql =
        format!("INSERT INTO uidring_loan (pool, {LOAN}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    let mut values = vec![pool.name.as_str().into(), row.id.into()];
    values.extend(values_of(row));
    written_once(transaction.write(&sql, &values)?)
}

/// Writes a loan, if the row is still as it was `found`. Returns whether it was.
fn update(
    transaction: &mut Transaction<'_>,
    pool: &PoolKey,
    found: &LoanRow,
    row: &LoanRow,
) -> Result<bool, Error> {
    let sql = "UPDATE uidring_loan SET holder = ?, host = ?, since = ?, lease_ms = ?, \
               rest_ms = ?, lease_until = ?, rests_until = ?, clock_until = ?, is_returned = ? \
               WHERE pool = ? AND id = ? AND holder = ? AND lease_until = ? AND clock_until = ? \
               AND is_returned = ?";
    let mut values = values_of(row).to_vec();
    values.extend([
        pool.name.as_str().into(),
        row.id.into(),
        found.holder.as_str().into(),
        found.lease_until.into(),
        found.clock_until.into(),
        i64::from(found.is_returned).into(),
    ]);
    Ok(transaction.write(sql, &values)? == 1)
}

/// What stands behind the id in [`LOAN`].
fn values_of(row: &LoanRow) -> [Value; 9] {
    [
        row.holder.as_str().into(),
        row.host.as_str().into(),
        row.since.into(),
        row.lease_ms.into(),
        row.rest_ms.into(),
        row.lease_until.into(),
        row.rests_until.into(),
        row.clock_until.into(),
        i64::from(row.is_returned).into(),
    ]
}

/// A row with the columns of [`LOAN`], and the database's time behind them.
fn loan_and_now(row: &[Value]) -> Result<(LoanRow, i64), Error> {
    let bad = || Error::IncompatibleTables(None);
    let [id, Value::Text(holder), Value::Text(host), numbers @ ..] = row else {
        return Err(bad());
    };
    let numbers: Option<Vec<i64>> = numbers.iter().map(Value::int).collect();
    let Some(&[since, lease_ms, rest_ms, lease_until, rests_until, clock_until, is_returned, now]) =
        numbers.as_deref()
    else {
        return Err(bad());
    };
    let id = id.int().and_then(|id| u64::try_from(id).ok()).ok_or_else(bad)?;
    let loan = LoanRow {
        id,
        holder: holder.clone(),
        host: host.clone(),
        since,
        lease_ms,
        rest_ms,
        lease_until,
        rests_until,
        clock_until,
        is_returned: is_returned != 0,
    };
    Ok((loan, now))
}

/// A trigger, say, can drop a row and let the statement succeed.
fn written_once(written: u64) -> Result<(), Error> {
    if written == 1 { Ok(()) } else { Err(not_written()) }
}

fn not_written() -> Error {
    Error::problem(
        "its tables did not take what was written: something there drops or moves it, such as a \
         trigger; see what, and remove it",
    )
}
