//! The end of the program, which daemon threads must not meet inside of a call.
//!
//! When a program ends, Python before 3.14 ends each other thread as soon as it wants to go on with
//! the interpreter, by unwinding its stack. Rust answers that by aborting the process. `PyO3` has a
//! thread hang instead where it comes back from waiting. But where one of our calls runs code in
//! Python, the interpreter changes threads now and then, and may end this one there. So such code
//! is run in [`call`] alone, which the end waits for, and which no other thread may begin after
//! that. Exceptions are made by code in C alone.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::Duration;

use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use uidring_bindings::{Error, Kind};

use crate::errors::raised;

/// How many threads are in [`call`].
static INSIDE: AtomicUsize = AtomicUsize::new(0);
/// The thread that ends the program.
static ENDED_BY: OnceLock<ThreadId> = OnceLock::new();

/// How many milliseconds the end waits at most: the code could be the user's own, and wait for
/// anything.
const PATIENCE: usize = 5_000;

struct InsideGuard;

impl Drop for InsideGuard {
    fn drop(&mut self) {
        // In a process that code in `call` has forked, it is zero already: see `_forked`.
        let _ =
            INSIDE.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |inside| inside.checked_sub(1));
    }
}

/// Runs code in Python: `get` finds what is called.
pub fn call<'py, A: PyCallArgs<'py>>(
    py: Python<'py>,
    get: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
    arguments: A,
) -> PyResult<Bound<'py, PyAny>> {
    INSIDE.fetch_add(1, Ordering::SeqCst);
    let _inside = InsideGuard;
    if ENDED_BY.get().is_some_and(|&by| by != thread::current().id()) {
        let message = "the program ends, and its other threads can no longer use uidring";
        return Err(raised(py, &Error { kind: Kind::Closed, message: message.to_owned() }));
    }
    get()?.call1(arguments)
}

/// Waits until no other thread is in [`call`]. From here on, this thread alone may begin one.
#[pyfunction]
pub fn _end(py: Python<'_>) {
    if ENDED_BY.set(thread::current().id()).is_err() {
        return;
    }
    for _ in 0..PATIENCE {
        if INSIDE.load(Ordering::SeqCst) == 0 {
            return;
        }
        py.detach(|| thread::sleep(Duration::from_millis(1)));
    }
}

/// Forgets the threads that a forked process has not inherited.
#[pyfunction]
pub fn _forked() {
    INSIDE.store(0, Ordering::SeqCst);
}
