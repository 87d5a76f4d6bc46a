//! Simulations of the generator and of the loader of segments without their threads: a test moves
//! the time and runs them by hand. Each step is deterministic and checks the guarantees.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::unchecked_time_subtraction
)]

mod generator;
#[cfg(all(feature = "contract", any(feature = "etcd", feature = "redis", feature = "zookeeper")))]
mod key_stores;
#[cfg(feature = "tracing")]
mod lease_events;
mod leases;
mod segments;

use std::time::Duration;

use crate::engine::{Engine, TakeError};
use crate::uid::Uid;

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// Works like `UidGenerator::take`. In a simulation nobody wakes a waiting take, so this is only
/// for `LeadLimit::Fail`.
fn take_or_wait(engine: &Engine) -> Result<Uid, TakeError> {
    engine.ring.take().or_else(|ticket| engine.take_slowly(ticket))
}
