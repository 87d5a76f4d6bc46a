//! What is said where a reader, a disk or a mount is in the way.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::{complaint, folder, stdout, text, uidring};

/// As `| head -3`.
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
