//! A storm over series: processes take numbers of the same series flat out, each by a clock of its
//! own, on which a day passes in two seconds and which now and then steps back over midnight. They
//! are killed, stopped and woken again, and ended cleanly; servers crash and start again, hang, and
//! lose their connections. At the end no text was given twice, each was of the day and the scope
//! that it says, and the documents that were committed have all gapless numbers from 1 on. Tickets
//! are taken many at a time, and whoever finds them used up gives their numbers one more digit.
//!
//! ```sh
//! UIDRING_STORM_SEED=1 UIDRING_STORM_SECONDS=60 \
//!     cargo test --release --all-features --test series_storm -- --ignored --nocapture storm
//! ```
#![cfg(all(
    target_os = "linux",
    feature = "mysql",
    feature = "postgres",
    feature = "series",
    feature = "sqlite"
))]
#![allow(missing_docs, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "common/databases/mod.rs"]
mod databases;
#[path = "common/takers.rs"]
mod takers;

use std::collections::{HashMap, HashSet};
use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use databases::{OwnServer, Server};
use mysql_async::prelude::Queryable;
use rusqlite::{Connection, TransactionBehavior};
use takers::{BadServer, Taker, disturb, number, storm_seconds, until_shown};
use uidring::Store;
use uidring::clock::Clock;
use uidring::series::{Period, Series, SeriesDefinition, SeriesError, SeriesGenerator};

const DATABASE: &str = "UIDRING_STORM_DATABASE";
const LOG: &str = "UIDRING_STORM_LOG";
const SEED: &str = "UIDRING_STORM_CHILD_SEED";
const PROCESSES: usize = 5;
const SCOPES: [&str; 3] = ["north", "south", "west"];
const TIMEOUT: Duration = Duration::from_secs(2);
/// A day passes in two seconds.
const SPEED: u32 = 43_200;

/// A clock that runs fast, is off by minutes, and now and then steps back.
#[derive(Clone, Default)]
struct Fast {
    offset_ms: Arc<AtomicI64>,
}

impl Clock for Fast {
    fn now(&self) -> SystemTime {
        // All processes have the same time, but for what they are off.
        let second = Duration::from_secs(1_795_000_000);
        let real = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().saturating_sub(second);
        let fast = real.as_millis() * u128::from(SPEED);
        // Within years that a pattern can show.
        let ms = i64::try_from(fast % 60_000_000_000_000).unwrap();
        let ms = 1_000_000_000_000 + ms + self.offset_ms.load(Ordering::Relaxed);
        UNIX_EPOCH + Duration::from_millis(ms.unsigned_abs())
    }
}

fn orders() -> SeriesDefinition {
    SeriesDefinition::new("{scope}/{yyyy}{MM}{dd}-{n}").unwrap().step(20)
}

fn invoices() -> SeriesDefinition {
    SeriesDefinition::new("I{n:9}").unwrap().gapless()
}

/// With so many digits.
fn tickets(width: u32) -> SeriesDefinition {
    SeriesDefinition::new(&format!("{{scope}}:{{n:{width}}}")).unwrap().step(20)
}

/// Takes until its standard input ends, and notes each number.
#[test]
#[ignore = "a child process of the storm"]
fn child() {
    let (Ok(database), Ok(log)) = (env::var(DATABASE), env::var(LOG)) else { return };
    let mut rng = fastrand::Rng::with_seed(number(SEED, 0));
    let clock = Fast::default();
    let store = Store::open(&database).unwrap().with_timeout(TIMEOUT);
    let builder = || Series::builder().clock(clock.clone()).rest(Duration::from_millis(300));
    let Ok(series) = builder().store(&store).build() else { return };
    let mut log = OpenOptions::new().create(true).append(true).open(log).unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                take(&series, &mut rng, &clock, &mut log, &database, &stop);
            }
        });
        let mut word = [0];
        while std::io::stdin().read(&mut word).is_ok_and(|read| read == 1) {}
        stop.store(true, Ordering::Relaxed);
    });
}

/// Takes for a moment.
fn take(
    series: &Series,
    rng: &mut fastrand::Rng,
    clock: &Fast,
    log: &mut File,
    database: &str,
    is_over: &AtomicBool,
) {
    let Ok(orders) = series.get("orders") else {
        return thread::sleep(Duration::from_millis(10));
    };
    // Ten minutes to either side.
    clock.offset_ms.store(rng.i64(-600_000..600_000), Ordering::Relaxed);
    let mut last: HashMap<(Period, &str), u64> = HashMap::new();
    for _ in 0..rng.u32(1..400) {
        // Where a database is slow, a day is over before its first number is there.
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let scope = SCOPES[rng.usize(0..SCOPES.len())];
        let shop = orders.scope(scope);
        let taken = if rng.u8(0..50) == 0 {
            shop.take_for("2026-11-24".parse().unwrap())
        } else {
            shop.take()
        };
        let number = match taken {
            Ok(number) => number,
            Err(error @ SeriesError::WentBack { .. }) => {
                panic!("numbers would come twice: {error}")
            }
            Err(_) => continue,
        };
        let parsed = orders.pattern().parse(number.as_str()).unwrap();
        assert_eq!((parsed.value(), parsed.period()), (number.value(), number.period()));
        assert_eq!(parsed.scope(), Some(scope));
        // In one process, a later number of a period is larger.
        let before = last.insert((number.period(), scope), number.value());
        assert!(
            before.is_none_or(|before| before < number.value()),
            "{number} after {before:?}: those between come twice"
        );
        writeln!(log, "{number}").unwrap();
    }
    let scope = SCOPES[rng.usize(0..SCOPES.len())];
    if let Ok(tickets) = series.get("tickets") {
        take_tickets(series, &tickets, scope, rng.usize(1..150), log);
    }
    if let Ok(invoices) = series.get("invoices") {
        let is_kept = rng.u8(0..4) > 0;
        // What fails is rolled back.
        let _ = if database.starts_with("postgres") {
            invoice_in_postgres(&invoices, database, is_kept)
        } else if database.starts_with("mysql") {
            invoice_in_mysql(&invoices, database, is_kept)
        } else {
            invoice_in_file(&invoices, database, is_kept)
        };
    }
}

/// Notes what was counted, as a number is the same with fewer digits and with more.
fn take_tickets(series: &Series, all: &SeriesGenerator, scope: &str, count: usize, log: &mut File) {
    match all.scope(scope).take_batch(count) {
        Ok(taken) => {
            for number in &taken {
                let parsed = all.parse(number.as_str()).unwrap();
                assert_eq!((parsed.value(), parsed.scope()), (number.value(), Some(scope)));
                writeln!(log, "{scope}/ticket-{}", number.value()).unwrap();
            }
            assert!(taken.is_sorted_by(|one, other| one.value() < other.value()));
        }
        Err(SeriesError::Full { largest, .. }) => {
            // Another process may have done it.
            let _ = series.widen("tickets", tickets(largest.ilog10() + 2));
        }
        Err(_) => {}
    }
}

fn invoice_in_file(invoices: &SeriesGenerator, file: &str, is_kept: bool) -> Option<()> {
    let mut db = Connection::open(file).ok()?;
    db.busy_timeout(TIMEOUT).ok()?;
    let mut transaction = db.transaction_with_behavior(TransactionBehavior::Immediate).ok()?;
    let number = invoices.take_in(&mut transaction).ok()?;
    transaction.execute("INSERT INTO invoice VALUES (?1)", [number.as_str()]).ok()?;
    if is_kept { transaction.commit().ok() } else { transaction.rollback().ok() }
}

fn invoice_in_postgres(invoices: &SeriesGenerator, url: &str, is_kept: bool) -> Option<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let call = async {
        let (mut db, connection) =
            tokio_postgres::connect(url, tokio_postgres::NoTls).await.ok()?;
        tokio::spawn(connection);
        let mut transaction = db.transaction().await.ok()?;
        let number = invoices.take_in(&mut transaction).await.ok()?;
        let insert = "INSERT INTO invoice VALUES ($1)";
        transaction.execute(insert, &[&number.as_str()]).await.ok()?;
        if is_kept { transaction.commit().await.ok() } else { transaction.rollback().await.ok() }
    };
    runtime.block_on(async { tokio::time::timeout(TIMEOUT, call).await.ok()? })
}

fn invoice_in_mysql(invoices: &SeriesGenerator, url: &str, is_kept: bool) -> Option<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let call = async {
        let mut db = mysql_async::Conn::from_url(url).await.ok()?;
        let mut transaction = db.start_transaction(mysql_async::TxOpts::default()).await.ok()?;
        let number = invoices.take_in(&mut transaction).await.ok()?;
        let insert = "INSERT INTO invoice VALUES (?)";
        transaction.exec_drop(insert, (number.as_str(),)).await.ok()?;
        if is_kept { transaction.commit().await.ok() } else { transaction.rollback().await.ok() }
    };
    runtime.block_on(async { tokio::time::timeout(TIMEOUT, call).await.ok()? })
}

#[test]
#[ignore = "takes minutes"]
fn storm_sqlite() {
    until_shown(|seconds| storm_for(seconds, None));
}

#[test]
#[ignore = "takes minutes; needs PostgreSQL's server"]
fn storm_postgres() {
    until_shown(|seconds| storm_for(seconds, Some(Server::Postgres)));
}

#[test]
#[ignore = "takes minutes; needs MariaDB's server"]
fn storm_mysql() {
    until_shown(|seconds| storm_for(seconds, Some(Server::MySql)));
}

/// Returns whether enough has happened.
fn storm_for(seconds: u64, kind: Option<Server>) -> bool {
    let seed = number("UIDRING_STORM_SEED", 1);
    let dir = tempfile::tempdir().unwrap();
    let mut server = kind.map(|kind| BadServer::new(OwnServer::start(kind)));
    let file = dir.path().join("uidring.db").display().to_string();
    let database = server.as_ref().map_or(file, |bad| bad.server.url());
    let create = "CREATE TABLE invoice (number VARCHAR(32) PRIMARY KEY)";
    {
        let series = Series::builder().store(&Store::open(&database).unwrap()).build().unwrap();
        series.create("orders", orders()).unwrap();
        series.create("invoices", invoices()).unwrap();
        series.create("tickets", tickets(1)).unwrap();
        match kind {
            Some(kind) => assert!(kind.script(&database, &format!("{create};")).0),
            None => Connection::open(&database).unwrap().execute_batch(create).unwrap(),
        }
    }
    let mut rng = fastrand::Rng::with_seed(seed);
    let start = |number: usize, _| {
        Taker::start(number, |command| {
            command
                .env(DATABASE, &database)
                .env(LOG, log_of(dir.path(), number))
                .env(SEED, number.to_string());
        })
    };
    let places = (PROCESSES, PROCESSES);
    let counts = disturb(seconds, &mut rng, server.as_mut(), places, start);

    let (mut texts, mut days, mut numbers) = (HashSet::new(), HashSet::new(), 0_u64);
    for process in 1..=counts.started {
        let Ok(log) = fs::read_to_string(log_of(dir.path(), process)) else { continue };
        // The last line of a process that was killed may be cut.
        let whole = log.rfind('\n').map_or("", |end| &log[..end]);
        for text in whole.lines() {
            numbers += 1;
            days.insert(text[..text.rfind('-').unwrap()].to_owned());
            assert!(texts.insert(text.to_owned()), "seed {seed}: {text} came twice");
        }
    }
    let documents = documents(kind, &database);
    for (index, text) in documents.iter().enumerate() {
        assert_eq!(*text, format!("I{:09}", index + 1), "seed {seed}: a gap, or one twice");
    }
    println!(
        "seed {seed}: {numbers} numbers of {} days and scopes, none twice; {} documents without a \
         gap; {counts:?}",
        days.len(),
        documents.len()
    );
    numbers > 50 * storm_seconds()
        && days.len() > 6
        && documents.len() > 5
        && counts.killed > 0
        && counts.paused > 0
        && counts.ended > 0
}

fn log_of(dir: &Path, process: usize) -> PathBuf {
    dir.join(format!("{process}.log"))
}

/// The documents that were committed, sorted.
fn documents(kind: Option<Server>, database: &str) -> Vec<String> {
    let sql = "SELECT number FROM invoice ORDER BY number";
    let Some(kind) = kind else {
        let db = Connection::open(database).unwrap();
        let mut query = db.prepare(sql).unwrap();
        return query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    };
    let (is_good, said) = kind.script(database, &format!("{sql};"));
    assert!(is_good, "{said}");
    said.lines().map(str::to_owned).collect()
}
