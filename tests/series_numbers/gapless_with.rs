//! Numbers without gaps, in a transaction that only a function of the program's knows.

use std::error::Error;

use rusqlite::Connection;
use rusqlite::types::Value;
use uidring::series::{Dialect, SeriesError, SeriesGenerator, SqlValue};

use super::{clock, definition, file, series};

type Rows = Vec<Vec<Option<String>>>;

/// Runs a statement on a connection of SQLite.
pub fn rows(db: &Connection, sql: &str, values: &[SqlValue]) -> Result<Rows, rusqlite::Error> {
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

/// That an error says that there is no transaction.
fn assert_no_transaction(error: &SeriesError) {
    assert!(matches!(error, SeriesError::Transaction { .. }), "{error:?}");
    let source = error.source().unwrap().to_string();
    assert!(source.starts_with("the connection is not in a transaction"), "{source}");
    assert!(!error.is_transient(), "{error:?}");
}

/// The last number that was counted, or 0.
fn last(invoices: &SeriesGenerator) -> u64 {
    invoices.counters().unwrap().first().map_or(0, |counter| counter.last)
}

#[test]
fn a_function_counts_in_the_transaction_of_its_connection() {
    let (folder, store) = file();
    let series = series(&store, &clock("2026-11-24T12:00:00Z"));
    let invoices = series.create("invoices", definition("{yyyy}-{n:5}").gapless()).unwrap();
    let db = Connection::open(folder.path().join("uidring.db")).unwrap();
    let run = |sql: &str, values: &[SqlValue]| rows(&db, sql, values);
    for (end, expected) in [("COMMIT", 1), ("ROLLBACK", 2), ("COMMIT", 2), ("COMMIT", 3)] {
        db.execute_batch("BEGIN IMMEDIATE").unwrap();
        let number = invoices.take_with(Dialect::Sqlite, run).unwrap();
        assert_eq!(number.to_string(), format!("2026-{expected:05}"));
        db.execute_batch(end).unwrap();
    }
    // A savepoint that is rolled back takes its number back.
    db.execute_batch("BEGIN; SAVEPOINT a").unwrap();
    assert_eq!(invoices.take_with(Dialect::Sqlite, run).unwrap().value(), 4);
    db.execute_batch("ROLLBACK TO a").unwrap();
    let count = |sql: String, values: Vec<SqlValue>| std::future::ready(rows(&db, &sql, &values));
    let number = pollster::block_on(invoices.take_with_async(Dialect::Sqlite, count)).unwrap();
    assert_eq!(number.value(), 4);
    let earlier = "2025-12-31".parse().unwrap();
    let number = invoices.take_with_for(Dialect::Sqlite, earlier, run).unwrap();
    assert_eq!(number.as_str(), "2025-00001");
    let number = invoices.take_with_async_for(Dialect::Sqlite, earlier, count);
    assert_eq!(pollster::block_on(number).unwrap().as_str(), "2025-00002");
    db.execute_batch("COMMIT").unwrap();
    assert_eq!(invoices.counters().unwrap().len(), 2);
}

#[test]
fn a_function_outside_of_a_transaction_counts_nothing() {
    let (folder, store) = file();
    let series = series(&store, &clock("2026-11-24T12:00:00Z"));
    let invoices = series.create("invoices", definition("{yyyy}-{n:5}").gapless()).unwrap();
    let db = Connection::open(folder.path().join("uidring.db")).unwrap();
    let run = |sql: &str, values: &[SqlValue]| rows(&db, sql, values);
    assert_no_transaction(&invoices.take_with(Dialect::Sqlite, run).unwrap_err());
    assert!(db.is_autocommit(), "what was begun has ended");
    assert_eq!(last(&invoices), 0);
}

#[test]
fn the_error_of_a_function_is_the_cause() {
    let (folder, store) = file();
    let series = series(&store, &clock("2026-11-24T12:00:00Z"));
    let invoices = series.create("invoices", definition("{yyyy}-{n:5}").gapless()).unwrap();
    let file = folder.path().join("uidring.db");
    let [one, other] = [(); 2].map(|()| Connection::open(&file).unwrap());
    other.busy_timeout(std::time::Duration::ZERO).unwrap();
    one.execute_batch("BEGIN IMMEDIATE").unwrap();
    other.execute_batch("BEGIN").unwrap();
    let run = |sql: &str, values: &[SqlValue]| rows(&other, sql, values);
    let error = invoices.take_with(Dialect::Sqlite, run).unwrap_err();
    assert!(error.is_transient() && error.source().unwrap().is::<rusqlite::Error>(), "{error:?}");
    let broken = |_: &str, _: &[SqlValue]| Err::<Rows, _>("the cable is out");
    let error = invoices.take_with(Dialect::Postgres, broken).unwrap_err();
    assert_eq!(error.source().unwrap().to_string(), "the cable is out");
    assert_eq!(last(&invoices), 0);
}

#[cfg(all(feature = "mysql", feature = "postgres"))]
mod servers {
    use mysql_async::prelude::Queryable;
    use tokio::sync::Mutex;

    use super::*;
    use crate::connections::{self, invoices, run};
    use crate::databases::Server;
    use crate::driver_rows::{mysql_rows, postgres_rows};

    #[test]
    #[ignore = "needs a PostgreSQL server"]
    fn postgres() {
        let database = Server::Postgres.database();
        let invoices = invoices(&database, "{yyyy}-{n:5}");
        let runtime = connections::runtime();
        let (url, counted) = (database.url.clone(), invoices.clone());
        // In a task, which a runtime may move to another thread.
        let task = runtime.spawn(async move {
            let client = connections::postgres(&url).await;
            let client = &client;
            let run = |sql, values| postgres_rows(client, sql, values);
            let error = counted.take_with_async(Dialect::Postgres, run).await.unwrap_err();
            assert_no_transaction(&error);
            for (begin, end, expected) in [
                ("BEGIN", "COMMIT", 1),
                ("BEGIN ISOLATION LEVEL SERIALIZABLE", "ROLLBACK", 2),
                ("BEGIN", "COMMIT", 2),
            ] {
                client.batch_execute(begin).await.unwrap();
                let number = counted.take_with_async(Dialect::Postgres, run).await.unwrap();
                assert_eq!(number.value(), expected);
                client.batch_execute(end).await.unwrap();
            }
        });
        runtime.block_on(task).unwrap();
        assert_eq!(last(&invoices), 2);
    }

    #[test]
    #[ignore = "needs a MySQL or MariaDB server"]
    fn mysql() {
        let database = Server::MySql.database();
        let invoices = invoices(&database, "{yyyy}-{n:5}");
        run(async {
            let db = Mutex::new(connections::mysql(&database.url).await);
            let run = |sql, values| mysql_rows(&db, sql, values);
            let error = invoices.take_with_async(Dialect::MySql, run).await.unwrap_err();
            assert_no_transaction(&error);
            for (begin, end, expected) in [
                ("START TRANSACTION", "COMMIT", 1),
                ("START TRANSACTION", "ROLLBACK", 2),
                ("SET autocommit = 0", "COMMIT", 2),
                ("SET autocommit = 0", "ROLLBACK", 3),
            ] {
                db.lock().await.query_drop(begin).await.unwrap();
                let number = invoices.take_with_async(Dialect::MySql, run).await.unwrap();
                assert_eq!(number.value(), expected);
                db.lock().await.query_drop(end).await.unwrap();
            }
            db.into_inner().disconnect().await.unwrap();
        });
        assert_eq!(last(&invoices), 2);
    }

    #[test]
    #[ignore = "needs a MySQL or MariaDB server"]
    fn a_wait_for_another_transaction_of_mysql_that_took_too_long_is_worth_another_try() {
        let database = Server::MySql.database();
        let invoices = invoices(&database, "{yyyy}-{n:5}");
        run(async {
            let connect = async || {
                let mut db = connections::mysql(&database.url).await;
                db.query_drop("SET innodb_lock_wait_timeout = 1").await.unwrap();
                db.query_drop("START TRANSACTION").await.unwrap();
                Mutex::new(db)
            };
            let (first, second) = (connect().await, connect().await);
            let run = |sql, values| mysql_rows(&first, sql, values);
            invoices.take_with_async(Dialect::MySql, run).await.unwrap();
            let run = |sql, values| mysql_rows(&second, sql, values);
            let error = invoices.take_with_async(Dialect::MySql, run).await.unwrap_err();
            assert!(error.is_transient(), "{error:?}");
            for db in [first, second] {
                db.into_inner().disconnect().await.unwrap();
            }
        });
    }
}
