//! Series on database servers, and numbers without gaps in the transactions of tokio-postgres.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio_postgres::{Client, NoTls};
use uidring::Store;
use uidring::series::{SeriesError, SeriesGenerator};

use super::databases::{Database, Server};
use super::{clock, definition, series, texts, time, until};

fn everything(server: Server) {
    let database = server.database();
    let open = || Store::open(&database.url).unwrap();
    let clock = clock("2026-12-31T23:00:00Z");
    let [one, other] = [series(&open(), &clock), series(&open(), &clock)];
    let missing = one.get("orders").unwrap_err();
    assert!(matches!(missing, SeriesError::NoSuchSeries { .. }), "{missing:?}");
    assert_eq!(one.list().unwrap(), []);

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

async fn connect(database: &Database) -> Client {
    let (client, connection) = tokio_postgres::connect(&database.url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Clients that commit, roll back, and lose their connections. What is committed has the numbers
/// from 1 on, each once.
#[test]
#[ignore = "needs a PostgreSQL server"]
fn documents_that_are_committed_have_all_numbers_once() {
    const CLIENTS: u64 = 16;
    const ROUNDS: u64 = 60;
    let database = Arc::new(Server::Postgres.database());
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&Store::open(&database.url).unwrap(), &clock);
    let definition = definition("{yyyy}-{n:6}").gapless();
    let invoices = series.create("invoices", definition).unwrap();
    database.run("CREATE TABLE invoice (number TEXT PRIMARY KEY, client BIGINT)");
    let (refused, lost) = (AtomicU64::new(0), AtomicU64::new(0));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let run = async |client: u64| {
            let mut db = connect(&database).await;
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
                        db = connect(&database).await;
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
