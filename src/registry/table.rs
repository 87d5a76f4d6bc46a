//! The tables of a registry in a database: their rows, and how an id is given in one transaction.
//!
//! A start is one transaction, which begins by locking the one row of `uidring_layout`, or the
//! whole file: starts come one after the other, and nothing is used up by one that fails. A
//! reservation is one conditional write to the row of its id; a start that would give that id again
//! makes its write conditional on the same row being as it was found.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::{Duration, SystemTime};

use super::host::Host;
use super::{Lease, RegistryError, Request};
use crate::clock::from_unix_ms;
use crate::layout::{FieldOrder, Layout};
use crate::store::sql::{self, Database, Error, Row, Schema, Transaction, Value, Words};

pub(super) type Fault = sql::Fault<RegistryError>;

/// The worker ids that a process has been given, each with the time at which its row was written.
/// With this it knows its tables again: in others an id is younger, or has not been given yet.
pub(super) type Given = BTreeMap<u64, i64>;

/// Shorter leases would be over before they are written.
const SHORTEST_LEASE: Duration = Duration::from_secs(1);

/// How a registry gives ids.
#[derive(Clone, Debug)]
pub(super) struct Config {
    pub host: Option<Host>,
    /// How long a lease lasts; `None` for permanent ids.
    pub lease: Option<Duration>,
    /// Which of the layout's worker ids it gives.
    pub ids: Ids,
}

impl Config {
    pub const PERMANENT: Config = Config { host: None, lease: None, ids: Ids::ALL };

    pub fn leased(&mut self, duration: Duration) {
        self.lease = Some(duration.max(SHORTEST_LEASE));
    }

    /// Whether it gives any id, once.
    #[cfg(feature = "mysql")]
    pub fn is_plain(&self) -> bool {
        self.lease.is_none() && self.ids == Ids::ALL
    }

    pub fn host(&self) -> Host {
        self.host.clone().unwrap_or_else(Host::detect)
    }
}

/// Which of a layout's worker ids a registry gives; never 0. Those that are in both, where a part
/// and a range are set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ids {
    /// With `(index, of)`, the ids `index * size ..= (index + 1) * size - 1`, where `of * size` are
    /// those of the layout.
    pub part: Option<(u64, u64)>,
    /// The first and the last.
    pub range: Option<(u64, u64)>,
}

impl Ids {
    pub const ALL: Ids = Ids { part: None, range: None };

    /// The ids of `layout`. The range is empty where a part of the field has no id. Fails if the
    /// layout does not have them all, or none is in both the part and the range.
    fn of(self, layout: &Layout) -> Result<RangeInclusive<u64>, Error> {
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
            let ((index, of), part) = (self.part.unwrap_or_default(), words(&part));
            return Err(Error::problem(format!(
                "it was asked for the worker ids {first} to {last} of the partition {index} of \
                 {of}, which has the ids {part} of the layout {layout}; ask for ids in it"
            )));
        }
        Ok(ids)
    }
}

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
    const USED_WITH: &'static str = "SELECT version, time_bits, worker_bits, sequence_bits, \
        worker_first, tick_ms, epoch_ms, ids_from, ids_to, \
        (SELECT MAX(id) FROM uidring_worker_node) \
        FROM uidring_layout WHERE id = 1";
    /// Stores the layout and the range of ids.
    const USE_WITH: &'static str = "UPDATE uidring_layout SET time_bits = ?, worker_bits = ?, \
        sequence_bits = ?, worker_first = ?, tick_ms = ?, epoch_ms = ?, ids_from = ?, ids_to = ? \
        WHERE id = 1";
    /// Returns the largest id ever given, that of a deleted row too, or 0 before the first; and the
    /// time.
    const LARGEST_GIVEN: &'static str = "SELECT GREATEST(last_worker, \
        (SELECT COALESCE(MAX(id), 0) FROM uidring_worker_node)), {now} \
        FROM uidring_layout WHERE id = 1";

    /// Refuses a registry that is to begin with these `ids`, where another system gives worker ids
    /// in the same database, unless somebody has chosen which ids are whose.
    fn check_others(
        transaction: &mut Transaction<'_>,
        ids: &RangeInclusive<u64>,
        are_chosen: bool,
    ) -> Result<(), Fault> {
        let _ = (transaction, ids, are_chosen);
        Ok(())
    }

    const WORDS: Words = Words {
        no_tables: "its tables are not there; start a generator with it, which makes them",
        foreign_tables: "its tables uidring_layout and uidring_worker_node are not those of the \
            schema; use the uidring that made them, or give the registry a database of its own, \
            where worker ids begin at 1",
        foreign_file: "give the registry a file of its own",
        rights: "give this user the rights to select, insert and update in its two tables",
    };
}

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

pub(super) fn foreign_tables() -> Error {
    Error::ForeignTables(None)
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

/// The layout that the registry was first used with, and which of its ids it gives.
pub(super) fn used_with<D: Tables>(
    transaction: &mut Transaction<'_>,
    lock: bool,
) -> Result<Option<(Layout, RangeInclusive<u64>)>, Error> {
    // The lock that makes starts come one after the other.
    let lock = if lock { " {for update}" } else { "" };
    let Some(row) = rows::<D>(transaction, &format!("{}{lock}", D::USED_WITH), &[])?.pop() else {
        // A file has none before its first use.
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
        [_, numbers @ ..] => numbers.get(..USED_WITH_NUMBERS).ok_or_else(foreign_tables)?,
        [] => return Err(foreign_tables()),
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

/// How many numbers `USED_WITH` returns after the version.
const USED_WITH_NUMBERS: usize = 8;

/// Remembers them.
fn use_with<D: Tables>(
    transaction: &mut Transaction<'_>,
    layout: &Layout,
    ids: &RangeInclusive<u64>,
) -> Result<(), Error> {
    let values: [Value; USED_WITH_NUMBERS] = [
        u64::from(layout.time_bits()).into(),
        u64::from(layout.worker_bits()).into(),
        u64::from(layout.sequence_bits()).into(),
        u64::from(layout.order() == FieldOrder::WorkerFirst).into(),
        u64::from(layout.tick_ms()).into(),
        layout.epoch_ms().into(),
        (*ids.start()).into(),
        (*ids.end()).into(),
    ];
    write::<D>(transaction, D::USE_WITH, &values).map(drop)
}

/// The largest id ever given, that of a deleted row too; 0 before the first.
pub(super) fn largest_given<D: Tables>(transaction: &mut Transaction<'_>) -> Result<u64, Error> {
    Ok(largest_given_and_now::<D>(transaction)?.0)
}

/// The same, and the time by the database, in milliseconds since 1970.
fn largest_given_and_now<D: Tables>(
    transaction: &mut Transaction<'_>,
) -> Result<(u64, i64), Error> {
    let row = rows::<D>(transaction, D::LARGEST_GIVEN, &[])?.pop().ok_or_else(lost_row)?;
    match row[..] {
        [Value::Int(largest), Value::Int(now)] => Ok((number(largest)?, now)),
        _ => Err(foreign_tables()),
    }
}

/// Refuses tables that are others than those which gave `given`, or an old copy of them, as far as
/// the row of `worker` shows it.
fn check_identity<D: Tables>(
    transaction: &mut Transaction<'_>,
    given: &Given,
    worker: u64,
) -> Result<(), Error> {
    let largest = largest_given::<D>(transaction)?;
    let sql = "SELECT created FROM {workers} WHERE id = ?";
    let row = rows::<D>(transaction, sql, &[worker.into()])?.pop();
    // The row of an id may be deleted.
    let is_another = match (row.as_deref(), given.get(&worker)) {
        (Some([Value::Int(created)]), Some(before)) => created != before,
        _ => false,
    };
    let went_back = given.last_key_value().is_some_and(|(last, _)| largest < *last);
    if !is_another && !went_back {
        return Ok(());
    }
    Err(others(worker))
}

/// The error of tables that have not given `worker`, or no longer know it.
fn others(worker: u64) -> Error {
    Error::problem(format!(
        "its tables are not those that gave worker id {worker} to this process, or an old copy of \
         them, and would give ids again; put back what was there, and this process goes on"
    ))
}

/// When an id was given last.
pub(super) fn last_assigned<D: Tables>(
    transaction: &mut Transaction<'_>,
) -> Result<Option<SystemTime>, Error> {
    let row = rows::<D>(transaction, "SELECT MAX(launch_date) FROM {workers}", &[])?.pop();
    Ok(match row.as_deref() {
        Some([Value::Int(ms)]) => from_unix_ms((*ms).into()),
        _ => None,
    })
}

/// Refuses a registry that is to be made, where its ids could be those of others.
pub(super) fn may_begin<D: Tables>(
    transaction: &mut Transaction<'_>,
    config: &Config,
    request: &Request,
) -> Result<(), Fault> {
    let ids = config.ids.of(&request.layout)?;
    D::check_others(transaction, &ids, config.ids != Ids::ALL)
}

/// Gives an id to a process that has the ids `given`. Returns its lease, and the time at which its
/// row was written.
pub(super) fn give<D: Tables>(
    transaction: &mut Transaction<'_>,
    config: &Config,
    request: &Request,
    given: &Given,
) -> Result<(Lease, i64), Fault> {
    let layout = request.layout;
    let ids = config.ids.of(&layout)?;
    let used_with = used_with::<D>(transaction, true)?;
    if let Some((last, _)) = given.last_key_value() {
        check_identity::<D>(transaction, given, *last)?;
        if used_with.is_none() {
            return Err(others(*last).into());
        }
    }
    match used_with {
        None => {
            D::check_others(transaction, &ids, config.ids != Ids::ALL)?;
            use_with::<D>(transaction, &layout, &ids)?;
        }
        Some((remembered, _)) if remembered != layout => {
            let error = RegistryError::OtherLayout { remembered, asked: layout };
            return Err(Fault::Refused(error));
        }
        Some((_, remembered)) if remembered != ids => {
            return Err(Fault::Database(Error::problem(format!(
                "it was first used with the worker ids {}, and not with {}, which others could \
                 have; give each registry its ids for ever",
                words(&remembered),
                words(&ids)
            ))));
        }
        Some(_) => {}
    }
    let host = config.host();
    let Some(duration) = config.lease else {
        let (worker, created) = new_worker::<D>(transaction, &host, &ids)?;
        return Ok((Lease::permanent(worker, &layout), created));
    };
    let holder = new_holder()?;
    let lease = |worker, first: u64| {
        let last = first.saturating_add(layout.ticks_in(duration)).min(layout.max_tick());
        Lease::leased(worker, first..=last, duration, &holder)
    };
    let grant = |lease: &Lease| LeaseGrant {
        host: &host,
        holder: &holder,
        reserved_until: lease.last,
        duration_ms: whole_ms(duration),
    };
    while let Some(free) = free::<D>(transaction, request.latest)? {
        let lease = lease(free.worker, request.now.max(free.reserved_until + 1));
        if lend_again::<D>(transaction, &free, &grant(&lease))? {
            return Ok((lease, free.created));
        }
    }
    let (worker, created) = new_worker::<D>(transaction, &host, &ids)?;
    let lease = lease(worker, request.now);
    write::<D>(transaction, LEND, &lend(worker, &grant(&lease)))?;
    Ok((lease, created))
}

/// The name of a lease. Each has its own, so that nothing that is left of one fits another.
fn new_holder() -> Result<String, Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::problem(format!("the system has no random numbers to name a lease by: {error}"))
    })?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

/// Stores one of `ids` that was never given before, if there is one. Returns it, and the time at
/// which its row was written.
fn new_worker<D: Tables>(
    transaction: &mut Transaction<'_>,
    host: &Host,
    ids: &RangeInclusive<u64>,
) -> Result<(u64, i64), Fault> {
    let (first, last) = (*ids.start(), *ids.end());
    let (given, now) = largest_given_and_now::<D>(transaction)?;
    if given >= last {
        let capacity = (last + 1).saturating_sub(first);
        return Err(Fault::Refused(RegistryError::Exhausted { used: capacity, capacity }));
    }
    let worker = first.max(given + 1);
    let sql = "INSERT INTO {workers} (id, host_name, port, type, launch_date, modified, created) \
               VALUES (?, ?, ?, ?, {now}, {now}, ?)";
    let values = [
        worker.into(),
        host.name.as_str().into(),
        host.port.as_str().into(),
        host.kind.code().into(),
        now.into(),
    ];
    write::<D>(transaction, sql, &values)?;
    if !D::IS_FILE {
        let sql = "UPDATE uidring_layout SET last_worker = ? WHERE id = 1";
        write::<D>(transaction, sql, &[worker.into()])?;
    }
    Ok((worker, now))
}

/// A leased id that nobody holds.
struct Free {
    worker: u64,
    reserved_until: u64,
    created: i64,
}

/// Who gets an id, and for how long.
struct LeaseGrant<'a> {
    host: &'a Host,
    holder: &'a str,
    reserved_until: u64,
    duration_ms: i64,
}

/// The id whose lease has expired and whose ticks ended first, if that was before `latest`.
fn free<D: Tables>(transaction: &mut Transaction<'_>, latest: u64) -> Result<Option<Free>, Error> {
    let sql = "SELECT id, reserved_until, created FROM {workers} \
               WHERE lease_until <= {now} AND reserved_until < ? \
               ORDER BY reserved_until, id LIMIT 1";
    match rows::<D>(transaction, sql, &[latest.into()])?.pop().as_deref() {
        Some([Value::Int(id), Value::Int(reserved_until), Value::Int(created)]) => {
            let (worker, reserved_until) = (number(*id)?, number(*reserved_until)?);
            Ok(Some(Free { worker, reserved_until, created: *created }))
        }
        Some(_) => Err(foreign_tables()),
        None => Ok(None),
    }
}

/// Gives an id again. False when its holder has come back to life, and reserved further, since it
/// was found free.
fn lend_again<D: Tables>(
    transaction: &mut Transaction<'_>,
    free: &Free,
    grant: &LeaseGrant<'_>,
) -> Result<bool, Error> {
    let mut values = lend(free.worker, grant).to_vec();
    values.push(free.reserved_until.into());
    Ok(write::<D>(transaction, &format!("{LEND} AND reserved_until = ?"), &values)? == 1)
}

const LEND: &str = "UPDATE {workers} SET host_name = ?, port = ?, type = ?, launch_date = {now}, \
                    modified = {now}, holder = ?, reserved_until = ?, lease_until = {now} + ? \
                    WHERE id = ?";

fn lend(worker: u64, grant: &LeaseGrant<'_>) -> [Value; 7] {
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
    given: &Given,
) -> Result<(), Fault> {
    // Never back: a write that was given up may still come about, after the next one.
    let sql = "UPDATE {workers} SET reserved_until = {greatest}(reserved_until, ?), \
               lease_until = {now} + ?, modified = {now} WHERE id = ? AND holder = ?";
    let values = [last.into(), whole_ms(duration).into(), worker.into(), holder.into()];
    let written = write::<D>(transaction, sql, &values)?;
    if written == 0 {
        // Another holder may have the id, or the same id of other tables.
        check_identity::<D>(transaction, given, worker)?;
    }
    still_held(written, worker)
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

/// "5 to 9", or "none" for an empty range.
fn words(ids: &RangeInclusive<u64>) -> String {
    if ids.is_empty() { "none".to_owned() } else { format!("{} to {}", ids.start(), ids.end()) }
}

fn number(number: i64) -> Result<u64, Error> {
    u64::try_from(number).map_err(|_| foreign_tables())
}

/// The layout of a row's numbers, if they are one.
fn layout_of(widths: &[i64], worker_first: i64, tick_ms: i64, epoch_ms: i64) -> Option<Layout> {
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

fn whole_ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX / 4).min(i64::MAX / 4)
}
