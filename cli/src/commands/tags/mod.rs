//! `uidring tags` and its subcommands.

mod changes;
mod list;

pub(crate) use list::Args;
