//! Worker ids that are lent to generators of others: one id of a pool, its row, and the search. A
//! generator knows no reservations, so its holder has to end in time.

use std::collections::BTreeMap;

use stateright::{Model, Property};

use crate::promise;

/// A time, by the store's clock, that of a process, or in truth.
pub type Time = i8;
/// The secret of a loan.
pub type Holder = u8;

/// What keeps the holders of an id apart. The search leaves one out at a time, and must then find a
/// way to a broken promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// An id is lent only where its row is as it was found.
    AsFound,
    /// An id rests after its lease.
    Rests,
    /// The next holder's clock shows more than the last one's may have shown.
    ClockShowsMore,
    /// A holder whose clock went back tells what it must have shown.
    ClockIsRemembered,
    /// A renewal and a return are the holder's alone.
    HoldersAlone,
    /// A holder counts its lease from before it asked.
    CountsFromBefore,
    /// It ends with its lease, and does not go on when it has stood still.
    EndsInTime,
}

/// All rules. The last one no store can keep: it is the holder's.
pub const RULES: [Rule; 7] = [
    Rule::AsFound,
    Rule::Rests,
    Rule::ClockShowsMore,
    Rule::ClockIsRemembered,
    Rule::HoldersAlone,
    Rule::CountsFromBefore,
    Rule::EndsInTime,
];

/// The rules in force.
pub type Rules = crate::Rules<Rule>;

/// The last loan of the id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// 0 before the first.
    pub holder: Holder,
    pub lease_until: Time,
    pub rests_until: Time,
    pub clock_until: Time,
    pub is_returned: bool,
}

impl Row {
    fn is_held(self, store: Time) -> bool {
        self.holder > 0 && !self.is_returned && store < self.lease_until
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Lend,
    Renew,
    Return,
}

/// A request on the road, with the time and the clock's time when it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    pub kind: Kind,
    pub holder: Holder,
    pub asked: Time,
    pub told: Time,
    /// The row that a loan is to be made of.
    pub found: Option<Row>,
    /// Whether it was made, once the store has had it.
    pub is_made: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Process {
    /// How far its clock is ahead of the truth.
    pub ahead: Time,
    /// How far it was ahead at most.
    pub most: Time,
    /// The loan, the end of its use, and its first tick: a generator goes back behind none.
    pub loan: Option<(Holder, Time, Time)>,
    pub request: Option<Request>,
}

/// The bounds of a search.
#[derive(Clone, Debug)]
pub struct Pool {
    pub rules: Rules,
    /// How far the clock of each process is ahead.
    pub ahead: Vec<Time>,
    pub lease: Time,
    /// The largest step of the store's clock, and how far a clock may go back.
    pub rest: Time,
    pub back: Time,
    pub last: Time,
    pub loans: Holder,
    /// Whether a request may be given up, and come later.
    pub has_strays: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub now: Time,
    /// How far the store's clock is ahead.
    pub step: Time,
    pub row: Row,
    pub last_holder: Holder,
    pub processes: Vec<Process>,
    /// A request whose sender waits no longer.
    pub stray: Option<Request>,
    /// Who has made ids of which tick of a clock.
    pub made: BTreeMap<Time, Holder>,
    pub broken: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Clock,
    /// The store's clock goes ahead.
    Step,
    /// The clock of this process goes back.
    Back(usize),
    Send(usize, Kind),
    /// A loan begins by reading the row.
    Read(usize),
    Write(usize),
    Answer(usize),
    GiveUp(usize),
    StrayComes,
    /// A process makes an id of its clock's tick.
    Make(usize),
    Kill(usize),
}

/// No two use the id at one time.
pub const BOTH: &str = "no id has two holders at once";
/// No two holders make ids of one tick.
pub const TWICE: &str = "no tick of an id has two holders";

impl Pool {
    fn may_be_lent(&self, row: Row, store: Time, told: Time) -> bool {
        let rested = if self.rules.have(Rule::Rests) { row.rests_until } else { row.lease_until };
        let is_later = told > row.clock_until || !self.rules.have(Rule::ClockShowsMore);
        row.holder == 0 || rested <= store && is_later
    }

    /// What the store makes of a request.
    fn write(&self, state: &mut State, request: &Request) -> bool {
        let (row, store) = (state.row, state.now + state.step);
        let is_holder = row.holder == request.holder || !self.rules.have(Rule::HoldersAlone);
        let until = |end: Time, shown: Time| Row {
            holder: row.holder,
            lease_until: end,
            rests_until: end + self.rest,
            clock_until: shown,
            is_returned: false,
        };
        let changed = match request.kind {
            Kind::Lend => {
                let is_as_found = request.found == Some(row) || !self.rules.have(Rule::AsFound);
                let new = until(store + self.lease, request.told + self.lease);
                is_as_found.then_some(Row { holder: request.holder, ..new })
            }
            Kind::Renew if is_holder && row.is_held(store) => {
                let end = row.lease_until.max(store + self.lease);
                Some(until(end, request.told + self.lease))
            }
            Kind::Return if is_holder && row.is_held(store) => {
                Some(Row { is_returned: true, ..until(store, request.told) })
            }
            _ => None,
        };
        state.row = changed.unwrap_or(row);
        changed.is_some()
    }

    /// A process gets the answer to its request.
    fn answer(&self, state: &mut State, at: usize) -> Option<()> {
        let request = state.processes[at].request.filter(|request| request.is_made.is_some())?;
        state.processes[at].request = None;
        let from = if self.rules.have(Rule::CountsFromBefore) { request.asked } else { state.now };
        match (request.kind, request.is_made == Some(true)) {
            (Kind::Lend | Kind::Renew, true) => {
                let first = state.processes[at].loan.map_or(request.told, |loan| loan.2);
                let loan = (request.holder, from + self.lease, first);
                state.processes[at].loan = Some(loan);
            }
            (Kind::Renew, false) => state.processes[at].loan = None,
            (Kind::Lend, false) | (Kind::Return, _) => {}
        }
        let using = (0..state.processes.len()).filter(|&at| self.uses(state, at).is_some()).count();
        // One that stands still does not know of the end.
        promise(&mut state.broken, BOTH, using < 2 || !self.rules.have(Rule::EndsInTime));
        Some(())
    }

    /// The loan by which a process may make an id now.
    fn uses(&self, state: &State, at: usize) -> Option<Holder> {
        let (holder, until, _) = state.processes[at].loan?;
        (state.now < until || !self.rules.have(Rule::EndsInTime)).then_some(holder)
    }

    fn send(&self, state: &mut State, at: usize, kind: Kind) -> Option<()> {
        let process = &state.processes[at];
        let is_used = self.uses(state, at);
        if process.request.is_some() || (kind == Kind::Lend) == is_used.is_some() {
            return None;
        }
        let holder = match is_used {
            Some(holder) => holder,
            None if state.last_holder < self.loans => {
                state.last_holder += 1;
                state.last_holder
            }
            None => return None,
        };
        let process = &state.processes[at];
        let remembers = kind != Kind::Lend && self.rules.have(Rule::ClockIsRemembered);
        let ahead = if remembers { process.most } else { process.ahead };
        let (asked, told) = (state.now, state.now + ahead);
        let request = Request { kind, holder, asked, told, found: None, is_made: None };
        let process = &mut state.processes[at];
        process.request = Some(request);
        // It has ended its use before it returns the id.
        process.loan = process.loan.filter(|_| kind == Kind::Renew);
        Some(())
    }

    fn read(&self, state: &mut State, at: usize) -> Option<()> {
        let (row, store) = (state.row, state.now + state.step);
        let request = state.processes[at].request.as_mut()?;
        let is_first = request.kind == Kind::Lend && request.found.is_none();
        if !is_first || !self.may_be_lent(row, store, request.told) {
            return None;
        }
        request.found = Some(row);
        Some(())
    }

    fn write_of(&self, state: &mut State, at: usize) -> Option<()> {
        let request = state.processes[at].request?;
        let is_ready = request.kind != Kind::Lend || request.found.is_some();
        if request.is_made.is_some() || !is_ready {
            return None;
        }
        let is_made = self.write(state, &request);
        state.processes[at].request = Some(Request { is_made: Some(is_made), ..request });
        Some(())
    }

    /// The request of a process that waits no longer may come to the store later.
    fn give_up(&self, state: &mut State, at: usize) -> Option<()> {
        let request = state.processes[at].request.take()?;
        if request.is_made.is_none() && request.kind != Kind::Lend && self.has_strays {
            if state.stray.is_some() {
                return None;
            }
            state.stray = Some(request);
        }
        Some(())
    }

    fn make(&self, state: &mut State, at: usize) -> Option<()> {
        let holder = self.uses(state, at)?;
        let tick = state.now + state.processes[at].ahead;
        state.processes[at].loan.filter(|loan| loan.2 <= tick)?;
        let first = *state.made.entry(tick).or_insert(holder);
        promise(&mut state.broken, TWICE, first == holder);
        Some(())
    }
}

impl Model for Pool {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let process =
            |ahead: &Time| Process { ahead: *ahead, most: *ahead, loan: None, request: None };
        vec![State {
            now: 0,
            step: 0,
            row: Row {
                holder: 0,
                lease_until: 0,
                rests_until: 0,
                clock_until: 0,
                is_returned: true,
            },
            last_holder: 0,
            processes: self.ahead.iter().map(process).collect(),
            stray: None,
            made: BTreeMap::new(),
            broken: None,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.broken.is_some() {
            return;
        }
        actions.extend([Action::Clock, Action::Step, Action::StrayComes]);
        for at in 0..state.processes.len() {
            let kinds = [Kind::Lend, Kind::Renew, Kind::Return];
            actions.extend(kinds.map(|kind| Action::Send(at, kind)));
            actions.extend([Action::Read(at), Action::Write(at), Action::Answer(at)]);
            actions.extend([Action::GiveUp(at), Action::Make(at), Action::Kill(at)]);
            actions.push(Action::Back(at));
        }
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let before = state;
        let mut state = state.clone();
        match action {
            Action::Clock if state.now < self.last => state.now += 1,
            Action::Step if state.step < self.rest => state.step += 1,
            Action::Back(at) if state.processes[at].ahead == self.back && self.back > 0 => {
                state.processes[at].ahead = 0;
            }
            Action::Clock | Action::Step | Action::Back(_) => return None,
            Action::Send(at, kind) => self.send(&mut state, at, kind)?,
            Action::Read(at) => self.read(&mut state, at)?,
            Action::Write(at) => self.write_of(&mut state, at)?,
            Action::Answer(at) => self.answer(&mut state, at)?,
            Action::GiveUp(at) => self.give_up(&mut state, at)?,
            Action::StrayComes => {
                let stray = state.stray.take()?;
                self.write(&mut state, &stray);
            }
            Action::Make(at) => self.make(&mut state, at)?,
            Action::Kill(at) => {
                state.processes[at].loan.take()?;
                state.processes[at].request = None;
            }
        }
        (state != *before).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Pool>> {
        vec![
            Property::always(BOTH, |_, state: &State| state.broken != Some(BOTH)),
            Property::always(TWICE, |_, state: &State| state.broken != Some(TWICE)),
            Property::sometimes("an id has a second holder", |_, state: &State| {
                let holders: Vec<_> = state.made.values().collect();
                holders.windows(2).any(|two| two[0] != two[1])
            }),
            Property::sometimes("a clock is too far behind", |pool: &Pool, state: &State| {
                let told = state.now + state.processes[0].ahead;
                state.row.holder > 0
                    && state.row.rests_until <= state.now + state.step
                    && !pool.may_be_lent(state.row, state.now + state.step, told)
            }),
            Property::sometimes("a renewal comes after the end", |_, state: &State| {
                let is_late = |request: &Request| {
                    request.kind == Kind::Renew && request.is_made == Some(false)
                };
                state.processes.iter().filter_map(|p| p.request.as_ref()).any(is_late)
            }),
        ]
    }
}
