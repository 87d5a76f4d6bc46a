//! What this process keeps of the series of its store: what they are, and the numbers of the
//! present periods.

pub mod counter_source;
pub mod handle;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub mod known_series;
pub mod nearly_full;
pub mod open_period;
pub mod scope;
pub mod scopes;
pub mod series_cache;
pub mod shared;
