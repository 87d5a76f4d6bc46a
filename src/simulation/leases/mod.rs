//! Several generators that share leased ids on a flaky registry: a call fails without effect,
//! succeeds but reports a failure, or reports a failure and takes effect later. Each generator has
//! its own clock.

mod generators;

use std::mem;
use std::time::Duration;

use crate::clock::{Clock, ManualClock};
use crate::layout::{FieldOrder, Layout};
use crate::registry::{Lease, LeaseKind, RegistryError, Request, WorkerRegistry};
use crate::sync::{Arc, Mutex, MutexGuard, lock};

/// How long a lease lasts, in seconds.
const LEASE: u64 = 3;

/// A registry whose time is moved by hand.
trait Database: WorkerRegistry {
    fn pass(&mut self, seconds: u64);
}

/// A registry in memory that works like the databases. It is fast enough to find rare cases.
#[derive(Default)]
struct Memory {
    /// In seconds.
    now: u64,
    /// The rows of the worker ids 1, 2 and so on.
    rows: Vec<Row>,
    holders: u64,
}

struct Row {
    holder: Option<String>,
    reserved_until: u64,
    lease_until: u64,
}

impl Memory {
    /// The row of `lease`, if its holder still has it.
    fn held(&mut self, lease: &Lease) -> Result<&mut Row, RegistryError> {
        let row = &mut self.rows[lease.worker as usize - 1];
        match &lease.kind {
            LeaseKind::Leased { holder, .. } if row.holder.as_ref() == Some(holder) => Ok(row),
            _ => Err(RegistryError::LeaseLost { worker: lease.worker }),
        }
    }
}

impl Database for Memory {
    fn pass(&mut self, seconds: u64) {
        self.now += seconds;
    }
}

impl WorkerRegistry for Memory {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        let is_free =
            |row: &Row| row.lease_until <= self.now && row.reserved_until < request.latest;
        let free = (1..)
            .zip(&self.rows)
            .filter(|(_, row)| is_free(row))
            .map(|(id, row)| (row.reserved_until, id))
            .min();
        let (worker, first) = match free {
            Some((reserved_until, id)) => (id, request.now.max(reserved_until + 1)),
            None => (self.rows.len() as u64 + 1, request.now),
        };
        self.holders += 1;
        let (last, holder) = (first + LEASE, self.holders.to_string());
        let row = Row {
            holder: Some(holder.clone()),
            reserved_until: last,
            lease_until: self.now + LEASE,
        };
        match free {
            Some((_, id)) => self.rows[id as usize - 1] = row,
            None => self.rows.push(row),
        }
        Ok(Lease::leased(worker, first..=last, Duration::from_secs(LEASE), holder))
    }

    fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        let lease_until = self.now + LEASE;
        let row = self.held(lease)?;
        (row.reserved_until, row.lease_until) = (row.reserved_until.max(last), lease_until);
        Ok(last)
    }

    fn release(&mut self, lease: &Lease, used: u64) -> Result<(), RegistryError> {
        let lease_until = self.now;
        *self.held(lease)? = Row { holder: None, reserved_until: used, lease_until };
        Ok(())
    }
}

/// A real database.
#[cfg(feature = "sqlite")]
struct File {
    registry: crate::registry::SqliteRegistry,
    dir: tempfile::TempDir,
}

#[cfg(feature = "sqlite")]
impl File {
    const NAME: &str = "uidring.db";

    fn new() -> File {
        // In memory if possible, because each write waits for the disk.
        let memory = std::path::Path::new("/dev/shm");
        let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }
            .unwrap();
        let registry = crate::registry::SqliteRegistry::open(dir.path().join(File::NAME)).unwrap();
        File { registry: registry.leased(Duration::from_secs(LEASE)), dir }
    }
}

#[cfg(feature = "sqlite")]
impl Database for File {
    fn pass(&mut self, seconds: u64) {
        let db = rusqlite::Connection::open(self.dir.path().join(File::NAME)).unwrap();
        db.execute(
            "UPDATE worker_node SET lease_until = lease_until - ?1",
            [i64::try_from(seconds * 1000).unwrap()],
        )
        .unwrap();
    }
}

#[cfg(feature = "sqlite")]
impl WorkerRegistry for File {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        self.registry.assign(request)
    }

    fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        self.registry.reserve(lease, last)
    }

    fn release(&mut self, lease: &Lease, used: u64) -> Result<(), RegistryError> {
        self.registry.release(lease, used)
    }
}

/// How the flaky registry handles a call.
#[derive(Clone, Copy, Debug)]
enum FaultMode {
    /// The call succeeds.
    Good,
    /// The call fails without effect.
    Down,
    /// The call takes effect, but its answer is lost.
    Mute,
    /// The call fails, but takes effect later.
    Late,
}

/// A failed call that takes effect later.
type Late = Box<dyn FnOnce(&mut dyn Database) + Send>;

/// A flaky registry that several generators share.
#[derive(Clone)]
struct Registry {
    flaky: Arc<Mutex<Flaky>>,
    layout: Layout,
}

struct Flaky {
    database: Box<dyn Database>,
    mode: FaultMode,
    late: Vec<Late>,
}

impl Flaky {
    fn run_late(&mut self) {
        for late in mem::take(&mut self.late) {
            late(&mut *self.database);
        }
    }
}

impl Registry {
    fn new(database: impl Database + 'static) -> Registry {
        let (database, mode) = (Box::new(database), FaultMode::Good);
        let flaky = Arc::new(Mutex::new(Flaky { database, mode, late: Vec::new() }));
        Registry { flaky, layout: layout() }
    }

    fn with_layout(self, order: FieldOrder, sequence_bits: u32) -> Registry {
        let layout = Layout::new(40, 12, sequence_bits).unwrap().with_order(order);
        Registry { layout, ..self }
    }

    fn flaky(&self) -> MutexGuard<'_, Flaky> {
        lock(&self.flaky)
    }

    fn pass(&self, seconds: u64) {
        self.flaky().database.pass(seconds);
    }

    fn call<T>(
        &self,
        operation: impl FnOnce(&mut dyn Database) -> Result<T, RegistryError> + Send + 'static,
    ) -> Result<T, RegistryError> {
        let mut flaky = self.flaky();
        match flaky.mode {
            FaultMode::Good => return operation(&mut *flaky.database),
            FaultMode::Down => {}
            FaultMode::Mute => drop(operation(&mut *flaky.database)),
            FaultMode::Late => flaky.late.push(Box::new(move |database| drop(operation(database)))),
        }
        Err(RegistryError::unreachable("it is flaky"))
    }
}

impl WorkerRegistry for Registry {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        let request = *request;
        self.call(move |database| database.assign(&request))
    }

    fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        let lease = lease.clone();
        self.call(move |database| database.reserve(&lease, last))
    }

    fn release(&mut self, lease: &Lease, used: u64) -> Result<(), RegistryError> {
        let lease = lease.clone();
        self.call(move |database| database.release(&lease, used))
    }
}

/// A layout with eight UIDs per second.
fn layout() -> Layout {
    Layout::new(40, 12, 3).unwrap()
}

fn clock() -> ManualClock {
    ManualClock::new(layout().epoch() + Duration::from_secs(100_000))
}
