//! Statistics for operators and their programs.

pub(crate) mod commands;
pub(crate) mod counter;
pub(crate) mod counters;
pub(crate) mod demand;
pub(crate) mod grants;
pub(crate) mod loads;
pub(crate) mod rates;
pub(crate) mod readings;
pub(crate) mod requests;
pub(crate) mod series_use;
pub(crate) mod times;
pub(crate) mod trouble;
pub(crate) mod watch;
