//! What a process notes, so that it can be told afterwards where each number is.

use std::fs::{self, File};
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};

use uidring::StorageError;
use uidring::segment::{Segment, SegmentError, SegmentSource, Tag, TagRecord};
use uidring::store::StoreSegments;

/// The three tables of tags.
pub const TABLES: [&str; 3] = ["own", "leaf", "tinyid"];

/// The distance of the numbers of each table, and what remains when they are divided by it.
pub const NUMBERS: [(u64, u64); 3] = [(1, 0), (1, 0), (3, 2)];

/// The step of each row.
pub const STEP: u64 = 1000;

/// The numbers of a table counted without their distance, so that they follow one another.
pub fn indices(table: usize, first: u64, count: u64) -> Range<u64> {
    let (delta, remainder) = NUMBERS[table];
    assert_eq!(first % delta, remainder, "{first} is a number of {}", TABLES[table]);
    first / delta..first / delta + count
}

/// The numbers in `range` that belong to the table.
pub fn indices_in(table: usize, range: Range<u64>) -> Range<u64> {
    let (delta, remainder) = NUMBERS[table];
    let before = |end: u64| (end + delta - 1 - remainder) / delta;
    before(range.start)..before(range.end)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A load begins. So many numbers are asked for.
    Load,
    Loaded,
    /// Nothing was loaded, or it is unknown.
    LoadFailed,
    /// Nothing was loaded.
    LoadRefused,
    GiveBack,
    GivenBack,
    /// Others have taken from the row since.
    NotGivenBack,
    /// It is unknown whether it was.
    GiveBackFailed,
    Taken,
    /// This process lost this many numbers.
    Astray,
}

const WHATS: [What; 10] = [
    What::Load,
    What::Loaded,
    What::LoadFailed,
    What::LoadRefused,
    What::GiveBack,
    What::GivenBack,
    What::NotGivenBack,
    What::GiveBackFailed,
    What::Taken,
    What::Astray,
];

#[derive(Clone, Debug)]
pub struct Entry {
    pub what: What,
    pub table: usize,
    /// Of the numbers without their distance; where there are none, from 0 to how many.
    pub range: Range<u64>,
}

/// A file of entries, which many threads write.
#[derive(Clone)]
pub struct Log(Arc<Mutex<File>>);

impl Log {
    pub fn new(path: &Path) -> Log {
        Log(Arc::new(Mutex::new(File::create(path).unwrap())))
    }

    pub fn note(&self, entries: &[Entry]) {
        let bytes = entries.iter().flat_map(|entry| {
            let what = WHATS.iter().position(|what| *what == entry.what).unwrap();
            [what as u64, entry.table as u64, entry.range.start, entry.range.end]
        });
        let bytes: Vec<u8> = bytes.flat_map(u64::to_le_bytes).collect();
        self.0.lock().unwrap().write_all(&bytes).unwrap();
    }

    pub fn read(path: &Path) -> Vec<Entry> {
        // There is none where the process was killed early; a killed one can leave half an entry.
        let bytes = fs::read(path).unwrap_or_default();
        let entry = |bytes: &[u8]| {
            let word =
                |at: usize| u64::from_le_bytes(bytes[at * 8..at * 8 + 8].try_into().unwrap());
            let what = WHATS[usize::try_from(word(0)).unwrap()];
            let table = usize::try_from(word(1)).unwrap();
            Entry { what, table, range: word(2)..word(3) }
        };
        bytes.chunks_exact(32).map(entry).collect()
    }
}

/// Notes what a source of numbers does.
pub struct Noted {
    pub table: usize,
    pub source: StoreSegments,
    pub log: Log,
}

impl Noted {
    fn note(&self, what: What, range: Range<u64>) {
        self.log.note(&[Entry { what, table: self.table, range }]);
    }
}

impl SegmentSource for Noted {
    fn name(&self) -> String {
        self.source.name()
    }

    fn load(&self, tag: &str, count: Option<u64>) -> Result<Segment, SegmentError> {
        self.note(What::Load, 0..count.unwrap_or(STEP));
        let result = self.source.load(tag, count);
        match &result {
            Ok(segment) => {
                assert_eq!(segment.delta, NUMBERS[self.table].0);
                self.note(What::Loaded, indices(self.table, segment.first, segment.count));
            }
            Err(SegmentError::Storage(StorageError::Locked { .. })) => {
                self.note(What::LoadRefused, 0..0);
            }
            Err(_) => self.note(What::LoadFailed, 0..0),
        }
        result
    }

    fn give_back(&self, tag: &str, unused: &Segment) -> Result<bool, SegmentError> {
        let range = indices(self.table, unused.first, unused.count);
        self.note(What::GiveBack, range.clone());
        let result = self.source.give_back(tag, unused);
        let what = match result {
            Ok(true) => What::GivenBack,
            Ok(false) => What::NotGivenBack,
            Err(_) => What::GiveBackFailed,
        };
        self.note(what, range);
        result
    }

    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        self.source.tags()
    }

    fn create(&self, tag: &str, new: &Tag) -> Result<TagRecord, SegmentError> {
        self.source.create(tag, new)
    }
}
