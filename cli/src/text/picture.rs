//! The picture of how a UID is split.

use anstyle::Style;
use uidring::{FieldOrder, Layout};

use crate::text::page::{DIM, SEQUENCE, TIME, WORKER, paint};

/// A field in the picture.
struct Cell {
    name: &'static str,
    style: Style,
    bits: u32,
    /// The index of its highest bit.
    high: u32,
    width: usize,
}

/// Draws the 64 bits as boxes. A box is as wide as its field has bits, within limits, and smaller
/// where they would not fit.
pub(crate) fn picture(layout: &Layout, columns: usize) -> String {
    let mut high = 64;
    let unused = 64 - layout.time_bits() - layout.worker_bits() - layout.sequence_bits();
    let time = ("time", TIME, layout.time_bits(), 10..=32);
    let worker = ("worker", WORKER, layout.worker_bits(), 10..=32);
    let (top, middle) = match layout.order() {
        FieldOrder::TimeFirst => (time, worker),
        FieldOrder::WorkerFirst => (worker, time),
    };
    // As wide as what is written below it.
    let of_unused = if unused == 1 { 3..=3 } else { 8..=10 };
    let mut cells = [
        ("0", Style::new(), unused, of_unused),
        top,
        middle,
        ("sequence", SEQUENCE, layout.sequence_bits(), 10..=32),
    ]
    .map(|(name, style, bits, widths)| {
        high -= bits;
        let width = (bits as usize).clamp(*widths.start(), *widths.end());
        Cell { name, style, bits, high: high + bits - 1, width }
    });
    let walls = cells.len() + 1;
    while walls + cells.iter().map(|cell| cell.width).sum::<usize>() > columns {
        let fields = cells[1..].iter_mut().filter(|cell| cell.width > cell.name.len() + 2);
        let Some(widest) = fields.max_by_key(|cell| cell.width) else { break };
        widest.width -= 1;
    }
    let edge = |left: &str, between: &str, right: &str| {
        let lines: Vec<String> = cells.iter().map(|cell| "─".repeat(cell.width)).collect();
        paint(DIM, format_args!("{left}{}{right}", lines.join(between))) + "\n"
    };
    let wall = paint(DIM, "│");
    let names = cells
        .each_ref()
        .map(|cell| paint(cell.style, format_args!(" {:<1$}", cell.name, cell.width - 1)));
    let numbers: String = cells.iter().map(numbers).collect();
    let widths: String = cells.iter().map(width).collect();
    format!(
        "{}\n{}{wall}{}{wall}\n{}{}\n",
        paint(DIM, numbers.trim_end()),
        edge("┌", "┬", "┐"),
        names.join(&wall),
        edge("└", "┴", "┘"),
        paint(DIM, widths.trim_end())
    )
}

/// The indices of a cell's first and last bit.
fn numbers(cell: &Cell) -> String {
    let (high, low) = (cell.high, cell.high + 1 - cell.bits);
    if cell.bits == 1 {
        format!(" {high:^0$}", cell.width)
    } else {
        format!(" {high}{low:>0$}", cell.width - high.to_string().len())
    }
}

/// How many bits a cell has. The first cell holds the sign and the bits that no field uses.
fn width(cell: &Cell) -> String {
    let text = match (cell.name, cell.bits) {
        ("0", 1) => "sign".to_owned(),
        ("0", bits) => format!("{bits} unused"),
        (_, 1) => "1 bit".to_owned(),
        (_, bits) => format!("{bits} bits"),
    };
    format!(" {text:^0$}", cell.width)
}
