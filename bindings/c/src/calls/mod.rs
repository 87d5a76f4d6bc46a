//! The functions of the interface.

pub mod generator;
pub mod segments;
pub mod series;
