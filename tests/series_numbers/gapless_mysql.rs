//! Numbers without gaps in the transactions of `mysql_async`.

use mysql_async::prelude::Queryable;
use mysql_async::{IsolationLevel, TxOpts};
use uidring::series::{SeriesError, SeriesNumber};

use super::connections::{invoices, mysql, run};
use super::databases::Server;
use super::turns::futures_join;

fn is_worth_another_try(error: &SeriesError, what: &str) {
    assert!(matches!(error, SeriesError::Transaction { .. }), "{what}: {error:?}");
    assert!(error.is_transient(), "{what}: {error:?}");
}

#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn transactions_count() {
    let database = Server::MySql.database();
    let invoices = invoices(&database, "{yyyy}-{n:5}");
    run(async {
        let mut db = mysql(&database.url).await;
        // What is rolled back is counted again, by each isolation level.
        let mut expected = 1;
        for level in [
            IsolationLevel::ReadUncommitted,
            IsolationLevel::ReadCommitted,
            IsolationLevel::RepeatableRead,
            IsolationLevel::Serializable,
        ] {
            for is_kept in [false, true] {
                let mut options = TxOpts::default();
                options.with_isolation_level(level);
                let mut transaction = db.start_transaction(options).await.unwrap();
                let number = invoices.take_in(&mut transaction).await.unwrap();
                assert_eq!(number.as_str(), format!("2026-{expected:05}"));
                if is_kept {
                    transaction.commit().await.unwrap();
                    expected += 1;
                } else {
                    transaction.rollback().await.unwrap();
                }
            }
        }
        // So is what a savepoint takes back.
        let mut transaction = db.start_transaction(TxOpts::default()).await.unwrap();
        transaction.query_drop("SAVEPOINT a").await.unwrap();
        assert_eq!(invoices.take_in(&mut transaction).await.unwrap().value(), 5);
        transaction.query_drop("ROLLBACK TO a").await.unwrap();
        let date = "2025-12-31".parse().unwrap();
        let number = invoices.take_in_for(&mut transaction, date).await.unwrap();
        assert_eq!(number.as_str(), "2025-00001");
        let numbers = invoices.take_n_in(&mut transaction, 1_000).await.unwrap();
        let values: Vec<u64> = numbers.iter().map(SeriesNumber::value).collect();
        assert_eq!(values, (5..=1_004).collect::<Vec<_>>());
        transaction.commit().await.unwrap();
        db.disconnect().await.unwrap();
    });
}

/// A deadlock, a wait that took too long, and a connection that the server has ended.
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn conflicts_are_worth_another_try() {
    let database = Server::MySql.database();
    let invoices = invoices(&database, "{yyyy}-{n:5}");
    let [a, b] = ["a", "b"].map(|scope| invoices.scope(scope));
    run(async {
        let (mut one, mut other) = (mysql(&database.url).await, mysql(&database.url).await);
        let mut first = one.start_transaction(TxOpts::default()).await.unwrap();
        let mut second = other.start_transaction(TxOpts::default()).await.unwrap();
        a.take_in(&mut first).await.unwrap();
        b.take_in(&mut second).await.unwrap();
        // Whoever is refused lets the other go on.
        let run = async {
            let said = b.take_in(&mut first).await.err();
            first.rollback().await.unwrap();
            said
        };
        let beside = async {
            let said = a.take_in(&mut second).await.err();
            second.rollback().await.unwrap();
            said
        };
        let (said, also) = futures_join(run, beside).await;
        is_worth_another_try(&said.or(also).unwrap(), "deadlock");

        let mut holds = one.start_transaction(TxOpts::default()).await.unwrap();
        a.take_in(&mut holds).await.unwrap();
        other.query_drop("SET innodb_lock_wait_timeout = 1").await.unwrap();
        let mut waits = other.start_transaction(TxOpts::default()).await.unwrap();
        let error = a.take_in(&mut waits).await.unwrap_err();
        is_worth_another_try(&error, "innodb_lock_wait_timeout");
        let id: u64 = waits.query_first("SELECT CONNECTION_ID()").await.unwrap().unwrap();
        holds.query_drop(format!("KILL {id}")).await.unwrap();
        holds.rollback().await.unwrap();
        let error = a.take_in(&mut waits).await.unwrap_err();
        is_worth_another_try(&error, "a connection that was ended");
        drop(waits);

        // Not so what no other transaction mends.
        database.run("RENAME TABLE uidring_series_counter TO gone");
        let mut transaction = one.start_transaction(TxOpts::default()).await.unwrap();
        let error = a.take_in(&mut transaction).await.unwrap_err();
        assert!(!error.is_transient(), "{error:?}");
        transaction.rollback().await.unwrap();
        one.disconnect().await.unwrap();
    });
}
