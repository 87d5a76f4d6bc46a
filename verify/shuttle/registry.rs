//! [`Registry`]: worker ids in memory, leased, by the rules of the databases. Its calls are slow or
//! fail as the schedule decides.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use shuttle::rand::{Rng, thread_rng};
use uidring::registry::{Lease, LeaseKind, Request, WorkerRegistry};
use uidring::{RegistryError, scenario};

use crate::{MS, SECOND, linger};

/// What can happen to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It takes a while, in which other threads run.
    Slow,
    /// It takes up to two seconds.
    Stuck,
    /// It fails and changes nothing.
    Away,
    /// It succeeds, and the answer is lost.
    AnswerLost,
    /// Another generator has the worker id.
    Lost,
    /// It does not come back while [`Table::is_hanging`].
    Hanging,
}

/// One generator's connection to the rows.
pub struct Registry {
    rows: Rows,
    /// What can happen to a call.
    faults: &'static [Fault],
    /// How often.
    faults_left: u32,
    config: RegistryConfig,
}

/// How ids are leased.
#[derive(Clone, Copy)]
pub struct RegistryConfig {
    /// How long a lease lasts.
    pub duration: Duration,
    /// How many ticks come with it.
    pub ticks: u64,
}

/// The rows of the worker ids 1, 2 and so on. The lock is from std: a database is not a part of the
/// program, and a call to it has its effect at one moment.
#[derive(Clone, Default)]
pub struct Rows(Arc<Mutex<Table>>);

#[derive(Default)]
pub struct Table {
    rows: Vec<Row>,
    holders: u64,
    /// The ids that were given back: worker id, first tick of the lease, last one that was used.
    pub released: Vec<(u64, u64, u64)>,
    /// How many leases were lost.
    pub lost: u64,
    /// How many generators have dropped their registry.
    pub dropped: u64,
    /// Whether calls hang that may.
    pub is_hanging: bool,
}

impl Drop for Registry {
    fn drop(&mut self) {
        self.rows.lock().dropped += 1;
    }
}

struct Row {
    holder: Option<String>,
    reserved_until: u64,
    lease_until: Duration,
}

impl Rows {
    pub fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last tick that is reserved for the worker id.
    pub fn reserved_until(&self, worker: u64) -> u64 {
        self.lock().rows[index(worker)].reserved_until
    }
}

fn index(worker: u64) -> usize {
    usize::try_from(worker - 1).unwrap()
}

impl Table {
    /// The row of `lease`, if its holder still has it.
    fn held(&mut self, lease: &Lease) -> Result<&mut Row, RegistryError> {
        let row = &mut self.rows[index(lease.worker)];
        match &lease.kind {
            LeaseKind::Leased { holder, .. } if row.holder.as_ref() == Some(holder) => Ok(row),
            _ => {
                self.lost += 1;
                Err(RegistryError::LeaseLost { worker: lease.worker })
            }
        }
    }

    fn assign(&mut self, request: &Request, config: RegistryConfig) -> Lease {
        let now = scenario::time();
        let is_free = |row: &Row| row.lease_until <= now && row.reserved_until < request.latest;
        let free = (1..).zip(&self.rows).filter(|(_, row)| is_free(row));
        let free = free.map(|(worker, row)| (row.reserved_until, worker)).min();
        let (worker, first) = match free {
            Some((reserved_until, worker)) => (worker, request.now.max(reserved_until + 1)),
            None => (self.rows.len() as u64 + 1, request.now),
        };
        self.holders += 1;
        let (last, holder) = (first + config.ticks - 1, self.holders.to_string());
        let row = Row {
            holder: Some(holder.clone()),
            reserved_until: last,
            lease_until: now + config.duration,
        };
        if free.is_some() {
            self.rows[index(worker)] = row;
        } else {
            self.rows.push(row);
        }
        Lease::leased(worker, first..=last, config.duration, holder)
    }

    fn reserve(
        &mut self,
        lease: &Lease,
        last: u64,
        config: RegistryConfig,
    ) -> Result<u64, RegistryError> {
        let row = self.held(lease)?;
        row.reserved_until = row.reserved_until.max(last);
        row.lease_until = scenario::time() + config.duration;
        Ok(row.reserved_until)
    }

    fn release(&mut self, lease: &Lease, used: u64) -> Result<(), RegistryError> {
        let row = self.held(lease)?;
        row.holder = None;
        (row.reserved_until, row.lease_until) = (used, scenario::time());
        self.released.push((lease.worker, lease.first, used));
        Ok(())
    }
}

impl Registry {
    #[must_use]
    pub fn with_faults(
        rows: &Rows,
        config: RegistryConfig,
        faults: &'static [Fault],
        count: u32,
    ) -> Registry {
        Registry { rows: rows.clone(), faults, faults_left: count, config }
    }

    fn next_fault(&mut self) -> Option<Fault> {
        if self.faults_left == 0 || thread_rng().gen_ratio(1, 2) {
            return None;
        }
        self.faults_left -= 1;
        Some(self.faults[thread_rng().gen_range(0..self.faults.len())])
    }

    /// Makes a call, to which something may happen.
    fn call<T>(
        &mut self,
        lease: Option<&Lease>,
        call: impl FnOnce(&mut Table, RegistryConfig) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        let fault = self.next_fault();
        match fault {
            Some(Fault::Slow) => linger(30),
            Some(Fault::Stuck) => scenario::sleep(MS * thread_rng().gen_range(1..2000)),
            Some(Fault::Hanging) => {
                while self.rows.lock().is_hanging {
                    scenario::sleep(SECOND);
                }
            }
            Some(Fault::Away) => return Err(RegistryError::unreachable("away")),
            Some(Fault::Lost) => {
                let mut table = self.rows.lock();
                if let Some(lease) = lease
                    && let Ok(row) = table.held(lease)
                {
                    // What was reserved stays so.
                    row.holder = Some("another".to_owned());
                    row.lease_until = scenario::time() + 3600 * SECOND;
                }
            }
            Some(Fault::AnswerLost) | None => {}
        }
        // The way there and back.
        shuttle::thread::yield_now();
        let result = call(&mut self.rows.lock(), self.config);
        shuttle::thread::yield_now();
        if fault == Some(Fault::AnswerLost) {
            return Err(RegistryError::unreachable("no answer"));
        }
        result
    }
}

impl WorkerRegistry for Registry {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        self.call(None, |table, config| Ok(table.assign(request, config)))
    }

    fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        self.call(Some(lease), |table, config| table.reserve(lease, last, config))
    }

    fn release(&mut self, lease: &Lease, used: u64) -> Result<(), RegistryError> {
        self.call(Some(lease), |table, _| table.release(lease, used))
    }
}
