//! `uidring workers` and its subcommands.

mod lease;
mod list;
mod pace;
mod release;

pub(crate) use list::Args;
