//! Dense numbers of tags.
#![allow(missing_docs, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "../common/rows.rs"]
mod rows;
#[path = "../common/size.rs"]
mod size;

mod claimed;
mod numbers;
mod waiting;
