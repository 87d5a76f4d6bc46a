//! Many numbers without gaps at once.

use std::cell::Cell;

use rusqlite::Connection;
use uidring::series::{Dialect, SeriesError, SeriesNumber, SqlValue};

use super::gapless_with::rows;
use super::{clock, definition, file, series};

fn values(numbers: &[SeriesNumber]) -> Vec<u64> {
    numbers.iter().map(SeriesNumber::value).collect()
}

#[test]
fn they_ascend_without_gaps_and_go_back_together() {
    let (folder, store) = file();
    let series = series(&store, &clock("2026-11-24T12:00:00Z"));
    let invoices = series.create("invoices", definition("{yyyy}-{n:6}").gapless()).unwrap();
    let mut db = Connection::open(folder.path().join("uidring.db")).unwrap();
    for (count, is_kept, expected) in
        [(5, true, 1..=5), (7, false, 6..=12), (0, true, 6..=6), (10_000, true, 7..=10_006)]
    {
        let mut transaction = db.transaction().unwrap();
        let numbers = invoices.take_n_in(&mut transaction, count).unwrap();
        assert_eq!(values(&numbers), expected.collect::<Vec<_>>());
        if is_kept {
            transaction.commit().unwrap();
        } else {
            transaction.rollback().unwrap();
        }
    }
    let mut transaction = db.transaction().unwrap();
    let date = "2025-03-01".parse().unwrap();
    let numbers = invoices.take_n_in_for(&mut transaction, date, 2).unwrap();
    assert_eq!(numbers[1].as_str(), "2025-000002");
    assert_eq!(invoices.take_in(&mut transaction).unwrap().value(), 10_007);
    // At most a million.
    transaction.commit().unwrap();
    let receipts = series.create("receipts", definition("{n}").gapless()).unwrap();
    let mut transaction = db.transaction().unwrap();
    let most = receipts.take_n_in(&mut transaction, usize::MAX).unwrap();
    assert_eq!((most.len(), most[999_999].as_str()), (1_000_000, "1000000"));
}

/// The last numbers of a period are fewer, as those of a fast series are. A wider version goes on
/// right behind them, also where the transaction was committed that the database had counted in.
#[test]
fn the_end_of_a_period_gives_fewer_and_leaves_no_gap() {
    let (folder, store) = file();
    let series = series(&store, &clock("2026-11-24T12:00:00Z"));
    let definition_of = |pattern| definition(pattern).gapless();
    let invoices = series.create("invoices", definition_of("{yyyy}-{n:2}")).unwrap();
    let mut db = Connection::open(folder.path().join("uidring.db")).unwrap();
    let mut take = |count| {
        let mut transaction = db.transaction().unwrap();
        let taken = invoices.take_n_in(&mut transaction, count);
        // Whatever it says.
        transaction.commit().unwrap();
        taken
    };
    assert_eq!(values(&take(90).unwrap()), (1..=90).collect::<Vec<_>>());
    assert_eq!(values(&take(90).unwrap()), (91..=99).collect::<Vec<_>>());
    for _ in 0..2 {
        let error = take(90).unwrap_err();
        assert!(matches!(error, SeriesError::Full { largest: 99, .. }), "{error:?}");
    }
    assert_eq!(invoices.counters().unwrap()[0].last, 99);
    series.widen("invoices", definition_of("{yyyy}-{n:4}")).unwrap();
    let numbers = take(3).unwrap();
    assert_eq!(numbers[0].as_str(), "2026-0100");
    // One that is larger than a whole period.
    let other = series.create("other", definition_of("{yyyy}-{n:2}").first(40)).unwrap();
    let mut transaction = db.transaction().unwrap();
    let numbers = other.take_n_in(&mut transaction, 1_000).unwrap();
    assert_eq!(values(&numbers), (40..=99).collect::<Vec<_>>());
    transaction.commit().unwrap();
    assert_eq!(other.counters().unwrap()[0].last, 99);
}

/// Those that ask whether there is a transaction are not counted here.
#[test]
fn ten_thousand_take_at_most_three_statements() {
    let (folder, store) = file();
    let series = series(&store, &clock("2026-11-24T12:00:00Z"));
    let invoices = series.create("invoices", definition("{yyyy}-{n:5}").gapless()).unwrap();
    let db = Connection::open(folder.path().join("uidring.db")).unwrap();
    let statements = Cell::new(0);
    let run = |sql: &str, values: &[SqlValue]| {
        statements.set(statements.get() + 1);
        rows(&db, sql, values)
    };
    db.execute_batch("BEGIN").unwrap();
    invoices.take_with(Dialect::Sqlite, run).unwrap();
    let one = statements.replace(0);
    let numbers = invoices.take_n_with(Dialect::Sqlite, 10_000, run).unwrap();
    assert_eq!(values(&numbers), (2..=10_001).collect::<Vec<_>>());
    assert_eq!(statements.replace(0), one);
    assert!(one <= 3, "{one} statements");
    // Where fewer are left, one statement more.
    let numbers = invoices.take_n_with(Dialect::Sqlite, 99_999, run).unwrap();
    assert_eq!(numbers.len(), 99_999 - 10_001);
    assert_eq!(statements.replace(0), one + 1);
    let date = "2025-03-01".parse().unwrap();
    let numbers = invoices.take_n_with_for(Dialect::Sqlite, date, 3, run).unwrap();
    assert_eq!(numbers[2].as_str(), "2025-00003");
    let future = |sql: String, values: Vec<SqlValue>| std::future::ready(rows(&db, &sql, &values));
    let numbers = invoices.take_n_with_async_for(Dialect::Sqlite, date, 3, future);
    assert_eq!(values(&pollster::block_on(numbers).unwrap()), [4, 5, 6]);
    db.execute_batch("COMMIT").unwrap();
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
        run(async {
            let client = connections::postgres(&database.url).await;
            let statements = Cell::new(0);
            let run = |sql, values| {
                statements.set(statements.get() + 1);
                postgres_rows(&client, sql, values)
            };
            client.batch_execute("BEGIN").await.unwrap();
            // Two of them ask whether there is a transaction.
            for (count, expected, most) in [(10_000, 1..=10_000, 3), (99_999, 10_001..=99_999, 4)] {
                let numbers = invoices.take_n_with_async(Dialect::Postgres, count, run).await;
                assert_eq!(values(&numbers.unwrap()), expected.collect::<Vec<_>>());
                assert_eq!(statements.replace(0), most);
            }
            let full = invoices.take_n_with_async(Dialect::Postgres, 2, run).await;
            assert!(matches!(full, Err(SeriesError::Full { .. })), "{full:?}");
            client.batch_execute("COMMIT").await.unwrap();
        });
        assert_eq!(invoices.counters().unwrap()[0].last, 99_999);
    }

    #[test]
    #[ignore = "needs a MySQL or MariaDB server"]
    fn mysql() {
        let database = Server::MySql.database();
        let invoices = invoices(&database, "{yyyy}-{n:5}");
        run(async {
            let db = Mutex::new(connections::mysql(&database.url).await);
            let statements = Cell::new(0);
            let run = |sql, values| {
                statements.set(statements.get() + 1);
                mysql_rows(&db, sql, values)
            };
            db.lock().await.query_drop("START TRANSACTION").await.unwrap();
            // Two of them ask whether there is a transaction.
            for (count, expected, most) in [(10_000, 1..=10_000, 4), (99_999, 10_001..=99_999, 5)] {
                let numbers = invoices.take_n_with_async(Dialect::MySql, count, run).await;
                assert_eq!(values(&numbers.unwrap()), expected.collect::<Vec<_>>());
                assert_eq!(statements.replace(0), most);
            }
            let full = invoices.take_n_with_async(Dialect::MySql, 2, run).await;
            assert!(matches!(full, Err(SeriesError::Full { .. })), "{full:?}");
            db.lock().await.query_drop("COMMIT").await.unwrap();
            db.into_inner().disconnect().await.unwrap();
        });
        assert_eq!(invoices.counters().unwrap()[0].last, 99_999);
    }
}
