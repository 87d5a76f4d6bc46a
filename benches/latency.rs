//! How long one call takes: a histogram of the times of single calls, beside a bare `fetch_add`.
//!
//! * `take`, ring full: a block lasts longer than the run, so the ring never refills.
//! * `take`, refilling: blocks of 8,192 UIDs, as in the default layout. The ring refills all the
//!   time; one call in at most 32 blocks advances the front, and publishes as many blocks or wakes
//!   the filler.
//! * `take`, blocks of 16,384, and of 256: the same with other blocks. No layout has blocks of 256
//!   under such a load. But only there such calls are among the slowest in 10,000, and show what
//!   they cost.
//! * `fill`: 64 UIDs at once, blocks of 8,192.
//!
//! The processor's time stamp counter is read before and after each call. The row `nothing` shows
//! what that costs by itself. This cost is part of every other number and has not been subtracted.
//! The counter is read without a fence, so that a call may overlap with its neighbours as it does
//! in a program. Rows take turns in slices of 100,000 calls, in an order that changes, so that what
//! disturbs the machine disturbs them alike. An interruption of a call, for example by the
//! scheduler, is part of its time.
//!
//! ```text
//! cargo bench -p uidring-benches --bench latency
//! cargo bench -p uidring-benches --bench latency -- --threads 1,2 --rounds 40
//! ```

#![allow(clippy::unwrap_used)] // a panic says where the benchmark failed

mod turns;

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crossbeam_utils::CachePadded;
use hdrhistogram::Histogram;
use quanta::Clock;
use turns::Turns;
use uidring::registry::FixedWorker;
use uidring::{Layout, Uid, UidGenerator};

/// Calls in a slice: a dozen blocks for each thread.
const SLICE: u64 = 100_000;
/// Calls before a slice.
const WARM_UP: u64 = 500;
/// Ids in a buffer.
const BATCH: usize = 64;

/// Something to call. It returns a number that must be larger than the one before it on the same
/// thread.
type Call<'a> = Box<dyn FnMut(&mut Timed) + 'a>;

/// The calls of one slice.
struct Timed<'a> {
    clock: &'a Clock,
    ticks: &'a mut Histogram<u64>,
}

impl Timed<'_> {
    /// Calls so many times, after a few calls that do not count: these meet caches and predictors
    /// that another row has used, which is an effect of the benchmark itself.
    #[inline]
    fn slice(&mut self, mut call: impl FnMut() -> u64) {
        let mut last = 0;
        for _ in 0..WARM_UP {
            last = black_box(call());
        }
        for _ in 0..SLICE {
            let before = self.clock.raw();
            let number = black_box(call());
            let after = self.clock.raw();
            assert!(number > last, "{number} came after {last}");
            last = number;
            self.ticks.saturating_record(after.saturating_sub(before));
        }
    }
}

/// A generator whose blocks have `2^sequence_bits` UIDs, and which never comes to the end of what
/// it may borrow.
fn generator(sequence_bits: u32) -> UidGenerator {
    let layout = Layout::new(61 - sequence_bits, 2, sequence_bits).unwrap();
    let builder = UidGenerator::builder().layout(layout).registry(FixedWorker::new(1));
    builder.max_lead(Duration::from_secs(1 << 40)).build().unwrap()
}

struct Sources {
    counter: CachePadded<AtomicU64>,
    full: UidGenerator,
    refilling: UidGenerator,
    large: UidGenerator,
    small: UidGenerator,
    batches: UidGenerator,
}

const ROWS: [&str; 7] = [
    "nothing",
    "bare fetch_add",
    "take, ring full",
    "take, refilling",
    "take, blocks of 16,384",
    "take, blocks of 256",
    "fill, 64 at once",
];

impl Sources {
    /// What a thread calls, in the order of `ROWS`.
    fn calls(&self) -> [Call<'_>; ROWS.len()] {
        let Sources { counter, full, refilling, large, small, batches } = self;
        let mut own = 0;
        let mut buffer = [Uid::MIN; BATCH];
        [
            Box::new(move |timed| {
                timed.slice(|| {
                    own += 1;
                    own
                });
            }),
            Box::new(move |timed| timed.slice(|| counter.fetch_add(1, Ordering::Relaxed))),
            Box::new(move |timed| timed.slice(|| full.take().unwrap().get())),
            Box::new(move |timed| timed.slice(|| refilling.take().unwrap().get())),
            Box::new(move |timed| timed.slice(|| large.take().unwrap().get())),
            Box::new(move |timed| timed.slice(|| small.take().unwrap().get())),
            Box::new(move |timed| {
                timed.slice(|| {
                    batches.fill(&mut buffer).unwrap();
                    buffer[BATCH - 1].get()
                });
            }),
        ]
    }
}

/// The histograms of all threads together, in ticks of the counter.
fn measure(threads: usize, rounds: usize, clock: &Clock) -> Vec<Histogram<u64>> {
    let sources = Sources {
        counter: CachePadded::new(AtomicU64::new(1)),
        full: generator(30),
        refilling: generator(13),
        large: generator(14),
        small: generator(8),
        batches: generator(13),
    };
    let start = Barrier::new(threads);
    let body = |thread: usize| {
        turns::pin(thread);
        let mut calls = sources.calls();
        let mut histograms = histograms();
        // The first rounds warm up.
        for round in 0..rounds + rounds / 10 {
            for place in 0..ROWS.len() {
                // The order is a circle that begins elsewhere in each round, and is reversed in
                // every other round.
                let place = if round % 2 == 0 { place } else { ROWS.len() - 1 - place };
                let row = (round / 2 + place) % ROWS.len();
                start.wait();
                let mut warm_up = Histogram::new(3).unwrap();
                let ticks = if round < rounds / 10 { &mut warm_up } else { &mut histograms[row] };
                calls[row](&mut Timed { clock, ticks });
            }
        }
        histograms
    };
    thread::scope(|scope| {
        let body = &body;
        let running: Vec<_> =
            (0..threads).map(|thread| scope.spawn(move || body(thread))).collect();
        let mut all = histograms();
        for thread in running {
            for (sum, one) in all.iter_mut().zip(thread.join().unwrap()) {
                sum.add(one).unwrap();
            }
        }
        all
    })
}

/// Three digits, up to a second of ticks.
fn histograms() -> Vec<Histogram<u64>> {
    ROWS.iter().map(|_| Histogram::new_with_bounds(1, 10_000_000_000, 3).unwrap()).collect()
}

fn main() {
    let Turns { threads, rounds } = Turns::from_env(20);
    let clock = Clock::new();
    for threads in threads {
        let histograms = measure(threads, rounds, &clock);
        println!(
            "Threads: {threads}. Nanoseconds a call, {} calls each, the clock's own time \
             included:\n",
            histograms[0].len()
        );
        println!("| | p50 | p99 | p99.9 | p99.99 | longest | p99.99 / fetch_add's |");
        println!("|---|---:|---:|---:|---:|---:|---:|");
        let ns = |ticks| clock.delta_as_nanos(0, ticks);
        let p9999 = |histogram: &Histogram<u64>| ns(histogram.value_at_quantile(0.9999));
        for (name, histogram) in ROWS.iter().zip(&histograms) {
            let at = |quantile| ns(histogram.value_at_quantile(quantile));
            #[allow(clippy::cast_precision_loss)] // two digits are shown
            let ratio = p9999(histogram) as f64 / p9999(&histograms[1]) as f64;
            let (p50, p99, p999, max) = (at(0.5), at(0.99), at(0.999), ns(histogram.max()));
            println!(
                "| {name} | {p50} | {p99} | {p999} | {} | {max} | {ratio:.2} |",
                p9999(histogram)
            );
        }
        println!();
    }
}
