//! The state of a worker id's lease at a given time.

use std::fmt;
use std::time::SystemTime;

use serde::Serialize;
use uidring::Layout;
use uidring::registry::LeaseRecord;

use crate::text::words::{distance, span};

/// Whether a leased id has a holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    /// Its holder has it.
    Held,
    /// Its holder did not renew the lease in time. The id is free to be given again.
    Expired,
    /// Its holder gave it back. The id is free to be given again.
    GivenBack,
}

impl State {
    pub(crate) fn of(lease: &LeaseRecord, now: SystemTime) -> State {
        match lease.holder {
            None => State::GivenBack,
            Some(_) if lease.until <= now => State::Expired,
            Some(_) => State::Held,
        }
    }
}

/// A lease in words: "held, 9 minutes left".
pub(crate) struct LeaseText<'a> {
    pub(crate) lease: &'a LeaseRecord,
    pub(crate) now: SystemTime,
}

impl fmt::Display for LeaseText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &LeaseText { lease, now } = self;
        match State::of(lease, now) {
            State::Held => write!(
                f,
                "held, {} left",
                span(lease.until.duration_since(now).unwrap_or_default())
            ),
            State::Expired => write!(f, "expired {}", distance(lease.until, now)),
            // If this clock is behind the registry's, the time may lie in the future.
            State::GivenBack => write!(f, "given back {}", distance(lease.until.min(now), now)),
        }
    }
}

/// When `tick` begins; `None` if it is after the last one.
pub(crate) fn time_of(layout: &Layout, tick: u64) -> Option<SystemTime> {
    // Any UID of the tick will do, but all zeros is not a UID.
    layout.compose(tick, 0, 1).map(|uid| layout.parts(uid).time)
}
