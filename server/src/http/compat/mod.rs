//! The paths of other servers, answered as these answer them: Leaf and tinyid.

mod html;
pub(crate) mod leaf;
pub(crate) mod spring;
pub(crate) mod tinyid;
