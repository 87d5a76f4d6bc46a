//! What a rollback to a savepoint takes back of a gapless number, on each database, and who waits
//! for it afterwards. docs/numbers.md says so.

use mysql_async::prelude::Queryable;

use super::connections::{self, invoices, run};
use super::databases::Server;
use super::{clock, definition, series};

/// The number and its lock.
#[test]
#[ignore = "needs a PostgreSQL server"]
fn postgres_gives_back_the_number_and_its_lock() {
    let database = Server::Postgres.database();
    let invoices = invoices(&database, "{n:5}");
    run(async {
        let connect = async || connections::postgres(&database.url).await;
        let (mut one, mut other) = (connect().await, connect().await);
        other.batch_execute("SET lock_timeout = '5s'").await.unwrap();
        // The first time it makes the counter, then it counts it up.
        for value in [1, 3] {
            let mut transaction = one.transaction().await.unwrap();
            let mut savepoint = transaction.transaction().await.unwrap();
            assert_eq!(invoices.take_in(&mut savepoint).await.unwrap().value(), value);
            savepoint.rollback().await.unwrap();
            let mut meanwhile = other.transaction().await.unwrap();
            assert_eq!(invoices.take_in(&mut meanwhile).await.unwrap().value(), value);
            meanwhile.commit().await.unwrap();
            assert_eq!(invoices.take_in(&mut transaction).await.unwrap().value(), value + 1);
            transaction.commit().await.unwrap();
        }
    });
}

/// The number alone.
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn mysql_gives_back_the_number_and_keeps_its_lock() {
    let database = Server::MySql.database();
    let invoices = invoices(&database, "{n:5}");
    run(async {
        let connect = async || connections::mysql(&database.url).await;
        let (mut one, mut other) = (connect().await, connect().await);
        other.query_drop("SET innodb_lock_wait_timeout = 1").await.unwrap();
        let options = mysql_async::TxOpts::default;
        let mut transaction = one.start_transaction(options()).await.unwrap();
        assert_eq!(invoices.take_in(&mut transaction).await.unwrap().value(), 1);
        transaction.commit().await.unwrap();

        let mut transaction = one.start_transaction(options()).await.unwrap();
        // Where nothing came before the savepoint, the transaction begins anew.
        transaction.query_drop("SELECT * FROM uidring_series").await.unwrap();
        transaction.query_drop("SAVEPOINT a").await.unwrap();
        assert_eq!(invoices.take_in(&mut transaction).await.unwrap().value(), 2);
        transaction.query_drop("ROLLBACK TO a").await.unwrap();
        let mut meanwhile = other.start_transaction(options()).await.unwrap();
        let error = invoices.take_in(&mut meanwhile).await.unwrap_err();
        assert!(error.is_transient(), "{error:?}");
        meanwhile.rollback().await.unwrap();
        assert_eq!(invoices.take_in(&mut transaction).await.unwrap().value(), 2);
        transaction.commit().await.unwrap();
        let mut transaction = other.start_transaction(options()).await.unwrap();
        assert_eq!(invoices.take_in(&mut transaction).await.unwrap().value(), 3);
        transaction.rollback().await.unwrap();
        for db in [one, other] {
            db.disconnect().await.unwrap();
        }
    });
}

/// A client that stalls, and how MariaDB ends it.
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn mariadb_ends_a_client_that_stalls() {
    let database = Server::MySql.database();
    if !database.run("SELECT @@version").contains("MariaDB") {
        return;
    }
    let invoices = invoices(&database, "{n:5}");
    run(async {
        let connect = async || connections::mysql(&database.url).await;
        let (mut stalls, mut other) = (connect().await, connect().await);
        stalls.query_drop("SET idle_write_transaction_timeout = 1").await.unwrap();
        let options = mysql_async::TxOpts::default;
        let mut stalled = stalls.start_transaction(options()).await.unwrap();
        assert_eq!(invoices.take_in(&mut stalled).await.unwrap().value(), 1);
        let mut transaction = other.start_transaction(options()).await.unwrap();
        assert_eq!(invoices.take_in(&mut transaction).await.unwrap().value(), 1);
        transaction.commit().await.unwrap();
        let error = invoices.take_in(&mut stalled).await.unwrap_err();
        assert!(error.is_transient(), "{error:?}");
    });
}

/// The number, and not the lock of the file.
#[test]
fn sqlite_gives_back_the_number_and_keeps_its_lock() {
    let (folder, store) = super::file();
    let series = series(&store, &clock("2026-11-24T12:00:00Z"));
    let invoices = series.create("invoices", definition("{n:5}").gapless()).unwrap();
    let [mut one, mut other] = [(); 2].map(|()| {
        let db = rusqlite::Connection::open(folder.path().join("uidring.db")).unwrap();
        db.busy_timeout(std::time::Duration::from_millis(10)).unwrap();
        db
    });
    let mut transaction = one.transaction().unwrap();
    transaction.execute_batch("SAVEPOINT a").unwrap();
    assert_eq!(invoices.take_in(&mut transaction).unwrap().value(), 1);
    transaction.execute_batch("ROLLBACK TO a").unwrap();
    let error = invoices.take_in(&mut other.transaction().unwrap()).unwrap_err();
    assert!(error.is_transient(), "{error:?}");
    assert_eq!(invoices.take_in(&mut transaction).unwrap().value(), 1);
    transaction.commit().unwrap();
}
