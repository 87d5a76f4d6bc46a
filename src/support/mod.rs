//! What many modules use, and what knows none of them.

pub mod audience;
pub mod base32;
pub mod callbacks;
#[cfg(any(
    feature = "etcd",
    feature = "http",
    feature = "mysql",
    feature = "postgres",
    feature = "redis",
    feature = "sqlite"
))]
pub mod flat_error;
pub mod integer;
pub mod named;
pub mod rule;
