//! The Redis protocol, versions 2 and 3: every language has a client for it. It gives the same as
//! HTTP, with the same tokens and limits.

mod answer;
pub(crate) mod codec;
pub(crate) mod connection;
mod describe;
mod info;
mod keys;
mod protocol_error;
mod refusal;
mod reply;
mod request;
mod take;
mod workers;
