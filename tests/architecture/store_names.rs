//! A test that needs one kind of store has a word for it in its name or in those of its modules:
//! `verify/stores/run` chooses the tests of a store by such words.

use std::fs;

use super::documents::{root, tracked};

/// How the reasons of ignored tests name each kind of store, and the words in the tests' names.
const KINDS: [(&[&str], &[&str]); 5] = [
    (&["MySQL", "MariaDB"], &["mysql", "mariadb"]),
    (&["PostgreSQL", "pgbouncer"], &["postgres", "pgbouncer"]),
    (&["etcd"], &["etcd"]),
    (&["ZooKeeper"], &["zookeeper", "leafs_worker"]),
    (&["Redis"], &["redis", "cosid"]),
];
/// The folders of the programs that `verify/stores/run` names.
const PROGRAMS: [&str; 3] = ["tests/", "server/tests/", "cli/tests/cli/"];

fn names_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// The tests in `source`, the file of the module `file`, that need one kind of store which neither
/// their name nor their modules tell.
fn nameless(file: &str, source: &str) -> Vec<String> {
    let (mut modules, mut needed, mut found) = (Vec::new(), None, Vec::new());
    for line in source.lines() {
        let (code, indent) = (line.trim_start(), line.len() - line.trim_start().len());
        if let Some(module) = code.strip_prefix("mod ").and_then(|code| code.strip_suffix(" {")) {
            modules.push((indent, module));
        } else if code == "}" && modules.last().is_some_and(|(begin, _)| *begin == indent) {
            modules.pop();
        } else if let Some(reason) = code.strip_prefix("#[ignore = \"needs ") {
            let mut kinds = KINDS.iter().filter(|(stores, _)| names_any(reason, stores));
            needed = kinds.next().filter(|_| kinds.next().is_none());
        } else if let Some(function) = code.strip_prefix("fn ") {
            let name = function.split('(').next().unwrap_or(function);
            let Some((_, words)) = needed.take() else { continue };
            let is_told = names_any(file, words) || names_any(name, words);
            if !is_told && !modules.iter().any(|(_, module)| names_any(module, words)) {
                found.push(name.to_owned());
            }
        }
    }
    found
}

#[test]
fn a_test_that_needs_one_store_tells_it_by_its_name() {
    let (mut files, mut found) = (0, Vec::new());
    let paths = tracked("");
    let in_program = |path: &&String| PROGRAMS.iter().any(|folder| path.starts_with(folder));
    for path in paths.iter().filter(in_program) {
        let Some((start, "rs")) = path.rsplit_once('.') else { continue };
        let source = fs::read_to_string(root().join(path)).unwrap();
        // A program's own file is no module of it.
        let file = start.rsplit_once('/').map_or(start, |(_, file)| file);
        let file = if path.starts_with("server/tests/") { "" } else { file };
        files += 1;
        found.extend(nameless(file, &source).into_iter().map(|name| format!("{path}: {name}")));
    }
    assert!(paths.is_empty() || files > 50, "where are they? {files} files");
    assert!(found.is_empty(), "name the store that these need:\n{}", found.join("\n"));
}

#[test]
fn a_store_may_be_told_by_a_module() {
    let test = "#[ignore = \"needs a MySQL or MariaDB server\"]\nfn a_lock_is_told() {\n}\n";
    assert_eq!(nameless("registries", test), ["a_lock_is_told"]);
    assert!(nameless("mysql_9", test).is_empty());
    let inside = format!("mod mariadb {{\n    {}}}\n", test.replace('\n', "\n    "));
    assert!(nameless("registries", &inside).is_empty());
    assert_eq!(nameless("registries", &format!("mod mysql {{\n}}\n{test}")), ["a_lock_is_told"]);
    let of_two = test.replace("a MySQL", "PostgreSQL and a MySQL");
    assert!(nameless("registries", &of_two).is_empty());
}
