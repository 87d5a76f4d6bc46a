//! The network: listening sockets and connections.

mod connection;
#[cfg(unix)]
mod inherited_sockets;
mod listener;
pub(crate) mod server;
#[cfg(unix)]
mod unix_socket;
