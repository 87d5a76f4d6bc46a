//! Process-wide state: the end, threads, output, signals, and what systemd is told.

pub(crate) mod end;
pub(crate) mod events;
pub(crate) mod output;
pub(crate) mod signals;
pub(crate) mod supervisor;
pub(crate) mod threads;
