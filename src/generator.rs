//! [`UidGenerator`] and its [`Builder`]: the rooms joined.

use std::fmt;
use std::num::NonZeroU64;

use crossbeam_utils::CachePadded;

use crate::clock::{Clock, SystemClock};
use crate::error::{BuildError, FillError, TakeError};
use crate::filler::{self, Filler, Signal};
use crate::layout::Layout;
use crate::local::LocalTaker;
use crate::registry::WorkerRegistry;
use crate::ring::{Block, MAX_SLOTS, MIN_SLOTS, Ring};
use crate::seconds::{Seconds, Window};
use crate::status::Status;
use crate::sync::{Arc, AtomicU64, Ordering};
use crate::uid::Uid;

/// Hands out unique UIDs from any number of threads.
///
/// A handle: clones share one ring and one worker id. When the last one drops, the filler thread ends and is
/// joined. Cloning costs a reference count; a take through `&self` costs one atomic add.
///
/// ```
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
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantees
///
/// * **Unique**: no two takes return the same UID, whatever threads, processes and restarts take part, as long as their
///   worker ids come from one registry.
/// * **Ordered**: takes are linearizable: a take that starts after another has returned gets the larger UID.
/// * **Never blocked**: a take does no I/O, takes no lock and reads no clock. It is lock-free: a thread that is
///   stopped at any point holds up no other.
#[derive(Clone)]
pub struct UidGenerator {
    core: Arc<Core>,
    /// Shared by the handles alone: the last one stops the thread.
    _filler: Arc<Filler>,
}

/// What takers and filler share.
pub struct Core {
    ring: Ring,
    pub signal: CachePadded<Signal>,
    refills: CachePadded<Refills>,
    layout: Layout,
    worker: u64,
    /// The filler is asked when no more than so many blocks are left.
    refill_mark: u64,
}

/// Blocks published, by whom.
#[derive(Default)]
struct Refills {
    inline: AtomicU64,
    filler: AtomicU64,
}

impl UidGenerator {
    /// Starts a generator's configuration.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::new()
    }

    /// Takes the next UID.
    ///
    /// Lock-free, and wait-free but for one take in each second's worth of UIDs. Where the filler has not kept
    /// up, the taker that finds the ring empty publishes the next second by itself.
    ///
    /// # Errors
    ///
    /// [`TakeError::TimeExhausted`] when the layout has no seconds left.
    #[inline]
    pub fn take(&self) -> Result<Uid, TakeError> {
        match self.core.ring.take() {
            Ok(uid) => Ok(uid),
            Err(ticket) => self.core.take_slowly(ticket),
        }
    }

    /// Takes the next UID or says at once why there is none. It never waits.
    ///
    /// # Errors
    ///
    /// As [`take`](UidGenerator::take).
    #[inline]
    pub fn try_take(&self) -> Result<Uid, TakeError> {
        self.take()
    }

    /// Fills `buffer` with new UIDs, strictly increasing, and consecutive but for the steps from one second to
    /// the next. Any length will do; many UIDs cost one atomic add.
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
    /// [`FillError`] holds the cause, as of [`take`](UidGenerator::take), and how many UIDs at the start of the buffer
    /// are good.
    pub fn fill(&self, buffer: &mut [Uid]) -> Result<(), FillError> {
        let mut filled = 0;
        // A claim longer than half of the ring would be overtaken by others before it is used.
        let longest = (self.core.ring.slots() as u64 / 2) << self.core.ring.shift();
        while filled < buffer.len() {
            let count = (buffer.len() - filled) as u64;
            let mut run = Run::claim(&self.core, count.min(longest));
            while let Some(uids) = run.next_piece(&self.core).map_err(|cause| FillError { filled, cause })? {
                let end = filled + uids.len();
                uids.write(&mut buffer[filled..end]);
                filled = end;
            }
        }
        Ok(())
    }

    /// A taker for one thread, with runs of 64 UIDs of its own: it touches shared memory once a run.
    #[must_use]
    pub fn local(&self) -> LocalTaker {
        LocalTaker::new(self.clone())
    }

    /// The layout of the UIDs.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.core.layout
    }

    /// The worker id in the UIDs.
    #[must_use]
    pub fn worker_id(&self) -> u64 {
        self.core.worker
    }

    /// What the generator is doing. Cheap enough to ask each second; it disturbs no taker.
    #[must_use]
    pub fn status(&self) -> Status {
        let Core { ring, refills, signal, .. } = &*self.core;
        Status {
            worker_id: self.core.worker,
            available: ring.available(),
            lost: ring.lost(),
            // ORDERING: statistics.
            refilled_inline: refills.inline.load(Ordering::Relaxed),
            refilled_by_filler: refills.filler.load(Ordering::Relaxed),
            filler: signal.state(),
        }
    }

    pub(crate) fn core(&self) -> &Core {
        &self.core
    }
}

impl fmt::Debug for UidGenerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UidGenerator")
            .field("layout", &self.core.layout)
            .field("worker_id", &self.core.worker)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Core").field("ring", &self.ring).finish_non_exhaustive()
    }
}

impl Core {
    /// Publishes one block if there is room. For the filler.
    pub fn refill(&self) -> bool {
        self.ring.refill(&self.refills.filler)
    }

    /// What `take` does with the first ticket of a block, and with one whose block is not at the front.
    #[cold]
    #[inline(never)]
    fn take_slowly(&self, mut ticket: u64) -> Result<Uid, TakeError> {
        loop {
            let offset = ticket & self.ring.max_offset();
            match self.base(ticket)? {
                Some(base) => return Ok(Uid::from_base(base, offset)),
                None => self.ring.lose(1),
            }
            ticket = self.ring.claim(1);
        }
    }

    /// The base of the block of `ticket`, or `None` if it has been overwritten. The holder of the first ticket looks after
    /// the filler.
    fn base(&self, ticket: u64) -> Result<Option<NonZeroU64>, TakeError> {
        let block = ticket >> self.ring.shift();
        if ticket & self.ring.max_offset() == 0 && self.ring.blocks_from(block) <= self.refill_mark {
            self.signal.ask();
        }
        match self.ring.block(block, &self.refills.inline) {
            Block::Published(base) => Ok(Some(base)),
            Block::Overwritten => Ok(None),
            Block::Beyond => Err(self.time_exhausted()),
        }
    }

    fn time_exhausted(&self) -> TakeError {
        TakeError::TimeExhausted { expires_at_ms: self.layout.expires_at_ms() }
    }
}

/// Tickets claimed together and not used yet.
#[derive(Debug)]
pub struct Run {
    next: u64,
    end: u64,
}

/// Consecutive UIDs: the part of a run that lies in one block.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    base: NonZeroU64,
    /// Places in the block: the first, and the one after the last.
    from: u64,
    to: u64,
}

impl Run {
    pub const EMPTY: Run = Run { next: 0, end: 0 };

    pub fn claim(core: &Core, count: u64) -> Run {
        let next = core.ring.claim(count);
        Run { next, end: next + count }
    }

    /// The UIDs of the next block in the run; `None` at its end. Passes over tickets whose block was overwritten.
    pub fn next_piece(&mut self, core: &Core) -> Result<Option<Piece>, TakeError> {
        while self.next < self.end {
            let ticket = self.next;
            let from = ticket & core.ring.max_offset();
            let to = (core.ring.max_offset() + 1).min(from + (self.end - ticket));
            let base = core.base(ticket)?;
            self.next += to - from;
            match base {
                Some(base) => return Ok(Some(Piece { base, from, to })),
                None => core.ring.lose(to - from),
            }
        }
        Ok(None)
    }
}

impl Piece {
    /// Not more than the caller asked for, so it fits.
    #[allow(clippy::cast_possible_truncation)]
    fn len(&self) -> usize {
        (self.to - self.from) as usize
    }

    fn write(self, buffer: &mut [Uid]) {
        for (uid, offset) in buffer.iter_mut().zip(self.from..self.to) {
            *uid = Uid::from_base(self.base, offset);
        }
    }

    /// The next UID of the piece, which gets shorter.
    #[inline]
    pub fn pop(&mut self) -> Option<Uid> {
        if self.from < self.to {
            let offset = self.from;
            self.from += 1;
            Some(Uid::from_base(self.base, offset))
        } else {
            None
        }
    }
}

/// Configures a [`UidGenerator`].
pub struct Builder {
    registry: Option<Box<dyn WorkerRegistry>>,
    layout: Layout,
    clock: Arc<dyn Clock>,
    slots: usize,
    refill_at: u32,
}

impl Builder {
    fn new() -> Builder {
        Builder { registry: None, layout: Layout::DEFAULT, clock: Arc::new(SystemClock), slots: 8, refill_at: 50 }
    }

    /// Where the worker id comes from. There is no default: a guessed id is a duplicate sooner or later.
    #[must_use]
    pub fn registry(self, registry: impl WorkerRegistry) -> Builder {
        Builder { registry: Some(Box::new(registry)), ..self }
    }

    /// How UIDs are split. [`Layout::DEFAULT`] unless set.
    #[must_use]
    pub fn layout(self, layout: Layout) -> Builder {
        Builder { layout, ..self }
    }

    /// What tells the time. [`SystemClock`] unless set.
    #[must_use]
    pub fn clock(self, clock: impl Clock) -> Builder {
        Builder { clock: Arc::new(clock), ..self }
    }

    /// How many seconds' worth of UIDs the ring holds: a power of two from 2 to 65,536, 8 unless set. A slot takes 128
    /// bytes. More slots let the filler sleep longer under load, and borrow that many seconds from the start.
    #[must_use]
    pub fn slots(self, slots: usize) -> Builder {
        Builder { slots, ..self }
    }

    /// How full the ring may get, in percent from 1 to 99, before the filler is woken. 50 unless set.
    #[must_use]
    pub fn refill_at(self, percent: u32) -> Builder {
        Builder { refill_at: percent, ..self }
    }

    /// Takes a worker id, fills the ring and starts the filler.
    ///
    /// # Errors
    ///
    /// [`BuildError`] says what is wrong and what to do. Nothing is asked of the registry before
    /// everything else is known to be good.
    pub fn build(self) -> Result<UidGenerator, BuildError> {
        let Builder { registry, layout, clock, slots, refill_at } = self;
        if !slots.is_power_of_two() || !(MIN_SLOTS..=MAX_SLOTS).contains(&slots) {
            return Err(BuildError::Slots { slots });
        }
        if !(1..=99).contains(&refill_at) {
            return Err(BuildError::RefillAt { percent: refill_at });
        }
        let mut registry = registry.ok_or(BuildError::NoRegistry)?;
        current_tick(&layout, &*clock)?;
        let worker = registry.assign(&layout)?;
        if worker > layout.max_worker() {
            let (max, worker_bits) = (layout.max_worker(), layout.worker_bits());
            return Err(BuildError::WorkerRange { worker, max, worker_bits });
        }
        // Asked again: a registry may take its time.
        let now = current_tick(&layout, &*clock)?;

        let seconds = Seconds::new(&layout);
        let window = Window { first: seconds.base(now, worker), last: seconds.base(layout.max_tick(), worker) };
        let (signal, bed) = filler::signal();
        let core = Arc::new(Core {
            ring: Ring::new(slots, layout.sequence_bits(), seconds, window),
            signal: CachePadded::new(signal),
            refills: CachePadded::default(),
            layout,
            worker,
            refill_mark: slots as u64 * u64::from(refill_at) / 100,
        });
        while core.refill() {}
        let filler = Filler::start(Arc::clone(&core), bed, registry).map_err(BuildError::Spawn)?;
        Ok(UidGenerator { core, _filler: Arc::new(filler) })
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("layout", &self.layout)
            .field("slots", &self.slots)
            .field("refill_at", &self.refill_at)
            .finish_non_exhaustive()
    }
}

/// The second that the clock shows, if the layout has it.
fn current_tick(layout: &Layout, clock: &dyn Clock) -> Result<u64, BuildError> {
    let now = clock.now();
    match u64::try_from(layout.tick_at(now)) {
        Err(_) => Err(BuildError::BeforeEpoch { epoch: layout.epoch(), now }),
        Ok(tick) if tick > layout.max_tick() => Err(BuildError::TimeExhausted { expires_at: layout.expires_at() }),
        Ok(tick) => Ok(tick),
    }
}
