//! The filler: one background thread that refills the ring, by default when half of it is used up.
//!
//! It sleeps until a taker finds that the refill mark has been passed, or until it is time to read
//! the clock. No take in the ring depends on it: a taker that reaches the end of what is published
//! publishes by itself. So takes continue even if the filler is starved or dies.

pub mod lease_manager;
pub mod maintenance;
mod registry_calls;

use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::engine::Engine;
use crate::engine::events;
#[cfg(all(unix, not(uidring_loom)))]
use crate::engine::fork;
use crate::engine::signal::FillerState;
use crate::filler::maintenance::Maintenance;
use crate::sync::{Arc, Parker, thread};

const PAUSE_AFTER_PANIC: Duration = Duration::from_secs(1);

/// The running filler. Dropping it stops and joins the thread, which drops the registry. In a
/// forked process, where the thread does not exist, dropping it does nothing.
#[derive(Debug)]
pub struct Filler {
    engine: Arc<Engine>,
    /// `None` only while this is dropped.
    thread: Option<thread::JoinHandle<()>>,
}

impl Filler {
    /// Starts the thread.
    pub fn start(
        engine: Arc<Engine>,
        parker: Parker,
        maintenance: Maintenance,
    ) -> io::Result<Filler> {
        // Registered before anybody can take from it.
        #[cfg(all(unix, not(uidring_loom)))]
        fork::watch(&engine)?;
        let body = {
            let engine = Arc::clone(&engine);
            move || run(&engine, &parker, maintenance)
        };
        let thread = thread::Builder::new().name("uidring-filler".to_owned()).spawn(body)?;
        Ok(Filler { engine, thread: Some(thread) })
    }
}

#[cfg(test)]
impl Filler {
    /// For a generator whose maintenance a test runs by hand.
    pub fn without_thread(engine: Arc<Engine>) -> Filler {
        Filler { engine, thread: None }
    }
}

impl Drop for Filler {
    fn drop(&mut self) {
        #[cfg(all(unix, not(uidring_loom)))]
        fork::unwatch(&self.engine);
        if self.engine.is_forked() {
            // The thread is not even woken or detached: both can take a lock that a thread holds
            // which does not exist here.
            mem::forget(self.thread.take());
            return;
        }
        self.engine.signal.stop();
        if let Some(thread) = self.thread.take() {
            // If a clock or a registry holds the last handle, the filler itself drops it, and it
            // cannot join itself.
            if thread.thread().id() != thread::current().id() {
                // The thread catches and reports its panics, so joining it does not fail.
                let _ = thread.join();
            }
        }
    }
}

fn run(engine: &Arc<Engine>, parker: &Parker, mut maintenance: Maintenance) {
    let signal = &engine.signal;
    while !signal.is_stopped() {
        // Cleared before the ring is read, see `Signal::wake_filler`.
        signal.take_wake_up();
        let result = catch_unwind(AssertUnwindSafe(|| maintenance.run_once(engine)));
        let state = if result.is_ok() { FillerState::Running } else { FillerState::Panicked };
        if state == FillerState::Panicked && signal.state() != state {
            events::panicked();
        }
        signal.set_state(state);
        let pause = result.unwrap_or(PAUSE_AFTER_PANIC);
        parker.park_timeout(pause);
    }
    // The registry and the clock may panic here, too.
    let _ = catch_unwind(AssertUnwindSafe(|| maintenance.finish(engine)));
    let _ = catch_unwind(AssertUnwindSafe(|| drop(maintenance)));
    signal.set_state(FillerState::Stopped);
}
