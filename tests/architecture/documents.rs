//! The documents: README is short, and what documents name is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::markdown::{links, prose};

/// README is read by people who do not know yet whether they want to read more.
const MAX_README_LINES: usize = 220;

/// What everybody reads who changes something. The rest stands beside what it is about.
const MAX_CONTRIBUTING_LINES: usize = 150;

/// Each page has one subject.
const MAX_PAGE_LINES: usize = 250;

/// All pages of the design can be read in an afternoon.
const MAX_DESIGN_WORDS: usize = 12_000;

/// Whoever reads all of the English documents needs a day, and no more.
const MAX_WORDS: usize = 72_000;

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The tracked files whose names end in `end`. A published package has none.
pub fn tracked(end: &str) -> Vec<String> {
    if !root().join(".git").exists() {
        return Vec::new();
    }
    let git = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output().unwrap();
    assert!(git.status.success(), "{}", String::from_utf8_lossy(&git.stderr));
    let paths = String::from_utf8(git.stdout).unwrap();
    let is_there = |path: &&str| path.ends_with(end) && root().join(path).exists();
    paths.split_terminator('\0').filter(is_there).map(str::to_owned).collect()
}

/// The files and folders of this repository that `text` names, such as `tests/take.rs`.
fn named(text: &str) -> Vec<&str> {
    const FOLDERS: [&str; 14] = [
        ".ci",
        "args",
        "benches",
        "bindings",
        "cli",
        "docs",
        "examples",
        "layouts",
        "loom-tests",
        "packaging",
        "server",
        "src",
        "tests",
        "verify",
    ];
    let is_path = |name: &&str| {
        name.split_once('/').is_some_and(|(folder, _)| FOLDERS.contains(&folder))
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "./_-".contains(c))
    };
    text.split('`').skip(1).step_by(2).filter(is_path).collect()
}

/// What lies at the root: the first thing that a visitor sees.
const ROOT: [&str; 33] = [
    ".cargo",
    ".ci",
    ".github",
    ".gitignore",
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "README.zh-CN.md",
    "SECURITY.md",
    "args",
    "benches",
    "bindings",
    "cli",
    "clippy.toml",
    "docs",
    "examples",
    "justfile",
    "layouts",
    "loom-tests",
    "packaging",
    "rustfmt.toml",
    "schema.mysql.sql",
    "schema.postgres.sql",
    "schema.sql",
    "server",
    "src",
    "tests",
    "verify",
];

#[test]
fn the_root_has_the_entries_that_are_listed() {
    let paths = tracked("");
    if paths.is_empty() {
        return;
    }
    let found: BTreeSet<&str> = paths.iter().map(|path| path.split('/').next().unwrap()).collect();
    let listed = BTreeSet::from(ROOT);
    assert_eq!(
        found, listed,
        "the root's entries: put a proof into verify/, a page into docs/, and list here what has \
         to lie at the root"
    );
}

#[test]
fn the_pages_that_everybody_reads_are_short() {
    for (page, most) in
        [("README.md", MAX_README_LINES), ("CONTRIBUTING.md", MAX_CONTRIBUTING_LINES)]
    {
        let lines = fs::read_to_string(root().join(page)).unwrap().lines().count();
        assert!(lines <= most, "{page} has {lines} lines, and may have {most}");
    }
}

/// The pages of the design, by name.
fn design() -> Vec<(String, String)> {
    let entries = fs::read_dir(root().join("docs/design")).unwrap();
    let mut pages: Vec<_> = entries
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(&path).unwrap())
        })
        .collect();
    pages.sort();
    pages
}

#[test]
fn the_pages_of_the_design_are_short() {
    let pages = design();
    for (name, text) in &pages {
        let lines = text.lines().count();
        assert!(lines <= MAX_PAGE_LINES, "docs/design/{name} has {lines} lines");
    }
    let words: usize = pages.iter().map(|(_, text)| text.split_whitespace().count()).sum();
    assert!(words <= MAX_DESIGN_WORDS, "docs/design has {words} words");
}

#[test]
fn all_documents_together_are_short() {
    let is_chinese = |path: &str| path.contains("zh-CN") || path.starts_with("docs/zh/");
    let pages = tracked(".md").into_iter().filter(|path| !is_chinese(path));
    let count = |path| fs::read_to_string(root().join(path)).unwrap().split_whitespace().count();
    let words: usize = pages.map(count).sum();
    assert!(words <= MAX_WORDS, "the English documents have {words} words: tell each thing once");
}

#[test]
fn each_page_of_the_design_is_in_its_index_and_in_the_documentation() {
    let index = fs::read_to_string(root().join("docs/design/README.md")).unwrap();
    let lib = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    for (name, _) in design() {
        assert!(name == "README.md" || links(&index).contains(&name.as_str()), "{name}");
        assert!(lib.contains(&format!("../docs/design/{name}\"")), "src/lib.rs lacks {name}");
    }
}

/// A page of these folders has one subject, and says first for whom it is.
#[test]
fn pages_of_one_subject_are_short_and_say_for_whom_they_are() {
    for folder in ["docs/operations/", "docs/migration/"] {
        let index = fs::read_to_string(root().join(folder).join("README.md"));
        // A published package has neither.
        let Ok(index) = index else { continue };
        let pages = tracked(".md").into_iter();
        for page in pages.filter_map(|path| Some(path.strip_prefix(folder)?.to_owned())) {
            let text = fs::read_to_string(root().join(folder).join(&page)).unwrap();
            let lines = text.lines().count();
            assert!(lines <= MAX_PAGE_LINES, "{folder}{page} has {lines} lines");
            let first = text.split("\n\n").nth(1).unwrap();
            let says = ["This page is for ", "These pages are for "];
            assert!(says.iter().any(|begin| first.starts_with(begin)), "{folder}{page}: {first}");
            let is_listed = links(&index).contains(&page.as_str());
            assert!(page == "README.md" || is_listed, "{folder}README.md lacks {page}");
        }
    }
}

/// The tracked folders in `folder` that `map` does not name as `name/`, with what is before
/// the name in `prefix`.
fn unmapped(map: &str, folder: &str, prefix: &str) -> BTreeSet<String> {
    let files = tracked("");
    let inside = files.iter().filter_map(|path| path.strip_prefix(folder)?.split_once('/'));
    let names = inside.map(|(name, _)| name).filter(|name| !name.starts_with('.'));
    let names = names.filter(|name| !map.contains(&format!("`{prefix}{name}/")));
    names.map(|name| format!("{folder}{name}")).collect()
}

/// That each file which the map names is there is seen by `files_that_documents_name_exist`.
#[test]
fn the_map_has_each_folder_of_the_library_and_of_the_repository() {
    let map = fs::read_to_string(root().join("docs/design/map.md")).unwrap();
    let mut missing = unmapped(&map, "", "");
    missing.extend(unmapped(&map, "src/", "src/"));
    // The modules of a module are named beside it.
    for module in ["src/segment/", "src/series/"] {
        missing.extend(unmapped(&map, module, ""));
    }
    assert!(missing.is_empty(), "folders that docs/design/map.md does not name: {missing:#?}");
}

/// The address of the project is set in one place.
#[test]
fn versions_in_the_changelog_link_to_the_repository() {
    let read = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let (manifest, log) = (read("Cargo.toml"), read("CHANGELOG.md"));
    let address = |key: &str| {
        let line = manifest.lines().find_map(|line| line.strip_prefix(key)).unwrap();
        line.trim_matches('"').to_owned()
    };
    let repository = address("repository = ");
    assert_eq!(address("homepage = "), repository);
    let versions = log.lines().filter_map(|line| line.strip_prefix("## ["));
    let mut count = 0;
    for version in versions.map(|line| line.split(']').next().unwrap()) {
        let link = format!("\n[{version}]: {repository}/");
        assert!(log.contains(&link), "CHANGELOG.md lacks the link{link}");
        count += 1;
    }
    assert!(count > 0);
}

#[test]
fn files_that_documents_name_exist() {
    let mut missing = Vec::new();
    for path in tracked(".md") {
        let text = prose(&fs::read_to_string(root().join(&path)).unwrap());
        let names = named(&text).into_iter().filter(|name| !root().join(name).exists());
        missing.extend(names.map(|name| format!("{path}: {name}")));
    }
    assert!(missing.is_empty(), "files that are not there:\n{}", missing.join("\n"));
}

/// Whoever is called by an alert finds its name there, in the order of the rules.
#[test]
fn each_alert_has_a_chapter_that_says_what_to_do() {
    let read = |name: &str| fs::read_to_string(root().join(name));
    // A published package has no service.
    let Ok(rules) = read("server/deploy/alerts.yml") else { return };
    let page = read("docs/operations/alerts.md").unwrap();
    let alerts: Vec<&str> =
        rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    let headings: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert!(!alerts.is_empty());
    assert_eq!(headings, alerts);
    // And by its link, which leads to the heading.
    let links = rules.lines().filter_map(|line| line.split_once("docs/operations/alerts.md#"));
    let links: Vec<&str> = links.map(|(_, heading)| heading.trim_end_matches('"')).collect();
    let names: Vec<String> = alerts.iter().map(|alert| alert.to_lowercase()).collect();
    assert_eq!(links, names);
}

#[test]
fn readme_asks_for_features_that_there_are() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let (_, rest) = readme.split_once("cargo add uidring --features ").unwrap();
    for feature in rest.split_whitespace().next().unwrap().split(',') {
        let is_there = manifest.lines().any(|line| line.starts_with(&format!("{feature} = [")));
        assert!(is_there, "README.md asks for the feature {feature}");
    }
}

#[test]
fn readme_installs_this_version() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let (_, block) = readme.split_once("## Install\n\n```sh\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    let files: Vec<&str> = block
        .split_whitespace()
        .map(|word| word.trim_start_matches("./"))
        .filter(|word| word.starts_with("uidring") && word.contains('.'))
        .collect();
    assert_eq!(files.len(), 5, "{files:?}");
    for file in files {
        let is_version = |part: &&str| part.starts_with(|c: char| c.is_ascii_digit());
        let version = file.split(['-', '_']).find(is_version);
        assert_eq!(version, Some(env!("CARGO_PKG_VERSION")), "{file}");
    }
}

#[test]
fn a_wrong_name_is_seen() {
    assert_eq!(named("`tests/x.rs`, `take`, tests/y.rs"), ["tests/x.rs"]);
}
