//! Numbers that people see: what a pattern accepts, and that it is read back.
#![allow(missing_docs, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod dates;
mod definitions;
mod forms;
mod numbers;
mod patterns;
mod soundness;
