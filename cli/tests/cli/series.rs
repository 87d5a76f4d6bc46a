//! `uidring series`.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use super::{complaint, folder, json, registry, run, stderr, stdout, text, with_input};

/// Runs `uidring series` with what `line` has between its spaces.
fn on(folder: &Path, line: &str) -> String {
    stdout(folder, &words(line))
}

/// What `uidring series` complains of.
fn refused(folder: &Path, line: &str) -> String {
    stderr(folder, &words(line), 1)
}

fn words(line: &str) -> Vec<&str> {
    ["series"].into_iter().chain(line.split(' ')).collect()
}

const ORDERS: &str = "SO{yyyy}{MM}{dd}-{n:6}";

/// A folder with the series `orders` of Shanghai.
fn with_orders() -> tempfile::TempDir {
    let folder = folder();
    on(folder.path(), &format!("create orders {ORDERS} --time-zone Asia/Shanghai"));
    folder
}

#[test]
fn a_series_is_created_once_and_then_left_as_it_is() {
    let folder = folder();
    let (folder, create) =
        (folder.path(), format!("create orders {ORDERS} --time-zone Asia/Tokyo"));
    for line in ["list", "next orders", "parse orders x", "forecast orders", "prune orders"] {
        let complaint = refused(folder, line);
        assert!(complaint.contains("is created by `uidring series create`"), "{complaint}");
    }
    assert!(!registry(folder).exists(), "nothing is made by accident");
    let told = format!(
        "{ORDERS}, anew each day of Asia/Tokyo, numbers up to 999,999; fast, a process takes 100 \
         numbers at a time\nto take one: uidring series next orders\n"
    );
    assert_eq!(on(folder, &create), format!("the series orders: {told}"));
    let again = format!("the series orders is there already, as it is asked for: {told}");
    assert_eq!(on(folder, &create), again);

    let wider = refused(folder, "create orders SO{yyyy}{MM}{dd}-{n:7} --time-zone Asia/Tokyo");
    assert!(wider.contains("its pattern is SO{yyyy}{MM}{dd}-{n:6}, where"), "{wider}");
    let change = "change orders 'SO{yyyy}{MM}{dd}-{n:7}' --from DATE\n";
    assert!(wider.ends_with(change), "{wider}");
    let elsewhere = refused(folder, &format!("create orders {ORDERS}"));
    assert!(elsewhere.contains("its time_zone is Asia/Tokyo, where UTC was"), "{elsewhere}");
    let elsewhere = elsewhere.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = "create one of another name, and give it a pattern that writes other texts, because \
                it counts from its first number";
    assert!(elsewhere.ends_with(told), "{elsewhere}");
}

#[test]
fn all_that_a_definition_has_is_named_on_the_command_line() {
    let folder = folder();
    let line = "create claims {scope}/C{fy}-{n:5}{check:damm} --fiscal-year-from 04-06 --step 1k \
                --first 500";
    let page = on(folder.path(), line);
    let told = "anew each fiscal year from 04-06 on, of UTC, numbers from 500 up to 99,999; \
                fast, a process takes 1,000 numbers at a time\n\
                to take one: uidring series next claims --scope SCOPE\n";
    assert!(page.ends_with(told), "{page}");
    let page = on(folder.path(), "create invoices {n} --gapless");
    assert!(page.contains("{n}, never anew; gapless, each number counted in the"), "{page}");
    let listed = &json(&on(folder.path(), "list --json"))["series"];
    let [invoices, claims] = [&listed[0], &listed[1]];
    assert_eq!(claims["series"], "claims");
    assert_eq!(
        (&claims["fiscal_year_from"], &claims["restart"]),
        (&"04-06".into(), &"fiscal-year".into())
    );
    assert_eq!((&claims["step"], &claims["first"]), (&1000.into(), &"500".into()));
    assert_eq!((&claims["gapless"], &invoices["gapless"]), (&false.into(), &true.into()));
    assert_eq!((&invoices["time_zone"], &invoices["version"]), (&"UTC".into(), &1.into()));
}

#[test]
fn numbers_are_taken_and_what_is_left_goes_back() {
    let folder = with_orders();
    let folder = folder.path();
    let first = on(folder, "next orders -n 3");
    let lines: Vec<&str> = first.lines().collect();
    assert_eq!(lines.len(), 3, "{first}");
    // The day may have ended between the two calls, and numbers begin anew then.
    let next = on(folder, "next orders");
    if next[..10] == lines[2][..10] {
        assert!(lines[0].ends_with("-000001") && next.ends_with("-000004\n"), "{first}{next}");
    }
    let old = |line: &str| on(folder, &format!("next orders --date 2025-11-01 {line}"));
    assert_eq!(old("-n 2"), "SO20251101-000001\nSO20251101-000002\n");
    let record = json(&old("--json"));
    assert_eq!(record["number"], "SO20251101-000003");
    assert_eq!((&record["value"], &record["period"]), (&"3".into(), &"2025-11-01".into()));
    assert_eq!(record["scope"], Value::Null);
    assert_eq!(old("-n 20k").lines().last(), Some("SO20251101-020003"));
}

#[cfg(unix)]
#[test]
fn an_interrupt_gives_back_what_was_not_printed() {
    let folder = folder();
    let folder = folder.path();
    on(folder, "create customers {n}");
    let (child, lines) = crate::interrupts::interrupted(folder, &words("next customers -n 1000M"));
    let last = lines.map(Result::unwrap).last().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(complaint_has(&output, "uidring: interrupted after "));
    let next = last.parse::<u64>().unwrap() + 1;
    assert_eq!(on(folder, "next customers"), format!("{next}\n"));
}

#[test]
fn each_scope_counts_by_itself() {
    let folder = folder();
    let folder = folder.path();
    on(folder, "create parcels {scope}/{n:2} --step 5");
    assert_eq!(on(folder, "next parcels --scope lima -n 2"), "lima/01\nlima/02\n");
    assert_eq!(on(folder, "next parcels --scope oslo"), "oslo/01\n");
    let record = json(&on(folder, "next parcels --scope lima --json"));
    assert_eq!((&record["number"], &record["scope"]), (&"lima/03".into(), &"lima".into()));
    let complaint = refused(folder, "next parcels");
    assert!(complaint.ends_with("its pattern is {scope}/{n:2}: name one with --scope\n"));

    // What was taken before the numbers ran out is printed.
    for line in
        ["next parcels --scope rome -n 100", "next parcels --scope bonn --date 2026-01-01 -n 100"]
    {
        let output = run(folder, &words(line));
        let said = text(&output.stdout);
        assert_eq!(said.lines().count(), 99, "{said}");
        assert_eq!(output.status.code(), Some(1));
        assert!(complaint_has(&output, "99 is the largest that fits its pattern"));
    }
}

fn complaint_has(output: &std::process::Output, why: &str) -> bool {
    let said = complaint(output);
    assert!(said.contains(why), "{why:?} is not in {said}");
    true
}

#[test]
fn series_and_counters_are_listed() {
    let folder = with_orders();
    let folder = folder.path();
    on(folder, "create parcels {scope}/{yyyy}-{n:1}");
    on(folder, "next parcels --scope lima --date 2025-01-01 -n 7");
    on(folder, "next parcels --scope oslo --date 2024-01-01 -n 9");
    let table = on(folder, "list");
    let lines: Vec<Vec<&str>> = table.lines().map(|it| it.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["SERIES", "PATTERN", "ZONE", "KIND", "VERSION"]);
    assert_eq!(lines[2], ["orders", ORDERS, "Asia/Shanghai", "fast", "1"]);
    assert_eq!(lines[1], ["parcels", "{scope}/{yyyy}-{n:1}", "UTC", "fast", "1"]);
    assert!(lines[3].starts_with(&["2", "series;"]), "{table}");
    let page = on(folder, "list parcels");
    let lines: Vec<Vec<&str>> = page.lines().map(|it| it.split_whitespace().collect()).collect();
    let at = lines.iter().position(|line| line.first() == Some(&"PERIOD")).unwrap();
    assert_eq!(lines[at], ["PERIOD", "SCOPE", "LAST", "USED", "UPDATED"]);
    assert_eq!(lines[at + 2][..5], ["2024", "oslo", "9", "100", "%"]);
    assert_eq!(lines[at + 1][..5], ["2025", "lima", "7", "77", "%"]);
    assert_eq!(lines[at + 3], ["2", "counters"]);
    let report = json(&on(folder, "list parcels --json"));
    let counter = &report["counters"][0];
    assert_eq!(
        (&report["series"], &report["versions"][0]["largest"]),
        (&"parcels".into(), &"9".into())
    );
    assert_eq!((&counter["last"], &counter["percent"]), (&"7".into(), &77.into()));
    counter["updated"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert!(on(folder, "list orders").ends_with("it has given no number\n"));
}

#[test]
fn the_newest_series_and_counters_come_first() {
    let folder = folder();
    for name in ["b", "a", "c"] {
        on(folder.path(), &format!("create {name} {{yyyy}}{{MM}}-{{n:3}}"));
        thread::sleep(Duration::from_millis(5));
    }
    let page = on(folder.path(), "list --last 2");
    let names: Vec<&str> = page.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names, ["SERIES", "c", "a", "and", "3"], "{page}");
    assert!(page.contains("\nand 1 older; --last 3 shows all\n"), "{page}");
    for month in ["2026-01", "2026-03", "2026-02"] {
        on(folder.path(), &format!("next a --date {month}-05"));
    }
    let report = json(&on(folder.path(), "list a --json --last 2"));
    let periods: Vec<&Value> =
        report["counters"].as_array().unwrap().iter().map(|counter| &counter["period"]).collect();
    assert_eq!(periods, ["2026-03", "2026-02"]);
    assert_eq!(report["rows"], 3);
    let page = on(folder.path(), "list a --last 1");
    assert!(page.ends_with("\nand 2 older; --last 3 shows all\n3 counters\n"), "{page}");
}

#[test]
fn numbers_are_read_and_a_wrong_one_is_told_with_the_place() {
    let folder = with_orders();
    let folder = folder.path();
    assert_eq!(
        on(folder, "parse orders SO20261124-000042"),
        "number  SO20261124-000042\nvalue   42\nperiod  2026-11-24\n"
    );
    let record = json(&on(folder, "parse orders --json SO20261124-000042"));
    assert_eq!((&record["value"], &record["period"]), (&"42".into(), &"2026-11-24".into()));
    for (number, why) in [
        ("SO2026x", "\"SO2026x\" is not a number of the series orders: at byte 6 of the number:"),
        ("SO20261324-000042", "at byte 8 of"),
        ("-5", "at byte 0 of"),
    ] {
        let complaint = refused(folder, &format!("parse orders {number}"));
        assert!(complaint.contains(why), "{complaint}");
    }
    let input = "SO20261124-000042\n\nx\n SO20261125-000001\r\n";
    let output = with_input(folder, &words("parse orders"), input);
    assert_eq!(
        text(&output.stdout),
        "NUMBER              VALUE  PERIOD\n\
         SO20261124-000042      42  2026-11-24\n\
         SO20261125-000001       1  2026-11-25\n"
    );
    assert_eq!(output.status.code(), Some(1));
    assert!(complaint_has(&output, "\"x\" is not a number of the series orders: at byte 0"));

    on(folder, "create parcels {scope}/{yyyy}-{n}");
    let page = on(folder, "parse parcels lima/2026-7 oslo/2025-12");
    let lines: Vec<Vec<&str>> = page.lines().map(|it| it.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["NUMBER", "VALUE", "PERIOD", "SCOPE"]);
    assert_eq!(lines[2], ["oslo/2025-12", "12", "2025", "oslo"]);
}

#[test]
fn a_number_begins_anew_as_it_is_asked_for() {
    let folder = folder();
    let folder = folder.path();
    let page = on(folder, "create bills {yy}{MM}-{n:4} --restart year");
    assert!(page.contains("{yy}{MM}-{n:4}, anew each year of UTC, numbers up to 9,999"), "{page}");
    assert_eq!(on(folder, "next bills --date 2098-11-30"), "9811-0001\n");
    assert_eq!(on(folder, "next bills --date 2098-12-01"), "9812-0002\n");
    let parsed = on(folder, "parse bills 9812-0002");
    assert!(parsed.contains("period  2098\n") && parsed.contains("shown   2098-12\n"), "{parsed}");
    let parsed = json(&on(folder, "parse bills 9812-0002 --json"));
    assert_eq!((&parsed["period"], &parsed["shown"]), (&"2098".into(), &"2098-12".into()));
    // A change keeps it, or names another.
    let page = on(folder, "change bills {yy}{MM}-{n:5} --from 2099-01-01");
    assert!(page.contains("{yy}{MM}-{n:5}, anew each year of UTC"), "{page}");
    let restarts = json(&on(folder, "list bills --json"));
    assert_eq!(restarts["versions"][1]["restart"], "year");
    let other = refused(folder, "create bills {yy}{MM}-{n:5}");
    assert!(other.contains("--from DATE --restart month"), "{other}");
    let other = refused(folder, "create bills {yyyy}{MM}-{n:5} --restart quarter");
    assert!(other.contains("--from DATE --restart quarter"), "{other}");
    on(folder, "create slips {yy}{MM}-{n:5} --restart never");
    assert!(on(folder, "list slips").contains("never anew"));
    on(folder, "create tax {yyyy}{MM}{dd}-{n} --restart fiscal-year --fiscal-year-from 04-06");
    assert_eq!(on(folder, "next tax --date 2027-04-05"), "20270405-1\n");
    assert_eq!(on(folder, "next tax --date 2027-04-06"), "20270406-1\n");
}

#[test]
fn a_change_begins_with_a_day_and_keeps_what_it_does_not_name() {
    let folder = folder();
    let folder = folder.path();
    on(
        folder,
        "create claims {fy}-{n:4} --fiscal-year-from 04-01 --step 50 --first 10 \
         --time-zone Asia/Tokyo",
    );
    let page = on(folder, "change claims {fy}-{n:5} --from 2099-04-01 --step 70");
    assert_eq!(
        page,
        "the series claims from 2099-04-01 on: {fy}-{n:5}, anew each fiscal year from 04-01 on, \
         of Asia/Tokyo, numbers from 10 up to 99,999; fast, a process takes 70 numbers at a time\n\
         numbers from before are still read\n"
    );
    assert_eq!(on(folder, "next claims --date 2099-03-31"), "2098-0010\n");
    assert_eq!(on(folder, "next claims --date 2099-04-01"), "2099-00010\n");
    assert!(on(folder, "parse claims 2098-0010").contains("value   10\n"));
    let versions = &json(&on(folder, "list claims --json"))["versions"];
    assert_eq!((&versions[0]["begins"], &versions[0]["step"]), (&Value::Null, &50.into()));
    assert_eq!((&versions[1]["begins"], &versions[1]["step"]), (&"2099-04-01".into(), &70.into()));
    let within = refused(folder, "change claims {fy}-{n:6} --from 2100-04-02");
    assert!(within.contains("2100-04-02 is within FY2100-04; name 2100-04-01 or"), "{within}");
    let meets = refused(folder, "change claims {n:4}-{fy} --from 2100-04-01");
    assert!(meets.contains("could write the text of a number that version"), "{meets}");
}

#[test]
fn a_closed_period_gives_no_number_and_is_pruned() {
    let folder = with_orders();
    let folder = folder.path();
    for day in ["2025-10-30", "2025-10-31", "2025-11-01"] {
        on(folder, &format!("next orders --date {day}"));
    }
    assert_eq!(
        on(folder, "close orders 2025-10-31"),
        "the series orders is closed before 2025-11-01: periods that ended by then give no number\n\
         to remove their counters: uidring series prune orders\n"
    );
    for day in ["2025-10-31", "2025-10-01"] {
        let complaint = refused(folder, &format!("next orders --date {day}"));
        assert!(
            complaint.contains(&format!("the period {day} of the series \"orders\" is closed"))
        );
    }
    assert_eq!(on(folder, "next orders --date 2025-11-01"), "SO20251101-000002\n");
    assert!(on(folder, "list").contains("  2025-11-01  "));
    let pruned = on(folder, "prune orders");
    assert_eq!(pruned, "2 counters of closed periods of the series orders removed\n");
    assert_eq!(json(&on(folder, "list orders --json"))["counters"].as_array().unwrap().len(), 1);
    assert!(refused(folder, "next orders --date 2025-10-31").contains("is closed"));
    for (period, why) in [
        ("2099-01-01", "it is not over yet; close it when it is"),
        ("2025-10", "the series does not count by such periods"),
        ("ever", "it never ends"),
    ] {
        let complaint = refused(folder, &format!("close orders {period}"));
        assert!(complaint.contains(why), "{complaint}");
    }
}

/// Writes that the first number of each counter was given 10 hours ago.
fn begin_10_hours_ago(folder: &Path) {
    let file = rusqlite::Connection::open(registry(folder)).unwrap();
    let changed =
        file.execute("UPDATE uidring_series_counter SET created = modified - 10 * 3600 * 1000", []);
    assert!(changed.unwrap() > 0);
}

#[test]
fn a_forecast_warns_from_80_percent_on() {
    let folder = folder();
    let folder = folder.path();
    on(folder, "create parcels {scope}/{n:3}");
    assert!(on(folder, "forecast parcels").ends_with("parcels has given no number yet\n"));
    on(folder, "next parcels --scope lima -n 100");
    let page = on(folder, "forecast parcels");
    assert!(page.ends_with("below 80 % of what fits\n"), "{page}");
    on(folder, "next parcels --scope oslo -n 800");
    begin_10_hours_ago(folder);
    on(folder, "create customers {n}");
    on(folder, "next customers");
    let page = on(folder, "forecast customers");
    assert!(page.starts_with("PERIOD  LAST  GIVEN\never       1  1"), "no end: {page}");
    let page = on(folder, "forecast parcels");
    let lines: Vec<Vec<&str>> = page.lines().map(|it| it.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["PERIOD", "SCOPE", "LAST", "LARGEST", "USED", "GIVEN", "FULL"]);
    assert_eq!(lines[1][..6], ["ever", "lima", "100", "999", "10", "%"]);
    assert_eq!(lines[1][6..10], ["100", "in", "10", "h"]);
    assert_eq!(lines[2][..6], ["ever", "oslo", "800", "999", "80", "%"]);
    assert_eq!(lines[2].last(), Some(&"min"), "in 2 h 29 min: {page}");
    let warning = "1 of 2 counters have 80 % of what fits, now or at the end of the period: \
                   `uidring series change parcels PATTERN --from now` gives it a pattern with a \
                   wider number at once\n";
    assert!(page.ends_with(warning), "{page}");
    let report = json(&on(folder, "forecast parcels --json"));
    let [lima, oslo] = [&report["counters"][0], &report["counters"][1]];
    assert_eq!((&lima["tight"], &oslo["tight"]), (&false.into(), &true.into()));
    assert_eq!((&oslo["percent"], &oslo["expected"]), (&80.into(), &Value::Null));
    let full: jiff::Timestamp = oslo["full_at"].as_str().unwrap().parse().unwrap();
    let hours = full.duration_since(jiff::Timestamp::now()).as_secs_f64() / 3600.0;
    assert!((2.0..2.6).contains(&hours), "{hours}");
}

/// The command that the complaint shows is run as it stands there.
#[test]
fn a_full_series_goes_on_at_once() {
    let folder = folder();
    let folder = folder.path();
    for (name, pattern, scope) in [
        ("seats", "S{n:1}", ""),
        ("years", "{yyyy}-{n:1}", ""),
        ("shops", "{scope}/{n:1}", " --scope shop-7"),
    ] {
        on(folder, &format!("create {name} {pattern}"));
        let next = format!("next {name}{scope}");
        assert_eq!(on(folder, &format!("{next} -n 9")).lines().count(), 9);
        let complaint = refused(folder, &next);
        let told = complaint.split_whitespace().collect::<Vec<_>>().join(" ");
        let full = format!("the series \"{name}\"");
        assert!(told.contains(&full) && told.contains("9 is the largest that fits"), "{told}");
        assert!(!told.contains(&format!("{name}/1/")), "{told}");
        let wider = pattern.replace("{n:1}", "{n:2}");
        let change = format!("uidring series change {name} '{wider}' --from now");
        assert!(told.ends_with(&change), "{told}");
        let page = on(folder, &format!("change {name} {wider} --from now"));
        assert!(page.starts_with(&format!("the series {name} from now on: {wider}, ")), "{page}");
        let number = on(folder, &next);
        assert!(number.ends_with("10\n"), "{number}");
        let ninth = number.replace("10\n", "9");
        assert!(on(folder, &format!("parse {name} {ninth}")).contains("value   9\n"));
        let list = on(folder, &format!("list {name}"));
        assert!(list.contains("version 2  in place of version 1, "), "{list}");
    }
    let error = refused(folder, "change years {yyyy}{MM}-{n:3} --from now");
    let told = error.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("only a wider number may begin at once"), "{told}");
    assert!(told.ends_with("name the day with which it begins"), "{told}");
}

#[test]
fn a_gapless_series_is_left_to_the_callers_transaction() {
    let folder = folder();
    let folder = folder.path();
    on(folder, "create invoices {yyyy}-{n:5} --gapless");
    let complaint = refused(folder, "next invoices");
    let why = "is gapless: each number is counted in the transaction that stores its document, and \
               this tool has none; a program takes it there with take_in, or \
               next_in of a binding\n";
    assert!(complaint.ends_with(why), "{complaint}");
    assert_eq!(json(&on(folder, "list invoices --json"))["counters"], json("[]"));
}

#[test]
fn what_cannot_be_is_refused_before_a_file_is_made() {
    let folder = folder();
    for (line, why) in [
        (
            "create a {yy}{n}",
            "'{yy}{n}' for '<PATTERN>': at byte 4 of the pattern: {n} has as many",
        ),
        ("create a {nn}", "at byte 0 of the pattern: "),
        ("create a {n} --time-zone Asia/Shangai", "did you mean \"Asia/Shanghai\"?"),
        ("create a {n} --time-zone here", "there is no time zone \"here\""),
        ("create a/b {n}", "a name is 1 to 64 letters and digits of ASCII"),
        ("create a {fy}-{n}", "set fiscal_year_from to its first day, such as 04-06"),
        ("create a {n} --fiscal-year-from 04-01", "nothing goes by fiscal years"),
        ("create a {fy}-{n} --fiscal-year-from 13-01", "there is no such day"),
        ("create a {fy}-{n} --fiscal-year-from 4/6", "write them like 04-06"),
        ("create a {yy}{MM}-{n} --restart yearly", "use day, week, month, quarter, year"),
        ("create a {yy}{MM}{dd}-{n} --restart fiscal-year", "set fiscal_year_from"),
        ("create a {yyyy}-{n} --restart month", "at byte 0 of the pattern"),
        ("create a {n:2} --first 100", "the first number cannot be 100: use 1 to 99"),
        ("create a {n} --step 0", "cannot take 0 numbers at once"),
        ("create a {n} --step -5", "a count cannot be negative"),
        ("create a", "<PATTERN>"),
        ("next a --date 2026-02-30", "\"2026-02-30\" is not a date of the calendar: write one"),
        ("next a --date today", "is not a date of the calendar"),
        ("next a --scope a/b", "the scope \"a/b\" has '/' at byte 1"),
        ("next a -n -5", "a count cannot be negative"),
        ("change a {n}", "--from"),
        ("change a {n} --from 2027-13-01", "is not a date of the calendar"),
        ("close a 2026-W54", "\"2026-W54\" is not a period: write one like 2026-11-24"),
        ("bogus", "bogus"),
    ] {
        let complaint = stderr(folder.path(), &words(line), 2);
        assert!(complaint.contains(why), "{line}: {why:?} is not in {complaint}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn what_a_store_does_not_have_is_told_with_what_it_has() {
    let folder = with_orders();
    let folder = folder.path();
    for line in ["next order", "list order", "parse order x", "forecast order", "prune order"] {
        let complaint = refused(folder, line);
        let why = "no series \"order\"; did you mean \"orders\"? If it is new, create it: uidring \
                   series create order PATTERN\n";
        assert!(complaint.ends_with(why), "{line}: {complaint}");
    }
    let complaint = refused(folder, "next orders --scope shop-7");
    let why = "has no scopes, as its pattern SO{yyyy}{MM}{dd}-{n:6} has no {scope}: leave --scope \
               shop-7 out\n";
    assert!(complaint.ends_with(why), "{complaint}");
    let complaint = refused(folder, "next orders --db none.db");
    assert!(complaint.contains("none.db"), "{complaint}");
    assert!(!folder.join("none.db").exists());
    // A file of worker ids alone.
    stdout(folder, &["take", "--db", "ids.db"]);
    let complaint = refused(folder, "next orders --db ids.db");
    let why = "ids.db has no series \"orders\"; create it first, and if it was there before, with \
               a first number above all that were given: uidring series create --db ids.db orders \
               PATTERN\n";
    assert!(complaint.ends_with(why), "{complaint}");
    assert_eq!(
        on(folder, "list --db ids.db"),
        "no series yet; to create one: uidring series create --db ids.db NAME PATTERN\n"
    );
}

#[cfg(unix)]
#[test]
fn a_file_that_may_only_be_read_is_told() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use crate::copy_program::copy_program;

    const NOBODY: u32 = 65534;
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    let file = home.join("uidring.db");
    on(home, "create orders {n} --db uidring.db");
    let allow = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    allow(home, 0o755);
    // To root no file is read-only, and the tool may lie where only root can go.
    let is_root = fs::metadata(home).unwrap().uid() == 0;
    let tool = home.join("tool");
    copy_program(env!("CARGO_BIN_EXE_uidring"), &tool);
    if is_root {
        chown(home, Some(NOBODY), Some(NOBODY)).unwrap();
        chown(&file, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    allow(&file, 0o444);
    let mut command = Command::new(&tool);
    if is_root {
        command.uid(NOBODY).gid(NOBODY);
    }
    let command = command.args(["series", "next", "orders", "--db"]).arg(&file);
    let output = command.current_dir("/").output().unwrap();
    assert_eq!((text(&output.stdout), output.status.code()), (String::new(), Some(1)));
    let why = "it cannot be written; give this user the right to write to the file and to its";
    assert!(complaint_has(&output, why));
    allow(&file, 0o644);
    assert_eq!(on(home, "next orders --db uidring.db"), "1\n");
}
