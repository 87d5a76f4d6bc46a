//! [`Alarm`]: what operators have been told about a lease whose reservations do not come.

use std::mem;
use std::time::{Duration, SystemTime};

use crate::engine::events;
use crate::registry::RegistryError;

/// How bad it is, as far as operators know. Each step is told once, until the lease has recovered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Alarm {
    /// Reservations come in time.
    #[default]
    None,
    /// The lease is lost, and no other has come for too long. The event of the loss has told them.
    Lost,
    /// The registry has refused a reservation, or has not answered for too long.
    Unreachable,
    /// Less than a quarter of what was reserved is left.
    RunningOut,
    /// No reserved tick is left.
    Exhausted,
}

/// What is left of a lease.
pub struct Rest {
    pub time: Duration,
    /// Whether it is less than a quarter of what was reserved.
    pub is_low: bool,
    pub is_exhausted: bool,
}

impl Alarm {
    /// The registry has refused a reservation for `worker`, or has not answered for `waited`.
    pub fn unreachable(&mut self, worker: u64, waited: Duration, error: Option<&RegistryError>) {
        if *self < Alarm::Unreachable {
            *self = Alarm::Unreachable;
            events::registry_unreachable(worker, waited, error);
        }
    }

    /// The lease is lost, and no other has come for too long.
    pub fn lost(&mut self) {
        *self = (*self).max(Alarm::Lost);
    }

    /// `rest` is left of the lease of `worker`.
    pub fn update(&mut self, worker: u64, rest: &Rest) {
        if *self == Alarm::None {
            return;
        }
        if rest.is_exhausted && *self < Alarm::Exhausted {
            *self = Alarm::Exhausted;
            events::lease_exhausted(worker);
        } else if rest.is_low && *self < Alarm::RunningOut {
            *self = Alarm::RunningOut;
            events::lease_running_out(worker, rest.time);
        }
    }

    /// Ticks are reserved up to `reserved_until` again: for `worker`, which may be another id.
    pub fn recovered(&mut self, worker: u64, reserved_until: SystemTime) {
        if mem::take(self) > Alarm::Lost {
            events::recovered(worker, reserved_until);
        }
    }
}
