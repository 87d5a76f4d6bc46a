//! Numbers without gaps in the transactions of diesel's connections.

use std::thread;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::r2d2::{ConnectionManager, Pool};
use uidring::Store;
use uidring::series::{Series, SeriesDefinition, SeriesError, SeriesGenerator};

use super::databases::Server;

/// A gapless series of `store`.
fn invoices(store: &str) -> SeriesGenerator {
    let series = Series::builder().store(&Store::open(store).unwrap()).build().unwrap();
    series.create("invoices", SeriesDefinition::new("{yyyy}-{n:5}").unwrap().gapless()).unwrap()
}

fn last(invoices: &SeriesGenerator) -> u64 {
    invoices.counters().unwrap().first().map_or(0, |counter| counter.last)
}

/// What a program's transaction fails with.
#[derive(Debug)]
enum Failure {
    Diesel(diesel::result::Error),
    Series(SeriesError),
    OnPurpose,
}

impl From<diesel::result::Error> for Failure {
    fn from(error: diesel::result::Error) -> Failure {
        Failure::Diesel(error)
    }
}

impl From<SeriesError> for Failure {
    fn from(error: SeriesError) -> Failure {
        Failure::Series(error)
    }
}

/// On each database, with what begins a transaction by hand.
macro_rules! counts {
    ($Connection:ty, $url:expr, $store:expr, $begin:literal) => {{
        let invoices = invoices($store);
        let mut db = <$Connection>::establish($url).unwrap();

        // Outside of a transaction, nothing is counted.
        for said in
            [invoices.take_in(&mut db).unwrap_err(), invoices.take_n_in(&mut db, 9).unwrap_err()]
        {
            let SeriesError::Transaction { source, .. } = &said else { panic!("{said:?}") };
            assert!(source.to_string().starts_with("the connection is not in a transaction"));
            assert!(!said.is_transient());
        }
        assert_eq!(last(&invoices), 0);

        // What is rolled back is counted again.
        for (value, is_kept) in [(1, true), (2, false), (2, true)] {
            let kept = db.transaction(|db| {
                let number = invoices.take_in(db)?;
                assert_eq!(number.value(), value);
                if is_kept { Ok(()) } else { Err(Failure::OnPurpose) }
            });
            assert_eq!(kept.is_ok(), is_kept, "{kept:?}");
        }
        // So is what a savepoint takes back.
        db.transaction(|db| {
            assert_eq!(invoices.take_in(db)?.value(), 3);
            let inner = db.transaction(|db| {
                assert_eq!(invoices.take_in(db)?.value(), 4);
                Err::<(), _>(Failure::OnPurpose)
            });
            assert!(matches!(inner, Err(Failure::OnPurpose)), "{inner:?}");
            assert_eq!(invoices.take_in(db)?.value(), 4);
            Ok::<_, Failure>(())
        })
        .unwrap();
        // Many at once.
        let many = db.transaction(|db| invoices.take_n_in(db, 1_000).map_err(Failure::from));
        let values: Vec<u64> = many.unwrap().iter().map(|number| number.value()).collect();
        assert_eq!(values, (5..=1_004).collect::<Vec<_>>());
        // Diesel does not know of a transaction that a statement has begun.
        for (end, value) in [("ROLLBACK", 1_005), ("COMMIT", 1_005), ("ROLLBACK", 1_006)] {
            db.batch_execute($begin).unwrap();
            assert_eq!(invoices.take_in(&mut db).unwrap().value(), value);
            db.batch_execute(end).unwrap();
        }
        // What is read when the series has been changed.
        let other = Series::builder().store(&Store::open($store).unwrap()).build().unwrap();
        let begins = "2999-01-01".parse().unwrap();
        let wider = SeriesDefinition::new("{yyyy}-{n:6}").unwrap().gapless();
        other.change("invoices", wider, begins).unwrap();
        let number = db.transaction(|db| invoices.take_in_for(db, begins).map_err(Failure::from));
        assert_eq!(number.unwrap().as_str(), "2999-000001");

        // A connection of a pool.
        let pool = Pool::builder().max_size(1).build(ConnectionManager::<$Connection>::new($url));
        let mut pooled = pool.unwrap().get().unwrap();
        assert!(invoices.take_in(&mut pooled).is_err());
        let number = pooled.transaction(|db| invoices.take_in(db).map_err(Failure::from));
        assert_eq!(number.unwrap().value(), 1_006);
        invoices
    }};
}

/// Makes two transactions count the same numbers, each in the other order, and says what the one
/// was told that the database has refused.
macro_rules! deadlock {
    ($Connection:ty, $url:expr, $invoices:expr) => {{
        let (one, other) = (std::sync::Barrier::new(2), &$invoices);
        let run = |scopes: [&str; 2]| {
            let mut db = <$Connection>::establish($url).unwrap();
            db.transaction(|db| {
                other.scope(scopes[0]).take_in(db)?;
                one.wait();
                other.scope(scopes[1]).take_in(db)?;
                Err::<(), _>(Failure::OnPurpose)
            })
            .unwrap_err()
        };
        let said = thread::scope(|scope| {
            let other = scope.spawn(|| run(["b", "a"]));
            [run(["a", "b"]), other.join().unwrap()]
        });
        let errors: Vec<_> = said
            .into_iter()
            .filter_map(|said| match said {
                Failure::Series(error) => Some(error),
                Failure::OnPurpose => None,
                Failure::Diesel(error) => panic!("{error}"),
            })
            .collect();
        assert_eq!(errors.len(), 1, "{errors:?}");
        is_worth_another_try(&errors[0], "deadlock");
    }};
}

/// Has a transaction wait for the number that another one holds, by the limit that `set` sets.
macro_rules! wait_too_long {
    ($Connection:ty, $url:expr, $invoices:expr, $set:expr) => {{
        let mut one = <$Connection>::establish($url).unwrap();
        let mut other = <$Connection>::establish($url).unwrap();
        other.batch_execute($set).unwrap();
        let held = one.transaction(|one| {
            $invoices.take_in(one)?;
            let waits = other.transaction(|other| {
                $invoices.take_in(other)?;
                Ok::<_, Failure>(())
            });
            let Err(Failure::Series(error)) = waits else { panic!("{waits:?}") };
            is_worth_another_try(&error, $set);
            Err::<(), _>(Failure::OnPurpose)
        });
        assert!(matches!(held, Err(Failure::OnPurpose)), "{held:?}");
    }};
}

fn is_worth_another_try(error: &SeriesError, what: &str) {
    assert!(matches!(error, SeriesError::Transaction { .. }), "{what}: {error:?}");
    assert!(error.is_transient(), "{what}: {error:?}");
}

#[test]
fn sqlite_counts() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("orders.db").display().to_string();
    let invoices = counts!(SqliteConnection, &file, &file, "BEGIN IMMEDIATE");
    wait_too_long!(SqliteConnection, &file, invoices, "PRAGMA busy_timeout = 50");
    // Not so what no other transaction mends.
    let mut db = SqliteConnection::establish(&file).unwrap();
    db.batch_execute("ALTER TABLE uidring_series_counter RENAME TO gone").unwrap();
    let failed = db.transaction(|db| invoices.take_in(db).map_err(Failure::from)).unwrap_err();
    let Failure::Series(error) = failed else { panic!("{failed:?}") };
    assert!(!error.is_transient(), "{error:?}");
}

#[test]
#[ignore = "needs a PostgreSQL server"]
fn postgres_counts() {
    let database = Server::Postgres.database();
    // libpq takes no second `=`.
    let url = &database.url.replace("search_path=", "search_path%3D");
    let invoices = counts!(PgConnection, url, &database.url, "BEGIN");
    deadlock!(PgConnection, url, invoices);
    for set in ["SET lock_timeout = 100", "SET statement_timeout = 100"] {
        wait_too_long!(PgConnection, url, invoices, set);
    }
    // One that sees the database as it was.
    let [mut one, mut other] = [(); 2].map(|()| PgConnection::establish(url).unwrap());
    let failed = one.build_transaction().repeatable_read().run(|one| {
        diesel::sql_query("SELECT 1").execute(one)?;
        other.transaction(|other| invoices.take_in(other).map_err(Failure::from))?;
        invoices.take_in(one)?;
        Ok::<_, Failure>(())
    });
    let Err(Failure::Series(error)) = failed else { panic!("{failed:?}") };
    is_worth_another_try(&error, "REPEATABLE READ");
    // A connection that the server has ended.
    let failed = one.transaction(|one| {
        one.batch_execute("SET idle_in_transaction_session_timeout = '50ms'")?;
        thread::sleep(std::time::Duration::from_secs(1));
        invoices.take_in(one)?;
        Ok::<_, Failure>(())
    });
    let Err(Failure::Series(error)) = failed else { panic!("{failed:?}") };
    is_worth_another_try(&error, "a connection that ended");
}

#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn mysql_counts() {
    let database = Server::MySql.database();
    let url = &database.url;
    let invoices = counts!(MysqlConnection, url, url, "START TRANSACTION");
    deadlock!(MysqlConnection, url, invoices);
    wait_too_long!(MysqlConnection, url, invoices, "SET innodb_lock_wait_timeout = 1");
    if database.run("SELECT @@version").contains("MariaDB") {
        wait_too_long!(MysqlConnection, url, invoices, "SET max_statement_time = 0.2");
    }
}
