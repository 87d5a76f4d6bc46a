//! The filler: one background thread that refills the ring, by default when half of it is used up.
//!
//! It sleeps until a taker finds that the refill mark has been passed, or until it is time to read
//! the clock. No take in the ring depends on it: a taker that reaches the end of what is published
//! publishes by itself. So takes continue even if the filler is starved or dies.

mod alarm;
pub mod lease_manager;
pub mod maintenance;
#[cfg(feature = "metrics")]
mod metrics;
mod registry_calls;

use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::clock::Stopwatch;
use crate::engine::Engine;
use crate::engine::events;
#[cfg(all(unix, not(uidring_loom)))]
use crate::engine::fork;
use crate::engine::signal::FillerState;
use crate::filler::maintenance::Maintenance;
use crate::registry::RegistryError;
use crate::sync::{Arc, AtomicBool, Condvar, Mutex, Ordering, Parker, lock, thread, wait_timeout};

const PAUSE_AFTER_PANIC: Duration = Duration::from_secs(1);

/// The running filler. Dropping it stops and joins the thread, which drops the registry. In a
/// forked process, where the thread does not exist, dropping it does nothing.
#[derive(Debug)]
pub struct Filler {
    engine: Arc<Engine>,
    /// `None` only while this is dropped.
    thread: Option<thread::JoinHandle<()>>,
    end: Arc<End>,
    /// How long a shutdown waits for the end.
    pub shutdown_deadline: Duration,
}

/// How the filler ended, once it has.
#[derive(Debug, Default)]
struct End {
    result: Mutex<Option<Result<(), Arc<RegistryError>>>>,
    has_ended: Condvar,
    /// Whether a shutdown has waited for as long as it may.
    is_overdue: AtomicBool,
}

impl Filler {
    /// Starts the thread.
    pub fn start(
        engine: Arc<Engine>,
        parker: Parker,
        maintenance: Maintenance,
        shutdown_deadline: Duration,
    ) -> io::Result<Filler> {
        // Registered before anybody can take from it.
        #[cfg(all(unix, not(uidring_loom)))]
        fork::watch(&engine)?;
        let end = Arc::<End>::default();
        let body = {
            let (engine, end) = (Arc::clone(&engine), Arc::clone(&end));
            move || end.set(run(&engine, &parker, maintenance))
        };
        let thread = thread::Builder::new().name("uidring-filler".to_owned()).spawn(body)?;
        Ok(Filler { engine, thread: Some(thread), end, shutdown_deadline })
    }

    /// Ends the generator and waits for the filler, but no longer than `shutdown_deadline`. Returns
    /// whether the worker id was given back, or `None` if that is still under way.
    pub fn shut_down(&self) -> Option<Result<(), Arc<RegistryError>>> {
        // In a forked process there is neither a filler nor a worker id to give back.
        if self.engine.is_forked() {
            return Some(Ok(()));
        }
        self.engine.shut_down();
        self.end.wait(self.shutdown_deadline)
    }
}

impl End {
    fn set(&self, result: Result<(), RegistryError>) {
        *lock(&self.result) = Some(result.map_err(Arc::new));
        self.has_ended.notify_all();
    }

    fn wait(&self, deadline: Duration) -> Option<Result<(), Arc<RegistryError>>> {
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

#[cfg(test)]
impl Filler {
    /// For a generator whose maintenance a test runs by hand.
    pub fn without_thread(engine: Arc<Engine>) -> Filler {
        let shutdown_deadline = Duration::ZERO;
        Filler { engine, thread: None, end: Arc::default(), shutdown_deadline }
    }
}

impl Drop for Filler {
    fn drop(&mut self) {
        #[cfg(all(unix, not(uidring_loom)))]
        fork::unwatch(&self.engine);
        if self.engine.is_forked() {
            // There is no thread to join. Its handle is leaked, because dropping or waking it may
            // take a lock that is held by a thread that does not exist here.
            mem::forget(self.thread.take());
            return;
        }
        self.engine.signal.stop();
        if let Some(thread) = self.thread.take() {
            // If a clock or a registry holds the last handle, the filler itself drops it, and it
            // cannot join itself. And a registry that has let a shutdown wait in vain may hang for
            // ever.
            // ORDERING: whoever drops the last handle comes after the shutdown of another.
            let is_overdue = self.end.is_overdue.load(Ordering::Relaxed);
            if thread.thread().id() != thread::current().id() && !is_overdue {
                // The thread catches and reports its panics, so joining it does not fail.
                let _ = thread.join();
            }
        }
    }
}

/// Returns whether the worker id was given back.
fn run(
    engine: &Arc<Engine>,
    parker: &Parker,
    mut maintenance: Maintenance,
) -> Result<(), RegistryError> {
    let signal = &engine.signal;
    while !signal.is_stopped() {
        // Cleared before the ring is read, see `Signal::wake_filler`.
        signal.take_wake_up();
        let before = signal.state();
        let result = catch_unwind(AssertUnwindSafe(|| maintenance.run_once(engine)));
        let state = if result.is_ok() { FillerState::Running } else { FillerState::Panicked };
        signal.set_state(state);
        // The metrics show that state. Their recorder may panic, too.
        if catch_unwind(AssertUnwindSafe(|| maintenance.update_metrics(engine))).is_err() {
            signal.set_state(FillerState::Panicked);
        }
        if signal.state() == FillerState::Panicked && before != FillerState::Panicked {
            events::panicked();
        }
        let pause = result.unwrap_or(PAUSE_AFTER_PANIC);
        parker.park_timeout(pause);
    }
    // The registry and the clock may panic here, too.
    let result = catch_unwind(AssertUnwindSafe(|| maintenance.finish(engine)));
    signal.set_state(FillerState::Stopped);
    let _ = catch_unwind(AssertUnwindSafe(|| maintenance.update_metrics(engine)));
    let _ = catch_unwind(AssertUnwindSafe(|| drop(maintenance)));
    events::stopped(engine.worker(), engine.taken());
    result.unwrap_or_else(|_| Err(RegistryError::other("the filler panicked")))
}
