//! `uidring take` as a load: bars and interrupts, and an output that ends in the middle.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;

use crate::{complaint, folder, json, stdout, text, uidring};

/// A run that gets a Ctrl-C after its first line, and the lines that follow.
pub fn interrupted(folder: &Path, args: &[&str]) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut child =
        uidring(folder, args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    (child, lines)
}

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
