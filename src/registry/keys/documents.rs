//! The documents of a registry: the layout and the range of ids that it was first used with, and a
//! record for each worker id.

use std::ops::RangeInclusive;

use crate::backend::keys::{Document, Error, Transaction, last_name};
use crate::clock::from_unix_ms;
use crate::layout::{FieldOrder, Layout};
use crate::registry::admin::{LeaseRecord, WorkerKind, WorkerRecord};
use crate::registry::assignment::{layout_of, whole_ms};
use crate::registry::host::Host;
use crate::registry::{Lease, LeaseKind};

pub const LAYOUT: &str = "layout";
/// The folder of the leased ids. A store of an older version has the others here, too.
pub const LEASED: &str = "workers";
/// The folder of the ids that are given once. A start that looks for a leased one does not read it.
pub const PERMANENT: &str = "permanent";

const HOST: &str = "host_name";
const PORT: &str = "port";
const KIND: &str = "type";
pub const LAUNCHED: &str = "launched";
pub const MODIFIED: &str = "modified";
pub const CREATED: &str = "created";
pub const HOLDER: &str = "holder";
pub const RESERVED_UNTIL: &str = "reserved_until";
pub const LEASE_UNTIL: &str = "lease_until";

const WIDTHS: [&str; 3] = ["time_bits", "worker_bits", "sequence_bits"];
const WORKER_FIRST: &str = "worker_first";
const TICK_MS: &str = "tick_ms";
const EPOCH_MS: &str = "epoch_ms";
const FIRST_ID: &str = "ids_from";
const LAST_ID: &str = "ids_to";
const LARGEST: &str = "last_worker";

/// How the registry was used until now.
pub struct RegistryState {
    pub layout: Layout,
    pub ids: RangeInclusive<u64>,
    /// The largest id ever given.
    pub largest: u64,
    /// When that was.
    pub launched: i64,
}

/// The key of a leased id.
pub fn leased_key(worker: u64) -> String {
    format!("{LEASED}/{worker}")
}

/// The key of an id that is given once.
pub fn permanent_key(worker: u64) -> String {
    format!("{PERMANENT}/{worker}")
}

/// How the registry was used, if it was.
pub fn read_state(transaction: &mut Transaction<'_>) -> Result<Option<RegistryState>, Error> {
    let Some(document) = transaction.read(LAYOUT)? else { return Ok(None) };
    let int = |name: &str| document.int(name).ok_or_else(|| document.invalid_field(LAYOUT, name));
    let widths = [int(WIDTHS[0])?, int(WIDTHS[1])?, int(WIDTHS[2])?];
    let layout = layout_of(&widths, int(WORKER_FIRST)?, int(TICK_MS)?, int(EPOCH_MS)?);
    let layout = layout.ok_or_else(|| {
        Error::problem("its key layout holds numbers that are no layout; put back what was there")
    })?;
    let number = |name: &str| document.number(LAYOUT, name);
    Ok(Some(RegistryState {
        layout,
        ids: number(FIRST_ID)?..=number(LAST_ID)?,
        largest: number(LARGEST)?,
        launched: int(LAUNCHED)?,
    }))
}

/// Stores the layout, the ids, and the largest one given, at the time `now`.
pub fn write_state(
    transaction: &mut Transaction<'_>,
    layout: &Layout,
    ids: &RangeInclusive<u64>,
    largest: u64,
    now: i64,
) -> Result<(), Error> {
    // What a newer version may have written there stays.
    let document = transaction
        .read(LAYOUT)?
        .unwrap_or_else(Document::new)
        .with(WIDTHS[0], layout.time_bits())
        .with(WIDTHS[1], layout.worker_bits())
        .with(WIDTHS[2], layout.sequence_bits())
        .with(WORKER_FIRST, i64::from(layout.order() == FieldOrder::WorkerFirst))
        .with(TICK_MS, layout.tick_ms())
        .with(EPOCH_MS, layout.epoch_ms())
        .with(FIRST_ID, *ids.start())
        .with(LAST_ID, *ids.end())
        .with(LARGEST, largest)
        .with(LAUNCHED, now);
    transaction.put(LAYOUT, document);
    Ok(())
}

/// The record of an id that `lease` gives to a generator on `host`.
pub fn launched(record: Document, lease: &Lease, host: &Host, now: i64) -> Document {
    let record = record
        .with(HOST, host.name.as_str())
        .with(PORT, host.port.as_str())
        .with(KIND, host.kind.code())
        .with(LAUNCHED, now)
        .with(MODIFIED, now);
    match &lease.kind {
        LeaseKind::Permanent => record,
        LeaseKind::Leased { duration, holder } => record
            .with(HOLDER, holder.as_str())
            .with(RESERVED_UNTIL, lease.last)
            .with(LEASE_UNTIL, now.saturating_add(whole_ms(*duration))),
    }
}

/// The id whose record is at `key`.
pub fn id_of(key: &str, record: &Document) -> Result<u64, Error> {
    last_name(key).parse().map_err(|_| record.invalid_field(key, "whose name is no number"))
}

/// The time `field` of the record at `key`, in milliseconds since 1970.
pub fn time(record: &Document, key: &str, field: &str) -> Result<i64, Error> {
    record.int(field).ok_or_else(|| record.invalid_field(key, field))
}

/// What operators see of the record at `key`.
pub fn worker(key: &str, record: &Document) -> Result<WorkerRecord, Error> {
    let bad = |field: &str| record.invalid_field(key, field);
    let text = |field: &str| record.text(field).map(str::to_owned).ok_or_else(|| bad(field));
    let at = |field: &str| {
        let ms = time(record, key, field)?;
        from_unix_ms(ms.into()).ok_or_else(|| bad(field))
    };
    let lease = if record.lacks(LEASE_UNTIL) {
        None
    } else {
        Some(LeaseRecord {
            holder: record.text(HOLDER).map(str::to_owned),
            reserved_until: record.number(key, RESERVED_UNTIL)?,
            until: at(LEASE_UNTIL)?,
        })
    };
    Ok(WorkerRecord {
        id: id_of(key, record)?,
        host_name: text(HOST)?,
        port: text(PORT)?,
        kind: record.int(KIND).and_then(WorkerKind::from_code).ok_or_else(|| bad(KIND))?,
        launched: at(LAUNCHED)?,
        created: at(CREATED)?,
        lease,
    })
}
