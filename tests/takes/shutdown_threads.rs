//! A shutdown on a thread that it would wait for, and one whose end is in the hands of others: a
//! registry that does not answer, a task that panics when it is woken.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use uidring::clock::ManualClock;
use uidring::registry::{Lease, Request, WorkerRegistry};
use uidring::{Layout, LeadLimit, RegistryError, ShutdownError, UidGenerator};

const LONG: Duration = Duration::from_secs(3600);
const PATIENCE: Duration = Duration::from_secs(20);

/// Gives permanent worker ids. The second one does not come before `go`.
struct Slow {
    assigned: u64,
    entered: Sender<()>,
    go: Receiver<()>,
}

impl WorkerRegistry for Slow {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        self.assigned += 1;
        if self.assigned == 2 {
            self.entered.send(()).unwrap();
            let _ = self.go.recv();
        }
        Ok(Lease::permanent(self.assigned, &request.layout))
    }
}

fn clock() -> ManualClock {
    ManualClock::new(Layout::DEFAULT.epoch() + Duration::from_secs(1_000_000))
}

#[test]
fn a_permanent_id_does_not_wait_for_a_registry_that_does_not_answer() {
    let (entered, is_entered) = mpsc::channel();
    let (go, may_go) = mpsc::channel();
    let builder = UidGenerator::builder().registry(Slow { assigned: 0, entered, go: may_go });
    let builder = builder.clock(clock()).max_lead(Duration::ZERO);
    let uids = builder.on_lead_limit(LeadLimit::NewWorker).build().unwrap();
    while uids.try_take().is_ok() {}
    is_entered.recv_timeout(PATIENCE).unwrap();
    uids.shutdown().unwrap();
    drop(go);
}

/// Leases worker id 7. Each reservation shuts the generator down.
struct Ending {
    uids: Arc<OnceLock<UidGenerator>>,
    told: Sender<Result<(), ShutdownError>>,
    released: Sender<()>,
}

impl WorkerRegistry for Ending {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        Ok(Lease::leased(7, request.now..=request.now + 10, LONG, "one"))
    }

    fn reserve(&mut self, _: &Lease, last: u64) -> Result<u64, RegistryError> {
        self.told.send(self.uids.wait_for().shutdown()).unwrap();
        Ok(last)
    }

    fn release(&mut self, _: &Lease, _: u64) -> Result<(), RegistryError> {
        self.released.send(()).unwrap();
        Ok(())
    }
}

trait WaitFor {
    fn wait_for(&self) -> UidGenerator;
}

impl WaitFor for OnceLock<UidGenerator> {
    /// The generator, once it is built.
    fn wait_for(&self) -> UidGenerator {
        loop {
            match self.get() {
                Some(uids) => return uids.clone(),
                None => thread::yield_now(),
            }
        }
    }
}

#[test]
fn a_shutdown_inside_a_registry_call_does_not_wait_for_that_call() {
    let (told, result) = mpsc::channel();
    let (released, is_released) = mpsc::channel();
    let cell = Arc::<OnceLock<UidGenerator>>::default();
    let registry = Ending { uids: Arc::clone(&cell), told, released };
    let builder = UidGenerator::builder().registry(registry).clock(clock()).max_lead(LONG);
    let builder = builder.on_lead_limit(LeadLimit::Wait);
    let uids = builder.shutdown_deadline(LONG).build().unwrap();
    cell.set(uids.clone()).unwrap();
    while uids.take().is_ok() {}
    let error = result.recv_timeout(PATIENCE).unwrap().unwrap_err();
    assert!(matches!(error, ShutdownError::Deadline { worker: 7, deadline: Duration::ZERO }));
    assert!(error.to_string().starts_with("worker id 7 was not waited for"), "{error}");
    // It is shut down all the same.
    is_released.recv_timeout(PATIENCE).unwrap();
    uids.shutdown().unwrap();
}

/// Drops the last handle in a reservation.
struct Last {
    uids: Arc<Mutex<Option<UidGenerator>>>,
    released: Sender<()>,
}

impl WorkerRegistry for Last {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        Ok(Lease::leased(7, request.now..=request.now + 10, LONG, "one"))
    }

    fn reserve(&mut self, _: &Lease, last: u64) -> Result<u64, RegistryError> {
        drop(self.uids.lock().unwrap().take());
        Ok(last)
    }

    fn release(&mut self, _: &Lease, _: u64) -> Result<(), RegistryError> {
        self.released.send(()).unwrap();
        Ok(())
    }
}

#[test]
fn a_registry_call_that_drops_the_last_handle_does_not_wait_for_itself() {
    let (released, is_released) = mpsc::channel();
    let last = Arc::<Mutex<Option<UidGenerator>>>::default();
    let registry = Last { uids: Arc::clone(&last), released };
    let builder = UidGenerator::builder().registry(registry).clock(clock()).max_lead(LONG);
    let uids = builder.on_lead_limit(LeadLimit::Wait).build().unwrap();
    let mut held = last.lock().unwrap();
    // Past half of the eleven ticks, so that the filler has more reserved.
    assert_eq!(uids.take_n(7 * 8192).flatten().count(), 7 * 8192);
    *held = Some(uids);
    drop(held);
    is_released.recv_timeout(PATIENCE).unwrap();
}

#[cfg(feature = "async")]
mod asynchronous {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::pin::pin;
    use std::task::{Context, Wake, Waker};

    use uidring::TakeError;

    use super::*;

    /// Leases worker id 7, and tells when it is given back.
    struct Noting(Sender<()>);

    impl WorkerRegistry for Noting {
        fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
            Ok(Lease::leased(7, request.now..=request.now + 1000, LONG, "one"))
        }

        fn release(&mut self, _: &Lease, _: u64) -> Result<(), RegistryError> {
            self.0.send(()).unwrap();
            Ok(())
        }
    }

    struct Panicking;

    impl Wake for Panicking {
        fn wake(self: Arc<Self>) {
            panic!("a waker that panics");
        }
    }

    #[test]
    fn a_waker_that_panics_does_not_keep_the_filler_running() {
        let (released, is_released) = mpsc::channel();
        let builder = UidGenerator::builder().registry(Noting(released)).clock(clock());
        let builder = builder.max_lead(Duration::ZERO).on_lead_limit(LeadLimit::Wait);
        let uids = builder.build().unwrap();
        while uids.try_take().is_ok() {}
        let waker = Waker::from(Arc::new(Panicking));
        let mut take = pin!(uids.take_async());
        assert!(take.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        let other = uids.clone();
        // The panic is this caller's, unless the filler was sooner to wake the task.
        let _ = catch_unwind(AssertUnwindSafe(|| other.shutdown()));
        is_released.recv_timeout(PATIENCE).unwrap();
        assert_eq!(uids.take(), Err(TakeError::ShutDown));
    }
}
