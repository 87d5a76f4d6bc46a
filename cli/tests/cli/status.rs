//! `uidring status`.

use std::fs;

use serde_json::Value;

use crate::{complaint, folder, json, run, stdout, text, uids};

#[test]
fn status_tries_a_generator_and_leaves_nothing() {
    let folder = folder();
    let page = stdout(folder.path(), &["status", "--for", "200ms"]);
    for expected in
        [" UIDs in ", "worker 1, filler running", "lead ", "the time field ends at 2060-01-10"]
    {
        assert!(page.contains(expected), "{expected:?} is not in\n{page}");
    }
    let record =
        json(&stdout(folder.path(), &["status", "--for", "200ms", "--rate", "5k", "--json"]));
    assert!((1..=1000).contains(&record["taken"].as_u64().unwrap()), "{record}");
    assert_eq!(
        (&record["worker_id"], &record["filler"]),
        (&Value::from(1), &Value::from("running"))
    );
    assert!(record["lead_ms"].as_u64().unwrap() > 1000, "a full ring: {record}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

    // With a registry it is a start like any other.
    let args = ["status", "--for", "50ms", "--rate", "0", "--json", "--db", "uidring.db"];
    for worker in 1..3 {
        let record = json(&stdout(folder.path(), &args));
        assert_eq!(
            (&record["worker_id"], &record["taken"]),
            (&Value::from(worker), &Value::from(0))
        );
    }
    assert_eq!(uids(&stdout(folder.path(), &["take", "--db", "uidring.db"])).len(), 1);
}

#[test]
fn each_part_of_a_summary_has_a_line_of_its_own() {
    let folder = folder();
    for args in [
        "status --for 50ms",
        "status --for 50ms --preset twitter --exact-time",
        "take --for 50ms --no-output",
    ] {
        let output = run(folder.path(), &args.split(' ').collect::<Vec<_>>());
        let page = text(&output.stdout) + &complaint(&output);
        let begin = |line: &str| line.split([':', ' ']).next().unwrap().to_owned();
        let begins: Vec<String> = page.lines().skip(1).map(begin).collect();
        let mut expected = vec!["worker", "lead", "UIDs", "refills", "takes", "the"];
        expected.retain(|begin| *begin != "refills" || !args.contains("exact-time"));
        assert_eq!(begins, expected, "{page}");
    }
}

#[test]
fn status_watches_line_by_line() {
    let folder = folder();
    let lines = stdout(
        folder.path(),
        &["status", "--watch", "--for", "2500ms", "--rate", "10k", "--slots", "16"],
    );
    let records: Vec<Value> = lines.lines().map(json).collect();
    assert!((2..=4).contains(&records.len()), "{lines}");
    let numbers = |member: &str| -> Vec<u64> {
        records.iter().map(|record| record[member].as_u64().unwrap()).collect()
    };
    assert!(numbers("taken").is_sorted() && numbers("elapsed_ms").is_sorted(), "{lines}");
    assert!(numbers("taken").into_iter().all(|taken| (1..=25_000).contains(&taken)), "{lines}");
}

#[test]
fn status_shows_new_worker_ids() {
    let policy = ["--max-lead", "10s", "--on-lead-limit", "new-worker"];
    let args =
        [["status", "--rate", "max", "--for", "500ms", "--json"].as_slice(), &policy].concat();
    let record = json(&stdout(folder().path(), &args));
    assert!(record["new_workers"].as_u64().unwrap() > 0, "{record}");
    assert_eq!(
        record["worker_id"].as_u64(),
        record["new_workers"].as_u64().map(|others| others + 1)
    );
}
