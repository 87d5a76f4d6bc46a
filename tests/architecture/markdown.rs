//! What the rules of documents read in a page.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// `text` without its blocks of code.
pub fn prose(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

/// The blocks of code, each with the language in its first line.
pub fn blocks(text: &str) -> Vec<&str> {
    text.split("```").skip(1).step_by(2).collect()
}

/// What stands in backticks in `prose`, with single blanks where a line ends.
pub fn names(prose: &str) -> BTreeSet<String> {
    let inside = prose.split('`').skip(1).step_by(2);
    inside.map(|name| name.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// The targets of links such as `[text](target)` and `[text]: target`.
pub fn links(text: &str) -> Vec<&str> {
    let inline = text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
    let by_name =
        text.lines().filter_map(|line| Some(line.strip_prefix('[')?.split_once("]: ")?.1));
    inline.chain(by_name).collect()
}

/// The level and the title of each heading of `prose`.
pub fn headings(prose: &str) -> Vec<(usize, &str)> {
    let headings = prose.lines().filter_map(|line| line.split_once("# "));
    let headings = headings.filter(|(level, _)| level.chars().all(|c| c == '#'));
    headings.map(|(level, title)| (level.len() + 1, title)).collect()
}

/// The anchors that GitHub and mdBook make of the headings.
pub fn anchors(prose: &str) -> BTreeSet<String> {
    let anchor = |title: &str| -> String {
        let kept = title.to_lowercase().replace(' ', "-");
        kept.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect()
    };
    let mut seen = BTreeMap::new();
    let mut own = |anchor: String| {
        let count = seen.entry(anchor.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { anchor } else { format!("{anchor}-{}", *count - 1) }
    };
    headings(prose).into_iter().map(|(_, title)| own(anchor(title))).collect()
}

/// `path` without `.` and `..`.
pub fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::ParentDir => {
                assert!(plain.pop(), "{} leaves the repository", path.display());
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
        plain
    })
}

/// The path from the root of what the page at `path` links to.
pub fn target(path: &str, link: &str) -> PathBuf {
    match link.split('#').next().unwrap() {
        "" => PathBuf::from(path),
        file => plain(&Path::new(path).parent().unwrap().join(file)),
    }
}

#[test]
fn links_names_and_anchors_are_read() {
    let text =
        "# A heading, *here*\n[a](b.md#c), `take\nn`\n```\n[no](x)\n```\n[d]: e\n## B\n## B\n";
    let prose = prose(text);
    assert_eq!(links(&prose), ["b.md#c", "e"]);
    assert_eq!(names(&prose), BTreeSet::from(["take n".to_owned()]));
    let expected = ["a-heading-here", "b", "b-1"].map(str::to_owned);
    assert_eq!(anchors(&prose), BTreeSet::from(expected));
    assert_eq!(headings(&prose), [(1, "A heading, *here*"), (2, "B"), (2, "B")]);
    assert_eq!(blocks(text), ["\n[no](x)\n"]);
    assert_eq!(plain(Path::new("server/../README.md")), Path::new("README.md"));
    assert_eq!(target("docs/a.md", "../b.md#c"), Path::new("b.md"));
    assert_eq!(target("docs/a.md", "#c"), Path::new("docs/a.md"));
}
