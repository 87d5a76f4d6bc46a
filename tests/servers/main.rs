//! Registries and clients on servers.
#![allow(missing_docs, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "../common/alone.rs"]
mod alone;
#[cfg(unix)]
#[path = "../common/causes.rs"]
mod causes;
#[path = "../common/databases/mod.rs"]
mod databases;
#[cfg(all(unix, feature = "series"))]
#[path = "../common/driver_rows.rs"]
mod driver_rows;

#[cfg(unix)]
mod asking;
#[cfg(all(unix, feature = "series"))]
mod behind_proxies;
#[cfg(unix)]
mod connecting;
#[cfg(any(feature = "mysql-common-0_37", feature = "postgres-types-0_2"))]
mod integrations;
#[cfg(all(unix, feature = "mysql"))]
mod mysql_9;
#[cfg(all(unix, feature = "mysql"))]
mod mysql_recovery;
#[cfg(unix)]
mod passwords;
#[cfg(feature = "postgres")]
mod pooler;
#[cfg(all(unix, feature = "series"))]
mod postgres_settings;
#[cfg(all(unix, feature = "postgres"))]
mod proxies;
#[cfg(all(unix, feature = "series"))]
#[path = "../common/read_splitter.rs"]
mod read_splitter;
#[cfg(unix)]
mod registries;
#[cfg(unix)]
#[path = "../common/size.rs"]
mod size;
#[cfg(target_os = "linux")]
mod threads;
#[cfg(unix)]
mod tls;
#[cfg(unix)]
mod untried;
#[cfg(unix)]
mod worker_node;
