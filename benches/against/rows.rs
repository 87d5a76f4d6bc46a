//! What is measured: the limits, this library, and the other crates.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use crossbeam_utils::CachePadded;
use uidring::registry::FixedWorker;
use uidring::{Builder, Layout, Uid, UidGenerator};

use crate::peers;
use crate::row::{BATCH, Batches, Each, Row, shared};

pub const TAKE: &str = "uidring take";
pub const EXACT: &str = "uidring take, exact time";
pub const LOCAL: &str = "uidring local take";
pub const FILL: &str = "uidring fill, 1,024 at once";
const FETCH_ADD: &str = "bare fetch_add";
const COUNTER: &str = "thread's counter, blocks of 1,024";
const CONSECUTIVE: &str = "fetch_add and consecutive numbers, 1,024 at once";
const NOW: &str = "SystemTime::now for each id";

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

/// All rows, freshly made, for so many threads, those of one limit below it.
pub fn all(threads: usize) -> Vec<Row> {
    let mut rows = limits();
    rows.extend(ours());
    rows.extend(peers::rows(threads, FETCH_ADD, COUNTER, CONSECUTIVE));
    let limits = [FETCH_ADD, COUNTER, CONSECUTIVE, NOW];
    rows.sort_by_key(|row| limits.iter().position(|limit| *limit == row.limit));
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
