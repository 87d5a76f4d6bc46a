//! Numbers of a tag that a program claims to hand them out itself.

use std::sync::atomic::Ordering;
use std::time::Duration;

use uidring::TakeError;
use uidring::segment::{Number, SegmentGenerator};

use crate::rows::{Row, Rows, row};

/// All numbers of a claim.
fn claim(tag: &SegmentGenerator, count: u32) -> Vec<u64> {
    let claimed = tag.try_claim(count).unwrap();
    assert!((1..=u64::from(count.max(1))).contains(&claimed.length), "{claimed:?} for {count}");
    assert_eq!(claimed.end, tag.claims_end().load(Ordering::Relaxed));
    (0..claimed.length).map(|index| claimed.first.get() + index * claimed.step).collect()
}

#[test]
fn claims_and_takes_give_the_numbers_in_order_and_as_far_apart_as_the_row_says() {
    let rows = Rows::default().with("odd", Row { next: 3, delta: 2, ..row(50) });
    let segments = rows.builder().max_wait(Duration::from_secs(60)).build().unwrap();
    let tag = segments.tag("odd").unwrap();
    let mut all = Vec::new();
    for count in 0..100 {
        // A claim does not wait for a load, and a take does.
        all.push(tag.take().unwrap().get());
        all.extend(claim(&tag, count));
        let mut buffer = [Number::MIN; 3];
        tag.fill(&mut buffer).unwrap();
        all.extend(buffer.map(Number::get));
    }
    assert_eq!(all, (3..).step_by(2).take(all.len()).collect::<Vec<_>>());
}

#[test]
fn what_is_left_of_a_claim_comes_again_unless_others_have_gone_on() {
    let rows = Rows::default().with("orders", row(1000));
    let tag = rows.segments().tag("orders").unwrap();
    assert_eq!(tag.take().unwrap().get(), 1);
    let claimed = tag.try_claim(100).unwrap();
    assert_eq!((claimed.first.get(), claimed.length), (2, 100));
    tag.give_back(claimed, 10);
    assert_eq!(tag.take().unwrap().get(), 12);
    let claimed = tag.try_claim(100).unwrap();
    assert_eq!(tag.take().unwrap().get(), 113);
    tag.give_back(claimed, 1);
    assert_eq!(tag.take().unwrap().get(), 114);
    assert_eq!(tag.status().lost, 99);
    let all: [fn(u64) -> u64; 4] = [|_| 0, |length| length, |length| length + 1, |_| u64::MAX];
    for used in all {
        let claimed = tag.try_claim(100).unwrap();
        let used = used(claimed.length);
        let next = claimed.first.get() + claimed.length;
        tag.give_back(claimed, used);
        assert_eq!(tag.take().unwrap().get(), next, "nothing is left of a claim after {used}");
    }
}

#[test]
fn claims_end_with_their_segments() {
    let rows = Rows::default().with("orders", row(1000));
    let segments = rows.segments();
    let tag = segments.tag("orders").unwrap();
    tag.take().unwrap();
    let claimed = tag.try_claim(100).unwrap();
    segments.shutdown().unwrap();
    assert!(claimed.end - claimed.length >= tag.claims_end().load(Ordering::Relaxed));
    tag.give_back(claimed, 10);
    assert_eq!(tag.try_claim(1).unwrap_err(), TakeError::ShutDown);
}
