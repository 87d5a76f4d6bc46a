//! `uidring workers lend` and `uidring workers list`: a command with a worker id, and how it ends.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{folder, json, stderr, stdout, text, uidring};

/// `uidring workers lend` from the file `db` of this folder. A machine that is busy may be late by
/// the rest.
fn lend(folder: &Path, args: &[&str]) -> Command {
    let args =
        [&["workers", "lend", "--db", "db", "--pool", "shop", "--rest", "10s"], args].concat();
    uidring(folder, &args)
}

fn output(folder: &Path, args: &[&str]) -> Output {
    lend(folder, args).output().unwrap()
}

/// Begins it, and waits for the first line of the command. The rest of its output is not read.
fn begin(folder: &Path, args: &[&str]) -> (Child, String) {
    let mut command = lend(folder, args);
    let mut tool = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(tool.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (tool, line.trim().to_owned())
}

/// Waits, so that a tool that does not end is a failure and no test without an end.
fn ended(mut tool: Child) -> Output {
    let began = Instant::now();
    while tool.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < Duration::from_secs(60), "it does not end");
        thread::sleep(Duration::from_millis(10));
    }
    tool.wait_with_output().unwrap()
}

fn send(signal: &str, process: &impl ToString) {
    let sent = Command::new("kill").args([signal, &process.to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Whether the process runs. One that has ended, and whose parent has not looked yet, does not.
fn runs(process: &str) -> bool {
    let shown = Command::new("ps").args(["-o", "stat=", "-p", process]).output().unwrap();
    let state = text(&shown.stdout);
    !state.trim().is_empty() && !state.starts_with('Z')
}

/// Waits until it has ended.
fn wait_for_end(process: &str) {
    let began = Instant::now();
    while runs(process) {
        assert!(began.elapsed() < Duration::from_secs(30), "process {process} does not end");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Whether others may be lent the id of the newest loan by now.
fn is_free(folder: &Path) -> bool {
    let newest = &loans(folder)[0];
    newest["state"] == "free"
}

fn loans(folder: &Path) -> Vec<Value> {
    let args = ["workers", "list", "--db", "db", "--pool", "shop", "--json"];
    json(&stdout(folder, &args))["loans"].as_array().unwrap().clone()
}

#[test]
fn a_command_is_told_its_worker_id() {
    let folder = folder();
    let folder = folder.path();
    let told = |args: &[&str]| text(&output(folder, args).stdout);
    let show = "echo $A $B $0 $1";
    for (args, expected) in [
        (&["--env", "A", "--", "sh", "-c", show, "x", "y"][..], "1 x y\n"),
        (&["--env", "A", "--env", "B=n{worker}", "--", "sh", "-c", show, "{worker}"], "2 n2 2\n"),
        (&["--", "echo", "-Dnode={worker}", "{}"], "-Dnode=3 {}\n"),
        // Options of the command are its own.
        (&["--", "echo", "{worker}", "--Max_Lead", "--", "--db"], "4 --Max_Lead -- --db\n"),
        (
            &["--datacenter-bits", "8", "--", "echo", "{datacenter}", "{worker}"],
            "1 1\n", // of 10 bits, 5 is 01 and 01
        ),
    ] {
        assert_eq!(told(args), expected, "{args:?}");
    }
    let ids: Vec<u64> = loans(folder).iter().map(|loan| loan["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, [5, 4, 3, 2, 1], "the last ones first");
}

#[test]
fn loans_are_listed_by_the_name_of_the_machine_or_another() {
    let folder = folder();
    for host in [&["--host", "web-1"][..], &[]] {
        assert!(
            output(folder.path(), &[host, &["--env", "A", "--", "true"]].concat()).status.success()
        );
    }
    let hosts: Vec<Value> = loans(folder.path()).iter().map(|loan| loan["host"].clone()).collect();
    assert_eq!(hosts[1], "web-1");
    assert!(hosts[0].as_str().is_some_and(|name| !name.is_empty() && name != "web-1"), "{hosts:?}");
}

#[test]
fn the_status_is_that_of_the_command() {
    let folder = folder();
    for (script, status) in [
        ("exit 0", 0),
        ("exit 3", 3),
        ("exit 255", 255),
        ("kill -TERM $$", 143),
        ("kill -9 $$", 137),
    ] {
        let output = output(folder.path(), &["--env", "A", "--", "sh", "-c", script]);
        assert_eq!(output.status.code(), Some(status), "{script}: {}", text(&output.stderr));
    }
    for (command, status) in [("no-such-command", 127), ("/etc/passwd", 126), ("/", 126)] {
        let output = output(folder.path(), &["--env", "A", "--", command]);
        assert_eq!(output.status.code(), Some(status));
        let said = text(&output.stderr);
        assert!(said.contains(&format!("cannot run {command}: ")), "{said}");
        assert!(said.contains("returned worker id "), "{said}");
    }
    assert!(loans(folder.path()).iter().all(|loan| loan["state"] != "held"));
}

#[test]
fn it_says_little_and_with_quiet_nothing() {
    let folder = folder();
    let first = output(folder.path(), &["--env", "A", "--", "true"]);
    let lines = [
        "uidring: created the registry ",
        "uidring: true has worker id 1 of the pool shop\n",
        "uidring: returned worker id 1 after ",
    ];
    let said = text(&first.stderr);
    assert_eq!(said.lines().count(), 3, "{said}");
    assert!(lines.iter().all(|line| said.contains(line)), "{said}");
    let quiet = output(folder.path(), &["--quiet", "--env", "A", "--", "true"]);
    assert_eq!((text(&quiet.stderr).as_str(), quiet.status.code()), ("", Some(0)));
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_lent() {
    let folder = folder();
    let pool = ["workers", "lend", "--db", "db", "--pool", "shop"];
    for (args, said) in [
        (&["--", "true"][..], "is not told its worker id: name a variable with --env"),
        (&["--", "echo", "{datacenter}"], "say how many with --datacenter-bits"),
        (&["--datacenter-bits", "5", "--", "echo", "{worker}"], "only a part of its id"),
        (
            &["--bits", "5", "--datacenter-bits", "5", "--", "echo", "{worker}", "{datacenter}"],
            "an id of 5 bits has no 5 for the datacenter",
        ),
        (&["--bits", "23", "--", "echo", "{worker}"], "there are 1 to 22 bits of an id"),
        (&["--env", "A=", "--", "true"], "is not told its worker id"),
        (&["--env", "=A", "--", "true"], "a variable is NAME or NAME=TEXT"),
        (&["--env", "A", "true"], "write -- before true, if it is the command to run"),
        (&["--env", "A"], "required arguments were not provided"),
    ] {
        let complaint = stderr(folder.path(), &[&pool[..], args].concat(), 2);
        assert!(complaint.contains(said), "{complaint}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    for (args, said) in [
        (&["--lease", "31d"][..], "a lease cannot be"),
        (&["--rest", "1ms"], "a rest cannot be"),
        (&["--pool", "a/b"], "no pool is called"),
    ] {
        let args = [&["workers", "lend", "--db", "db"], args].concat();
        let pool = if args.contains(&"--pool") { &[][..] } else { &["--pool", "a"] };
        let args = [&args[..], pool, &["--env", "A", "--", "true"]].concat();
        let output = uidring(folder.path(), &args).output().unwrap();
        assert_eq!(output.status.code(), Some(125));
        assert!(text(&output.stderr).contains(said), "{}", text(&output.stderr));
    }
}

#[test]
fn a_full_pool_says_who_has_it() {
    let folder = folder();
    let one = ["--bits", "1", "--env", "A", "--lease", "1h"];
    let (tool, _) =
        begin(folder.path(), &[&one[..], &["--", "sh", "-c", "echo; sleep 60"]].concat());
    let full = output(folder.path(), &[&one[..], &["--", "echo", "hello"]].concat());
    assert_eq!((full.status.code(), text(&full.stdout)), (Some(75), String::new()));
    let said = text(&full.stderr);
    assert!(said.contains("no id of the pool shop may be lent now"), "{said}");
    assert!(said.contains("1 is held by ") && said.contains(" until 20"), "{said}");
    send("-TERM", &tool.id());
    assert_eq!(ended(tool).status.code(), Some(143));
    // It rests.
    let resting = output(folder.path(), &[&one[..], &["--", "true"]].concat());
    assert!(text(&resting.stderr).contains(" rests until 20"), "{}", text(&resting.stderr));
    let other = output(folder.path(), &["--bits", "2", "--env", "A", "--", "true"]);
    assert_eq!(other.status.code(), Some(125));
    assert!(text(&other.stderr).contains("was first used with ids of 1 bits"));
}

/// A shell that ignores no signal, whatever the tests do: those in the background of a script
/// ignore SIGINT.
const SHELL: [&str; 7] = ["--env", "A", "--", "env", "--default-signal", "sh", "-c"];

#[test]
fn signals_are_passed_on() {
    let folder = folder();
    for (signal, status) in
        [("INT", 130), ("TERM", 143), ("HUP", 129), ("QUIT", 131), ("USR1", 138), ("USR2", 140)]
    {
        let (tool, _) = begin(folder.path(), &[&SHELL[..], &["echo; exec sleep 60"]].concat());
        send(&format!("-{signal}"), &tool.id());
        assert_eq!(ended(tool).status.code(), Some(status), "{signal}");
    }
    for signal in ["INT", "TERM", "HUP", "QUIT", "USR1", "USR2", "WINCH", "CONT"] {
        let script = format!("trap 'exit 7' {signal}; echo; while :; do sleep 0.01; done");
        let (tool, _) = begin(folder.path(), &[&SHELL[..], &[&script]].concat());
        send(&format!("-{signal}"), &tool.id());
        assert_eq!(ended(tool).status.code(), Some(7), "{signal}");
    }
}

#[test]
fn what_the_command_leaves_behind_ends_before_the_id_is_returned() {
    let folder = folder();
    let script = "sleep 60 & echo $!; exit 4";
    let (tool, left) = begin(folder.path(), &["--env", "A", "--", "sh", "-c", script]);
    assert_eq!(ended(tool).status.code(), Some(4));
    assert!(!runs(&left));
    // Neither does one stay that ignores the request.
    let script = "(trap '' TERM; sleep 61) & echo $!; exit 5";
    let args = ["--lease", "3s", "--env", "A", "--", "sh", "-c", script];
    let (tool, left) = begin(folder.path(), &args);
    assert_eq!(ended(tool).status.code(), Some(5));
    assert!(!runs(&left));
}

/// A command that ignores the request to end, and writes the number of its process.
const STUBBORN: &str = "trap '' TERM; echo $$; while :; do sleep 0.05; done";

#[test]
fn a_command_ends_before_another_has_its_id_where_the_store_hangs() {
    let folder = folder();
    stdout_of(folder.path());
    let lease = Duration::from_secs(4);
    let args = ["--lease", "4s", "--env", "A", "--", "sh", "-c", STUBBORN];
    let began = Instant::now();
    let (tool, command) = begin(folder.path(), &args);
    // Nobody can write to the store from now on.
    let db = rusqlite::Connection::open(folder.path().join("db")).unwrap();
    db.execute_batch("BEGIN EXCLUSIVE").unwrap();
    wait_for_end(&command);
    assert!(began.elapsed() > lease * 2 / 3, "{:?}", began.elapsed());
    db.execute_batch("COMMIT").unwrap();
    assert!(!is_free(folder.path()));
    let output = ended(tool);
    assert_eq!(output.status.code(), Some(124));
    let said = text(&output.stderr);
    assert!(said.contains("ended sh before worker id 2 is another's: "), "{said}");
}

/// Makes the store, so that nothing is said about that.
fn stdout_of(folder: &Path) {
    assert!(output(folder, &["--env", "A", "--", "true"]).status.success());
}

#[test]
fn a_command_goes_on_while_its_id_is_renewed() {
    let folder = folder();
    let args = ["--lease", "1s", "--env", "A", "--", "sh", "-c", "sleep 3; exit 6"];
    let output = output(folder.path(), &args);
    assert_eq!(output.status.code(), Some(6), "{}", text(&output.stderr));
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_ends_when_the_tool_is_killed() {
    let folder = folder();
    let script = "(trap '' TERM; sleep 62) & echo $$ $!; sleep 63";
    let args = ["--lease", "6s", "--env", "A", "--", "sh", "-c", script];
    let (mut tool, line) = begin(folder.path(), &args);
    let (command, left) = line.split_once(' ').unwrap();
    tool.kill().unwrap();
    tool.wait().unwrap();
    // The system ends it, and the watcher what it left behind.
    wait_for_end(command);
    wait_for_end(left);
    assert!(!is_free(folder.path()));
}

/// The children of a process.
#[cfg(target_os = "linux")]
fn children(process: u32) -> Vec<String> {
    let parent = process.to_string();
    let args = ["-o", "pid=,args=", "--ppid", &parent];
    let shown = Command::new("ps").args(args).output().unwrap();
    text(&shown.stdout).lines().map(str::to_owned).collect()
}

#[cfg(target_os = "linux")]
fn watcher(tool: &Child) -> Option<String> {
    let all = children(tool.id());
    let watcher = all.iter().find(|line| line.contains("workers-lend-watcher"))?;
    Some(watcher.split_whitespace().next()?.to_owned())
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_ends_before_another_has_its_id_where_the_tool_stands_still() {
    let folder = folder();
    let args = ["--lease", "3s", "--env", "A", "--", "sh", "-c", STUBBORN];
    let (tool, command) = begin(folder.path(), &args);
    let began = Instant::now();
    // A watcher that is killed has a successor.
    let first = watcher(&tool).unwrap();
    send("-KILL", &first);
    let mut next = None;
    while next.is_none() || next.as_ref() == Some(&first) {
        assert!(began.elapsed() < Duration::from_secs(30), "no other watcher");
        next = watcher(&tool);
    }
    send("-STOP", &tool.id());
    wait_for_end(&command);
    assert!(!is_free(folder.path()));
    send("-CONT", &tool.id());
    assert_eq!(ended(tool).status.code(), Some(124));
}

#[test]
fn pools_and_their_loans_are_listed() {
    let folder = folder();
    let folder = folder.path();
    let complaint = stderr(folder, &["workers", "list", "--db", "db"], 1);
    assert!(complaint.contains("no such file"), "{complaint}");
    stdout_of(folder);
    let pools = json(&stdout(folder, &["workers", "list", "--db", "db", "--json"]));
    let pool = &pools["pools"][0];
    assert_eq!((pool["pool"].as_str(), pool["bits"].as_u64()), (Some("shop"), Some(10)));
    let count = |name: &str| pool[name].as_u64().unwrap();
    assert_eq!((count("held"), count("held") + count("resting") + count("free")), (0, 1023));
    let (tool, _) = begin(folder, &["--env", "A", "--", "sh", "-c", "echo; sleep 60"]);
    let page = stdout(folder, &["workers", "list", "--db", "db", "--pool", "shop"]);
    assert!(page.contains("of the pool shop, 1 id held, "), "{page}");
    let last = ["workers", "list", "--db", "db", "--pool", "shop", "--last", "1"];
    let page = stdout(folder, &last);
    assert!(page.contains(" held ") && page.contains("and 1 older; --last 2 shows all"), "{page}");
    let complaint = stderr(folder, &["workers", "list", "--db", "db", "--pool", "shops"], 1);
    assert!(complaint.contains("has no pool shops: it has shop, and"), "{complaint}");
    send("-TERM", &tool.id());
    ended(tool);
    let states = loans(folder);
    assert!(states.iter().all(|loan| loan["state"] != "held"), "{states:?}");
}
