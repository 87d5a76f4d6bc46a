//! Aligned columns.

use std::borrow::Cow;
use std::fmt;
use std::iter;

use anstyle::Style;
use console::{Alignment, measure_text_width, pad_str};
use uidring_args::visible;

use crate::text::{self, DIM, paint};

/// The space between two columns.
const GAP: &str = "  ";

/// Rows of texts under headings. Each column is as wide as its widest text, and a column without
/// any text is left out. The columns that do not fit beside the others follow below, with the first
/// column once more, in the rows that have something there. Where one does not fit beside the
/// first, each row becomes a list.
#[derive(Debug)]
pub(crate) struct Table<const N: usize> {
    columns: [Column; N],
    rows: Vec<[String; N]>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    heading: &'static str,
    style: Style,
    alignment: Alignment,
    is_painted: bool,
}

impl Column {
    /// Texts, flush left.
    pub(crate) fn text(heading: &'static str, style: Style) -> Column {
        Column { heading, style, alignment: Alignment::Left, is_painted: false }
    }

    /// Numbers, flush right.
    pub(crate) fn number(heading: &'static str, style: Style) -> Column {
        Column { heading, style, alignment: Alignment::Right, is_painted: false }
    }

    /// The texts of this column come with colours, and so none of them is one of others.
    pub(crate) fn painted(self) -> Column {
        Column { is_painted: true, ..self }
    }

    fn plain(self) -> Column {
        Column { style: Style::new(), ..self }
    }

    /// The `text` of a row. It may be one of others.
    fn escaped(&self, text: String) -> String {
        match visible(&text) {
            Cow::Owned(visible) if !self.is_painted => visible,
            _ => text,
        }
    }
}

impl<const N: usize> Table<N> {
    pub(crate) fn new(columns: [Column; N]) -> Table<N> {
        Table { columns, rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, row: [String; N]) {
        self.rows.push(escaped(&self.columns, row));
    }

    /// The width of the widest text in a column; 0 where there is none.
    fn width(&self, column: usize) -> usize {
        let widest = self.rows.iter().map(|row| measure_text_width(&row[column])).max();
        match widest.unwrap_or(0) {
            0 => 0,
            widest => widest.max(self.columns[column].heading.len()),
        }
    }
}

impl<const N: usize> Table<N> {
    /// The columns that have texts, with their widths, in blocks of at most so many characters.
    fn blocks(&self, columns: usize) -> Vec<Vec<(usize, usize)>> {
        let shown = (0..N).map(|index| (index, self.width(index))).filter(|(_, width)| *width > 0);
        let mut blocks: Vec<Vec<(usize, usize)>> = Vec::new();
        let mut used = 0;
        for (index, width) in shown {
            match blocks.last_mut() {
                Some(block) if used + GAP.len() + width <= columns || block.len() == 1 => {
                    used += GAP.len() + width;
                    block.push((index, width));
                }
                None => {
                    used = width;
                    blocks.push(vec![(index, width)]);
                }
                Some(block) => {
                    let first = block[0];
                    used = first.1 + GAP.len() + width;
                    blocks.push(vec![first, (index, width)]);
                }
            }
        }
        blocks
    }

    fn block(&self, columns: &[(usize, usize)]) -> String {
        let has_text =
            |row: &&[String; N]| columns[1..].iter().any(|&(index, _)| !row[index].is_empty());
        let rows = self.rows.iter().filter(|row| columns.len() == 1 || has_text(row));
        let lines = rows.map(|row| line(&self.columns, columns, row));
        iter::once(headings(&self.columns, columns)).chain(lines).collect()
    }

    fn text(&self, columns: usize) -> String {
        let blocks = self.blocks(columns);
        let fits = |block: &Vec<(usize, usize)>| total(block) <= columns;
        if blocks.iter().all(fits) {
            blocks.iter().map(|block| self.block(block)).collect::<Vec<_>>().join("\n")
        } else {
            self.lists(columns)
        }
    }

    /// Each row as a list of its texts under the first, with the headings before them.
    fn lists(&self, columns: usize) -> String {
        let shown: Vec<usize> = (0..N).filter(|&index| self.width(index) > 0).collect();
        let [first, rest @ ..] = &shown[..] else { return String::new() };
        let widest = rest.iter().map(|&index| self.columns[index].heading.len()).max();
        let width = widest.unwrap_or(0);
        let mut lists = String::new();
        for row in &self.rows {
            lists += &(painted(self.columns[*first].style, &row[*first]) + "\n");
            for &index in rest.iter().filter(|&&index| !row[index].is_empty()) {
                let Column { heading, style, .. } = self.columns[index];
                let text = painted(style, &row[index]);
                if 2 + width + 2 + measure_text_width(&text) <= columns {
                    let heading = paint(DIM, format_args!("{heading:<width$}"));
                    lists = lists + "  " + &heading + "  " + &text + "\n";
                } else {
                    lists = lists + "  " + &paint(DIM, heading) + "\n";
                    lists += &text::folded(&format!("    {text}\n"), columns, 0);
                }
            }
        }
        lists
    }
}

fn escaped<const N: usize>(columns: &[Column; N], row: [String; N]) -> [String; N] {
    let mut columns = columns.iter();
    row.map(|text| columns.next().map_or_else(String::new, |column| column.escaped(text)))
}

/// The width of columns, each with its own.
fn total(columns: &[(usize, usize)]) -> usize {
    columns.iter().map(|(_, width)| GAP.len() + width).sum::<usize>().saturating_sub(GAP.len())
}

fn headings<const N: usize>(columns: &[Column; N], shown: &[(usize, usize)]) -> String {
    padded(columns, shown, |index| painted(DIM, columns[index].heading))
}

fn line<const N: usize>(
    columns: &[Column; N],
    shown: &[(usize, usize)],
    row: &[String; N],
) -> String {
    padded(columns, shown, |index| painted(columns[index].style, &row[index]))
}

/// Colours around nothing would keep the spaces at the end of a line.
fn painted(style: Style, text: &str) -> String {
    if text.is_empty() { String::new() } else { paint(style, text) }
}

/// A line of the columns `shown`, each with its width.
fn padded<const N: usize>(
    columns: &[Column; N],
    shown: &[(usize, usize)],
    text: impl Fn(usize) -> String,
) -> String {
    let cells = shown.iter().map(|&(index, width)| {
        pad_str(&text(index), width, columns[index].alignment, None).into_owned()
    });
    cells.collect::<Vec<_>>().join(GAP).trim_end().to_owned() + "\n"
}

/// A table whose rows are not known yet: the columns have widths from the beginning. There may be
/// millions of rows, so that none gets colours that are taken out again.
#[derive(Debug)]
pub(crate) struct Stream<const N: usize> {
    columns: [Column; N],
    /// The lines that a row takes, each with its columns.
    lines: Vec<Vec<(usize, usize)>>,
}

impl<const N: usize> Stream<N> {
    /// A column with the width 0 is left out. If the others do not fit, those in `less` are left
    /// out too, one after the other. If that is not enough, a row goes on in further lines.
    pub(crate) fn new(columns: [Column; N], widths: [usize; N], less: &[usize]) -> Stream<N> {
        let wide =
            |(index, width): (usize, usize)| (index, width.max(columns[index].heading.len()));
        let shown = widths.into_iter().enumerate().filter(|(_, width)| *width > 0).map(wide);
        let mut shown: Vec<_> = shown.collect();
        let most = text::columns();
        for column in less {
            if total(&shown) > most {
                shown.retain(|(index, _)| index != column);
            }
        }
        let mut lines: Vec<Vec<(usize, usize)>> = Vec::new();
        for column in shown {
            match lines.last_mut() {
                Some(line) if GAP.len() + total(line) + GAP.len() + column.1 <= most => {
                    line.push(column);
                }
                _ => lines.push(vec![column]),
            }
        }
        let columns = if text::has_colours() { columns } else { columns.map(Column::plain) };
        Stream { columns, lines }
    }

    pub(crate) fn headings(&self) -> String {
        self.lines(|shown| headings(&self.columns, shown))
    }

    pub(crate) fn line(&self, row: [String; N]) -> String {
        let row = escaped(&self.columns, row);
        self.lines(|shown| line(&self.columns, shown, &row))
    }

    /// The lines of a row. Those after the first are indented, and left out where they are empty.
    fn lines(&self, line: impl Fn(&[(usize, usize)]) -> String) -> String {
        let lines = self.lines.iter().map(|shown| line(shown)).enumerate();
        let lines = lines.filter(|(index, line)| *index == 0 || line != "\n");
        lines.map(|(index, line)| if index == 0 { line } else { GAP.to_owned() + &line }).collect()
    }
}

impl<const N: usize> fmt::Display for Table<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(text::columns()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Column, Stream, Table};
    use anstyle::Style;

    #[test]
    fn columns_are_as_wide_as_their_widest_text() {
        let plain = Style::new();
        let mut table = Table::new([
            Column::text("a", plain),
            Column::number("number", plain),
            Column::text("b", plain),
        ]);
        table.row(["wide text".into(), "7".into(), String::new()]);
        table.row([String::new(), "12345678".into(), "x".into()]);
        let lines: Vec<String> = table
            .to_string()
            .lines()
            .map(|line| anstream::adapter::strip_str(line).to_string())
            .collect();
        assert_eq!(
            lines,
            ["a            number  b", "wide text         7", "           12345678  x"]
        );
    }

    #[test]
    fn a_text_of_others_is_as_wide_as_its_escapes() {
        let columns = ["name", "of"].map(|heading| Column::text(heading, Style::new()));
        let rows = [["\u{1b}[2J\n", "a"], ["orders", "\u{202e}b"]];
        let rows = rows.map(|row| row.map(str::to_owned));
        let expected = ["name         of\n", "\\u{1b}[2J\\n  a\n", "orders       \\u{202e}b\n"];
        let mut table = Table::new(columns);
        for row in rows.clone() {
            table.row(row);
        }
        let plain = |page: String| anstream::adapter::strip_str(&page).to_string();
        assert_eq!(plain(table.to_string()), expected.concat());
        let stream = Stream::new(columns, [11, 9], &[]);
        let lines = rows.map(|row| stream.line(row)).concat();
        assert_eq!(plain(stream.headings() + &lines), expected.concat());
    }

    #[test]
    fn a_column_without_a_text_is_left_out() {
        let plain = Style::new();
        let mut table =
            Table::new(["a", "nothing", "b"].map(|heading| Column::text(heading, plain)));
        table.row(["x".into(), String::new(), "y".into()]);
        assert_eq!(anstream::adapter::strip_str(&table.to_string()).to_string(), "a  b\nx  y\n");
    }

    #[test]
    fn columns_that_do_not_fit_follow_below() {
        let plain = Style::new();
        let mut table =
            Table::new(["id", "one", "two", "three"].map(|heading| Column::text(heading, plain)));
        table.row(["1", "a", "bbbbbb", "cc"].map(str::to_owned));
        table.row(["2", "d", "", ""].map(str::to_owned));
        let text = |columns| anstream::adapter::strip_str(&table.text(columns)).to_string();
        assert_eq!(text(22), "id  one  two     three\n1   a    bbbbbb  cc\n2   d\n");
        assert_eq!(text(21), "id  one  two\n1   a    bbbbbb\n2   d\n\nid  three\n1   cc\n");
        assert_eq!(text(10), "id  one\n1   a\n2   d\n\nid  two\n1   bbbbbb\n\nid  three\n1   cc\n");
        // "id", "two" and "bbbbbb" do not fit.
        let list = "1\n  one\n    a\n  two\n    bbbbbb\n  three\n    cc\n2\n  one\n    d\n";
        assert_eq!(text(9), list);
        let mut table = Table::new(["tag", "next"].map(|heading| Column::text(heading, plain)));
        table.row(["of all shops", "9223372036854775807"].map(str::to_owned));
        let text = |columns| anstream::adapter::strip_str(&table.text(columns)).to_string();
        assert_eq!(text(32), "of all shops\n  next  9223372036854775807\n");
        assert!(text(33).starts_with("tag           next\n"));
    }
}
