//! What is done while nobody takes, or nobody can. Each test has a process of its own, since the
//! processor's time is that of the whole process.
#![allow(missing_docs, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "../common/alone.rs"]
mod alone;
#[path = "../common/rows.rs"]
mod rows;
#[path = "../common/size.rs"]
mod size;

#[cfg(target_os = "linux")]
mod exact;
#[cfg(target_os = "linux")]
mod generator;
#[cfg(target_os = "linux")]
mod segments;
