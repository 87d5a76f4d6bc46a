//! What takers and the loader share of a tag.

pub mod claim;
pub mod engine;
pub mod request_list;
pub mod supply;
