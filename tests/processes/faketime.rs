//! The real program under clocks that lie: libfaketime moves what the system tells it, while it
//! runs and between runs.
#![allow(clippy::format_push_string)]

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};
use std::{env, fs, thread};

use uidring::registry::SqliteRegistry;
use uidring::{Layout, Uid, UidGenerator};

const CHILD: &str = "UIDRING_FAKETIME_CHILD";
const DAY: i64 = 24 * 3600;

/// Answers each line "n" with n lines "uid milliseconds-since-1970".
#[test]
#[ignore = "a child process of the other test"]
fn child() {
    let Ok(file) = env::var(CHILD) else { return };
    let uids =
        UidGenerator::builder().registry(SqliteRegistry::open(file).unwrap()).build().unwrap();
    for line in std::io::stdin().lines() {
        let mut answer = String::new();
        for _ in 0..line.unwrap().parse::<u32>().unwrap() {
            let uid = uids.take().unwrap();
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
            answer += &format!("uid {uid} {}\n", now.as_millis());
        }
        print!("{answer}");
        std::io::stdout().flush().unwrap();
    }
}

struct Program {
    child: Child,
    offset: PathBuf,
    lines: Box<dyn Iterator<Item = std::io::Result<String>>>,
}

/// A UID with what the program's clock showed.
struct Taken {
    uid: Uid,
    lead_ms: i64,
}

impl Program {
    fn start(dir: &Path, offset: i64) -> Program {
        let file = dir.join("offset");
        set(&file, offset);
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", "faketime::child", "--ignored", "--nocapture"])
            .env(CHILD, dir.join("uidring.db"))
            .env("LD_PRELOAD", libfaketime())
            .env("FAKETIME_TIMESTAMP_FILE", &file)
            .env("FAKETIME_NO_CACHE", "1")
            .env("FAKETIME_DONT_FAKE_MONOTONIC", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let lines = lines.filter(|line| line.as_ref().is_ok_and(|line| line.starts_with("uid ")));
        Program { child, offset: file, lines: Box::new(lines) }
    }

    fn take(&mut self, count: usize) -> Vec<Taken> {
        writeln!(self.child.stdin.as_mut().unwrap(), "{count}").unwrap();
        let taken = |line: std::io::Result<String>| {
            let line = line.unwrap();
            let mut words = line.split(' ').skip(1);
            let uid: Uid = words.next().unwrap().parse().unwrap();
            let shown: i64 = words.next().unwrap().parse().unwrap();
            let time =
                Layout::DEFAULT.parts(uid).time.duration_since(SystemTime::UNIX_EPOCH).unwrap();
            Taken { uid, lead_ms: i64::try_from(time.as_millis()).unwrap() - shown }
        };
        let taken: Vec<Taken> = self.lines.by_ref().take(count).map(taken).collect();
        assert_eq!(taken.len(), count);
        taken
    }

    /// Moves the program's clock, and lets its filler look at it.
    fn move_clock(&self, offset: i64) {
        set(&self.offset, offset);
        thread::sleep(Duration::from_millis(2500));
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn set(file: &Path, offset: i64) {
    let new = file.with_extension("new");
    fs::write(&new, format!("{offset:+}s")).unwrap();
    fs::rename(new, file).unwrap();
}

fn libfaketime() -> PathBuf {
    let found =
        ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"]
            .map(|dir| Path::new(dir).join("faketime/libfaketimeMT.so.1"))
            .into_iter()
            .find(|file| file.exists());
    found.expect("Debian's package faketime is installed")
}

#[test]
#[ignore = "needs libfaketime, Debian's package faketime"]
fn rollback_while_running_and_across_a_restart_then_a_jump_forward() {
    let dir = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    let near = |taken: &[Taken], from_ms: i64, to_ms: i64, when: &str| {
        for Taken { uid, lead_ms } in taken {
            assert!((from_ms..=to_ms).contains(lead_ms), "{when}: {uid} is {lead_ms} ms ahead");
        }
    };
    // The seconds of a ring, and how late a filler may be.
    let (ring, late) = (8000, 30_000);

    let mut program = Program::start(dir.path(), 0);
    let taken = program.take(1000);
    near(&taken, -late, ring, "at first");
    all.extend(taken);
    // Less than max_lead: it goes on from where it was.
    program.move_clock(-DAY + 60);
    let taken = program.take(1000);
    near(&taken, 1000 * (DAY - 60) - late, 1000 * (DAY - 60) + ring, "an almost a day back");
    all.extend(taken);
    // More than max_lead: a new worker id, and the clock's own time.
    program.move_clock(-3 * DAY);
    let taken = program.take(1000);
    near(&taken, -late, ring, "three days back");
    all.extend(taken);
    program.kill();

    // The same time once more, after a restart.
    let mut program = Program::start(dir.path(), -3 * DAY);
    let taken = program.take(1000);
    near(&taken, -late, ring, "restarted three days back");
    all.extend(taken);
    program.move_clock(30 * DAY);
    let taken = program.take(1000);
    near(&taken, -late, ring, "a month ahead");
    all.extend(taken);
    program.kill();

    let distinct: HashSet<Uid> = all.iter().map(|taken| taken.uid).collect();
    assert_eq!((distinct.len(), all.len()), (5000, 5000), "no UID twice");
    let workers: HashSet<u64> =
        distinct.iter().map(|&uid| Layout::DEFAULT.parts(uid).worker).collect();
    assert_eq!(workers.len(), 3);
}
