//! The book: its tables of contents, its pages, its links. `docs/book/build` makes it.

use std::collections::BTreeSet;
use std::fs;

use super::chinese::english_page;
use super::documents::{root, tracked};
use super::markdown::{anchors, links, prose, target};

/// A page has one subject, and is read in ten minutes.
const MAX_LINES: usize = 250;

const CONTENTS: &str = "docs/SUMMARY.md";
const CHINESE_CONTENTS: &str = "docs/zh/SUMMARY.md";

/// What the Chinese table of contents says of a page that is in English.
const IN_ENGLISH: &str = "（英文）";

/// The titles and the paths of the pages that a table of contents names, in its order.
fn contents(path: &str) -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join(path)).unwrap();
    let entries = text.lines().filter_map(|line| {
        let (title, rest) =
            line.trim_start_matches([' ', '-']).strip_prefix('[')?.split_once("](")?;
        Some((title.to_owned(), rest.strip_suffix(')')?))
    });
    let path_of = |link: &str| target(path, link).to_str().unwrap().to_owned();
    entries.map(|(title, link)| (title, path_of(link))).collect()
}

/// Which of `wanted` a table of contents lacks, and which of its pages are not there or come twice.
fn faults(path: &str, wanted: &[String]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut named = BTreeSet::new();
    for (title, page) in contents(path) {
        if !root().join(&page).is_file() {
            faults.push(format!("{path} names {page}, which is not there"));
        }
        if title.is_empty() || !named.insert(page.clone()) {
            faults.push(format!("{path} names {page} without a title, or twice"));
        }
    }
    let missing = wanted.iter().filter(|page| !named.contains(*page));
    faults.extend(missing.map(|page| format!("{path} lacks {page}: add a line for it")));
    faults
}

fn is_chinese(page: &str) -> bool {
    english_page(page).is_some()
}

#[test]
fn each_page_of_docs_is_in_the_table_of_contents() {
    let mut pages = tracked(".md");
    if pages.is_empty() {
        return;
    }
    pages.retain(|page| page.starts_with("docs/") && page != CONTENTS && page != CHINESE_CONTENTS);
    let (chinese, english): (Vec<String>, Vec<String>) =
        pages.into_iter().partition(|page| is_chinese(page));
    let mut faults = [faults(CONTENTS, &english), faults(CHINESE_CONTENTS, &chinese)].concat();
    let translated: BTreeSet<_> = chinese.iter().filter_map(|page| english_page(page)).collect();
    for (title, page) in contents(CHINESE_CONTENTS) {
        if translated.contains(&page) {
            faults.push(format!("{CHINESE_CONTENTS} names {page}, which there is in Chinese"));
        }
        if is_chinese(&page) == title.ends_with(IN_ENGLISH) {
            faults.push(format!(
                "{CHINESE_CONTENTS}: only titles in English end in {IN_ENGLISH}: {title}"
            ));
        }
    }
    assert!(faults.is_empty(), "the book's tables of contents:\n{}", faults.join("\n"));
}

#[test]
fn each_page_is_short() {
    let lines = |path: &str| fs::read_to_string(root().join(path)).unwrap().lines().count();
    let pages = tracked(".md").into_iter().map(|path| (lines(&path), path));
    let long: Vec<_> = pages.filter(|(lines, _)| *lines > MAX_LINES).collect();
    assert!(long.is_empty(), "split a page by its subjects at {MAX_LINES} lines: {long:#?}");
}

#[test]
fn links_lead_somewhere() {
    let mut broken = Vec::new();
    for path in tracked(".md") {
        let text = fs::read_to_string(root().join(&path)).unwrap();
        for link in links(&prose(&text)).into_iter().filter(|link| !link.contains("://")) {
            let file = root().join(target(&path, link));
            let is_there = match link.split_once('#') {
                None => file.exists(),
                Some((_, anchor)) => fs::read_to_string(file)
                    .is_ok_and(|text| anchors(&prose(&text)).contains(anchor)),
            };
            if !is_there {
                broken.push(format!("{path}: {link}"));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}
