//! Stores and their addresses, and worker ids from files and from the caller.
#![allow(missing_docs, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "../common/alone.rs"]
mod alone;
#[path = "../common/causes.rs"]
mod causes;
#[cfg(all(unix, feature = "sqlite"))]
#[path = "../common/copy_program.rs"]
mod copy_program;
#[path = "../common/databases/mod.rs"]
mod databases;
#[path = "../common/folder.rs"]
mod folder;
#[cfg(all(target_os = "linux", feature = "sqlite"))]
#[path = "../common/mounted.rs"]
mod mounted;
#[path = "../common/size.rs"]
mod size;

#[cfg(feature = "contract")]
mod contract;
mod fixed_worker;
#[cfg(feature = "sqlite")]
mod leases;
#[cfg(all(target_os = "linux", feature = "sqlite"))]
mod network;
#[cfg(feature = "sqlite")]
mod sqlite_registry;
#[cfg(all(target_os = "linux", feature = "sqlite"))]
mod starts;
mod store;
