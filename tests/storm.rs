//! A storm: processes take flat out while they are killed, stopped for longer than their lease,
//! woken again, forked, stopped cleanly, and while their clocks are moved by up to a day; servers
//! crash and start again, hang, and lose their connections. Leases are so short that each worker id
//! is recycled many times. Every UID is collected, and none may come twice.
//!
//! ```sh
//! UIDRING_STORM_SEED=1 UIDRING_STORM_SECONDS=300 \
//!     cargo test --release --all-features --test storm -- --ignored --nocapture storm
//! ```
#![cfg(all(target_os = "linux", feature = "sqlite", feature = "postgres", feature = "mysql"))]
#![allow(missing_docs, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[cfg(all(feature = "etcd", feature = "redis", feature = "zookeeper"))]
#[path = "common/bad_key_servers.rs"]
mod bad_key_servers;
#[path = "common/databases/mod.rs"]
mod databases;
#[cfg(all(feature = "etcd", feature = "redis", feature = "zookeeper"))]
#[path = "common/key_servers/mod.rs"]
mod key_servers;
#[path = "common/takers.rs"]
mod takers;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

use databases::{OwnServer, Server};
use fork::{Fork, fork};
use takers::{BadServer, Taker, number, storm_seconds, until_shown};
use uidring::{
    BuildError, Builder, Layout, LeadLimit, RegistryError, RegistryOptions, StorageError, Store,
    Uid, UidGenerator,
};

const DATABASE: &str = "UIDRING_STORM_DATABASE";
const OUT: &str = "UIDRING_STORM_OUT";
/// Set where UIDs have the time of their take.
const EXACT: &str = "UIDRING_STORM_EXACT";
const PROCESSES: usize = 8;
const LEASE: Duration = Duration::from_secs(1);
const TIMEOUT: Duration = Duration::from_secs(2);
const DAY: i64 = 24 * 3600;

/// Which time UIDs have: borrowed from a day or more ahead, or that of their take.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Time {
    Borrowed,
    Exact,
}

impl Time {
    fn layout(self) -> Layout {
        match self {
            // A million UIDs a second, so that a saturated process gets not too far ahead.
            Time::Borrowed => Layout::new(30, 13, 20).unwrap(),
            Time::Exact => {
                Layout::new(41, 13, 9).unwrap().with_tick(Duration::from_millis(1)).unwrap()
            }
        }
    }

    fn builder(self) -> Builder {
        let builder = UidGenerator::builder().layout(self.layout());
        match self {
            // A long lead, so that an id can be used again after a saturated process, and under a
            // clock that is two days behind.
            Time::Borrowed => builder.max_lead(Duration::from_secs(30 * 24 * 3600)),
            // A taker that waited for a clock set back by a day would not hear of its end.
            Time::Exact => builder.exact_time().on_lead_limit(LeadLimit::Fail),
        }
    }
}

/// Takes until its standard input ends, and writes runs of consecutive UIDs: first, length.
#[test]
#[ignore = "a child process of the storm"]
fn child() {
    let (Ok(database), Ok(out)) = (env::var(DATABASE), env::var(OUT)) else { return };
    let mut out = File::create(out).unwrap();
    let time = if env::var(EXACT).is_ok() { Time::Exact } else { Time::Borrowed };
    let builder = time.builder();
    let store = Store::open(&database).unwrap().with_timeout(TIMEOUT);
    let registry = match store.registry_with(RegistryOptions::new().leased(LEASE)) {
        // A process that was stopped in the middle of a transaction keeps the others out of a file.
        Err(RegistryError::Storage(StorageError::Locked { .. })) => return,
        opened => opened.unwrap(),
    };
    let uids = match builder.registry(registry).build() {
        // The server is away for long, or the file locked.
        Err(BuildError::StartDeadline { .. }) => return,
        // A server that crashes in the middle of an answer.
        Err(BuildError::Registry(RegistryError::Storage(StorageError::Failed {
            doing,
            source,
            ..
        }))) => {
            println!("cannot {doing}: {source}");
            return;
        }
        built => built.unwrap(),
    };
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut word = [0];
            while std::io::stdin().read(&mut word).is_ok_and(|read| read == 1) {
                if let Ok(Fork::Child) = fork() {
                    take_in_a_fork(&uids);
                }
            }
            stop.store(true, Ordering::Relaxed);
        });
        let mut buffer = vec![Uid::MIN; 1 << 18];
        while !stop.load(Ordering::Relaxed) {
            let mut text = Vec::new();
            // A failing fill has its good UIDs at the start.
            let good =
                uids.fill(&mut buffer).map_or_else(|error| error.filled(), |()| buffer.len());
            assert_eq!(uids.status().broken_rule, None);
            if good == 0 {
                thread::sleep(Duration::from_millis(10));
            }
            for run in buffer[..good].chunk_by(|a, b| a.get() + 1 == b.get()) {
                text.extend(run[0].get().to_le_bytes());
                text.extend((run.len() as u64).to_le_bytes());
            }
            out.write_all(&text).unwrap();
        }
    });
}

/// Notes what a forked process gets out of its parent's generator. There should be nothing.
fn take_in_a_fork(uids: &UidGenerator) {
    let mut buffer = [Uid::MIN; 1000];
    let good = uids.fill(&mut buffer).map_or_else(|error| error.filled(), |()| buffer.len());
    let runs = buffer[..good]
        .iter()
        .flat_map(|uid| [uid.get(), 1])
        .flat_map(u64::to_le_bytes)
        .collect::<Vec<_>>();
    let out = format!("{}.{}.forked", env::var(OUT).unwrap(), std::process::id());
    fs::write(out, runs).unwrap();
    // Threads that were ending while this one forked keep it from ending in the usual way.
    let error = Command::new("true").exec();
    panic!("a program is run in place of this: {error}");
}

fn start(dir: &Path, database: &str, number: usize, offset: i64, time: Time) -> Taker {
    let clock = clock(dir, number);
    set_clock(&clock, offset);
    Taker::start(number, |command| {
        command
            .env("LD_PRELOAD", libfaketime().expect("Debian's package faketime is installed"))
            .env("FAKETIME_TIMESTAMP_FILE", clock)
            .env("FAKETIME_NO_CACHE", "1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .env(DATABASE, database)
            .env(OUT, dir.join(format!("{number}.runs")));
        if time == Time::Exact {
            command.env(EXACT, "1");
        }
    })
}

/// What the clock of a process is read from.
fn clock(dir: &Path, number: usize) -> PathBuf {
    dir.join(format!("{number}.clock"))
}

/// In one step, as it is read at any time.
fn set_clock(clock: &Path, offset: i64) {
    let new = clock.with_extension("new");
    fs::write(&new, format!("{offset:+}s\n")).unwrap();
    fs::rename(new, clock).unwrap();
}

fn libfaketime() -> Option<PathBuf> {
    let dirs =
        ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];
    dirs.iter()
        .map(|dir| Path::new(dir).join("faketime/libfaketimeMT.so.1"))
        .find(|file| file.exists())
}

#[test]
#[ignore = "takes minutes; needs libfaketime, Debian's package faketime"]
fn storm_sqlite() {
    storm(None, Time::Borrowed);
}

#[test]
#[ignore = "takes minutes; needs libfaketime, Debian's package faketime"]
fn storm_exact_time() {
    storm(None, Time::Exact);
}

#[test]
#[ignore = "takes minutes; needs libfaketime, Debian's package faketime, and PostgreSQL's server"]
fn storm_postgres() {
    storm(Some(BadServer::new(OwnServer::start(Server::Postgres))), Time::Borrowed);
}

#[test]
#[ignore = "takes minutes; needs libfaketime, Debian's package faketime, and MariaDB's server"]
fn storm_mysql() {
    storm(Some(BadServer::new(OwnServer::start(Server::MySql))), Time::Borrowed);
}

/// The stores of keys, each with one of three servers that fares badly, or with its only one.
#[cfg(all(feature = "etcd", feature = "redis", feature = "zookeeper"))]
mod keys {
    use super::{BadServer, Time, storm};
    use crate::bad_key_servers::{BadEtcd, BadZooKeeper};
    use crate::key_servers::redis::OwnRedis;

    #[test]
    #[ignore = "takes minutes; needs libfaketime, Debian's package faketime, and etcd's server"]
    fn storm_etcd() {
        storm(Some(BadServer::new(BadEtcd::start())), Time::Borrowed);
    }

    #[test]
    #[ignore = "takes minutes; needs libfaketime, Debian's package faketime, and ZooKeeper"]
    fn storm_zookeeper() {
        storm(Some(BadServer::new(BadZooKeeper::start())), Time::Borrowed);
    }

    #[test]
    #[ignore = "takes minutes; needs libfaketime, Debian's package faketime, and Redis' server"]
    fn storm_redis() {
        storm(Some(BadServer::new(OwnRedis::start(""))), Time::Borrowed);
    }
}

#[derive(Debug, Default)]
struct Counts {
    started: usize,
    killed: u32,
    paused: u32,
    ended: u32,
    clocks_moved: u32,
    forked: u32,
    server_crashes: u32,
    server_pauses: u32,
    connections_cut: u32,
}

fn storm(mut server: Option<BadServer>, time: Time) {
    until_shown(|seconds| storm_for(seconds, &mut server, time));
}

/// Returns whether enough has happened.
#[allow(clippy::too_many_lines)] // a story
fn storm_for(seconds: u64, server: &mut Option<BadServer>, time: Time) -> bool {
    let seed = number("UIDRING_STORM_SEED", 1);
    let mut rng = fastrand::Rng::with_seed(seed);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("uidring.db");
    let database =
        server.as_ref().map_or_else(|| file.to_str().unwrap().to_owned(), |bad| bad.server.url());
    let mut counts = Counts::default();
    let start_one = |rng: &mut fastrand::Rng, counts: &mut Counts| {
        counts.started += 1;
        // By the clocks that are right, most ids are used.
        let offset = if rng.u8(0..4) == 0 { rng.i64(-DAY..=DAY) } else { 0 };
        start(dir.path(), &database, counts.started, offset, time)
    };
    let mut takers: Vec<Taker> = (0..PROCESSES).map(|_| start_one(&mut rng, &mut counts)).collect();
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(seconds) {
        thread::sleep(Duration::from_millis(rng.u64(20..300)));
        if let Some(server) = server {
            server.maybe_disturb(&mut rng);
        }
        let taker = rng.choice(&mut takers).unwrap();
        match (taker.stopped, rng.u8(0..6)) {
            (true, 0..=1) => taker.go_on(),
            (false, 0) => {
                taker.stop();
                counts.paused += 1;
            }
            (false, 1) => {
                // The end of its input: it gives its id back, if there is somebody to give it to.
                drop(taker.child.stdin.take());
                if server.as_ref().is_some_and(BadServer::is_paused) {
                    taker.kill();
                } else {
                    taker.wait_for_end();
                }
                counts.ended += 1;
                *taker = start_one(&mut rng, &mut counts);
            }
            (_, 2) => {
                taker.kill();
                counts.killed += 1;
                *taker = start_one(&mut rng, &mut counts);
            }
            (false, 4)
                // It may be gone, for want of a server.
                if taker.child.stdin.as_mut().unwrap().write_all(b"f").is_ok() => {
                    counts.forked += 1;
                }
            (_, 3) => {
                set_clock(&clock(dir.path(), taker.number), rng.i64(-DAY..=DAY));
                counts.clocks_moved += 1;
            }
            _ => {}
        }
    }
    for mut taker in takers {
        taker.kill();
    }
    if let Some(server) = server {
        counts.server_crashes = server.crashes;
        counts.server_pauses = server.pauses;
        counts.connections_cut = server.cuts;
    }

    // Each run with the process that had it, and whether that was a fork of it.
    let mut runs = Vec::new();
    let mut forked_files = 0;
    for entry in fs::read_dir(dir.path()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let Some((process, kind)) = name.split_once('.') else { continue };
        if !kind.starts_with("runs") {
            continue;
        }
        let is_forked = name.ends_with(".forked");
        forked_files += u32::from(is_forked);
        let process: usize = process.parse().unwrap();
        // Empty where a process was killed early; a killed one can leave a half-written run.
        let bytes = fs::read(&path).unwrap();
        runs.extend(bytes.chunks_exact(16).map(|run| {
            let [first, length] =
                [&run[..8], &run[8..]].map(|half| u64::from_le_bytes(half.try_into().unwrap()));
            (first, length, process, is_forked)
        }));
    }
    runs.sort_unstable();
    for pair in runs.windows(2) {
        let ((first, length, ..), (next, ..)) = (pair[0], pair[1]);
        let parts = time.layout().parts(Uid::try_from(next).unwrap());
        assert!(
            first + length <= next,
            "UID {next} came twice; seed {seed}; {parts:?}; first, length, process, fork: {pair:?}"
        );
    }
    let uids: u64 = runs.iter().map(|&(_, length, ..)| length).sum();
    let mut holders: BTreeMap<u64, BTreeSet<usize>> = BTreeMap::new();
    for (first, _, process, _) in runs {
        let worker = time.layout().parts(Uid::try_from(first).unwrap()).worker;
        holders.entry(worker).or_default().insert(process);
    }
    let recycled = holders.values().filter(|processes| processes.len() > 1).count();
    let workers = holders.len();
    println!(
        "seed {seed}: {uids} UIDs, none twice; {workers} worker ids, {recycled} of them used in \
         turn; {counts:?}"
    );
    let few = if time == Time::Exact { 100_000 } else { 1_000_000 };
    uids > few * storm_seconds()
        && counts.killed > 0
        && counts.paused > 0
        && counts.ended > 0
        && recycled > 0
        && forked_files > 0
}
