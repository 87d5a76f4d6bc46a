//! `/v1`: uidring's own paths.

pub(crate) mod series;
mod series_rows;
pub(crate) mod tags;
pub(crate) mod uids;
