//! Each error of connecting to PostgreSQL, PgBouncer, MariaDB and MySQL, with a server that causes
//! it, and what it advises.

use crate::asking::{each, said};
use crate::databases::{OwnServer, Server};

#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn errors_of_postgresql_say_what_to_do() {
    use crate::asking::{named, pem};

    let (certificate, key) = (pem("127.0.0.1.pem"), pem("127.0.0.1-key.pem"));
    let server =
        OwnServer::start_with_clients_of(Server::Postgres, certificate, key, pem("authority.pem"));
    for statement in [
        "CREATE ROLE encrypted LOGIN SUPERUSER; CREATE ROLE plain LOGIN; CREATE ROLE shown LOGIN",
        "CREATE ROLE secretive LOGIN PASSWORD 'secret'; CREATE ROLE group_of_users",
        "CREATE ROLE one LOGIN CONNECTION LIMIT 0",
        "CREATE DATABASE closed ALLOW_CONNECTIONS false",
        "CREATE DATABASE exclusive",
        "REVOKE CONNECT ON DATABASE exclusive FROM public",
    ] {
        server.run(statement);
    }
    server.let_in_by(
        "hostssl all encrypted all trust\nhost all encrypted all reject\n\
         hostnossl all plain all trust\nhost all plain all reject\n\
         hostssl all shown all cert\nhost all shown all reject\n\
         host all secretive all scram-sha-256",
    );
    let ours = format!("?sslrootcert={}", named("authority.pem"));
    let at = |user: &str, parameters: &str| {
        server.url().replace("postgres@", &format!("{user}@")) + parameters
    };
    let in_database =
        |user: &str, name: &str| at(user, "").rsplit_once('/').unwrap().0.to_owned() + "/" + name;
    let in_vain = "it does not let this user in without TLS, and TLS failed (invalid peer \
                   certificate: UnknownIssuer): see the server's certificate: its authority is \
                   not known here; name that in the address by sslrootcert=FILE";
    let lines = "see the lines of its pg_hba.conf for this user, this database and this machine";
    let asked = each(&[
        (at("postgres", ""), ""),
        (at("encrypted", ""), in_vain),
        (at("encrypted", "?sslmode=prefer"), in_vain),
        (at("encrypted", &ours), ""),
        (at("encrypted", "?sslmode=disable"), "write sslmode=require in the address in place of"),
        (at("plain", ""), "give this user the right"),
        (at("plain", &ours), lines),
        (at("plain", &format!("{ours}&sslmode=prefer")), "for none (sslmode=disable)"),
        (at("shown", &ours), "for a certificate (sslcert=FILE and sslkey=FILE)"),
        (at("secretive:wrong", ""), "see the user and the password"),
        (at("secretive", ""), "the server asks for a password, and the address has none"),
        (at("absent", ""), "see the user: the role has to be there, and to have LOGIN"),
        (at("group_of_users", ""), "see the user: the role has to be there, and to have LOGIN"),
        (at("one", ""), "see who uses the server's connections"),
        (in_database("postgres", "nowhere"), "see the name of the database"),
        (in_database("postgres", "closed"), "run ALTER DATABASE with ALLOW_CONNECTIONS true"),
        (in_database("plain", "exclusive"), "give this user the right CONNECT on the database"),
        ("postgres://postgres@127.0.0.1:1/ids".to_owned(), "see that the server runs"),
        ("postgres://postgres@nowhere.invalid/ids".to_owned(), "see that the server runs"),
    ]);
    assert_eq!(asked, 19);
}

#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server, and pgbouncer"]
fn errors_of_pgbouncer_say_what_to_do() {
    use crate::asking::named;
    use crate::proxies::PgBouncer;

    let server = OwnServer::start(Server::Postgres);
    server.run("CREATE ROLE nobody LOGIN; CREATE ROLE secretive LOGIN PASSWORD 'secret'");
    server.let_in_by("host all nobody all reject");
    let start = |lines: &str| PgBouncer::start(server.port(), lines);
    let statement = start("pool_mode = statement");
    let transaction = start("pool_mode = transaction");
    let lenient = start("pool_mode = transaction\nignore_startup_parameters = options");
    let secretive = start("pool_mode = session\nauth_type = scram-sha-256");
    let tls = start("pool_mode = transaction\nclient_tls_sslmode = require");
    let full = start("pool_mode = transaction\nmax_client_conn = 1");
    let by_path =
        |pooler: &PgBouncer| pooler.url("postgres", "postgres") + "?options=-csearch_path=public";
    let ours = format!("?sslrootcert={}", named("authority.pem"));
    // Holds the only connection.
    let held = std::net::TcpStream::connect(
        full.url("", "").trim_start_matches("postgres://@").trim_end_matches('/'),
    );
    let asked = each(&[
        (transaction.url("postgres", "postgres"), ""),
        (statement.url("postgres", "postgres"), "as PgBouncer does with pool_mode = transaction"),
        (by_path(&lenient), ""),
        (by_path(&transaction), "ignore_startup_parameters = options"),
        (transaction.url("postgres", "nowhere"), "see the name of the database"),
        (transaction.url("postgres", "missing"), "see the name of the database"),
        (transaction.url("postgres", "gone"), "its pool had no connection to the server behind it"),
        (transaction.url("absent", "postgres"), "see the user and the password"),
        (secretive.url("secretive:wrong", "postgres"), "see the user and the password"),
        (secretive.url("absent:secret", "postgres"), "see the user and the password"),
        (tls.url("postgres", "postgres") + &ours, ""),
        (
            tls.url("postgres", "postgres"),
            "and TLS failed (invalid peer certificate: UnknownIssuer)",
        ),
        (
            tls.url("postgres", "postgres") + "?sslmode=disable",
            "it takes connections with TLS alone; write sslmode=require in the address",
        ),
        (transaction.url("postgres", "postgres") + "?sslmode=require", "it speaks no TLS"),
        (full.url("postgres", "postgres"), "see who uses the server's connections"),
    ]);
    drop(held);
    assert_eq!(asked, 15);
    // A newer one tells what the server has said as the server does.
    let text = said(&transaction.url("nobody", "postgres"));
    let ours = "the server behind this pooler does not let it in";
    assert!(text.contains(ours) || text.contains("see the lines of its pg_hba.conf"), "{text}");
}

/// What MariaDB and MySQL say alike, and each in its own way.
#[cfg(feature = "mysql")]
const USERS: &str = "CREATE USER encrypted REQUIRE SSL; CREATE USER shown REQUIRE X509; \
     CREATE USER secretive IDENTIFIED BY 'secret'; CREATE USER locked ACCOUNT LOCK; \
     CREATE USER expired IDENTIFIED BY 'secret' PASSWORD EXPIRE; CREATE USER nobody; \
     CREATE USER elsewhere@'192.0.2.1'; \
     GRANT ALL ON ids.* TO encrypted, shown, secretive, locked, expired";

#[cfg(feature = "mysql")]
fn errors_of(server: &OwnServer) -> usize {
    server.run(USERS);
    let at = |user: &str, parameters: &str| {
        server.url().replace("root@", &format!("{user}@")) + parameters
    };
    let wants_tls = "write require_ssl=true in the address";
    each(&[
        (at("root", ""), ""),
        (at("encrypted", ""), wants_tls),
        (at("encrypted", "?require_ssl=true&verify_ca=false"), ""),
        (at("encrypted", "?require_ssl=true"), "name that in the address by ssl-ca=FILE"),
        (at("shown", "?require_ssl=true&verify_ca=false"), "by ssl-cert=FILE and ssl-key=FILE"),
        (at("secretive:wrong", ""), "see the user and the password"),
        (at("secretive", ""), "see the user and the password"),
        (at("elsewhere", ""), "see the user and the password"),
        (at("locked", ""), "the user is locked there"),
        (at("nobody", ""), "give this user the right"),
        (at("root", "").replace("/ids", "/nowhere"), "see the name of the database"),
    ])
}

#[cfg(feature = "mysql")]
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn errors_of_mariadb_say_what_to_do() {
    use crate::asking::pem;

    let (certificate, key) = (pem("127.0.0.1.pem"), pem("127.0.0.1-key.pem"));
    let server = OwnServer::start_with_tls(Server::MySql, certificate, key);
    assert_eq!(errors_of(&server), 11);
    server.run("SET GLOBAL disconnect_on_expired_password = ON");
    let at = |user: &str| server.url().replace("root@", &format!("{user}@"));
    let other = "if both are right, the user logs in by a plugin that is not known here";
    server.run(
        "INSTALL SONAME 'auth_ed25519'; \
         CREATE USER ed25519 IDENTIFIED VIA ed25519 USING PASSWORD('secret'); \
         GRANT ALL ON ids.* TO ed25519",
    );
    // The driver panics there.
    let asked = each(&[
        (at("expired:secret"), "the user's password has expired"),
        (at("ed25519:secret"), other),
        ("mysql://root@127.0.0.1:1/ids".to_owned(), "see that the server runs"),
        ("mysql://root@nowhere.invalid/ids".to_owned(), "see that the server runs"),
    ]);
    assert_eq!(asked, 4);
    server.run("SET GLOBAL require_secure_transport = ON");
    assert!(said(&at("secretive:secret")).contains("write require_ssl=true in the address"));
}

/// MySQL asks users whom it does not know for one of its plugins, by their names.
#[cfg(feature = "mysql")]
#[test]
#[ignore = "needs MySQL 9: verify/stores/install mysql-9"]
fn errors_of_mysql_itself_say_what_to_do() {
    let server = OwnServer::start_mysql_9(&[]);
    assert_eq!(errors_of(&server), 11);
    let at = |user: &str, parameters: &str| {
        server.url().replace("root@", &format!("{user}@")) + parameters
    };
    let in_tls = "?require_ssl=true&verify_ca=false";
    let unknown: Vec<_> = (1..=30)
        .flat_map(|number| {
            let user = format!("unknown_{number}");
            let with_password = format!("{user}:secret");
            [at(&user, ""), at(&with_password, ""), at(&with_password, in_tls)]
        })
        .map(|address| (address, "see the user and the password"))
        .collect();
    assert_eq!(each(&unknown), 90);
    let sha256 = |(address, _): &&(String, &str)| said(address).contains("sha256_password");
    assert_ne!(unknown.iter().filter(sha256).count(), 0, "some names are asked for that");
    server.run(
        "CREATE USER sha256 IDENTIFIED WITH sha256_password BY 'secret'; \
         GRANT ALL ON ids.* TO sha256",
    );
    // Its own authority has signed its certificate, which is for no name.
    let own = format!("?ssl-ca={}", server.data_file("ca.pem").display());
    let asked = each(&[
        (at("expired:secret", ""), "the user's password has expired"),
        (at("sha256:secret", ""), "if both are right, the user logs in by a plugin"),
        (at("encrypted", &own), "verify_identity=false, which takes any"),
        (at("encrypted", &format!("{own}&verify_identity=false")), ""),
        (at("encrypted", &format!("{own}&ssl-mode=VERIFY_CA")), ""),
    ]);
    assert_eq!(asked, 5);
    server.run("SET GLOBAL require_secure_transport = ON");
    each(&[
        (at("secretive:secret", ""), "it takes connections with TLS alone; write require_ssl=true"),
        (at("secretive:secret", in_tls), ""),
    ]);
}
