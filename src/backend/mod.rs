//! How to talk to SQLite, PostgreSQL, MySQL, etcd, ZooKeeper and Redis: addresses, connections,
//! deadlines, checks of what a server keeps through a power failure, and errors.
//!
//! What is kept there is the business of callers: [`registry`](crate::registry) keeps worker ids,
//! [`segment`](crate::segment) tags, and `series` series.

pub mod address;
#[cfg(any(feature = "_store", feature = "http"))]
pub mod call;
#[cfg(feature = "_store")]
pub mod error;
#[cfg(any(feature = "etcd", feature = "redis", feature = "zookeeper"))]
pub mod keys;
#[cfg(any(
    feature = "etcd",
    feature = "http",
    feature = "mysql",
    feature = "postgres",
    feature = "redis",
    feature = "zookeeper"
))]
pub mod pem;
#[cfg(any(feature = "etcd", feature = "http", feature = "redis"))]
pub mod server_message;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
pub mod sql;
pub mod storage_error;
#[cfg(any(feature = "postgres", feature = "redis", feature = "zookeeper"))]
mod tls;
#[cfg(any(feature = "mysql", feature = "postgres", feature = "zookeeper"))]
pub mod unsupported;

pub use storage_error::StorageError;
