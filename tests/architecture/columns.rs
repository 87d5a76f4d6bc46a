//! No line of the repository has more than 100 columns: rustfmt does not look at comments, strings
//! and documents.

use std::fs;

use super::documents::{root, tracked};

const MAX_COLUMNS: usize = 100;
/// Generated files. The licences are exempt too: their lines are not ours to break. Grafana's have
/// one query a line.
const EXEMPT: [&str; 5] = ["Cargo.lock", "go.sum", ".svg", "grafana.json", "package-lock.json"];

fn is_exempt(path: &str) -> bool {
    let is_generated = EXEMPT.iter().any(|end| path.ends_with(end));
    // Inputs of the fuzz targets need not be texts.
    is_generated
        || path.contains("proptest-regressions/")
        || ["LICENSE-", "verify/fuzz/corpus/"].iter().any(|start| path.starts_with(start))
}

/// The lines of `text` that are too long, each with its number and its characters.
fn long_lines(text: &str) -> Vec<(usize, usize)> {
    let columns = text.lines().map(|line| line.chars().count()).zip(1..);
    columns.filter(|(columns, _)| *columns > MAX_COLUMNS).map(|(n, line)| (line, n)).collect()
}

#[test]
fn no_line_is_over_100_columns() {
    let paths = tracked("");
    if paths.is_empty() {
        return;
    }
    let (mut files, mut found) = (0, Vec::new());
    for path in paths.iter().filter(|path| !is_exempt(path)) {
        let text = fs::read_to_string(root().join(path)).unwrap();
        files += 1;
        let lines = long_lines(&text);
        found.extend(lines.iter().map(|(line, columns)| format!("{path}:{line}: {columns}")));
    }
    assert!(files > 50, "where are they? {files} files");
    assert!(found.is_empty(), "{} lines are too long:\n{}", found.len(), found.join("\n"));
}

#[test]
fn a_long_line_is_seen_by_its_characters() {
    let full = "─".repeat(MAX_COLUMNS);
    assert_eq!(long_lines(&full), []);
    assert_eq!(long_lines(&format!("short\n{full}x\n{full}\n")), [(2, 101)]);
    assert!(is_exempt("LICENSE-MIT") && is_exempt("docs/benchmarks/against.svg"));
    assert!(!is_exempt("src/lib.rs"));
}
