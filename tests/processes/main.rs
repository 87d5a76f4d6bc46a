//! What concerns the whole process: forks, an installed generator, many processes, and processes
//! under a false clock or without threads. Each test has processes of its own.
#![allow(missing_docs, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "../common/alone.rs"]
mod alone;
#[cfg(feature = "tracing")]
#[path = "../common/observer.rs"]
mod observer;
#[path = "../common/rows.rs"]
mod rows;
#[cfg(feature = "sqlite")]
#[path = "../common/size.rs"]
mod size;

#[cfg(all(target_os = "linux", feature = "sqlite"))]
mod faketime;
#[cfg(unix)]
mod fork;
mod installed;
#[cfg(feature = "sqlite")]
mod kill_storm;
#[cfg(all(feature = "tracing", target_os = "linux"))]
mod no_threads;
#[cfg(feature = "sqlite")]
mod starts;
