//! What must always hold, and what the search must come to.

use stateright::Property;

use super::registry::LeaseRow;
use super::state::{Call, Leases, Process, State};

/// No tick of a worker id is used twice.
pub const TWICE: &str = "no tick of a worker id is used twice";
/// No tick is used past what its row has reserved.
pub const RESERVED: &str = "no tick is used past what its row has reserved";
/// A lease is lent again only when it is over.
pub const EARLY: &str = "a lease is lent again only when it is over";
/// A lease begins no later than it was asked for.
pub const TOO_LATE: &str = "a lease begins no later than it was asked for";
/// Each worker id is one of the partition.
pub const OUTSIDE: &str = "each worker id is one of the partition";
/// An id that was given for ever is given once.
pub const FOR_EVER: &str = "an id that was given for ever is given once";

/// Whether the holder of `lease` finds its text in its row.
fn row_of<'a>(model: &Leases, state: &'a State, process: &Process) -> Option<&'a LeaseRow> {
    let worker = process.lease?.worker;
    let store = &state.stores[model.starts[process.start].store];
    store.rows.iter().find(|row| row.worker == worker)?.lease.as_ref()
}

fn is_reserved(_: &Leases, state: &State) -> bool {
    state.stores.iter().flat_map(|store| &store.rows).all(|row| {
        let used = state.used[usize::from(row.worker)];
        row.lease.is_none_or(|lease| used >> (lease.reserved_until + 1) == 0)
    })
}

/// Two live processes hold one id, and the one that lost it has not been told.
fn is_taken_over(_: &Leases, state: &State) -> bool {
    let held = |process: &Process| process.lease.map(|lease| (lease.worker, lease.is_lost));
    let holders: Vec<_> = state.processes.iter().filter_map(held).collect();
    let is_twin = |(index, (worker, is_lost)): (usize, &(u8, bool))| {
        let others = holders.iter().enumerate().filter(|(other, _)| *other != index);
        !is_lost && others.map(|(_, other)| other.0).any(|other| other == *worker)
    };
    holders.iter().enumerate().any(is_twin)
}

/// A holder goes on although its lease is over.
fn is_paused_over_the_end(model: &Leases, state: &State) -> bool {
    state.processes.iter().any(|process| {
        let row = row_of(model, state, process);
        let is_over = row.is_some_and(|row| row.holder.is_some() && row.lease_until <= 0);
        is_over && process.lease.is_some_and(|lease| lease.next().is_some())
    })
}

/// The registry has reserved what its holder does not know to be reserved.
fn is_answer_lost(model: &Leases, state: &State) -> bool {
    state.processes.iter().any(|process| {
        let (row, lease) = (row_of(model, state, process), process.lease);
        row.zip(lease).is_some_and(|(row, lease)| {
            row.holder.is_some() && row.holder == lease.text && row.reserved_until > lease.last
        })
    })
}

/// A request that was given up is still on the road when a later one has been answered.
fn is_repeated(_: &Leases, state: &State) -> bool {
    state.road.iter().any(|call| match call {
        Call::Reserve { id, last, .. } => state.processes.iter().any(|process| {
            let is_same = |lease: &super::holder::Holder| lease.worker == id.0;
            process.lease.filter(is_same).is_some_and(|lease| {
                lease.text == Some(id.1) && !lease.is_lost && lease.last > *last
            })
        }),
        Call::Release { .. } => false,
    })
}

/// A generator has another id, and its ticks of the one before are still used.
fn goes_on_with_another(_: &Leases, state: &State) -> bool {
    state.processes.iter().any(|process| {
        process.lease.zip(process.retired).is_some_and(|(lease, retired)| {
            lease.worker != retired.worker && retired.is_lost && retired.next().is_some()
        })
    })
}

/// Two of one start's ids are used at one time by two processes.
fn has_straggler_beside_next(_: &Leases, state: &State) -> bool {
    state.processes.iter().any(|one| {
        one.retired.is_some_and(|retired| {
            let is_next =
                |other: &Process| other.lease.is_some_and(|lease| lease.worker == retired.worker);
            !one.is_due && retired.next().is_some() && state.processes.iter().any(is_next)
        })
    })
}

/// A start has found a row free, and meanwhile the row was written.
fn is_row_changed_in_between(model: &Leases, state: &State) -> bool {
    state.processes.iter().any(|process| {
        process.opening.is_some_and(|(free, _)| {
            let store = &state.stores[model.starts[process.start].store];
            let row = store.rows.iter().find(|row| row.worker == free.worker);
            row.and_then(|row| row.lease)
                .is_some_and(|lease| lease.reserved_until != free.reserved_until)
        })
    })
}

pub fn all(model: &Leases) -> Vec<Property<Leases>> {
    let mut properties = vec![
        Property::always(TWICE, |_, state: &State| state.broken != Some(TWICE)),
        Property::always(RESERVED, is_reserved),
        Property::always(EARLY, |_, state: &State| state.broken != Some(EARLY)),
        Property::always(TOO_LATE, |_, state: &State| state.broken != Some(TOO_LATE)),
        Property::always(OUTSIDE, |_, state: &State| state.broken != Some(OUTSIDE)),
        Property::always(FOR_EVER, |_, state: &State| state.broken != Some(FOR_EVER)),
        Property::sometimes("a lease is taken over before its holder knows", is_taken_over),
        Property::sometimes("a holder goes on past the end of its lease", is_paused_over_the_end),
        Property::sometimes(
            "a taker uses an id given back beside the next",
            has_straggler_beside_next,
        ),
    ];
    if model.road > 0 {
        properties.push(Property::sometimes("an answer is lost", is_answer_lost));
        properties
            .push(Property::sometimes("a request given up comes after a later one", is_repeated));
    }
    if model.starts.len() == 1 {
        let name = "a generator goes on with another id";
        properties.push(Property::sometimes(name, goes_on_with_another));
        let name = "a row changes while a start has it";
        properties.push(Property::sometimes(name, is_row_changed_in_between));
    }
    properties
}
