//! [`LoadedTag`]: a tag with its loader state.

#[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
use crate::engine::fork::Abandon;
use crate::segment::load::stock::Stock;
use crate::segment::tag::engine::TagEngine;
use crate::sync::Mutex;

/// A tag with its loader state. Handles and the loader share this one allocation, which is most of
/// the cost of an idle tag.
#[derive(Debug)]
pub struct LoadedTag {
    pub name: Box<str>,
    /// The part that takers use.
    pub engine: TagEngine,
    /// Locked only by the scheduler and by `status`.
    pub stock: Mutex<Stock>,
}

#[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
impl Abandon for LoadedTag {
    fn abandon(&self) {
        self.engine.abandon();
    }
}
