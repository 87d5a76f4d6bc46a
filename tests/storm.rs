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

mod databases;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

use databases::{OwnServer, Server};
use fork::{Fork, fork};
use uidring::registry::{MySqlRegistry, PostgresRegistry, SqliteRegistry};
use uidring::{BuildError, Layout, RegistryError, Uid, UidGenerator};

const DATABASE: &str = "UIDRING_STORM_DATABASE";
const OUT: &str = "UIDRING_STORM_OUT";
const PROCESSES: usize = 8;
const LEASE: Duration = Duration::from_secs(1);
const TIMEOUT: Duration = Duration::from_secs(2);
const DAY: i64 = 24 * 3600;

/// A million UIDs a second, so that a saturated process gets not too far ahead.
fn layout() -> Layout {
    Layout::new(30, 13, 20).unwrap()
}

/// Takes until its standard input ends, and writes runs of consecutive UIDs: first, length.
#[test]
#[ignore = "a child process of the storm"]
fn child() {
    let (Ok(database), Ok(out)) = (env::var(DATABASE), env::var(OUT)) else { return };
    let mut out = File::create(out).unwrap();
    // A long lead, so that an id can be used again after a saturated process, and under a clock
    // that is two days behind.
    let builder =
        UidGenerator::builder().layout(layout()).max_lead(Duration::from_secs(30 * 24 * 3600));
    let builder = match database.split_once("://") {
        Some(("postgres", _)) => builder.registry(
            PostgresRegistry::open(&database).unwrap().leased(LEASE).with_timeout(TIMEOUT),
        ),
        Some(_) => builder
            .registry(MySqlRegistry::open(&database).unwrap().leased(LEASE).with_timeout(TIMEOUT)),
        None => match SqliteRegistry::open(&database) {
            // A process that was stopped in the middle of a transaction keeps the others out.
            Err(RegistryError::Locked { .. }) => return,
            opened => builder.registry(opened.unwrap().leased(LEASE).with_timeout(TIMEOUT)),
        },
    };
    let uids = match builder.build() {
        // The server is away for long, or the file locked.
        Err(BuildError::StartDeadline { .. }) => return,
        // A server that crashes in the middle of an answer.
        Err(BuildError::Registry(RegistryError::Storage { doing, source })) => {
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

struct Taker {
    child: Child,
    stopped: bool,
    /// What its clock is read from.
    clock: PathBuf,
}

impl Taker {
    fn start(dir: &Path, database: &str, number: usize, offset: i64) -> Taker {
        let clock = dir.join(format!("{number}.clock"));
        let mut command = Command::new(env::current_exe().unwrap());
        command.env("LD_PRELOAD", libfaketime().expect("Debian's package faketime is installed"));
        command
            .env("FAKETIME_TIMESTAMP_FILE", &clock)
            .env("FAKETIME_NO_CACHE", "1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        set_clock(&clock, offset);
        let child = command
            .args(["--exact", "child", "--ignored", "--nocapture"])
            .env(DATABASE, database)
            .env(OUT, dir.join(format!("{number}.runs")))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Taker { child, stopped: false, clock }
    }

    /// A stopped process that keeps a SQLite file locked can hold the end up, but not for ever.
    /// Where it does, the process is left to be looked at.
    fn wait_for_end(&mut self) {
        let since = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(
                since.elapsed() < Duration::from_secs(120),
                "process {} does not end",
                self.child.id()
            );
            thread::sleep(Duration::from_millis(5));
        };
        assert!(status.success(), "{status}");
    }

    fn signal(&self, name: &str) {
        let done =
            Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(done.success(), "process {} is there to get {name}", self.child.id());
    }
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

fn number(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().unwrap())
}

#[test]
#[ignore = "takes minutes; needs libfaketime, Debian's package faketime"]
fn storm_sqlite() {
    storm(None);
}

#[test]
#[ignore = "takes minutes; needs libfaketime, Debian's package faketime, and PostgreSQL's server"]
fn storm_postgres() {
    storm(Some(OwnServer::start(Server::Postgres)));
}

#[test]
#[ignore = "takes minutes; needs libfaketime, Debian's package faketime, and MariaDB's server"]
fn storm_mysql() {
    storm(Some(OwnServer::start(Server::MySql)));
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

#[allow(clippy::too_many_lines)] // a story
fn storm(mut server: Option<OwnServer>) {
    let seed = number("UIDRING_STORM_SEED", 1);
    let seconds = number("UIDRING_STORM_SECONDS", 20);
    let mut rng = fastrand::Rng::with_seed(seed);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("uidring.db");
    let database =
        server.as_ref().map_or_else(|| file.to_str().unwrap().to_owned(), OwnServer::url);
    let mut counts = Counts::default();
    let start = |rng: &mut fastrand::Rng, counts: &mut Counts| {
        counts.started += 1;
        // By the clocks that are right, most ids are used.
        let offset = if rng.u8(0..4) == 0 { rng.i64(-DAY..=DAY) } else { 0 };
        Taker::start(dir.path(), &database, counts.started, offset)
    };
    let mut takers: Vec<Taker> = (0..PROCESSES).map(|_| start(&mut rng, &mut counts)).collect();
    let mut resume_server_at = None;
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(seconds) {
        thread::sleep(Duration::from_millis(rng.u64(20..300)));
        if let Some(server) = &mut server {
            match resume_server_at {
                Some(at) if since.elapsed() >= at => {
                    server.resume();
                    resume_server_at = None;
                }
                Some(_) => {}
                None => match rng.u8(0..60) {
                    0 => {
                        server.crash_and_restart();
                        counts.server_crashes += 1;
                    }
                    1..=2 => {
                        server.pause();
                        // Longer than a lease, and than any call to it.
                        resume_server_at =
                            Some(since.elapsed() + Duration::from_millis(rng.u64(100..5000)));
                        counts.server_pauses += 1;
                    }
                    3..=6 => {
                        server.cut_connections();
                        counts.connections_cut += 1;
                    }
                    _ => {}
                },
            }
        }
        let taker = rng.choice(&mut takers).unwrap();
        match (taker.stopped, rng.u8(0..6)) {
            (true, 0..=1) => {
                taker.signal("-CONT");
                taker.stopped = false;
            }
            (false, 0) => {
                taker.signal("-STOP");
                taker.stopped = true;
                counts.paused += 1;
            }
            (false, 1) => {
                // The end of its input: it gives its id back, if there is somebody to give it to.
                drop(taker.child.stdin.take());
                if resume_server_at.is_none() {
                    taker.wait_for_end();
                } else {
                    taker.child.kill().unwrap();
                    taker.child.wait().unwrap();
                }
                counts.ended += 1;
                *taker = start(&mut rng, &mut counts);
            }
            (_, 2) => {
                taker.child.kill().unwrap();
                taker.child.wait().unwrap();
                counts.killed += 1;
                *taker = start(&mut rng, &mut counts);
            }
            (false, 4)
                // It may be gone, for want of a server.
                if taker.child.stdin.as_mut().unwrap().write_all(b"f").is_ok() => {
                    counts.forked += 1;
                }
            (_, 3) => {
                set_clock(&taker.clock, rng.i64(-DAY..=DAY));
                counts.clocks_moved += 1;
            }
            _ => {}
        }
    }
    for mut taker in takers {
        taker.child.kill().unwrap();
        taker.child.wait().unwrap();
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
        let parts = layout().parts(Uid::try_from(next).unwrap());
        assert!(
            first + length <= next,
            "UID {next} came twice; seed {seed}; {parts:?}; first, length, process, fork: {pair:?}"
        );
    }
    let uids: u64 = runs.iter().map(|&(_, length, ..)| length).sum();
    let mut holders: BTreeMap<u64, BTreeSet<usize>> = BTreeMap::new();
    for (first, _, process, _) in runs {
        let worker = layout().parts(Uid::try_from(first).unwrap()).worker;
        holders.entry(worker).or_default().insert(process);
    }
    let recycled = holders.values().filter(|processes| processes.len() > 1).count();
    let workers = holders.len();
    println!(
        "seed {seed}: {uids} UIDs, none twice; {workers} worker ids, {recycled} of them used in \
         turn; {counts:?}"
    );
    assert!(
        uids > 1_000_000 * seconds && counts.killed > 0 && counts.paused > 0 && counts.ended > 0
    );
    assert!(recycled > 0 && forked_files > 0);
}
