//! The registry configuration.

use std::ops::RangeInclusive;
use std::time::Duration;

use uidring::RegistryOptions;

/// How a registry gives worker ids.
#[derive(Clone, Debug, Default)]
pub struct RegistryConfig {
    /// How long a lease lasts; `None` for permanent ids.
    pub lease: Option<Duration>,
    /// The part of the ids with this index, and the number of parts.
    pub partition: Option<(u64, u64)>,
    /// The range of ids to give.
    pub worker_ids: Option<RangeInclusive<u64>>,
    /// The ids come from `UidGenerator`'s table `WORKER_NODE`, to which the terms above do not
    /// apply.
    pub uid_generator: bool,
}

impl From<&RegistryConfig> for RegistryOptions {
    fn from(config: &RegistryConfig) -> RegistryOptions {
        let mut options = RegistryOptions::new();
        if config.uid_generator {
            return options.uid_generator();
        }
        if let Some(duration) = config.lease {
            options = options.leased(duration);
        }
        if let Some((index, of)) = config.partition {
            options = options.partition(index, of);
        }
        if let Some(ids) = &config.worker_ids {
            options = options.worker_ids(ids.clone());
        }
        options
    }
}
