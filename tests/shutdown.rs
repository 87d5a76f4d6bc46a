//! A generator is shut down: what its other handles do then, and what becomes of its worker id.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

use std::error::Error;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use uidring::clock::ManualClock;
use uidring::registry::{FixedWorker, Lease, Request, WorkerRegistry};
use uidring::{
    Builder, Layout, LeadLimit, RegistryError, ShutdownError, TakeError, Uid, UidGenerator,
};

const LEASE: Duration = Duration::from_secs(3600);

/// What a registry does when an id is given back.
#[derive(Clone, Copy)]
enum Answer {
    Refusal,
    Never,
}

/// Leases worker id 7.
struct Stubborn(Answer);

impl WorkerRegistry for Stubborn {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        Ok(Lease::leased(7, request.now..=request.now + 3600, LEASE, "one"))
    }

    fn release(&mut self, _: &Lease, _: u64) -> Result<(), RegistryError> {
        match self.0 {
            Answer::Refusal => Err(RegistryError::unreachable("it is away")),
            Answer::Never => loop {
                thread::park();
            },
        }
    }
}

/// At the lead limit after the UIDs of one tick.
fn at_the_limit() -> UidGenerator {
    let clock = ManualClock::new(Layout::DEFAULT.epoch() + Duration::from_secs(1_000_000));
    let uids = limited(UidGenerator::builder().registry(FixedWorker::new(1)).clock(clock));
    assert!(uids.take_n(8192).all(|uid| uid.is_ok()));
    uids
}

fn limited(builder: Builder) -> UidGenerator {
    builder.max_lead(Duration::ZERO).on_lead_limit(LeadLimit::Wait).build().unwrap()
}

#[test]
fn clean_end_every_take_fails_after_a_shutdown() {
    let uids = UidGenerator::builder().registry(FixedWorker::new(1)).build().unwrap();
    let (other, mut local, mut fresh) = (uids.clone(), uids.local(), uids.local());
    local.take().unwrap();
    uids.shutdown_blocking().unwrap();
    for _ in 0..3 {
        assert_eq!(other.take(), Err(TakeError::ShutDown));
        assert_eq!(other.try_take(), Err(TakeError::ShutDown));
        assert_eq!(local.take(), Err(TakeError::ShutDown));
        assert_eq!(fresh.take(), Err(TakeError::ShutDown));
        assert_eq!(other.take_n(3).next(), Some(Err(TakeError::ShutDown)));
        let error = other.fill(&mut [Uid::MIN; 3]).unwrap_err();
        assert_eq!((error.filled(), error.cause()), (0, TakeError::ShutDown));
    }
    // Once more does no harm, and a status is still to be had.
    assert!(other.clone().shutdown_blocking().is_ok());
    assert_eq!(other.status().filler, uidring::FillerState::Stopped);
    let text = TakeError::ShutDown.to_string();
    assert!(text.starts_with("the generator was shut down"), "{text}");
}

#[test]
fn clean_end_threads_that_wait_are_told_of_a_shutdown() {
    const THREADS: usize = 4;
    let uids = at_the_limit();
    let (sender, results) = mpsc::channel();
    for _ in 0..THREADS {
        let (uids, sender) = (uids.clone(), sender.clone());
        thread::spawn(move || sender.send(uids.take()).unwrap());
    }
    // Some may not wait yet; they find the ring closed.
    thread::sleep(Duration::from_millis(50));
    assert!(results.try_recv().is_err(), "they wait");
    uids.shutdown_blocking().unwrap();
    for _ in 0..THREADS {
        assert_eq!(results.recv().unwrap(), Err(TakeError::ShutDown));
    }
}

#[test]
fn a_registry_that_does_not_take_the_id_back_is_told_of() {
    let builder = |answer| {
        UidGenerator::builder()
            .registry(Stubborn(answer))
            .shutdown_deadline(Duration::from_millis(200))
    };
    let error = builder(Answer::Refusal).build().unwrap().shutdown_blocking().unwrap_err();
    assert!(matches!(error, ShutdownError::NotReleased { worker: 7, .. }), "{error:?}");
    let cause = error.source().unwrap();
    assert_eq!(cause.source().unwrap().to_string(), "it is away");

    let uids = builder(Answer::Never).build().unwrap();
    let since = Instant::now();
    let error = uids.shutdown_blocking().unwrap_err();
    assert!(since.elapsed() >= Duration::from_millis(200));
    assert!(matches!(error, ShutdownError::Deadline { worker: 7, .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "worker id 7 was not given back within 200ms: the registry has not answered; the id \
         becomes free at the latest when its lease has expired"
    );
}

#[test]
fn a_shutdown_tells_those_that_share_the_generator_alike() {
    let uids = Arc::new(UidGenerator::builder().registry(FixedWorker::new(1)).build().unwrap());
    let shutdown = |_| {
        let uids = UidGenerator::clone(&uids);
        thread::spawn(move || uids.shutdown_blocking())
    };
    for thread in [0, 1, 2].map(shutdown) {
        thread.join().unwrap().unwrap();
    }
}

#[cfg(feature = "sqlite")]
mod in_a_file {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicBool, Ordering};

    use uidring::registry::SqliteRegistry;

    use super::*;

    #[test]
    fn unique_what_is_taken_beside_a_shutdown_is_not_given_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("uidring.db");
        let build = || {
            // Short leads and few slots, so that takers are often about to publish.
            let layout =
                Layout::new(41, 10, 4).unwrap().with_tick(Duration::from_millis(1)).unwrap();
            UidGenerator::builder()
                .registry(SqliteRegistry::open(&file).unwrap().leased(LEASE))
                .layout(layout)
                .slots(2)
                .build()
                .unwrap()
        };
        let mut largest = None;
        for round in 0..40 {
            let uids = build();
            assert_eq!(uids.worker_id(), 1, "it was given back, in round {round}");
            let stop = AtomicBool::new(false);
            let barrier = Barrier::new(3);
            let taken: Vec<Vec<Uid>> = thread::scope(|scope| {
                let take = |uids: UidGenerator| {
                    let (barrier, stop) = (&barrier, &stop);
                    move || {
                        barrier.wait();
                        let (mut taken, mut local) = (Vec::new(), uids.local());
                        while !stop.load(Ordering::Relaxed) {
                            match uids.take().and_then(|uid| Ok([uid, local.take()?])) {
                                Ok(uids) => taken.extend(uids),
                                Err(error) => {
                                    assert_eq!(error, TakeError::ShutDown);
                                    break;
                                }
                            }
                        }
                        taken
                    }
                };
                let takers = [uids.clone(), uids.clone()].map(|uids| scope.spawn(take(uids)));
                barrier.wait();
                thread::sleep(Duration::from_micros(round * 20));
                uids.shutdown_blocking().unwrap();
                stop.store(true, Ordering::Relaxed);
                takers.map(|taker| taker.join().unwrap()).into()
            });
            let first = taken.iter().flatten().min().copied();
            assert!(first.is_none() || first > largest, "{first:?} after {largest:?}");
            largest = taken.into_iter().flatten().max().max(largest);
        }
        assert!(build().take().unwrap() > largest.unwrap());
    }
}

#[cfg(feature = "async")]
mod asynchronous {
    use super::*;

    #[test]
    fn clean_end_tasks_that_wait_are_told_of_a_shutdown() {
        let uids = at_the_limit();
        let waiting = {
            let uids = uids.clone();
            thread::spawn(move || pollster::block_on(uids.take_async()))
        };
        thread::sleep(Duration::from_millis(50));
        pollster::block_on(uids.shutdown()).unwrap();
        assert_eq!(waiting.join().unwrap(), Err(TakeError::ShutDown));
    }

    #[test]
    fn a_build_and_a_shutdown_block_no_runtime() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let builder = UidGenerator::builder().registry(FixedWorker::new(1));
            let uids = builder.build_async().await.unwrap();
            uids.take().unwrap();
            uids.shutdown().await.unwrap();
            let error = UidGenerator::builder().build_async().await.unwrap_err();
            assert!(matches!(error, uidring::BuildError::NoRegistry));
        });
    }

    /// Nobody is left who could use the generator.
    #[test]
    fn clean_end_a_build_that_is_given_up_gives_the_id_back() {
        struct Telling(mpsc::Sender<&'static str>);

        impl WorkerRegistry for Telling {
            fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
                self.0.send("assigned").unwrap();
                thread::sleep(Duration::from_millis(50));
                Ok(Lease::leased(7, request.now..=request.now + 3600, LEASE, "one"))
            }

            fn release(&mut self, _: &Lease, _: u64) -> Result<(), RegistryError> {
                self.0.send("released").unwrap();
                Ok(())
            }
        }

        let (sender, calls) = mpsc::channel();
        let mut build = Box::pin(UidGenerator::builder().registry(Telling(sender)).build_async());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(build.as_mut().poll(&mut context).is_pending());
        assert_eq!(calls.recv(), Ok("assigned"));
        drop(build);
        assert_eq!(calls.recv(), Ok("released"));
    }
}
