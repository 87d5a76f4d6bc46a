//! The filler: one background thread that refills the ring, by default when half of it is used up.
//!
//! It sleeps until a taker finds that the refill mark has been passed, or until it is time to read
//! the clock. No take in the ring depends on it: a taker that reaches the end of what is published
//! publishes by itself. So takes continue even if the filler is starved or dies.

mod alarm;
pub mod allowance;
pub mod lease_manager;
pub mod maintenance;
#[cfg(feature = "metrics")]
pub mod metrics;
mod registry_calls;
mod reservation_plan;

use std::io;
use std::mem;
use std::time::Duration;

use crate::clock::Stopwatch;
use crate::engine::Engine;
use crate::engine::events;
use crate::engine::filler_signal::FillerState;
#[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
use crate::engine::fork;
use crate::filler::maintenance::Maintenance;
use crate::filler::registry_calls::CallThread;
use crate::registry::RegistryError;
use crate::support::callbacks::catch_panic;
use crate::sync::{
    Arc, AtomicBool, Condvar, Mutex, Ordering, Parker, ThreadId, lock, thread, thread_id,
    wait_timeout,
};

const PAUSE_AFTER_PANIC: Duration = Duration::from_secs(1);

/// The running filler. Dropping it stops and joins the thread, which drops the registry, or leaves
/// that to a registry call that it need not wait for. In a forked process, where the thread does
/// not exist, dropping it does nothing.
#[derive(Debug)]
pub struct Filler {
    engine: Arc<Engine>,
    /// `None` only while this is dropped.
    thread: Option<thread::JoinHandle<()>>,
    /// The thread of a registry call, for which the filler waits before it ends.
    call_thread: CallThread,
    end: Arc<Outcome>,
    /// How long a shutdown waits for the filler to end.
    shutdown_deadline: Duration,
}

/// The filler's thread, once it runs, and its outcome, once it has ended.
#[derive(Debug, Default)]
struct Outcome {
    thread: Mutex<Option<ThreadId>>,
    result: Mutex<Option<Released>>,
    has_ended: Condvar,
    /// Whether a shutdown has reached its deadline.
    is_overdue: AtomicBool,
}

/// Whether all worker ids were given back. If not, one of the others with the reason.
pub type Released = Result<(), (u64, Arc<RegistryError>)>;

/// The maintenance of a filler and, if its thread cannot be started, its end.
struct Unstarted {
    engine: Arc<Engine>,
    /// `None` once the thread has started.
    maintenance: Option<Maintenance>,
}

impl Unstarted {
    /// Runs the filler on this thread.
    fn run(mut self, parker: &Parker) -> Result<(), (u64, RegistryError)> {
        self.maintenance.take().map_or(Ok(()), |maintenance| run(&self.engine, parker, maintenance))
    }
}

impl Drop for Unstarted {
    fn drop(&mut self) {
        if let Some(maintenance) = self.maintenance.take() {
            // `build` fails for another reason, so this result becomes only an event.
            let _ = finish(&self.engine, maintenance);
        }
    }
}

impl Filler {
    /// Starts the thread. If it cannot be started, gives the worker id back.
    pub fn start(
        engine: Arc<Engine>,
        parker: Parker,
        maintenance: Maintenance,
        shutdown_deadline: Duration,
    ) -> io::Result<Filler> {
        let call_thread = maintenance.call_thread();
        let unstarted = Unstarted { engine: Arc::clone(&engine), maintenance: Some(maintenance) };
        // Registered before anybody can take from it.
        #[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
        fork::watch(&engine)?;
        let end = Arc::<Outcome>::default();
        let body = {
            let end = Arc::clone(&end);
            // If no thread can be started, this is dropped.
            move || {
                *lock(&end.thread) = Some(thread_id());
                end.set(unstarted.run(&parker));
            }
        };
        let thread = thread::Builder::new().name("uidring-filler".to_owned()).spawn(body)?;
        Ok(Filler { engine, thread: Some(thread), call_thread, end, shutdown_deadline })
    }

    /// Ends the generator and waits for the filler, but no longer than `shutdown_deadline`, and not
    /// at all on a thread that the filler itself would wait for. Returns whether the worker id was
    /// given back, or the deadline if it has passed.
    pub fn shut_down(&self) -> Result<Released, Duration> {
        if !self.begin_shutdown() {
            return Ok(Ok(()));
        }
        if self.is_own_thread() {
            return lock(&self.end.result).clone().ok_or(Duration::ZERO);
        }
        self.end.wait(self.shutdown_deadline).ok_or(self.shutdown_deadline)
    }

    /// Ends the generator and waits for nothing. Returns false in a forked process, where there is
    /// neither a filler nor a worker id to give back.
    pub fn begin_shutdown(&self) -> bool {
        let is_parent = !self.engine.is_forked();
        if is_parent {
            self.engine.shut_down();
        }
        is_parent
    }

    /// Whether the filler must wait for the calling thread before it ends. That is its own thread,
    /// which may be running a clock, a task's waker or a subscriber, or the thread of a registry
    /// call.
    fn is_own_thread(&self) -> bool {
        *lock(&self.end.thread) == Some(thread_id()) || self.call_thread.is_current()
    }
}

impl Outcome {
    fn set(&self, result: Result<(), (u64, RegistryError)>) {
        *lock(&self.result) = Some(result.map_err(|(worker, error)| (worker, Arc::new(error))));
        self.has_ended.notify_all();
    }

    fn wait(&self, deadline: Duration) -> Option<Released> {
        let since = Stopwatch::start();
        let mut result = lock(&self.result);
        loop {
            let left = deadline.saturating_sub(since.elapsed());
            if result.is_some() || left.is_zero() {
                // ORDERING: see `Filler::drop`.
                self.is_overdue.store(result.is_none(), Ordering::Relaxed);
                return result.clone();
            }
            result = wait_timeout(&self.has_ended, result, left);
        }
    }
}

#[cfg(any(test, uidring_loom))]
impl Filler {
    /// For a generator whose maintenance a test or a model runs by hand.
    pub fn without_thread(engine: Arc<Engine>) -> Filler {
        let shutdown_deadline = Duration::ZERO;
        let (call_thread, end) = (CallThread::default(), Arc::default());
        Filler { engine, thread: None, call_thread, end, shutdown_deadline }
    }
}

impl Drop for Filler {
    fn drop(&mut self) {
        #[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
        fork::unwatch(&self.engine);
        if self.engine.is_forked() {
            // There is no thread to join. Its handle is leaked, because dropping or waking it may
            // take a lock that is held by a thread that does not exist here.
            mem::forget(self.thread.take());
            return;
        }
        self.engine.signal.stop();
        // If a clock or a registry holds the last handle, the filler's own thread or a registry
        // call drops it, and neither can wait for itself.
        let is_own_thread = self.is_own_thread();
        if let Some(thread) = self.thread.take() {
            // A registry that has exceeded the deadline of a shutdown may hang for ever.
            // ORDERING: the last handle is dropped after the shutdown that set this.
            let is_overdue = self.end.is_overdue.load(Ordering::Relaxed);
            if !is_own_thread && !is_overdue {
                // The thread catches and reports its panics, so joining it does not fail.
                let _ = thread.join();
            }
        }
    }
}

/// Returns whether the worker ids were given back.
fn run(
    engine: &Arc<Engine>,
    parker: &Parker,
    mut maintenance: Maintenance,
) -> Result<(), (u64, RegistryError)> {
    let signal = &engine.signal;
    while !signal.is_stopped() {
        // Cleared before the ring is read, see `Signal::wake_filler`.
        signal.take_wake_up();
        let before = signal.state();
        let result = catch_panic(|| maintenance.run_once(engine));
        let state = if result.is_some() { FillerState::Running } else { FillerState::Panicked };
        signal.set_state(state);
        // The metrics show that state. Their recorder may panic, too.
        if catch_panic(|| maintenance.update_metrics(engine)).is_none() {
            signal.set_state(FillerState::Panicked);
        }
        if signal.state() == FillerState::Panicked && before != FillerState::Panicked {
            events::panicked();
        }
        let pause = result.unwrap_or(PAUSE_AFTER_PANIC);
        parker.park_timeout(pause);
    }
    finish(engine, maintenance)
}

/// Gives the worker ids back. Returns whether that succeeded.
fn finish(engine: &Arc<Engine>, mut maintenance: Maintenance) -> Result<(), (u64, RegistryError)> {
    let result = catch_panic(|| maintenance.finish(engine));
    engine.signal.set_state(FillerState::Stopped);
    catch_panic(|| maintenance.update_metrics(engine));
    catch_panic(|| drop(maintenance));
    events::stopped(engine.worker(), engine.taken());
    result.unwrap_or_else(|| Err((engine.worker(), RegistryError::other("the filler panicked"))))
}

#[cfg(test)]
mod tests {
    use crate::generator::builder::Builder;
    use crate::registry::{Lease, Request, WorkerRegistry};

    use super::*;

    struct Noting(Arc<Mutex<Vec<u64>>>);

    impl WorkerRegistry for Noting {
        fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
            let ticks = request.now..=request.now + 10;
            Ok(Lease::leased(7, ticks, Duration::from_secs(3600), "one"))
        }

        fn release(&mut self, lease: &Lease, _: u64) -> Result<(), RegistryError> {
            lock(&self.0).push(lease.worker);
            Ok(())
        }
    }

    /// `spawn` drops what it cannot run.
    #[test]
    fn without_a_thread_the_worker_id_is_given_back() {
        let released = Arc::<Mutex<Vec<u64>>>::default();
        let builder = Builder::new().registry(Noting(Arc::clone(&released)));
        let assembled = builder.assemble(fastrand::Rng::with_seed(7));
        let Ok((engine, maintenance, _)) = assembled else { unreachable!("it is well") };
        drop(Unstarted { engine: Arc::clone(&engine), maintenance: Some(maintenance) });
        assert_eq!(*lock(&released), [7]);
        assert_eq!(engine.signal.state(), FillerState::Stopped);
    }
}
