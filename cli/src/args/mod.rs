//! What options and arguments mean, and the stores that they name.

pub(crate) mod db;
pub(crate) mod generator;
pub(crate) mod ids;
pub(crate) mod key;
pub(crate) mod layout;
pub(crate) mod lenient;
pub(crate) mod negative;
pub(crate) mod tag_store;
pub(crate) mod variables;
pub(crate) mod wait_notice;
