//! Dense numbers: takers go from segment to segment while the loader appends them.

use uidring::segment::{Number, SegmentGenerator};
use uidring::{SegmentFailure, TakeError};

use super::*;
use crate::rows::{Row, Rows, row, unreachable};

const PATIENCE: Duration = Duration::from_secs(3600);

#[test]
fn numbers_have_no_gap_and_what_is_left_goes_back() {
    let rows = Rows::default().with("a", Row { max_step: Some(2), ..row(2) });
    let segments = rows.builder().max_wait(PATIENCE).build().unwrap();
    let tag = segments.tag("a").unwrap();
    let newest = Newest::default();
    let take = || many(4, || newest.before(|| tag.take(), |number| number.unwrap().get()));
    let all = checked(&on_threads([Box::new(take) as Body<_>, Box::new(take)]));
    let last = all.last().unwrap().get();
    assert_eq!(last, all.len() as u64 + tag.status().lost);
    segments.shutdown().unwrap();
    assert_eq!(tag.take(), Err(TakeError::ShutDown));
    assert!(rows.next("a") > last, "{last} comes again");
}

/// All ways to take, from two sets of segments of one source, as two processes have them.
#[test]
fn ways_to_take_share_a_tag() {
    let rows = Rows::default().with("a", Row { max_step: Some(2), ..row(2) });
    let processes = [(); 2].map(|()| rows.builder().max_wait(PATIENCE).build().unwrap());
    let [one, two] = [&processes[0], &processes[1]].map(|process| process.tag("a").unwrap());
    let locally = |tag: &SegmentGenerator| {
        let mut local = tag.local().with_claim_length(3);
        many(3, || local.take())
    };
    let taken = on_threads([
        Box::new(|| (0..3).filter_map(|_| one.try_take().ok()).collect()) as Body<_>,
        Box::new(|| locally(&one)),
        Box::new(|| {
            let mut buffer = [Number::MIN; 3];
            two.fill(&mut buffer).unwrap();
            buffer.to_vec()
        }),
    ]);
    let last = checked(&taken).last().unwrap().get();
    drop((one, two, processes));
    assert!(rows.next("a") > last, "{last} comes again");
}

#[test]
fn takers_go_on_when_a_source_comes_back() {
    let rows = Rows::default().with("a", Row { max_step: Some(2), ..row(2) });
    let segments = rows.builder().max_wait(TICK).build().unwrap();
    let tag = segments.tag("a").unwrap();
    let take = || {
        let mut taken = Vec::new();
        while taken.len() < 3 {
            match tag.take() {
                Ok(number) => taken.push(number),
                Err(TakeError::SegmentExhausted { cause: SegmentFailure::Unreachable }) => {}
                Err(TakeError::SegmentExhausted { cause: SegmentFailure::Loading }) => {}
                Err(error) => panic!("{error}"),
            }
        }
        taken
    };
    let taken = thread::scope(|scope| {
        let takers = [scope.spawn(take), scope.spawn(take)];
        rows.fail(Some(unreachable));
        thread::sleep(TICK * 2);
        rows.fail(None);
        takers.map(|taker| taker.join().unwrap())
    });
    let all = checked(&taken);
    assert_eq!(all.last().unwrap().get(), all.len() as u64 + tag.status().lost);
}

#[test]
fn what_is_taken_beside_a_shutdown_does_not_come_again() {
    let rows = Rows::default().with("a", Row { max_step: Some(2), ..row(2) });
    let segments = rows.builder().max_wait(PATIENCE).build().unwrap();
    let tag = segments.tag("a").unwrap();
    let take = || (0..).map_while(|_| tag.take().ok()).collect::<Vec<_>>();
    let taken = thread::scope(|scope| {
        let takers = [scope.spawn(take), scope.spawn(take)];
        thread::sleep(TICK * 2);
        segments.shutdown().unwrap();
        let next = rows.next("a");
        let taken = takers.map(|taker| taker.join().unwrap());
        assert!(taken.iter().flatten().all(|number| number.get() < next), "{taken:?}, {next}");
        taken
    });
    checked(&taken);
}
