//! `uidring take`.

mod explained;
mod numbers;
mod past;
mod uids;

pub(crate) use uids::Args;
