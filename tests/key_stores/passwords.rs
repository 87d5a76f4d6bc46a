//! Passwords that change while a program runs.

use std::fs;
use std::time::Duration;

use uidring::registry::{Request, WorkerRegistry};
use uidring::{Layout, RegistryOptions, Store};

use super::key_servers::KeyServer;

fn request() -> Request {
    Request::new(Layout::DEFAULT, 1000, Layout::DEFAULT.max_tick())
}

/// A registry that is open goes on after `change` has made another password, in a file or by a new
/// address.
fn goes_on(server: &KeyServer, user: &str, change: impl FnOnce()) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    fs::write(&file, "first\n").unwrap();
    let url = server.url();
    let (scheme, place) = url.split_once("://").unwrap();
    let address = |password: &str| format!("{scheme}://{user}:{password}@{place}");
    let named = format!("{scheme}://{user}@{place}?passfile={}", file.display());
    let stores = [Store::open(named).unwrap(), Store::open(address("first")).unwrap()];
    let options = || RegistryOptions::new().leased(Duration::from_secs(60));
    let mut registries = stores.clone().map(|store| store.registry_with(options()).unwrap());
    let leases = registries.each_mut().map(|registry| registry.assign(&request()).unwrap());

    change();
    for (store, what) in stores.iter().zip([file.to_str().unwrap(), "by passfile="]) {
        let error = store.registry_with(options()).unwrap().assign(&request()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("see the user") && text.contains(what), "{text}");
        assert!(!text.contains("first"), "{text}");
    }
    fs::write(&file, "second").unwrap();
    let elsewhere = address("second").replace("/ids", "/others");
    let error = stores[1].renew(elsewhere).unwrap_err().to_string();
    assert!(error.contains("it is another store than "), "{error}");
    assert!(!error.contains("second"), "{error}");
    stores[1].renew(address("second")).unwrap();
    for (registry, lease) in registries.iter_mut().zip(&leases) {
        registry.reserve(lease, 6000).unwrap();
        registry.assign(&request()).unwrap();
    }
}

#[test]
#[ignore = "needs etcd's server"]
fn a_password_of_etcd_may_change() {
    let server = KeyServer::etcd(&[]);
    let KeyServer::Etcd(etcd) = &server else { unreachable!() };
    for arguments in [
        &["user", "add", "root:root"][..],
        &["user", "add", "me:first"],
        &["role", "add", "ids"],
        &["role", "grant-permission", "ids", "readwrite", "--prefix=true", "ids/"],
        &["user", "grant-role", "root", "root"],
        &["user", "grant-role", "me", "ids"],
        &["auth", "enable"],
    ] {
        etcd.ctl(0, arguments);
    }
    goes_on(&server, "me", || {
        // As an administrator who is asked twice.
        let token =
            etcd.ask(0, "/v3/auth/authenticate", "{\"name\":\"root\",\"password\":\"root\"}");
        let token = token.split("\"token\":\"").nth(1).unwrap().split('"').next().unwrap();
        let change = "{\"name\":\"me\",\"password\":\"second\"}";
        let said = etcd.ask_as(0, token, "/v3/auth/user/changepw", change);
        assert!(said.contains(" 200 "), "{said}");
    });
}

#[test]
#[ignore = "needs Redis' server"]
fn a_password_of_redis_may_change() {
    let server = KeyServer::redis("");
    let KeyServer::Redis(redis) = &server else { unreachable!() };
    redis.run(&["ACL", "SETUSER", "me", "on", ">first", "~*", "&*", "+@all"]);
    goes_on(&server, "me", || {
        redis.run(&["ACL", "SETUSER", "me", "resetpass", ">second"]);
    });
}

/// `ZooKeeper` takes each password: what a user with another one may not read is refused.
#[test]
#[ignore = "needs ZooKeeper"]
fn a_password_for_zookeeper_may_be_in_a_file() {
    let server = KeyServer::zookeeper("");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    fs::write(&file, "first\n").unwrap();
    let (scheme, place) =
        server.url().split_once("://").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let named = format!("{scheme}://me@{place}?passfile={}", file.display());
    let open = |address: &str| Store::open(address).unwrap().registry().unwrap();
    let mut by_file = open(&named);
    assert_eq!(by_file.assign(&request()).unwrap().worker, 1);
    let mut by_address = open(&format!("{scheme}://me:first@{place}"));
    assert_eq!(by_address.assign(&request()).unwrap().worker, 2);
    fs::write(&file, "second").unwrap();
    let error = by_file.assign(&request()).unwrap_err().to_string();
    assert!(!error.contains("second"), "{error}");
    fs::write(&file, "first").unwrap();
    assert_eq!(by_file.assign(&request()).unwrap().worker, 3);
}
