//! What is said where a registry is in the way.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Instant;

use crate::{folder, registry, stderr, stdout, uidring};

#[test]
fn take_says_why_there_is_no_registry() {
    let folder = folder();
    let complaint = stderr(folder.path(), &["take", "--db", "no/such/folder/uidring.db"], 1);
    let shown: PathBuf = ["no", "such", "folder"].iter().collect();
    assert!(complaint.contains(&shown.display().to_string()), "{complaint}");
    fs::write(
        folder.path().join("notes.txt"),
        "This is not a database, and it is long enough to be sure.",
    )
    .unwrap();
    let complaint = stderr(folder.path(), &["take", "--db", "notes.txt"], 1);
    assert!(complaint.contains("notes.txt"), "{complaint}");
    assert_eq!(complaint.lines().count(), 1);
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
        // Wine takes seconds to start several programs at once.
        let latest = if cfg!(windows) { 10.0 } else { 2.5 };
        assert!((0.9..latest).contains(&after.as_secs_f64()), "{args:?} {after:?}");
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
