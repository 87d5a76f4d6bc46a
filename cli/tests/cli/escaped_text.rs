//! Texts that others have put into the store, on the terminal of whoever looks at them.

use std::path::Path;

use uidring::segment::{SegmentSource, SqliteSegments, Tag};

use super::{folder, json, registry, stdout, text, uidring};
use crate::workers::leases;

/// It would put a text on the clipboard, begin another line, and turn a word around.
const HOSTILE: &str = "\u{1b}]52;c;aGVsbG8=\u{7}\ntotal\t\u{202e}7\u{9b}2J";
const SHOWN: &str = r"\u{1b}]52;c;aGVsbG8=\u{7}\ntotal\t\u{202e}7\u{9b}2J";

/// What it writes to a terminal, both streams together, without the colours of the tool.
fn on_terminal(folder: &Path, args: &[&str]) -> String {
    let output = uidring(folder, args).env("CLICOLOR_FORCE", "1").output().unwrap();
    let mut page = text(&output.stdout) + &text(&output.stderr);
    for colour in ["0", "1", "2", "31", "32", "33", "34", "35", "36"] {
        page = page.replace(&format!("\u{1b}[{colour}m"), "");
    }
    assert!(!page.contains(|c: char| is_hidden(c) && c != '\n'), "{args:?}: {page:?}");
    page
}

fn is_hidden(character: char) -> bool {
    character.is_control() || matches!(character, '\u{200e}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Changes a table as others do who may write to it.
fn change(folder: &Path, sql: &str) {
    let db = rusqlite::Connection::open(registry(folder)).unwrap();
    db.execute(sql, [HOSTILE]).unwrap();
}

/// A folder with a tag of hostile name and description.
fn with_tags() -> tempfile::TempDir {
    let folder = folder();
    stdout(folder.path(), &["tags", "create", "orders"]);
    let tags = SqliteSegments::open(registry(folder.path())).unwrap();
    tags.create("described", &Tag::new().description(HOSTILE)).unwrap();
    change(folder.path(), "UPDATE uidring_segment SET tag = ?1 WHERE tag = 'orders'");
    folder
}

#[test]
fn tags_are_shown_with_escapes() {
    let folder = with_tags();
    let page = on_terminal(folder.path(), &["tags"]);
    let lines: Vec<&str> = page.lines().collect();
    assert_eq!(lines.len(), 4, "{page}");
    let tag = lines[1..3].iter().find(|line| line.starts_with(SHOWN));
    let described = lines[1..3].iter().find(|line| line.starts_with("described  "));
    let (tag, described) = (tag.expect(&page), described.expect(&page));
    assert!(described.ends_with(SHOWN), "{page}");
    let place = |line: &str| line.find("  1  ").unwrap();
    assert_eq!(place(tag), place(described), "one column: {page}");
}

#[test]
fn json_has_the_texts_themselves() {
    let folder = with_tags();
    let page = on_terminal(folder.path(), &["tags", "--json"]);
    let report = json(&page);
    let tags = report["tags"].as_array().unwrap();
    assert!(tags.iter().any(|tag| tag["tag"] == HOSTILE), "{page}");
    assert!(tags.iter().any(|tag| tag["description"] == HOSTILE), "{page}");
}

#[test]
fn hosts_are_shown_with_escapes() {
    let folder = folder();
    leases(folder.path());
    change(folder.path(), "UPDATE worker_node SET host_name = ?1");
    let page = on_terminal(folder.path(), &["workers"]);
    assert_eq!(page.lines().filter(|line| line.contains(SHOWN)).count(), 5, "{page}");
    for args in [&["workers", "release", "1"][..], &["workers", "release", "1", "--force"]] {
        let page = on_terminal(folder.path(), args);
        assert!(page.contains(&format!("{SHOWN}/4321")), "{page}");
    }
}

#[test]
fn complaints_have_escapes() {
    let folder = with_tags();
    let page = on_terminal(folder.path(), &["take", "--tag", "a\u{1b}[2J\n'b"]);
    assert!(page.ends_with("uidring tags create $'a\\u001b[2J\\u000a\\'b'\n"), "{page}");
    assert_eq!(page.lines().count(), 1, "{page}");
    let page = on_terminal(folder.path(), &["tags", "--\u{9b}\u{202e}"]);
    assert!(page.contains(r"'--\u{9b}\u{202e}'"), "{page}");
}
