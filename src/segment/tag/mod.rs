//! One tag: the state that takers and the loader share.

pub mod claim;
pub mod engine;
pub mod request_list;
pub mod supply;
