//! The bounds of a search for worker ids, and its states.

use super::holder::Holder;
use super::registry::{Free, Registry, Terms};
use super::{Rules, Text, Tick, Worker};

/// The bounds of a search.
#[derive(Clone, Debug)]
pub struct Leases {
    pub rules: Rules,
    pub processes: usize,
    /// What a start may ask for, and in which store. A process that goes on asks for the same.
    pub starts: Vec<Start>,
    /// What the clock of a start may show.
    pub clocks: Vec<Tick>,
    /// How far ahead of its clock a generator may begin.
    pub lead: Tick,
    /// By how many ticks a reservation goes beyond what is reserved.
    pub ahead: Vec<Tick>,
    /// How many requests that their senders have given up may be on the road.
    pub road: usize,
    /// Whether operators revoke leases and delete rows.
    pub has_operators: bool,
    /// Whether the store's clock goes back as well.
    pub goes_back: bool,
}

/// What a start asks for.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    pub store: usize,
    pub terms: Terms,
}

/// The largest worker id of a search.
pub const MOST: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub stores: Vec<Registry>,
    pub processes: Vec<Process>,
    /// Requests that were given up. Each may arrive at any time, more than once, or never.
    pub road: Vec<Call>,
    /// A bit for each tick of a worker id that was used.
    pub used: [u16; MOST + 1],
    /// The ids that were given for ever.
    pub for_ever: [bool; MOST + 1],
    /// The promise that was broken.
    pub broken: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Process {
    /// Which of the starts it is.
    pub start: usize,
    pub lease: Option<Holder>,
    /// A lease that is no longer in use. A taker that came before may still use its ticks.
    pub retired: Option<Holder>,
    /// Whether the retired lease has yet to be given back.
    pub is_due: bool,
    /// The transaction of a start, between its reading and its writing.
    pub opening: Option<(Free, Tick)>,
}

/// A request on the road.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Call {
    Reserve { store: usize, id: (Worker, Text), last: Tick },
    Release { store: usize, id: (Worker, Text), used: Tick },
}
