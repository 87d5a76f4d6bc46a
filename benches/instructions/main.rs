//! The program whose instructions `benches/instructions/check` counts. Each subject does its work
//! so many times, and nothing else that depends on that number.

#![allow(clippy::unwrap_used)] // a panic says where the benchmark failed

use std::env;
use std::hint::black_box;
use std::time::Duration;

use uidring::clock::ManualClock;
use uidring::registry::FixedWorker;
use uidring::segment::{
    Segment, SegmentError, SegmentGenerator, SegmentSource, Segments, Tag, TagRecord,
};
use uidring::{Builder, Layout, LeadLimit, Uid, UidGenerator};

/// UIDs from the beginning of a cache line on: where they begin decides how many are written one by
/// one, and the stack begins elsewhere in each environment.
#[repr(align(64))]
struct Buffer([Uid; 1024]);

/// One that has no UID to give for now, and says so.
fn exhausted() -> UidGenerator {
    let builder = UidGenerator::builder().registry(FixedWorker::new(1)).clock(clock());
    let uids = builder.max_lead(Duration::ZERO).on_lead_limit(LeadLimit::Fail).build().unwrap();
    while uids.take().is_ok() {}
    uids
}

fn builder() -> Builder {
    let builder = UidGenerator::builder().registry(FixedWorker::new(1));
    builder.max_lead(Duration::from_secs(1 << 40))
}

fn generator() -> UidGenerator {
    builder().build().unwrap()
}

/// One that starts in the same second each time. The second decides at which UID of a block it
/// begins, and so how many buffers are filled from two blocks.
fn generator_of_one_second() -> UidGenerator {
    builder().clock(clock()).build().unwrap()
}

fn clock() -> ManualClock {
    ManualClock::new(Layout::DEFAULT.epoch() + Duration::from_secs(1_000_000))
}

/// One whose UIDs have exact time. All of them are of one tick.
fn exact() -> UidGenerator {
    let layout = Layout::new(31, 10, 22).unwrap();
    let clock = ManualClock::new(layout.epoch() + Duration::from_secs(1_000_000));
    let builder = UidGenerator::builder().registry(FixedWorker::new(1)).layout(layout);
    builder.clock(clock).exact_time().build().unwrap()
}

/// A row that gives all of its numbers at once.
struct Row;

impl SegmentSource for Row {
    fn name(&self) -> String {
        "a row in memory".to_owned()
    }

    fn load(&self, _: &str, _: Option<u64>) -> Result<Segment, SegmentError> {
        Ok(Segment::new(1, 1 << 40, 1, 1 << 40))
    }

    fn give_back(&self, _: &str, _: &Segment) -> Result<bool, SegmentError> {
        Ok(true)
    }

    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        Ok(Vec::new())
    }

    fn create(&self, tag: &str, _: &Tag) -> Result<TagRecord, SegmentError> {
        Ok(TagRecord::new(tag, 1, 1, 1))
    }
}

fn tag() -> SegmentGenerator {
    Segments::builder().source(Row).build().unwrap().tag("a").unwrap()
}

/// Does the work of `take` so many times. Not inlined, so that the loop of one subject does not
/// depend on those of the others.
#[inline(never)]
fn repeat<T>(times: u64, mut take: impl FnMut() -> T) {
    for _ in 0..times {
        black_box(take());
    }
}

/// With the taker in registers, as a loop has it.
#[inline(never)]
fn take_locally(uids: &UidGenerator, times: u64) {
    let mut local = uids.local();
    for _ in 0..times {
        black_box(local.take().unwrap());
    }
}

/// With the taker in registers, as a loop has it.
#[inline(never)]
fn take_numbers_locally(numbers: &SegmentGenerator, times: u64) {
    let mut local = numbers.local();
    for _ in 0..times {
        black_box(local.take().unwrap());
    }
}

#[inline(never)]
fn fill(uids: &UidGenerator, times: u64) {
    let Buffer(buffer) = &mut Buffer([Uid::MIN; 1024]);
    for _ in 0..times {
        uids.fill(buffer).unwrap();
        black_box(&mut *buffer);
    }
}

fn main() {
    let mut args = env::args().skip(1).filter(|arg| arg != "--bench");
    let subject = args.next().unwrap_or_default();
    let times: u64 = args.next().map_or(1, |times| times.parse().unwrap());
    let (uids, exact) = (generator(), exact());
    let numbers = tag();
    match &*subject {
        "take" => repeat(times, || uids.take().unwrap()),
        "try_take" => repeat(times, || uids.try_take().unwrap()),
        "local" => take_locally(&uids, times),
        "take_local" => repeat(times, || uids.take_local().unwrap()),
        "fill" => fill(&generator_of_one_second(), times),
        "exact" => repeat(times, || exact.take().unwrap()),
        "segment" => repeat(times, || numbers.take().unwrap()),
        "segment_try" => repeat(times, || numbers.try_take().unwrap()),
        "segment_local" => take_numbers_locally(&numbers, times),
        "fail" => {
            let uids = exhausted();
            repeat(times, || uids.take().unwrap_err());
        }
        "start" => repeat(times, generator),
        // When all benchmarks run, there is no subject, and nothing to count.
        _ => {}
    }
}
