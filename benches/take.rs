//! What a UID costs, beside the least that any generator must do in its place.
//!
//! * `take`: by 1, 2, 4, 8 threads and by one for each core, beside a bare `fetch_add` on a counter
//!   of their own.
//! * `fill`: 1,024 and 4,096 UIDs at once, beside filling a slice with consecutive numbers.
//! * `lead`: takes with a lead of at most one minute and one worker id after the other, beside
//!   takes without a limit.
//! * `leased`: takes with a leased worker id, whose ticks are reserved in a SQLite file meanwhile,
//!   beside takes with a worker id that was given once.
//! * `local`: a thread's own taker, beside a thread's own counter that is fed by blocks of 1,024.
//! * `take_local`: takes from a claim that the thread keeps, beside a thread's own taker that is in
//!   memory, as it is in the handlers of a service, and not in the registers of a loop.
//! * `segment_take`, `segment_fill`, `segment_local`: the same as `take`, `fill` and `local` with
//!   the numbers of a tag, which a source in memory gives at once.
//!
//! The sides of a comparison run in turns, in short rounds within each sample, so that what
//! disturbs the machine disturbs them alike. Criterion reports each side by itself, and then their
//! ratio follows, sample by sample. Threads are pinned, and start on a barrier. Each round is
//! checked: its numbers are distinct, leave no gap, and increase on each thread.

#![allow(clippy::unwrap_used)]

mod turns;

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use criterion::{
    BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main,
};
use crossbeam_utils::CachePadded;
use uidring::clock::ManualClock;
use uidring::registry::{FixedWorker, Lease, Request, WorkerRegistry};
use uidring::segment::{
    Number, Segment, SegmentError, SegmentGenerator, SegmentSource, Segments, Tag, TagRecord,
};
use uidring::{Layout, LeadLimit, LocalTaker, RegistryError, Uid, UidGenerator};

/// UIDs in a buffer and in a local taker's claim, and numbers in a block of the counter.
const BLOCK: u32 = 1024;
/// Turns of each side in a sample.
const ROUNDS: u64 = 4;
/// A sample in which one side ran for less time than this says nothing about the ratio.
const SHORTEST: Duration = Duration::from_millis(5);

/// What one thread does in one round: it takes so many times, and notes the numbers.
type Turn<'a> = &'a (dyn Fn(u64, &mut Seen) + Sync);

/// What one thread has seen in one round.
#[derive(Clone, Copy)]
struct Seen {
    first: u64,
    last: u64,
    count: u64,
    /// The sum of all numbers, wrapping around.
    sum: u64,
}

impl Seen {
    const NOTHING: Seen = Seen { first: u64::MAX, last: 0, count: 0, sum: 0 };

    #[inline]
    fn note(&mut self, number: u64) {
        // Keeps the compiler from working the number out.
        let number = black_box(number);
        assert!(number > self.last, "{number} came after {}", self.last);
        self.first = self.first.min(number);
        self.last = number;
        self.count += 1;
        self.sum = self.sum.wrapping_add(number);
    }

    fn join(self, other: Seen) -> Seen {
        Seen {
            first: self.first.min(other.first),
            last: self.last.max(other.last),
            count: self.count + other.count,
            sum: self.sum.wrapping_add(other.sum),
        }
    }
}

/// Where the numbers of a side come from.
trait Source {
    /// Tickets dropped so far. They leave gaps.
    fn lost(&self) -> u64 {
        0
    }

    /// How many numbers there are from `first` to `last`, and their sum, wrapping around.
    fn between(&self, first: u64, last: u64) -> (u64, u64);
}

impl Source for Counter {
    fn between(&self, first: u64, last: u64) -> (u64, u64) {
        consecutive(first, last)
    }
}

impl Source for UidGenerator {
    fn lost(&self) -> u64 {
        self.status().lost
    }

    fn between(&self, first: u64, last: u64) -> (u64, u64) {
        let layout = self.layout();
        let shift = layout.worker_bits() + layout.sequence_bits();
        let in_tick = |tick| {
            let base = tick << shift | self.worker_id() << layout.sequence_bits();
            consecutive(first.max(base), last.min(base | layout.max_sequence()))
        };
        let ticks = first >> shift..=last >> shift;
        ticks
            .map(in_tick)
            .fold((0, 0), |(count, sum), (more, of)| (count + more, sum.wrapping_add(of)))
    }
}

impl Source for SegmentGenerator {
    fn lost(&self) -> u64 {
        self.status().lost
    }

    fn between(&self, first: u64, last: u64) -> (u64, u64) {
        consecutive(first, last)
    }
}

/// A row in memory, which gives as many numbers as are asked for.
struct Row(AtomicU64);

impl SegmentSource for Row {
    fn name(&self) -> String {
        "a row in memory".to_owned()
    }

    fn load(&self, _: &str, count: Option<u64>) -> Result<Segment, SegmentError> {
        let count = count.unwrap_or(1_000_000);
        let first = self.0.fetch_add(count, Ordering::Relaxed);
        let mut segment = Segment::new(first, count, 1, first + count);
        (segment.step, segment.max_step) = (1_000_000, Some(u64::MAX));
        Ok(segment)
    }

    fn give_back(&self, _: &str, _: &Segment) -> Result<bool, SegmentError> {
        Ok(false)
    }

    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        Ok(Vec::new())
    }

    fn create(&self, tag: &str, _: &Tag) -> Result<TagRecord, SegmentError> {
        Ok(TagRecord::new(tag, 1, 1_000_000, 1))
    }
}

fn tag() -> SegmentGenerator {
    let segments = Segments::builder().source(Row(AtomicU64::new(1))).build().unwrap();
    segments.tag("orders").unwrap()
}

fn consecutive(first: u64, last: u64) -> (u64, u64) {
    let count = last - first + 1;
    // One of the two is even.
    let (half, whole) = if count.is_multiple_of(2) {
        (count / 2, first + last)
    } else {
        (u64::midpoint(first, last), count)
    };
    (count, half.wrapping_mul(whole))
}

/// Numbers from 1 on, with a cache line of their own.
struct Counter(CachePadded<AtomicU64>);

impl Counter {
    fn new() -> Counter {
        Counter(CachePadded::new(AtomicU64::new(1)))
    }

    #[inline]
    fn claim(&self, count: u64) -> u64 {
        self.0.fetch_add(count, Ordering::Relaxed)
    }
}

struct Side<'a> {
    name: &'a str,
    source: &'a dyn Source,
    /// Numbers that a thread may leave unused at the end of a round.
    unused: u64,
    turn: Turn<'a>,
}

impl Side<'_> {
    /// One round: so many turns on each thread. Returns how long it took from the first start to
    /// the last end.
    fn round(&self, threads: usize, iterations: u64) -> Duration {
        let lost_before = self.source.lost();
        let start = Barrier::new(threads);
        let body = |thread: usize| {
            turns::pin(thread);
            let mut seen = Seen::NOTHING;
            start.wait();
            let begin = Instant::now();
            (self.turn)(iterations, &mut seen);
            (begin, Instant::now(), seen)
        };
        let done: Vec<_> = thread::scope(|scope| {
            let body = &body;
            let running: Vec<_> =
                (0..threads).map(|thread| scope.spawn(move || body(thread))).collect();
            running.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let seen = done.iter().fold(Seen::NOTHING, |all, (_, _, seen)| all.join(*seen));
        self.check(seen, self.source.lost() > lost_before, self.unused * threads as u64);
        let begin = done.iter().map(|(begin, ..)| *begin).min().unwrap();
        done.iter().map(|(_, end, _)| *end).max().unwrap() - begin
    }

    /// All threads together have seen each number from the first to the last once. There are gaps
    /// only where the machine stopped a thread in the middle of a take for so long that tickets
    /// were lost, or where numbers were left unused.
    fn check(&self, seen: Seen, has_lost: bool, unused: u64) {
        let (count, sum) = self.source.between(seen.first, seen.last);
        let has_gaps = has_lost && seen.count < count
            || (count - unused.min(count)..count).contains(&seen.count);
        assert!(
            has_gaps || (seen.count, seen.sum) == (count, sum),
            "{}: {} numbers of {count}",
            self.name,
            seen.count
        );
    }
}

/// Runs all sides in turns; one benchmark for each, as `iter_custom` returns one time.
fn compare(criterion: &mut Criterion, group: &str, threads: usize, elements: u64, sides: &[Side]) {
    let mut samples: Vec<Vec<Duration>> = Vec::new();
    let mut benchmarks = criterion.benchmark_group(group);
    benchmarks
        .sampling_mode(SamplingMode::Flat)
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .throughput(Throughput::Elements(elements * threads as u64));
    for (index, side) in sides.iter().enumerate() {
        let id = BenchmarkId::new(
            side.name,
            format!("{threads} thread{}", if threads == 1 { "" } else { "s" }),
        );
        benchmarks.bench_function(id, |bencher| {
            bencher.iter_custom(|iterations| {
                let mut times = vec![Duration::ZERO; sides.len()];
                let mut left = iterations;
                for round in (1..=ROUNDS).rev() {
                    let part = left / round;
                    left -= part;
                    if part > 0 {
                        for place in 0..sides.len() {
                            let index = if round.is_multiple_of(2) {
                                place
                            } else {
                                sides.len() - 1 - place
                            };
                            times[index] += sides[index].round(threads, part);
                        }
                    }
                }
                let time = times[index];
                samples.push(times);
                time
            });
        });
    }
    benchmarks.finish();

    samples.retain(|times| times.iter().all(|time| *time >= SHORTEST));
    for (index, side) in sides.iter().enumerate().skip(1) {
        let mut ratios: Vec<f64> = samples
            .iter()
            .map(|times| times[index].as_secs_f64() / times[0].as_secs_f64())
            .collect();
        ratios.sort_unstable_by(f64::total_cmp);
        let Some(&median) = ratios.get(ratios.len() / 2) else { continue };
        let quartiles = (ratios[ratios.len() / 4], ratios[ratios.len() * 3 / 4]);
        println!(
            "{group}, threads: {threads}: {} / {}: median {median:.3}, quartiles {:.3} to {:.3}, \
             {} samples\n",
            side.name,
            sides[0].name,
            quartiles.0,
            quartiles.1,
            ratios.len()
        );
    }
}

/// A generator whose clock stands still at the layout's first tick, so that nothing becomes stale
/// between two rounds, and which may borrow up to `max_lead`. At 400 million UIDs a second, the
/// time field lasts for six hours.
fn generator(registry: impl WorkerRegistry, max_lead: Duration) -> UidGenerator {
    let clock = ManualClock::new(Layout::DEFAULT.epoch());
    let builder = UidGenerator::builder().registry(registry).clock(clock).max_lead(max_lead);
    builder.on_lead_limit(LeadLimit::NewWorker).max_new_workers(u32::MAX).build().unwrap()
}

fn take(criterion: &mut Criterion) {
    for threads in turns::up_to_the_cores(&[1, 2, 4, 8]) {
        let (counter, uids) = (Counter::new(), generator(FixedWorker::new(1), Duration::MAX));
        let bare = |count, seen: &mut Seen| (0..count).for_each(|_| seen.note(counter.claim(1)));
        let ours =
            |count, seen: &mut Seen| (0..count).for_each(|_| seen.note(uids.take().unwrap().get()));
        let sides = [
            Side { name: "fetch_add", source: &counter, unused: 0, turn: &bare },
            Side { name: "uidring", source: &uids, unused: 0, turn: &ours },
        ];
        compare(criterion, "take", threads, 1, &sides);
    }
}

fn fill(criterion: &mut Criterion) {
    for threads in turns::up_to_the_cores(&[1, 2]) {
        fill_buffers::<1024>(criterion, threads);
        fill_buffers::<4096>(criterion, threads);
    }
}

fn fill_buffers<const N: usize>(criterion: &mut Criterion, threads: usize) {
    let uids = generator(FixedWorker::new(1), Duration::MAX);
    let ours = |count, seen: &mut Seen| {
        let mut buffer = CachePadded::new([Uid::MIN; N]);
        for _ in 0..count {
            uids.fill(&mut *buffer).unwrap();
            note_ends(seen, black_box(&*buffer), |uid| uid.get());
        }
        check_inside(&uids, &*buffer, |uid| uid.get());
    };
    let side = Side { name: "uidring", source: &uids, unused: 0, turn: &ours };
    compare_fills::<N>(criterion, "fill", threads, side);
}

/// Compares fills of `N` at once with loops that write consecutive numbers: those of "own" share
/// nothing, and those of `fetch_add` claim each buffer's numbers from one counter. A fill in the
/// order of all threads cannot do with less.
fn compare_fills<const N: usize>(
    criterion: &mut Criterion,
    group: &str,
    threads: usize,
    ours: Side<'_>,
) {
    let (own, shared) = (Counter::new(), Counter::new());
    let length = N as u64;
    let by_own = |count, seen: &mut Seen| {
        let mut next = own.claim(count * length);
        let first = || {
            next += length;
            next - length
        };
        write::<N>(&own, seen, count, first);
    };
    let by_shared =
        |count, seen: &mut Seen| write::<N>(&shared, seen, count, || shared.claim(length));
    let sides = [
        Side { name: "own", source: &own, unused: 0, turn: &by_own },
        Side { name: "fetch_add", source: &shared, unused: 0, turn: &by_shared },
        ours,
    ];
    compare(criterion, &format!("{group} of {N}"), threads, length, &sides);
}

/// Fills a buffer so many times with consecutive numbers from `first` on.
fn write<const N: usize>(
    counter: &Counter,
    seen: &mut Seen,
    times: u64,
    mut first: impl FnMut() -> u64,
) {
    // Else its place on the stack would decide: stores that cross cache lines cost more.
    let mut buffer = CachePadded::new([0; N]);
    for _ in 0..times {
        buffer.iter_mut().zip(first()..).for_each(|(place, number)| *place = number);
        note_ends(seen, black_box(&*buffer), |&number| number);
    }
    check_inside(counter, &*buffer, |&number| number);
}

fn segment_take(criterion: &mut Criterion) {
    for threads in turns::up_to_the_cores(&[1, 2, 4, 8]) {
        let (counter, tag) = (Counter::new(), tag());
        let bare = |count, seen: &mut Seen| (0..count).for_each(|_| seen.note(counter.claim(1)));
        let ours =
            |count, seen: &mut Seen| (0..count).for_each(|_| seen.note(tag.take().unwrap().get()));
        let sides = [
            Side { name: "fetch_add", source: &counter, unused: 0, turn: &bare },
            Side { name: "segment", source: &tag, unused: 0, turn: &ours },
        ];
        compare(criterion, "segment_take", threads, 1, &sides);
    }
}

fn segment_fill(criterion: &mut Criterion) {
    for threads in turns::up_to_the_cores(&[1, 2]) {
        segment_fill_buffers::<1024>(criterion, threads);
        segment_fill_buffers::<4096>(criterion, threads);
    }
}

fn segment_fill_buffers<const N: usize>(criterion: &mut Criterion, threads: usize) {
    let tag = tag();
    let ours = |count, seen: &mut Seen| {
        let mut buffer = CachePadded::new([Number::MIN; N]);
        for _ in 0..count {
            tag.fill(&mut *buffer).unwrap();
            note_ends(seen, black_box(&*buffer), |number| number.get());
        }
        check_inside(&tag, &*buffer, |number| number.get());
    };
    let side = Side { name: "segment", source: &tag, unused: 0, turn: &ours };
    compare_fills::<N>(criterion, "segment_fill", threads, side);
}

fn segment_local(criterion: &mut Criterion) {
    for threads in turns::up_to_the_cores(&[1, 2]) {
        let (uids, tag) = (generator(FixedWorker::new(1), Duration::MAX), tag());
        let of_time = |count, seen: &mut Seen| {
            let mut mine = uids.local().with_claim_length(BLOCK);
            (0..count * u64::from(BLOCK)).for_each(|_| seen.note(mine.take().unwrap().get()));
        };
        let of_tag = |count, seen: &mut Seen| {
            let mut mine = tag.local().with_claim_length(BLOCK);
            (0..count * u64::from(BLOCK)).for_each(|_| seen.note(mine.take().unwrap().get()));
        };
        let sides = [
            Side { name: "generator", source: &uids, unused: BLOCK.into(), turn: &of_time },
            Side { name: "segment", source: &tag, unused: BLOCK.into(), turn: &of_tag },
        ];
        compare(criterion, "segment_local", threads, BLOCK.into(), &sides);
    }
}

/// Notes the first and the last number of a buffer, of an even length, and the sum of all if there
/// was no gap. Reading every number would cost more than writing them.
fn note_ends<T>(seen: &mut Seen, buffer: &[T], number: impl Fn(&T) -> u64) {
    let (first, last) = (number(&buffer[0]), number(&buffer[buffer.len() - 1]));
    assert!(first > seen.last && last > first, "{first} to {last} came after {}", seen.last);
    seen.first = seen.first.min(first);
    seen.last = last;
    seen.count += buffer.len() as u64;
    let sum = first.wrapping_add(last).wrapping_mul(buffer.len() as u64 / 2);
    seen.sum = seen.sum.wrapping_add(sum);
}

/// Checks each number of the last buffer.
fn check_inside<T>(source: &dyn Source, buffer: &[T], number: impl Fn(&T) -> u64) {
    let mut inside = Seen::NOTHING;
    for element in buffer {
        inside.note(number(element));
    }
    assert_eq!((inside.count, inside.sum), source.between(inside.first, inside.last));
}

fn local(criterion: &mut Criterion) {
    for threads in turns::up_to_the_cores(&[1, 2]) {
        let (counter, uids) = (Counter::new(), generator(FixedWorker::new(1), Duration::MAX));
        let bare = |count, seen: &mut Seen| {
            let (mut next, mut end) = (0, 0);
            for _ in 0..count * u64::from(BLOCK) {
                if next == end {
                    next = counter.claim(BLOCK.into());
                    end = next + u64::from(BLOCK);
                }
                seen.note(next);
                next += 1;
            }
        };
        let ours = |count, seen: &mut Seen| {
            let mut mine = uids.local().with_claim_length(BLOCK);
            (0..count * u64::from(BLOCK)).for_each(|_| seen.note(mine.take().unwrap().get()));
        };
        let sides = [
            Side { name: "counter", source: &counter, unused: 0, turn: &bare },
            Side { name: "uidring", source: &uids, unused: BLOCK.into(), turn: &ours },
        ];
        compare(criterion, "local", threads, BLOCK.into(), &sides);
    }
}

/// Worker ids 1, 2, 3 and so on.
struct Counting(u64);

impl WorkerRegistry for Counting {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        self.0 += 1;
        Ok(Lease::permanent(self.0, &request.layout))
    }
}

/// A generator that takes on one worker id after the other, each with the same ticks.
struct Workers(UidGenerator);

impl Workers {
    const LEAD: Duration = Duration::from_secs(60);

    fn new(max_lead: Duration) -> Workers {
        Workers(generator(Counting(0), max_lead))
    }

    /// Numbers the UIDs without a gap from one worker's last tick to the next worker's first. No
    /// tick lies beyond the limit.
    #[inline]
    fn take(&self) -> u64 {
        let uid = self.0.take().unwrap();
        let (layout, ticks) = (Layout::DEFAULT, Self::LEAD.as_secs() + 1);
        let tick = uid.get() >> (layout.worker_bits() + layout.sequence_bits());
        let worker = uid.get() >> layout.sequence_bits() & layout.max_worker();
        assert!(tick < ticks || worker == 1, "tick {tick}");
        (((worker - 1) * ticks + tick) << layout.sequence_bits())
            + (uid.get() & layout.max_sequence())
            + 1
    }
}

impl Source for Workers {
    fn lost(&self) -> u64 {
        self.0.status().lost
    }

    fn between(&self, first: u64, last: u64) -> (u64, u64) {
        consecutive(first, last)
    }
}

fn lead(criterion: &mut Criterion) {
    for threads in turns::up_to_the_cores(&[1, 2]) {
        let (free, bounded) = (Workers::new(Duration::MAX), Workers::new(Workers::LEAD));
        let without = |count, seen: &mut Seen| (0..count).for_each(|_| seen.note(free.take()));
        let within = |count, seen: &mut Seen| (0..count).for_each(|_| seen.note(bounded.take()));
        let sides = [
            Side { name: "unlimited", source: &free, unused: 0, turn: &without },
            Side { name: "one minute", source: &bounded, unused: 0, turn: &within },
        ];
        compare(criterion, "lead", threads, 1, &sides);
        let status = bounded.0.status();
        let of_one = (Workers::LEAD.as_secs() + 1) << Layout::DEFAULT.sequence_bits();
        assert!(status.taken <= of_one || status.new_workers > 0, "{status}");
    }
}

#[cfg(feature = "sqlite")]
fn leased(criterion: &mut Criterion) {
    use uidring::registry::SqliteRegistry;

    let dir = tempfile::tempdir().unwrap();
    let registry = |name| SqliteRegistry::open(dir.path().join(name)).unwrap();
    for threads in turns::up_to_the_cores(&[1, 2]) {
        let fresh = generator(registry("fresh.db"), Duration::MAX);
        let leased =
            generator(registry("leased.db").leased(Duration::from_secs(600)), Duration::MAX);
        let by_fresh = |count, seen: &mut Seen| {
            (0..count).for_each(|_| seen.note(fresh.take().unwrap().get()));
        };
        let by_leased = |count, seen: &mut Seen| {
            (0..count).for_each(|_| seen.note(leased.take().unwrap().get()));
        };
        let sides = [
            Side { name: "fresh", source: &fresh, unused: 0, turn: &by_fresh },
            Side { name: "leased", source: &leased, unused: 0, turn: &by_leased },
        ];
        compare(criterion, "leased", threads, 1, &sides);
    }
}

#[cfg(not(feature = "sqlite"))]
fn leased(_: &mut Criterion) {}

fn take_local(criterion: &mut Criterion) {
    for threads in turns::up_to_the_cores(&[1, 2]) {
        let uids = generator(FixedWorker::new(1), Duration::MAX);
        let carried = |count, seen: &mut Seen| {
            let mut mine = Box::new(uids.local());
            (0..count * u64::from(BLOCK))
                .for_each(|_| seen.note(black_box(&mut mine).take().unwrap().get()));
        };
        let kept = |count, seen: &mut Seen| {
            (0..count * u64::from(BLOCK))
                .for_each(|_| seen.note(black_box(&uids).take_local().unwrap().get()));
        };
        let unused = LocalTaker::LONGEST_CLAIM.into();
        let sides = [
            Side { name: "local in memory", source: &uids, unused, turn: &carried },
            Side { name: "take_local", source: &uids, unused, turn: &kept },
        ];
        compare(criterion, "take_local", threads, BLOCK.into(), &sides);
    }
}

criterion_group!(
    benches,
    take,
    fill,
    local,
    take_local,
    lead,
    leased,
    segment_take,
    segment_fill,
    segment_local
);
criterion_main!(benches);
