//! A port for a server that a test starts.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::iter;
use std::net::TcpListener;

/// A port at which nobody listens, and none of those from 32768 on that the system gives to whoever
/// asks for any: so it is still free when the server starts, and when it starts again.
pub fn free_port() -> u16 {
    let ports = 10_000..32_768_u64;
    let any = || ports.start + RandomState::new().hash_one(()) % (ports.end - ports.start);
    iter::repeat_with(any)
        .filter_map(|port| u16::try_from(port).ok())
        .find(|&port| TcpListener::bind(("127.0.0.1", port)).is_ok())
        .unwrap_or_default()
}
