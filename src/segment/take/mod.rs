//! The handles and takers of a tag, which programs use.

#[cfg(feature = "series")]
pub(crate) mod batch;
pub mod generator;
pub mod local;
