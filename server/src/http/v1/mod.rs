//! `/v1`: uidring's own paths.

pub(crate) mod tags;
pub(crate) mod uids;
