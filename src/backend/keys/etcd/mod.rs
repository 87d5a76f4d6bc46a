//! etcd, by its JSON gateway.
//!
//! What it promises is told at [`uidring::store::etcd`](crate::store::etcd).

mod attempt;
mod diagnosis;
mod durability;
mod http;
mod session;
mod wire;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use ureq::Agent;
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig};

use super::{Deadline, Error, KeyStore, Session};
use crate::backend::address::key_server::{Address, Form, server_name};
use crate::backend::address::password_file::{PASSFILE, PasswordFile};
use crate::backend::address::renewal::{Renewal, other_store};
use crate::backend::pem;
use crate::clock::Stopwatch;
use crate::sync::{Arc, Mutex, lock};
use session::EtcdSession;
use wire::Header;

const FORM: Form = Form {
    store: "etcd",
    schemes: &["etcd", "etcds"],
    example: "etcd://user:password@host:2379,host2:2379/folder",
    port: 2379,
    parameters: &["ca", "cert", "key", PASSFILE],
};

/// The folder where an address names none.
const FOLDER: &str = "uidring";

/// The members of a cluster.
#[derive(Clone)]
pub struct Etcd {
    name: String,
    servers: Arc<[Server]>,
    folder: String,
    login: Option<Arc<Login>>,
    tls: TlsConfig,
    password_file: Option<PasswordFile>,
    renewal: Renewal<Etcd>,
    /// What this store and its clones know of the cluster.
    cluster: Arc<Mutex<ClusterState>>,
}

/// A member, as the address names it.
struct Server {
    /// `host:2379`
    name: String,
    /// `http://host:2379`
    url: String,
}

struct Login {
    user: String,
    password: String,
}

/// What is known of a cluster.
struct ClusterState {
    /// The index of the server that is asked first.
    first: usize,
    /// The id of the member that answered last at each server's address.
    members: Vec<Option<u64>>,
    /// For how long each member has been known to be fit.
    checked: BTreeMap<u64, Stopwatch>,
    /// When the syncs of each member were looked at.
    synced: BTreeMap<u64, Stopwatch>,
    /// The largest revision and term that were seen, and whose they are.
    seen: Option<Header>,
    token: Token,
}

/// What stands for user and password.
#[derive(Clone, PartialEq, Eq)]
enum Token {
    Unknown,
    /// The cluster does not authenticate anybody.
    NotNeeded,
    Issued(String),
}

impl Etcd {
    /// The cluster at `address`. Nothing is asked of it yet.
    pub fn at(address: &str) -> Result<Etcd, Error> {
        let address = Address::parse(address, &FORM)?;
        let is_secret = address.scheme == "etcds";
        let of_tls = |(name, _): &&(&str, String)| *name != PASSFILE;
        let of_tls = address.parameters.iter().find(of_tls);
        if let Some((parameter, _)) = of_tls.filter(|_| !is_secret) {
            return Err(Error::problem(format!(
                "its parameter {parameter} has a meaning with TLS alone; begin the address with \
                 etcds://"
            )));
        }
        let scheme = if is_secret { "https" } else { "http" };
        let servers: Arc<[Server]> = address
            .servers
            .iter()
            .map(server_name)
            .map(|name| Server { url: format!("{scheme}://{name}"), name })
            .collect();
        let cluster = ClusterState {
            first: 0,
            members: vec![None; servers.len()],
            checked: BTreeMap::new(),
            synced: BTreeMap::new(),
            seen: None,
            token: Token::Unknown,
        };
        let password_file = address.password_file()?;
        if password_file.is_some() && address.user.is_none() {
            return Err(Error::problem("it names a password file without a user; name the user"));
        }
        let folder = Some(&address.folder).filter(|folder| !folder.is_empty());
        Ok(Etcd {
            name: address.name(),
            servers,
            folder: folder.map_or(FOLDER, String::as_str).to_owned(),
            tls: tls(&address)?,
            password_file,
            renewal: Renewal::default(),
            login: address.user.map(|user| {
                Arc::new(Login { user, password: address.password.unwrap_or_default() })
            }),
            cluster: Arc::new(Mutex::new(cluster)),
        })
    }

    /// An HTTP client for one call, which keeps its connections until it is dropped.
    fn agent(&self) -> Agent {
        let config = Agent::config_builder()
            .tls_config(self.tls.clone())
            // A proxy set in the environment would see the password.
            .proxy(None)
            // With redirects, a server could send the password elsewhere.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .user_agent(concat!("uidring/", env!("CARGO_PKG_VERSION")))
            .max_idle_connections_per_host(1)
            // By default, ureq fills 256 KiB with zeros for each connection. The input buffer is
            // twice the longest header, because otherwise a header that is too long looks like a
            // closed connection.
            .input_buffer_size(32 << 10)
            .output_buffer_size(16 << 10)
            .max_response_header_size(16 << 10)
            .build();
        Agent::new_with_config(config)
    }
}

impl KeyStore for Etcd {
    fn name(&self) -> String {
        self.renewal.with_newest(self, |newest| newest.name.clone())
    }

    fn current(&self) -> Result<Etcd, Error> {
        let mut store = self.renewal.newest(self);
        if let (Some(file), Some(login)) = (&store.password_file, &store.login) {
            let (user, password) = (login.user.clone(), file.read()?);
            store.login = Some(Arc::new(Login { user, password }));
        }
        Ok(store)
    }

    fn password_file(&self) -> Option<&Path> {
        self.password_file.as_ref().map(PasswordFile::path)
    }

    fn renew(&self, address: &str) -> Result<(), Error> {
        let newer = Etcd::at(address)?;
        let names = |store: &Etcd| -> Vec<String> {
            store.servers.iter().map(|server| server.name.clone()).collect()
        };
        if newer.folder != self.folder || names(&newer) != names(self) {
            return Err(other_store(&self.name()));
        }
        // The token may be that of another user.
        lock(&self.cluster).token = Token::Unknown;
        self.renewal.replace(Etcd { cluster: Arc::clone(&self.cluster), ..newer });
        Ok(())
    }

    fn connect<'a>(&'a self, deadline: &'a Deadline) -> Result<impl Session + 'a, Error> {
        EtcdSession::open(self, deadline)
    }
}

impl fmt::Debug for Etcd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Etcd").field("name", &self.name).finish_non_exhaustive()
    }
}

/// TLS with the files that the address names.
fn tls(address: &Address) -> Result<TlsConfig, Error> {
    let roots = match address.parameter("ca") {
        Some(path) => RootCerts::from(certificates(path)?),
        None => RootCerts::WebPki,
    };
    let client = match (address.parameter("cert"), address.parameter("key")) {
        (Some(certificate), Some(key)) => {
            Some(ClientCert::new_with_certs(&certificates(certificate)?, private_key(key)?))
        }
        (None, None) => None,
        (Some(_), None) => return Err(Error::problem("it names a cert without its key; add key")),
        (None, Some(_)) => return Err(Error::problem("it names a key without its cert; add cert")),
    };
    Ok(TlsConfig::builder().root_certs(roots).client_cert(client).build())
}

/// The certificates in the file `path`: at least one.
fn certificates(path: &str) -> Result<Vec<Certificate<'static>>, Error> {
    let certificates = pem::certificates(Path::new(path)).map_err(Error::problem)?;
    Ok(certificates.iter().map(|der| Certificate::from_der(der).to_owned()).collect())
}

/// The private key in the file `path`.
fn private_key(path: &str) -> Result<PrivateKey<'static>, Error> {
    let refuse = |why: &dyn fmt::Display| Error::problem(pem::refused(Path::new(path), why));
    let text = std::fs::read(path).map_err(|error| refuse(&error))?;
    PrivateKey::from_pem(&text).map_err(|_| refuse(&"it holds no private key"))
}

#[cfg(test)]
mod tests;
