//! Storms of kills: processes share one SQLite file, or one state file, take flat out, and are
//! killed at any instant. Where one is gone, the next starts at once. A store lends the same worker
//! ids again and again, so only what it has reserved keeps the UIDs of the next holder apart.
//!
//! Windows ends a process as `kill -9` does: this runs there, too.
//!
//! ```sh
//! UIDRING_TEST_SEED=1 UIDRING_TEST_SECONDS=60 cargo test --test processes kill_storm
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use uidring::registry::FixedWorker;
use uidring::{
    BuildError, Builder, Layout, RegistryError, RegistryOptions, StorageError, Store, Uid,
    UidGenerator,
};

use crate::size::size;
use crate::starts::{TURN, seed};

const STORE: &str = "UIDRING_STORM_STORE";
const OUTPUT: &str = "UIDRING_STORM_OUTPUT";
/// How long a storm lasts, at first.
const SECONDS: &str = "UIDRING_TEST_SECONDS";
const PROCESSES: usize = 4;
const LEASE: Duration = Duration::from_secs(1);
/// The only worker id of the state file.
const FIXED: u64 = 7;

/// A million UIDs a second, so that a process that takes flat out gets not too far ahead.
fn layout() -> Layout {
    Layout::new(30, 13, 20).unwrap()
}

/// What gives worker ids out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Sqlite,
    StateFile,
}

impl Kind {
    fn file(self, folder: &Path) -> PathBuf {
        folder.join(match self {
            Kind::Sqlite => "uidring.db",
            Kind::StateFile => "uidring.state",
        })
    }

    fn of(file: &Path) -> Kind {
        if file.extension().is_some_and(|end| end == "db") { Kind::Sqlite } else { Kind::StateFile }
    }

    /// `None` where others are in the way, as one that has the state file.
    fn generator(self, file: &Path) -> Option<UidGenerator> {
        // A long lead, so that the next holder may begin behind one that took flat out.
        let builder: Builder = UidGenerator::builder().layout(layout());
        let builder = builder.max_lead(Duration::from_secs(30 * 24 * 3600));
        let builder = match self {
            Kind::Sqlite => {
                let store = Store::open(file).unwrap();
                let options = RegistryOptions::new().leased(LEASE);
                match store.registry_with(options) {
                    Err(RegistryError::Storage(StorageError::Locked { .. })) => return None,
                    registry => builder.registry(registry.unwrap()),
                }
            }
            Kind::StateFile => builder.registry(FixedWorker::new(FIXED).with_state(file)),
        };
        match builder.build() {
            Err(BuildError::StartDeadline { .. }) => None,
            Err(error) if error.to_string().contains("another generator has it") => None,
            built => Some(built.unwrap()),
        }
    }
}

/// Not a test: takes flat out and writes down what it has, until its input ends or it is killed.
#[test]
#[ignore = "run by other tests, in a process of its own"]
fn child_storms() {
    let (Some(store), Some(output)) = (env::var_os(STORE), env::var_os(OUTPUT)) else { return };
    let store = PathBuf::from(store);
    let mut output = File::create(output).unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let _ = std::io::stdin().read(&mut [0]);
            stop.store(true, Ordering::Relaxed);
        });
        let mut uids = None;
        let mut buffer = vec![Uid::MIN; 1 << 16];
        while !stop.load(Ordering::Relaxed) {
            let Some(uids) = &uids else {
                uids = Kind::of(&store).generator(&store);
                continue;
            };
            // A failing fill has its good UIDs at the start.
            let good =
                uids.fill(&mut buffer).map_or_else(|error| error.filled(), |()| buffer.len());
            assert_eq!(uids.status().broken_rule, None);
            if good == 0 {
                thread::sleep(Duration::from_millis(5));
            }
            let runs = buffer[..good].chunk_by(|one, next| one.get() + 1 == next.get());
            let runs = runs.flat_map(|run| [run[0].get(), run.len() as u64]);
            output.write_all(&runs.flat_map(u64::to_le_bytes).collect::<Vec<u8>>()).unwrap();
        }
    });
}

/// UIDs in a row that a process has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    first: u64,
    length: u64,
    process: usize,
}

impl Run {
    fn worker(self) -> u64 {
        layout().parts(Uid::try_from(self.first).unwrap()).worker
    }
}

/// One storm: its folder has the store, and for each process a file of its runs.
struct Storm {
    kind: Kind,
    folder: tempfile::TempDir,
    started: usize,
    killed: usize,
    ended: usize,
}

impl Storm {
    fn output(&self, process: usize) -> PathBuf {
        self.folder.path().join(format!("{process}.runs"))
    }

    fn start(&mut self) -> Child {
        self.started += 1;
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["kill_storm::child_storms", "--exact", "--ignored", "--nocapture"]);
        command.env(STORE, self.kind.file(self.folder.path()));
        command.env(OUTPUT, self.output(self.started));
        command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
    }

    /// Most are killed, and some end cleanly.
    fn disturb(&mut self, seconds: u64, rng: &mut fastrand::Rng) {
        let mut children: Vec<Child> = (0..PROCESSES).map(|_| self.start()).collect();
        let since = Instant::now();
        while since.elapsed() < Duration::from_secs(seconds) {
            thread::sleep(Duration::from_micros(rng.u64(1000..250_000)));
            let child = rng.choice(&mut children).unwrap();
            // One that has ended by itself has failed.
            assert_eq!(child.try_wait().unwrap(), None);
            if rng.u8(0..5) == 0 {
                drop(child.stdin.take());
                assert!(child.wait().unwrap().success());
                self.ended += 1;
            } else {
                child.kill().unwrap();
                child.wait().unwrap();
                self.killed += 1;
            }
            *child = self.start();
        }
        for mut child in children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// What a process has written, in the order of its takes.
    fn runs_of(&self, process: usize) -> Vec<Run> {
        // None of one that was killed early. One that is killed can leave a half of a run.
        let bytes = fs::read(self.output(process)).unwrap_or_default();
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
        bytes
            .chunks_exact(16)
            .map(|run| Run { first: word(&run[..8]), length: word(&run[8..]), process })
            .collect()
    }

    /// Returns whether enough has happened to show anything.
    fn judge(&self) -> bool {
        let (mut all, mut holders) = (Vec::new(), BTreeMap::<u64, BTreeSet<usize>>::new());
        for process in 1..=self.started {
            let mut last = BTreeMap::new();
            for run in self.runs_of(process) {
                let before = last.insert(run.worker(), run);
                assert!(
                    before.is_none_or(|before| before.first + before.length <= run.first),
                    "a later take got a smaller UID: {before:?}, {run:?}"
                );
                holders.entry(run.worker()).or_default().insert(process);
                all.push(run);
            }
        }
        all.sort_unstable();
        for pair in all.windows(2) {
            let is_apart = pair[0].first + pair[0].length <= pair[1].first;
            assert!(is_apart, "UID {} came twice: {pair:?}", pair[1].first);
        }
        let uids: u64 = all.iter().map(|run| run.length).sum();
        let recycled = holders.values().filter(|holders| holders.len() > 1).count();
        let most = holders.values().map(BTreeSet::len).max().unwrap_or_default();
        println!(
            "{:?}: {uids} UIDs, none twice; {} processes, {} killed, {} ended; {} worker ids, \
             {recycled} of them used in turn, by up to {most} processes",
            self.kind,
            self.started,
            self.killed,
            self.ended,
            holders.len()
        );
        let is_of_file = self.kind == Kind::Sqlite || holders.keys().all(|&id| id == FIXED);
        assert!(is_of_file, "{holders:?}");
        self.killed >= 10 && self.ended > 0 && most >= 3
    }
}

fn storm(kind: Kind) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut rng = fastrand::Rng::with_seed(seed());
    // A busy machine needs more time for what has to happen.
    let seconds = env::var(SECONDS).map_or(size(60, 3), |text| text.parse().unwrap());
    let is_shown = [1, 3, 9].into_iter().any(|times| {
        let folder = tempfile::tempdir().unwrap();
        let mut storm = Storm { kind, folder, started: 0, killed: 0, ended: 0 };
        storm.disturb(times * seconds, &mut rng);
        storm.judge()
    });
    assert!(is_shown, "too little happens");
}

#[test]
fn kills_on_one_sqlite_file_and_no_uid_twice() {
    storm(Kind::Sqlite);
}

#[test]
fn kills_on_one_state_file_and_no_uid_twice() {
    storm(Kind::StateFile);
}
