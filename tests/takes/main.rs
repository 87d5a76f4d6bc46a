//! Takes: in all ways, in exact time, at limits, on starved machines, and up to the end.
#![allow(missing_docs, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[cfg(feature = "sqlite")]
#[path = "../common/folder.rs"]
mod folder;
#[path = "../common/size.rs"]
mod size;

mod claimed_spans;
mod exact_time;
mod nothing_wasted;
#[cfg(feature = "sqlite")]
mod past;
mod shutdown;
mod shutdown_threads;
mod starvation;
mod take;
mod take_local;
mod waiting;
