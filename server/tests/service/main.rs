//! The service: each test starts the real program, in a folder and on a port of its own.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../tests/common/size.rs"]
mod size;

mod access;
mod bad_requests;
// On Windows, only a console asks for a clean end.
#[cfg(unix)]
mod ends;
mod health;
mod hosts;
mod leaf;
mod library_client;
mod life;
// /dev/full, and pipes of which it is known how much they hold.
#[cfg(target_os = "linux")]
mod log;
mod masked;
mod memory;
// What a process has had of memory is in /proc.
#[cfg(target_os = "linux")]
mod memory_costs;
mod metrics;
mod openapi;
mod options;
#[cfg(unix)]
mod options_unix;
mod page;
mod past;
mod proxies;
mod resp;
mod series;
#[cfg(unix)]
mod signals;
mod supply;
#[cfg(unix)]
mod systemd;
mod tinyid;
mod tls;
// By SIGHUP.
#[cfg(unix)]
mod tls_reload;
#[cfg(unix)]
mod unix_sockets;
mod v1;
mod workers;
// libfaketime.
#[cfg(target_os = "linux")]
mod years;
