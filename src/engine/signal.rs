//! [`Signal`]: how takers and the filler speak to each other.

use crate::sync::{AtomicBool, AtomicU8, Ordering, Parker, Unparker};

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

    pub fn set_state(&self, state: FillerState) {
        // ORDERING: a statistic.
        self.state.store(state as u8, Ordering::Relaxed);
    }

    /// Ends the filler. It is woken for that.
    pub fn stop(&self) {
        // ORDERING: Release, pairs with `is_stopped`.
        self.stop.store(true, Ordering::Release);
        self.unparker.unpark();
    }

    pub fn is_stopped(&self) -> bool {
        // ORDERING: pairs with `stop`; only the flag itself matters.
        self.stop.load(Ordering::Acquire)
    }
}

/// The two ends of the line between takers and filler: the filler's thread sleeps on the parker.
pub fn signal() -> (Signal, Parker) {
    let parker = Parker::new();
    (Signal::new(parker.unparker().clone()), parker)
}
