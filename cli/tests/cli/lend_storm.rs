//! Many commands with few worker ids, while their tools are killed and stopped, their store is
//! locked and their clocks are moved: no id is ever with two of them at once.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, process, thread};

use nix::time::{ClockId, clock_gettime};

use crate::size::size;
use crate::{folder, uidring};

/// The folder in which a command writes when it has which id.
const FOLDER: &str = "UIDRING_LEND_STORM";
/// How the tools lend: few ids, and for a short time.
const POOL: [&str; 8] = ["--pool", "storm", "--bits", "2", "--lease", "2s", "--rest", "1s"];
/// What lies between two holders at least: the rest, less what the clocks were moved.
const APART: Duration = Duration::from_millis(300);
/// How far each clock is moved at most, each way.
const MOVED_MS: u64 = 300;
const TOOLS: u64 = 6;

fn now() -> Duration {
    clock_gettime(ClockId::CLOCK_BOOTTIME).unwrap().into()
}

/// The command: writes its id and the time again and again, as long as it lives.
#[test]
#[ignore = "a child process of the other test"]
fn command() {
    let (Ok(folder), Ok(id)) = (env::var(FOLDER), env::var("WORKER")) else { return };
    let name = format!("{folder}/uses-{id}-{}-{}", process::id(), now().as_nanos());
    let mut file = File::create(name).unwrap();
    // A command that a broken tool leaves behind ends with the test's folder.
    while Path::new(&folder).exists() {
        // One write is whole, or is not there.
        file.write_all(&now().as_nanos().to_le_bytes()).unwrap();
        thread::sleep(Duration::from_millis(2));
    }
}

/// A small random number generator, which its seed repeats.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// How often what was done.
#[derive(Debug, Default)]
struct Done {
    begun: u64,
    full: u64,
    killed_tools: u64,
    killed_both: u64,
    killed_watchers: u64,
    killed_commands: u64,
    stopped: u64,
    asked: u64,
    locked: u64,
}

/// What a tool may run: the command, one that ignores the request to end, and one that such a
/// command has left behind.
const SCRIPTS: [&str; 3] = [
    r#"exec "$0" "$@""#,
    r#"trap "" TERM; exec "$0" "$@""#,
    r#"trap "" TERM; "$0" "$@" & sleep 0.3"#,
];

/// A tool that runs one of the scripts, with a clock that moves or with the machine's.
fn begin(folder: &Path, db: &str, script: &str, clock: Option<u64>) -> Child {
    let own = env::current_exe().unwrap();
    let mut tool = uidring(folder, &["workers", "lend", "--quiet", "--db", db]);
    tool.args(POOL).args(["--env", "WORKER", "--", "env", "-u", "LD_PRELOAD"]);
    tool.args(["sh", "-c", script]).arg(own);
    tool.args(["--exact", "lend_storm::command", "--ignored", "--nocapture"]);
    if let Some((clock, library)) = clock.zip(libfaketime()) {
        let clock = folder.join(format!("clock-{clock}"));
        tool.env("LD_PRELOAD", library).env("FAKETIME_TIMESTAMP_FILE", clock);
        tool.env("FAKETIME_NO_CACHE", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    }
    tool.env(FOLDER, folder).process_group(0);
    tool.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn libfaketime() -> Option<&'static str> {
    let path = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1";
    Path::new(path).exists().then_some(path)
}

fn move_clock(folder: &Path, random: &mut Random) {
    let clock = folder.join(format!("clock-{}", random.below(TOOLS)));
    let ms = random.below(2 * MOVED_MS + 1);
    let sign = if ms >= MOVED_MS { '+' } else { '-' };
    let moved = ms.abs_diff(MOVED_MS);
    let new = clock.with_extension("new");
    fs::write(&new, format!("{sign}0.{moved:03}\n")).unwrap();
    fs::rename(new, clock).unwrap();
}

fn send(signal: &str, process: &impl ToString) {
    // It may have ended.
    let _ =
        Command::new("kill").args([signal, &process.to_string()]).stderr(Stdio::null()).status();
}

/// The children of a tool: its watcher and its command.
fn children(tool: &Child) -> Vec<(String, bool)> {
    let parent = tool.id().to_string();
    let args = ["-o", "pid=,args=", "--ppid", &parent];
    let shown = Command::new("ps").args(args).output().unwrap();
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    let child = |line: &str| {
        let (process, args) = line.trim().split_once(' ')?;
        Some((process.to_owned(), args.contains("workers-lend-watcher")))
    };
    text.lines().filter_map(child).collect()
}

/// A tool that runs, and until when it is stopped.
struct Running {
    tool: Child,
    /// Whether something outlives the command, which the system does not end with the tool.
    leaves_behind: bool,
    /// Whether its clock moves. It shares a semaphore of libfaketime's with its watcher then, so
    /// that one of them that is stopped or killed may keep the other from going on.
    has_moving_clock: bool,
    stopped_until: Option<Instant>,
}

impl Running {
    /// Does something bad to it.
    fn disturb(&mut self, random: &mut Random, done: &mut Done) {
        let all = children(&self.tool);
        let of_kind = |is_watcher: bool| all.iter().filter(move |child| child.1 == is_watcher);
        // One of both has to be there that can end the command: the watcher, or a tool that is not
        // stopped. Without either, the system ends the command, and nothing else of its group.
        let is_watched = of_kind(true).next().is_some();
        let action = random.below(12);
        if self.has_moving_clock && ![3, 7].contains(&action) {
            return;
        }
        match action {
            0 if is_watched || !self.leaves_behind => {
                send("-KILL", &self.tool.id());
                done.killed_tools += 1;
            }
            1 if !self.leaves_behind => {
                // At once, so that only the system ends the command.
                let watchers: Vec<_> = of_kind(true).map(|child| child.0.clone()).collect();
                for watcher in watchers {
                    send("-KILL", &watcher);
                }
                send("-KILL", &self.tool.id());
                done.killed_both += 1;
            }
            2 if self.stopped_until.is_none() => {
                of_kind(true).for_each(|child| send("-KILL", &child.0));
                done.killed_watchers += 1;
            }
            3 => {
                of_kind(false).for_each(|child| send("-KILL", &child.0));
                done.killed_commands += 1;
            }
            4..=6 if is_watched => {
                send("-STOP", &self.tool.id());
                let time = Duration::from_millis(500 + random.below(5_000));
                self.stopped_until = Some(Instant::now() + time);
                done.stopped += 1;
            }
            7 => {
                send("-TERM", &self.tool.id());
                done.asked += 1;
            }
            _ => {}
        }
    }

    fn go_on(&mut self) {
        if self.stopped_until.is_some_and(|until| until <= Instant::now()) {
            send("-CONT", &self.tool.id());
            self.stopped_until = None;
        }
    }
}

/// Runs tools for so long, and returns what was done to them.
fn storm(folder: &Path, db: &str, time: Duration, lock: impl Fn(Duration) + Sync) -> Done {
    let mut random = Random(size(now().as_secs(), 7));
    let (mut done, mut running, began) = (Done::default(), Vec::<Running>::new(), Instant::now());
    (0..TOOLS).for_each(|_| move_clock(folder, &mut random));
    thread::scope(|scope| {
        while began.elapsed() < time {
            running.retain_mut(|it| {
                let ended = it.tool.try_wait().unwrap();
                done.full += u64::from(ended.is_some_and(|status| status.code() == Some(75)));
                ended.is_none()
            });
            while running.len() < usize::try_from(TOOLS).unwrap() {
                let script = SCRIPTS[usize::try_from(random.below(3)).unwrap()];
                let clock = Some(random.below(TOOLS)).filter(|clock| clock % 2 == 0);
                running.push(Running {
                    tool: begin(folder, db, script, clock),
                    leaves_behind: script == SCRIPTS[2],
                    has_moving_clock: clock.is_some(),
                    stopped_until: None,
                });
                done.begun += 1;
            }
            for it in &mut running {
                it.go_on();
                if random.below(20) == 0 {
                    it.disturb(&mut random, &mut done);
                }
            }
            if random.below(100) == 0 {
                let time = Duration::from_millis(200 + random.below(3_000));
                let lock = &lock;
                scope.spawn(move || lock(time));
                done.locked += 1;
            }
            move_clock(folder, &mut random);
            thread::sleep(Duration::from_millis(50));
        }
    });
    for mut it in running {
        // Its command may ignore a request to end, and the watcher sees to it.
        it.tool.kill().unwrap();
        it.tool.wait().unwrap();
    }
    done
}

/// When which id was used, as the commands wrote it down: the first time and the last one.
fn uses(folder: &Path) -> BTreeMap<u64, Vec<(Duration, Duration)>> {
    let mut uses = BTreeMap::<u64, Vec<_>>::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let Some(id) = name.strip_prefix("uses-").and_then(|rest| rest.split('-').next()) else {
            continue;
        };
        let bytes = fs::read(entry.path()).unwrap();
        let times =
            bytes.chunks_exact(16).map(|time| u128::from_le_bytes(time.try_into().unwrap()));
        let times = times.map(|ns| Duration::from_nanos(u64::try_from(ns).unwrap()));
        let (first, last) = (times.clone().min(), times.max());
        let Some((first, last)) = first.zip(last) else { continue };
        uses.entry(id.parse().unwrap()).or_default().push((first, last));
    }
    for of_id in uses.values_mut() {
        of_id.sort_unstable();
    }
    uses
}

/// No id had two holders at once, nor one soon after the other.
fn check(folder: &Path, done: &Done) {
    let uses = uses(folder);
    let holders: usize = uses.values().map(Vec::len).sum();
    let mut closest = Duration::MAX;
    for (id, of_id) in &uses {
        for two in of_id.windows(2) {
            let [(_, last), (first, _)] = two else { continue };
            let apart = first.checked_sub(*last);
            assert!(apart.is_some(), "worker id {id} was with two: {two:?}");
            closest = closest.min(apart.unwrap_or_default());
        }
    }
    println!("{holders} holders of {} ids, {closest:?} apart; {done:?}", uses.len());
    assert!(closest >= APART, "two holders were {closest:?} apart");
    assert!(holders > 3 && uses.len() == 3, "{holders} holders of {uses:?}");
}

#[test]
fn no_worker_id_is_with_two_commands_at_once() {
    let folder = folder();
    let db = folder.path().join("db");
    let lock = |time: Duration| {
        let Ok(db) = rusqlite::Connection::open(&db) else { return };
        // Another may have it already.
        if db.execute_batch("BEGIN EXCLUSIVE").is_ok() {
            thread::sleep(time);
        }
    };
    let time = Duration::from_secs(size(180, 12));
    let done = storm(folder.path(), db.to_str().unwrap(), time, lock);
    check(folder.path(), &done);
}

#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn no_worker_id_is_with_two_commands_at_once_on_postgres() {
    let (folder, database) = (folder(), crate::databases::Server::Postgres.database());
    let lock = |time: Duration| {
        let seconds = time.as_secs_f64();
        database
            .run(&format!("BEGIN; LOCK TABLE uidring_pool; SELECT pg_sleep({seconds}); COMMIT"));
    };
    let time = Duration::from_secs(size(180, 20));
    let done = storm(folder.path(), &database.url, time, lock);
    check(folder.path(), &done);
}
