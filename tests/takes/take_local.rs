//! Takes from a thread's own claim, which the thread keeps.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant, SystemTime};

use uidring::clock::{Clock, ManualClock};
use uidring::registry::{FixedWorker, Lease, Request, WorkerRegistry};
use uidring::{Builder, Layout, LeadLimit, RegistryError, Uid, UidGenerator};

fn now() -> SystemTime {
    Layout::DEFAULT.epoch() + Duration::from_secs(1_000_000)
}

fn builder(worker: u64) -> Builder {
    UidGenerator::builder().registry(FixedWorker::new(worker)).clock(ManualClock::new(now()))
}

fn is_consecutive(uids: &[Uid]) -> bool {
    uids.is_sorted_by(|a, b| a.get() + 1 == b.get())
}

#[test]
fn unique_and_ordered_within_each_thread_beside_all_other_takes() {
    const TAKES: usize = 50_000;
    let uids = builder(1).build().unwrap();
    let taken: Vec<Vec<Uid>> = thread::scope(|scope| {
        let own = |_| scope.spawn(|| (0..TAKES).map(|_| uids.take_local().unwrap()).collect());
        let own: Vec<_> = (0..3).map(own).collect();
        let mut local = uids.local();
        let others = (0..TAKES).flat_map(|_| [uids.take().unwrap(), local.take().unwrap()]);
        let mut taken: Vec<Vec<Uid>> = vec![others.collect()];
        for thread in own {
            let uids: Vec<Uid> = thread.join().unwrap();
            assert!(uids.is_sorted_by(|a, b| a < b));
            taken.push(uids);
        }
        taken
    });
    let all: Vec<Uid> = taken.concat();
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
}

/// A thread goes on with its claim when it comes back to a generator.
#[test]
fn nothing_wasted_by_taking_from_several_generators_by_turns() {
    let generators: Vec<_> = (1..=16).map(|worker| builder(worker).build().unwrap()).collect();
    let mut taken = vec![Vec::new(); generators.len()];
    for _ in 0..300 {
        for (uids, taken) in generators.iter().zip(&mut taken) {
            taken.extend([uids.take_local().unwrap(), uids.clone().take_local().unwrap()]);
        }
    }
    for taken in taken {
        assert!(is_consecutive(&taken));
    }
}

#[test]
fn unique_from_more_generators_than_a_thread_keeps() {
    let generators: Vec<_> = (1..=40).map(|worker| builder(worker).build().unwrap()).collect();
    let mut taken = vec![Vec::new(); generators.len()];
    for _ in 0..30 {
        for (uids, taken) in generators.iter().zip(&mut taken) {
            taken.push(uids.take_local().unwrap());
        }
    }
    for taken in taken {
        assert!(taken.is_sorted_by(|a, b| a < b));
    }
}

/// It may have the same place in memory.
#[test]
fn unique_a_generator_does_not_go_on_with_the_claim_of_one_before() {
    for worker in 1..100 {
        let uids = builder(worker).build().unwrap();
        let uid = uids.take_local().unwrap();
        assert_eq!(Layout::DEFAULT.parts(uid).worker, worker);
        assert_eq!(uid, Layout::DEFAULT.compose(1_000_000, worker, 0).unwrap());
    }
}

/// Leases worker ids 1, 2 and so on, and takes one away when told to.
struct Leases {
    given: u64,
    is_lost: Arc<AtomicBool>,
}

impl WorkerRegistry for Leases {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        self.given += 1;
        let ticks = request.now..=request.now + 100_000;
        Ok(Lease::leased(self.given, ticks, Duration::from_secs(2), "holder"))
    }

    fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        if self.is_lost.swap(false, Ordering::Relaxed) {
            return Err(RegistryError::LeaseLost { worker: lease.worker });
        }
        Ok(last)
    }
}

/// The worker before was ahead of the clock, and the claim is of the one behind it.
#[test]
fn true_time_no_claim_outlives_the_lag_after_a_lease_was_lost_ahead_of_the_clock() {
    let (clock, is_lost) = (ManualClock::new(now()), Arc::new(AtomicBool::new(false)));
    let layout = Layout::new(30, 20, 8).unwrap();
    let builder = UidGenerator::builder().layout(layout).clock(clock.clone());
    let builder = builder.registry(Leases { given: 0, is_lost: Arc::clone(&is_lost) });
    let uids = builder.max_lead(Duration::from_secs(3600)).build().unwrap();
    uids.take().unwrap();
    clock.rewind(Duration::from_secs(600));
    is_lost.store(true, Ordering::Relaxed);
    let until = |what: &str, holds: &dyn Fn() -> bool| {
        let since = Instant::now();
        while !holds() {
            assert!(since.elapsed() < Duration::from_secs(60), "never {what}");
            thread::sleep(Duration::from_millis(20));
        }
    };
    until("another worker", &|| {
        clock.advance(Duration::from_secs(1));
        uids.worker_id() == 2
    });
    // The filler looks at the block of the worker before, which is ahead.
    for _ in 0..3 {
        clock.advance(Duration::from_secs(1));
        thread::sleep(Duration::from_millis(1100));
    }
    // Takers leave that block, and all others of its worker.
    let worker = || layout.parts(uids.take().unwrap()).worker;
    until("its UIDs", &|| {
        clock.advance(Duration::from_secs(2));
        (0..300).any(|_| worker() == 2)
    });
    let first = uids.take_local().unwrap();
    assert_eq!(layout.parts(first).worker, 2);
    clock.advance(Duration::from_secs(60));
    // Fewer takes than the claim has UIDs.
    let is_fresh = (0..40).any(|_| {
        thread::sleep(Duration::from_millis(200));
        let time = layout.parts(uids.take_local().unwrap()).time;
        clock.now().duration_since(time).unwrap_or_default() <= Duration::from_secs(2)
    });
    assert!(is_fresh, "the claim of a minute ago goes on");
}

/// A clock whose readers take UIDs themselves, if they are to.
struct Taking {
    uids: OnceLock<UidGenerator>,
    /// How many UIDs the next reader takes. Not the filler: the test counts what one thread takes.
    takes: AtomicUsize,
    thread: ThreadId,
    taken: mpsc::SyncSender<Uid>,
    clock: ManualClock,
}

struct Shared(Arc<Taking>);

impl Clock for Shared {
    fn now(&self) -> SystemTime {
        let Taking { uids, takes, thread, taken, clock } = &*self.0;
        if thread::current().id() == *thread {
            let takes = takes.swap(0, Ordering::Relaxed);
            if takes > 0 {
                clock.advance(Duration::from_secs(1));
            }
            for _ in 0..takes {
                if let Ok(uid) = uids.get().unwrap().take_local() {
                    taken.send(uid).unwrap();
                }
            }
        }
        clock.now()
    }
}

/// A generator with few UIDs per tick and none of later ticks, so that takes often read its clock.
/// This is the clock, and it sends what it has taken.
fn taking() -> (UidGenerator, Arc<Taking>, mpsc::Receiver<Uid>) {
    let (sender, nested) = mpsc::sync_channel(1000);
    let taking = Arc::new(Taking {
        uids: OnceLock::new(),
        takes: AtomicUsize::new(0),
        thread: thread::current().id(),
        taken: sender,
        clock: ManualClock::new(now()),
    });
    let uids = UidGenerator::builder()
        .registry(FixedWorker::new(1))
        .clock(Shared(Arc::clone(&taking)))
        .layout(Layout::new(40, 10, 8).unwrap())
        .slots(2)
        .max_lead(Duration::ZERO)
        .on_lead_limit(LeadLimit::Fail)
        .build()
        .unwrap();
    (uids, taking, nested)
}

#[test]
fn unique_and_ordered_when_a_take_comes_back_to_itself_through_the_clock() {
    let (uids, taking, nested) = taking();
    taking.uids.set(uids.clone()).unwrap();
    let (mut count, mut largest) = (0, None);
    for round in 0..20_000 {
        // Also while the ring is open, so that takes come back while they hold tickets.
        if round % 100 == 0 {
            taking.takes.store(1 + round / 100 % 3, Ordering::Relaxed);
        }
        // A take and those within it are under way together, so either may be the larger.
        let outer = uids.take_local().ok();
        let inner: Vec<Uid> = nested.try_iter().collect();
        assert!(inner.is_sorted_by(|a, b| a < b));
        assert!(outer.is_none_or(|uid| !inner.contains(&uid)));
        for uid in outer.iter().chain(&inner) {
            assert!(Some(*uid) > largest, "{uid:?} after {largest:?}");
        }
        count += inner.len() + usize::from(outer.is_some());
        largest = outer.into_iter().chain(inner).max().max(largest);
    }
    assert!(count > 10_000, "{count}");
}

#[test]
fn unique_and_ordered_when_a_take_meets_takes_from_another_generator_through_the_clock() {
    let (uids, taking, nested) = taking();
    let other = builder(2).build().unwrap();
    taking.uids.set(other.clone()).unwrap();
    let (mut taken, mut others) = (Vec::new(), Vec::new());
    for round in 0..200 {
        taken.extend(std::iter::from_fn(|| uids.take_local().ok()));
        taking.takes.store(round % 5, Ordering::Relaxed);
        taken.extend(uids.take_local().ok());
        others.extend(nested.try_iter());
        others.push(other.take_local().unwrap());
    }
    assert!(taken.len() > 200 && others.len() > 400);
    assert!(taken.is_sorted_by(|a, b| a < b));
    // Each take goes on with the claim of the one before, so no UID comes twice, and none is lost.
    assert!(is_consecutive(&others), "{others:?}");
}

#[test]
fn unique_and_ordered_when_a_thread_takes_while_it_ends() {
    /// More than a claim, so that takes go on past what the thread has claimed before.
    const TAKES: usize = 200;

    struct AtTheEnd([UidGenerator; 2], mpsc::Sender<[Uid; 2]>);

    impl Drop for AtTheEnd {
        fn drop(&mut self) {
            for _ in 0..TAKES {
                self.1.send(self.0.each_ref().map(|uids| uids.take_local().unwrap())).unwrap();
            }
        }
    }

    // One is dropped before the thread's claims are, and the other after that.
    thread_local! {
        static FIRST: OnceLock<AtTheEnd> = const { OnceLock::new() };
        static LAST: OnceLock<AtTheEnd> = const { OnceLock::new() };
    }

    let both = [builder(1).build().unwrap(), builder(2).build().unwrap()];
    let (sender, taken) = mpsc::channel();
    thread::spawn({
        let both = both.clone();
        move || {
            let at_the_end = || AtTheEnd(both.clone(), sender.clone());
            FIRST.with(|first| assert!(first.set(at_the_end()).is_ok()));
            sender.send(both.each_ref().map(|uids| uids.take_local().unwrap())).unwrap();
            LAST.with(|last| assert!(last.set(at_the_end()).is_ok()));
        }
    })
    .join()
    .unwrap();
    let taken: Vec<[Uid; 2]> = taken.iter().collect();
    assert_eq!(taken.len(), 1 + 2 * TAKES);
    for (index, uids) in both.iter().enumerate() {
        assert!(taken.is_sorted_by(|a, b| a[index] < b[index]), "{taken:?}");
        assert!(uids.take().unwrap() > taken[2 * TAKES][index]);
    }
}
