//! [`SegmentGenerator`]: the numbers of one tag.

use std::fmt;

#[cfg(feature = "async")]
use crate::clock::Stopwatch;
#[cfg(feature = "async")]
use crate::engine::async_take::{AsyncTake, TakeSource};
#[cfg(feature = "async")]
use crate::engine::wait_queue::WaitQueue;
use crate::engine::{FillError, TakeError};
use crate::number::Number;
use crate::segment::load::loaded_tag::LoadedTag;
use crate::segment::load::loader::running::Running;
use crate::segment::load::status::SegmentStatus;
use crate::segment::tag::claim::ClaimedNumbers;
#[cfg(feature = "async")]
use crate::segment::tag::engine::{TagEngine, is_worth_waiting};
#[cfg(feature = "series")]
use crate::segment::take::batch::Batch;
use crate::segment::take::local::Handle;
use crate::segment::take::local::SegmentTakeN;
use crate::segment::take::local::SegmentTaker;
use crate::sync::{Arc, AtomicU64};

/// Hands out the numbers of one tag to any number of threads: small, and with few gaps.
///
/// This is a handle, and cloning it costs two reference counts. A take costs one atomic add, as
/// that of a [`UidGenerator`](crate::UidGenerator). The numbers are those that the row of the tag
/// has for this process: it takes a *segment* of them at a time, before they are needed.
///
/// # Guarantees
///
/// * **Unique**: no two takes return the same number, whatever threads, processes and restarts take
///   part, as long as they take from the same rows.
/// * **Ordered**: in one process, a take that starts after another has returned gets the larger
///   number. Between processes there is no order. A source of several databases keeps the order of
///   each.
/// * **Never blocked**: while numbers are in memory, a take does no I/O, waits for nothing and
///   reads no clock; now and then it wakes the loader, which takes the lock of its sleep for a
///   moment.
///
/// In a child process created by `fork`, all takes fail with [`TakeError::Forked`].
///
/// ```
/// # #[cfg(feature = "sqlite")] {
/// # use uidring::segment::{Segments, SqliteSegments, Tag};
/// # let dir = tempfile::tempdir()?;
/// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
/// let segments = Segments::builder().source(source).build()?;
/// let orders = segments.create("orders", Tag::new())?;
///
/// assert_eq!(orders.take()?.get(), 1);
/// assert_eq!(orders.take()?.get(), 2);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SegmentGenerator {
    handle: Handle,
}

impl SegmentGenerator {
    pub(crate) fn new(tag: Arc<LoadedTag>, running: Arc<Running>) -> SegmentGenerator {
        SegmentGenerator { handle: Handle { tag, running } }
    }

    /// Whether the tag is given up.
    #[cfg(feature = "series")]
    pub(crate) fn is_retired(&self) -> bool {
        self.handle.tag.is_retired()
    }

    /// Gives the tag up: takes fail from now on with [`TakeError::ShutDown`], and what is left goes
    /// back to its row. Who asks for the tag anew gets it anew.
    #[cfg(feature = "series")]
    pub(crate) fn retire(&self) {
        self.handle.running.loader.retire(&self.handle.tag);
    }

    /// Claims the next `count` numbers, and waits for them as so many takes would. If there is an
    /// error, there are fewer.
    #[cfg(feature = "series")]
    pub(crate) fn batch(&self, count: u64) -> (Batch, Option<TakeError>) {
        Batch::take(&self.handle, count)
    }

    /// The name of the tag.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// # let segments = Segments::builder().source(source).build()?;
    /// # let orders = segments.create("orders", Tag::new())?;
    /// assert_eq!(orders.tag(), "orders");
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn tag(&self) -> &str {
        &self.handle.tag.name
    }

    /// Takes the next number.
    ///
    /// Lock-free while numbers are in memory. If there are none, it waits for the load that is
    /// under way, for about [`max_wait`](crate::segment::Builder::max_wait) at most; waiting
    /// threads are served in order. A take that fails uses nothing up.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// # let segments = Segments::builder().source(source).build()?;
    /// # let orders = segments.create("orders", Tag::new())?;
    /// let first = orders.take()?;
    /// assert!(first < orders.take()?);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TakeError::SegmentExhausted`] when no numbers have come, with the cause: at once where
    /// waiting cannot help. [`TakeError::ShutDown`] after a shutdown, [`TakeError::Forked`] in a
    /// child process.
    #[inline]
    pub fn take(&self) -> Result<Number, TakeError> {
        match self.handle.tag.engine.chain.take() {
            Ok(number) => Ok(number),
            Err(ticket) => self.handle.tag.engine.take_slowly(ticket),
        }
    }

    /// Takes the next number, or fails at once with the reason why there is none. It never waits,
    /// and a failure uses nothing up.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// # let segments = Segments::builder().source(source).build()?;
    /// # let orders = segments.create("orders", Tag::new())?;
    /// match orders.try_take() {
    ///     Ok(number) => println!("{number}"),
    ///     Err(error) => println!("{error}"),
    /// }
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`take`](SegmentGenerator::take).
    pub fn try_take(&self) -> Result<Number, TakeError> {
        self.handle.tag.engine.try_take()
    }

    /// Takes the next number. If [`take`](SegmentGenerator::take) would wait, this waits without
    /// blocking the thread, for about as long. It needs no particular runtime. Dropping the future
    /// loses nothing. Waiting tasks are served in order, after the threads that wait.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// # let segments = Segments::builder().source(source).build()?;
    /// # let orders = segments.create("orders", Tag::new())?;
    /// let number = pollster::block_on(async { orders.take_async().await })?;
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`take`](SegmentGenerator::take).
    #[cfg(feature = "async")]
    pub async fn take_async(&self) -> Result<Number, TakeError> {
        let taker = PatientTaker { tag: &self.handle.tag.engine, since: Stopwatch::start() };
        let mut turn = AsyncTake::new(&taker);
        std::future::poll_fn(|context| turn.poll(context)).await
    }

    /// Fills `buffer` with new numbers, which strictly increase: those that so many takes of this
    /// thread would have got. One atomic add claims up to 65,536 of them. If there are fewer, the
    /// error says how many. Threads that fill at once are fastest with buffers that share no cache
    /// line.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// # let segments = Segments::builder().source(source).build()?;
    /// # let orders = segments.create("orders", Tag::new())?;
    /// # use uidring::segment::Number;
    /// let mut batch = [Number::MIN; 3];
    /// orders.fill(&mut batch)?;
    /// assert_eq!(batch.map(|number| number.get()), [1, 2, 3]);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`FillError`] holds the cause, the same as for [`take`](SegmentGenerator::take), and how
    /// many numbers at the start of the buffer are new.
    pub fn fill(&self, buffer: &mut [Number]) -> Result<(), FillError> {
        let mut filled = 0;
        while filled < buffer.len() {
            let claim = self.handle.tag.engine.claim((buffer.len() - filled) as u64);
            let mut claim = claim.map_err(|cause| FillError { filled, cause })?;
            while let Some(numbers) = self.handle.tag.engine.next_numbers(&mut claim) {
                let end = filled + numbers.len();
                numbers.write(&mut buffer[filled..end]);
                filled = end;
            }
        }
        Ok(())
    }

    /// Claims up to `count` numbers for a program that hands them out itself, such as a binding to
    /// another language. It never waits, and there may be fewer numbers. They count as taken.
    ///
    /// As with [`UidGenerator::try_claim`](crate::UidGenerator::try_claim), threads that share them
    /// are in order if nobody takes anything else meanwhile. What is left
    /// [goes back](SegmentGenerator::give_back) before a shutdown, or is lost.
    ///
    /// # Errors
    ///
    /// As [`try_take`](SegmentGenerator::try_take).
    pub fn try_claim(&self, count: u32) -> Result<ClaimedNumbers, TakeError> {
        self.handle.tag.engine.try_claim(count.into())
    }

    /// Gives back what is left of claimed numbers, of which the first `used` were given, at least
    /// one. They come again if nobody has taken a number since, and are lost otherwise.
    #[allow(clippy::needless_pass_by_value)] // what is given back is the caller's no more
    pub fn give_back(&self, claimed: ClaimedNumbers, used: u64) {
        self.handle.tag.engine.give_back_claimed(&claimed, used);
    }

    /// The word that each place in a [claim](SegmentGenerator::try_claim) is compared with, as
    /// [`UidGenerator::claims_end`](crate::UidGenerator::claims_end) is.
    #[must_use]
    pub fn claims_end(&self) -> &AtomicU64 {
        self.handle.tag.engine.claims_end_word()
    }

    /// Takes `count` numbers, one with each call of the iterator's `next`. They strictly increase,
    /// and are those that so many takes of this thread would have got when the claim was made. One
    /// atomic add claims up to 65,536 of them, as with [`fill`](SegmentGenerator::fill), but no
    /// buffer is needed.
    ///
    /// An error is the last item. The numbers before it are the caller's to use. If the iterator is
    /// dropped before its end, the rest of its claim goes back if nobody has taken a number since,
    /// and is lost otherwise.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Number, Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// # let segments = Segments::builder().source(source).build()?;
    /// # let orders = segments.create("orders", Tag::new())?;
    /// let batch: Vec<Number> = orders.take_n(3).collect::<Result<_, _>>()?;
    /// assert_eq!(batch[2].get(), 3);
    /// assert_eq!(orders.take()?.get(), 4);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The iterator's items fail as [`take`](SegmentGenerator::take).
    pub fn take_n(&self, count: usize) -> SegmentTakeN {
        SegmentTakeN::new(self.local(), count)
    }

    /// A taker for one thread, which claims many numbers at once, 64 at first. It writes to shared
    /// memory once per claim.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// # let segments = Segments::builder().source(source).build()?;
    /// # let orders = segments.create("orders", Tag::new())?;
    /// let mut mine = orders.local();
    /// assert!(mine.take()? < mine.take()?);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn local(&self) -> SegmentTaker {
        SegmentTaker::new(self.handle.clone())
    }

    /// What the tag is doing. This disturbs no taker.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use uidring::segment::{Segments, SqliteSegments, Tag};
    /// # let dir = tempfile::tempdir()?;
    /// # let source = SqliteSegments::open(dir.path().join("uidring.db"))?;
    /// # let segments = Segments::builder().source(source).build()?;
    /// # let orders = segments.create("orders", Tag::new())?;
    /// orders.take()?;
    /// let status = orders.status();
    /// assert_eq!((status.taken, status.in_memory, status.last_number), (1, 999, Some(1000)));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn status(&self) -> SegmentStatus {
        let Handle { tag, running } = &self.handle;
        SegmentStatus::of(tag, running.loader.now(), &running.loader.policy)
    }
}

impl fmt::Debug for SegmentGenerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SegmentGenerator").field("tag", &self.tag()).finish_non_exhaustive()
    }
}

/// A task that takes from a tag, and when it began.
#[cfg(feature = "async")]
struct PatientTaker<'a> {
    tag: &'a TagEngine,
    since: Stopwatch,
}

#[cfg(feature = "async")]
impl TakeSource for PatientTaker<'_> {
    type Id = Number;

    fn try_take(&self) -> Result<Number, TakeError> {
        self.tag.try_take()
    }

    fn is_worth_waiting(&self, error: TakeError) -> bool {
        is_worth_waiting(error) && self.since.elapsed() < self.tag.max_wait()
    }

    fn wait_queue(&self) -> &WaitQueue {
        &self.tag.tasks
    }

    fn at_hand(&self) -> u64 {
        self.tag.left()
    }

    fn since(&self) -> Option<Stopwatch> {
        Some(self.since)
    }

    /// Other tasks need not learn of an error that only means that this task's time is over.
    fn wakes_next(&self, error: TakeError) -> bool {
        !is_worth_waiting(error)
    }

    fn wake_filler(&self) {
        self.tag.request_maintenance();
    }

    /// The loader calls the tasks whose time is over.
    fn first_waits(&self) {
        self.tag.request_maintenance();
    }

    fn count_wait(&self) {
        self.tag.counters.waits.add(1);
    }

    /// The loader is told with each attempt.
    fn is_forked(&self) -> bool {
        self.tag.is_forked()
    }
}
