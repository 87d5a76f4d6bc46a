//! What the service gives: of the UIDs, of Leaf's snowflakes, of each tag and of each series,
//! whether it is given, or given from memory for a while, or not given, and why.
//!
//! This is the one state that the page, `/v1/status`, `/readyz`, the metrics and the log show. It
//! follows from what takes do and from what they have left, and not from what may be wrong: a cause
//! that nobody has thought of is told as any other.

use std::time::{Duration, Instant, SystemTime};

use uidring::{TakeError, UidGenerator};

use crate::app::App;
use crate::stats::grants::Grants;
use crate::stats::trouble::{Cause, Trouble};

/// Whether something is given.
#[derive(Clone, Debug)]
pub(crate) enum Supply {
    Giving,
    /// Nothing more comes. What is in memory is given, and lasts until then at the present rate.
    FromMemory {
        until: Option<SystemTime>,
        why: Trouble,
    },
    NotGiving(Trouble),
}

impl Supply {
    /// The state in one word.
    pub(crate) fn state_name(&self) -> &'static str {
        match self {
            Supply::Giving => "ok",
            Supply::FromMemory { .. } => "from-memory",
            Supply::NotGiving(_) => "empty",
        }
    }

    /// Why nothing more comes.
    pub(crate) fn why(&self) -> Option<&Trouble> {
        match self {
            Supply::Giving => None,
            Supply::FromMemory { why, .. } | Supply::NotGiving(why) => Some(why),
        }
    }

    /// Until when something is given.
    pub(crate) fn until(&self) -> Option<SystemTime> {
        match self {
            Supply::FromMemory { until, .. } => *until,
            _ => None,
        }
    }

    /// Whether nothing is given.
    pub(crate) fn is_out(&self) -> bool {
        matches!(self, Supply::NotGiving(_))
    }

    pub(crate) fn is_from_memory(&self) -> bool {
        matches!(self, Supply::FromMemory { .. })
    }
}

/// A kind of generator that the options enable.
#[derive(Clone, Copy)]
pub(crate) struct Generators<'a> {
    pub(crate) kind: &'static str,
    /// `None` before it has started.
    pub(crate) uids: Option<&'a UidGenerator>,
    grants: &'a Grants,
}

/// The generators that there are, or will be.
pub(crate) fn generators(app: &App) -> impl Iterator<Item = Generators<'_>> {
    let (options, watch) = (&app.options, &app.watch);
    let uids = options.uids.then(|| Generators {
        kind: "uids",
        uids: app.uids().ok(),
        grants: &watch.uid_grants,
    });
    let snowflakes = options.paths.leaf_snowflake.then(|| Generators {
        kind: "snowflakes",
        uids: app.snowflakes().ok(),
        grants: &watch.snowflake_grants,
    });
    uids.into_iter().chain(snowflakes)
}

impl Generators<'_> {
    /// Whether UIDs are given.
    pub(crate) fn supply(self, app: &App) -> Supply {
        let Some(uids) = self.uids else {
            let trouble = app.database_trouble();
            return Supply::NotGiving(
                trouble.unwrap_or_else(|| Trouble::of_cause(Cause::NotAsked)),
            );
        };
        let status = uids.status();
        let refusal = self.grants.trouble();
        // A take that failed says nothing any more once there are UIDs again.
        let failed = app.watch.demand.failure(self.kind).filter(|_| status.available == 0);
        if let Some(error) = status.obstacle.or(failed) {
            let why = match error {
                TakeError::LeaseExhausted { .. } => refusal,
                _ => None,
            };
            return Supply::NotGiving(why.unwrap_or_else(|| Trouble::of_uid_take(error)));
        }
        // A permanent worker id needs no database.
        let away = app.database_trouble().filter(|_| self.kind == "uids");
        match refusal.or(away).filter(|_| status.reserved_until.is_some()) {
            Some(why) => Supply::FromMemory { until: status.reserved_until, why },
            None => Supply::Giving,
        }
    }
}

/// The name of a generator on the page and in the log.
pub(crate) fn title(kind: &str) -> &'static str {
    match kind {
        "snowflakes" => "Leaf's snowflakes",
        _ => "UIDs",
    }
}

/// The time in so long.
pub(crate) fn in_time(left: Option<Duration>) -> Option<SystemTime> {
    left.and_then(|left| SystemTime::now().checked_add(left))
}

impl Trouble {
    /// The problem of takes of UIDs that fail with this error.
    pub(crate) fn of_uid_take(error: TakeError) -> Trouble {
        let cause = match error {
            TakeError::LeaseExhausted { .. } => Cause::NoTicks,
            TakeError::LeadLimit { .. } => Cause::Clock,
            TakeError::TimeExhausted { .. } => Cause::TimeOver,
            TakeError::BrokenRule { .. } => Cause::BrokenRule,
            TakeError::ShutDown => Cause::Ending,
            _ => Cause::Unknown,
        };
        Trouble { cause, text: error.to_string(), at: Instant::now() }
    }
}
