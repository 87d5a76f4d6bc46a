//! The command-line tool as a user meets it: the real binary, its output, its exit status.

// A test that cannot go on has failed.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod addresses;
mod arguments;
#[cfg(unix)]
#[path = "../../../tests/common/copy_program.rs"]
mod copy_program;
#[cfg(any(feature = "mysql", feature = "postgres"))]
#[path = "../../../tests/common/databases/mod.rs"]
mod databases;
mod escaped_text;
mod failures;
// Windows sends a program no signal.
#[cfg(unix)]
mod interrupts;
#[cfg(all(feature = "etcd", feature = "redis", feature = "zookeeper"))]
#[path = "../../../tests/common/key_servers/mod.rs"]
mod key_servers;
#[cfg(all(feature = "etcd", feature = "redis", feature = "zookeeper"))]
mod key_stores;
mod layout;
#[cfg(unix)]
mod lend;
#[cfg(target_os = "linux")]
mod lend_storm;
#[cfg(target_os = "linux")]
mod lend_terminal;
mod load;
mod masked;
mod pages;
mod parse;
mod past;
mod plan;
mod series;
#[cfg(any(feature = "mysql", feature = "postgres"))]
mod servers;
#[cfg(unix)]
mod shell;
#[path = "../../../tests/common/size.rs"]
mod size;
mod sql;
mod status;
mod tags;
mod take;
// A closed pipe, /dev/full and mounts.
#[cfg(unix)]
mod unix_failures;
mod variables;
mod workers;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tempfile::TempDir;
use uidring::Uid;
use uidring::registry::SqliteRegistry;

/// `uidring` in a folder of its own, away from the settings of whoever runs the tests.
fn uidring(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_uidring"));
    command.args(args).current_dir(folder).stdin(Stdio::null());
    command
        .env("TZ", "UTC")
        // Where the user's own registry is, on Linux, on macOS and on Windows.
        .env("XDG_STATE_HOME", folder)
        .env("HOME", folder)
        .env("LOCALAPPDATA", folder)
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
    folder.join(state).join("uidring").join("uidring.db")
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
    // Wine has it too, by a name that is spelt in several ways.
    let in_memory = if cfg!(unix) { tempfile::tempdir_in("/dev/shm").ok() } else { None };
    in_memory.unwrap_or_else(|| tempfile::tempdir().unwrap())
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
