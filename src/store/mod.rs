//! Where worker ids and numbers are stored.

pub(crate) mod sql;
