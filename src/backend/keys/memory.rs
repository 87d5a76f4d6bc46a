//! A store of keys in memory, for tests: all of its clones are one store. It can lose requests and
//! answers, as a network does.

use std::collections::BTreeMap;
use std::fmt;

use super::{Action, Change, Deadline, Entry, Error, KeyStore, See, Session, Version};
use crate::clock::{Clock, SystemClock, unix_ms};
use crate::sync::{Arc, Mutex, lock};

#[derive(Clone, Default)]
pub struct Memory(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    keys: BTreeMap<String, Entry>,
    /// How many keys were ever read, or listed with their values.
    reads: usize,
    /// How many keys were ever written.
    writes: i64,
    /// Of a hundred calls, how many are not answered; commits may have been made or not.
    lost: u8,
    /// Whether no folder is listed.
    is_unlisted: bool,
    /// What takes the place of all keys just before the next commit.
    next: Option<BTreeMap<String, Entry>>,
    /// What happens between the first key of the next read of several and the others.
    amid: Option<Box<dyn FnOnce() + Send>>,
    /// The commits that were not answered, and may still be made.
    late: Vec<Vec<Owned>>,
    /// Whether the next commit is made, which is not answered, and what happens before anybody
    /// finds out.
    meanwhile: Option<(bool, Box<dyn FnOnce() + Send>)>,
    rng: fastrand::Rng,
}

/// A change: its key, the version that it names, and what is written, if anything: `None` for a key
/// that is removed.
type Owned = (String, Option<Version>, Option<Option<String>>);

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Memory")
    }
}

impl Memory {
    /// Loses as many of a hundred calls, from now on.
    pub fn lose(&self, percent: u8, seed: u64) {
        let mut state = lock(&self.0);
        (state.lost, state.rng) = (percent, fastrand::Rng::with_seed(seed));
    }

    /// Makes the next commit without an answer, and lets this happen before anybody looks.
    pub fn lose_answer(&self, meanwhile: impl FnOnce() + Send + 'static) {
        lock(&self.0).meanwhile = Some((true, Box::new(meanwhile)));
    }

    /// Loses the next commit, and lets this happen before anybody looks.
    pub fn lose_commit(&self, meanwhile: impl FnOnce() + Send + 'static) {
        lock(&self.0).meanwhile = Some((false, Box::new(meanwhile)));
    }

    /// Lets this happen in the midst of the next read of several keys, after its first one.
    pub fn interrupt_read(&self, amid: impl FnOnce() + Send + 'static) {
        lock(&self.0).amid = Some(Box::new(amid));
    }

    /// Answers no listing, from now on, as where one takes too long.
    pub fn lose_lists(&self) {
        lock(&self.0).is_unlisted = true;
    }

    /// How many keys were ever read, or listed with their values.
    pub fn reads(&self) -> usize {
        lock(&self.0).reads
    }

    /// What a copy of all files would hold.
    pub fn copy(&self) -> BTreeMap<String, Entry> {
        lock(&self.0).keys.clone()
    }

    /// Puts a copy in place of all that is there.
    pub fn restore(&self, copy: BTreeMap<String, Entry>) {
        lock(&self.0).keys = copy;
    }

    /// The same, just before the next commit.
    pub fn restore_before_commit(&self, copy: BTreeMap<String, Entry>) {
        lock(&self.0).next = Some(copy);
    }
}

impl State {
    fn commit(&mut self, changes: &[Owned]) -> bool {
        let is_as_named = |(key, version, _): &Owned| {
            self.keys.get(key).map(|entry| &entry.version) == version.as_ref()
        };
        if !changes.iter().all(is_as_named) {
            return false;
        }
        for (key, _, action) in changes {
            match action {
                None => {}
                Some(None) => drop(self.keys.remove(key)),
                Some(Some(value)) => {
                    self.writes += 1;
                    let version = Version::Number(self.writes);
                    self.keys.insert(key.clone(), Entry { value: value.clone(), version });
                }
            }
        }
        true
    }

    /// Fails for a call that is not answered.
    fn answer(&mut self) -> Result<(), Error> {
        if self.rng.u8(..100) < self.lost {
            return Err(not_answered());
        }
        if !self.late.is_empty() && self.rng.bool() {
            let late = self.late.swap_remove(self.rng.usize(..self.late.len()));
            self.commit(&late);
        }
        Ok(())
    }
}

fn not_answered() -> Error {
    Error::Unreachable { problem: "it did not answer".into(), source: None }
}

impl KeyStore for Memory {
    fn name(&self) -> String {
        "memory".to_owned()
    }

    fn connect<'a>(&'a self, _: &'a Deadline) -> Result<impl Session + 'a, Error> {
        lock(&self.0).answer()?;
        Ok(self.clone())
    }
}

impl Session for Memory {
    fn read(&mut self, keys: &[&str]) -> Result<Vec<Option<Entry>>, Error> {
        let amid = {
            let mut state = lock(&self.0);
            state.answer()?;
            state.amid.take_if(|_| keys.len() > 1)
        };
        let read = |keys: &[&str]| -> Vec<_> {
            let mut state = lock(&self.0);
            state.reads += keys.len();
            keys.iter().map(|key| state.keys.get(*key).cloned()).collect()
        };
        let Some(amid) = amid else { return Ok(read(keys)) };
        let mut entries = read(&keys[..1]);
        amid();
        entries.extend(read(&keys[1..]));
        Ok(entries)
    }

    fn each(&mut self, folder: &str, see: &mut See<'_>) -> Result<(), Error> {
        let mut state = lock(&self.0);
        state.answer()?;
        if state.is_unlisted {
            return Err(not_answered());
        }
        let inside = state.keys.iter().filter_map(|(key, entry)| {
            let name = key.strip_prefix(folder)?.strip_prefix('/')?;
            Some((name.to_owned(), entry.clone()))
        });
        let inside: Vec<_> = inside.collect();
        state.reads += inside.len();
        drop(state);
        inside.into_iter().try_for_each(|(name, entry)| see(name, entry))
    }

    fn count(&mut self, folder: &str) -> Result<u64, Error> {
        let mut state = lock(&self.0);
        state.answer()?;
        let is_inside =
            |key: &&String| key.strip_prefix(folder).is_some_and(|name| name.starts_with('/'));
        Ok(state.keys.keys().filter(is_inside).count() as u64)
    }

    fn commit(&mut self, changes: &[Change<'_>]) -> Result<bool, Error> {
        let owned = |change: &Change<'_>| {
            let action = match change.action {
                Action::Check => None,
                Action::Write(value) => Some(Some(value.to_owned())),
                Action::Remove => Some(None),
            };
            (change.key.to_owned(), change.version.cloned(), action)
        };
        let changes: Vec<_> = changes.iter().map(owned).collect();
        let mut state = lock(&self.0);
        if let Some(next) = state.next.take() {
            state.keys = next;
        }
        if let Err(error) = state.answer() {
            // Half of them are made at once, and the others perhaps later.
            if state.rng.bool() {
                state.commit(&changes);
            } else {
                state.late.push(changes);
            }
            return Err(error);
        }
        let Some((arrives, meanwhile)) = state.meanwhile.take() else {
            return Ok(state.commit(&changes));
        };
        if arrives {
            state.commit(&changes);
        }
        drop(state);
        meanwhile();
        Err(not_answered())
    }

    fn now(&mut self) -> Result<i64, Error> {
        lock(&self.0).answer()?;
        Ok(i64::try_from(unix_ms(SystemClock.now())).unwrap_or(0))
    }

    fn end(self) {}
}

#[test]
fn it_keeps_the_contract() {
    super::contract::check(&Memory::default());
}
