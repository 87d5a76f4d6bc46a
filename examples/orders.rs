//! UIDs as primary keys: four threads insert orders into a SQLite table, and a range of time is a
//! range of the key.
//!
//! ```sh
//! cargo run --release --example orders
//! ```

use std::error::Error;
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, TransactionBehavior, params};
use uidring::{Store, UidGenerator};

const THREADS: u32 = 4;
const ORDERS: u32 = 1000;
/// How far a UID's time may lie behind the clock.
const MAX_LAG: Duration = Duration::from_secs(1);

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let dir = tempfile::tempdir()?;
    let shop = dir.path().join("shop.db");
    let uids = UidGenerator::builder()
        .registry(Store::open(dir.path().join("uidring.db"))?.registry()?)
        .max_lag(MAX_LAG)
        .build()?;

    let db = open(&shop)?;
    db.pragma_update(None, "journal_mode", "wal")?;
    // A UID fits SQLite's 64-bit integer, so it is the row id itself: the key needs no index beside
    // the table, and no text.
    db.execute_batch(
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL, cents INTEGER \
         NOT NULL)",
    )?;

    println!("{} orders in the morning", insert_by_threads(&shop, &uids)?);
    thread::sleep(Duration::from_secs(3));
    let noon = SystemTime::now();
    println!("{} orders in the afternoon", insert_by_threads(&shop, &uids)?);

    // The table needs no column for the time, and no index on it. The range is wider than the
    // afternoon by the lag and the lead, by which UIDs may differ from the clock.
    let layout = uids.layout();
    let from = layout.min_uid(noon - MAX_LAG).ok_or("before the layout's time")?;
    let to =
        layout.max_uid(SystemTime::now() + uids.status().lead).ok_or("after the layout's time")?;
    let query = "SELECT count(*), sum(cents) FROM orders WHERE id BETWEEN ?1 AND ?2";
    let range = params![i64::from(from), i64::from(to)];
    let (count, cents): (u32, i64) =
        db.query_row(query, range, |row| Ok((row.get(0)?, row.get(1)?)))?;
    println!("{count} of them, for {cents} cents, are found again by the time in their ids:");
    let plan: String =
        db.query_row(&format!("EXPLAIN QUERY PLAN {query}"), range, |row| row.get("detail"))?;
    println!("{plan}");
    assert_eq!(count, THREADS * ORDERS);

    let last: i64 = db.query_row("SELECT max(id) FROM orders", [], |row| row.get(0))?;
    let parts = layout.parts(last.try_into()?);
    println!(
        "the last one, {last}, is number {} of its second, by worker {}",
        parts.sequence, parts.worker
    );
    Ok(())
}

/// Each thread has its own connection; all share the generator. Inserting a key twice would be an
/// error.
fn insert_by_threads(shop: &Path, uids: &UidGenerator) -> Result<u32, Failure> {
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|customer| scope.spawn(move || insert(shop, uids, customer)))
            .collect();
        let mut count = 0;
        for thread in threads {
            count += thread.join().map_err(|_| "a thread panicked")??;
        }
        Ok(count)
    })
}

fn insert(shop: &Path, uids: &UidGenerator, customer: u32) -> Result<u32, Failure> {
    let mut db = open(shop)?;
    // One transaction holds the write lock, so the threads take turns.
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut insert =
        transaction.prepare("INSERT INTO orders (id, customer, cents) VALUES (?1, ?2, ?3)")?;
    for order in 0..ORDERS {
        insert.execute(params![i64::from(uids.take()?), customer, 100 + order])?;
    }
    drop(insert);
    transaction.commit()?;
    Ok(ORDERS)
}

fn open(shop: &Path) -> Result<Connection, Failure> {
    let db = Connection::open(shop)?;
    db.busy_timeout(Duration::from_secs(10))?;
    Ok(db)
}
