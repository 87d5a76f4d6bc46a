//! Events for operators: one per change of state, with the `tracing` feature. Without the feature
//! these functions do nothing. Those of segments are in `segment/events.rs`.

#![cfg_attr(not(feature = "tracing"), allow(unused_variables, clippy::needless_pass_by_value))]

use std::time::{Duration, SystemTime};

#[cfg(feature = "tracing")]
use crate::clock::utc;
use crate::engine::limits::LeadLimit;
use crate::layout::Layout;
use crate::registry::{Lease, RegistryError};
use crate::support::callbacks::event;
use crate::support::rule::BrokenRule;

/// The error as the field of an event. Subscribers that know errors also show its causes.
#[cfg(feature = "tracing")]
fn cause(error: &RegistryError) -> &(dyn std::error::Error + 'static) {
    error
}

/// `time` says how UIDs follow the clock: "borrowed", "exact" or "past".
pub fn started(lease: &Lease, registry: &str, layout: &Layout, time: &str) {
    event!(
        info,
        "started",
        worker = lease.worker,
        kind = if lease.is_permanent() { "permanent" } else { "leased" },
        registry,
        %layout,
        time,
        reserved_until = %utc(layout.begin_of(lease.last)),
        "the generator has started"
    );
}

/// The clock shows `now`, and UIDs begin at `epoch`.
pub fn waits_for_clock(epoch: SystemTime, now: SystemTime, left: Duration) {
    event!(
        warn,
        "waits_for_clock",
        epoch = %utc(epoch),
        clock = %utc(now),
        ?left,
        "the clock is before the epoch of the layout; the start waits until it is set"
    );
}

pub fn stopped(worker: u64, taken: u64) {
    event!(info, "stopped", worker, taken, "the generator has stopped");
}

pub fn clock_back(by: Duration) {
    event!(warn, "clock_back", ?by, "the clock went back; no UID is repeated");
}

pub fn clock_forward(by: Duration) {
    event!(warn, "clock_forward", ?by, "the clock jumped forward; UIDs follow it");
}

/// The clock of this machine is ahead of the registry's by so much; behind it, if that is negative.
pub fn clock_skew(skew_ms: i64) {
    event!(
        warn,
        "clock_skew",
        by = ?Duration::from_millis(skew_ms.unsigned_abs()),
        side = if skew_ms > 0 { "ahead" } else { "behind" },
        "this machine's clock and the registry's are more than a minute apart; no UID is repeated"
    );
}

pub fn clocks_agree() {
    event!(info, "clocks_agree", "this machine's clock and the registry's agree again");
}

pub fn jump_refused(by: Duration) {
    event!(
        error,
        "jump_refused",
        ?by,
        "the clock jumped forward by more than max_forward_jump; UIDs do not follow it"
    );
}

pub fn stale_blocks_dropped(blocks: u64) {
    event!(debug, "stale_blocks_dropped", blocks, "dropped blocks that had become stale");
}

pub fn lead_limit(lead: Duration, policy: LeadLimit) {
    event!(warn, "lead_limit", ?lead, ?policy, "the lead limit is reached");
}

pub fn worker_id_changed(worker: u64, before: u64) {
    event!(
        info,
        "worker_id_changed",
        worker,
        before,
        "took on another worker id, from the present tick on"
    );
}

/// A generator of the past has `workers` of them now.
pub fn worker_id_added(worker: u64, workers: usize) {
    event!(info, "worker_id_added", worker, workers, "took on a further worker id for the past");
}

pub fn no_new_worker(error: &RegistryError) {
    event!(
        warn,
        "no_new_worker",
        error = cause(error),
        "no new worker id; takes wait for the clock until there is one"
    );
}

/// No more than `most` worker ids may be taken on in `period`.
pub fn new_workers_used_up(most: u64, period: Duration) {
    event!(
        warn,
        "new_workers_used_up",
        most,
        ?period,
        "as many worker ids as a generator may take on are used up; takes at the lead limit wait \
         for the clock"
    );
}

pub fn rule_broken(broken: &BrokenRule) {
    let BrokenRule { rule, worker, found, bound } = broken;
    event!(
        error,
        "rule_broken",
        worker,
        ?rule,
        found,
        bound,
        "the generator has ended, so that no id is given twice: {broken}"
    );
}

/// `error` is the registry's answer, if it has answered.
pub fn registry_unreachable(worker: u64, waited: Duration, error: Option<&RegistryError>) {
    event!(
        warn,
        "registry_unreachable",
        worker,
        ?waited,
        error = error.map(cause),
        "the registry reserves no further ticks; takes continue with the reserved ones"
    );
}

pub fn lease_running_out(worker: u64, left: Duration) {
    event!(
        warn,
        "lease_running_out",
        worker,
        ?left,
        "less than a quarter of the reserved ticks is left, and the registry reserves no more"
    );
}

pub fn lease_exhausted(worker: u64) {
    event!(
        error,
        "lease_exhausted",
        worker,
        "the reserved ticks are used up; takes fail, or wait for the registry's answer"
    );
}

pub fn recovered(worker: u64, reserved_until: SystemTime) {
    event!(
        info,
        "recovered",
        worker,
        reserved_until = %utc(reserved_until),
        "the registry reserves ticks again"
    );
}

pub fn lease_lost(worker: u64) {
    event!(
        warn,
        "lease_lost",
        worker,
        "the worker id no longer belongs to this generator, which requests another"
    );
}

pub fn not_released(worker: u64, error: &RegistryError) {
    event!(
        warn,
        "not_released",
        worker,
        error = cause(error),
        "the worker id could not be given back; it is free when its lease has expired"
    );
}

pub fn time_ends(expires_at: SystemTime) {
    event!(
        warn,
        "time_ends",
        expires_at = %utc(expires_at),
        "the layout's time field ends within a year"
    );
}

pub fn panicked() {
    event!(
        error,
        "filler_panicked",
        "the filler panicked; it tries again after a second, and takers refill the ring meanwhile"
    );
}
