//! Models of the protocols by which uidring keeps ids apart, for a search through all their states.
//! README.md says what they contain.

#![allow(clippy::missing_errors_doc, clippy::must_use_candidate)] // for the tests beside it alone

pub mod leases;
pub mod search;
pub mod segments;

/// The rules in force: all but one, or all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules<R> {
    without: Option<R>,
}

impl<R: PartialEq> Rules<R> {
    pub const ALL: Rules<R> = Rules { without: None };

    pub fn without(rule: R) -> Rules<R> {
        Rules { without: Some(rule) }
    }

    pub fn have(self, rule: R) -> bool {
        self.without != Some(rule)
    }
}
