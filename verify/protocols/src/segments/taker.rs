//! What a process does with the segments of a tag, as `src/segment/load/tag_state.rs` has it.

use super::table::Segment;
use super::{Key, Number, Rule, Rules};

/// A process that takes numbers of a tag.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Taker {
    /// The row that it knows.
    pub key: Option<Key>,
    /// What has yet to be handed out, in order. Segments without a gap between them are one.
    pub loaded: Vec<Segment>,
    /// The last number that was loaded.
    pub last: Number,
    /// Whether the row gave numbers that it had given before.
    pub went_back: bool,
}

/// What becomes of a loaded segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    Accepted,
    WentBack,
}

impl Taker {
    pub fn may_load(&self, rules: Rules) -> bool {
        !self.went_back || !rules.have(Rule::StopsAfterGoingBack)
    }

    pub fn receive(&mut self, segment: Segment, key: Key, rules: Rules) -> Received {
        self.key = self.key.or(Some(key));
        let is_known = self.last > 0 && segment.first <= self.last;
        if is_known && rules.have(Rule::InOrder) {
            self.went_back = true;
            return Received::WentBack;
        }
        self.last = segment.row_end;
        match self.loaded.last_mut() {
            Some(last) if last.first + last.count == segment.first => {
                (last.count, last.row_end) = (last.count + segment.count, segment.row_end);
            }
            _ => self.loaded.push(segment),
        }
        Received::Accepted
    }

    /// Hands out the next number.
    pub fn take(&mut self) -> Option<Number> {
        let segment = self.loaded.first_mut()?;
        let number = segment.first;
        (segment.first, segment.count) = (segment.first + 1, segment.count - 1);
        if segment.count == 0 {
            self.loaded.remove(0);
        }
        Some(number)
    }

    /// Whether there is a number to hand out.
    pub fn has_next(&self) -> bool {
        !self.loaded.is_empty()
    }

    /// What is given back at the end.
    pub fn unused(&self, rules: Rules) -> Option<Segment> {
        // Others may have taken the row to the same end again.
        if self.went_back && rules.have(Rule::StopsAfterGoingBack) {
            return None;
        }
        let mut tail = *self.loaded.last()?;
        if !rules.have(Rule::GaplessTail) {
            tail.first = self.loaded.first()?.first;
        }
        if !rules.have(Rule::OnlyUnused) {
            tail.first = tail.first.saturating_sub(1).max(1);
        }
        let count = tail.row_end + 1 - tail.first;
        Some(Segment { count, ..tail })
    }
}
