//! `uidring take --at` and `--times`: UIDs of times that were.

use std::fs;

use uidring::Layout;

use crate::{folder, json, run, stderr, stdout, text, uids, with_input};

#[test]
fn uids_of_a_time_have_it() {
    let folder = folder();
    let at = ["take", "--at", "2026-05-02T10:15:00Z", "--format", "json"];
    let one = json(&stdout(folder.path(), &at));
    assert_eq!((one["time"].as_str(), &one["worker"]), (Some("2026-05-02T10:15:00Z"), &1.into()));
    // A further run has another worker id.
    let lines = stdout(folder.path(), &[&at[..], &["-n", "9000"]].concat());
    let lines: Vec<_> = lines.lines().map(json).collect();
    assert_eq!(lines.len(), 9000);
    assert!(lines.iter().all(|line| line["time"] == one["time"]));
    let workers = lines.iter().map(|line| line["worker"].as_u64().unwrap());
    assert!(workers.eq((0..9000).map(|at| 2 + at / 8192)));
}

#[test]
fn each_line_of_a_file_gets_a_uid() {
    let folder = folder();
    let times = "2026-03-01T10:00:00Z\r\n2026-03-01\n2026-03-01 10:00:00+00:00\n2026-02-01";
    fs::write(folder.path().join("times.txt"), times).unwrap();
    let seconds = |uids: &[uidring::Uid]| -> Vec<u64> {
        let layout = Layout::DEFAULT;
        uids.iter().map(|uid| layout.tick_at(layout.parts(*uid).time).unwrap()).collect()
    };
    let taken = uids(&stdout(folder.path(), &["take", "--times", "times.txt"]));
    let march = (31 + 28) * 86_400;
    let expected = [march + 36_000, march, march + 36_000, 31 * 86_400];
    assert_eq!(seconds(&taken), expected);
    let again = with_input(folder.path(), &["take", "--times", "-"], times);
    let again = uids(&text(&again.stdout));
    assert_eq!(seconds(&again), expected);
    assert!(again.iter().all(|uid| !taken.contains(uid)));
    fs::write(folder.path().join("many.txt"), "2026-03-01\n".repeat(25_000)).unwrap();
    let many = uids(&stdout(folder.path(), &["take", "--times", "many.txt"]));
    assert!(many.len() == 25_000 && many.is_sorted_by(|a, b| a < b));
}

#[test]
fn a_line_without_a_uid_is_named_and_those_before_it_are_printed() {
    let folder = folder();
    for (line, problem) in [
        ("yesterday", "\"yesterday\": a time is such as 2026-01-01T00:00:00Z"),
        ("", "\"\": a time is such as"),
        ("2025-06-01", "no UID of 2025-06-01T00:00:00Z: the layout begins at 2026-01-01"),
        ("9999-01-01", "no UID of 9999-01-01T00:00:00Z: the clock shows "),
    ] {
        fs::write(folder.path().join("times"), format!("2026-03-01\n2026-03-02\n{line}\nx"))
            .unwrap();
        let args = ["take", "--times", "times"];
        let output = run(folder.path(), &args);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(uids(&text(&output.stdout)).len(), 2, "{line}");
        let told = text(&output.stderr);
        assert!(told.contains(&format!("line 3 of times: {problem}")), "{told}");
    }
    let told = stderr(folder.path(), &["take", "--times", "missing"], 1);
    assert!(told.contains("cannot open missing: "), "{told}");
}

#[test]
fn what_says_nothing_about_the_past_is_refused() {
    let folder = folder();
    for other in
        [&["--rate=5"][..], &["--tag=a"], &["--max-lead=1h"], &["--exact-time"], &["--threads=2"]]
    {
        let told = stderr(folder.path(), &[&["take", "--at", "2026-03-01"], other].concat(), 2);
        assert!(told.contains("cannot be used with"), "{told}");
    }
    let leased = ["take", "--at", "2026-03-01", "--lease", "10m"];
    let told = stderr(folder.path(), &leased, 1);
    assert!(told.contains("is lent again and again: leave out --lease"), "{told}");
}
