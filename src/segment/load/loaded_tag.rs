//! [`LoadedTag`]: a tag with its loader state.

#[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
use crate::engine::fork::Abandon;
#[cfg(feature = "series")]
use crate::segment::SegmentError;
use crate::segment::load::tag_state::TagState;
use crate::segment::tag::engine::TagEngine;
use crate::support::named::Named;
use crate::sync::Mutex;
#[cfg(feature = "series")]
use crate::sync::lock;

/// A tag with its loader state. Handles and the loader share this one allocation, which is most of
/// the cost of an idle tag.
#[derive(Debug)]
#[repr(C)]
pub struct LoadedTag {
    pub name: Box<str>,
    /// Locked only by the scheduler and by `status`.
    pub state: Mutex<TagState>,
    /// The part that takers use. It comes last, because they write its first word, and nobody reads
    /// what lies before that word while numbers are in memory.
    pub engine: TagEngine,
}

impl LoadedTag {
    /// How the first load ended: `None` before its end.
    #[cfg(feature = "series")]
    pub fn first_load(&self) -> Option<Result<(), SegmentError>> {
        let state = lock(&self.state);
        match &state.last_failure {
            _ if state.last_size > 0 => Some(Ok(())),
            Some(error) => Some(Err(SegmentError::clone(error))),
            None => None,
        }
    }

    /// Whether the tag is given up.
    #[cfg(feature = "series")]
    pub fn is_retired(&self) -> bool {
        lock(&self.state).is_retired()
    }
}

impl Named for LoadedTag {
    fn name(&self) -> &str {
        &self.name
    }
}

#[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
impl Abandon for LoadedTag {
    fn abandon(&self) {
        self.engine.abandon();
    }
}
