//! What becomes of numbers when takes wait, fail, and are shut down: none is lost.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use uidring::TakeError;
use uidring::segment::{Number, SegmentGenerator, Segments};

use crate::rows::{Row, Rows, row};
use crate::size::size;

const TAKERS: usize = 16;

/// A row that gives ten numbers in each load, which takes 3 ms.
fn scarce() -> Rows {
    let rows = Rows::default().with("a", Row { max_step: Some(10), ..row(10) });
    rows.set_delay(Duration::from_millis(3));
    rows
}

/// How one taker takes, again and again. It notes each number, and fails now and then.
type Take<'a> = Box<dyn FnMut(&dyn Fn(Number)) + 'a>;

/// Takes by 16 takers for a while, whoever fails. No number may be missing then.
fn take_all(name: &str, taker: impl Fn(&SegmentGenerator, usize) -> Take<'_> + Sync) {
    let rows = scarce();
    let max_wait = Duration::from_millis(5);
    let segments = rows.builder().max_wait(max_wait).build().unwrap();
    let tag = segments.tag("a").unwrap();
    let (all, begin) = (Mutex::new(BTreeSet::new()), Instant::now());
    let period = Duration::from_millis(size(2000, 500));
    let note =
        |number: Number| assert!(all.lock().unwrap().insert(number.get()), "{number} came twice");
    thread::scope(|scope| {
        for index in 0..TAKERS {
            let (taker, tag, note) = (&taker, &tag, &note);
            scope.spawn(move || {
                let mut take = taker(tag, index);
                while begin.elapsed() < period {
                    take(note);
                }
            });
        }
    });
    let status = tag.status();
    println!("{name}: {status}");
    let all = all.into_inner().unwrap();
    assert_eq!(status.lost, 0, "{name}: of {} numbers", all.len());
    assert_eq!(status.taken, all.len() as u64, "{name}");
    assert_eq!(all.last(), Some(&status.taken), "{name}: a number is missing");
    assert!(status.waits > 100, "{name}: {status}");
    segments.shutdown().unwrap();
    assert_eq!(rows.next("a"), status.taken + 1, "{name}");
}

#[test]
fn takes_that_fail_use_nothing_up() {
    take_all("take", |tag, _| {
        Box::new(|note| {
            let _ = tag.take().map(note);
        })
    });
}

#[test]
fn batches_that_fail_use_nothing_up() {
    take_all("fill", |tag, index| {
        let mut buffer = vec![Number::MIN; index * 3 + 1];
        Box::new(move |note| {
            let filled = tag.fill(&mut buffer);
            let filled = filled.map_or_else(|error| error.filled(), |()| buffer.len());
            buffer[..filled].iter().for_each(|&number| note(number));
        })
    });
}

#[test]
fn local_takes_that_fail_use_nothing_up() {
    take_all("local", |tag, _| {
        // What is left of a longer claim at the end is lost once others have taken.
        let mut local = tag.local().with_claim_length(1);
        Box::new(move |note| {
            let _ = local.take().map(note);
        })
    });
}

#[test]
fn a_local_taker_that_fails_in_the_middle_of_its_claims_uses_nothing_up() {
    let rows = scarce();
    let max_wait = Duration::from_millis(2);
    let segments = rows.builder().max_wait(max_wait).build().unwrap();
    let tag = segments.tag("a").unwrap();
    let (mut taken, mut failed) = (0, 0);
    for _ in 0..20 {
        let mut local = tag.local();
        for _ in 0..53 {
            match local.take() {
                Ok(number) => {
                    taken += 1;
                    assert_eq!(number.get(), taken);
                }
                Err(_) => failed += 1,
            }
        }
    }
    assert!(failed > 10, "{failed} takes failed");
    assert_eq!((tag.status().taken, tag.status().lost), (taken, 0));
    segments.shutdown().unwrap();
    assert_eq!(rows.next("a"), taken + 1);
}

#[cfg(feature = "async")]
#[test]
fn tasks_that_fail_use_nothing_up() {
    take_all("tasks", |tag, index| {
        Box::new(move |note| {
            let is_task = index % 2 == 0;
            let taken = if is_task { pollster::block_on(tag.take_async()) } else { tag.take() };
            let _ = taken.map(note);
        })
    });
}

/// Takes until the end, and returns how many numbers it got.
fn take_until_the_end(tag: &SegmentGenerator) -> u64 {
    let mut taken = 0;
    loop {
        match tag.take() {
            Ok(_) => taken += 1,
            Err(TakeError::ShutDown) => return taken,
            Err(_) => {}
        }
    }
}

#[test]
fn shutdowns_with_waiting_takers_lose_nothing() {
    let rows = Rows::default().with("a", Row { max_step: Some(10), ..row(10) });
    rows.set_delay(Duration::from_micros(200));
    let mut lost = Vec::new();
    let rounds = size(1000_u64, 300);
    for round in 0..rounds {
        let first = rows.next("a");
        let segments = rows.segments();
        let tag = segments.tag("a").unwrap();
        let taken: u64 = thread::scope(|scope| {
            let takers: Vec<_> = (0..8).map(|_| scope.spawn(|| take_until_the_end(&tag))).collect();
            thread::sleep(Duration::from_micros(200 * (round % 10)));
            Segments::shutdown(segments.clone()).unwrap();
            takers.into_iter().map(|taker| taker.join().unwrap()).sum()
        });
        let missing = rows.next("a") - first - taken;
        if missing > 0 {
            lost.push(missing);
        }
    }
    // A taker loses its number where a busy machine suspends it for long in the middle of a take.
    let few = usize::try_from(rounds / 100).unwrap();
    assert!(lost.len() <= few, "{} ends lost numbers: {lost:?}", lost.len());
}
