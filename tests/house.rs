//! The rules of the house, read from the sources: which room may know which, and what is kept to
//! one room.
//!
//! The sources are rustfmt's, which makes them easy to read: one item starts a line, and a function
//! ends where a brace stands as far left as it began.

#![allow(clippy::panic, clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// From left to right: a room knows only rooms to its left.
const ROOMS: [&str; 28] = [
    "sync",
    "error",
    "uid", // the ground floor
    "layout",
    "lead",
    "clock",
    "events",
    "registry",
    "seconds",
    "windows",
    "ring",
    "line",
    "waiters", // each its own
    "status",
    "shared",
    "turn",
    "run",
    "clerk",
    "workers",
    "keeper",
    "fork",
    "filler", // the generator's inside
    "generator",
    "builder",
    "local",
    "installed", // what programs hold
    "simulation",
    "lib", // a test of the inside, and the door
];

/// Who knows a room to its right nevertheless, and why.
const KNOTS: [(&str, &str, &str); 8] = [
    ("error", "uid", "errors name what they are about"),
    ("error", "layout", "errors name what they are about"),
    ("error", "ring", "an error names the nearest number of slots"),
    ("error", "UidGenerator", "an error gives the refused generator back"),
    ("status", "filler", "the filler's state is part of the status"),
    ("shared", "filler", "a taker wakes the filler"),
    ("generator", "builder", "a generator begins with `UidGenerator::builder`"),
    ("generator", "local", "a generator gives local takers"),
];

/// A source file without comments and tests, line by line.
struct Source {
    room: String,
    /// With comments, for `ORDERING`.
    lines: Vec<String>,
}

impl Source {
    fn new(room: &str, text: &str) -> Source {
        let before_tests = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        Source { room: room.to_owned(), lines: before_tests.lines().map(str::to_owned).collect() }
    }

    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        // What follows `//` in a string is missed, and there is none that matters.
        self.lines.iter().map(|line| line.split("//").next().unwrap()).enumerate()
    }
}

/// The library's files. The program in `src/bin` is a user of it.
fn sources() -> Vec<Source> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    for path in rust_files(&src).into_iter().filter(|path| !path.starts_with(src.join("bin"))) {
        let inside = path.strip_prefix(&src).unwrap();
        let room = Path::new(inside.iter().next().unwrap()).file_stem().unwrap();
        found.push(Source::new(room.to_str().unwrap(), &fs::read_to_string(&path).unwrap()));
    }
    found
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// What `code` names directly below `prefix`, as `error` in `crate::error::utc`.
fn named_below<'a>(code: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    code.split(prefix)
        .skip(1)
        .map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap())
}

/// Each arrow between two rooms that points to the right, or to nowhere.
fn arrows_to_the_right(source: &Source) -> BTreeSet<(String, String)> {
    let place = |room: &str| ROOMS.iter().position(|&known| known == room);
    let here = place(&source.room)
        .unwrap_or_else(|| panic!("where in ROOMS does `{}` belong?", source.room));
    let mut arrows = BTreeSet::new();
    for (_, code) in source.code() {
        assert!(!code.contains("crate::{"), "one `use` for each room, in {}: {code}", source.room);
        for there in named_below(code, "crate::") {
            // Names at the door hide the room that they come from.
            let known = place(there).is_some_and(|there| there < here)
                || there == source.room
                || source.room == "lib";
            if !known {
                arrows.insert((source.room.clone(), there.to_owned()));
            }
        }
    }
    arrows
}

#[test]
fn a_room_knows_only_rooms_to_its_left() {
    let sources = sources();
    let rooms: BTreeSet<&str> = sources.iter().map(|source| source.room.as_str()).collect();
    assert_eq!(rooms, BTreeSet::from(ROOMS), "ROOMS lists what is in src");
    let arrows: BTreeSet<_> = sources.iter().flat_map(arrows_to_the_right).collect();
    let knots: BTreeSet<_> =
        KNOTS.iter().map(|&(from, to, _)| (from.to_owned(), to.to_owned())).collect();
    let new: Vec<_> = arrows.difference(&knots).collect();
    assert!(new.is_empty(), "these rooms know one to their right: {new:?}");
    let untied: Vec<_> = knots.difference(&arrows).collect();
    assert!(untied.is_empty(), "no longer a knot, so no longer in KNOTS: {untied:?}");
}

/// The lines of code outside `home` that contain one of `words`.
fn strays(sources: &[Source], home: &str, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources.iter().filter(|source| source.room != home) {
        let stray = |code: &str| words.iter().any(|word| code.contains(word));
        found.extend(
            source
                .code()
                .filter(|(_, code)| stray(code))
                .map(|(_, code)| format!("{}: {code}", source.room)),
        );
    }
    found
}

const THREADS: [&str; 6] =
    ["std::sync", "core::sync", "std::thread", "std::{", "loom::", "crossbeam_utils::sync"];
const TIME: [&str; 3] = ["::now()", "Instant", "UNIX_EPOCH.elapsed"];

#[test]
fn atomics_locks_and_threads_come_from_sync() {
    let mut strays = strays(&sources(), "sync", &THREADS);
    strays.retain(|line| !line.contains("std::sync::PoisonError"));
    assert!(strays.is_empty(), "{strays:#?}");
}

#[test]
fn the_time_comes_from_clock() {
    let strays = strays(&sources(), "clock", &TIME);
    assert!(strays.is_empty(), "{strays:#?}");
}

/// Whether `code` is unsafe, or is about to allow itself to be.
fn is_unsafe(code: &str) -> bool {
    let mut words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| word == "unsafe" || word == "unsafe_code")
}

/// How many unsafe lines there are, and those without a comment before them that says why they are
/// sound.
fn unsafe_lines(source: &Source) -> (usize, Vec<&str>) {
    let is_comment = |line: &&String| line.trim_start().starts_with("//");
    let (mut count, mut silent) = (0, Vec::new());
    for (number, code) in
        source.code().filter(|(_, code)| is_unsafe(code) && !code.starts_with("#![allow("))
    {
        count += 1;
        let mut comment = source.lines[..number].iter().rev().take_while(is_comment);
        if !comment.any(|line| line.contains("// SAFETY: ")) {
            silent.push(code);
        }
    }
    (count, silent)
}

#[test]
fn unsafe_code_is_kept_to_fork_and_says_why_it_is_sound() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Not "forbid", which knows no exception.
    assert!(
        fs::read_to_string(root.join("Cargo.toml")).unwrap().contains("unsafe_code = \"deny\"")
    );
    let folders =
        ["src", "benches", "examples", "tests"].map(|folder| rust_files(&root.join(folder)));
    for path in folders.concat() {
        let source = Source::new("any", &fs::read_to_string(&path).unwrap());
        if path == root.join("src/fork.rs") {
            assert_eq!(unsafe_lines(&source), (1, Vec::new()), "one call, and its reason");
        } else if path != root.join("tests/house.rs") {
            assert!(!source.code().any(|(_, code)| is_unsafe(code)), "{}", path.display());
        }
    }
}

const ORDERINGS: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];

/// How many lines with an atomic operation there are, and those in a function that says nothing
/// about its ordering.
fn atomic_operations(source: &Source) -> (usize, Vec<String>) {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_function = |line: &str| line.starts_with("fn ") || line.contains(" fn ");
    let mut count = 0;
    let mut silent = Vec::new();
    for (number, code) in source.code() {
        if !named_below(code, "Ordering::").any(|name| ORDERINGS.contains(&name)) {
            continue;
        }
        count += 1;
        let begin = (0..number).rev().find(|&above| {
            indent(&source.lines[above]) < indent(code) && is_function(&source.lines[above])
        });
        let commented = begin.is_some_and(|begin| {
            let end = " ".repeat(indent(&source.lines[begin])) + "}";
            let function = source.lines[begin..].iter().take_while(|line| **line != end);
            function.into_iter().any(|line| line.contains("// ORDERING: "))
        });
        if !commented {
            silent.push(format!("{}:{}: {}", source.room, number + 1, code.trim()));
        }
    }
    (count, silent)
}

#[test]
fn each_atomic_operation_says_why_its_ordering_is_right() {
    let sources = sources();
    let (counts, silent): (Vec<usize>, Vec<Vec<String>>) =
        sources.iter().map(atomic_operations).unzip();
    assert!(counts.iter().sum::<usize>() > 20, "where are they? {counts:?}");
    assert!(silent.concat().is_empty(), "{:#?}", silent.concat());
    // Written in full, so that this test sees them.
    for source in &sources {
        let import = |code: &str| code.contains("Ordering::{") || code.contains("Ordering::*");
        assert!(
            !source.code().any(|(_, code)| import(code)),
            "orderings are imported in {}",
            source.room
        );
    }
}

/// The rules above find what they are to find.
#[test]
fn each_rule_sees_when_it_is_broken() {
    let bad = |text: &str| Source::new("ring", text);
    assert_eq!(
        arrows_to_the_right(&bad("use crate::seconds::Seconds;\n// crate::generator")).len(),
        0
    );
    for text in [
        "use crate::generator::Run;",
        "    let x = crate::filler::signal();",
        "fn f(_: &crate::UidGenerator) {}",
    ] {
        assert_eq!(arrows_to_the_right(&bad(text)).len(), 1, "{text}");
    }
    for text in [
        "use std::sync::atomic::AtomicU64;",
        "    std::thread::yield_now();",
        "use std::{fmt, thread};",
    ] {
        assert_eq!(strays(&[bad(text)], "sync", &THREADS).len(), 1, "{text}");
    }
    for text in
        ["let now = SystemTime::now();", "let start = Instant::now();", "use std::time::Instant;"]
    {
        assert_eq!(strays(&[bad(text)], "clock", &TIME).len(), 1, "{text}");
    }
    for text in ["    unsafe { f() }", "unsafe extern \"C\" fn f() {}", "#[allow(unsafe_code)]"] {
        assert!(is_unsafe(text), "{text}");
    }
    assert!(!is_unsafe("fn not_unsafe() {}"));
    assert_eq!(unsafe_lines(&bad("// SAFETY: it is.\nunsafe { f() }")), (1, Vec::new()));
    assert_eq!(unsafe_lines(&bad("// SAFETY: it is.\nlet x = 1;\nunsafe { f() }")).1.len(), 1);
    let operation = |comment: &str| {
        let text = format!(
            "    fn other() {{\n        // ORDERING: another's\n    }}\n\n    pub fn f() {{\n        {comment}\n        x.load(Ordering::Relaxed);\n    }}\n"
        );
        atomic_operations(&bad(&text))
    };
    assert_eq!(operation("// ORDERING: a statistic.").1.len(), 0);
    assert_eq!((operation("// Fast.").0, operation("// Fast.").1.len()), (1, 1));
    assert_eq!(atomic_operations(&bad("fn f() -> cmp::Ordering {\n    Ordering::Less\n}")).0, 0);
}
