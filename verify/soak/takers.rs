//! The threads that take UIDs and numbers in this process, and generators that come and go.

use std::hint::black_box;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use uidring::registry::{Lease, Request, WorkerRegistry};
use uidring::segment::{Number, SegmentGenerator, Segments, Tag};
use uidring::store::StoreRegistry;
use uidring::{Layout, RegistryError, RegistryOptions, Store, TakeError, Uid, UidGenerator};

use crate::latency::Kind;
use crate::ledger::{BLOCK_BITS, TAGS, WORKER_BITS, WORKERS, worker_of};
use crate::state::{LEASE, State, TICK};

/// Takes between two looks at the clock of the soak.
const BATCH: usize = 1024;
/// After so many batches a thread measures the bare counter.
const CONTROL: u32 = 8;
/// After so many batches a thread lets its local taker go and makes another.
const LOCAL: u32 = 64;

pub fn layout() -> Result<Layout, String> {
    let time_bits = 63 - WORKER_BITS - BLOCK_BITS;
    let layout = Layout::new(time_bits, WORKER_BITS, BLOCK_BITS);
    layout.and_then(|layout| layout.with_tick(TICK)).map_err(|error| error.to_string())
}

/// A registry whose calls are counted.
struct Counted {
    registry: StoreRegistry,
    state: Arc<State>,
}

impl WorkerRegistry for Counted {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        self.registry.assign(request)
    }

    fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        let reserved = self.registry.reserve(lease, last);
        let counts = &self.state.counts;
        if reserved.is_ok() { &counts.renewals } else { &counts.failed_renewals }.add(1);
        reserved
    }

    fn release(&mut self, lease: &Lease, used: u64) -> Result<(), RegistryError> {
        self.registry.release(lease, used)
    }

    fn name(&self) -> String {
        self.registry.name()
    }

    fn last_assigned(&mut self) -> Result<Option<SystemTime>, RegistryError> {
        self.registry.last_assigned()
    }

    fn remembered_layout(&mut self) -> Result<Option<Layout>, RegistryError> {
        self.registry.remembered_layout()
    }

    fn worker_ids_of(&self, layout: &Layout) -> Option<RangeInclusive<u64>> {
        self.registry.worker_ids_of(layout)
    }

    fn clock_skew_ms(&self) -> Option<i64> {
        self.registry.clock_skew_ms()
    }
}

/// A generator with a leased worker id.
pub fn generator(
    store: &Store,
    state: &Arc<State>,
    deadline: Duration,
) -> Result<UidGenerator, String> {
    let options = RegistryOptions::new().leased(LEASE).worker_ids(1..=WORKERS as u64);
    let registry = store.registry_with(options).map_err(|error| error.to_string())?;
    let registry = Counted { registry, state: Arc::clone(state) };
    let builder = UidGenerator::builder().layout(layout()?).registry(registry);
    let builder = builder.max_lead(Duration::from_secs(10)).start_deadline(deadline);
    builder.build().map_err(|error| error.to_string())
}

pub fn segments(store: &Store) -> Result<Segments, String> {
    let source = store.segments().map_err(|error| error.to_string())?;
    // So little in memory that loads are frequent, and that outages are noticed.
    let builder = Segments::builder().source(source).ahead(Duration::from_secs(1));
    builder.build().map_err(|error| error.to_string())
}

pub fn tag_name(tag: usize) -> String {
    format!("tag-{tag}")
}

pub fn create_tags(segments: &Segments) -> Result<Vec<SegmentGenerator>, String> {
    let create = |tag| segments.create(&tag_name(tag), Tag::new());
    (0..TAGS).map(create).collect::<Result<_, _>>().map_err(|error| error.to_string())
}

/// The ids of a thread, and their times.
struct Taker<'a> {
    state: &'a State,
    times: Vec<u64>,
    ids: Vec<u64>,
    /// The latest UID of each worker id.
    latest: [u64; 1 << WORKER_BITS],
}

impl<'a> Taker<'a> {
    fn new(state: &'a State) -> Taker<'a> {
        let (times, ids) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        Taker { state, times, ids, latest: [0; 1 << WORKER_BITS] }
    }

    /// Takes a batch. Returns why a take failed.
    #[inline]
    fn take(&mut self, mut take: impl FnMut() -> Result<u64, TakeError>) -> Option<TakeError> {
        self.times.clear();
        self.ids.clear();
        let clock = &self.state.latencies.clock;
        for _ in 0..BATCH {
            let before = clock.raw();
            let taken = black_box(take());
            let after = clock.raw();
            match taken {
                Ok(id) => self.ids.push(id),
                Err(error) => return Some(error),
            }
            self.times.push(after.saturating_sub(before));
        }
        None
    }

    fn note_times(&self, kind: Kind) {
        self.state.latencies.add(kind, &self.times);
    }

    /// The UIDs of one taker ascend, as long as the worker id is the same.
    fn check_order(&mut self) -> Result<(), String> {
        for uid in &self.ids {
            let latest = &mut self.latest[worker_of(*uid)];
            if *latest >= *uid {
                return Err(format!("UID {uid} came after {latest}, on one thread"));
            }
            *latest = *uid;
        }
        Ok(())
    }

    fn note_uids(&mut self, failure: Option<TakeError>) {
        let State { own, counts, .. } = self.state;
        counts.uids.add(self.ids.len());
        let order = self.check_order();
        self.state.check(order.and_then(|()| own.note_uids(&self.ids)));
        if let Some(error) = failure {
            self.state.note_failed(error);
        }
    }

    fn note_numbers(&mut self, tag: usize, failure: Option<TakeError>) {
        let State { own, counts, .. } = self.state;
        counts.numbers.add(self.ids.len());
        self.state.check(own.note_numbers(tag, &self.ids));
        if let Some(error) = failure {
            self.state.note_failed(error);
        }
    }

    fn measure_counter(&mut self, counter: &AtomicU64) {
        self.take(|| Ok(counter.fetch_add(1, Ordering::Relaxed)));
        self.note_times(Kind::Count);
    }
}

/// Takes UIDs one by one.
pub fn take_uids(state: &State, uids: &UidGenerator, counter: &AtomicU64) {
    let mut taker = Taker::new(state);
    for batch in 0_u32.. {
        if !state.goes_on() {
            break;
        }
        let failure = taker.take(|| uids.take().map(Uid::get));
        taker.note_times(Kind::Take);
        taker.note_uids(failure);
        if batch.is_multiple_of(CONTROL) {
            taker.measure_counter(counter);
        }
    }
}

/// Takes UIDs with local takers, one after the other.
pub fn take_local_uids(state: &State, uids: &UidGenerator) {
    let mut taker = Taker::new(state);
    while state.goes_on() {
        let mut local = uids.local();
        for _ in 0..LOCAL {
            let failure = taker.take(|| local.take().map(Uid::get));
            taker.note_times(Kind::LocalTake);
            taker.note_uids(failure);
        }
    }
}

/// Takes numbers of all tags in turn, one by one and with local takers.
pub fn take_numbers(state: &State, tags: &[SegmentGenerator]) {
    let mut taker = Taker::new(state);
    for (turn, tag) in (0..tags.len()).cycle().enumerate() {
        if !state.goes_on() {
            break;
        }
        if (turn / tags.len()).is_multiple_of(4) {
            let mut local = tags[tag].local();
            let failure = taker.take(|| local.take().map(Number::get));
            taker.note_numbers(tag, failure);
        } else {
            let failure = taker.take(|| tags[tag].take().map(Number::get));
            taker.note_times(Kind::NumberTake);
            taker.note_numbers(tag, failure);
        }
    }
}

/// Generators and segments that come, take from the same database, and go.
pub fn visit(state: &Arc<State>, file: &Path) {
    let mut rng = fastrand::Rng::new();
    while state.goes_on() {
        state.pause(Duration::from_millis(rng.u64(200..1500)));
        let visit = visit_once(state, file, &mut rng);
        let State { counts, .. } = &**state;
        // The database may be away just then, or have no worker id.
        if visit.is_ok() { &counts.visits } else { &counts.failed_visits }.add(1);
    }
}

fn visit_once(state: &Arc<State>, file: &Path, rng: &mut fastrand::Rng) -> Result<(), String> {
    // A new file in the place of one that is away would give the same ids again.
    let store = Store::open_existing(file).map_err(|error| error.to_string())?;
    let uids = generator(&store, state, Duration::from_secs(1))?;
    let mut taker = Taker::new(state);
    let failure = taker.take(|| uids.take().map(Uid::get));
    taker.note_uids(failure);
    if rng.bool() {
        // It fails if the database is away, and the id is free when its lease has ended.
        let _ = uids.shutdown();
    }
    let segments = segments(&store)?;
    let tag = rng.usize(..TAGS);
    let numbers = segments.tag(&tag_name(tag)).map_err(|error| error.to_string())?;
    let failure = taker.take(|| numbers.take().map(Number::get));
    taker.note_numbers(tag, failure);
    drop(numbers);
    let _ = segments.shutdown();
    Ok(())
}
