//! Worker ids kept in etcd, ZooKeeper and Redis.

#[cfg(feature = "zookeeper")]
mod leaf_worker;
mod registry;

#[cfg(feature = "zookeeper")]
pub use leaf_worker::LeafWorker;
pub use registry::KeyRegistry;
