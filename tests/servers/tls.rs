//! TLS as other clients have it: certificates of the client, for other names, and signed by
//! themselves; and TLS at once.

use crate::asking::{each, named, pem};
use crate::databases::{OwnServer, Server, has_mysql_itself};

const UNKNOWN: &str = "its authority is not known here; name that in the address by ";
const OTHER_NAME: &str = "it is for another name than the one in the address; write a name there";
const EXPIRED: &str = "it has expired or is not valid yet";

/// A server with the certificate `name`, which knows those of its clients.
fn server(kind: Server, name: &str) -> OwnServer {
    let (certificate, key) = (pem(&format!("{name}.pem")), pem(&format!("{name}-key.pem")));
    OwnServer::start_with_clients_of(kind, certificate, key, pem("authority.pem"))
}

/// What Google's servers have is for no host, and `psql` takes it with `verify-ca`.
#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn postgresql_may_have_any_name_and_ask_for_a_certificate() {
    let server = server(Server::Postgres, "no-name");
    server.run("CREATE ROLE me LOGIN SUPERUSER");
    server.let_in_by("hostssl all me all cert\nhost all me all reject");
    let ours = format!("sslrootcert={}", named("authority.pem"));
    let me = format!("sslcert={}&sslkey={}", named("client.pem"), named("client-key.pem"));
    let other = format!("sslcert={}&sslkey={}", named("self-2100.pem"), named("self-2100-key.pem"));
    let half = format!("sslcert={}", named("client.pem"));
    let mixed = format!("sslcert={}&sslkey={}", named("client.pem"), named("self-2100-key.pem"));
    let at = |parameters: &str| format!("{}?{parameters}", server.url());
    let as_me = |parameters: &str| at(parameters).replace("postgres@", "me@");
    let asked = each(&[
        (at(&format!("{ours}&sslmode=verify-ca")), ""),
        (at(&format!("sslmode=verify-ca&{ours}")), ""),
        (at(&format!("{ours}&sslmode=verify-full")), OTHER_NAME),
        (at(&format!("{ours}&sslmode=require")), "sslmode=verify-ca, which takes any"),
        (at(&ours), OTHER_NAME),
        (at("sslmode=verify-ca"), UNKNOWN),
        (as_me(&format!("{ours}&sslmode=verify-ca&{me}")), ""),
        (as_me(&format!("{ours}&sslmode=verify-ca")), "(sslcert=FILE and sslkey=FILE)"),
        (as_me(&format!("{ours}&sslmode=verify-ca&{other}")), "name one that it trusts"),
        // With a certificate, TLS is meant.
        (as_me(&me), UNKNOWN),
        (as_me(&half), "one of sslcert and sslkey without the other"),
        (as_me(&mixed), "KeyMismatch"),
        (as_me("sslcert=/no/such&sslkey=/no/such"), "/no/such: No such file"),
        (at("sslmode=allow"), "sslmode is disable, prefer, require, verify-ca or verify-full here"),
        (at("sslrootcert=system"), "name the file of the system's authorities"),
        (at("sslcrl=x"), "unknown option `sslcrl`"),
    ]);
    assert_eq!(asked, 16);
}

/// As `openssl req -x509` makes it, a certificate calls itself an authority.
#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn a_certificate_of_postgresql_may_have_signed_itself() {
    for (name, is_valid) in [("self-2100", true), ("self-2021", false)] {
        let server = server(Server::Postgres, name);
        let this = format!("sslrootcert={}", named(&format!("{name}.pem")));
        let other = format!("sslrootcert={}", named("authority.pem"));
        let local = server.url().replace("127.0.0.1", "localhost");
        let unless_expired = |expected| if is_valid { expected } else { EXPIRED };
        each(&[
            (format!("{}?{this}", server.url()), unless_expired("")),
            (format!("{}?{this}&sslmode=verify-full", server.url()), unless_expired("")),
            (format!("{local}?{this}"), unless_expired(OTHER_NAME)),
            (format!("{local}?{this}&sslmode=verify-ca"), unless_expired("")),
            (
                format!("{}?{other}", server.url()),
                unless_expired("name it in the address by sslrootcert=FILE, if you trust it"),
            ),
        ]);
    }
}

/// A certificate that is renewed while a program runs needs no restart of it.
#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn a_renewed_certificate_is_read_again_on_postgres() {
    use std::time::Duration;

    let server = server(Server::Postgres, "127.0.0.1");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authority.pem");
    std::fs::write(&file, pem("self-2100.pem")).unwrap();
    let store = uidring::Store::open(format!("{}?sslrootcert={}", server.url(), file.display()));
    let registry = store.unwrap().registry().unwrap();
    let start = || {
        let builder = uidring::UidGenerator::builder().registry(registry.clone());
        builder.start_deadline(Duration::ZERO).build()
    };
    start().unwrap_err();
    std::fs::write(&file, pem("authority.pem")).unwrap();
    assert_eq!(start().unwrap().worker_id(), 1);
}

/// As PostgreSQL 17 does it, and a proxy in front of an older one.
#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server, and haproxy"]
fn tls_may_begin_at_once_on_postgres() {
    let server = OwnServer::start(Server::Postgres);
    let proxy = crate::proxies::HaProxy::start(server.port());
    let ours = format!("sslrootcert={}", named("authority.pem"));
    let at = |address: &str, parameters: &str| format!("{address}?{parameters}");
    let (proxy, plain) = (proxy.url(), server.url());
    each(&[
        (at(&proxy, &format!("{ours}&sslnegotiation=direct&sslmode=require")), ""),
        (at(&proxy, &format!("{ours}&sslnegotiation=direct")), ""),
        (at(&proxy, "sslnegotiation=direct"), UNKNOWN),
        (at(&proxy, &format!("{ours}&sslnegotiation=direct&sslmode=prefer")), "is for TLS alone"),
        (at(&plain, "sslnegotiation=direct"), "leave sslnegotiation=direct out for an older one"),
        (at(&plain, "sslmode=require"), "it speaks no TLS; switch ssl on there"),
        (at(&plain, &ours), "it speaks no TLS; switch ssl on there"),
        (at(&plain, "sslmode=require"), "write sslmode=disable in the address"),
    ]);
}

/// The servers' own clients write `ssl-mode`, and the driver `verify_identity`.
#[cfg(feature = "mysql")]
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn mysql_may_have_any_name_and_ask_for_a_certificate() {
    let server = server(Server::MySql, "no-name");
    server.run("CREATE USER me REQUIRE X509; GRANT ALL ON ids.* TO me");
    let ours = format!("ssl-ca={}", named("authority.pem"));
    let me = format!("ssl-cert={}&ssl-key={}", named("client.pem"), named("client-key.pem"));
    let other =
        format!("ssl-cert={}&ssl-key={}", named("self-2100.pem"), named("self-2100-key.pem"));
    let at = |parameters: &str| format!("{}?{parameters}", server.url());
    let as_me = |parameters: &str| at(parameters).replace("root@", "me@");
    let asked = each(&[
        (at(&format!("{ours}&verify_identity=false")), ""),
        (at(&format!("require_ssl=true&verify_identity=false&{ours}")), ""),
        (at(&format!("{ours}&ssl-mode=VERIFY_CA")), ""),
        (at(&format!("ssl_ca={}&sslmode=verify_ca", named("authority.pem"))), ""),
        (at("verify_identity=false"), UNKNOWN),
        (at("ssl-mode=VERIFY_CA"), UNKNOWN),
        (at("ssl-mode=REQUIRED"), UNKNOWN),
        (at("ssl-mode=DISABLED"), ""),
        (at(&ours), OTHER_NAME),
        (at(&format!("{ours}&ssl-mode=VERIFY_IDENTITY")), "verify_identity=false, which takes any"),
        (at("require_ssl=true&verify_ca=false"), ""),
        (at("ssl-mode=PREFERRED"), "write REQUIRED, VERIFY_CA, VERIFY_IDENTITY or DISABLED"),
        (at("ssl-mode=x"), "ssl-mode is DISABLED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY here"),
        (as_me(&format!("{ours}&verify_identity=false&{me}")), ""),
        (as_me(&format!("{ours}&verify_identity=false")), "by ssl-cert=FILE and ssl-key=FILE"),
        (as_me(&format!("{ours}&verify_identity=false&{other}")), "name one that it trusts"),
        (as_me(""), "write require_ssl=true in the address"),
        (as_me(&me), UNKNOWN),
        (as_me("ssl-cert=x"), "one of ssl-cert and ssl-key without the other"),
        (as_me("ssl-cert=/no/such&ssl-key=/no/such"), "/no/such: No such file"),
    ]);
    assert_eq!(asked, 20);
}

/// The driver asks for a chain of certificates, which cannot end with an authority.
#[cfg(feature = "mysql")]
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn a_certificate_of_mysql_that_calls_itself_an_authority_is_refused_in_words() {
    let server = server(Server::MySql, "self-2100");
    let this = format!("{}?ssl-ca={}", server.url(), named("self-2100.pem"));
    each(&[(this, "give the server one with CA:FALSE among its basic constraints")]);
    let server = server_without_tls();
    each(&[(
        format!("{}?require_ssl=true", server.url()),
        "it speaks no TLS; switch TLS on there",
    )]);
}

#[cfg(feature = "mysql")]
fn server_without_tls() -> OwnServer {
    let option = if has_mysql_itself() { "--tls-version=" } else { "--skip-ssl" };
    OwnServer::start_with(Server::MySql, &[option])
}
