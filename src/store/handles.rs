//! [`StoreRegistry`] and [`StoreSegments`]: what a store gives to generators and operators.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::SystemTime;

use super::kind::AnyRegistry;
use crate::layout::Layout;
use crate::registry::{
    Lease, RegistryAdmin, RegistryError, Request, WorkerCounts, WorkerRecord, WorkerRegistry,
};
use crate::segment::{
    Segment, SegmentAdmin, SegmentError, SegmentSource, Tag, TagChange, TagRecord,
};
use crate::sync::Arc;

/// The worker ids of a [`Store`](super::Store), of any kind. [`RegistryAdmin`] lists those that
/// were given.
///
/// Clones and others of the same store know what it has seen of the tables, so that none of them
/// makes tables anew that were lost.
pub struct StoreRegistry(pub(super) Box<dyn AnyRegistry>);

impl Clone for StoreRegistry {
    fn clone(&self) -> StoreRegistry {
        StoreRegistry(self.0.clone_box())
    }
}

impl fmt::Debug for StoreRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StoreRegistry").field(&self.name()).finish()
    }
}

impl WorkerRegistry for StoreRegistry {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        self.0.assign(request)
    }

    fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        self.0.reserve(lease, last)
    }

    fn release(&mut self, lease: &Lease, used: u64) -> Result<(), RegistryError> {
        self.0.release(lease, used)
    }

    fn name(&self) -> String {
        self.0.name()
    }

    fn last_assigned(&mut self) -> Result<Option<SystemTime>, RegistryError> {
        self.0.last_assigned()
    }

    fn remembered_layout(&mut self) -> Result<Option<Layout>, RegistryError> {
        self.0.layout()
    }

    fn worker_ids_of(&self, layout: &Layout) -> Option<RangeInclusive<u64>> {
        self.0.worker_ids_of(layout)
    }

    fn clock_skew_ms(&self) -> Option<i64> {
        self.0.clock_skew_ms()
    }
}

impl RegistryAdmin for StoreRegistry {
    fn workers(&self) -> Result<Vec<WorkerRecord>, RegistryError> {
        self.0.workers()
    }

    fn workers_below(&self, end: u64, most: usize) -> Result<Vec<WorkerRecord>, RegistryError> {
        self.0.workers_below(end, most)
    }

    fn count_workers(&self, now: SystemTime) -> Result<WorkerCounts, RegistryError> {
        self.0.count_workers(now)
    }

    fn largest_given(&self) -> Result<u64, RegistryError> {
        self.0.largest_given()
    }

    fn layout(&self) -> Result<Option<Layout>, RegistryError> {
        self.0.layout()
    }

    fn ids(&self) -> Result<Option<RangeInclusive<u64>>, RegistryError> {
        self.0.ids()
    }

    fn revoke(&self, worker: u64) -> Result<(), RegistryError> {
        self.0.revoke(worker)
    }

    fn try_assign(&self, request: &Request) -> Result<Lease, RegistryError> {
        self.0.try_assign(request)
    }
}

/// The dense numbers of a [`Store`](super::Store), of any kind. [`SegmentAdmin`] changes and
/// removes tags.
///
/// Clones and others of the same store know what it has seen of the tables, so that none of them
/// makes tables anew that were lost.
#[derive(Clone)]
pub struct StoreSegments(pub(super) Arc<dyn SegmentAdmin>);

impl fmt::Debug for StoreSegments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StoreSegments").field(&self.name()).finish()
    }
}

impl SegmentSource for StoreSegments {
    fn name(&self) -> String {
        self.0.name()
    }

    fn load(&self, tag: &str, count: Option<u64>) -> Result<Segment, SegmentError> {
        self.0.load(tag, count)
    }

    fn give_back(&self, tag: &str, unused: &Segment) -> Result<bool, SegmentError> {
        self.0.give_back(tag, unused)
    }

    fn tags(&self) -> Result<Vec<TagRecord>, SegmentError> {
        self.0.tags()
    }

    fn newest_tags(&self, most: usize) -> Result<(Vec<TagRecord>, u64), SegmentError> {
        self.0.newest_tags(most)
    }

    fn create(&self, tag: &str, new: &Tag) -> Result<TagRecord, SegmentError> {
        self.0.create(tag, new)
    }
}

impl SegmentAdmin for StoreSegments {
    fn set(&self, tag: &str, change: &TagChange) -> Result<TagRecord, SegmentError> {
        self.0.set(tag, change)
    }

    fn remove(&self, tag: &str, next: Option<u64>) -> Result<TagRecord, SegmentError> {
        self.0.remove(tag, next)
    }
}
