//! Models of the whole generator, with its filler thread.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use loom::thread;
use uidring::clock::Clock;
use uidring::registry::{FixedWorker, Lease, Request, WorkerRegistry};
use uidring::{Builder, Layout, RegistryError, UidGenerator, model};
use uidring_loom_tests::{History, NOW, explore, explore_from};

/// A clock that stands still. `ManualClock` has a lock, which would only add interleavings.
struct Still(SystemTime);

impl Clock for Still {
    fn now(&self) -> SystemTime {
        self.0
    }
}

/// A generator with a ring of `slots` blocks of two UIDs. Takers wake the filler for each block
/// that is missing.
fn generator(slots: usize) -> UidGenerator {
    builder(slots).registry(FixedWorker::new(1)).build().unwrap()
}

fn builder(slots: usize) -> Builder {
    let layout = Layout::new(40, 2, 1).unwrap();
    let clock = Still(layout.epoch() + Duration::from_secs(NOW));
    UidGenerator::builder().layout(layout).clock(clock).slots(slots).refill_at(99)
}

/// Notes which ticks were used when it gets the worker id back. Loom need not know of its lock,
/// since only the filler calls it, and what it noted is read when the filler has ended.
struct Noting(Arc<Mutex<Option<u64>>>);

impl WorkerRegistry for Noting {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        Ok(Lease::permanent(1, &request.layout))
    }

    fn release(&mut self, _: &Lease, used: u64) -> Result<(), RegistryError> {
        *self.0.lock().unwrap() = Some(used);
        Ok(())
    }
}

/// The same, while the filler sleeps.
fn settled(slots: usize) -> UidGenerator {
    let uids = generator(slots);
    thread::yield_now();
    uids
}

/// Waits until the filler has filled the ring. Each time that this thread yields, the filler runs
/// until it sleeps, or until one of the model's few preemptions stops it. So if the ring is not
/// full after many yields, it never will be.
fn wait_until_full(uids: &UidGenerator) {
    let ring = model::ring(uids);
    for _ in 0..20 {
        if ring.is_full() {
            return;
        }
        thread::yield_now();
    }
    panic!(
        "the filler sleeps: blocks up to {} in the ring, the cursor in {}",
        ring.tail(),
        ring.cursor_block()
    );
}

#[test]
fn drop_at_once() {
    explore("drop_at_once", None, || drop(generator(2)));
}

#[test]
fn drop_after_asking() {
    explore("drop_after_asking", Some(2), || {
        let uids = generator(4);
        for _ in 0..3 {
            uids.take().unwrap();
        }
    });
}

#[test]
fn drop_drop() {
    explore("drop_drop", Some(2), || {
        let uids = generator(2);
        let other = uids.clone();
        let other = thread::spawn(move || drop(other));
        drop(uids);
        other.join().unwrap();
    });
}

/// The worker id is given back while a taker may still publish blocks. Its next holder begins after
/// all that this taker gets.
#[test]
fn shutdown_take() {
    let prepare = || {
        let used = Arc::<Mutex<Option<u64>>>::default();
        // A deadline that does not end in loom's time.
        let deadline = Duration::from_secs(24 * 3600);
        let builder = builder(2).registry(Noting(Arc::clone(&used))).shutdown_deadline(deadline);
        let uids = builder.build().unwrap();
        // The filler sleeps, and the ring is nearly empty.
        thread::yield_now();
        assert!((0..3).all(|_| uids.take().is_ok()));
        (uids, used)
    };
    explore_from("shutdown_take", Some(1), prepare, |(uids, used)| {
        let layout = *uids.layout();
        let other = uids.clone();
        let taker = thread::spawn(move || {
            let taken: Vec<_> = (0..3).map(|_| other.take()).take_while(Result::is_ok).collect();
            taken.last().map(|uid| layout.parts(uid.unwrap()).time)
        });
        uids.shutdown().unwrap();
        let used = used.lock().unwrap().expect("the worker id is given back");
        if let Some(last) = taker.join().unwrap() {
            assert!(Some(last) <= layout.time_of(used), "taken after tick {used} was given back");
        }
    });
}

#[test]
fn wake_up_once() {
    explore("wake_up_once", Some(2), || {
        let uids = generator(4);
        for _ in 0..3 {
            uids.take().unwrap();
        }
        wait_until_full(&uids);
    });
}

/// Takers wake the filler for one block, and again for another while it is running.
#[test]
fn wake_up_again() {
    explore_from(
        "wake_up_again",
        Some(1),
        || settled(4),
        |uids| {
            for _ in 0..5 {
                uids.take().unwrap();
            }
            wait_until_full(&uids);
        },
    );
}

#[test]
fn wake_up_again2() {
    explore_from(
        "wake_up_again2",
        Some(2),
        || settled(4),
        |uids| {
            for _ in 0..5 {
                uids.take().unwrap();
            }
            wait_until_full(&uids);
        },
    );
}

/// A local taker, a thread that takes single UIDs, and the filler that both wake.
#[test]
fn local_take() {
    explore_from(
        "local_take",
        Some(1),
        || settled(2),
        |uids| {
            let history = Arc::new(History::default());
            let other = thread::spawn({
                let (uids, history) = (uids.clone(), Arc::clone(&history));
                move || {
                    let mut local = uids.local().with_claim_length(3);
                    let mut last = None;
                    for _ in 0..3 {
                        let uid = local.take().unwrap();
                        assert!(last < Some(uid), "a local taker's UIDs ascend");
                        last = Some(uid);
                        history.end(history.start(), [uid]);
                    }
                }
            });
            let start = history.start();
            let uid = uids.take().unwrap();
            history.end(start, [uid]);
            other.join().unwrap();
            assert_eq!(history.uids().len(), 4);
        },
    );
}
