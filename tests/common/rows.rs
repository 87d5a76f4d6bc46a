//! A source of segments in memory, whose rows, delays and failures a test decides.
#![allow(dead_code)] // each test uses a part
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use uidring::segment::{Builder, Segment, SegmentError, SegmentSource, Segments, Tag, TagRecord};

/// The rows of a table, which several sources may share, as processes share a database.
#[derive(Clone, Default)]
pub struct Rows(Arc<State>);

#[derive(Default)]
struct State {
    rows: Mutex<BTreeMap<String, Row>>,
    /// How long a load takes, in microseconds.
    delay_us: AtomicU64,
    /// The error of every load.
    failure: Mutex<Option<fn() -> SegmentError>>,
    /// Calls so far.
    calls: AtomicUsize,
    /// Calls that run now, and the most that ever did.
    running: AtomicUsize,
    most_running: AtomicUsize,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub next: u64,
    pub step: u64,
    pub delta: u64,
    pub max_step: Option<u64>,
    /// Others take so many numbers after each load.
    pub gap: u64,
    /// In addition to the delay of all rows.
    pub delay: Duration,
}

pub fn row(step: u64) -> Row {
    Row { next: 1, step, delta: 1, max_step: None, gap: 0, delay: Duration::ZERO }
}

impl Rows {
    pub fn with(self, tag: &str, row: Row) -> Rows {
        self.0.rows.lock().unwrap().insert(tag.to_owned(), row);
        self
    }

    pub fn has(&self, tag: &str) -> bool {
        self.0.rows.lock().unwrap().contains_key(tag)
    }

    pub fn remove(&self, tag: &str) {
        self.0.rows.lock().unwrap().remove(tag);
    }

    /// The number that `tag` gives next.
    pub fn next(&self, tag: &str) -> u64 {
        self.0.rows.lock().unwrap()[tag].next
    }

    pub fn set_delay(&self, delay: Duration) {
        self.0.delay_us.store(delay.as_micros().try_into().unwrap(), Ordering::SeqCst);
    }

    /// From now on all calls fail in this way, or none.
    pub fn fail(&self, failure: Option<fn() -> SegmentError>) {
        *self.0.failure.lock().unwrap() = failure;
    }

    pub fn calls(&self) -> usize {
        self.0.calls.load(Ordering::SeqCst)
    }

    pub fn most_running(&self) -> usize {
        self.0.most_running.load(Ordering::SeqCst)
    }

    pub fn segments(&self) -> Segments {
        self.builder().build().unwrap()
    }

    pub fn builder(&self) -> Builder {
        Segments::builder().source(self.clone())
    }

    /// Runs `call` on the row, as a database does: after a while, or not at all.
    fn call<T>(
        &self,
        tag: &str,
        call: impl FnOnce(&mut Row) -> Result<T, SegmentError>,
    ) -> Result<T, SegmentError> {
        self.0.calls.fetch_add(1, Ordering::SeqCst);
        let running = self.0.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.most_running.fetch_max(running, Ordering::SeqCst);
        let of_row = self.0.rows.lock().unwrap().get(tag).map(|row| row.delay);
        let delay = Duration::from_micros(self.0.delay_us.load(Ordering::SeqCst));
        thread::sleep(delay + of_row.unwrap_or_default());
        self.0.running.fetch_sub(1, Ordering::SeqCst);
        let failure = *self.0.failure.lock().unwrap();
        if let Some(failure) = failure {
            return Err(failure());
        }
        let mut rows = self.0.rows.lock().unwrap();
        if let Some(row) = rows.get_mut(tag) {
            return call(row);
        }
        let alike = rows.keys().filter(|known| known[..1] == tag[..1]).cloned().collect();
        Err(SegmentError::NoSuchTag { store: "rows".into(), tag: tag.to_owned(), alike })
    }
}

impl SegmentSource for Rows {
    fn name(&self) -> String {
        "rows".to_owned()
    }

    fn load(&self, tag: &str, count: Option<u64>) -> Result<Segment, SegmentError> {
        self.call(tag, |row| {
            let count = count.unwrap_or(row.step);
            let first = row.next;
            row.next += (count + row.gap) * row.delta;
            let mut segment = Segment::new(first, count, row.delta, first + count * row.delta);
            segment.step = row.step;
            segment.max_step = row.max_step;
            Ok(segment)
        })
    }

    fn give_back(&self, tag: &str, unused: &Segment) -> Result<bool, SegmentError> {
        self.call(tag, |row| {
            let is_last = row.next == unused.row_end;
            if is_last {
                row.next = unused.first;
            }
            Ok(is_last)
        })
    }

    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        Ok(Vec::new())
    }

    fn create(&self, tag: &str, _: &Tag) -> Result<TagRecord, SegmentError> {
        let mut rows = self.0.rows.lock().unwrap();
        let row = rows.entry(tag.to_owned()).or_insert(row(1000));
        Ok(TagRecord::new(tag, row.next, row.step, row.delta))
    }
}

pub fn unreachable() -> SegmentError {
    SegmentError::unreachable("the test pulled the plug")
}

/// Waits for what must come, however slow the machine is.
pub fn wait_for(what: &str, mut came: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !came() {
        assert!(begin.elapsed() < Duration::from_secs(60), "no {what}");
        thread::sleep(Duration::from_millis(1));
    }
}
