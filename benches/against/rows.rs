//! What is measured.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use crossbeam_utils::CachePadded;
use uidring::registry::FixedWorker;
use uidring::{Builder, Layout, Uid, UidGenerator};

use crate::peers;

/// How many ids are taken at once, and how many a thread's block or claim has.
pub const BATCH: u32 = 1024;

pub const TAKE: &str = "uidring take";
pub const EXACT: &str = "uidring take, exact time";
pub const LOCAL: &str = "uidring local take";
pub const FILL: &str = "uidring fill, 1,024 at once";
const FETCH_ADD: &str = "bare fetch_add";
const COUNTER: &str = "thread's counter, blocks of 1,024";
const CONSECUTIVE: &str = "fetch_add and consecutive numbers, 1,024 at once";
const NOW: &str = "SystemTime::now for each id";

/// One way to get ids.
pub struct Row {
    pub name: &'static str,
    /// The row that it cannot beat by the way it works.
    pub limit: &'static str,
    /// The rule that holds it back, if it is not the machine.
    pub throttled: Option<&'static str>,
    /// What one thread does; `None` if the row cannot run on so many threads.
    pub worker: WorkerOf,
}

type WorkerOf = Box<dyn Fn(usize) -> Option<Box<dyn Worker>> + Sync>;

impl Row {
    /// The name, with the rule that holds the row back.
    pub fn label(&self) -> String {
        match self.throttled {
            Some(rule) => format!("{} ({rule})", self.name),
            None => self.name.to_owned(),
        }
    }
}

/// One thread's part of a row.
pub trait Worker {
    fn take(&mut self, count: u64);

    /// Like `take`, and keeps the ids.
    fn keep(&mut self, count: u64, ids: &mut Vec<u128>);
}

/// One id at a time.
pub struct Each<F>(pub F);

impl<I: Into<u128>, F: FnMut() -> I> Worker for Each<F> {
    fn take(&mut self, count: u64) {
        for _ in 0..count {
            black_box((self.0)());
        }
    }

    fn keep(&mut self, count: u64, ids: &mut Vec<u128>) {
        ids.extend((0..count).map(|_| (self.0)().into()));
    }
}

/// `BATCH` ids at a time.
pub struct Batches<T, F, G> {
    pub buffer: T,
    pub fill: F,
    /// The ids in the buffer.
    pub read: G,
}

impl<T, F: FnMut(&mut T), G: Fn(&T) -> Vec<u64>> Worker for Batches<T, F, G> {
    fn take(&mut self, count: u64) {
        for _ in 0..count / u64::from(BATCH) {
            (self.fill)(&mut self.buffer);
            black_box(&mut self.buffer);
        }
    }

    fn keep(&mut self, count: u64, ids: &mut Vec<u128>) {
        for _ in 0..count / u64::from(BATCH) {
            (self.fill)(&mut self.buffer);
            ids.extend((self.read)(&self.buffer).into_iter().map(u128::from));
        }
    }
}

/// A row where all threads use one `source`.
pub fn shared<S, W>(name: &'static str, limit: &'static str, source: S, worker: fn(&S) -> W) -> Row
where
    S: Send + Sync + 'static,
    W: Worker + 'static,
{
    Row { name, limit, throttled: None, worker: Box::new(move |_| Some(Box::new(worker(&source)))) }
}

/// 38 bits of milliseconds, 3 bits of worker, 22 bits of sequence: more than any row can use up.
fn equal_layout() -> Layout {
    let tick = Duration::from_millis(1);
    Layout::new(peers::TIME_BITS, peers::WORKER_BITS, peers::SEQUENCE_BITS)
        .and_then(|it| it.with_tick(tick))
        .unwrap()
}

/// A builder of a generator that never comes to the end of what it may borrow.
fn builder(layout: Layout) -> Builder {
    UidGenerator::builder()
        .layout(layout)
        .registry(FixedWorker::new(1))
        .max_lead(Duration::from_secs(1 << 40))
}

fn counter() -> &'static CachePadded<AtomicU64> {
    Box::leak(Box::new(CachePadded::new(AtomicU64::new(1))))
}

/// All rows, freshly made, for so many threads.
pub fn all(threads: usize) -> Vec<Row> {
    let mut rows = limits();
    rows.extend(ours());
    rows.extend(peers::rows(threads, FETCH_ADD, COUNTER, CONSECUTIVE));
    rows
}

fn limits() -> Vec<Row> {
    let one = shared(FETCH_ADD, FETCH_ADD, counter(), |counter| {
        let counter = *counter;
        Each(move || counter.fetch_add(1, Ordering::Relaxed))
    });
    let blocks = shared(COUNTER, COUNTER, counter(), |counter| {
        let counter = *counter;
        let (mut next, mut end) = (0, 0);
        Each(move || {
            if next == end {
                next = counter.fetch_add(u64::from(BATCH), Ordering::Relaxed);
                end = next + u64::from(BATCH);
            }
            next += 1;
            next - 1
        })
    });
    let consecutive = shared(CONSECUTIVE, CONSECUTIVE, counter(), |counter| {
        let counter = *counter;
        let fill = move |buffer: &mut Vec<u64>| {
            let first = counter.fetch_add(u64::from(BATCH), Ordering::Relaxed);
            for (number, place) in (first..).zip(buffer) {
                *place = number;
            }
        };
        Batches { buffer: vec![0; BATCH as usize], fill, read: Vec::clone }
    });
    // The clock and a counter: the least that an id costs if the clock is read for each id.
    let now = shared(NOW, NOW, counter(), |counter| {
        let counter = *counter;
        Each(move || {
            let ms = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
            ms << 64 | u128::from(counter.fetch_add(1, Ordering::Relaxed))
        })
    });
    vec![one, blocks, consecutive, now]
}

fn ours() -> Vec<Row> {
    let take = |name, builder: Builder| {
        shared(name, FETCH_ADD, builder.build().unwrap(), |uids| {
            let uids = uids.clone();
            Each(move || uids.take().unwrap().get())
        })
    };
    let exact = Row {
        limit: NOW,
        ..take(EXACT, builder(equal_layout()).exact_time().max_lead(Duration::ZERO))
    };
    let local = shared(LOCAL, COUNTER, builder(equal_layout()).build().unwrap(), |uids| {
        let mut mine = uids.local().with_claim_length(BATCH);
        Each(move || mine.take().unwrap().get())
    });
    let fill = shared(FILL, CONSECUTIVE, builder(equal_layout()).build().unwrap(), |uids| {
        let uids = uids.clone();
        let fill = move |buffer: &mut Vec<Uid>| uids.fill(buffer).unwrap();
        let read = |buffer: &Vec<Uid>| buffer.iter().map(|uid| uid.get()).collect();
        Batches { buffer: vec![Uid::MIN; BATCH as usize], fill, read }
    });
    // Enough ticks for any measurement, whatever the width of the sequence.
    let sequence_of = |bits| Layout::new(62 - bits, 1, bits).unwrap();
    vec![
        take(TAKE, builder(equal_layout())),
        exact,
        local,
        fill,
        take("uidring take, 8 slots", builder(sequence_of(13)).slots(8)),
        take("uidring take, 4,096 slots", builder(sequence_of(13)).slots(4096)),
        take("uidring take, sequence of 8 bits", builder(sequence_of(8))),
        take("uidring take, sequence of 20 bits", builder(sequence_of(20))),
    ]
}
