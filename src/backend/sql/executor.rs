//! What the drivers of servers share: a runtime during a call.
//!
//! A connection lasts as long as the call. The call has one deadline for all that it waits for, so
//! that a server that accepts and never answers counts as down.

use std::future::Future;
use std::io;

use tokio::runtime::{Builder, Handle, Runtime};
#[cfg(feature = "postgres")]
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{Deadline, Error};
use crate::clock::human;
use crate::sync::thread;

/// Runs a driver on the thread of the call, until the deadline.
pub struct Executor<'a> {
    /// There until the end.
    runtime: Option<Runtime>,
    deadline: &'a Deadline,
}

impl<'a> Executor<'a> {
    pub fn new(deadline: &'a Deadline) -> Result<Executor<'a>, Error> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::Other(Box::new(error)))?;
        Ok(Executor { runtime: Some(runtime), deadline })
    }

    /// What `future` comes to, if it does in time.
    pub fn wait<F: Future>(&self, future: F) -> Result<F::Output, Error> {
        let in_time = async { timeout(self.deadline.left(), future).await };
        self.runtime().block_on(in_time).map_err(|_| Error::Unreachable {
            problem: format!(
                "it did not answer for {}; see that the server runs, is not overloaded, and can be \
                 reached from here",
                human(self.deadline.timeout)
            ),
            source: None,
        })
    }

    /// Runs `future` beside what is waited for.
    #[cfg(feature = "postgres")]
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        self.runtime().spawn(future)
    }

    #[allow(clippy::expect_used)] // only `drop` takes it
    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("the runtime is there until the end")
    }
}

impl Drop for Executor<'_> {
    /// Does not wait for a name server that does not answer.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Makes a call on the caller's thread; or on another, where the caller's belongs to a runtime, as
/// one runtime must not block another.
pub fn run_outside_runtime<T: Send>(call: impl FnOnce() -> T + Send) -> io::Result<T> {
    // The error without a runtime is the usual case. The other is a thread about to end, which has
    // lost what it knew of its runtime, and cannot run another.
    if Handle::try_current().is_err_and(|error| error.is_missing_context()) {
        return Ok(call());
    }
    thread::scope(|scope| {
        let name = "uidring-database".to_owned();
        let thread = thread::Builder::new().name(name).spawn_scoped(scope, call)?;
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
