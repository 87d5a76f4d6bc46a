//! Servers that speak a database's language and are another, and settings of MySQL itself.
//!
//! The servers are PostgreSQL and MariaDB with the words of others: what they say of themselves.

use crate::asking::{each, said};
use crate::databases::{OwnServer, Server};

#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn other_servers_with_the_language_of_postgresql_are_refused_unless_told() {
    for (version, name) in [
        (
            "CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, built 2023/09/27 01:53:43, go1.19.10)",
            "it is CockroachDB, which speaks as PostgreSQL does, and on which nobody has tried",
        ),
        ("PostgreSQL 11.2-YB-2.20.0.0-b0 on x86_64-pc-linux-gnu", "it is YugabyteDB, which"),
        (
            "PostgreSQL 15.2-YB-2025.1.0.0-b0 on aarch64-unknown-linux-gnu",
            "it is YugabyteDB, which",
        ),
    ] {
        let database = Server::Postgres.database();
        database.run(&format!(
            "CREATE FUNCTION version() RETURNS text LANGUAGE sql AS $$ SELECT '{version}' $$"
        ));
        let address = format!("{},pg_catalog", database.url);
        each(&[
            (address.clone(), name),
            (address.clone(), "write untried=yes in the address"),
            (format!("{address}&untried=no"), "untried is something else than yes"),
        ]);
        assert_eq!(database.run("SELECT to_regclass('uidring_layout') IS NULL"), "t", "{version}");
        each(&[(format!("{address}&untried=yes"), ""), (database.url.clone(), "")]);
    }
}

/// CockroachDB does not know all that PostgreSQL is asked, and then says so first.
#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn a_server_that_does_not_know_what_it_is_asked_is_recognised() {
    let database = Server::Postgres.database();
    database.run(
        "CREATE FUNCTION version() RETURNS text LANGUAGE sql AS $$ SELECT 'CockroachDB' $$; \
         CREATE FUNCTION pg_is_in_recovery() RETURNS boolean LANGUAGE plpgsql AS \
         $$ BEGIN RAISE EXCEPTION USING ERRCODE = '42883'; END $$",
    );
    let address = format!("{},pg_catalog", database.url);
    each(&[(address, "it is CockroachDB, which speaks as PostgreSQL does")]);
}

#[cfg(feature = "mysql")]
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn other_servers_with_the_language_of_mysql_are_refused_unless_told() {
    for (version, name) in [
        ("8.0.11-TiDB-v7.5.0", "it is TiDB, which speaks as MySQL does, and on which nobody"),
        ("8.0.30-Vitess", "it is Vitess, which"),
    ] {
        let server = OwnServer::start_with(Server::MySql, &[&format!("--version={version}")]);
        let address = server.url();
        each(&[
            (address.clone(), name),
            (address.clone(), "write untried=yes in the address"),
            (format!("{address}?untried=no"), "untried is something else than yes"),
        ]);
        assert_eq!(server.run("SHOW TABLES"), "", "{version}");
        each(&[(format!("{address}?untried=yes"), "")]);
    }
}

/// Without its redo log, MySQL forgets at a kill.
#[cfg(feature = "mysql")]
#[test]
#[ignore = "needs MySQL 9: verify/stores/install mysql-9"]
fn mysql_without_its_redo_log_is_refused() {
    for options in [&[] as &[&str], &["--performance-schema=OFF"]] {
        let server = OwnServer::start_mysql_9(options);
        server.run("CREATE USER little; GRANT SELECT, INSERT, UPDATE, CREATE ON ids.* TO little");
        let address = server.url().replace("root@", "little@");
        assert_eq!(said(&address), "");
        server.run("ALTER INSTANCE DISABLE INNODB REDO_LOG");
        let text = said(&address);
        assert!(text.contains("its redo log is off (Innodb_redo_log_enabled)"), "{text}");
        let (_, remedy) = text.split_once("run ").unwrap();
        server.run(remedy);
        assert_eq!(said(&address), "");
    }
}
