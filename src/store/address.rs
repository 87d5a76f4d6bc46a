//! Addresses of stores: what each is of, and how it is shown without its password.

use std::ffi::OsStr;
use std::path::PathBuf;

/// What an address is of.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Address {
    /// The file with this path.
    File(PathBuf),
    /// What is behind this scheme.
    Scheme(String),
    /// A file with parameters or escapes, which other programs read and this library does not.
    Parameters,
    /// Neither. It may be a list of keys and values, with a password among them.
    Unclear,
}

impl Address {
    pub(super) fn parse(address: &OsStr) -> Address {
        let text = address.to_string_lossy();
        for scheme in ["sqlite://", "sqlite:"] {
            if text.starts_with(scheme) {
                if text.contains(['?', '#', '%']) {
                    return Address::Parameters;
                }
                return after(address, scheme.len()).map_or(Address::Unclear, Address::File);
            }
        }
        if is_path(&text) {
            return Address::File(PathBuf::from(address));
        }
        // What stands before "://" may be a part of a password, which this hides.
        match without_password(&text).split_once("://") {
            Some((scheme, _)) => Address::Scheme(scheme.to_owned()),
            None => Address::Unclear,
        }
    }
}

/// The path after the first `length` bytes of `address`.
#[cfg(unix)]
#[allow(clippy::unnecessary_wraps)] // elsewhere there may be none
fn after(address: &OsStr, length: usize) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;

    Some(OsStr::from_bytes(&address.as_bytes()[length..]).into())
}

/// The same, if the address is a text.
#[cfg(not(unix))]
fn after(address: &OsStr, length: usize) -> Option<PathBuf> {
    address.to_str().map(|text| PathBuf::from(&text[length..]))
}

/// The path of the file that `address` names, as [`Store::open`](crate::Store::open) reads it, or
/// `None` if it names something else. The file need not exist.
///
/// ```
/// use std::path::PathBuf;
///
/// use uidring::store::path_of;
///
/// assert_eq!(path_of("sqlite:ids.db"), Some(PathBuf::from("ids.db")));
/// assert_eq!(path_of("postgres://ids@db.example.com/ids"), None);
/// ```
#[must_use]
pub fn path_of(address: impl AsRef<OsStr>) -> Option<PathBuf> {
    match Address::parse(address.as_ref()) {
        Address::File(path) => Some(path),
        Address::Scheme(_) | Address::Parameters | Address::Unclear => None,
    }
}

/// Whether `text` can only be meant as a path. What begins as an address or as keys and values do
/// must not become the name of a file, which would show the password in it.
fn is_path(text: &str) -> bool {
    if ["/", "./", "../"].iter().any(|start| text.starts_with(start)) {
        return true;
    }
    let is_word = |character: char| character.is_ascii_alphanumeric() || "_+-.".contains(character);
    let word = text.len() - text.trim_start_matches(is_word).len();
    match text[word..].trim_start().chars().next() {
        Some('=') => word == 0,
        // A single letter is a drive of Windows.
        Some(':') => word < 2 && !text[word..].starts_with("://"),
        _ => !text.contains("://") && !text.contains("dbname="),
    }
}

/// What is shown of an address where it is unclear what in it is the password.
pub(super) const UNCLEAR: &str = "(an address)";

/// An address of a server as it may be shown or logged: with the user, but without the password and
/// without the parameters, which may hold one.
///
/// ```
/// use uidring::store::without_password;
///
/// let address = "postgres://orders:secret@db.example.com:5432/orders?sslmode=require";
/// assert_eq!(without_password(address), "postgres://orders@db.example.com:5432/orders");
/// // Anything else may be a list of keys and values, with a password among them.
/// assert_eq!(without_password("host=db password=secret"), "(an address)");
/// ```
#[must_use]
pub fn without_password(address: &str) -> String {
    let (url, hidden) = address.split_at(address.find(['?', '#']).unwrap_or(address.len()));
    let Some((scheme, rest)) = url.split_once("://").filter(|(scheme, _)| is_word(scheme)) else {
        return UNCLEAR.to_owned();
    };
    if hidden.contains('@') && rest.contains(':') {
        // Not the port and the parameters, perhaps, but two parts of a password.
        return format!("{scheme}://{UNCLEAR}");
    }
    match rest.rsplit_once('@') {
        Some((user, host)) => {
            format!("{scheme}://{}@{host}", user.split(':').next().unwrap_or(user))
        }
        // What follows a host may be a port. Anything else may be the password of a user.
        None if ports(rest).any(|port| !port.bytes().all(|byte| byte.is_ascii_digit())) => {
            format!("{scheme}://{UNCLEAR}")
        }
        None => format!("{scheme}://{rest}"),
    }
}

/// What follows the colon of each host, in an address without a user.
fn ports(rest: &str) -> impl Iterator<Item = &str> {
    let hosts = rest.split('/').next().unwrap_or(rest).split(',');
    hosts.filter_map(|host| {
        // In brackets there are colons, too.
        let behind = host.rsplit_once(']').map_or(host, |(_, behind)| behind);
        behind.split_once(':').map(|(_, port)| port)
    })
}

/// Nothing that may be a part of a password.
pub(super) fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::path::PathBuf;

    use super::{Address, without_password};

    fn parse(text: &str) -> Address {
        Address::parse(OsStr::new(text))
    }

    #[test]
    fn a_name_without_a_scheme_is_a_file() {
        for file in [
            "uidring.db",
            "/var/lib/a=b.db",
            "/var/lib/a://b",
            "postgres",
            "./mysql:/x",
            "./mysql://x",
            "../a=b",
            "c:\\uidring.db",
            "a b=c",
            "",
        ] {
            assert_eq!(parse(file), Address::File(PathBuf::from(file)));
        }
    }

    #[test]
    fn a_scheme_names_the_kind() {
        assert_eq!(parse("postgres://me:secret@db/ids"), Address::Scheme("postgres".to_owned()));
        assert_eq!(parse("etcd://db/ids"), Address::Scheme("etcd".to_owned()));
        assert_eq!(parse("c://me:secret@db"), Address::Scheme("c".to_owned()));
        for (address, file) in [
            ("sqlite:uidring.db", "uidring.db"),
            ("sqlite:/var/lib/ids.db", "/var/lib/ids.db"),
            ("sqlite:///var/lib/ids.db", "/var/lib/ids.db"),
            ("sqlite://ids.db", "ids.db"),
            ("sqlite:a://b", "a://b"),
        ] {
            assert_eq!(parse(address), Address::File(PathBuf::from(file)));
        }
    }

    #[test]
    fn parameters_and_escapes_make_no_file() {
        for address in ["sqlite:ids.db?mode=rwc", "sqlite://my%20ids.db", "sqlite:ids.db#1"] {
            assert_eq!(parse(address), Address::Parameters);
        }
        for file in ["ids.db?mode=rwc", "./my%20ids.db", "/ids#1"] {
            assert_eq!(parse(file), Address::File(PathBuf::from(file)));
        }
    }

    #[test]
    fn keys_and_values_make_no_file() {
        for keys in [
            "host=db dbname=ids password=secret",
            "password=secret dbname=ids",
            "host=db password=secret://x",
            "user = me password=secret",
            " host=db dbname=ids",
            " postgres://me:secret@db",
            "file:secret.db",
        ] {
            assert_eq!(parse(keys), Address::Unclear, "{keys}");
        }
    }

    #[test]
    fn passwords_are_not_shown() {
        for (url, shown) in [
            ("postgres://me:secret@db:5432/ids?sslmode=require", "postgres://me@db:5432/ids"),
            ("mysql://me:se@cret@db/ids", "mysql://me@db/ids"),
            ("postgres://db/ids?user=me&password=secret", "postgres://db/ids"),
            ("postgres:///ids", "postgres:///ids"),
            ("host=db password=secret", "(an address)"),
            ("host=db password=sec://ret", "(an address)"),
            ("postgres://me:sec?ret@db/ids", "postgres://(an address)"),
            ("mysql://me:sec#ret@db/ids", "mysql://(an address)"),
            ("mysql://me:s@ec?ret@db/ids", "mysql://(an address)"),
            ("postgres://db/ids?user=me@here", "postgres://db/ids"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }
}
