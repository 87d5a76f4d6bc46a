//! Aligned columns.

use std::fmt;

use anstyle::Style;

use crate::output::{DIM, paint};

/// Rows of texts under headings, each column as wide as its widest text. A column without a text is
/// left out.
#[derive(Debug)]
pub(crate) struct Table<const N: usize> {
    columns: [Column; N],
    rows: Vec<[String; N]>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    heading: &'static str,
    style: Style,
    right: bool,
}

impl Column {
    /// Texts, flush left.
    pub(crate) fn text(heading: &'static str, style: Style) -> Column {
        Column { heading, style, right: false }
    }

    /// Numbers, flush right.
    pub(crate) fn number(heading: &'static str, style: Style) -> Column {
        Column { heading, style, right: true }
    }
}

impl<const N: usize> Table<N> {
    pub(crate) fn new(columns: [Column; N]) -> Table<N> {
        Table { columns, rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, row: [String; N]) {
        self.rows.push(row);
    }

    /// Of the widest text in a column; 0 where there is none.
    fn width(&self, column: usize) -> usize {
        let widest = self.rows.iter().map(|row| visible(&row[column])).max().unwrap_or(0);
        if widest == 0 { 0 } else { widest.max(self.columns[column].heading.len()) }
    }

    /// One line: `texts` in their columns, without spaces at the end.
    fn line<'a>(
        &self,
        widths: &[usize; N],
        texts: impl Iterator<Item = (&'a str, Style)>,
    ) -> String {
        let mut line = String::new();
        // Spaces are owed until there is a text behind them.
        let mut spaces = 0;
        for (((text, style), &width), column) in texts.zip(widths).zip(&self.columns) {
            if width == 0 {
                continue;
            }
            if text.is_empty() {
                spaces += width + GAP;
                continue;
            }
            let padding = width - visible(text);
            let (before, after) = if column.right { (padding, 0) } else { (0, padding) };
            line.extend(std::iter::repeat_n(' ', spaces + before));
            line.push_str(&paint(style, text));
            spaces = after + GAP;
        }
        line
    }
}

/// How wide a text is: its colours take no room.
fn visible(text: &str) -> usize {
    anstream::adapter::strip_str(text).map(|part| part.chars().count()).sum()
}

/// Between two columns.
const GAP: usize = 2;

impl<const N: usize> fmt::Display for Table<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = std::array::from_fn(|column| self.width(column));
        writeln!(
            f,
            "{}",
            self.line(&widths, self.columns.iter().map(|column| (column.heading, DIM)))
        )?;
        for row in &self.rows {
            let texts =
                row.iter().zip(&self.columns).map(|(text, column)| (text.as_str(), column.style));
            writeln!(f, "{}", self.line(&widths, texts))?;
        }
        Ok(())
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
}
