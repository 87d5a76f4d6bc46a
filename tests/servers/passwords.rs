//! Passwords that change while a program runs.

use std::fs;
use std::path::Path;
use std::time::Duration;

use uidring::registry::{Request, WorkerRegistry};
use uidring::segment::{SegmentSource, Tag};
use uidring::{Layout, RegistryOptions, Store};

use super::causes::with_causes;
use super::databases::{OwnServer, Server};

fn request() -> Request {
    Request::new(Layout::DEFAULT, 1000, Layout::DEFAULT.max_tick())
}

fn leased() -> RegistryOptions {
    RegistryOptions::new().leased(Duration::from_secs(60))
}

/// The address of the user `me`, with a password or none.
fn of_me(server: &OwnServer, password: &str, parameters: &str) -> String {
    let whole = server.url();
    let (scheme, rest) = whole.split_once("://").unwrap();
    let place = rest.split_once('@').unwrap().1;
    format!("{scheme}://me{password}@{place}{parameters}")
}

/// The password `a:b/@#?%c` is read from an address. A colon is no end of it, also as it is.
fn is_read(server: &OwnServer) {
    for password in [":a%3Ab%2F%40%23%3F%25c", ":a:b%2f%40%23%3f%25c"] {
        let store = Store::open(of_me(server, password, "")).unwrap();
        store.registry_with(leased()).unwrap().assign(&request()).unwrap();
    }
}

/// What is said of a call that the server refuses.
fn refusal(store: &Store) -> String {
    let mut registry = store.registry_with(leased()).unwrap();
    let error = registry.assign(&request()).unwrap_err();
    let text = with_causes(&error);
    assert!(!text.contains("first") && !text.contains("second"), "{text}");
    text
}

/// A registry and a source that are open go on after the password has changed, in a file or by a
/// new address.
fn goes_on(server: &OwnServer, change: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("the password");
    let name = file.to_str().unwrap().replace(' ', "%20");
    fs::write(&file, "first\n").unwrap();
    let by_file = Store::open(of_me(server, "", &format!("?passfile={name}"))).unwrap();
    let by_address = Store::open(of_me(server, ":first", "")).unwrap();
    assert!(!by_file.to_string().contains("password"), "{by_file}");

    let mut registries: Vec<_> = [&by_file, &by_address]
        .into_iter()
        .map(|store| store.registry_with(leased()).unwrap())
        .collect();
    let source = by_file.segments().unwrap();
    let leases: Vec<_> =
        registries.iter_mut().map(|registry| registry.assign(&request()).unwrap()).collect();
    source.create("orders", &Tag::new()).unwrap();

    server.run(change);
    for (store, what) in [(&by_file, file.to_str().unwrap()), (&by_address, "by passfile=")] {
        let text = refusal(store);
        assert!(text.contains("see the user") && text.contains(what), "{text}");
    }
    assert!(registries[0].reserve(&leases[0], 5000).is_err());
    fs::write(&file, "second").unwrap();
    let error = by_address.renew("sqlite:/tmp/other.db").unwrap_err().to_string();
    assert!(
        error.starts_with("cannot use the store /tmp/other.db: it is another store than "),
        "{error}"
    );
    let elsewhere = of_me(server, ":second", "").replace("127.0.0.1", "127.0.0.2");
    let error = by_address.renew(&elsewhere).unwrap_err().to_string();
    assert!(error.contains("it is another store than "), "{error}");
    assert!(!error.contains("second"), "{error}");
    refusal(&by_address);
    by_address.renew(of_me(server, ":second", "")).unwrap();
    for (registry, lease) in registries.iter_mut().zip(&leases) {
        registry.reserve(lease, 6000).unwrap();
        registry.assign(&request()).unwrap();
    }
    assert_eq!(source.load("orders", Some(10)).unwrap().first, 1);

    // A file that is being written is awaited, and told.
    fs::write(&file, "").unwrap();
    let error = by_file.registry_with(leased()).unwrap().assign(&request()).unwrap_err();
    assert!(error.is_transient(), "{error}");
    assert!(error.to_string().contains("the password is empty; write"), "{error}");
    // One that was never there is refused at once.
    fs::remove_file(&file).unwrap();
    let error = Store::open(of_me(server, "", &format!("?passfile={name}"))).unwrap_err();
    assert!(error.to_string().contains(file.to_str().unwrap()), "{error}");
    fs::write(&file, "second").unwrap();
    let error = Store::open(of_me(server, ":second", &format!("?passfile={name}"))).unwrap_err();
    assert!(error.to_string().contains("leave one of them out"), "{error}");
    assert!(Path::new(&file).exists());
}

#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn a_password_of_postgresql_may_change() {
    let server = OwnServer::start(Server::Postgres);
    server.require_password(
        "CREATE ROLE me LOGIN PASSWORD 'first'; GRANT CREATE ON SCHEMA public TO me",
        "me",
    );
    goes_on(&server, "ALTER ROLE me PASSWORD 'second'");
    server.run("ALTER ROLE me PASSWORD 'a:b/@#?%c'");
    is_read(&server);
    // As libpq has it.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(".pgpass");
    fs::write(&file, "db.example.com:*:*:me:first\n127.0.0.1:*:postgres:me:a\\:b/@#?%c\n").unwrap();
    let address = of_me(&server, "", &format!("?passfile={}", file.display()));
    Store::open(address).unwrap().registry().unwrap().assign(&request()).unwrap();
}

#[cfg(feature = "mysql")]
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn a_password_of_mysql_may_change() {
    let server = OwnServer::start(Server::MySql);
    server.run("CREATE USER me IDENTIFIED BY 'first'; GRANT ALL ON ids.* TO me");
    goes_on(&server, "ALTER USER me IDENTIFIED BY 'second'");
    server.run("ALTER USER me IDENTIFIED BY 'a:b/@#?%c'");
    is_read(&server);
}
