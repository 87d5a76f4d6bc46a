//! Changes of a gapless series on PostgreSQL, while transactions that have counted a number of it
//! come one after the other, or stall.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use uidring::Store;
use uidring::series::{Date, Series, SeriesError, SeriesGenerator};

use super::connections::{postgres, run};
use super::databases::{Database, Server};
use super::{clock, definition, series, until};

const PATTERN: &str = "{scope}/{yyyy}{MM}{dd}-{n:6}";

/// Takes a number of each of these days, one after the other, in a transaction that lasts a while,
/// until it `ends`. Returns how many it took.
fn documents(
    database: &Database,
    invoices: &SeriesGenerator,
    lasts: Duration,
    taken: &AtomicUsize,
    ends: &AtomicBool,
) {
    run(async {
        let mut db = postgres(&database.url).await;
        while !ends.load(Ordering::Relaxed) {
            let transaction = db.transaction().await;
            let mut transaction = transaction.unwrap();
            match invoices.take_in(&mut transaction).await {
                Ok(_) => {
                    taken.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(lasts).await;
                    transaction.commit().await.unwrap();
                }
                Err(error) => assert!(error.is_transient(), "{error:?}"),
            }
        }
    });
}

/// Runs `changes` while `clients` of these scopes hold a number for so long each.
fn beside_documents(scopes: &[&str], lasts: Duration, changes: impl FnOnce(&Series, &Store)) {
    let database = Server::Postgres.database();
    let clock = clock("2026-11-24T12:00:00Z");
    let store = Store::open(&database.url).unwrap();
    let series = series(&store, &clock);
    let invoices = series.create("invoices", definition(PATTERN).gapless()).unwrap();
    let (taken, ends) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (taken, ends) = (&taken, &ends);
    thread::scope(|scope| {
        for name in scopes {
            let (database, invoices) = (&database, invoices.scope(name));
            scope.spawn(move || documents(database, &invoices, lasts, taken, ends));
        }
        until("each has a number", || taken.load(Ordering::Relaxed) >= scopes.len());
        // It ends after a failure, too.
        let end = End(ends);
        changes(&series, &store);
        let before = taken.load(Ordering::Relaxed);
        until("they go on", || taken.load(Ordering::Relaxed) > before);
        drop(end);
    });
}

struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn day(text: &str) -> Date {
    text.parse().unwrap()
}

#[test]
#[ignore = "needs a PostgreSQL server"]
fn a_series_is_closed_while_documents_are_stored_without_a_pause_on_postgres() {
    for (scopes, lasts) in [(&["a", "b", "c", "d"][..], 300), (&["a", "a"], 100)] {
        beside_documents(scopes, Duration::from_millis(lasts), |series, _| {
            for period in 1..=9 {
                let period = format!("2026-11-0{period}");
                series.close("invoices", period.parse().unwrap()).unwrap();
            }
        });
    }
}

#[test]
#[ignore = "needs a PostgreSQL server"]
fn a_series_is_changed_while_documents_are_stored_without_a_pause_on_postgres() {
    beside_documents(&["a", "b", "c", "d"], Duration::from_millis(300), |series, store| {
        for width in 7..=9 {
            let wider = PATTERN.replace('6', &width.to_string());
            let begins = day(&format!("2026-12-0{width}"));
            series.change("invoices", definition(&wider).gapless(), begins).unwrap();
        }
        assert_eq!(series.prune("invoices").unwrap(), 0);
        // A program that starts creates it, and finds it there.
        let again = super::series(store, &clock("2026-11-24T12:00:00Z"));
        let there = again.create("invoices", definition(&PATTERN.replace('6', "9")).gapless());
        assert!(there.is_ok(), "{there:?}");
    });
}

/// A program that holds a number and does nothing keeps others from counting it, and from changing
/// its series, and nobody else. Waits for it have an end.
#[test]
#[ignore = "needs a PostgreSQL server"]
fn a_program_that_stalls_holds_up_its_own_series_alone_on_postgres() {
    let database = Server::Postgres.database();
    let clock = clock("2026-11-24T12:00:00Z");
    let store = Store::open(&database.url).unwrap().with_timeout(Duration::from_secs(2));
    let series = series(&store, &clock);
    let invoices = series.create("invoices", definition(PATTERN).gapless()).unwrap();
    let receipts = series.create("receipts", definition(PATTERN).gapless()).unwrap();
    run(async {
        let connect = async || postgres(&database.url).await;
        let (mut stalled, mut other) = (connect().await, connect().await);
        let mut stalls = stalled.transaction().await.unwrap();
        invoices.scope("a").take_in(&mut stalls).await.unwrap();

        let error = series.close("invoices", "2026-11-01".parse().unwrap()).unwrap_err();
        assert!(matches!(error, SeriesError::Storage(_)) && error.is_transient(), "{error:?}");
        // What gave up waits nowhere any more.
        series.close("receipts", "2026-11-01".parse().unwrap()).unwrap();
        for generator in [&receipts, &invoices.scope("b")] {
            let generator = generator.scope("b");
            let mut transaction = other.transaction().await.unwrap();
            assert_eq!(generator.take_in(&mut transaction).await.unwrap().value(), 1);
            transaction.rollback().await.unwrap();
        }
        // The same number, with the limit that docs/numbers.md names.
        let mut transaction = other.transaction().await.unwrap();
        transaction.batch_execute("SET LOCAL lock_timeout = '300ms'").await.unwrap();
        let error = invoices.scope("a").take_in(&mut transaction).await.unwrap_err();
        assert!(error.is_transient(), "{error:?}");
        let said = "the transaction could not count a number of the series \"invoices\"; roll it \
                    back, and try again in a new one";
        assert_eq!(error.to_string(), said);
        transaction.rollback().await.unwrap();
        // The server ends what stalls, with the other one.
        stalls
            .batch_execute("SET LOCAL idle_in_transaction_session_timeout = '100ms'")
            .await
            .unwrap();
        let mut transaction = other.transaction().await.unwrap();
        assert_eq!(invoices.scope("a").take_in(&mut transaction).await.unwrap().value(), 1);
        transaction.commit().await.unwrap();
        series.close("invoices", "2026-11-01".parse().unwrap()).unwrap();
        let error = invoices.scope("a").take_in(&mut stalls).await.unwrap_err();
        assert!(error.is_transient(), "{error:?}");
    });
}

/// Two that count the same numbers, each in the other order.
#[test]
#[ignore = "needs a PostgreSQL server"]
fn a_deadlock_and_a_conflict_are_worth_another_try_on_postgres() {
    let database = Server::Postgres.database();
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&Store::open(&database.url).unwrap(), &clock);
    let invoices = series.create("invoices", definition(PATTERN).gapless()).unwrap();
    let [a, b] = ["a", "b"].map(|scope| invoices.scope(scope));
    run(async {
        let connect = async || postgres(&database.url).await;
        let (mut one, mut other) = (connect().await, connect().await);
        let (mut first, mut second) =
            (one.transaction().await.unwrap(), other.transaction().await.unwrap());
        a.take_in(&mut first).await.unwrap();
        b.take_in(&mut second).await.unwrap();
        let (one_said, other_said) = futures_join(b.take_in(&mut first), async {
            let said = a.take_in(&mut second).await;
            if said.is_err() {
                second.rollback().await.unwrap();
            }
            said
        })
        .await;
        // The server ends one of the two, and the other goes on when that is rolled back.
        let error = one_said.err().or(other_said.err()).unwrap();
        assert!(error.is_transient(), "{error:?}");
        drop(first);

        // One that sees the database as it was.
        let mut transaction = one.transaction().await.unwrap();
        transaction
            .batch_execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT 1")
            .await
            .unwrap();
        let mut meanwhile = other.transaction().await.unwrap();
        a.take_in(&mut meanwhile).await.unwrap();
        meanwhile.commit().await.unwrap();
        let error = a.take_in(&mut transaction).await.unwrap_err();
        assert!(error.is_transient(), "{error:?}");
        transaction.rollback().await.unwrap();

        // Not so what no other transaction mends.
        database.run("ALTER TABLE uidring_series_counter RENAME TO gone");
        let mut transaction = one.transaction().await.unwrap();
        let error = a.take_in(&mut transaction).await.unwrap_err();
        assert!(
            matches!(error, SeriesError::Transaction { .. }) && !error.is_transient(),
            "{error:?}"
        );
        assert!(error.to_string().ends_with("roll it back"), "{error}");
        database.run("ALTER TABLE gone RENAME TO uidring_series_counter");
    });
}

/// Runs both futures to their ends, on this thread.
pub async fn futures_join<A, B>(
    one: impl Future<Output = A>,
    other: impl Future<Output = B>,
) -> (A, B) {
    let (mut one, mut other) = (Box::pin(one), Box::pin(other));
    let (mut first, mut second) = (None, None);
    std::future::poll_fn(|context| {
        use std::task::Poll;
        if first.is_none()
            && let Poll::Ready(result) = one.as_mut().poll(context)
        {
            first = Some(result);
        }
        if second.is_none()
            && let Poll::Ready(result) = other.as_mut().poll(context)
        {
            second = Some(result);
        }
        if first.is_some() && second.is_some() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    (first.unwrap(), second.unwrap())
}
