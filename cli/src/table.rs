//! Aligned columns.

use std::fmt;
use std::iter;

use anstyle::Style;
use console::{Alignment, measure_text_width, pad_str};

use crate::output::{self, DIM, paint};

/// The space between two columns.
const GAP: &str = "  ";

/// Rows of texts under headings. Each column is as wide as its widest text, and a column without
/// any text is left out. The columns that do not fit beside the others follow below, with the first
/// column once more, in the rows that have something there.
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
}

impl Column {
    /// Texts, flush left.
    pub(crate) fn text(heading: &'static str, style: Style) -> Column {
        Column { heading, style, alignment: Alignment::Left }
    }

    /// Numbers, flush right.
    pub(crate) fn number(heading: &'static str, style: Style) -> Column {
        Column { heading, style, alignment: Alignment::Right }
    }
}

impl<const N: usize> Table<N> {
    pub(crate) fn new(columns: [Column; N]) -> Table<N> {
        Table { columns, rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, row: [String; N]) {
        self.rows.push(row);
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
        blocks.iter().map(|block| self.block(block)).collect::<Vec<_>>().join("\n")
    }
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

/// A table whose rows are not known yet: the columns have widths from the beginning.
#[derive(Debug)]
pub(crate) struct Stream<const N: usize> {
    columns: [Column; N],
    shown: Vec<(usize, usize)>,
}

impl<const N: usize> Stream<N> {
    /// A column with the width 0 is left out. If the others do not fit, those in `less` are left
    /// out too, one after the other.
    pub(crate) fn new(columns: [Column; N], widths: [usize; N], less: &[usize]) -> Stream<N> {
        let wide =
            |(index, width): (usize, usize)| (index, width.max(columns[index].heading.len()));
        let shown = widths.into_iter().enumerate().filter(|(_, width)| *width > 0).map(wide);
        let mut shown: Vec<_> = shown.collect();
        let all = |shown: &[(usize, usize)]| {
            shown.iter().map(|(_, width)| GAP.len() + width).sum::<usize>() - GAP.len()
        };
        for column in less {
            if all(&shown) > output::columns() {
                shown.retain(|(index, _)| index != column);
            }
        }
        Stream { columns, shown }
    }

    pub(crate) fn headings(&self) -> String {
        headings(&self.columns, &self.shown)
    }

    pub(crate) fn line(&self, row: &[String; N]) -> String {
        line(&self.columns, &self.shown, row)
    }
}

impl<const N: usize> fmt::Display for Table<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(output::columns()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Column, Table};
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
        assert_eq!(text(1), "id  one\n1   a\n2   d\n\nid  two\n1   bbbbbb\n\nid  three\n1   cc\n");
    }
}
