//! Listening, and connections.

mod connection;
pub(crate) mod server;
