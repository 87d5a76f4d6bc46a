//! A storm over tags: processes take numbers of the same rows flat out while they are killed,
//! stopped and woken again, forked and ended cleanly; servers crash and start again, hang, and lose
//! their connections; and clients run the statements of Leaf's and tinyid's own servers on the same
//! rows. At the end each number from the first to the end of its row is looked for: it was handed
//! out once, or was lost with a process or a call whose end is known.
//!
//! ```sh
//! UIDRING_STORM_SEED=1 UIDRING_STORM_SECONDS=300 \
//!     cargo test --release --all-features --test segment_storm -- --ignored --nocapture storm
//! ```
#![cfg(all(target_os = "linux", feature = "sqlite", feature = "postgres", feature = "mysql"))]
#![allow(missing_docs, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod account;
#[cfg(all(feature = "etcd", feature = "redis", feature = "zookeeper"))]
#[path = "../common/bad_key_servers.rs"]
mod bad_key_servers;
#[path = "../common/databases/mod.rs"]
mod databases;
#[cfg(all(feature = "etcd", feature = "redis", feature = "zookeeper"))]
#[path = "../common/key_servers/mod.rs"]
mod key_servers;
mod log;
#[path = "../common/others.rs"]
mod others;
mod ranges;
#[path = "../common/takers.rs"]
mod takers;

use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

use account::{Account, Life, Theirs, account};
use databases::{OwnServer, Server};
use fork::{Fork, fork};
use log::{Entry, Log, NUMBERS, Noted, STEP, TABLES, What, indices, indices_in};
use others::Other;
use takers::{BadServer, Taker, number, storm_seconds, until_shown};
use uidring::segment::{Number, SegmentError, SegmentGenerator, SegmentSource, Segments, Tag};
use uidring::store::StoreSegments;
use uidring::{StorageError, Store, Table};

const DATABASE: &str = "UIDRING_STORM_DATABASE";
const LOG: &str = "UIDRING_STORM_LOG";
const PROCESSES: usize = 6;
/// Of the calls in the storm.
const TIMEOUT: Duration = Duration::from_secs(2);
/// Of those before and after it, which have to succeed on a busy machine, too.
const PATIENCE: Duration = Duration::from_secs(60);
/// How many segments another client takes at once.
const THEIR_TAKES: usize = 20;

/// A source on each of the tables. A store of keys has one.
fn open(database: &str, timeout: Duration) -> Result<Vec<StoreSegments>, SegmentError> {
    let store = Store::open(database).unwrap().with_timeout(timeout);
    let tables: &[Table] = match store.scheme() {
        "etcd" | "redis" | "zookeeper" => &[Table::Own],
        _ => &[Table::Own, Table::Leaf, Table::TinyId],
    };
    tables.iter().map(|table| store.segments_in(*table)).collect()
}

/// Takes from each table until its standard input ends, and notes all that it does.
#[test]
#[ignore = "a child process of the storm"]
fn child() {
    let (Ok(database), Ok(log)) = (env::var(DATABASE), env::var(LOG)) else { return };
    let log = Log::new(Path::new(&log));
    let sources = match open(&database, TIMEOUT) {
        // A process that was stopped in the middle of a transaction keeps the others out.
        Err(SegmentError::Storage(StorageError::Locked { .. })) => return,
        sources => sources.unwrap(),
    };
    let tables: Vec<Segments> = sources
        .into_iter()
        .enumerate()
        .map(|(table, source)| {
            let noted = Noted { table, source, log: log.clone() };
            let ahead = Duration::from_millis(200);
            Segments::builder().source(noted).ahead(ahead).build().unwrap()
        })
        .collect();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for (table, segments) in tables.iter().enumerate() {
            let (log, stop) = (&log, &stop);
            scope.spawn(move || take_until(stop, segments, table, log));
        }
        let mut word = [0];
        while std::io::stdin().read(&mut word).is_ok_and(|read| read == 1) {
            if let Ok(Fork::Child) = fork() {
                take_in_a_fork(&tables);
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    // Unused numbers are given back.
    drop(tables);
}

fn take_until(stop: &AtomicBool, segments: &Segments, table: usize, log: &Log) {
    let mut buffer = vec![Number::MIN; 1 << 18];
    let (mut tag, mut astray) = (None, 0);
    while !stop.load(Ordering::Relaxed) {
        if tag.is_none() {
            tag = segments.tag("orders").ok();
        }
        let mut noted =
            tag.as_ref().map_or_else(Vec::new, |tag| runs(What::Taken, tag, &mut buffer, table));
        // Noted at once, as nobody else takes: a process that is killed notes nothing more.
        let status = tag.as_ref().map(SegmentGenerator::status);
        let failure = status.as_ref().and_then(|status| status.last_failure.as_deref());
        if let Some(error @ SegmentError::WentBack { .. }) = failure {
            panic!("numbers would come twice: {error}");
        }
        let lost = status.map_or(0, |status| status.lost);
        if lost > astray {
            noted.push(Entry { what: What::Astray, table, range: astray..lost });
            astray = lost;
        }
        if noted.is_empty() {
            thread::sleep(Duration::from_millis(10));
        } else {
            log.note(&noted);
        }
    }
}

/// Fills `buffer`, and returns the runs of numbers that follow one another.
fn runs(what: What, tag: &SegmentGenerator, buffer: &mut [Number], table: usize) -> Vec<Entry> {
    // A failing fill has its good numbers at the start.
    let good = tag.fill(buffer).map_or_else(|error| error.filled(), |()| buffer.len());
    let delta = NUMBERS[table].0;
    buffer[..good]
        .chunk_by(|one, next| one.get() + delta == next.get())
        .map(|run| Entry { what, table, range: indices(table, run[0].get(), run.len() as u64) })
        .collect()
}

/// Notes what a forked process gets out of its parent's tags. There should be nothing.
fn take_in_a_fork(tables: &[Segments]) {
    let log = format!("{}.{}.forked", env::var(LOG).unwrap(), std::process::id());
    let log = Log::new(Path::new(&log));
    for (table, segments) in tables.iter().enumerate() {
        if let Ok(tag) = segments.tag("orders") {
            log.note(&runs(What::Taken, &tag, &mut [Number::MIN; 1000], table));
        }
    }
    // Threads that were ending while this one forked keep it from ending in the usual way.
    let error = Command::new("true").exec();
    panic!("a program is run in place of this: {error}");
}

#[test]
#[ignore = "takes minutes"]
fn storm_sqlite() {
    storm(Database::Rows(None));
}

#[test]
#[ignore = "takes minutes; needs PostgreSQL's server"]
fn storm_postgres() {
    storm(Database::Rows(Some(Server::Postgres)));
}

#[test]
#[ignore = "takes minutes; needs MariaDB's server"]
fn storm_mysql() {
    storm(Database::Rows(Some(Server::MySql)));
}

/// The stores of keys, each with one of three servers that fares badly, or with its only one.
#[cfg(all(feature = "etcd", feature = "redis", feature = "zookeeper"))]
mod keys {
    use super::{BadServer, Database, storm};
    use crate::bad_key_servers::{BadEtcd, BadZooKeeper};
    use crate::key_servers::redis::OwnRedis;

    #[test]
    #[ignore = "takes minutes; needs etcd's server"]
    fn storm_etcd() {
        storm(Database::Keys(|| BadServer::new(BadEtcd::start())));
    }

    #[test]
    #[ignore = "takes minutes; needs ZooKeeper"]
    fn storm_zookeeper() {
        storm(Database::Keys(|| BadServer::new(BadZooKeeper::start())));
    }

    #[test]
    #[ignore = "takes minutes; needs Redis' server"]
    fn storm_redis() {
        storm(Database::Keys(|| BadServer::new(OwnRedis::start(""))));
    }
}

#[derive(Debug, Default)]
struct Counts {
    started: usize,
    killed: u32,
    paused: u32,
    ended: u32,
    forked: u32,
    server_crashes: u32,
    server_pauses: u32,
    connections_cut: u32,
}

/// Where the tags are.
#[derive(Clone, Copy)]
enum Database {
    /// In a database of this kind; a file without one. Others take from it, too.
    Rows(Option<Server>),
    /// In a store of keys.
    #[allow(dead_code)] // unless their features are on
    Keys(fn() -> BadServer),
}

fn storm(database: Database) {
    until_shown(|seconds| storm_for(seconds, database));
}

/// Returns whether enough has happened.
fn storm_for(seconds: u64, database: Database) -> bool {
    let seed = number("UIDRING_STORM_SEED", 1);
    let dir = tempfile::tempdir().unwrap();
    let (kind, mut server) = match database {
        Database::Rows(kind) => (kind, kind.map(|kind| BadServer::new(OwnServer::start(kind)))),
        Database::Keys(start) => (None, Some(start())),
    };
    let has_others = kind.is_some() || server.is_none();
    let file = dir.path().join("uidring.db").display().to_string();
    let database = server.as_ref().map_or(file, |bad| bad.server.url());
    open(&database, PATIENCE).unwrap()[0].create("orders", &Tag::new().step(STEP)).unwrap();
    if has_others {
        make_tables_of_others(kind, &database);
    }
    let ends = || -> Vec<u64> {
        let sources = open(&database, PATIENCE).unwrap();
        sources.iter().map(|source| source.tags().unwrap()[0].next).collect()
    };
    let begins = ends();
    let stop = AtomicBool::new(false);
    let (counts, killed, theirs) = thread::scope(|scope| {
        let others: &[Other] = if has_others { &[Other::Leaf, Other::TinyId] } else { &[] };
        let theirs: Vec<_> = others
            .iter()
            .map(|other| {
                let (database, stop) = (&database, &stop);
                scope.spawn(move || take_as_others(stop, kind, database, *other))
            })
            .collect();
        let mut rng = fastrand::Rng::with_seed(seed);
        let (counts, killed) =
            disturb(seconds, &mut rng, dir.path(), &database, &mut server, &stop);
        let theirs = theirs.into_iter().map(|theirs| theirs.join().unwrap());
        (counts, killed, theirs.collect::<Vec<_>>())
    });
    let ends = ends();

    let (mut lives, mut forks) = (Vec::new(), 0);
    for number in 1..=counts.started {
        let (mut forked, name) = (Vec::new(), format!("{number}.log."));
        for entry in fs::read_dir(dir.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().unwrap().to_str().unwrap().starts_with(&name) {
                forks += 1;
                forked.extend(Log::read(&path));
            }
        }
        let entries = Log::read(&log_of(dir.path(), number));
        lives.push(Life { number, was_killed: killed.contains(&number), entries, forked });
    }
    let accounts: Vec<Account> = std::iter::once(&Theirs::default())
        .chain(&theirs)
        .enumerate()
        .map(|(table, theirs)| {
            let row = indices_in(table, begins[table]..ends[table]);
            let account = account(table, &row, &lives, theirs, STEP, seed);
            println!("{}: {} numbers, {account:?}", TABLES[table], row.end - row.start);
            account
        })
        .collect();
    let sum = |part: fn(&Account) -> u64| accounts.iter().map(part).sum::<u64>();
    let taken = sum(|account| account.taken);
    println!(
        "seed {seed}: {taken} numbers, none twice; {} more by others' statements, {} given back, \
         {} lost in memory, {} in loads of unknown end; {counts:?}",
        sum(|account| account.theirs),
        sum(|account| account.given_back),
        sum(|account| account.lost),
        sum(|account| account.unknown),
    );
    taken > 1_000_000 * storm_seconds()
        && (sum(|account| account.theirs) > 0 || !has_others)
        && counts.killed > 0
        && counts.paused > 0
        && counts.ended > 0
        && forks > 0
        && sum(|account| account.given_back) > 0
}

fn make_tables_of_others(kind: Option<Server>, database: &str) {
    let rows = format!(
        "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('orders', 1, {STEP}); \
         INSERT INTO tiny_id_info (biz_type, begin_id, max_id, step, delta, remainder, \
         create_time, update_time, version) \
         VALUES ('orders', 0, 0, {STEP}, 3, 2, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP, 1);"
    );
    if let Some(server) = kind {
        let script = format!("{};\n{rows}", others::tables(server).join(";\n"));
        assert!(server.script(database, &script).0);
    } else {
        let file = rusqlite::Connection::open(database).unwrap();
        for sql in [others::LEAF_IN_FILE, others::TINYID_IN_FILE, &rows] {
            file.execute_batch(sql).unwrap();
        }
    }
}

/// Takes by the statements of Leaf or tinyid.
fn take_as_others(stop: &AtomicBool, kind: Option<Server>, database: &str, other: Other) -> Theirs {
    let table = if other == Other::Leaf { 1 } else { 2 };
    let mut theirs = Theirs::default();
    while !stop.load(Ordering::Relaxed) {
        let taken = if let Some(server) = kind {
            let script = others::script(server, other, THEIR_TAKES);
            let (is_good, said) = server.script(database, &script);
            // One may be committed, and the client does not know.
            theirs.unknown += usize::from(!is_good);
            others::printed(&said)
        } else {
            let mut file = rusqlite::Connection::open(database).unwrap();
            file.busy_timeout(TIMEOUT).unwrap();
            // It fails where the file is locked for long.
            (0..THEIR_TAKES)
                .map_while(|_| others::take_from_file(&mut file, other).ok())
                .flatten()
                .collect()
        };
        theirs.taken.extend(taken.into_iter().map(|(before, after)| {
            // Leaf's are from the old value on, tinyid's from after it.
            let range = if table == 1 { before..after } else { before + 1..after + 1 };
            indices_in(table, range)
        }));
        thread::sleep(Duration::from_millis(50));
    }
    theirs
}

fn log_of(dir: &Path, number: usize) -> std::path::PathBuf {
    dir.join(format!("{number}.log"))
}

/// What is done to the processes and their server for so many seconds. Returns which were killed.
fn disturb(
    seconds: u64,
    rng: &mut fastrand::Rng,
    dir: &Path,
    database: &str,
    server: &mut Option<BadServer>,
    stop: &AtomicBool,
) -> (Counts, Vec<usize>) {
    let mut counts = Counts::default();
    let mut killed = Vec::new();
    let start = |counts: &mut Counts| {
        counts.started += 1;
        let log = log_of(dir, counts.started);
        Taker::start(counts.started, |command| {
            command.env(DATABASE, database).env(LOG, log);
        })
    };
    let mut ending = Vec::new();
    let mut takers: Vec<Taker> = (0..PROCESSES).map(|_| start(&mut counts)).collect();
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(seconds) {
        thread::sleep(Duration::from_millis(rng.u64(20..300)));
        if let Some(server) = server {
            server.maybe_disturb(rng);
        }
        let taker = rng.choice(&mut takers).unwrap();
        match (taker.stopped, rng.u8(0..6)) {
            (true, 0..=2) => taker.go_on(),
            (false, 0) => {
                taker.stop();
                counts.paused += 1;
            }
            // With the end of its input it gives back what it has. That takes its time where others
            // keep the file locked, and fails where the server does not answer.
            (false, 1..=2) => {
                drop(taker.child.stdin.take());
                counts.ended += 1;
                ending.push(std::mem::replace(taker, start(&mut counts)));
            }
            (_, 3) => {
                taker.kill();
                killed.push(taker.number);
                counts.killed += 1;
                *taker = start(&mut counts);
            }
            // It may be gone, because the file was locked.
            (false, 4) if taker.child.stdin.as_mut().unwrap().write_all(b"f").is_ok() => {
                counts.forked += 1;
            }
            _ => {}
        }
    }
    stop.store(true, Ordering::Relaxed);
    if let Some(server) = server {
        server.resume();
        (counts.server_crashes, counts.server_pauses) = (server.crashes, server.pauses);
        counts.connections_cut = server.cuts;
    }
    for taker in takers.iter_mut().filter(|taker| taker.stopped) {
        taker.go_on();
    }
    for mut taker in takers {
        drop(taker.child.stdin.take());
        ending.push(taker);
    }
    ending.iter_mut().for_each(Taker::wait_for_end);
    (counts, killed)
}
