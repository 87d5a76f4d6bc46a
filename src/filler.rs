//! The filler: one background thread that refills the ring when half of it is used up.
//!
//! It sleeps until a taker finds the mark passed, or until it is time to look at the clock, and
//! nothing waits for it: a taker that comes to the end of what is published goes on publishing by
//! itself. So the filler may be starved, or die, and takes go on.

use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use crate::events;
#[cfg(all(unix, not(uidring_loom)))]
use crate::fork;
use crate::keeper::Keeper;
use crate::shared::Shared;
use crate::sync::{Arc, AtomicBool, AtomicU8, Ordering, Parker, Unparker, thread};

const PAUSE_AFTER_PANIC: Duration = Duration::from_secs(1);

/// What the filler thread is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FillerState {
    /// It refills the ring when it is asked to.
    Running,
    /// It panicked, in the clock it was given. It tries again in a second; takers refill the ring
    /// in between.
    Panicked,
    /// It has ended, with the generator. Or this process was forked from the one in which it runs.
    Stopped,
}

/// How takers speak to the filler.
#[derive(Debug)]
pub struct Signal {
    /// A refill has been asked for and the filler has not begun it.
    asked: AtomicBool,
    stop: AtomicBool,
    /// A `FillerState`, written by the filler.
    state: AtomicU8,
    unparker: Unparker,
}

impl Signal {
    fn new(unparker: Unparker) -> Signal {
        Signal {
            asked: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            state: AtomicU8::new(FillerState::Running as u8),
            unparker,
        }
    }

    /// Asks the filler for a refill, unless somebody has.
    pub fn ask(&self) {
        // ORDERING: the filler clears the mark before it looks at the ring. A swap that finds the
        // mark set comes before that clearing, and brings along what this taker has done; one that
        // sets it wakes the filler again. A plain load that finds it set would promise nothing.
        if !self.asked.swap(true, Ordering::AcqRel) {
            self.unparker.unpark();
        }
    }

    /// Whether a refill has been asked for since the last time. For the filler, before it looks at
    /// the ring.
    pub fn take_asked(&self) -> bool {
        // ORDERING: see `ask`.
        self.asked.swap(false, Ordering::AcqRel)
    }

    pub fn state(&self) -> FillerState {
        // ORDERING: a statistic.
        match self.state.load(Ordering::Relaxed) {
            0 => FillerState::Running,
            1 => FillerState::Panicked,
            _ => FillerState::Stopped,
        }
    }

    fn set_state(&self, state: FillerState) {
        // ORDERING: a statistic.
        self.state.store(state as u8, Ordering::Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        // ORDERING: pairs with `Filler::drop`; only the flag itself matters.
        self.stop.load(Ordering::Acquire)
    }
}

/// The bed of a filler that has not been started.
pub struct Bed(Parker);

/// The two ends of the line between takers and filler.
pub fn signal() -> (Signal, Bed) {
    let parker = Parker::new();
    (Signal::new(parker.unparker().clone()), Bed(parker))
}

/// The running filler. Dropping it stops and joins the thread, and with it drops the registry. In a
/// forked process, which does not have the thread, dropping it leaves everything as it is.
#[derive(Debug)]
pub struct Filler {
    shared: Arc<Shared>,
    /// `None` only while it is dropped.
    thread: Option<thread::JoinHandle<()>>,
}

impl Filler {
    pub fn start(shared: Arc<Shared>, bed: Bed, keeper: Keeper) -> io::Result<Filler> {
        // Before anyone can take from it.
        #[cfg(all(unix, not(uidring_loom)))]
        fork::watch(&shared)?;
        let body = {
            let shared = Arc::clone(&shared);
            move || run(&shared, &bed.0, keeper)
        };
        let thread = thread::Builder::new().name("uidring-filler".to_owned()).spawn(body)?;
        Ok(Filler { shared, thread: Some(thread) })
    }
}

#[cfg(test)]
impl Filler {
    /// For a generator that is driven by hand.
    pub fn without_thread(shared: Arc<Shared>) -> Filler {
        Filler { shared, thread: None }
    }
}

impl Drop for Filler {
    fn drop(&mut self) {
        #[cfg(all(unix, not(uidring_loom)))]
        fork::unwatch(&self.shared);
        if self.shared.is_forked() {
            // Not even woken or detached: both can take a lock, and a thread that is not there may
            // hold it.
            mem::forget(self.thread.take());
            return;
        }
        // ORDERING: Release, pairs with `Signal::is_stopped`.
        self.shared.signal.stop.store(true, Ordering::Release);
        self.shared.signal.unparker.unpark();
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

fn run(shared: &Arc<Shared>, parker: &Parker, mut keeper: Keeper) {
    let signal = &shared.signal;
    while !signal.is_stopped() {
        // Before the look at the ring, see `Signal::ask`.
        signal.take_asked();
        let look = catch_unwind(AssertUnwindSafe(|| keeper.look(shared)));
        let state = if look.is_ok() { FillerState::Running } else { FillerState::Panicked };
        if state == FillerState::Panicked && signal.state() != state {
            events::panicked();
        }
        signal.set_state(state);
        let pause = look.unwrap_or(PAUSE_AFTER_PANIC);
        parker.park_timeout(pause);
    }
    // What it was given may panic once more.
    let _ = catch_unwind(AssertUnwindSafe(|| keeper.finish(shared)));
    let _ = catch_unwind(AssertUnwindSafe(|| drop(keeper)));
    signal.set_state(FillerState::Stopped);
}
