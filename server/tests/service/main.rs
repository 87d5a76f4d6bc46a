//! The service: each test starts the real program, in a folder and on a port of its own.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../tests/common/size.rs"]
mod size;

mod access;
mod bad_requests;
mod health;
mod hosts;
mod leaf;
mod library_client;
mod life;
mod log;
mod masked;
mod memory;
mod metrics;
mod openapi;
mod options;
mod page;
mod past;
mod proxies;
mod resp;
mod series;
mod signals;
mod supply;
mod systemd;
mod tinyid;
mod tls;
mod v1;
mod workers;
mod years;
