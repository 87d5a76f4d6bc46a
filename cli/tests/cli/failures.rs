//! What is said where a registry, a reader or a disk is in the way.

use std::fs;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::{complaint, folder, registry, stderr, stdout, text, uidring};

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
