//! Real processes that share a registry: started together, started often, and killed at any
//! instant.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use uidring::registry::{RegistryAdmin, SqliteRegistry};
use uidring::{Layout, Uid, UidGenerator};

use crate::size::size;

const REGISTRY: &str = "UIDRING_TEST_REGISTRY";
const OUTPUT: &str = "UIDRING_TEST_OUTPUT";

fn generator(registry: &Path) -> UidGenerator {
    UidGenerator::builder().registry(SqliteRegistry::open(registry).unwrap()).build().unwrap()
}

/// This program again, to run one of the two `child_` functions below.
fn child(function: &str, registry: &Path, output: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args([function, "--exact", "--ignored", "--quiet"])
        .env(REGISTRY, registry)
        .env(OUTPUT, output);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command
}

/// What the parent told this process; nothing where someone runs the ignored tests by hand.
fn told() -> Option<(OsString, OsString)> {
    Some((env::var_os(REGISTRY)?, env::var_os(OUTPUT)?))
}

// ------------------------------------------------------------------------------------------------
// Starts

/// Not a test: starts, takes one UID, ends.
#[test]
#[ignore = "run by other tests, in a process of its own"]
fn child_starts() {
    let Some((registry, output)) = told() else { return };
    let uids = generator(Path::new(&registry));
    let uid = uids.take().unwrap();
    fs::write(output, format!("{} {uid}", uids.worker_id())).unwrap();
}

/// The tests take turns: each has processes enough for any machine.
pub(crate) static TURN: Mutex<()> = Mutex::new(());

#[test]
fn up_to_a_thousand_processes_get_as_many_worker_ids() {
    const AT_ONCE: usize = 8;
    let starts = size(1000, 100);
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = tempfile::tempdir().unwrap();
    // The first eight meet a file that is not there yet.
    let registry = dir.path().join("uidring.db");
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let start = next.fetch_add(1, Ordering::Relaxed);
                    if start >= starts {
                        break;
                    }
                    let output = dir.path().join(start.to_string());
                    let ended = child("starts::child_starts", &registry, &output).output().unwrap();
                    assert!(
                        ended.status.success(),
                        "start {start}: {}",
                        String::from_utf8_lossy(&ended.stderr)
                    );
                }
            });
        }
    });

    let mut workers = BTreeSet::new();
    for start in 0..starts {
        let told = fs::read_to_string(dir.path().join(start.to_string())).unwrap();
        let (worker, uid) = told.split_once(' ').unwrap();
        let worker: u64 = worker.parse().unwrap();
        assert_eq!(Layout::DEFAULT.parts(uid.parse().unwrap()).worker, worker);
        assert!(workers.insert(worker), "worker id {worker} was given twice");
    }
    assert_eq!(workers, (1..=starts as u64).collect());
    let rows = SqliteRegistry::open_existing(&registry).unwrap().workers().unwrap();
    assert_eq!(
        rows.iter().map(|row| row.port.as_str()).collect::<BTreeSet<_>>().len(),
        starts,
        "process ids differ"
    );
}

// ------------------------------------------------------------------------------------------------
// Kills

/// Not a test: takes UIDs and writes them down, until it is killed.
#[test]
#[ignore = "run by other tests, in a process of its own"]
fn child_takes() {
    let Some((registry, output)) = told() else { return };
    let uids = generator(Path::new(&registry));
    let mut output = File::create(output).unwrap();
    let mut batch = [Uid::MIN; 128];
    let mut local = uids.local();
    // Ten times longer than anyone waits for it: it must not outlive its parent for ever.
    for _ in 0..600_000 {
        uids.fill(&mut batch).unwrap();
        let taken = (0..64).map(|_| uids.take().unwrap());
        let taken = taken.chain((0..64).map(|_| local.take().unwrap()));
        let bytes: Vec<u8> =
            batch.iter().copied().chain(taken).flat_map(|uid| uid.get().to_le_bytes()).collect();
        output.write_all(&bytes).unwrap();
        thread::sleep(Duration::from_millis(1));
    }
}

/// A process that runs `child_takes`, and what it has written.
struct Victim {
    child: Child,
    output: PathBuf,
    begun: Instant,
    /// After its start, or after its first UIDs if it is spared that long.
    dies_after: Duration,
    spared: bool,
    first_uids_after: Option<Duration>,
}

impl Victim {
    fn start(registry: &Path, output: PathBuf, dies_after: Duration, spared: bool) -> Victim {
        let child =
            child("starts::child_takes", registry, &output).stderr(Stdio::piped()).spawn().unwrap();
        Victim { child, output, begun: Instant::now(), dies_after, spared, first_uids_after: None }
    }

    fn is_due(&mut self) -> bool {
        let has_written = || fs::metadata(&self.output).is_ok_and(|file| file.len() > 0);
        if self.first_uids_after.is_none() && has_written() {
            self.first_uids_after = Some(self.begun.elapsed());
        }
        match (self.spared, self.first_uids_after) {
            (false, _) => self.begun.elapsed() >= self.dies_after,
            (true, Some(first)) => self.begun.elapsed() >= first + self.dies_after,
            (true, None) => {
                assert!(
                    self.child.try_wait().unwrap().is_none(),
                    "it ended by itself: {}",
                    self.stderr()
                );
                false
            }
        }
    }

    /// Kills it and reads what it has written.
    fn kill(&mut self) -> Vec<u64> {
        self.child.kill().unwrap();
        let status = self.child.wait().unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::process::ExitStatusExt;
            assert_eq!(status.signal(), Some(9), "it ended by itself, {status}: {}", self.stderr());
        }
        assert!(!status.success());
        let bytes = fs::read(&self.output).unwrap_or_default();
        fs::remove_file(&self.output).ok();
        // What is left over is a UID that it could not write to its end.
        bytes.chunks_exact(8).map(|uid| u64::from_le_bytes(uid.try_into().unwrap())).collect()
    }

    fn stderr(&mut self) -> String {
        std::io::read_to_string(self.child.stderr.take().unwrap()).unwrap()
    }
}

/// What a storm is repeated by. It is printed.
pub(crate) fn seed() -> u64 {
    let seed = match env::var("UIDRING_TEST_SEED") {
        Ok(seed) => seed.parse().expect("UIDRING_TEST_SEED is a number"),
        Err(_) => fastrand::u64(..),
    };
    println!("UIDRING_TEST_SEED={seed}");
    seed
}

#[test]
fn killed_at_any_instant_and_no_uid_twice() {
    const PROCESSES: usize = 4;
    let rounds = size(200, 20);
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = tempfile::tempdir().unwrap();
    let registry = dir.path().join("uidring.db");
    let mut rng = fastrand::Rng::with_seed(seed());
    // How long a process takes to its first UIDs: learned, as machines differ. Kills fall into one
    // and a half of it after the start: into all that a start does, and somewhat after. One process
    // in four lives till it has written something.
    let mut to_first = Duration::from_millis(20);
    let (mut all, mut workers, mut silent, mut journals) = (Vec::new(), BTreeMap::new(), 0, 0);
    for round in 0..rounds {
        let start = |process| {
            let dies_after = to_first.mul_f64(1.5 * rng.f64());
            let output = dir.path().join(format!("{round}-{process}"));
            Victim::start(&registry, output, dies_after, process == round % PROCESSES)
        };
        let mut victims: Vec<Victim> = (0..PROCESSES).map(start).collect();
        let mut written = Vec::new();
        while !victims.is_empty() {
            thread::sleep(Duration::from_micros(200));
            for mut victim in victims.extract_if(.., Victim::is_due) {
                written.push(victim.kill());
                if let (true, Some(first)) = (victim.spared, victim.first_uids_after) {
                    to_first = (to_first * 7 + first) / 8;
                }
            }
        }
        // A process died within its transaction, and left the next one to roll it back.
        journals += usize::from(registry.with_file_name("uidring.db-journal").exists());

        for uids in written {
            let Some(&first) = uids.first() else {
                silent += 1;
                continue;
            };
            let worker = worker_of(first);
            assert!(
                uids.iter().all(|&uid| worker_of(uid) == worker),
                "round {round}: one process, two worker ids"
            );
            let before = workers.insert(worker, round);
            assert!(
                before.is_none(),
                "worker id {worker} was given in round {round} and in round {before:?}"
            );
            all.extend(uids);
        }
    }

    println!(
        "{} UIDs of {} processes; {silent} were killed before their first UID",
        all.len(),
        workers.len()
    );
    println!("{journals} rounds ended with a transaction half done");
    assert!(workers.len() >= rounds, "each round had a process that wrote");
    assert!(all.len() >= 256 * rounds, "and it wrote 256 at a time");
    assert!(silent >= rounds / 10, "kills fell into starts as well: {silent} did");
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count, "UIDs were handed out twice");

    // The registry has lived through it: it is whole, and the next id is a new one.
    let db = rusqlite::Connection::open(&registry).unwrap();
    assert_eq!(db.query_row("PRAGMA integrity_check", [], |row| row.get(0)), Ok("ok".to_owned()));
    let next = generator(&registry).worker_id();
    let (&last, _) = workers.last_key_value().unwrap();
    assert!(next > last, "worker id {next} after {last}");
    let rows = SqliteRegistry::open_existing(&registry).unwrap().workers().unwrap();
    assert!(
        workers.keys().all(|worker| rows.iter().any(|row| row.id == *worker)),
        "each has its row"
    );
}

fn worker_of(uid: u64) -> u64 {
    Layout::DEFAULT.parts(Uid::try_from(uid).unwrap()).worker
}
