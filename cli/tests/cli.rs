//! The command-line tool as a user meets it: the real binary, its output, its exit status.

// A test that cannot go on has failed.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[cfg(unix)]
#[path = "../../tests/common/copy_program.rs"]
mod copy_program;
#[cfg(any(feature = "mysql", feature = "postgres"))]
#[path = "../../tests/common/databases/mod.rs"]
mod databases;
#[path = "cli/foreign_text.rs"]
mod foreign_text;
#[cfg(all(feature = "etcd", feature = "redis", feature = "zookeeper"))]
#[path = "../../tests/common/key_servers/mod.rs"]
mod key_servers;
#[cfg(all(feature = "etcd", feature = "redis", feature = "zookeeper"))]
#[path = "cli/key_stores.rs"]
mod key_stores;
#[path = "cli/masked.rs"]
mod masked;
#[path = "cli/series.rs"]
mod series;
#[path = "../../tests/common/size.rs"]
mod size;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;
use size::size;
use tempfile::TempDir;
use uidring::registry::{Lease, RegistryAdmin, Request, SqliteRegistry, WorkerRegistry};
use uidring::{Layout, RegistryError, Uid};

/// `uidring` in a folder of its own, away from the settings of whoever runs the tests.
fn uidring(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_uidring"));
    command.args(args).current_dir(folder).stdin(Stdio::null());
    command
        .env("TZ", "UTC")
        // Where the user's own registry is, on Linux and on macOS.
        .env("XDG_STATE_HOME", folder)
        .env("HOME", folder)
        .env_remove("CLICOLOR_FORCE")
        .env_remove("NO_COLOR")
        .env_remove("UIDRING_DB")
        .env_remove("UIDRING_KEY")
        .env_remove("UIDRING_KEY_FILE");
    command
}

/// The registry of the user who has `folder` as the state folder.
fn registry(folder: &Path) -> PathBuf {
    let state = if cfg!(target_os = "macos") { "Library/Application Support" } else { "" };
    folder.join(state).join("uidring/uidring.db")
}

fn with_registry(folder: &Path) -> SqliteRegistry {
    let path = registry(folder);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    SqliteRegistry::open(path).unwrap()
}

fn run(folder: &Path, args: &[&str]) -> Output {
    uidring(folder, args).output().unwrap()
}

/// What it prints when all is well: nothing on standard error, unless it has made a registry.
fn stdout(folder: &Path, args: &[&str]) -> String {
    let output = run(folder, args);
    assert_eq!(complaint(&output), "", "{args:?}");
    assert!(output.status.success(), "{args:?}: {}", output.status);
    text(&output.stdout)
}

/// Standard error, without the lines about a registry that was created, and about one that a busy
/// machine lets wait.
fn complaint(output: &Output) -> String {
    let is_news = |line: &&str| {
        let news = ["created the registry ", "waiting for the registry "];
        let said = line.strip_prefix("uidring: ");
        said.is_some_and(|said| news.iter().any(|news| said.starts_with(news)))
    };
    text(&output.stderr).split_inclusive('\n').skip_while(is_news).collect()
}

/// What it complains of, with this exit status and nothing on standard output.
fn stderr(folder: &Path, args: &[&str], status: i32) -> String {
    let output = run(folder, args);
    assert_eq!(text(&output.stdout), "", "{args:?}");
    assert_eq!(output.status.code(), Some(status), "{args:?}: {}", text(&output.stderr));
    let complaint = text(&output.stderr);
    assert!(complaint.starts_with("uidring: "), "{args:?}: {complaint}");
    complaint
}

fn with_input(folder: &Path, args: &[&str], input: &str) -> Output {
    let mut child = uidring(folder, args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn uids(lines: &str) -> Vec<Uid> {
    lines.lines().map(|line| line.parse().unwrap()).collect()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A folder in memory where there is one, as the tool's files need no disk here.
fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// From before its creation to a moment later than its end, with what a generator may borrow in a
/// short run.
struct Around(SystemTime);

impl Around {
    fn now() -> Around {
        Around(SystemTime::now() - Duration::from_secs(2))
    }

    fn contains(&self, time: SystemTime) -> bool {
        (self.0..SystemTime::now() + Duration::from_secs(60)).contains(&time)
    }
}

#[test]
fn take_works_in_an_empty_folder() {
    let folder = folder();
    let around = Around::now();
    let taken = uids(&stdout(folder.path(), &["take", "-n", "5"]));
    assert_eq!(taken.len(), 5);
    assert!(taken.is_sorted_by(|a, b| a < b));
    for &uid in &taken {
        let parts = Layout::DEFAULT.parts(uid);
        assert_eq!(parts.worker, 1);
        assert!(around.contains(parts.time), "{:?}", parts.time);
    }
}

#[test]
fn runs_in_any_folder_share_the_users_registry() {
    let (home, work) = (folder(), [folder(), folder()]);
    let take = |place: &TempDir| {
        let mut command = uidring(home.path(), &["take"]);
        command.current_dir(place.path()).output().unwrap()
    };
    let [first, second] = work.each_ref().map(take);
    let worker = |output: &Output| Layout::DEFAULT.parts(uids(&text(&output.stdout))[0]).worker;
    assert_eq!([worker(&first), worker(&second)], [1, 2]);
    for place in &work {
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0, "nothing in the folder");
    }
    let path = registry(home.path());
    assert_eq!(text(&first.stderr), format!("uidring: created the registry {}\n", path.display()));
    assert_eq!(text(&second.stderr), "");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(path.parent().unwrap()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}

#[test]
fn a_registry_that_is_made_is_told_with_its_full_path() {
    let folder = folder();
    for (db, args) in
        [("here.db", &["take"][..]), ("there.db", &["status", "--for", "50ms", "--json"])]
    {
        let path = folder.path().join(db);
        let args = &[args, &["--db", db]].concat();
        let said = format!("uidring: created the registry {}\n", path.display());
        assert_eq!(text(&run(folder.path(), args).stderr), said);
        assert_eq!(text(&run(folder.path(), args).stderr), "", "only when it is made");
    }
}

#[test]
fn a_text_that_is_no_path_makes_no_file() {
    let folder = folder();
    for db in [
        "host=db dbname=ids user=me password=hunter2",
        "user=me host=db password=hunter2",
        "password=hunter2",
        "oracle://me:hunter2@db/ids",
        "mysql:/me:hunter2@db/ids",
        "file:uidring.db",
        "jdbc:mysql://db/ids?password=hunter2",
    ] {
        for args in [&["take", "--db", db][..], &["workers", "--db", db]] {
            let complaint = stderr(folder.path(), args, 1);
            assert!(complaint.contains("a store is a file, or an address"), "{complaint}");
            assert!(!complaint.contains("hunter2"), "{complaint}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{db} makes no file");
    }
    let complaint = stderr(folder.path(), &["take", "--db", "sqlite:///ids.db"], 1);
    assert!(complaint.contains("sqlite:///ids.db is ids.db in the folder of"), "{complaint}");
    assert!(
        complaint.contains("write the path of the file alone, /ids.db or ./ids"),
        "{complaint}"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "no file is made");
    // As a path it is one.
    stdout(folder.path(), &["take", "--db", "./user=me.db"]);
    assert!(folder.path().join("user=me.db").exists());
    stdout(folder.path(), &["take", "--db", "sqlite:uidring.db"]);
    assert!(folder.path().join("uidring.db").exists());
}

#[test]
fn take_takes_one_unless_told_otherwise() {
    let folder = folder();
    assert_eq!(uids(&stdout(folder.path(), &["take"])).len(), 1);
}

#[test]
fn runs_that_share_a_registry_take_distinct_uids() {
    let folder = folder();
    let args = ["take", "-n", "20000", "--db", "shared.db"];
    // At once, not one after another.
    let runs: Vec<_> = (0..4)
        .map(|_| uidring(folder.path(), &args).stdout(Stdio::piped()).spawn().unwrap())
        .collect();
    let mut all: Vec<Uid> = Vec::new();
    for run in runs {
        let output = run.wait_with_output().unwrap();
        assert!(output.status.success());
        all.extend(uids(&text(&output.stdout)));
    }
    assert_eq!(all.len(), 80_000);
    let mut workers: Vec<u64> = all.iter().map(|&uid| Layout::DEFAULT.parts(uid).worker).collect();
    workers.dedup();
    workers.sort_unstable();
    assert_eq!(workers, [1, 2, 3, 4]);
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 80_000);
}

#[test]
fn a_million_lines_come_in_order() {
    let folder = folder();
    let taken = uids(&stdout(folder.path(), &["take", "-n", "1000003"]));
    assert_eq!(taken.len(), 1_000_003);
    assert!(taken.is_sorted_by(|a, b| a < b));
}

#[test]
fn take_has_three_formats() {
    let folder = folder();
    let around = Around::now();
    assert_eq!(uids(&stdout(folder.path(), &["take", "-n", "3", "--format", "decimal"])).len(), 3);

    let lines = stdout(folder.path(), &["take", "-n", "3", "--format", "base32"]);
    let taken: Vec<Uid> = lines.lines().map(|line| Uid::from_base32(line).unwrap()).collect();
    assert_eq!(taken.len(), 3);
    assert!(taken.is_sorted_by(|a, b| a < b));
    assert!(taken.iter().all(|&uid| Layout::DEFAULT.parts(uid).worker == 2));

    let lines = stdout(folder.path(), &["take", "-n", "3", "--format", "json"]);
    assert_eq!(lines.lines().count(), 3);
    for line in lines.lines().map(json) {
        let mut members: Vec<&String> = line.as_object().unwrap().keys().collect();
        members.sort();
        assert_eq!(members, ["sequence", "time", "uid", "worker"]);
        // A string: JavaScript rounds numbers of this size.
        let parts = Layout::DEFAULT.parts(line["uid"].as_str().unwrap().parse().unwrap());
        assert_eq!(line["worker"], 3);
        assert_eq!(line["worker"], parts.worker);
        assert_eq!(line["sequence"], parts.sequence);
        let time = line["time"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
        assert!(line["time"].as_str().unwrap().ends_with('Z'));
        assert_eq!(SystemTime::from(time), parts.time);
        assert!(around.contains(parts.time));
    }
}

#[test]
fn take_has_a_layout_and_the_registry_remembers_it() {
    let folder = folder();
    let chosen = ["--layout", "35,10,15", "--epoch", "2020-01-01", "--tick", "100ms"];
    let epoch: jiff::Timestamp = "2020-01-01T00:00:00Z".parse().unwrap();
    let layout = Layout::new(35, 10, 15).unwrap().with_tick(Duration::from_millis(100)).unwrap();
    let layout = layout.with_epoch(epoch.into()).unwrap();

    let around = Around::now();
    // Without the options, the second run asks the registry.
    for (worker, args) in [(1, &chosen[..]), (2, &[])] {
        let taken = uids(&stdout(folder.path(), &[&["take", "-n", "2"], args].concat()));
        assert_eq!(taken.len(), 2);
        for uid in taken {
            assert_eq!(layout.parts(uid).worker, worker);
            assert!(around.contains(layout.parts(uid).time));
        }
    }

    let refused = stderr(folder.path(), &["take", "--preset", "default"], 1);
    assert!(refused.contains("35 | 10 | 15") && refused.contains("30 | 20 | 13"), "{refused}");
    let db = registry(folder.path());
    let shown = json(&stdout(folder.path(), &["layout", "--db", db.to_str().unwrap(), "--json"]));
    assert_eq!((&shown["time_bits"], &shown["tick_ms"]), (&Value::from(35), &Value::from(100)));
}

#[test]
fn take_refuses_a_layout_that_has_ended() {
    let folder = folder();
    let complaint = stderr(folder.path(), &["take", "--preset", "uid-generator"], 1);
    assert!(complaint.contains("2024-11-20T13:24:16Z"), "{complaint}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "no registry is left for it");
}

#[test]
fn take_refuses_a_generator_that_cannot_be_built() {
    let folder = folder();
    for (args, why) in [
        (&["--slots", "3"][..], "2 and 4"),
        (&["--max-lead", "0s", "--max-lag", "500ms"], ": --max-lead, 0 s, and --max-lag, 500 ms,"),
        (
            &["--exact-time", "--on-lead-limit", "new-worker"],
            "set --on-lead-limit to wait or fail,",
        ),
        (&["--epoch", "2999-01-01"], "2999-01-01T00:00:00Z"),
    ] {
        let complaint = stderr(folder.path(), &[&["take"], args].concat(), 1);
        assert!(complaint.contains(why), "{complaint}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{args:?} leaves no registry");
    }
}

/// What a load prints, and its summary.
fn load(folder: &Path, args: &[&str]) -> (String, String) {
    let output = run(folder, args);
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    (text(&output.stdout), complaint(&output))
}

#[test]
fn take_at_a_rate_takes_no_more_than_is_due() {
    let folder = folder();
    let (lines, summary) = load(folder.path(), &["take", "--rate", "2k", "--for", "500ms"]);
    let taken = uids(&lines);
    // All of it, unless the machine is so busy that the last ones came too late.
    assert!((500..=1000).contains(&taken.len()), "{}", taken.len());
    assert!(taken.is_sorted_by(|a, b| a < b));
    assert!(
        summary.contains(" UIDs in ") && summary.contains("worker 1, filler running"),
        "{summary}"
    );
    assert!(!summary.contains('\u{1b}'), "no panel in a pipe: {summary}");
}

#[test]
fn take_at_a_rate_takes_its_time() {
    let folder = folder();
    let started = Instant::now();
    let (lines, _) = load(folder.path(), &["take", "-n", "300", "--rate", "1000"]);
    assert_eq!(uids(&lines).len(), 300);
    assert!(started.elapsed() >= Duration::from_millis(300));
}

#[test]
fn take_with_threads_takes_as_many_distinct_uids() {
    let folder = folder();
    let (lines, _) = load(folder.path(), &["take", "-n", "100001", "--threads", "3"]);
    let mut taken = uids(&lines);
    taken.sort_unstable();
    taken.dedup();
    assert_eq!(taken.len(), 100_001);
}

#[test]
fn take_without_output_counts_only() {
    let folder = folder();
    let (lines, summary) =
        load(folder.path(), &["take", "--for", "200ms", "--no-output", "--threads", "2"]);
    assert_eq!(lines, "");
    let taken = summary.split(" UIDs in ").next().unwrap().replace(',', "");
    assert!(taken.parse::<u64>().unwrap() > 1000, "{summary}");
}

/// Of a run whose output ends in the middle.
#[cfg(target_os = "linux")]
#[test]
fn a_summary_counts_what_was_written() {
    let folder = folder();
    stdout(folder.path(), &["take"]);
    // A limit in blocks of 512 bytes, which a file runs into instead of a full disk.
    let limited = "trap '' XFSZ; ulimit -f 1000; exec \"$0\" take -n 100000 --rate 10M >uids.txt";
    let mut shell = Command::new("sh");
    shell.args(["-c", limited, env!("CARGO_BIN_EXE_uidring")]).current_dir(folder.path());
    let output = shell.env("XDG_STATE_HOME", folder.path()).env_remove("UIDRING_DB").output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    let written = fs::read_to_string(folder.path().join("uids.txt")).unwrap();
    let lines = written.matches('\n').count();
    assert!((20_000..30_000).contains(&lines), "{lines}");
    let counted = said.split(" UIDs in ").next().unwrap().replace(',', "");
    assert_eq!(counted.parse(), Ok(lines), "{said}");
    assert!(said.contains("uidring: cannot write to standard output: File too large"), "{said}");
}

#[test]
fn a_run_ends_in_time_though_it_waits() {
    let folder = folder();
    let ends = |more: &[&str]| {
        let args = ["take", "--for", "2100ms", "--max-lead", "3s", "--on-lead-limit", "wait"];
        let (_, summary) = load(folder.path(), &[&args[..], more].concat());
        let (_, seconds) = summary.split_once(" UIDs in ").unwrap();
        let seconds: f64 = seconds.split(' ').next().unwrap().parse().unwrap();
        // The next UIDs come a second after the last ones.
        assert!((2.1..2.4).contains(&seconds), "{more:?}: {summary}");
    };
    // At once, because they wait most of the time.
    thread::scope(|scope| {
        for more in [&["--no-output"][..], &["--threads", "3"], &["--rate", "1M"]] {
            scope.spawn(move || ends(more));
        }
    });
}

#[test]
fn no_uid_uses_no_worker_id() {
    let folder = folder();
    for more in [&[][..], &["--no-output"], &["--format", "json"]] {
        assert_eq!(stdout(folder.path(), &[&["take", "-n", "0"], more].concat()), "");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    assert!(stderr(folder.path(), &["take", "-n", "0", "--layout", "9,9,9"], 2).contains("time"));
}

/// A run that gets a Ctrl-C after its first line, and the lines that follow.
#[cfg(unix)]
fn interrupted(folder: &Path, args: &[&str]) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut child =
        uidring(folder, args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    (child, lines)
}

#[cfg(unix)]
#[test]
fn an_interrupted_take_gives_its_lease_back() {
    let folder = folder();
    let args = ["take", "-n", "1000000000000", "--lease", "1h"];
    let (child, lines) = interrupted(folder.path(), &args);
    let count = 1 + lines.map(Result::unwrap).count();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let said = complaint(&output);
    let after = said.strip_prefix("uidring: interrupted after ").unwrap();
    assert_eq!(after.split(' ').next().unwrap().replace(',', "").parse(), Ok(count), "{said}");
    let report = json(&stdout(folder.path(), &["workers", "--json"]));
    assert_eq!(report["leased"]["given_back"], 1, "{report}");
}

/// What is typed on a terminal shows there, at the cursor: it must not push the bar to a line that
/// is not cleared.
#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_shows_on_the_line_of_the_bar() {
    let folder = folder();
    stdout(folder.path(), &["take"]);
    let tool = env!("CARGO_BIN_EXE_uidring");
    let interrupt = |command: &str| {
        let mut terminal = Command::new("script");
        terminal.args(["-qec", &format!("stty cols 80; {command}"), "/dev/null"]);
        terminal.env("XDG_STATE_HOME", folder.path()).env("TERM", "xterm");
        let mut terminal = terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut keyboard = terminal.stdin.take().unwrap();
        let mut screen = terminal.stdout.take().unwrap();
        // The line is there, and is drawn again and again.
        let mut shown = vec![0; 256];
        screen.read_exact(&mut shown).unwrap();
        keyboard.write_all(b"\x03").unwrap();
        screen.read_to_end(&mut shown).unwrap();
        terminal.wait().unwrap();
        // The echo may come in the middle of a character of several bytes.
        let shown = String::from_utf8_lossy(&shown);
        let (before, _) = shown.split_once("^C").unwrap_or_else(|| panic!("{command}: {shown}"));
        // The cursor's column: lines that are redrawn fill the terminal without a line break.
        let line = before.rsplit(['\r', '\n']).next().unwrap();
        let columns = console::measure_text_width(line);
        let is_at_the_edge = columns > 0 && !(1..=78).contains(&(columns % 80));
        assert!(!is_at_the_edge, "{command}: {columns}");
    };
    thread::scope(|scope| {
        for command in [
            "take -n 1000000000000 >/dev/null",
            "take --rate 1000 --no-output",
            "status --watch --rate 1000",
            "bench --for 10s",
        ] {
            scope.spawn(move || interrupt(&format!("{tool} {command}")));
        }
    });
}

#[test]
fn take_heeds_the_limits() {
    let folder = folder();
    // Three seconds' worth of 16 UIDs may be taken at once, of which one or two are there in the
    // end.
    let narrow = ["take", "-n", "1000", "--layout", "30,20,4", "--max-lead", "3s"];
    let failing = [&narrow[..], &["--on-lead-limit", "fail"]].concat();
    let output = run(folder.path(), &failing);
    assert_eq!(output.status.code(), Some(1));
    let taken = text(&output.stdout).lines().count();
    assert!((16..=64).contains(&taken), "{taken}");
    assert!(text(&output.stderr).contains("lead"), "{}", text(&output.stderr));

    let workers = |args: &[&str]| -> usize {
        let layout = Layout::new(30, 20, 4).unwrap();
        let taken = uids(&stdout(folder.path(), args));
        let mut workers: Vec<u64> = taken.iter().map(|&uid| layout.parts(uid).worker).collect();
        workers.dedup();
        workers.len()
    };
    assert!(workers(&[&narrow[..], &["--on-lead-limit", "new-worker"]].concat()) > 3);
    let waiting =
        ["take", "-n", "80", "--layout", "30,20,4", "--max-lead", "3s", "--on-lead-limit", "wait"];
    assert_eq!(workers(&waiting), 1);
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_load_with_its_summary() {
    let folder = folder();
    for args in [&["take", "--rate", "1000"][..], &["status", "--watch"]] {
        let (child, mut lines) = interrupted(folder.path(), args);
        assert!(lines.all(|line| !line.unwrap().is_empty()));
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", output.status);
        assert_eq!(
            text(&output.stderr).contains(" in the ring, "),
            args[0] == "take",
            "{}",
            text(&output.stderr)
        );
    }
}

#[test]
fn status_tries_a_generator_and_leaves_nothing() {
    let folder = folder();
    let page = stdout(folder.path(), &["status", "--for", "200ms"]);
    for expected in
        [" UIDs in ", "worker 1, filler running", "lead ", "the time field ends at 2060-01-10"]
    {
        assert!(page.contains(expected), "{expected:?} is not in\n{page}");
    }
    let record =
        json(&stdout(folder.path(), &["status", "--for", "200ms", "--rate", "5k", "--json"]));
    assert!((1..=1000).contains(&record["taken"].as_u64().unwrap()), "{record}");
    assert_eq!(
        (&record["worker_id"], &record["filler"]),
        (&Value::from(1), &Value::from("running"))
    );
    assert!(record["lead_ms"].as_u64().unwrap() > 1000, "a full ring: {record}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

    // With a registry it is a start like any other.
    let args = ["status", "--for", "50ms", "--rate", "0", "--json", "--db", "uidring.db"];
    for worker in 1..3 {
        let record = json(&stdout(folder.path(), &args));
        assert_eq!(
            (&record["worker_id"], &record["taken"]),
            (&Value::from(worker), &Value::from(0))
        );
    }
    assert_eq!(uids(&stdout(folder.path(), &["take", "--db", "uidring.db"])).len(), 1);
}

#[test]
fn each_part_of_a_summary_has_a_line_of_its_own() {
    let folder = folder();
    for args in [
        "status --for 50ms",
        "status --for 50ms --preset twitter --exact-time",
        "take --for 50ms --no-output",
    ] {
        let output = run(folder.path(), &args.split(' ').collect::<Vec<_>>());
        let page = text(&output.stdout) + &complaint(&output);
        let begin = |line: &str| line.split([':', ' ']).next().unwrap().to_owned();
        let begins: Vec<String> = page.lines().skip(1).map(begin).collect();
        let mut expected = vec!["worker", "lead", "UIDs", "refills", "takes", "the"];
        expected.retain(|begin| *begin != "refills" || !args.contains("exact-time"));
        assert_eq!(begins, expected, "{page}");
    }
}

#[test]
fn status_watches_line_by_line() {
    let folder = folder();
    let lines = stdout(
        folder.path(),
        &["status", "--watch", "--for", "2500ms", "--rate", "10k", "--slots", "16"],
    );
    let records: Vec<Value> = lines.lines().map(json).collect();
    assert!((2..=4).contains(&records.len()), "{lines}");
    let numbers = |member: &str| -> Vec<u64> {
        records.iter().map(|record| record[member].as_u64().unwrap()).collect()
    };
    assert!(numbers("taken").is_sorted() && numbers("elapsed_ms").is_sorted(), "{lines}");
    assert!(numbers("taken").into_iter().all(|taken| (1..=25_000).contains(&taken)), "{lines}");
}

#[test]
fn status_shows_new_worker_ids() {
    let policy = ["--max-lead", "10s", "--on-lead-limit", "new-worker"];
    let args =
        [["status", "--rate", "max", "--for", "500ms", "--json"].as_slice(), &policy].concat();
    let record = json(&stdout(folder().path(), &args));
    assert!(record["new_workers"].as_u64().unwrap() > 0, "{record}");
    assert_eq!(
        record["worker_id"].as_u64(),
        record["new_workers"].as_u64().map(|others| others + 1)
    );
}

/// Reads the line as a compiler would, so far.
fn layout_of_rust(line: &str) -> Layout {
    let argument =
        |call: &str| -> Option<&str> { Some(line.split_once(call)?.1.split_once(')')?.0) };
    let number = |text: &str| -> u64 { text.replace('_', "").parse().unwrap() };
    let widths: Vec<u32> =
        argument("Layout::new(").unwrap().split(", ").map(|width| width.parse().unwrap()).collect();
    let mut layout = Layout::new(widths[0], widths[1], widths[2]).unwrap();
    if let Some(ms) = argument(".with_tick(Duration::from_millis(") {
        layout = layout.with_tick(Duration::from_millis(number(ms))).unwrap();
    }
    let distance =
        |sign: &str| argument(&format!(".with_epoch(UNIX_EPOCH {sign} Duration::from_secs("));
    let seconds = |text| Duration::from_secs(number(text));
    let epoch = match (distance("+"), distance("-")) {
        (Some(after), _) => SystemTime::UNIX_EPOCH + seconds(after),
        (None, before) => SystemTime::UNIX_EPOCH - seconds(before.unwrap()),
    };
    assert!(
        line.ends_with("))?") && line.matches('(').count() == line.matches(')').count(),
        "{line}"
    );
    layout.with_epoch(epoch).unwrap()
}

const SHOP: [&str; 12] = [
    "plan",
    "--rate",
    "2k",
    "--peak",
    "20k",
    "--peak-for",
    "2h",
    "--nodes",
    "20",
    "--restarts-per-day",
    "5",
    "--json",
];

#[test]
fn a_length_may_have_several_units() {
    let folder = folder();
    let peak = |length: &str| {
        let args = ["plan", "--rate", "1k", "--peak", "9k", "--peak-for", length, "--json"];
        json(&stdout(folder.path(), &args))["recommended"].clone()
    };
    assert_eq!(peak("1h30m"), peak("90m"));
    assert_eq!(peak("1h 30m"), peak("1.5h"));
}

#[test]
fn a_count_may_have_a_unit() {
    let folder = folder();
    for (count, expected) in [("2k", 2000), ("0.5k", 500), ("1_234", 1234)] {
        let lines = stdout(folder.path(), &["take", "-n", count]);
        assert_eq!(lines.lines().count(), expected, "{count}");
    }
    let plan = |nodes: &str| {
        let args = ["plan", "--rate", "100", "--nodes", nodes, "--json"];
        json(&stdout(folder.path(), &args))["recommended"].clone()
    };
    assert_eq!(plan("1k"), plan("1000"));
    stdout(folder.path(), &["workers", "--last", "1k"]);
    // The largest number there is.
    let args = ["take", "-n", "18446744073709551615", "--for", "50ms", "--no-output"];
    assert!(load(folder.path(), &args).1.contains(" UIDs in "));
    let args = ["take", "-n", "5", "--rate", "10k", "--for", "1h30m"];
    assert_eq!(load(folder.path(), &args).0.lines().count(), 5);
    for (option, wrong) in [("-n", "0.5"), ("-n", "1.0005k"), ("-n", "1h"), ("--count", "k")] {
        let complaint = stderr(folder.path(), &["take", option, wrong], 2);
        assert!(complaint.contains("a whole number such as 500, 20k or 1.5M"), "{complaint}");
    }
}

#[test]
fn plan_recommends_a_layout_that_does() {
    let folder = folder();
    let plan = json(&stdout(folder.path(), &[&SHOP[..], &["--years", "25"]].concat()));
    assert_eq!(plan["fits"], true);
    assert_eq!(plan["needs"]["average_per_second"], 3500.0);
    let rows: Vec<&Value> =
        [&plan["recommended"]].into_iter().chain(plan["others"].as_array().unwrap()).collect();
    assert!(rows.len() >= 3);
    for row in rows {
        let layout = layout_of_rust(row["rust"].as_str().unwrap());
        assert_eq!(row["time_bits"], layout.time_bits());
        assert_eq!(row["worker_ids"], layout.max_worker());
        let expires: jiff::Timestamp = row["expires"].as_str().unwrap().parse().unwrap();
        assert_eq!(SystemTime::from(expires), layout.expires_at());
        let lasts =
            layout.expires_at().duration_since(SystemTime::now()).unwrap().as_secs() / 31_556_952;
        let does = lasts >= 25
            && row["worker_ids_needed"].as_u64() <= row["worker_ids"].as_u64()
            && row["uids_per_second"].as_u64().unwrap() >= 3500;
        assert_eq!(row["fits"], does, "{row}");

        // The flags mean the same.
        let flags: Vec<&str> = row["flags"].as_str().unwrap().split(' ').collect();
        let shown = json(&stdout(folder.path(), &[&["layout", "--json"], &flags[..]].concat()));
        for member in ["time_bits", "worker_bits", "sequence_bits", "tick_ms", "epoch", "expires"] {
            assert_eq!(shown[member], row[member], "{member}");
        }
    }
    assert_eq!(plan["recommended"]["fits"], true);
}

#[test]
fn plan_exceeds_the_ids_in_use() {
    let folder = folder();
    let plan = |above: &str, more: &[&str]| {
        let args = ["plan", "--rate", "1000", "--years", "10", "--above", above];
        stdout(folder.path(), &[&args[..], more].concat())
    };
    let ids = ["1", "9007199258836993", "1256557484213448722", "6000000000000000000", "-5"];
    for (above, restarts) in ids.into_iter().flat_map(|id| [(id, "0"), (id, "1"), (id, "200")]) {
        let report = json(&plan(above, &["--json", "--restarts-per-day", restarts]));
        let now = SystemTime::now();
        assert_eq!(report["recommended"]["fits"], true, "{report}");
        for row in [&report["recommended"]].into_iter().chain(report["others"].as_array().unwrap())
        {
            let layout = layout_of_rust(row["rust"].as_str().unwrap());
            let first = i64::from(layout.min_uid(now).unwrap());
            assert!(first > above.parse().unwrap(), "{first} and {above}: {layout}");
            let years = layout.expires_at().duration_since(now).unwrap().as_secs() / 31_556_952;
            assert!(row["fits"] == false || years >= 10, "{row}");
            let flags: Vec<&str> = row["flags"].as_str().unwrap().split(' ').collect();
            let shown = json(&stdout(folder.path(), &[&["layout", "--json"], &flags[..]].concat()));
            assert_eq!(shown["epoch"], row["epoch"], "{row}");
        }
    }
    // More than half of all numbers are used up, and so is more than half of the time field.
    let page = plan("6000000000000000000", &[]);
    assert!(page.contains("All its UIDs exceed 6000000000000000000. For that, its"), "{page}");
    // The first year of the layout is enough for that.
    assert!(plan("9007199258836993", &[]).contains("All its UIDs exceed 9007199258836993.\n"));
    assert!(!page.contains("The default layout is enough"), "{page}");
    // Nothing can exceed the largest number.
    let args = ["plan", "--rate", "1000", "--above", "9223372036854775807"];
    assert!(stderr(folder.path(), &args, 1).contains("no layout that lasts for 30 years exceeds"));
    for wrong in ["", "x", "9223372036854775808", "1.5"] {
        let complaint = stderr(folder.path(), &["plan", "--rate", "1000", "--above", wrong], 2);
        assert!(complaint.contains("a whole number below 2^63"), "{complaint}");
    }
}

/// A program that is about to be changed has ids of today, and goes on making them.
#[test]
fn plan_says_when_the_old_ids_pass_the_new_ones() {
    let folder = folder();
    let id = |layout: Layout| layout.max_uid(SystemTime::now()).unwrap().to_string();
    let twitter = id(Layout::TWITTER);
    let page = stdout(folder.path(), &["plan", "--above", &twitter]);
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.starts_with("One node takes 1,000 UIDs a second."), "{page}");
    let told = "Until their generator stops, the old ids grow as well. With the layout of \
        `--preset twitter`, they pass these UIDs in ";
    assert!(page.contains(told), "{page}");
    assert!(page.contains("That date is only where the time is counted from"), "{page}");
    let (_, later) = page.split_once("in 30 days --above ").unwrap();
    let later = later.split_once('.').unwrap().0;
    assert!(later.parse::<u64>().unwrap() > twitter.parse().unwrap());

    let soon = |above: &str| {
        let report = json(&stdout(folder.path(), &["plan", "--json", "--above", above]));
        report["old_ids_pass_in_ms"].as_u64()
    };
    // Within a day, as epochs are midnights, and the old ids are 15 times as fast.
    assert!(soon(&twitter).unwrap() < 24 * 3_600_000 / 10, "{:?}", soon(&twitter));
    // The largest id there can be in 30 days gives them that time.
    assert!(soon(later).is_none_or(|ms| ms < 24 * 3_600_000));
    let planned = Layout::TWITTER.max_uid(SystemTime::now() + 31 * 24 * HOUR).unwrap();
    let report = json(&stdout(folder.path(), &["plan", "--json", "--above", &planned.to_string()]));
    let layout = layout_of_rust(report["recommended"]["rust"].as_str().unwrap());
    let now = SystemTime::now();
    assert!(layout.min_uid(now) > Layout::TWITTER.max_uid(now + 30 * 24 * HOUR));
    for dense in ["1", "90000000000", "-5"] {
        assert_eq!(soon(dense), None, "{dense}");
    }
    let complaint = stderr(folder.path(), &["plan"], 2);
    assert!(complaint.contains("--rate"), "{complaint}");
}

#[test]
fn plan_draws_what_it_recommends() {
    let page = stdout(folder().path(), &["plan", "--rate", "1000", "--years", "30"]);
    let (_, rust) = page.split_once("\nRust  ").unwrap();
    let (rust, _) = rust.split_once("\nTool  ").unwrap();
    let layout = layout_of_rust(&rust.replace("\n      ", ""));
    assert!(page.contains(&format!("Recommended: {layout}\n")), "{page}");
    for expected in [
        "One node takes 1,000 UIDs a second",
        "▶ recommended",
        "✔ the default",
        "Tool  uidring take --layout ",
    ] {
        assert!(page.contains(expected), "{expected:?} is not in\n{page}");
    }
    // 28 bits of seconds are eight years and a half.
    let short = page.lines().find(|line| line.starts_with("✘ UidGenerator ")).unwrap();
    assert!(short.contains("years short"), "{short}");
    assert!(!page.contains('\u{1b}'), "no colours in a pipe");
}

#[test]
fn plan_says_what_to_give_up() {
    let folder = folder();
    let greedy =
        ["plan", "--rate", "5k", "--nodes", "20", "--restarts-per-day", "20", "--years", "50"];
    let complaint = stderr(folder.path(), &greedy, 1);
    assert!(
        complaint.starts_with("uidring: this needs at least ") && complaint.contains(" too many"),
        "{complaint}"
    );
    let given: Vec<&str> =
        complaint.lines().filter(|line| line.contains(" instead of ")).map(str::trim).collect();
    assert_eq!(given.len(), 4, "{complaint}");
    assert!(complaint.contains("\n  It fits with any one of these:\n"), "{complaint}");
    let absurd =
        ["plan", "--rate", "1M", "--nodes", "1M", "--years", "1000", "--restarts-per-day", "50"];
    let complaint_of_absurd = stderr(folder.path(), &absurd, 1);
    assert!(
        complaint_of_absurd.contains("\n  It fits with all of these together:\n"),
        "{complaint_of_absurd}"
    );
    // Each is enough.
    for (way, option) in given.iter().zip(["--years", "--restarts-per-day", "--nodes", "--rate"]) {
        let number = way.split(' ').next().unwrap().replace(',', "");
        let mut args = greedy.map(str::to_owned);
        let at = args.iter().position(|arg| arg == option).unwrap();
        args[at + 1] = number;
        stdout(folder.path(), &args.each_ref().map(String::as_str));
    }

    let output = run(folder.path(), &[&greedy[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let plan = json(&text(&output.stdout));
    assert_eq!((&plan["fits"], &plan["recommended"]), (&Value::from(false), &Value::Null));
    assert!(plan["needs"]["bits"].as_u64().unwrap() > 63);
    assert_eq!(plan["instead"].as_array().unwrap(), &given);
}

#[test]
fn take_says_why_there_is_no_registry() {
    let folder = folder();
    let complaint = stderr(folder.path(), &["take", "--db", "no/such/folder/uidring.db"], 1);
    assert!(complaint.contains("no/such/folder"), "{complaint}");
    fs::write(
        folder.path().join("notes.txt"),
        "This is not a database, and it is long enough to be sure.",
    )
    .unwrap();
    let complaint = stderr(folder.path(), &["take", "--db", "notes.txt"], 1);
    assert!(complaint.contains("notes.txt"), "{complaint}");
    assert_eq!(complaint.lines().count(), 1);
}

/// As `| head -3`.
#[cfg(unix)]
#[test]
fn a_reader_who_has_seen_enough_ends_it_quietly() {
    let folder = folder();
    for format in ["decimal", "base32", "json"] {
        // More than any pipe holds.
        let args = ["take", "-n", "100000000", "--format", format];
        let mut child = uidring(folder.path(), &args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let seen: Vec<String> = lines.by_ref().take(3).map(|line| line.unwrap()).collect();
        assert!(seen.len() == 3 && seen.iter().all(|line| !line.is_empty()), "{seen:?}");
        drop(lines);
        let output = child.wait_with_output().unwrap();
        assert_eq!(complaint(&output), "");
        assert!(output.status.success(), "{format}: {}", output.status);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure() {
    let folder = folder();
    stdout(folder.path(), &["take"]);
    for args in [
        &["take"][..],
        &["take", "-n", "1000000"],
        &["take", "-n", "1000000", "--format", "json"],
        &["parse", "1"],
        &["parse", "1", "--json"],
        &["layout"],
        &["workers"],
    ] {
        let full = File::create("/dev/full").unwrap();
        let output = uidring(folder.path(), args).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let complaint = text(&output.stderr);
        assert!(
            complaint.starts_with("uidring: cannot write to standard output: No space left"),
            "{complaint}"
        );
        assert_eq!(complaint.lines().count(), 1, "{complaint}");
    }
}

/// The sample that `UidGenerator` publishes.
const SAMPLE: &str = "180363646902239241";
const SAMPLE_LAYOUT: [&str; 4] = ["--layout", "29,21,13", "--epoch", "2016-09-19T16:00:00Z"];

fn parse_sample(text: &str, more: &[&str]) -> String {
    stdout(folder().path(), &[&["parse", text], &SAMPLE_LAYOUT[..], more].concat())
}

#[test]
fn parse_tells_the_presets_that_give_a_plausible_time() {
    let folder = folder();
    let presets = |args: &[&str]| {
        let args = [&["parse", "--json"], args].concat();
        json(&stdout(folder.path(), &args))["plausible_presets"].clone()
    };
    // The first is an id of Leaf of 2020. With the default layout it would be from the future.
    let of_leaf = "1256557484213448722";
    assert_eq!(
        presets(&[of_leaf]),
        serde_json::json!(["uid-generator", "twitter", "sharding-sphere"])
    );
    // Of the fork of UidGenerator that Maven Central has.
    let starter = Layout::UID_GENERATOR_STARTER.max_uid(SystemTime::now()).unwrap().to_string();
    let found = presets(&[&starter]);
    assert!(found.as_array().unwrap().contains(&"uid-generator-starter".into()), "{found}");
    // Beyond 2^53, and of a time after now with every other preset.
    assert_eq!(presets(&["--base32", "7ZZZZZZZZZZZZ"]), serde_json::json!(["uid-generator"]));
    let page = stdout(folder.path(), &["parse", of_leaf]);
    let (card, others) = page.split_once("one of these layouts:\n").unwrap();
    assert!(card.contains("This UID lies in the future"), "{page}");
    let row = "twitter          2020-05-02T12:13:44.602Z      619        18";
    assert!(others.lines().any(|line| line == row), "{page}");
    // A layout that was asked for is not doubted.
    for args in [["--preset", "leaf", of_leaf], ["--layout", "30,20,13", of_leaf]] {
        let page = stdout(folder.path(), &[&["parse"], &args[..]].concat());
        assert!(!page.contains("these layouts"), "{page}");
    }
}

#[test]
fn parse_reads_what_uid_generator_makes_after_its_end() {
    let folder = folder();
    // The first second after 2024-11-20T13:24:15Z, worker 7, sequence 9, as Java's signed sum.
    let id = ((1_i64 << 28) << 35 | 7 << 13 | 9).to_string();
    assert!(id.starts_with('-'));
    let parse = |more: &[&str]| {
        let args = ["parse", "--preset", "uid-generator", &id];
        stdout(folder.path(), &[&args[..], more].concat())
    };
    let record = json(&parse(&["--json"]));
    assert_eq!(record["uid"], id.as_str());
    assert_eq!(record["time"], "2024-11-20T13:24:16Z");
    assert_eq!((&record["worker"], &record["sequence"]), (&Value::from(7), &Value::from(9)));
    assert_eq!(record["in_layout"], false);
    let card = parse(&[]);
    assert!(card.contains("This id is negative") && !card.contains("base32"), "{card}");
    let table = parse(&["1"]);
    assert!(table.lines().any(|line| line.ends_with("after the end")), "{table}");
    // In a layout of fewer bits, or with the worker on top, the sign is no part of the time.
    for layout in [["--layout", "29,20,13"], ["--preset", "seata"]] {
        let args = [&["parse", &id], &layout[..]].concat();
        assert!(stderr(folder.path(), &args, 1).contains("is not a UID"));
    }
}

#[test]
fn a_worker_on_top_is_remembered() {
    let folder = folder();
    let args = ["--preset", "seata", "--max-lead", "10ms", "--lease", "1h"];
    let taken = stdout(folder.path(), &[&["take"], &args[..]].concat());
    let parsed =
        json(&stdout(folder.path(), &["parse", "--json", "--preset", "seata", taken.trim()]));
    assert_eq!((&parsed["worker"], &parsed["in_future"]), (&Value::from(1), &Value::from(false)));
    let db = registry(folder.path());
    let layout = stdout(folder.path(), &["layout", "--json", "--db", db.to_str().unwrap()]);
    assert_eq!(json(&layout)["worker_first"], Value::from(true));
    // The same widths in the other order are another layout.
    let other = [&["take"], &args[..], &["--order", "time-first"]].concat();
    let complaint = stderr(folder.path(), &other, 1);
    assert!(complaint.contains("worker first"), "{complaint}");
}

#[test]
fn parse_reads_the_published_sample() {
    let card = parse_sample(SAMPLE, &[]);
    for expected in [
        "uid       180363646902239241\n",
        "base32    05067S0001009\n",
        "time      2017-01-19T04:15:46Z ",
        "local     2017-01-19T04:15:46+00:00 ",
        "worker    4\n",
        "sequence  9\n",
        "layout    29 | 21 | 13 in seconds from 2016-09-19T16:00:00Z\n",
    ] {
        assert!(card.contains(expected), "{expected:?} is not in\n{card}");
    }
    assert!(!card.contains('\u{1b}'), "no colours in a pipe");
    // In base32 too, as people write it down.
    assert_eq!(parse_sample("05067S0001009", &[]), card);
    assert_eq!(parse_sample("o5o67soooloo9", &[]), card);

    let record = json(&parse_sample(SAMPLE, &["--json"]));
    assert_eq!(record["uid"], SAMPLE);
    assert_eq!(record["base32"], "05067S0001009");
    assert_eq!(record["time"], "2017-01-19T04:15:46Z");
    assert_eq!((&record["worker"], &record["sequence"]), (&Value::from(4), &Value::from(9)));
    assert_eq!(
        (&record["in_layout"], &record["in_future"]),
        (&Value::from(true), &Value::from(false))
    );
}

#[test]
fn parse_tells_local_time() {
    let folder = folder();
    let args = [&["parse", SAMPLE], &SAMPLE_LAYOUT[..]].concat();
    // POSIX turns signs round: eight hours east of Greenwich.
    let output = uidring(folder.path(), &args).env("TZ", "CST-8").output().unwrap();
    let card = text(&output.stdout);
    assert!(card.contains("time      2017-01-19T04:15:46Z "), "{card}");
    assert!(card.contains("local     2017-01-19T12:15:46+08:00 "), "{card}");
}

#[test]
fn parse_takes_digits_for_decimal_unless_told_otherwise() {
    let folder = folder();
    let uid = |args: &[&str]| json(&stdout(folder.path(), args))["uid"].clone();
    assert_eq!(uid(&["parse", "--json", "0000000000010"]), "10");
    assert_eq!(uid(&["parse", "--json", "--base32", "0000000000010"]), "32");
}

#[test]
fn parse_reads_standard_input() {
    let folder = folder();
    let output = with_input(folder.path(), &["parse", "--json"], "1\n\n  2  \r\n000000000000A");
    assert!(output.status.success());
    let uids: Vec<Value> =
        text(&output.stdout).lines().map(|line| json(line)["uid"].clone()).collect();
    assert_eq!(uids, ["1", "2", "10"]);

    // In the place of the dash.
    let output = with_input(folder.path(), &["parse", "--json", "7", "-", "8"], "1\n");
    let uids: Vec<Value> =
        text(&output.stdout).lines().map(|line| json(line)["uid"].clone()).collect();
    assert_eq!(uids, ["7", "1", "8"]);

    let table = text(&with_input(folder.path(), &["parse"], "1\n8193\n").stdout);
    let rows: Vec<Vec<&str>> =
        table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[1], ["1", "0000000000001", "2026-01-01T00:00:00Z", "0", "1"]);
    assert_eq!(rows[2], ["8193", "0000000000801", "2026-01-01T00:00:00Z", "1", "1"]);
}

#[test]
fn parse_answers_line_by_line() {
    let folder = folder();
    let mut child = uidring(folder.path(), &["parse", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for uid in ["5", "6"] {
        writeln!(input, "{uid}").unwrap();
        // Comes while the input is still open, or never.
        assert_eq!(json(&answers.next().unwrap().unwrap())["uid"], uid);
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

/// As `tail -f uids.txt | uidring parse`.
#[test]
fn parse_prints_rows_as_lines_arrive() {
    let folder = folder();
    let mut child = uidring(folder.path(), &["parse", "7", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let output = child.stdout.take().unwrap();
    let (to_us, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            to_us.send(line.unwrap()).unwrap();
        }
    });
    let next = || lines.recv_timeout(Duration::from_secs(20)).unwrap();
    writeln!(input, "1").unwrap();
    let heading = next();
    assert!(heading.ends_with("UID  BASE32         TIME (UTC)             WORKER  SEQUENCE"));
    assert!(next().starts_with("                  7  0000000000007  2026-01-01T00:00:00Z "));
    let first = next();
    assert!(
        first.starts_with("                  1  0000000000001  2026-01-01T00:00:00Z "),
        "{first}"
    );
    writeln!(input, "8193\n9223372036854775807").unwrap();
    assert!(next().ends_with("        1         1"));
    assert!(next().ends_with("  in the future"));
    drop(input);
    assert!(next().starts_with("layout 30 | 20 | 13 in seconds"));
    assert!(child.wait().unwrap().success());
}

#[test]
fn completions_and_manual_pages_are_printed() {
    let folder = folder();
    for (shell, begin) in [
        ("bash", "_uidring()"),
        ("zsh", "#compdef uidring"),
        ("fish", "# Print an optspec"),
        ("elvish", "\nuse builtin"),
        ("powershell", "\nusing namespace"),
    ] {
        let script = stdout(folder.path(), &["completions", shell]);
        assert!(script.starts_with(begin), "{shell}: {script}");
        assert!(script.contains("on-lead-limit") && script.contains("release"), "{shell}");
    }
    for (args, title, name) in [
        (&[][..], "uidring", "uidring \\- "),
        (&["take"], "uidring-take", "uidring\\-take \\- "),
        (&["workers", "release"], "uidring-workers-release", "uidring\\-workers\\-release \\- "),
    ] {
        let args = [&["man"], args].concat();
        let command = &mut uidring(folder.path(), &args);
        let output = command.env("UIDRING_DB", "postgres://me:hunter2@db/ids").output().unwrap();
        let page = text(&output.stdout);
        assert!(output.status.success() && page.contains(".TH"), "{page}");
        assert!(page.contains(name) && !page.contains("hunter2"), "{name} in {page}");
        // Title, section, date, source, manual.
        let version = env!("CARGO_PKG_VERSION");
        let heading = format!(".TH {title} 1 \" \" \"uidring {version}\" \"User Commands\"\n");
        assert!(page.contains(&heading), "{heading} in {page}");
        // One line stays one line.
        assert!(page.contains("\n.SH EXAMPLES\n.nf\n  uidring "), "{page}");
        assert!(page.contains("\n.fi\n") && !page.contains("EXTRA"), "{page}");
    }
    for (args, why) in [
        (&["nope"][..], "uidring has no command nope; it has take, parse, mask, "),
        (&["workers", "nope"], "uidring workers has no command nope; it has release\n"),
        (&["take", "nope"], "uidring take has no commands, and so not nope\n"),
    ] {
        let complaint = stderr(folder.path(), &[&["man"], args].concat(), 2);
        assert!(complaint.contains(why), "{complaint}");
    }
    assert!(stderr(folder.path(), &["completions", "tcsh"], 2).contains("fish"));
}

#[test]
fn parse_names_what_is_wrong_and_reads_the_rest() {
    let folder = folder();
    for (wrong, why) in [
        ("12x4", "13 characters, not 4"),
        ("12-4", "character 3 of a UID cannot be '-'"),
        ("-4", "it is negative; with the layout of its generator, such as --preset uid-generator"),
        ("-9223372036854775809", "character 1 of a UID cannot be '-'"),
        ("0", "out of range"),
        ("9223372036854775808", "out of range"),
        ("00000000000U0", "character 12 of a UID cannot be 'U'"),
    ] {
        let output = run(folder.path(), &["parse", "--json", wrong, "5"]);
        let complaint = text(&output.stderr);
        assert!(
            complaint.starts_with(&format!("uidring: {wrong:?} is not a UID: ")),
            "{complaint}"
        );
        assert!(complaint.contains(why), "{complaint}");
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(json(&text(&output.stdout))["uid"], "5");
    }
}

#[test]
fn parse_doubts_uids_of_another_layout() {
    let folder = folder();
    let in_future = ["parse", "9223372036854775807"];
    assert!(stdout(folder.path(), &in_future).contains("in the future"));
    let record = json(&stdout(folder.path(), &[&in_future[..], &["--json"]].concat()));
    assert_eq!(
        (&record["in_layout"], &record["in_future"]),
        (&Value::from(true), &Value::from(true))
    );

    let narrow = ["parse", "--layout", "30,10,4", "9223372036854775807"];
    assert!(stdout(folder.path(), &narrow).contains("cannot be of this layout"));
    let record = json(&stdout(folder.path(), &[&narrow[..], &["--json"]].concat()));
    assert_eq!(record["in_layout"], false);
}

#[test]
fn layout_draws_the_bits_and_says_what_fits() {
    let page = stdout(folder().path(), &["layout"]);
    for expected in [
        " 63  62                          33 32                13 12          0\n",
        "│ 0 │ time                         │ worker             │ sequence    │\n",
        "30 bits",
        "20 bits",
        "13 bits",
        "seconds for 34 years from 2026-01-01T00:00:00Z",
        "1,048,576 ids",
        "8,192 UIDs a second",
        "ends      2060-01-10T13:37:04Z",
    ] {
        assert!(page.contains(expected), "{expected:?} is not in\n{page}");
    }
    let picture: Vec<usize> =
        page.lines().skip(1).take(3).map(|line| line.chars().count()).collect();
    assert_eq!(picture, [picture[0]; 3], "\n{page}");

    let ended = stdout(folder().path(), &["layout", "--preset", "uid-generator"]);
    assert!(ended.contains("ends      2024-11-20T13:24:16Z, ended "), "{ended}");
}

#[test]
fn layout_reckons_in_ticks() {
    let options =
        ["layout", "--layout", "41,10,10", "--tick", "10ms", "--epoch", "2020-01-01T00:00:00Z"];
    let page = stdout(folder().path(), &options);
    for expected in
        ["ticks of 10 ms for 696 years", "1,024 UIDs a tick or 102,400 a second", "3 unused"]
    {
        assert!(page.contains(expected), "{expected:?} is not in\n{page}");
    }
    let shown = json(&stdout(folder().path(), &[&options[..], &["--json"]].concat()));
    let expected = [
        ("time_bits", 41),
        ("worker_bits", 10),
        ("sequence_bits", 10),
        ("tick_ms", 10),
        ("workers", 1024),
    ];
    for (member, value) in expected {
        assert_eq!(shown[member], value, "{member}");
    }
    assert_eq!(shown["uids_per_second"], 102_400);
    assert_eq!(shown["epoch"], "2020-01-01T00:00:00.000Z");
    assert_eq!(shown["expired"], false);
}

#[test]
fn workers_shows_the_newest_last() {
    let folder = folder();
    let around = Around::now();
    for _ in 0..4 {
        stdout(folder.path(), &["take"]);
    }
    let rows = |args: &[&str]| -> Vec<u64> {
        let page = stdout(folder.path(), args);
        page.lines().filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect()
    };
    // The last line, "4 of ...", begins with a number as well.
    assert_eq!(rows(&["workers"]), [1, 2, 3, 4, 4]);
    assert_eq!(rows(&["workers", "--last", "2"]), [3, 4, 4]);
    assert!(stdout(folder.path(), &["workers", "--last", "3"]).contains("\nand 1 before these"));
    assert!(stdout(folder.path(), &["workers"]).ends_with("\n4 of 1,048,575 worker ids used\n"));

    let report = json(&stdout(folder.path(), &["workers", "--json", "--last", "2"]));
    assert_eq!((&report["used"], &report["rows"]), (&Value::from(4), &Value::from(4)));
    assert_eq!(report["capacity"], Layout::DEFAULT.max_worker());
    let shown = report["workers"].as_array().unwrap();
    let remembered = with_registry(folder.path()).workers().unwrap();
    assert_eq!(shown.len(), 2);
    for (row, worker) in shown.iter().zip(&remembered[2..]) {
        assert_eq!(row["id"], worker.id);
        assert_eq!(row["host"], worker.host_name.as_str());
        assert_eq!(row["port"], worker.port.as_str());
        assert_eq!(row["type"], worker.kind.to_string());
        let launched: jiff::Timestamp = row["launched"].as_str().unwrap().parse().unwrap();
        assert!(around.contains(launched.into()));
    }
}

#[test]
fn workers_makes_no_registry() {
    let folder = folder();
    let complaint = stderr(folder.path(), &["workers"], 1);
    let path = registry(folder.path());
    assert!(complaint.contains(&format!("no registry yet: {}", path.display())), "{complaint}");
    let complaint = stderr(folder.path(), &["workers", "--db", "here.db"], 1);
    assert!(complaint.contains("here.db") && complaint.contains("no such file"), "{complaint}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// A number of 23 digits.
const LARGE: &str = "12345678901234567890123";

#[test]
fn a_command_line_that_is_not_understood_is_a_usage_error() {
    let folder = folder();
    for (args, why) in [
        (&["bogus"][..], "bogus"),
        (&["take", "-n", "many"], "many"),
        (&["take", "--format", "xml"], "decimal, base32, json"),
        (&["take", "--layout", "40,20,13"], "40 + 20 + 13 bits are 73"),
        (&["take", "--layout", "wide"], "three widths"),
        (&["take", "--epoch", "yesterday"], "2026-01-01"),
        (&["take", "--tick", "2s"], "2000 ms"),
        (&["take", "--tick", "1m"], "60000 ms"),
        (&["take", "--tick", "1.5s"], "1500 ms"),
        (&["take", "--tick", "fast"], "10ms"),
        (&["layout", "--db", "uidring.db", "--tick", "1s"], "--tick"),
        (&["take", "--rate", "0"], "rate of 0"),
        (&["take", "--rate", "fast"], "20k"),
        (&["take", "--for", "10"], "500ms, 10s, 1h30m or 1d"),
        (&["take", "--for", "0s"], "no time"),
        (&["take", "--threads", "0"], "0"),
        (&["take", "--no-output", "--format", "json"], "--format"),
        (&["status", "--on-lead-limit", "panic"], "new-worker, wait, fail"),
        (&["status", "--lease", "10m"], "--db"),
        (&["take", "--lease", "10ms"], "a second"),
        (&["take", "--partition", "4/4"], "3/4"),
        (&["workers", "--json", "release", "7"], "cannot be used with '--json'"),
        (&["workers", "release"], "<ID>"),
        (&["take", "--tag", "orders", "--layout", "30,20,13"], "cannot be used with"),
        (&["take", "--tag", "orders", "--lease", "10m"], "cannot be used with"),
        (&["take", "--table", "leaf"], "--tag"),
        (&["tags", "create"], "<NAME>"),
        (&["tags", "create", "orders", "--step", "some"], "500, 20k or 1.5M"),
        (&["tags", "set", "orders"], "nothing to change: name --next, --step"),
        (&["tags", "--json", "remove", "orders"], "cannot be used with '--json'"),
        (&["tags", "--table", "other"], "own, leaf, tinyid, cosid"),
        (&["tags", "--table", "cosid", "--db", "x.db"], "not about x.db: name the server with"),
        (&["tags", "create", "shop.orders", "--table", "cosid"], "--db redis://"),
        (&["take", "--tag", "shop.orders", "--table", "cosid"], "--db redis://"),
        (&["plan"], "--rate"),
        (&["plan", "--rate", "10", "--nodes", "0"], "at least 1"),
        (&["plan", "--rate", "10", "--nodes", "1001M"], "at most 1,000,000,000"),
        (&["plan", "--rate", "10", "--peak", "5"], "below --rate"),
        (&["plan", "--rate", "5", "--peak", "6", "--peak-for", "25h"], "more than the day"),
        (&["plan", "--rate", "5", "--epoch", "2999-01-01"], "has not begun"),
    ] {
        let complaint = stderr(folder.path(), args, 2);
        assert!(complaint.contains(why), "{args:?}: {why:?} is not in {complaint}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was made");
}

/// As people guess from what the help calls them.
#[test]
fn arguments_may_be_named_and_a_value_without_an_option_is_hinted_at() {
    let folder = folder();
    let run_in = |args: &[&str]| run(folder.path(), args);
    for args in [
        &["tags", "create", "--tag", "orders"][..],
        &["series", "create", "bills", "--pattern", "B{yyyy}-{n:4}"],
        &["series", "create", "--pattern=P{n}", "--name=parcels"],
        &["series", "next", "--series", "bills", "-n", "2"],
        &["series", "parse", "bills", "--number", "B2026-0001"],
        &["parse", "--uid", "240475639809867779"],
        &["completions", "--shell", "bash"],
        &["man", "--command", "take"],
        &["take", "--tag", "orders", "--max-in-memory", "2k", "-n", "5000"],
    ] {
        let done = run_in(args);
        assert!(done.status.success(), "{args:?}: {}", complaint(&done));
    }
    for (args, hint) in [
        (&["take", "orders"][..], "did you mean --tag orders"),
        (&["take", "5"], "did you mean -n 5 or"),
        (&["series", "next", "bills", "shop-7"], "did you mean --scope shop-7"),
        (&["tags", "set", "orders", "5000"], "did you mean --next 5000 or --step 5000"),
        (&["layout", "29,21,13"], "did you mean --layout 29,21,13"),
        (&["plan", "5k"], "did you mean --rate 5k"),
        (&["series", "create", "x", "--patern", "P{n}"], "unexpected argument '--patern'"),
    ] {
        let done = run_in(args);
        assert_eq!(done.status.code(), Some(2), "{args:?}");
        assert!(complaint(&done).contains(hint), "{args:?}: {}", complaint(&done));
    }
}

#[test]
fn a_value_that_cannot_be_is_called_what_it_is() {
    let folder = folder();
    for (args, why) in [
        // Ranges.
        (&["take", "--worker-ids", "5-2"][..], "5 is above 2: write 2-5"),
        (&["take", "--worker-ids", "0-0"], "the first worker id is 1"),
        (&["take", "--worker-ids", "5"], "such as 32-1023"),
        (&["take", "--worker-ids", "1-12345678901234567890123"], "larger than any worker id"),
        (&["take", "--partition", "5/2"], "the parts of 2 are 0/2 and 1/2"),
        (&["take", "--partition", "4/4"], "the parts of 4 are 0/4 to 3/4"),
        (&["take", "--partition", "1/1"], "the only part of 1 is 0/1"),
        (&["take", "--partition", "0/0"], "such as 0/4 to 3/4"),
        // What is negative.
        (&["tags", "create", "x", "--first", "-5"], "'--first <N>': a count cannot be negative"),
        (&["tags", "create", "x", "--first=-5"], "a count cannot be negative"),
        (&["tags", "create", "x", "--first", "-5k"], "a count cannot be negative"),
        (&["tags", "set", "x", "--next", "-1"], "a count cannot be negative"),
        (&["tags", "set", "x", "--max-step", "-1"], "a count cannot be negative"),
        (&["take", "--tag", "x", "--max-in-memory", "0"], "numbers in memory"),
        (&["tags", "--for", "-5s"], "a length of time cannot be negative"),
        (&["take", "-n", "-3"], "'--count <N>': a count cannot be negative"),
        (&["take", "-n-3"], "'--count <N>': a count cannot be negative"),
        (&["take", "--slots", "-5"], "a count cannot be negative"),
        (&["take", "--max-new-workers", "-5"], "a count cannot be negative"),
        (&["take", "--threads", "-2"], "there are 1 to 1,024 threads"),
        (&["take", "--max-lead", "-5s"], "a length of time cannot be negative"),
        (&["take", "--max-lag", "-1ms"], "a length of time cannot be negative"),
        (&["take", "--lease", "-5m"], "a length of time cannot be negative"),
        (&["take", "--rate", "-1.5k"], "a number cannot be negative"),
        (&["take", "--partition", "-1/2"], "such as 0/4 to 3/4"),
        (&["take", "--worker-ids", "-5-2"], "such as 32-1023"),
        (&["take", "--layout", "-29,21,13"], "three widths"),
        (&["take", "--tick", "-1ms"], "10ms"),
        (&["status", "--rate", "-1"], "a number cannot be negative"),
        (&["bench", "--threads", "-4"], "there are 1 to 1,024 threads"),
        (&["workers", "--last", "-3"], "a count cannot be negative"),
        (&["workers", "release", "-5"], "a worker id is a whole number such as 7"),
        (&["plan", "--rate", "-4"], "a number cannot be negative"),
        (&["plan", "--rate", "5", "--nodes", "-4"], "a count cannot be negative"),
        (&["plan", "--rate", "5", "--years", "-4"], "there are 1 to 10,000 years"),
        (&["plan", "--rate", "5", "--peak-for", "-4h"], "a length of time cannot be negative"),
        (&["plan", "--rate", "5", "--epoch", "-1"], "or a date such as"),
        // What is large, or fine.
        (&["take", "-n", LARGE], "a count is at most 18,446,744,073,709,551,615"),
        (&["take", "-n", "99999999999999M"], "a count is at most 18,446,744,073,709,551,615"),
        (&["take", "--slots", LARGE], "a count is at most"),
        (&["take", "--max-new-workers", "5000000000"], "there are at most 4,294,967,295"),
        (&["take", "--threads", LARGE], "a count is at most"),
        (&["take", "--rate", LARGE], "a number is at most 1,000,000,000,000"),
        (&["take", "--max-lead", "12345678901234567890123s"], "at most 36500d"),
        (&["take", "--max-lead", "99999999d"], "at most 36500d"),
        (&["take", "--layout", "12345678901234567890123,2,3"], "is too wide"),
        (&["tags", "create", "x", "--step", LARGE], "a count is at most"),
        (&["workers", "release", LARGE], "larger than any worker id"),
        (&["plan", "--rate", LARGE], "a number is at most 1,000,000,000,000"),
        (&["plan", "--rate", "5", "--above", LARGE], "below 2^63"),
        (&["plan", "--rate", "5", "--years", LARGE], "a count is at most"),
        (&["plan", "--rate", "5", "--restarts-per-day", "0.0001"], "at most three decimals"),
        // Words in place of numbers.
        (&["take", "--slots", "many"], "500, 20k or 1.5M"),
        (&["take", "--threads", "many"], "500, 20k or 1.5M"),
        (&["workers", "release", "seven"], "a worker id is a whole number such as 7"),
        (&["plan", "--rate", "5", "--years", "many"], "500, 20k or 1.5M"),
    ] {
        let complaint = stderr(folder.path(), args, 2);
        assert!(complaint.contains(why), "{args:?}: {why:?} is not in {complaint}");
        for of_rust in ["invalid digit", "too large to fit", "use '--"] {
            assert!(!complaint.contains(of_rust), "{args:?}: {complaint}");
        }
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn help_and_version_are_answers() {
    let folder = folder();
    assert_eq!(
        stdout(folder.path(), &["--version"]),
        format!("uidring {}\n", env!("CARGO_PKG_VERSION"))
    );
    for command in [
        "take",
        "parse",
        "workers",
        "tags",
        "series",
        "layout",
        "plan",
        "status",
        "completions",
        "man",
    ] {
        assert!(stdout(folder.path(), &["--help"]).contains(&format!("\n  {command} ")));
        let help = stdout(folder.path(), &[command, "--help"]);
        assert!(help.contains(&format!("Usage: uidring {command} ")), "{help}");
    }
}

const COMMANDS: [&str; 24] = [
    "",
    "take",
    "parse",
    "workers",
    "workers release",
    "tags",
    "tags create",
    "tags set",
    "tags remove",
    "series",
    "series create",
    "series list",
    "series next",
    "series parse",
    "series change",
    "series close",
    "series prune",
    "series forecast",
    "layout",
    "plan",
    "status",
    "bench",
    "completions",
    "man",
];

#[test]
fn the_examples_in_the_help_are_accepted() {
    let folder = folder();
    let folder = folder.path();
    let mut all = Vec::new();
    for command in COMMANDS {
        let args = [&command.split_whitespace().collect::<Vec<_>>()[..], &["--help"]].concat();
        // An example that is too long would be folded.
        let help = text(&uidring(folder, &args).env("COLUMNS", "80").output().unwrap().stdout);
        let (_, examples) = help.split_once("\nExamples:\n").unwrap();
        // Up to what the shell does, and to what is said about it.
        let examples: Vec<String> = examples
            .lines()
            .map(|line| line.rsplit_once("uidring ").unwrap().1.split(['|', '>']).next().unwrap())
            .map(|line| line.split("  ").next().unwrap())
            .filter(|line| !line.contains('<'))
            .map(str::to_owned)
            .collect();
        assert!(examples.len() >= 3, "{help}");
        // Its own take a minute.
        if command != "bench" {
            all.extend(examples);
        }
    }
    // At once, because some take seconds.
    thread::scope(|scope| {
        for example in &all {
            scope.spawn(move || is_accepted(folder, example));
        }
    });
}

fn is_accepted(folder: &Path, example: &str) {
    let args: Vec<&str> = example.split_whitespace().collect();
    let mut command = uidring(folder, &args);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Some print a lot.
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    // They may fail for want of a file, or of a server.
    assert_ne!(output.status.code(), Some(2), "{example}: {}", text(&output.stderr));
}

#[test]
fn every_page_fits_80_columns() {
    every_page_fits(80);
}

#[test]
fn every_page_fits_40_columns() {
    every_page_fits(40);
}

/// Lines whose pages must fit, in this order.
const PAGES: &[&str] = &[
    "take -n 1",
    "take -n 3 --format json",
    "take --for 50ms --no-output",
    "take --for 50ms --no-output --max-lead 3s --on-lead-limit fail",
    "status --for 50ms",
    "status --for 50ms --preset twitter --exact-time",
    "status --for 400ms --rate max --max-lead 10s --on-lead-limit new-worker",
    "parse 1",
    "parse 1 9223372036854775807 240510429044957186",
    "parse --layout 20,10,10 9223372036854775807 1",
    "parse nothing",
    "parse 1256557484213448722",
    "parse --preset seata 9007199258836993",
    "parse --preset uid-generator -9223372036854718455",
    "parse --preset uid-generator -9223372036854718455 1",
    "workers",
    "workers release 1",
    "workers release 3",
    "workers release 5",
    "workers release 9",
    "tags",
    "tags create orders",
    "tags create orders-of-all-shops-in-the-north --description what_shops_in_the_north_sell",
    "tags set orders --step 1M --max-step 20M --next 9223372036854775807",
    "tags set orders --next 5",
    "tags set order --step 5",
    "tags",
    "tags --for 10ms",
    "tags --json",
    "tags remove orders",
    "tags remove orders --force",
    "tags remove orders",
    "tags remove orders-of-all-shops-in-the-north",
    "tags --table tinyid",
    "take --tag orders-of-all-shops-in-the-north --for 50ms --no-output",
    "take --tag orders-of-all-shops-in-the-south",
    "series list",
    "series create orders-of-all-shops-in-the-north {scope}/{yyyy}-{n:2}",
    "series create orders-of-all-shops-in-the-north {scope}/{yyyy}-{n:3}",
    "series create claims C{fy}-{n} --fiscal-year 4 --time-zone America/Argentina/Buenos_Aires",
    "series create invoices {yyyy}-{n} --gapless",
    "series create a {yy}{n}",
    "series next orders-of-all-shops-in-the-north",
    "series next orders-of-all-shops-in-the-north --scope shop-of-the-north -n 90",
    "series next invoices",
    "series next claim",
    "series list",
    "series list orders-of-all-shops-in-the-north",
    "series forecast orders-of-all-shops-in-the-north",
    "series forecast claims",
    "series change claims C{fy}-{n:9} --from 2099-04-01",
    "series change claims C{fy}-{n:9} --from 2099-05-01",
    "series parse orders-of-all-shops-in-the-north shop/2026-42",
    "series parse claims C2026-7 C2026-12345678",
    "series parse claims C2026",
    "series close claims FY2025-04",
    "series close claims ever",
    "series prune claims",
    "layout",
    "layout --layout 41,10,12 --tick 1ms",
    "layout --layout 20,1,42",
    "layout --layout 30,20,8",
    "layout --layout 20,10,10",
    "layout --preset uid-generator",
    "layout --preset seata",
    "plan --rate 1000",
    "plan --rate 2k --peak 20k --peak-for 2h --nodes 20 --restarts-per-day 5",
    "plan --rate 500 --nodes 1000 --restarts-per-day 0.5",
    "plan --rate 500 --above 1256557484213448722",
    "plan --rate 500 --above 9223372036854775807",
    "plan --rate 100k --peak 2M --nodes 2 --epoch 2020-01-01T00:00:00.001Z",
    "plan --rate 5k --nodes 20 --restarts-per-day 20 --years 50",
    "plan --rate 5k --nodes 20M --restarts-per-day 20 --years 10000",
    "plan --rate 1M --nodes 1M --restarts-per-day 50 --years 1000",
    "plan --rate 2.5 --peak 1M --peak-for 23h --max-lead 10m --nodes 3 --years 1",
    "bench --for 1ms --threads 1,2",
    "bench --tag --for 1ms --threads 1,2",
    "take --layout 40,20,13",
    "take --tick fast",
    "take --bogus",
    "bogus",
    "--version",
    "completions tcsh",
    "man bogus",
];

/// On a terminal of so many columns, a width that a program gets from `COLUMNS` where it is in a
/// pipe.
fn every_page_fits(columns: usize) {
    let folder = folder();
    let (registry, _) = leases(folder.path());
    let long = registry.with_host("orders-7f9c6d5b48-x2x7q.eu-central-1", "4321");
    long.clone().leased(HOUR).assign(&request()).unwrap();
    let of_tenths = Layout::new(35, 10, 15).unwrap().with_tick(Duration::from_millis(100)).unwrap();
    let tenths = of_tenths.compose(1, 1, 1).unwrap().to_string();
    let mut pages: Vec<Vec<&str>> = PAGES.iter().map(|line| line.split(' ').collect()).collect();
    pages.push(vec!["parse", "--layout", "35,10,15", "--tick", "100ms", &tenths, &tenths]);
    // A thousand threads take seconds of the processor's time.
    let threads = size("1,1024", "1,2");
    for more in [&[][..], &["--tag"]] {
        pages.push([&["bench", "--for", "1ms", "--threads", threads], more].concat());
    }
    for command in COMMANDS {
        for help in ["-h", "--help"] {
            pages.push(command.split_whitespace().chain([help]).collect());
        }
    }
    let mut too_long = Vec::new();
    let mut look = |args: &[&str], page: &str| {
        assert!(!page.is_empty(), "{args:?}");
        for line in page.lines().filter(|line| line.chars().count() > columns) {
            // A word, such as a path, and a line of JSON cannot be folded.
            let is_a_word = !line.trim().contains(' ') || line.starts_with("registry /");
            // clap writes this.
            if !is_a_word && !line.starts_with('{') && !line.starts_with("Usage: uidring ") {
                too_long.push(format!("{args:?}: {}: {line}", line.chars().count()));
            }
        }
    };
    let width = columns.to_string();
    for args in pages {
        let mut command = uidring(folder.path(), &args);
        let output = command.env("COLUMNS", &width).env("TZ", "Asia/Kolkata").output().unwrap();
        look(&args, &(text(&output.stdout) + &text(&output.stderr)));
    }
    for args in [&["parse"][..], &["parse", "--preset", "twitter"]] {
        let mut command = uidring(folder.path(), args);
        let command = command.env("COLUMNS", &width).env("TZ", "Asia/Kolkata");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = "9223372036854775807\n240510429044957186\n1\n";
        child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        let page = text(&child.wait_with_output().unwrap().stdout);
        look(args, &page);
        // Nothing of it is left out.
        assert!(page.contains("WORKER") && page.contains("SEQUENCE"), "{page}");
    }
    assert_eq!(too_long, [""; 0], "{} lines are too long", too_long.len());
}

/// The words of a page that a person would not say: numbers whose thousands are not grouped, and
/// lengths of time such as 20448.899s.
fn odd_words(page: &str) -> Vec<&str> {
    let is_odd = |word: &&str| {
        let word = word.trim_matches(|sign: char| !sign.is_ascii_alphanumeric());
        let number = word.trim_end_matches(|sign: char| sign.is_ascii_alphabetic());
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
        let is_glued = !number.is_empty() && word.len() > number.len() && whole != "UTF";
        is_number(whole)
            && is_number(decimals)
            && !whole.is_empty()
            && (whole.len() > 3 || decimals.len() > 2 || is_glued)
    };
    page.split_whitespace().filter(is_odd).collect()
}

#[test]
fn pages_speak_as_people_do() {
    assert_eq!(
        odd_words("UIDs: 32768 taken, lead 20448.899s, lag 10s; 1,000 in 1.5 s, -n 500"),
        ["32768", "20448.899s,", "10s;"]
    );
    let folder = folder();
    for args in [
        "take --for 300ms --no-output --max-lead 8h --on-lead-limit fail",
        "status --for 300ms --rate 100k",
        "status --for 300ms --rate max --max-lead 6h",
        "plan --rate 2k --peak 20k --peak-for 90m --nodes 2000 --restarts-per-day 0.1",
        "plan --rate 100k --peak 2M --nodes 2",
        "plan --rate 5k --nodes 2000 --restarts-per-day 20 --years 50",
    ] {
        let output = run(folder.path(), &args.split(' ').collect::<Vec<_>>());
        let said = text(&output.stdout) + &complaint(&output);
        let page = said.split("Rust  ").next().unwrap();
        let lines = page.lines().filter(|line| !line.contains("due in"));
        assert_eq!(lines.flat_map(odd_words).collect::<Vec<_>>(), [""; 0], "{said}");
    }
    let (_, summary) = load(folder.path(), &["take", "-n", "1", "--rate", "10", "--no-output"]);
    assert!(summary.starts_with("1 UID in "), "{summary}");
    let card = stdout(folder.path(), &["parse", stdout(folder.path(), &["take"]).trim()]);
    assert!(card.contains(" just now\n") || card.contains(" 1 s ago\n"), "{card}");
}

#[test]
fn plan_says_when_the_default_is_enough() {
    let plan = |rest: &str| {
        let args: Vec<&str> = ["plan", "--rate"].into_iter().chain(rest.split(' ')).collect();
        stdout(folder().path(), &args)
    };
    let said = "\nThe default layout is enough as well, and needs no option.\n";
    assert!(plan("1000").contains(said));
    // With an epoch of its own.
    assert!(plan("1000 --epoch 2020-01-01").contains(said));
    assert!(!plan("10k").contains(said));
    assert!(!plan("1000 --years 50").contains(said));
}

/// What a start asks now.
fn request() -> Request {
    let since = SystemTime::now().duration_since(Layout::DEFAULT.epoch()).unwrap();
    Request::new(Layout::DEFAULT, since.as_secs(), Layout::DEFAULT.max_tick())
}

const HOUR: Duration = Duration::from_secs(3600);

/// A registry in which the worker ids 1 and 2 are held, the first by `web-1/4321`, the lease of 3
/// has expired, 4 was given back, and 5 was given once; and the leases of 1 and 3.
fn leases(folder: &Path) -> (SqliteRegistry, [Lease; 2]) {
    let registry = with_registry(folder);
    let assign = |host, lease| {
        registry.clone().with_host(host, "4321").leased(lease).assign(&request()).unwrap()
    };
    let held = assign("web-1", HOUR);
    assign("web-2", HOUR);
    let expired = assign("web-3", Duration::from_secs(1));
    let given_back = assign("web-4", HOUR);
    registry.clone().release(&given_back, given_back.first).unwrap();
    registry.clone().assign(&request()).unwrap();
    assert_eq!((held.worker, expired.worker, given_back.worker), (1, 3, 4));
    // As if a little more than the second of that lease had passed.
    let sql = "UPDATE worker_node SET lease_until = lease_until - 1100 WHERE id = ?1";
    let db = rusqlite::Connection::open(self::registry(folder)).unwrap();
    assert_eq!(db.execute(sql, [expired.worker]), Ok(1));
    (registry, [held, expired])
}

/// When the second `tick` begins.
fn second(tick: u64) -> String {
    jiff::Timestamp::try_from(Layout::DEFAULT.epoch() + Duration::from_secs(tick))
        .unwrap()
        .to_string()
}

fn is_lost(registry: &SqliteRegistry, lease: &Lease) -> bool {
    match registry.clone().reserve(lease, lease.last + 1) {
        Ok(_) => false,
        Err(RegistryError::LeaseLost { .. }) => true,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn leased_ids_are_given_again() {
    let folder = folder();
    let worker = |args: &[&str]| {
        let taken = uids(&stdout(folder.path(), &[&["take", "-n", "10"], args].concat()));
        assert_eq!(taken.len(), 10);
        (Layout::DEFAULT.parts(taken[0]).worker, taken)
    };
    let mut all = Vec::new();
    for (args, expected) in
        [(&["--lease", "10m"][..], 1), (&["--lease", "1h"], 1), (&[], 2), (&["--lease", "10m"], 1)]
    {
        let (worker, taken) = worker(args);
        assert_eq!(worker, expected, "{args:?}");
        all.extend(taken);
    }
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 40);
    let db = registry(folder.path());
    let db = db.to_str().unwrap();
    let status = ["status", "--for", "50ms", "--json", "--db", db, "--lease", "10m"];
    assert_eq!(json(&stdout(folder.path(), &status))["worker_id"], 1);
}

#[test]
fn ids_that_ran_out_are_told_with_the_time_and_the_command() {
    let folder = folder();
    let path = folder.path().join("small.db");
    let layout = Layout::new(33, 2, 28).unwrap();
    let registry = SqliteRegistry::open(&path).unwrap();
    let lease = Duration::from_secs(3600);
    let request = Request::new(layout, 1000, layout.max_tick());
    let take = || registry.clone().leased(lease).assign(&request).map(|lease| lease.worker);
    assert_eq!([(); 3].map(|()| take().unwrap()), [1, 2, 3]);
    let until = registry.workers().unwrap()[0].lease.clone().unwrap().until;
    let until = jiff::Timestamp::try_from(until).unwrap();
    let args = ["take", "--lease", "1h", "--db", path.to_str().unwrap(), "--layout", "33,2,28"];
    let complaint = stderr(folder.path(), &args, 1);
    let minute = until.strftime("%Y-%m-%dT%H:%M").to_string();
    assert!(complaint.contains("3 of 3 used; the first lease ends at"), "{complaint}");
    assert!(complaint.contains(&minute), "{minute} is not in {complaint}");
    stdout(folder.path(), &["workers", "release", "2", "--force", "--db", path.to_str().unwrap()]);
    stdout(folder.path(), &args);
}

#[test]
fn a_partition_has_ids_of_its_own() {
    let folder = folder();
    let size = (Layout::DEFAULT.max_worker() + 1) / 4;
    let part = ["take", "--partition", "1/4"];
    for worker in size..size + 2 {
        let taken = uids(&stdout(folder.path(), &part));
        assert_eq!(Layout::DEFAULT.parts(taken[0]).worker, worker);
    }
    assert!(stdout(folder.path(), &["workers"]).ends_with("\n2 of 262,144 worker ids used\n"));
    let complaint = stderr(folder.path(), &["take"], 1);
    assert!(complaint.contains("the worker ids 262144 to 524287, and 1 to"), "{complaint}");
    let complaint = stderr(folder.path(), &["workers", "release", "7"], 1);
    assert!(
        complaint.contains("has not given worker id 7: the largest so far is 262145"),
        "{complaint}"
    );
}

#[test]
fn worker_ids_of_another_system_are_left_alone() {
    let folder = folder();
    let range = ["take", "--preset", "twitter", "--max-lead", "0s", "--worker-ids", "1022-1023"];
    for worker in [1022, 1023] {
        let taken = uids(&stdout(folder.path(), &range));
        assert_eq!(Layout::TWITTER.parts(taken[0]).worker, worker);
    }
    assert!(stderr(folder.path(), &range, 1).contains("2 of 2 used"));
    for (wrong, said) in [("5-4", "write 4-5"), ("0-0", "id is 1"), ("x", "such as")] {
        assert!(stderr(folder.path(), &["take", "--worker-ids", wrong], 2).contains(said));
    }
    let too_many = ["take", "--preset", "twitter", "--worker-ids", "1000-1024", "--db", "other.db"];
    let complaint = stderr(folder.path(), &too_many, 1);
    assert!(complaint.contains("1000 to 1024, but the layout 41 | 10 | 12"), "{complaint}");
}

#[test]
fn workers_shows_leases() {
    let folder = folder();
    let (_, [held, expired]) = leases(folder.path());
    let page = stdout(folder.path(), &["workers"]);
    let rows: Vec<&str> = page.lines().collect();
    assert!(rows[0].starts_with("ID  HOST/PORT OR PID  LAUNCHED (UTC)        LEASE "), "{page}");
    assert!(rows[0].ends_with("  RESERVED UNTIL (UTC)"), "{page}");
    assert!(
        rows[1].starts_with(" 1  web-1/4321        20") && rows[1].contains("  held, 59 min "),
        "{page}"
    );
    assert!(rows[1].ends_with(&second(held.last)), "{page}");
    assert!(rows[3].contains("web-3/4321") && rows[3].contains("  expired "), "{page}");
    assert!(rows[3].ends_with(&second(expired.last)), "{page}");
    assert!(rows[4].contains("web-4/4321") && rows[4].contains("  given back "), "{page}");
    assert!(rows[5].ends_with("  given once"), "{page}");
    assert_eq!(
        rows[6],
        "5 of 1,048,575 worker ids used; 4 leased, 2 of them free to be given again"
    );
    assert_eq!(rows.len(), 7, "a registry of today has no pace: {page}");
    assert!(rows.iter().all(|row| row.chars().count() <= 100), "{page}");

    let report = json(&stdout(folder.path(), &["workers", "--json", "--last", "3"]));
    assert_eq!(
        report["leased"],
        serde_json::json!({ "held": 2, "expired": 1, "given_back": 1, "free": 2 })
    );
    assert_eq!(report["pace"], Value::Null);
    let workers = report["workers"].as_array().unwrap();
    assert_eq!(
        workers.iter().map(|worker| worker["lease"]["state"].as_str()).collect::<Vec<_>>(),
        [Some("expired"), Some("given_back"), None]
    );
    assert_eq!(workers[0]["lease"]["reserved_until"], second(expired.last));
    let time = |value: &Value| value.as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    let (created, until) = (time(&workers[0]["created"]), time(&workers[0]["lease"]["until"]));
    // A second, less the 1.1 s that have been taken off; both times are shown without their parts.
    assert!((-1..=0).contains(&until.duration_since(created).as_secs()), "{report}");
}

#[test]
fn workers_says_how_long_the_ids_last() {
    let folder = folder();
    stdout(folder.path(), &["take"]);
    let day = 86_400_000;
    let age = |id: u64, days: u64| {
        let db = rusqlite::Connection::open(registry(folder.path())).unwrap();
        let sql = "UPDATE worker_node SET created = created - ?1 WHERE id = ?2";
        assert_eq!(db.execute(sql, (days * day, id)), Ok(1));
    };
    let last_line = || stdout(folder.path(), &["workers"]).lines().last().unwrap().to_owned();
    assert_eq!(last_line(), "1 of 1,048,575 worker ids used");
    age(1, 4);
    assert_eq!(last_line(), "no new one in the last 4 days");
    for _ in 0..4 {
        stdout(folder.path(), &["take"]);
    }
    assert_eq!(
        last_line(),
        "at 1.0 new ones a day, as in the last 4 days, the rest last 2,870 years"
    );
    age(1, 6);
    age(2, 9);
    assert_eq!(
        last_line(),
        "at 0.43 new ones a day, as in the last 7 days, the rest last 6,698 years"
    );
    let pace = json(&stdout(folder.path(), &["workers", "--json"]))["pace"].clone();
    assert_eq!(pace["over_days"], 7.0);
    assert!((pace["per_day"].as_f64().unwrap() - 3.0 / 7.0).abs() < 1e-9, "{pace}");
    assert!((pace["days_left"].as_f64().unwrap() - 1_048_570.0 / 3.0 * 7.0).abs() < 1e-3, "{pace}");
}

#[test]
fn release_frees_what_its_holder_left() {
    let folder = folder();
    let (registry, [_, expired]) = leases(folder.path());
    let said = stdout(folder.path(), &["workers", "release", "3"]);
    assert!(said.starts_with("worker id 3 is free: the lease of web-3/4321 expired "), "{said}");
    let next = format!(
        "\nthis is safe: its next holder begins after {}, the last tick reserved, ",
        second(expired.last)
    );
    assert!(said.contains(&next), "{said}");
    assert!(is_lost(&registry, &expired));
    let complaint = stderr(folder.path(), &["workers", "release", "3"], 1);
    assert!(complaint.contains("worker id 3 is free already, since "), "{complaint}");
}

#[test]
fn release_refuses_what_is_held_unless_forced() {
    let folder = folder();
    let (registry, [held, _]) = leases(folder.path());
    let release = ["workers", "release", "1"];
    let complaint = stderr(folder.path(), &release, 1);
    assert!(complaint.contains("worker id 1 is held by web-1/4321 until 20"), "{complaint}");
    assert!(complaint.contains("--force") && complaint.contains(&second(held.last)), "{complaint}");
    assert!(!is_lost(&registry, &held));

    let said = stdout(folder.path(), &[&release[..], &["--force"]].concat());
    assert!(
        said.starts_with("worker id 1 was taken from web-1/4321, and is free\nthis is safe: "),
        "{said}"
    );
    // By the refused reservation.
    assert!(said.contains(&second(held.last + 1)), "{said}");
    assert!(is_lost(&registry, &held));
    // And of those free it was reserved for longest.
    let next: Vec<Lease> =
        (0..3).map(|_| registry.clone().leased(HOUR).assign(&request()).unwrap()).collect();
    let again = next.iter().find(|lease| lease.worker == 1).unwrap();
    assert_eq!(again.first, held.last + 2);
}

#[test]
fn release_refuses_what_is_nobodys_to_give() {
    let folder = folder();
    leases(folder.path());
    rusqlite::Connection::open(registry(folder.path()))
        .unwrap()
        .execute("DELETE FROM worker_node WHERE id = 2", [])
        .unwrap();
    let before = fs::read(registry(folder.path())).unwrap();
    for (worker, why) in [
        ("0", "has not given worker id 0: the largest so far is 5"),
        ("2", "does not remember worker id 2: its row is gone"),
        ("4", "worker id 4 is free already, since 20"),
        ("5", "once and for all"),
        ("6", "has not given worker id 6: the largest so far is 5"),
    ] {
        let complaint = stderr(folder.path(), &["workers", "release", worker, "--force"], 1);
        assert!(complaint.contains(why), "{complaint}");
        assert_eq!(complaint.lines().count(), 1, "{complaint}");
    }
    assert!(fs::read(registry(folder.path())).unwrap() == before, "nothing was written");
}

// ------------------------------------------------------------------------------------------------
// Tags

#[test]
fn a_tag_is_created_used_changed_and_removed() {
    let folder = folder();
    let around = Around::now();
    let path = registry(folder.path());
    let on = |args: &str| stdout(folder.path(), &args.split(' ').collect::<Vec<_>>());
    let refused = |args: &str| stderr(folder.path(), &args.split(' ').collect::<Vec<_>>(), 1);
    for args in ["tags", "take --tag orders", "tags set orders --step 5", "tags remove orders"] {
        let complaint = refused(args);
        assert!(complaint.contains("is created by `uidring tags create`"), "{complaint}");
    }
    assert!(!path.exists(), "nothing is made by accident");
    let page = on("tags create orders --first 5000 --step 20k");
    assert_eq!(
        page,
        "the tag orders: its next number is 5,000, and a process takes 20,000 numbers at a time\n\
         to take one: uidring take --tag orders\n"
    );
    assert!(path.exists());
    assert_eq!(on("take --tag orders -n 5"), "5000\n5001\n5002\n5003\n5004\n");
    // What was left of the segment went back.
    assert_eq!(on("take --tag orders"), "5005\n");
    assert_eq!(on("take --tag orders --format json"), "{\"number\":\"5006\",\"tag\":\"orders\"}\n");
    let complaint = stderr(folder.path(), &["take", "--tag", "orders", "--format", "base32"], 2);
    assert!(complaint.contains("numbers of a tag have no base32 form"), "{complaint}");
    let complaint = refused("tags create orders");
    assert!(complaint.contains("there already: its next number is 5,007, and a"), "{complaint}");
    let complaint = refused("take --tag order");
    assert!(
        complaint.contains(
            "no tag \"order\"; did you mean \"orders\"? If not, create it first, and if it was \
             there before, with a first number above all that were given: uidring tags create \
             order\n"
        ),
        "{complaint}"
    );
    // After a restore, a tag may be younger than the copy.
    let complaint = refused("tags set lost --next 100000");
    assert!(complaint.contains(": uidring tags create lost --first 100000\n"), "{complaint}");
    let lower = refused("tags set orders --next 5006");
    assert!(lower.contains("has given its numbers below 5007, and would give"), "{lower}");
    on("tags set orders --next 6000 --max-step 30k --description of_the_shop");
    on("tags create customers");
    let page = on("tags");
    let lines: Vec<Vec<&str>> =
        page.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["TAG", "NEXT", "STEP", "AT", "MOST", "CHANGED", "DESCRIPTION"]);
    assert_eq!(lines[1][..3], ["customers", "1", "1,000"]);
    assert_eq!(lines[2][..4], ["orders", "6,000", "20,000", "30,000"]);
    assert!(lines[3].starts_with(&["2", "tags;", "--for", "1m"]), "{page}");
    let report = json(&on("tags --json"));
    let tag = &report["tags"][1];
    assert_eq!(tag["tag"], "orders");
    assert_eq!((&tag["next"], &tag["step"]), (&Value::from("6000"), &Value::from(20_000)));
    assert_eq!((&tag["max_step"], &tag["delta"]), (&Value::from(30_000), &Value::from(1)));
    assert_eq!((&tag["description"], &tag["pace"]), (&Value::from("of_the_shop"), &Value::Null));
    let updated: jiff::Timestamp = tag["updated"].as_str().unwrap().parse().unwrap();
    assert!(around.contains(updated.into()));
    let complaint = refused("tags remove orders");
    assert!(complaint.contains("begin above them: uidring tags create orders --first 6000"));
    assert!(on("tags remove orders --force").starts_with("the tag orders is removed\n"));
    assert!(on("tags remove customers").starts_with("the tag customers is removed\n"));
    assert!(refused("tags remove orders").ends_with(" has no tag \"orders\" to remove\n"));
    assert_eq!(on("tags"), "no tags yet; to create one: uidring tags create NAME\n");
    // The same file serves the worker ids.
    assert_eq!(uids(&on("take")).len(), 1);
}

/// The journal of the file would lie in another folder here than for those outside.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs unshare, and the right to mount"]
fn a_file_that_is_mounted_by_itself_is_refused() {
    let folder = folder();
    for name in ["outside", "in side"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    stdout(folder.path(), &["take", "--db", "outside/ids.db"]);
    File::create(folder.path().join("in side/ids.db")).unwrap();
    let mounted = |what: &str| {
        let script = format!(
            "mount --bind 'outside{what}' 'in side{what}' && exec \"$0\" take --db 'in side/ids.db'"
        );
        let tool = env!("CARGO_BIN_EXE_uidring");
        let mut command = Command::new("unshare");
        command.args(["--mount", "--map-root-user", "sh", "-c", &script, tool]);
        command.current_dir(folder.path()).output().unwrap()
    };
    let refused = mounted("/ids.db");
    assert!(text(&refused.stderr).contains("it is mounted by itself"), "{refused:?}");
    assert_eq!(refused.status.code(), Some(1));
    // The folder has the journal in it.
    let taken = mounted("");
    assert!(taken.status.success(), "{taken:?}");
}

/// The command that `page` names, with the lines in which it goes on.
#[cfg(unix)]
fn named(page: &str, begin: &str) -> String {
    let at = page.find(begin).unwrap_or_else(|| panic!("{begin} is not in {page}"));
    let mut command = String::new();
    for line in page[at..].lines() {
        command = command + line + "\n";
        if !line.ends_with('\\') {
            break;
        }
    }
    command
}

/// What `command` prints for somebody who copies it into a shell.
#[cfg(unix)]
fn in_a_shell(folder: &Path, command: &str) -> String {
    let tool = Path::new(env!("CARGO_BIN_EXE_uidring")).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths([tool].into_iter().chain(std::env::split_paths(&path)));
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", path.unwrap())
        .env("XDG_STATE_HOME", folder)
        .env("HOME", folder)
        .env_remove("UIDRING_DB")
        .output()
        .unwrap();
    assert!(output.status.success(), "{command}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[cfg(unix)]
#[test]
fn a_command_that_is_named_works_in_a_shell() {
    let folder = folder();
    fs::create_dir(folder.path().join("a folder")).unwrap();
    let tags = [
        "orders",
        "a b/ü",
        "c d'e",
        "$(id)",
        "~",
        "--x",
        "-5",
        "*",
        "a;b",
        "#x",
        "`x`",
        "a\\b",
        "!!",
        "=x",
        "\"",
        "orders of all shops in the north and the south",
    ];
    for (db, columns) in [("", "200"), ("--db=a folder/it's.db", "40"), ("--db=--db", "80")] {
        let said = |args: &[&str], tag: &[&str]| {
            let place = [db].into_iter().filter(|db| !db.is_empty());
            let args = args.iter().copied().chain(place).chain(tag.iter().copied());
            let args: Vec<&str> = args.collect();
            let output = uidring(folder.path(), &args).env("COLUMNS", columns).output().unwrap();
            text(&output.stdout) + &text(&output.stderr)
        };
        // Makes the file.
        said(&["tags", "create", "first"], &[]);
        for tag in tags {
            let missing = said(&["take"], &[&format!("--tag={tag}")]);
            let created = in_a_shell(folder.path(), &named(&missing, "uidring tags create"));
            assert!(created.starts_with(&format!("the tag {tag}: ")), "{missing}: {created}");
            let take = named(&said(&["tags", "set", "--step=5"], &["--", tag]), "uidring take");
            assert_eq!(in_a_shell(folder.path(), &take), "1\n", "{take}");
            let refusal = said(&["tags", "remove"], &["--", tag]);
            said(&["tags", "remove", "--force"], &["--", tag]);
            in_a_shell(folder.path(), &named(&refusal, "uidring tags create"));
            let take = said(&["take"], &[&format!("--tag={tag}")]);
            assert_eq!(take, "2\n", "above those that were given: {refusal}");
        }
    }
}

#[test]
fn a_tag_may_look_like_a_number_below_zero() {
    let folder = folder();
    stdout(folder.path(), &["tags", "create", "--", "-5"]);
    assert_eq!(stdout(folder.path(), &["take", "--tag", "-5"]), "1\n");
    let complaint = stderr(folder.path(), &["tags", "create", "-5"], 2);
    assert!(complaint.contains("'-- -5'"), "{complaint}");
    let complaint = stderr(folder.path(), &["tags", "--json", "-5"], 2);
    assert!(complaint.contains("'-5'"), "{complaint}");
}

#[test]
fn tags_tell_the_pace() {
    let folder = folder();
    stdout(folder.path(), &["tags", "create", "orders", "--step", "100"]);
    stdout(folder.path(), &["tags", "create", "quiet"]);
    let mut busy = uidring(folder.path(), &["take", "--tag", "orders", "--rate", "5k"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(busy.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "1");
    let reader = thread::spawn(move || lines.count());
    let args = ["tags", "--for", "2s"];
    let (report, page) = thread::scope(|scope| {
        let page = scope.spawn(|| stdout(folder.path(), &args));
        let report = stdout(folder.path(), &[&args[..], &["--json"]].concat());
        (json(&report), page.join().unwrap())
    });
    assert!(report["over_seconds"].as_f64().unwrap() >= 2.0);
    let [orders, quiet] = [0, 1].map(|index| report["tags"][index]["pace"].clone());
    let taken = orders["taken"].as_f64().unwrap();
    assert!(taken > 0.0, "{report}");
    let lasts = orders["step_lasts_seconds"].as_f64().unwrap();
    let expected = report["over_seconds"].as_f64().unwrap() * 100.0 / taken;
    assert!((lasts - expected).abs() < 1e-6, "{report}");
    assert_eq!((&quiet["taken"], &quiet["step_lasts_seconds"]), (&Value::from(0), &Value::Null));
    assert!(page.contains("A STEP LASTS") && page.contains("over "), "{page}");
    busy.kill().unwrap();
    busy.wait().unwrap();
    assert!(reader.join().unwrap() > 100);
}

#[test]
fn numbers_of_a_tag_come_as_a_load() {
    let folder = folder();
    stdout(folder.path(), &["tags", "create", "orders"]);
    let args = ["take", "--tag", "orders", "-n", "100k", "--threads", "3"];
    let (lines, summary) = load(folder.path(), &args);
    let taken: std::collections::BTreeSet<u64> =
        lines.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(taken, (1..=100_000).collect());
    assert!(summary.starts_with("100,000 numbers of orders in "), "{summary}");
    assert_eq!(stdout(folder.path(), &["take", "--tag", "orders"]), "100001\n");
}

#[test]
fn bench_measures_a_tag() {
    let folder = folder();
    let args = ["bench", "--tag", "--for", "1ms", "--threads", "1", "--json"];
    let report = json(&stdout(folder.path(), &args));
    assert!(report["results"][0]["uids_per_second"].as_f64().unwrap() > 0.0);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "no registry is used");
}

#[test]
fn a_locked_registry_is_told_after_a_second() {
    let folder = folder();
    stdout(folder.path(), &["take", "--lease", "1s"]);
    let path = registry(folder.path());
    let said = format!(
        "uidring: waiting for the registry {}, which another process may have locked",
        path.display()
    );
    let db = path.to_str().unwrap();
    let locked = rusqlite::Connection::open(&path).unwrap();
    locked.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let commands = [
        &["take"][..],
        &["status", "--for", "50ms", "--db", db],
        &["workers"],
        &["workers", "release", "1"],
        &["layout", "--db", db],
        &["parse", "--db", db, "1"],
    ];
    let waiting = commands.map(|args| {
        let started = Instant::now();
        let mut command = uidring(folder.path(), args);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        (args, started, child, lines)
    });
    let told = waiting.map(|(args, started, child, mut lines)| {
        assert_eq!(lines.next().unwrap().unwrap(), said, "{args:?}");
        let after = started.elapsed();
        assert!((0.9..2.5).contains(&after.as_secs_f64()), "{args:?} {after:?}");
        (args, child, lines)
    });
    locked.execute_batch("ROLLBACK").unwrap();
    for (args, mut child, lines) in told {
        let rest: Vec<String> = lines.map(Result::unwrap).collect();
        // An id that was given once cannot be released, and one that was given back is free.
        assert!(rest.is_empty() || args.contains(&"release"), "said once: {rest:?}");
        assert_eq!(child.wait().unwrap().success(), rest.is_empty(), "{args:?}");
    }
}

#[cfg(any(feature = "mysql", feature = "postgres"))]
#[test]
fn a_silent_server_is_told_after_a_second() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let scheme = if cfg!(feature = "postgres") { "postgres" } else { "mysql" };
    let url = format!("{scheme}://me:hunter2@127.0.0.1:{port}/ids");
    let mut child =
        uidring(folder().path(), &["take", "--db", &url]).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let shown = url.replace(":hunter2", "");
    let expected =
        format!("uidring: waiting for the registry {shown}, which has not answered yet\n");
    assert_eq!(said, expected);
}

#[test]
fn the_environment_names_a_registry() {
    let folder = folder();
    let with = |db: &str, args: &[&str]| {
        let output = uidring(folder.path(), args).env("UIDRING_DB", db).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    let taken = with("there.db", &["take", "--layout", "35,10,15"]);
    assert!(folder.path().join("there.db").exists() && !registry(folder.path()).exists());
    assert!(with("there.db", &["workers"]).ends_with("\n1 of 1,023 worker ids used\n"));
    let time_bits = |args: &[&str]| json(&with("there.db", args))["time_bits"].clone();
    assert_eq!(time_bits(&["layout", "--json"]), 35);
    let parsed = json(&with("there.db", &["parse", "--json", taken.trim()]));
    assert_eq!(parsed["worker"], 1);
    // What is asked for comes first.
    assert_eq!(time_bits(&["layout", "--json", "--preset", "default"]), 30);
    with("there.db", &["take", "--db", "here.db"]);
    assert!(
        with("there.db", &["workers", "--db", "here.db"])
            .ends_with("\n1 of 1,048,575 worker ids used\n")
    );
    // A trial is no start.
    with("there.db", &["status", "--for", "50ms"]);
    assert!(with("there.db", &["workers"]).ends_with("\n1 of 1,023 worker ids used\n"));
    let help = with("mysql://me:hunter2@db/ids", &["take", "--help"]);
    assert!(help.contains("[env: UIDRING_DB]") && !help.contains("hunter2"), "{help}");
}

#[test]
fn a_misspelt_variable_is_told() {
    let folder = folder();
    let output = uidring(folder.path(), &["layout"]).env("UIDRING_BD", "x.db").output().unwrap();
    assert!(output.status.success());
    let said = text(&output.stderr);
    let expected = "uidring: the variable UIDRING_BD has no effect; did you mean UIDRING_DB?\n";
    assert_eq!(said, expected);
    let others = [("UIDRING_SERVER_DB", "x"), ("UIDRING_SERVER_LISTE", "x")];
    let output = uidring(folder.path(), &["layout"]).envs(others).output();
    assert_eq!(text(&output.unwrap().stderr), "");
}

/// As frameworks and people hand names over.
#[test]
fn a_name_may_be_spelt_in_other_ways() {
    let folder = folder();
    for option in
        ["--max-lead", "--max_lead", "--max.lead", "--maxLead", "--MAX-LEAD", "--MAX_LEAD"]
    {
        let joined = format!("{option}=soon");
        for args in [&["take", &joined][..], &["take", option, "soon"], &["status", option, "soon"]]
        {
            let output = uidring(folder.path(), args).output().unwrap();
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
            assert!(said.contains("'soon' for '--max-lead"), "{args:?}: {said}");
        }
    }
    for (variable, is_used) in
        [("UIDRING_DB", true), ("uidring.db", true), ("uidring_db", true), ("UIDRING.BD", false)]
    {
        let output = uidring(folder.path(), &["take"]).env(variable, "./named").output().unwrap();
        assert!(output.status.success(), "{variable}");
        let said = text(&output.stderr);
        assert_eq!(said.contains("has no effect"), !is_used, "{variable}: {said}");
        let named = folder.path().join("named");
        assert_eq!(named.exists(), is_used, "{variable}");
        let _ = fs::remove_file(named);
    }
}

#[test]
fn no_password_is_shown() {
    let folder = folder();
    for args in [
        // Nobody listens at this port.
        &["take", "--db", "postgres://me:hunter2@127.0.0.1:1/ids"][..],
        &["take", "--db", "mysql://me:hunter2@127.0.0.1:1/ids"],
        &["take", "--db", "mysql://me:hunter2@127.0.0.1:99999/ids"],
        &["take", "--db", "mysql://me:hunter2@127.0.0.1:1"],
        &["take", "--db", "mysql://me:hunter2?x@127.0.0.1:1/ids"],
        &["take", "--db", "postgres://me:hunter2?x@127.0.0.1:1/ids"],
        &["take", "--db", "mysql://127.0.0.1:1/ids?password=hunter2"],
        &["take", "--db", "postgres://127.0.0.1:1/ids?password=hunter2&strange=1"],
        &["take", "--db", "oracle://me:hunter2@127.0.0.1/ids"],
        &["workers", "--db", "postgres://me:hunter2@127.0.0.1:1/ids"],
        &["workers", "release", "1", "--db", "postgres://me:hunter2@127.0.0.1:1/ids"],
        &["tags", "--db", "postgres://me:hunter2@127.0.0.1:1/ids"],
        &["tags", "create", "orders", "--db", "mysql://me:hunter2@127.0.0.1:1/ids"],
        &["take", "--tag", "orders", "--db", "mysql://me:hunter2@127.0.0.1:1/ids"],
        &["parse", "--db", "postgres://me:hunter2@127.0.0.1:1/ids", "1"],
        &["status", "--db", "postgres://me:hunter2@127.0.0.1:1/ids"],
        &["take", "--db", "etcd://me:hunter2@127.0.0.1:1/ids"],
        &["workers", "--db", "zookeeper://me:hunter2@127.0.0.1:1/ids"],
        &["tags", "--table", "cosid", "--db", "redis://me:hunter2@127.0.0.1:1/0/ids"],
        &["tags", "--table", "cosid", "--db", "etcd://me:hunter2@127.0.0.1:1/ids"],
        &["take", "postgres://me:hunter2@127.0.0.1:1/ids"],
        &["take", "--bd=postgres://me:hunter2@127.0.0.1:1/ids"],
    ] {
        let output = run(folder.path(), args);
        let complaint = text(&output.stderr);
        assert!(
            !output.status.success() && complaint.starts_with("uidring: "),
            "{args:?}: {complaint}"
        );
        assert!(
            !complaint.contains("hunter2") && text(&output.stdout).is_empty(),
            "{args:?}: {complaint}"
        );
    }
}

#[cfg(all(
    feature = "etcd",
    feature = "mysql",
    feature = "postgres",
    feature = "redis",
    feature = "zookeeper"
))]
#[test]
fn a_character_that_ends_a_password_is_told_before_a_server_is_asked() {
    let folder = folder();
    for scheme in ["postgres", "postgresql", "mysql", "etcd", "etcds", "zookeeper", "rediss"] {
        for rest in [
            "t:pQ7@ssQ7/wQ7:rdQ7@host.invalid/ids",
            "t:pQ7/ssQ7@h1.invalid:1,h2.invalid:2/ids",
            "t:pQ7#ssQ7@host.invalid/ids",
            "t:pQ7?ssQ7@host.invalid/ids",
            "t:pQ7%ssQ7@host.invalid/ids",
        ] {
            let url = format!("{scheme}://{rest}");
            for args in [&["take", "--db", &url][..], &["tags", "--db", &url]] {
                let complaint = stderr(folder.path(), args, 1);
                let said = complaint.contains("@, #, ?, : and %, write these as %2F, %40, %23, ");
                assert!(said && !complaint.contains("Q7"), "{args:?}: {complaint}");
            }
        }
    }
}

#[cfg(all(feature = "mysql", feature = "postgres"))]
#[test]
fn an_address_may_name_an_authority() {
    let folder = folder();
    fs::write(folder.path().join("empty.pem"), "").unwrap();
    for url in [
        "postgres://me:hunter2@db/ids?sslrootcert=empty.pem",
        "mysql://me:hunter2@db/ids?ssl-ca=empty.pem",
    ] {
        let complaint = stderr(folder.path(), &["take", "--db", url], 1);
        assert!(complaint.contains("empty.pem: it holds no certificate"), "{complaint}");
    }
}

#[test]
fn an_address_says_how_to_build_what_is_missing() {
    for (is_there, url, what, feature) in [
        (cfg!(feature = "postgres"), "postgres://me:hunter2@db/ids", "PostgreSQL", "postgres"),
        (cfg!(feature = "postgres"), "postgresql://db/ids", "PostgreSQL", "postgres"),
        (cfg!(feature = "mysql"), "mysql://me:hunter2@db/ids", "MySQL and MariaDB", "mysql"),
        (cfg!(feature = "etcd"), "etcd://me:hunter2@db/ids", "etcd", "etcd"),
        (cfg!(feature = "redis"), "rediss://me:hunter2@db/0/ids", "Redis", "redis"),
        (cfg!(feature = "zookeeper"), "zookeeper://me:hunter2@db/ids", "ZooKeeper", "zookeeper"),
    ] {
        if !is_there {
            is_not_built_in(url, &format!("built without {what};"), feature);
        }
    }
}

fn is_not_built_in(url: &str, what: &str, feature: &str) {
    let folder = folder();
    for args in [
        &["take"][..],
        &["workers"],
        &["layout"],
        &["status", "--lease", "10m"],
        &["workers", "release", "1"],
    ] {
        let complaint = stderr(folder.path(), &[args, &["--db", url]].concat(), 1);
        assert!(
            complaint.contains(&url.replace(":hunter2", "")) && complaint.contains(what),
            "{complaint}"
        );
        assert!(
            complaint.contains(&format!("cargo install --path cli --features {feature}\n")),
            "{complaint}"
        );
    }
}

#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn everything_works_with_postgres() {
    works_with(databases::Server::Postgres);
}

#[cfg(feature = "mysql")]
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn everything_works_with_mysql() {
    works_with(databases::Server::MySql);
}

#[cfg(any(feature = "mysql", feature = "postgres"))]
fn works_with(server: databases::Server) {
    let (folder, database) = (folder(), server.database());
    let on = |args: &[&str]| stdout(folder.path(), &[args, &["--db", &database.url]].concat());
    let refused =
        |args: &[&str]| stderr(folder.path(), &[args, &["--db", &database.url]].concat(), 1);
    assert!(refused(&["layout"]).contains("has not been used with a layout yet"));
    assert!(refused(&["workers"]).contains("its tables are not there"));
    // What cannot be built leaves nothing.
    refused(&["take", "--slots", "3"]);
    assert!(refused(&["workers"]).contains("its tables are not there"));

    let layout = Layout::new(35, 10, 15).unwrap();
    let worker = |lines: &str| layout.parts(uids(lines)[0]).worker;
    assert_eq!(worker(&on(&["take", "-n", "3", "--layout", "35,10,15"])), 1);
    let taken = on(&["take", "--lease", "10m"]);
    assert_eq!((worker(&taken), worker(&on(&["take", "--lease", "10m"]))), (2, 2));
    assert_eq!(json(&on(&["layout", "--json"]))["time_bits"], 35);
    assert_eq!(json(&on(&["parse", "--json", taken.trim()]))["worker"], 2);
    assert_eq!(json(&on(&["status", "--json", "--for", "50ms"]))["worker_id"], 3);
    assert!(refused(&["take", "--preset", "default"]).contains("35 | 10 | 15"));
    assert!(
        refused(&["take", "--partition", "0/2"]).contains("worker ids 1 to 1023, and 1 to 511")
    );

    let killed =
        uidring(folder.path(), &["take", "--rate", "10", "--lease", "1h", "--db", &database.url])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
    let mut killed = killed.unwrap();
    let mut line = String::new();
    BufReader::new(killed.stdout.take().unwrap()).read_line(&mut line).unwrap();
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(worker(&line), 2);
    let page = on(&["workers"]);
    assert!(page.contains("  given once\n") && page.contains("  held, 59 min "), "{page}");
    assert!(
        page.ends_with(
            "\n3 of 1,023 worker ids used; 1 leased, 0 of them free to be given again\n"
        ),
        "{page}"
    );
    assert!(refused(&["workers", "release", "1"]).contains("once and for all"));
    assert!(refused(&["workers", "release", "2"]).contains("is held by "));
    assert!(refused(&["workers", "release", "4"]).contains("the largest so far is 3"));
    assert!(on(&["workers", "release", "2", "--force"]).starts_with("worker id 2 was taken from "));
    assert!(refused(&["workers", "release", "2"]).contains("is free already"));
    assert!(on(&["workers"]).ends_with("; 1 leased, 1 of them free to be given again\n"));
    let again = uids(&on(&["take", "--lease", "10m"]))[0];
    assert!(
        layout.parts(again).worker == 2 && layout.parts(again).time > SystemTime::now(),
        "behind what was reserved"
    );

    assert!(on(&["tags"]).starts_with("no tags yet"));
    on(&["tags", "create", "orders", "--step", "100"]);
    assert_eq!(on(&["take", "--tag", "orders", "-n", "3"]), "1\n2\n3\n");
    assert_eq!(json(&on(&["tags", "--json"]))["tags"][0]["next"], "4");
    assert!(refused(&["take", "--tag", "order"]).contains("uidring tags create order"));
    assert!(refused(&["tags", "--table", "leaf"]).contains("its table leaf_alloc is not there"));
    database.run(
        "CREATE TABLE leaf_alloc (biz_tag VARCHAR(128) PRIMARY KEY, max_id BIGINT NOT NULL, \
         step INT NOT NULL, description VARCHAR(256), \
         update_time TIMESTAMP DEFAULT CURRENT_TIMESTAMP); \
         INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('leaf', 7, 100)",
    );
    assert!(on(&["tags", "--table", "leaf"]).contains("\nleaf"));
    assert_eq!(on(&["take", "--tag", "leaf", "--table", "leaf"]), "7\n");
    on(&["tags", "remove", "orders", "--force"]);

    let (scheme, address) = database.url.split_once("://").unwrap();
    let stranger = format!("{scheme}://stranger:hunter2@{}", address.split_once('@').unwrap().1);
    let complaint = stderr(folder.path(), &["workers", "--db", &stranger], 1);
    assert!(complaint.contains("stranger") && !complaint.contains("hunter2"), "{complaint}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "no file was made");
}

/// What `UidGenerator` ships to make its table, and the rows of two nodes.
#[cfg(feature = "mysql")]
const WORKER_NODE: &str = "
    CREATE TABLE WORKER_NODE (
        ID BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
        HOST_NAME VARCHAR(64) NOT NULL, PORT VARCHAR(64) NOT NULL, TYPE INT NOT NULL,
        LAUNCH_DATE DATE NOT NULL, MODIFIED TIMESTAMP NOT NULL, CREATED TIMESTAMP NOT NULL
    ) ENGINE = INNODB;
    INSERT INTO WORKER_NODE (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED)
    VALUES ('java-1', '8080-1', 1, CURRENT_DATE, NOW(), NOW()),
        ('java-2', '1500000000000-2', 2, CURRENT_DATE, NOW(), NOW())";

#[cfg(feature = "mysql")]
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn worker_ids_come_from_the_table_of_uid_generator() {
    let (folder, database) = (folder(), databases::Server::MySql.database());
    let of = |line: &str| -> Vec<String> {
        let words = line.split(' ').chain(["--db", &database.url]);
        words.map(str::to_owned).collect()
    };
    let on = |line: &str| {
        let args = of(line);
        stdout(folder.path(), &args.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let refused = |line: &str, status: i32| {
        let args = of(line);
        stderr(folder.path(), &args.iter().map(String::as_str).collect::<Vec<_>>(), status)
    };
    let theirs = "--layout 29,21,13 --epoch 2016-09-19T16:00:00Z";
    let missing = refused(&format!("take --uid-generator {theirs}"), 1);
    assert!(missing.contains("its table WORKER_NODE is not there"), "{missing}");
    database.run(WORKER_NODE);
    for command in ["take", "status --for 50ms"] {
        let complaint = refused(&format!("{command} {theirs}"), 1);
        for way in ["up to 2,", "--uid-generator", "--worker-ids or --partition", "with --db"] {
            assert!(complaint.contains(way), "{complaint}");
        }
        assert!(!complaint.contains("uid_generator"), "an option, not a method: {complaint}");
        let complaint = refused(&format!("{command} --uid-generator"), 2);
        assert!(complaint.contains("does not know the layout of its UIDs"), "{complaint}");
    }
    assert_eq!(database.run("SHOW TABLES").trim(), "WORKER_NODE", "none of our own is made");
    let uid = on(&format!("take --uid-generator {theirs}"));
    let parsed = format!("parse --json {theirs} {}", uid.trim());
    let parsed = json(&stdout(folder.path(), &parsed.split(' ').collect::<Vec<_>>()));
    assert_eq!(parsed["worker"], 3);
    let around = Around::now();
    let status = on(&format!("status --json --for 50ms --uid-generator {theirs}"));
    assert_eq!(json(&status)["worker_id"], 4);
    let page = on("workers --uid-generator");
    let hosts: Vec<_> =
        page.lines().map(|line| line.split_whitespace().nth(1).unwrap()).take(3).collect();
    assert_eq!(hosts, ["HOST", "java-1", "java-2"], "{page}");
    assert!(
        page.ends_with(
            "\n4 worker ids used; the layout, which the table does not know, \
                            tells how many there are\n"
        ),
        "{page}"
    );
    let report = json(&on("workers --json --uid-generator"));
    assert_eq!((&report["used"], &report["capacity"]), (&Value::from(4), &Value::Null));
    let created: jiff::Timestamp =
        report["workers"][3]["created"].as_str().unwrap().parse().unwrap();
    assert!(around.contains(created.into()), "{report}");
    let complaint = refused("workers release 1 --uid-generator", 1);
    assert!(complaint.contains("was given to java-1/8080-1 once and for all"), "{complaint}");
    // As the page on moving over has it.
    let page = include_str!("../../docs/migration.md").replace("\\\n", "");
    let page = page.replace("mysql://orders@db.example.com/orders", &database.url);
    let lines = page.lines().filter_map(|line| line.strip_prefix("$ "));
    let lines = lines
        .filter(|line| line.starts_with("uidring ") && line.contains("--uid-generator"))
        .map(|line| stdout(folder.path(), &line.split_whitespace().skip(1).collect::<Vec<_>>()));
    let said: Vec<String> = lines.collect();
    assert!(said.len() == 2 && said[1].contains("5 worker ids used"), "{said:?}");
    // Ids above all that the table will come to.
    let uid = on(&format!("take --worker-ids 1000000-2000000 {theirs}"));
    let parsed = format!("parse --json {theirs} {}", uid.trim());
    let parsed = json(&stdout(folder.path(), &parsed.split(' ').collect::<Vec<_>>()));
    assert_eq!(parsed["worker"], 1_000_000);
    // Both are there.
    assert!(on("workers").contains("1 of "), "{}", on("workers"));
}

#[test]
fn the_table_of_uid_generator_is_on_a_mysql_server() {
    let folder = folder();
    for args in [
        &["take", "--uid-generator", "--layout", "29,21,13"][..],
        &["status", "--uid-generator", "--layout", "29,21,13", "--db", "here.db"],
        &["workers", "--uid-generator"],
        &["workers", "release", "1", "--uid-generator"],
        #[cfg(feature = "postgres")]
        &["workers", "--uid-generator", "--db", "postgres://db/ids"],
    ] {
        let complaint = stderr(folder.path(), args, 2);
        assert!(complaint.contains("on a MySQL or MariaDB server"), "{args:?}: {complaint}");
    }
    for term in [&["--lease", "10m"][..], &["--partition", "0/2"], &["--worker-ids", "5-9"]] {
        let args = [&["take", "--uid-generator", "--layout", "29,21,13"], term].concat();
        let complaint = stderr(folder.path(), &args, 2);
        assert!(complaint.contains("cannot be used with"), "{complaint}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was made");
}
