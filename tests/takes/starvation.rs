//! Takes go on whatever becomes of the filler: starved, stalled or dead.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Condvar, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use uidring::clock::{Clock, ManualClock};
use uidring::registry::{FixedWorker, Lease, Request, WorkerRegistry};
use uidring::{FillerState, Layout, LeadLimit, RegistryError, TakeError, Uid, UidGenerator};

/// A ring of 2 slots of 16 UIDs each, so that it is empty all the time.
fn generator(clock: impl Clock) -> UidGenerator {
    let layout = Layout::new(45, 10, 4).unwrap().with_tick(Duration::from_millis(1)).unwrap();
    UidGenerator::builder()
        .registry(FixedWorker::new(1))
        .layout(layout)
        .clock(clock)
        .slots(2)
        .build()
        .unwrap()
}

fn on_filler_thread() -> bool {
    thread::current().name().is_some_and(|name| name == "uidring-filler")
}

/// Waits for what must come, however slow the machine is.
fn wait_for(what: &str, mut came: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !came() {
        assert!(begin.elapsed() < Duration::from_secs(60), "no {what}");
        thread::yield_now();
    }
}

fn assert_takes_go_on(uids: &UidGenerator) {
    let taken: Vec<Uid> = (0..100_000).map(|_| uids.take().unwrap()).collect();
    assert!(taken.is_sorted_by(|a, b| a < b));
    let mut buffer = vec![Uid::MIN; 10_000];
    uids.fill(&mut buffer).unwrap();
    assert!(buffer.is_sorted_by(|a, b| a < b) && buffer[0] > taken[99_999]);
    let mut local = uids.local();
    let first = local.take().unwrap();
    assert!(first > buffer[9_999] && local.take().unwrap() > first);
}

/// Shows one time for ever.
struct Still;

impl Clock for Still {
    fn now(&self) -> SystemTime {
        Layout::DEFAULT.epoch() + Duration::from_secs(1_000_000)
    }
}

/// A taker that drains the ring within milliseconds refills it itself before it is empty.
#[test]
fn takers_left_to_themselves_keep_the_ring_half_full() {
    let builder =
        UidGenerator::builder().registry(FixedWorker::new(1)).clock(Still).max_lead(Duration::MAX);
    let uids = builder.build().unwrap();
    let block = uids.layout().max_sequence() + 1;
    let mut second = vec![Uid::MIN; 8192];
    wait_for("time without the filler", || {
        let before = uids.status().refilled_inline;
        let half_full = (0..2000).filter(|_| {
            uids.fill(&mut second).unwrap();
            uids.status().available >= 3 * block
        });
        half_full.count() > 1000 && uids.status().refilled_inline - before > 1000
    });
}

#[test]
fn never_blocked_by_many_more_takers_than_cores() {
    const THREADS: usize = 16;
    const TAKES: usize = 100_000;
    let uids = generator(Still);
    let start = Barrier::new(THREADS);
    let taken: Vec<Vec<Uid>> = thread::scope(|scope| {
        let take = || {
            start.wait();
            (0..TAKES).map(|_| uids.take().unwrap()).collect()
        };
        let takers: Vec<_> = (0..THREADS).map(|_| scope.spawn(take)).collect();
        takers.into_iter().map(|taker| taker.join().unwrap()).collect()
    });
    assert!(taken.iter().all(|uids| uids.is_sorted_by(|a, b| a < b)));
    let different: HashSet<Uid> = taken.iter().flatten().copied().collect();
    assert_eq!(different.len(), THREADS * TAKES);
    // Far more is taken than the filler can have refilled; if it should be that fast, it is asked
    // for more.
    wait_for("refill by a taker", || {
        uids.fill(&mut [Uid::MIN; 1000]).unwrap();
        uids.status().refilled_inline > 0
    });
    assert_eq!(uids.status().filler, FillerState::Running);
}

/// Keeps the filler waiting for the time until it is released.
#[derive(Clone, Default)]
struct Stalling {
    state: Arc<(Mutex<Stall>, Condvar)>,
}

/// Releases the filler when it drops, also where a test fails: the generator's end waits for it.
struct Release(Stalling);

impl Drop for Release {
    fn drop(&mut self) {
        let (state, changed) = &*self.0.state;
        state.lock().unwrap().released = true;
        changed.notify_all();
    }
}

#[derive(Default)]
struct Stall {
    stalled: bool,
    released: bool,
}

impl Clock for Stalling {
    fn now(&self) -> SystemTime {
        if on_filler_thread() {
            let (state, changed) = &*self.state;
            let mut stall = state.lock().unwrap();
            stall.stalled = true;
            while !stall.released {
                stall = changed.wait(stall).unwrap();
            }
        }
        Still.now()
    }
}

#[test]
fn never_blocked_by_a_filler_that_is_stalled() {
    let clock = Stalling::default();
    let uids = generator(clock.clone());
    let release = Release(clock);
    wait_for("look of the filler at the clock", || {
        uids.take().unwrap();
        release.0.state.0.lock().unwrap().stalled
    });
    let before = uids.status();
    assert_takes_go_on(&uids);
    let after = uids.status();
    assert_eq!(after.refilled_by_filler, before.refilled_by_filler);
    // The ring held two of the blocks.
    assert!(
        after.refilled_inline >= before.refilled_inline + 110_000 / 16 - 2,
        "{before:?}, then {after:?}"
    );
    drop(release);
    // The generator ends as usual.
}

/// Panics when the filler looks at it, while it is told to.
#[derive(Clone)]
struct Panicking {
    armed: Arc<AtomicBool>,
}

impl Clock for Panicking {
    fn now(&self) -> SystemTime {
        assert!(!(on_filler_thread() && self.armed.load(Ordering::Relaxed)), "the clock broke");
        Still.now()
    }
}

#[test]
fn never_blocked_by_a_filler_that_panics_and_status_says_so() {
    let armed = Arc::new(AtomicBool::new(true));
    let uids = generator(Panicking { armed: Arc::clone(&armed) });
    // Each is asked for a refill, and fails at it.
    for _ in 0..3 {
        assert_takes_go_on(&uids);
        wait_for("report of the panic", || {
            uids.take().unwrap();
            uids.status().filler == FillerState::Panicked
        });
    }
    // It is not given up: when the clock works again, so does the filler.
    armed.store(false, Ordering::Relaxed);
    let before = uids.status().refilled_by_filler;
    wait_for("return of the filler", || {
        assert_takes_go_on(&uids);
        let status = uids.status();
        status.filler == FillerState::Running && status.refilled_by_filler > before
    });
}

/// Leases an id, and then does not answer until it is let go.
struct Hanging {
    is_asked: Arc<AtomicBool>,
    until: Arc<Barrier>,
    panics: bool,
}

impl WorkerRegistry for Hanging {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        let ticks = request.now..=request.now + 3600;
        Ok(Lease::leased(1, ticks, Duration::from_secs(3600), "one"))
    }

    fn reserve(&mut self, _: &Lease, last: u64) -> Result<u64, RegistryError> {
        if !self.is_asked.swap(true, Ordering::AcqRel) {
            self.until.wait();
            assert!(!self.panics, "the registry broke");
        }
        Ok(last)
    }
}

fn hangs(panics: bool) {
    let (is_asked, until) = (Arc::new(AtomicBool::new(false)), Arc::new(Barrier::new(2)));
    let registry = Hanging { is_asked: Arc::clone(&is_asked), until: Arc::clone(&until), panics };
    let clock = ManualClock::new(Layout::DEFAULT.epoch());
    let uids = UidGenerator::builder().registry(registry).clock(clock.clone()).build().unwrap();
    // So many seconds later half of what was reserved is used up.
    clock.advance(Duration::from_secs(2000));
    wait_for("question to the registry", || is_asked.load(Ordering::Acquire));
    for _ in 0..3 {
        // An idle generator keeps its clock.
        clock.advance(Duration::from_secs(100));
        wait_for("UID of the present", || {
            let time = uids.layout().parts(uids.take().unwrap()).time;
            time + Duration::from_secs(1) >= clock.now()
        });
    }
    until.wait();
    // It is asked again, or was heard: beyond what was reserved at the start.
    clock.advance(Duration::from_secs(20_000));
    wait_for("UID of the present", || {
        assert_eq!(uids.status().filler, FillerState::Running);
        uids.take()
            .is_ok_and(|uid| uids.layout().parts(uid).time + Duration::from_secs(1) >= clock.now())
    });
    assert_eq!(uids.worker_id(), 1);
}

#[test]
fn never_blocked_by_a_registry_that_hangs() {
    hangs(false);
}

#[test]
fn never_blocked_by_a_registry_that_hangs_and_panics() {
    hangs(true);
}

/// Leases an id for a hundred seconds, and panics at each further call while it is told to.
struct Breaking {
    armed: Arc<AtomicBool>,
    ids: u64,
}

impl Breaking {
    fn new() -> (Breaking, Arc<AtomicBool>) {
        let armed = Arc::new(AtomicBool::new(true));
        (Breaking { armed: Arc::clone(&armed), ids: 0 }, armed)
    }

    fn work(&self) {
        assert!(!self.armed.load(Ordering::Relaxed), "the registry broke");
    }
}

impl WorkerRegistry for Breaking {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        if self.ids > 0 {
            self.work();
        }
        self.ids += 1;
        let ticks = request.now..=request.now + 100;
        Ok(Lease::leased(self.ids, ticks, Duration::from_secs(3600), self.ids.to_string()))
    }

    fn reserve(&mut self, _: &Lease, last: u64) -> Result<u64, RegistryError> {
        self.work();
        Ok(last)
    }

    fn release(&mut self, _: &Lease, _: u64) -> Result<(), RegistryError> {
        self.work();
        Ok(())
    }
}

/// A call that panics is one that fails: takes go on with what is reserved, fail, and go on when
/// the registry works.
#[test]
fn never_blocked_by_a_registry_that_panics_whenever_it_is_asked() {
    let is_not_blocked = |policy| {
        let (registry, armed) = Breaking::new();
        let builder = UidGenerator::builder().registry(registry).clock(Still).on_lead_limit(policy);
        let uids = builder.build().unwrap();
        let (sender, answers) = mpsc::channel();
        let taker = uids.clone();
        thread::spawn(move || while sender.send(taker.take()).is_ok() {});
        let error = loop {
            if let Err(error) = answers.recv_timeout(Duration::from_secs(60)).unwrap() {
                break error;
            }
        };
        drop(answers);
        assert_eq!(error, TakeError::LeaseExhausted { worker: 1 }, "{policy:?}");
        assert_eq!(uids.status().filler, FillerState::Running, "{policy:?}");
        armed.store(false, Ordering::Relaxed);
        wait_for("UID", || uids.take().is_ok());
        // It is asked to take the id back at the end.
        armed.store(true, Ordering::Relaxed);
    };
    // Beside one another, because each waits for a second until the registry is asked again.
    thread::scope(|scope| {
        for policy in [LeadLimit::Wait, LeadLimit::NewWorker, LeadLimit::Fail] {
            scope.spawn(move || is_not_blocked(policy));
        }
    });
}

#[test]
fn never_blocked_by_a_registry_that_panics_when_it_is_asked_for_another_worker_id() {
    let (registry, armed) = Breaking::new();
    let builder =
        UidGenerator::builder().registry(registry).clock(Still).max_lead(Duration::from_secs(50));
    let uids = builder.on_lead_limit(LeadLimit::NewWorker).build().unwrap();
    // Many takes to a yield: on a busy machine each yield lets every other program run first.
    wait_for("end of the lead", || (0..10_000).any(|_| uids.try_take().is_err()));
    let before = Instant::now();
    while before.elapsed() < Duration::from_millis(100) {
        assert!(matches!(uids.try_take(), Err(TakeError::LeadLimit { .. })));
        assert_eq!(uids.status().filler, FillerState::Running);
    }
    armed.store(false, Ordering::Relaxed);
    wait_for("new worker id", || {
        uids.try_take().is_ok_and(|uid| uids.layout().parts(uid).worker == 2)
    });
}
