//! Cuts under a SQLite store and a state file.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use fastrand::Rng;
use tempfile::TempDir;

use crate::account::Account;
use crate::disk::{Disk, Lie};
use crate::life::{Life, NEVER, compile_layer};
use crate::machine::Machine;

/// The most changes between two cuts, about those of ten calls. Half of all cuts come sooner.
const MOST_CHANGES: u64 = 160;
const MOST_CALLS: u32 = 12;
/// A machine with a SQLite store and a state file.
pub struct FileMachine<'a> {
    layer: &'a Path,
    folder: TempDir,
    disk: Disk,
    account: Account,
    rng: Rng,
}

impl<'a> FileMachine<'a> {
    pub fn new(layer: &'a Path, rng: Rng, lie: Lie) -> FileMachine<'a> {
        let folder = tempfile::tempdir().unwrap();
        // The layer compares paths without links.
        let path = folder.path().canonicalize().unwrap();
        let disk = Disk {
            durable: path.join("durable"),
            live: path.join("live"),
            has_journal: false,
            lie,
        };
        for copy in [&disk.durable, &disk.live] {
            for part in ["ids", "state"] {
                fs::create_dir_all(copy.join(part)).unwrap();
            }
        }
        FileMachine { layer, folder, disk, account: Account::default(), rng }
    }

    /// Runs one worker, or two beside each other, and says whether the power is still there.
    fn work(&mut self, life: &Life) -> bool {
        let (pipe, writer) = io::pipe().unwrap();
        let mode: &[&str] = if self.rng.u8(..6) == 0 { &["", ""] } else { &["alone"] };
        let workers: Vec<Child> = mode
            .iter()
            .map(|mode| {
                let mut worker = Command::new(env!("CARGO_BIN_EXE_power-cut-worker"));
                let (seed, calls) = (self.rng.u64(..), self.rng.u32(1..=MOST_CALLS));
                worker.arg(&self.disk.live).args([seed.to_string(), calls.to_string()]);
                worker.args((!mode.is_empty()).then_some(mode));
                life.watch(&mut worker, self.layer, &self.disk.live);
                worker.stdin(Stdio::null()).stdout(writer.try_clone().unwrap()).spawn().unwrap()
            })
            .collect();
        drop(writer);
        for line in BufReader::new(pipe).lines() {
            self.account.hear(&line.unwrap());
        }
        let mut has_power = true;
        for mut worker in workers {
            let status = worker.wait().unwrap();
            match (status.code(), status.signal()) {
                (Some(0), _) => {}
                (_, Some(KILLED)) => has_power = false,
                // It has told what is wrong.
                (Some(1), _) if self.account.broken.is_some() => has_power = false,
                _ => panic!("a worker ends with {status}"),
            }
        }
        has_power
    }

    /// Runs one worker to its end, and compares what it has written with the log.
    pub fn check_the_layer(&mut self) {
        let life = Life::begin(self.folder.path(), NEVER);
        assert!(self.work(&life), "{:?}", self.account.broken);
        self.disk.check(&life.log().changes, is_index);
        self.disk.cut(&life.log().changes, 0, &mut self.rng);
    }
}

impl Machine for FileMachine<'_> {
    fn live(&mut self) -> String {
        let life = Life::begin(self.folder.path(), self.rng.u64(1..=MOST_CHANGES));
        while self.work(&life) {}
        let log = life.log();
        self.disk.cut(&log.changes, 0, &mut self.rng);
        self.disk.check(&[], is_index);
        std::mem::take(&mut self.account.doing)
    }

    fn account(&mut self) -> &mut Account {
        &mut self.account
    }

    fn retire(&mut self) {
        self.work(&Life::begin(self.folder.path(), NEVER));
    }
}

const KILLED: i32 = 9;

/// Whether it is SQLite's index of a write-ahead log, which is made anew after a cut.
fn is_index(name: &str) -> bool {
    name.ends_with("-shm")
}

/// What a worker reads while the power fails under another one is not heard.
#[test]
fn without_power_a_worker_is_not_heard() {
    let folder = tempfile::tempdir().unwrap();
    let layer = compile_layer(folder.path());
    let mut machine = FileMachine::new(&layer, Rng::with_seed(0), Lie::None);
    assert!(!machine.work(&Life::begin(machine.folder.path(), 0)));
    assert_eq!(machine.account.doing, "");
}
