//! What the servers' drivers share: a runtime during a call, and what errors mean.
//!
//! A connection lasts as long as the call. The call has one deadline for all that it waits for, so
//! that a server that accepts and never answers counts as down.

use std::error::Error as StdError;
use std::future::Future;
use std::io;

use tokio::runtime::{Builder, Handle, Runtime};
#[cfg(feature = "postgres")]
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{Deadline, Error};
use crate::backend::address::password_file::SEE_PASSWORD;
use crate::clock::human;
use crate::support::flat_error::Told;
use crate::sync::thread;

/// What an error of a driver means.
#[derive(Clone, Copy, Debug)]
pub enum Diagnosis {
    /// The tables are not there.
    NoTables,
    /// There are tables of these names, and they are others.
    ForeignTables,
    /// The user lacks a right.
    Denied,
    /// Others hold the rows, or wrote them first.
    Locked,
    /// What the same call may not meet a moment later, and what to do.
    Later(&'static str),
    /// The disk is full.
    Full,
    /// What to do about a database that cannot be used as it is.
    Unusable(&'static str),
    Other,
}

/// The server is down, or on its way up or down.
pub const DOWN: Diagnosis =
    Diagnosis::Later("see that the server runs and can be reached from here");
/// The server has no connection or no memory to spare.
pub const FULL_UP: Diagnosis =
    Diagnosis::Later("see who uses the server's connections and memory, or allow more of them");
/// The server, or its administrator, ended a statement.
pub const INTERRUPTED: Diagnosis =
    Diagnosis::Later("see what keeps the server busy, or give its statements more time");
/// A replica, or a primary that hands over to another: what was its replica may soon take writes.
pub const REPLICA: Diagnosis =
    Diagnosis::Later("give the address of the primary, or make this server the primary");
pub const BAD_PASSWORD: Diagnosis = Diagnosis::Unusable(SEE_PASSWORD);
pub const NO_DATABASE: Diagnosis = Diagnosis::Unusable("see the name of the database");

impl Diagnosis {
    /// What `error` means, with the driver's error as the cause.
    pub fn of(self, error: impl StdError + Send + Sync + 'static) -> Error {
        let source = Box::new(Told::new(error));
        match self {
            Diagnosis::NoTables => Error::NoTables(Some(source)),
            Diagnosis::ForeignTables => Error::ForeignTables(Some(source)),
            Diagnosis::Denied => Error::Denied(source),
            Diagnosis::Locked => Error::Locked,
            Diagnosis::Later(what_to_do) => {
                Error::Unreachable { problem: what_to_do.to_owned(), source: Some(source) }
            }
            Diagnosis::Full => Error::Full(source),
            Diagnosis::Unusable(what_to_do) => {
                Error::Unusable { problem: what_to_do.to_owned(), source: Some(source) }
            }
            Diagnosis::Other => Error::Other(source),
        }
    }
}

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
    pub fn beside(&self, future: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
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
pub fn outside_of_a_runtime<T: Send>(call: impl FnOnce() -> T + Send) -> io::Result<T> {
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
