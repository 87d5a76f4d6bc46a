//! A generator is shut down: what its other handles do then, and what becomes of its worker id.

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

/// The behaviour of a registry when an id is given back.
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
    uids.shutdown().unwrap();
    for _ in 0..3 {
        assert_eq!(other.take(), Err(TakeError::ShutDown));
        let status = other.status();
        assert_eq!((status.available, status.obstacle), (0, Some(TakeError::ShutDown)));
        assert_eq!(other.try_take(), Err(TakeError::ShutDown));
        assert_eq!(local.take(), Err(TakeError::ShutDown));
        assert_eq!(fresh.take(), Err(TakeError::ShutDown));
        assert_eq!(other.take_n(3).next(), Some(Err(TakeError::ShutDown)));
        let error = other.fill(&mut [Uid::MIN; 3]).unwrap_err();
        assert_eq!((error.filled(), error.cause()), (0, TakeError::ShutDown));
    }
    // Once more does no harm, and a status is still to be had.
    assert!(other.clone().shutdown().is_ok());
    assert_eq!(other.status().filler, uidring::FillerState::Stopped);
    let text = TakeError::ShutDown.to_string();
    assert!(text.starts_with("the generator was closed"), "{text}");
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
    uids.shutdown().unwrap();
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
    let error = builder(Answer::Refusal).build().unwrap().shutdown().unwrap_err();
    assert!(matches!(error, ShutdownError::NotReleased { worker: 7, .. }), "{error:?}");
    let cause = error.source().unwrap();
    assert_eq!(cause.source().unwrap().to_string(), "it is away");

    let uids = builder(Answer::Never).build().unwrap();
    let since = Instant::now();
    let error = uids.shutdown().unwrap_err();
    assert!(since.elapsed() >= Duration::from_millis(200));
    assert!(matches!(error, ShutdownError::Deadline { worker: 7, .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "worker id 7 was not given back within 200 ms: the registry has not answered; the id \
         becomes free at the latest when its lease has expired"
    );
}

#[test]
fn a_shutdown_tells_those_that_share_the_generator_alike() {
    let uids = UidGenerator::builder().registry(Stubborn(Answer::Refusal)).build().unwrap();
    let shutdown = |_| {
        let uids = uids.clone();
        thread::spawn(move || uids.shutdown())
    };
    let threads = [0, 1, 2].map(shutdown);
    let mut results = Vec::from(threads.map(|thread| thread.join().unwrap()));
    // One that comes late is told as well.
    results.push(uids.shutdown());
    let errors = results.into_iter().map(|result| match result {
        Err(ShutdownError::NotReleased { worker: 7, source }) => source,
        other => panic!("{other:?}"),
    });
    let errors: Vec<Arc<RegistryError>> = errors.collect();
    assert!(errors.iter().all(|error| Arc::ptr_eq(error, &errors[0])), "{errors:?}");
}

#[cfg(feature = "sqlite")]
mod in_a_file {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicBool, Ordering};

    use uidring::registry::SqliteRegistry;

    use super::*;

    #[test]
    fn unique_what_is_taken_beside_a_shutdown_is_not_given_again() {
        let folder = crate::folder::folder();
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
                uids.shutdown().unwrap();
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
    use std::task::{Context, Wake, Waker};

    use super::*;

    #[test]
    fn clean_end_tasks_that_wait_are_told_of_a_shutdown() {
        let uids = at_the_limit();
        let waiting = {
            let uids = uids.clone();
            thread::spawn(move || pollster::block_on(uids.take_async()))
        };
        thread::sleep(Duration::from_millis(50));
        pollster::block_on(uids.shutdown_async()).unwrap();
        assert_eq!(waiting.join().unwrap(), Err(TakeError::ShutDown));
    }

    /// No test fails because this is over, and one that fails does not wait for longer.
    const LONG: Duration = Duration::from_secs(30);

    /// Leases worker id 7. Each call says what it is, and ends when it is told to.
    struct Held {
        called: mpsc::Sender<&'static str>,
        proceed: mpsc::Receiver<()>,
    }

    impl Held {
        fn new() -> (Held, mpsc::Receiver<&'static str>, mpsc::Sender<()>) {
            let ((called, calls), (go, proceed)) = (mpsc::channel(), mpsc::channel());
            (Held { called, proceed }, calls, go)
        }

        fn call(&self, name: &'static str) -> Result<(), RegistryError> {
            self.called.send(name).unwrap();
            let told = self.proceed.recv_timeout(LONG);
            told.map_err(|_| RegistryError::other("the call was not told to proceed"))
        }
    }

    impl WorkerRegistry for Held {
        fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
            self.call("assign")?;
            Ok(Lease::leased(7, request.now..=request.now + 3600, LEASE, "one"))
        }

        fn release(&mut self, _: &Lease, _: u64) -> Result<(), RegistryError> {
            self.call("release")
        }
    }

    impl Drop for Held {
        fn drop(&mut self) {
            // A test that has failed listens no more.
            let _ = self.called.send("dropped");
        }
    }

    /// Each call of the registry ends only when another task has seen that it is under way.
    #[test]
    fn a_build_and_a_shutdown_block_no_runtime() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (registry, calls, go) = Held::new();
            let another = tokio::spawn(async move {
                let mut seen = Vec::new();
                loop {
                    match calls.try_recv() {
                        Ok("dropped") => return seen,
                        Ok(call) => {
                            seen.push(call);
                            go.send(()).unwrap();
                        }
                        Err(_) => tokio::task::yield_now().await,
                    }
                }
            });
            let builder = UidGenerator::builder().registry(registry).shutdown_deadline(LONG);
            let uids = builder.build_async().await.unwrap();
            uids.take().unwrap();
            uids.shutdown_async().await.unwrap();
            assert_eq!(another.await.unwrap(), ["assign", "release"]);
            let error = UidGenerator::builder().build_async().await.unwrap_err();
            assert!(matches!(error, uidring::BuildError::NoRegistry));
        });
    }

    /// Tells a test that its future was woken.
    struct Woken(mpsc::Sender<()>);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.send(()).unwrap();
        }
    }

    /// No handle to the generator is left.
    #[test]
    fn clean_end_a_build_that_is_given_up_gives_the_id_back() {
        let (registry, calls, go) = Held::new();
        let mut build = Box::pin(UidGenerator::builder().registry(registry).build_async());
        let mut context = Context::from_waker(Waker::noop());
        assert!(build.as_mut().poll(&mut context).is_pending());
        assert_eq!(calls.recv_timeout(LONG), Ok("assign"));
        drop(build);
        go.send(()).and_then(|()| go.send(())).unwrap();
        assert_eq!(calls.recv_timeout(LONG), Ok("release"));
        assert_eq!(calls.recv_timeout(LONG), Ok("dropped"));
    }

    /// As by a timeout that ends at that moment.
    #[test]
    fn clean_end_a_build_that_is_given_up_when_it_is_done_blocks_no_runtime() {
        let (registry, calls, go) = Held::new();
        let mut build = Box::pin(UidGenerator::builder().registry(registry).build_async());
        let (sender, woken) = mpsc::channel();
        let waker = Waker::from(Arc::new(Woken(sender)));
        assert!(build.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert_eq!(calls.recv_timeout(LONG), Ok("assign"));
        go.send(()).unwrap();
        woken.recv_timeout(LONG).unwrap();
        drop(build);
        // The registry has not been told to take the id back, so nobody can have waited for that.
        assert_eq!(calls.recv_timeout(LONG), Ok("release"));
        go.send(()).expect("it waits to be told");
        assert_eq!(calls.recv_timeout(LONG), Ok("dropped"));
    }

    #[test]
    fn clean_end_a_shutdown_whose_future_is_never_polled() {
        let (registry, calls, go) = Held::new();
        go.send(()).and_then(|()| go.send(())).unwrap();
        let uids = UidGenerator::builder().registry(registry).build().unwrap();
        assert_eq!(calls.recv_timeout(LONG), Ok("assign"));
        let other = uids.clone();
        drop(uids.shutdown_async());
        assert_eq!(calls.recv_timeout(LONG), Ok("release"));
        assert_eq!(other.take(), Err(TakeError::ShutDown));
    }
}
