//! Dense numbers in a store of keys: etcd, ZooKeeper or Redis.
//!
//! `segments/orders` is the row of the tag "orders". Times are milliseconds since 1970, by the
//! store's clock.

use std::time::Duration;

use super::admin::{SegmentAdmin, TagChange};
use super::limits::Limits;
use super::row::{Counting, Row, last_before, similar_names};
use super::row_identities::{NotReturnable, RowIdentities};
use crate::backend::error;
use crate::backend::keys::{
    Call, Client, Document, Error, ErrorPhrases, KeyStore, Transaction, last_name, name_of, text_of,
};
use crate::clock::{Stopwatch, from_unix_ms};
use crate::segment::{Segment, SegmentError, SegmentSource, Tag, TagRecord};
use crate::sync::{Mutex, lock};

type Fault = error::Fault<SegmentError>;

const SEGMENTS: &str = "segments";

const PHRASES: ErrorPhrases = ErrorPhrases {
    subject: "the tags in",
    missing_tables: "",
    incompatible_tables: "",
    not_a_database: "",
    unrelated_tables: "",
    permissions: "give this user the rights to read, write and remove the keys in its folder",
};

const COUNTING: Counting = Counting { end: LAST_NUMBER, ahead: 0, whole_steps: false };

const LIMITS: Limits = Limits {
    name: SEGMENTS,
    width: 128,
    largest: i64::MAX.unsigned_abs(),
    largest_step: i64::MAX.unsigned_abs(),
    has_max_step: true,
    has_description: true,
};

const LAST_NUMBER: &str = "last_number";
const STEP: &str = "step";
const MAX_STEP: &str = "max_step";
const DESCRIPTION: &str = "description";
const MODIFIED: &str = "modified";
const CREATED: &str = "created";
/// A random number that tells the row from a later one of the same tag.
const ROW: &str = "row";

/// The random number of a row has as many bits as every reader of JSON keeps.
const ROW_BITS: u32 = 53;

/// Dense numbers from a store of keys.
#[derive(Clone, Debug)]
pub struct KeySegments<K> {
    pub(crate) client: Client<K>,
    rows: RowIdentities,
}

impl<K: KeyStore> KeySegments<K> {
    /// The tags in `store`.
    pub(crate) fn on(store: K) -> Self {
        KeySegments { client: Client::new(store), rows: RowIdentities::default() }
    }

    /// Runs `body` in a transaction on the row of `tag`.
    fn change<T: Send>(
        &self,
        tag: &str,
        doing: &str,
        body: impl Fn(&mut Transaction<'_>, &str, Option<Document>) -> Result<T, Fault> + Sync,
    ) -> Result<T, SegmentError> {
        let key = &*format!("{SEGMENTS}/{}", name_of(tag));
        self.client.transact(
            &Call { phrases: &PHRASES, doing, keys: &[key], is_advice: false },
            |transaction| {
                let document = transaction.read(key)?;
                body(transaction, key, document)
            },
        )
    }

    /// The same, where it fails if there is no such row.
    fn change_row<T: Send>(
        &self,
        tag: &str,
        doing: &str,
        body: impl Fn(&mut Transaction<'_>, &str, Document, Row) -> Result<T, Fault> + Sync,
    ) -> Result<T, SegmentError> {
        let since = Stopwatch::start();
        let result = self.change(tag, doing, |transaction, key, document| match document {
            Some(document) => {
                let row = row_of(tag, key, &document)?;
                body(transaction, key, document, row)
            }
            None => Err(Fault::Refused(self.no_such_tag(tag, Vec::new()))),
        });
        match result {
            Err(SegmentError::NoSuchTag { .. }) => {
                Err(self.no_such_tag(tag, self.similar_names(tag, since.elapsed())))
            }
            result => result,
        }
    }

    fn no_such_tag(&self, tag: &str, alike: Vec<String>) -> SegmentError {
        SegmentError::NoSuchTag { store: self.name(), tag: tag.to_owned(), alike }
    }

    /// The tags that are like `tag`, for an error, after a call that took so long. There are none
    /// where they cannot be listed in a part of the time: without them, the error is as true.
    fn similar_names(&self, tag: &str, taken: Duration) -> Vec<String> {
        let mut client = self.client.clone();
        client.timeout = client.timeout.saturating_sub(taken) / 4;
        let call =
            Call { phrases: &PHRASES, doing: "read the tags in", keys: &[], is_advice: false };
        let listed = client
            .transact::<_, SegmentError>(&call, |transaction| Ok(transaction.list(SEGMENTS)?));
        let names = listed.unwrap_or_default().into_iter().map(|(key, _)| tag_at(&key));
        // Others may have created it since.
        similar_names(tag, names.filter(|name| name != tag))
    }

    /// Fails unless `row` gives numbers, and is the one that gave them before.
    fn check_row(&self, row: &Row) -> Result<(), SegmentError> {
        match row.check_key(self.rows.key(&row.tag)).or_else(|| row.problem(COUNTING)) {
            None => Ok(()),
            Some(problem) => {
                let (store, tag) = (self.name(), row.tag.clone());
                Err(SegmentError::BadRow { store, tag, problem })
            }
        }
    }
}

impl<K: KeyStore> SegmentSource for KeySegments<K> {
    fn name(&self) -> String {
        self.client.store.name()
    }

    fn load(&self, tag: &str, count: Option<u64>) -> Result<Segment, SegmentError> {
        let doing = "take numbers from";
        let (segment, key) = self.change_row(tag, doing, |transaction, key, document, row| {
            self.check_row(&row).map_err(Fault::Refused)?;
            let Some(range) = row.next(count, COUNTING) else {
                let (store, tag, last) = (self.name(), row.tag, row.last.unsigned_abs());
                return Err(Fault::Refused(SegmentError::RanOut { store, tag, last }));
            };
            put(transaction, key, document.with(LAST_NUMBER, range.last))?;
            Ok((row.segment(range, COUNTING), row.key))
        })?;
        self.rows.gave(tag, key);
        Ok(segment)
    }

    fn give_back(&self, tag: &str, unused: &Segment) -> Result<bool, SegmentError> {
        let end = last_before(unused.first);
        let row_end = i64::try_from(unused.row_end).unwrap_or(i64::MAX);
        if end >= row_end {
            return Ok(false);
        }
        // Another row may have come to the same end.
        let row_key = match self.rows.key_for_return(tag, unused) {
            Ok(key) => key,
            Err(NotReturnable) => return Ok(false),
        };
        self.change(tag, "give numbers back to", |transaction, key, document| {
            // An earlier run may have been made without an answer. If others have taken just these
            // numbers since, the row ends where it did, and they would be given back from under
            // them.
            if transaction.attempt() > 0 {
                return Ok(false);
            }
            let Some(document) = document else { return Ok(false) };
            let row = row_of(tag, key, &document)?;
            if row.last != row_end || row_key.is_some_and(|key| key != row.key) {
                return Ok(false);
            }
            put(transaction, key, document.with(LAST_NUMBER, end))?;
            Ok(true)
        })
    }

    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        let call =
            Call { phrases: &PHRASES, doing: "read the tags in", keys: &[], is_advice: false };
        let mut tags =
            self.client.transact::<Vec<TagRecord>, SegmentError>(&call, |transaction| {
                let documents = transaction.list(SEGMENTS)?;
                let record = |(key, document): &(String, Document)| {
                    Ok(record(&row_of(&tag_at(key), key, document)?, document))
                };
                Ok(documents.iter().map(record).collect::<Result<_, Error>>()?)
            })?;
        tags.sort_by(|one, other| one.tag.cmp(&other.tag));
        Ok(tags)
    }

    fn newest_tags(&self, most: usize) -> Result<(Vec<TagRecord>, u64), SegmentError> {
        let call =
            Call { phrases: &PHRASES, doing: "read the tags in", keys: &[], is_advice: false };
        self.client.transact::<_, SegmentError>(&call, |transaction| {
            let (mut newest, mut all) = (Vec::new(), 0);
            transaction.each(SEGMENTS, &mut |key, document| {
                newest.push(record(&row_of(&tag_at(key), key, document)?, document));
                all += 1;
                // So many more than it may have that it is seldom sorted.
                if newest.len() >= most.saturating_mul(2).max(1_000) {
                    keep_newest(&mut newest, most);
                }
                Ok(())
            })?;
            keep_newest(&mut newest, most);
            Ok((newest, all))
        })
    }

    fn create(&self, tag: &str, new: &Tag) -> Result<TagRecord, SegmentError> {
        let row = LIMITS.new_row(tag, new)?;
        self.change(tag, "create a tag in", |transaction, key, document| {
            if let Some(document) = document {
                let record = record(&row_of(tag, key, &document)?, &document);
                new.check(&self.name(), &record).map_err(Fault::Refused)?;
                return Ok(record);
            }
            let now = transaction.now()?;
            let document = Document::new()
                .with(LAST_NUMBER, row.last)
                .with(STEP, row.step)
                .with(MAX_STEP, row.max_step)
                .with(DESCRIPTION, new.description.as_deref())
                .with(CREATED, now)
                .with(ROW, row_number()?);
            put(transaction, key, document).map(|document| record(&row, &document))
        })
    }
}

impl<K: KeyStore> SegmentAdmin for KeySegments<K> {
    fn set(&self, tag: &str, change: &TagChange) -> Result<TagRecord, SegmentError> {
        LIMITS.check_change(tag, change)?;
        self.change_row(tag, "change a tag in", |transaction, key, document, row| {
            let row = LIMITS.changed(&self.name(), &row, change).map_err(Fault::Refused)?;
            let mut document = document
                .with(LAST_NUMBER, row.last)
                .with(STEP, row.step)
                .with(MAX_STEP, row.max_step);
            if let Some(description) = &change.description {
                document = document.with(DESCRIPTION, description.as_str());
            }
            put(transaction, key, document).map(|document| record(&row, &document))
        })
    }

    fn remove(&self, tag: &str, next: Option<u64>) -> Result<TagRecord, SegmentError> {
        let first_seen = Mutex::new(None);
        let removed =
            self.change_row(tag, "remove a tag from", |transaction, key, document, row| {
                // An earlier run may have been made without an answer. Then this row is another's.
                if row.key != *lock(&first_seen).get_or_insert(row.key) {
                    return Err(Fault::Refused(self.no_such_tag(tag, Vec::new())));
                }
                let record = record(&row, &document);
                if let Some(seen) = next.filter(|seen| *seen != record.next) {
                    let (store, tag, next) = (self.name(), record.tag, record.next);
                    return Err(Fault::Refused(SegmentError::Moved { store, tag, next, seen }));
                }
                transaction.remove(key);
                Ok(record)
            })?;
        self.rows.removed(tag, removed.next);
        Ok(removed)
    }
}

/// Leaves the `most` that were changed last, those first.
fn keep_newest(tags: &mut Vec<TagRecord>, most: usize) {
    tags.sort_by(TagRecord::newest_first);
    tags.truncate(most);
}

/// The tag whose row is at `key`.
fn tag_at(key: &str) -> String {
    text_of(last_name(key))
}

/// Writes the row at `key`, and returns it as it is then.
fn put(
    transaction: &mut Transaction<'_>,
    key: &str,
    document: Document,
) -> Result<Document, Fault> {
    let document = document.with(MODIFIED, transaction.now()?);
    transaction.put(key, document.clone());
    Ok(document)
}

/// The row of `tag`, whose document at `key` this is.
fn row_of(tag: &str, key: &str, document: &Document) -> Result<Row, Error> {
    let int = |name: &str| document.int(name).ok_or_else(|| document.invalid_field(key, name));
    Ok(Row {
        tag: tag.to_owned(),
        last: int(LAST_NUMBER)?,
        step: int(STEP)?,
        max_step: if document.lacks(MAX_STEP) { None } else { Some(int(MAX_STEP)?) },
        delta: 1,
        remainder: 0,
        version: 0,
        key: int(ROW)?,
    })
}

fn record(row: &Row, document: &Document) -> TagRecord {
    let updated = document.int(MODIFIED).and_then(|ms| from_unix_ms(ms.into()));
    row.record(document.text(DESCRIPTION).map(str::to_owned), updated)
}

fn row_number() -> Result<i64, Error> {
    let number = u64::from_str_radix(&error::random_text()?[..16], 16);
    Ok(number.map_or(0, |number| number >> (u64::BITS - ROW_BITS)).cast_signed())
}
