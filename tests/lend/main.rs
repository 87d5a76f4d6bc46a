//! Worker ids that are lent: the rules, on each store, from outside.
#![cfg(feature = "sqlite")]
#![allow(missing_docs, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[cfg(unix)]
#[path = "../common/alone.rs"]
mod alone;
mod contract;
#[cfg(all(feature = "mysql", feature = "postgres"))]
#[path = "../common/databases/mod.rs"]
mod databases;
#[path = "../common/folder.rs"]
mod folder;
#[cfg(all(feature = "etcd", feature = "redis", feature = "zookeeper"))]
#[path = "../common/key_servers/mod.rs"]
mod key_servers;
#[cfg(all(
    feature = "etcd",
    feature = "mysql",
    feature = "postgres",
    feature = "redis",
    feature = "zookeeper"
))]
mod servers;
mod sqlite;
mod worker;
