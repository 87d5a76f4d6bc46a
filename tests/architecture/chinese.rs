//! The Chinese pages say what the English ones say: the same code but for comments, the same names
//! in backticks, the same headings.

use std::collections::BTreeSet;
use std::fs;

use super::documents::{root, tracked};
use super::markdown::{blocks, headings, links, names, prose, target};

/// The page that `path` has in Chinese. It is in docs/ or, where docs/ has none, at the same path
/// from the root.
pub fn english_page(path: &str) -> Option<String> {
    if path == "README.zh-CN.md" {
        return Some("README.md".to_owned());
    }
    let below = path.strip_prefix("docs/zh/").filter(|page| *page != "SUMMARY.md")?;
    let in_docs = format!("docs/{below}");
    Some(if root().join(&in_docs).is_file() { in_docs } else { below.to_owned() })
}

/// What begins a comment in a block of this language.
fn comment_marks(language: &str) -> &'static [&'static str] {
    match language.split([',', ' ']).next().unwrap() {
        "sql" => &["-- "],
        "xml" => &["<!-- "],
        "c" | "csharp" | "go" | "java" | "javascript" | "js" | "php" | "rust" | "ts" => {
            &["// ", "/// ", "/** ", "/* ", "* "]
        }
        _ => &["# ", "// "],
    }
}

/// The lines of a block that are not comments alone. What ends a line as a comment is cut off.
fn code(block: &str) -> Vec<String> {
    let (language, text) = block.split_once('\n').unwrap_or((block, ""));
    if language == "mermaid" {
        // A diagram is words.
        return vec![language.to_owned()];
    }
    let marks = comment_marks(language);
    // What a line has before the first mark that stands at its start or after a blank.
    let before = |line: &str| -> Option<usize> {
        let starts = line.char_indices().filter(|&(at, _)| line[..at].ends_with([' ', '\t']));
        let starts = starts.map(|(at, _)| at).chain([0]);
        starts.filter(|&at| marks.iter().any(|mark| line[at..].starts_with(mark))).min()
    };
    let lines = text.lines().filter_map(|line| match before(line) {
        Some(at) if line[..at].trim().is_empty() => None,
        Some(at) => Some(line[..at].trim_end().to_owned()),
        None => Some(line.to_owned()),
    });
    [language.trim().to_owned()].into_iter().chain(lines).collect()
}

/// The first line in which two blocks differ, as each has it.
fn first_difference(english: &[String], chinese: &[String]) -> Option<(String, String)> {
    let line = |lines: &[String], at: usize| lines.get(at).map_or("(its end)", |l| l).to_owned();
    let count = english.len().max(chinese.len());
    let pairs = (0..count).map(|at| (line(english, at), line(chinese, at)));
    pairs.into_iter().find(|(english, chinese)| english != chinese)
}

/// The differences of two sets of names, as "only in English".
fn only_in_one<T: Ord + std::fmt::Debug>(
    what: &str,
    english: &BTreeSet<T>,
    chinese: &BTreeSet<T>,
) -> Vec<String> {
    let sides = [("English", english, chinese), ("Chinese", chinese, english)];
    let only = |(side, here, there): (&str, &BTreeSet<T>, &BTreeSet<T>)| -> Vec<String> {
        here.difference(there).map(|name| format!("{what} only in {side}: {name:?}")).collect()
    };
    sides.map(only).concat()
}

/// What the text of a Chinese page has otherwise than that of the English one.
fn differences(english: &str, chinese: &str) -> Vec<String> {
    let mut found = Vec::new();
    let all = |text: &str| -> Vec<Vec<String>> { blocks(text).into_iter().map(code).collect() };
    let (mut blocks, mut others) = (all(english), all(chinese));
    if blocks.len() != others.len() {
        found.push(format!("{} blocks of code, in English {}", others.len(), blocks.len()));
    }
    // In any order: the Chinese page may begin with Java.
    others.retain(|other| match blocks.iter().position(|block| block == other) {
        Some(at) => {
            blocks.remove(at);
            false
        }
        None => true,
    });
    for (block, other) in blocks.iter().zip(&others) {
        let (line, own) = first_difference(block, other).unwrap();
        found.push(format!("a block has the line `{own}`, in English `{line}`"));
    }
    let (english, chinese) = (prose(english), prose(chinese));
    found.extend(only_in_one("in backticks", &names(&english), &names(&chinese)));
    let levels = |text: &[(usize, &str)]| -> Vec<usize> { text.iter().map(|h| h.0).collect() };
    let (english, chinese) = (headings(&english), headings(&chinese));
    if levels(&english) != levels(&chinese) {
        let outline = |headings: &[(usize, &str)]| -> String {
            let line =
                |&(level, title): &(usize, &str)| format!("\n  {} {title}", "#".repeat(level));
            headings.iter().map(line).collect()
        };
        found.push(format!(
            "other headings:{}\nin English:{}",
            outline(&chinese),
            outline(&english)
        ));
    }
    found
}

#[test]
fn the_chinese_pages_say_the_same() {
    let mut faults = Vec::new();
    for path in tracked(".md") {
        let Some(english) = english_page(&path) else { continue };
        let Ok(text) = fs::read_to_string(root().join(&english)) else {
            faults.push(format!("{path}: there is no {english}"));
            continue;
        };
        let chinese = fs::read_to_string(root().join(&path)).unwrap();
        let found = differences(&text, &chinese);
        faults.extend(found.into_iter().map(|fault| format!("{path}: {fault}")));
    }
    assert!(faults.is_empty(), "Chinese pages that say something else:\n{}", faults.join("\n"));
}

/// A reader of the first page finds all others.
#[test]
fn the_chinese_readme_links_to_the_same_pages() {
    let targets = |page: &str| -> BTreeSet<String> {
        let text = prose(&fs::read_to_string(root().join(page)).unwrap());
        let targets = links(&text).into_iter().filter(|link| !link.contains("://"));
        let targets = targets.map(|link| target(page, link).to_str().unwrap().to_owned());
        // Each leads to the other.
        targets
            .map(|path| english_page(&path).unwrap_or(path))
            .filter(|p| p != "README.md")
            .collect()
    };
    let only = only_in_one("links", &targets("README.md"), &targets("README.zh-CN.md"));
    assert!(only.is_empty(), "README.zh-CN.md:\n{}", only.join("\n"));
}

#[test]
fn a_chinese_page_that_says_something_else_is_seen() {
    let english = "# A\nTake `n`.\n## B\n```java\n// One.\nint a = 1; // two\n * three\n```\n";
    let same = "# 甲\n取 `n`。\n## 乙\n```java\nint a = 1; // 二\n * 三\n```\n";
    assert_eq!(differences(english, same), [""; 0]);
    for (from, to, fault) in [
        ("int a = 1", "int a = 2", "a block has the line `int a = 2;`, in English `int a = 1;`"),
        ("```java\n", "```c\n", "a block has the line `c`, in English `java`"),
        ("`n`", "`m`", "in backticks only in English: \"n\""),
        ("## 乙", "### 乙", "other headings:\n  # 甲\n  ### 乙\nin English:\n  # A\n  ## B"),
    ] {
        let found = differences(english, &same.replace(from, to));
        assert!(found.contains(&fault.to_owned()), "{found:?}");
    }
    let console = |comment: &str| format!("```console\n$ uidring take  # {comment}\n# a\n1\n```\n");
    assert_eq!(differences(&console("one"), &console("一")), [""; 0]);
    let url = |address: &str| format!("```sh\ncurl http://{address}\n```\n");
    assert_eq!(differences(&url("a"), &url("b")).len(), 1);
    assert_eq!(differences("```sh\na\n```\n", "").len(), 1);
    let two = |a: &str, b: &str| format!("```sh\n{a}\n```\n```sh\n{b}\n```\n");
    assert_eq!(differences(&two("a", "b"), &two("b", "a")), [""; 0]);
    assert_eq!(differences(&two("a", "b"), &two("b", "b")).len(), 1);
}
