//! The handles and takers of a tag, which programs use.

pub mod generator;
mod handle;
pub mod local;
pub mod take_n;
