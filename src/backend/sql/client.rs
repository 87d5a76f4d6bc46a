//! [`Client`]: how a registry or a source calls its database.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::time::Duration;

use super::{
    Access, Cause, Database, Deadline, Error, ErrorPhrases, Fault, Schema, Session, Transaction,
    Value, columns, statements,
};
use crate::backend::StorageError;
use crate::backend::address::password_file::with_password_advice;
use crate::backend::call::NewStoreWarning;
use crate::sync::{Arc, Mutex, lock, sleep};

/// How long a call may take, unless set otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// The tables that the schemas of servers make.
const OUR_TABLES: [&str; 9] = [
    "uidring_layout",
    "uidring_worker_node",
    "uidring_series",
    "uidring_series_version",
    "uidring_series_counter",
    "uidring_request",
    "uidring_pool",
    "uidring_loan",
    "uidring_segment",
];

/// How long it is waited for a process that makes the tables, which takes milliseconds on most
/// servers.
const CREATION_TIME: Duration = Duration::from_secs(3);

/// A database, as a registry or a source calls it.
#[derive(Clone, Debug)]
pub struct Client<D> {
    pub database: D,
    /// How long a call may take.
    pub timeout: Duration,
    /// Whether a call may make the tables where they are missing.
    pub may_create: bool,
    /// The tables of this library that a call of this client, or of a clone, has seen. So a process
    /// that runs notices where they have been lost.
    seen: Arc<Mutex<BTreeSet<&'static str>>>,
    new_store_warning: NewStoreWarning,
}

/// What is called, and what is said if it fails.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub schema: &'a Schema,
    pub phrases: &'a ErrorPhrases,
    /// What cannot be done if it fails, up to the name of the database: "read the registry".
    pub doing: &'a str,
    pub access: Access,
}

/// What becomes of a transaction on a server that finds its tables missing. Where some of them are
/// there, the others have been lost, and none is made in their place: an empty table would give
/// again what the lost one has given. The same holds where this process has seen any of them.
pub enum OnMissing<'a, E> {
    /// The transaction fails.
    Fail,
    /// They are made, unless this refuses it, and the transaction is made then.
    Create(&'a (dyn Fn(&mut Transaction<'_>) -> Result<(), Fault<E>> + Sync)),
    /// As `Create`, but only checks whether this user may create them.
    DryRun(&'a (dyn Fn(&mut Transaction<'_>) -> Result<(), Fault<E>> + Sync)),
}

impl<D: Database> Client<D> {
    pub fn new(database: D) -> Client<D> {
        Client {
            database,
            timeout: DEFAULT_TIMEOUT,
            may_create: true,
            seen: Arc::default(),
            new_store_warning: NewStoreWarning::default(),
        }
    }

    #[cfg(feature = "sqlite")]
    pub fn has_seen_tables(&self) -> bool {
        !lock(&self.seen).is_empty()
    }

    /// Tells operators, once, that nothing was taken from the database before.
    pub fn warn_if_new(&self) {
        self.new_store_warning.emit_once(&self.database.name());
    }

    /// The error of something other than a transaction that could not do what it was `doing`.
    pub fn storage_error(&self, phrases: &ErrorPhrases, doing: &str, error: Error) -> StorageError {
        error.into_storage_error(phrases, &self.database.name(), doing, self.timeout)
    }

    /// Runs `body` in one transaction, which is committed if `body` succeeds, and taken back if
    /// not. If tables turn out to be missing, `missing` says what becomes of it. Where the first
    /// use has yet to make them, the result is `unmade`, if it is given.
    pub fn transact<T: Send, E: From<StorageError> + Send>(
        &self,
        call: &Call<'_>,
        missing: &OnMissing<'_, E>,
        unmade: Option<&dyn Fn() -> Result<T, E>>,
        body: impl Fn(&mut Transaction<'_>) -> Result<T, Fault<E>> + Sync,
    ) -> Result<T, E> {
        let deadline = Deadline::after(self.timeout);
        // Those of others are not missed.
        let are_ours = !call.schema.sql.is_empty();
        let mut result = Err(Fault::Database(Error::MissingTables(None)));
        let done = self.attempt(call, missing, &deadline, &mut |transaction| {
            result = Ok(body(transaction)?);
            Ok(())
        });
        match (done.and(result), unmade) {
            (Ok(result), _) => {
                if are_ours {
                    lock(&self.seen).extend(call.schema.tables);
                }
                Ok(result)
            }
            (Err(Fault::Database(Error::MissingTables(_))), Some(unmade))
                if are_ours && D::CREATES_TABLES =>
            {
                unmade()
            }
            (Err(fault), _) => Err(self.explain(call, fault, &deadline)),
        }
    }

    /// Does what [`transact`](Client::transact) does, and takes all of it back: so it fails where
    /// that would fail. Returns what `body` does, or `None` where the tables are yet to be made.
    pub fn try_out<T: Send, E: From<StorageError> + Send>(
        &self,
        call: &Call<'_>,
        may_create: &(dyn Fn(&mut Transaction<'_>) -> Result<(), Fault<E>> + Sync),
        body: impl Fn(&mut Transaction<'_>) -> Result<T, Fault<E>> + Sync,
    ) -> Result<Option<T>, E> {
        let deadline = Deadline::after(self.timeout);
        let mut result = None;
        let done =
            self.attempt(call, &OnMissing::DryRun(may_create), &deadline, &mut |transaction| {
                result = Some(body(transaction)?);
                Ok(())
            });
        done.map(|()| result).map_err(|fault| self.explain(call, fault, &deadline))
    }

    /// Runs `body` in one transaction: twice where it first found tables missing that are made. A
    /// dry run is taken back. What `body` finds, it keeps: so this is compiled once for all calls,
    /// as [`with_session`](Client::with_session) is.
    fn attempt<E: Send>(
        &self,
        call: &Call<'_>,
        missing: &OnMissing<'_, E>,
        deadline: &Deadline,
        body: &mut (dyn FnMut(&mut Transaction<'_>) -> Result<(), Fault<E>> + Send),
    ) -> Result<(), Fault<E>> {
        let is_dry = matches!(missing, OnMissing::DryRun(_));
        let mut transact = |session: &mut dyn Session| {
            session.begin(call.access)?;
            body(&mut Transaction { session, dialect: D::DIALECT })?;
            let end = if is_dry { session.roll_back() } else { session.commit() };
            Ok(end?)
        };
        let mut result = Ok(());
        self.with_session(call.schema, deadline, &mut |session| result = transact(session))?;
        let Err(Fault::Database(Error::MissingTables(cause))) = &mut result else { return result };
        if call.schema.sql.is_empty() || !D::CREATES_TABLES {
            return result;
        }
        // By another connection: with Pgpool-II, what is sent soon after an error is lost.
        let mut cause = cause.take();
        self.with_session(call.schema, deadline, &mut |session| {
            result = self.ensure_tables(session, call.schema, deadline, missing, cause.take());
            if result.is_ok() && !is_dry {
                result = transact(session);
            }
        })?;
        result
    }

    /// Calls `body` with a connection, which lasts as long.
    fn with_session(
        &self,
        schema: &Schema,
        deadline: &Deadline,
        body: &mut (dyn FnMut(&mut dyn Session) + Send),
    ) -> Result<(), Error> {
        let call = || {
            let database = self.database.current()?;
            let with_password_advice =
                |error| with_password_advice(error, database.password_file());
            let mut session = database.connect(schema, deadline).map_err(with_password_advice)?;
            body(&mut session);
            session.end();
            Ok(())
        };
        D::run(call).unwrap_or_else(|error| {
            Err(Error::Other(format!("no thread can be started: {error}").into()))
        })
    }

    /// Which columns the tables lack, where a statement did not fit them: a database names one of
    /// them, and not always its table.
    fn missing_columns(&self, schema: &Schema, deadline: &Deadline) -> Option<Error> {
        let read_columns = |session: &mut dyn Session| {
            session.begin(Access::Read)?;
            let mut transaction = Transaction { session, dialect: D::DIALECT };
            let found = columns::missing_columns(schema, |table| transaction.columns(table))?;
            session.roll_back()?;
            Ok::<_, Fault<Infallible>>(found)
        };
        let mut found = None;
        self.with_session(schema, deadline, &mut |session| {
            found = read_columns(session).ok().flatten();
        })
        .ok()?;
        found
    }

    /// What a call says that failed.
    fn explain<E: From<StorageError>>(
        &self,
        call: &Call<'_>,
        fault: Fault<E>,
        deadline: &Deadline,
    ) -> E {
        match fault {
            Fault::Refused(error) => error,
            Fault::Database(error) => {
                let Call { phrases, doing, .. } = call;
                let error = match error {
                    Error::IncompatibleTables(Some(_)) => {
                        self.missing_columns(call.schema, deadline).unwrap_or(error)
                    }
                    error => error,
                };
                error
                    .into_storage_error(phrases, &self.database.name(), doing, deadline.waited())
                    .into()
            }
        }
    }

    /// Sees to it that the tables are there after a transaction that found some missing, for the
    /// `cause` that the database named. Fails if that must not be.
    fn ensure_tables<E>(
        &self,
        session: &mut dyn Session,
        schema: &Schema,
        deadline: &Deadline,
        missing: &OnMissing<'_, E>,
        cause: Option<Cause>,
    ) -> Result<(), Fault<E>> {
        let seen = lock(&self.seen).clone();
        let had_them = !seen.is_empty();
        let mut there = existing_tables::<D>(session)?;
        // Another process may be about to make the others, unless this one has had them.
        let patience = CREATION_TIME.min(deadline.timeout / 2);
        while !D::CREATES_ATOMICALLY
            && !schema.tables.iter().all(|table| seen.contains(table))
            && (1..OUR_TABLES.len()).contains(&there.len())
            && deadline.waited() < patience
        {
            sleep(Duration::from_millis(20));
            there = existing_tables::<D>(session)?;
        }
        let lost: Vec<&str> =
            schema.tables.iter().copied().filter(|table| !there.contains(table)).collect();
        if lost.is_empty() {
            return Ok(());
        }
        if had_them || !there.is_empty() {
            let is_seen = lost.iter().any(|table| seen.contains(table));
            if let Some(error) = columns::missing_tables(schema, &lost).filter(|_| !is_seen) {
                return Err(error.into());
            }
            return Err(lost_tables(&lost, had_them, cause).into());
        }
        let may_create = match missing {
            OnMissing::Create(may_create) if self.may_create => may_create,
            // It makes none that stay.
            OnMissing::DryRun(may_create) => may_create,
            _ => return Err(Error::MissingTables(cause).into()),
        };
        if let Some(schema) = session.schema_elsewhere()? {
            return Err(Error::problem(format!(
                "its tables are in the schema {schema}, and this user's search_path does not lead \
                 there; name the schema in the address, such as ?options=-csearch_path={schema}; \
                 or, if other tables are wanted here, name theirs so, or apply \
                 schema.postgres.sql by hand"
            ))
            .into());
        }
        session.begin(Access::Write)?;
        may_create(&mut Transaction { session, dialect: D::DIALECT })?;
        session.roll_back()?;
        let made = match missing {
            OnMissing::DryRun(_) => session.check_may_create(),
            _ => session.create_tables(),
        };
        match made {
            // No cause, which would be told after the statements.
            Err(Error::Denied(_)) => Err(Error::problem(format!(
                "its tables are not there, and this user may not make them; have somebody who may \
                 run this:\n\n{}\n",
                statements(schema.sql)
            ))
            .into()),
            made => {
                made?;
                if let OnMissing::Create(_) = missing {
                    self.warn_if_new();
                }
                Ok(())
            }
        }
    }
}

/// Which of the tables of this library are there.
fn existing_tables<D: Database>(session: &mut dyn Session) -> Result<Vec<&'static str>, Error> {
    let names = OUR_TABLES.map(|table| format!("'{table}'")).join(", ");
    session.begin(Access::Read)?;
    let rows = session.rows(&D::DIALECT.tables.replace("{names}", &names), &[])?;
    session.roll_back()?;
    let is_there = |table: &&str| {
        rows.iter().any(|row| matches!(&row[..], [Value::Text(there)] if there == table))
    };
    Ok(OUR_TABLES.into_iter().filter(is_there).collect())
}

/// The error of these `tables` that are not there, while others are, or which this process has had.
fn lost_tables(tables: &[&str], had_them: bool, source: Option<Cause>) -> Error {
    let names = tables.join(" and ");
    let (subject, it, its) = match tables {
        [_] => (format!("its table {names} is gone"), "it", "its"),
        _ => (format!("its tables {names} are gone"), "them", "their"),
    };
    // What is left where the first process to start was killed while it made them.
    let or_begin = if had_them {
        ", and this process goes on"
    } else {
        "; or drop the others too, if nothing has ever been given here"
    };
    let problem = format!(
        "{subject}, the only memory of what has been given, so nothing is made in {its} place; see \
         that nobody has removed or renamed {it}, and put {it} back{or_begin}"
    );
    Error::Unusable { problem, source }
}
