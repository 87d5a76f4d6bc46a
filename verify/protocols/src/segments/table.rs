//! The row of a tag and its statements, as `src/segment/source/sql` has them.

use super::{Key, Number, Rule, Rules};

/// A table with the row of one tag, or without it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Table {
    pub row: Option<Row>,
    /// How many rows were made.
    pub keys: Key,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// The last number given.
    pub last: Number,
    pub key: Key,
}

/// Consecutive numbers that one process may hand out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Segment {
    pub first: Number,
    pub count: Number,
    /// Where the row ends since this was loaded.
    pub row_end: Number,
}

/// Why a row gives no numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    NoRow,
    /// Another row stands in the place of the one that gave numbers before.
    OtherRow,
}

impl Table {
    /// Takes the next `count` numbers, for a process that knows its row by `known`.
    pub fn load(
        &mut self,
        known: Option<Key>,
        count: Number,
        rules: Rules,
    ) -> Result<(Segment, Key), Refusal> {
        let row = self.row.as_mut().ok_or(Refusal::NoRow)?;
        if known.is_some_and(|key| key != row.key) && rules.have(Rule::SameRow) {
            return Err(Refusal::OtherRow);
        }
        let first = row.last + 1;
        row.last += count;
        Ok((Segment { first, count, row_end: row.last }, row.key))
    }

    /// Takes `unused` numbers back, from a process that knows its row by `known`. Returns whether
    /// the row was changed.
    pub fn give_back(&mut self, known: Option<Key>, unused: Segment, rules: Rules) -> bool {
        let Some(row) = &mut self.row else { return false };
        let is_its_row = known.is_none_or(|key| key == row.key) || !rules.have(Rule::BackToItsRow);
        let is_its_end = row.last == unused.row_end || !rules.have(Rule::EndMatches);
        if is_its_row && is_its_end {
            row.last = unused.first - 1;
        }
        is_its_row && is_its_end
    }

    /// Makes the row, unless it is there. Returns whether it was made.
    pub fn create(&mut self, first: Number) -> bool {
        if self.row.is_some() {
            return false;
        }
        self.keys += 1;
        self.row = Some(Row { last: first - 1, key: self.keys });
        true
    }

    /// Removes the row. Returns whether it was there.
    pub fn remove(&mut self) -> bool {
        self.row.take().is_some()
    }
}
