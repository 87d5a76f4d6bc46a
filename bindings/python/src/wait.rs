//! Waiting for a number so that Ctrl-C and a cancelled task end the wait.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use pyo3::prelude::*;
use uidring_bindings::{Error, Kind, guarded};

use crate::cached::interned;
use crate::ending;
use crate::errors::raised;

/// How often a wait looks for signals. A number that comes ends the wait at once.
const PAUSE: Duration = Duration::from_millis(50);

struct Parked(Thread);

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for `taken`, while other threads run Python. Fails with the exception of a signal handler,
/// such as `KeyboardInterrupt`, and when the `threading.Event` `stop` is set. No number is lost
/// then.
#[cold]
#[inline(never)]
pub fn wait(
    py: Python<'_>,
    taken: impl Future<Output = Result<u64, Error>> + Send,
    stop: Option<&Bound<'_, PyAny>>,
) -> PyResult<u64> {
    let mut taken = pin!(taken);
    let waker = Waker::from(Arc::new(Parked(thread::current())));
    loop {
        let polled = py.detach(|| {
            guarded(|| match taken.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(taken) => taken.map(Some),
                Poll::Pending => {
                    thread::park_timeout(PAUSE);
                    Ok(None)
                }
            })
        });
        if let Some(number) = polled.map_err(|error| raised(py, &error))? {
            return Ok(number);
        }
        py.check_signals()?;
        if let Some(stop) = stop
            && ending::call(py, || stop.getattr(interned!(py, "is_set")?), ())?.is_truthy()?
        {
            let error = Error { kind: Kind::Unavailable, message: STOPPED.into() };
            return Err(raised(py, &error));
        }
    }
}

/// Nobody reads it: the task that would was cancelled.
const STOPPED: &str = "the task that waited for the number was cancelled";
