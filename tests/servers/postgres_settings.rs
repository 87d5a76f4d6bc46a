//! Settings of PostgreSQL at each level where they can be set, what others leave on a connection
//! that they share with this library, and a copy that is put back.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use uidring::registry::{Request, WorkerRegistry};
use uidring::segment::{SegmentSource, Tag};
use uidring::series::{Series, SeriesDefinition};
use uidring::{Layout, RegistryOptions, Store};

use crate::asking::{each, said};
use crate::databases::{OwnServer, Server, recipe};
use crate::proxies::PgBouncer;

fn request() -> Request {
    Request::new(Layout::DEFAULT, 10_000_000, Layout::DEFAULT.max_tick())
}

/// With leases that outlast a test, so that each start is given a new id.
fn leased(store: &Store) -> impl WorkerRegistry {
    store.registry_with(RegistryOptions::new().leased(Duration::from_secs(3600))).unwrap()
}

/// Takes an id, a number of a tag and a number of a series.
fn take_each(address: &str) {
    let store = Store::open(address).unwrap();
    leased(&store).assign(&request()).unwrap();
    store.segments().unwrap().create("orders", &Tag::new()).unwrap();
    store.segments().unwrap().load("orders", None).unwrap();
    let series = Series::builder().store(&store).build().unwrap();
    let tickets = series.create("tickets", SeriesDefinition::new("{n:6}").unwrap()).unwrap();
    tickets.take().unwrap();
}

/// Runs each of `statements`, and waits until a new session has the setting.
fn set(server: &OwnServer, statements: &str, name: &str, value: &str) {
    for statement in statements.split("; ") {
        server.run(statement);
    }
    let since = Instant::now();
    while server.run(&format!("SHOW {name}")) != value {
        assert!(since.elapsed() < Duration::from_secs(60), "{statements}");
    }
}

/// The statements that set a setting for new sessions, and those that undo it.
fn levels(name: &str, value: &str) -> [(String, String); 4] {
    let whom = ["DATABASE postgres", "ROLE postgres", "ROLE postgres IN DATABASE postgres"];
    let [database, role, both] = whom.map(|whom| {
        let alter = format!("ALTER {whom}");
        (format!("{alter} SET {name} = {value}"), format!("{alter} RESET {name}"))
    });
    let reload = "SELECT pg_reload_conf()";
    let server = (
        format!("ALTER SYSTEM SET {name} = {value}; {reload}"),
        format!("ALTER SYSTEM RESET {name}; {reload}"),
    );
    [server, database, role, both]
}

/// Each commit waits for the disk, also where other sessions do not.
#[test]
#[ignore = "needs PostgreSQL's server, and pgbouncer"]
fn each_commit_on_postgresql_waits_for_the_disk_at_whatever_level_others_do_not() {
    let server = OwnServer::start(Server::Postgres);
    take_each(&server.url());
    server.run(
        "CREATE TABLE seen (written TEXT, setting TEXT); \
         CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         INSERT INTO seen VALUES (TG_RELID::REGCLASS, current_setting('synchronous_commit')); \
         RETURN NULL; END $$",
    );
    for table in
        ["uidring_layout", "uidring_worker_node", "uidring_segment", "uidring_series_counter"]
    {
        server.run(&format!(
            "CREATE CONSTRAINT TRIGGER note AFTER INSERT OR UPDATE ON {table} \
             DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note()"
        ));
    }
    let is_kept = |address: &str, level: &str| {
        take_each(address);
        let seen = server.run("SELECT DISTINCT written, setting FROM seen ORDER BY written");
        let expected = "uidring_layout|on\nuidring_segment|on\nuidring_series_counter|on\n\
                        uidring_worker_node|on";
        assert_eq!(seen, expected, "{level}");
        server.run("DELETE FROM seen");
    };
    for (off, on) in levels("synchronous_commit", "off") {
        set(&server, &off, "synchronous_commit", "off");
        is_kept(&server.url(), &off);
        set(&server, &on, "synchronous_commit", "on");
    }
    let option = "?options=-csynchronous_commit=off";
    is_kept(&format!("{}{option}", server.url()), option);
    let pooler = PgBouncer::start(server.port(), "pool_mode = transaction\ndefault_pool_size = 1");
    let address = pooler.url("postgres", "postgres");
    let (is_good, left) =
        Server::Postgres.script(&address, "SET synchronous_commit = off; SHOW synchronous_commit;");
    assert!(is_good && left.trim() == "off", "{left}");
    is_kept(&address, "left by another client of a pooler");
}

/// The last one may be off on storage that writes whole pages.
#[test]
#[ignore = "needs PostgreSQL's server"]
fn settings_of_postgresql_that_lose_pages_are_refused() {
    let version =
        |server: &OwnServer| server.run("SHOW server_version_num").parse::<u32>().unwrap() / 10_000;
    let mut found = 0;
    for (name, value, problem) in [
        ("data_sync_retry", "on", "its data_sync_retry is on, so that it goes on after its disk"),
        ("ignore_invalid_pages", "on", "its ignore_invalid_pages is on, so that its start after"),
        ("zero_damaged_pages", "on", "its zero_damaged_pages is on, so that it reads a damaged"),
        ("full_page_writes", "off", ""),
    ] {
        let server = OwnServer::start(Server::Postgres);
        if name == "ignore_invalid_pages" && version(&server) < 13 {
            continue;
        }
        server.run(&format!("ALTER SYSTEM SET {name} = {value}"));
        let mut server = server;
        server.crash_and_restart();
        assert_eq!(server.run(&format!("SHOW {name}")), value);
        each(&[(server.url(), problem)]);
        found += 1;
    }
    assert!(found > 2);
    let server = OwnServer::start(Server::Postgres);
    for (on, off) in levels("zero_damaged_pages", "on") {
        set(&server, &on, "zero_damaged_pages", "on");
        each(&[(server.url(), "its zero_damaged_pages is on")]);
        set(&server, &off, "zero_damaged_pages", "off");
    }
    let option = format!("{}?options=-czero_damaged_pages=on", server.url());
    each(&[(option, "its zero_damaged_pages is on"), (server.url(), "")]);
}

#[test]
#[ignore = "needs PostgreSQL's server"]
fn transactions_of_postgresql_that_only_read_are_told_at_each_level() {
    let name = "default_transaction_read_only";
    let server = OwnServer::start(Server::Postgres);
    let only_read = "its transactions only read, as default_transaction_read_only is on";
    for (on, off) in levels(name, "on") {
        set(&server, &on, name, "on");
        each(&[(server.url(), only_read)]);
        let off = format!("SET {name} = off; {off}");
        let statements = off.replace("; ", ";\n");
        assert!(Server::Postgres.script(&server.url(), &format!("{statements};")).0, "{off}");
        set(&server, "SELECT 1", name, "off");
    }
    let option = format!("{}?options=-c{name}=on", server.url());
    each(&[(option, only_read), (server.url(), "")]);
}

/// One connection that clients share, on which each has left what it liked.
#[test]
#[ignore = "needs PostgreSQL's server, and pgbouncer"]
fn what_others_leave_on_a_connection_of_pgbouncer_changes_nothing() {
    let server = OwnServer::start(Server::Postgres);
    let pooler = PgBouncer::start(server.port(), "pool_mode = transaction\ndefault_pool_size = 1");
    let address = pooler.url("postgres", "postgres");
    take_each(&address);
    let leave = |statements: &str| {
        let (is_good, said) = Server::Postgres.script(&address, statements);
        assert!(is_good, "{said}");
    };
    leave(
        "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE, DEFERRABLE;\n\
         SET client_min_messages = error; SET standard_conforming_strings = off;\n\
         SET escape_string_warning = off; SET TIME ZONE 'Pacific/Apia';\n\
         SET datestyle = 'SQL, DMY'; SET lc_messages = 'C'; SET quote_all_identifiers = on;\n\
         SET enable_indexscan = off; SET plan_cache_mode = force_generic_plan;\n\
         SET session_replication_role = replica; SET transform_null_equals = on;\n\
         PREPARE uidring AS SELECT 1; DECLARE uidring CURSOR WITH HOLD FOR SELECT 1;\n\
         LISTEN uidring; CREATE TEMP TABLE others (id INT);",
    );
    take_each(&address);
    leave("RESET ALL; CREATE TEMP TABLE uidring_layout AS SELECT * FROM uidring_layout;");
    let temporary = "its table uidring_layout is a temporary one, which the end of a connection \
                     removes; drop it, and see who makes it, such as a pooler that shares";
    each(&[(address.clone(), temporary), (server.url(), "")]);
    // Whose transaction was broken off there is given another connection.
    leave("SET default_transaction_read_only = on;");
    assert!(said(&address).contains("default_transaction_read_only is on"));
    take_each(&address);
}

/// A copy of the files of a server that runs, as `pg_basebackup` makes it.
fn base_backup(server: &OwnServer) -> OwnServer {
    let version: u32 = server.run("SHOW server_version_num").parse().unwrap();
    let [begin, end] = if version < 150_000 {
        ["pg_start_backup('ids', true, false)", "pg_stop_backup(false, false)"]
    } else {
        ["pg_backup_start('ids', true)", "pg_backup_stop(false)"]
    };
    server.copy_running(|data, copy| {
        let (data, copy) = (data.display(), copy.display());
        let script = format!(
            "SELECT {begin};\n\
             \\! cp -a {data} {copy}; rm -rf {copy}/pg_wal {copy}/postmaster.pid\n\
             \\o {copy}/backup_label\n\
             SELECT labelfile FROM {end};\n\
             \\o\n\
             \\! cp -a {data}/pg_wal {copy}; chown --reference {data} {copy}/backup_label\n"
        );
        assert!(Server::Postgres.script(&server.url(), &script).0);
    })
}

/// What was given after the copy was made comes again from it, until somebody has said how much
/// that may be, as its schema tells.
#[test]
#[ignore = "needs PostgreSQL's server"]
fn a_base_backup_of_postgresql_is_an_old_copy_until_it_is_made_good() {
    let server = OwnServer::start(Server::Postgres);
    let store = Store::open(server.url()).unwrap();
    let mut before = leased(&store);
    let lease = before.assign(&request()).unwrap();
    take_each(&server.url());
    let copy = base_backup(&server);
    let given: Vec<u64> =
        (0..3).map(|_| leased(&store).assign(&request()).unwrap().worker).collect();
    assert_eq!(given, [3, 4, 5]);
    before.reserve(&lease, lease.last + 1000).unwrap();
    drop(server);

    // The programs go on with the copy, under the old address as it were.
    let restored = Store::open(copy.url()).unwrap();
    assert_eq!(leased(&restored).assign(&request()).unwrap().worker, 3, "as it was then");
    assert_eq!(leased(&restored).assign(&request()).unwrap().worker, 4);
    copy.run(&recipe(include_str!("../../schema.postgres.sql"), 100));
    assert_eq!(leased(&restored).assign(&request()).unwrap().worker, 101);
}

/// `pg_dump` refuses a server that is newer than itself.
#[test]
#[ignore = "needs PostgreSQL's server, and a pg_dump that is as new"]
fn a_dump_of_postgresql_is_an_old_copy_as_well() {
    let server = OwnServer::start(Server::Postgres);
    let store = Store::open(server.url()).unwrap();
    leased(&store).assign(&request()).unwrap();
    take_each(&server.url());
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("dump");
    let made = Command::new("pg_dump").arg(server.url()).arg("-f").arg(&dump).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let given = leased(&store).assign(&request()).unwrap().worker;
    let (empty, script) = (OwnServer::start(Server::Postgres), fs::read_to_string(&dump).unwrap());
    assert!(Server::Postgres.script(&empty.url(), &script).0);
    let restored = Store::open(empty.url()).unwrap();
    assert_eq!(leased(&restored).assign(&request()).unwrap().worker, given, "as it was then");
    empty.run(&recipe(include_str!("../../schema.postgres.sql"), 100));
    assert_eq!(leased(&restored).assign(&request()).unwrap().worker, 101);
    let segment = restored.segments().unwrap().load("orders", Some(1)).unwrap();
    assert_eq!(segment.first, 1001);
}
