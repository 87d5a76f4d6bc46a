//! Several databases of tinyid, of which one is taken by turns.

use std::collections::BTreeMap;
use std::fmt;

use super::sql_segments::SqlSegments;
use super::table::Tables;
use super::tinyid::TinyId;
use crate::backend::StorageError;
use crate::segment::source::round_robin::{RoundRobin, more_informative};
use crate::segment::{Segment, SegmentError, SegmentSource, Tag, TagRecord};
use crate::sync::{Mutex, lock};

/// Numbers of tags from several databases of tinyid: each load takes one of them, by turns, and
/// another one when that is away.
///
/// Each database has a row of the same tag, with the number of databases as its `delta`, and a
/// `remainder` of its own. So their numbers differ, also where one is away for long; but they are
/// in order within each database alone. Where two databases disagree about a tag's delta, or have
/// the same remainder, the tag is refused.
///
/// ```no_run
/// # #[cfg(feature = "mysql")] {
/// use uidring::segment::{MySqlSegments, TinyIdSegments};
///
/// let a = MySqlSegments::open("mysql://tinyid@a.example.com/tinyid")?.tinyid();
/// let b = MySqlSegments::open("mysql://tinyid@b.example.com/tinyid")?.tinyid();
/// let source = TinyIdSegments::new([a, b]);
/// # }
/// # Ok::<(), uidring::segment::SegmentError>(())
/// ```
pub struct TinyIdSegments {
    databases: Vec<Box<dyn TinyIdDatabase>>,
    rotation: RoundRobin,
    /// Which numbers each tag has in each database, where that is known.
    streams: Mutex<BTreeMap<String, Vec<Option<Stream>>>>,
}

/// The numbers of a tag in one database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stream {
    delta: u64,
    remainder: u64,
}

impl Stream {
    /// The numbers to which `number` belongs.
    fn with(number: u64, delta: u64) -> Stream {
        Stream { delta, remainder: number % delta.max(1) }
    }
}

/// A database of tinyid, of any kind: what [`tinyid`](super::SqlSegments::tinyid) returns.
pub trait TinyIdDatabase: SegmentSource {
    /// Creates the tag with this delta and remainder, or returns the row that is there.
    #[doc(hidden)]
    fn create_one_of(
        &self,
        tag: &str,
        new: &Tag,
        delta: i64,
        remainder: i64,
    ) -> Result<TagRecord, SegmentError>;
}

impl<D: Tables> TinyIdDatabase for SqlSegments<D, TinyId> {
    fn create_one_of(
        &self,
        tag: &str,
        new: &Tag,
        delta: i64,
        remainder: i64,
    ) -> Result<TagRecord, SegmentError> {
        self.create_with(tag, new, delta, remainder)
    }
}

impl TinyIdSegments {
    /// The numbers of these databases: sources that
    /// [`tinyid`](super::SqlSegments::tinyid) returned. They are of one kind;
    /// [`and`](TinyIdSegments::and) adds one of another.
    pub fn new<D: TinyIdDatabase>(databases: impl IntoIterator<Item = D>) -> TinyIdSegments {
        let none = TinyIdSegments {
            databases: Vec::new(),
            rotation: RoundRobin::of(0),
            streams: Mutex::default(),
        };
        databases.into_iter().fold(none, TinyIdSegments::and)
    }

    /// The same, with one more database.
    #[must_use]
    pub fn and(mut self, database: impl TinyIdDatabase) -> TinyIdSegments {
        self.databases.push(Box::new(database));
        self.rotation.add();
        self
    }

    fn note_away(&self, index: usize, is_away: bool) {
        if is_away { self.rotation.failed(index, None) } else { self.rotation.answered(index) }
    }

    /// Refuses a tag whose numbers are not each database's own. `segment` was loaded from the
    /// database `index`.
    fn check(&self, tag: &str, index: usize, segment: &Segment) -> Result<(), SegmentError> {
        let is_new = !lock(&self.streams).contains_key(tag);
        let mut found = vec![None; self.databases.len()];
        if is_new {
            // Another process may get its numbers from there already.
            for other in (0..found.len()).filter(|other| *other != index) {
                if !self.rotation.is_away(other) {
                    found[other] = self.stream(tag, other);
                }
            }
        }
        found[index] = Some(Stream::with(segment.first, segment.delta));
        let mut streams = lock(&self.streams);
        let known = streams.entry(tag.to_owned()).or_insert_with(|| vec![None; found.len()]);
        for (known, found) in known.iter_mut().zip(found) {
            *known = found.or(*known);
        }
        self.refuse_common_numbers(tag, known)
    }

    /// The numbers of `tag` in the database `index`, if it is there to ask.
    fn stream(&self, tag: &str, index: usize) -> Option<Stream> {
        let tags = self.databases[index].tags();
        self.note_away(index, tags.as_ref().is_err_and(SegmentError::is_transient));
        let record = tags.ok()?.into_iter().find(|record| record.tag == tag)?;
        Some(Stream::with(record.next, record.delta))
    }

    fn refuse_common_numbers(
        &self,
        tag: &str,
        streams: &[Option<Stream>],
    ) -> Result<(), SegmentError> {
        let known: Vec<(usize, Stream)> = streams
            .iter()
            .enumerate()
            .filter_map(|(index, stream)| Some((index, (*stream)?)))
            .collect();
        for (at, (index, one)) in known.iter().enumerate() {
            for (other_index, other) in &known[..at] {
                if one.delta == other.delta && one.remainder != other.remainder {
                    continue;
                }
                return Err(SegmentError::BadRow {
                    store: self.databases[*index].name(),
                    tag: tag.to_owned(),
                    problem: format!(
                        "its delta is {} and its remainder {}, and in {} they are {} and {}, so \
                         that both would give the same numbers; set the same delta in all \
                         databases, and in each a remainder of its own",
                        one.delta,
                        one.remainder,
                        self.databases[*other_index].name(),
                        other.delta,
                        other.remainder
                    ),
                });
            }
        }
        Ok(())
    }

    fn no_databases() -> SegmentError {
        let problem = "TinyIdSegments was given none; give it one or more";
        StorageError::unusable("the tags in no database".to_owned(), problem).into()
    }

    /// What the databases give together, of which `each` was asked. Fails if none answered.
    fn any<T>(
        &self,
        mut each: impl FnMut(usize) -> Result<T, SegmentError>,
    ) -> Result<Vec<T>, SegmentError> {
        let mut answers = Vec::new();
        let mut failure = None;
        for index in 0..self.databases.len() {
            match each(index) {
                Ok(answer) => answers.push(answer),
                Err(error) => failure = Some(more_informative(failure, error)),
            }
        }
        if answers.is_empty() {
            return Err(failure.unwrap_or_else(TinyIdSegments::no_databases));
        }
        Ok(answers)
    }
}

/// The records of one tag in several databases as one: the numbers that come next.
fn merged(records: Vec<TagRecord>) -> Vec<TagRecord> {
    let mut tags: BTreeMap<String, TagRecord> = BTreeMap::new();
    for record in records {
        match tags.get(&record.tag) {
            Some(known) if known.next <= record.next => {}
            _ => drop(tags.insert(record.tag.clone(), record)),
        }
    }
    tags.into_values().collect()
}

impl SegmentSource for TinyIdSegments {
    fn name(&self) -> String {
        let names: Vec<String> = self.databases.iter().map(SegmentSource::name).collect();
        names.join(", ")
    }

    fn load(&self, tag: &str, count: Option<u64>) -> Result<Segment, SegmentError> {
        let mut failure = None;
        for index in self.rotation.next() {
            match self.databases[index].load(tag, count) {
                Ok(segment) => {
                    self.note_away(index, false);
                    if let Err(error) = self.check(tag, index, &segment) {
                        // If that fails, its numbers are lost.
                        let _ = self.databases[index].give_back(tag, &segment);
                        return Err(error);
                    }
                    return Ok(Segment { database: index, ..segment });
                }
                // The numbers of another database may be the same.
                Err(error @ SegmentError::BadRow { .. }) => return Err(error),
                Err(error) => {
                    self.note_away(index, error.is_transient());
                    failure = Some(more_informative(failure, error));
                }
            }
        }
        Err(failure.unwrap_or_else(TinyIdSegments::no_databases))
    }

    fn give_back(&self, tag: &str, unused: &Segment) -> Result<bool, SegmentError> {
        match self.databases.get(unused.database) {
            Some(database) => database.give_back(tag, unused),
            None => Ok(false),
        }
    }

    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        let records = self.any(|index| self.databases[index].tags())?;
        Ok(merged(records.into_iter().flatten().collect()))
    }

    /// Creates `tag` in all databases, each with a remainder of its own. All of them must be there.
    fn create(&self, tag: &str, new: &Tag) -> Result<TagRecord, SegmentError> {
        let mut streams = Vec::new();
        for database in &self.databases {
            let found = database.tags()?.into_iter().find(|record| record.tag == tag);
            // Before it is made in any of them.
            if let Some(there) = &found {
                new.check(&database.name(), there)?;
            }
            streams.push(found.map(|record| Stream::with(record.next, record.delta)));
        }
        self.refuse_common_numbers(tag, &streams)?;
        let all = streams.len() as u64;
        let delta = streams.iter().flatten().next().map_or(all, |stream| stream.delta);
        let taken: Vec<u64> = streams.iter().flatten().map(|stream| stream.remainder).collect();
        let mut free = (0..delta).filter(|remainder| !taken.contains(remainder));
        let mut records = Vec::new();
        for (database, stream) in self.databases.iter().zip(streams) {
            let stream = stream.or_else(|| Some(Stream { delta, remainder: free.next()? }));
            let Some(Stream { delta, remainder }) = stream else {
                let problem = format!(
                    "its delta is {delta}, and there are {all} databases; each needs a remainder \
                     of its own"
                );
                let (store, tag) = (database.name(), tag.to_owned());
                return Err(SegmentError::BadRow { store, tag, problem });
            };
            let [delta, remainder] =
                [delta, remainder].map(|n| i64::try_from(n).unwrap_or(i64::MAX));
            records.push(database.create_one_of(tag, new, delta, remainder)?);
        }
        // Another process may have created some of them meanwhile, with other remainders.
        let stream = |record: &TagRecord| Some(Stream::with(record.next, record.delta));
        self.refuse_common_numbers(tag, &records.iter().map(stream).collect::<Vec<_>>())?;
        merged(records).pop().ok_or_else(TinyIdSegments::no_databases)
    }
}

impl fmt::Debug for TinyIdSegments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TinyIdSegments").field(&self.name()).finish()
    }
}
