//! `uidring parse`.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use uidring::Layout;

use crate::{folder, json, registry, run, stderr, stdout, text, uidring, with_input};

/// The sample that `UidGenerator` publishes.
const SAMPLE: &str = "180363646902239241";

const SAMPLE_LAYOUT: [&str; 4] = ["--layout", "29,21,13", "--epoch", "2016-09-19T16:00:00Z"];

fn parse_sample(text: &str, more: &[&str]) -> String {
    stdout(folder().path(), &[&["parse", text], &SAMPLE_LAYOUT[..], more].concat())
}

#[test]
fn parse_tells_the_presets_that_give_a_plausible_time() {
    let folder = folder();
    let presets = |args: &[&str]| {
        let args = [&["parse", "--json"], args].concat();
        json(&stdout(folder.path(), &args))["plausible_presets"].clone()
    };
    // The first is an id of Leaf of 2020. With the default layout it would be from the future.
    let of_leaf = "1256557484213448722";
    assert_eq!(
        presets(&[of_leaf]),
        serde_json::json!(["uid-generator", "twitter", "sharding-sphere", "discord", "instagram"])
    );
    // Of the fork of UidGenerator that Maven Central has.
    let starter = Layout::UID_GENERATOR_STARTER.max_uid(SystemTime::now()).unwrap().to_string();
    let found = presets(&[&starter]);
    assert!(found.as_array().unwrap().contains(&"uid-generator-starter".into()), "{found}");
    // Beyond 2^53, and of a time after now with every other preset.
    assert_eq!(presets(&["--base32", "7ZZZZZZZZZZZZ"]), serde_json::json!(["uid-generator"]));
    let page = stdout(folder.path(), &["parse", of_leaf]);
    let (card, others) = page.split_once("one of these layouts:\n").unwrap();
    assert!(card.contains("This UID lies in the future"), "{page}");
    let row = "twitter          2020-05-02T12:13:44.602Z      619        18";
    assert!(others.lines().any(|line| line == row), "{page}");
    // A layout that was asked for is not doubted.
    for args in [["--preset", "leaf", of_leaf], ["--layout", "30,20,13", of_leaf]] {
        let page = stdout(folder.path(), &[&["parse"], &args[..]].concat());
        assert!(!page.contains("these layouts"), "{page}");
    }
}

#[test]
fn what_no_generator_here_makes_is_read_and_not_taken() {
    let folder = folder();
    let parse = |preset: &str, id: u64| {
        let args = ["parse", "--json", "--preset", preset, &id.to_string()];
        json(&stdout(folder.path(), &args))
    };
    // 1000.23 s after the epoch, sequence 5, machine 777.
    let record = parse("sonyflake", 100_023 << 24 | 5 << 16 | 0x309);
    assert_eq!(record["time"], "2014-09-01T00:16:40.230Z");
    assert_eq!((&record["worker"], &record["sequence"]), (&Value::from(777), &Value::from(5)));
    let record = parse("mastodon", 1_500_000_000_123 << 16 | 0xbeef);
    assert_eq!(record["time"], "2017-07-14T02:40:00.123Z");
    assert_eq!((&record["worker"], &record["sequence"]), (&Value::Null, &Value::from(0xbeef)));
    let refused = stderr(folder.path(), &["take", "--preset", "sonyflake-2"], 2);
    assert!(refused.contains("no generator makes ids of the preset sonyflake-2"), "{refused}");
}

#[test]
fn parse_reads_what_uid_generator_makes_after_its_end() {
    let folder = folder();
    // The first second after 2024-11-20T13:24:15Z, worker 7, sequence 9, as Java's signed sum.
    let id = ((1_i64 << 28) << 35 | 7 << 13 | 9).to_string();
    assert!(id.starts_with('-'));
    let parse = |more: &[&str]| {
        let args = ["parse", "--preset", "uid-generator", &id];
        stdout(folder.path(), &[&args[..], more].concat())
    };
    let record = json(&parse(&["--json"]));
    assert_eq!(record["uid"], id.as_str());
    assert_eq!(record["time"], "2024-11-20T13:24:16Z");
    assert_eq!((&record["worker"], &record["sequence"]), (&Value::from(7), &Value::from(9)));
    assert_eq!(record["in_layout"], false);
    let card = parse(&[]);
    assert!(card.contains("This id is negative") && !card.contains("base32"), "{card}");
    let table = parse(&["1"]);
    assert!(table.lines().any(|line| line.ends_with("after the end")), "{table}");
    // In a layout of fewer bits, or with the worker on top, the sign is no part of the time.
    for layout in [["--layout", "29,20,13"], ["--preset", "seata"]] {
        let args = [&["parse", &id], &layout[..]].concat();
        assert!(stderr(folder.path(), &args, 1).contains("is not a UID"));
    }
}

#[test]
fn a_worker_on_top_is_remembered() {
    let folder = folder();
    let args = ["--preset", "seata", "--max-lead", "10ms", "--lease", "1h"];
    let taken = stdout(folder.path(), &[&["take"], &args[..]].concat());
    let parsed =
        json(&stdout(folder.path(), &["parse", "--json", "--preset", "seata", taken.trim()]));
    assert_eq!((&parsed["worker"], &parsed["in_future"]), (&Value::from(1), &Value::from(false)));
    let db = registry(folder.path());
    let layout = stdout(folder.path(), &["layout", "--json", "--db", db.to_str().unwrap()]);
    assert_eq!(json(&layout)["worker_first"], Value::from(true));
    // The same widths in the other order are another layout.
    let other = [&["take"], &args[..], &["--order", "time-first"]].concat();
    let complaint = stderr(folder.path(), &other, 1);
    assert!(complaint.contains("worker first"), "{complaint}");
}

#[test]
fn parse_reads_the_published_sample() {
    let card = parse_sample(SAMPLE, &[]);
    for expected in [
        "uid       180363646902239241\n",
        "base32    05067S0001009\n",
        "time      2017-01-19T04:15:46Z ",
        "local     2017-01-19T04:15:46+00:00 ",
        "worker    4\n",
        "sequence  9\n",
        "layout    29 | 21 | 13 in seconds from 2016-09-19T16:00:00Z\n",
    ] {
        assert!(card.contains(expected), "{expected:?} is not in\n{card}");
    }
    assert!(!card.contains('\u{1b}'), "no colours in a pipe");
    // In base32 too, as people write it down.
    assert_eq!(parse_sample("05067S0001009", &[]), card);
    assert_eq!(parse_sample("o5o67soooloo9", &[]), card);

    let record = json(&parse_sample(SAMPLE, &["--json"]));
    assert_eq!(record["uid"], SAMPLE);
    assert_eq!(record["base32"], "05067S0001009");
    assert_eq!(record["time"], "2017-01-19T04:15:46Z");
    assert_eq!((&record["worker"], &record["sequence"]), (&Value::from(4), &Value::from(9)));
    assert_eq!(
        (&record["in_layout"], &record["in_future"]),
        (&Value::from(true), &Value::from(false))
    );
}

#[test]
fn parse_tells_local_time() {
    let folder = folder();
    let args = [&["parse", SAMPLE], &SAMPLE_LAYOUT[..]].concat();
    // POSIX turns signs round: eight hours east of Greenwich.
    let output = uidring(folder.path(), &args).env("TZ", "CST-8").output().unwrap();
    let card = text(&output.stdout);
    assert!(card.contains("time      2017-01-19T04:15:46Z "), "{card}");
    assert!(card.contains("local     2017-01-19T12:15:46+08:00 "), "{card}");
}

#[test]
fn parse_takes_digits_for_decimal_unless_told_otherwise() {
    let folder = folder();
    let uid = |args: &[&str]| json(&stdout(folder.path(), args))["uid"].clone();
    assert_eq!(uid(&["parse", "--json", "0000000000010"]), "10");
    assert_eq!(uid(&["parse", "--json", "--base32", "0000000000010"]), "32");
}

#[test]
fn parse_reads_standard_input() {
    let folder = folder();
    let output = with_input(folder.path(), &["parse", "--json"], "1\n\n  2  \r\n000000000000A");
    assert!(output.status.success());
    let uids: Vec<Value> =
        text(&output.stdout).lines().map(|line| json(line)["uid"].clone()).collect();
    assert_eq!(uids, ["1", "2", "10"]);

    // In the place of the dash.
    let output = with_input(folder.path(), &["parse", "--json", "7", "-", "8"], "1\n");
    let uids: Vec<Value> =
        text(&output.stdout).lines().map(|line| json(line)["uid"].clone()).collect();
    assert_eq!(uids, ["7", "1", "8"]);

    let table = text(&with_input(folder.path(), &["parse"], "1\n8193\n").stdout);
    let rows: Vec<Vec<&str>> =
        table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[1], ["1", "0000000000001", "2026-01-01T00:00:00Z", "0", "1"]);
    assert_eq!(rows[2], ["8193", "0000000000801", "2026-01-01T00:00:00Z", "1", "1"]);
}

#[test]
fn parse_answers_line_by_line() {
    let folder = folder();
    let mut child = uidring(folder.path(), &["parse", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for uid in ["5", "6"] {
        writeln!(input, "{uid}").unwrap();
        // Comes while the input is still open, or never.
        assert_eq!(json(&answers.next().unwrap().unwrap())["uid"], uid);
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

/// As `tail -f uids.txt | uidring parse`.
#[test]
fn parse_prints_rows_as_lines_arrive() {
    let folder = folder();
    let mut child = uidring(folder.path(), &["parse", "7", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let output = child.stdout.take().unwrap();
    let (to_us, lines) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            to_us.send(line.unwrap()).unwrap();
        }
    });
    let next = || lines.recv_timeout(Duration::from_secs(20)).unwrap();
    writeln!(input, "1").unwrap();
    let heading = next();
    assert!(heading.ends_with("UID  BASE32         TIME (UTC)             WORKER  SEQUENCE"));
    assert!(next().starts_with("                  7  0000000000007  2026-01-01T00:00:00Z "));
    let first = next();
    assert!(
        first.starts_with("                  1  0000000000001  2026-01-01T00:00:00Z "),
        "{first}"
    );
    writeln!(input, "8193\n9223372036854775807").unwrap();
    assert!(next().ends_with("        1         1"));
    assert!(next().ends_with("  in the future"));
    drop(input);
    assert!(next().starts_with("layout 30 | 20 | 13 in seconds"));
    assert!(child.wait().unwrap().success());
}

#[test]
fn parse_names_what_is_wrong_and_reads_the_rest() {
    let folder = folder();
    for (wrong, why) in [
        ("12x4", "13 characters, not 4"),
        ("12-4", "character 3 of a UID cannot be '-'"),
        ("-4", "it is negative; with the layout of its generator, such as --preset uid-generator"),
        ("-9223372036854775809", "character 1 of a UID cannot be '-'"),
        ("0", "out of range"),
        ("9223372036854775808", "out of range"),
        ("00000000000U0", "character 12 of a UID cannot be 'U'"),
    ] {
        let output = run(folder.path(), &["parse", "--json", wrong, "5"]);
        let complaint = text(&output.stderr);
        assert!(
            complaint.starts_with(&format!("uidring: {wrong:?} is not a UID: ")),
            "{complaint}"
        );
        assert!(complaint.contains(why), "{complaint}");
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(json(&text(&output.stdout))["uid"], "5");
    }
}

#[test]
fn parse_doubts_uids_of_another_layout() {
    let folder = folder();
    let in_future = ["parse", "9223372036854775807"];
    assert!(stdout(folder.path(), &in_future).contains("in the future"));
    let record = json(&stdout(folder.path(), &[&in_future[..], &["--json"]].concat()));
    assert_eq!(
        (&record["in_layout"], &record["in_future"]),
        (&Value::from(true), &Value::from(true))
    );

    let narrow = ["parse", "--layout", "30,10,4", "9223372036854775807"];
    assert!(stdout(folder.path(), &narrow).contains("cannot be of this layout"));
    let record = json(&stdout(folder.path(), &[&narrow[..], &["--json"]].concat()));
    assert_eq!(record["in_layout"], false);
}
