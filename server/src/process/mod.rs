//! Process-wide state: the end, threads, output and signals.

pub(crate) mod end;
pub(crate) mod events;
pub(crate) mod output;
pub(crate) mod signals;
pub(crate) mod threads;
