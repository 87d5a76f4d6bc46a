//! [`Signal`]: how takers wake the filler.

use crate::sync::{AtomicBool, AtomicU8, Ordering, Parker, Unparker};

/// What the filler thread is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FillerState {
    /// It refills the ring when takers wake it.
    Running,
    /// It panicked in code that it was given, such as the clock or the waker of a task. It runs
    /// again when it is woken, or after a second. Takes go on meanwhile.
    Panicked,
    /// It has ended with the generator, or this process was forked from the one in which it runs.
    Stopped,
}

/// The takers' end of the signal: it wakes and stops the filler.
#[derive(Debug)]
pub struct Signal {
    /// Whether the filler has been woken and has not begun its next maintenance.
    is_woken: AtomicBool,
    stop: AtomicBool,
    /// A `FillerState`, written by the filler.
    state: AtomicU8,
    unparker: Unparker,
}

impl Signal {
    fn new(unparker: Unparker) -> Signal {
        Signal {
            is_woken: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            state: AtomicU8::new(FillerState::Running as u8),
            unparker,
        }
    }

    /// Wakes the filler for a maintenance, unless it has been woken already.
    pub fn wake_filler(&self) {
        // ORDERING: the filler clears the flag before it reads the ring. A swap that finds the flag
        // set comes before that clearing, so the filler sees what this taker has done. A swap that
        // sets the flag wakes the filler again. A plain load that finds it set would guarantee
        // nothing.
        if !self.is_woken.swap(true, Ordering::AcqRel) {
            self.unparker.unpark();
        }
    }

    /// Clears `is_woken`, and returns whether it was set. Called by the filler before it reads the
    /// ring.
    pub fn take_wake_up(&self) -> bool {
        // ORDERING: see `wake_filler`.
        self.is_woken.swap(false, Ordering::AcqRel)
    }

    /// What the filler is doing.
    pub fn state(&self) -> FillerState {
        // ORDERING: a statistic.
        match self.state.load(Ordering::Relaxed) {
            0 => FillerState::Running,
            1 => FillerState::Panicked,
            _ => FillerState::Stopped,
        }
    }

    /// Records what the filler is doing. Called by the filler.
    pub fn set_state(&self, state: FillerState) {
        // ORDERING: a statistic.
        self.state.store(state as u8, Ordering::Relaxed);
    }

    /// Tells the filler to end, and wakes it for that.
    pub fn stop(&self) {
        // ORDERING: Release, pairs with `is_stopped`.
        self.stop.store(true, Ordering::Release);
        self.unparker.unpark();
    }

    /// Whether the filler has been told to end.
    pub fn is_stopped(&self) -> bool {
        // ORDERING: pairs with `stop`; only the flag itself matters.
        self.stop.load(Ordering::Acquire)
    }
}

/// Both ends of the signal. The filler's thread sleeps on the parker.
pub fn signal() -> (Signal, Parker) {
    let parker = Parker::new();
    (Signal::new(parker.unparker().clone()), parker)
}
