//! `uidring tags`, and numbers of a tag.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::thread;

use serde_json::Value;

use crate::load::load;
use crate::{Around, folder, json, registry, stderr, stdout, uidring, uids};

// ------------------------------------------------------------------------------------------------
// Tags

#[test]
fn a_tag_is_created_used_changed_and_removed() {
    let folder = folder();
    let around = Around::now();
    let path = registry(folder.path());
    let on = |args: &str| stdout(folder.path(), &args.split(' ').collect::<Vec<_>>());
    let refused = |args: &str| stderr(folder.path(), &args.split(' ').collect::<Vec<_>>(), 1);
    for args in ["tags", "take --tag orders", "tags set orders --step 5", "tags remove orders"] {
        let complaint = refused(args);
        assert!(complaint.contains("is created by `uidring tags create`"), "{complaint}");
    }
    assert!(!path.exists(), "nothing is made by accident");
    let page = on("tags create orders --first 5000 --step 20k");
    assert_eq!(
        page,
        "the tag orders: its next number is 5,000, and a process takes 20,000 numbers at a time\n\
         to take one: uidring take --tag orders\n"
    );
    assert!(path.exists());
    assert_eq!(on("take --tag orders -n 5"), "5000\n5001\n5002\n5003\n5004\n");
    // What was left of the segment went back.
    assert_eq!(on("take --tag orders"), "5005\n");
    assert_eq!(on("take --tag orders --format json"), "{\"number\":\"5006\",\"tag\":\"orders\"}\n");
    let complaint = stderr(folder.path(), &["take", "--tag", "orders", "--format", "base32"], 2);
    assert!(complaint.contains("numbers of a tag have no base32 form"), "{complaint}");
    let complaint = refused("tags create orders");
    assert!(complaint.contains("there already: its next number is 5,007, and a"), "{complaint}");
    let complaint = refused("take --tag order");
    assert!(
        complaint.contains(
            "no tag \"order\"; did you mean \"orders\"? If not, create it first, and if it was \
             there before, with a first number above all that were given: uidring tags create \
             order\n"
        ),
        "{complaint}"
    );
    // After a restore, a tag may be younger than the copy.
    let complaint = refused("tags set lost --next 100000");
    assert!(complaint.contains(": uidring tags create lost --first 100000\n"), "{complaint}");
    let lower = refused("tags set orders --next 5006");
    assert!(lower.contains("has given its numbers below 5007, and would give"), "{lower}");
    on("tags set orders --next 6000 --max-step 30k --description of_the_shop");
    on("tags create customers");
    let page = on("tags");
    let lines: Vec<Vec<&str>> =
        page.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["TAG", "NEXT", "STEP", "AT", "MOST", "CHANGED", "DESCRIPTION"]);
    assert_eq!(lines[1][..3], ["customers", "1", "1,000"]);
    assert_eq!(lines[2][..4], ["orders", "6,000", "20,000", "30,000"]);
    assert!(lines[3].starts_with(&["2", "tags;", "--for", "1m"]), "{page}");
    let report = json(&on("tags --json"));
    let tag = &report["tags"][1];
    assert_eq!(tag["tag"], "orders");
    assert_eq!((&tag["next"], &tag["step"]), (&Value::from("6000"), &Value::from(20_000)));
    assert_eq!((&tag["max_step"], &tag["delta"]), (&Value::from(30_000), &Value::from(1)));
    assert_eq!((&tag["description"], &tag["pace"]), (&Value::from("of_the_shop"), &Value::Null));
    let updated: jiff::Timestamp = tag["updated"].as_str().unwrap().parse().unwrap();
    assert!(around.contains(updated.into()));
    let complaint = refused("tags remove orders");
    assert!(complaint.contains("begin above them: uidring tags create orders --first 6000"));
    assert!(on("tags remove orders --force").starts_with("the tag orders is removed\n"));
    assert!(on("tags remove customers").starts_with("the tag customers is removed\n"));
    assert!(refused("tags remove orders").ends_with(" has no tag \"orders\" to remove\n"));
    assert_eq!(on("tags"), "no tags yet; to create one: uidring tags create NAME\n");
    // The same file serves the worker ids.
    assert_eq!(uids(&on("take")).len(), 1);
}

#[test]
fn a_tag_may_look_like_a_number_below_zero() {
    let folder = folder();
    stdout(folder.path(), &["tags", "create", "--", "-5"]);
    assert_eq!(stdout(folder.path(), &["take", "--tag", "-5"]), "1\n");
    let complaint = stderr(folder.path(), &["tags", "create", "-5"], 2);
    assert!(complaint.contains("'-- -5'"), "{complaint}");
    let complaint = stderr(folder.path(), &["tags", "--json", "-5"], 2);
    assert!(complaint.contains("'-5'"), "{complaint}");
}

#[test]
fn tags_tell_the_pace() {
    let folder = folder();
    stdout(folder.path(), &["tags", "create", "orders", "--step", "100"]);
    stdout(folder.path(), &["tags", "create", "quiet"]);
    let mut busy = uidring(folder.path(), &["take", "--tag", "orders", "--rate", "5k"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(busy.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "1");
    let reader = thread::spawn(move || lines.count());
    let args = ["tags", "--for", "2s"];
    let (report, page) = thread::scope(|scope| {
        let page = scope.spawn(|| stdout(folder.path(), &args));
        let report = stdout(folder.path(), &[&args[..], &["--json"]].concat());
        (json(&report), page.join().unwrap())
    });
    assert!(report["over_seconds"].as_f64().unwrap() >= 2.0);
    let [orders, quiet] = [0, 1].map(|index| report["tags"][index]["pace"].clone());
    let taken = orders["taken"].as_f64().unwrap();
    assert!(taken > 0.0, "{report}");
    let lasts = orders["step_lasts_seconds"].as_f64().unwrap();
    let expected = report["over_seconds"].as_f64().unwrap() * 100.0 / taken;
    assert!((lasts - expected).abs() < 1e-6, "{report}");
    assert_eq!((&quiet["taken"], &quiet["step_lasts_seconds"]), (&Value::from(0), &Value::Null));
    assert!(page.contains("A STEP LASTS") && page.contains("over "), "{page}");
    busy.kill().unwrap();
    busy.wait().unwrap();
    assert!(reader.join().unwrap() > 100);
}

#[test]
fn tags_shows_those_changed_last_first() {
    let folder = folder();
    for tag in ["a", "b", "c"] {
        stdout(folder.path(), &["tags", "create", tag]);
        thread::sleep(std::time::Duration::from_millis(5));
    }
    stdout(folder.path(), &["tags", "set", "b", "--step", "7"]);
    let page = stdout(folder.path(), &["tags", "--last", "2"]);
    let names: Vec<&str> = page.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names, ["TAG", "b", "c", "and", "3"], "{page}");
    assert!(page.contains("\nand 1 older; --last 3 shows all\n3 tags; "), "{page}");
    let report = json(&stdout(folder.path(), &["tags", "--json", "--last", "1"]));
    assert_eq!((&report["rows"], &report["tags"][0]["tag"]), (&Value::from(3), &"b".into()));
    assert_eq!(report["tags"].as_array().unwrap().len(), 1);
}

#[test]
fn numbers_of_a_tag_come_as_a_load() {
    let folder = folder();
    stdout(folder.path(), &["tags", "create", "orders"]);
    let args = ["take", "--tag", "orders", "-n", "100k", "--threads", "3"];
    let (lines, summary) = load(folder.path(), &args);
    let taken: std::collections::BTreeSet<u64> =
        lines.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(taken, (1..=100_000).collect());
    assert!(summary.starts_with("100,000 numbers of orders in "), "{summary}");
    assert_eq!(stdout(folder.path(), &["take", "--tag", "orders"]), "100001\n");
}

#[test]
fn bench_measures_a_tag() {
    let folder = folder();
    let args = ["bench", "--tag", "--for", "1ms", "--threads", "1", "--json"];
    let report = json(&stdout(folder.path(), &args));
    assert!(report["results"][0]["uids_per_second"].as_f64().unwrap() > 0.0);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "no registry is used");
}
