//! [`UidGenerator`]: what programs hold.

pub mod builder;
mod error;
pub mod installed;
pub mod local;

pub use error::{BuildError, InstallError};

use std::fmt;

use crate::engine::Engine;
use crate::engine::claim::Claim;
#[cfg(doc)]
use crate::engine::lead::LeadLimit;
use crate::engine::status::Status;
#[cfg(feature = "async")]
use crate::engine::turn::Turn;
use crate::engine::{FillError, TakeError};
use crate::filler::Filler;
use crate::generator::builder::Builder;
use crate::generator::local::LocalTaker;
use crate::layout::Layout;
use crate::sync::Arc;
use crate::uid::Uid;

/// Hands out unique UIDs to any number of threads.
///
/// This is a handle: clones share one ring and one worker id. Dropping the last one ends and joins
/// the filler thread and gives a leased worker id back. That waits for the registry, so an
/// asynchronous program should drop it where a thread may block. Cloning costs a reference count; a
/// take through `&self` costs one atomic add.
///
/// ```
/// # #[cfg(feature = "sqlite")] {
/// use uidring::UidGenerator;
/// use uidring::registry::SqliteRegistry;
///
/// # let dir = tempfile::tempdir()?;
/// # let file = dir.path().join("uidring.db");
/// let uids = UidGenerator::builder().registry(SqliteRegistry::open(file)?).build()?;
///
/// let uid = uids.take()?;
/// assert!(uids.take()? > uid);
/// assert_eq!(uids.layout().parts(uid).worker, uids.worker_id());
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantees
///
/// * **Unique**: no two takes return the same UID, whatever threads, processes and restarts take
///   part, as long as their worker ids come from one registry.
/// * **Ordered**: takes are linearizable. Within one worker id, a take that starts after another
///   has returned gets the larger UID. [`LeadLimit::NewWorker`] takes on another worker id, which
///   starts again at the present tick.
/// * **Never blocked**: a take from the ring does no I/O, takes no lock and reads no clock. It is
///   lock-free: a thread that is stopped at any point holds up no other. Only at the limit, when
///   the ring has no UID left, does a take read the clock and wait.
///
/// # Forks
///
/// A child process created by `fork` has a copy of the generator that would repeat the parent's
/// UIDs. All takes from this copy fail with [`TakeError::Forked`], while the parent's generator
/// continues. The child builds another generator. Dropping the copy does not affect the parent's
/// thread and worker id. This costs takes nothing. A child created without the handlers of
/// `pthread_atfork`, by the bare system call or by `_Fork`, is not noticed. Programs started by
/// [`Command`](std::process::Command) have no copy.
///
/// What other threads were doing at the fork is never finished in the child. So fork while no other
/// thread starts, ends, or builds or drops a generator. Otherwise building a generator in the
/// child, which starts a thread, could wait for a lock for ever.
#[derive(Clone)]
pub struct UidGenerator {
    engine: Arc<Engine>,
    /// Shared only by the handles, so that the last one stops the thread.
    _filler: Arc<Filler>,
}

impl UidGenerator {
    pub(crate) fn new(engine: Arc<Engine>, filler: Filler) -> UidGenerator {
        UidGenerator { engine, _filler: Arc::new(filler) }
    }

    /// Starts a generator's configuration.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// Takes the next UID.
    ///
    /// Lock-free, and wait-free except for a few takes in many thousands: those that find the ready
    /// range used up. If the filler has not kept up, they publish the next blocks themselves.
    ///
    /// If UIDs are taken faster than the layout allows for so long that
    /// [`max_lead`](Builder::max_lead) is used up, [`LeadLimit`] says what happens: a take may then
    /// wait for the clock, or fail. If all reserved ticks of a leased worker id are used up, a take
    /// waits for the registry's answer.
    ///
    /// # Errors
    ///
    /// [`TakeError::TimeExhausted`] when the layout has no ticks left, [`TakeError::LeadLimit`]
    /// under [`LeadLimit::Fail`], [`TakeError::LeaseExhausted`] when a leased worker id needs more
    /// ticks and the registry grants none, [`TakeError::Forked`] in a child process.
    #[inline]
    pub fn take(&self) -> Result<Uid, TakeError> {
        match self.engine.ring.take() {
            Ok(uid) => Ok(uid),
            Err(ticket) => self.engine.take_slowly(ticket),
        }
    }

    /// Takes the next UID, or fails at once with the reason why there is none. It never waits, and
    /// a failure consumes nothing.
    ///
    /// Lock-free. A little slower than [`take`](UidGenerator::take) if many threads take at once.
    ///
    /// # Errors
    ///
    /// [`TakeError::LeadLimit`] when `max_lead` is used up, whatever the [`LeadLimit`];
    /// [`TakeError::LeaseExhausted`] when a leased worker id needs more ticks and the registry has
    /// not granted them yet; [`TakeError::TimeExhausted`] when the layout has no ticks left;
    /// [`TakeError::Forked`] in a child process.
    pub fn try_take(&self) -> Result<Uid, TakeError> {
        self.engine.try_take()
    }

    /// Takes the next UID. If [`take`](UidGenerator::take) would wait, this waits without blocking
    /// the thread. It needs no particular runtime: the filler wakes the task. Dropping the future
    /// loses nothing. A task that is waiting when the process forks is not woken in the child.
    ///
    /// Waiting tasks are served in order, and each is woken when there is a UID for it. Threads
    /// that wait in [`take`](UidGenerator::take) are served before them.
    ///
    /// # Errors
    ///
    /// As [`take`](UidGenerator::take).
    #[cfg(feature = "async")]
    pub async fn take_async(&self) -> Result<Uid, TakeError> {
        let mut turn = Turn::new(&self.engine);
        std::future::poll_fn(|context| turn.poll(context)).await
    }

    /// Fills `buffer` with new UIDs. They strictly increase, and are consecutive within a tick. The
    /// buffer may have any length; one atomic add claims up to half a block.
    ///
    /// ```
    /// # use uidring::{Uid, UidGenerator, registry::FixedWorker};
    /// # let uids = UidGenerator::builder().registry(FixedWorker::new(1)).build()?;
    /// let mut batch = [Uid::MIN; 1000];
    /// uids.fill(&mut batch)?;
    /// assert!(batch.is_sorted_by(|a, b| a < b));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`FillError`] holds the cause, the same as for [`take`](UidGenerator::take), and how many
    /// UIDs at the start of the buffer are new.
    pub fn fill(&self, buffer: &mut [Uid]) -> Result<(), FillError> {
        let mut filled = 0;
        while filled < buffer.len() {
            let claim = Claim::new(&self.engine, (buffer.len() - filled) as u64);
            let mut claim = claim.map_err(|cause| FillError { filled, cause })?;
            while let Some(uids) =
                claim.next_segment(&self.engine).map_err(|cause| FillError { filled, cause })?
            {
                let end = filled + uids.len();
                uids.write(&mut buffer[filled..end]);
                filled = end;
            }
        }
        Ok(())
    }

    /// A taker for one thread, which claims many UIDs at once, 64 at first. It writes to shared
    /// memory once per claim.
    #[must_use]
    pub fn local(&self) -> LocalTaker {
        LocalTaker::new(self.clone())
    }

    /// The layout of the UIDs.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.engine.limits.layout
    }

    /// The worker id in the UIDs.
    #[must_use]
    pub fn worker_id(&self) -> u64 {
        self.engine.worker()
    }

    /// What the generator is doing. This is cheap enough to call every second, and disturbs no
    /// taker.
    #[must_use]
    pub fn status(&self) -> Status {
        self.engine.status()
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }
}

impl fmt::Debug for UidGenerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UidGenerator")
            .field("layout", &self.engine.limits.layout)
            .field("worker_id", &self.worker_id())
            .finish_non_exhaustive()
    }
}
