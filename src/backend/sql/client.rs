//! [`Client`]: how a registry or a source calls its database.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::time::Duration;

use super::{
    Access, Cause, Database, Deadline, Error, Fault, Schema, Session, Transaction, Value, Words,
    columns, statements,
};
use crate::backend::StorageError;
use crate::backend::address::password_file::advised;
use crate::backend::new_store::News;
use crate::sync::{Arc, Mutex, lock, sleep};

/// How long a call may take, unless set otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// The tables that the schemas of servers make.
const MADE: [&str; 7] = [
    "uidring_layout",
    "uidring_worker_node",
    "uidring_series",
    "uidring_series_version",
    "uidring_series_counter",
    "uidring_request",
    "uidring_segment",
];

/// How long it is waited for a process that makes the tables, which takes milliseconds on most
/// servers.
const MAKING: Duration = Duration::from_secs(3);

/// A database, as a registry or a source calls it.
#[derive(Clone, Debug)]
pub struct Client<D> {
    pub database: D,
    /// How long a call may take.
    pub timeout: Duration,
    /// Whether a call may make the tables where they are missing.
    pub may_make: bool,
    /// The tables of this library that a call of this client, or of a clone, has seen. So a process
    /// that runs notices where they have been lost.
    seen: Arc<Mutex<BTreeSet<&'static str>>>,
    news: News,
}

/// What is called, and what is said if it fails.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub schema: &'a Schema,
    pub words: &'a Words,
    /// What cannot be done if it fails, up to the name of the database: "read the registry".
    pub doing: &'a str,
    pub access: Access,
}

/// What becomes of a transaction on a server that finds its tables missing. Where some of them are
/// there, the others have been lost, and none is made in their place: an empty table would give
/// again what the lost one has given. The same holds where this process has seen any of them.
pub enum Missing<'a, E> {
    /// The transaction fails.
    Fail,
    /// They are made, unless this refuses it, and the transaction is made then.
    Make(&'a (dyn Fn(&mut Transaction<'_>) -> Result<(), Fault<E>> + Sync)),
    /// As `Make`, but none is made: it is only looked whether this user may make them.
    TryOut(&'a (dyn Fn(&mut Transaction<'_>) -> Result<(), Fault<E>> + Sync)),
}

impl<D: Database> Client<D> {
    pub fn new(database: D) -> Client<D> {
        Client {
            database,
            timeout: DEFAULT_TIMEOUT,
            may_make: true,
            seen: Arc::default(),
            news: News::default(),
        }
    }

    #[cfg(feature = "sqlite")]
    pub fn has_seen_tables(&self) -> bool {
        !lock(&self.seen).is_empty()
    }

    /// Tells operators, once, that nothing was taken from the database before.
    pub fn tell_new(&self) {
        self.news.tell(&self.database.name());
    }

    /// The error of something other than a transaction that could not do what it was `doing`.
    pub fn told(&self, words: &Words, doing: &str, error: Error) -> StorageError {
        error.told(words, &self.database.name(), doing, self.timeout)
    }

    /// Runs `body` in one transaction, which is committed if `body` succeeds, and taken back if
    /// not. If tables turn out to be missing, `missing` says what becomes of it. Where the first
    /// use has yet to make them, the result is `unmade`, if it is given.
    pub fn transact<T: Send, E: From<StorageError> + Send>(
        &self,
        call: &Call<'_>,
        missing: &Missing<'_, E>,
        unmade: Option<&dyn Fn() -> Result<T, E>>,
        body: impl Fn(&mut Transaction<'_>) -> Result<T, Fault<E>> + Sync,
    ) -> Result<T, E> {
        let deadline = Deadline::after(self.timeout);
        // Those of others are not missed.
        let are_ours = !call.schema.sql.is_empty();
        let attempt = |session: &mut dyn Session| {
            session.begin(call.access)?;
            let result = body(&mut Transaction { session, dialect: D::DIALECT })?;
            session.commit()?;
            Ok(result)
        };
        let result = self.connected(call.schema, &deadline, |session| match attempt(session) {
            Err(Fault::Database(Error::NoTables(cause))) => {
                self.provide_tables(session, call.schema, &deadline, missing, cause)?;
                attempt(session)
            }
            result => result,
        });
        match (result, unmade) {
            (Ok(result), _) => {
                if are_ours {
                    lock(&self.seen).extend(call.schema.tables);
                }
                Ok(result)
            }
            (Err(Fault::Database(Error::NoTables(_))), Some(unmade))
                if are_ours && D::MAKES_TABLES =>
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
        may_be_made: &(dyn Fn(&mut Transaction<'_>) -> Result<(), Fault<E>> + Sync),
        body: impl Fn(&mut Transaction<'_>) -> Result<T, Fault<E>> + Sync,
    ) -> Result<Option<T>, E> {
        let deadline = Deadline::after(self.timeout);
        let attempt = |session: &mut dyn Session| {
            session.begin(call.access)?;
            let result = body(&mut Transaction { session, dialect: D::DIALECT })?;
            session.roll_back()?;
            Ok(Some(result))
        };
        let result = self.connected(call.schema, &deadline, |session| match attempt(session) {
            Err(Fault::Database(Error::NoTables(cause))) => {
                let missing = Missing::TryOut(may_be_made);
                self.provide_tables(session, call.schema, &deadline, &missing, cause)?;
                Ok(None)
            }
            result => result,
        });
        result.map_err(|fault| self.explain(call, fault, &deadline))
    }

    /// Runs `body` on a connection, which lasts as long.
    fn connected<T: Send, E: Send>(
        &self,
        schema: &Schema,
        deadline: &Deadline,
        body: impl Fn(&mut dyn Session) -> Result<T, Fault<E>> + Sync,
    ) -> Result<T, Fault<E>> {
        let call = || {
            let database = self.database.current()?;
            let advised = |error| advised(error, database.password_file());
            let mut session = database.connect(schema, deadline).map_err(advised)?;
            let result = body(&mut session);
            session.end();
            result
        };
        D::run(call).unwrap_or_else(|error| {
            Err(Error::Other(format!("no thread can be started: {error}").into()).into())
        })
    }

    /// Which columns the tables lack, where a statement did not fit them: a database names one of
    /// them, and not always its table.
    fn lacking(&self, schema: &Schema, deadline: &Deadline) -> Option<Error> {
        let look = |session: &mut dyn Session| {
            session.begin(Access::Read)?;
            let mut transaction = Transaction { session, dialect: D::DIALECT };
            let found = columns::lacking(schema, |table| transaction.columns(table))?;
            session.roll_back()?;
            Ok::<_, Fault<Infallible>>(found)
        };
        self.connected(schema, deadline, look).ok().flatten()
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
                let Call { words, doing, .. } = call;
                let error = match error {
                    Error::ForeignTables(Some(_)) => {
                        self.lacking(call.schema, deadline).unwrap_or(error)
                    }
                    error => error,
                };
                error.told(words, &self.database.name(), doing, deadline.waited()).into()
            }
        }
    }

    /// Sees to it that the tables are there after a transaction that found some missing, for the
    /// `cause` that the database named. Fails if that must not be.
    fn provide_tables<E>(
        &self,
        session: &mut dyn Session,
        schema: &Schema,
        deadline: &Deadline,
        missing: &Missing<'_, E>,
        cause: Option<Cause>,
    ) -> Result<(), Fault<E>> {
        if schema.sql.is_empty() || !D::MAKES_TABLES {
            return Err(Error::NoTables(cause).into());
        }
        let seen = lock(&self.seen).clone();
        let had_them = !seen.is_empty();
        session.roll_back()?;
        let mut there = tables_there::<D>(session)?;
        // Another process may be about to make the others, unless this one has had them.
        let patience = MAKING.min(deadline.timeout / 2);
        while !D::MAKES_AT_ONCE
            && !schema.tables.iter().all(|table| seen.contains(table))
            && (1..MADE.len()).contains(&there.len())
            && deadline.waited() < patience
        {
            sleep(Duration::from_millis(20));
            there = tables_there::<D>(session)?;
        }
        let lost: Vec<&str> =
            schema.tables.iter().copied().filter(|table| !there.contains(table)).collect();
        if lost.is_empty() {
            return Ok(());
        }
        if had_them || !there.is_empty() {
            return Err(gone(&lost, had_them, cause).into());
        }
        let may_be_made = match missing {
            Missing::Make(may_be_made) if self.may_make => may_be_made,
            // It makes none that stay.
            Missing::TryOut(may_be_made) => may_be_made,
            _ => return Err(Error::NoTables(cause).into()),
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
        may_be_made(&mut Transaction { session, dialect: D::DIALECT })?;
        session.roll_back()?;
        let made = match missing {
            Missing::TryOut(_) => session.try_out_tables(),
            _ => session.make_tables(),
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
                if let Missing::Make(_) = missing {
                    self.tell_new();
                }
                Ok(())
            }
        }
    }
}

/// Which of the tables of this library are there.
fn tables_there<D: Database>(session: &mut dyn Session) -> Result<Vec<&'static str>, Error> {
    let names = MADE.map(|table| format!("'{table}'")).join(", ");
    session.begin(Access::Read)?;
    let rows = session.rows(&D::DIALECT.tables.replace("{names}", &names), &[])?;
    session.roll_back()?;
    let is_there = |table: &&str| {
        rows.iter().any(|row| matches!(&row[..], [Value::Text(there)] if there == table))
    };
    Ok(MADE.into_iter().filter(is_there).collect())
}

/// The error of these `tables` that are not there, while others are, or which this process has had.
fn gone(tables: &[&str], had_them: bool, source: Option<Cause>) -> Error {
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
