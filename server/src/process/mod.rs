//! What there is once in a process: its end, its threads, its output and its signals.

pub(crate) mod end;
pub(crate) mod events;
pub(crate) mod output;
pub(crate) mod signals;
pub(crate) mod threads;
