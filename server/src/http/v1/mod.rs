//! `/v1`, our own paths.

pub(crate) mod tags;
pub(crate) mod uids;
