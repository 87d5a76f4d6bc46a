//! Addresses of stores of keys: several servers, a folder, and files of certificates.

use percent_encoding::percent_decode_str;

use super::escapes::escape_problem;
use super::password_file::{PASSFILE, PasswordFile};
use crate::backend::keys::Error;

/// What an address of a kind of store looks like.
#[derive(Debug)]
pub struct Form {
    pub store: &'static str,
    pub schemes: &'static [&'static str],
    pub example: &'static str,
    /// The port where an address names none.
    pub port: u16,
    /// The parameters that an address may have, each once.
    pub parameters: &'static [&'static str],
}

/// An address in its parts, decoded.
#[derive(Clone)]
pub struct Address {
    pub scheme: &'static str,
    pub user: Option<String>,
    pub password: Option<String>,
    /// Each server's name or IP address, without the brackets of IPv6, and its port. There is at
    /// least one.
    pub servers: Vec<(String, u16)>,
    /// The path without slashes at its ends: names with letters, digits, `-`, `_` and `.` between
    /// slashes. It may be empty.
    pub folder: String,
    pub parameters: Vec<(&'static str, String)>,
}

impl Address {
    /// Reads `scheme://user:password@host:port,host:port/folder?parameter=value&…`.
    pub fn parse(text: &str, form: &Form) -> Result<Address, Error> {
        let Form { store, example, .. } = form;
        let refuse = |problem: String| {
            Error::problem(format!("{problem}; an address of {store} is such as {example}"))
        };
        let (scheme, rest) = text.split_once("://").unwrap_or((text, ""));
        let Some(scheme) = form.schemes.iter().find(|known| **known == scheme) else {
            return Err(refuse(format!(
                "it does not begin with {}://",
                form.schemes.join(":// or ")
            )));
        };
        if let Some(problem) = escape_problem(text) {
            return Err(Error::problem(problem));
        }
        let place = &rest[..rest.find(['/', '?']).unwrap_or(rest.len())];
        let (rest, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let folder = rest[place.len()..].strip_prefix('/').unwrap_or_default();
        let (user, servers) =
            place.rsplit_once('@').map_or((None, place), |(user, servers)| (Some(user), servers));
        let (user, password) = match user.map(|user| user.split_once(':').unwrap_or((user, ""))) {
            Some((user, password)) => (some(decoded(user)), some(decoded(password))),
            None => (None, None),
        };
        let servers = servers.split(',').map(|server| {
            let parts = host_and_port(server, form.port);
            parts.ok_or_else(|| refuse(format!("{server:?} is no host with a port or without one")))
        });
        let servers = servers.collect::<Result<Vec<_>, Error>>()?;
        let folder = folder.trim_end_matches('/');
        if !folder.is_empty() && !folder.split('/').all(is_name) {
            return Err(refuse(format!(
                "the path {folder:?} has other characters than letters, digits, -, _ and ., or a \
                 name that is empty or of dots alone"
            )));
        }
        let mut address = Address {
            scheme,
            user,
            password,
            servers,
            folder: folder.to_owned(),
            parameters: Vec::new(),
        };
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let known = form.parameters.iter().copied().find(|known| *known == name);
            let Some(known) = known.filter(|_| !value.is_empty()) else {
                // The value may be a secret.
                return Err(refuse(format!(
                    "its parameter {name:?} has no value or no meaning here; those with a meaning \
                     are {}",
                    form.parameters.join(", ")
                )));
            };
            if address.parameter(known).is_some() {
                return Err(refuse(format!("its parameter {known:?} stands there twice")));
            }
            address.parameters.push((known, decoded(value)));
        }
        Ok(address)
    }

    /// The value of the parameter `name`.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// The file with the password, if the address names one.
    pub fn password_file(&self) -> Result<Option<PasswordFile>, Error> {
        let path = self.parameter(PASSFILE);
        path.map(|path| PasswordFile::at(path, self.password.is_some())).transpose()
    }

    /// The address as it may be shown or logged: without password and parameters.
    pub fn name(&self) -> String {
        let user = self.user.as_ref().map_or_else(String::new, |user| format!("{user}@"));
        let servers: Vec<String> = self.servers.iter().map(server_name).collect();
        let Address { scheme, folder, .. } = self;
        let slash = if folder.is_empty() { "" } else { "/" };
        format!("{scheme}://{user}{}{slash}{folder}", servers.join(","))
    }
}

/// The server as an address names it: `db.example.com:2379` or `[::1]:2379`.
pub fn server_name((host, port): &(String, u16)) -> String {
    if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
}

fn host_and_port(server: &str, usual: u16) -> Option<(String, u16)> {
    let (host, port) = match server.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => server.split_at(server.find(':').unwrap_or(server.len())),
    };
    let is_host =
        |character: char| character.is_ascii_alphanumeric() || "-_.:%".contains(character);
    if host.is_empty() || !host.chars().all(is_host) {
        return None;
    }
    let port = match port {
        "" => usual,
        port => port.strip_prefix(':')?.parse().ok()?,
    };
    Some((host.to_owned(), port))
}

fn is_name(name: &str) -> bool {
    let is_good = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    name.chars().all(is_good) && !name.trim_matches('.').is_empty()
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn some(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{Address, Form};

    const FORM: Form = Form {
        store: "etcd",
        schemes: &["etcd", "etcds"],
        example: "etcd://host:2379/ids",
        port: 2379,
        parameters: &["ca", "cert"],
    };

    fn parse(text: &str) -> Result<Address, String> {
        Address::parse(text, &FORM).map_err(|error| format!("{error:?}"))
    }

    #[test]
    fn an_address_has_servers_a_folder_and_parameters() {
        let address = parse("etcds://me:s%40:t@a,[::1]:7,b.c:9/x/y.z/?ca=/a%20b.pem").unwrap();
        assert_eq!(address.scheme, "etcds");
        assert_eq!(address.user.as_deref(), Some("me"));
        assert_eq!(address.password.as_deref(), Some("s@:t"));
        let servers: Vec<_> = address.servers.iter().map(|(host, port)| (&**host, *port)).collect();
        assert_eq!(servers, [("a", 2379), ("::1", 7), ("b.c", 9)]);
        assert_eq!(address.folder, "x/y.z");
        assert_eq!(address.parameter("ca"), Some("/a b.pem"));
        assert_eq!(address.parameter("cert"), None);
        assert_eq!(address.name(), "etcds://me@a:2379,[::1]:7,b.c:9/x/y.z");
        let plain = parse("etcd://a").unwrap();
        assert_eq!((plain.name().as_str(), plain.password), ("etcd://a:2379", None));
    }

    #[test]
    fn what_is_no_address_is_refused_without_a_password() {
        for (address, problem) in [
            ("http://a", "does not begin with etcd:// or etcds://"),
            ("etcd://", "\\\"\\\" is no host"),
            ("etcd://me:secret@a:b", "\\\"a:b\\\" is no host"),
            ("etcd://me:secret@a:70000", "\\\"a:70000\\\" is no host"),
            ("etcd://me:secret@a,,b", "\\\"\\\" is no host"),
            ("etcd://[::1", "is no host"),
            ("etcd://me:secret/x@a/ids", "if its user or password has one of /, @"),
            ("etcd://me:secret?x@a/ids", "if its user or password has one of /, @"),
            ("etcd://a/x//y", "the path \\\"x//y\\\""),
            ("etcd://a/..", "the path \\\"..\\\""),
            ("etcd://a/x%20y", "the path \\\"x%20y\\\""),
            ("etcd://a?password=secret", "its parameter \\\"password\\\""),
            ("etcd://a?ca=", "its parameter \\\"ca\\\""),
            ("etcd://a?ca=x&ca=y", "its parameter \\\"ca\\\" stands there twice"),
        ] {
            let error = parse(address).err().unwrap();
            assert!(error.contains(problem), "{address}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
