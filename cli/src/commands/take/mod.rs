//! `uidring take`.

mod numbers;
mod uids;

pub(crate) use uids::Args;
