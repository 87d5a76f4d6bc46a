//! `uidring mask` and `unmask`.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::Value;

use super::{folder, stdout, uidring};

const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const UID: &str = "180363646902239241";
const MASKED: &str = "7248484344334211842";
const OPAQUE: &str = "ord_5H7WY7KKXFH1JCEMMC78CF0N9T";

fn output(folder: &Path, args: &[&str], key: Option<&str>) -> Output {
    let mut command = uidring(folder, args);
    command.envs(key.map(|key| ("UIDRING_KEY", key)));
    command.output().unwrap()
}

fn error_text(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn what_is_masked_is_unmasked() {
    let folder = folder();
    let path = folder.path();
    fs::write(path.join("key"), format!("# of the shop\n{KEY}\n")).unwrap();
    let run = |args: &[&str]| stdout(path, &[args, &["--key-file", "key"]].concat());
    assert_eq!(run(&["mask", UID, "1"]), format!("{MASKED}\n5574203478500287918\n"));
    assert_eq!(run(&["mask", "05067S0001009"]), format!("{MASKED}\n"));
    assert_eq!(run(&["mask", "--prefix", "ord", UID]), format!("{OPAQUE}\n"));
    assert_eq!(run(&["unmask", MASKED, OPAQUE]), format!("{UID}\n{UID}\n"));
    let record: Value = serde_json::from_str(&run(&["mask", "--json", UID])).unwrap();
    assert_eq!((&record["uid"], &record["masked"]), (&UID.into(), &MASKED.into()));
    let record: Value = serde_json::from_str(&run(&["unmask", "--json", OPAQUE])).unwrap();
    assert_eq!((&record["uid"], &record["masked"]), (&UID.into(), &OPAQUE.into()));
}

#[test]
fn lines_of_standard_input_are_masked_one_by_one() {
    let folder = folder();
    let mut command = uidring(folder.path(), &["mask", "--prefix=ord"]);
    command.env("UIDRING_KEY", KEY).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    write!(stdin, "{UID}\n\nx\n {UID}\r\n").unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout.clone()).unwrap(), format!("{OPAQUE}\n").repeat(2));
    assert_eq!(output.status.code(), Some(1));
    assert!(error_text(&output).contains(r#""x" is not a UID: a UID in base32 has 13 characters"#));
}

#[test]
fn a_made_up_id_is_refused_and_a_made_up_number_is_not() {
    let folder = folder();
    let unmask = |text: &str| output(folder.path(), &["unmask", text], Some(KEY));
    for (text, why) in [
        ("ord_5H7WY7KKXFH1JCEMMC78CF0N9V", "the id was made up or changed"),
        ("cus_5H7WY7KKXFH1JCEMMC78CF0N9T", "the id was made up or changed"),
        ("ord_5h7wy7kkxfh1jcemmc78cf0n9t", "character 6 of the id cannot be 'h'"),
        ("ord_", "the id has 0 characters behind its prefix, not 26"),
        ("0", "the number is out of range"),
        ("-5", "character 1 of a UID cannot be '-'"),
    ] {
        let output = unmask(text);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(error_text(&output).contains(why), "{text}: {}", error_text(&output));
        assert!(output.stdout.is_empty());
    }
    assert!(unmask("7248484344334211843").status.success());
}

#[test]
fn a_key_is_changed_without_losing_opaque_ids() {
    let folder = folder();
    let keys = format!("1 {}\n0 {KEY}\n", "ab".repeat(32));
    let run = |args: &[&str]| {
        let output = output(folder.path(), args, Some(&keys));
        assert!(output.status.success(), "{}", error_text(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let text = run(&["mask", "--prefix", "ord", UID]);
    assert_ne!(text.trim(), OPAQUE);
    assert_eq!(run(&["unmask", OPAQUE, text.trim()]), format!("{UID}\n{UID}\n"));
}

#[test]
fn a_key_that_is_missing_or_wrong_is_told_and_never_shown() {
    let folder = folder();
    fs::write(folder.path().join("short"), &KEY[1..]).unwrap();
    let nearly = KEY.replace("1f", "1g");
    // Each system has its own words for it, and this number.
    let missing = format!("none: {}", io::Error::from_raw_os_error(2));
    for (args, key, status, expected) in [
        (&["mask", "1"][..], None, 2, "no key: name its file with --key-file, or put it into"),
        (&["unmask", "1"], Some(nearly.as_str()), 1, "the key in the variable UIDRING_KEY: line 1"),
        (&["mask", "1", "--key-file=short"], Some(KEY), 1, "short: line 1: a key has 64"),
        (&["mask", "1", "--key-file=none"], Some(KEY), 1, &missing),
        (&["mask", "1", "--prefix=or d"], Some(KEY), 2, "a prefix is such as ord"),
    ] {
        let output = output(folder.path(), args, key);
        assert_eq!(output.status.code(), Some(status), "{args:?}");
        assert!(error_text(&output).contains(expected), "{args:?}: {}", error_text(&output));
        assert!(!error_text(&output).contains("0203"), "{}", error_text(&output));
    }
}
