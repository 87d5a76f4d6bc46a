//! [`RowIdentities`]: the rows that gave numbers to this process.

use std::collections::BTreeMap;

use crate::segment::Segment;
use crate::sync::{Arc, Mutex, lock};

/// The rows that the calls of a source and of its clones took numbers from, by their tags. So a
/// process that runs notices where another row stands in the place of one.
#[derive(Clone, Debug, Default)]
pub struct RowIdentities(Arc<Mutex<BTreeMap<String, RowIdentity>>>);

/// A row that numbers were taken from.
#[derive(Clone, Copy, Debug)]
struct RowIdentity {
    key: i64,
    /// Whether this process has removed it. Another one may then stand in its place.
    is_removed: bool,
    /// Numbers below this one may be those of a row that this process has removed. They go back to
    /// no other, which may have come to the same end.
    returnable_from: u64,
}

impl RowIdentities {
    /// The key of the row that gives the numbers of `tag`, if it is known.
    pub fn key(&self, tag: &str) -> Option<i64> {
        lock(&self.0).get(tag).filter(|row| !row.is_removed).map(|row| row.key)
    }

    /// Records that the row of this key has given numbers of `tag`.
    pub fn gave(&self, tag: &str, key: i64) {
        let mut rows = lock(&self.0);
        match rows.get_mut(tag) {
            Some(row) if row.is_removed => (row.key, row.is_removed) = (key, false),
            Some(_) => {}
            None => {
                let row = RowIdentity { key, is_removed: false, returnable_from: 0 };
                rows.insert(tag.to_owned(), row);
            }
        }
    }

    /// Records that the row of `tag`, whose next number was `next`, has been removed.
    pub fn removed(&self, tag: &str, next: u64) {
        if let Some(row) = lock(&self.0).get_mut(tag) {
            row.is_removed = true;
            row.returnable_from = row.returnable_from.max(next);
        }
    }

    /// The key that a row must have to take `unused` back, if it is known. Fails if none may.
    pub fn key_for_return(
        &self,
        tag: &str,
        unused: &Segment,
    ) -> Result<Option<i64>, NotReturnable> {
        match lock(&self.0).get(tag) {
            Some(row) if row.is_removed || unused.first < row.returnable_from => Err(NotReturnable),
            row => Ok(row.map(|row| row.key)),
        }
    }
}

/// No row may take the numbers back.
#[derive(Debug)]
pub struct NotReturnable;
