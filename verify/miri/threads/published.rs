//! What the library is told reaches whoever takes an id of it, with all that was done before.
//!
//! A registry and a source note something in plain memory, and then give the library a worker id or
//! a segment. A thread that takes an id of it reads that note. Only the library's own orderings
//! keep the two apart: if they are too weak, the two race. No assertion tells of that, but
//! `ThreadSanitizer` does, and Miri does where its few takes come to it.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;

use uidring::LeadLimit;
use uidring::segment::{Number, Segment, SegmentError, SegmentSource, Segments, Tag, TagRecord};

use super::*;
use crate::rows::{Row, Rows, row};

/// How often each thread takes.
const TAKES: usize = if cfg!(miri) { 12 } else { 1000 };
/// How many numbers a segment has: so many that most takes find the ready range that another thread
/// has set.
const SEGMENT: u64 = if cfg!(miri) { 12 } else { 32 };

/// Notes in plain memory, which nothing but the library guards.
#[derive(Clone)]
struct Notes(Arc<[Note]>);

struct Note(UnsafeCell<usize>);

// SAFETY: it is sound if the library orders each write before each read, as the tests check.
unsafe impl Sync for Note {}

impl Notes {
    fn new(count: usize) -> Notes {
        Notes((0..count).map(|_| Note(UnsafeCell::new(0))).collect())
    }

    /// Called once for each place, before the library is told of it.
    fn write(&self, place: usize) {
        // SAFETY: nobody else writes it, and nobody reads it before the library was told of it.
        unsafe { *self.0[place].0.get() = place + 1 }
    }

    fn check(&self, place: usize) {
        // SAFETY: it was written before the library was told of it, and is not written again.
        assert_eq!(unsafe { *self.0[place].0.get() }, place + 1);
    }
}

/// Takes without waiting. A thread that waits is woken under a lock, which orders it behind the
/// thread that wakes it, whatever the ring does.
fn spin<T, E>(mut take: impl FnMut() -> Result<T, E>) -> T {
    loop {
        match take() {
            Ok(id) => return id,
            Err(_) => thread::yield_now(),
        }
    }
}

fn place_of(number: u64) -> usize {
    usize::try_from(number).unwrap()
}

/// The worker ids 1, 2, 3 and so on, each noted.
struct Noting(u64, Notes);

impl WorkerRegistry for Noting {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        self.0 += 1;
        self.1.write(place_of(self.0));
        Ok(Lease::permanent(self.0, &request.layout))
    }
}

#[test]
fn what_a_registry_did_is_seen_by_takers() {
    let notes = Notes::new(1024);
    let builder = builder(1, &Ticks::new()).registry(Noting(0, notes.clone()));
    let builder = builder.max_lead(2 * TICK).on_lead_limit(LeadLimit::NewWorker);
    let uids = builder.max_new_workers(1000).build().unwrap();
    let check = |uid| {
        notes.check(place_of(uids.layout().parts(uid).worker));
        uid
    };
    let take = || {
        for _ in 0..TAKES {
            check(uids.take().unwrap());
        }
    };
    let take_many = || {
        let mut local = uids.local().with_claim_length(3);
        let mut buffer = [Uid::MIN; 3];
        for _ in 0..TAKES / 3 {
            check(local.take().unwrap());
            uids.fill(&mut buffer).unwrap();
            buffer.into_iter().map(check).for_each(drop);
        }
    };
    let try_take = || {
        for _ in 0..TAKES {
            check(spin(|| uids.try_take()));
        }
    };
    on_threads([
        Box::new(take) as Body<_>,
        Box::new(take_many),
        Box::new(try_take),
        Box::new(try_take),
    ]);
    assert!(uids.status().new_workers >= 1);
}

/// How many numbers each thread takes.
const NUMBERS: usize = TAKES * if cfg!(miri) { 1 } else { 20 };

/// Segments of `SEGMENT` numbers, each noted.
struct NotedRows(Rows, Notes);

impl SegmentSource for NotedRows {
    fn name(&self) -> String {
        self.0.name()
    }

    fn load(&self, tag: &str, _: Option<u64>) -> Result<Segment, SegmentError> {
        let segment = self.0.load(tag, Some(SEGMENT))?;
        self.1.write(place_of((segment.first - 1) / SEGMENT));
        Ok(segment)
    }

    fn give_back(&self, _: &str, _: &Segment) -> Result<bool, SegmentError> {
        Ok(false)
    }

    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        self.0.tags()
    }

    fn create(&self, tag: &str, settings: &Tag) -> Result<TagRecord, SegmentError> {
        self.0.create(tag, settings)
    }
}

#[test]
fn what_a_source_did_is_seen_by_takers() {
    let notes = Notes::new(NUMBERS * 4 + 100);
    let rows = Rows::default().with("a", Row { max_step: Some(SEGMENT), ..row(SEGMENT) });
    let source = NotedRows(rows, notes.clone());
    let segments = Segments::builder().source(source).max_wait(TICK * 100_000).build().unwrap();
    let tag = segments.tag("a").unwrap();
    let check = |number: Number| notes.check(place_of((number.get() - 1) / SEGMENT));
    let take = || {
        for _ in 0..NUMBERS {
            check(tag.take().unwrap());
        }
    };
    let take_locally = || {
        let mut local = tag.local().with_claim_length(3);
        for _ in 0..NUMBERS {
            check(local.take().unwrap());
        }
    };
    let try_take = || {
        for _ in 0..NUMBERS {
            check(spin(|| tag.try_take()));
        }
    };
    on_threads([
        Box::new(take) as Body<_>,
        Box::new(take_locally),
        Box::new(try_take),
        Box::new(try_take),
    ]);
}
