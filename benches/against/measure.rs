//! Rounds of short slices.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::row::{Row, Worker};

/// The length of a slice: long compared with its start, short compared with what disturbs it.
const SLICE: Duration = Duration::from_millis(2);
/// The same if threads share cores: longer than a time slice of the scheduler.
const SHARED_SLICE: Duration = Duration::from_millis(12);
/// The same for a row that waits for its clock: it shows its pace only over several ticks of that
/// clock.
const THROTTLED_SLICE: Duration = Duration::from_millis(100);
const THROTTLED_ROUNDS: usize = 10;
/// How many ids each thread takes for the search for duplicates.
const CHECKED: u64 = 200_000;
const THROTTLED_CHECKED: u64 = 1_000;
/// How many ids of one row are searched at most.
const TRIALS: usize = 64;

/// The result of a row.
pub struct Result {
    /// Millions of ids a second, the median of the rounds.
    pub millions: f64,
    /// Ids a second in each round.
    rates: Vec<f64>,
    pub checked: usize,
    pub duplicates: usize,
}

/// How much faster `a` was than `b`: the median over the rounds that both took part in.
pub fn ratio(a: &Result, b: &Result) -> f64 {
    let (rounds_a, rounds_b) = (a.rates.len(), b.rates.len());
    let rounds = rounds_a.min(rounds_b);
    // A throttled row does not run in every round.
    median(
        (0..rounds)
            .map(|round| a.rates[round * rounds_a / rounds] / b.rates[round * rounds_b / rounds])
            .collect(),
    )
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// What all threads agree on.
struct Stage {
    barrier: Barrier,
    /// The longest slice of a trial, in nanoseconds; a word for each trial of a row.
    longest: Vec<AtomicU64>,
    slices: Mutex<Vec<Slice>>,
    kept: Mutex<Vec<Vec<u128>>>,
}

struct Slice {
    row: usize,
    round: usize,
    begin: Instant,
    end: Instant,
}

/// Runs all rows on so many threads.
pub fn run(rows: &[Row], threads: usize, rounds: usize) -> Vec<Option<Result>> {
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    let stage = Stage {
        barrier: Barrier::new(threads),
        longest: (0..rows.len() * TRIALS).map(|_| AtomicU64::new(0)).collect(),
        slices: Mutex::default(),
        kept: Mutex::new((0..rows.len()).map(|_| Vec::new()).collect()),
    };
    let slice = if threads > cores.len() { SHARED_SLICE } else { SLICE };
    let counts: Vec<Vec<u64>> = thread::scope(|scope| {
        let (stage, cores) = (&stage, &cores);
        let body = move |thread: usize| {
            if let Some(&core) = cores.get(thread % cores.len().max(1)) {
                core_affinity::set_for_current(core);
            }
            on_thread(rows, thread, rounds, slice, stage)
        };
        let running: Vec<_> =
            (0..threads).map(|thread| scope.spawn(move || body(thread))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let kept = stage.kept.into_inner().unwrap();
    let slices = stage.slices.into_inner().unwrap();
    let result = |(row, mut ids): (usize, Vec<u128>)| {
        let count = counts[0][row];
        if count == 0 {
            return None;
        }
        let mut rates = Vec::new();
        for round in 0..rounds {
            let mine = || slices.iter().filter(|slice| slice.row == row && slice.round == round);
            if let Some(begin) = mine().map(|slice| slice.begin).min() {
                let time = mine().map(|slice| slice.end).max().unwrap() - begin;
                #[allow(clippy::cast_precision_loss)] // three digits are shown
                rates.push((count * threads as u64) as f64 / time.as_secs_f64());
            }
        }
        let checked = ids.len();
        ids.sort_unstable();
        ids.dedup();
        let duplicates = checked - ids.len();
        Some(Result { millions: median(rates.clone()) / 1e6, rates, checked, duplicates })
    };
    kept.into_iter().enumerate().map(result).collect()
}

/// Returns how many ids this thread took of each row in a slice; 0 if the row does not run.
fn on_thread(
    rows: &[Row],
    thread: usize,
    rounds: usize,
    slice: Duration,
    stage: &Stage,
) -> Vec<u64> {
    let mut workers: Vec<Option<Box<dyn Worker + '_>>> =
        rows.iter().map(|row| (row.worker)(thread)).collect();
    let length = |row: &Row| if row.throttled.is_some() { THROTTLED_SLICE } else { slice };
    let mut counts = vec![0; rows.len()];
    for (index, worker) in workers.iter_mut().enumerate() {
        if let Some(worker) = worker {
            counts[index] = trial(worker.as_mut(), length(&rows[index]), index, stage);
        }
    }
    let mut slices = Vec::new();
    for round in 0..rounds {
        for index in order(rows.len(), round) {
            let worker = &mut workers[index];
            let every =
                if rows[index].throttled.is_some() { rounds.div_ceil(THROTTLED_ROUNDS) } else { 1 };
            if let Some(worker) = worker.as_mut().filter(|_| round % every == 0) {
                stage.barrier.wait();
                let begin = Instant::now();
                worker.take(counts[index]);
                slices.push(Slice { row: index, round, begin, end: Instant::now() });
            }
        }
    }
    stage.slices.lock().unwrap().append(&mut slices);
    for (index, worker) in workers.iter_mut().enumerate() {
        if let Some(worker) = worker {
            let count = if rows[index].throttled.is_some() { THROTTLED_CHECKED } else { CHECKED };
            let mut ids = Vec::new();
            stage.barrier.wait();
            worker.keep(count, &mut ids);
            stage.kept.lock().unwrap()[index].append(&mut ids);
        }
    }
    counts
}

/// Returns a different order for each round, so that no row always follows the same one. All
/// threads get the same order.
fn order(rows: usize, round: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    // splitmix64 by Sebastiano Vigna, and the shuffle by Fisher and Yates.
    let mut state = round as u64;
    for last in (1..rows).rev() {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        #[allow(clippy::cast_possible_truncation)] // less than `rows`
        order.swap(last, (mixed >> 31) as usize % (last + 1));
    }
    order
}

/// How many ids fill a slice. The number is found by doubling, and is the same on all threads.
fn trial(worker: &mut dyn Worker, slice: Duration, row: usize, stage: &Stage) -> u64 {
    let mut count = 1024;
    // Each count is tried twice, because something else may have delayed one of the trials.
    for trials in stage.longest[row * TRIALS..][..TRIALS].chunks_exact(2) {
        let is_long =
            |longest: &AtomicU64| Duration::from_nanos(longest.load(Ordering::Relaxed)) >= slice;
        for longest in trials {
            stage.barrier.wait();
            let begin = Instant::now();
            worker.take(count);
            longest
                .fetch_max(u64::try_from(begin.elapsed().as_nanos()).unwrap(), Ordering::Relaxed);
            stage.barrier.wait();
        }
        if trials.iter().all(is_long) {
            break;
        }
        count *= 2;
    }
    count
}

/// Formats a number with three digits.
pub fn figure(number: f64) -> String {
    match number {
        ..9.95 => format!("{number:.2}"),
        ..99.5 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}
