//! Models of exact time: takers that read the clock while it goes on, while another worker id is
//! taken on, and while the generator is shut down.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use uidring::clock::Clock;
use uidring::model::{self, TickCodec, Window};
use uidring::registry::{FixedWorker, Lease, Request, WorkerRegistry};
use uidring::{Builder, Layout, RegistryError, Uid, UidGenerator};
use uidring_loom_tests::{History, NOW, explore_from};

/// A clock that shows whole seconds.
#[derive(Clone)]
struct Seconds(Arc<AtomicU64>);

impl Clock for Seconds {
    fn now(&self) -> SystemTime {
        layout().epoch() + Duration::from_secs(self.0.load(Ordering::Relaxed))
    }
}

fn layout() -> Layout {
    Layout::new(40, 2, 6).unwrap()
}

/// A generator to be built, and its clock. Ticks may be borrowed, so no take waits for the clock.
fn builder(registry: impl WorkerRegistry) -> (Builder, Seconds) {
    let clock = Seconds(Arc::new(AtomicU64::new(NOW)));
    let builder = UidGenerator::builder().registry(registry).layout(layout()).clock(clock.clone());
    (builder.slots(2).exact_time().max_lead(Duration::from_secs(60)), clock)
}

/// A generator without a filler, on which no take depends here, and its clock.
fn generator() -> (UidGenerator, Seconds, Arc<History>) {
    let (builder, clock) = builder(FixedWorker::new(1));
    (model::without_filler(builder).unwrap(), clock, Arc::default())
}

fn take(uids: &UidGenerator, history: &History) -> Uid {
    let start = history.start();
    let uid = uids.take().unwrap();
    history.end(start, [uid]);
    uid
}

fn tick_of(uid: Uid) -> u64 {
    layout().tick_at(layout().parts(uid).time).unwrap()
}

/// Two takers go to the next tick at the same time.
#[test]
fn clock_goes_on() {
    explore_from("clock_goes_on", Some(2), generator, |(uids, clock, history)| {
        let taker = {
            let (uids, history) = (uids.clone(), Arc::clone(&history));
            thread::spawn(move || {
                take(&uids, &history);
                take(&uids, &history);
            })
        };
        clock.0.store(NOW + 1, Ordering::Relaxed);
        let uid = take(&uids, &history);
        assert!(tick_of(uid) > NOW, "the clock has shown the next tick");
        taker.join().unwrap();
        assert_eq!(history.uids().len(), 3);
        history.assert_ordered();
    });
}

/// Another worker id is taken on, with other ticks. No UID mixes the two.
#[test]
fn worker_changes() {
    let prepare = || {
        let (uids, _, history) = generator();
        uids.take().unwrap();
        model::ring(&uids).window().set(window(1, NOW, NOW));
        (uids, history)
    };
    explore_from("worker_changes", Some(3), prepare, |(uids, history)| {
        let taker = {
            let (uids, history) = (uids.clone(), Arc::clone(&history));
            thread::spawn(move || [take(&uids, &history), take(&uids, &history)])
        };
        model::take_on(&uids, window(2, NOW + 1, NOW + 9));
        let last = take(&uids, &history);
        for uid in taker.join().unwrap().into_iter().chain([last]) {
            let worker = layout().parts(uid).worker;
            assert_eq!(worker == 1, tick_of(uid) == NOW, "of another worker's ticks: {uid:?}");
        }
        assert_eq!(history.uids().len(), 3);
    });
}

fn window(worker: u64, first: u64, last: u64) -> Window {
    let codec = TickCodec::new(&layout());
    let [first_base, last_base] = [first, last].map(|tick| codec.base_at(tick, worker));
    Window { first_base, last_base, reserved_base: last_base }
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

/// The worker id is given back while a taker goes to the next tick. Its next holder begins after
/// all that this taker gets.
#[test]
fn shutdown_take() {
    let prepare = || {
        let used = Arc::<Mutex<Option<u64>>>::default();
        let (builder, clock) = builder(Noting(Arc::clone(&used)));
        // A deadline that does not end in loom's time.
        let uids = builder.shutdown_deadline(Duration::from_secs(24 * 3600)).build().unwrap();
        thread::yield_now();
        uids.take().unwrap();
        clock.0.store(NOW + 1, Ordering::Relaxed);
        (uids, used)
    };
    explore_from("shutdown_take", Some(2), prepare, |(uids, used)| {
        let other = uids.clone();
        let taker = thread::spawn(move || other.take().ok());
        uids.shutdown().unwrap();
        let used = used.lock().unwrap().expect("the worker id is given back");
        if let Some(uid) = taker.join().unwrap() {
            assert!(tick_of(uid) <= used, "taken after tick {used} was given back");
        }
    });
}
