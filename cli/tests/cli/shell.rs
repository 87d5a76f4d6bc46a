//! Commands that the tool names, in a shell.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{folder, text, uidring};

/// The command that `page` names, with the lines in which it goes on.
fn command_after(page: &str, begin: &str) -> String {
    let at = page.find(begin).unwrap_or_else(|| panic!("{begin} is not in {page}"));
    let mut command = String::new();
    for line in page[at..].lines() {
        command = command + line + "\n";
        if !line.ends_with('\\') {
            break;
        }
    }
    command
}

/// What `command` prints for somebody who copies it into a shell.
fn in_a_shell(folder: &Path, command: &str) -> String {
    let tool = Path::new(env!("CARGO_BIN_EXE_uidring")).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths([tool].into_iter().chain(std::env::split_paths(&path)));
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", path.unwrap())
        .env("XDG_STATE_HOME", folder)
        .env("HOME", folder)
        .env_remove("UIDRING_DB")
        .output()
        .unwrap();
    assert!(output.status.success(), "{command}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn a_command_that_is_named_works_in_a_shell() {
    let folder = folder();
    fs::create_dir(folder.path().join("a folder")).unwrap();
    let tags = [
        "orders",
        "a b/ü",
        "c d'e",
        "$(id)",
        "~",
        "--x",
        "-5",
        "*",
        "a;b",
        "#x",
        "`x`",
        "a\\b",
        "!!",
        "=x",
        "\"",
        "orders of all shops in the north and the south",
    ];
    for (db, columns) in [("", "200"), ("--db=a folder/it's.db", "40"), ("--db=--db", "80")] {
        let said = |args: &[&str], tag: &[&str]| {
            let place = [db].into_iter().filter(|db| !db.is_empty());
            let args = args.iter().copied().chain(place).chain(tag.iter().copied());
            let args: Vec<&str> = args.collect();
            let output = uidring(folder.path(), &args).env("COLUMNS", columns).output().unwrap();
            text(&output.stdout) + &text(&output.stderr)
        };
        // Makes the file.
        said(&["tags", "create", "first"], &[]);
        for tag in tags {
            let missing = said(&["take"], &[&format!("--tag={tag}")]);
            let created =
                in_a_shell(folder.path(), &command_after(&missing, "uidring tags create"));
            assert!(created.starts_with(&format!("the tag {tag}: ")), "{missing}: {created}");
            let take =
                command_after(&said(&["tags", "set", "--step=5"], &["--", tag]), "uidring take");
            assert_eq!(in_a_shell(folder.path(), &take), "1\n", "{take}");
            let refusal = said(&["tags", "remove"], &["--", tag]);
            said(&["tags", "remove", "--force"], &["--", tag]);
            in_a_shell(folder.path(), &command_after(&refusal, "uidring tags create"));
            let take = said(&["take"], &[&format!("--tag={tag}")]);
            assert_eq!(take, "2\n", "above those that were given: {refusal}");
        }
    }
}
