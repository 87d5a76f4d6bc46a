//! The leased ids that nobody holds, and which of them a start takes.
//!
//! Which one is a matter of cost alone: its lease begins after all ticks that were reserved
//! for the id before.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::time::SystemTime;

use super::documents::{CREATED, HOLDER, LEASE_UNTIL, LEASED, RESERVED_UNTIL};
use super::documents::{id_of, leased_key, time};
use crate::backend::keys::{Document, Error, Transaction};
use crate::clock::from_unix_ms;
use crate::registry::assignment::next_id;

/// The most leased ids whose records are all read. Of more, so many are read: if one id of 150 is
/// free, all of them are missed once in thirty starts, and then there is one id more.
const MOST_READ: u64 = 500;

/// A leased id without a holder.
pub struct FreeId {
    pub worker: u64,
    pub reserved_until: u64,
    pub created: i64,
    pub record: Document,
}

/// The one of `ids` that is not leased, or no longer, and whose ticks ended first, if that was
/// before `latest`. Where others came first, it is one of several, so that those who start together
/// do not all want the same one again.
///
/// Of many ids, it looks at some, chosen at random, so that a start takes no longer the more
/// there are. It looks at all of them where no id above the `largest` that was given is left.
pub fn find_free(
    transaction: &mut Transaction<'_>,
    ids: &RangeInclusive<u64>,
    largest: u64,
    latest: u64,
    now: i64,
) -> Result<Option<FreeId>, Error> {
    let is_small = largest.saturating_sub(*ids.start()) < MOST_READ;
    if !is_small && transaction.count(LEASED)? > MOST_READ {
        let mut some = BTreeSet::new();
        while (some.len() as u64) < MOST_READ {
            some.insert(fastrand::u64(*ids.start()..=largest));
        }
        let keys: Vec<String> = some.into_iter().map(leased_key).collect();
        let records = transaction.sample(&keys)?;
        // Where there is none, nearly all ids are those that are given once.
        let is_any_leased = !records.is_empty();
        let free = choose(transaction, records, ids, latest, now)?;
        if free.is_some() || is_any_leased && next_id(largest, ids).is_ok() {
            return Ok(free);
        }
    }
    let records = transaction.list(LEASED)?;
    choose(transaction, records, ids, latest, now)
}

/// The one of these `records` that [`find_free`] returns.
fn choose(
    transaction: &Transaction<'_>,
    records: Vec<(String, Document)>,
    ids: &RangeInclusive<u64>,
    latest: u64,
    now: i64,
) -> Result<Option<FreeId>, Error> {
    let mut all = Vec::new();
    for (key, record) in records {
        let worker = id_of(&key, &record)?;
        if record.lacks(LEASE_UNTIL) || !ids.contains(&worker) {
            continue;
        }
        let reserved_until = record.number(&key, RESERVED_UNTIL)?;
        // When it was given back may be ahead of `now`: etcd tells whole seconds alone.
        let is_free = record.lacks(HOLDER) || time(&record, &key, LEASE_UNTIL)? <= now;
        if is_free && reserved_until < latest {
            let created = time(&record, &key, CREATED)?;
            all.push(FreeId { worker, reserved_until, created, record });
        }
    }
    all.sort_by_key(|free| (free.reserved_until, free.worker));
    let choice = 1_usize.checked_shl(transaction.attempt()).unwrap_or(usize::MAX).min(all.len());
    Ok((choice > 0).then(|| all.swap_remove(fastrand::usize(..choice))))
}

/// When the first lease of `ids` ends that has not ended yet.
pub fn first_end(
    transaction: &mut Transaction<'_>,
    ids: &RangeInclusive<u64>,
    now: i64,
) -> Result<Option<SystemTime>, Error> {
    let mut first = None;
    for (key, record) in transaction.list(LEASED)? {
        if ids.contains(&id_of(&key, &record)?) && !record.lacks(LEASE_UNTIL) {
            let end = time(&record, &key, LEASE_UNTIL)?;
            if end > now && first.is_none_or(|first| end < first) {
                first = Some(end);
            }
        }
    }
    Ok(first.and_then(|end| from_unix_ms(end.into())))
}
