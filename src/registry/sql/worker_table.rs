//! The tables of a registry in a database: their rows, and how an id is given in one transaction.
//!
//! A start is one transaction, which begins by locking the one row of `uidring_layout`, or the
//! whole file: starts come one after the other, and nothing is used up by one that fails. A
//! reservation is one conditional write to the row of its id; a start that would give that id again
//! makes its write conditional on the same row being as it was found.

use std::ops::RangeInclusive;
use std::time::{Duration, SystemTime};

use crate::backend::error::random_text;
use crate::backend::sql::{Database, Error, ErrorPhrases, Row, Schema, Transaction, Value};
use crate::clock::from_unix_ms;
use crate::layout::{FieldOrder, Layout};
use crate::registry::assignment::{
    AssignedSnapshot, Config, Fault, Ids, check_use, layout_of, lease_of, next_id, replaced_store,
    whole_ms,
};
use crate::registry::host::Host;
use crate::registry::{Lease, RegistryError, Request};

/// The tables of a registry, in one kind of database. Unless set, they are those of a server.
/// In a statement, `{workers}` is the name of the table with a row for each id.
pub trait Tables: Database {
    const SCHEMA: Schema;
    const WORKERS: &'static str = "uidring_worker_node";
    /// Whether they are in a file: the first use writes the row of `uidring_layout`, and the file
    /// keeps the largest id given by itself. On a server the row is there from the beginning.
    const IS_FILE: bool = false;

    /// Returns the version of the schema, the layout, and the range of ids, as numbers.
    // The last column is there for its table, which the schemas make last: a transaction that sees
    // it sees all that is made before.
    const READ_STATE: &'static str = "SELECT version, time_bits, worker_bits, sequence_bits, \
        worker_first, tick_ms, epoch_ms, ids_from, ids_to, \
        (SELECT MAX(id) FROM uidring_worker_node) \
        FROM uidring_layout WHERE id = 1";
    /// Stores the layout and the range of ids.
    const WRITE_STATE: &'static str = "UPDATE uidring_layout SET time_bits = ?, worker_bits = ?, \
        sequence_bits = ?, worker_first = ?, tick_ms = ?, epoch_ms = ?, ids_from = ?, ids_to = ? \
        WHERE id = 1";
    /// Returns the largest id ever given, that of a deleted row too, or 0 before the first; and the
    /// time.
    const LARGEST_GIVEN: &'static str = "SELECT GREATEST(last_worker, \
        (SELECT COALESCE(MAX(id), 0) FROM uidring_worker_node)), {now} \
        FROM uidring_layout WHERE id = 1";

    /// Refuses a registry that would start with these `ids` if another system gives worker ids in
    /// the same database, unless the user has chosen separate ids.
    fn check_others(
        transaction: &mut Transaction<'_>,
        ids: &RangeInclusive<u64>,
        are_chosen: bool,
    ) -> Result<(), Fault> {
        let _ = (transaction, ids, are_chosen);
        Ok(())
    }

    const PHRASES: ErrorPhrases = ErrorPhrases {
        subject: "the registry",
        missing_tables: "its tables are not there; start a generator with it, which makes them",
        incompatible_tables: "its tables uidring_layout and uidring_worker_node are not those of \
            the schema; use the uidring that made them, or give the registry a database of its \
            own, where worker ids begin at 1",
        not_a_database: "give the registry a file of its own",
        unrelated_tables: "",
        permissions: "give this user the rights to select, insert and update in its two tables",
    };
}

/// What errors call the memory of what was given.
const RECORDS: &str = "tables";

fn no_layout() -> Error {
    Error::problem(
        "its table uidring_layout holds numbers that are no layout; put back what was there",
    )
}

fn lost_row() -> Error {
    Error::problem(
        "its table uidring_layout has lost its row, and with it the largest id given; put back \
         what was there",
    )
}

pub(super) fn incompatible_tables() -> Error {
    Error::IncompatibleTables(None)
}

pub(super) fn rows<D: Tables>(
    transaction: &mut Transaction<'_>,
    sql: &str,
    values: &[Value],
) -> Result<Vec<Row>, Error> {
    transaction.rows(&sql.replace("{workers}", D::WORKERS), values)
}

fn write<D: Tables>(
    transaction: &mut Transaction<'_>,
    sql: &str,
    values: &[Value],
) -> Result<u64, Error> {
    transaction.write(&sql.replace("{workers}", D::WORKERS), values)
}

/// Writes one row, or fails: a trigger, say, can drop it and let the statement succeed.
fn write_row<D: Tables>(
    transaction: &mut Transaction<'_>,
    sql: &str,
    values: &[Value],
) -> Result<(), Error> {
    if write::<D>(transaction, sql, values)? == 1 { Ok(()) } else { Err(not_written()) }
}

fn not_written() -> Error {
    Error::problem(
        "its tables did not take what was written: something there drops or moves it, such as a \
         trigger; see what, and remove it",
    )
}

/// The layout that the registry was first used with, and which of its ids it gives.
pub(super) fn read_state<D: Tables>(
    transaction: &mut Transaction<'_>,
    lock: bool,
) -> Result<Option<(Layout, RangeInclusive<u64>)>, Error> {
    // This lock serializes starts.
    let lock = if lock { " {for update}" } else { "" };
    let Some(row) = rows::<D>(transaction, &format!("{}{lock}", D::READ_STATE), &[])?.pop() else {
        // A file has no such row before its first use.
        return if D::IS_FILE && largest_given::<D>(transaction)? == 0 {
            Ok(None)
        } else {
            Err(lost_row())
        };
    };
    let known = D::SCHEMA.version;
    let numbers = match &row[..] {
        [Value::Int(version), ..] if *version != known => {
            return Err(Error::other_version(*version, known));
        }
        [_, numbers @ ..] => numbers.get(..STATE_NUMBERS).ok_or_else(incompatible_tables)?,
        [] => return Err(incompatible_tables()),
    };
    if numbers.iter().all(|number| matches!(number, Value::Null)) {
        return Ok(None);
    }
    let numbers: Option<Vec<i64>> = numbers.iter().map(Value::int).collect();
    match numbers.as_deref() {
        Some([widths @ .., worker_first, tick_ms, epoch_ms, from, to]) => {
            let layout = layout_of(widths, *worker_first, *tick_ms, *epoch_ms);
            Ok(Some((layout.ok_or_else(no_layout)?, number(*from)?..=number(*to)?)))
        }
        _ => Err(no_layout()),
    }
}

/// How many numbers `READ_STATE` returns after the version.
const STATE_NUMBERS: usize = 8;

/// A layout, as a row has it.
pub(super) fn numbers_of(layout: &Layout) -> [Value; 6] {
    [
        u64::from(layout.time_bits()).into(),
        u64::from(layout.worker_bits()).into(),
        u64::from(layout.sequence_bits()).into(),
        u64::from(layout.order() == FieldOrder::WorkerFirst).into(),
        u64::from(layout.tick_ms()).into(),
        layout.epoch_ms().into(),
    ]
}

/// Stores the layout and the ids.
fn write_state<D: Tables>(
    transaction: &mut Transaction<'_>,
    layout: &Layout,
    ids: &RangeInclusive<u64>,
) -> Result<(), Error> {
    let mut values = numbers_of(layout).to_vec();
    values.extend([(*ids.start()).into(), (*ids.end()).into()]);
    write_row::<D>(transaction, D::WRITE_STATE, &values)
}

/// The largest id ever given, even if its row is deleted. 0 before the first.
pub(super) fn largest_given<D: Tables>(transaction: &mut Transaction<'_>) -> Result<u64, Error> {
    Ok(largest_given_and_now::<D>(transaction)?.0)
}

/// The largest id ever given, and the database's time in milliseconds since 1970.
fn largest_given_and_now<D: Tables>(
    transaction: &mut Transaction<'_>,
) -> Result<(u64, i64), Error> {
    let row = rows::<D>(transaction, D::LARGEST_GIVEN, &[])?.pop().ok_or_else(lost_row)?;
    match row[..] {
        [Value::Int(largest), Value::Int(now)] => Ok((number(largest)?, now)),
        _ => Err(incompatible_tables()),
    }
}

/// Notes the database's time. A file has none of its own.
fn note_time<D: Tables>(assigned: &AssignedSnapshot, now: i64) {
    if !D::IS_FILE {
        assigned.note_time(now);
    }
}

/// Refuses tables that did not give `given`, or an old copy of those that did, as far as the row of
/// `worker` shows it.
fn check_identity<D: Tables>(
    transaction: &mut Transaction<'_>,
    assigned: &AssignedSnapshot,
    worker: u64,
) -> Result<(), Error> {
    let (largest, now) = largest_given_and_now::<D>(transaction)?;
    note_time::<D>(assigned, now);
    let sql = "SELECT created, reserved_until FROM {workers} WHERE id = ?";
    let row = rows::<D>(transaction, sql, &[worker.into()])?.pop();
    // The row of an id may have been deleted.
    let is_another = match row.as_deref() {
        Some([Value::Int(created), reserved_until]) => {
            let reserved_until = reserved_until.int().map(number).transpose()?;
            assigned.contradicts(worker, *created, reserved_until)
        }
        _ => false,
    };
    let went_back = assigned.largest().is_some_and(|last| largest < last);
    if !is_another && !went_back {
        return Ok(());
    }
    Err(replaced_store(RECORDS, worker))
}

/// When an id was last given.
pub(super) fn last_assigned<D: Tables>(
    transaction: &mut Transaction<'_>,
) -> Result<Option<SystemTime>, Error> {
    let sql = "SELECT (SELECT MAX(launch_date) FROM {workers})";
    let row = rows::<D>(transaction, sql, &[])?.pop();
    Ok(match row.as_deref() {
        Some([Value::Int(ms)]) => from_unix_ms((*ms).into()),
        _ => None,
    })
}

/// Refuses to create a registry whose ids could be those of another system.
pub(super) fn check_first_use<D: Tables>(
    transaction: &mut Transaction<'_>,
    config: &Config,
    request: &Request,
) -> Result<(), Fault> {
    let ids = config.ids.of(&request.layout)?;
    D::check_others(transaction, &ids, config.ids != Ids::ALL)
}

/// Gives an id to a process that has the ids `given`. Returns its lease, the time at which its row
/// was written, and whether it is the first of the registry.
pub(super) fn assign<D: Tables>(
    transaction: &mut Transaction<'_>,
    config: &Config,
    request: &Request,
    assigned: &AssignedSnapshot,
) -> Result<(Lease, i64, bool), Fault> {
    let layout = request.layout;
    let ids = config.ids.of(&layout)?;
    let read_state = read_state::<D>(transaction, true)?;
    let is_new = read_state.is_none();
    if let Some(last) = assigned.largest() {
        check_identity::<D>(transaction, assigned, last)?;
        if read_state.is_none() {
            return Err(replaced_store(RECORDS, last).into());
        }
    }
    match read_state {
        None => {
            D::check_others(transaction, &ids, config.ids != Ids::ALL)?;
            write_state::<D>(transaction, &layout, &ids)?;
        }
        Some(remembered) => check_use(&remembered, layout, &ids)?,
    }
    let host = config.host();
    let Some(duration) = config.lease else {
        let (worker, created) = new_worker::<D>(transaction, &host, &ids)?;
        note_time::<D>(assigned, created);
        return Ok((Lease::permanent(worker, &layout), created, is_new));
    };
    // A stale write never matches a later lease.
    let holder = random_text()?;
    let lease = |worker, first| lease_of(&layout, duration, &holder, worker, first);
    let grant = |lease: &Lease| LeaseGrant {
        host: &host,
        holder: &holder,
        reserved_until: lease.last,
        duration_ms: whole_ms(duration),
    };
    let mut refused = None;
    while let Some(free) = find_free::<D>(transaction, &ids, request.latest)? {
        // Its holder has not returned meanwhile, not even to give it back: the row is as it was.
        let found = (free.worker, free.reserved_until, free.lease_until);
        if refused == Some(found) {
            return Err(not_written().into());
        }
        if assigned.contradicts(free.worker, free.created, Some(free.reserved_until)) {
            return Err(replaced_store(RECORDS, free.worker).into());
        }
        note_time::<D>(assigned, free.now);
        let lease = lease(free.worker, request.now.max(free.reserved_until + 1));
        if reassign::<D>(transaction, &free, &grant(&lease))? {
            return Ok((lease, free.created, is_new));
        }
        refused = Some(found);
    }
    let (worker, created) = match new_worker::<D>(transaction, &host, &ids) {
        Err(Fault::Refused(RegistryError::Exhausted { used, capacity, .. })) => {
            let next = first_end::<D>(transaction, &ids)?;
            return Err(Fault::Refused(RegistryError::Exhausted { used, capacity, next }));
        }
        new => new?,
    };
    note_time::<D>(assigned, created);
    let lease = lease(worker, request.now);
    write_row::<D>(transaction, ASSIGN_FREE, &assign_values(worker, &grant(&lease)))?;
    Ok((lease, created, is_new))
}

/// When the first lease of `ids` ends that has not ended yet.
fn first_end<D: Tables>(
    transaction: &mut Transaction<'_>,
    ids: &RangeInclusive<u64>,
) -> Result<Option<SystemTime>, Error> {
    // As in `find_free`, the index has the leased ids.
    let sql = "SELECT (SELECT MIN(lease_until) FROM {workers} WHERE reserved_until IS NOT NULL \
               AND lease_until > {now} AND id + 0 BETWEEN ? AND ?)";
    let row = rows::<D>(transaction, sql, &[(*ids.start()).into(), (*ids.end()).into()])?.pop();
    Ok(match row.as_deref() {
        Some([Value::Int(ms)]) => from_unix_ms((*ms).into()),
        _ => None,
    })
}

/// Stores one of `ids` that was never given before, if there is one. Returns it, and the time at
/// which its row was written.
fn new_worker<D: Tables>(
    transaction: &mut Transaction<'_>,
    host: &Host,
    ids: &RangeInclusive<u64>,
) -> Result<(u64, i64), Fault> {
    let (largest, now) = largest_given_and_now::<D>(transaction)?;
    let worker = next_id(largest, ids)?;
    let sql = "INSERT INTO {workers} (id, host_name, port, type, launch_date, modified, created) \
               VALUES (?, ?, ?, ?, {now}, {now}, ?)";
    let values = [
        worker.into(),
        host.name.as_str().into(),
        host.port.as_str().into(),
        host.kind.code().into(),
        now.into(),
    ];
    write_row::<D>(transaction, sql, &values)?;
    if !D::IS_FILE {
        // Whatever the isolation level: an update sees what others have committed.
        let sql = "UPDATE uidring_layout SET last_worker = ? WHERE id = 1 AND last_worker < ?";
        write_row::<D>(transaction, sql, &[worker.into(), worker.into()])?;
    }
    Ok((worker, now))
}

/// A leased id without a holder.
struct FreeId {
    worker: u64,
    reserved_until: u64,
    /// When its lease ended.
    lease_until: i64,
    created: i64,
    /// The database's time.
    now: i64,
}

/// The recipient of an id, and how long the lease lasts.
struct LeaseGrant<'a> {
    host: &'a Host,
    holder: &'a str,
    reserved_until: u64,
    duration_ms: i64,
}

/// The one of `ids` whose lease has expired and whose ticks ended first, if that was before
/// `latest`.
fn find_free<D: Tables>(
    transaction: &mut Transaction<'_>,
    ids: &RangeInclusive<u64>,
    latest: u64,
) -> Result<Option<FreeId>, Error> {
    // Somebody may have inserted a row with another id. The sum keeps a database from going through
    // all ids by the primary key: an index has the leased ones alone, in this order.
    let sql = "SELECT id, reserved_until, lease_until, created, {now} FROM {workers} \
               WHERE lease_until <= {now} AND reserved_until < ? AND id + 0 BETWEEN ? AND ? \
               ORDER BY reserved_until, id LIMIT 1";
    let values = [latest.into(), (*ids.start()).into(), (*ids.end()).into()];
    match rows::<D>(transaction, sql, &values)?.pop().as_deref() {
        Some(
            &[
                Value::Int(id),
                Value::Int(reserved_until),
                Value::Int(lease_until),
                Value::Int(created),
                Value::Int(now),
            ],
        ) => {
            let (worker, reserved_until) = (number(id)?, number(reserved_until)?);
            Ok(Some(FreeId { worker, reserved_until, lease_until, created, now }))
        }
        Some(_) => Err(incompatible_tables()),
        None => Ok(None),
    }
}

/// Gives an id again. Returns false if its holder has returned and reserved more since the id was
/// found free.
fn reassign<D: Tables>(
    transaction: &mut Transaction<'_>,
    free: &FreeId,
    grant: &LeaseGrant<'_>,
) -> Result<bool, Error> {
    let mut values = assign_values(free.worker, grant).to_vec();
    values.push(free.reserved_until.into());
    Ok(write::<D>(transaction, &format!("{ASSIGN_FREE} AND reserved_until = ?"), &values)? == 1)
}

const ASSIGN_FREE: &str = "UPDATE {workers} SET host_name = ?, port = ?, type = ?, launch_date = \
                    {now}, modified = {now}, holder = ?, reserved_until = ?, lease_until = {now} + \
                    ? WHERE id = ?";

fn assign_values(worker: u64, grant: &LeaseGrant<'_>) -> [Value; 7] {
    let LeaseGrant { host, holder, reserved_until, duration_ms } = *grant;
    [
        host.name.as_str().into(),
        host.port.as_str().into(),
        host.kind.code().into(),
        holder.into(),
        reserved_until.into(),
        duration_ms.into(),
        worker.into(),
    ]
}

/// Reserves ticks up to `last` for the `holder` of `worker`, whose process has the ids `given`.
pub(super) fn reserve<D: Tables>(
    transaction: &mut Transaction<'_>,
    worker: u64,
    holder: &str,
    duration: Duration,
    last: u64,
    assigned: &AssignedSnapshot,
) -> Result<(), Fault> {
    // Another holder may have the id, and these may be other tables with the same id, or an old
    // copy of them with this holder.
    check_identity::<D>(transaction, assigned, worker)?;
    // Never lowers the value, because a write that timed out may take effect after the next one.
    let sql = "UPDATE {workers} SET reserved_until = {greatest}(reserved_until, ?), \
               lease_until = {now} + ?, modified = {now} WHERE id = ? AND holder = ?";
    let values = [last.into(), whole_ms(duration).into(), worker.into(), holder.into()];
    still_held(write::<D>(transaction, sql, &values)?, worker)
}

/// Frees the id `worker` of `holder`, who has used no tick after `used`.
pub(super) fn release<D: Tables>(
    transaction: &mut Transaction<'_>,
    worker: u64,
    holder: &str,
    used: u64,
) -> Result<(), Fault> {
    let sql = "UPDATE {workers} SET reserved_until = ?, lease_until = {now}, modified = {now}, \
               holder = NULL WHERE id = ? AND holder = ?";
    let values = [used.into(), worker.into(), holder.into()];
    still_held(write::<D>(transaction, sql, &values)?, worker)
}

fn still_held(written: u64, worker: u64) -> Result<(), Fault> {
    match written {
        0 => Err(Fault::Refused(RegistryError::LeaseLost { worker })),
        _ => Ok(()),
    }
}

/// Frees the leased id `worker`, whoever holds it.
pub(super) fn revoke<D: Tables>(
    transaction: &mut Transaction<'_>,
    worker: u64,
) -> Result<(), Fault> {
    let sql = "UPDATE {workers} SET holder = NULL, lease_until = {now}, modified = {now} \
               WHERE id = ? AND lease_until IS NOT NULL";
    match write::<D>(transaction, sql, &[worker.into()])? {
        0 => Err(Fault::Refused(RegistryError::NotLeased { worker })),
        _ => Ok(()),
    }
}

fn number(number: i64) -> Result<u64, Error> {
    u64::try_from(number).map_err(|_| incompatible_tables())
}
