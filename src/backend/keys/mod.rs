//! The seam to stores that are a map of keys with versions: etcd, ZooKeeper and Redis.
//!
//! Each of them can read a key together with its version, list the keys of a folder, and write
//! several keys at once on condition that each still has the version that it was read with. That is
//! all that worker ids and segments need: they are written once, on top of [`Client::transact`].
//!
//! Values are JSON documents: see [`Document`].

mod client;
#[cfg(test)]
mod contract;
mod document;
#[cfg(feature = "etcd")]
mod etcd;
#[cfg(test)]
mod memory;
#[cfg(feature = "redis")]
mod redis;
#[cfg(any(feature = "redis", feature = "zookeeper"))]
mod socket;
#[cfg(feature = "zookeeper")]
mod zookeeper;

pub use super::call::Deadline;
pub use super::error::{Error, ErrorPhrases, Fault};
pub use client::{Call, Client, Transaction};
pub use document::Document;
#[cfg(feature = "etcd")]
pub use etcd::Etcd;
#[cfg(test)]
pub use memory::Memory;
#[cfg(feature = "redis")]
pub use redis::{Counted, Redis};
#[cfg(feature = "zookeeper")]
pub use zookeeper::{Node, NodeSession, ZooKeeper};

use std::fmt::Debug;
use std::io;
use std::path::Path;

/// A store of keys, and how to connect to it. It holds no connection.
///
/// A key is a path of names below the folder in the store's address, such as `workers/7`. A name
/// has letters, digits, `-`, `_` and `%` only: see [`name_of`].
pub trait KeyStore: Clone + Debug + Send + Sync + 'static {
    /// The address without the password.
    fn name(&self) -> String;

    /// The store as it is to be connected to now: with the password that its file holds, and by the
    /// address that was given last.
    fn current(&self) -> Result<Self, Error> {
        Ok(self.clone())
    }

    /// The file that holds the password, if the address names one.
    fn password_file(&self) -> Option<&Path> {
        None
    }

    /// Has this store and its clones go by another address of the same store from now on.
    fn renew(&self, address: &str) -> Result<(), Error> {
        let _ = address;
        Err(Error::problem("it has one address for ever"))
    }

    /// Connects, and refuses a server that may lose what it has confirmed: one whose settings say
    /// so, one of a version that is known for it, or a replica. The error names the setting, its
    /// value, and what to set.
    fn connect<'a>(&'a self, deadline: &'a Deadline) -> Result<impl Session + 'a, Error>;

    /// Runs `call` on a thread that it may block.
    fn run<T: Send>(call: impl FnOnce() -> T + Send) -> io::Result<T> {
        Ok(call())
    }
}

/// What is done with a name and what its key holds.
pub type See<'a> = dyn FnMut(String, Entry) -> Result<(), Error> + 'a;

/// How many values are read together for [`Session::each`].
#[cfg(any(feature = "redis", feature = "zookeeper"))]
const EACH: usize = 10_000;

/// A connection, during a call. Each method ends by the deadline of the call.
pub trait Session {
    /// The values of `keys`, in this order; `None` for a key that is not there.
    ///
    /// A read sees each commit that was confirmed to anybody before the read began, also where
    /// several servers answer by turns. The keys need not be read at one time: what depends on
    /// several of them names them all in its commit. It may see what a power failure takes back,
    /// until [`ensure_durable`](Session::ensure_durable) or a commit has returned.
    fn read(&mut self, keys: &[&str]) -> Result<Vec<Option<Entry>>, Error>;

    /// Passes the names of the keys in `folder` and their values to `see`, in any order, a part of
    /// the values at a time. There are none where the folder is not there.
    fn each(&mut self, folder: &str, see: &mut See<'_>) -> Result<(), Error>;

    /// The names of the keys in `folder` and their values, as [`each`](Session::each) passes them.
    fn list(&mut self, folder: &str) -> Result<Vec<(String, Entry)>, Error> {
        let mut listed = Vec::new();
        self.each(folder, &mut |name, entry| {
            listed.push((name, entry));
            Ok(())
        })?;
        Ok(listed)
    }

    /// How many keys are in `folder`, without their names and values.
    fn count(&mut self, folder: &str) -> Result<u64, Error>;

    /// Writes all that `changes` say, if each of their keys has the version that they name, and
    /// nothing otherwise. Returns whether it has written. Each key is named once.
    ///
    /// When this returns `true`, what was written outlives a power failure, and each later read
    /// sees it. After [`Error::Unreachable`] it is unknown whether it was written, or still will
    /// be; after any other error, nothing was written.
    fn commit(&mut self, changes: &[Change<'_>]) -> Result<bool, Error>;

    /// Returns when all that this session has read outlives a power failure.
    fn ensure_durable(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// The time by the clock of the server that answers, in milliseconds since 1970. Leases expire
    /// by it. Uniqueness does not depend on it.
    fn now(&mut self) -> Result<i64, Error>;

    /// Closes the connection.
    fn end(self);
}

/// What a key holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub value: String,
    pub version: Version,
}

/// Which write of a key it was that gave it its value, in the store's own way of counting: each
/// write of a key gives it another version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Version {
    /// A number of the store's own.
    #[cfg_attr(not(any(feature = "etcd", feature = "zookeeper")), allow(dead_code))]
    Number(i64),
    /// The value itself, where the store has no version. Each value has a random part, so that no
    /// two writes are alike.
    #[cfg_attr(not(feature = "redis"), allow(dead_code))]
    Value(String),
}

/// A part of a commit.
#[derive(Clone, Debug)]
pub struct Change<'a> {
    pub key: &'a str,
    /// The version that the key must have; `None` if it must not be there.
    pub version: Option<&'a Version>,
    pub action: Action<'a>,
}

/// What becomes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action<'a> {
    /// It stays as it is: only its version matters.
    Check,
    Write(&'a str),
    Remove,
}

/// The error where no server answers as it must, for the reason that follows the name of each. If
/// one of them may pass, so may this. A single server has its own error.
#[cfg(any(feature = "etcd", feature = "zookeeper"))]
fn no_server(start: &str, mut errors: Vec<(String, Error)>) -> Error {
    if errors.len() == 1 {
        return errors.swap_remove(0).1;
    }
    let mut is_transient = false;
    let (mut problems, mut cause) = (Vec::new(), None);
    for (server, error) in errors {
        let (problem, source) = match error {
            Error::Unreachable { problem, source } => {
                is_transient = true;
                (problem, source)
            }
            Error::Unusable { problem, source } => (problem, source),
            other => return other,
        };
        problems.push(server + &problem);
        cause = source.or(cause);
    }
    let problem = start.to_owned() + &problems.join("; ");
    if is_transient {
        Error::Unreachable { problem, source: cause }
    } else {
        Error::Unusable { problem, source: cause }
    }
}

/// The name in a key for a text of any characters: all but ASCII letters, digits, `-` and `_` are
/// written as `%20` and the like, byte by byte.
pub fn name_of(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, NAME).to_string()
}

/// The name of `key` in its folder.
pub fn last_name(key: &str) -> &str {
    key.rsplit_once('/').map_or(key, |(_, name)| name)
}

/// The text that has this name.
pub fn text_of(name: &str) -> String {
    percent_encoding::percent_decode_str(name).decode_utf8_lossy().into_owned()
}

const NAME: &percent_encoding::AsciiSet =
    &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'_');
