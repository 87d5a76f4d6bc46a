//! Numbers without gaps in the transactions of SeaORM.

use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseConnection, IsolationLevel, TransactionTrait,
};
use uidring::Store;
use uidring::series::{Series, SeriesDefinition, SeriesError, SeriesGenerator};

use super::databases::Server;

/// A gapless series of `store`.
fn invoices(store: &str) -> SeriesGenerator {
    let series = Series::builder().store(&Store::open(store).unwrap()).build().unwrap();
    series.create("invoices", SeriesDefinition::new("{yyyy}-{n:5}").unwrap().gapless()).unwrap()
}

/// One connection, so that what is set stays set.
async fn connect(url: &str) -> DatabaseConnection {
    let mut options = ConnectOptions::new(url);
    options.max_connections(1).sqlx_logging(false);
    Database::connect(options).await.unwrap()
}

async fn counts(url: &str, store: &str) -> SeriesGenerator {
    let invoices = invoices(store);
    let db = connect(url).await;
    // What is rolled back is counted again.
    for (value, is_kept) in [(1, true), (2, false), (2, true)] {
        let mut transaction = db.begin().await.unwrap();
        assert_eq!(invoices.take_in(&mut transaction).await.unwrap().value(), value);
        if is_kept {
            transaction.commit().await.unwrap();
        } else {
            transaction.rollback().await.unwrap();
        }
    }
    // So is what a savepoint takes back.
    let mut transaction = db.begin().await.unwrap();
    assert_eq!(invoices.take_in(&mut transaction).await.unwrap().value(), 3);
    let mut savepoint = transaction.begin().await.unwrap();
    assert_eq!(invoices.take_in(&mut savepoint).await.unwrap().value(), 4);
    savepoint.rollback().await.unwrap();
    assert_eq!(invoices.take_in(&mut transaction).await.unwrap().value(), 4);
    // Many at once.
    let many = invoices.take_n_in(&mut transaction, 1_000).await.unwrap();
    let values: Vec<u64> = many.iter().map(|number| number.value()).collect();
    assert_eq!(values, (5..=1_004).collect::<Vec<_>>());
    transaction.commit().await.unwrap();
    // In the closure of a transaction, which is given a reference.
    let counted = invoices.clone();
    let number = db.transaction(move |transaction| {
        Box::pin(async move { counted.take_in(&mut &*transaction).await })
    });
    assert_eq!(number.await.unwrap().value(), 1_005);
    // What is read when the series has been changed.
    let other = Series::builder().store(&Store::open(store).unwrap()).build().unwrap();
    let begins = "2999-01-01".parse().unwrap();
    let wider = SeriesDefinition::new("{yyyy}-{n:6}").unwrap().gapless();
    other.change("invoices", wider, begins).unwrap();
    let mut transaction = db.begin().await.unwrap();
    let number = invoices.take_in_for(&mut transaction, begins).await.unwrap();
    assert_eq!(number.as_str(), "2999-000001");
    transaction.commit().await.unwrap();
    invoices
}

/// Makes two transactions count the same numbers, each in the other order.
async fn deadlock(url: &str, invoices: &SeriesGenerator) {
    let [a, b] = ["a", "b"].map(|scope| invoices.scope(scope));
    let (one, other) = (connect(url).await, connect(url).await);
    let (mut first, mut second) = (one.begin().await.unwrap(), other.begin().await.unwrap());
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
    let (said, also) = tokio::join!(run, beside);
    is_worth_another_try(&said.or(also).expect("one is refused"), "deadlock");
}

/// Has a transaction wait for the number that another one holds, by the limit that `set` sets.
async fn wait_too_long(url: &str, invoices: &SeriesGenerator, set: &str) {
    let (one, other) = (connect(url).await, connect(url).await);
    let mut holds = one.begin().await.unwrap();
    invoices.take_in(&mut holds).await.unwrap();
    other.execute_unprepared(set).await.unwrap();
    let mut waits = other.begin().await.unwrap();
    let error = invoices.take_in(&mut waits).await.unwrap_err();
    is_worth_another_try(&error, set);
    waits.rollback().await.unwrap();
    holds.rollback().await.unwrap();
}

fn is_worth_another_try(error: &SeriesError, what: &str) {
    assert!(matches!(error, SeriesError::Transaction { .. }), "{what}: {error:?}");
    assert!(error.is_transient(), "{what}: {error:?}");
}

#[tokio::test(flavor = "current_thread")]
async fn sqlite_counts() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("orders.db").display().to_string();
    let url = format!("sqlite://{file}");
    let invoices = counts(&url, &file).await;
    wait_too_long(&url, &invoices, "PRAGMA busy_timeout = 50").await;
    // Not so what no other transaction mends.
    let db = connect(&url).await;
    db.execute_unprepared("ALTER TABLE uidring_series_counter RENAME TO gone").await.unwrap();
    let mut transaction = db.begin().await.unwrap();
    let error = invoices.take_in(&mut transaction).await.unwrap_err();
    assert!(matches!(error, SeriesError::Transaction { .. }) && !error.is_transient(), "{error:?}");
}

#[tokio::test(flavor = "current_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn postgres_counts() {
    let database = Server::Postgres.database();
    let invoices = counts(&database.url, &database.url).await;
    deadlock(&database.url, &invoices).await;
    for set in ["SET lock_timeout = 100", "SET statement_timeout = 100"] {
        wait_too_long(&database.url, &invoices, set).await;
    }
    // One that sees the database as it was.
    let (one, other) = (connect(&database.url).await, connect(&database.url).await);
    let begin = one.begin_with_config(Some(IsolationLevel::RepeatableRead), None);
    let mut transaction = begin.await.unwrap();
    transaction.execute_unprepared("SELECT 1").await.unwrap();
    let mut meanwhile = other.begin().await.unwrap();
    invoices.take_in(&mut meanwhile).await.unwrap();
    meanwhile.commit().await.unwrap();
    let error = invoices.take_in(&mut transaction).await.unwrap_err();
    is_worth_another_try(&error, "REPEATABLE READ");
    transaction.rollback().await.unwrap();
}

#[tokio::test(flavor = "current_thread")]
#[ignore = "needs a MySQL or MariaDB server"]
async fn mysql_counts() {
    let database = Server::MySql.database();
    let invoices = counts(&database.url, &database.url).await;
    deadlock(&database.url, &invoices).await;
    wait_too_long(&database.url, &invoices, "SET innodb_lock_wait_timeout = 1").await;
    // With these, MySQL calls texts bytes.
    let db = connect(&database.url).await;
    db.execute_unprepared("SET NAMES utf8mb4 COLLATE utf8mb4_bin").await.unwrap();
    let mut transaction = db.begin().await.unwrap();
    assert_eq!(invoices.take_in(&mut transaction).await.unwrap().value(), 1_006);
    transaction.rollback().await.unwrap();
}
