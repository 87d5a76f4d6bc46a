//! Worker ids kept in etcd, ZooKeeper and Redis.

mod documents;
mod free_ids;
mod key_registry;
#[cfg(feature = "zookeeper")]
mod leaf_node;
#[cfg(feature = "zookeeper")]
mod leaf_worker;

pub use key_registry::KeyRegistry;
#[cfg(feature = "zookeeper")]
pub use leaf_worker::LeafWorker;
