//! `uidring take` as a load: rates and threads.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use uidring::Layout;

use crate::{complaint, folder, run, stderr, stdout, text, uids};

/// What a load prints, and its summary.
pub fn load(folder: &Path, args: &[&str]) -> (String, String) {
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
