//! Whole generators with their threads, in few takes: Miri runs them as the memory model of Rust
//! allows it, not only as this processor does.
//!
//! Each test checks that nothing is taken twice, and that what one thread takes ascends. Threads
//! are not ordered by what a test notes, unless the test is about order: what orders them would
//! hide what the library leaves unordered.

mod exact;
mod published;
mod ring;
#[path = "../../../tests/common/rows.rs"]
mod rows;
mod segments;
mod shutdown;
mod waiting;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use uidring::clock::Clock;
use uidring::registry::{FixedWorker, Lease, Request, WorkerRegistry};
use uidring::{Builder, Layout, RegistryError, Uid, UidGenerator};

/// So long that a thread takes several times in a tick, however slowly Miri runs it.
const TICK: Duration = Duration::from_millis(20);
/// The tick that clocks show at first.
const NOW: u64 = 1_000_000;

/// A clock that is moved by hand, and orders no threads.
#[derive(Clone)]
struct Ticks(Arc<AtomicU64>);

impl Ticks {
    fn new() -> Ticks {
        Ticks(Arc::new(AtomicU64::new(NOW)))
    }

    /// The newest value, which a load need not see.
    fn get(&self) -> u64 {
        self.0.fetch_add(0, Ordering::Relaxed)
    }

    fn advance(&self, ticks: u64) {
        self.0.fetch_add(ticks, Ordering::Relaxed);
    }

    fn rewind(&self, ticks: u64) {
        self.0.fetch_sub(ticks, Ordering::Relaxed);
    }

    /// Goes on by a tick now and then until `is_done`.
    fn run_until(&self, is_done: impl Fn() -> bool) {
        while !is_done() {
            thread::sleep(TICK);
            self.advance(1);
        }
    }
}

impl Clock for Ticks {
    fn now(&self) -> SystemTime {
        Layout::DEFAULT.epoch() + TICK * u32::try_from(self.get()).unwrap()
    }
}

/// The worker ids 1, 2, 3 and so on.
struct Counting(u64);

impl WorkerRegistry for Counting {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        self.0 += 1;
        Ok(Lease::permanent(self.0, &request.layout))
    }
}

/// A ring of two blocks, each with `1 << sequence_bits` UIDs of a tick.
fn builder(sequence_bits: u32, clock: &Ticks) -> Builder {
    let layout = Layout::new(40, 10, sequence_bits).unwrap().with_tick(TICK).unwrap();
    let builder = UidGenerator::builder().registry(FixedWorker::new(1)).layout(layout);
    builder.clock(clock.clone()).slots(2)
}

fn tick_of(uids: &UidGenerator, uid: Uid) -> u64 {
    uids.layout().tick_at(uids.layout().parts(uid).time).unwrap()
}

/// Which UID it is, counted from the first one of the tick `NOW`.
fn place(uids: &UidGenerator, uid: Uid) -> u64 {
    let parts = uids.layout().parts(uid);
    (tick_of(uids, uid) - NOW) * (uids.layout().max_sequence() + 1) + parts.sequence
}

/// Runs `bodies`, each on a thread, and returns what they return.
fn on_threads<'a, T: Send>(bodies: impl IntoIterator<Item = Body<'a, T>>) -> Vec<T> {
    thread::scope(|scope| {
        let threads: Vec<_> = bodies.into_iter().map(|body| scope.spawn(body)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

type Body<'a, T> = Box<dyn FnOnce() -> T + Send + 'a>;

/// `count` ids, one after another.
fn many<T, E: std::fmt::Debug>(count: usize, mut take: impl FnMut() -> Result<T, E>) -> Vec<T> {
    (0..count).map(|_| take().unwrap()).collect()
}

/// All that was taken: what each thread took ascends, and nothing came twice.
fn checked<T: Copy + Ord + std::fmt::Debug>(taken: &[Vec<T>]) -> BTreeSet<T> {
    let mut all = BTreeSet::new();
    for taken in taken {
        assert!(taken.is_sorted_by(|a, b| a < b), "not ascending: {taken:?}");
        for id in taken {
            assert!(all.insert(*id), "{id:?} came twice");
        }
    }
    all
}

/// The largest id that a take has returned.
#[derive(Default)]
struct Newest(AtomicU64);

impl Newest {
    /// Checks that a take returns more than all takes that returned before it.
    fn before<T>(&self, take: impl FnOnce() -> T, number: impl Fn(&T) -> u64) -> T {
        let newest = self.0.load(Ordering::Acquire);
        let id = take();
        assert!(number(&id) > newest, "{} after {newest} had been returned", number(&id));
        self.0.fetch_max(number(&id), Ordering::Release);
        id
    }
}
