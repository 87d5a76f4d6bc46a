//! Redis and Valkey: the address, and the session of a call.
//!
//! # What is kept where
//!
//! The key `workers/7` is the text `FOLDER/workers/7` of the database in the address. The names in
//! the folder `workers` are in the set `FOLDER/workers/`, which the same script writes: to look for
//! them by `SCAN` would go through all keys of a database that others share.
//!
//! What it promises is told at [`uidring::store::redis`](crate::store::redis).

mod connection;
mod counters;
mod diagnosis;
mod durability;
mod replies;
mod script;
mod session;
mod unsupported;

use std::fmt;
use std::path::Path;

use rustls::ClientConfig;

use super::{Deadline, Error, KeyStore, Session, socket};
use crate::backend::address::key_server::{Address, Form};
use crate::backend::address::password_file::{PASSFILE, PasswordFile, with_password_advice};
use crate::backend::address::renewal::{Renewal, other_store};
use crate::backend::address::{ONLY_FOR_TESTS, permits, warn_if_only_for_tests};
use crate::sync::Arc;
pub use counters::Counted;

use connection::Connection;
use session::RedisSession;

/// A server with Redis or Valkey.
#[derive(Clone)]
pub struct Redis {
    name: String,
    server: (String, u16),
    /// User and password.
    user: Option<(Option<String>, String)>,
    database: u32,
    folder: String,
    tls: Option<Arc<ClientConfig>>,
    /// Whether no replica ever takes the master's place.
    never_promoted: bool,
    /// Whether it may forget what it has confirmed.
    only_for_tests: bool,
    password_file: Option<PasswordFile>,
    renewal: Renewal<Redis>,
}

const FORM: Form = Form {
    store: "Redis",
    schemes: &["redis", "rediss"],
    example: "redis://user:password@host:6379/0/uidring",
    port: 6379,
    parameters: &["ca", "cert", "key", PASSFILE, "replicas", ONLY_FOR_TESTS],
};

/// The folder of an address that names none.
const FOLDER: &str = "uidring";

impl Redis {
    /// The server at `url`. Nothing is asked of it yet.
    pub fn at(url: &str) -> Result<Redis, Error> {
        let address = Address::parse(url, &FORM)?;
        let [server] = &address.servers[..] else {
            return Err(Error::problem(
                "its address names several servers, and writes go to one; name the master alone",
            ));
        };
        let never_promoted = match address.parameter("replicas") {
            None => false,
            Some("never-promoted") => true,
            Some(_) => {
                return Err(Error::problem(
                    "the parameter replicas of its address can only be never-promoted",
                ));
            }
        };
        let (database, folder) = parse_path(&address.folder)?;
        let password_file = address.password_file()?;
        let user = match (&address.user, &address.password) {
            (None, None) if password_file.is_none() => None,
            (user, password) => Some((user.clone(), password.clone().unwrap_or_default())),
        };
        let name = address.name();
        let only_for_tests = permits(ONLY_FOR_TESTS, address.parameter(ONLY_FOR_TESTS))?;
        let tls = socket::tls_config(&address, FORM.schemes[1])?;
        warn_if_only_for_tests(only_for_tests, &name);
        Ok(Redis {
            name,
            server: server.clone(),
            user,
            database,
            folder: folder.to_owned(),
            tls,
            never_promoted,
            only_for_tests,
            password_file,
            renewal: Renewal::default(),
        })
    }

    /// What `call` returns, which has a connection for itself.
    fn call<T>(
        &self,
        deadline: &Deadline,
        call: impl FnOnce(&mut RedisSession<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let store = self.current()?;
        let session = store.session(deadline);
        call(&mut session.map_err(|error| with_password_advice(error, store.password_file()))?)
    }

    /// Connects, and sees that the server keeps what it confirms.
    fn session<'a>(&'a self, deadline: &'a Deadline) -> Result<RedisSession<'a>, Error> {
        RedisSession::begin(self, Connection::open(self, deadline)?)
    }
}

/// The number of the database and the folder in the path of an address.
fn parse_path(path: &str) -> Result<(u32, &str), Error> {
    let (first, rest) = path.split_once('/').unwrap_or((path, ""));
    let is_number = !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_digit());
    let (database, folder) = match is_number.then(|| first.parse()) {
        Some(Ok(database)) => (database, rest),
        Some(Err(_)) => {
            return Err(Error::problem(format!(
                "its address names the database {first}, and no server has so many"
            )));
        }
        None => (0, path),
    };
    Ok((database, if folder.is_empty() { FOLDER } else { folder }))
}

impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Redis").field(&self.name).finish()
    }
}

impl KeyStore for Redis {
    fn name(&self) -> String {
        self.renewal.with_newest(self, |newest| newest.name.clone())
    }

    fn current(&self) -> Result<Redis, Error> {
        let mut store = self.renewal.newest(self);
        if let (Some(file), Some((_, password))) = (&store.password_file, &mut store.user) {
            *password = file.read()?;
        }
        Ok(store)
    }

    fn password_file(&self) -> Option<&Path> {
        self.password_file.as_ref().map(PasswordFile::path)
    }

    fn renew(&self, address: &str) -> Result<(), Error> {
        let newer = Redis::at(address)?;
        let identity = |store: &Redis| (store.server.clone(), store.database, store.folder.clone());
        if identity(&newer) != identity(self) {
            return Err(other_store(&self.name()));
        }
        self.renewal.replace(newer);
        Ok(())
    }

    fn connect<'a>(&'a self, deadline: &'a Deadline) -> Result<impl Session + 'a, Error> {
        self.session(deadline)
    }
}

#[cfg(test)]
#[allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]
mod tests;
