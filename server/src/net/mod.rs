//! The network: listening sockets and connections.

mod connection;
#[cfg(unix)]
mod handed;
mod listener;
pub(crate) mod server;
#[cfg(unix)]
mod unix_socket;
