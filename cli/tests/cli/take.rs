//! `uidring take`: what it prints, and its layouts.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use uidring::{Layout, Uid};

use crate::{Around, folder, json, registry, stderr, stdout, text, uidring, uids};

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
