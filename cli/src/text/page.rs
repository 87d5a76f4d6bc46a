//! How a page looks: its colours, its width, its lines and rows.

use std::env;
use std::fmt;

use anstyle::{AnsiColor, Style};
use console::{Term, measure_text_width};
use indicatif::HumanCount;
use uidring_args::visible;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const RED: Style = AnsiColor::Red.on_default();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default();
/// The three fields have the same colours everywhere.
pub(crate) const TIME: Style = AnsiColor::Cyan.on_default();
pub(crate) const WORKER: Style = AnsiColor::Magenta.on_default();
pub(crate) const SEQUENCE: Style = AnsiColor::Green.on_default();

/// The width of the pages on standard output: that of the terminal. Elsewhere it is `COLUMNS`, or
/// there is no limit, as programs that look for a line want it whole.
pub(crate) fn columns() -> usize {
    columns_of(&Term::stdout())
}

/// The width of what is said on standard error.
pub(crate) fn error_columns() -> usize {
    columns_of(&Term::stderr())
}

fn columns_of(term: &Term) -> usize {
    let shown = term.size_checked().map(|(_, columns)| columns.into());
    let named = || env::var("COLUMNS").ok()?.parse().ok();
    shown.or_else(named).unwrap_or(usize::MAX)
}

/// `text` with its long lines broken between words. The rest of a line is indented as the line is,
/// and by `indent` more. Commands stay as they are: [`command`](crate::text::command) has
/// broken them where a shell allows it.
pub(crate) fn folded(text: &str, columns: usize, indent: usize) -> String {
    let mut folded = String::new();
    let mut is_command = false;
    for line in text.split_inclusive('\n') {
        let goes_on = is_command && folded.ends_with("\\\n");
        is_command = goes_on || line.starts_with("  uidring ");
        if is_command || measure_text_width(line.trim_end()) <= columns {
            folded += line;
            continue;
        }
        let indent = indent + line.len() - line.trim_start_matches(' ').len();
        let mut column = 0;
        for word in line.split_inclusive(' ') {
            if column > indent && column + measure_text_width(word.trim_end()) > columns {
                folded.truncate(folded.trim_end_matches(' ').len());
                folded += "\n";
                folded += &" ".repeat(indent);
                column = indent;
            }
            folded += word;
            column += measure_text_width(word);
        }
    }
    folded
}

/// `text` in `style`.
pub(crate) fn paint(style: Style, text: impl fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// A sentence, which may have texts of others, in lines that fit on standard output.
pub(crate) fn paragraph(sentence: &str) -> String {
    lines(&visible(sentence))
}

/// `text` in lines that fit on standard output. It may have several lines, and colours.
pub(crate) fn lines(text: &str) -> String {
    folded(text, columns(), 0) + "\n"
}

/// A remark below a page, which may have texts of others.
pub(crate) fn footnote(sentence: &str) -> String {
    paint(DIM, folded(&visible(sentence), columns(), 0)) + "\n"
}

/// The remark below a list of `rows` that shows only some of them, if it does.
pub(crate) fn hidden(rows: u64, shown: u64) -> String {
    match rows.saturating_sub(shown) {
        0 => String::new(),
        hidden => footnote(&format!("and {} older; --last {rows} shows all", HumanCount(hidden))),
    }
}

/// A line of a page: a name that fills a column of `WIDTH`, and what is said about it, in one line
/// or several.
pub(crate) fn row<const WIDTH: usize>(name: &str, style: Style, text: impl fmt::Display) -> String {
    folded(&unfolded_row::<WIDTH>(name, style, text), columns(), WIDTH + 2)
}

/// The same, for what is folded later.
pub(crate) fn unfolded_row<const WIDTH: usize>(
    name: &str,
    style: Style,
    text: impl fmt::Display,
) -> String {
    format!("{}  {text}\n", paint(style, format_args!("{name:<WIDTH$}")))
}

/// `part` of `all` as a bar of `width`: of the first sign where it is full, else of the other.
pub(crate) fn gauge(signs: [&str; 2], width: usize, part: u128, all: u128, style: Style) -> String {
    let full = usize::try_from(width as u128 * part / all.max(1)).unwrap_or(width).min(width);
    paint(style, signs[0].repeat(full)) + &paint(DIM, signs[1].repeat(width - full))
}

#[cfg(test)]
mod tests {
    use super::{folded, gauge};
    use anstyle::Style;

    #[test]
    fn lines_are_folded_between_words() {
        assert_eq!(folded("one two three\nfour\n", 13, 2), "one two three\nfour\n");
        assert_eq!(folded("one two three\nfour\n", 9, 2), "one two\n  three\nfour\n");
        assert_eq!(folded("  a   bc defghijkl m", 6, 1), "  a\n   bc\n   defghijkl\n   m");
        let command = "so:\n  uidring take \\\n    --tag 'a b c d e f g h'\n";
        assert_eq!(folded(command, 9, 0), command);
        assert_eq!(
            folded(&format!("{command}a b c d e f g"), 9, 0),
            format!("{command}a b c d e\nf g")
        );
        assert_eq!(folded("\u{1b}[31mred red\u{1b}[0m", 7, 0), "\u{1b}[31mred red\u{1b}[0m");
    }

    #[test]
    fn a_gauge_is_full_at_the_limit() {
        let gauges = [0, 1, 2, 4, 28].map(|part| gauge(["#", "-"], 2, part, 4, Style::new()));
        let texts = gauges.map(|gauge| anstream::adapter::strip_str(&gauge).to_string());
        assert_eq!(texts, ["--", "--", "#-", "##", "##"]);
    }
}
