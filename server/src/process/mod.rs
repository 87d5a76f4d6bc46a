//! What there is once in a process: its threads, its output, its signals and its open files.

pub(crate) mod events;
pub(crate) mod open_files;
pub(crate) mod output;
pub(crate) mod signals;
pub(crate) mod threads;
