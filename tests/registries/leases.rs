//! Leased worker ids: recycled, and yet no (worker id, second) pair twice.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, SystemTime};

use uidring::clock::{Clock, ManualClock, SystemClock};
use uidring::registry::{Lease, RegistryAdmin, Request, SqliteRegistry, WorkerRegistry};
use uidring::{Layout, LeadLimit, RegistryError, TakeError, Uid, UidGenerator};

use crate::folder::folder;
use crate::size::size;

const LEASE: Duration = Duration::from_secs(600);

fn leased(file: &Path) -> UidGenerator {
    UidGenerator::builder()
        .registry(SqliteRegistry::open(file).unwrap().leased(LEASE))
        .build()
        .unwrap()
}

fn leased_by(file: &Path, clock: &ManualClock) -> UidGenerator {
    let registry = SqliteRegistry::open(file).unwrap().leased(LEASE);
    UidGenerator::builder().registry(registry).clock(clock.clone()).build().unwrap()
}

#[test]
fn starts_and_clean_stops_use_few_ids_and_no_second_twice() {
    let dir = folder();
    let file = dir.path().join("uidring.db");
    let (mut all, mut ids) = (HashSet::new(), BTreeSet::new());
    for _ in 0..size(300, 60) {
        let uids = leased(&file);
        ids.insert(uids.worker_id());
        for _ in 0..100 {
            assert!(all.insert(uids.take().unwrap()));
        }
    }
    assert!(ids.len() <= 2, "{ids:?}");
}

/// The rest of the ring is given back with the id.
#[test]
fn a_clean_stop_uses_up_the_seconds_that_were_taken_from_and_no_more() {
    let dir = folder();
    let file = dir.path().join("uidring.db");
    let mut before = SystemTime::UNIX_EPOCH;
    for _ in 0..20 {
        let uids = leased(&file);
        let time = uids.layout().parts(uids.take().unwrap()).time;
        assert!(time > before, "{time:?} comes after {before:?}, with the same id");
        assert!(
            time <= SystemTime::now().max(before + Duration::from_secs(1)),
            "{time:?} after {before:?}"
        );
        before = time;
    }
}

#[test]
fn ids_free_for_longest_come_first() {
    let dir = folder();
    let file = dir.path().join("uidring.db");
    // It stands still: a second that passed between two stops would count.
    let clock = ManualClock::new(SystemClock.now());
    let start = || leased_by(&file, &clock);
    let three = [start(), start(), start()];
    assert_eq!(three.each_ref().map(UidGenerator::worker_id), [1, 2, 3]);
    let [first, second, third] = three;
    for _ in 0..100_000 {
        second.take().unwrap();
    }
    // The second is ahead of the clock, and so are its seconds: others come before it.
    drop((second, third, first));
    let again = [start(), start(), start()];
    assert_eq!(again.each_ref().map(UidGenerator::worker_id), [1, 3, 2]);
}

/// Somebody may have inserted its row by hand.
#[test]
fn a_free_id_that_is_not_one_of_the_registry_is_not_given() {
    let dir = folder();
    let file = dir.path().join("uidring.db");
    let worker_id = || {
        let registry = SqliteRegistry::open(&file).unwrap().leased(LEASE);
        let registry = registry.worker_ids(32..=40).unwrap();
        UidGenerator::builder().registry(registry).build().unwrap().worker_id()
    };
    assert_eq!(worker_id(), 32);
    let db = rusqlite::Connection::open(&file).unwrap();
    db.execute_batch("PRAGMA ignore_check_constraints = ON").unwrap();
    let sql = "UPDATE worker_node SET id = ?, reserved_until = 1 WHERE id = ?";
    for (id, before) in [(31, 32), (41, 31), (0, 41)] {
        assert_eq!(db.execute(sql, [id, before]).unwrap(), 1);
        assert_eq!(worker_id(), 33, "beside a free id {id}");
    }
}

#[test]
fn a_held_id_is_not_given_to_another() {
    let dir = folder();
    let file = dir.path().join("uidring.db");
    let held: Vec<_> = (0..10).map(|_| leased(&file)).collect();
    let ids: BTreeSet<u64> = held.iter().map(UidGenerator::worker_id).collect();
    assert_eq!(ids, (1..=10).collect());
}

#[test]
fn a_clock_set_back_between_two_holders_repeats_nothing() {
    let dir = folder();
    let file = dir.path().join("uidring.db");
    let clock = ManualClock::new(SystemClock.now());
    let mut all = HashSet::new();
    for _ in 0..20 {
        let uids = leased_by(&file, &clock);
        assert_eq!(uids.worker_id(), 1);
        for _ in 0..10_000 {
            assert!(all.insert(uids.take().unwrap()));
        }
        drop(uids);
        clock.rewind(Duration::from_secs(60));
    }
}

#[test]
fn never_blocked_an_idle_generator_whose_reserved_seconds_have_passed_says_so_without_its_registry()
{
    for policy in [LeadLimit::Wait, LeadLimit::NewWorker, LeadLimit::Fail] {
        let dir = folder();
        let file = dir.path().join("uidring.db");
        let registry = SqliteRegistry::open(&file).unwrap().leased(LEASE);
        let clock = ManualClock::new(SystemClock.now());
        let builder =
            UidGenerator::builder().registry(registry).clock(clock.clone()).on_lead_limit(policy);
        let uids = builder.build().unwrap();
        fs::rename(&file, dir.path().join("away.db")).unwrap();
        clock.advance(10 * LEASE);
        // The filler drops what has become stale.
        while uids.status().available > 0 {
            thread::sleep(Duration::from_millis(10));
        }
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            for take in [UidGenerator::try_take, UidGenerator::take] {
                sender.send(take(&uids)).unwrap();
            }
        });
        for _ in 0..2 {
            let answer =
                receiver.recv_timeout(Duration::from_secs(60)).expect("an answer within a minute");
            assert_eq!(answer, Err(TakeError::LeaseExhausted { worker: 1 }), "{policy:?}");
        }
    }
}

#[test]
fn without_its_registry_a_generator_uses_up_what_it_has_reserved_and_goes_on_when_it_is_back() {
    let dir = folder();
    let (file, away) = (dir.path().join("uidring.db"), dir.path().join("away.db"));
    for policy in [LeadLimit::Wait, LeadLimit::NewWorker, LeadLimit::Fail] {
        let registry = SqliteRegistry::open(&file).unwrap().leased(Duration::from_secs(100));
        let uids =
            UidGenerator::builder().registry(registry).on_lead_limit(policy).build().unwrap();
        let worker = uids.worker_id();
        fs::rename(&file, &away).unwrap();
        let first = uids.take().unwrap();
        let mut taken = 1;
        let error = loop {
            match uids.take() {
                Ok(_) => taken += 1,
                Err(error) => break error,
            }
        };
        assert_eq!(error, TakeError::LeaseExhausted { worker }, "{policy:?}");
        let records = SqliteRegistry::open(&away).unwrap().workers().unwrap();
        let lease = records.iter().find(|record| record.id == worker).unwrap().lease.as_ref();
        let layout = uids.layout();
        let begin = layout.tick_at(layout.parts(first).time).unwrap();
        let ticks = lease.unwrap().reserved_until + 1 - begin;
        assert_eq!(taken, ticks * 8192, "{policy:?}");
        assert!(error.to_string().contains("the registry grants no more"));
        assert_eq!(uids.try_take(), Err(error));
        fs::rename(&away, &file).unwrap();
        while let Err(error) = uids.take() {
            // Which of the two depends on whether its ticks or the clock are behind.
            let is_lead = matches!(error, TakeError::LeadLimit { .. });
            assert!(is_lead || error == TakeError::LeaseExhausted { worker }, "{error:?}");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Leases worker id 1, has no more than it gives at first, and counts how often it is asked for it.
struct Miser(Arc<AtomicUsize>);

impl WorkerRegistry for Miser {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        let ticks = request.now..=request.now + 100;
        Ok(Lease::leased(1, ticks, Duration::from_secs(10), "one"))
    }

    fn reserve(&mut self, lease: &Lease, _: u64) -> Result<u64, RegistryError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(lease.last)
    }
}

#[test]
fn never_blocked_a_registry_that_has_no_more_is_asked_now_and_then_and_takes_fail() {
    let asked = Arc::new(AtomicUsize::new(0));
    let builder =
        UidGenerator::builder().registry(Miser(Arc::clone(&asked))).on_lead_limit(LeadLimit::Wait);
    let uids = builder.build().unwrap();
    let reserved_until = uids.status().reserved_until.expect("the worker id is leased");
    assert!(reserved_until > SystemTime::now());
    assert_eq!(uids.status().obstacle, None);
    let (sender, answer) = mpsc::channel();
    let taker = uids.clone();
    thread::spawn(move || while sender.send(taker.take().map(drop)).is_ok() {});
    let error = loop {
        if let Err(error) = answer.recv_timeout(Duration::from_secs(60)).expect("a take ends") {
            break error;
        }
    };
    assert_eq!(error, TakeError::LeaseExhausted { worker: 1 });
    // The status says so, to a health check that takes nothing.
    assert_eq!(uids.status().obstacle, Some(error));
    assert_eq!(uids.status().reserved_until, Some(reserved_until));
    let before = asked.load(Ordering::Relaxed);
    thread::sleep(Duration::from_secs(3));
    let asked = asked.load(Ordering::Relaxed) - before;
    assert!(asked <= 3, "asked {asked} times in three seconds");
}

/// Says that it has the worker ids of this range.
struct Ranged(RangeInclusive<u64>);

impl WorkerRegistry for Ranged {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        let ticks = request.now..=request.now + 100;
        Ok(Lease::leased(1, ticks, Duration::from_secs(10), "one"))
    }

    fn worker_ids_of(&self, _: &Layout) -> Option<RangeInclusive<u64>> {
        Some(self.0.clone())
    }
}

#[test]
fn any_range_of_worker_ids_is_counted() {
    let last = u64::MAX;
    for (first, last, count) in [(1, 1, 1), (0, last - 1, last), (0, last, last), (7, 6, 0)] {
        let uids = UidGenerator::builder().registry(Ranged(first..=last)).build().unwrap();
        assert_eq!(uids.status().worker_ids, Some(count));
    }
}

/// As `schema.sql` says, where nothing but an old copy of the registry is left.
#[test]
fn an_old_copy_can_be_made_good() {
    let dir = folder();
    let (file, copy) = (dir.path().join("uidring.db"), dir.path().join("copy.db"));
    let mut all = HashSet::new();
    let mut run = |worker| {
        let uids = leased(&file);
        assert_eq!(uids.worker_id(), worker);
        // A minute ahead of the clock.
        for _ in 0..60 * (Layout::DEFAULT.max_sequence() + 1) {
            assert!(all.insert(uids.take().unwrap()));
        }
    };
    run(1);
    fs::copy(&file, &copy).unwrap();
    run(1);
    fs::rename(&copy, &file).unwrap();
    let recipe = crate::databases::recipe(include_str!("../../schema.sql"), 100);
    rusqlite::Connection::open(&file).unwrap().execute_batch(&recipe).unwrap();
    run(101);
}

/// An old copy in which a process holds its id already, and has reserved less than it has since.
#[test]
fn a_process_reserves_no_ticks_in_an_old_copy() {
    let dir = folder();
    let path = |name| dir.path().join(name);
    let (file, copy, current) = (path("uidring.db"), path("copy.db"), path("current.db"));
    let mut registry = SqliteRegistry::open(&file).unwrap().leased(LEASE);
    let lease = registry.assign(&Request::new(Layout::DEFAULT, 10_000_000, 20_000_000)).unwrap();
    fs::copy(&file, &copy).unwrap();
    let last = registry.reserve(&lease, lease.last + 1000).unwrap();
    fs::rename(&file, &current).unwrap();
    fs::rename(&copy, &file).unwrap();
    for _ in 0..2 {
        let error = registry.reserve(&lease, last + 1000).unwrap_err().to_string();
        assert!(error.contains("that gave worker id 1 to this process, or an old"), "{error}");
    }
    fs::rename(&current, &file).unwrap();
    registry.reserve(&lease, last + 1000).unwrap();
}

/// An old copy in which the id that a process holds is free: it would take the id again, from the
/// present on, and repeat what it has given itself.
#[test]
fn a_process_takes_its_own_id_from_no_old_copy() {
    let dir = folder();
    let path = |name| dir.path().join(name);
    let (file, copy, current) = (path("uidring.db"), path("copy.db"), path("current.db"));
    let open = || SqliteRegistry::open(&file).unwrap().leased(LEASE);
    let request = Request::new(Layout::DEFAULT, 10_000_000, 20_000_000);
    let mut before = open();
    let lease = before.assign(&request).unwrap();
    before.release(&lease, lease.first).unwrap();
    fs::copy(&file, &copy).unwrap();
    let mut registry = open();
    let lease = registry.assign(&request).unwrap();
    assert_eq!(lease.worker, 1);
    let last = registry.reserve(&lease, lease.last + 1000).unwrap();
    fs::rename(&file, &current).unwrap();
    fs::rename(&copy, &file).unwrap();
    for _ in 0..2 {
        let reserved = registry.reserve(&lease, last + 1000).map(|_| lease.clone());
        for given in [reserved, registry.clone().assign(&request)] {
            let error = given.expect_err("it is an old copy").to_string();
            assert!(error.contains("that gave worker id 1 to this process, or an old"), "{error}");
        }
    }
    // What was given back is known as well.
    fs::rename(&file, &copy).unwrap();
    fs::rename(&current, &file).unwrap();
    registry.release(&lease, last - 10).unwrap();
    fs::rename(&file, &current).unwrap();
    fs::rename(&copy, &file).unwrap();
    registry.assign(&request).unwrap_err();
    fs::rename(&current, &file).unwrap();
    let again = registry.assign(&request).unwrap();
    assert_eq!((again.worker, again.first), (1, last - 9));
}

/// One gives back what the other finds free: no record of theirs is old.
#[test]
fn those_who_give_back_and_those_who_start_in_one_process_meet_no_old_copy() {
    let dir = folder();
    let registry = SqliteRegistry::open(dir.path().join("uidring.db")).unwrap().leased(LEASE);
    let request = Request::new(Layout::DEFAULT, 10_000_000, 20_000_000);
    thread::scope(|scope| {
        for _ in 0..4 {
            let mut registry = registry.clone();
            scope.spawn(move || {
                for _ in 0..size(200, 20) {
                    let lease = registry.assign(&request).unwrap();
                    registry.reserve(&lease, lease.last + 100).unwrap();
                    registry.release(&lease, lease.first).unwrap();
                }
            });
        }
    });
}

#[test]
fn a_busy_generator_writes_a_few_times_a_second_at_most() {
    let dir = folder();
    let file = dir.path().join("uidring.db");
    let registry = SqliteRegistry::open(&file).unwrap().leased(Duration::from_secs(10));
    let layout = Layout::new(40, 10, 13).unwrap();
    let uids = UidGenerator::builder()
        .registry(registry)
        .layout(layout)
        .max_lead(Duration::from_secs(1 << 33))
        .build()
        .unwrap();
    let mut buffer = [Uid::MIN; 1000];
    let since = std::time::Instant::now();
    let reserved = || {
        let db = rusqlite::Connection::open(&file).unwrap();
        db.query_row("SELECT reserved_until FROM worker_node", [], |row| row.get::<_, i64>(0))
            .unwrap()
    };
    let (mut writes, mut last) = (0, reserved());
    while since.elapsed() < Duration::from_secs(4) {
        for _ in 0..1000 {
            uids.fill(&mut buffer).unwrap();
        }
        let now = reserved();
        writes += u64::from(now != last);
        last = now;
    }
    assert!(writes > 1, "it is busy");
    // The first writes come fast, as the reservation doubles.
    assert!(writes <= 20 + 4 * since.elapsed().as_secs(), "{writes}");
}
