//! Snowflakes of 41 | 10 | 12 bits at their limit of 4,096 ids a millisecond.
//!
//! ```text
//! cargo bench -p uidring-against --bench saturated
//! ```
//!
//! Takers of one generator take as fast as they can, in turns with those of the others. Of each
//! millisecond between the first and the last, the ids are counted. The processor time is that of
//! the whole process. A last line tells how long a take lasts that need not wait.

#![allow(clippy::unwrap_used, clippy::cast_precision_loss)]

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::time::{Duration, Instant, SystemTime};
use std::{env, fs, thread};

use ferroid::generator::AtomicSnowflakeGenerator;
use ferroid::id::SnowflakeTwitterId;
use ferroid::time::MonotonicClock;
use uidring::registry::FixedWorker;
use uidring::{Layout, Uid, UidGenerator};

/// 2026-01-01T00:00:00Z in milliseconds since 1970.
const EPOCH_MS: u64 = 1_767_225_600_000;
const FULL: usize = 4096;

struct Snowflake {
    name: &'static str,
    take: Box<dyn Fn() -> u64 + Sync>,
}

/// What one turn of a generator showed.
struct Turn {
    per_second: f64,
    /// The ids of each millisecond, sorted by their number.
    counts: Vec<usize>,
    cpu_ns: f64,
}

fn exact(layout: Layout) -> UidGenerator {
    let epoch = SystemTime::UNIX_EPOCH + Duration::from_millis(EPOCH_MS);
    let layout = layout.with_tick(Duration::from_millis(1)).unwrap().with_epoch(epoch).unwrap();
    let builder = UidGenerator::builder().registry(FixedWorker::new(1)).layout(layout);
    builder.exact_time().build().unwrap()
}

fn snowflakes() -> Vec<Snowflake> {
    let uids = exact(Layout::new(41, 10, 12).unwrap());
    let clock: MonotonicClock = MonotonicClock::with_epoch(Duration::from_millis(EPOCH_MS));
    let ferroid = AtomicSnowflakeGenerator::<SnowflakeTwitterId, _>::new(1, clock);
    let config = snowid::SnowIDConfig::builder().node_bits(10).unwrap().epoch(EPOCH_MS).build();
    let snowid = snowid::SnowID::with_config(1, config).unwrap();
    vec![
        Snowflake {
            name: "uidring, exact time",
            take: Box::new(move || uids.take().unwrap().get()),
        },
        Snowflake {
            name: "ferroid, atomic",
            take: Box::new(move || ferroid.next_id(|_| std::hint::spin_loop()).to_raw()),
        },
        Snowflake { name: "snowid", take: Box::new(move || snowid.generate()) },
    ]
}

/// The processor time of the process, all its threads together, to 10 ms.
fn cpu_time() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: u64 = fields[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum();
    Duration::from_millis(ticks * 10)
}

fn turn(snowflake: &Snowflake, threads: usize, length: Duration) -> Turn {
    let start = Barrier::new(threads);
    let cpu = cpu_time();
    let since = Instant::now();
    let body = || {
        let mut counts = BTreeMap::<u64, usize>::new();
        let mut current = (0, 0);
        start.wait();
        let begin = Instant::now();
        // Looking at the clock seldom, so that it costs the generators alike and little.
        while begin.elapsed() < length {
            for _ in 0..256 {
                let tick = (snowflake.take)() >> 22;
                if tick != current.0 {
                    *counts.entry(current.0).or_default() += current.1;
                    current = (tick, 0);
                }
                current.1 += 1;
            }
        }
        *counts.entry(current.0).or_default() += current.1;
        counts
    };
    let mut all = BTreeMap::<u64, usize>::new();
    thread::scope(|scope| {
        let takers: Vec<_> = (0..threads).map(|_| scope.spawn(body)).collect();
        for (tick, count) in takers.into_iter().flat_map(|taker| taker.join().unwrap()) {
            *all.entry(tick).or_default() += count;
        }
    });
    all.remove(&0);
    let taken: usize = all.values().sum();
    let elapsed = since.elapsed().as_secs_f64();
    let cpu_ns = cpu_time().saturating_sub(cpu).as_nanos() as f64 / taken as f64;
    // The first and the last millisecond are not whole.
    let mut counts: Vec<usize> = all.into_values().collect();
    counts.pop();
    counts.drain(..1.min(counts.len()));
    counts.sort_unstable();
    Turn { per_second: taken as f64 / elapsed, counts, cpu_ns }
}

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

fn main() {
    let is_bench = env::args().any(|arg| arg == "--bench");
    let (turns, length) =
        if is_bench { (5, Duration::from_secs(1)) } else { (1, Duration::from_millis(20)) };
    let all = snowflakes();
    println!("| 4,096 ids a ms | takers | ids a ms | ms with 4,090 or more | CPU, ns an id |");
    println!("|---|---|---|---|---|");
    for threads in [1, 4, 64] {
        let mut results: Vec<Vec<Turn>> = all.iter().map(|_| Vec::new()).collect();
        for _ in 0..turns {
            for (snowflake, results) in all.iter().zip(&mut results) {
                results.push(turn(snowflake, threads, length));
            }
        }
        for (snowflake, results) in all.iter().zip(&results) {
            let of = |figure: &dyn Fn(&Turn) -> f64| median(results.iter().map(figure).collect());
            let full = |turn: &Turn| {
                let full = turn.counts.iter().filter(|&&count| count >= FULL - 6).count();
                full as f64 / turn.counts.len().max(1) as f64
            };
            println!(
                "| {} | {threads} | {:.0} | {:.1} % | {:.0} |",
                snowflake.name,
                of(&|turn| turn.per_second) / 1000.0,
                100.0 * of(&full),
                of(&|turn| turn.cpu_ns)
            );
        }
    }
    println!("\n{}", unhindered(if is_bench { 3_000_000 } else { 1000 }));
}

/// How long single takes last on a layout that does not hold them back.
fn unhindered(takes: usize) -> String {
    let uids = exact(Layout::new(38, 3, 22).unwrap());
    let mut last = Uid::MIN;
    let mut times: Vec<u64> = (0..takes)
        .map(|_| {
            let begin = Instant::now();
            let uid = uids.take().unwrap();
            let time = begin.elapsed();
            assert!(uid > last);
            last = uid;
            u64::try_from(time.as_nanos()).unwrap()
        })
        .collect();
    times.sort_unstable();
    let at = |thousandths: usize| times[times.len() * thousandths / 1000 - 1];
    format!(
        "A take in exact time that need not wait, with reading a clock twice: median {} ns, \
         99.9 % within {} ns",
        at(500),
        at(999)
    )
}
