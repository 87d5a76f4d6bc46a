//! Command lines that are not understood.

use std::fs;

use crate::{complaint, folder, run, stderr};

/// A number of 23 digits.
const LARGE: &str = "12345678901234567890123";

#[test]
fn a_command_line_that_is_not_understood_is_a_usage_error() {
    let folder = folder();
    for (args, why) in [
        (&["bogus"][..], "bogus"),
        (&["take", "-n", "many"], "many"),
        (&["take", "--format", "xml"], "decimal, base32, json"),
        (&["take", "--layout", "40,20,13"], "40 + 20 + 13 bits are 73"),
        (&["take", "--layout", "wide"], "three widths"),
        (&["take", "--epoch", "yesterday"], "2026-01-01"),
        (&["take", "--tick", "2s"], "2000 ms"),
        (&["take", "--tick", "1m"], "60000 ms"),
        (&["take", "--tick", "1.5s"], "1500 ms"),
        (&["take", "--tick", "fast"], "10ms"),
        (&["layout", "--db", "uidring.db", "--tick", "1s"], "--tick"),
        (&["take", "--rate", "0"], "rate of 0"),
        (&["take", "--rate", "fast"], "20k"),
        (&["take", "--for", "10"], "500ms, 10s, 1h30m or 1d"),
        (&["take", "--for", "0s"], "no time"),
        (&["take", "--threads", "0"], "0"),
        (&["take", "--no-output", "--format", "json"], "--format"),
        (&["status", "--on-lead-limit", "panic"], "new-worker, wait, fail"),
        (&["status", "--lease", "10m"], "--db"),
        (&["take", "--lease", "10ms"], "a second"),
        (&["take", "--partition", "4/4"], "3/4"),
        (&["workers", "--json", "release", "7"], "cannot be used with '--json'"),
        (&["workers", "release"], "<ID>"),
        (&["take", "--tag", "orders", "--layout", "30,20,13"], "cannot be used with"),
        (&["take", "--tag", "orders", "--lease", "10m"], "cannot be used with"),
        (&["take", "--table", "leaf"], "--tag"),
        (&["tags", "create"], "<NAME>"),
        (&["tags", "create", "orders", "--step", "some"], "500, 20k or 1.5M"),
        (&["tags", "set", "orders"], "nothing to change: name --next, --step"),
        (&["tags", "--json", "remove", "orders"], "cannot be used with '--json'"),
        (&["tags", "--table", "other"], "own, leaf, tinyid, cosid"),
        (&["tags", "--table", "cosid", "--db", "x.db"], "not about x.db: name the server with"),
        (&["tags", "create", "shop.orders", "--table", "cosid"], "--db redis://"),
        (&["take", "--tag", "shop.orders", "--table", "cosid"], "--db redis://"),
        (&["plan"], "--rate"),
        (&["plan", "--rate", "10", "--nodes", "0"], "at least 1"),
        (&["plan", "--rate", "10", "--nodes", "1001M"], "at most 1,000,000,000"),
        (&["plan", "--rate", "10", "--peak", "5"], "below --rate"),
        (&["plan", "--rate", "5", "--peak", "6", "--peak-for", "25h"], "more than the day"),
        (&["plan", "--rate", "5", "--epoch", "2999-01-01"], "has not begun"),
    ] {
        let complaint = stderr(folder.path(), args, 2);
        assert!(complaint.contains(why), "{args:?}: {why:?} is not in {complaint}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was made");
}

/// As people guess from what the help calls them.
#[test]
fn arguments_may_be_named_and_a_value_without_an_option_is_hinted_at() {
    let folder = folder();
    let run_in = |args: &[&str]| run(folder.path(), args);
    for args in [
        &["tags", "create", "--tag", "orders"][..],
        &["series", "create", "bills", "--pattern", "B{yyyy}-{n:4}"],
        &["series", "create", "--pattern=P{n}", "--name=parcels"],
        &["series", "next", "--series", "bills", "-n", "2"],
        &["series", "parse", "bills", "--number", "B2026-0001"],
        &["parse", "--uid", "240475639809867779"],
        &["completions", "--shell", "bash"],
        &["man", "--command", "take"],
        &["take", "--tag", "orders", "--max-in-memory", "2k", "-n", "5000"],
    ] {
        let done = run_in(args);
        assert!(done.status.success(), "{args:?}: {}", complaint(&done));
    }
    for (args, hint) in [
        (&["take", "orders"][..], "did you mean --tag orders"),
        (&["take", "5"], "did you mean -n 5 or"),
        (&["series", "next", "bills", "shop-7"], "did you mean --scope shop-7"),
        (&["tags", "set", "orders", "5000"], "did you mean --next 5000 or --step 5000"),
        (&["layout", "29,21,13"], "did you mean --layout 29,21,13"),
        (&["plan", "5k"], "did you mean --rate 5k"),
        (&["series", "create", "x", "--patern", "P{n}"], "unexpected argument '--patern'"),
    ] {
        let done = run_in(args);
        assert_eq!(done.status.code(), Some(2), "{args:?}");
        assert!(complaint(&done).contains(hint), "{args:?}: {}", complaint(&done));
    }
}

#[test]
fn a_value_that_cannot_be_is_called_what_it_is() {
    let folder = folder();
    for (args, why) in [
        // Ranges.
        (&["take", "--worker-ids", "5-2"][..], "5 is above 2: write 2-5"),
        (&["take", "--worker-ids", "0-0"], "the first worker id is 1"),
        (&["take", "--worker-ids", "5"], "such as 32-1023"),
        (&["take", "--worker-ids", "1-12345678901234567890123"], "larger than any worker id"),
        (&["take", "--partition", "5/2"], "the parts of 2 are 0/2 and 1/2"),
        (&["take", "--partition", "4/4"], "the parts of 4 are 0/4 to 3/4"),
        (&["take", "--partition", "1/1"], "the only part of 1 is 0/1"),
        (&["take", "--partition", "0/0"], "such as 0/4 to 3/4"),
        // What is negative.
        (&["tags", "create", "x", "--first", "-5"], "'--first <N>': a count cannot be negative"),
        (&["tags", "create", "x", "--first=-5"], "a count cannot be negative"),
        (&["tags", "create", "x", "--first", "-5k"], "a count cannot be negative"),
        (&["tags", "set", "x", "--next", "-1"], "a count cannot be negative"),
        (&["tags", "set", "x", "--max-step", "-1"], "a count cannot be negative"),
        (&["take", "--tag", "x", "--max-in-memory", "0"], "numbers in memory"),
        (&["tags", "--for", "-5s"], "a length of time cannot be negative"),
        (&["take", "-n", "-3"], "'--count <N>': a count cannot be negative"),
        (&["take", "-n-3"], "'--count <N>': a count cannot be negative"),
        (&["take", "--slots", "-5"], "a count cannot be negative"),
        (&["take", "--max-new-workers", "-5"], "a count cannot be negative"),
        (&["take", "--threads", "-2"], "there are 1 to 1,024 threads"),
        (&["take", "--max-lead", "-5s"], "a length of time cannot be negative"),
        (&["take", "--max-lag", "-1ms"], "a length of time cannot be negative"),
        (&["take", "--lease", "-5m"], "a length of time cannot be negative"),
        (&["take", "--rate", "-1.5k"], "a number cannot be negative"),
        (&["take", "--partition", "-1/2"], "such as 0/4 to 3/4"),
        (&["take", "--worker-ids", "-5-2"], "such as 32-1023"),
        (&["take", "--layout", "-29,21,13"], "three widths"),
        (&["take", "--tick", "-1ms"], "10ms"),
        (&["status", "--rate", "-1"], "a number cannot be negative"),
        (&["bench", "--threads", "-4"], "there are 1 to 1,024 threads"),
        (&["workers", "--last", "-3"], "a count cannot be negative"),
        (&["workers", "release", "-5"], "a worker id is a whole number such as 7"),
        (&["plan", "--rate", "-4"], "a number cannot be negative"),
        (&["plan", "--rate", "5", "--nodes", "-4"], "a count cannot be negative"),
        (&["plan", "--rate", "5", "--years", "-4"], "there are 1 to 10,000 years"),
        (&["plan", "--rate", "5", "--peak-for", "-4h"], "a length of time cannot be negative"),
        (&["plan", "--rate", "5", "--epoch", "-1"], "or a date such as"),
        // What is large, or fine.
        (&["take", "-n", LARGE], "a count is at most 18,446,744,073,709,551,615"),
        (&["take", "-n", "99999999999999M"], "a count is at most 18,446,744,073,709,551,615"),
        (&["take", "--slots", LARGE], "a count is at most"),
        (&["take", "--max-new-workers", "5000000000"], "there are at most 4,294,967,295"),
        (&["take", "--threads", LARGE], "a count is at most"),
        (&["take", "--rate", LARGE], "a number is at most 1,000,000,000,000"),
        (&["take", "--max-lead", "12345678901234567890123s"], "at most 36500d"),
        (&["take", "--max-lead", "99999999d"], "at most 36500d"),
        (&["take", "--layout", "12345678901234567890123,2,3"], "is too wide"),
        (&["tags", "create", "x", "--step", LARGE], "a count is at most"),
        (&["workers", "release", LARGE], "larger than any worker id"),
        (&["plan", "--rate", LARGE], "a number is at most 1,000,000,000,000"),
        (&["plan", "--rate", "5", "--above", LARGE], "below 2^63"),
        (&["plan", "--rate", "5", "--years", LARGE], "a count is at most"),
        (&["plan", "--rate", "5", "--restarts-per-day", "0.0001"], "at most three decimals"),
        // Words in place of numbers.
        (&["take", "--slots", "many"], "500, 20k or 1.5M"),
        (&["take", "--threads", "many"], "500, 20k or 1.5M"),
        (&["workers", "release", "seven"], "a worker id is a whole number such as 7"),
        (&["plan", "--rate", "5", "--years", "many"], "500, 20k or 1.5M"),
    ] {
        let complaint = stderr(folder.path(), args, 2);
        assert!(complaint.contains(why), "{args:?}: {why:?} is not in {complaint}");
        for of_rust in ["invalid digit", "too large to fit", "use '--"] {
            assert!(!complaint.contains(of_rust), "{args:?}: {complaint}");
        }
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was made");
}
