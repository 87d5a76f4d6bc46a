//! What the lease of a worker id says at a time.

use std::fmt;
use std::time::SystemTime;

use serde::Serialize;
use uidring::Layout;
use uidring::registry::WorkerLease;

use crate::output::{distance, span};

/// Where a leased id is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    /// With its holder.
    Held,
    /// With a holder that has not been heard of for as long as the lease was. Free to be given
    /// again.
    Expired,
    /// Free to be given again.
    GivenBack,
}

impl State {
    pub(crate) fn of(lease: &WorkerLease, now: SystemTime) -> State {
        match lease.holder {
            None => State::GivenBack,
            Some(_) if lease.until <= now => State::Expired,
            Some(_) => State::Held,
        }
    }
}

/// A lease as people are told of it: "held, 9 minutes left".
pub(crate) struct Told<'a> {
    pub(crate) lease: &'a WorkerLease,
    pub(crate) now: SystemTime,
}

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Told { lease, now } = self;
        match State::of(lease, now) {
            State::Held => write!(
                f,
                "held, {} left",
                span(lease.until.duration_since(now).unwrap_or_default())
            ),
            State::Expired => write!(f, "expired {}", distance(lease.until, now)),
            // A clock that is a little behind the registry's sees it in the future.
            State::GivenBack => write!(f, "given back {}", distance(lease.until.min(now), now)),
        }
    }
}

/// When the tick `tick` begins; `None` behind the last one.
pub(crate) fn time_of(layout: &Layout, tick: u64) -> Option<SystemTime> {
    // Any UID of the tick tells; the one of zeros is none.
    layout.compose(tick, 0, 1).map(|uid| layout.parts(uid).time)
}
