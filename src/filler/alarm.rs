//! [`Alarm`]: how much trouble with a lease operators know of.

use std::mem;
use std::time::{Duration, SystemTime};

use crate::engine::events;
use crate::registry::RegistryError;

/// The severity that operators know of. Each step up causes one event, until the lease has
/// recovered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Alarm {
    /// Reservations come in time.
    #[default]
    None,
    /// The lease is lost, and no other has been granted for too long. The loss itself was an event.
    Lost,
    /// The registry has refused a reservation, or has not answered for too long.
    Unreachable,
    /// Less than a quarter of what was reserved is left.
    RunningOut,
    /// No reserved tick is left.
    Exhausted,
}

/// The rest of a lease.
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

    /// Records that the lease is lost and no other has been granted for too long.
    pub fn lost(&mut self) {
        *self = (*self).max(Alarm::Lost);
    }

    /// Records the `rest` of the lease of `worker`.
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

    /// Records that ticks are reserved up to `reserved_until` again, for `worker`, which may be
    /// another id.
    pub fn recovered(&mut self, worker: u64, reserved_until: SystemTime) {
        if mem::take(self) > Alarm::Lost {
            events::recovered(worker, reserved_until);
        }
    }
}
