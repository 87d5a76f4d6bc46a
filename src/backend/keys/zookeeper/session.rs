//! [`ZooKeeperSession`]: reads and commits of keys as ZooKeeper's requests.
//!
//! A key is a node that has data. A folder is a node without data, above those of its keys.
//!
//! ZooKeeper counts the writes of a node from 0 when it is made, so that a node that was removed
//! and made again has the same count again, with another value. The version of a key therefore has
//! two counts: that of its node, and that of its folder's node, which is written, without data,
//! whenever one of its keys is removed. A commit names both.

use super::connection::Connection;
use super::wire::{
    ANY_VERSION, Access, Body, Reply, at_version, code, create, multi, operation, read, set_data,
};
use super::{ClusterState, wire};
use crate::backend::error::Error;
use crate::backend::keys::{Action, Change, EACH, Entry, See, Session, Version};

/// The node that is written to learn the time. No key has a name with this character.
const CLOCK: &str = ".clock";
/// How often folders are made for one commit: others may remove them in between.
const ATTEMPTS: usize = 3;

pub struct ZooKeeperSession<'d> {
    pub connection: Connection<'d>,
    /// The path of the folder of all keys, with a slash in front.
    pub base: &'d str,
    pub access: Access,
    pub cluster: &'d ClusterState,
}

impl ZooKeeperSession<'_> {
    /// The answers to `requests`. Those that fail because of the session fail here.
    pub fn ask(&mut self, requests: &[(i32, Body)]) -> Result<Vec<Reply>, Error> {
        let replies = self.connection.ask(requests)?;
        for reply in &replies {
            self.cluster.note(reply.zxid);
            if let Some(error) = self.failure(reply.code) {
                return Err(error);
            }
        }
        Ok(replies)
    }

    /// The answer to one request.
    pub fn ask_one(&mut self, operation: i32, body: Body) -> Result<Reply, Error> {
        let reply = self.ask(&[(operation, body)])?.pop();
        reply.ok_or_else(|| self.unexpected_reply())
    }

    /// The error of an answer that cannot be read.
    pub fn unexpected_reply(&self) -> Error {
        self.connection.malformed_reply()
    }

    /// Has this server learn of all that was confirmed to anybody before.
    pub fn sync_now(&mut self) -> Result<(), Error> {
        let request = self.sync();
        self.ask(&[request]).map(drop)
    }

    /// The error of a code that is not about a node.
    pub fn failure(&self, code: i32) -> Option<Error> {
        let name = self.connection.server.name();
        let unreachable = |problem| Some(Error::Unreachable { problem, source: None });
        match code {
            code::CONNECTION_LOSS | code::TIMEOUT | code::SESSION_EXPIRED | code::SESSION_MOVED => {
                unreachable(format!(
                    "the server {name} ended the session; see that it is not overloaded, and \
                     reaches the others of its ensemble"
                ))
            }
            code::NOT_READ_ONLY => {
                unreachable(format!("the server {name} takes no writes for now"))
            }
            code::THROTTLED => unreachable(format!("the server {name} is overloaded")),
            code::AUTH_FAILED | code::SASL_REQUIRED => Some(Error::problem(format!(
                "the server {name} does not let this user in; see the user and the password, and \
                 whether it asks for SASL, which uidring does not speak"
            ))),
            _ => None,
        }
    }

    /// Makes the node at `path` and those above it that are missing, without data.
    pub fn make(&mut self, path: &str, access: Access) -> Result<(), Error> {
        // From below, because a user may see and make less above.
        let mut missing = vec![path.to_owned()];
        while let Some(next) = missing.last().cloned() {
            let reply = self.ask_one(operation::CREATE, create(&next, "", access, false))?;
            match reply.code {
                code::OK | code::NODE_EXISTS => drop(missing.pop()),
                code::NO_NODE => match next.rsplit_once('/') {
                    Some((above, _)) if !above.is_empty() => missing.push(above.to_owned()),
                    _ => return Err(unexpected(reply.code, &next)),
                },
                other => return Err(unexpected(other, &next)),
            }
        }
        Ok(())
    }

    fn path(&self, key: &str) -> String {
        if key.is_empty() { self.base.to_owned() } else { format!("{}/{key}", self.base) }
    }

    /// The path of the folder that a path is in.
    fn folder(path: &str) -> &str {
        path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The request that has this server learn of all that was confirmed to anybody before.
    ///
    /// A leader that has been deposed a moment ago, and does not know yet, would answer as well.
    /// But the session itself was committed by most servers a moment ago, and a commit needs them
    /// again: what such a leader would not know is no older than the call.
    fn sync(&self) -> (i32, Body) {
        (operation::SYNC, Body::new().text(self.base))
    }

    /// What the node at `path` holds by `reply`, as a key in a folder that was written `folder`
    /// times.
    fn entry(&self, path: &str, reply: &Reply, folder: i32) -> Result<Option<Entry>, Error> {
        match reply.code {
            code::OK => {}
            code::NO_NODE => return Ok(None),
            other => return Err(unexpected(other, path)),
        }
        let (data, stat) = reply.data().ok_or_else(|| self.unexpected_reply())?;
        if data.is_empty() {
            return Ok(None);
        }
        if stat.version == ANY_VERSION || folder == ANY_VERSION {
            return Err(Error::problem(format!(
                "the node {path}, or the one above it, was written 4,294,967,295 times, and \
                 ZooKeeper cannot compare this count; copy it to another path, and use that"
            )));
        }
        let value = std::str::from_utf8(data)
            .map_err(|_| Error::problem(format!("the data of the node {path} is no text")))?;
        Ok(Some(Entry { value: value.to_owned(), version: Counts::version(folder, stat.version) }))
    }
}

/// The error of a `code` that the node at `path` cannot mend.
pub fn unexpected(code: i32, path: &str) -> Error {
    match code {
        code::NO_AUTH => Error::Denied(format!("it may not use the node {path}").into()),
        code::QUOTA_EXCEEDED => {
            Error::Full(format!("the quota of the node {path}, or above it, is used up").into())
        }
        _ => Error::Other(
            format!("the server answered with the error {code} for the node {path}").into(),
        ),
    }
}

/// The error of a node where a key is to be, which can neither be read nor made.
fn no_data(path: &str) -> Error {
    Error::problem(format!(
        "the node {path} has no data, as the folders of keys have none; see who has made it, and \
         name another path in the address, or remove it if nobody uses it"
    ))
}

/// The two counts in the version of a key.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Counts {
    folder: i32,
    node: i32,
}

impl Counts {
    fn version(folder: i32, node: i32) -> Version {
        Version::Number(i64::from(folder) << 32 | i64::from(node.cast_unsigned()))
    }

    fn of(version: &Version) -> Option<Counts> {
        let Version::Number(number) = version else { return None };
        let folder = i32::try_from(number >> 32).ok()?;
        // The lower half.
        #[allow(clippy::cast_possible_truncation)]
        let node = *number as i32;
        Some(Counts { folder, node })
    }
}

impl Session for ZooKeeperSession<'_> {
    fn read(&mut self, keys: &[&str]) -> Result<Vec<Option<Entry>>, Error> {
        let paths: Vec<String> = keys.iter().map(|key| self.path(key)).collect();
        let mut folders: Vec<&str> = paths.iter().map(|path| Self::folder(path)).collect();
        folders.sort_unstable();
        folders.dedup();
        // The folders first: a node that is removed and made again in between then has a version
        // that no commit accepts.
        let mut requests = vec![self.sync()];
        requests.extend(folders.iter().map(|folder| (operation::EXISTS, read(folder))));
        requests.extend(paths.iter().map(|path| (operation::GET_DATA, read(path))));
        let replies = self.ask(&requests)?;
        let (folder_replies, replies) = replies[1..].split_at(folders.len());
        let mut entries = Vec::with_capacity(keys.len());
        for (path, reply) in paths.iter().zip(replies) {
            let index = folders.binary_search(&Self::folder(path)).unwrap_or_default();
            let folder = &folder_replies[index];
            entries.push(match folder.code {
                // A key that was made since is as if it were not there yet.
                code::NO_NODE => None,
                code::OK => {
                    let stat = folder.stat().ok_or_else(|| self.unexpected_reply())?;
                    let entry = self.entry(path, reply, stat.version)?;
                    if entry.is_none() && reply.code == code::OK {
                        return Err(no_data(path));
                    }
                    entry
                }
                other => return Err(unexpected(other, folders[index])),
            });
        }
        Ok(entries)
    }

    fn each(&mut self, folder: &str, see: &mut See<'_>) -> Result<(), Error> {
        let path = self.path(folder);
        let requests = [self.sync(), (operation::GET_CHILDREN, read(&path))];
        let replies = self.ask(&requests)?;
        let list = &replies[1];
        match list.code {
            code::OK => {}
            code::NO_NODE => return Ok(()),
            other => return Err(unexpected(other, &path)),
        }
        let (names, stat) = list.children().ok_or_else(|| self.unexpected_reply())?;
        for names in names.chunks(EACH) {
            let paths: Vec<String> = names.iter().map(|name| format!("{path}/{name}")).collect();
            let requests: Vec<_> =
                paths.iter().map(|path| (operation::GET_DATA, read(path))).collect();
            let replies = self.ask(&requests)?;
            for ((name, path), reply) in names.iter().zip(&paths).zip(&replies) {
                if let Some(entry) = self.entry(path, reply, stat.version)? {
                    see((*name).to_owned(), entry)?;
                }
            }
        }
        Ok(())
    }

    fn count(&mut self, folder: &str) -> Result<u64, Error> {
        let path = self.path(folder);
        let reply = self.ask(&[self.sync(), (operation::EXISTS, read(&path))])?.pop();
        let reply = reply.ok_or_else(|| self.unexpected_reply())?;
        match reply.code {
            code::OK => {
                let stat = reply.stat().ok_or_else(|| self.unexpected_reply())?;
                Ok(u64::try_from(stat.children).unwrap_or(0))
            }
            code::NO_NODE => Ok(0),
            other => Err(unexpected(other, &path)),
        }
    }

    fn commit(&mut self, changes: &[Change<'_>]) -> Result<bool, Error> {
        let paths: Vec<String> = changes.iter().map(|change| self.path(change.key)).collect();
        let Some(parts) = Parts::of(changes, &paths, self.access) else { return Ok(false) };
        for _ in 0..ATTEMPTS {
            let reply = self.ask_one(operation::MULTI, multi(&parts.bodies))?;
            let codes = if reply.code == code::OK {
                reply.parts().ok_or_else(|| self.unexpected_reply())?
            } else {
                vec![reply.code]
            };
            let is_failed = |code: &i32| ![code::OK, code::INCONSISTENT].contains(code);
            let Some(failed) = codes.iter().position(is_failed) else {
                // An answer of another length would be about other parts.
                if codes.len() != parts.bodies.len() {
                    return Err(self.unexpected_reply());
                }
                return Ok(true);
            };
            let path = parts.paths.get(failed).copied().unwrap_or(self.base);
            let is_made = parts.bodies.get(failed).is_some_and(|part| part.0 == operation::CREATE);
            match codes[failed] {
                code::NO_NODE if is_made => self.make(Self::folder(path), self.access)?,
                code::NO_NODE | code::NODE_EXISTS | code::BAD_VERSION => return Ok(false),
                other => return Err(unexpected(other, path)),
            }
        }
        Err(Error::Other(format!("the nodes above those in {} come and go", self.base).into()))
    }

    /// The time of the leader: it notes when a node was written, and nothing else tells its clock.
    /// So each call costs a write, with one sync of the disks, beside the two of the session. In
    /// return, it does not matter which server is asked.
    fn now(&mut self) -> Result<i64, Error> {
        let path = self.path(CLOCK);
        for _ in 0..ATTEMPTS {
            let reply = self.ask_one(operation::SET_DATA, set_data(&path, "", ANY_VERSION))?;
            match reply.code {
                code::OK => {
                    let stat = reply.stat().ok_or_else(|| self.unexpected_reply())?;
                    return Ok(stat.mtime);
                }
                code::NO_NODE => self.make(&path, self.access)?,
                other => return Err(unexpected(other, &path)),
            }
        }
        Err(Error::Other(format!("the node {path} comes and goes").into()))
    }

    /// Waits for the answer: the server's log has a warning of each client that does not.
    fn end(mut self) {
        let _ = self.connection.ask(&[(operation::CLOSE, Body::new())]);
    }
}

/// The parts of the multi-operation that is a commit, and the path of each.
struct Parts<'a> {
    bodies: Vec<(i32, Body)>,
    paths: Vec<&'a str>,
}

impl<'a> Parts<'a> {
    /// `None` if the versions do not fit one another, so that no commit can be.
    fn of(changes: &[Change<'_>], paths: &'a [String], access: Access) -> Option<Parts<'a>> {
        let mut parts = Parts { bodies: Vec::new(), paths: Vec::new() };
        let mut folders: Vec<(&str, i32, bool)> = Vec::new();
        for (change, path) in changes.iter().zip(paths) {
            let Some(version) = change.version else { continue };
            let (folder, counts) = (ZooKeeperSession::folder(path), Counts::of(version)?);
            let is_removed = change.action == Action::Remove;
            match folders.iter_mut().find(|(known, ..)| *known == folder) {
                Some((_, count, _)) if *count != counts.folder => return None,
                Some((.., has_removed)) => *has_removed |= is_removed,
                None => folders.push((folder, counts.folder, is_removed)),
            }
        }
        for (folder, count, has_removed) in folders {
            if has_removed {
                parts.add(operation::SET_DATA, folder, set_data(folder, "", count));
            } else {
                parts.add(operation::CHECK, folder, at_version(folder, count));
            }
        }
        for (change, path) in changes.iter().zip(paths) {
            let counts = change.version.and_then(Counts::of);
            match (change.action, counts) {
                (Action::Check, Some(Counts { node, .. })) => {
                    parts.add(operation::CHECK, path, at_version(path, node));
                }
                (Action::Write(value), Some(Counts { node, .. })) => {
                    parts.add(operation::SET_DATA, path, set_data(path, value, node));
                }
                (Action::Remove, Some(Counts { node, .. })) => {
                    parts.add(operation::DELETE, path, at_version(path, node));
                }
                (Action::Write(value), None) => {
                    parts.add(operation::CREATE, path, create(path, value, access, false));
                }
                // No operation checks that a node is not there. To make it and remove it does, and
                // nobody sees it in between.
                (Action::Check | Action::Remove, None) => {
                    parts.add(operation::CREATE, path, create(path, "", access, false));
                    parts.add(operation::DELETE, path, at_version(path, wire::ANY_VERSION));
                }
            }
        }
        Some(parts)
    }

    fn add(&mut self, operation: i32, path: &'a str, body: Body) {
        self.bodies.push((operation, body));
        self.paths.push(path);
    }
}
