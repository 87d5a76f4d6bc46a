//! Values: layouts, UIDs, numbers, errors, and their forms in JSON.
#![allow(missing_docs, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[cfg(all(feature = "http", feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod errors;
mod layout;
#[cfg(feature = "masked")]
mod masked;
mod number;
mod past;
#[cfg(feature = "serde")]
mod serde;
mod uid;
