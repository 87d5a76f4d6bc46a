//! The paths of Leaf's and tinyid's servers, with the same answers.

mod html;
pub(crate) mod leaf;
pub(crate) mod spring;
pub(crate) mod tinyid;
