//! Worker ids that are lent: the rules, on each store, from outside.
#![cfg(feature = "sqlite")]
#![allow(missing_docs, clippy::panic, clippy::unwrap_used)]

mod contract;
#[path = "../common/folder.rs"]
mod folder;
mod sqlite;
