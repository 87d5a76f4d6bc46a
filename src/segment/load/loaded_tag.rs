//! [`LoadedTag`]: a tag, and what the loader knows of it.

#[cfg(all(unix, not(uidring_loom)))]
use crate::engine::fork::Abandon;
use crate::segment::load::stock::Stock;
use crate::segment::tag::engine::TagEngine;
use crate::sync::Mutex;

/// A tag, and what the loader knows of it. One allocation, which handles and the loader share: most
/// of what an idle tag costs.
#[derive(Debug)]
pub struct LoadedTag {
    pub name: Box<str>,
    /// What takers use.
    pub engine: TagEngine,
    /// Only the scheduler and `status` lock it.
    pub stock: Mutex<Stock>,
}

#[cfg(all(unix, not(uidring_loom)))]
impl Abandon for LoadedTag {
    fn abandon(&self) {
        self.engine.abandon();
    }
}
