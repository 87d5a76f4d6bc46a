//! ZooKeeper: keys are nodes, and a commit is one multi-operation.
//!
//! What it promises is told at [`uidring::store::zookeeper`](crate::store::zookeeper).

mod connection;
mod durability;
mod nodes;
mod session;
mod wire;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::time::Duration;

use rustls::ClientConfig;

use connection::{Connection, Server};
pub use nodes::{Node, NodeSession};
use session::ZooKeeperSession;

use super::socket::TLS_PARAMETERS;
use wire::{AUTH_NUMBER, Access, Body, Connected, code, operation};

use super::{Deadline, Error, KeyStore, Session, no_server, socket};
use crate::backend::address::key_server::{Address, Form, server_name};
use crate::backend::address::password_file::{PASSFILE, PasswordFile};
use crate::backend::address::permits;
use crate::backend::address::renewal::{Renewal, other_store};
use crate::clock::Stopwatch;
use crate::sync::{Arc, Mutex, lock};

/// Where the keys are in an address without a path.
const FOLDER: &str = "uidring";
/// The port of an admin server where the address names none.
const ADMIN_PORT: u16 = 8080;
/// How long it is trusted that a server's settings are as they were. They change with its restart.
const TRUST: Duration = Duration::from_secs(60);

/// The schemes of addresses without TLS and with it.
pub const SCHEMES: &[&str] = &["zookeeper", "zookeepers"];

const FORM: Form = Form {
    store: "ZooKeeper",
    schemes: SCHEMES,
    example: "zookeeper://user:password@h1:2181,h2:2181,h3:2181/uidring",
    port: 2181,
    parameters: &[
        "admin",
        TLS_PARAMETERS[0],
        TLS_PARAMETERS[1],
        TLS_PARAMETERS[2],
        PASSFILE,
        "untried",
    ],
};

/// An ensemble of ZooKeeper, or a single server.
#[derive(Clone)]
pub struct ZooKeeper {
    address: Arc<Address>,
    /// The path of the folder of all keys, with a slash in front.
    base: Arc<str>,
    tls: Option<Arc<ClientConfig>>,
    /// The port of the servers' admin servers; 0 if they are not asked.
    admin: u16,
    /// Whether it may be a server on which nobody has tried this library.
    allows_unsupported: bool,
    password_file: Option<PasswordFile>,
    renewal: Renewal<ZooKeeper>,
    cluster: ClusterState,
}

/// What the clones of a handle have seen of their servers.
#[derive(Clone, Default)]
pub struct ClusterState(Arc<Mutex<Progress>>);

#[derive(Default)]
struct Progress {
    /// The number of the newest change.
    zxid: i64,
    /// Since when a server is known to keep what it confirms.
    checked: BTreeMap<String, Stopwatch>,
}

impl ClusterState {
    fn zxid(&self) -> i64 {
        lock(&self.0).zxid
    }

    fn note(&self, zxid: i64) {
        let mut facts = lock(&self.0);
        facts.zxid = facts.zxid.max(zxid);
    }

    fn is_checked(&self, server: &str) -> bool {
        lock(&self.0).checked.get(server).is_some_and(|since| since.elapsed() < TRUST)
    }

    fn note_checked(&self, server: String) {
        lock(&self.0).checked.insert(server, Stopwatch::start());
    }
}

impl fmt::Debug for ZooKeeper {
    /// Without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ZooKeeper").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl ZooKeeper {
    /// The servers at `address`. Nothing is asked of them yet.
    pub fn at(address: &str) -> Result<ZooKeeper, Error> {
        let mut address = Address::parse(address, &FORM)?;
        if address.folder.is_empty() {
            FOLDER.clone_into(&mut address.folder);
        }
        if address.folder.split('/').next() == Some("zookeeper") {
            return Err(Error::problem("the path /zookeeper is ZooKeeper's own; name another"));
        }
        if address.user.as_ref().is_some_and(|user| user.contains(':')) {
            return Err(Error::problem("ZooKeeper has no users whose names have a colon"));
        }
        let password_file = address.password_file()?;
        if address.user.is_some() != (address.password.is_some() || password_file.is_some()) {
            return Err(Error::problem(
                "it has a user without a password, or a password without a user",
            ));
        }
        let tls = socket::tls_config(&address, SCHEMES[1])?;
        let admin = match address.parameter("admin") {
            None => ADMIN_PORT,
            Some(port) => port.parse().map_err(|_| {
                Error::problem(format!(
                    "its parameter admin is {port:?}; it is the port of the admin servers, or 0 \
                     where they are not to be asked"
                ))
            })?,
        };
        let allows_unsupported = permits("untried", address.parameter("untried"))?;
        let base = format!("/{}", address.folder).into();
        let cluster = ClusterState::default();
        let (address, renewal) = (Arc::new(address), Renewal::default());
        Ok(ZooKeeper {
            address,
            base,
            tls,
            admin,
            allows_unsupported,
            password_file,
            renewal,
            cluster,
        })
    }

    /// The address without the password, and without the folder of the keys.
    pub fn servers(&self) -> String {
        Address { folder: String::new(), ..Address::clone(&self.address) }.name()
    }

    /// A session on one of the servers, by turns at random, so that each has its share.
    fn session<'a>(&'a self, deadline: &'a Deadline) -> Result<ZooKeeperSession<'a>, Error> {
        let mut servers: Vec<_> = self.address.servers.iter().collect();
        fastrand::shuffle(&mut servers);
        let mut errors = Vec::with_capacity(servers.len());
        for (index, place) in servers.iter().enumerate() {
            let others = u32::try_from(servers.len() - index).unwrap_or(1);
            // What one server does not use of its share is left to the others.
            let until = deadline.since.elapsed() + deadline.left() / others;
            let server = Server { place, tls: self.tls.as_ref() };
            match self.session_on(server, deadline, until) {
                Ok(mut session) => {
                    session.connection.stream.use_all_time();
                    self.check(&server, deadline)?;
                    return Ok(session);
                }
                // Another server may serve.
                Err(error) => errors.push((String::new(), error)),
            }
        }
        Err(no_server("", errors))
    }

    fn session_on<'a>(
        &'a self,
        server: Server<'a>,
        deadline: &'a Deadline,
        until: Duration,
    ) -> Result<ZooKeeperSession<'a>, Error> {
        let seen = self.cluster.zxid();
        let mut stream = server.connect(deadline, until)?;
        let timeout = i32::try_from(deadline.timeout.as_millis()).unwrap_or(i32::MAX);
        let mut requests = wire::connect(seen, timeout.saturating_mul(2)).framed();
        let user = self.address.user.as_ref().zip(self.address.password.as_ref());
        if let Some((user, password)) = user {
            let auth = Body::new().int(0).text("digest").text(&format!("{user}:{password}"));
            let auth = Body::new().int(AUTH_NUMBER).int(operation::AUTH).then(&auth);
            requests.extend(auth.framed());
        }
        stream.send(&requests).map_err(|error| server.connection_error(error))?;
        let answer = match stream.receive() {
            Err(error) if is_closed(&error) => {
                return Err(durability::explain_refusal(&server, seen, deadline));
            }
            answer => answer.map_err(|error| server.connection_error(error))?,
        };
        let connected = answer.as_deref().and_then(Connected::parse);
        let connected = connected.ok_or_else(|| server.unexpected_reply())?;
        if connected.session == 0 || connected.timeout_ms <= 0 || connected.is_read_only {
            return Err(Error::Unreachable {
                problem: format!("the server {} gives no session for now", server.name()),
                source: None,
            });
        }
        let has_user = user.is_some();
        let connection = Connection { server, stream, number: 0, has_user };
        let access = if user.is_some() { Access::Authenticated } else { Access::Everybody };
        let mut session =
            ZooKeeperSession { connection, base: &self.base, access, cluster: &self.cluster };
        if user.is_some() {
            let code = session.connection.reply(AUTH_NUMBER)?.code;
            if code != code::OK {
                return Err(session.failure(code).unwrap_or_else(|| server.unexpected_reply()));
            }
        }
        Ok(session)
    }

    /// Refuses a server that may lose what it has confirmed.
    fn check(&self, server: &Server<'_>, deadline: &Deadline) -> Result<(), Error> {
        let name = server_name(server.place);
        if !self.cluster.is_checked(&name) {
            let has_user = self.address.user.is_some();
            durability::check(server, self.admin, has_user, self.allows_unsupported, deadline)?;
            self.cluster.note_checked(name);
        }
        Ok(())
    }
}

impl KeyStore for ZooKeeper {
    fn name(&self) -> String {
        self.renewal.with_newest(self, |newest| newest.address.name())
    }

    fn current(&self) -> Result<ZooKeeper, Error> {
        let mut store = self.renewal.newest(self);
        if let Some(file) = &store.password_file {
            let password = Some(file.read()?);
            store.address = Arc::new(Address { password, ..Address::clone(&store.address) });
        }
        Ok(store)
    }

    fn password_file(&self) -> Option<&Path> {
        self.password_file.as_ref().map(PasswordFile::path)
    }

    fn renew(&self, address: &str) -> Result<(), Error> {
        let newer = ZooKeeper::at(address)?;
        if newer.base != self.base || newer.address.servers != self.address.servers {
            return Err(other_store(&self.name()));
        }
        self.renewal.replace(ZooKeeper { cluster: self.cluster.clone(), ..newer });
        Ok(())
    }

    fn connect<'a>(&'a self, deadline: &'a Deadline) -> Result<impl Session + 'a, Error> {
        self.session(deadline)
    }
}

/// Whether the server has closed the connection, or the system has in its place.
fn is_closed(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), UnexpectedEof | ConnectionReset | ConnectionAborted | BrokenPipe)
}

#[cfg(test)]
#[allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]
mod tests;
