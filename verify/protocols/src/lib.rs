//! Models of the protocols by which uidring keeps ids apart, for a search through all their states.
//! README.md says what they contain.

#![allow(clippy::missing_errors_doc, clippy::must_use_candidate)] // for the tests beside it alone

pub mod leases;
pub mod lend;
pub mod past;
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

/// Notes as `broken` the first promise that is not kept.
fn promise(broken: &mut Option<&'static str>, promise: &'static str, is_kept: bool) {
    if !is_kept {
        broken.get_or_insert(promise);
    }
}

/// One of each of the equal processes, which do equal things. They are sorted.
fn distinct<P: PartialEq>(processes: &[P]) -> impl Iterator<Item = usize> {
    (0..processes.len()).filter(|&at| at == 0 || processes[at] != processes[at - 1])
}
