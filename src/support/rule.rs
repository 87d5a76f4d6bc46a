//! [`BrokenRule`]: a rule that the proof of uniqueness rests on did not hold where it was checked.
//!
//! Such a check stands where little is done, such as where a block is published or an answer of a
//! store is taken on, and in every build. `docs/design/checks.md` says where each one is.

use std::error::Error;
use std::fmt;

/// A rule on which it rests that no id is given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u8)]
pub enum Rule {
    /// A block lies above those of the same worker id that were published before it.
    BlockAbove = 1,
    /// A block lies within the ticks that are reserved.
    BlockReserved,
    /// What may be published lies within the ticks of the lease in use.
    WindowInLease,
    /// A worker id that a generator has had begins after all ticks that it has had of it.
    WorkerIdOnce,
    /// A registry confirms no fewer ticks than it has confirmed before.
    ReservationKept,
}

/// A rule that did not hold, with the numbers that show it. Nothing more is given then, because an
/// id given twice is worse than none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BrokenRule {
    /// The rule.
    pub rule: Rule,
    /// The worker id whose ids could have come twice.
    pub worker: u64,
    /// What was found: the first UID of a block for the rules of blocks, else a tick.
    pub found: u64,
    /// What the rule compares it with, in the same unit.
    pub bound: u64,
}

impl Rule {
    /// The rule of this number.
    pub(crate) fn of_number(number: u8) -> Rule {
        match number {
            1 => Rule::BlockAbove,
            2 => Rule::BlockReserved,
            3 => Rule::WindowInLease,
            4 => Rule::WorkerIdOnce,
            _ => Rule::ReservationKept,
        }
    }

    /// Fails if the rule does not hold: with what was `found`, and the `bound` that it breaks.
    pub(crate) fn check(
        self,
        holds: bool,
        worker: u64,
        found: u64,
        bound: u64,
    ) -> Result<(), BrokenRule> {
        if holds { Ok(()) } else { Err(BrokenRule { rule: self, worker, found, bound }) }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Rule::BlockAbove => "a block of UIDs did not lie above an earlier one",
            Rule::BlockReserved => "a block of UIDs lay past the ticks that are reserved",
            Rule::WindowInLease => "the ticks to be given did not lie within the lease",
            Rule::WorkerIdOnce => {
                "the registry gave a worker id again with ticks that were this generator's"
            }
            Rule::ReservationKept => "the registry confirmed fewer ticks than before",
        })
    }
}

impl fmt::Display for BrokenRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BrokenRule { rule, worker, found, bound } = self;
        match rule {
            Rule::BlockAbove | Rule::BlockReserved => {
                write!(f, "{rule}: worker id {worker}, UID {found}, after UID {bound}")
            }
            Rule::WindowInLease => {
                write!(f, "{rule}: worker id {worker}, tick {found}, with the limit {bound}")
            }
            Rule::WorkerIdOnce => {
                write!(f, "{rule}: worker id {worker}, from tick {found} on, after {bound}")
            }
            Rule::ReservationKept => {
                write!(f, "{rule}: worker id {worker}, up to tick {found}, after {bound}")
            }
        }
    }
}

impl Error for BrokenRule {}
