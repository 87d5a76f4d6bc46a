//! Statistics for operators and their programs.

pub(crate) mod asked;
pub(crate) mod counter;
pub(crate) mod counters;
pub(crate) mod loads;
pub(crate) mod rates;
pub(crate) mod readings;
pub(crate) mod requests;
pub(crate) mod trouble;
pub(crate) mod watch;
