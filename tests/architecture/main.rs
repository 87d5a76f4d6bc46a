//! The rules of the architecture, read from the sources: which file may import which, and what is
//! kept to one module.
//!
//! The sources are rustfmt's, which makes them easy to read: one item starts a line, and a function
//! ends where a brace stands as far left as it began.

// It compares paths as Git writes them.
#![cfg(unix)]
#![allow(clippy::panic, clippy::unwrap_used)]

mod book;
mod chinese;
mod columns;
mod documents;
mod imports;
mod markdown;
mod packages;
mod registries;
mod store_names;

use std::fs;
use std::path::Path;

use imports::{Imports, ModuleOrder, before_tests, rust_files};

/// The modules of the library in order. [`packages`] has those of the other packages.
const MODULE_ORDERS: &[ModuleOrder] = &[
    ModuleOrder {
        root: "src",
        folder: "",
        modules: &[
            "sync",
            "support",
            "uid",
            "number",
            "serde",
            "integrations",
            "clock",
            "layout",
            "masked", // these need no store
            "backend",
            "registry",
            "ring",
            "engine",
            "filler",
            "generator",
            "segment",
            "series",
            "lend",
            "store",
            "series/builder",
            "simulation",
            "lib", // tests, and the facade
        ],
    },
    ModuleOrder {
        root: "src",
        folder: "backend",
        modules: &[
            "storage_error",
            "call",
            "error",
            "server_message",
            "pem",
            "tls",
            "address",
            "unsupported",
            "sql",
            "keys",
        ],
    },
    ModuleOrder {
        root: "src",
        folder: "segment",
        modules: &["error", "source", "tag", "load", "take", "segments", "builder", "contract"],
    },
    ModuleOrder { root: "src", folder: "masked", modules: &["key", "ff1", "opaque", "mod"] },
    ModuleOrder {
        root: "src",
        folder: "series",
        modules: &[
            "form",
            "error",
            "store",
            "memory",
            "gapless",
            "generator",
            "catalog",
            "builder",
        ],
    },
];

/// A source file without comments and tests, line by line.
struct Source {
    module: String,
    /// With comments, for `ORDERING`.
    lines: Vec<String>,
}

impl Source {
    fn new(module: &str, text: &str) -> Source {
        Source {
            module: module.to_owned(),
            lines: before_tests(text).lines().map(str::to_owned).collect(),
        }
    }

    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        // What follows `//` in a string is missed, and there is none that matters.
        self.lines.iter().map(|line| line.split("//").next().unwrap()).enumerate()
    }
}

/// The library's files.
fn sources() -> Vec<Source> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    for path in rust_files(&src) {
        let inside = path.strip_prefix(&src).unwrap();
        // Tests that fill a file of their own.
        if inside.ends_with("tests.rs") {
            continue;
        }
        let module = Path::new(inside.iter().next().unwrap()).file_stem().unwrap();
        found.push(Source::new(module.to_str().unwrap(), &fs::read_to_string(&path).unwrap()));
    }
    found
}

/// What `code` names directly below `prefix`, as `error` in `crate::clock::utc`.
fn named_below<'a>(code: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    code.split(prefix)
        .skip(1)
        .map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap())
}

fn read(root: &str) -> Imports {
    Imports::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(root))
}

/// Those of all packages.
fn orders() -> impl Iterator<Item = &'static ModuleOrder> {
    MODULE_ORDERS.iter().chain(packages::MODULE_ORDERS)
}

#[test]
fn a_file_imports_only_from_its_module_and_those_before_it() {
    for order in orders() {
        let imports = read(order.root);
        let up = imports.arrows_up(order.folder, order.modules);
        assert!(up.is_empty(), "arrows up in {}/{}: {up:#?}", order.root, order.folder);
    }
}

#[test]
fn no_file_imports_itself_through_others() {
    for order in orders() {
        let imports = read(order.root);
        let circles = imports.circles();
        assert!(circles.is_empty(), "circles in {}: {circles:#?}", order.root);
    }
}

/// Where a member of the workspace is not in the list, nothing would look at its files.
#[test]
fn each_member_of_the_workspace_has_an_order() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let list = manifest.split_once("\nmembers = [").unwrap().1.split_once(']').unwrap().0;
    let members: Vec<_> = list.split('"').skip(1).step_by(2).map(|name| root.join(name)).collect();
    assert!(members.len() > 10, "where are they? {members:?}");
    let owner = |path: &Path| {
        let above = members.iter().filter(|member| path.starts_with(member));
        above.max_by_key(|member| member.components().count())
    };
    for member in &members {
        let has_order = orders().any(|order| owner(&root.join(order.root)) == Some(member));
        // One that only runs the files of others has none of its own.
        assert!(
            has_order || rust_files(member).is_empty(),
            "no order of the modules of {}",
            member.display()
        );
    }
}

/// The lines of code outside `home` that contain one of `words`.
fn strays(sources: &[Source], home: &str, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources.iter().filter(|source| source.module != home) {
        let stray = |code: &str| words.iter().any(|word| code.contains(word));
        found.extend(
            source
                .code()
                .filter(|(_, code)| stray(code))
                .map(|(_, code)| format!("{}: {code}", source.module)),
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
    // An option of a server's, such as --unsafe-no-fsync, is one word.
    let mut words = code.split(|c: char| !c.is_alphanumeric() && !"_-".contains(c));
    words.any(|word| matches!(word.trim_matches('-'), "unsafe" | "unsafe_code"))
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
    let folders = ["src", "args", "cli", "layouts", "benches", "examples", "tests"]
        .map(|folder| rust_files(&root.join(folder)));
    for path in folders.concat() {
        let source = Source::new("any", &fs::read_to_string(&path).unwrap());
        if path == root.join("src/engine/fork.rs") {
            assert_eq!(unsafe_lines(&source), (1, Vec::new()), "one call, and its reason");
        } else if path == root.join("layouts/wasm/src/memory.rs") {
            assert_eq!(unsafe_lines(&source), (3, Vec::new()), "three names, and their reason");
        } else if path != root.join("tests/architecture/main.rs") {
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
            silent.push(format!("{}:{}: {}", source.module, number + 1, code.trim()));
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
            source.module
        );
    }
}

/// A crate of these files.
fn imports_of(files: &[(&str, &str)]) -> Imports {
    Imports::new("lib.rs", files.iter().map(|&(path, text)| (path.to_owned(), text.to_owned())))
}

const DOOR: (&str, &str) = ("upper/mod.rs", "mod b;\nmod c;\npub use b::{B, self as other};\n");
const ROOMS: [&str; 3] = ["lower", "upper", "lib"];

#[test]
fn an_arrow_up_is_seen() {
    let up = |lower: &str| {
        let root = ("lib.rs", "mod lower;\nmod upper;\npub use upper::B;\nmod a {\n}\n");
        let files = [root, DOOR, ("lower.rs", lower), ("upper/b.rs", ""), ("upper/c.rs", "")];
        imports_of(&files).arrows_up("", &ROOMS).len()
    };
    for text in [
        "use crate::upper::B;",
        "use crate::B;",
        "    let x = crate::upper::b::f();",
        "fn f<'a>(_: &'a crate::B) -> char { '\"' }",
        "const FULL: char = '█';\nuse crate::B;",
        "use crate::{lower, upper::{b, c::C}};",
        "mod inside {\n    use super::super::upper::c;\n}",
        "fn f() { /* \" */ super::upper::b::g(\"\\\"\"); }",
    ] {
        assert!(up(text) > 0, "{text}");
    }
    for text in [
        "// crate::upper::B",
        "let text = \"crate::upper::B\";",
        "use self::inside::f;\nmod inside {\n    use super::g;\n}",
        "use upper::B; // another crate's",
        "fn f() {}\n#[cfg(test)]\nmod tests {\n    use crate::upper::B;\n}",
    ] {
        assert_eq!(up(text), 0, "{text}");
    }
    let inside = [DOOR, ("upper/b.rs", "use super::c::C;"), ("upper/c.rs", "")];
    assert_eq!(imports_of(&inside).arrows_up("upper", &["c", "b"]).len(), 0);
    assert_eq!(imports_of(&inside).arrows_up("upper", &["b", "c"]).len(), 1);
    let part = [DOOR, ("upper/b.rs", ""), ("upper/c.rs", ""), ("d.rs", "use crate::upper::B;")];
    assert_eq!(imports_of(&part).arrows_up("", &["upper/b", "d", "upper"]).len(), 0);
    assert_eq!(imports_of(&part).arrows_up("", &["d", "upper/b", "upper"]).len(), 1);
}

#[test]
fn a_circle_is_seen() {
    let circles = |b: &str, c: &str| {
        let files = [DOOR, ("upper/b.rs", b), ("upper/c.rs", c), ("d.rs", "use crate::upper::B;")];
        imports_of(&files).circles().into_iter().map(|circle| circle.len()).collect::<Vec<_>>()
    };
    // Through the facade, which is in no circle itself.
    assert_eq!(circles("use super::c::C;", "use super::B;"), [2]);
    assert_eq!(circles("use super::c::C;", "use crate::upper::other::f;"), [2]);
    assert_eq!(circles("use crate::d;", "use super::B;"), [2]);
    assert_eq!(circles("use super::c::C;", "use crate::d;"), [3]);
    assert_eq!(circles("use super::c::C;", ""), []);
    assert_eq!(circles("use super::c::C;", "/// [`B`](super::B)"), []);
    // Files may extend what the `mod.rs` of their folder defines, and no other file.
    let parent = ("upper/mod.rs", "use crate::d::D;\nstruct A(D);");
    assert_eq!(imports_of(&[parent, ("d.rs", "use crate::upper::A;")]).circles().len(), 1);
    let parent = ("upper/mod.rs", "mod b;\nuse b::B;\nstruct A(B);");
    assert_eq!(imports_of(&[parent, ("upper/b.rs", "use super::A;")]).circles().len(), 0);
}

/// The rules above find what they are to find.
#[test]
fn each_rule_sees_when_it_is_broken() {
    let bad = |text: &str| Source::new("ring", text);
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
    assert!(!is_unsafe("start it without --unsafe-no-fsync"));
    assert!(is_unsafe("1 -unsafe { f() }"));
    assert_eq!(unsafe_lines(&bad("// SAFETY: it is.\nunsafe { f() }")), (1, Vec::new()));
    assert_eq!(unsafe_lines(&bad("// SAFETY: it is.\nlet x = 1;\nunsafe { f() }")).1.len(), 1);
    let operation = |comment: &str| {
        let text = format!(
            "    fn other() {{\n        // ORDERING: another's\n    }}\n\n    \
             pub fn f() {{\n        {comment}\n        x.load(Ordering::Relaxed);\n    }}\n"
        );
        atomic_operations(&bad(&text))
    };
    assert_eq!(operation("// ORDERING: a statistic.").1.len(), 0);
    assert_eq!((operation("// Fast.").0, operation("// Fast.").1.len()), (1, 1));
    assert_eq!(atomic_operations(&bad("fn f() -> cmp::Ordering {\n    Ordering::Less\n}")).0, 0);
}
