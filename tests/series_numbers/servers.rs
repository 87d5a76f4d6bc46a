//! Series on database servers, and numbers without gaps in the transactions of tokio-postgres.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio_postgres::Transaction;
use uidring::Store;
use uidring::series::{Series, SeriesError, SeriesGenerator, SeriesNumber};

use super::connections::{self, runtime};
use super::databases::Server;
use super::{clock, definition, series, texts, time, until};

fn everything(server: Server) {
    let database = server.database();
    let open = || Store::open(&database.url).unwrap();
    let clock = clock("2026-12-31T23:00:00Z");
    let [one, other] = [series(&open(), &clock), series(&open(), &clock)];
    let missing = one.get("orders").unwrap_err();
    assert!(matches!(missing, SeriesError::NoSuchSeries { .. }), "{missing:?}");
    assert_eq!(one.list().unwrap(), []);
    assert_eq!(one.newest(9).unwrap(), (Vec::new(), 0));

    // The first one makes the tables.
    let definition = definition("{scope}-{yyyy}{MM}{dd}-{n:4}").time_zone("Europe/Lisbon").step(10);
    let orders = one.create("orders", definition).unwrap();
    let theirs = other.get("orders").unwrap();
    let shop = |generator: &SeriesGenerator| generator.scope("shop");
    assert_eq!(texts(shop(&orders).take_n(1)), ["shop-20261231-0001"]);
    assert_eq!(texts(shop(&theirs).take_n(1)), ["shop-20261231-0011"]);
    assert!(one.get("ordres").unwrap_err().to_string().contains("did you mean \"orders\"?"));

    // The next day, and what is left of the one before goes back.
    clock.set(time("2027-01-01T00:00:00Z"));
    assert_eq!(texts(shop(&theirs).take_n(1)), ["shop-20270101-0001"]);
    until("the range goes back", || theirs.counters().unwrap()[0].last == 11);
    assert_eq!(texts(shop(&orders).take_n(1)), ["shop-20270101-0011"]);
    let old = shop(&orders).take_for("2026-12-31".parse().unwrap()).unwrap();
    assert_eq!(old.as_str(), "shop-20261231-0012");

    // A change, which the other process learns by itself.
    let wider = super::definition("{scope}-{yyyy}{MM}{dd}-{n:6}").time_zone("Europe/Lisbon");
    one.change("orders", wider, "2027-01-02".parse().unwrap()).unwrap();
    clock.set(time("2027-01-02T00:00:00Z"));
    assert_eq!(texts(shop(&theirs).take_n(1)), ["shop-20270102-000001"]);

    // A batch that is all there is, and the way on.
    let inv = one.create("inv", super::definition("№{yyyy}-{n:2}")).unwrap();
    let others = other.get("inv").unwrap();
    let values = |numbers: Vec<SeriesNumber>| -> Vec<u64> {
        numbers.iter().map(SeriesNumber::value).collect()
    };
    assert_eq!(values(inv.take_batch(99).unwrap()), (1..=99).collect::<Vec<_>>());
    for numbers in [&inv, &others, &inv] {
        match numbers.take().unwrap_err() {
            SeriesError::Full { series, period, largest: 99, .. } => {
                assert_eq!((series.as_str(), period.to_string()), ("inv", "2027".to_owned()));
            }
            error => panic!("{error:?}"),
        }
    }
    let wider = super::definition("№{yyyy}-{n:4+}");
    one.change("inv", wider, "2027-01-02".parse().unwrap()).unwrap();
    let taken = others.take_batch(200).unwrap();
    assert_eq!(taken[0].as_str(), "№2027-0100");
    assert_eq!(values(taken), (100..=299).collect::<Vec<_>>());
    assert!(inv.take().unwrap().value() >= 300);
    assert_eq!(others.parse("№2027-07").unwrap().value(), 7);

    // The newest of them, with all of its versions.
    let (newest, all) = one.newest(1).unwrap();
    assert_eq!((newest[0].name.as_str(), newest[0].versions.len(), all), ("inv", 2, 2));
    let (mut newest, _) = one.newest(usize::MAX).unwrap();
    newest.sort_by(|one, other| one.name.cmp(&other.name));
    assert_eq!(newest, one.list().unwrap());
    let (counters, all) = theirs.newest_counters(1).unwrap();
    assert_eq!((counters[0].period.to_string().as_str(), all), ("2027-01-02", 3));

    // A closed day.
    one.close("orders", "2027-01-01".parse().unwrap()).unwrap();
    let error = shop(&theirs).take_for("2026-12-31".parse().unwrap()).unwrap_err();
    assert!(matches!(error, SeriesError::Closed { .. }), "{error:?}");
    one.shutdown().unwrap();
    other.shutdown().unwrap();
    let third = series(&open(), &clock);
    assert_eq!(third.prune("orders").unwrap(), 2);
    assert_eq!(texts(shop(&third.get("orders").unwrap()).take_n(1)), ["shop-20270102-000002"]);
}

#[test]
#[ignore = "needs a PostgreSQL server"]
fn postgres() {
    everything(Server::Postgres);
}

#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn mysql() {
    everything(Server::MySql);
}

/// It has to go before the database, whose end waits for its transactions.
/// Where the counter's period is another than the one that is shown.
fn restarts(server: Server) {
    let database = server.database();
    let open = || Store::open(&database.url).unwrap();
    super::restart::counts_by_its_own_period(&open(), &open());
}

#[test]
#[ignore = "needs a PostgreSQL server"]
fn postgres_restarts() {
    restarts(Server::Postgres);
}

#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn mysql_restarts() {
    restarts(Server::MySql);
}

/// A text of the old pattern, which has a check digit, may be one of the new pattern, too.
const OLD: &str = "{yyyy}-{n:4}{check:damm}";
const NEW: &str = "{yyyy}-{n:5}";

/// Changes the series from 2027 on.
fn change(series: &Series) {
    let begins = "2027-01-01".parse().unwrap();
    series.change("invoices", definition(NEW).gapless(), begins).unwrap();
}

/// Takes a number of a day after the change.
async fn take_2027(
    invoices: &SeriesGenerator,
    transaction: &mut Transaction<'_>,
) -> Result<SeriesNumber, SeriesError> {
    invoices.take_in_for(transaction, "2027-01-15".parse().unwrap()).await
}

/// A transaction sees the database as it was when it began, and the series was changed since then.
/// Whether this process knows of the change or not, it writes no number by the old pattern.
#[test]
#[ignore = "needs a PostgreSQL server"]
fn a_transaction_from_before_a_change_gives_no_number_on_postgres() {
    for (level, knows) in
        [("REPEATABLE READ", false), ("REPEATABLE READ", true), ("SERIALIZABLE", false)]
    {
        let database = Server::Postgres.database();
        let clock = clock("2026-11-24T12:00:00Z");
        let [here, there] = [(); 2].map(|()| series(&Store::open(&database.url).unwrap(), &clock));
        let runtime = runtime();
        let invoices = here.create("invoices", definition(OLD).gapless()).unwrap();
        runtime.block_on(async {
            let mut db = connections::postgres(&database.url).await;
            let mut transaction = db.transaction().await.unwrap();
            let begin = format!(
                "SET TRANSACTION ISOLATION LEVEL {level}; SELECT count(*) FROM uidring_series"
            );
            transaction.batch_execute(&begin).await.unwrap();
            change(if knows { &here } else { &there });
            let error = take_2027(&invoices, &mut transaction).await.unwrap_err();
            let is_told =
                matches!(error, SeriesError::Changed { .. } | SeriesError::Transaction { .. });
            assert!(is_told, "{level}, {knows}: {error:?}");
            transaction.rollback().await.unwrap();
            // Tried again, it is one from after the change.
            let mut transaction = db.transaction().await.unwrap();
            let number = take_2027(&invoices, &mut transaction).await.unwrap();
            transaction.commit().await.unwrap();
            assert_eq!(number.as_str(), "2027-00001", "{level}, {knows}");
        });
    }
}

/// A change is being committed while a transaction counts, which waits for it.
#[test]
#[ignore = "needs a PostgreSQL server"]
fn a_number_that_waits_for_a_change_is_written_by_the_new_pattern_on_postgres() {
    let database = Server::Postgres.database();
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&Store::open(&database.url).unwrap(), &clock);
    let invoices = series.create("invoices", definition(OLD).gapless()).unwrap();
    let runtime = runtime();
    runtime.block_on(async {
        let (changing, mut db) = (
            connections::postgres(&database.url).await,
            connections::postgres(&database.url).await,
        );
        // What a change does.
        changing
            .batch_execute(&format!(
                "BEGIN; SELECT * FROM uidring_series WHERE name = 'invoices' FOR UPDATE; \
                 INSERT INTO uidring_series_version \
                 SELECT series, 2, '{NEW}', step, first_number, '2027-01-01', restart, created \
                 FROM uidring_series_version; \
                 UPDATE uidring_series SET revision = revision + 1 WHERE name = 'invoices'"
            ))
            .await
            .unwrap();
        let commits = tokio::spawn(async move {
            let waits = "SELECT count(*) FROM pg_stat_activity \
                         WHERE datname = current_database() AND wait_event_type = 'Lock'";
            while changing.query_one(waits, &[]).await.unwrap().get::<_, i64>(0) == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            changing.batch_execute("COMMIT").await.unwrap();
        });
        let mut transaction = db.transaction().await.unwrap();
        let number = take_2027(&invoices, &mut transaction).await.unwrap();
        assert_eq!(number.as_str(), "2027-00001");
        transaction.commit().await.unwrap();
        commits.await.unwrap();
    });
}

/// Clients that commit, roll back, and lose their connections. What is committed has the numbers
/// from 1 on, each once.
#[test]
#[ignore = "needs a PostgreSQL server"]
fn documents_that_are_committed_have_all_numbers_once_on_postgres() {
    const CLIENTS: u64 = 16;
    const ROUNDS: u64 = 60;
    let database = Arc::new(Server::Postgres.database());
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&Store::open(&database.url).unwrap(), &clock);
    let definition = definition("{yyyy}-{n:6}").gapless();
    let invoices = series.create("invoices", definition).unwrap();
    database.run("CREATE TABLE invoice (number TEXT PRIMARY KEY, client BIGINT)");
    let (refused, lost) = (AtomicU64::new(0), AtomicU64::new(0));
    let runtime = runtime();
    runtime.block_on(async {
        let run = async |client: u64| {
            let mut db = connections::postgres(&database.url).await;
            for round in 0..ROUNDS {
                // A different fate for each.
                let fate = (client * 31 + round * 17) % 10;
                // From here on the database refuses some, which are to be tried again.
                let isolation = ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"];
                let level = isolation[usize::try_from(client % 3).unwrap()];
                let begin = format!("SET TRANSACTION ISOLATION LEVEL {level}");
                let mut transaction = db.transaction().await.unwrap();
                transaction.batch_execute(&begin).await.unwrap();
                let number = match invoices.take_in(&mut transaction).await {
                    Ok(number) => number,
                    Err(SeriesError::Transaction { .. }) => {
                        refused.fetch_add(1, Ordering::Relaxed);
                        continue;
                    }
                    Err(error) => panic!("{error:?}"),
                };
                let insert = "INSERT INTO invoice VALUES ($1, $2)";
                let client = i64::try_from(client).unwrap();
                let values: [&(dyn tokio_postgres::types::ToSql + Sync); 2] =
                    [&number.as_str(), &client];
                transaction.execute(insert, &values).await.unwrap();
                match fate {
                    0 | 1 => transaction.rollback().await.unwrap(),
                    2 => {
                        drop(transaction);
                        // The server learns of it when it likes.
                        db = connections::postgres(&database.url).await;
                        lost.fetch_add(1, Ordering::Relaxed);
                    }
                    _ if transaction.commit().await.is_err() => {
                        refused.fetch_add(1, Ordering::Relaxed);
                    }
                    _ => {}
                }
            }
        };
        let all: Vec<_> = (0..CLIENTS).map(run).collect();
        futures_of(all).await;
    });
    let numbers = database.run("SELECT string_agg(number, ',' ORDER BY number) FROM invoice");
    let numbers: Vec<u64> =
        numbers.split(',').map(|text| invoices.pattern().parse(text).unwrap().value()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let (refused, lost) = (refused.into_inner(), lost.into_inner());
    assert!(refused > 0 && lost > 20, "{refused} refused, {lost} lost");
    assert!(numbers.len() > 200, "{} documents", numbers.len());
}

/// Runs all futures to their ends, on this thread.
async fn futures_of<F: Future<Output = ()>>(futures: Vec<F>) {
    let mut futures: Vec<_> = futures.into_iter().map(|f| Some(Box::pin(f))).collect();
    std::future::poll_fn(|context| {
        let mut are_done = true;
        for slot in &mut futures {
            if let Some(future) = slot {
                if future.as_mut().poll(context).is_ready() {
                    *slot = None;
                } else {
                    are_done = false;
                }
            }
        }
        if are_done { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}
