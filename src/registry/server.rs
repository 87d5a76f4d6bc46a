//! What the registries on servers share: the statements, calls that end at a deadline, and
//! addresses without passwords.
//!
//! A start is one transaction, which begins by locking the one row of `uidring_layout`: starts come
//! one after the other, and nothing is used up by one that fails. A reservation is one conditional
//! write to the row of its id; a start that would give that id again makes its write conditional on
//! the same row being as it was found.

use std::error::Error;
use std::future::Future;
use std::time::{Duration, SystemTime};

use tokio::runtime::{self, Runtime};
#[cfg(feature = "postgres")]
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::host::{Host, WorkerKind};
use super::table::{
    self, Fault, Free, NO_LAYOUT, Partition, Tables, Tenancy, Terms, Worker, WorkerLease,
    from_unix_ms, tick_ms, unix_ms, whole_ms,
};
use super::{Lease, Request};
use crate::clock::Stopwatch;
use crate::layout::Layout;
use crate::registry::RegistryError;
use crate::sync::thread;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);
/// Of the schemas.
const VERSION: i64 = 1;

/// What is in a column, or takes the place of a `?`.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Null,
    Int(i64),
    Text(String),
}

impl From<u64> for Value {
    /// Ids, widths and ticks have less than 63 bits.
    fn from(number: u64) -> Value {
        Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::Int(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

/// What is the same for users of any server: the methods of `$registry`, which wraps a [`Server`].
macro_rules! registry_on_a_server {
    ($registry:ident) => {
        impl $registry {
            /// Sets how long a call may take, all in all: five seconds unless set. A server that
            /// does not answer in that time counts as down.
            #[must_use]
            pub fn with_timeout(mut self, timeout: Duration) -> Self {
                self.0.timeout = timeout;
                self
            }

            /// Sets the host name and the port that the rows show, in place of those found.
            ///
            /// They inform those who read the table. Worker ids do not depend on them.
            #[must_use]
            pub fn with_host(mut self, name: &str, port: &str) -> Self {
                self.0.terms.host = Some(Host::new(name, port));
                self
            }

            /// Gives ids for a time: when a generator has reserved no seconds for `duration`,
            /// another may have its id, from a second after those reserved. Ids are given back at a
            /// clean stop, and recycled, those free for longest first.
            ///
            /// Uniqueness does not rest on the duration, nor on a clock. A shorter one recycles
            /// sooner and writes more often; an idle generator writes twice in it. One that is cut
            /// off goes on for as long as it has reserved: the duration at least, and longer the
            /// busier it is.
            #[must_use]
            pub fn leased(mut self, duration: Duration) -> Self {
                self.0.terms.leased(duration);
                self
            }

            /// The worker ids that the registry remembers, in their order.
            ///
            /// # Errors
            ///
            /// [`RegistryError::Open`] says what is wrong and what to do,
            /// [`RegistryError::Unreachable`] that the server is down or does not answer,
            /// [`RegistryError::Storage`] that it failed.
            pub fn workers(&self) -> Result<Vec<Worker>, RegistryError> {
                self.0.workers()
            }

            /// The largest id ever given, also where its row has been deleted; 0 before the first.
            ///
            /// # Errors
            ///
            /// As [`workers`](Self::workers).
            pub fn largest_given(&self) -> Result<u64, RegistryError> {
                self.0.largest_given()
            }

            /// The layout that the tables were first used with, or `None` before their first use.
            ///
            /// # Errors
            ///
            /// As [`workers`](Self::workers).
            pub fn layout(&self) -> Result<Option<Layout>, RegistryError> {
                self.0.layout()
            }

            /// Takes the leased id `worker` from whoever holds it, so that the next start can have
            /// it.
            ///
            /// Safe at any time: the next holder begins after the last second that was reserved,
            /// and the one before finds its lease lost and takes another id.
            ///
            /// # Errors
            ///
            /// [`RegistryError::NotLeased`] when the registry has given no lease of that id; else
            /// as [`workers`](Self::workers).
            pub fn take_back(&self, worker: u64) -> Result<(), RegistryError> {
                self.0.take_back(worker)
            }
        }

        impl WorkerRegistry for $registry {
            fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
                self.0.assign(request)
            }

            fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
                self.0.reserve(lease, last)
            }

            fn release(&mut self, lease: &Lease, used: u64) -> Result<(), RegistryError> {
                self.0.release(lease, used)
            }

            fn last_assigned(&mut self) -> Result<Option<SystemTime>, RegistryError> {
                self.0.last_assigned()
            }
        }
    };
}

pub(super) use registry_on_a_server;

/// What an error of a driver means.
#[derive(Clone, Copy, Debug)]
pub(super) enum Diagnosis {
    /// The tables are not there.
    NoTables,
    /// There are tables of these names, and they are others.
    ForeignTables,
    /// The user lacks a right.
    Denied,
    /// Others hold the rows, or wrote them first.
    Locked,
    /// What the same call may not meet a moment later, and what to do.
    Later(&'static str),
    /// The disk is full.
    Full,
    /// What is wrong and what to do, as a sentence about the registry.
    Problem(&'static str),
    Other,
}

/// The server is down, or on its way up or down.
pub(super) const DOWN: Diagnosis =
    Diagnosis::Later("see that the server runs and can be reached from here");
/// The server has no connection or no memory to spare.
pub(super) const FULL_UP: Diagnosis =
    Diagnosis::Later("see who uses the server's connections and memory, or allow more of them");
/// The server, or its administrator, ended a statement.
pub(super) const INTERRUPTED: Diagnosis =
    Diagnosis::Later("see what keeps the server busy, or give its statements more time");
/// A replica, or a primary that hands over to another: what was its replica may soon take writes.
pub(super) const REPLICA: Diagnosis =
    Diagnosis::Later("give the address of the primary, or make this server the primary");
pub(super) const BAD_CERTIFICATE: Diagnosis = Diagnosis::Problem(
    "see the server's certificate, and name its authority by with_root_certificate",
);
pub(super) const BAD_PASSWORD: Diagnosis = Diagnosis::Problem("see the user and the password");
pub(super) const NO_DATABASE: Diagnosis = Diagnosis::Problem("see the name of the database");

/// A kind of database.
pub(super) trait Driver: Sync {
    type Error: Error + Send + Sync + 'static;
    type Session<'a>: Session<Error = Self::Error>;

    const SCHEMA: &'static str;

    fn connect<'a>(&self, call: &'a Call<'a>) -> Result<Self::Session<'a>, Fault<Self::Error>>;

    fn diagnose(error: &Self::Error) -> Diagnosis;
}

/// A connection, during a call.
pub(super) trait Session {
    type Error;

    /// The time by the server, in milliseconds since 1970. It decides when an id is free; not what
    /// its holders may use.
    const NOW_MS: &'static str;

    /// Begins a transaction whose commit will be durable, which sees what others commit meanwhile,
    /// and which the server ends when nothing is heard of this side for `timeout`: who is stopped
    /// in the middle of it keeps nobody out. A server whose settings make a commit less than
    /// durable is refused.
    fn begin(&mut self, timeout: Duration) -> Result<(), Fault<Self::Error>>;

    fn commit(&mut self) -> Result<(), Fault<Self::Error>>;

    /// Ends a transaction, and makes the tables.
    fn make_tables(&mut self) -> Result<(), Fault<Self::Error>>;

    fn rows(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Vec<Value>>, Fault<Self::Error>>;

    /// Returns how many rows fit the condition.
    fn write(&mut self, sql: &str, values: &[Value]) -> Result<u64, Fault<Self::Error>>;

    /// Says goodbye. The server takes back what was not committed. It would count a connection that
    /// is simply closed as one that broke, and log that.
    fn end(self);
}

/// A registry on a server.
#[derive(Clone, Debug)]
pub(super) struct Server<D> {
    pub driver: D,
    /// The address without the password.
    pub name: String,
    pub timeout: Duration,
    pub terms: Terms,
}

impl<D: Driver> Server<D> {
    pub fn new(driver: D, url: &str) -> Server<D> {
        Server {
            driver,
            name: without_password(url),
            timeout: DEFAULT_TIMEOUT,
            terms: Terms::FRESH,
        }
    }

    pub fn workers(&self) -> Result<Vec<Worker>, RegistryError> {
        let sql = "SELECT id, host_name, port, type, launch_date, holder, reserved_until, lease_until, created \
                   FROM uidring_worker_node ORDER BY id";
        self.read(|session| {
            session
                .rows(sql, &[])?
                .into_iter()
                .map(|row| worker(row).ok_or_else(foreign_tables))
                .collect()
        })
    }

    pub fn layout(&self) -> Result<Option<Layout>, RegistryError> {
        self.transact("read", |session, call| {
            session.begin(call.timeout)?;
            match used_with(session, "") {
                // The first use makes them.
                Err(Fault::Driver(error)) if matches!(D::diagnose(&error), Diagnosis::NoTables) => {
                    Ok(None)
                }
                result => result,
            }
        })
    }

    pub fn largest_given(&self) -> Result<u64, RegistryError> {
        self.read(|session| session.largest_given())
    }

    pub fn take_back(&self, worker: u64) -> Result<(), RegistryError> {
        let sql = "UPDATE uidring_worker_node SET holder = NULL, lease_until = {now}, modified = {now} \
                   WHERE id = ? AND lease_until IS NOT NULL";
        self.call("take a worker id back to", |session| {
            match write(session, sql, &[worker.into()])? {
                0 => Err(Fault::Known(RegistryError::NotLeased { worker })),
                _ => Ok(()),
            }
        })
    }

    pub fn assign(&self, request: &Request) -> Result<Lease, RegistryError> {
        self.call("store a worker id in", |session| table::give(session, &self.terms, request))
    }

    pub fn reserve(&self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        let Some(duration) = lease.duration else { return Ok(lease.last) };
        // Never back: a write that was given up may still come about, after the next one.
        let sql = "UPDATE uidring_worker_node SET reserved_until = GREATEST(reserved_until, ?), lease_until = {now} + ?, \
                   modified = {now} WHERE id = ? AND holder = ?";
        let values = [
            last.into(),
            whole_ms(duration).into(),
            lease.worker.into(),
            lease.holder.as_str().into(),
        ];
        self.call("reserve seconds in", |session| {
            still_held(write(session, sql, &values)?, lease)
        })?;
        Ok(last)
    }

    pub fn release(&self, lease: &Lease, used: u64) -> Result<(), RegistryError> {
        if lease.duration.is_none() {
            return Ok(());
        }
        let sql = "UPDATE uidring_worker_node SET reserved_until = ?, lease_until = {now}, modified = {now}, holder = NULL \
                   WHERE id = ? AND holder = ?";
        let values = [used.into(), lease.worker.into(), lease.holder.as_str().into()];
        self.call("give a worker id back to", |session| {
            still_held(write(session, sql, &values)?, lease)
        })
    }

    pub fn last_assigned(&self) -> Result<Option<SystemTime>, RegistryError> {
        let sql = "SELECT MAX(launch_date) FROM uidring_worker_node";
        self.call("read", |session| match one_row(session, sql)?[..] {
            [Value::Int(ms)] => Ok(from_unix_ms(ms)),
            _ => Ok(None),
        })
    }

    /// One transaction. Where the tables are not there, they are made.
    fn call<T: Send>(
        &self,
        doing: &str,
        body: impl Fn(&mut D::Session<'_>) -> Result<T, Fault<D::Error>> + Sync,
    ) -> Result<T, RegistryError> {
        self.transact(doing, |session, call| {
            session.begin(call.timeout)?;
            match body(session) {
                Err(Fault::Driver(error)) if matches!(D::diagnose(&error), Diagnosis::NoTables) => {
                    match session.make_tables() {
                        Err(Fault::Driver(error))
                            if matches!(D::diagnose(&error), Diagnosis::Denied) =>
                        {
                            return Err(Fault::Problem(no_tables(D::SCHEMA)));
                        }
                        made => made?,
                    }
                    session.begin(call.timeout)?;
                    body(session)
                }
                result => result,
            }
        })
    }

    /// One transaction that writes nothing.
    fn read<T: Send>(
        &self,
        body: impl Fn(&mut D::Session<'_>) -> Result<T, Fault<D::Error>> + Sync,
    ) -> Result<T, RegistryError> {
        self.transact("read", |session, call| {
            session.begin(call.timeout)?;
            match body(session) {
                Err(Fault::Driver(error)) if matches!(D::diagnose(&error), Diagnosis::NoTables) => {
                    Err(Fault::Problem(
                        "its tables are not there; start a generator with it, which makes them"
                            .into(),
                    ))
                }
                result => result,
            }
        })
    }

    fn transact<T: Send>(
        &self,
        doing: &str,
        body: impl Fn(&mut D::Session<'_>, &Call<'_>) -> Result<T, Fault<D::Error>> + Sync,
    ) -> Result<T, RegistryError> {
        call(&self.name, self.timeout, |call| {
            let attempt = || {
                let mut session = self.driver.connect(call)?;
                let result = body(&mut session, call);
                let result = result.and_then(|result| session.commit().map(|()| result));
                session.end();
                result
            };
            attempt().map_err(|fault| self.explain(doing, fault, call.since.elapsed()))
        })
    }

    /// The error of a call that could not do what it was `doing`, as it found out after `waited`.
    fn explain(&self, doing: &str, fault: Fault<D::Error>, waited: Duration) -> RegistryError {
        let registry = self.name.clone();
        let error = match fault {
            Fault::Known(error) => return error,
            Fault::Problem(problem) => {
                return RegistryError::Open { registry, problem, source: None };
            }
            Fault::Driver(error) => error,
        };
        let words = in_short(&error);
        let open = |problem: String, source| RegistryError::Open {
            registry: registry.clone(),
            problem,
            source: Some(Box::new(source)),
        };
        match D::diagnose(&error) {
            Diagnosis::ForeignTables => open(format!("{FOREIGN_TABLES} ({words})"), error),
            Diagnosis::Denied => open(
                format!(
                    "{words}; give this user the rights to select, insert and update in its two tables"
                ),
                error,
            ),
            Diagnosis::Problem(what_to_do) => open(format!("{words}; {what_to_do}"), error),
            Diagnosis::Locked => {
                let ms = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
                RegistryError::Locked { registry, waited: Duration::from_millis(ms) }
            }
            Diagnosis::Later(what_to_do) => RegistryError::Unreachable {
                registry,
                problem: format!("{words}; {what_to_do}"),
                source: Some(Box::new(error)),
            },
            Diagnosis::Full => RegistryError::Full { registry, source: Box::new(error) },
            Diagnosis::NoTables | Diagnosis::Other => RegistryError::Storage {
                doing: format!("{doing} the registry {registry}"),
                source: Box::new(error),
            },
        }
    }
}

/// What the first cause of an error says: what wraps it says little more than whose it is.
fn in_short(error: &dyn Error) -> String {
    error.source().map_or_else(|| error.to_string(), in_short)
}

const FOREIGN_TABLES: &str = "its tables uidring_layout and uidring_worker_node are not those of the schema; give the \
                              registry a database of its own";

fn foreign_tables<E>() -> Fault<E> {
    Fault::Problem(FOREIGN_TABLES.into())
}

fn still_held<E>(written: u64, lease: &Lease) -> Result<(), Fault<E>> {
    match written {
        0 => Err(Fault::Known(RegistryError::LeaseLost { worker: lease.worker })),
        _ => Ok(()),
    }
}

fn write<S: Session>(session: &mut S, sql: &str, values: &[Value]) -> Result<u64, Fault<S::Error>> {
    session.write(&sql.replace("{now}", S::NOW_MS), values)
}

fn one_row<S: Session>(session: &mut S, sql: &str) -> Result<Vec<Value>, Fault<S::Error>> {
    session.rows(sql, &[])?.pop().ok_or_else(|| {
        Fault::Problem(
            "its table uidring_layout has lost its row, and with it the largest id given; put back what was there"
                .into(),
        )
    })
}

fn used_with<S: Session>(session: &mut S, lock: &str) -> Result<Option<Layout>, Fault<S::Error>> {
    // The last column is there for its table, which the schemas make last: who meets it meets all
    // that is made before.
    let sql = "SELECT version, time_bits, worker_bits, sequence_bits, tick_ms, epoch_ms, \
               (SELECT MAX(id) FROM uidring_worker_node) FROM uidring_layout WHERE id = 1";
    let row = one_row(session, &format!("{sql}{lock}"))?;
    let bits = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
    match row[..] {
        [Value::Int(version), ..] if version != VERSION => Err(Fault::Problem(format!(
            "its schema has the version {version}, and this uidring knows version {VERSION}; use the uidring that made it"
        ))),
        [_, Value::Null, Value::Null, Value::Null, Value::Null, Value::Null, _] => Ok(None),
        [
            _,
            Value::Int(time),
            Value::Int(worker),
            Value::Int(sequence),
            Value::Int(tick_ms),
            Value::Int(epoch_ms),
            _,
        ] => table::layout_of(
            [time, worker, sequence].map(bits),
            u64::try_from(tick_ms).unwrap_or(0),
            epoch_ms,
        )
        .map(Some)
        .ok_or_else(|| Fault::Problem(NO_LAYOUT.into())),
        _ => Err(Fault::Problem(NO_LAYOUT.into())),
    }
}

fn worker(row: Vec<Value>) -> Option<Worker> {
    let [id, host_name, port, kind, launched, holder, reserved_until, lease_until, created]: [Value;
        9] = row.try_into().ok()?;
    let number = |value: &Value| match value {
        Value::Int(number) => u64::try_from(*number).ok(),
        _ => None,
    };
    let time = |value: &Value| match value {
        Value::Int(ms) => from_unix_ms(*ms),
        _ => None,
    };
    let text = |value: Value| match value {
        Value::Text(text) => Some(text),
        _ => None,
    };
    let lease = match (number(&reserved_until), time(&lease_until)) {
        (Some(reserved_until), Some(until)) => {
            Some(WorkerLease { holder: text(holder), reserved_until, until })
        }
        _ => None,
    };
    Some(Worker {
        id: number(&id)?,
        host_name: text(host_name)?,
        port: text(port)?,
        kind: WorkerKind::from_code(i64::try_from(number(&kind)?).ok()?)?,
        launched: time(&launched)?,
        created: time(&created)?,
        lease,
    })
}

impl<S: Session> Tables for S {
    type Error = S::Error;

    fn used_with(&mut self) -> Result<Option<(Layout, Partition)>, Fault<S::Error>> {
        // The lock that makes starts come one after the other.
        Ok(used_with(self, " FOR UPDATE")?.map(|layout| (layout, Partition::WHOLE)))
    }

    fn use_with(&mut self, layout: &Layout, _: Partition, _: u64) -> Result<(), Fault<S::Error>> {
        let sql = "UPDATE uidring_layout SET time_bits = ?, worker_bits = ?, sequence_bits = ?, tick_ms = ?, epoch_ms = ? \
                   WHERE id = 1";
        let widths = [
            layout.time_bits(),
            layout.worker_bits(),
            layout.sequence_bits(),
            tick_ms(layout).into(),
        ];
        let mut values: Vec<Value> =
            widths.into_iter().map(|width| u64::from(width).into()).collect();
        values.push(unix_ms(layout.epoch()).into());
        write(self, sql, &values).map(drop)
    }

    fn largest_given(&mut self) -> Result<u64, Fault<S::Error>> {
        let sql = "SELECT GREATEST(last_worker, (SELECT COALESCE(MAX(id), 0) FROM uidring_worker_node)) \
                   FROM uidring_layout WHERE id = 1";
        match one_row(self, sql)?[..] {
            [Value::Int(largest)] => u64::try_from(largest).map_err(|_| foreign_tables()),
            _ => Err(foreign_tables()),
        }
    }

    fn insert(&mut self, host: &Host) -> Result<u64, Fault<S::Error>> {
        let worker = self.largest_given()? + 1;
        let sql = "INSERT INTO uidring_worker_node (id, host_name, port, type, launch_date, modified, created) \
                   VALUES (?, ?, ?, ?, {now}, {now}, {now})";
        let values = [
            worker.into(),
            host.name.as_str().into(),
            host.port.as_str().into(),
            host.kind.code().into(),
        ];
        write(self, sql, &values)?;
        write(self, "UPDATE uidring_layout SET last_worker = ? WHERE id = 1", &[worker.into()])?;
        Ok(worker)
    }

    fn free(&mut self, latest: u64) -> Result<Option<Free>, Fault<S::Error>> {
        let sql = "SELECT id, reserved_until FROM uidring_worker_node \
                   WHERE lease_until <= {now} AND reserved_until < ? ORDER BY reserved_until, id LIMIT 1";
        let rows = self.rows(&sql.replace("{now}", S::NOW_MS), &[latest.into()])?;
        match rows.first().map(Vec::as_slice) {
            Some([Value::Int(id), Value::Int(reserved_until)]) => {
                let number = |number: i64| u64::try_from(number).map_err(|_| foreign_tables());
                Ok(Some(Free { worker: number(*id)?, reserved_until: number(*reserved_until)? }))
            }
            Some(_) => Err(foreign_tables()),
            None => Ok(None),
        }
    }

    fn lend(&mut self, worker: u64, tenancy: &Tenancy<'_>) -> Result<(), Fault<S::Error>> {
        write(self, LEND, &lend(worker, tenancy)).map(drop)
    }

    fn lend_again(&mut self, free: &Free, tenancy: &Tenancy<'_>) -> Result<bool, Fault<S::Error>> {
        let sql = format!("{LEND} AND reserved_until = ?");
        let mut values = lend(free.worker, tenancy).to_vec();
        values.push(free.reserved_until.into());
        Ok(write(self, &sql, &values)? == 1)
    }
}

const LEND: &str = "UPDATE uidring_worker_node SET host_name = ?, port = ?, type = ?, launch_date = {now}, \
                    modified = {now}, holder = ?, reserved_until = ?, lease_until = {now} + ? WHERE id = ?";

fn lend(worker: u64, tenancy: &Tenancy<'_>) -> [Value; 7] {
    let Tenancy { host, holder, reserved_until, duration_ms } = *tenancy;
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

/// One call to a server: connections last as long as it does. It has one deadline for all that it
/// waits for, so that a server that accepts and never answers counts as down.
pub(super) struct Call<'a> {
    registry: &'a str,
    timeout: Duration,
    since: Stopwatch,
    runtime: Runtime,
}

impl Call<'_> {
    /// What `future` comes to, if it does in time.
    pub(super) fn wait<F: Future>(&self, future: F) -> Result<F::Output, RegistryError> {
        let left = self.timeout.saturating_sub(self.since.elapsed());
        let in_time = async { timeout(left, future).await };
        self.runtime.block_on(in_time).map_err(|_| RegistryError::Unreachable {
            registry: self.registry.to_owned(),
            problem: format!(
                "it did not answer for {:?}; see that the server runs, is not overloaded, and can be reached from here",
                self.timeout
            ),
            source: None,
        })
    }

    /// Runs `future` beside what is waited for.
    #[cfg(feature = "postgres")]
    pub(super) fn beside(
        &self,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> JoinHandle<()> {
        self.runtime.spawn(future)
    }
}

/// Makes a call on a thread of its own: that of the caller may belong to a runtime, which may not
/// be blocked by another.
fn call<T: Send>(
    registry: &str,
    timeout: Duration,
    body: impl FnOnce(&Call<'_>) -> Result<T, RegistryError> + Send,
) -> Result<T, RegistryError> {
    let make = || {
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let call = Call { registry, timeout, since: Stopwatch::start(), runtime };
        let result = body(&call);
        // Not waiting for a name server that does not answer.
        call.runtime.shutdown_background();
        Ok(result)
    };
    let on_thread = thread::scope(|scope| {
        let thread =
            thread::Builder::new().name("uidring-registry".to_owned()).spawn_scoped(scope, make)?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    on_thread.unwrap_or_else(|error: std::io::Error| {
        let doing = format!("call the registry {registry}: no thread can be started");
        Err(RegistryError::Storage { doing, source: Box::new(error) })
    })
}

/// What an address of a kind of server looks like.
pub(super) struct Form {
    pub database: &'static str,
    pub schemes: &'static [&'static str],
    pub example: &'static str,
}

impl Form {
    /// What is wrong with `url`, as a sentence about it, if it does not begin as an address does.
    pub(super) fn problem(&self, url: &str) -> Option<String> {
        let Form { database, schemes, example } = self;
        match url.split_once("://") {
            Some((scheme, _)) if schemes.contains(&scheme) => None,
            Some((scheme, _)) if is_word(scheme) => {
                let right = schemes[0];
                Some(format!(
                    "it begins with {scheme}://, and an address of {database} with {right}://"
                ))
            }
            _ if url.trim().is_empty() => {
                Some(format!("it is empty; an address is such as {example}"))
            }
            _ if url.split_once('=').is_some_and(|(key, _)| is_word(key.trim())) => Some(format!(
                "it is a list of keys and values; write it as an address, such as {example}"
            )),
            _ => Some(format!("it is not an address such as {example}")),
        }
    }
}

pub(super) const NO_HOST: &str = "it names no host; write localhost for a server on this machine";

/// Nothing that may be a part of a password.
fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}

/// `url` as it may be shown: without the password, and without its parameters, which may hold one.
fn without_password(url: &str) -> String {
    let (url, hidden) = url.split_at(url.find(['?', '#']).unwrap_or(url.len()));
    let Some((scheme, rest)) = url.split_once("://").filter(|(scheme, _)| is_word(scheme)) else {
        return "(an address)".to_owned();
    };
    if hidden.contains('@') && rest.contains(':') && !rest.contains('@') {
        // Not the port and the parameters, perhaps, but the two ends of a password.
        return format!("{scheme}://(an address)");
    }
    let (user, host) =
        rest.rsplit_once('@').map_or((None, rest), |(user, host)| (Some(user), host));
    let user = user.map(|user| user.split(':').next().unwrap_or(user));
    user.map_or_else(|| format!("{scheme}://{host}"), |user| format!("{scheme}://{user}@{host}"))
}

/// The statements of a schema without its comments: for somebody who has to run them, and for a
/// driver.
pub(super) fn statements(schema: &str) -> String {
    let lines = schema
        .lines()
        .filter(|line| !line.trim_start().starts_with("--") && !line.trim().is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

/// What to tell somebody whose tables are not there and who may not make them.
fn no_tables(schema: &str) -> String {
    format!(
        "its tables are not there, and this user may not make them; have somebody who may run this:\n\n{}\n",
        statements(schema)
    )
}

#[cfg(test)]
mod tests {
    use super::without_password;

    #[test]
    fn passwords_are_not_shown() {
        for (url, shown) in [
            ("postgres://me:secret@db:5432/ids?sslmode=require", "postgres://me@db:5432/ids"),
            ("mysql://me:se@cret@db/ids", "mysql://me@db/ids"),
            ("postgres://db/ids?user=me&password=secret", "postgres://db/ids"),
            ("postgres:///ids", "postgres:///ids"),
            ("host=db password=secret", "(an address)"),
            ("host=db password=sec://ret", "(an address)"),
            ("postgres://me:sec?ret@db/ids", "postgres://(an address)"),
            ("mysql://me:sec#ret@db/ids", "mysql://(an address)"),
            ("postgres://db/ids?user=me@here", "postgres://db/ids"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }
}
