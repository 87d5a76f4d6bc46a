//! The contract of a [`SegmentSource`], as tests that any implementation runs.
//!
//! ```
//! use uidring::segment::contract;
//! # #[cfg(feature = "sqlite")] {
//! use uidring::Store;
//!
//! // Each store is a source without tags; each handle a process of its own that uses it.
//! let dir = tempfile::tempdir()?;
//! contract::check(|name| {
//!     let file = dir.path().join(name);
//!     move || Store::open(&file).unwrap().segments().unwrap()
//! });
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each clause panics with what was promised and what was seen.

#![allow(clippy::panic)] // it is for tests

use std::collections::BTreeMap;

use super::{Segment, SegmentError, SegmentSource, Tag, TagRecord};
use crate::sync::{Barrier, thread};

/// Checks all clauses. `store` creates an empty store with the given name, which is new at each
/// call, and returns a function that opens handles to it.
///
/// # Panics
///
/// If a clause is broken.
pub fn check<S: SegmentSource, O: Fn() -> S + Sync>(store: impl Fn(&str) -> O) {
    check_loads(&store);
    what_is_given_back_comes_again(&store("given_back"));
}

/// Checks all clauses for a source that never takes numbers back: its `give_back` changes nothing
/// and returns false.
///
/// # Panics
///
/// If a clause is broken.
pub fn check_one_way<S: SegmentSource, O: Fn() -> S + Sync>(store: impl Fn(&str) -> O) {
    check_loads(&store);
    what_is_given_back_does_not_come_again(&store("given_back"));
}

fn check_loads<S: SegmentSource, O: Fn() -> S + Sync>(store: &impl Fn(&str) -> O) {
    numbers_begin_at_the_first_and_none_is_given_twice(&store("in_turn"));
    a_wish_is_heeded_or_not_but_never_with_nothing(&store("wishes"));
    those_who_load_at_once_get_different_numbers(&store("at_once"));
    those_who_create_at_once_create_one_row(&store("created_at_once"));
    a_tag_that_is_there_stays_as_it_is(&store("created"));
    an_unknown_tag_is_an_error_and_is_not_made(&store("unknown"));
    all_tags_are_listed_in_order(&store("listed"));
    what_another_has_taken_after_is_not_taken_back(&store("not_given_back"));
    the_last_number_is_an_end(&store("end"));
}

/// The largest possible number.
const LARGEST: u64 = i64::MAX.unsigned_abs();

fn done<T>(call: &str, result: Result<T, SegmentError>) -> T {
    result.unwrap_or_else(|error| panic!("`{call}` of a source that is in order fails: {error}"))
}

fn create(source: &impl SegmentSource, tag: &str, new: &Tag) -> TagRecord {
    done("create", source.create(tag, new))
}

fn load(source: &impl SegmentSource, tag: &str) -> Segment {
    done("load", source.load(tag, None))
}

fn last_of(segment: &Segment) -> u64 {
    let Segment { first, count, delta, .. } = *segment;
    let last = (count - 1).checked_mul(delta).and_then(|length| first.checked_add(length));
    last.unwrap_or_else(|| panic!("a segment ends at {LARGEST} at most: {segment:?}"))
}

fn numbers(segment: &Segment) -> impl Iterator<Item = u64> {
    let Segment { first, count, delta, .. } = *segment;
    (0..count).map(move |index| first + index * delta)
}

/// All segments that were loaded.
#[derive(Default)]
struct Ledger {
    /// The segment that each number belongs to.
    given: BTreeMap<u64, Segment>,
}

impl Ledger {
    fn note(&mut self, segment: &Segment) {
        assert!(segment.count >= 1, "a segment has a number at least: {segment:?}");
        assert!(segment.delta >= 1, "numbers increase: {segment:?}");
        assert!(segment.first >= 1, "0 is no number: {segment:?}");
        assert!(last_of(segment) <= LARGEST, "{LARGEST} is the largest number: {segment:?}");
        for number in numbers(segment) {
            if let Some(before) = self.given.insert(number, segment.clone()) {
                panic!("number {number} is given once; it is in {before:?} and in {segment:?}");
            }
        }
    }
}

fn numbers_begin_at_the_first_and_none_is_given_twice<S: SegmentSource>(open: &impl Fn() -> S) {
    let first = 5001;
    let record = create(&open(), "orders", &Tag::new().first(first).step(100));
    assert_eq!(record.step, 100, "a new tag has the step that it was created with: {record:?}");
    assert!(record.next >= first, "it begins at {first} or after: {record:?}");
    let mut ledger = Ledger::default();
    for _ in 0..4 {
        let source = open();
        for _ in 0..3 {
            let segment = load(&source, "orders");
            assert!(segment.first >= first, "numbers begin at {first}: {segment:?}");
            let step = 100 / segment.delta;
            assert_eq!(segment.step, step, "a segment tells the step of its row: {segment:?}");
            ledger.note(&segment);
        }
    }
    assert!(ledger.given.contains_key(&record.next), "the first numbers are given: {record:?}");
    let next = create(&open(), "orders", &Tag::new()).next;
    assert!(!ledger.given.contains_key(&next), "{next} was given, and is not the next number");
    // Tags are independent of each other.
    create(&open(), "invoices", &Tag::new());
    let segment = load(&open(), "invoices");
    assert!(segment.first < first, "each tag counts by itself: {segment:?}");
}

fn a_wish_is_heeded_or_not_but_never_with_nothing<S: SegmentSource>(open: &impl Fn() -> S) {
    let source = open();
    create(&source, "orders", &Tag::new().step(10));
    let mut ledger = Ledger::default();
    for count in [1, 7, 10, 95, 1000, 0] {
        let segment = done("load", source.load("orders", Some(count)));
        ledger.note(&segment);
        let step = 10 / segment.delta;
        assert_eq!(segment.step, step, "the step is the row's, whatever is wished: {segment:?}");
    }
}

fn those_who_load_at_once_get_different_numbers<S: SegmentSource>(open: &(impl Fn() -> S + Sync)) {
    const THREADS: usize = 8;
    create(&open(), "orders", &Tag::new().step(10));
    let barrier = Barrier::new(THREADS);
    let loads = || {
        barrier.wait();
        let source = open();
        (0..5).map(|_| load(&source, "orders")).collect::<Vec<_>>()
    };
    let mut ledger = Ledger::default();
    for segment in at_once(THREADS, &loads).iter().flatten() {
        ledger.note(segment);
    }
}

fn at_once<T: Send>(threads: usize, each: &(impl Fn() -> T + Sync)) -> Vec<T> {
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(each)).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, T>| {
            thread.join().unwrap_or_else(|_| panic!("a thread panicked"))
        };
        threads.into_iter().map(join).collect()
    })
}

fn those_who_create_at_once_create_one_row<S: SegmentSource>(open: &(impl Fn() -> S + Sync)) {
    const THREADS: usize = 8;
    let barrier = Barrier::new(THREADS);
    let new = Tag::new().first(7).step(10);
    // All processes may create the tables of a new store at the same time.
    let creates = || {
        barrier.wait();
        create(&open(), "orders", &new)
    };
    let records = at_once(THREADS, &creates);
    let tags: Vec<String> = done("tags", open().tags()).into_iter().map(|tag| tag.tag).collect();
    assert_eq!(tags, ["orders"], "those who create a tag at once create one");
    assert!(records.iter().all(|record| record.next >= 7), "and all see it: {records:?}");
}

fn a_tag_that_is_there_stays_as_it_is<S: SegmentSource>(open: &impl Fn() -> S) {
    let source = open();
    create(&source, "orders", &Tag::new().step(10));
    let segment = load(&source, "orders");
    match source.create("orders", &Tag::new().step(70)) {
        Err(SegmentError::Differs { field: "step", there: Some(there), asked, .. })
            if &*there == "10" && &*asked == "70" => {}
        other => panic!("a tag with another step is refused: {other:?}"),
    }
    for new in [Tag::new(), Tag::new().step(10)] {
        let again = create(&source, "orders", &new);
        assert!(
            !numbers(&segment).any(|number| number == again.next),
            "a tag that is there does not begin anew: {again:?} after {segment:?}"
        );
        assert_eq!(again.step, 10, "nor is its step changed: {again:?}");
    }
    match source.create("orders", &Tag::new().first(1_000_000)) {
        Err(SegmentError::Behind { first: 1_000_000, .. }) => {}
        other => panic!("a tag that would give lower numbers is refused: {other:?}"),
    }
    let step_of_nothing = source.create("invoices", &Tag::new().step(0));
    assert!(step_of_nothing.is_err(), "a step of 0 is refused: {step_of_nothing:?}");
    let begin = source.create("invoices", &Tag::new().first(0));
    assert!(begin.is_err(), "0 is no number: {begin:?}");
}

fn an_unknown_tag_is_an_error_and_is_not_made<S: SegmentSource>(open: &impl Fn() -> S) {
    let source = open();
    create(&source, "orders", &Tag::new());
    for unknown in ["order", "Orders", "orders ", "invoices", ""] {
        match source.load(unknown, None) {
            Err(SegmentError::NoSuchTag { tag, .. }) => assert_eq!(tag, unknown),
            other => panic!("the tag {unknown:?} is not there, and the error says so: {other:?}"),
        }
    }
    assert_eq!(done("tags", source.tags()).len(), 1, "a load makes no tag");
}

fn all_tags_are_listed_in_order<S: SegmentSource>(open: &impl Fn() -> S) {
    let source = open();
    assert_eq!(done("tags", source.tags()), [], "a new store has no tags");
    let names = ["b", "a", "Z", "\u{e9}t\u{e9}", "a b"];
    for name in names {
        create(&source, name, &Tag::new());
    }
    let mut sorted = names;
    sorted.sort_unstable();
    let tags: Vec<String> = done("tags", open().tags()).into_iter().map(|tag| tag.tag).collect();
    assert_eq!(tags, sorted, "all tags are listed, in order");
}

fn what_is_given_back_comes_again<S: SegmentSource>(open: &impl Fn() -> S) {
    let source = open();
    create(&source, "orders", &Tag::new().step(100));
    let segment = load(&source, "orders");
    // All but the last three numbers.
    let used = 3;
    let unused = Segment {
        first: segment.first + used * segment.delta,
        count: segment.count - used,
        ..segment.clone()
    };
    assert!(done("give_back", source.give_back("orders", &unused)), "nobody has taken any after");
    let mut ledger = Ledger::default();
    ledger.note(&Segment { count: used, ..segment });
    for _ in 0..10 {
        ledger.note(&load(&open(), "orders"));
    }
    let first = unused.first;
    assert!(ledger.given.contains_key(&first), "{first} was given back, and comes again");
    assert!(
        !done("give_back", source.give_back("orders", &unused)),
        "what others have taken since is theirs"
    );
}

fn what_is_given_back_does_not_come_again<S: SegmentSource>(open: &impl Fn() -> S) {
    let source = open();
    create(&source, "orders", &Tag::new().step(100));
    let segment = load(&source, "orders");
    assert!(!done("give_back", source.give_back("orders", &segment)), "it takes nothing back");
    let mut ledger = Ledger::default();
    ledger.note(&segment);
    ledger.note(&load(&open(), "orders"));
}

fn what_another_has_taken_after_is_not_taken_back<S: SegmentSource>(open: &impl Fn() -> S) {
    let source = open();
    create(&source, "orders", &Tag::new().step(100));
    let segment = load(&source, "orders");
    let mut ledger = Ledger::default();
    ledger.note(&segment);
    // Enough loads to reach each database, if there are several.
    for _ in 0..8 {
        ledger.note(&load(&open(), "orders"));
    }
    assert!(
        !done("give_back", source.give_back("orders", &segment)),
        "another has taken numbers after these"
    );
    ledger.note(&load(&open(), "orders"));
}

fn the_last_number_is_an_end<S: SegmentSource>(open: &impl Fn() -> S) {
    let source = open();
    let first = LARGEST - 40;
    create(&source, "orders", &Tag::new().first(first).step(30));
    let mut ledger = Ledger::default();
    for _ in 0..50 {
        match source.load("orders", None) {
            Ok(segment) => {
                assert!(segment.first >= first, "numbers do not begin anew: {segment:?}");
                ledger.note(&segment);
            }
            Err(SegmentError::RanOut { .. }) => break,
            Err(error) => panic!("when there are no more numbers, the error says so: {error}"),
        }
    }
    let given = ledger.given.len();
    assert!(given >= 39, "the rest is given, and not {given} of 41");
    match open().load("orders", Some(1)) {
        Err(SegmentError::RanOut { .. }) => {}
        other => panic!("there are no more numbers, and it stays so: {other:?}"),
    }
}
