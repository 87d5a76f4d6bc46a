//! The network: listening sockets and connections.

mod connection;
pub(crate) mod server;
