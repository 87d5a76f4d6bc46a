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
        ("(openGauss 3.1.0 build 2c0ccaf9) compiled at 2022-09-25", "it is openGauss, which"),
        ("PostgreSQL 8.2.23 server protocol using H2 2.3.232 (2024-08-11)", "it is H2, which"),
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

/// Another server does not know all that PostgreSQL is asked, and then says so first.
#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn a_server_that_does_not_know_what_it_is_asked_is_recognised_on_postgres() {
    for (version, code, message, said) in [
        (
            "CockroachDB",
            "42883",
            "unknown function: pg_is_in_recovery()",
            "it is CockroachDB, which speaks as PostgreSQL does",
        ),
        (
            "PostgreSQL 16",
            "0A000",
            "setting configuration parameter \"lock_timeout\" not supported",
            "it is Amazon Aurora DSQL, which has no READ COMMITTED",
        ),
    ] {
        let database = Server::Postgres.database();
        database.run(&format!(
            "CREATE FUNCTION version() RETURNS text LANGUAGE sql AS $$ SELECT '{version}' $$; \
             CREATE FUNCTION pg_is_in_recovery() RETURNS boolean LANGUAGE plpgsql AS \
             $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{code}', MESSAGE = '{message}'; END $$"
        ));
        each(&[(format!("{},pg_catalog", database.url), said)]);
    }
}

/// As pgEdge, BDR and pgactive have it: what one server gives, another gives as well.
#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn a_database_that_several_servers_write_is_refused_unless_told_on_postgres() {
    for extension in ["bdr", "pgactive", "spock"] {
        let database = Server::Postgres.database();
        database.run(&format!(
            "CREATE VIEW pg_extension AS \
             SELECT name AS extname FROM (VALUES ('plpgsql'), ('{extension}')) AS list (name)"
        ));
        let address = format!("{},pg_catalog", database.url);
        let said =
            format!("its extension {extension} is for several servers that each take writes");
        each(&[
            (address.clone(), said.as_str()),
            (format!("{address}&untried=yes"), ""),
            (database.url.clone(), ""),
        ]);
    }
}

/// Its own storage below PostgreSQL's tables may forget what PostgreSQL's keeps.
#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn tables_of_another_access_method_are_refused_on_postgres() {
    let method = format!("uidring_heap_{}", std::process::id());
    let create = format!("CREATE ACCESS METHOD {method} TYPE TABLE HANDLER heap_tableam_handler");
    Server::Postgres.run(&create);
    let database = Server::Postgres.database();
    assert_eq!(said(&database.url), "");
    database.run(&format!(
        "ALTER TABLE uidring_worker_node RENAME TO other; \
         CREATE TABLE uidring_worker_node (LIKE other INCLUDING ALL) USING {method}; \
         INSERT INTO uidring_worker_node SELECT * FROM other"
    ));
    let text = said(&database.url);
    let expected = format!("its table uidring_worker_node is kept by the access method {method}");
    assert!(text.contains(&expected), "{text}");
    // The statement is of PostgreSQL 15.
    if database.run("SELECT current_setting('server_version_num')::INT >= 150000") == "t" {
        let (_, remedy) = text.split_once("run ").unwrap();
        database.run(remedy);
        assert_eq!(said(&database.url), "");
    }
    drop(database);
    Server::Postgres.run(&format!("DROP ACCESS METHOD {method}"));
}

/// Neon syncs no files, by its manual: a commit waits for its safekeepers, which are a standby to
/// PostgreSQL. Without them, nothing would be kept.
#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn neon_is_as_good_as_its_safekeepers_on_postgres() {
    let neon = ["-c", "neon.timeline_id=9a3c", "-c", "fsync=off", "-c", "wal_level=logical"];
    let names = ["-c", "synchronous_standby_names=walproposer"];
    for options in [&neon[..], &[&neon[2..], &names[..]].concat()] {
        let server = OwnServer::start_with(Server::Postgres, options);
        each(&[(server.url(), "its fsync is off, so that a power failure")]);
    }
    let server = OwnServer::start_with(Server::Postgres, &[&neon[..], &names[..]].concat());
    let run_unconfirmed = |url: &str, sql: &str| {
        let script = format!("SET synchronous_commit = local;\n{sql};");
        assert!(Server::Postgres.script(url, &script).0, "{sql}");
    };
    // Before a transaction waits, for whose end a slot would wait.
    for sql in [
        "CREATE DATABASE keeper",
        "CREATE PUBLICATION nothing",
        "SELECT pg_create_logical_replication_slot('walproposer', 'pgoutput')",
    ] {
        run_unconfirmed(&server.url(), sql);
    }
    // Nobody confirms the commit.
    let waiting = said(&server.url());
    assert!(waiting.contains("did not answer"), "{waiting}");
    // A subscription does, by its name.
    let keeper = format!("{}keeper", server.url().trim_end_matches("postgres"));
    let subscribe = format!(
        "CREATE SUBSCRIPTION walproposer CONNECTION '{}' PUBLICATION nothing \
         WITH (create_slot = false)",
        server.url()
    );
    run_unconfirmed(&keeper, &subscribe);
    assert_eq!(said(&server.url()), "");
}

#[cfg(feature = "mysql")]
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn others_in_whose_words_mariadb_speaks_are_refused_unless_told() {
    for (version, name) in [
        ("8.0.11-TiDB-v7.5.0", "it is TiDB, which speaks as MySQL does, and on which nobody"),
        ("8.0.30-Vitess", "it is Vitess, which"),
        ("5.7.25-OceanBase_CE-v4.4.2.1", "it is OceanBase, which"),
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
