//! A few UIDs with their fields, for a person.

use std::io::{self, IsTerminal};

use uidring::{Layout, Uid};
use uidring_args::Db;

use crate::commands::parse;
use crate::text::{self, DIM, Failure, columns, folded, paint};

/// On a terminal, up to this many UIDs come in a table; more come as a list.
const EXPLAINED: u64 = 20;

/// Whether so many UIDs come in a table.
pub(super) fn is_explained(count: u64) -> bool {
    count <= EXPLAINED && io::stdout().is_terminal()
}

/// Prints UIDs with their fields. The last one has this `worker` id.
pub(super) fn explain(
    layout: &Layout,
    taken: &[Uid],
    worker: u64,
    is_leased: bool,
    db: &Db,
) -> Result<(), Failure> {
    let footer = if is_leased {
        format!("worker id {worker} is leased: it is reused, but never for these ticks")
    } else {
        format!("worker id {worker} is never reused")
    };
    let footer = format!("{}\nregistry {db}", folded(&footer, columns(), 0));
    let table = parse::table(layout, taken);
    text::print(&format!("{table}{}\n", paint(DIM, footer)))
}
