//! The filler: one background thread that refills the ring when half of it is used up.
//!
//! It sleeps until a taker finds the mark passed, or until it is time to look at the clock, and
//! nothing waits for it: a taker that comes to the end of what is published goes on publishing by
//! itself. So the filler may be starved, or die, and takes go on.

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

/// The running filler. Dropping it stops and joins the thread, and with it drops the registry. In a
/// forked process, which does not have the thread, dropping it leaves everything as it is.
#[derive(Debug)]
pub struct Filler {
    engine: Arc<Engine>,
    /// `None` only while it is dropped.
    thread: Option<thread::JoinHandle<()>>,
}

impl Filler {
    pub fn start(
        engine: Arc<Engine>,
        parker: Parker,
        maintenance: Maintenance,
    ) -> io::Result<Filler> {
        // Before anyone can take from it.
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
    /// For a generator that is driven by hand.
    pub fn without_thread(engine: Arc<Engine>) -> Filler {
        Filler { engine, thread: None }
    }
}

impl Drop for Filler {
    fn drop(&mut self) {
        #[cfg(all(unix, not(uidring_loom)))]
        fork::unwatch(&self.engine);
        if self.engine.is_forked() {
            // Not even woken or detached: both can take a lock, and a thread that is not there may
            // hold it.
            mem::forget(self.thread.take());
            return;
        }
        self.engine.signal.stop();
        if let Some(thread) = self.thread.take() {
            // A clock or a registry may hold the last handle: the filler then drops it, and cannot
            // join itself.
            if thread.thread().id() != thread::current().id() {
                // It catches its panics, and reports them.
                let _ = thread.join();
            }
        }
    }
}

fn run(engine: &Arc<Engine>, parker: &Parker, mut maintenance: Maintenance) {
    let signal = &engine.signal;
    while !signal.is_stopped() {
        // Before the look at the ring, see `Signal::ask`.
        signal.take_asked();
        let look = catch_unwind(AssertUnwindSafe(|| maintenance.run_once(engine)));
        let state = if look.is_ok() { FillerState::Running } else { FillerState::Panicked };
        if state == FillerState::Panicked && signal.state() != state {
            events::panicked();
        }
        signal.set_state(state);
        let pause = look.unwrap_or(PAUSE_AFTER_PANIC);
        parker.park_timeout(pause);
    }
    // What it was given may panic once more.
    let _ = catch_unwind(AssertUnwindSafe(|| maintenance.finish(engine)));
    let _ = catch_unwind(AssertUnwindSafe(|| drop(maintenance)));
    signal.set_state(FillerState::Stopped);
}
