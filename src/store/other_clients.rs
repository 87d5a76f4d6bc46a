//! Addresses of other clients that are read as ours: those of JDBC, and `mariadb://`.
//!
//! Each parameter is either ours in another spelling, or one that is about the other client's own
//! statements and connections and so means nothing here. Any other one is refused by its name: it
//! may be about safety, such as a certificate in a keystore.

use std::ffi::{OsStr, OsString};

use super::error::StoreError;
use crate::backend::address::redaction::is_word;

/// The address of `address` as it is written here. `None` if it is not one of these clients.
pub(super) fn translated(address: &OsStr) -> Result<Option<OsString>, StoreError> {
    let Some(text) = address.to_str() else { return Ok(None) };
    let Some((client, begin, rest)) = client_of(text) else { return Ok(None) };
    let unread = || StoreError::OtherClient { begin: begin.to_owned(), written: client.written() };
    let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let place = if let Client::Sqlite = client {
        file(place).ok_or_else(unread)?.to_owned()
    } else {
        let server = client.server(place).ok_or_else(unread)?;
        format!("{}://{server}", client.scheme())
    };
    let refused = |parameter: &str| StoreError::OtherParameter {
        begin: begin.to_owned(),
        parameter: parameter.to_owned(),
        written: client.written(),
    };
    // In `user:password@host` with a `?` in the password, what is before it would be a host, and
    // what follows a user or the names of parameters. All of these are shown.
    if parameters.contains('@') {
        return Err(refused("one of them"));
    }
    let mut read = Read::default();
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        client.parameter(name, &client.decoded(value), &mut read).ok_or_else(|| {
            // The value may be a secret, and so may the name be that follows a `&` in a password.
            let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            let is_shown = is_name && read.password.is_none();
            refused(if is_shown { name } else { "one of them" })
        })?;
    }
    let ours = read.parameters.join("&");
    let ours = if ours.is_empty() { place } else { format!("{place}?{ours}") };
    let login = (read.user.as_deref(), read.password.as_deref());
    if login == (None, None) {
        return Ok(Some(ours.into()));
    }
    with_login(&ours, login.0, login.1).map(|address| Some(address.into()))
}

/// The address of a server with a user and a password that are given apart from it, or the address
/// as it is where neither is. Any characters may be in both of them. An address of JDBC is read as
/// one of this library's.
///
/// ```
/// use uidring::store::with_login;
///
/// let address = with_login("postgres://db.example.com/ids", Some("ids"), Some("p@ss/word"))?;
/// assert_eq!(address, "postgres://ids:p%40ss%2Fword@db.example.com/ids");
/// # Ok::<(), uidring::store::StoreError>(())
/// ```
///
/// # Errors
///
/// [`StoreError`] where the address is of a file, has another user or a password itself, or is one
/// of JDBC that cannot be read.
pub fn with_login(
    address: &str,
    user: Option<&str>,
    password: Option<&str>,
) -> Result<String, StoreError> {
    if user.is_none() && password.is_none() {
        return Ok(address.to_owned());
    }
    let translated = translated(OsStr::new(address))?.and_then(|ours| ours.into_string().ok());
    let address = translated.as_deref().unwrap_or(address);
    let refused = |problem| Err(StoreError::Login { problem });
    let is_server = |(scheme, _): &(&str, &str)| *scheme != "sqlite" && is_word(scheme);
    let Some((scheme, rest)) = address.split_once("://").filter(is_server) else {
        return refused("a file has neither a user nor a password: leave them out");
    };
    let place = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let (known, server) = place.rsplit_once('@').map_or((None, place), |(u, s)| (Some(u), s));
    let rest = &rest[place.len() - server.len()..];
    let (known_user, known_password) = match known {
        Some(known) => known.split_once(':').map_or((known, None), |(u, p)| (u, Some(p))),
        None => ("", None),
    };
    let user = user.map(escaped);
    let user = match user {
        Some(user) if !known_user.is_empty() && user != known_user => {
            return refused("the address names another user: leave one of them out");
        }
        Some(user) => user,
        None => known_user.to_owned(),
    };
    let password = match (password, known_password) {
        (Some(_), Some(_)) => {
            return refused("the address has a password itself: leave one of them out");
        }
        (Some(password), None) => format!(":{}", escaped(password)),
        (None, Some(known)) => format!(":{known}"),
        (None, None) => String::new(),
    };
    Ok(format!("{scheme}://{user}{password}@{rest}"))
}

/// Each byte that may mean something in an address is written as `%40` and the like. The crate for
/// that is not among those that the library needs without a server.
fn escaped(text: &str) -> String {
    let escaped = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    };
    text.bytes().map(escaped).collect()
}

/// What is read of the parameters.
#[derive(Default)]
struct Read {
    user: Option<String>,
    password: Option<String>,
    /// Ours.
    parameters: Vec<String>,
}

impl Read {
    fn add(&mut self, name: &str, value: &str) {
        self.parameters.push(format!("{name}={}", escaped(value)));
    }
}

#[derive(Clone, Copy)]
enum Client {
    Postgres,
    MySql,
    MariaDb,
    Sqlite,
}

/// Whose address it is, what it begins with, and what follows.
fn client_of(text: &str) -> Option<(Client, &str, &str)> {
    let is_jdbc = text.get(..5).is_some_and(|begin| begin.eq_ignore_ascii_case("jdbc:"));
    let begin = if is_jdbc { 5 } else { 0 };
    let end = begin + text[begin..].find(':')?;
    let client = match (&*text[begin..end].to_ascii_lowercase(), is_jdbc) {
        ("postgresql", true) => Client::Postgres,
        ("mysql", true) => Client::MySql,
        ("mariadb", true) => Client::MariaDb,
        ("sqlite", true) => Client::Sqlite,
        ("mariadb", false) if text[end..].starts_with("://") => Client::MariaDb,
        _ => return None,
    };
    Some((client, &text[..end], &text[end + 1..]))
}

/// The file of an address of SQLite's driver, if it is one.
fn file(place: &str) -> Option<&str> {
    let path = place.strip_prefix("file:").unwrap_or(place);
    (!path.is_empty() && !path.contains(":memory:") && !path.starts_with(':')).then_some(path)
}

impl Client {
    fn scheme(self) -> &'static str {
        match self {
            Client::Postgres => "postgres",
            Client::MySql | Client::MariaDb => "mysql",
            Client::Sqlite => "sqlite",
        }
    }

    fn written(self) -> &'static str {
        match self {
            Client::Postgres => "postgres://user:password@host/database",
            Client::MySql | Client::MariaDb => "mysql://user:password@host/database",
            Client::Sqlite => "the path of the file alone",
        }
    }

    /// The host and the database: what follows `//`.
    fn server(self, place: &str) -> Option<String> {
        let Some(server) = place.strip_prefix("//") else {
            // The driver goes to this machine then.
            let database = place.strip_prefix('/').unwrap_or(place);
            let is_database = !database.is_empty() && !database.contains([':', '/', ',', '(']);
            return (matches!(self, Client::Postgres) && is_database)
                .then(|| format!("localhost/{database}"));
        };
        // Others are `address=(host=…)` and `[(host=…)]`, and a driver's own list of servers.
        let is_list = !matches!(self, Client::Postgres) && server.contains(',');
        if server.contains(['(', ')']) || is_list {
            return None;
        }
        let host = if server.starts_with('/') { "localhost" } else { "" };
        Some(format!("{host}{server}"))
    }

    /// MariaDB's driver takes values as they are, and the others as forms of web pages write them.
    fn decoded(self, value: &str) -> String {
        match self {
            Client::MariaDb | Client::Sqlite => value.to_owned(),
            Client::Postgres | Client::MySql => {
                let spaced = value.replace('+', " ");
                percent_decoded(&spaced)
            }
        }
    }

    /// Reads a parameter. `None` if it is not known.
    fn parameter(self, name: &str, value: &str, read: &mut Read) -> Option<()> {
        let lower = name.to_ascii_lowercase();
        let one_of =
            |names: &str| names.split_whitespace().any(|known| known.eq_ignore_ascii_case(name));
        match (self, &*lower) {
            (Client::Sqlite, _) => return one_of(SQLITE).then_some(()),
            (_, "user") if read.user.is_none() => read.user = Some(value.to_owned()),
            (_, "password") if read.password.is_none() => read.password = Some(value.to_owned()),
            (_, "only_for_tests") => read.add(&lower, value),
            (Client::Postgres, "sslmode" | "sslrootcert" | "sslcert" | "sslkey") => {
                read.add(&lower, value);
            }
            (Client::Postgres, "ssl") => match value {
                "false" => {}
                "" | "true" => read.add("sslmode", "verify-full"),
                _ => return None,
            },
            (Client::Postgres, "applicationname") => read.add("application_name", value),
            (Client::Postgres, "currentschema") => {
                let words = value
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"_,\"$-".contains(&byte));
                if !words {
                    return None;
                }
                read.add("options", &format!("-c search_path={value}"));
            }
            (Client::Postgres, "targetservertype") => match value {
                "any" => {}
                "primary" | "master" => read.add("target_session_attrs", "read-write"),
                _ => return None,
            },
            (Client::Postgres, _) => return one_of(POSTGRES).then_some(()),
            (Client::MySql | Client::MariaDb, "sslmode") => {
                let mode = match &*value.to_ascii_lowercase() {
                    "disable" => "DISABLED".to_owned(),
                    "verify-ca" => "VERIFY_CA".to_owned(),
                    "verify-full" => "VERIFY_IDENTITY".to_owned(),
                    other => other.to_ascii_uppercase(),
                };
                read.add("ssl-mode", &mode);
            }
            (Client::MySql | Client::MariaDb, "usessl" | "requiressl") => match value {
                "true" => read.add("ssl-mode", "REQUIRED"),
                "false" => {}
                _ => return None,
            },
            (Client::MySql | Client::MariaDb, "serversslcert") => read.add("ssl-ca", value),
            (Client::MySql | Client::MariaDb, _) => return one_of(MYSQL).then_some(()),
        }
        Some(())
    }
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let byte = digits
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        decoded.push(byte.unwrap_or(bytes[at]));
        at += if byte.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// What pgJDBC does with its own connections, statements and values.
const POSTGRES: &str = "
    adaptiveFetch adaptiveFetchMaximum adaptiveFetchMinimum allowEncodingChanges
    assumeMinServerVersion autosave binaryTransfer binaryTransferDisable binaryTransferEnable
    cancelSignalTimeout cleanupSavepoints connectTimeout databaseMetadataCacheFields
    databaseMetadataCacheFieldsMiB defaultRowFetchSize disableColumnSanitiser escapeSyntaxCallMode
    hostRecheckSeconds loadBalanceHosts loggerLevel loginTimeout logUnclosedConnections
    maxResultBuffer preferQueryMode preparedStatementCacheQueries preparedStatementCacheSizeMiB
    prepareThreshold quoteReturningIdentifiers receiveBufferSize reWriteBatchedInserts
    sendBufferSize socketTimeout stringtype tcpKeepAlive tcpNoDelay unknownLength
";

/// What Connector/J and MariaDB's driver do with their own.
const MYSQL: &str = "
    allowMultiQueries allowPublicKeyRetrieval autoReconnect autoReconnectForPools
    cacheCallableStmts cachePrepStmts cacheResultSetMetadata cacheServerConfiguration
    characterEncoding characterSetResults connectionCollation connectionTimeZone connectTimeout
    createDatabaseIfNotExist defaultFetchSize dontTrackOpenResources elideSetAutoCommits
    enableQueryTimeouts failOverReadOnly forceConnectionTimeZoneToSession jdbcCompliantTruncation
    maintainTimeStats maxReconnects nullCatalogMeansCurrent nullDatabaseMeansCurrent pool
    preserveinstants prepStmtCacheSize prepStmtCacheSqlLimit rewriteBatchedStatements
    serverTimezone sessionVariables socketTimeout tcpKeepAlive tcpNoDelay timezone tinyInt1isBit
    transformedBitIsBoolean useAffectedRows useBulkStmts useCompression useCursorFetch
    useInformationSchema useJDBCCompliantTimezoneShift useLegacyDatetimeCode useLocalSessionState
    useLocalTransactionState useOldAliasMetadataBehavior useServerPrepStmts useTimezone useUnicode
    useUsageAdvisor yearIsDateType zeroDateTimeBehavior
";

/// What SQLite's driver sets of its own connections.
const SQLITE: &str = "
    busy_timeout cache_size date_class date_precision date_string_format foreign_keys journal_mode
    synchronous temp_store transaction_mode
";

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::*;

    fn read(address: &str) -> Option<String> {
        translated(OsStr::new(address)).unwrap().map(|ours| ours.into_string().unwrap())
    }

    fn refused(address: &str) -> String {
        translated(OsStr::new(address)).unwrap_err().to_string()
    }

    #[test]
    fn addresses_of_jdbc_are_read() {
        for (address, ours) in [
            ("jdbc:postgresql://db:5433/ids", "postgres://db:5433/ids"),
            ("jdbc:postgresql:ids", "postgres://localhost/ids"),
            ("jdbc:postgresql:///ids", "postgres://localhost/ids"),
            ("JDBC:PostgreSQL://a,b:1/ids?user=me", "postgres://me@a,b:1/ids"),
            (
                "jdbc:postgresql://db/ids?user=me&password=p%40s+s&ssl=true&ApplicationName=a b",
                "postgres://me:p%40s%20s@db/ids?sslmode=verify-full&application_name=a%20b",
            ),
            (
                "jdbc:postgresql://db/ids?currentSchema=a,b&reWriteBatchedInserts=true",
                "postgres://db/ids?options=-c%20search_path%3Da%2Cb",
            ),
            (
                "jdbc:postgresql://db/ids?targetServerType=primary&sslmode=require",
                "postgres://db/ids?target_session_attrs=read-write&sslmode=require",
            ),
            ("jdbc:mysql://db/ids?useSSL=false&serverTimezone=UTC", "mysql://db/ids"),
            ("jdbc:mysql://me:secret@db/ids", "mysql://me:secret@db/ids"),
            (
                "jdbc:mysql://db:3307/ids?user=me&password=a%2Bb&sslMode=VERIFY_CA",
                "mysql://me:a%2Bb@db:3307/ids?ssl-mode=VERIFY_CA",
            ),
            // This driver takes values as they are.
            ("jdbc:mariadb://db/ids?user=me&password=a%+b", "mysql://me:a%25%2Bb@db/ids"),
            (
                "jdbc:mariadb://db/ids?sslMode=verify-full&serverSslCert=/a/ca.pem",
                "mysql://db/ids?ssl-mode=VERIFY_IDENTITY&ssl-ca=%2Fa%2Fca.pem",
            ),
            ("mariadb://me:secret@db/ids", "mysql://me:secret@db/ids"),
            ("jdbc:sqlite:/srv/ids.db?busy_timeout=5000", "/srv/ids.db"),
            ("jdbc:sqlite:file:ids.db", "ids.db"),
        ] {
            assert_eq!(read(address).as_deref(), Some(ours), "{address}");
        }
        for other in ["postgres://db/ids", "mysql://db", "ids.db", "jdbc:oracle:thin:@db", "a:b"] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn a_parameter_that_is_not_known_is_refused_by_its_name_and_without_its_value() {
        for (address, parameter) in [
            ("jdbc:postgresql://db/ids?sslfactory=secret", "sslfactory"),
            ("jdbc:postgresql://db/ids?readOnly=secret", "readOnly"),
            ("jdbc:postgresql://db/ids?currentSchema=secret;x", "currentSchema"),
            ("jdbc:postgresql://db/ids?targetServerType=secret", "targetServerType"),
            ("jdbc:postgresql://db/ids?user=a&user=secret", "user"),
            ("jdbc:mysql://db/ids?trustCertificateKeyStoreUrl=secret", "trustCertificateKeyStore"),
            ("jdbc:mysql://db/ids?useSSL=secret", "useSSL"),
            ("jdbc:mariadb://db/ids?keyStore=secret", "keyStore"),
            ("mariadb://db/ids?keyStore=secret", "keyStore"),
            ("jdbc:sqlite:ids.db?key=secret", "key"),
            ("jdbc:mysql://me:a?secret&x@db/ids", "one of them"),
            ("jdbc:mysql://me:a?secret@db/ids", "one of them"),
        ] {
            let said = refused(address);
            assert!(said.contains(&format!(" and {parameter}")), "{said}");
            assert!(!said.contains("secret"), "{said}");
        }
        for unread in [
            "jdbc:mysql:replication://a,b/ids",
            "jdbc:mysql://a,b/ids",
            "jdbc:mysql://address=(host=a)/ids",
            "jdbc:postgresql:",
            "jdbc:sqlite::memory:",
            "jdbc:sqlite:",
        ] {
            assert!(refused(unread).contains("is one of another client"), "{unread}");
        }
    }

    #[test]
    fn a_login_apart_from_the_address_may_have_any_characters() {
        let with = |address: &str, user, password| {
            with_login(address, user, password).map_err(|error| error.to_string())
        };
        for (address, user, password, ours) in [
            ("postgres://db/ids", Some("me"), None, "postgres://me@db/ids"),
            (
                "etcd://a,b/ids",
                Some("me"),
                Some("p@/:%\u{e9}"),
                "etcd://me:p%40%2F%3A%25%C3%A9@a,b/ids",
            ),
            ("mysql://me@db", None, Some("x y"), "mysql://me:x%20y@db"),
            ("redis://:secret@db", Some("me"), None, "redis://me:secret@db"),
            ("mysql://me@db/ids?a=b@c", Some("me"), Some("p"), "mysql://me:p@db/ids?a=b@c"),
            (
                "jdbc:mysql://db/ids?useSSL=true",
                Some("me"),
                Some("p"),
                "mysql://me:p@db/ids?ssl-mode=REQUIRED",
            ),
            ("anything", None, None, "anything"),
        ] {
            assert_eq!(with(address, user, password).as_deref(), Ok(ours));
        }
        for (address, said) in [
            ("ids.db", "a file has neither"),
            ("sqlite://ids.db", "a file has neither"),
            ("./mysql://x", "a file has neither"),
            ("mysql://you@db/ids", "names another user"),
            ("mysql://me:secret@db/ids", "has a password itself"),
        ] {
            let error = with(address, Some("me"), Some("p")).unwrap_err();
            assert!(error.contains(said) && !error.contains("secret"), "{error}");
        }
    }
}
