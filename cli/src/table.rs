//! Aligned columns.

use std::fmt;

use anstyle::Style;
use console::{Alignment, measure_text_width, pad_str};

use crate::output::{DIM, paint};

/// Rows of texts under headings. Each column is as wide as its widest text, and a column without
/// any text is left out.
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

impl<const N: usize> fmt::Display for Table<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<_> = (0..N).map(|index| (index, self.width(index))).collect();
        let mut line = |text: &dyn Fn(usize) -> String| {
            let shown = columns.iter().filter(|(_, width)| *width > 0);
            let cells: Vec<_> = shown
                .map(|&(index, width)| {
                    pad_str(&text(index), width, self.columns[index].alignment, None).into_owned()
                })
                .collect();
            writeln!(f, "{}", cells.join("  ").trim_end())
        };
        line(&|index| paint(DIM, self.columns[index].heading))?;
        for row in &self.rows {
            line(&|index| match row[index].as_str() {
                // Colours around nothing would keep the spaces at the end of a line.
                "" => String::new(),
                text => paint(self.columns[index].style, text),
            })?;
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
