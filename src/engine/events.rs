//! Events for operators: one per change of state, with the `tracing` feature. Without the feature
//! these functions do nothing.

#![cfg_attr(not(feature = "tracing"), allow(unused_variables, clippy::needless_pass_by_value))]

use std::time::{Duration, SystemTime};

use crate::engine::lead::LeadLimit;
use crate::registry::RegistryError;

macro_rules! event {
    ($level:ident, $($rest:tt)+) => {
        #[cfg(feature = "tracing")]
        tracing::$level!(target: "uidring", $($rest)+);
    };
}

pub fn rollback(by: Duration) {
    event!(warn, ?by, "the clock went back; UIDs continue with borrowed ticks");
}

pub fn jump_followed(by: Duration) {
    event!(warn, ?by, "the clock jumped forward; UIDs follow it");
}

pub fn jump_refused(by: Duration) {
    event!(
        error,
        ?by,
        "the clock jumped forward by more than max_forward_jump; UIDs do not follow it"
    );
}

pub fn stale_blocks_dropped(blocks: u64) {
    event!(debug, blocks, "dropped blocks that had become stale");
}

pub fn lead_limit(lead: Duration, policy: LeadLimit) {
    event!(warn, ?lead, ?policy, "the lead limit is reached");
}

pub fn new_worker(worker: u64) {
    event!(info, worker, "took on another worker id, from the present tick on");
}

pub fn no_new_worker(error: &RegistryError) {
    event!(warn, %error, "no new worker id; takes wait for the clock until there is one");
}

pub fn new_workers_used_up(max_new_workers: u128) {
    event!(
        warn,
        max_new_workers,
        "as many worker ids as max_new_workers allows are used up; takes at the lead limit wait \
         for the clock"
    );
}

pub fn lease_lost(worker: u64) {
    event!(
        warn,
        worker,
        "the worker id no longer belongs to this generator, which requests another"
    );
}

pub fn no_reservation(error: &RegistryError) {
    event!(
        warn,
        %error,
        "no further ticks could be reserved; takes continue with the reserved ones"
    );
}

pub fn not_released(error: &RegistryError) {
    event!(
        warn,
        %error,
        "the worker id could not be given back; it is free when its lease has expired"
    );
}

pub fn end_is_near(expires_at: SystemTime) {
    event!(
        warn,
        expires_at = %crate::clock::utc(expires_at),
        "the layout's time field ends within a year"
    );
}

pub fn panicked() {
    event!(
        error,
        "the filler panicked; it tries again after a second, and takers refill the ring meanwhile"
    );
}
