//! The pages of the bindings tell all that there is.

#![allow(clippy::unwrap_used)] // a test that cannot go on has failed

use std::collections::{HashMap, HashSet};
use std::env;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use uidring_bindings::{Kind, OptionList, options_of};

/// Series have the options of segments, but for `table`.
const HEADINGS: [(OptionList, &str); 5] = [
    (OptionList::Uids, "Opening a generator of UIDs"),
    (OptionList::Segments, "Opening segments, or series (without `table`)"),
    (OptionList::Tag, "Creating a tag"),
    (OptionList::NewSeries, "Creating a series"),
    (OptionList::Loan, "Lending a worker id"),
];

/// What all lists have whose calls open a store. The page tells it once.
const SHARED: [&str; 4] = ["user", "password", "only_for_tests", "timeout"];
const OPENING: [OptionList; 3] = [OptionList::Uids, OptionList::Segments, OptionList::Loan];

fn bindings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn page() -> String {
    fs::read_to_string(bindings().join("README.md")).unwrap()
}

fn page_of_options() -> PathBuf {
    bindings().join("options.md")
}

/// Names, each with what it says.
type Options = Vec<(String, String)>;

/// The options of `list` that it shares with others, and those that it has alone.
fn shared_and_own(list: OptionList) -> (Options, Options) {
    options_of(list).into_iter().partition(|(name, _)| SHARED.contains(&&**name))
}

/// The lists of options, as the page has them.
fn options() -> String {
    let mut text = String::new();
    let shared = ("Opening any of these", shared_and_own(OptionList::Uids).0);
    let own = HEADINGS.map(|(list, heading)| (heading, shared_and_own(list).1));
    for (heading, options) in own.into_iter().chain([shared]) {
        write!(text, "## {heading}\n\n").unwrap();
        for (name, help) in options {
            let mut line = format!("* `{name}`:");
            for word in help.split(' ') {
                if line.len() + 1 + word.len() > 100 {
                    writeln!(text, "{line}").unwrap();
                    " ".clone_into(&mut line);
                }
                line.push(' ');
                line.push_str(word);
            }
            writeln!(text, "{line}").unwrap();
        }
        text.push('\n');
    }
    text
}

#[test]
fn series_are_opened_like_segments() {
    let mut segments = options_of(OptionList::Segments);
    segments.retain(|(name, _)| name != "table");
    assert_eq!(segments, options_of(OptionList::Series));
}

#[test]
fn all_that_is_opened_shares_the_options_of_a_store() {
    let [first, others @ ..] = OPENING.map(|list| {
        let mut shared = shared_and_own(list).0;
        shared.sort();
        shared
    });
    assert_eq!(first.len(), SHARED.len());
    assert!(others.iter().all(|other| *other == first), "{others:?}");
}

/// With `UIDRING_WRITE_OPTIONS=1` it writes them instead.
#[test]
fn the_page_has_each_option() {
    let page = fs::read_to_string(page_of_options()).unwrap();
    let (before, _) = page.split_once("## Opening a generator").unwrap_or((&page, ""));
    let made = format!("{before}{}\n", options().trim_end());
    if env::var_os("UIDRING_WRITE_OPTIONS").is_some() {
        fs::write(page_of_options(), made).unwrap();
    } else {
        let hint = "write it anew with UIDRING_WRITE_OPTIONS=1 cargo test -p uidring-bindings";
        assert!(page == made, "{hint}");
    }
}

/// What somebody reads who has the released files, and not the page.
#[test]
fn each_binding_names_each_option() {
    for file in [
        "c/include/uidring.h",
        "java/main/io/uidring/package-info.java",
        "python/python/uidring/__init__.py",
        "go/options.go",
        "node/lib/index.d.ts",
    ] {
        let text = fs::read_to_string(bindings().join(file)).unwrap();
        let words = text.split(|one: char| !one.is_ascii_alphanumeric() && one != '_');
        let words: HashSet<&str> = words.collect();
        for (list, _) in HEADINGS {
            for (name, _) in options_of(list) {
                let name = if file.starts_with("node") { camel(&name) } else { name };
                assert!(words.contains(&*name), "{file} does not name {name}");
            }
        }
    }
}

/// `maxLead` of `max_lead`.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &word[..1].to_uppercase() + &word[1..])
}

#[test]
fn the_page_has_each_kind_of_error() {
    for kind in Kind::ALL {
        assert!(page().contains(&format!("\n| `{}` | ", kind.name())), "{kind:?}");
    }
}

/// Each name in the table of the page is one of each binding.
#[test]
fn the_bindings_have_one_interface() {
    let header = fs::read_to_string(bindings().join("c/include/uidring.h")).unwrap();
    let java = all_in(&bindings().join("java/main"), "java");
    let stubs = all_in(&bindings().join("python/python"), "pyi");
    let page = page();
    let (_, table) = page.split_once("\n| what | C | Java | Python |\n").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let rows = table.lines().skip(1).map(|line| line.split('|').map(str::trim).collect());
    let rows: Vec<Vec<&str>> = rows.collect();
    assert!(rows.len() > 20, "{table}");
    for row in rows {
        for (source, cell, form) in [
            (&header, row[2], "uidring_code NAME("),
            (&java, row[3], " NAME("),
            (&stubs, row[4], "def NAME("),
        ] {
            for name in names(cell) {
                let is_class = name.starts_with(char::is_uppercase);
                let form = if is_class { "class NAME" } else { form };
                assert!(source.contains(&form.replace("NAME", name)), "{name} of {cell}");
            }
        }
    }
}

/// In Go, a name is that of Java with a capital letter, unless the page has another.
#[test]
fn go_has_the_interface_of_java() {
    let go = all_in(&bindings().join("go"), "go");
    assert_has_interface("\n| Java | Go |\n", |java, other| {
        let name = other.map_or_else(
            || {
                let (first, rest) = java.split_at(1);
                first.to_uppercase() + rest
            },
            str::to_owned,
        );
        go.contains(&format!("func {name}(")) || go.contains(&format!(") {name}("))
    });
}

/// In Node.js, a name is that of Java, unless the page has another.
#[test]
fn node_has_the_interface_of_java() {
    let types = fs::read_to_string(bindings().join("node/lib/index.d.ts")).unwrap();
    assert_has_interface("\n| Java | Node.js |\n", |java, other| {
        let name = other.unwrap_or(java).rsplit('.').next().unwrap();
        let forms = [" NAME(", " NAME<", " readonly NAME:", " class NAME "];
        forms.iter().any(|form| types.contains(&form.replace("NAME", name)))
    });
}

/// Fails unless `has` says of each name of Java's, and of the other one that the table after
/// `heading` has for it, that it is there.
fn assert_has_interface(heading: &str, has: impl Fn(&str, Option<&str>) -> bool) {
    let page = page();
    let table_after = |heading: &str| {
        let (_, table) = page.split_once(heading).unwrap();
        let rows: Vec<Vec<String>> = table
            .lines()
            .skip(1)
            .take_while(|line| line.starts_with('|'))
            .map(|line| line.split('|').map(|cell| cell.trim().to_owned()).collect())
            .collect();
        assert!(!rows.is_empty(), "{heading}");
        rows
    };
    let mut others = HashMap::new();
    for row in table_after(heading) {
        let cells = [row[1].split(", "), row[2].split(", ")].map(Iterator::collect::<Vec<_>>);
        assert_eq!(cells[0].len(), cells[1].len(), "{row:?}");
        let pairs = cells[0].iter().copied().map(str::to_owned).zip(cells[1].iter());
        others.extend(pairs.map(|(java, name)| (java, name.trim_matches('`').to_owned())));
    }
    let mut used = 0;
    for row in table_after("\n| what | C | Java | Python |\n") {
        for java in row[3].split(", ") {
            let other = others.get(java);
            used += usize::from(other.is_some());
            let is_there = has(java.trim_matches('`'), other.map(String::as_str));
            assert!(is_there, "{java}, {other:?}");
        }
    }
    assert!(used >= others.len(), "{others:?}");
}

/// The names in a cell, without the class in front and without arguments.
fn names(cell: &str) -> impl Iterator<Item = &str> {
    let names = cell.split(", ").map(|name| name.trim_matches('`'));
    names.map(|name| name.rsplit('.').next().unwrap().split('(').next().unwrap())
}

/// The text of all files in `folder` with this ending.
fn all_in(folder: &Path, ending: &str) -> String {
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let text = |path: PathBuf| match path.extension() {
        _ if path.is_dir() => all_in(&path, ending),
        Some(its) if its == ending => fs::read_to_string(path).unwrap(),
        _ => String::new(),
    };
    files.map(text).collect()
}
