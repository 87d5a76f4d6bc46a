//! `uidring plan`.

mod command;
mod page;

pub(crate) use command::Args;
