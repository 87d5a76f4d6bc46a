//! Paths for operators and their programs: the page, the status, the metrics and the probes.

mod chart;
pub(crate) mod health;
mod metric_tables;
pub(crate) mod metrics;
pub(crate) mod page;
pub(crate) mod series_line;
pub(crate) mod status;
mod tables;
mod tag_line;
mod view;
