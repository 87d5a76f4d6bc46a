//! The loader: decides when to load numbers and how many, and reports its state to operators.

pub mod alarm;
pub mod events;
pub mod loaded_tag;
pub mod loader;
#[cfg(feature = "metrics")]
mod metrics;
pub mod policy;
pub mod scheduler;
mod source_label;
pub mod status;
pub mod supplier;
pub mod tag_state;
pub mod trouble;
