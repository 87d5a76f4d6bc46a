//! [`Client`]: how a registry or a source calls its store of keys.
//!
//! A transaction reads keys, decides, and commits what it writes on condition that each key that it
//! has read is still as it was. If not, others were first, and it is run again. So it is as if the
//! transactions of all processes came one after the other, though none of them locks anything.
//!
//! The key `store` has a random text that names this store for ever. A process that has seen it
//! notices that the keys were lost, or that others are in their place. Each commit makes sure that
//! it is still there.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{
    Action, Change, Deadline, Document, Entry, Error, ErrorPhrases, Fault, KeyStore, Session,
};
use crate::backend::StorageError;
use crate::backend::address::password_file::with_password_advice;
use crate::backend::call::NewStoreWarning;
use crate::backend::error::random_text;
use crate::sync::{Arc, Mutex, lock, sleep};

/// How long a call may take, unless set otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// The key that names the store.
const STORE: &str = "store";
/// What is written to find out whether this user may write.
const TRIAL: &str = "trial";

/// The longest pause before a transaction is run again, in milliseconds.
const LONGEST_PAUSE: u64 = 64;

/// A store of keys, as a registry or a source calls it.
#[derive(Clone, Debug)]
pub struct Client<K> {
    pub store: K,
    /// How long a call may take.
    pub timeout: Duration,
    /// The name of the store that this client, or a clone, has seen.
    seen: Arc<Mutex<Option<String>>>,
    new_store_warning: NewStoreWarning,
}

/// What is called, and what is said if it fails.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub phrases: &'a ErrorPhrases,
    /// What cannot be done if it fails, up to the name of the store: "read the registry".
    pub doing: &'a str,
    /// The keys that the transaction reads first, together.
    pub keys: &'a [&'a str],
    /// Whether nothing depends on what it reads being there after a power failure. A server that
    /// syncs its disk once a second answers such a call at once.
    pub is_advice: bool,
}

/// A transaction under way.
pub struct Transaction<'a> {
    session: &'a mut dyn Session,
    /// How often it was run before, because others were first.
    attempt: u32,
    /// The random text of all that it writes.
    write: String,
    /// What was found at the keys that were read.
    read: BTreeMap<String, Option<Entry>>,
    /// What was found in folders. It need not stay as it is.
    listed: BTreeMap<String, Entry>,
    /// What the keys become: `None` for one that is removed.
    changes: BTreeMap<String, Option<String>>,
}

/// Runs a transaction once.
type Attempt<'a, E> = dyn FnMut(&mut Transaction<'_>) -> Result<Outcome<()>, Fault<E>> + Send + 'a;

/// The outcome of a run of a transaction.
enum Outcome<T> {
    Done(T),
    /// Others wrote first.
    Retry,
}

impl<K: KeyStore> Client<K> {
    pub fn new(store: K) -> Client<K> {
        Client {
            store,
            timeout: DEFAULT_TIMEOUT,
            seen: Arc::default(),
            new_store_warning: NewStoreWarning::default(),
        }
    }

    /// Tells operators, once, that nothing was taken from the store before.
    pub fn warn_if_new(&self) {
        self.new_store_warning.emit_once(&self.store.name());
    }

    /// Runs `body` until what it writes is committed with nothing changed that it has read.
    pub fn transact<T: Send, E: From<StorageError> + Send>(
        &self,
        call: &Call<'_>,
        body: impl Fn(&mut Transaction<'_>) -> Result<T, Fault<E>> + Sync,
    ) -> Result<T, E> {
        let deadline = Deadline::after(self.timeout);
        let mut result = Err(Error::Overtaken.into());
        let done = self.run(&deadline, &mut |transaction| {
            let Outcome::Done(store) = self.begin(transaction, call)? else {
                return Ok(Outcome::Retry);
            };
            result = Ok(body(transaction)?);
            Ok(self.finish(transaction, call, store, &deadline)?)
        });
        done.and(result).map_err(|fault| self.explain(call, fault, &deadline))
    }

    /// Does what [`transact`](Client::transact) does, but writes nothing that stays: it is only
    /// looked whether it would succeed, and whether this user may write. Returns what `body` does.
    pub fn try_out<T: Send, E: From<StorageError> + Send>(
        &self,
        call: &Call<'_>,
        body: impl Fn(&mut Transaction<'_>) -> Result<T, Fault<E>> + Sync,
    ) -> Result<T, E> {
        let deadline = Deadline::after(self.timeout);
        let mut result = Err(Error::Overtaken.into());
        let done = self.run(&deadline, &mut |transaction| {
            let Outcome::Done(_) = self.begin(transaction, call)? else {
                return Ok(Outcome::Retry);
            };
            result = Ok(body(transaction)?);
            self.try_write(transaction, &deadline)?;
            Ok(Outcome::Done(()))
        });
        done.and(result).map_err(|fault| self.explain(call, fault, &deadline))
    }

    /// Writes a key and removes it again.
    fn try_write(
        &self,
        transaction: &mut Transaction<'_>,
        deadline: &Deadline,
    ) -> Result<(), Error> {
        let before = transaction.session.read(&[TRIAL])?.pop().flatten();
        let text = Document::new().with("write", transaction.write.as_str()).to_text();
        let version = before.as_ref().map(|entry| &entry.version);
        let write = Change { key: TRIAL, version, action: Action::Write(&text) };
        // Where another process tries it out in the same moment, that is as good.
        if self.commit_and_resolve(transaction.session, &[write], deadline)? {
            let entry = transaction.session.read(&[TRIAL])?.pop().flatten();
            let version = entry.as_ref().map(|entry| &entry.version);
            let remove = Change { key: TRIAL, version, action: Action::Remove };
            self.commit_and_resolve(transaction.session, &[remove], deadline)?;
        }
        Ok(())
    }

    /// Notes the name of the store, which is on its disk.
    fn note_store(&self, store: Option<String>) {
        if store.is_some() {
            *lock(&self.seen) = store;
        }
    }

    /// Runs a transaction until it is done. What `body` finds, it keeps: so this is compiled once
    /// for all calls.
    fn run<E: Send>(&self, deadline: &Deadline, body: &mut Attempt<'_, E>) -> Result<(), Fault<E>> {
        let run = || {
            let store = self.store.current()?;
            let with_password_advice = |error| with_password_advice(error, store.password_file());
            let mut session = store.connect(deadline).map_err(&with_password_advice)?;
            let mut attempt = 0;
            let result = loop {
                let left = deadline.left();
                let transaction = &mut Transaction::new(&mut session, attempt)?;
                match body(transaction) {
                    Ok(Outcome::Done(())) => break Ok(()),
                    // Another run, as long as this one, would not end in time.
                    Ok(Outcome::Retry) if deadline.left() <= left / 2 => {
                        break Err(Error::Overtaken.into());
                    }
                    Ok(Outcome::Retry) => pause(attempt),
                    Err(fault) => break Err(fault),
                }
                attempt += 1;
            };
            session.end();
            result.map_err(|fault| match fault {
                Fault::Database(error) => Fault::Database(with_password_advice(error)),
                Fault::Refused(error) => Fault::Refused(error),
            })
        };
        K::run(run).unwrap_or_else(|error| {
            Err(Error::Other(format!("no thread can be started: {error}").into()).into())
        })
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
                error
                    .into_storage_error(phrases, &self.store.name(), doing, deadline.waited())
                    .into()
            }
        }
    }

    /// Reads the keys of the `call`, and the name of the store, which it returns.
    fn begin(
        &self,
        transaction: &mut Transaction<'_>,
        call: &Call<'_>,
    ) -> Result<Outcome<Option<String>>, Error> {
        // Before the keys are read, because a clone may name the store meanwhile.
        let seen = lock(&self.seen).clone();
        let keys: Vec<&str> = [STORE].into_iter().chain(call.keys.iter().copied()).collect();
        transaction.read_all(&keys)?;
        let store = match transaction.read(STORE)? {
            Some(document) => match document.text("id") {
                Some(id) => Some(id.to_owned()),
                None => return Err(document.invalid_field(STORE, "id")),
            },
            None => None,
        };
        match (&store, &seen) {
            (None, Some(_)) => Err(Error::problem(
                "its keys are gone, the only memory of what has been given, so nothing is made in \
                 their place; see that nobody has removed them or restored an old copy, and put \
                 them back, and this process goes on",
            )),
            (Some(there), Some(seen)) if there != seen => Err(Error::problem(
                "its keys are not those that this process has used before, and may give again \
                 what it was given; put back what was there, and this process goes on",
            )),
            (None, None) if transaction.read.values().any(Option::is_some) => {
                // Others may have named the store after its key was read and before the others.
                if !transaction.is_as_read(STORE)? {
                    return Ok(Outcome::Retry);
                }
                Err(Error::problem(format!(
                    "its key {STORE} is gone, and other keys are there; put it back"
                )))
            }
            _ => Ok(Outcome::Done(store)),
        }
    }

    /// Commits what the transaction writes. In a store that was never used, that names it.
    fn finish(
        &self,
        transaction: &mut Transaction<'_>,
        call: &Call<'_>,
        store: Option<String>,
        deadline: &Deadline,
    ) -> Result<Outcome<()>, Error> {
        if transaction.changes.is_empty() {
            // What a power failure may take back has not been seen.
            if !call.is_advice {
                transaction.session.ensure_durable()?;
                self.note_store(store);
            }
            return Ok(Outcome::Done(()));
        }
        let is_new = store.is_none();
        let store = if let Some(store) = store {
            store
        } else {
            let (id, now) = (transaction.write.clone(), transaction.now()?);
            transaction.put(STORE, Document::new().with("id", &*id).with("created", now));
            id
        };
        let Transaction { session, read, listed, changes, .. } = transaction;
        let version = |key: &str| {
            let entry = read.get(key).map_or_else(|| listed.get(key), Option::as_ref);
            entry.map(|entry| &entry.version)
        };
        let checks = read.keys().filter(|key| !changes.contains_key(*key));
        let checks = checks.map(|key| (key, Action::Check));
        let writes = changes.iter().map(|(key, text)| {
            (key, text.as_ref().map_or(Action::Remove, |text| Action::Write(text)))
        });
        let all: Vec<Change<'_>> = checks
            .chain(writes)
            .map(|(key, action)| Change { key, version: version(key), action })
            .collect();
        if !self.commit_and_resolve(*session, &all, deadline)? {
            return Ok(Outcome::Retry);
        }
        self.note_store(Some(store));
        if is_new {
            self.warn_if_new();
        }
        Ok(Outcome::Done(()))
    }

    /// Commits the `changes`. If no answer comes, it finds out what became of them, as long as
    /// there is time.
    fn commit_and_resolve(
        &self,
        session: &mut dyn Session,
        changes: &[Change<'_>],
        deadline: &Deadline,
    ) -> Result<bool, Error> {
        match session.commit(changes) {
            Err(Error::Unreachable { problem, source }) => {
                let unknown = Error::Unreachable { problem, source };
                self.resolve_commit(changes, deadline).unwrap_or(Err(unknown))
            }
            result => result,
        }
    }

    /// Finds out whether `changes` were committed, whose commit was not answered. `None` if that
    /// cannot be found out in time.
    fn resolve_commit(
        &self,
        changes: &[Change<'_>],
        deadline: &Deadline,
    ) -> Option<Result<bool, Error>> {
        for attempt in 0.. {
            if deadline.left().is_zero() {
                return None;
            }
            pause(attempt);
            let Ok(store) = self.store.current() else { continue };
            let Ok(mut session) = store.connect(deadline) else { continue };
            // The same commit again: the first one may still be made, but not both, as each changes
            // the versions that they name.
            let result = match session.commit(changes) {
                Ok(false) => was_made(&mut session, changes),
                result => result,
            };
            session.end();
            if !matches!(result, Err(Error::Unreachable { .. })) {
                return Some(result);
            }
        }
        None
    }
}

/// Whether a commit with these changes, which was not answered, was made for good.
fn was_made(session: &mut impl Session, changes: &[Change<'_>]) -> Result<bool, Error> {
    let keys: Vec<&str> = changes.iter().map(|change| change.key).collect();
    let found = session.read(&keys)?;
    session.ensure_durable()?;
    Ok(changes.iter().zip(found).any(|(change, entry)| change.is_made(entry)))
}

impl Change<'_> {
    /// Whether the `entry` of the key shows that the commit with this change was made. All of it
    /// was, then: what others wrote later may have hidden other changes.
    fn is_made(&self, entry: Option<Entry>) -> bool {
        match self.action {
            // A key that is gone may have been removed by others, after others had written it.
            Action::Check | Action::Remove => false,
            // The random part of the value is that of this transaction.
            Action::Write(value) => entry.is_some_and(|entry| entry.value == value),
        }
    }
}

impl<'a> Transaction<'a> {
    fn new(session: &'a mut dyn Session, attempt: u32) -> Result<Transaction<'a>, Error> {
        let write = random_text()?;
        let (read, listed, changes) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Ok(Transaction { session, attempt, write, read, listed, changes })
    }

    /// How often it was run before, because others were first. One of those commits may have been
    /// made all the same, if it was not answered and others have written over it.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The document at `key`, if there is one. The commit fails if others change it.
    pub fn read(&mut self, key: &str) -> Result<Option<Document>, Error> {
        self.read_all(&[key])?;
        let entry = self.read.get(key).and_then(Option::as_ref);
        entry.map(|entry| Document::parse(key, &entry.value)).transpose()
    }

    /// The documents at `keys`, in their order, as [`read`](Transaction::read) returns each.
    pub fn read_many(&mut self, keys: &[String]) -> Result<Vec<Option<Document>>, Error> {
        self.read_all(&keys.iter().map(String::as_str).collect::<Vec<_>>())?;
        keys.iter().map(|key| self.read(key)).collect()
    }

    /// How many documents are in `folder`. The commit does not depend on it.
    pub fn count(&mut self, folder: &str) -> Result<u64, Error> {
        self.session.count(folder)
    }

    fn read_all(&mut self, keys: &[&str]) -> Result<(), Error> {
        let keys: Vec<&str> =
            keys.iter().copied().filter(|key| !self.read.contains_key(*key)).collect();
        if keys.is_empty() {
            return Ok(());
        }
        let found = self.session.read(&keys)?;
        self.read.extend(keys.into_iter().map(str::to_owned).zip(found));
        Ok(())
    }

    /// Whether `key` is still as it was read.
    pub fn is_as_read(&mut self, key: &str) -> Result<bool, Error> {
        Ok(self.session.read(&[key])?.first() == self.read.get(key))
    }

    /// The documents in `folder`, each with its key. The commit fails if others change one that
    /// this transaction writes, and not if they change the others.
    pub fn list(&mut self, folder: &str) -> Result<Vec<(String, Document)>, Error> {
        let mut documents = Vec::new();
        for (name, entry) in self.session.list(folder)? {
            let key = format!("{folder}/{name}");
            documents.push((key.clone(), Document::parse(&key, &entry.value)?));
            self.listed.insert(key, entry);
        }
        Ok(documents)
    }

    /// The documents at those of `keys` that are there, each with its key. The commit depends on
    /// them as on those of a [`list`](Transaction::list).
    pub fn sample(&mut self, keys: &[String]) -> Result<Vec<(String, Document)>, Error> {
        let names: Vec<&str> = keys.iter().map(String::as_str).collect();
        let mut documents = Vec::new();
        for (key, entry) in keys.iter().zip(self.session.read(&names)?) {
            let Some(entry) = entry else { continue };
            documents.push((key.clone(), Document::parse(key, &entry.value)?));
            self.listed.insert(key.clone(), entry);
        }
        Ok(documents)
    }

    /// Passes the documents in `folder` to `see`, each with its key. The commit does not depend on
    /// them.
    pub fn each(
        &mut self,
        folder: &str,
        see: &mut dyn FnMut(&str, &Document) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.session.each(folder, &mut |name, entry| {
            let key = format!("{folder}/{name}");
            see(&key, &Document::parse(&key, &entry.value)?)
        })
    }

    /// Whether `key` was found in a folder that was listed.
    pub fn has_listed(&self, key: &str) -> bool {
        self.listed.contains_key(key)
    }

    /// Makes the commit fail if `key` is there, without reading it.
    pub fn expect_absent(&mut self, key: &str) {
        self.read.entry(key.to_owned()).or_insert(None);
    }

    /// Writes `document` at `key`. If that was neither read nor listed, it must not be there.
    pub fn put(&mut self, key: &str, document: Document) {
        let text = document.with("write", self.write.as_str()).to_text();
        self.changes.insert(key.to_owned(), Some(text));
    }

    /// Removes `key`, which was read.
    pub fn remove(&mut self, key: &str) {
        self.changes.insert(key.to_owned(), None);
    }

    /// The time by the store's clock, in milliseconds since 1970.
    pub fn now(&mut self) -> Result<i64, Error> {
        self.session.now()
    }
}

/// Waits a random time before another attempt, so that those who were late do not all come again
/// together.
fn pause(attempt: u32) {
    let most = LONGEST_PAUSE.min(1 << attempt.min(32));
    sleep(Duration::from_micros(fastrand::u64(0..=1000 * most)));
}
