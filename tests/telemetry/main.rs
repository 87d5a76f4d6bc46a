//! What operators are told, by events and by metrics. Each test has a process of its own, since
//! subscribers and recorders are those of the whole process.
#![allow(missing_docs, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "../common/alone.rs"]
mod alone;
#[cfg(feature = "tracing")]
#[path = "../common/observer.rs"]
mod observer;
#[cfg(feature = "metrics")]
#[path = "../common/recorder.rs"]
mod recorder;
#[path = "../common/rows.rs"]
mod rows;
#[cfg(all(feature = "lend", feature = "sqlite", any(feature = "metrics", feature = "tracing")))]
mod store_away;

#[cfg(feature = "tracing")]
mod broken_rules;
#[cfg(feature = "tracing")]
mod events;
#[cfg(feature = "tracing")]
mod lease_events;
#[cfg(all(feature = "lend", feature = "sqlite", feature = "tracing"))]
mod loan_events;
#[cfg(all(feature = "lend", feature = "metrics", feature = "sqlite"))]
mod loan_metrics;
#[cfg(feature = "metrics")]
mod metrics;
#[cfg(all(feature = "series", feature = "sqlite", feature = "tracing"))]
mod new_store;
#[cfg(all(feature = "mysql", feature = "postgres", feature = "redis", feature = "tracing"))]
mod only_for_tests;
#[cfg(feature = "metrics")]
mod past_metrics;
#[cfg(feature = "tracing")]
mod segment_events;
#[cfg(feature = "metrics")]
mod segment_metrics;
#[cfg(feature = "tracing")]
mod segment_subscriber;
#[cfg(all(feature = "series", feature = "sqlite", feature = "tracing"))]
mod series_events;
#[cfg(all(feature = "metrics", feature = "series", feature = "sqlite"))]
mod series_metrics;
#[cfg(feature = "tracing")]
mod shutdown_subscriber;
