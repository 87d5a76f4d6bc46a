//! The format of pages, lines and failures.

mod failure;
mod page;
mod picture;
mod shell;
mod stderr;
mod stdout;
pub(crate) mod table;
mod times;
mod visible;
pub(crate) mod words;

pub(crate) use failure::Failure;
pub(crate) use page::{
    BOLD, DIM, GREEN, RED, SEQUENCE, TIME, WORKER, YELLOW, columns, error_columns, folded,
    footnote, gauge, hidden, lines, paint, paragraph, row, unfolded_row,
};
pub(crate) use picture::picture;
pub(crate) use shell::{command, failure_with_command};
pub(crate) use stderr::{print_error, print_note};
pub(crate) use stdout::{has_colours, json, print, print_raw, unbuffered_stdout};
pub(crate) use times::{differs_from_utc, local};
pub(crate) use uidring_layouts::Times;
