//! What the models share: the exploration of a model, a small ring, and the checks of the UIDs
//! taken from it.
#![cfg(uidring_loom)]

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use loom::thread::{self, JoinHandle};
use uidring::model::{Block, Counter, Ring, TickCodec, Window, is_closed};
use uidring::{Layout, Uid};

/// Runs `model` in every interleaving with at most `preemptions` preemptions (`None`: any number)
/// and prints how many interleavings there were. `LOOM_MAX_PREEMPTIONS` overrides the bound; 0
/// removes it.
pub fn explore(name: &str, preemptions: Option<usize>, model: impl Fn() + Send + Sync + 'static) {
    check(name, preemptions, || (), move |()| model());
}

/// Like [`explore`], for a model that starts with the result of `prepare`, whose own interleavings
/// are not explored.
pub fn explore_from<T: 'static>(
    name: &str,
    preemptions: Option<usize>,
    prepare: impl Fn() -> T + Send + Sync + 'static,
    model: impl Fn(T) + Send + Sync + 'static,
) {
    check(name, preemptions, prepare, model);
}

fn check<T: 'static>(
    name: &str,
    preemptions: Option<usize>,
    prepare: impl Fn() -> T + Send + Sync + 'static,
    model: impl Fn(T) + Send + Sync + 'static,
) {
    let mut builder = loom::model::Builder::new();
    builder.max_threads = 4;
    // A thread that can never continue reaches this limit, which fails the model.
    builder.max_branches = 6000;
    builder.expect_explicit_explore = true;
    builder.preemption_bound = match builder.preemption_bound {
        Some(0) => None,
        Some(bound) => Some(bound),
        None => preemptions,
    };
    let bound = builder.preemption_bound.map_or("any".to_owned(), |bound| bound.to_string());

    // From std, not loom: it counts across interleavings, and is not part of the model.
    let count = Arc::new(AtomicUsize::new(0));
    let start = Instant::now();
    builder.check({
        let count = Arc::clone(&count);
        move || {
            count.fetch_add(1, Ordering::Relaxed);
            let prepared = prepare();
            loom::explore();
            model(prepared);
        }
    });
    let count = count.load(Ordering::Relaxed);
    eprintln!("model {name} {count} {bound} {:.1}", start.elapsed().as_secs_f64());
}

/// Which UIDs were taken when, in one interleaving.
///
/// The lock is from std. Loom does not see it, so it neither adds interleavings nor orders anything
/// that the library leaves unordered.
#[derive(Default)]
pub struct History(Mutex<Takes>);

#[derive(Default)]
struct Takes {
    clock: usize,
    takes: Vec<Take>,
}

/// When a take began.
#[derive(Clone, Copy)]
pub struct Start(usize);

#[derive(Debug)]
struct Take {
    start: usize,
    end: usize,
    uids: Vec<u64>,
}

impl History {
    fn takes(&self) -> MutexGuard<'_, Takes> {
        lock(&self.0)
    }

    fn tick(&self) -> usize {
        let mut takes = self.takes();
        takes.clock += 1;
        takes.clock
    }

    /// A take begins now.
    pub fn start(&self) -> Start {
        Start(self.tick())
    }

    /// The take that began at `start` ends now with these UIDs.
    ///
    /// # Panics
    ///
    /// When they do not ascend.
    pub fn end(&self, start: Start, uids: impl IntoIterator<Item: Into<u64>>) {
        let end = self.tick();
        let uids: Vec<u64> = uids.into_iter().map(Into::into).collect();
        assert!(uids.is_sorted_by(|a, b| a < b), "not ascending: {uids:?}");
        self.takes().takes.push(Take { start: start.0, end, uids });
    }

    /// All UIDs in ascending order.
    ///
    /// # Panics
    ///
    /// If a UID was taken twice.
    #[must_use]
    pub fn uids(&self) -> Vec<u64> {
        let mut all: Vec<u64> =
            self.takes().takes.iter().flat_map(|take| take.uids.iter().copied()).collect();
        all.sort_unstable();
        assert!(all.is_sorted_by(|a, b| a < b), "taken twice: {all:?}");
        all
    }

    /// # Panics
    ///
    /// When a take that started after another had returned got the smaller UID.
    pub fn assert_ordered(&self) {
        let takes = &self.takes().takes;
        for later in takes {
            for earlier in takes.iter().filter(|earlier| earlier.end < later.start) {
                if let (Some(last), Some(first)) = (earlier.uids.last(), later.uids.first()) {
                    assert!(last < first, "out of order: {earlier:?}, then {later:?}");
                }
            }
        }
    }
}

pub const WORKER: u64 = 1;
/// The clock's tick when the ring is created.
pub const NOW: u64 = 5;
pub const SLOTS: u64 = 2;
/// UIDs in a block.
pub const BLOCK: u64 = 2;
/// The first block that is ever published.
pub const FIRST_BLOCK: u64 = SLOTS;
pub const FIRST_TICKET: u64 = FIRST_BLOCK * BLOCK;
/// A number of ticks that no model uses up.
pub const MANY: u64 = 1000;

/// Tickets claimed together.
pub struct Claim {
    start: Start,
    next: u64,
    count: u64,
}

/// A ring of two blocks of two UIDs, with what the threads of a model have seen of it.
pub struct Model {
    pub ring: Ring,
    pub history: History,
    layout: Layout,
    codec: TickCodec,
    /// The base that each block was seen to have. The lock is from std, as in `History`.
    bases: Mutex<BTreeMap<u64, u64>>,
    /// The blocks that were found to be overwritten.
    overwritten: Mutex<Vec<u64>>,
}

impl Model {
    /// A ring that holds `blocks` blocks and may publish `ticks` ticks from `NOW` on.
    ///
    /// # Panics
    ///
    /// When there is no room for `blocks` blocks.
    #[must_use]
    pub fn new(blocks: u64, ticks: u64) -> Arc<Model> {
        Model::with_reserved(blocks, ticks, ticks + MANY)
    }

    /// The same, in which takers may extend the window to `reserved` ticks.
    ///
    /// # Panics
    ///
    /// When there is no room for `blocks` blocks.
    #[must_use]
    pub fn with_reserved(blocks: u64, ticks: u64, reserved: u64) -> Arc<Model> {
        let layout = Layout::new(40, 2, BLOCK.trailing_zeros()).unwrap();
        let codec = TickCodec::new(&layout);
        let [first_base, last_base, reserved_base] =
            [NOW, NOW + ticks - 1, NOW + reserved - 1].map(|tick| codec.base_at(tick, WORKER));
        let window = Window { first_base, last_base, reserved_base };
        let slots = usize::try_from(SLOTS).unwrap();
        let ring = Ring::new(slots, layout.sequence_bits(), codec, window);
        let published = Counter::default();
        for _ in 0..blocks {
            assert!(ring.publish_if_room(ring.cursor_block(), &published).is_some());
        }
        Arc::new(Model {
            ring,
            history: History::default(),
            layout,
            codec,
            bases: Mutex::default(),
            overwritten: Mutex::default(),
        })
    }

    /// A window of `worker` as bases, which ends with what is reserved.
    #[must_use]
    pub fn window(&self, first: u64, last: u64, worker: u64) -> Window {
        let [first_base, last_base] = [first, last].map(|tick| self.codec.base_at(tick, worker));
        Window { first_base, last_base, reserved_base: last_base }
    }

    /// Extends the window, as a taker does.
    pub fn extend(&self, last: u64) {
        self.ring.window().extend(last, &self.codec);
    }

    /// Runs `body` on another thread.
    pub fn spawn<T: 'static>(
        self: &Arc<Self>,
        body: impl FnOnce(&Model) -> T + 'static,
    ) -> JoinHandle<T> {
        let model = Arc::clone(self);
        thread::spawn(move || body(&model))
    }

    /// The base of a block if the window has not been moved: blocks then have consecutive ticks.
    fn expected(&self, block: u64) -> u64 {
        self.codec.base_at(NOW + block - FIRST_BLOCK, WORKER)
    }

    /// The state of `block`, for a caller that holds a ticket in it.
    pub fn publish_up_to(&self, block: u64, published: &Counter) -> Block {
        let answer = self.ring.publish_up_to(block, published);
        match answer {
            Block::Published(base) => self.note(block, base.get()),
            Block::Overwritten => lock(&self.overwritten).push(block),
            Block::Beyond => {}
        }
        answer
    }

    /// Publishes `block`, which lies within the window, and the blocks before it that are not yet
    /// published. Returns how many bases it chose.
    ///
    /// # Panics
    ///
    /// If the block is found beyond the window.
    pub fn publish(&self, block: u64) -> u64 {
        let published = Counter::default();
        assert_ne!(
            self.publish_up_to(block, &published),
            Block::Beyond,
            "the window does not end before block {block}"
        );
        published.get()
    }

    /// Records that `block` was seen to have `base`.
    fn note(&self, block: u64, base: u64) {
        let known = *lock(&self.bases).entry(block).or_insert(base);
        assert_eq!(known, base, "block {block} has two bases");
    }

    /// What `UidGenerator::take` does with a ticket that `Ring::take` does not serve: the UID,
    /// `None` if its block was overwritten, or an error at the window's end.
    ///
    /// # Errors
    ///
    /// The ticket, if the window ends before its block.
    ///
    /// # Panics
    ///
    /// When the UID is none.
    pub fn redeem(&self, ticket: u64, published: &Counter) -> Result<Option<Uid>, u64> {
        match self.publish_up_to(ticket / BLOCK, published) {
            Block::Published(base) => {
                let blocks = self.ring.blocks_from(ticket / BLOCK);
                self.ring.advance(ticket, base, blocks);
                Ok(Some(self.ring.uid(ticket, base)))
            }
            Block::Overwritten => {
                self.ring.cursor.lose(1);
                Ok(None)
            }
            Block::Beyond => Err(ticket),
        }
    }

    /// A whole take, as `UidGenerator::take` does it, in a window that does not end. Nothing if the
    /// ring is closed: the library's taker then sleeps until it is open.
    ///
    /// # Panics
    ///
    /// When the window ends all the same.
    pub fn take(&self, published: &Counter) {
        let start = self.history.start();
        let uid = match self.ring.take() {
            Ok(uid) => Some(uid),
            Err(mut ticket) => loop {
                if is_closed(ticket) {
                    break None;
                }
                match self.redeem(ticket, published) {
                    Ok(Some(uid)) => break Some(uid),
                    Ok(None) => ticket = self.ring.cursor.claim(1),
                    Err(ticket) => panic!("the window ends before ticket {ticket}"),
                }
            },
        };
        self.history.end(start, uid);
    }

    /// `count` takes. Returns how many blocks they published.
    pub fn takes(&self, count: u64) -> u64 {
        let published = Counter::default();
        for _ in 0..count {
            self.take(&published);
        }
        published.get()
    }

    /// `count` takes that may not wait at the end of the window, as `UidGenerator::take` does them.
    pub fn failing_takes(&self, count: u64) {
        let published = Counter::default();
        for _ in 0..count {
            let start = self.history.start();
            let uid = match self.ring.take() {
                Ok(uid) => Some(uid),
                Err(ticket) if is_closed(ticket) => None,
                Err(ticket) => self.redeem(ticket, &published).unwrap_or_else(|ticket| {
                    self.ring.cursor.close();
                    self.ring.cursor.give_back(ticket..ticket + 1);
                    None
                }),
            };
            self.history.end(start, uid);
        }
    }

    /// `count` takes that fail at the end of the window, as `UidGenerator::try_take` does them.
    ///
    /// # Panics
    ///
    /// When a ticket was claimed in vain.
    pub fn try_takes(&self, count: u64) {
        let published = Counter::default();
        for _ in 0..count {
            let start = self.history.start();
            let mut at = None;
            let uid = loop {
                match self.ring.try_claim(at) {
                    Ok((ticket, Some(base))) => break Some(self.ring.uid(ticket, base)),
                    Ok((ticket, None)) => break self.redeem(ticket, &published).unwrap(),
                    Err(Some(block))
                        if matches!(self.publish_up_to(block, &published), Block::Published(_)) =>
                    {
                        at = Some(block);
                    }
                    Err(_) => break None,
                }
            };
            self.history.end(start, uid);
        }
    }

    /// Claims up to `count` UIDs that are there, as `UidGenerator::try_claim` does.
    ///
    /// # Panics
    ///
    /// When a UID lies beyond the last.
    pub fn try_claim_many(&self, count: u64) {
        let start = self.history.start();
        let (first, length) = self.ring.try_claim_many(count).map_or((1, 0), |(uid, length)| {
            assert!((1..=count).contains(&length), "{length} UIDs for {count}");
            (uid.get(), length)
        });
        self.history.end(start, (first..first + length).map(|uid| Uid::try_from(uid).unwrap()));
    }

    /// Claims `count` tickets for [`use_up`](Model::use_up).
    pub fn claim(&self, count: u64) -> Claim {
        Claim { start: self.history.start(), next: self.ring.cursor.claim(count), count }
    }

    /// Takes the UIDs of a claim. Returns how many blocks that published.
    ///
    /// # Panics
    ///
    /// When the window ends.
    pub fn use_up(&self, Claim { start, next, count }: Claim) -> u64 {
        let published = Counter::default();
        let mut uids = Vec::new();
        // The tickets of a block together.
        let (mut next, end) = (next, next + count);
        while next < end {
            let to = end.min((next / BLOCK + 1) * BLOCK);
            match self.redeem(next, &published).unwrap() {
                Some(uid) => uids.extend(
                    (0..to - next).map(|offset| Uid::try_from(uid.get() + offset).unwrap()),
                ),
                None => self.ring.cursor.lose(to - next - 1),
            }
            next = to;
        }
        self.history.end(start, uids);
        published.get()
    }

    /// Many UIDs at once, as `UidGenerator::fill` takes them. Returns how many blocks that
    /// published.
    pub fn fill(&self, count: u64) -> u64 {
        self.use_up(self.claim(count))
    }

    /// Refills until there is no room. Returns how many blocks that published.
    pub fn refill(&self) -> u64 {
        let published = Counter::default();
        while self.ring.publish_if_room(self.ring.cursor_block(), &published).is_some() {}
        published.get()
    }

    /// What must hold when every thread is done and the window has not been moved: each ticket led
    /// to its own UID, or was counted as lost, and takes are ordered.
    ///
    /// # Panics
    ///
    /// When it does not.
    pub fn check(&self) {
        self.check_blocks();
        let taken = self.history.uids();
        self.history.assert_ordered();
        let tickets = FIRST_TICKET..self.ring.cursor.position();
        let count = tickets.end - tickets.start;
        let expected: Vec<u64> =
            tickets.map(|ticket| self.expected(ticket / BLOCK) | ticket % BLOCK).collect();
        assert!(
            taken.iter().all(|uid| expected.contains(uid)),
            "not of their tickets: {taken:?} of {expected:?}"
        );
        let accounted = taken.len() as u64 + self.ring.cursor.lost() + self.ring.cursor.skipped();
        assert_eq!(
            accounted, count,
            "tickets neither used nor counted as lost or skipped: {taken:?}"
        );
        for (block, base) in &*lock(&self.bases) {
            assert_eq!(
                *base,
                self.expected(*block),
                "block {block} does not follow the one before"
            );
        }
    }

    /// What must hold when every thread is done, also if the window has been moved: each block has
    /// one base, each base one block, bases of a worker ascend, and nothing was lost but what was
    /// overwritten.
    ///
    /// # Panics
    ///
    /// When it does not.
    pub fn check_blocks(&self) {
        assert_eq!(self.ring.broken_rule(), None);
        let tail = self.ring.tail();
        for block in FIRST_BLOCK.max(tail - SLOTS)..tail {
            let base = self
                .ring
                .published_base(block)
                .unwrap_or_else(|| panic!("block {block} is not in its slot"));
            self.note(block, base.get());
        }
        let bases = lock(&self.bases);
        for (block, base) in &*bases {
            let mut before = bases
                .range(..block)
                .filter(|(_, before)| self.worker(**before) == self.worker(*base));
            assert!(before.all(|(_, before)| before < base), "bases do not ascend: {bases:?}");
        }
        let overwritten = lock(&self.overwritten);
        assert!(
            overwritten.iter().all(|block| block + SLOTS < tail),
            "lost {overwritten:?} without being overwritten"
        );
    }

    /// What must hold when every thread is done, and the ring still holds all blocks that were
    /// taken from: each UID is of one of them.
    ///
    /// # Panics
    ///
    /// When it does not.
    pub fn check_taken(&self) {
        self.check_blocks();
        let bases = lock(&self.bases);
        let is_of_block = |uid: &u64| bases.values().any(|base| *base == uid - uid % BLOCK);
        let taken = self.history.uids();
        assert!(taken.iter().all(is_of_block), "not of their blocks: {taken:?} of {bases:?}");
    }

    /// What must hold when every thread is done and another generator has the ticks `gap` of
    /// `WORKER`.
    ///
    /// # Panics
    ///
    /// When one of them was published.
    pub fn check_gap(&self, gap: Range<u64>) {
        self.check_blocks();
        let gap = self.codec.base_at(gap.start, WORKER)..self.codec.base_at(gap.end, WORKER);
        let bases = lock(&self.bases);
        let mut of_worker = bases.values().filter(|base| self.worker(**base) == WORKER);
        assert!(of_worker.all(|base| !gap.contains(base)), "ticks of another generator: {bases:?}");
    }

    fn worker(&self, base: u64) -> u64 {
        self.layout.parts(Uid::try_from(base).unwrap()).worker
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
