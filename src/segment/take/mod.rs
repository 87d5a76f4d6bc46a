//! What programs hold of a tag.

pub mod generator;
pub mod local;
pub mod take_n;
