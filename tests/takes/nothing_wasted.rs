//! Consecutive ticks are consumed whole, whichever way UIDs are taken.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, SystemTime};

use uidring::registry::FixedWorker;
use uidring::{Layout, LeadLimit, Uid, UidGenerator};

const THREADS: u64 = 4;
const PER_THREAD: u64 = 4_000_000;
const A_SECOND: u64 = 8192;

/// Lets some threads take, each until its UIDs are `PER_THREAD`; returns the seconds used up over
/// those needed.
#[allow(clippy::cast_precision_loss)]
fn burned(take: impl Fn(&UidGenerator) -> Uid + Sync) -> f64 {
    let builder = UidGenerator::builder()
        .registry(FixedWorker::new(1))
        .max_lead(Duration::from_secs(1_000_000_000));
    let uids = builder.build().unwrap();
    let first = uids.layout().parts(uids.take().unwrap()).time;
    let last = thread::scope(|scope| {
        let takers: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| take(&uids))).collect();
        takers.into_iter().map(|taker| taker.join().unwrap()).max().unwrap()
    });
    let used = uids.layout().parts(last).time.duration_since(first).unwrap().as_secs() + 1;
    let needed = THREADS * PER_THREAD / A_SECOND;
    assert!(used >= needed);
    used as f64 / needed as f64
}

#[test]
fn by_take() {
    let burned = burned(|uids| (0..PER_THREAD).fold(Uid::MIN, |_, _| uids.take().unwrap()));
    assert!(burned <= 1.01, "{burned}");
}

#[test]
fn by_fill_of_any_length() {
    for length in [100, 5000, 8192, 16_384, 100_000] {
        let burned = burned(|uids| {
            let mut buffer = vec![Uid::MIN; length];
            for _ in 0..PER_THREAD.div_ceil(length as u64) {
                uids.fill(&mut buffer).unwrap();
            }
            buffer[length - 1]
        });
        assert!(burned <= 1.02, "buffers of {length}: {burned}");
    }
}

#[test]
fn by_local_takers() {
    let burned = burned(|uids| {
        let mut mine = uids.local();
        (0..PER_THREAD).fold(Uid::MIN, |_, _| mine.take().unwrap())
    });
    assert!(burned <= 1.01, "{burned}");
}

/// How many UIDs each tick of the clock gives, to takers that want more than there are.
#[test]
fn by_takers_that_wait_for_each_tick() {
    const A_TICK: u32 = 256;
    for tick in [1, 2, 5, 10].map(Duration::from_millis) {
        for takers in [1, 4, 64] {
            let layout = Layout::new(41, 10, A_TICK.ilog2()).unwrap().with_tick(tick).unwrap();
            let builder = UidGenerator::builder().registry(FixedWorker::new(1)).layout(layout);
            let builder = builder.max_lead(Duration::ZERO).on_lead_limit(LeadLimit::Wait);
            let uids = builder.build().unwrap();
            let end = SystemTime::now() + 100 * tick;
            let taken: Vec<Vec<Uid>> = thread::scope(|scope| {
                let take = || {
                    let until = |uid: &Uid| layout.parts(*uid).time < end;
                    std::iter::repeat_with(|| uids.take().unwrap()).take_while(until).collect()
                };
                let takers: Vec<_> = (0..takers).map(|_| scope.spawn(take)).collect();
                takers.into_iter().map(|taker| taker.join().unwrap()).collect()
            });
            let mut ticks = BTreeMap::new();
            for uid in taken.into_iter().flatten() {
                *ticks.entry(layout.parts(uid).time).or_insert(0) += 1;
            }
            // The first has been begun before.
            let (first, last) = (*ticks.keys().nth(1).unwrap(), *ticks.keys().last().unwrap());
            let all = last.duration_since(first).unwrap().div_duration_f64(tick).round() + 1.0;
            let used: u32 = ticks.range(first..).map(|(_, count)| *count).sum();
            let share = f64::from(used) / (all * f64::from(A_TICK));
            assert!(
                share >= 0.99,
                "{takers} takers, {tick:?}: {share:.3} of the UIDs of {all} ticks"
            );
        }
    }
}
