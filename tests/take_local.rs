//! Takes from a thread's own claim, which the thread keeps.

#![allow(clippy::unwrap_used)]

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, SystemTime};

use uidring::clock::{Clock, ManualClock};
use uidring::registry::FixedWorker;
use uidring::{Builder, Layout, LeadLimit, TakeError, Uid, UidGenerator};

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

/// Takes a UID itself when it is read, if it is to.
struct Taking {
    uids: OnceLock<UidGenerator>,
    takes: AtomicBool,
    taken: mpsc::SyncSender<Uid>,
    clock: ManualClock,
}

struct Shared(Arc<Taking>);

impl Clock for Shared {
    fn now(&self) -> SystemTime {
        let Taking { uids, takes, taken, clock } = &*self.0;
        if takes.swap(false, Ordering::Relaxed) {
            clock.advance(Duration::from_secs(1));
            if let Ok(uid) = uids.get().unwrap().take_local() {
                taken.send(uid).unwrap();
            }
        }
        clock.now()
    }
}

#[test]
fn unique_when_a_take_comes_back_to_itself_through_the_clock() {
    let (sender, nested) = mpsc::sync_channel(1000);
    let taking = Arc::new(Taking {
        uids: OnceLock::new(),
        takes: AtomicBool::new(false),
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
    taking.uids.set(uids.clone()).unwrap();
    let mut all = Vec::new();
    for _ in 0..200 {
        while let Ok(uid) = uids.take_local() {
            all.push(uid);
        }
        taking.takes.store(true, Ordering::Relaxed);
        all.extend(uids.take_local().ok());
        all.extend(nested.try_iter());
    }
    assert!(all.len() > 200);
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
}

#[test]
fn a_thread_that_ends_still_gets_uids() {
    struct AtTheEnd(UidGenerator, mpsc::Sender<Result<Uid, TakeError>>);

    impl Drop for AtTheEnd {
        fn drop(&mut self) {
            self.1.send(self.0.take_local()).unwrap();
        }
    }

    thread_local! {
        static LAST: OnceLock<AtTheEnd> = const { OnceLock::new() };
    }

    let uids = builder(1).build().unwrap();
    let (sender, taken) = mpsc::channel();
    thread::spawn({
        let uids = uids.clone();
        move || {
            // Its destructor runs before or after that of the claims.
            LAST.with(|last| assert!(last.set(AtTheEnd(uids.clone(), sender)).is_ok()));
            uids.take_local().unwrap();
        }
    })
    .join()
    .unwrap();
    assert!(taken.recv().unwrap().is_ok());
    assert!(uids.take_local().is_ok());
}
