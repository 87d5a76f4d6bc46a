//! Nodes at any path, which other programs write, too.

use super::session::{ZooKeeperSession, unexpected};
use super::wire::{ANY_VERSION, Access, at_version, code, create, operation, read, set_data};
use super::{Deadline, Error, ZooKeeper};
use crate::backend::keys::{KeyStore, Session};

/// What a node holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub path: String,
    /// How often its data was written.
    pub version: i32,
    pub data: String,
}

/// A session that reads and writes nodes one by one.
pub struct NodeSession<'d>(ZooKeeperSession<'d>);

impl ZooKeeper {
    /// Runs `call` in a session of its own.
    pub fn with_nodes<T>(
        &self,
        deadline: &Deadline,
        call: impl FnOnce(&mut NodeSession<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let servers = self.current()?;
        let mut session = NodeSession(servers.session(deadline)?);
        let result = call(&mut session);
        session.0.end();
        result
    }
}

impl NodeSession<'_> {
    /// The names of the nodes below `folder`, with all that was confirmed to anybody before. There
    /// are none where it is not there.
    pub fn children(&mut self, folder: &str) -> Result<Vec<String>, Error> {
        self.0.sync_now()?;
        let reply = self.0.ask_one(operation::GET_CHILDREN, read(folder))?;
        match reply.code {
            code::OK => {}
            code::NO_NODE => return Ok(Vec::new()),
            other => return Err(unexpected(other, folder)),
        }
        let (names, _) = reply.children().ok_or_else(|| self.0.unexpected_reply())?;
        Ok(names.into_iter().map(str::to_owned).collect())
    }

    /// The node at `path`, which is there.
    pub fn read(&mut self, path: String) -> Result<Node, Error> {
        let reply = self.0.ask_one(operation::GET_DATA, read(&path))?;
        if reply.code != code::OK {
            return Err(unexpected(reply.code, &path));
        }
        let (data, stat) = reply.data().ok_or_else(|| self.0.unexpected_reply())?;
        let data = String::from_utf8_lossy(data).into_owned();
        Ok(Node { path, version: stat.version, data })
    }

    /// How many nodes were made below `folder`; `None` if it is not there.
    pub fn made_below(&mut self, folder: &str) -> Result<Option<u64>, Error> {
        let reply = self.0.ask_one(operation::EXISTS, read(folder))?;
        match reply.code {
            code::OK => {
                let stat = reply.stat().ok_or_else(|| self.0.unexpected_reply())?;
                Ok(Some(stat.made.unsigned_abs()))
            }
            code::NO_NODE => Ok(None),
            other => Err(unexpected(other, folder)),
        }
    }

    /// Makes the node at `path` and those above it that are missing, for everybody to write.
    pub fn make(&mut self, path: &str) -> Result<(), Error> {
        self.0.make(path, Access::Everybody)
    }

    /// Makes a node with this data, for everybody to write. Its path is `start` and the next number
    /// that ZooKeeper counts in the folder.
    pub fn make_numbered(&mut self, start: &str, data: &str) -> Result<Node, Error> {
        let body = create(start, data, Access::Everybody, true);
        let reply = self.0.ask_one(operation::CREATE, body)?;
        if reply.code != code::OK {
            return Err(unexpected(reply.code, start));
        }
        let path = reply.path().ok_or_else(|| self.0.unexpected_reply())?.to_owned();
        Ok(Node { path, version: 0, data: data.to_owned() })
    }

    /// Removes a node that was made and is not to be used.
    pub fn remove(&mut self, path: &str) -> Result<(), Error> {
        let reply = self.0.ask_one(operation::DELETE, at_version(path, ANY_VERSION))?;
        match reply.code {
            code::OK | code::NO_NODE => Ok(()),
            other => Err(unexpected(other, path)),
        }
    }

    /// Gives the node its data, unless another has written it since, or removed it. Returns whether
    /// it has.
    pub fn write(&mut self, node: &mut Node, data: String) -> Result<bool, Error> {
        let body = set_data(&node.path, &data, node.version);
        let reply = self.0.ask_one(operation::SET_DATA, body)?;
        match reply.code {
            code::OK => {
                node.version = reply.stat().ok_or_else(|| self.0.unexpected_reply())?.version;
                node.data = data;
                Ok(true)
            }
            code::BAD_VERSION | code::NO_NODE => Ok(false),
            other => Err(unexpected(other, &node.path)),
        }
    }
}
