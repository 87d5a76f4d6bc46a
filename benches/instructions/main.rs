//! The program whose instructions `benches/instructions/check` counts. Each subject does its work
//! so many times, and nothing else that depends on that number.

#![allow(clippy::unwrap_used)] // a panic says where the benchmark failed

use std::env;
use std::hint::black_box;
use std::time::Duration;

use uidring::clock::ManualClock;
use uidring::registry::FixedWorker;
use uidring::{Layout, LeadLimit, Uid, UidGenerator};

/// UIDs from the beginning of a cache line on: where they begin decides how many are written one by
/// one, and the stack begins elsewhere in each environment.
#[repr(align(64))]
struct Buffer([Uid; 1024]);

/// One that has no UID to give for now, and says so.
fn exhausted() -> UidGenerator {
    let clock = ManualClock::new(Layout::DEFAULT.epoch() + Duration::from_secs(1_000_000));
    let builder = UidGenerator::builder().registry(FixedWorker::new(1)).clock(clock);
    let uids = builder.max_lead(Duration::ZERO).on_lead_limit(LeadLimit::Fail).build().unwrap();
    while uids.take().is_ok() {}
    uids
}

fn generator() -> UidGenerator {
    let builder = UidGenerator::builder().registry(FixedWorker::new(1));
    builder.max_lead(Duration::from_secs(1 << 40)).build().unwrap()
}

/// Not a part of `main`, whose other loops its aligned buffer would change.
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
    if subject == "start" {
        (0..times).for_each(|_| drop(black_box(generator())));
        return;
    }
    if subject == "fail" {
        let uids = exhausted();
        return (0..times).for_each(|_| {
            black_box(uids.take().unwrap_err());
        });
    }
    let uids = generator();
    let mut local = uids.local();
    match &*subject {
        "take" => (0..times).for_each(|_| {
            black_box(uids.take().unwrap());
        }),
        "try_take" => (0..times).for_each(|_| {
            black_box(uids.try_take().unwrap());
        }),
        "local" => (0..times).for_each(|_| {
            black_box(local.take().unwrap());
        }),
        "take_local" => (0..times).for_each(|_| {
            black_box(uids.take_local().unwrap());
        }),
        "fill" => fill(&uids, times),
        // When all benchmarks run, there is no subject, and nothing to count.
        _ => {}
    }
}
