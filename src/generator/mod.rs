//! [`UidGenerator`]: what programs hold.

#[cfg(feature = "async")]
pub mod blocking;
pub mod builder;
mod error;
pub mod installed;
pub mod local;
pub mod past;
mod start;
pub mod take_n;
#[cfg(not(any(uidring_loom, uidring_shuttle)))]
mod thread_local;

pub use error::{BuildError, InstallError, ShutdownError};

use std::fmt;

use crate::engine::Engine;
#[cfg(feature = "async")]
use crate::engine::async_take::AsyncTake;
use crate::engine::claim::{Claim, ClaimedSpan};
#[cfg(doc)]
use crate::engine::limits::LeadLimit;
use crate::engine::status::Status;
use crate::engine::{FillError, TakeError};
use crate::filler::Filler;
use crate::generator::builder::Builder;
use crate::generator::local::LocalTaker;
use crate::generator::take_n::TakeN;
use crate::layout::Layout;
use crate::sync::{Arc, AtomicU64};
use crate::uid::Uid;

/// Hands out unique UIDs to any number of threads.
///
/// This is a handle: clones share one ring and one worker id. Dropping the last one ends and joins
/// the filler thread and gives a leased worker id back. That waits for the registry. A database
/// that does not answer takes up to five seconds for each call, unless `with_timeout` says
/// otherwise: for one that is under way, and for one per worker id that is given back.
/// [`build`](Builder::build) waits for the registry as well, for as long as
/// [`start_deadline`](Builder::start_deadline). An asynchronous program calls `build_async` and
/// `shutdown_async` (feature `async`), which block no thread of its runtime; a handle that is
/// dropped later then has nothing to wait for.
///
/// Cloning costs a reference count; a take through `&self` costs one atomic add.
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
///   lock-free: a taker that is stopped at any point of it holds up no other. One take in
///   thousands wakes the filler, which takes the lock of its sleep for a moment. Only at the limit,
///   when the ring has no UID left, does a take read the clock, take locks, and wait.
/// * **Not for signal handlers**: do not take there, as the signal may have interrupted a take of
///   the same thread.
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
    filler: Arc<Filler>,
    /// How a thread finds its claims, see [`thread_local`].
    #[cfg(not(any(uidring_loom, uidring_shuttle)))]
    id: u64,
}

impl UidGenerator {
    pub(crate) fn new(engine: Arc<Engine>, filler: Filler) -> UidGenerator {
        UidGenerator {
            engine,
            filler: Arc::new(filler),
            #[cfg(not(any(uidring_loom, uidring_shuttle)))]
            id: thread_local::new_id(),
        }
    }

    /// Starts a generator's configuration.
    ///
    /// ```
    /// use std::time::Duration;
    /// use uidring::{LeadLimit, UidGenerator, registry::FixedWorker};
    ///
    /// let uids = UidGenerator::builder()
    ///     .registry(FixedWorker::new(7))
    ///     .max_lead(Duration::from_secs(3600))
    ///     .on_lead_limit(LeadLimit::Wait)
    ///     .build()?;
    /// # Ok::<(), uidring::BuildError>(())
    /// ```
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
    /// ```
    /// # use uidring::{UidGenerator, registry::FixedWorker};
    /// # let uids = UidGenerator::builder().registry(FixedWorker::new(1)).build()?;
    /// let order = uids.take()?;
    /// let invoice = uids.take()?;
    /// assert!(order < invoice);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TakeError::TimeExhausted`] when the layout has no ticks left, [`TakeError::LeadLimit`]
    /// under [`LeadLimit::Fail`], [`TakeError::LeaseExhausted`] when a leased worker id needs more
    /// ticks and the registry grants none, [`TakeError::ShutDown`] after a
    /// [shutdown](UidGenerator::shutdown), [`TakeError::Forked`] in a child process.
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
    /// ```
    /// # use uidring::{UidGenerator, registry::FixedWorker};
    /// # let uids = UidGenerator::builder().registry(FixedWorker::new(1)).build()?;
    /// match uids.try_take() {
    ///     Ok(uid) => println!("{uid}"),
    ///     Err(error) => println!("{error}; try again in {:?}", error.retry_in()),
    /// }
    /// # Ok::<(), uidring::BuildError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TakeError::LeadLimit`] when `max_lead` is used up, whatever the [`LeadLimit`];
    /// [`TakeError::LeaseExhausted`] when a leased worker id needs more ticks and the registry has
    /// not granted them yet; [`TakeError::TimeExhausted`] when the layout has no ticks left;
    /// [`TakeError::ShutDown`] after a [shutdown](UidGenerator::shutdown);
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
    /// ```
    /// # use uidring::{UidGenerator, registry::FixedWorker};
    /// # let uids = UidGenerator::builder().registry(FixedWorker::new(1)).build()?;
    /// let uid = pollster::block_on(async { uids.take_async().await })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`take`](UidGenerator::take).
    #[cfg(feature = "async")]
    pub async fn take_async(&self) -> Result<Uid, TakeError> {
        let mut turn = AsyncTake::new(&*self.engine);
        std::future::poll_fn(|context| turn.poll(context)).await
    }

    /// Fills `buffer` with new UIDs. Within one worker id they strictly increase, and within a tick
    /// they are consecutive. A change of the worker id in between, by [`LeadLimit::NewWorker`] or
    /// the loss of a lease, begins again at the present tick. The buffer may have any length; one
    /// atomic add claims up to half a block.
    ///
    /// Threads that fill at once are fastest with buffers that share no cache line, such as those
    /// of [`crossbeam_utils::CachePadded`]: two that are neighbours on the heap halve the speed.
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
                claim.next_span(&self.engine).map_err(|cause| FillError { filled, cause })?
            {
                let end = filled + uids.len();
                uids.write(&mut buffer[filled..end]);
                filled = end;
            }
        }
        Ok(())
    }

    /// Takes `count` UIDs, one with each call of the iterator's `next`. Within one worker id they
    /// strictly increase. One atomic add claims up to half a block, as with
    /// [`fill`](UidGenerator::fill), but no buffer is needed.
    ///
    /// An error is the last item. The UIDs before it are the caller's to use. If the iterator is
    /// dropped before its end, the rest of its claim is lost: at most half a block.
    ///
    /// ```
    /// # use uidring::{Uid, UidGenerator, registry::FixedWorker};
    /// # let uids = UidGenerator::builder().registry(FixedWorker::new(1)).build()?;
    /// let batch: Vec<Uid> = uids.take_n(1000).collect::<Result<_, _>>()?;
    /// assert_eq!(batch.len(), 1000);
    /// assert!(batch.is_sorted_by(|a, b| a < b));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The iterator's items fail as [`take`](UidGenerator::take).
    pub fn take_n(&self, count: usize) -> TakeN<'_> {
        TakeN::new(&self.engine, count)
    }

    /// Claims up to `count` UIDs that follow one another, for a program that hands them out itself,
    /// such as a binding to another language: a call there costs more than a UID. It never waits.
    /// There may be fewer UIDs, and in exact time there is one. They count as taken.
    ///
    /// UIDs of one span that all threads share, each by an atomic add, are in order over all of
    /// them, if nobody takes anything else from this generator before the span is used up or has
    /// expired.
    ///
    /// ```
    /// # use std::sync::atomic::Ordering;
    /// # use uidring::{UidGenerator, registry::FixedWorker};
    /// # let uids = UidGenerator::builder().registry(FixedWorker::new(1)).build()?;
    /// let span = uids.try_claim(100)?;
    /// let (mut place, mut uid) = (span.end - span.length, span.first.get());
    /// while place < uids.claims_end().load(Ordering::Relaxed) {
    ///     println!("{uid}");
    ///     (place, uid) = (place + 1, uid + 1);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`try_take`](UidGenerator::try_take).
    pub fn try_claim(&self, count: u32) -> Result<ClaimedSpan, TakeError> {
        ClaimedSpan::try_new(&self.engine, count.into())
    }

    /// The word that each place in a [claimed span](UidGenerator::try_claim) is compared with: its
    /// UID may be given as long as the place is less. It lives as long as a handle of this
    /// generator.
    #[must_use]
    pub fn claims_end(&self) -> &AtomicU64 {
        self.engine.claims_end_word()
    }

    /// A taker for one thread, which claims many UIDs at once, 64 at first. It writes to shared
    /// memory once per claim.
    ///
    /// ```
    /// # use uidring::{UidGenerator, registry::FixedWorker};
    /// # let uids = UidGenerator::builder().registry(FixedWorker::new(1)).build()?;
    /// let mut mine = uids.local();
    /// for _ in 0..1000 {
    ///     let uid = mine.take()?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn local(&self) -> LocalTaker {
        LocalTaker::new(self.clone())
    }

    /// Takes the next UID of this thread's own claim, which the thread keeps: a
    /// [`local`](UidGenerator::local) taker that nobody has to carry along, for work that runs on
    /// any thread of a pool. It claims as many UIDs, and is nearly as fast.
    ///
    /// It waits when [`take`](UidGenerator::take) does: at the limit of
    /// [`max_lead`](Builder::max_lead), and for the registry's answer when all reserved ticks are
    /// used up. In an asynchronous handler this would stop a thread of the runtime, with every task
    /// on it, so such a handler calls `take_async` (feature `async`).
    ///
    /// Within one worker id, the UIDs that one thread takes in this way from one generator strictly
    /// increase. There is no order between threads, so a task that moves from one thread to another
    /// between two takes can get the smaller UID last.
    ///
    /// What is left of a claim is lost when the thread ends, and when its ticks become older than
    /// [`max_lag`](Builder::max_lag). A thread keeps the claims of up to 16 generators.
    ///
    /// ```
    /// # use uidring::{UidGenerator, registry::FixedWorker};
    /// # let uids = UidGenerator::builder().registry(FixedWorker::new(1)).build()?;
    /// std::thread::scope(|scope| {
    ///     for _ in 0..4 {
    ///         scope.spawn(|| {
    ///             assert!(uids.take_local()? < uids.take_local()?);
    ///             Ok::<(), uidring::TakeError>(())
    ///         });
    ///     }
    /// });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`take`](UidGenerator::take).
    #[cfg(not(any(uidring_loom, uidring_shuttle)))]
    #[inline]
    pub fn take_local(&self) -> Result<Uid, TakeError> {
        thread_local::take(self, self.id)
    }

    /// The layout of the UIDs.
    ///
    /// ```
    /// # use uidring::{Layout, UidGenerator, registry::FixedWorker};
    /// # let uids = UidGenerator::builder().registry(FixedWorker::new(1)).build()?;
    /// assert_eq!(uids.layout(), &Layout::DEFAULT);
    /// # Ok::<(), uidring::BuildError>(())
    /// ```
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.engine.limits.layout
    }

    /// The worker id in the UIDs.
    ///
    /// ```
    /// # use uidring::{UidGenerator, registry::FixedWorker};
    /// let uids = UidGenerator::builder().registry(FixedWorker::new(7)).build()?;
    /// assert_eq!(uids.worker_id(), 7);
    /// # Ok::<(), uidring::BuildError>(())
    /// ```
    #[must_use]
    pub fn worker_id(&self) -> u64 {
        self.engine.worker()
    }

    /// Ends the generator, gives a leased worker id back, and says whether that succeeded. Dropping
    /// the last handle does the same, but is silent, and waits as long as the registry does.
    ///
    /// From now on all takes fail with [`TakeError::ShutDown`], from this handle's clones as well;
    /// those that wait fail at once. A take that has claimed a UID before may still return it. The
    /// worker id's next holder does not get it again: it begins after the tick that takes have
    /// reached, or, if the UIDs of that tick are not ready yet, after all ticks that are reserved.
    ///
    /// Blocks the thread until the registry has answered, at most for
    /// [`shutdown_deadline`](Builder::shutdown_deadline). A permanent worker id needs no answer.
    /// Called by the generator's own clock or registry, by a subscriber of its events or by the
    /// waker of a task, on a thread that the shutdown would have to wait for, it fails at once with
    /// [`ShutdownError::Deadline`], and the worker id is given back later.
    ///
    /// ```
    /// # use uidring::{TakeError, UidGenerator, registry::FixedWorker};
    /// # let uids = UidGenerator::builder().registry(FixedWorker::new(1)).build()?;
    /// let other = uids.clone();
    /// uids.shutdown()?;
    /// assert_eq!(other.take(), Err(TakeError::ShutDown));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ShutdownError`] if the worker id was not given back. It becomes free when its lease has
    /// expired. The generator is shut down all the same.
    // The handle is used up, as it is of no more use.
    #[allow(clippy::needless_pass_by_value)]
    pub fn shutdown(self) -> Result<(), ShutdownError> {
        let worker = self.worker_id();
        match self.filler.shut_down() {
            Ok(Ok(())) => Ok(()),
            Ok(Err((worker, source))) => Err(ShutdownError::NotReleased { worker, source }),
            Err(deadline) => Err(ShutdownError::Deadline { worker, deadline }),
        }
    }

    /// Does what [`shutdown`](UidGenerator::shutdown) does, on a thread of its own, so that no
    /// runtime is blocked. It needs no particular runtime. The shutdown begins with this call. If
    /// the future is dropped, even before it is polled, the generator is shut down all the same,
    /// but nobody is told whether its worker id was given back.
    ///
    /// ```
    /// # use uidring::{UidGenerator, registry::FixedWorker};
    /// # pollster::block_on(async {
    /// let uids = UidGenerator::builder().registry(FixedWorker::new(1)).build_async().await?;
    /// let uid = uids.take()?;
    /// uids.shutdown_async().await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`shutdown`](UidGenerator::shutdown).
    #[cfg(feature = "async")]
    pub fn shutdown_async(
        self,
    ) -> impl Future<Output = Result<(), ShutdownError>> + Send + 'static {
        self.filler.begin_shutdown();
        let result = blocking::run("uidring-shutdown", move || self.shutdown());
        async { result.await.unwrap_or_else(|error| Err(ShutdownError::Spawn(error))) }
    }

    /// What the generator is doing. This is cheap enough to call every second, and disturbs no
    /// taker.
    ///
    /// ```
    /// # use uidring::{UidGenerator, registry::FixedWorker};
    /// # let uids = UidGenerator::builder().registry(FixedWorker::new(1)).build()?;
    /// uids.take()?;
    /// let status = uids.status();
    /// assert_eq!(status.taken, 1);
    /// println!("{} UIDs are ready, {:?} ahead of the clock", status.available, status.lead);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
