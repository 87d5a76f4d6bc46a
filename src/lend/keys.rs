//! [`KeyLoans`], pools in a store of keys: etcd, ZooKeeper or Redis.
//!
//! `pools/shop` has the width of the pool "shop" and the largest id that was ever lent, and
//! `loans-shop/7` the last loan of its id 7.
//!
//! etcd tells the time in whole seconds: a rest may be up to a second shorter there.

use super::error::LendError;
use super::known_pools::{KnownPools, Pool, check_identity};
use super::rules::{Ask, LoanRow, clock_behind, first_clock, last_id, time_of};
use super::store::{Change, LoanStore, PoolCounts, PoolKey, PoolRecord};
use crate::backend::error;
use crate::backend::keys::{
    Call, Client, Document, Error, ErrorPhrases, KeyStore, Transaction, last_name, name_of, text_of,
};

type Fault = error::Fault<LendError>;

const POOLS: &str = "pools";

const BITS: &str = "bits";
const LAST_ID: &str = "last_id";
const CREATED: &str = "created";
const HOLDER: &str = "holder";
const HOST: &str = "host";
const SINCE: &str = "since";
const LEASE: &str = "lease_ms";
const REST: &str = "rest_ms";
const LEASE_UNTIL: &str = "lease_until";
const RESTS_UNTIL: &str = "rests_until";
const CLOCK_UNTIL: &str = "clock_until";
const IS_RETURNED: &str = "is_returned";

const PHRASES: ErrorPhrases = ErrorPhrases {
    subject: "the pools in",
    missing_tables: "",
    incompatible_tables: "",
    not_a_database: "",
    unrelated_tables: "",
    permissions: "give this user the rights to read, write and remove the keys in its folder",
};

/// What errors call the memory of what was lent.
const RECORDS: &str = "keys";

const READ: Call<'static> =
    Call { phrases: &PHRASES, doing: "read the pools in", keys: &[], is_advice: false };

/// Pools in a store of keys.
#[derive(Clone, Debug)]
pub(crate) struct KeyLoans<K> {
    pub(crate) client: Client<K>,
    known: KnownPools,
}

impl<K: KeyStore> KeyLoans<K> {
    /// The pools in the store that `client` calls.
    pub(crate) fn on(client: Client<K>) -> KeyLoans<K> {
        KeyLoans { client, known: KnownPools::default() }
    }

    /// Lends an id. Returns it, and what the store's pool is then.
    fn lend(
        transaction: &mut Transaction<'_>,
        key: &PoolKey,
        known: Option<Pool>,
        ask: &Ask,
    ) -> Result<(u64, Pool), Fault> {
        let found = find_pool(transaction, key)?;
        check_identity(RECORDS, key, known, found)?;
        let now = transaction.now()?;
        let pool = found.unwrap_or(Pool { bits: key.bits, last_id: 0, created: now });
        key.check_width(pool.bits).map_err(Fault::Refused)?;
        // An earlier run may have been made without an answer.
        if ask.may_be_repeated || transaction.attempt() > 0 {
            for (path, document) in transaction.list(&folder(key))? {
                let loan = loan_of(&path, &document)?;
                if let Some(renewed) = loan.repeated(ask, now) {
                    transaction.put(&path, document_of(&renewed));
                    return Ok((loan.id, pool));
                }
            }
        }
        if pool.last_id < last_id(pool.bits) {
            let id = pool.last_id + 1;
            let pool = Pool { last_id: id, ..pool };
            let path = loan_key(key, id);
            // Others may have lent it since the pool was read. Then this is run again.
            if transaction.read(&path)?.is_some() && transaction.is_as_read(&pool_key(key))? {
                return Err(Fault::Database(Error::problem(format!(
                    "its key {} says that {} is the largest worker id ever lent, and there is a \
                     loan of {id}; put back what was there",
                    pool_key(key),
                    id - 1
                ))));
            }
            transaction.put(&path, document_of(&LoanRow::lent(id, ask, now)));
            put_pool(transaction, key, pool);
            return Ok((id, pool));
        }
        let loans = transaction.list(&folder(key))?;
        let loans: Vec<LoanRow> = loans
            .iter()
            .map(|(path, document)| loan_of(path, document))
            .collect::<Result<_, _>>()?;
        let mut rested: Vec<&LoanRow> = loans.iter().filter(|loan| loan.has_rested(now)).collect();
        let least = rested.iter().map(|loan| loan.clock_until).min();
        rested.retain(|loan| first_clock(loan.clock_until) <= ask.clock);
        rested.sort_by_key(|loan| (loan.rests_until, loan.id));
        // Borrowers that ask at once choose among more ids at each further try.
        let most = 1_usize.checked_shl(transaction.attempt()).unwrap_or(usize::MAX);
        let choice = most.min(rested.len());
        if choice > 0 {
            let id = rested[fastrand::usize(..choice)].id;
            transaction.put(&loan_key(key, id), document_of(&LoanRow::lent(id, ask, now)));
            return Ok((id, pool));
        }
        if let Some(clock_until) = least {
            return Err(Fault::Refused(clock_behind(clock_until, ask.clock)));
        }
        let (held, resting) = counts(&loans, now);
        let first = loans.iter().map(|loan| loan.rests_until).min().unwrap_or(now);
        let (pool, first_free) = (key.name.clone(), time_of(first));
        Err(Fault::Refused(LendError::Full { pool, held, resting, first_free }))
    }
}

impl<K: KeyStore> LoanStore for KeyLoans<K> {
    fn name(&self) -> String {
        self.client.store.name()
    }

    fn grant(&self, key: &PoolKey, ask: &Ask) -> Result<u64, LendError> {
        let path = &*pool_key(key);
        let call = Call { doing: "lend a worker id of", keys: &[path], ..READ };
        let known = self.known.get(key);
        let (id, pool) =
            self.client.transact(&call, |transaction| Self::lend(transaction, key, known, ask))?;
        self.known.note(key, pool);
        Ok(id)
    }

    fn change(
        &self,
        doing: &str,
        pool: &PoolKey,
        id: u64,
        change: &Change<'_>,
    ) -> Result<(), LendError> {
        let known = self.known.get(pool);
        let key = loan_key(pool, id);
        let call = Call { doing, keys: &[&key], ..READ };
        self.client.transact(&call, |transaction| {
            let now = transaction.now()?;
            let found = transaction.read(&key)?;
            let found = found.map(|document| loan_of(&key, &document)).transpose()?;
            let changed = found.and_then(|loan| Some((change(&loan, now)?, loan)));
            let Some((changed, loan)) = changed else {
                check_identity(RECORDS, pool, known, find_pool(transaction, pool)?)?;
                return Err(Fault::Refused(LendError::Lost { id }));
            };
            if changed != loan {
                transaction.put(&key, document_of(&changed));
            }
            Ok(())
        })
    }

    fn loans(&self, key: &PoolKey) -> Result<(Vec<LoanRow>, i64), LendError> {
        let path = &*pool_key(key);
        self.client.transact(&Call { keys: &[path], ..READ }, |transaction| {
            if let Some(pool) = find_pool(transaction, key)? {
                key.check_width(pool.bits).map_err(Fault::Refused)?;
            }
            let now = transaction.now()?;
            let loans = transaction.list(&folder(key))?;
            let loans = loans.iter().map(|(path, document)| loan_of(path, document));
            let mut loans = loans.collect::<Result<Vec<_>, _>>()?;
            loans.sort_by_key(|loan| loan.id);
            Ok((loans, now))
        })
    }

    fn counts(&self, key: &PoolKey) -> Result<(u64, u64), LendError> {
        let (loans, now) = self.loans(key)?;
        Ok(counts(&loans, now))
    }

    fn width(&self, name: &str) -> Result<Option<u32>, LendError> {
        let path = format!("{POOLS}/{}", name_of(name));
        self.client.transact(&Call { keys: &[&path], ..READ }, |transaction| {
            let found = transaction.read(&path)?;
            Ok(found.map(|document| pool_of(&path, &document)).transpose()?.map(|pool| pool.bits))
        })
    }

    fn pools(&self) -> Result<Vec<PoolRecord>, LendError> {
        self.client.transact(&READ, |transaction| {
            let now = transaction.now()?;
            let mut pools = Vec::new();
            for (path, document) in transaction.list(POOLS)? {
                let bits = pool_of(&path, &document)?.bits;
                let key = PoolKey { name: text_of(last_name(&path)), bits };
                let (mut held, mut resting) = (0, 0);
                transaction.each(&folder(&key), &mut |path, document| {
                    let loan = loan_of(path, document)?;
                    held += u64::from(loan.is_held(now));
                    resting += u64::from(!loan.is_held(now) && !loan.has_rested(now));
                    Ok(())
                })?;
                let counts = PoolCounts::of(bits, held, resting);
                pools.push(PoolRecord { name: key.name, bits, counts });
            }
            pools.sort_by(|one, other| one.name.cmp(&other.name));
            Ok(pools)
        })
    }
}

fn pool_key(pool: &PoolKey) -> String {
    format!("{POOLS}/{}", name_of(&pool.name))
}

fn folder(pool: &PoolKey) -> String {
    format!("loans-{}", name_of(&pool.name))
}

fn loan_key(pool: &PoolKey, id: u64) -> String {
    format!("{}/{id}", folder(pool))
}

/// How many ids have a holder, and how many rest.
fn counts(loans: &[LoanRow], now: i64) -> (u64, u64) {
    let held = loans.iter().filter(|loan| loan.is_held(now)).count();
    let free = loans.iter().filter(|loan| loan.has_rested(now)).count();
    (held as u64, loans.len().saturating_sub(held + free) as u64)
}

fn find_pool(transaction: &mut Transaction<'_>, key: &PoolKey) -> Result<Option<Pool>, Error> {
    let path = pool_key(key);
    let found = transaction.read(&path)?;
    found.map(|document| pool_of(&path, &document)).transpose()
}

fn pool_of(path: &str, document: &Document) -> Result<Pool, Error> {
    let bits = u32::try_from(document.number(path, BITS)?);
    let created = document.int(CREATED).ok_or_else(|| document.invalid_field(path, CREATED))?;
    Ok(Pool {
        bits: bits.map_err(|_| document.invalid_field(path, BITS))?,
        last_id: document.number(path, LAST_ID)?,
        created,
    })
}

fn put_pool(transaction: &mut Transaction<'_>, key: &PoolKey, pool: Pool) {
    let document = Document::new()
        .with(BITS, pool.bits)
        .with(LAST_ID, pool.last_id)
        .with(CREATED, pool.created);
    transaction.put(&pool_key(key), document);
}

fn document_of(loan: &LoanRow) -> Document {
    Document::new()
        .with(HOLDER, loan.holder.as_str())
        .with(HOST, loan.host.as_str())
        .with(SINCE, loan.since)
        .with(LEASE, loan.lease_ms)
        .with(REST, loan.rest_ms)
        .with(LEASE_UNTIL, loan.lease_until)
        .with(RESTS_UNTIL, loan.rests_until)
        .with(CLOCK_UNTIL, loan.clock_until)
        .with(IS_RETURNED, i64::from(loan.is_returned))
}

fn loan_of(path: &str, document: &Document) -> Result<LoanRow, Error> {
    let bad = |field: &str| document.invalid_field(path, field);
    let int = |field: &str| document.int(field).ok_or_else(|| bad(field));
    let text = |field: &str| document.text(field).map(str::to_owned).ok_or_else(|| bad(field));
    Ok(LoanRow {
        id: last_name(path).parse().map_err(|_| bad("whose name is no number"))?,
        holder: text(HOLDER)?,
        host: text(HOST)?,
        since: int(SINCE)?,
        lease_ms: int(LEASE)?,
        rest_ms: int(REST)?,
        lease_until: int(LEASE_UNTIL)?,
        rests_until: int(RESTS_UNTIL)?,
        clock_until: int(CLOCK_UNTIL)?,
        is_returned: int(IS_RETURNED)? != 0,
    })
}
