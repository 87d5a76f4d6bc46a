//! A registry around another passes each call on: a method with a default that it leaves out would
//! be that default.

use std::fs;

use super::documents::{root, tracked};

/// The names of the methods in the block that begins in the line with `begin`.
fn methods_of(source: &str, begin: &str) -> Vec<String> {
    let block = source.split_once(begin).map_or("", |(_, rest)| rest);
    let block = block.split_once("\n}\n").map_or(block, |(block, _)| block);
    let lines = block.lines().filter_map(|line| line.strip_prefix("    fn "));
    lines.filter_map(|line| Some(line.split_once(['(', '<'])?.0.to_owned())).collect()
}

#[test]
fn a_registry_around_another_passes_on_each_method() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let all = methods_of(&read("src/registry/mod.rs"), "pub trait WorkerRegistry");
    assert!(all.len() > 5, "{all:?}");
    let mut around = 0;
    let is_rust = |path: &str| path.rsplit_once('.').is_some_and(|(_, kind)| kind == "rs");
    let is_code = |path: &&String| is_rust(path) && !path.starts_with("tests/");
    for path in tracked("").iter().filter(is_code) {
        let source = read(path);
        if !source.contains("self.registry.name()") || !source.contains("WorkerRegistry for ") {
            continue;
        }
        around += 1;
        let passed_on = methods_of(&source, "WorkerRegistry for ");
        for method in &all {
            assert!(passed_on.contains(method), "{path}: {method} is not passed on");
        }
    }
    assert!(around >= 3, "{around}");
}
