//! `uidring workers lend` in a terminal with a shell: whom the keys go to, and who reads what is
//! typed.

use std::path::Path;
use std::process::Command;
use std::time::Duration;
use std::{env, fs, thread};

use rexpect::session::{PtySession, spawn_command};

use crate::folder;

const PATIENCE_MS: u64 = 30_000;

/// A shell with job control, whose terminal does not show what is typed.
struct Shell(PtySession);

impl Shell {
    fn start(folder: &Path) -> Shell {
        // What starts the tests may ignore interrupts, as a job in the background does, and so
        // would all that they start.
        let mut command = Command::new("env");
        command.args(["--default-signal=INT", "bash"]);
        // An editor of lines would show them itself.
        command.args(["--norc", "--noprofile", "--noediting", "-i"]).current_dir(folder);
        command.env("PS1", "prompt> ").env("TERM", "dumb").env_remove("PROMPT_COMMAND");
        let tool = Path::new(env!("CARGO_BIN_EXE_uidring"));
        let path = env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", tool.parent().unwrap().display()));
        let mut shell = Shell(spawn_command(command, Some(PATIENCE_MS)).unwrap());
        // A shell with job control ends by no SIGTERM.
        shell.0.process_mut().set_kill_timeout(Some(0));
        shell.expect("prompt> ");
        shell.types("stty -echo");
        shell.expect("prompt> ");
        shell
    }

    fn types(&mut self, line: &str) {
        self.0.send_line(line).unwrap();
    }

    fn presses_control(&mut self, key: char) {
        self.0.send_control(key).unwrap();
    }

    /// Waits until the screen shows it, and returns what it showed before.
    fn expect(&mut self, text: &str) -> String {
        self.0.exp_string(text).unwrap()
    }

    /// Begins it with a lent worker id, and waits until it has begun.
    fn lends(&mut self, options: &str, script: &str) {
        self.lends_and(options, script, "");
    }

    fn lends_in_background(&mut self, script: &str) {
        self.lends_and("", script, "&");
    }

    fn lends_and(&mut self, options: &str, script: &str, end: &str) {
        let lend = "uidring workers lend --db db --pool shop --rest 1s --quiet --env WORKER";
        self.types(&format!("{lend} {options} -- sh -c 'echo begun; {script}' {end}"));
        self.expect("begun");
    }

    /// Of the command before.
    fn expect_status(&mut self, status: u8) {
        self.types("echo status-$?-");
        self.expect(&format!("status-{status}-"));
    }

    /// The command, which ends with [`READS`], gets the next line.
    fn expect_that_it_reads(&mut self) {
        self.types("hello");
        self.expect("got-hello-");
        self.expect("prompt> ");
        self.expect_status(0);
    }
}

const READS: &str = "read line; echo got-$line-";

#[test]
fn a_command_reads_what_is_typed() {
    let folder = folder();
    let mut shell = Shell::start(folder.path());
    shell.lends("", READS);
    shell.expect_that_it_reads();
}

#[test]
fn an_interrupt_reaches_a_command_once() {
    let folder = folder();
    let mut shell = Shell::start(folder.path());
    // A shell that waits for a long command hears of no signal that came just before.
    let wait = "while [ $n = 0 ]; do sleep 0.1; done; sleep 1; exit 7";
    shell.lends("", &format!("n=0; trap \"echo caught; n=1\" INT; echo ready; {wait}"));
    shell.expect("ready");
    shell.presses_control('c');
    shell.expect("caught");
    let shown = shell.expect("prompt> ");
    assert!(!shown.contains("caught"), "{shown}");
    shell.expect_status(7);
}

#[test]
fn a_command_that_stops_gives_the_terminal_to_the_shell() {
    let folder = folder();
    let mut shell = Shell::start(folder.path());
    shell.lends("", READS);
    shell.presses_control('z');
    shell.expect("Stopped");
    shell.expect("prompt> ");
    shell.types("echo here-$((6 * 7))-");
    shell.expect("here-42-");
    shell.types("fg");
    shell.expect_that_it_reads();
}

#[test]
fn a_command_that_is_stopped_ends_with_its_lease() {
    let folder = folder();
    let mut shell = Shell::start(folder.path());
    // Long enough that it is stopped before that, also where the machine is busy.
    shell.lends("--lease 8s", "echo process-$$-; sleep 60");
    shell.expect("process-");
    let process = shell.expect("-");
    shell.presses_control('z');
    shell.expect("Stopped");
    // Its parent, which is stopped as well, does not see it yet.
    let is_gone = format!("ps -o stat= -p {process} | grep -q Z");
    shell.types(&format!("until {is_gone}; do sleep 0.1; done; echo gone"));
    shell.expect("gone");
    shell.types("fg");
    shell.expect("worker id 1");
    shell.expect("prompt> ");
    shell.expect_status(124);
}

#[test]
fn a_command_in_the_background_leaves_the_terminal_to_the_shell() {
    let folder = folder();
    let mut shell = Shell::start(folder.path());
    shell.lends_in_background("sleep 1; echo over");
    shell.types("read line; echo shell-$line-");
    shell.expect("over");
    shell.types("hello");
    shell.expect("shell-hello-");
}

#[test]
fn a_command_in_the_background_that_reads_waits_for_the_foreground() {
    let folder = folder();
    let mut shell = Shell::start(folder.path());
    shell.lends_in_background(READS);
    shell.types("until jobs | grep -q Stopped; do sleep 0.1; done; echo it-has-stopped");
    shell.expect("it-has-stopped");
    shell.types("fg");
    shell.expect_that_it_reads();
}

#[test]
fn a_command_that_comes_to_the_foreground_reads_what_is_typed() {
    let folder = folder();
    let mut shell = Shell::start(folder.path());
    shell.lends_in_background(&format!("until [ -e go ]; do sleep 0.1; done; {READS}"));
    shell.types("fg");
    thread::sleep(Duration::from_millis(300));
    fs::write(folder.path().join("go"), "").unwrap();
    shell.expect_that_it_reads();
}
