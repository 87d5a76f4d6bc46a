//! Worker ids that the caller chose: no second twice across restarts and set-back clocks, and clear refusals.
#![allow(missing_docs, clippy::unwrap_used)]

mod alone;

use std::collections::HashSet;
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use alone::alone;
use uidring::clock::{Clock, ManualClock, SystemClock};
use uidring::registry::FixedWorker;
use uidring::{BuildError, Layout, UidGenerator};

fn build(file: &Path, clock: &ManualClock) -> Result<UidGenerator, BuildError> {
    UidGenerator::builder().registry(FixedWorker::new(7).with_state(file)).clock(clock.clone()).build()
}

#[test]
fn a_restart_under_a_clock_set_back_repeats_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("uidring.state");
    let clock = ManualClock::new(SystemClock.now());
    let mut all = HashSet::new();
    for round in 0..30 {
        let uids = build(&file, &clock).unwrap();
        for _ in 0..20_000 {
            assert!(all.insert(uids.take().unwrap()), "round {round}");
        }
        clock.rewind(Duration::from_secs(1200));
    }
    clock.rewind(Duration::from_secs(24 * 3600));
    let error = build(&file, &clock).unwrap_err().to_string();
    assert!(error.starts_with("worker id 7 has been used up to ") && error.contains("set the clock"), "{error}");
}

/// As after a crash: what was reserved counts as used.
#[test]
fn a_stop_without_a_farewell_repeats_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (file, kept) = (dir.path().join("uidring.state"), dir.path().join("kept"));
    let clock = ManualClock::new(SystemClock.now());
    let mut all = HashSet::new();
    for _ in 0..20 {
        let uids = build(&file, &clock).unwrap();
        for _ in 0..20_000 {
            assert!(all.insert(uids.take().unwrap()));
        }
        fs::copy(&file, &kept).unwrap();
        drop(uids);
        fs::rename(&kept, &file).unwrap();
    }
}

#[test]
fn refusals_say_what_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("uidring.state");
    let clock = ManualClock::new(SystemClock.now());
    let refused = |text: &str| {
        let error = build(&file, &clock).unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot open the registry {}", file.display())), "{error}");
        assert!(error.contains(text), "{error}");
    };

    let held = build(&file, &clock).unwrap();
    refused("another generator has it; give each a number and a file of its own");
    drop(held);

    let good = fs::read_to_string(&file).unwrap();
    for damaged in [&good[..good.len() - 1], &good[..good.len() - 6], &good.replace("used until ", "used until x")] {
        fs::write(&file, damaged).unwrap();
        refused("it is damaged");
    }
    fs::write(&file, "worker=7\n").unwrap();
    refused("it is not a state file of uidring");
    fs::write(&file, good.replace("worker 7", "worker 8")).unwrap();
    refused("it belongs to worker 8, layout 30 | 20 | 13 in seconds from 2026-01-01T00:00:00Z, and not to worker 7");
    fs::write(&file, good.replace("30 | 20 | 13", "29 | 21 | 13")).unwrap();
    refused("and not to worker 7, layout 30 | 20 | 13");
    fs::write(&file, &good).unwrap();
    build(&file, &clock).unwrap();

    let missing = build(&dir.path().join("no/uidring.state"), &clock).unwrap_err().to_string();
    assert!(missing.contains("No such file or directory"), "{missing}");
}

#[test]
fn an_idle_generator_reserves_ahead_and_a_busy_one_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("uidring.state");
    let clock = ManualClock::new(SystemClock.now());
    let uids = build(&file, &clock).unwrap();
    // More than the ten minutes that an idle generator has in store.
    for _ in 0..2000 * (Layout::DEFAULT.max_sequence() + 1) {
        uids.take().unwrap();
    }
    let used = || -> u64 {
        let text = fs::read_to_string(&file).unwrap();
        text.lines().find_map(|line| line.strip_prefix("used until ")).unwrap().parse().unwrap()
    };
    let reserved = used();
    drop(uids);
    assert!(used() < reserved, "a clean stop gives back what was not used");
}

/// What was used of the number stays known, wherever the program goes: a service goes to `/` when it has started.
#[test]
fn a_relative_path_stays_the_same_file() {
    alone("a_relative_path_stays_the_same_file", || {
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = dir.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        let clock = ManualClock::new(SystemClock.now());
        env::set_current_dir(&dir).unwrap();
        let uids = build(Path::new("uidring.state"), &clock).unwrap();
        env::set_current_dir(&elsewhere).unwrap();
        // More than is reserved at the start.
        for _ in 0..700 * (Layout::DEFAULT.max_sequence() + 1) {
            uids.take().unwrap();
        }
        let last = uids.take().unwrap();
        drop(uids);
        assert!(build(&dir.path().join("uidring.state"), &clock).unwrap().take().unwrap() > last);
        assert_eq!(fs::read_dir(elsewhere).unwrap().count(), 0);
    });
}

const CHILD: &str = "UIDRING_FIXED_CHILD";

#[test]
fn the_environment_gives_a_number() {
    if env::var_os(CHILD).is_some() {
        match FixedWorker::from_env("WORKER") {
            Ok(fixed) => {
                let uids = UidGenerator::builder().registry(fixed).build().unwrap();
                println!("<{}>", uids.worker_id());
            }
            Err(error) => println!("<{error}>"),
        }
        return;
    }
    let said = |worker: Option<&str>| {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "the_environment_gives_a_number", "--nocapture"]).env(CHILD, "1");
        let command = match worker {
            Some(worker) => command.env("WORKER", worker),
            None => command.env_remove("WORKER"),
        };
        let out = String::from_utf8(command.output().unwrap().stdout).unwrap();
        out.split_once('<').unwrap().1.split_once('>').unwrap().0.to_owned()
    };
    assert_eq!(said(Some("42")), "42");
    assert_eq!(said(Some(" 42\n")), "42");
    let place = "no worker id in the environment variable WORKER";
    assert_eq!(said(None), format!("{place}: it is not set; a worker id is a whole number"));
    for text in ["", "x", "-1", "18446744073709551616"] {
        assert!(said(Some(text)).starts_with(&format!("{place}: it holds {text:?}: ")), "{text}");
    }
}
