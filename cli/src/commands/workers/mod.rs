//! `uidring workers` and its subcommands.

mod lease;
mod lend;
mod list;
mod pace;
mod pools;
mod release;

pub(crate) use lend::role;
pub(crate) use list::Args;
