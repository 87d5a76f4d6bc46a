//! Ids of the past: which time each has, and that none comes twice.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;
use uidring::clock::ManualClock;
use uidring::registry::{FixedWorker, Lease, Request, SqliteRegistry, WorkerRegistry};
use uidring::{
    BuildError, Builder, Layout, PastGenerator, RegistryError, TakeAtError, Uid, UidGenerator,
};

use crate::folder::folder;

fn registry(files: &TempDir) -> SqliteRegistry {
    SqliteRegistry::open(files.path().join("uidring.db")).unwrap()
}

fn after(layout: &Layout, seconds: u64) -> SystemTime {
    layout.epoch() + Duration::from_secs(seconds)
}

/// Three bits of sequence, and an hour after the epoch.
fn narrow(files: &TempDir) -> Builder {
    let layout = Layout::new(30, 20, 3).unwrap();
    let clock = ManualClock::new(after(&layout, 3600));
    UidGenerator::builder().registry(registry(files)).layout(layout).clock(clock)
}

/// The worker id and the sequence.
fn parts(past: &PastGenerator, uid: Uid) -> (u64, u64) {
    let parts = past.layout().parts(uid);
    (parts.worker, parts.sequence)
}

#[test]
fn a_uid_has_the_tick_of_the_time_asked_for() {
    let files = folder();
    let past = narrow(&files).build_past().unwrap();
    let layout = *past.layout();
    let middle = after(&layout, 1800) + Duration::from_millis(999);
    for (time, sequence) in [
        (after(&layout, 1800), 0),
        (layout.epoch(), 0),
        (middle, 1),
        (after(&layout, 3600), 0),
        (after(&layout, 1799), 0),
        (middle, 2),
    ] {
        let uid = past.take_at(time).unwrap();
        assert_eq!(layout.tick_at(layout.parts(uid).time), layout.tick_at(time));
        assert_eq!(parts(&past, uid), (1, sequence));
    }
    let status = past.status();
    assert_eq!((status.worker_id, status.workers, status.taken, status.ticks), (1, 1, 6, 4));
}

#[test]
fn times_before_the_epoch_and_after_now_are_refused() {
    let files = folder();
    let past = narrow(&files).build_past().unwrap();
    let layout = *past.layout();
    // The times of Windows are multiples of 100 ns.
    let (least, fraction) = if cfg!(windows) { (100, "9999999") } else { (1, "999999999") };
    let (early, late) = (layout.epoch() - Duration::from_nanos(least), after(&layout, 3601));
    let error = past.take_at(early).unwrap_err();
    assert!(matches!(error, TakeAtError::BeforeEpoch { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        format!(
            "no UID of 2025-12-31T23:59:59.{fraction}Z: the layout begins at \
             2026-01-01T00:00:00Z; choose a layout with an earlier epoch, which `uidring plan \
             --oldest` finds, before the first id is given"
        )
    );
    let error = past.take_at(late).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no UID of 2026-01-01T01:00:01Z: the clock shows 2026-01-01T01:00:00Z, and ids of the past \
         are for times that were"
    );
    let error = past.take_times(&[layout.epoch(), late, early]).unwrap_err();
    assert_eq!(error.index, 1);
    assert!(matches!(error.cause, TakeAtError::Future { .. }), "{error}");
    // Nothing was taken.
    assert_eq!(past.status().taken, 0);
}

#[test]
fn a_full_tick_takes_further_worker_ids_as_far_as_they_are_allowed() {
    let files = folder();
    let past = narrow(&files).max_new_workers(2).build_past().unwrap();
    let time = after(past.layout(), 60);
    let uids = past.take_times(&[time; 24]).unwrap();
    let expected = (1..=3).flat_map(|worker| (0..8).map(move |sequence| (worker, sequence)));
    assert!(uids.iter().map(|uid| parts(&past, *uid)).eq(expected));
    assert!(uids.is_sorted_by(|a, b| a < b));
    let error = past.take_at(time).unwrap_err();
    assert!(error.is_transient(), "{error}");
    let text = error.to_string();
    assert!(
        text.starts_with("no UID of 2026-01-01T00:01:00Z: all of this tick are taken"),
        "{text}"
    );
    // Other ticks have some, of the first worker id on.
    assert_eq!(parts(&past, past.take_at(after(past.layout(), 61)).unwrap()), (1, 0));
    let none = narrow(&files).max_new_workers(0).build_past().unwrap();
    none.take_times(&[time; 8]).unwrap();
    let error = none.take_at(time).unwrap_err();
    assert!(!error.is_transient(), "{error}");
    assert!(error.to_string().ends_with("max_new_workers allows none"), "{error}");
}

/// Beside generators of the present, with runs that end and begin anew, and from several threads.
#[test]
fn no_uid_comes_twice() {
    let files = folder();
    let all = Mutex::new(BTreeSet::new());
    let note = |uid: Uid| assert!(all.lock().unwrap().insert(uid), "{uid} came twice");
    let open = || UidGenerator::builder().registry(registry(&files));
    let now = SystemTime::now();
    for _ in 0..3 {
        let (past, second) = (open().build_past().unwrap(), open().build_past().unwrap());
        let present = open().build().unwrap();
        thread::scope(|scope| {
            for past in [&past, &past, &second] {
                scope.spawn(|| {
                    // Also of the tick in which the present takes.
                    for back in (0..500).rev() {
                        note(past.take_at(now - Duration::from_secs(back % 100)).unwrap());
                    }
                });
            }
            scope.spawn(|| (0..500).for_each(|_| note(present.take().unwrap())));
        });
    }
    assert_eq!(all.lock().unwrap().len(), 3 * 4 * 500);
}

#[test]
fn registries_that_lend_their_ids_are_refused_and_get_them_back() {
    let files = folder();
    let leased = registry(&files).leased(Duration::from_secs(600));
    let open = |registry| UidGenerator::builder().registry(registry);
    let error = open(leased).build_past().unwrap_err();
    assert!(matches!(error, BuildError::NotForThePast { worker: 1, is_leased: true }));
    assert_eq!(
        error.to_string(),
        "ids of the past need a worker id that nobody had before, and 1 is lent again and again: \
         use the registry as it is without leased"
    );
    let leased = registry(&files).leased(Duration::from_secs(600));
    assert_eq!(open(leased).build().unwrap().worker_id(), 1);
    // Nor does an id that was lent before come to a generator of the past.
    assert_eq!(open(registry(&files)).build_past().unwrap().status().worker_id, 2);
}

#[test]
fn numbers_of_ones_own_are_refused() {
    let files = folder();
    for own in [FixedWorker::new(7), FixedWorker::new(7).with_state(files.path().join("state"))] {
        let error = UidGenerator::builder().registry(own).build_past().unwrap_err();
        assert!(matches!(error, BuildError::NotForThePast { worker: 7, .. }), "{error}");
    }
}

/// Gives the same worker id again.
struct Repeats(u64);

impl WorkerRegistry for Repeats {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        self.0 -= 1;
        Ok(Lease::permanent(7, &request.layout))
    }
}

#[test]
fn a_worker_id_that_comes_again_ends_the_generator() {
    let layout = Layout::new(30, 20, 3).unwrap();
    let builder = UidGenerator::builder().registry(Repeats(9)).layout(layout);
    let past = builder.build_past().unwrap();
    let time = layout.epoch();
    past.take_times(&[time; 8]).unwrap();
    for _ in 0..2 {
        let error = past.take_at(time).unwrap_err();
        assert!(matches!(error, TakeAtError::BrokenRule(_)), "{error}");
    }
    assert!(past.take_at(layout.epoch() + Duration::from_secs(1)).is_err());
    assert_eq!(past.status().broken_rule.map(|broken| broken.worker), Some(7));
}

/// Gives worker ids until it is away.
struct Away(Arc<Mutex<bool>>, u64);

impl WorkerRegistry for Away {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        if *self.0.lock().unwrap() {
            return Err(RegistryError::unreachable("the connection was refused"));
        }
        self.1 += 1;
        Ok(Lease::permanent(self.1, &request.layout))
    }
}

#[test]
fn a_store_that_is_away_costs_only_what_needs_it() {
    let layout = Layout::new(30, 20, 3).unwrap();
    let is_away = Arc::new(Mutex::new(false));
    let builder = UidGenerator::builder().registry(Away(Arc::clone(&is_away), 0)).layout(layout);
    let past = builder.max_new_workers(1).build_past().unwrap();
    let (time, other) = (layout.epoch(), layout.epoch() + Duration::from_secs(1));
    past.take_times(&[time; 8]).unwrap();
    *is_away.lock().unwrap() = true;
    // A thousand failures use nothing up.
    for _ in 0..1000 {
        let error = past.take_at(time).unwrap_err();
        assert!(error.is_transient() && matches!(error, TakeAtError::Registry(_)), "{error}");
    }
    past.take_at(other).unwrap();
    *is_away.lock().unwrap() = false;
    assert_eq!(parts(&past, past.take_at(time).unwrap()), (2, 0));
}

/// Gives one worker id, and then waits for a word.
struct Slow(mpsc::Sender<()>, mpsc::Receiver<()>, u64);

impl WorkerRegistry for Slow {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        if self.2 > 0 {
            self.0.send(()).unwrap();
            self.1.recv().unwrap();
        }
        self.2 += 1;
        Ok(Lease::permanent(self.2, &request.layout))
    }
}

#[test]
fn the_status_does_not_wait_for_a_registry_that_hangs() {
    let layout = Layout::new(30, 20, 3).unwrap();
    let (asked, is_asked) = mpsc::channel();
    let (go_on, going_on) = mpsc::channel();
    let builder = UidGenerator::builder().registry(Slow(asked, going_on, 0)).layout(layout);
    let past = builder.build_past().unwrap();
    past.take_times(&[layout.epoch(); 8]).unwrap();
    thread::scope(|scope| {
        let take = scope.spawn(|| past.take_at(layout.epoch()));
        is_asked.recv().unwrap();
        assert_eq!((past.status().taken, past.status().workers), (8, 1));
        go_on.send(()).unwrap();
        take.join().unwrap().unwrap();
    });
    assert_eq!((past.status().taken, past.status().workers), (9, 2));
}

#[cfg(feature = "async")]
#[test]
fn asynchronous_programs_take_many() {
    let files = folder();
    let uids = pollster::block_on(async {
        let past = narrow(&files).build_past_async().await.unwrap();
        let time = past.layout().epoch();
        past.take_times_async(vec![time; 20]).await.unwrap()
    });
    assert!(uids.len() == 20 && uids.is_sorted_by(|a, b| a < b));
}
