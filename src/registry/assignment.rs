//! What the registries in stores have in common: which ids they give, for which layout, and how
//! they recognise their store.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::process;
use std::time::Duration;

use super::host::Host;
use super::{Lease, RegistryError};
use crate::backend::error::{self, Error};
use crate::clock::{Clock, SystemClock, from_unix_ms, saturated, unix_ms};
use crate::layout::{FieldOrder, Layout};
use crate::sync::{Arc, Mutex, lock};

pub(super) type Fault = error::Fault<RegistryError>;

/// The widest worker field has 42 bits.
const MOST_IDS: u64 = 1 << 42;

/// What the clones of a registry have been given. It identifies the store: in another one, the
/// record of an id is younger or does not exist, and in an old copy fewer ticks are reserved.
#[derive(Clone, Debug, Default)]
pub struct AssignedIds {
    ids: Arc<Mutex<BTreeMap<u64, AssignedId>>>,
    /// How far the clock of this machine was ahead of the store's when a call last asked it.
    skew_ms: Arc<Mutex<Option<i64>>>,
}

/// What a process knows of a worker id that it has been given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AssignedId {
    /// When its record was made.
    created: i64,
    /// Of a leased id, up to which tick the record says at least that it is reserved.
    reserved_until: Option<u64>,
    /// The process that knows this. A child of it does not know what it gives back later.
    process: u32,
}

/// What was given before a transaction has read anything.
#[derive(Debug)]
pub struct AssignedSnapshot {
    before: BTreeMap<u64, AssignedId>,
    assigned: AssignedIds,
}

impl AssignedIds {
    /// As it is now.
    pub fn snapshot(&self) -> AssignedSnapshot {
        AssignedSnapshot { before: lock(&self.ids).clone(), assigned: self.clone() }
    }

    /// The store has given `lease`, of an id whose record was made at `created`.
    pub fn add(&self, lease: &Lease, created: i64) {
        let reserved_until = (!lease.is_permanent()).then_some(lease.last);
        let known = AssignedId { created, reserved_until, process: process::id() };
        lock(&self.ids).insert(lease.worker, known);
    }

    /// The store has reserved the ticks of `worker` up to `last`.
    pub fn reserved(&self, worker: u64, last: u64) {
        if let Some(known) = lock(&self.ids).get_mut(&worker) {
            known.reserved_until = known.reserved_until.max(Some(last));
        }
    }

    /// The store may be told from now on that no tick of `worker` after `used` was used.
    pub fn releasing(&self, worker: u64, used: u64) {
        if let Some(known) = lock(&self.ids).get_mut(&worker) {
            known.reserved_until = known.reserved_until.min(Some(used));
        }
    }

    pub fn clock_skew_ms(&self) -> Option<i64> {
        *lock(&self.skew_ms)
    }
}

impl AssignedSnapshot {
    /// The store's clock shows this time, in milliseconds since 1970.
    pub fn note_time(&self, theirs: i64) {
        let ours = saturated(unix_ms(SystemClock.now()));
        *lock(&self.assigned.skew_ms) = Some(ours.saturating_sub(theirs));
    }

    /// The largest of the ids.
    pub fn largest(&self) -> Option<u64> {
        self.before.last_key_value().map(|(largest, _)| *largest)
    }

    /// Whether this process has `worker` for a time.
    #[cfg(any(feature = "etcd", feature = "redis", feature = "zookeeper"))]
    pub fn is_leased(&self, worker: u64) -> bool {
        self.before.get(&worker).is_some_and(|known| known.reserved_until.is_some())
    }

    #[cfg(feature = "mysql")]
    pub fn has(&self, worker: u64) -> bool {
        self.before.contains_key(&worker)
    }

    /// Whether a record of `worker` that was made at `created`, and has its ticks reserved up to
    /// `reserved_until`, is another one than this process knows, or an old copy.
    pub fn contradicts(&self, worker: u64, created: i64, reserved_until: Option<u64>) -> bool {
        let Some(known) = self.before.get(&worker) else { return false };
        if known.created != created {
            return true;
        }
        // What has changed since may explain the difference.
        known.reserved_until > reserved_until
            && known.process == process::id()
            && lock(&self.assigned.ids).get(&worker) == Some(known)
    }
}

/// A shorter lease could expire before its first reservation is written.
const SHORTEST_LEASE: Duration = Duration::from_secs(1);

/// The configuration of a registry.
#[derive(Clone, Debug)]
pub struct Config {
    pub(super) host: Option<Host>,
    /// How long a lease lasts; `None` for permanent ids.
    pub lease: Option<Duration>,
    /// The layout's worker ids that it gives.
    pub ids: Ids,
}

impl Config {
    pub const PERMANENT: Config = Config { host: None, lease: None, ids: Ids::ALL };

    /// The host that operators see beside an id.
    pub fn set_host(&mut self, name: &str, port: &str) {
        self.host = Some(Host::new(name, port));
    }

    pub fn leased(&mut self, duration: Duration) {
        self.lease = Some(duration.max(SHORTEST_LEASE));
    }

    /// Fails if there is no such part.
    pub fn partition(&mut self, index: u64, of: u64) -> Result<(), RegistryError> {
        if index >= of || of > MOST_IDS {
            return Err(RegistryError::Partition { index, of });
        }
        self.ids.part = Some((index, of));
        Ok(())
    }

    /// Fails if there is no id but 0 among `ids`, or one that no layout has.
    pub fn worker_ids(&mut self, ids: &RangeInclusive<u64>) -> Result<(), RegistryError> {
        let (first, last) = (*ids.start(), *ids.end());
        if last == 0 || first > last || last >= MOST_IDS {
            return Err(RegistryError::WorkerIds { first, last });
        }
        self.ids.range = Some((first, last));
        Ok(())
    }

    /// Whether it gives any id, and each only once.
    #[cfg(feature = "mysql")]
    pub fn is_default(&self) -> bool {
        self.lease.is_none() && self.ids == Ids::ALL
    }

    pub(super) fn host(&self) -> Host {
        self.host.clone().unwrap_or_else(Host::detect)
    }
}

/// The worker ids of a layout that a registry gives, never 0. If a part and a range are set, the
/// ids in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ids {
    /// With `(index, of)`, the ids `index * size ..= (index + 1) * size - 1`, where `of * size` are
    /// those of the layout.
    pub part: Option<(u64, u64)>,
    /// The first and the last.
    pub range: Option<(u64, u64)>,
}

impl Ids {
    pub const ALL: Ids = Ids { part: None, range: None };

    /// The ids of `layout`. The range is empty if a part of the field has no id. Fails if the
    /// layout lacks some of the ids, or if none is in both the part and the range.
    pub fn of(self, layout: &Layout) -> Result<RangeInclusive<u64>, Error> {
        let max = layout.max_worker();
        let part = match self.part {
            None => 1..=max,
            Some((index, of)) => {
                let size = (max + 1) / of;
                (index * size).max(1)..=((index + 1) * size).saturating_sub(1)
            }
        };
        let Some((first, last)) = self.range else { return Ok(part) };
        if last > max {
            return Err(Error::problem(format!(
                "it was asked for the worker ids {first} to {last}, but the layout {layout} ends \
                 at {max}; ask for fewer, or choose a wider worker field"
            )));
        }
        let ids = first.max(*part.start())..=last.min(*part.end());
        if ids.is_empty() {
            let ((index, of), part) = (self.part.unwrap_or_default(), range_text(&part));
            return Err(Error::problem(format!(
                "it was asked for the worker ids {first} to {last} of the partition {index} of \
                 {of}, which has the ids {part} of the layout {layout}; ask for ids in it"
            )));
        }
        Ok(ids)
    }
}

/// The error for a store that has not given `worker`, or has lost it. Its `records` are "tables" or
/// "keys".
pub(super) fn replaced_store(records: &str, worker: u64) -> Error {
    Error::problem(format!(
        "its {records} are not those that gave worker id {worker} to this process, or an old copy \
         of them, and would give ids again; put back what was there, and this process goes on"
    ))
}

/// Fails unless a registry that was `remembered` to be used with a layout and ids is asked for the
/// same.
pub(super) fn check_use(
    remembered: &(Layout, RangeInclusive<u64>),
    asked: Layout,
    ids: &RangeInclusive<u64>,
) -> Result<(), Fault> {
    let (layout, remembered) = remembered;
    if *layout != asked {
        return Err(Fault::Refused(RegistryError::OtherLayout { remembered: *layout, asked }));
    }
    if remembered != ids {
        return Err(Fault::Database(Error::problem(format!(
            "it was first used with the worker ids {}, and {} were asked for, which others could \
             give; ask for those of the first time again",
            range_text(remembered),
            range_text(ids)
        ))));
    }
    Ok(())
}

/// Fails if all of `ids` have been given, up to `given`. Otherwise the next one.
pub(super) fn next_id(given: u64, ids: &RangeInclusive<u64>) -> Result<u64, Fault> {
    let (first, last) = (*ids.start(), *ids.end());
    if given >= last {
        let capacity = (last + 1).saturating_sub(first);
        return Err(Fault::Refused(RegistryError::Exhausted {
            used: capacity,
            capacity,
            next: None,
        }));
    }
    Ok(first.max(given + 1))
}

/// The lease of `worker` from the tick `first` on, as a layout can use it.
pub(super) fn lease_of(
    layout: &Layout,
    duration: Duration,
    holder: &str,
    worker: u64,
    first: u64,
) -> Lease {
    let last = first.saturating_add(layout.ticks_in(duration)).min(layout.max_tick());
    Lease::leased(worker, first..=last, duration, holder)
}

/// "5 to 9", or "none" for an empty range.
fn range_text(ids: &RangeInclusive<u64>) -> String {
    if ids.is_empty() { "none".to_owned() } else { format!("{} to {}", ids.start(), ids.end()) }
}

/// The layout that a record's numbers describe, if they are valid.
pub(super) fn layout_of(
    widths: &[i64],
    worker_first: i64,
    tick_ms: i64,
    epoch_ms: i64,
) -> Option<Layout> {
    let bits = |number: &i64| u32::try_from(*number).ok();
    let [time_bits, worker_bits, sequence_bits] = widths else { return None };
    let order = match worker_first {
        0 => FieldOrder::TimeFirst,
        1 => FieldOrder::WorkerFirst,
        _ => return None,
    };
    Layout::new(bits(time_bits)?, bits(worker_bits)?, bits(sequence_bits)?)
        .ok()?
        .with_order(order)
        .with_tick(Duration::from_millis(tick_ms.try_into().ok()?))
        .ok()?
        .with_epoch(from_unix_ms(epoch_ms.into())?)
        .ok()
}

/// The duration as a record has it, with room for a time to be added.
pub(super) fn whole_ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX / 4).min(i64::MAX / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A parent gives its id back without telling its children.
    #[test]
    fn a_forked_child_does_not_know_what_its_parent_has_reserved_since() {
        let assigned = AssignedIds::default();
        assigned.add(&Lease::leased(7, 10..=20, SHORTEST_LEASE, "a1b2"), 5);
        assert!(assigned.snapshot().contradicts(7, 5, Some(19)));
        assert!(!assigned.snapshot().contradicts(7, 5, Some(20)));
        for known in lock(&assigned.ids).values_mut() {
            known.process ^= 1;
        }
        assert!(!assigned.snapshot().contradicts(7, 5, Some(19)));
        assert!(assigned.snapshot().contradicts(7, 6, Some(20)));
    }

    #[test]
    fn what_is_given_back_in_the_middle_of_a_transaction_is_no_old_copy() {
        let assigned = AssignedIds::default();
        assigned.add(&Lease::leased(7, 10..=20, SHORTEST_LEASE, "a1b2"), 5);
        let before = assigned.snapshot();
        assigned.releasing(7, 15);
        assert!(!before.contradicts(7, 5, Some(15)));
        assert!(assigned.snapshot().contradicts(7, 5, Some(14)));
    }
}
