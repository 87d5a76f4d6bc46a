//! Addresses of stores: what each is of, and how it is shown without its password.

use std::ffi::OsStr;
use std::path::PathBuf;

use super::other_clients::translated;
use crate::backend::address::ON_NETWORK;
use crate::backend::address::redaction::without_password;

/// What an address is of.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Address {
    /// The file with this path.
    File(PathBuf),
    /// What is behind this scheme.
    Scheme(String),
    /// A file with this path, which some read as a relative one, and others from the root on.
    TwoReadings(String),
    /// A file with parameters or escapes, which other programs read and this library does not.
    Parameters,
    /// A server or a file, as another client writes it: what it begins with, such as `jdbc:mysql`,
    /// and how that is written here.
    OtherClient(String, &'static str),
    /// No text at all, or a scheme alone.
    Empty,
    /// Neither. It may be a list of keys and values, with a password among them.
    Unclear,
}

/// Whether an address permits that its file is on a network file system.
pub(super) fn is_on_network(address: &OsStr) -> bool {
    let text = address.to_string_lossy();
    text.starts_with("sqlite:") && text.ends_with(ON_NETWORK)
}

impl Address {
    pub(super) fn parse(address: &OsStr) -> Address {
        let whole = address.as_encoded_bytes().len();
        let length = if is_on_network(address) { whole - ON_NETWORK.len() } else { whole };
        let Some(address) = part(address, 0, length) else { return Address::Unclear };
        let text = address.to_string_lossy();
        if text.trim().is_empty() || ["sqlite:", "sqlite://", "sqlite:///"].contains(&&*text) {
            return Address::Empty;
        }
        if let Some((begin, written)) = other_client(&text) {
            return Address::OtherClient(begin.to_owned(), written);
        }
        if let Some(path) = text.strip_prefix("sqlite:///")
            && !path.starts_with('/')
            && !(cfg!(windows) && has_drive(path))
        {
            return Address::TwoReadings(path.to_owned());
        }
        for scheme in ["sqlite:///", "sqlite://", "sqlite:"] {
            if text.starts_with(scheme) {
                if text.contains(['?', '#', '%']) {
                    return Address::Parameters;
                }
                let path = part(address, scheme.len(), length);
                return path.map_or(Address::Unclear, |path| Address::File(path.into()));
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

/// What an address of another client begins with, and how a store of that kind is written here:
/// JDBC has `jdbc:mysql://`, SQLAlchemy `mysql+pymysql://`.
fn other_client(text: &str) -> Option<(&str, &'static str)> {
    let is_jdbc = text.get(..5).is_some_and(|begin| begin.eq_ignore_ascii_case("jdbc:"));
    let end = if is_jdbc {
        5 + text[5..].find(':')?
    } else {
        text.find("://").filter(|&end| text[..end].contains('+'))?
    };
    let begin = &text[..end];
    let scheme = if is_jdbc { &begin[5..] } else { begin };
    // What is no scheme, such as keys and values, may have a password in it.
    if !scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-._".contains(&byte)) {
        return None;
    }
    let name = scheme.split('+').next()?;
    let written = match &*name.to_ascii_lowercase() {
        "mysql" | "mariadb" => "mysql://user:password@host/database",
        "postgres" | "postgresql" => "postgres://user:password@host/database",
        "sqlite" => "the path of the file alone",
        _ => return None,
    };
    Some((begin, written))
}

/// Whether the path begins with a drive of Windows, as `C:\ids.db` does.
fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// The bytes of `address` from `start` to `end`.
#[cfg(unix)]
#[allow(clippy::unnecessary_wraps)] // elsewhere there may be none
fn part(address: &OsStr, start: usize, end: usize) -> Option<&OsStr> {
    use std::os::unix::ffi::OsStrExt;

    Some(OsStr::from_bytes(&address.as_bytes()[start..end]))
}

/// The same, if the address is a text.
#[cfg(not(unix))]
fn part(address: &OsStr, start: usize, end: usize) -> Option<&OsStr> {
    address.to_str().map(|text| OsStr::new(&text[start..end]))
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
    let address = address.as_ref();
    let translated = translated(address).ok()?;
    match Address::parse(translated.as_deref().unwrap_or(address)) {
        Address::File(path) => Some(path),
        // Opened, it is refused.
        Address::Empty => Some(PathBuf::new()),
        Address::Scheme(_)
        | Address::TwoReadings(_)
        | Address::Parameters
        | Address::OtherClient(..)
        | Address::Unclear => None,
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

#[cfg(test)]
#[allow(clippy::panic)] // a test that cannot go on has failed
mod tests {
    use std::ffi::OsStr;
    use std::path::PathBuf;

    use super::Address;

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
            "jdbc",
            "./jdbc:mysql://db",
            "a+b.db",
        ] {
            assert_eq!(parse(file), Address::File(PathBuf::from(file)));
        }
        for nothing in ["", " ", "\t", "sqlite:", "sqlite://"] {
            assert_eq!(parse(nothing), Address::Empty, "{nothing:?}");
        }
    }

    #[test]
    fn addresses_of_other_clients_are_known() {
        let [mysql, postgres] =
            ["mysql", "postgres"].map(|scheme| format!("{scheme}://user:password@host/database"));
        let file = "the path of the file alone";
        for (address, begin, written) in [
            ("jdbc:mysql://db/ids?user=me&password=secret", "jdbc:mysql", &*mysql),
            ("JDBC:MySQL://db/ids", "JDBC:MySQL", &mysql),
            ("jdbc:mariadb://db/ids", "jdbc:mariadb", &mysql),
            ("jdbc:mysql:replication://a,b/ids", "jdbc:mysql", &mysql),
            ("jdbc:postgresql://me:secret@db/ids", "jdbc:postgresql", &postgres),
            ("jdbc:postgresql:ids", "jdbc:postgresql", &postgres),
            ("jdbc:sqlite:ids.db", "jdbc:sqlite", file),
            ("mysql+pymysql://me:secret@db/ids", "mysql+pymysql", &mysql),
            ("postgresql+psycopg://me:secret@db/ids", "postgresql+psycopg", &postgres),
            ("sqlite+aiosqlite:///ids.db", "sqlite+aiosqlite", file),
        ] {
            let Address::OtherClient(known, of_ours) = parse(address) else { panic!("{address}") };
            assert_eq!((&*known, of_ours), (begin, written));
        }
        for other in [
            "jdbc:oracle:thin:@db",
            "oracle+x://me:secret@db/ids",
            "password = 'secret:a+b/c:sqlite://d' dbname=ids",
            "x+secret:sqlite://db",
        ] {
            assert_eq!(parse(other), Address::Unclear, "{other}");
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
            ("sqlite:////var/lib/ids.db", "/var/lib/ids.db"),
            ("sqlite://ids.db", "ids.db"),
            ("sqlite:a://b", "a://b"),
        ] {
            assert_eq!(parse(address), Address::File(PathBuf::from(file)));
        }
    }

    /// To `SQLAlchemy` and Django it is a relative path, and to sqlx an absolute one.
    #[test]
    fn three_slashes_make_no_file() {
        for path in ["ids.db", "var/lib/ids.db"] {
            let expected = Address::TwoReadings(path.to_owned());
            assert_eq!(parse(&format!("sqlite:///{path}")), expected);
        }
    }

    #[test]
    fn three_slashes_before_a_drive_make_a_file_on_windows() {
        for path in ["C:/ids.db", "c:\\ids.db"] {
            let found = parse(&format!("sqlite:///{path}"));
            if cfg!(windows) {
                assert_eq!(found, Address::File(path.into()));
            } else {
                assert_eq!(found, Address::TwoReadings(path.to_owned()));
            }
        }
    }

    #[test]
    fn parameters_and_escapes_make_no_file() {
        assert_eq!(
            parse("sqlite:/mnt/ids.db?network_file_system=yes"),
            Address::File("/mnt/ids.db".into())
        );
        for address in [
            "sqlite:ids.db?network_file_system=no",
            "sqlite:ids.db?mode=rwc&network_file_system=yes",
            "sqlite:ids.db?mode=rwc?network_file_system=yes",
        ] {
            assert_eq!(parse(address), Address::Parameters);
        }
        for address in ["sqlite:ids.db?mode=rwc", "sqlite://my%20ids.db", "sqlite:ids.db#1"] {
            assert_eq!(parse(address), Address::Parameters);
        }
        for file in
            ["ids.db?mode=rwc", "./ids.db?network_file_system=yes", "./my%20ids.db", "/ids#1"]
        {
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
}
