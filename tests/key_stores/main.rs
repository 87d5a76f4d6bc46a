//! Worker ids and dense numbers from etcd, ZooKeeper and Redis, on servers of the tests' own.
#![allow(missing_docs, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "../common/causes.rs"]
mod causes;
mod connecting;
mod contract;
mod cosid;
mod cut_off;
#[path = "../common/key_servers/mod.rs"]
mod key_servers;
mod operators;
mod passwords;
mod promoted;
mod proxies;
mod restored;
mod versions;
