//! Segments from outside: what a program relies on, whatever its source does.

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use uidring::segment::{
    BuildError, Number, Segment, SegmentError, SegmentGenerator, SegmentSource, Segments, Tag,
    TagRecord,
};
use uidring::{SegmentFailure, TakeError};

use crate::rows::{Row, Rows, row, unreachable, wait_for};

/// Longer than any test takes.
const PATIENCE: Duration = Duration::from_secs(60);

fn numbers(tag: &SegmentGenerator, count: usize) -> Vec<u64> {
    (0..count).map(|_| tag.take().unwrap().get()).collect()
}

fn exhausted(result: Result<Number, TakeError>) -> SegmentFailure {
    match result {
        Err(TakeError::SegmentExhausted { cause }) => cause,
        other => panic!("{other:?}"),
    }
}

#[test]
fn numbers_begin_with_the_first_and_have_no_gap() {
    let rows = Rows::default().with("orders", row(10));
    let orders = rows.segments().tag("orders").unwrap();
    assert_eq!(numbers(&orders, 1000), (1..=1000).collect::<Vec<_>>());
    assert_eq!((orders.tag(), orders.status().taken), ("orders", 1000));
}

#[test]
fn no_number_comes_twice_or_out_of_order_whatever_threads_and_processes_take() {
    let rows = Rows::default().with("a", row(7)).with("b", row(100));
    let processes = [rows.segments(), rows.segments()];
    for tag in ["a", "b"] {
        let all = Mutex::new(BTreeSet::new());
        thread::scope(|scope| {
            for process in &processes {
                for way in 0..4 {
                    let (all, tag) = (&all, process.tag(tag).unwrap());
                    scope.spawn(move || {
                        let mut local = tag.local().with_claim_length(5);
                        let mut buffer = [Number::MIN; 33];
                        let mut last = 0;
                        for _ in 0..200 {
                            let batch = match way {
                                0 => vec![tag.take().unwrap()],
                                1 => tag.try_take().ok().into_iter().collect(),
                                2 => vec![local.take().unwrap()],
                                _ => {
                                    tag.fill(&mut buffer).unwrap();
                                    buffer.to_vec()
                                }
                            };
                            for uid in batch {
                                assert!(uid.get() > last, "{uid} after {last}");
                                last = uid.get();
                                assert!(all.lock().unwrap().insert(uid), "{uid} came twice");
                            }
                        }
                    });
                }
            }
        });
    }
}

/// A kill loses what is in memory. `max_step` bounds one load, and a tag in demand has many.
#[test]
fn no_more_numbers_are_in_memory_than_may_be() {
    for (step, max_step, asked, most) in
        [(100, Some(100), 500, 500), (100, None, 150, 150), (100, None, 20, 100), (7, None, 7, 7)]
    {
        let rows = Rows::default().with("orders", Row { max_step, ..row(step) });
        let segments = rows.builder().max_wait(PATIENCE).max_in_memory(asked).build().unwrap();
        let orders = segments.tag("orders").unwrap();
        let mut buffer = vec![Number::MIN; 50];
        for _ in 0..200 {
            orders.fill(&mut buffer).unwrap();
            let status = orders.status();
            assert!(status.in_memory <= most, "{asked}: {status}");
            assert_eq!(status.max_in_memory, Some(most));
        }
        // A batch is longer than all that may be there.
        orders.fill(&mut vec![Number::MIN; 2000]).unwrap();
        assert_eq!(orders.take().unwrap().get(), 12_001);
    }
    let rows = Rows::default().with("orders", Row { max_step: Some(100), ..row(100) });
    let segments = rows.builder().max_wait(PATIENCE).build().unwrap();
    let orders = segments.tag("orders").unwrap();
    orders.fill(&mut vec![Number::MIN; 20_000]).unwrap();
    let start = Instant::now();
    while orders.status().in_memory <= 500 {
        assert!(start.elapsed() < PATIENCE, "{}", orders.status());
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(orders.status().max_in_memory, None);
}

#[test]
fn numbers_are_as_far_apart_as_the_row_says() {
    let odd = Row { next: 3, delta: 2, ..row(50) };
    let rows = Rows::default().with("odd", odd);
    let segments = rows.segments();
    let tag = segments.tag("odd").unwrap();
    assert_eq!(numbers(&tag, 60), (3..).step_by(2).take(60).collect::<Vec<_>>());
    let mut buffer = [Number::MIN; 100];
    tag.fill(&mut buffer).unwrap();
    let mut local = tag.local();
    let filled: Vec<u64> = buffer.iter().map(|uid| uid.get()).collect();
    assert_eq!(filled, (123..).step_by(2).take(100).collect::<Vec<_>>());
    assert_eq!([(); 3].map(|()| local.take().unwrap().get()), [323, 325, 327]);
    drop(local);
    assert_eq!(tag.take().unwrap().get(), 329, "the local taker gave the rest back");
    assert_eq!(tag.status().lost, 0);
}

#[test]
fn a_batch_longer_than_many_segments_has_no_gap() {
    let rows = Rows::default().with("orders", Row { max_step: Some(10), ..row(10) });
    let orders = rows.builder().max_wait(PATIENCE).build().unwrap().tag("orders").unwrap();
    let mut buffer = vec![Number::MIN; 10_000];
    orders.fill(&mut buffer).unwrap();
    let filled: Vec<u64> = buffer.iter().map(|uid| uid.get()).collect();
    assert_eq!(orders.status().lost, 0);
    assert_eq!(filled, (1..=10_000).collect::<Vec<_>>());
}

#[test]
fn a_local_taker_that_rests_does_not_hold_up_others() {
    let rows = Rows::default().with("orders", Row { max_step: Some(5), ..row(5) });
    let orders = rows.builder().max_wait(PATIENCE).build().unwrap().tag("orders").unwrap();
    let mut local = orders.local().with_claim_length(64);
    assert_eq!(local.take().unwrap().get(), 1);
    assert!(numbers(&orders, 200).is_sorted());
    let last = orders.take().unwrap();
    // It has what it claimed, which were at most three segments, and goes on behind the others.
    let mine: Vec<u64> = (0..30).map(|_| local.take().unwrap().get()).collect();
    let kept = mine.iter().take_while(|number| **number < last.get()).count();
    assert_eq!(mine[..kept], (2..).take(kept).collect::<Vec<_>>());
    assert!((4..15).contains(&kept), "{mine:?}");
    drop(local);
    // What it did not use is in memory again, or lost if later numbers came to memory meanwhile.
    assert_eq!(orders.status().taken, 1 + 200 + 1 + 30);
}

#[test]
fn a_local_taker_that_rests_costs_those_that_wait_nothing() {
    let rows = Rows::default().with("orders", Row { max_step: Some(5), gap: 3, ..row(5) });
    let orders = rows.builder().max_wait(PATIENCE).build().unwrap().tag("orders").unwrap();
    let mut resting = orders.local().with_claim_length(64);
    assert_eq!(resting.take().unwrap().get(), 1);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut local = orders.local().with_claim_length(64);
                assert!((0..64).map(|_| local.take().unwrap()).is_sorted());
            });
        }
    });
    drop(resting);
    // Each of them dropped what was left of a claim while others had gone on, at worst.
    let lost = orders.status().lost;
    assert!(lost < 4 * 15, "{lost}");
}

#[test]
fn a_tag_that_is_not_there_is_named_with_those_that_are_alike() {
    let rows = Rows::default().with("orders", row(10));
    let segments = rows.segments();
    match segments.tag("ordres").unwrap_err() {
        SegmentError::NoSuchTag { tag, alike, .. } => {
            assert_eq!((tag.as_str(), alike), ("ordres", vec!["orders".to_owned()]));
        }
        other => panic!("{other:?}"),
    }
    // Seen on first use, whoever creates it.
    let _ = rows.clone().with("ordres", row(10));
    assert_eq!(segments.tag("ordres").unwrap().take().unwrap().get(), 1);
    let new = segments.create("new", Tag::new()).unwrap();
    assert_eq!(new.take().unwrap().get(), 1);
    assert!(matches!(Segments::builder().build(), Err(BuildError::NoSource)));
}

#[test]
fn a_tag_that_is_gone_fails_at_once_when_its_numbers_are_used_up() {
    let rows = Rows::default().with("a", row(10));
    let tag = rows.builder().max_wait(PATIENCE).build().unwrap().tag("a").unwrap();
    rows.remove("a");
    assert_eq!(numbers(&tag, 10).len(), 10);
    let error = loop {
        match tag.take() {
            Ok(uid) => assert!(uid.get() <= 30),
            Err(error) => break error,
        }
    };
    assert_eq!(error, TakeError::SegmentExhausted { cause: SegmentFailure::NoSuchTag });
    let status = tag.status();
    assert!(matches!(*status.last_failure.unwrap(), SegmentError::NoSuchTag { .. }));
    // It comes back above its last number.
    let _ = rows.with("a", Row { next: 1000, ..row(10) });
    wait_for("number", || tag.take().is_ok());
}

#[test]
fn a_clean_end_loses_nothing() {
    let rows = Rows::default().with("a", row(1000)).with("b", row(10)).with("c", row(10));
    for round in 0..5 {
        let segments = rows.segments();
        let (a, b) = (segments.tag("a").unwrap(), segments.tag("b").unwrap());
        segments.tag("c").unwrap();
        assert_eq!(numbers(&a, 3), [1, 2, 3].map(|number| round * 3 + number));
        assert_eq!(numbers(&b, 777).last(), Some(&((round + 1) * 777)));
        if round % 2 == 0 {
            let other = a.clone();
            segments.shutdown().unwrap();
            assert_eq!(other.take(), Err(TakeError::ShutDown));
        }
    }
    assert_eq!([rows.next("a"), rows.next("b"), rows.next("c")], [16, 5 * 777 + 1, 1]);
}

#[test]
fn after_a_shutdown_the_status_says_so_and_nothing_is_created() {
    let rows = Rows::default().with("a", row(10));
    let segments = rows.segments();
    let tag = segments.tag("a").unwrap();
    tag.take().unwrap();
    let status = tag.status();
    assert_eq!((status.in_memory, status.obstacle), (9, None));
    segments.clone().shutdown().unwrap();
    let status = tag.status();
    assert_eq!((status.in_memory, status.obstacle), (0, Some(TakeError::ShutDown)));
    assert!(status.to_string().contains("takes get no number: the generator was closed"));
    let calls = rows.calls();
    let ended = SegmentError::Ended { cause: TakeError::ShutDown }.to_string();
    for error in [
        segments.create("b", Tag::new()).unwrap_err(),
        segments.create("a", Tag::new()).unwrap_err(),
        segments.tag("a").unwrap_err(),
    ] {
        assert_eq!(error.to_string(), ended);
    }
    assert_eq!((rows.calls(), rows.has("b")), (calls, false));
}

#[test]
fn what_another_process_has_taken_meanwhile_is_not_given_back() {
    let rows = Rows::default().with("a", row(10));
    let (first, second) = (rows.segments(), rows.segments());
    let (one, two) = (first.tag("a").unwrap(), second.tag("a").unwrap());
    assert_eq!((one.take().unwrap().get(), two.take().unwrap().get()), (1, 11));
    drop((first, one));
    assert_eq!(rows.next("a"), 21);
    drop((second, two));
    assert_eq!(rows.next("a"), 12);
}

#[test]
fn while_the_source_is_away_takes_go_on_then_fail_and_then_go_on_by_themselves() {
    let rows = Rows::default().with("a", row(100));
    let wait = Duration::from_millis(200);
    let segments = rows.builder().max_wait(wait).build().unwrap();
    let tag = segments.tag("a").unwrap();
    rows.fail(Some(unreachable));
    assert_eq!(numbers(&tag, 100), (1..=100).collect::<Vec<_>>());
    for _ in 0..3 {
        let begin = Instant::now();
        assert_eq!(exhausted(tag.take()), SegmentFailure::Unreachable);
        assert!(begin.elapsed() >= wait, "it waits for a load first");
        exhausted(tag.try_take());
        assert!(tag.fill(&mut [Number::MIN; 10]).is_err());
    }
    let status = tag.status();
    assert_eq!((status.taken, status.in_memory, status.lost), (100, 0, 0));
    // A health check that takes nothing sees it.
    let obstacle = TakeError::SegmentExhausted { cause: SegmentFailure::Unreachable };
    assert_eq!(status.obstacle, Some(obstacle));
    assert!(status.waits >= 3 && status.longest_wait >= wait, "{status}");
    let error = status.last_failure.clone().unwrap();
    assert!(error.is_transient() && status.to_string().contains("cannot be reached"), "{status}");
    rows.fail(None);
    wait_for("number", || tag.try_take().is_ok_and(|uid| uid.get() == 101));
    assert_eq!(tag.take().unwrap().get(), 102, "failing takes have used nothing up");
    assert!(tag.status().last_failure.is_none());
    assert_eq!(tag.status().obstacle, None);
}

#[test]
fn a_tag_that_is_new_finds_out_that_the_source_is_back_also_where_nobody_waits() {
    let rows = Rows::default().with("a", row(100));
    let segments = rows.builder().max_wait(Duration::ZERO).build().unwrap();
    rows.fail(Some(unreachable));
    assert!(segments.tag("a").unwrap_err().is_transient());
    assert!(segments.tag("a").unwrap_err().is_transient());
    rows.fail(None);
    wait_for("number", || segments.tag("a").is_ok_and(|tag| tag.try_take().is_ok()));
}

#[test]
fn a_source_that_is_away_is_not_stormed() {
    let mut rows = Rows::default();
    for tag in 0..100 {
        rows = rows.with(&tag.to_string(), row(10));
    }
    let segments = rows.builder().max_wait(Duration::from_millis(1)).build().unwrap();
    let tags: Vec<_> = (0..100).map(|tag| segments.tag(&tag.to_string()).unwrap()).collect();
    rows.fail(Some(unreachable));
    let (begin, before) = (Instant::now(), rows.calls());
    while begin.elapsed() < Duration::from_secs(2) {
        for tag in &tags {
            let _ = tag.try_take();
        }
    }
    // One probe at a time, after growing pauses: 50 to 100 ms, 100 to 200 ms and so on. Loads that
    // were under way at first come on top.
    let calls = rows.calls() - before;
    assert!((4..=14).contains(&calls), "{calls} calls in two seconds");
}

#[test]
fn a_slow_tag_does_not_hold_up_another() {
    let slow = Row { delay: Duration::from_secs(1), ..row(10) };
    let rows = Rows::default().with("slow", slow).with("fast", row(10));
    let segments = rows.builder().max_wait(PATIENCE).build().unwrap();
    let fast = segments.tag("fast").unwrap();
    thread::scope(|scope| {
        let slow = scope.spawn(|| segments.tag("slow").unwrap().take().unwrap());
        wait_for("slow load", || rows.calls() >= 2);
        let mut taken = 0;
        while !slow.is_finished() {
            fast.take().unwrap();
            taken += 1;
        }
        assert!(taken > 100, "{taken} numbers while the other tag loaded");
    });
}

#[test]
fn no_more_calls_run_at_once_than_allowed() {
    let mut rows = Rows::default();
    for tag in 0..20 {
        rows = rows.with(&tag.to_string(), row(10));
    }
    rows.set_delay(Duration::from_millis(20));
    let segments = rows.builder().loads(3).max_wait(PATIENCE).build().unwrap();
    thread::scope(|scope| {
        for tag in 0..20 {
            let segments = &segments;
            scope.spawn(move || segments.tag(&tag.to_string()).unwrap().take().unwrap());
        }
    });
    drop(segments);
    assert_eq!(rows.most_running(), 3);
}

#[test]
fn threads_that_use_a_new_tag_together_load_it_once() {
    let rows = Rows::default().with("a", row(1000));
    rows.set_delay(Duration::from_millis(50));
    let segments = rows.segments();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| segments.tag("a").unwrap().take().unwrap());
        }
    });
    assert_eq!(rows.calls(), 1);
}

#[test]
fn waiting_takers_get_their_numbers_when_they_come_and_fail_at_the_end() {
    let rows = Rows::default().with("a", row(3));
    let segments = rows.builder().max_wait(PATIENCE).build().unwrap();
    let tag = segments.tag("a").unwrap();
    rows.set_delay(Duration::from_millis(100));
    let begin = Instant::now();
    let got: BTreeSet<u64> = thread::scope(|scope| {
        let takers: Vec<_> = (0..20).map(|_| scope.spawn(|| tag.take().unwrap().get())).collect();
        takers.into_iter().map(|taker| taker.join().unwrap()).collect()
    });
    assert_eq!(got, (1..=20).collect());
    assert!(tag.status().waits > 0 && begin.elapsed() < PATIENCE);

    rows.fail(Some(unreachable));
    while tag.try_take().is_ok() {}
    thread::scope(|scope| {
        let waiting = scope.spawn(|| tag.take());
        wait_for("waiter", || !waiting.is_finished());
        thread::sleep(Duration::from_millis(20));
        let _ = segments.clone().shutdown();
        assert_eq!(waiting.join().unwrap(), Err(TakeError::ShutDown));
    });
}

#[test]
fn a_row_that_went_back_is_refused() {
    let rows = Rows::default().with("a", row(10));
    let tag = rows.segments().tag("a").unwrap();
    assert_eq!(numbers(&tag, 3), [1, 2, 3]);
    // A restored copy.
    let _ = rows.clone().with("a", row(10));
    let mut last = 0;
    let cause = loop {
        match tag.take() {
            Ok(uid) => {
                assert!(uid.get() > last, "{uid} after {last}");
                last = uid.get();
            }
            Err(error) => break error,
        }
    };
    assert_eq!(cause, TakeError::SegmentExhausted { cause: SegmentFailure::WentBack });
    match &*tag.status().last_failure.unwrap() {
        SegmentError::WentBack { first: 1, last: known, .. } => assert_eq!(*known, last),
        other => panic!("{other:?}"),
    }
    // Tries do not take the row up to where others have been before.
    let next = rows.next("a");
    for _ in 0..50 {
        tag.take().unwrap_err();
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(rows.next("a"), next);
}

/// Others have taken the row to where it ended for this process, so that it looks untouched.
#[test]
fn what_is_left_does_not_go_back_to_a_row_that_went_back() {
    let fresh = Row { max_step: Some(100), ..row(100) };
    let rows = Rows::default().with("a", fresh);
    let (segments, second) = (rows.segments(), rows.segments());
    let tag = segments.tag("a").unwrap();
    numbers(&tag, 51);
    wait_for("load", || tag.status().loads == 2);
    assert_eq!(rows.next("a"), 201);
    // A restored copy, and a load of each of the two.
    let _ = rows.clone().with("a", fresh);
    numbers(&tag, 120);
    wait_for("refusal", || tag.status().last_failure.is_some());
    assert_eq!(rows.next("a"), 101);
    let theirs = second.tag("a").unwrap().take().unwrap().get();
    assert_eq!((theirs, rows.next("a")), (101, 201));
    segments.shutdown().unwrap();
    let third = rows.segments().tag("a").unwrap().take().unwrap().get();
    assert_eq!(third, 201, "the numbers below are those of others");
}

#[test]
fn a_row_with_another_distance_is_refused_and_gets_its_numbers_back() {
    let rows = Rows::default().with("a", row(10));
    let tag = rows.segments().tag("a").unwrap();
    let next = rows.next("a");
    let _ = rows.clone().with("a", Row { next, delta: 3, ..row(10) });
    let error = loop {
        if let Err(error) = tag.take() {
            break error;
        }
    };
    assert_eq!(error, TakeError::SegmentExhausted { cause: SegmentFailure::BadRow });
    let text = tag.status().last_failure.unwrap().to_string();
    assert!(text.contains("3 apart") && text.contains("1 apart"), "{text}");
    wait_for("give-back", || rows.next("a") == 11);
}

#[test]
fn a_source_that_panics_is_an_error() {
    let rows = Rows::default().with("a", row(10));
    let segments = rows.segments();
    let tag = segments.tag("a").unwrap();
    rows.fail(Some(|| panic!("what a source")));
    assert!(segments.tag("b").unwrap_err().to_string().contains("failed"));
    let failed = loop {
        match tag.take() {
            Ok(_) => {}
            failed => break failed,
        }
    };
    assert_eq!(exhausted(failed), SegmentFailure::Failed);
    rows.fail(None);
    wait_for("number", || tag.take().is_ok());
}

/// Panics when it is asked for anything, once its flag is set.
struct Panicking(Rows, Arc<AtomicBool>);

impl Panicking {
    fn rows(&self) -> &Rows {
        assert!(!self.1.load(Ordering::SeqCst), "what a source");
        &self.0
    }
}

impl SegmentSource for Panicking {
    fn name(&self) -> String {
        self.rows().name()
    }

    fn load(&self, tag: &str, count: Option<u64>) -> Result<Segment, SegmentError> {
        self.rows().load(tag, count)
    }

    fn give_back(&self, tag: &str, unused: &Segment) -> Result<bool, SegmentError> {
        self.rows().give_back(tag, unused)
    }

    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        self.rows().tags()
    }

    fn create(&self, tag: &str, new: &Tag) -> Result<TagRecord, SegmentError> {
        self.rows().create(tag, new)
    }
}

#[test]
fn a_source_that_panics_over_its_name_too_is_an_error() {
    let (rows, panics) = (Rows::default().with("a", row(10)), Arc::new(AtomicBool::new(false)));
    let source = Panicking(rows.clone(), Arc::clone(&panics));
    let segments = Segments::builder().source(source).max_wait(PATIENCE).build().unwrap();
    let tag = segments.tag("a").unwrap();
    panics.store(true, Ordering::SeqCst);
    let failed = loop {
        match tag.take() {
            Ok(_) => {}
            failed => break failed,
        }
    };
    assert_eq!(exhausted(failed), SegmentFailure::Failed);
    let error = tag.status().last_failure.unwrap();
    let cause = error.source().unwrap().to_string();
    assert!(cause.contains("the source rows panicked"), "{cause}");
    assert_eq!(segments.source_name(), "rows");
    panics.store(false, Ordering::SeqCst);
    wait_for("number", || tag.take().is_ok());
    panics.store(true, Ordering::SeqCst);
    assert!(segments.shutdown().is_err(), "it ends, though nothing went back");
}

#[test]
fn an_idle_tag_asks_nothing() {
    let rows = Rows::default().with("a", row(100));
    let refresh = Duration::from_millis(10);
    let segments = rows.builder().refresh(refresh).ahead(refresh).build().unwrap();
    let tag = segments.tag("a").unwrap();
    numbers(&tag, 20);
    thread::sleep(Duration::from_millis(100));
    let before = rows.calls();
    thread::sleep(Duration::from_millis(500));
    assert_eq!(rows.calls(), before);
}

#[test]
fn a_batch_comes_one_by_one_and_gives_its_rest_back() {
    let rows = Rows::default().with("a", row(1000)).with("b", row(3));
    let segments = rows.builder().max_wait(PATIENCE).build().unwrap();
    let tag = segments.tag("a").unwrap();
    let batch: Vec<u64> = tag.take_n(150).map(|number| number.unwrap().get()).collect();
    assert_eq!(batch, (1..=150).collect::<Vec<_>>());
    assert_eq!(tag.take().unwrap().get(), 151, "no more was claimed");
    // Dropped before its end.
    let mut some = tag.take_n(100);
    assert_eq!(some.size_hint(), (1, Some(100)));
    assert_eq!(some.next().unwrap().unwrap().get(), 152);
    drop(some);
    assert_eq!(tag.take().unwrap().get(), 153);
    assert_eq!(tag.status().lost, 0);
    assert_eq!(tag.take_n(0).count(), 0);
    // Longer than a claim, and across many segments.
    let long = tag.take_n(200_000).map(|number| number.unwrap().get());
    assert!(long.eq(154..200_154));
    let short = segments.tag("b").unwrap();
    assert!(short.take_n(100).map(|number| number.unwrap().get()).eq(1..=100));
    assert_eq!((tag.status().lost, short.status().lost), (0, 0));
    // An error is the last item.
    rows.fail(Some(unreachable));
    let tag = rows.builder().max_wait(Duration::from_millis(10)).build().unwrap();
    let error = tag.tag("a").unwrap_err();
    assert!(error.is_transient());
    segments.shutdown().unwrap_err();
    let items: Vec<_> = short.take_n(10).collect();
    assert_eq!(items, [Err(TakeError::ShutDown)]);
}

#[cfg(feature = "async")]
mod tasks {
    use std::sync::mpsc;
    use std::task::{Context, Poll, Wake, Waker};

    use super::*;

    #[test]
    fn a_task_waits_for_a_load_and_fails_after_a_while() {
        let rows = Rows::default().with("a", row(3));
        rows.set_delay(Duration::from_millis(20));
        let tag = rows.builder().max_wait(PATIENCE).build().unwrap().tag("a").unwrap();
        let got: Vec<u64> = pollster::block_on(async {
            let mut got = Vec::new();
            for _ in 0..50 {
                got.push(tag.take_async().await.unwrap().get());
            }
            got
        });
        assert_eq!(got, (1..=50).collect::<Vec<_>>());

        let rows = Rows::default().with("a", row(3));
        let wait = Duration::from_millis(50);
        let tag = rows.builder().max_wait(wait).build().unwrap().tag("a").unwrap();
        rows.fail(Some(unreachable));
        while tag.try_take().is_ok() {}
        let begin = Instant::now();
        let cause = exhausted(pollster::block_on(tag.take_async()));
        assert!(begin.elapsed() >= wait && begin.elapsed() < PATIENCE);
        assert_eq!(cause, SegmentFailure::Unreachable);
    }

    /// Sends its number when it is woken.
    struct Called(usize, mpsc::Sender<usize>);

    impl Wake for Called {
        fn wake(self: Arc<Self>) {
            let _ = self.1.send(self.0);
        }
    }

    /// Who was called and is never polled does not keep the numbers from the others for ever.
    #[test]
    fn tasks_that_were_called_and_are_not_polled_let_the_others_go_on() {
        let rows = Rows::default().with("a", row(3));
        let tag = rows.builder().max_wait(PATIENCE).build().unwrap().tag("a").unwrap();
        rows.fail(Some(unreachable));
        while tag.try_take().is_ok() {}
        let (sender, woken) = mpsc::channel();
        let waker = |task| Waker::from(Arc::new(Called(task, sender.clone())));
        let mut tasks: Vec<_> =
            (0..100).map(|task| (Box::pin(tag.take_async()), waker(task))).collect();
        let mut poll = |task: usize| {
            let (future, waker) = &mut tasks[task];
            future.as_mut().poll(&mut Context::from_waker(waker))
        };
        assert!((0..100).all(|task| poll(task).is_pending()));
        rows.fail(None);
        let next = || woken.recv_timeout(PATIENCE).expect("another is called");
        let mut forgotten = BTreeSet::from([next()]);
        let left = usize::try_from(tag.status().in_memory).unwrap();
        assert!((1..20).contains(&left));
        // Those who were called in their place are not polled either.
        forgotten.extend((1..3 * left).map(|_| next()));
        let task = next();
        assert!(!forgotten.contains(&task) && poll(task).is_ready());
    }

    /// Uses a tag for the first time when it is woken.
    struct Newcomer(Segments, Mutex<Option<Result<u64, SegmentError>>>);

    impl Wake for Newcomer {
        fn wake(self: Arc<Self>) {
            let result = self.0.tag("new").map(|tag| tag.take().unwrap().get());
            self.1.lock().unwrap().get_or_insert(result);
        }
    }

    #[test]
    fn a_waker_on_the_loaders_thread_does_not_wait_for_it() {
        let rows = Rows::default().with("a", row(3)).with("new", row(3));
        let segments = rows.builder().max_wait(Duration::from_millis(80)).build().unwrap();
        let tag = segments.tag("a").unwrap();
        rows.set_delay(Duration::from_millis(500));
        while tag.try_take().is_ok() {}
        let newcomer = Arc::new(Newcomer(segments.clone(), Mutex::new(None)));
        let waker = Waker::from(Arc::clone(&newcomer));
        // The loader wakes it when it has waited for long enough.
        let mut take = Box::pin(tag.take_async());
        assert!(take.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        wait_for("wake-up", || newcomer.1.lock().unwrap().is_some());
        let result = newcomer.1.lock().unwrap().take();
        assert!(result.unwrap().unwrap_err().is_transient());
        assert_eq!(segments.tag("new").unwrap().take().unwrap().get(), 1);
    }

    /// While a source takes its time, other tasks of the same thread go on.
    #[test]
    fn a_tag_is_found_and_created_without_blocking_a_task() {
        let rows = Rows::default().with("a", row(3));
        rows.set_delay(Duration::from_millis(100));
        let segments = rows.builder().max_wait(PATIENCE).build().unwrap();
        let waker = Waker::noop();
        let mut context = Context::from_waker(waker);
        let mut found = Box::pin(segments.tag_async("a"));
        let mut created = Box::pin(segments.create_async("b", Tag::new()));
        let polled = (found.as_mut().poll(&mut context), created.as_mut().poll(&mut context));
        assert!(polled.0.is_pending() && polled.1.is_pending());
        let (a, b) = pollster::block_on(async { (found.await.unwrap(), created.await.unwrap()) });
        assert_eq!((a.take().unwrap().get(), b.take().unwrap().get()), (1, 1));
        let error = pollster::block_on(segments.tag_async("c")).unwrap_err();
        assert!(matches!(error, SegmentError::NoSuchTag { .. }), "{error}");
        // A tag that is being created is there also if nobody waits for it.
        let mut dropped = Box::pin(segments.create_async("d", Tag::new()));
        assert!(dropped.as_mut().poll(&mut context).is_pending());
        drop(dropped);
        wait_for("tag", || rows.has("d"));
    }

    /// Holds the last handles, and drops them when it is woken.
    struct Holder(Mutex<Option<(Segments, SegmentGenerator)>>);

    impl Wake for Holder {
        fn wake(self: Arc<Self>) {
            drop(self.0.lock().unwrap().take());
        }
    }

    #[test]
    fn a_waker_may_drop_the_last_handle() {
        let rows = Rows::default().with("a", row(3));
        let segments = rows.builder().max_wait(PATIENCE).build().unwrap();
        let tag = segments.tag("a").unwrap();
        rows.set_delay(Duration::from_millis(50));
        while tag.try_take().is_ok() {}
        let holder = Arc::new(Holder(Mutex::new(Some((segments, tag.clone())))));
        let tag: &'static SegmentGenerator = Box::leak(Box::new(tag));
        let waker = Waker::from(Arc::clone(&holder));
        let mut take = Box::pin(tag.take_async());
        let first = take.as_mut().poll(&mut Context::from_waker(&waker));
        if first.is_pending() {
            wait_for("wake-up", || holder.0.lock().unwrap().is_none());
        }
        assert!(!matches!(first, Poll::Ready(Err(_))));
    }
}

/// A source of several databases. `range` says of which one a load is, and its first number.
struct Databases<F> {
    delta: u64,
    range: F,
    loads: AtomicU64,
}

impl<F: Fn(u64) -> (usize, u64) + Send + Sync + 'static> SegmentSource for Databases<F> {
    fn name(&self) -> String {
        "two databases".to_owned()
    }

    fn load(&self, tag: &str, _: Option<u64>) -> Result<Segment, SegmentError> {
        // Another tag is all right.
        let load = if tag == "a" { self.loads.fetch_add(1, Ordering::Relaxed) } else { 0 };
        let (database, first) = (self.range)(load);
        let mut segment = Segment::new(first, 10, self.delta, first + 10 * self.delta);
        segment.database = database;
        Ok(segment)
    }

    fn give_back(&self, _: &str, _: &Segment) -> Result<bool, SegmentError> {
        Ok(false)
    }

    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        Ok(Vec::new())
    }

    fn create(&self, tag: &str, _: &Tag) -> Result<TagRecord, SegmentError> {
        Ok(TagRecord::new(tag, 1, 10, 1))
    }
}

/// The tags of a source whose loads give ten numbers each, `delta` apart.
fn databases(delta: u64, range: impl Fn(u64) -> (usize, u64) + Send + Sync + 'static) -> Segments {
    let source = Databases { delta, range, loads: AtomicU64::new(0) };
    Segments::builder().source(source).max_wait(PATIENCE).build().unwrap()
}

#[test]
fn a_range_that_meets_one_of_another_database_ends_the_tag() {
    let open = |delta, second, step| {
        databases(delta, move |load| match (load % 2, load / 2 * step) {
            (0, above) => (0, 1 + above),
            (_, above) => (1, second + above),
        })
    };
    // The remainders differ, the numbers are far apart, or they interleave.
    for (delta, second, step) in [(2, 2, 20), (1, 1_000_000, 10), (1, 11, 20)] {
        let segments = open(delta, second, step);
        let tag = segments.tag("a").unwrap();
        let mut taken = numbers(&tag, 100);
        taken.sort_unstable();
        taken.dedup();
        assert_eq!(taken.len(), 100);
        drop(segments);
    }
    for (delta, second) in [(1, 10), (2, 3), (1, 1)] {
        let segments = open(delta, second, 10 * delta);
        let tag = segments.tag("a").unwrap();
        let mut taken = Vec::new();
        let error = loop {
            match tag.take() {
                Ok(number) => taken.push(number.get()),
                Err(error) => break error,
            }
            assert!(taken.len() < 1000, "it does not end");
        };
        let expected: Vec<_> = (0..10).map(|number| 1 + number * delta).collect();
        assert_eq!(taken, expected);
        assert_eq!(error, TakeError::SegmentExhausted { cause: SegmentFailure::WentBack });
        let failure = tag.status().last_failure.unwrap();
        let both = format!("from {second} to {};", 1 + 9 * delta);
        assert!(failure.to_string().contains(&both), "{failure}");
        tag.take().unwrap_err();
        // Another tag goes on.
        assert_eq!(segments.tag("b").unwrap().take().unwrap().get(), 1);
    }
}

/// The numbers of the first database become even where they were odd.
#[test]
fn a_database_with_another_remainder_is_judged_by_that_one() {
    let open = |second| {
        databases(2, move |load| match load {
            0 => (0, 1),
            1 => (0, 20),
            _ => (1, second + (load - 2) * 20),
        })
    };
    let tag = open(21).tag("a").unwrap();
    assert_eq!(numbers(&tag, 40)[20..], (21..60).step_by(2).collect::<Vec<_>>());
    let tag = open(22).tag("a").unwrap();
    assert_eq!(numbers(&tag, 20).last(), Some(&38));
    let error = tag.take().unwrap_err();
    assert_eq!(error, TakeError::SegmentExhausted { cause: SegmentFailure::WentBack });
}
