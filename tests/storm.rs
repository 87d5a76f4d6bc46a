//! A storm: processes take flat out while they are killed, stopped for longer than their lease, woken again, stopped cleanly and
//! started under clocks that are a day apart, with leases so short that each worker id is recycled many times. Every UID is collected,
//! and none may come twice.
//!
//! ```sh
//! UIDRING_STORM_SEED=1 UIDRING_STORM_SECONDS=120 cargo test --release --test storm -- --ignored --nocapture storm
//! ```
#![cfg(all(target_os = "linux", feature = "sqlite"))]
#![allow(missing_docs, clippy::expect_used, clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

use uidring::registry::SqliteRegistry;
use uidring::{BuildError, Layout, RegistryError, Uid, UidGenerator};

const DIR: &str = "UIDRING_STORM_DIR";
const OUT: &str = "UIDRING_STORM_OUT";
const PROCESSES: usize = 8;
const LEASE: Duration = Duration::from_secs(1);
const DAY: i64 = 24 * 3600;

/// Takes until its standard input ends, and writes runs of consecutive UIDs: first, length.
#[test]
#[ignore = "a child process of the storm"]
fn child() {
    let (Ok(dir), Ok(out)) = (env::var(DIR), env::var(OUT)) else { return };
    let mut out = File::create(out).unwrap();
    let registry = SqliteRegistry::open(Path::new(&dir).join("uidring.db")).unwrap();
    // A million UIDs a second and a long lead, so that an id can be used again after a saturated process, and under a clock that
    // is two days behind.
    let layout = Layout::new(30, 13, 20).unwrap();
    let builder = UidGenerator::builder().layout(layout).registry(registry.leased(LEASE));
    let uids = match builder.max_lead(Duration::from_secs(30 * 24 * 3600)).build() {
        // A process that was stopped in the middle of a transaction keeps the others out.
        Err(BuildError::Registry(RegistryError::Locked { .. })) => return,
        built => built.unwrap(),
    };
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let _ = std::io::stdin().read(&mut [0]);
            stop.store(true, Ordering::Relaxed);
        });
        let mut buffer = vec![Uid::MIN; 1 << 18];
        while !stop.load(Ordering::Relaxed) {
            let mut text = Vec::new();
            // A failing fill has its good UIDs at the start.
            let good = uids.fill(&mut buffer).map_or_else(|error| error.filled(), |()| buffer.len());
            for run in buffer[..good].chunk_by(|a, b| a.get() + 1 == b.get()) {
                text.extend(run[0].get().to_le_bytes());
                text.extend((run.len() as u64).to_le_bytes());
            }
            out.write_all(&text).unwrap();
        }
    });
}

struct Taker {
    child: Child,
    stopped: bool,
}

impl Taker {
    fn start(dir: &Path, number: usize, offset: i64) -> Taker {
        let mut command = Command::new(env::current_exe().unwrap());
        if let Some(library) = libfaketime() {
            command.env("LD_PRELOAD", library).env("FAKETIME", format!("{offset:+}s"));
            command.env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        }
        let child = command
            .args(["--exact", "child", "--ignored", "--nocapture"])
            .env(DIR, dir)
            .env(OUT, dir.join(format!("{number}.runs")))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Taker { child, stopped: false }
    }

    fn signal(&self, name: &str) {
        let done = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(done.success(), "process {} is there to get {name}", self.child.id());
    }
}

fn libfaketime() -> Option<PathBuf> {
    let dirs = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];
    dirs.iter().map(|dir| Path::new(dir).join("faketime/libfaketimeMT.so.1")).find(|file| file.exists())
}

fn number(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| text.parse().unwrap())
}

#[test]
#[ignore = "takes minutes; needs libfaketime, Debian's package faketime"]
fn storm() {
    let seed = number("UIDRING_STORM_SEED", 1);
    let seconds = number("UIDRING_STORM_SECONDS", 30);
    libfaketime().expect("Debian's package faketime is installed");
    let mut rng = fastrand::Rng::with_seed(seed);
    let dir = tempfile::tempdir().unwrap();
    let (mut started, mut killed, mut paused, mut ended) = (0, 0, 0, 0);
    let mut start = |rng: &mut fastrand::Rng| {
        started += 1;
        // By the clocks that are right, leases expire when they should.
        let offset = if rng.u8(0..4) == 0 { rng.i64(-DAY..=DAY) } else { 0 };
        Taker::start(dir.path(), started, offset)
    };
    let mut takers: Vec<Taker> = (0..PROCESSES).map(|_| start(&mut rng)).collect();
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(seconds) {
        thread::sleep(Duration::from_millis(rng.u64(20..300)));
        let taker = rng.choice(&mut takers).unwrap();
        match (taker.stopped, rng.u8(0..4)) {
            (true, 0..=1) => {
                taker.signal("-CONT");
                taker.stopped = false;
            }
            (false, 0) => {
                taker.signal("-STOP");
                taker.stopped = true;
                paused += 1;
            }
            (false, 1) => {
                // The end of its input: it gives its id back.
                drop(taker.child.stdin.take());
                assert!(taker.child.wait().unwrap().success());
                ended += 1;
                *taker = start(&mut rng);
            }
            (_, 2) => {
                taker.child.kill().unwrap();
                taker.child.wait().unwrap();
                killed += 1;
                *taker = start(&mut rng);
            }
            _ => {}
        }
    }
    for mut taker in takers {
        taker.child.kill().unwrap();
        taker.child.wait().unwrap();
    }

    // Each run with the process that had it.
    let mut runs = Vec::new();
    for process in 1..=started {
        // Empty, or not there, where a process was killed early; a killed one can leave a half-written run.
        let bytes = fs::read(dir.path().join(format!("{process}.runs"))).unwrap_or_default();
        runs.extend(bytes.chunks_exact(16).map(|run| {
            let [first, length] = [&run[..8], &run[8..]].map(|half| u64::from_le_bytes(half.try_into().unwrap()));
            (first, length, process)
        }));
    }
    runs.sort_unstable();
    for pair in runs.windows(2) {
        let ((first, length, _), (next, ..)) = (pair[0], pair[1]);
        assert!(first + length <= next, "UID {next} came twice; seed {seed}");
    }
    let uids: u64 = runs.iter().map(|&(_, length, _)| length).sum();
    let layout = Layout::new(30, 13, 20).unwrap();
    let mut holders: BTreeMap<u64, BTreeSet<usize>> = BTreeMap::new();
    for (first, _, process) in runs {
        holders.entry(layout.parts(Uid::try_from(first).unwrap()).worker).or_default().insert(process);
    }
    let recycled = holders.values().filter(|processes| processes.len() > 1).count();
    let workers = holders.len();
    println!(
        "seed {seed}: {uids} UIDs, none twice; {started} processes on {workers} worker ids, {recycled} of them in turn, \
         {killed} killed, {paused} stopped for a while, {ended} ended"
    );
    assert!(uids > 1_000_000 * seconds && killed > 0 && paused > 0 && ended > 0);
    assert!(recycled > 0);
}
