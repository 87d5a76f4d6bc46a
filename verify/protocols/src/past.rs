//! Ids of the past: worker ids that have all ticks, what a generator remembers of those it has
//! used, and the search.

use std::collections::{BTreeMap, BTreeSet};

use stateright::{Model, Property};

use crate::promise;

pub type Tick = u8;
pub type Worker = u8;
/// A tick, a worker id and a place in its sequence.
pub type Uid = (Tick, Worker, u8);

/// What keeps ids of the past apart. The search leaves one out at a time, and must then find a way
/// to a duplicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// A leased worker id, whose earlier ticks were others', is not for the past.
    NotLeased,
    /// Nor is a number of one's own, which earlier runs had.
    NotOwn,
    /// What was taken of a tick counts also after takes of other ticks.
    EachTickCounts,
    /// A tick whose takes are forgotten gets a further worker id.
    ForgottenIsUsed,
    /// A tick whose UIDs are all taken gets a further worker id.
    FullIsOver,
    /// A generator ends that gets a worker id again which it had.
    NewWorker,
}

/// All rules.
pub const RULES: [Rule; 6] = [
    Rule::NotLeased,
    Rule::NotOwn,
    Rule::EachTickCounts,
    Rule::ForgottenIsUsed,
    Rule::FullIsOver,
    Rule::NewWorker,
];

/// The rules in force.
pub type Rules = crate::Rules<Rule>;

/// What a generator of the past knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Past {
    /// In the order in which each tick uses them up.
    pub workers: Vec<Worker>,
    pub had: BTreeSet<Worker>,
    /// How many UIDs of which ticks were taken.
    pub used: BTreeMap<Tick, u8>,
    /// The last tick that is forgotten.
    pub forgotten: Option<Tick>,
    pub has_ended: bool,
}

/// How much a generator remembers, and how many UIDs a tick of a worker id has.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub ticks: usize,
    pub per_worker: u8,
}

impl Past {
    pub fn new(worker: Worker) -> Past {
        Past {
            workers: vec![worker],
            had: [worker].into(),
            used: BTreeMap::new(),
            forgotten: None,
            has_ended: false,
        }
    }

    /// Whether the next take of `tick` needs a further worker id.
    pub fn needs_worker(&self, tick: Tick, sizes: Sizes, rules: Rules) -> bool {
        let is_full = usize::from(self.used_of(tick) / sizes.per_worker) >= self.workers.len();
        self.is_forgotten(tick, rules) || is_full && rules.have(Rule::FullIsOver)
    }

    fn is_forgotten(&self, tick: Tick, rules: Rules) -> bool {
        rules.have(Rule::ForgottenIsUsed) && self.forgotten.is_some_and(|last| tick <= last)
    }

    fn used_of(&self, tick: Tick) -> u8 {
        self.used.get(&tick).copied().unwrap_or(0)
    }

    /// Takes on `worker` for `tick`.
    pub fn take_on(&mut self, tick: Tick, worker: Worker, rules: Rules) {
        if !self.had.insert(worker) && rules.have(Rule::NewWorker) {
            self.has_ended = true;
        } else if self.is_forgotten(tick, rules) {
            (self.workers, self.forgotten) = (vec![worker], None);
            self.used.clear();
        } else {
            self.workers.push(worker);
        }
    }

    /// Takes a UID of `tick`, for which there is one.
    pub fn take(&mut self, tick: Tick, sizes: Sizes, rules: Rules) -> Uid {
        let used = self.used_of(tick);
        if !rules.have(Rule::EachTickCounts) {
            self.used.retain(|known, _| *known == tick);
        }
        if !self.used.contains_key(&tick) && self.used.len() >= sizes.ticks {
            let middle = self.used.keys().copied().nth(self.used.len() / 2);
            self.used.retain(|known, _| Some(*known) > middle);
            self.forgotten = self.forgotten.max(middle);
        }
        self.used.insert(tick, used + 1);
        let at = usize::from(used / sizes.per_worker) % self.workers.len();
        (tick, self.workers[at], used % sizes.per_worker)
    }
}

/// The bounds of a search.
#[derive(Clone, Debug)]
pub struct Ids {
    pub rules: Rules,
    pub processes: usize,
    pub sizes: Sizes,
    /// The last tick that the clock comes to, and how many UIDs are taken in all.
    pub last: Tick,
    pub takes: usize,
}

/// Where a worker id comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    Permanent,
    Leased,
    Own,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Process {
    /// Takes at the clock's tick: the next tick and place.
    Present(Origin, Worker, Tick, u8),
    Past(Past),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub now: Tick,
    /// The largest worker id given.
    pub largest: Worker,
    /// The first tick of the next holder of the one leased id, and of the number of one's own.
    pub free_from: BTreeMap<Origin, Tick>,
    pub processes: Vec<Option<Process>>,
    pub given: BTreeSet<Uid>,
    pub broken: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The process of this number starts, for the present or the past.
    Start(usize, Origin, bool),
    /// It is killed.
    Kill(usize),
    /// It takes a UID, of this tick if it is of the past. If it needs a further worker id, the
    /// registry may give the one that it gave last.
    Take(usize, Tick, bool),
    Clock,
}

/// No UID is given twice.
pub const TWICE: &str = "no UID is given twice";

/// The id that is leased, and a number of one's own.
const LEASED: Worker = 100;
const OWN: Worker = 101;

impl Ids {
    fn start(&self, state: &mut State, at: usize, origin: Origin, is_past: bool) -> Option<()> {
        let is_good = match origin {
            Origin::Permanent => true,
            Origin::Leased => !self.rules.have(Rule::NotLeased),
            Origin::Own => !self.rules.have(Rule::NotOwn),
        };
        let is_held = |other: &Process| match other {
            Process::Present(held, ..) => *held == origin && origin != Origin::Permanent,
            Process::Past(past) => origin != Origin::Permanent && past.workers[0] >= LEASED,
        };
        let is_free = !state.processes.iter().flatten().any(is_held);
        if state.processes[at].is_some() || !is_free || is_past && !is_good {
            return None;
        }
        let first = state.free_from.get(&origin).copied().unwrap_or(0);
        let worker = match origin {
            Origin::Permanent => {
                state.largest += 1;
                state.largest
            }
            Origin::Leased => LEASED,
            Origin::Own => OWN,
        };
        state.processes[at] = Some(if is_past {
            Process::Past(Past::new(worker))
        } else {
            Process::Present(origin, worker, state.now.max(first), 0)
        });
        Some(())
    }

    fn take(&self, state: &mut State, at: usize, tick: Tick, repeats: bool) -> Option<()> {
        let State { now, largest, free_from, processes, given, broken } = state;
        let uid = match processes[at].as_mut()? {
            Process::Present(origin, worker, next, place) => {
                if tick != *now || repeats || *next > tick {
                    return None;
                }
                if *next < tick {
                    (*next, *place) = (tick, 0);
                }
                if *place == self.sizes.per_worker {
                    return None;
                }
                *place += 1;
                if *origin != Origin::Permanent {
                    free_from.insert(*origin, tick + 1);
                }
                (tick, *worker, *place - 1)
            }
            Process::Past(past) => {
                let needs = past.needs_worker(tick, self.sizes, self.rules);
                if past.has_ended || repeats && !needs {
                    return None;
                }
                if needs {
                    *largest += u8::from(!repeats);
                    let worker = if repeats { *past.had.last()? } else { *largest };
                    past.take_on(tick, worker, self.rules);
                }
                if past.has_ended {
                    return Some(());
                }
                past.take(tick, self.sizes, self.rules)
            }
        };
        promise(broken, TWICE, given.insert(uid));
        Some(())
    }
}

impl Model for Ids {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            now: 0,
            largest: 0,
            free_from: BTreeMap::new(),
            processes: vec![None; self.processes],
            given: BTreeSet::new(),
            broken: None,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.broken.is_some() {
            return;
        }
        if state.now < self.last {
            actions.push(Action::Clock);
        }
        for at in 0..self.processes {
            for origin in [Origin::Permanent, Origin::Leased, Origin::Own] {
                actions.extend([false, true].map(|is_past| Action::Start(at, origin, is_past)));
            }
            actions.push(Action::Kill(at));
            if state.given.len() < self.takes {
                for tick in 0..=state.now {
                    actions.extend([false, true].map(|repeats| Action::Take(at, tick, repeats)));
                }
            }
        }
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut state = state.clone();
        match action {
            Action::Start(at, origin, is_past) => self.start(&mut state, at, origin, is_past)?,
            Action::Kill(at) => drop(state.processes[at].take()?),
            Action::Take(at, tick, repeats) => self.take(&mut state, at, tick, repeats)?,
            Action::Clock => state.now += 1,
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Ids>> {
        fn has_past(state: &State, is_so: impl Fn(&Past) -> bool) -> bool {
            let mut processes = state.processes.iter().flatten();
            processes.any(|process| matches!(process, Process::Past(past) if is_so(past)))
        }
        vec![
            Property::always(TWICE, |_, state: &State| state.broken != Some(TWICE)),
            Property::sometimes("a tick has UIDs of two worker ids", |_, state: &State| {
                has_past(state, |past| past.workers.len() > 1)
            }),
            Property::sometimes("ticks are forgotten", |_, state: &State| {
                has_past(state, |past| past.forgotten.is_some())
            }),
            Property::sometimes("a worker id is for a forgotten tick", |_, state: &State| {
                has_past(state, |past| past.workers.len() < past.had.len())
            }),
            Property::sometimes("a generator has ended", |_, state: &State| {
                has_past(state, |past| past.has_ended)
            }),
            Property::sometimes("past and present have UIDs of a tick", |_, state: &State| {
                let of = |process: &Process| match process {
                    Process::Present(_, worker, ..) => *worker,
                    Process::Past(past) => past.workers[0],
                };
                let workers: Vec<_> = state.processes.iter().flatten().map(of).collect();
                let has =
                    |worker| state.given.iter().any(|uid| uid.0 == state.now && uid.1 == worker);
                has_past(state, |_| true) && workers.len() > 1 && workers.into_iter().all(has)
            }),
        ]
    }

    /// Each start uses a worker id up, so that without a bound there is no end of states.
    fn within_boundary(&self, state: &State) -> bool {
        state.largest <= 3
    }
}
