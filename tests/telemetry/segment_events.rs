//! What an operator hears of segments: each change of state once, in order, however many numbers
//! are taken, or not.

use std::thread;
use std::time::Duration;

use uidring::StorageError;
use uidring::segment::{SegmentError, SegmentGenerator, Segments};

use crate::alone::alone;
use crate::observer::{EVENTS, Event};
use crate::rows::{Row, Rows, row, unreachable, wait_for};

/// The events of `source` so far.
fn events(source: &str) -> Vec<Event> {
    let of_source = format!("source=\"{source}\" ");
    let events = EVENTS.lock().unwrap();
    events.iter().filter(|event| event.fields.starts_with(&of_source)).cloned().collect()
}

fn names(source: &str) -> Vec<&'static str> {
    events(source).iter().map(|event| event.name).collect()
}

/// Takes until there are no numbers, and on and on.
fn exhaust(tag: &SegmentGenerator) {
    while tag.try_take().is_ok() {}
    for _ in 0..1000 {
        let _ = tag.try_take();
    }
}

/// Takes from `tag` until `event` is the last one, then on and on.
fn take_until(source: &str, event: &str, tag: &SegmentGenerator) {
    wait_for(event, || {
        let _ = tag.try_take();
        names(source).last() == Some(&event)
    });
    exhaust(tag);
}

fn build(rows: &Rows) -> Segments {
    rows.builder().max_wait(Duration::from_millis(5)).build().unwrap()
}

/// The fields of the last event with this name, which say all of `parts`.
fn assert_says(source: &str, name: &str, parts: &[&str]) {
    let events = events(source);
    let event = events.iter().rev().find(|event| event.name == name).unwrap();
    for part in parts {
        assert!(event.fields.contains(part), "{part} in {event:?}");
    }
}

#[test]
fn each_change_of_a_source_and_its_tags_is_told_once() {
    alone("segment_events::each_change_of_a_source_and_its_tags_is_told_once", || {
        crate::observer::observe();
        let small = || Row { max_step: Some(5), ..row(5) };
        let rows = ["a", "gone", "back", "apart"]
            .iter()
            .fold(Rows::default(), |rows, tag| rows.with(tag, small()));
        let segments = build(&rows);
        let tag = |name| segments.tag(name).unwrap();
        let (a, gone, back, apart) = (tag("a"), tag("gone"), tag("back"), tag("apart"));

        // The source, for all tags at once.
        rows.fail(Some(unreachable));
        take_until("rows", "source_unreachable", &a);
        exhaust(&gone);
        thread::sleep(Duration::from_millis(300));
        rows.fail(None);
        take_until("rows", "source_recovered", &a);
        assert_says("rows", "source_unreachable", &["tag=\"a\"", "error=", "cannot be reached"]);
        assert_says("rows", "source_recovered", &["away="]);

        // A tag that nobody has used is told to whoever asks for it.
        assert!(segments.tag("nowhere").is_err());

        rows.remove("gone");
        take_until("rows", "tag_gone", &gone);
        let rows = rows.with("gone", Row { next: 1000, ..small() });
        take_until("rows", "tag_recovered", &gone);
        assert_says("rows", "tag_recovered", &["tag=\"gone\"", "failing="]);

        rows.fail(Some(|| panic!("in a bad mood")));
        take_until("rows", "source_panicked", &gone);
        rows.fail(Some(|| SegmentError::other("broken")));
        take_until("rows", "tag_failed", &gone);
        rows.fail(Some(|| {
            StorageError::Locked { what: "rows".into(), waited: Duration::ZERO }.into()
        }));
        take_until("rows", "tag_locked", &gone);
        rows.fail(Some(|| SegmentError::RanOut { store: "rows".into(), tag: "a".into(), last: 9 }));
        take_until("rows", "tag_ran_out", &gone);
        rows.fail(None);
        take_until("rows", "tag_recovered", &gone);

        // A copy is restored, and a row gets another distance.
        let rows = rows.with("back", small());
        take_until("rows", "tag_went_back", &back);
        let next = rows.next("apart");
        rows.with("apart", Row { next, delta: 3, ..small() });
        take_until("rows", "tag_delta_changed", &apart);
        assert_says("rows", "tag_went_back", &["tag=\"back\"", "went back: it gives 1 after"]);
        assert_says("rows", "tag_delta_changed", &["tag=\"apart\"", "are now 3 apart, and were 1"]);

        drop((a, gone, back, apart));
        segments.shutdown().unwrap();
        let expected = [
            "segments_started",
            "source_unreachable",
            "source_recovered",
            "tag_gone",
            "tag_recovered",
            "source_panicked",
            "tag_failed",
            "tag_locked",
            "tag_ran_out",
            "tag_recovered",
            "tag_went_back",
            "tag_delta_changed",
            "segments_stopped",
        ];
        // On a busy machine a load may be slow, which has a test of its own.
        let mut told = names("rows");
        told.retain(|name| *name != "tag_slow");
        assert_eq!(told, expected, "{:#?}", events("rows"));
    });
}

#[test]
fn slow_loads_are_told_once() {
    alone("segment_events::slow_loads_are_told_once", || {
        crate::observer::observe();
        let rows = Rows::default().with("a", Row { max_step: Some(5), ..row(5) });
        let segments = build(&rows);
        let a = segments.tag("a").unwrap();
        let before = names("rows").len();
        rows.set_delay(Duration::from_millis(1200));
        take_until("rows", "tag_slow", &a);
        // The next one is no news.
        let loads = a.status().loads;
        wait_for("load", || {
            exhaust(&a);
            a.status().loads == loads + 2
        });
        assert_says("rows", "tag_slow", &["tag=\"a\" waited=1."]);
        rows.set_delay(Duration::ZERO);
        take_until("rows", "tag_recovered", &a);
        drop(a);
        segments.shutdown().unwrap();
        assert_eq!(names("rows")[before..], ["tag_slow", "tag_recovered", "segments_stopped"]);
    });
}

#[test]
fn lost_numbers_are_told_now_and_then() {
    alone("segment_events::lost_numbers_are_told_now_and_then", || {
        crate::observer::observe();
        let rows = Rows::default().with("a", Row { max_step: Some(5), ..row(5) });
        let segments = rows.builder().build().unwrap();
        let a = segments.tag("a").unwrap();
        // What is left of the claim of a local taker is lost once others have taken.
        let drop_claims = || {
            let lost = a.status().lost;
            while a.status().lost == lost {
                let mut local = a.local();
                local.take().unwrap();
                a.take().unwrap();
            }
        };
        drop_claims();
        let count =
            |events: &[Event]| events.iter().filter(|event| event.name == "numbers_lost").count();
        wait_for("event", || {
            a.take().unwrap();
            count(&events("rows")) == 1
        });
        for _ in 0..3 {
            drop_claims();
            assert!((0..50).all(|_| a.take().is_ok()));
        }
        assert_eq!(count(&events("rows")), 1);
        let lost = a.status().lost;
        drop(a);
        segments.shutdown().unwrap();
        // At the end the others are told.
        let told: u64 = events("rows")
            .iter()
            .filter(|event| event.name == "numbers_lost")
            .map(|event| {
                event.fields.split("numbers=").nth(1).unwrap().trim().parse::<u64>().unwrap()
            })
            .sum();
        assert!(told >= lost, "{told} of {lost}");
        assert_eq!(count(&events("rows")), 2);
    });
}

#[test]
fn an_end_tells_what_became_of_the_numbers() {
    alone("segment_events::an_end_tells_what_became_of_the_numbers", || {
        crate::observer::observe();
        let rows = Rows::default().with("a", row(100)).with("b", row(100)).with("c", row(100));
        let segments = build(&rows);
        let [a, b, c] = ["a", "b", "c"].map(|tag| segments.tag(tag).unwrap());
        assert!(a.take().is_ok() && b.take().is_ok());
        // Another process has loaded since.
        rows.clone().with("b", Row { next: 1000, ..row(100) });
        drop((a, b, c));
        segments.shutdown().unwrap();
        assert_says("rows", "segments_stopped", &["taken=2 tags=3 left=298 given_back=199"]);
        let is_told = |name| names("rows").iter().filter(|told| **told == name).count();
        assert_eq!(is_told("not_given_back"), 0);

        let segments = build(&rows);
        let a = segments.tag("a").unwrap();
        assert!(a.take().is_ok());
        rows.fail(Some(unreachable));
        drop(a);
        segments.shutdown().unwrap_err();
        assert_says("rows", "not_given_back", &["numbers=99", "cannot be reached"]);
        assert_says("rows", "segments_stopped", &["taken=1 tags=1 left=99 given_back=0"]);
        assert_eq!(is_told("not_given_back"), 1);
        rows.fail(None);
    });
}

#[test]
fn two_sources_of_one_name_are_told_apart() {
    alone("segment_events::two_sources_of_one_name_are_told_apart", || {
        crate::observer::observe();
        let [one, two] = [(); 2].map(|()| Rows::default().with("a", row(5)));
        let (first, second) = (build(&one), build(&two));
        assert_eq!(names("rows #2"), ["segments_started"]);
        let a = second.tag("a").unwrap();
        two.fail(Some(unreachable));
        take_until("rows #2", "source_unreachable", &a);
        first.shutdown().unwrap();
        assert_eq!(names("rows").last(), Some(&"segments_stopped"));
        assert_eq!(names("rows #2"), ["segments_started", "source_unreachable"]);
    });
}
