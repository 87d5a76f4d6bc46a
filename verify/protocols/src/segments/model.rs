//! All that processes, the store, the network and operators can do to a tag, for the search.

use stateright::{Model, Property};

use super::table::{Segment, Table};
use super::taker::{Received, Taker};
use super::{Key, Number, Rule, Rules};
use crate::{distinct, promise};

/// The bounds of a search.
#[derive(Clone, Debug)]
pub struct Tag {
    pub rules: Rules,
    pub processes: usize,
    /// How many numbers a load takes.
    pub counts: Vec<Number>,
    /// The last number that the row may give.
    pub largest: Number,
    /// How many requests that their senders have given up may be on the road.
    pub road: usize,
    pub operators: Operators,
}

/// What operators do to the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operators {
    Nothing,
    /// They remove the tag, and create it again.
    CreateAgain,
    /// They put an old copy back.
    Restore,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub table: Table,
    pub takers: Vec<Process>,
    /// Requests to give numbers back whose answer nobody waits for. Each arrives once, or never.
    pub road: Vec<GiveBack>,
    /// A bit for each number of the row that was handed out.
    pub given: u16,
    /// The promise that was broken.
    pub broken: Option<&'static str>,
    /// Whether an old copy was put back, which the promise excludes.
    pub is_old: bool,
    /// Whether numbers have been given back, and whether their row gave them again.
    pub back: (u16, bool),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Process {
    pub taker: Taker,
    /// What a load has read and not written, where it does not do both in one step.
    pub read: Option<Number>,
}

/// A request on the road.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GiveBack {
    pub key: Option<Key>,
    pub unused: Segment,
}

/// What becomes of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Answered,
    /// The numbers are counted as taken, and nobody is told.
    AnswerLost,
    /// The request never comes to the store.
    RequestLost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Load {
        process: usize,
        count: Number,
        fate: Fate,
    },
    /// The first half of a load that is not one step.
    Read {
        process: usize,
    },
    Take {
        process: usize,
    },
    /// A process ends, and gives back what is left. Where it is late, it does not wait for that.
    End {
        process: usize,
        is_late: bool,
    },
    Kill {
        process: usize,
    },
    /// A request that nobody waits for arrives.
    Arrive {
        call: usize,
    },
    Create {
        first: Number,
    },
    Remove,
    /// The row is put back to where it was when this was its last number.
    Restore {
        last: Number,
    },
}

/// No number of a row is handed out twice.
pub const TWICE: &str = "no number of a row is handed out twice";
/// Each number is with one process at most.
pub const HANDS: &str = "each number of a row is with one process at most";
/// The numbers of a process ascend.
pub const ORDER: &str = "the numbers of a process ascend";
/// A process has numbers of one row only.
pub const ONE_ROW: &str = "a process has numbers of one row only";
/// A process whose row went back has no later numbers of it.
pub const STOPPED: &str = "a process whose row went back has no later numbers of it";

/// The bits of a segment's numbers.
fn bits(segment: Segment) -> u16 {
    ((1 << segment.count) - 1) << segment.first
}

impl Tag {
    fn load(&self, state: &mut State, process: usize, count: Number, fate: Fate) -> Option<()> {
        let Process { taker, read } = &mut state.takers[process];
        if fate == Fate::RequestLost {
            // It takes it that the numbers were counted.
            let first = taker.last + 1;
            let segment = Segment { first, count, row_end: taker.last + count };
            let key = taker.key.filter(|_| !self.rules.have(Rule::NoAnswerNoNumbers))?;
            taker.receive(segment, key, self.rules);
            return Some(());
        }
        let is_stopped = taker.went_back;
        let known = taker.key;
        if let (Some(last), Some(row)) = (read.take(), &mut state.table.row) {
            row.last = last;
        }
        let (segment, key) = state.table.load(known, count, self.rules).ok()?;
        state.back.1 |= state.back.0 & bits(segment) != 0;
        if fate == Fate::AnswerLost {
            return Some(());
        }
        let is_behind = segment.first <= taker.last;
        if taker.receive(segment, key, self.rules) == Received::Accepted {
            promise(&mut state.broken, ORDER, !is_behind);
            promise(&mut state.broken, ONE_ROW, known.is_none_or(|known| known == key));
            promise(&mut state.broken, STOPPED, !is_stopped);
        }
        Some(())
    }

    fn take(state: &mut State, process: usize) -> Option<()> {
        let taker = &mut state.takers[process].taker;
        let number = taker.take()?;
        if taker.key == state.table.row.map(|row| row.key) {
            let is_new = state.given & 1 << number == 0;
            state.given |= 1 << number;
            promise(&mut state.broken, TWICE, is_new || state.is_old);
        }
        Some(())
    }

    fn end(&self, state: &mut State, process: usize, is_late: bool) {
        let Process { taker, .. } = std::mem::take(&mut state.takers[process]);
        let Some(unused) = taker.unused(self.rules) else { return };
        let call = GiveBack { key: taker.key, unused };
        if is_late {
            state.road.push(call);
        } else {
            self.give_back(state, call);
            if !self.rules.have(Rule::GiveBackOnce) && state.road.len() < self.road {
                state.road.push(call);
            }
        }
    }

    fn give_back(&self, state: &mut State, GiveBack { key, unused }: GiveBack) {
        if state.table.give_back(key, unused, self.rules) {
            state.back.0 |= bits(unused);
        }
    }

    /// Makes states equal between which nobody can tell the difference.
    fn simplify(&self, state: &mut State) {
        let current = state.table.row.map(|row| row.key);
        // A key is either that of the row, 1, or of no row for ever, 0.
        let name = |key: Key| Key::from(current == Some(key));
        for Process { taker, .. } in &mut state.takers {
            taker.key = taker.key.map(name);
        }
        for call in &mut state.road {
            call.key = call.key.map(name);
        }
        let is_dropped = self.rules.have(Rule::BackToItsRow);
        state.road.retain(|call| call.key != Some(0) || !is_dropped);
        if let Some(row) = &mut state.table.row {
            row.key = 1;
        }
        state.table.keys = 1;
        if state.is_old {
            (state.given, state.back) = (0, (0, false));
        }
        state.takers.sort_unstable();
        state.road.sort_unstable();
    }

    fn process_actions(&self, state: &State, process: usize, actions: &mut Vec<Action>) {
        let Process { taker, read } = &state.takers[process];
        let left = state.table.row.map_or(0, |row| self.largest.saturating_sub(row.last));
        for &count in self.counts.iter().filter(|count| **count <= left) {
            if !taker.may_load(self.rules) {
                break;
            }
            if read.is_some() || self.rules.have(Rule::LoadAtOnce) {
                let load = |fate| Action::Load { process, count, fate };
                let fates = [Fate::Answered, Fate::AnswerLost, Fate::RequestLost];
                actions.extend(fates.map(load));
            } else {
                actions.push(Action::Read { process });
            }
        }
        if taker.has_next() {
            actions.push(Action::Take { process });
        }
        if *taker != Taker::default() {
            actions.push(Action::End { process, is_late: false });
            if state.road.len() < self.road {
                actions.push(Action::End { process, is_late: true });
            }
            actions.push(Action::Kill { process });
        }
    }
}

impl Model for Tag {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let mut table = Table::default();
        table.create(1);
        vec![State {
            table,
            takers: vec![Process::default(); self.processes],
            road: Vec::new(),
            given: 0,
            broken: None,
            is_old: false,
            back: (0, false),
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.broken.is_some() {
            return;
        }
        for process in distinct(&state.takers) {
            self.process_actions(state, process, actions);
        }
        actions.extend((0..state.road.len()).map(|call| Action::Arrive { call }));
        match (self.operators, state.table.row) {
            (Operators::CreateAgain, None) => {
                actions.extend([1, 2].map(|first| Action::Create { first }));
            }
            (Operators::CreateAgain, Some(_)) => actions.push(Action::Remove),
            (Operators::Restore, Some(row)) => {
                actions.extend((0..row.last).map(|last| Action::Restore { last }));
            }
            _ => {}
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Load { process, count, fate } => {
                self.load(&mut state, process, count, fate)?;
            }
            Action::Read { process } => {
                state.takers[process].read = Some(state.table.row?.last);
            }
            Action::Take { process } => Tag::take(&mut state, process)?,
            Action::End { process, is_late } => self.end(&mut state, process, is_late),
            Action::Kill { process } => state.takers[process] = Process::default(),
            Action::Arrive { call } => {
                let call = if self.rules.have(Rule::GiveBackOnce) {
                    state.road.remove(call)
                } else {
                    state.road[call]
                };
                self.give_back(&mut state, call);
            }
            Action::Create { first } => {
                state.table.create(first);
                (state.given, state.back) = (0, (0, false));
            }
            Action::Remove => {
                state.table.remove();
            }
            Action::Restore { last } => {
                state.table.row.as_mut()?.last = last;
                state.is_old = true;
            }
        }
        self.simplify(&mut state);
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Tag>> {
        let mut properties = vec![
            Property::always(TWICE, |_, state: &State| state.broken != Some(TWICE)),
            Property::always(HANDS, is_in_one_hand),
            Property::always(ORDER, |_, state: &State| state.broken != Some(ORDER)),
            Property::always(ONE_ROW, |_, state: &State| state.broken != Some(ONE_ROW)),
            Property::always(STOPPED, |_, state: &State| state.broken != Some(STOPPED)),
            sometimes("a process holds segments with a gap", |_, state| {
                state.takers.iter().any(|process| process.taker.loaded.len() > 1)
            }),
        ];
        if self.road > 0 {
            properties.push(sometimes("a row ends again where a late request ends", is_met_again));
        }
        match self.operators {
            Operators::Nothing => {
                let name = "numbers given back are given again";
                properties.push(sometimes(name, |_, state| state.back.1));
            }
            Operators::CreateAgain => {
                properties.push(sometimes("another row stands in its place", |_, state| {
                    let is_old = |process: &Process| process.taker.key == Some(0);
                    state.table.row.is_some() && state.takers.iter().any(is_old)
                }));
            }
            Operators::Restore => {
                properties.push(sometimes("a process notices an old copy", |_, state| {
                    state.takers.iter().any(|process| process.taker.went_back)
                }));
            }
        }
        properties
    }
}

fn sometimes(name: &'static str, condition: fn(&Tag, &State) -> bool) -> Property<Tag> {
    Property::sometimes(name, condition)
}

/// Whether nobody holds numbers of the row that others hold or have handed out.
fn is_in_one_hand(_: &Tag, state: &State) -> bool {
    if state.is_old {
        return true;
    }
    let key = state.table.row.map(|row| row.key);
    let takers = state.takers.iter().filter(|process| process.taker.key == key);
    let mut held = state.given;
    takers.flat_map(|process| &process.taker.loaded).all(|&segment| {
        let is_free = held & bits(segment) == 0;
        held |= bits(segment);
        is_free
    })
}

/// A request to give numbers back has been overtaken by a later load and giving back.
fn is_met_again(_: &Tag, state: &State) -> bool {
    let Some(row) = state.table.row else { return false };
    let later = state.back.0 >> (row.last + 1);
    state.road.iter().any(|call| call.unused.row_end == row.last && later != 0)
}
