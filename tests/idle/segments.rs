//! What threads and tasks cost that wait for a source which is away or slow. Each test is in a
//! process of its own, since the processor's time is that of the whole process.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use uidring::segment::{Number, SegmentGenerator, Segments};

use crate::alone::alone;
use crate::rows::{Row, Rows, row, unreachable};
use crate::size::size;

const TAKERS: usize = 16;
const TAGS: usize = 4;
const SHORTEST_WAIT: Duration = Duration::from_millis(10);

/// The processor's time of this process, with that of the threads that have ended.
fn cpu() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    // Linux counts it in hundredths of a second.
    let hundredths = |field: usize| fields[field].parse::<u64>().unwrap();
    Duration::from_millis((hundredths(11) + hundredths(12)) * 10)
}

/// How takers take, over and over, until the flag is set. Each take fails.
type Take = fn(&Segments, &SegmentGenerator, &AtomicBool, &AtomicU64);

fn take(_: &Segments, tag: &SegmentGenerator, stop: &AtomicBool, takes: &AtomicU64) {
    while !stop.load(Ordering::Relaxed) {
        tag.take().unwrap_err();
        takes.fetch_add(1, Ordering::Relaxed);
    }
}

fn fill(_: &Segments, tag: &SegmentGenerator, stop: &AtomicBool, takes: &AtomicU64) {
    let mut buffer = [Number::MIN; 100];
    while !stop.load(Ordering::Relaxed) {
        tag.fill(&mut buffer).unwrap_err();
        takes.fetch_add(1, Ordering::Relaxed);
    }
}

fn local(_: &Segments, tag: &SegmentGenerator, stop: &AtomicBool, takes: &AtomicU64) {
    let mut local = tag.local();
    while !stop.load(Ordering::Relaxed) {
        local.take().unwrap_err();
        takes.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(feature = "async")]
fn task(_: &Segments, tag: &SegmentGenerator, stop: &AtomicBool, takes: &AtomicU64) {
    while !stop.load(Ordering::Relaxed) {
        pollster::block_on(tag.take_async()).unwrap_err();
        takes.fetch_add(1, Ordering::Relaxed);
    }
}

fn new_tag(segments: &Segments, _: &SegmentGenerator, stop: &AtomicBool, takes: &AtomicU64) {
    while !stop.load(Ordering::Relaxed) {
        segments.tag("new").unwrap_err();
        takes.fetch_add(1, Ordering::Relaxed);
    }
}

/// What it is called, how takers take and how long they wait, how many tags there are, and how long
/// their source takes.
type Run = (&'static str, Take, Duration, usize, Duration);

/// The processor's time of 16 takers of so many tags in `period` without a number.
fn time_of((name, take, max_wait, tags, delay): Run, period: Duration) -> Duration {
    let mut rows = Rows::default().with("new", row(10));
    for tag in 0..tags {
        rows = rows.with(&tag.to_string(), Row { max_step: Some(10), ..row(10) });
    }
    let segments = rows.builder().max_wait(max_wait).build().unwrap();
    let tags: Vec<_> = (0..tags).map(|tag| segments.tag(&tag.to_string()).unwrap()).collect();
    rows.set_delay(delay);
    rows.fail(Some(unreachable));
    for tag in &tags {
        while tag.try_take().is_ok() {}
    }
    // A take that failed has always been the first of many.
    let (stop, takes) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        for taker in 0..TAKERS {
            let (segments, tag, stop, takes) =
                (&segments, &tags[taker % tags.len()], &stop, &takes);
            scope.spawn(move || take(segments, tag, stop, takes));
        }
        let time = measured(&stop, period);
        println!("{name}: {time:?} for {} takes", takes.load(Ordering::Relaxed));
        let _ = segments.clone().shutdown();
        time
    })
}

/// The processor's time of threads that go on until the flag is set.
fn measured(stop: &AtomicBool, period: Duration) -> Duration {
    // Until then they start, and see their first failures.
    thread::sleep(Duration::from_millis(size(500, 250)));
    let before = cpu();
    thread::sleep(period);
    let time = cpu().saturating_sub(before);
    stop.store(true, Ordering::Relaxed);
    time
}

/// The same of as many threads that do nothing but sleep.
fn time_of_sleepers(period: Duration) -> Duration {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..TAKERS {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    thread::park_timeout(SHORTEST_WAIT);
                }
            });
        }
        measured(&stop, period)
    })
}

/// Longer than a run, whose end waits for it.
fn slow() -> Duration {
    Duration::from_millis(size(5000, 1000))
}

/// Fails if takers use more of the processor's time than threads do that sleep.
fn is_parked(run: Run) {
    // Takers that do not sleep use most of the period.
    let (period, usual) = size((4000, 200), (500, 50));
    let (period, usual) = (Duration::from_millis(period), Duration::from_millis(usual));
    let time = time_of(run, period);
    // The kernel needs some 10 us to wake a thread, and more beside other programs.
    let limit = if time <= usual { usual } else { 5 * time_of_sleepers(period) };
    assert!(time <= limit, "{time:?} of the processor's time in {period:?}, above {limit:?}");
}

/// A test for each run, in a process of its own, so that they may be beside one another.
macro_rules! parked {
    ($($(#[$only:meta])? $name:ident: $take:expr, $max_wait:expr, $tags:expr, $delay:expr;)*) => {$(
        $(#[$only])?
        #[test]
        fn $name() {
            alone(concat!("segments::", stringify!($name)), || {
                is_parked((stringify!($name), $take, $max_wait, $tags, $delay));
            });
        }
    )*};
}

parked! {
    short_waits_are_parked: take, SHORTEST_WAIT, 1, Duration::ZERO;
    longer_waits_are_parked: take, 10 * SHORTEST_WAIT, 1, Duration::ZERO;
    a_wait_of_a_minute_is_parked: take, Duration::from_secs(60), 1, Duration::ZERO;
    waits_for_a_slow_source_are_parked: take, SHORTEST_WAIT, 1, slow();
    waits_for_several_tags_are_parked: take, SHORTEST_WAIT, TAGS, Duration::ZERO;
    fills_are_parked: fill, SHORTEST_WAIT, 1, Duration::ZERO;
    local_takes_are_parked: local, SHORTEST_WAIT, 1, Duration::ZERO;
    #[cfg(feature = "async")] tasks_are_parked: task, SHORTEST_WAIT, 1, Duration::ZERO;
    waits_for_a_new_tag_are_parked: new_tag, SHORTEST_WAIT, 1, Duration::ZERO;
    waits_for_a_new_tag_of_a_slow_source_are_parked: new_tag, SHORTEST_WAIT, 1, slow();
}
