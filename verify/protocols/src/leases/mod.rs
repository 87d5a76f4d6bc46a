//! Worker ids: the registry's rows, what a generator does with its leases, and the search.

pub mod holder;
pub mod model;
pub mod properties;
pub mod registry;
pub mod state;

/// A tick of a worker id.
pub type Tick = u16;
/// A time by the store's clock, which is always 0 in a state: rows store how long they last.
pub type Time = i16;
/// A worker id.
pub type Worker = u8;
/// The random text that names the holder of a lease. Only whether two are equal counts.
pub type Text = u8;

/// What keeps the ticks of a worker id apart. The search leaves one out at a time, and must then
/// find a way to a duplicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// A reservation is written only where the row names this holder.
    ReserveByHolder,
    /// An id is freed only where the row names this holder.
    ReleaseByHolder,
    /// A reservation never moves the end of the reserved ticks back.
    ForwardOnly,
    /// The next holder begins after the reserved ticks.
    AfterReserved,
    /// The row is lent only if it is as it was when it was found free.
    LendAsFound,
    /// Each lease has a text of its own.
    FreshText,
    /// An id is lent again only when its lease is over, by the store's clock.
    Expiry,
    /// An id is lent again only if its ticks begin no later than the caller can use them.
    NotTooLate,
    /// An id that was given for ever is not lent.
    PermanentStays,
    /// The largest id given is known, also when its row has been deleted.
    LargestGiven,
    /// A registry gives only the ids of its partition.
    Partition,
    /// A registry remembers which ids it was first used with, and refuses others.
    SameIds,
    /// A holder uses no tick before the registry has answered that it is reserved.
    ReserveBeforeUse,
    /// A holder that is told that its lease is lost reserves no more.
    LostIsLost,
    /// What is given back counts the ticks that were used.
    UsedCounts,
    /// What is given back counts all reserved ticks while a taker may still use one.
    StragglersCount,
}

/// All rules.
pub const RULES: [Rule; 16] = [
    Rule::ReserveByHolder,
    Rule::ReleaseByHolder,
    Rule::ForwardOnly,
    Rule::AfterReserved,
    Rule::LendAsFound,
    Rule::FreshText,
    Rule::Expiry,
    Rule::NotTooLate,
    Rule::PermanentStays,
    Rule::LargestGiven,
    Rule::Partition,
    Rule::SameIds,
    Rule::ReserveBeforeUse,
    Rule::LostIsLost,
    Rule::UsedCounts,
    Rule::StragglersCount,
];

/// The rules in force.
pub type Rules = crate::Rules<Rule>;
