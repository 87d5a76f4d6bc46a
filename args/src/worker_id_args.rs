//! The options that say which worker ids a generator takes from its registry.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::registry_config::RegistryConfig;
use crate::worker_ids::{partition, worker_ids};
use uidring_layouts::lease;

/// The options that say which worker ids a generator takes from its registry.
#[derive(Clone, Debug, clap::Args)]
pub struct WorkerIdArgs {
    /// Lease a worker id for this long instead of using one up. It becomes free and can be given
    /// again when the program ends; if the process is killed, when the lease expires
    #[arg(long, value_name = "LENGTH", value_parser = lease)]
    lease: Option<Duration>,

    /// Take worker ids from part I of N equal parts, counted from 0. For N registries that do not
    /// know of each other, such as machines that each have a file of their own. N stays: parts of
    /// another N have the same ids
    #[arg(long, value_name = "I/N", value_parser = partition)]
    partition: Option<(u64, u64)>,

    /// Take the worker ids A to B only, and leave the others to other generators
    #[arg(long, value_name = "A-B", value_parser = worker_ids, conflicts_with = "partition")]
    worker_ids: Option<RangeInclusive<u64>>,
}

impl WorkerIdArgs {
    /// Whether one of the options was given.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        let WorkerIdArgs { lease, partition, worker_ids } = self;
        lease.is_some() || partition.is_some() || worker_ids.is_some()
    }

    /// What the registry is asked for; `uid_generator` is said by an option of each program.
    #[must_use]
    pub fn registry_config(&self, uid_generator: bool) -> RegistryConfig {
        let &WorkerIdArgs { lease, partition, ref worker_ids } = self;
        RegistryConfig { lease, partition, worker_ids: worker_ids.clone(), uid_generator }
    }
}
