//! All that processes, the store, the network and operators can do to worker ids, for the search.

use stateright::{Model, Property};

use super::holder::Holder;
use super::properties::{EARLY, FOR_EVER, OUTSIDE, TOO_LATE, TWICE};
use super::registry::{Lease, Registry, Request, Terms};
use super::state::{Call, Leases, MOST, Process, Start, State};
use super::{Rule, Text, Tick, Time, Worker};
use crate::{distinct, promise};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A process begins the transaction of a start, by a clock that shows `now`.
    Begin {
        process: usize,
        start: usize,
        now: Tick,
    },
    /// That transaction writes.
    Finish {
        process: usize,
    },
    /// A taker uses the next tick, of the lease or of the retired one.
    Use {
        process: usize,
        is_retired: bool,
    },
    /// Ticks up to this one are asked for. Where it is late, the process gets no answer.
    Reserve {
        process: usize,
        last: Tick,
        is_late: bool,
    },
    /// A generator is shut down, perhaps while a taker holds a ticket.
    End {
        process: usize,
        has_straggler: bool,
        is_late: bool,
    },
    /// The retired lease is given back.
    GiveBack {
        process: usize,
        is_late: bool,
    },
    Kill {
        process: usize,
    },
    /// A request that was given up arrives.
    Arrive {
        call: usize,
    },
    /// The store's clock goes on, or back.
    Pass(Time),
    Revoke {
        store: usize,
        worker: Worker,
    },
    Delete {
        store: usize,
        worker: Worker,
    },
}

impl Leases {
    fn request(&self, terms: &Terms, now: Tick) -> Request {
        Request { now, latest: (now + self.lead).min(terms.max_tick) }
    }

    /// Hands a lease to a process, which retires the one before.
    fn give(&self, state: &mut State, process: usize, lease: Lease, now: Tick) {
        let Start { terms, .. } = self.starts[state.processes[process].start];
        let id = usize::from(lease.worker);
        let latest = self.request(&terms, now).latest;
        let is_inside = (terms.ids.0..=terms.ids.1).contains(&lease.worker);
        promise(&mut state.broken, OUTSIDE, is_inside);
        // A new id begins at the clock.
        promise(&mut state.broken, TOO_LATE, lease.first <= latest.max(now));
        promise(&mut state.broken, FOR_EVER, !state.for_ever[id]);
        state.for_ever[id] |= lease.text.is_none();
        let process = &mut state.processes[process];
        if let Some(before) = process.lease.replace(Holder::new(&lease, now)) {
            (process.retired, process.is_due) = (Some(before), before.text.is_some());
        }
    }

    fn begin(&self, state: &mut State, process: usize, start: usize, now: Tick) -> Option<()> {
        let Start { store, terms } = self.starts[start];
        let request = self.request(&terms, now);
        state.processes[process].start = start;
        let registry = &mut state.stores[store];
        registry.begin(&terms, self.rules).ok()?;
        self.find_or_give(state, process, request)
    }

    /// Finds a free row, which a later step lends, or gives a new id.
    fn find_or_give(&self, state: &mut State, process: usize, request: Request) -> Option<()> {
        let Start { store, terms } = self.starts[state.processes[process].start];
        let registry = &mut state.stores[store];
        if let Some(free) = registry.free(&terms, request, self.rules) {
            let row = registry.rows.iter().find(|row| row.worker == free.worker)?;
            let is_over = row.lease.is_none_or(|lease| lease.lease_until <= 0);
            promise(&mut state.broken, EARLY, is_over);
            state.processes[process].opening = Some((free, request.now));
            return Some(());
        }
        state.processes[process].opening = None;
        let lease = registry.give_new(&terms, request, self.rules).ok()?;
        self.give(state, process, lease, request.now);
        Some(())
    }

    fn finish(&self, state: &mut State, process: usize) -> Option<()> {
        let Start { store, terms } = self.starts[state.processes[process].start];
        let (free, now) = state.processes[process].opening.take()?;
        let request = self.request(&terms, now);
        match state.stores[store].lend(free, &terms, request, self.rules) {
            Some(lease) => self.give(state, process, lease, now),
            // It looks again.
            None if self.find_or_give(state, process, request).is_none() => {
                state.processes[process].opening = None;
            }
            None => {}
        }
        Some(())
    }

    fn use_tick(state: &mut State, process: usize, is_retired: bool) -> Option<()> {
        let process = &mut state.processes[process];
        let holder = if is_retired { &mut process.retired } else { &mut process.lease };
        let holder = holder.as_mut()?;
        let tick = holder.next()?;
        holder.use_up_to(tick);
        let used = &mut state.used[usize::from(holder.worker)];
        let is_new = *used & 1 << tick == 0;
        *used |= 1 << tick;
        promise(&mut state.broken, TWICE, is_new);
        Some(())
    }

    fn reserve(&self, state: &mut State, process: usize, last: Tick, is_late: bool) -> Option<()> {
        let Start { store, terms } = self.starts[state.processes[process].start];
        let (_, time) = terms.lease?;
        let holder = state.processes[process].lease.as_mut()?;
        let id = (holder.worker, holder.text?);
        holder.ask(last, self.rules);
        if is_late {
            state.road.push(Call::Reserve { store, id, last });
        } else {
            let answer = state.stores[store].reserve(id, last, time, self.rules);
            holder.answered(last, answer, self.rules);
        }
        Some(())
    }

    fn release(&self, state: &mut State, process: usize, used: Tick, is_late: bool) -> Option<()> {
        let store = self.starts[state.processes[process].start].store;
        let retired = state.processes[process].retired?;
        let id = (retired.worker, retired.text?);
        if is_late {
            state.road.push(Call::Release { store, id, used });
        } else {
            // If the lease is lost, another has the id already.
            let _ = state.stores[store].release(id, used, self.rules);
        }
        Some(())
    }

    fn end(
        &self,
        state: &mut State,
        process: usize,
        has_straggler: bool,
        is_late: bool,
    ) -> Option<()> {
        let ending = &mut state.processes[process];
        let mut holder = ending.lease.take()?;
        let used = holder.used_at_end(has_straggler, self.rules);
        holder.is_open = has_straggler;
        (ending.retired, ending.is_due) = (Some(holder), false);
        // A permanent id is not given back.
        let _ = self.release(state, process, used, is_late);
        Some(())
    }

    fn give_back(&self, state: &mut State, process: usize, is_late: bool) -> Option<()> {
        state.processes[process].is_due = false;
        // Every reserved tick counts, since a taker may be about to use one.
        let used = state.processes[process].retired?.used_at_end(true, self.rules);
        self.release(state, process, used, is_late)
    }

    fn arrive(&self, state: &mut State, call: usize) {
        match state.road[call] {
            Call::Reserve { store, id, last } => {
                let time = self.starts.iter().find_map(|start| start.terms.lease);
                let (_, time) = time.unwrap_or_default();
                let _ = state.stores[store].reserve(id, last, time, self.rules);
            }
            Call::Release { store, id, used } => {
                let _ = state.stores[store].release(id, used, self.rules);
            }
        }
    }

    /// Makes states equal between which nobody can tell the difference.
    fn simplify(&self, state: &mut State) {
        for holder in state.processes.iter_mut().flat_map(|p| [&mut p.lease, &mut p.retired]) {
            if holder.is_some_and(|holder| !holder.is_open || holder.used == holder.last)
                && holder.is_some_and(|holder| holder.text.is_none())
            {
                *holder = None;
            }
        }
        for process in &mut state.processes {
            let is_done = |retired: &Holder| !process.is_due && retired.next().is_none();
            process.retired = process.retired.filter(|retired| !is_done(retired));
            if process.retired.is_none() {
                process.is_due = false;
            }
            if process.lease.is_none() && process.retired.is_none() && process.opening.is_none() {
                process.start = 0;
            }
        }
        for registry in &mut state.stores {
            for lease in registry.rows.iter_mut().filter_map(|row| row.lease.as_mut()) {
                lease.lease_until = lease.lease_until.max(0);
            }
        }
        if self.rules.have(Rule::FreshText) {
            self.rename(state);
        }
        state.processes.sort_unstable();
        state.road.sort_unstable();
        state.road.dedup();
    }

    /// A text is either that of its row, 1, or of no row for ever, 0. A request with a text of no
    /// row has no effect any more.
    fn rename(&self, state: &mut State) {
        let stores = &mut state.stores;
        let name = |store: usize, (worker, text): (Worker, Text)| {
            let rows = &stores[store].rows;
            let row = rows.iter().find(|row| row.worker == worker);
            let holder = row.and_then(|row| row.lease?.holder);
            Text::from(holder == Some(text))
        };
        for process in &mut state.processes {
            let store = self.starts[process.start].store;
            for holder in [&mut process.lease, &mut process.retired].into_iter().flatten() {
                holder.text = holder.text.map(|text| name(store, (holder.worker, text)));
            }
        }
        let rules = self.rules;
        state.road.retain_mut(|call| {
            let (Call::Reserve { store, id, .. } | Call::Release { store, id, .. }) = call;
            id.1 = name(*store, *id);
            let rule = match call {
                Call::Reserve { .. } => Rule::ReserveByHolder,
                Call::Release { .. } => Rule::ReleaseByHolder,
            };
            let (Call::Reserve { id, .. } | Call::Release { id, .. }) = call;
            id.1 == 1 || !rules.have(rule)
        });
        for registry in stores {
            registry.leases = 1;
            for lease in registry.rows.iter_mut().filter_map(|row| row.lease.as_mut()) {
                lease.holder = lease.holder.map(|_| 1);
            }
        }
    }

    fn process_actions(&self, state: &State, index: usize, actions: &mut Vec<Action>) {
        let process = &state.processes[index];
        let is_late = state.road.len() < self.road;
        let late = [false].into_iter().chain(is_late.then_some(true));
        let is_locked = state.processes.iter().any(|process| process.opening.is_some());
        if process.opening.is_some() {
            actions.push(Action::Finish { process: index });
        }
        if !is_locked && !process.is_due {
            for start in 0..self.starts.len() {
                if process.lease.is_none() && process.retired.is_none() || start == process.start {
                    let begin = |&now| Action::Begin { process: index, start, now };
                    actions.extend(self.clocks.iter().map(begin));
                }
            }
        }
        for (holder, is_retired) in [(&process.lease, false), (&process.retired, true)] {
            if holder.is_some_and(|holder| holder.next().is_some()) {
                actions.push(Action::Use { process: index, is_retired });
            }
        }
        if let Some(holder) = process.lease {
            let max_tick = self.starts[process.start].terms.max_tick;
            for ahead in self.ahead.iter().filter(|_| holder.may_reserve()) {
                let last = (holder.last + ahead).min(max_tick);
                actions.extend(late.clone().map(|is_late| Action::Reserve {
                    process: index,
                    last,
                    is_late,
                }));
            }
            if process.opening.is_none() {
                for has_straggler in [false, true] {
                    let end = |is_late| Action::End { process: index, has_straggler, is_late };
                    actions.extend(late.clone().map(end));
                }
            }
        }
        if process.is_due {
            actions.extend(late.map(|is_late| Action::GiveBack { process: index, is_late }));
        }
        if *process != Process::default() {
            actions.push(Action::Kill { process: index });
        }
    }
}

impl Model for Leases {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let count = self.starts.iter().map(|start| start.store).max().unwrap_or(0) + 1;
        let mut stores = vec![Registry::default(); count];
        // The first program that used a store named the right ids.
        for start in self.starts.iter().rev() {
            stores[start.store].ids = Some(start.terms.ids);
        }
        vec![State {
            stores,
            processes: vec![Process::default(); self.processes],
            road: Vec::new(),
            used: [0; MOST + 1],
            for_ever: [false; MOST + 1],
            broken: None,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.broken.is_some() {
            return;
        }
        for process in distinct(&state.processes) {
            self.process_actions(state, process, actions);
        }
        actions.extend((0..state.road.len()).map(|call| Action::Arrive { call }));
        actions.push(Action::Pass(1));
        if self.goes_back {
            actions.push(Action::Pass(-1));
        }
        if self.has_operators {
            for (store, registry) in state.stores.iter().enumerate() {
                for row in &registry.rows {
                    let worker = row.worker;
                    actions.push(Action::Delete { store, worker });
                    if row.lease.is_some() {
                        actions.push(Action::Revoke { store, worker });
                    }
                }
            }
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Begin { process, start, now } => self.begin(&mut state, process, start, now)?,
            Action::Finish { process } => self.finish(&mut state, process)?,
            Action::Use { process, is_retired } => {
                Leases::use_tick(&mut state, process, is_retired)?;
            }
            Action::Reserve { process, last, is_late } => {
                self.reserve(&mut state, process, last, is_late)?;
            }
            Action::End { process, has_straggler, is_late } => {
                self.end(&mut state, process, has_straggler, is_late)?;
            }
            Action::GiveBack { process, is_late } => {
                self.give_back(&mut state, process, is_late)?;
            }
            Action::Kill { process } => state.processes[process] = Process::default(),
            Action::Arrive { call } => self.arrive(&mut state, call),
            Action::Pass(time) => {
                let is_over = |time: Time| time <= 0 || time > 2;
                let leases = || last.stores.iter().flat_map(|store| &store.rows);
                if time < 0 && leases().all(|row| row.lease.is_none_or(|l| is_over(l.lease_until)))
                {
                    return None;
                }
                state.stores.iter_mut().for_each(|store| store.pass(time));
            }
            Action::Revoke { store, worker } => {
                state.stores[store].revoke(worker);
            }
            Action::Delete { store, worker } => state.stores[store].delete(worker),
        }
        self.simplify(&mut state);
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Leases>> {
        super::properties::all(self)
    }
}
