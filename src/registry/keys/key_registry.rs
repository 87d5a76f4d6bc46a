//! The registry in a store of keys: etcd, ZooKeeper or Redis.
//!
//! The key `layout` has the layout that the registry was first used with, its range of ids, and the
//! largest id ever given. The record of the worker id 7, with its lease, is `workers/7` if it is
//! leased, and `permanent/7` if it is given once: a start that looks for a leased id reads some of
//! the first folder, which has few more records than have run at one time. Times are milliseconds
//! since 1970, by the store's clock.

use std::ops::{Range, RangeInclusive};
use std::time::SystemTime;

use super::documents::{
    CREATED, HOLDER, LAUNCHED, LAYOUT, LEASE_UNTIL, LEASED, MODIFIED, PERMANENT, RESERVED_UNTIL,
    RegistryState, launched, leased_key, permanent_key, read_state, time, worker, write_state,
};
use super::free_ids::{find_free, first_end};
use crate::backend::error::random_text;
use crate::backend::keys::{Call, Client, Document, Error, ErrorPhrases, KeyStore, Transaction};
use crate::clock::from_unix_ms;
use crate::layout::Layout;
use crate::registry::admin::{RegistryAdmin, WorkerCounts, WorkerRecord};
use crate::registry::assignment::{
    AssignedIds, AssignedSnapshot, Config, Fault, check_use, lease_of, next_id, replaced_store,
    whole_ms,
};
use crate::registry::{Lease, LeaseKind, RegistryError, Request, WorkerRegistry};
use crate::sync::{Mutex, lock};

/// The most ids whose records are read in one call.
const READ_TOGETHER: usize = 2000;

/// What errors call the memory of what was given.
const RECORDS: &str = "keys";
const PHRASES: ErrorPhrases = ErrorPhrases {
    subject: "the registry",
    missing_tables: "its keys are not there; start a generator with it, which makes them",
    incompatible_tables: "",
    not_a_database: "",
    unrelated_tables: "",
    permissions: "give this user the rights to read, write and remove the keys in its folder",
};

/// Worker ids from a store of keys.
#[derive(Clone, Debug)]
pub struct KeyRegistry<K> {
    pub(crate) client: Client<K>,
    pub(crate) config: Config,
    /// What all clones have been given.
    assigned: AssignedIds,
}

impl<K: KeyStore> KeyRegistry<K> {
    /// The registry in `store`.
    pub(crate) fn on(store: K) -> Self {
        let client = Client::new(store);
        KeyRegistry { client, config: Config::PERMANENT, assigned: AssignedIds::default() }
    }

    /// Runs `body` in a transaction that fails if the registry was never used.
    fn read<T: Send>(
        &self,
        body: impl Fn(&mut Transaction<'_>, RegistryState) -> Result<T, Error> + Sync,
    ) -> Result<T, RegistryError> {
        self.client.transact(&READ, |transaction| {
            let state = read_state(transaction)?.ok_or(Error::MissingTables(None))?;
            Ok(body(transaction, state)?)
        })
    }

    /// How it was used, if it was.
    fn state(&self) -> Result<Option<RegistryState>, RegistryError> {
        // The first use is for good, and whoever begins another makes sure that it is the first.
        let call = Call { is_advice: true, ..READ };
        self.client.transact(&call, |transaction| Ok(read_state(transaction)?))
    }

    /// The ids from the first one to the largest given.
    fn ids_given(&self) -> Result<Range<u64>, RegistryError> {
        self.read(|_, state| Ok(*state.ids.start()..state.largest + 1))
    }

    /// The records of those of `ids` that have one, in their order.
    fn records_of(&self, ids: Range<u64>) -> Result<Vec<WorkerRecord>, RegistryError> {
        let keys: Vec<String> = ids.flat_map(|id| [permanent_key(id), leased_key(id)]).collect();
        self.client.transact(&LIST, |transaction| {
            let records = keys.iter().zip(transaction.read_many(&keys)?);
            let records = records.filter_map(|(key, record)| Some(worker(key, &record?)));
            Ok(records.collect::<Result<_, _>>()?)
        })
    }

    /// Runs `body` in a transaction on the record of the leased id `worker`, if it is there.
    fn change(
        &self,
        worker: u64,
        doing: &str,
        body: impl Fn(&mut Transaction<'_>, Option<Document>) -> Result<(), Fault> + Sync,
    ) -> Result<(), RegistryError> {
        let key = &*leased_key(worker);
        let call = Call { doing, keys: &[key], ..READ };
        self.client.transact(&call, |transaction| {
            let record = transaction.read(key)?;
            body(transaction, record)
        })
    }
}

const READ: Call<'static> =
    Call { phrases: &PHRASES, doing: "read the registry", keys: &[LAYOUT], is_advice: false };
const LIST: Call<'static> = Call { is_advice: true, ..READ };
const ASSIGN: Call<'static> = Call { doing: "store a worker id in the registry", ..READ };

impl<K: KeyStore> WorkerRegistry for KeyRegistry<K> {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        let assigned = self.assigned.snapshot();
        let assign = |transaction: &mut Transaction<'_>| {
            assign(transaction, &self.config, request, &assigned)
        };
        let (lease, created, is_new) = self.client.transact(&ASSIGN, assign)?;
        if is_new {
            self.client.warn_if_new();
        }
        self.assigned.add(&lease, created);
        Ok(lease)
    }

    fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        let LeaseKind::Leased { duration, holder } = &lease.kind else { return Ok(lease.last) };
        let (worker, assigned) = (lease.worker, self.assigned.snapshot());
        let doing = "reserve ticks in the registry";
        self.change(worker, doing, |transaction, record| {
            let Some(record) = record.filter(|record| record.text(HOLDER) == Some(holder)) else {
                // Another holder may have the id, or this may be another store with the same id.
                check_identity(transaction, &assigned, worker)?;
                return Err(Fault::Refused(RegistryError::LeaseLost { worker }));
            };
            let key = leased_key(worker);
            let reserved_until = record.number(&key, RESERVED_UNTIL)?;
            // An old copy may have this holder, and fewer ticks.
            let created = time(&record, &key, CREATED)?;
            if assigned.contradicts(worker, created, Some(reserved_until)) {
                return Err(replaced_store(RECORDS, worker).into());
            }
            let reserved_until = reserved_until.max(last);
            let now = transaction.now()?;
            assigned.note_time(now);
            let record = record
                .with(RESERVED_UNTIL, reserved_until)
                .with(LEASE_UNTIL, now.saturating_add(whole_ms(*duration)))
                .with(MODIFIED, now);
            transaction.put(&key, record);
            Ok(())
        })?;
        self.assigned.reserved(worker, last);
        Ok(last)
    }

    fn release(&mut self, lease: &Lease, used: u64) -> Result<(), RegistryError> {
        let LeaseKind::Leased { holder, .. } = &lease.kind else { return Ok(()) };
        let worker = lease.worker;
        self.assigned.releasing(worker, used);
        let doing = "give a worker id back to the registry";
        self.change(worker, doing, |transaction, record| {
            let Some(record) = record.filter(|record| record.text(HOLDER) == Some(holder)) else {
                return Err(Fault::Refused(RegistryError::LeaseLost { worker }));
            };
            release_record(transaction, worker, record.with(RESERVED_UNTIL, used))
        })
    }

    fn name(&self) -> String {
        self.client.store.name()
    }

    fn last_assigned(&mut self) -> Result<Option<SystemTime>, RegistryError> {
        let is_leased = self.config.lease.is_some();
        self.client.transact(&READ, |transaction| {
            let Some(state) = read_state(transaction)? else { return Ok(None) };
            let mut last = state.launched;
            // Only a leased id is launched again. There are as many as have run at one time.
            if is_leased {
                for (key, record) in transaction.list(LEASED)? {
                    last = last.max(time(&record, &key, LAUNCHED)?);
                }
            }
            Ok(from_unix_ms(last.into()))
        })
    }

    fn remembered_layout(&mut self) -> Result<Option<Layout>, RegistryError> {
        self.layout()
    }

    fn worker_ids_of(&self, layout: &Layout) -> Option<RangeInclusive<u64>> {
        self.config.ids.of(layout).ok()
    }

    fn clock_skew_ms(&self) -> Option<i64> {
        self.assigned.clock_skew_ms()
    }
}

impl<K: KeyStore> RegistryAdmin for KeyRegistry<K> {
    fn workers(&self) -> Result<Vec<WorkerRecord>, RegistryError> {
        let mut workers: Vec<WorkerRecord> = self.read(|transaction, _| {
            let mut records = transaction.list(PERMANENT)?;
            records.extend(transaction.list(LEASED)?);
            records.iter().map(|(key, record)| worker(key, record)).collect()
        })?;
        workers.sort_by_key(|worker| worker.id);
        Ok(workers)
    }

    fn workers_below(&self, end: u64, most: usize) -> Result<Vec<WorkerRecord>, RegistryError> {
        let ids = self.ids_given()?;
        let (mut found, mut end) = (Vec::new(), end.min(ids.end));
        // Those of removed records are passed over, more at a time.
        let mut together = most;
        while found.len() < most && ids.start < end {
            together = together.clamp(1, READ_TOGETHER);
            let start = end.saturating_sub(together as u64).max(ids.start);
            found.extend(self.records_of(start..end)?.into_iter().rev());
            (end, together) = (start, together.saturating_mul(2));
        }
        found.truncate(most);
        Ok(found)
    }

    fn count_workers(&self, now: SystemTime) -> Result<WorkerCounts, RegistryError> {
        let mut counts = self.client.transact::<_, RegistryError>(&LIST, |transaction| {
            let all = transaction.count(PERMANENT)?;
            let mut counts = WorkerCounts { all, ..WorkerCounts::default() };
            for (key, record) in transaction.list(LEASED)? {
                counts.add(&worker(&key, &record)?, now);
            }
            Ok(counts)
        })?;
        let ids = self.ids_given()?;
        let mut start = ids.start;
        while counts.first_created.is_none() && start < ids.end {
            let end = start.saturating_add(READ_TOGETHER as u64).min(ids.end);
            let first = self.records_of(start..end)?.into_iter().next();
            (counts.first_created, start) = (first.map(|first| first.created), end);
        }
        Ok(counts)
    }

    fn largest_given(&self) -> Result<u64, RegistryError> {
        self.read(|_, state| Ok(state.largest))
    }

    fn layout(&self) -> Result<Option<Layout>, RegistryError> {
        Ok(self.state()?.map(|state| state.layout))
    }

    fn ids(&self) -> Result<Option<RangeInclusive<u64>>, RegistryError> {
        Ok(self.state()?.map(|state| state.ids))
    }

    fn revoke(&self, worker: u64) -> Result<(), RegistryError> {
        let first_seen = Mutex::new(None);
        self.change(worker, "revoke a lease in the registry", |transaction, record| {
            let Some(record) = record.filter(|record| !record.lacks(LEASE_UNTIL)) else {
                return Err(Fault::Refused(RegistryError::NotLeased { worker }));
            };
            // An earlier run may have been made without an answer. Then this lease is another's,
            // and the one that was to end has ended in any case.
            let holder = record.text(HOLDER).map(str::to_owned);
            if holder != *lock(&first_seen).get_or_insert_with(|| holder.clone()) {
                return Ok(());
            }
            release_record(transaction, worker, record)
        })
    }

    fn try_assign(&self, request: &Request) -> Result<Lease, RegistryError> {
        let assigned = AssignedIds::default().snapshot();
        let assign = |transaction: &mut Transaction<'_>| {
            Ok(assign(transaction, &self.config, request, &assigned)?.0)
        };
        self.client.try_out(&ASSIGN, assign)
    }
}

/// Gives an id to a process that has the ids `given`. Returns its lease, the time at which its
/// record was made, and whether it is the first of the registry.
fn assign(
    transaction: &mut Transaction<'_>,
    config: &Config,
    request: &Request,
    assigned: &AssignedSnapshot,
) -> Result<(Lease, i64, bool), Fault> {
    let layout = request.layout;
    let ids = config.ids.of(&layout)?;
    if let Some(last) = assigned.largest() {
        check_identity(transaction, assigned, last)?;
    }
    let state = read_state(transaction)?;
    let is_new = state.is_none();
    let largest = match state {
        None => 0,
        Some(state) => {
            check_use(&(state.layout, state.ids), layout, &ids)?;
            state.largest
        }
    };
    let now = transaction.now()?;
    assigned.note_time(now);
    let holder = config.lease.map(|_| random_text()).transpose()?;
    let lease = |worker, first| match (config.lease, &holder) {
        (Some(duration), Some(holder)) => lease_of(&layout, duration, holder, worker, first),
        _ => Lease::permanent(worker, &layout),
    };
    let host = config.host();
    if config.lease.is_some()
        && let Some(free) = find_free(transaction, &ids, largest, request.latest, now)?
    {
        if assigned.contradicts(free.worker, free.created, Some(free.reserved_until)) {
            return Err(replaced_store(RECORDS, free.worker).into());
        }
        let lease = lease(free.worker, request.now.max(free.reserved_until + 1));
        transaction.put(&leased_key(free.worker), launched(free.record, &lease, &host, now));
        return Ok((lease, free.created, is_new));
    }
    let worker = match next_id(largest, &ids) {
        Err(Fault::Refused(RegistryError::Exhausted { used, capacity, .. }))
            if config.lease.is_some() =>
        {
            let next = first_end(transaction, &ids, now)?;
            return Err(Fault::Refused(RegistryError::Exhausted { used, capacity, next }));
        }
        next => next?,
    };
    let lease = lease(worker, request.now);
    let (key, other) = match &lease.kind {
        LeaseKind::Permanent => (permanent_key(worker), leased_key(worker)),
        LeaseKind::Leased { .. } => (leased_key(worker), permanent_key(worker)),
    };
    // Others may have had this id since the layout was read, and have written both.
    if (transaction.attempt() > 0 || transaction.has_listed(&key))
        && (transaction.read(&key)?.is_some() || transaction.read(&other)?.is_some())
        && transaction.is_as_read(LAYOUT)?
    {
        return Err(Fault::Database(Error::problem(format!(
            "its key {LAYOUT} says that {largest} is the largest worker id ever given, and there \
             is a record of {worker}; put back what was there",
        ))));
    }
    write_state(transaction, &layout, &ids, worker, now)?;
    let record = Document::new().with(CREATED, now);
    transaction.put(&key, launched(record, &lease, &host, now));
    transaction.expect_absent(&other);
    Ok((lease, now, is_new))
}

/// Frees the leased id `worker`, whose record this is.
fn release_record(
    transaction: &mut Transaction<'_>,
    worker: u64,
    record: Document,
) -> Result<(), Fault> {
    let now = transaction.now()?;
    let record = record.with(HOLDER, None::<&str>).with(LEASE_UNTIL, now).with(MODIFIED, now);
    transaction.put(&leased_key(worker), record);
    Ok(())
}

/// Refuses a store that did not give `given`, or an old copy of the one that did, as far as the
/// record of `worker` shows it.
fn check_identity(
    transaction: &mut Transaction<'_>,
    assigned: &AssignedSnapshot,
    worker: u64,
) -> Result<(), Error> {
    let largest = read_state(transaction)?.map_or(0, |state| state.largest);
    let is_leased = assigned.is_leased(worker);
    let key = if is_leased { leased_key(worker) } else { permanent_key(worker) };
    let record = transaction.read(&key)?;
    // The record of an id may have been removed.
    let is_another = match record {
        Some(record) => {
            let created = time(&record, &key, CREATED)?;
            let reserved_until = record.int(RESERVED_UNTIL).and_then(|tick| tick.try_into().ok());
            assigned.contradicts(worker, created, reserved_until)
        }
        None => false,
    };
    let went_back = assigned.largest().is_some_and(|last| largest < last);
    if is_another || went_back { Err(replaced_store(RECORDS, worker)) } else { Ok(()) }
}
