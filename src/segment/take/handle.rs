//! [`Handle`]: the shared part of [`SegmentGenerator`](crate::segment::SegmentGenerator) and its
//! takers.

use std::fmt;

use crate::segment::load::loaded_tag::LoadedTag;
use crate::segment::load::loader::Running;
use crate::sync::Arc;

/// A tag, and the loader that keeps it supplied.
#[derive(Clone)]
pub struct Handle {
    pub tag: Arc<LoadedTag>,
    /// The last handle ends the loader.
    pub running: Arc<Running>,
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("tag", &self.tag.name).finish_non_exhaustive()
    }
}
