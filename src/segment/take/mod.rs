//! What programs hold of a tag.

pub mod generator;
mod handle;
pub mod local;
pub mod take_n;
