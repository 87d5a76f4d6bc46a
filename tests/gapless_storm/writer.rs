//! A program that stores documents.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use mysql_async::prelude::Queryable;
use mysql_async::{IsolationLevel, TxOpts};
use rusqlite::Connection;
use tokio::sync::Mutex;
use uidring::Store;
use uidring::series::{Dialect, Series, SeriesError, SeriesGenerator, SeriesNumber, SqlValue};

use super::driver_rows::{Rows, mysql_rows, postgres_rows};
use super::{SCOPES, SERIES, TIMEOUT, definition};

/// What one transaction does.
struct Plan {
    /// Indices of a series and a scope, in the order in which they are counted, and how many
    /// numbers of each.
    takes: Vec<(usize, usize, usize)>,
    /// Whether numbers are taken first that a savepoint takes back.
    has_savepoint: bool,
    /// How much it sees of the others.
    level: IsolationLevel,
    /// How long it holds what it has counted.
    holds: Duration,
    end: End,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Commit,
    Rollback,
    /// The connection is dropped.
    GiveUp,
    /// It is in no transaction.
    Autocommit,
}

impl Plan {
    fn new(rng: &mut fastrand::Rng) -> Plan {
        let mut takes: Vec<_> = (0..SERIES.len())
            .flat_map(|series| (0..SCOPES.len()).map(move |scope| (series, scope)))
            .map(|(series, scope)| (series, scope, if rng.bool() { 1 } else { rng.usize(1..9) }))
            .collect();
        // In any order, so that they meet in deadlocks.
        rng.shuffle(&mut takes);
        takes.truncate(rng.usize(1..=3));
        Plan {
            takes,
            has_savepoint: rng.u8(0..4) == 0,
            level: match rng.u8(0..10) {
                0 => IsolationLevel::Serializable,
                1..=3 => IsolationLevel::RepeatableRead,
                _ => IsolationLevel::ReadCommitted,
            },
            holds: Duration::from_millis(if rng.u8(0..4) == 0 { rng.u64(0..30) } else { 0 }),
            end: match rng.u8(0..20) {
                0..=3 => End::Rollback,
                4 => End::GiveUp,
                5 => End::Autocommit,
                _ => End::Commit,
            },
        }
    }
}

/// The series of this process.
struct All {
    series: Series,
    generators: Vec<SeriesGenerator>,
}

impl All {
    fn scope(&self, series: usize, scope: usize) -> SeriesGenerator {
        self.generators[series].scope(SCOPES[scope])
    }

    /// Widens a series that is full. Any other error has another transaction tried, or another
    /// process.
    fn after(&self, series: usize, error: &SeriesError) {
        assert!(!matches!(error, SeriesError::NotGapless { .. }), "{error:?}");
        if let SeriesError::Full { largest, .. } = error {
            // Another process may have done it.
            let _ = self.series.widen(SERIES[series], definition(largest.ilog10() + 2));
        }
    }
}

/// What one document has in each column.
fn row(series: usize, scope: usize, number: &SeriesNumber) -> (&str, &str, i64, &str) {
    (SERIES[series], SCOPES[scope], number.value().cast_signed(), number.as_str())
}

/// Stores documents until standard input ends.
pub fn write(database: &str, seed: u64) {
    let store = Store::open(database).unwrap().with_timeout(TIMEOUT);
    let Ok(series) = Series::builder().store(&store).build() else { return };
    let Ok(generators) = SERIES.iter().map(|name| series.get(name)).collect() else { return };
    let all = All { series, generators };
    let mut rng = fastrand::Rng::with_seed(seed);
    let is_over = AtomicBool::new(false);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut db = None;
            while !is_over.load(Ordering::Relaxed) {
                let plan = Plan::new(&mut rng);
                let run = async {
                    tokio::time::timeout(2 * TIMEOUT, transact(&all, &plan, database, &mut db))
                        .await
                };
                // Where something failed, the connection may be in a transaction, or broken.
                if runtime.block_on(run).is_ok_and(|done| done.is_some()) && plan.end != End::GiveUp
                {
                    continue;
                }
                db = None;
                thread::sleep(Duration::from_millis(5));
            }
        });
        let mut word = [0];
        while std::io::stdin().read(&mut word).is_ok_and(|read| read == 1) {}
        is_over.store(true, Ordering::Relaxed);
    });
}

enum Db {
    Sqlite(Connection),
    Postgres(Box<tokio_postgres::Client>),
    MySql(Box<Mutex<mysql_async::Conn>>),
}

async fn connect(database: &str) -> Option<Db> {
    Some(if database.starts_with("postgres") {
        let (db, connection) =
            tokio_postgres::connect(database, tokio_postgres::NoTls).await.ok()?;
        tokio::spawn(connection);
        Db::Postgres(Box::new(db))
    } else if database.starts_with("mysql") {
        Db::MySql(Box::new(Mutex::new(mysql_async::Conn::from_url(database).await.ok()?)))
    } else {
        let db = Connection::open(database).ok()?;
        db.busy_timeout(TIMEOUT).ok()?;
        Db::Sqlite(db)
    })
}

/// `None` where something failed.
async fn transact(all: &All, plan: &Plan, database: &str, db: &mut Option<Db>) -> Option<()> {
    if db.is_none() {
        *db = Some(connect(database).await?);
    }
    match db.as_mut()? {
        Db::Sqlite(db) => in_sqlite(all, plan, db),
        Db::Postgres(db) => in_postgres(all, plan, db).await,
        Db::MySql(db) => in_mysql(all, plan, db).await,
    }
}

/// Whether what was counted is worth a document. Outside of a transaction, nothing may be: the
/// program would be killed before it has stored it.
fn refused(counted: Result<SeriesNumber, SeriesError>) -> Option<()> {
    counted.err().map(drop)
}

const SQLITE: &str = "INSERT INTO document VALUES (?, ?, ?, ?, 'rust')";

fn in_sqlite(all: &All, plan: &Plan, db: &mut Connection) -> Option<()> {
    if plan.end == End::Autocommit {
        let run = |sql: &str, values: &[SqlValue]| sqlite_rows(db, sql, values);
        let (series, scope, _) = plan.takes[0];
        return refused(all.scope(series, scope).take_with(Dialect::Sqlite, run));
    }
    let mut transaction = db.transaction().ok()?;
    for &(series, scope, count) in &plan.takes {
        let generator = all.scope(series, scope);
        if plan.has_savepoint {
            let mut savepoint = transaction.savepoint().ok()?;
            // Of a savepoint, only a function knows how to run statements.
            let run = |sql: &str, values: &[SqlValue]| sqlite_rows(&savepoint, sql, values);
            let _ = generator.take_n_with(Dialect::Sqlite, count, run);
            savepoint.rollback().ok()?;
        }
        let taken = generator.take_n_in(&mut transaction, count);
        let numbers = taken.inspect_err(|error| all.after(series, error)).ok()?;
        for number in &numbers {
            transaction.execute(SQLITE, row(series, scope, number)).ok()?;
        }
    }
    thread::sleep(plan.holds);
    match plan.end {
        End::Commit => transaction.commit().ok(),
        End::Rollback => transaction.rollback().ok(),
        End::GiveUp | End::Autocommit => Some(()),
    }
}

fn sqlite_rows(db: &Connection, sql: &str, values: &[SqlValue]) -> Result<Rows, rusqlite::Error> {
    use rusqlite::types::Value;
    let mut statement = db.prepare(sql)?;
    let columns = statement.column_count();
    let values = values.iter().map(|value| match value {
        SqlValue::Integer(number) => Value::Integer(*number),
        SqlValue::Text(text) => Value::Text(text.clone()),
    });
    let rows = statement.query_map(rusqlite::params_from_iter(values), |row| {
        (0..columns).map(|column| row.get(column)).collect()
    })?;
    rows.collect()
}

const POSTGRES: &str = "INSERT INTO document VALUES ($1, $2, $3, $4, 'rust')";

async fn in_postgres(all: &All, plan: &Plan, db: &mut tokio_postgres::Client) -> Option<()> {
    if plan.end == End::Autocommit {
        let run = |sql, values| postgres_rows(&*db, sql, values);
        let (series, scope, _) = plan.takes[0];
        return refused(all.scope(series, scope).take_with_async(Dialect::Postgres, run).await);
    }
    let mut transaction = db.transaction().await.ok()?;
    let set = format!("SET TRANSACTION ISOLATION LEVEL {}", plan.level);
    transaction.batch_execute(&set).await.ok()?;
    for &(series, scope, count) in &plan.takes {
        let generator = all.scope(series, scope);
        if plan.has_savepoint {
            let mut savepoint = transaction.transaction().await.ok()?;
            let _ = generator.take_n_in(&mut savepoint, count).await;
            savepoint.rollback().await.ok()?;
        }
        let taken = generator.take_n_in(&mut transaction, count).await;
        let numbers = taken.inspect_err(|error| all.after(series, error)).ok()?;
        for number in &numbers {
            let (series, scope, value, text) = row(series, scope, number);
            transaction.execute(POSTGRES, &[&series, &scope, &value, &text]).await.ok()?;
        }
    }
    tokio::time::sleep(plan.holds).await;
    match plan.end {
        End::Commit => transaction.commit().await.ok(),
        End::Rollback => transaction.rollback().await.ok(),
        End::GiveUp | End::Autocommit => Some(()),
    }
}

async fn in_mysql(all: &All, plan: &Plan, db: &Mutex<mysql_async::Conn>) -> Option<()> {
    if plan.end == End::Autocommit {
        let run = |sql, values| mysql_rows(db, sql, values);
        let (series, scope, _) = plan.takes[0];
        return refused(all.scope(series, scope).take_with_async(Dialect::MySql, run).await);
    }
    let mut db = db.lock().await;
    let mut options = TxOpts::default();
    options.with_isolation_level(plan.level);
    let mut transaction = db.start_transaction(options).await.ok()?;
    for &(series, scope, count) in &plan.takes {
        let generator = all.scope(series, scope);
        if plan.has_savepoint {
            transaction.query_drop("SAVEPOINT a").await.ok()?;
            let _ = generator.take_n_in(&mut transaction, count).await;
            // There is none any more where a deadlock has taken all back.
            transaction.query_drop("ROLLBACK TO a").await.ok()?;
        }
        let taken = generator.take_n_in(&mut transaction, count).await;
        let numbers = taken.inspect_err(|error| all.after(series, error)).ok()?;
        for number in &numbers {
            transaction.exec_drop(SQLITE, row(series, scope, number)).await.ok()?;
        }
    }
    tokio::time::sleep(plan.holds).await;
    match plan.end {
        End::Commit => transaction.commit().await.ok(),
        End::Rollback => transaction.rollback().await.ok(),
        End::GiveUp | End::Autocommit => Some(()),
    }
}
