//! The network: listening sockets and connections.

mod connection;
mod listener;
pub(crate) mod server;
#[cfg(unix)]
mod unix_socket;
