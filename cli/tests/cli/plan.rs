//! `uidring plan`.

use std::time::{Duration, SystemTime};

use serde_json::Value;
use uidring::Layout;

use crate::load::load;
use crate::workers::HOUR;
use crate::{folder, json, run, stderr, stdout, text};

/// Reads the line as a compiler would, so far.
fn layout_of_rust(line: &str) -> Layout {
    let argument =
        |call: &str| -> Option<&str> { Some(line.split_once(call)?.1.split_once(')')?.0) };
    let number = |text: &str| -> u64 { text.replace('_', "").parse().unwrap() };
    let widths: Vec<u32> =
        argument("Layout::new(").unwrap().split(", ").map(|width| width.parse().unwrap()).collect();
    let mut layout = Layout::new(widths[0], widths[1], widths[2]).unwrap();
    if let Some(ms) = argument(".with_tick(Duration::from_millis(") {
        layout = layout.with_tick(Duration::from_millis(number(ms))).unwrap();
    }
    let distance =
        |sign: &str| argument(&format!(".with_epoch(UNIX_EPOCH {sign} Duration::from_secs("));
    let seconds = |text| Duration::from_secs(number(text));
    let epoch = match (distance("+"), distance("-")) {
        (Some(after), _) => SystemTime::UNIX_EPOCH + seconds(after),
        (None, before) => SystemTime::UNIX_EPOCH - seconds(before.unwrap()),
    };
    assert!(
        line.ends_with("))?") && line.matches('(').count() == line.matches(')').count(),
        "{line}"
    );
    layout.with_epoch(epoch).unwrap()
}

const SHOP: [&str; 12] = [
    "plan",
    "--rate",
    "2k",
    "--peak",
    "20k",
    "--peak-for",
    "2h",
    "--nodes",
    "20",
    "--restarts-per-day",
    "5",
    "--json",
];

#[test]
fn a_length_may_have_several_units() {
    let folder = folder();
    let peak = |length: &str| {
        let args = ["plan", "--rate", "1k", "--peak", "9k", "--peak-for", length, "--json"];
        json(&stdout(folder.path(), &args))["recommended"].clone()
    };
    assert_eq!(peak("1h30m"), peak("90m"));
    assert_eq!(peak("1h 30m"), peak("1.5h"));
}

#[test]
fn a_count_may_have_a_unit() {
    let folder = folder();
    for (count, expected) in [("2k", 2000), ("0.5k", 500), ("1_234", 1234)] {
        let lines = stdout(folder.path(), &["take", "-n", count]);
        assert_eq!(lines.lines().count(), expected, "{count}");
    }
    let plan = |nodes: &str| {
        let args = ["plan", "--rate", "100", "--nodes", nodes, "--json"];
        json(&stdout(folder.path(), &args))["recommended"].clone()
    };
    assert_eq!(plan("1k"), plan("1000"));
    stdout(folder.path(), &["workers", "--last", "1k"]);
    // The largest number there is.
    let args = ["take", "-n", "18446744073709551615", "--for", "50ms", "--no-output"];
    assert!(load(folder.path(), &args).1.contains(" UIDs in "));
    let args = ["take", "-n", "5", "--rate", "10k", "--for", "1h30m"];
    assert_eq!(load(folder.path(), &args).0.lines().count(), 5);
    for (option, wrong) in [("-n", "0.5"), ("-n", "1.0005k"), ("-n", "1h"), ("--count", "k")] {
        let complaint = stderr(folder.path(), &["take", option, wrong], 2);
        assert!(complaint.contains("a whole number such as 500, 20k or 1.5M"), "{complaint}");
    }
}

#[test]
fn plan_recommends_a_layout_that_does() {
    let folder = folder();
    let plan = json(&stdout(folder.path(), &[&SHOP[..], &["--years", "25"]].concat()));
    assert_eq!(plan["fits"], true);
    assert_eq!(plan["needs"]["average_per_second"], 3500.0);
    let rows: Vec<&Value> =
        [&plan["recommended"]].into_iter().chain(plan["others"].as_array().unwrap()).collect();
    assert!(rows.len() >= 3);
    for row in rows {
        let layout = layout_of_rust(row["rust"].as_str().unwrap());
        assert_eq!(row["time_bits"], layout.time_bits());
        assert_eq!(row["worker_ids"], layout.max_worker());
        let expires: jiff::Timestamp = row["expires"].as_str().unwrap().parse().unwrap();
        assert_eq!(SystemTime::from(expires), layout.expires_at());
        let lasts =
            layout.expires_at().duration_since(SystemTime::now()).unwrap().as_secs() / 31_556_952;
        let does = lasts >= 25
            && row["worker_ids_needed"].as_u64() <= row["worker_ids"].as_u64()
            && row["uids_per_second"].as_u64().unwrap() >= 3500;
        assert_eq!(row["fits"], does, "{row}");

        // The flags mean the same.
        let flags: Vec<&str> = row["flags"].as_str().unwrap().split(' ').collect();
        let shown = json(&stdout(folder.path(), &[&["layout", "--json"], &flags[..]].concat()));
        for member in ["time_bits", "worker_bits", "sequence_bits", "tick_ms", "epoch", "expires"] {
            assert_eq!(shown[member], row[member], "{member}");
        }
        for language in ["Java", "Python", "Node.js", "Go"] {
            let call = row["bindings"][language].as_str().unwrap();
            for words in flags.chunks(2) {
                assert!(call.contains(words[0].trim_start_matches("--")), "{call}");
                assert!(call.contains(words[1]), "{call}");
            }
        }
    }
    assert_eq!(plan["recommended"]["fits"], true);
}

#[test]
fn plan_exceeds_the_ids_in_use() {
    let folder = folder();
    let plan = |above: &str, more: &[&str]| {
        let args = ["plan", "--rate", "1000", "--years", "10", "--above", above];
        stdout(folder.path(), &[&args[..], more].concat())
    };
    let ids = ["1", "9007199258836993", "1256557484213448722", "6000000000000000000", "-5"];
    for (above, restarts) in ids.into_iter().flat_map(|id| [(id, "0"), (id, "1"), (id, "200")]) {
        let report = json(&plan(above, &["--json", "--restarts-per-day", restarts]));
        let now = SystemTime::now();
        assert_eq!(report["recommended"]["fits"], true, "{report}");
        for row in [&report["recommended"]].into_iter().chain(report["others"].as_array().unwrap())
        {
            let layout = layout_of_rust(row["rust"].as_str().unwrap());
            let first = i64::from(layout.min_uid(now).unwrap());
            assert!(first > above.parse().unwrap(), "{first} and {above}: {layout}");
            let years = layout.expires_at().duration_since(now).unwrap().as_secs() / 31_556_952;
            assert!(row["fits"] == false || years >= 10, "{row}");
            let flags: Vec<&str> = row["flags"].as_str().unwrap().split(' ').collect();
            let shown = json(&stdout(folder.path(), &[&["layout", "--json"], &flags[..]].concat()));
            assert_eq!(shown["epoch"], row["epoch"], "{row}");
        }
    }
    // More than half of all numbers are used up, and so is more than half of the time field.
    let page = plan("6000000000000000000", &[]);
    assert!(page.contains("All its UIDs exceed 6000000000000000000. For that, its"), "{page}");
    // The first year of the layout is enough for that.
    assert!(plan("9007199258836993", &[]).contains("All its UIDs exceed 9007199258836993.\n"));
    assert!(!page.contains("The default layout is enough"), "{page}");
    // Nothing can exceed the largest number.
    let args = ["plan", "--rate", "1000", "--above", "9223372036854775807"];
    assert!(stderr(folder.path(), &args, 1).contains("no layout that lasts for 30 years exceeds"));
    for wrong in ["", "x", "9223372036854775808", "1.5"] {
        let complaint = stderr(folder.path(), &["plan", "--rate", "1000", "--above", wrong], 2);
        assert!(complaint.contains("a whole number below 2^63"), "{complaint}");
    }
}

/// A program that is about to be changed has ids of today, and goes on making them.
#[test]
fn plan_says_when_the_old_ids_pass_the_new_ones() {
    let folder = folder();
    let id = |layout: Layout| layout.max_uid(SystemTime::now()).unwrap().to_string();
    let twitter = id(Layout::TWITTER);
    let page = stdout(folder.path(), &["plan", "--above", &twitter]);
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.starts_with("One node takes 1,000 UIDs a second."), "{page}");
    let told = "Until their generator stops, the old ids grow as well. With the layout of \
        `--preset twitter`, they pass these UIDs in ";
    assert!(page.contains(told), "{page}");
    assert!(page.contains("That date is only where the time is counted from"), "{page}");
    let (_, later) = page.split_once("in 30 days --above ").unwrap();
    let later = later.split_once('.').unwrap().0;
    assert!(later.parse::<u64>().unwrap() > twitter.parse().unwrap());

    let soon = |above: &str| {
        let report = json(&stdout(folder.path(), &["plan", "--json", "--above", above]));
        report["old_ids_pass_in_ms"].as_u64()
    };
    // Within a day, as epochs are midnights, and the old ids are 15 times as fast.
    assert!(soon(&twitter).unwrap() < 24 * 3_600_000 / 10, "{:?}", soon(&twitter));
    // The largest id there can be in 30 days gives them that time.
    assert!(soon(later).is_none_or(|ms| ms < 24 * 3_600_000));
    let planned = Layout::TWITTER.max_uid(SystemTime::now() + 31 * 24 * HOUR).unwrap();
    let report = json(&stdout(folder.path(), &["plan", "--json", "--above", &planned.to_string()]));
    let layout = layout_of_rust(report["recommended"]["rust"].as_str().unwrap());
    let now = SystemTime::now();
    assert!(layout.min_uid(now) > Layout::TWITTER.max_uid(now + 30 * 24 * HOUR));
    for dense in ["1", "90000000000", "-5"] {
        assert_eq!(soon(dense), None, "{dense}");
    }
    let complaint = stderr(folder.path(), &["plan"], 2);
    assert!(complaint.contains("--rate"), "{complaint}");
}

#[test]
fn plan_draws_what_it_recommends() {
    let page = stdout(folder().path(), &["plan", "--rate", "1000", "--years", "30"]);
    let (_, rust) = page.split_once("\nRust     ").unwrap();
    let (rust, _) = rust.split_once("\nJava     ").unwrap();
    let layout = layout_of_rust(&rust.replace("\n         ", ""));
    assert!(page.contains(&format!("Recommended: {layout}\n")), "{page}");
    for expected in [
        "One node takes 1,000 UIDs a second",
        "▶ recommended",
        "✔ the default",
        "Java     UidGenerator.open(address, \"layout=",
        "Python   UidGenerator.open(address, layout=\"",
        "Node.js  UidGenerator.open(address, { layout: '",
        "Go       uidring.Open(ctx, address, uidring.With(\"layout\", \"",
        "Tool     uidring take --layout ",
    ] {
        assert!(page.contains(expected), "{expected:?} is not in\n{page}");
    }
    // 28 bits of seconds are eight years and a half.
    let short = page.lines().find(|line| line.starts_with("✘ UidGenerator ")).unwrap();
    assert!(short.contains("years short"), "{short}");
    assert!(!page.contains('\u{1b}'), "no colours in a pipe");
}

#[test]
fn plan_says_what_to_give_up() {
    let folder = folder();
    let greedy =
        ["plan", "--rate", "5k", "--nodes", "20", "--restarts-per-day", "20", "--years", "50"];
    let complaint = stderr(folder.path(), &greedy, 1);
    assert!(
        complaint.starts_with("uidring: this needs at least ") && complaint.contains(" too many"),
        "{complaint}"
    );
    let given: Vec<&str> =
        complaint.lines().filter(|line| line.contains(" instead of ")).map(str::trim).collect();
    assert_eq!(given.len(), 4, "{complaint}");
    assert!(complaint.contains("\n  It fits with any one of these:\n"), "{complaint}");
    let absurd =
        ["plan", "--rate", "1M", "--nodes", "1M", "--years", "1000", "--restarts-per-day", "50"];
    let complaint_of_absurd = stderr(folder.path(), &absurd, 1);
    assert!(
        complaint_of_absurd.contains("\n  It fits with all of these together:\n"),
        "{complaint_of_absurd}"
    );
    // Each is enough.
    for (way, option) in given.iter().zip(["--years", "--restarts-per-day", "--nodes", "--rate"]) {
        let number = way.split(' ').next().unwrap().replace(',', "");
        let mut args = greedy.map(str::to_owned);
        let at = args.iter().position(|arg| arg == option).unwrap();
        args[at + 1] = number;
        stdout(folder.path(), &args.each_ref().map(String::as_str));
    }

    let output = run(folder.path(), &[&greedy[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let plan = json(&text(&output.stdout));
    assert_eq!((&plan["fits"], &plan["recommended"]), (&Value::from(false), &Value::Null));
    assert!(plan["needs"]["bits"].as_u64().unwrap() > 63);
    assert_eq!(plan["instead"].as_array().unwrap(), &given);
}

#[test]
fn plan_says_when_the_default_is_enough() {
    let plan = |rest: &str| {
        let args: Vec<&str> = ["plan", "--rate"].into_iter().chain(rest.split(' ')).collect();
        stdout(folder().path(), &args)
    };
    let said = "\nThe default layout is enough as well, and needs no option.\n";
    assert!(plan("1000").contains(said));
    // With an epoch of its own.
    assert!(plan("1000 --epoch 2020-01-01").contains(said));
    assert!(!plan("10k").contains(said));
    assert!(!plan("1000 --years 50").contains(said));
}

#[test]
fn the_oldest_row_says_when_the_time_field_begins() {
    let folder = folder();
    let plan = ["plan", "--rate", "500", "--oldest"];
    let report =
        json(&stdout(folder.path(), &[&plan[..], &["2015-03-01T12:00:00Z", "--json"]].concat()));
    assert_eq!(report["recommended"]["epoch"], "2015-03-01T00:00:00Z");
    // The default begins later.
    let page = stdout(folder.path(), &[&plan[..], &["2015-03-01"]].concat());
    assert!(page.contains("--epoch 2015-03-01"), "{page}");
    let told = stderr(folder.path(), &[&plan[..], &["9999-01-01"]].concat(), 2);
    assert!(told.contains("the time of --oldest has not come"), "{told}");
    let later = [&plan[..], &["2015-03-01", "--epoch", "2016-01-01"]].concat();
    let told = stderr(folder.path(), &later, 2);
    assert!(told.contains("--epoch is after --oldest"), "{told}");
}
