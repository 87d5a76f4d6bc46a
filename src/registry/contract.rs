//! The contract of a [`WorkerRegistry`], as tests that any implementation runs.
//!
//! ```
//! use uidring::registry::contract;
//! # #[cfg(feature = "sqlite")] {
//! use uidring::Store;
//!
//! // Each store is a registry that was never used; each handle a process of its own that uses it.
//! let dir = tempfile::tempdir()?;
//! contract::check(|name| {
//!     let file = dir.path().join(name);
//!     move || Store::open(&file).unwrap().registry().unwrap()
//! });
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each clause panics with what was promised and what was seen.

#![allow(clippy::panic)] // it is for tests

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::time::Duration;

use super::{Lease, LeaseKind, Request, WorkerRegistry};
use crate::clock::Stopwatch;
use crate::layout::{FieldOrder, Layout};
use crate::registry::RegistryError;
use crate::sync::{Barrier, sleep, thread};

/// Checks all clauses. `store` makes a store that was never used, by a name that is new each time,
/// and returns what opens a handle to it. Handles may give permanent ids, or leased ones; for the
/// clauses about expiry to be checked, a lease lasts five seconds at most.
///
/// # Panics
///
/// Where a clause is broken.
pub fn check<R: WorkerRegistry, S: Fn() -> R + Sync>(store: impl Fn(&str) -> S) {
    ids_fit_and_no_tick_is_given_twice(&store("in_turn"));
    those_who_come_at_once_get_different_ids(&store("at_once"));
    an_id_given_back_goes_on_behind_what_was_used(&store("given_back"));
    what_is_reserved_is_the_holders_alone(&store("reserved"));
    an_expired_lease_goes_on_behind_what_was_reserved(&store("expired"));
    another_layout_is_refused_and_uses_nothing_up(&store("layout"));
    ids_run_out_with_an_error(&store("run_out"));
}

/// Ten million seconds after the epoch.
const NOW: u64 = 10_000_000;

fn request(layout: Layout, now: u64) -> Request {
    Request::new(layout, now, layout.max_tick())
}

fn assign<R: WorkerRegistry>(registry: &mut R) -> Lease {
    done("assign", registry.assign(&request(Layout::DEFAULT, NOW)))
}

fn done<T>(call: &str, result: Result<T, RegistryError>) -> T {
    result.unwrap_or_else(|error| panic!("`{call}` of a registry that is in order fails: {error}"))
}

/// The owner of each tick of each id.
#[derive(Default)]
struct Ledger {
    /// The ranges given of each id: the first and the last tick.
    given: BTreeMap<u64, Vec<(u64, u64)>>,
}

impl Ledger {
    fn note(&mut self, lease: &Lease) {
        let Lease { worker, first, last, .. } = *lease;
        assert!(worker <= Layout::DEFAULT.max_worker(), "worker id {worker} fits the layout");
        assert!(last <= Layout::DEFAULT.max_tick(), "tick {last} fits the layout");
        assert!(first <= last, "a lease has a tick at least: {lease:?}");
        let ticks = self.given.entry(worker).or_default();
        for &(from, to) in &*ticks {
            assert!(
                last < from || to < first,
                "ticks {first} to {last} of id {worker} are new; {from} to {to} were given"
            );
        }
        ticks.push((first, last));
    }
}

fn ids_fit_and_no_tick_is_given_twice<R: WorkerRegistry>(open: &impl Fn() -> R) {
    let mut ledger = Ledger::default();
    let mut kept = Vec::new();
    for _ in 0..5 {
        let mut registry = open();
        ledger.note(&assign(&mut registry));
        // One handle may be used several times.
        ledger.note(&assign(&mut registry));
        kept.push(registry);
    }
    // Nor when nobody is left who knows.
    drop(kept);
    ledger.note(&assign(&mut open()));
}

/// Whether a lease that is so old has surely not expired. Where the store's clock tells whole
/// seconds alone, leases expire up to a second sooner.
fn is_valid(lease: &Lease, age: Duration) -> bool {
    match lease.kind {
        LeaseKind::Permanent => true,
        LeaseKind::Leased { duration, .. } => age + Duration::from_secs(1) < duration,
    }
}

fn those_who_come_at_once_get_different_ids<R: WorkerRegistry>(open: &(impl Fn() -> R + Sync)) {
    const THREADS: usize = 16;
    let barrier = Barrier::new(THREADS);
    let since = Stopwatch::start();
    let leases: Vec<Lease> = thread::scope(|scope| {
        let start = || {
            barrier.wait();
            // All processes may create the tables of a new store at the same time.
            let mut registry = open();
            [assign(&mut registry), assign(&mut registry)]
        };
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(start)).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap_or_else(|_| panic!("a start panicked")))
            .collect()
    });
    let waited = since.elapsed();
    let mut ledger = Ledger::default();
    for lease in &leases {
        ledger.note(lease);
    }
    // On a busy machine, the first leases may have expired before the last ones began.
    if leases.iter().all(|lease| is_valid(lease, waited)) {
        let ids: Vec<u64> = leases.iter().map(|lease| lease.worker).collect();
        let different: BTreeSet<_> = ids.iter().collect();
        assert_eq!(different.len(), ids.len(), "those who come at once get different ids: {ids:?}");
    }
}

fn an_id_given_back_goes_on_behind_what_was_used<R: WorkerRegistry>(open: &impl Fn() -> R) {
    let mut registry = open();
    let lease = assign(&mut registry);
    let used = lease.first.max(NOW) + 1;
    done("release", registry.release(&lease, used));
    let again = assign(&mut open());
    if lease.is_permanent() {
        assert_ne!(again.worker, lease.worker, "a permanent id is not given again");
        return;
    }
    assert_eq!(again.worker, lease.worker, "an id that was given back is given again");
    assert!(again.first > used, "its next holder begins after {used}, at {}", again.first);
    assert_ne!(again.kind, lease.kind, "each lease has a holder of its own");
    is_lost(&mut registry, &lease);
}

fn what_is_reserved_is_the_holders_alone<R: WorkerRegistry>(open: &impl Fn() -> R) {
    let mut registry = open();
    let lease = assign(&mut registry);
    let further = lease.last.saturating_add(1000).min(Layout::DEFAULT.max_tick());
    let last = done("reserve", registry.reserve(&lease, further));
    assert_eq!(last, further, "what was asked for is reserved");
    // The clock may be far ahead, or set back.
    for now in [NOW + 500, NOW - 500] {
        let other = done("assign", open().assign(&request(Layout::DEFAULT, now)));
        assert_ne!(other.worker, lease.worker, "a held id is not given to another");
    }
    let used = last - 10;
    done("release", registry.release(&Lease { last, ..lease.clone() }, used));
    for now in [NOW - 500, NOW, last + 500] {
        let mut registry = open();
        let next = done("assign", registry.assign(&request(Layout::DEFAULT, now)));
        assert!(
            next.worker != lease.worker || next.first > used,
            "ticks up to {used} are used: {next:?}"
        );
    }
}

fn an_expired_lease_goes_on_behind_what_was_reserved<R: WorkerRegistry>(open: &impl Fn() -> R) {
    let mut registry = open();
    let lease = assign(&mut registry);
    let Some(duration) = lease.duration().filter(|duration| *duration <= Duration::from_secs(5))
    else {
        return;
    };
    let last = done("reserve", registry.reserve(&lease, lease.last + 100));
    sleep(duration / 2);
    let mut other = open();
    let held = assign(&mut other);
    assert_ne!(
        held.worker, lease.worker,
        "a lease of {duration:?} that was just prolonged has not expired"
    );
    // Should this lease have expired by then as well, its ticks end later.
    done("reserve", other.reserve(&held, last + 100));
    // The store's clock may differ a little from ours, and may tell whole seconds alone.
    sleep(duration / 2 + Duration::from_millis(1_300));
    let next = assign(&mut open());
    assert_eq!(next.worker, lease.worker, "an expired id is given again");
    assert!(next.first > last, "the next holder begins after {last}, at {}", next.first);
    // The previous holder returns.
    is_lost(&mut registry, &lease);
    done("reserve", open().reserve(&next, next.last + 1));
}

fn is_lost<R: WorkerRegistry>(registry: &mut R, lease: &Lease) {
    match registry.reserve(lease, lease.last + 10_000) {
        Err(RegistryError::LeaseLost { worker }) => assert_eq!(worker, lease.worker),
        other => panic!("a holder that has lost its lease is told so: {other:?}"),
    }
    match registry.release(lease, lease.last) {
        Ok(()) | Err(RegistryError::LeaseLost { .. }) => {}
        Err(error) => panic!("a holder that has lost its lease may give it back in vain: {error}"),
    }
}

fn another_layout_is_refused_and_uses_nothing_up<R: WorkerRegistry>(open: &impl Fn() -> R) {
    let first = assign(&mut open());
    let widths = |result: Result<Layout, _>| result.unwrap_or_else(|error| panic!("{error}"));
    for other in [
        widths(Layout::new(31, 19, 13)),
        widths(Layout::DEFAULT.with_epoch(Layout::DEFAULT.epoch() + Duration::from_secs(1))),
        widths(Layout::DEFAULT.with_tick(Duration::from_millis(500))),
        Layout::DEFAULT.with_order(FieldOrder::WorkerFirst),
    ] {
        refused(&open().assign(&request(other, NOW)), "another layout");
    }
    let next = assign(&mut open());
    assert_eq!(next.worker, first.worker + 1, "what is refused uses nothing up");
}

fn ids_run_out_with_an_error<R: WorkerRegistry>(open: &impl Fn() -> R) {
    let layout = Layout::new(40, 3, 20).unwrap_or_else(|error| panic!("{error}"));
    let mut registry = open();
    let mut ids = BTreeSet::new();
    let since = Stopwatch::start();
    loop {
        match registry.assign(&request(layout, NOW)) {
            Ok(lease) => {
                assert!(
                    lease.worker <= layout.max_worker(),
                    "worker id {} fits 3 bits",
                    lease.worker
                );
                let is_new = ids.insert(lease.worker);
                if !is_valid(&lease, since.elapsed()) {
                    // On a busy machine, the first leases expire before the ids run out.
                    return;
                }
                assert!(is_new, "worker id {} is given once: {ids:?}", lease.worker);
            }
            Err(RegistryError::Exhausted { capacity, .. }) => {
                assert_eq!(capacity, ids.len() as u64, "it says how many there were");
                break;
            }
            Err(error) => panic!("when all ids are given, the error says so: {error}"),
        }
    }
    assert!(ids.len() >= 7, "all ids but 0 are given: {ids:?}");
    // The refusal is permanent.
    refused(&open().assign(&request(layout, NOW)), "a registry without ids");
}

fn refused<T: Debug>(result: &Result<T, RegistryError>, what: &str) {
    assert!(result.is_err(), "{what} is refused: {result:?}");
}
