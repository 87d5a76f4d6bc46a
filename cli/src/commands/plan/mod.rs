//! `uidring plan`.

mod candidates;
mod command;
mod headroom;
mod page;
pub(crate) mod sizing;
mod trade_offs;

pub(crate) use command::Args;
