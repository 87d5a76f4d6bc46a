//! Worker ids from servers, as programs meet them: real servers, real processes, servers that are
//! down, hang or crash, and errors read as text.

use std::collections::{BTreeSet, HashSet};
use std::env;
use std::io::Read;
#[cfg(feature = "postgres")]
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

#[cfg(feature = "mysql")]
use uidring::registry::MySqlRegistry;
#[cfg(feature = "postgres")]
use uidring::registry::PostgresRegistry;
use uidring::registry::{RegistryAdmin, Request, WorkerRegistry};
use uidring::store::StoreRegistry;
use uidring::{
    BuildError, Builder, Layout, RegistryError, RegistryOptions, StorageError, Store, TakeError,
    UidGenerator,
};

use crate::causes::with_causes;
use crate::databases::{Database, OwnServer, Server, TABLES, free_port, has_mysql_itself, recipe};
#[cfg(feature = "postgres")]
use crate::pooler::without_options;
use crate::size::size;

const URL: &str = "UIDRING_TEST_URL";

/// The registry at an address, which gives each id once.
fn registry(address: &str) -> StoreRegistry {
    registry_with(address, RegistryOptions::new())
}

fn registry_with(address: &str, options: RegistryOptions) -> StoreRegistry {
    Store::open(address).unwrap().registry_with(options).unwrap()
}

/// The same, which leases ids.
fn leased(address: &str, seconds: u64) -> StoreRegistry {
    registry_with(address, RegistryOptions::new().leased(Duration::from_secs(seconds)))
}

/// The address of a server that may forget what it has committed.
fn only_for_tests(url: &str) -> String {
    format!("{url}{}only_for_tests=yes", if url.contains('?') { '&' } else { '?' })
}

/// The request of a generator.
fn request() -> Request {
    Request::new(Layout::DEFAULT, 10_000_000, Layout::DEFAULT.max_tick())
}

/// A generator that asks once.
fn builder(registry: impl WorkerRegistry) -> Builder {
    UidGenerator::builder().registry(registry).start_deadline(Duration::ZERO)
}

fn refusal(registry: impl WorkerRegistry) -> String {
    with_causes(&builder(registry).build().expect_err("this must fail"))
}

/// The same test on each kind of server.
macro_rules! on_servers {
    ($($(#[$attribute:meta])* fn $name:ident($server:ident) $body:block)*) => { $(
        mod $name {
            use super::*;

            fn test($server: Server) $body

            $(#[$attribute])*
            #[cfg(feature = "postgres")]
            #[test]
            #[ignore = "needs a PostgreSQL server"]
            fn postgres() {
                test(Server::Postgres);
            }

            $(#[$attribute])*
            #[cfg(feature = "mysql")]
            #[test]
            #[ignore = "needs a MySQL or MariaDB server"]
            fn mysql() {
                test(Server::MySql);
            }
        }
    )* };
}

fn schema(server: Server) -> &'static str {
    match server {
        Server::Postgres => include_str!("../../schema.postgres.sql"),
        Server::MySql => include_str!("../../schema.mysql.sql"),
    }
}

/// How many rows of the table of worker ids the server has read so far, since it has noted that so
/// many were `inserted`.
fn rows_read(database: &Database, server: Server, inserted: u64) -> u64 {
    if server == Server::MySql {
        let (column, table, schema) = if has_mysql_itself() {
            ("count_fetch", "performance_schema.table_io_waits_summary_by_table", "object_schema")
        } else {
            ("rows_read", "information_schema.table_statistics", "table_schema")
        };
        let name = schema.replace("schema", "name");
        let sql = format!(
            "SELECT {column} FROM {table} \
             WHERE {schema} = DATABASE() AND {name} = 'uidring_worker_node'"
        );
        return database.run(&sql).parse().unwrap_or(0);
    }
    // A server process notes what it has done when it ends.
    let sql = "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_all_tables \
               WHERE relid = 'uidring_worker_node'::regclass AND n_tup_ins >=";
    let begin = Instant::now();
    loop {
        if let Ok(read) = database.run(&format!("{sql} {inserted}")).parse() {
            return read;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "the server notes nothing");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Not a test: starts, says its worker id, ends when its input does.
#[test]
#[ignore = "run by other tests, in a process of its own"]
fn child_starts() {
    let Ok(url) = env::var(URL) else { return };
    let uids = UidGenerator::builder().registry(registry(&url)).build().unwrap();
    println!("worker {}", uids.worker_id());
    let _ = std::io::stdin().read(&mut [0]);
    uids.take().unwrap();
}

on_servers! {
    fn sixty_four_processes_start_at_once_on_an_empty_schema(server) {
        let database = server.database();
        let children: Vec<_> = (0..64).map(|_| {
            let mut child = Command::new(env::current_exe().unwrap());
            child.args(["--exact", "registries::child_starts", "--ignored", "--nocapture"]);
            child.env(URL, &database.url);
            child.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
        }).collect();
        let ids: BTreeSet<u64> = children.into_iter().map(|child| {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success());
            let said = String::from_utf8(output.stdout).unwrap();
            let (_, rest) = said.split_once("worker ").unwrap();
            rest.split_whitespace().next().unwrap().parse().unwrap()
        }).collect();
        // A commit whose answer comes too late uses an id up.
        assert_eq!(ids.len(), 64, "{ids:?}");
        assert!(ids.last() <= Some(&72), "{ids:?}");
    }

    fn many_starts_and_clean_stops_use_few_ids(server) {
        let database = server.database();
        let ids: BTreeSet<u64> = thread::scope(|scope| {
            let starts = || (0..size(250, 60)).map(|_| {
                let registry = leased(&database.url, 600);
                let uids = UidGenerator::builder().registry(registry).build().unwrap();
                uids.take().unwrap();
                uids.worker_id()
            }).collect::<Vec<_>>();
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(starts)).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        assert!(ids.len() <= 64, "{ids:?}");
        assert_eq!(registry(&database.url).workers().unwrap().len(), ids.len());
    }

    fn a_start_reads_no_rows_of_others(server) {
        let database = server.database();
        let registry = registry(&database.url);
        let mut leased = leased(&database.url, 60);
        registry.clone().assign(&request()).unwrap();
        let columns = "host_name, port, type, launch_date, modified, created";
        let ids = match server {
            Server::Postgres => "generate_series(2, 20000) AS ids (id)",
            Server::MySql => {
                "(SELECT 1 + ROW_NUMBER() OVER () AS id FROM information_schema.COLLATIONS AS a, \
                 information_schema.COLLATIONS AS b LIMIT 19999) AS ids"
            }
        };
        database.run(&format!(
            "INSERT INTO uidring_worker_node (id, {columns}) SELECT ids.id, {columns} \
             FROM {ids}, uidring_worker_node WHERE uidring_worker_node.id = 1; \
             UPDATE uidring_layout SET last_worker = 20000"
        ));
        if server == Server::MySql && !has_mysql_itself() {
            // MariaDB counts what is read only then.
            server.run("SET GLOBAL userstat = 1");
        }
        let before = rows_read(&database, server, 20_000);
        for _ in 0..3 {
            registry.clone().assign(&request()).unwrap();
            let lease = leased.assign(&request()).unwrap();
            leased.reserve(&lease, lease.last + 1).unwrap();
            leased.release(&lease, lease.first).unwrap();
            leased.last_assigned().unwrap().unwrap();
            assert_eq!(registry.workers_below(u64::MAX, 5).unwrap().len(), 5);
        }
        let after = rows_read(&database, server, 20_004);
        assert!(after > before, "the server counts what is read");
        assert!(after - before < 300, "{} rows are read", after - before);
        let now = std::time::SystemTime::now();
        assert_eq!(registry.count_workers(now).unwrap().all, 20_004);
    }

    fn rows_say_who_has_the_id_and_since_when(server) {
        let database = server.database();
        let once = builder(registry(&database.url)).build().unwrap();
        let leased = leased(&database.url, 60);
        let lent = builder(leased).build().unwrap();
        let registry = registry(&database.url);
        let workers = registry.workers().unwrap();
        let ids: Vec<_> = workers.iter().map(|worker| worker.id).collect();
        assert_eq!(ids, [once.worker_id(), lent.worker_id()]);
        assert_eq!(workers[0].lease, None);
        assert_eq!(workers[0].port, std::process::id().to_string());
        let age = workers[0].launched.elapsed().unwrap_or_default();
        assert!(age < Duration::from_secs(600), "{age:?}");
        let lease = workers[1].lease.as_ref().unwrap();
        assert!(lease.holder.is_some());
        assert!(lease.until > workers[1].launched);
        drop(lent);
        assert_eq!(registry.workers().unwrap()[1].lease.as_ref().unwrap().holder, None);
        let error = registry.revoke(once.worker_id()).unwrap_err();
        assert!(matches!(error, RegistryError::NotLeased { worker: 1 }), "{error}");
    }

    fn who_loses_its_lease_takes_another_id_and_repeats_nothing(server) {
        let database = server.database();
        // Long enough for the thief to be there before the loss is found, which takes as many UIDs
        // as half of it has.
        let open = || leased(&database.url, 60);
        let uids = builder(open()).build().unwrap();
        let mut all = HashSet::new();
        open().revoke(1).unwrap();
        let thief = builder(open()).build().unwrap();
        assert_eq!(thief.worker_id(), 1);
        let since = Instant::now();
        while uids.worker_id() == 1 {
            assert!(
                since.elapsed() < Duration::from_secs(60),
                "the loss is found at the next reservation"
            );
            for uids in [&uids, &thief] {
                for _ in 0..10_000 {
                    assert!(all.insert(uids.take().unwrap()));
                }
            }
            thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(uids.worker_id(), 2);
    }

    fn a_server_that_is_away_is_an_error_when_the_seconds_are_used_up_until_it_is_back(server) {
        let mut server = OwnServer::start(server);
        let open = || {
            let store = Store::open(server.url()).unwrap().with_timeout(Duration::from_secs(1));
            let options = RegistryOptions::new().leased(Duration::from_secs(60));
            store.registry_with(options).unwrap()
        };
        let uids = builder(open()).build().unwrap();
        let worker = uids.worker_id();
        let reserved_until = open().workers().unwrap()[0].lease.as_ref().unwrap().reserved_until;
        server.crash();
        let mut all = HashSet::new();
        let error = loop {
            match uids.take() {
                Ok(uid) => assert!(all.insert(uid)),
                Err(error) => break error,
            }
        };
        assert_eq!(error, TakeError::LeaseExhausted { worker });
        // To the last second that was reserved at the start, and perhaps by the first look.
        let layout = uids.layout();
        let last = all.iter().max().unwrap().get();
        let end = last >> (layout.worker_bits() + layout.sequence_bits());
        assert!((reserved_until..reserved_until + 400).contains(&end), "{end} of {reserved_until}");
        server.crash_and_restart();
        let since = Instant::now();
        while let Err(error) = uids.take() {
            assert_eq!(error, TakeError::LeaseExhausted { worker });
            assert!(since.elapsed() < Duration::from_secs(60));
            thread::sleep(Duration::from_millis(20));
        }
        for _ in 0..100_000 {
            assert!(all.insert(uids.take().unwrap()));
        }
    }

    fn a_server_that_hangs_counts_as_down(server) {
        let server = OwnServer::start(server);
        let store = Store::open(server.url()).unwrap();
        builder(store.registry().unwrap()).build().unwrap();
        let open = |timeout| store.clone().with_timeout(timeout).registry().unwrap();
        server.pause();
        let since = Instant::now();
        let error = builder(open(Duration::from_millis(300))).build().unwrap_err();
        assert!(
            matches!(
                error,
                BuildError::Registry(RegistryError::Storage(StorageError::Unreachable { .. }))
            ),
            "{error}"
        );
        assert!(
            error.to_string().contains("it did not answer for 300 ms; see that the server runs"),
            "{error}"
        );
        assert!(since.elapsed() < Duration::from_secs(60));
        // In the middle of a start's patience the server comes back.
        thread::scope(|scope| {
            let start = || {
                let registry = open(Duration::from_secs(5));
                let uids = builder(registry).start_deadline(Duration::from_secs(60)).build();
                uids.unwrap().worker_id()
            };
            let waiting = scope.spawn(start);
            thread::sleep(Duration::from_millis(700));
            assert!(!waiting.is_finished());
            server.resume();
            assert!(waiting.join().unwrap() > 1);
        });
    }

    fn the_clock_is_compared_with_the_servers(server) {
        let database = server.database();
        let skew = |registry| builder(registry).build().unwrap().status().clock_skew_ms;
        for registry in [registry(&database.url), leased(&database.url, 60)] {
            let skew_ms = skew(registry).expect("a server has a clock");
            assert!(skew_ms.abs() < 60_000, "{skew_ms}");
        }
        // Again, with an id that was given back.
        assert!(skew(leased(&database.url, 60)).is_some());
    }

    fn a_deadline_that_passes_is_told_with_the_last_cause(server) {
        // No server listens there any more.
        let port = free_port();
        let url = match server {
            Server::Postgres => format!("postgres://me:secret@127.0.0.1:{port}/ids"),
            Server::MySql => format!("mysql://me:secret@127.0.0.1:{port}/ids"),
        };
        let deadline = Duration::from_millis(500);
        let error = builder(registry(&url)).start_deadline(deadline).build().unwrap_err();
        let BuildError::StartDeadline { tries, .. } = error else { panic!("{error}") };
        assert!(tries > 1);
        let text = with_causes(&error);
        let begin = format!("no worker id within 500 ms, in {tries} tries: cannot reach");
        assert!(text.starts_with(&begin), "{text}");
        assert!(text.contains("refused"), "{text}");
        assert!(text.contains(&format!("me@127.0.0.1:{port}/ids")), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }

    fn what_is_wrong_with_the_rights_is_said(server) {
        let database = server.database();
        let name = database.name();
        let user = format!("{name}:pass@");
        let url = database.url.replace("postgres@", &user).replace("root@", &user);
        let everything = match server {
            Server::Postgres => format!(
                "CREATE ROLE {name} LOGIN PASSWORD 'pass'; GRANT USAGE ON SCHEMA {name} TO {name}"
            ),
            Server::MySql => format!(
                "CREATE USER {name} IDENTIFIED BY 'pass'; GRANT SELECT ON {name}.* TO {name}"
            ),
        };
        database.run(&everything);
        let text = refusal(registry(&url));
        let lacking = "its tables are not there, and this user may not make them; have somebody \
                       who may run this:";
        assert!(text.contains(lacking), "{text}");
        let statement = text.split("run this:").nth(1).unwrap();
        assert!(statement.contains("CREATE TABLE IF NOT EXISTS uidring_layout"), "{text}");
        assert!(!statement.contains("--"), "{text}");
        // The statement is one that can be run.
        database.run(statement);
        let text = refusal(registry(&url));
        let rights = "give this user the rights to select, insert and update in its two tables";
        assert!(text.contains(rights), "{text}");
        for table in ["uidring_layout", "uidring_worker_node"] {
            database.run(&match server {
                Server::Postgres => format!("GRANT SELECT, INSERT, UPDATE ON {table} TO {name}"),
                Server::MySql => {
                    format!("GRANT SELECT, INSERT, UPDATE ON {name}.{table} TO {name}")
                }
            });
        }
        assert_eq!(builder(registry(&url)).build().unwrap().worker_id(), 1);
        if server == Server::MySql {
            let text = refusal(registry(&url.replace(":pass@", ":wrong@")));
            assert!(text.contains("see the user and the password"), "{text}");
            assert!(!text.contains("wrong"), "{text}");
        }
        let address = server.url();
        let (address, _) = address.rsplit_once('/').unwrap();
        let text = refusal(registry(&format!("{address}/nothing")));
        assert!(text.contains("see the name of the database"), "{text}");
        database.run(&match server {
            Server::Postgres => format!("DROP OWNED BY {name}; DROP ROLE {name}"),
            Server::MySql => format!("DROP USER {name}"),
        });
    }

    fn tables_of_others_are_refused(server) {
        let database = server.database();
        database.run(
            "CREATE TABLE uidring_layout (version INT); \
             CREATE TABLE uidring_worker_node (id INT)",
        );
        let text = refusal(registry(&database.url));
        let others = "are not those of the schema; use the uidring that made them, or give";
        assert!(text.contains(others), "{text}");
    }

    fn a_lost_counter_is_not_begun_anew(server) {
        let database = server.database();
        builder(registry(&database.url)).build().unwrap();
        database.run("DELETE FROM uidring_layout");
        let text = refusal(registry(&database.url));
        assert!(text.contains("its table uidring_layout has lost its row"), "{text}");
    }

    fn a_table_that_is_gone_is_not_made_anew(server) {
        let database = server.database();
        let open = || leased(&database.url, 60);
        let (mut a, mut b) = (open(), open());
        let lease = [a.assign(&request()).unwrap(), b.assign(&request()).unwrap()];
        assert_eq!(lease.each_ref().map(|lease| lease.worker), [1, 2]);
        let tables = TABLES;
        let there = format!(
            "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = '{}' \
             AND table_name LIKE 'uidring%'", database.name()
        );
        let gone = |result: Result<_, RegistryError>, what: &str| {
            let text = with_causes(&result.expect_err("the table is gone"));
            let gone = format!("{what} gone, the only memory of what has been given, so nothing");
            assert!(text.contains(&gone), "{text}");
        };
        // One of them. Whoever starts does not make it either.
        for table in &tables[..2] {
            database.run(&format!("ALTER TABLE {table} RENAME TO away"));
            gone(a.assign(&request()), &format!("its table {table} is"));
            gone(open().assign(&request()), &format!("its table {table} is"));
            assert_eq!(database.run(&there), "8");
            database.run(&format!("ALTER TABLE away RENAME TO {table}"));
        }
        // All of them.
        let rename = |from: &str, to: &str| {
            for table in tables {
                database.run(&format!("ALTER TABLE {from}{table} RENAME TO {to}{table}"));
            }
        };
        rename("", "away_");
        let all = "its tables uidring_layout and uidring_worker_node are";
        gone(a.assign(&request()), all);
        for (registry, lease) in [&mut a, &mut b].into_iter().zip(&lease) {
            gone(registry.reserve(lease, lease.last + 1).map(|_| lease.clone()), all);
            gone(registry.release(lease, lease.last).map(|()| lease.clone()), all);
        }
        assert_eq!(database.run(&there), "0");
        rename("away_", "");
        for (registry, lease) in [&mut a, &mut b].into_iter().zip(&lease) {
            assert_eq!(registry.reserve(lease, lease.last + 1).unwrap(), lease.last + 1);
        }
        assert_eq!(a.assign(&request()).unwrap().worker, 3);
    }

    fn other_tables_in_place_of_those_that_gave_the_ids_are_noticed(server) {
        let database = server.database();
        let open = || leased(&database.url, 60);
        let (mut a, mut b) = (open(), open());
        let lease = [a.assign(&request()).unwrap(), b.assign(&request()).unwrap()];
        let tables = TABLES;
        for table in tables {
            database.run(&format!("ALTER TABLE {table} RENAME TO away_{table}"));
        }
        database.run(schema(server));
        let mut notice = |when: &str| {
            for (registry, lease) in [&mut a, &mut b].into_iter().zip(&lease) {
                let reserved = registry.reserve(lease, lease.last + 1).map(|_| lease.clone());
                for result in [reserved, registry.assign(&request())] {
                    let text = with_causes(&result.expect_err("these tables are others"));
                    let others = format!(
                        "its tables are not those that gave worker id {} to this process",
                        lease.worker
                    );
                    assert!(text.contains(&others), "{when}: {text}");
                }
            }
        };
        notice("they have given nothing");
        // Somebody starts with them, and is given the same ids.
        let mut c = open();
        for worker in 1..=3 {
            assert_eq!(c.assign(&request()).unwrap().worker, worker);
        }
        notice("they have given the same ids");
        for table in tables {
            database.run(&format!(
                "DROP TABLE {table}; ALTER TABLE away_{table} RENAME TO {table}"
            ));
        }
        for (registry, lease) in [&mut a, &mut b].into_iter().zip(&lease) {
            assert_eq!(registry.reserve(lease, lease.last + 1).unwrap(), lease.last + 1);
        }
        assert_eq!(b.assign(&request()).unwrap().worker, 3);
        let text = with_causes(&c.assign(&request()).expect_err("its tables were dropped"));
        assert!(text.contains("not those that gave worker id 3 to this process"), "{text}");
        // An old copy, from before the second id.
        database.run(
            "DELETE FROM uidring_worker_node WHERE id > 1; \
             UPDATE uidring_layout SET last_worker = 1",
        );
        let text = with_causes(&b.assign(&request()).expect_err("an old copy is put back"));
        assert!(text.contains("or an old copy of them, and would give ids again"), "{text}");
    }

    fn what_is_behind_the_name_of_a_table_is_looked_at(server) {
        let server_of_its_own = OwnServer::start(server);
        let open = || leased(&server_of_its_own.url(), 60);
        builder(open()).build().unwrap();
        let run = |sql: &str| drop(server_of_its_own.run(sql));
        let forgetful: &[&str] = match server {
            Server::Postgres => &["CREATE UNLOGGED TABLE kept AS SELECT * FROM away"],
            Server::MySql => &[
                "CREATE TABLE kept LIKE away; ALTER TABLE kept ENGINE = MyISAM",
                "CREATE TABLE kept LIKE away; ALTER TABLE kept ENGINE = MEMORY",
            ],
        };
        for table in ["uidring_layout", "uidring_worker_node"] {
            run(&format!("ALTER TABLE {table} RENAME TO away"));
            for kept in forgetful.iter().chain(&["CREATE TABLE kept (LIKE away)"]) {
                run(kept);
                run(&format!("CREATE VIEW {table} AS SELECT * FROM kept"));
                let text = refusal(open());
                let view = format!("its {table} is no table but a view, behind which anything");
                assert!(text.contains(&view), "{kept}: {text}");
                run(&format!("DROP VIEW {table}; DROP TABLE kept"));
            }
            run(&format!("ALTER TABLE away RENAME TO {table}"));
        }
        builder(open()).build().unwrap();
    }

    fn a_start_outlasts_the_servers_limit_on_a_statement(server) {
        let database = server.database();
        builder(registry(&database.url)).build().unwrap();
        let name = database.name();
        let url = match server {
            Server::Postgres => format!("{}%20-cstatement_timeout=100", database.url),
            Server::MySql => {
                // MySQL has no limit for one user.
                let (limit, others) = if has_mysql_itself() {
                    let limit = format!(
                        "SET GLOBAL init_connect = 'SET SESSION max_execution_time = \
                         IF(CURRENT_USER() LIKE \\'{name}%\\', 100, 0)'"
                    );
                    ("", limit)
                } else {
                    (" WITH MAX_STATEMENT_TIME 0.1", "DO 0".to_owned())
                };
                database.run(&format!(
                    "CREATE USER {name} IDENTIFIED BY 'pass'{limit}; \
                     GRANT ALL ON {name}.* TO {name}; {others}"
                ));
                database.url.replace("root@", &format!("{name}:pass@"))
            }
        };
        let locked = database.lock("SELECT * FROM uidring_layout FOR UPDATE");
        let error = builder(registry(&url)).build().unwrap_err();
        let text = error.to_string();
        let BuildError::Registry(cause) = &error else { panic!("{text}") };
        assert!(cause.is_transient(), "{text}");
        assert!(text.contains("give its statements more time"), "{text}");
        thread::scope(|scope| {
            let build = || {
                let registry = registry(&url);
                builder(registry).start_deadline(Duration::from_secs(60)).build()
            };
            let starting = scope.spawn(build);
            thread::sleep(Duration::from_millis(700));
            assert!(!starting.is_finished());
            drop(locked);
            assert_eq!(starting.join().unwrap().unwrap().worker_id(), 2);
        });
        if server == Server::MySql {
            database.run(&format!("DROP USER {name}; SET GLOBAL init_connect = ''"));
        }
    }

    fn what_another_try_can_mend_is_tried_again(server) {
        let database = server.database();
        builder(registry(&database.url)).build().unwrap();
        // The statement that raises an error, and what is not mended by another try.
        let (codes, others): (&[&str], _) = match server {
            // At the commit, where CockroachDB and PostgreSQL's SERIALIZABLE find their conflicts.
            Server::Postgres => (
                &[
                    "08000", "08006", "08P01", "25006", "25P03", "25P04", "40000",
                    "40001", "40003", "40P01", "53000", "53200", "53300", "55P03",
                    "57014", "57P01", "57P02", "57P03", "57P05",
                ],
                ["22012", "XX000"],
            ),
            Server::MySql => (
                &[
                    "1020", "1037", "1040", "1041", "1047", "1053", "1080", "1135",
                    "1152", "1158", "1159", "1160", "1161", "1180", "1184", "1203",
                    "1205", "1206", "1213", "1226", "1290", "1317", "1412", "1637",
                    "1689", "1792", "1836", "1927", "1969", "3024", "3032", "3100",
                    "3101", "3168", "3169", "4031",
                ],
                ["1365", "1644"],
            ),
        };
        let provoke = |code: &str| match server {
            Server::Postgres => format!(
                "CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql \
                 AS $$ BEGIN RAISE 'trouble' USING ERRCODE = '{code}'; END $$; \
                 DROP TRIGGER IF EXISTS fail ON uidring_layout; \
                 CREATE CONSTRAINT TRIGGER fail AFTER UPDATE ON uidring_layout \
                 DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail()"
            ),
            Server::MySql => format!(
                "DROP TRIGGER IF EXISTS fail; \
                 CREATE TRIGGER fail BEFORE UPDATE ON uidring_layout FOR EACH ROW \
                 SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = {code}, MESSAGE_TEXT = 'trouble'"
            ),
        };
        let fail = |code: &str| {
            database.run(&provoke(code));
            match builder(registry(&database.url)).build().unwrap_err() {
                BuildError::Registry(error) => error,
                error => panic!("{code}: {error}"),
            }
        };
        let lasting: Vec<_> = codes.iter().filter(|code| !fail(code).is_transient()).collect();
        assert!(lasting.is_empty(), "not tried again: {lasting:?}");
        for code in others {
            let error = fail(code);
            assert!(!error.is_transient(), "{code}: {error}");
        }
        database.run(match server {
            Server::Postgres => "DROP TRIGGER fail ON uidring_layout",
            Server::MySql => "DROP TRIGGER fail",
        });
        assert_eq!(builder(registry(&database.url)).build().unwrap().worker_id(), 2);
    }

    fn each_call_says_goodbye_also_when_it_fails(server) {
        let options: &[&str] = match server {
            Server::Postgres => &["-c", "log_min_messages=debug1"],
            Server::MySql => &[],
        };
        let server = OwnServer::start_with(server, options);
        let open = || registry(&server.url());
        // Makes the tables, reserves, gives back and reads, and then is refused in the middle of
        // transactions.
        drop(builder(leased(&server.url(), 60)).build().unwrap());
        assert_eq!(open().workers().unwrap().len(), 1);
        let other = Layout::new(40, 10, 13).unwrap();
        builder(open()).layout(other).build().unwrap_err();
        open().revoke(7).unwrap_err();
        server.run("DELETE FROM uidring_layout");
        builder(open()).build().unwrap_err();
        assert_eq!(server.aborted_connections(), "");
    }

    fn an_old_copy_can_be_made_good(server) {
        let database = server.database();
        let build = || {
            let registry = leased(&database.url, 600);
            builder(registry).build().unwrap()
        };
        assert_eq!(build().worker_id(), 1);
        // The row of an id in use, as an old copy has it.
        database.run("UPDATE uidring_worker_node SET reserved_until = 5, lease_until = 0");
        database.run(&recipe(schema(server), 100));
        assert_eq!(build().worker_id(), 101);
    }

    /// As after a failover to a replica that lacks the last commits.
    fn a_process_takes_its_own_id_from_no_old_copy(server) {
        let database = server.database();
        let open = || leased(&database.url, 600);
        let (mut first, mut registry) = (open(), open());
        let lease = first.assign(&request()).unwrap();
        first.release(&lease, lease.first).unwrap();
        let lease = registry.assign(&request()).unwrap();
        assert_eq!(lease.worker, 1);
        database.run(&format!(
            "UPDATE uidring_worker_node SET holder = NULL, lease_until = 0, reserved_until = {}",
            lease.first - 1
        ));
        let reserved = registry.reserve(&lease, lease.last + 1).map(|_| lease.clone());
        for given in [registry.assign(&request()), reserved] {
            let text = with_causes(&given.expect_err("it is an old copy"));
            assert!(text.contains("that gave worker id 1 to this process, or an old"), "{text}");
        }
        // When somebody has made it good.
        database.run(&recipe(schema(server), 100));
        let lost = registry.reserve(&lease, lease.last + 1).unwrap_err();
        assert!(matches!(lost, RegistryError::LeaseLost { worker: 1 }), "{lost}");
        assert_eq!(registry.assign(&request()).unwrap().worker, 101);
    }

    fn worker_ids_outside_of_a_range_are_left_alone(server) {
        let database = server.database();
        let build = |options| builder(registry_with(&database.url, options)).build();
        let two = || RegistryOptions::new().worker_ids(700..=701);
        for worker in [700, 701] {
            assert_eq!(build(two()).unwrap().worker_id(), worker);
        }
        let full = build(two()).unwrap_err().to_string();
        assert!(full.contains("2 of 2"), "{full}");
        let error = build(RegistryOptions::new()).unwrap_err().to_string();
        assert!(error.contains("worker ids 700 to 701, and 1 to 1048575 were"), "{error}");
        assert_eq!(registry(&database.url).ids().unwrap(), Some(700..=701));
    }

    fn a_schema_applied_by_hand_is_the_one_applied_by_itself(server) {
        let database = server.database();
        let schema = schema(server);
        for _ in 0..2 {
            database.run(schema);
            builder(registry(&database.url)).build().unwrap();
        }
        assert_eq!(registry(&database.url).workers().unwrap().len(), 2);
    }
}

/// The statement that an error names, to be run as it is.
fn remedy(text: &str) -> &str {
    let (_, rest) = text.split_once("; run ").unwrap_or_else(|| panic!("a statement in: {text}"));
    rest.split_once(", and").map_or(rest, |(statement, _)| statement)
}

#[cfg(feature = "mysql")]
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn settings_of_mysql_that_let_it_forget_a_commit_are_refused() {
    let server = OwnServer::start_with(Server::MySql, &["--log-bin=binlog", "--sync-binlog=1"]);
    let open = || leased(&server.url(), 60);
    builder(open()).build().unwrap();
    for (name, values) in
        [("innodb_flush_log_at_trx_commit", &["0", "2"][..]), ("sync_binlog", &["0", "2", "1000"])]
    {
        for value in values {
            server.run(&format!("SET GLOBAL {name} = {value}"));
            let text = refusal(open());
            assert!(
                text.contains(&format!("its {name} is {value}, so that a power failure could")),
                "{text}"
            );
            builder(leased(&only_for_tests(&server.url()), 60)).build().unwrap();
            server.run(remedy(&text));
            builder(open()).build().unwrap();
        }
    }
    if !has_mysql_itself() {
        // Syncs once more than 1 does. MySQL takes it for 2.
        server.run("SET GLOBAL innodb_flush_log_at_trx_commit = 3");
        builder(open()).build().unwrap();
        server.run("SET GLOBAL innodb_flush_log_at_trx_commit = 1");
    }

    let engines = ["MyISAM", "MEMORY", "Aria"];
    let engines = &engines[..if has_mysql_itself() { 2 } else { 3 }];
    for table in ["uidring_layout", "uidring_worker_node"] {
        for engine in engines {
            server.run(&format!("ALTER TABLE {table} ENGINE = {engine}"));
            let text = refusal(open());
            assert!(
                text.contains(&format!("its table {table} has the engine {engine}, ")),
                "{text}"
            );
            server.run(remedy(&text));
            builder(open()).build().unwrap();
        }
    }

    server.run("SET GLOBAL binlog_format = STATEMENT");
    let text = refusal(open());
    assert!(text.contains("its binlog_format is STATEMENT"), "{text}");
    server.run(remedy(&text));
    builder(open()).build().unwrap();

    // Settings that matter only with a binary log.
    let server = OwnServer::start_with(
        Server::MySql,
        &["--skip-log-bin", "--sync-binlog=0", "--binlog-format=STATEMENT"],
    );
    builder(registry(&server.url())).build().unwrap();
    // Settings that a running server cannot change.
    for (method, better) in [("nosync", "fsync"), ("O_DIRECT_NO_FSYNC", "O_DIRECT")] {
        let method_is = format!("--innodb-flush-method={method}");
        let server = OwnServer::start_with(Server::MySql, &[&method_is]);
        let text = refusal(registry(&server.url()));
        for words in [
            &format!("its innodb_flush_method is {method}, so that a power failure could"),
            &format!("put innodb_flush_method = {better} into"),
        ] {
            assert!(text.contains(words), "{text}");
        }
    }
}

/// So a power failure can leave it that comes while the server makes the table.
#[cfg(feature = "mysql")]
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn a_table_of_mariadb_that_is_there_by_name_alone_is_told() {
    let server = OwnServer::start(Server::MySql);
    server.run(schema(Server::MySql));
    let name = server.data_file("ids/uidring_worker_node.frm");
    let kept = std::fs::read(&name).unwrap();
    server.run("DROP TABLE uidring_worker_node");
    std::fs::write(&name, kept).unwrap();
    let text = refusal(registry(&server.url()));
    assert!(text.contains("has lost the table itself"), "{text}");
    assert!(text.contains("if nothing has ever been given here"), "{text}");
    server.run("DROP DATABASE ids; CREATE DATABASE ids");
    assert_eq!(builder(registry(&server.url())).build().unwrap().worker_id(), 1);
}

#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn a_server_with_another_time_is_told_on_postgres() {
    let database = Server::Postgres.database();
    let name = database.name();
    database.run(&format!(
        "CREATE FUNCTION {name}.clock_timestamp() RETURNS timestamptz LANGUAGE sql \
         AS $$SELECT pg_catalog.clock_timestamp() + interval '5 minutes'$$"
    ));
    let url = format!("{},pg_catalog", database.url);
    for registry in [registry(&url), leased(&url, 60)] {
        let status = builder(registry).build().unwrap().status();
        let skew_ms = status.clock_skew_ms.unwrap();
        assert!((-360_000..-240_000).contains(&skew_ms), "{skew_ms}");
        assert!(status.to_string().contains("behind the registry's"), "{status}");
    }
}

/// The other tests run on MariaDB.
#[cfg(feature = "mysql")]
#[test]
#[ignore = "needs MySQL 9: verify/stores/install mysql-9"]
fn mysql_itself_gives_worker_ids() {
    let server = OwnServer::start_mysql_9(&[]);
    for worker in 1..=3 {
        assert_eq!(builder(registry(&server.url())).build().unwrap().worker_id(), worker);
    }
}

/// A proxy may have a replica answer what is asked outside of a transaction, and a replica has
/// settings of its own.
#[cfg(feature = "mysql")]
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn settings_of_mysql_are_asked_within_the_transaction() {
    let server = OwnServer::start(Server::MySql);
    server.run("SET GLOBAL log_output = 'TABLE', GLOBAL general_log = ON");
    builder(registry(&server.url())).build().unwrap();
    let log = "SELECT GROUP_CONCAT(IF(argument LIKE 'START%', 'begin', 'ask') ORDER BY event_time) \
               FROM mysql.general_log WHERE command_type = 'Query' \
               AND (argument LIKE 'START TRANSACTION%' OR argument LIKE 'SELECT @@innodb_flush%')";
    let order = server.run(log);
    assert!(order.starts_with("begin,ask") && !order.contains("ask,ask"), "{order}");
}

/// What a server has set for new sessions is not so in those of the library.
#[cfg(feature = "mysql")]
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn settings_of_mysql_for_new_sessions_change_nothing() {
    let server = OwnServer::start(Server::MySql);
    for completion in ["CHAIN", "RELEASE"] {
        server.run("DROP DATABASE ids; CREATE DATABASE ids");
        server.run(&format!(
            "SET GLOBAL completion_type = '{completion}', GLOBAL sql_select_limit = 1, \
             GLOBAL group_concat_max_len = 4"
        ));
        // The first one makes the tables.
        for worker in [1, 2] {
            let uids = builder(registry(&server.url())).build().unwrap();
            assert_eq!(uids.worker_id(), worker, "{completion}");
        }
        assert_eq!(registry(&server.url()).workers().unwrap().len(), 2, "{completion}");
        server.run("ALTER TABLE uidring_layout ENGINE = MyISAM");
        let text = refusal(registry(&server.url()));
        assert!(text.contains("its table uidring_layout has the engine MyISAM"), "{text}");
    }
}

/// Whoever changes a table keeps others waiting, also those who lock no row.
#[cfg(feature = "mysql")]
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn a_table_that_is_locked_as_a_whole_is_told_on_mysql() {
    let database = Server::MySql.database();
    builder(registry(&database.url)).build().unwrap();
    let locked = database.lock("LOCK TABLES uidring_layout WRITE");
    let error = builder(registry(&database.url)).build().unwrap_err();
    let is_locked =
        matches!(error, BuildError::Registry(RegistryError::Storage(StorageError::Locked { .. })));
    assert!(is_locked, "{error}");
    drop(locked);
    assert_eq!(builder(registry(&database.url)).build().unwrap().worker_id(), 2);
}

/// What a power failure may take away is what was not synced: of a binary log that is synced now
/// and then, all that came since.
#[cfg(feature = "mysql")]
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn an_id_that_a_power_failure_takes_back_was_not_given_on_mysql() {
    for sync in ["0", "1", "1000"] {
        let mut server = OwnServer::start_with(
            Server::MySql,
            &["--log-bin=binlog", &format!("--sync-binlog={sync}")],
        );
        server.run(schema(Server::MySql));
        // Ends a log with a sync, and begins another.
        server.run("FLUSH BINARY LOGS");
        let log = server.data_file("binlog.000002");
        let synced = std::fs::metadata(&log).unwrap().len();
        let given = builder(registry(&server.url())).build().map(|uids| uids.worker_id());
        server.crash();
        if sync != "1" {
            std::fs::File::options().write(true).open(&log).unwrap().set_len(synced).unwrap();
        }
        server.crash_and_restart();
        server.run("SET GLOBAL sync_binlog = 1");
        let next = builder(registry(&server.url())).build().unwrap().worker_id();
        match given {
            Ok(given) => assert_ne!(next, given, "given twice, with sync_binlog = {sync}"),
            Err(error) => assert!(
                error.to_string().contains(&format!("its sync_binlog is {sync}, ")),
                "{error}"
            ),
        }
    }
}

#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn settings_of_postgresql_that_let_it_forget_a_commit_are_refused() {
    let server = OwnServer::start(Server::Postgres);
    let open = || leased(&server.url(), 60);
    let run_each = |statements: &str| {
        for statement in statements.split("; ") {
            server.run(statement);
        }
    };
    let await_fsync = |value: &str| {
        let since = Instant::now();
        while server.run("SHOW fsync") != value {
            assert!(since.elapsed() < Duration::from_secs(60));
            thread::sleep(Duration::from_millis(20));
        }
    };
    builder(open()).build().unwrap();
    run_each("ALTER SYSTEM SET fsync = off; SELECT pg_reload_conf()");
    await_fsync("off");
    let text = refusal(open());
    assert!(text.contains("its fsync is off, so that a power failure could"), "{text}");
    let for_tests = || leased(&only_for_tests(&server.url()), 60);
    builder(for_tests()).build().unwrap();
    server.run("ALTER TABLE uidring_layout SET UNLOGGED");
    let still = refusal(for_tests());
    assert!(still.contains("its table uidring_layout is not logged, "), "{still}");
    server.run("ALTER TABLE uidring_layout SET LOGGED");
    run_each(remedy(&text));
    await_fsync("on");
    builder(open()).build().unwrap();

    for table in ["uidring_layout", "uidring_worker_node"] {
        server.run(&format!("ALTER TABLE {table} SET UNLOGGED"));
        let text = refusal(open());
        assert!(text.contains(&format!("its table {table} is not logged, ")), "{text}");
        server.run(remedy(&text));
        builder(open()).build().unwrap();
    }

    // A commit waits for the server's own disk at the least, and for more if the operator says so.
    let held = "CREATE TABLE seen (setting TEXT); \
                CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS \
                $$ BEGIN INSERT INTO seen VALUES (current_setting('synchronous_commit')); \
                RETURN NULL; END $$; \
                CREATE CONSTRAINT TRIGGER note AFTER UPDATE ON uidring_layout \
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note()";
    server.run(held);
    for (set, expected) in [
        ("off", "on"),
        ("local", "on"),
        ("remote_write", "on"),
        ("on", "on"),
        ("remote_apply", "remote_apply"),
    ] {
        server.run(&format!("ALTER ROLE postgres SET synchronous_commit = {set}"));
        builder(registry(&server.url())).build().unwrap();
        assert_eq!(server.run("DELETE FROM seen RETURNING setting"), expected, "{set}");
    }
}

/// Who has waited for a standby in vain must not count what it has asked for as kept.
#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn a_commit_whose_wait_for_a_standby_was_ended_is_no_success_on_postgres() {
    let server = OwnServer::start(Server::Postgres);
    let first = registry(&server.url()).assign(&request()).unwrap();
    for statement in
        ["ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()"]
    {
        server.run(statement);
    }
    for options in ["", "?options=-cclient_min_messages=error"] {
        let mut registry = registry(&format!("{}{options}", server.url()));
        // The server takes a moment to wait for somebody.
        let waits = thread::spawn(move || {
            loop {
                if let Err(error) = registry.assign(&request()) {
                    return error;
                }
            }
        });
        let since = Instant::now();
        let cancel =
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
        while server.run(cancel).is_empty() {
            assert!(since.elapsed() < Duration::from_secs(60) && !waits.is_finished());
            thread::sleep(Duration::from_millis(20));
        }
        let error = waits.join().unwrap();
        let stopped = "it stopped waiting for its standbys";
        assert!(error.to_string().contains(stopped), "{options}: {error}");
        // Each further try would use up another id.
        assert!(!error.is_transient(), "{error:?}");
    }
    // What was committed is used up.
    let row: u64 = server.run("SELECT MAX(id) FROM uidring_worker_node").parse().unwrap();
    assert!(row > first.worker, "{row}");
}

/// The search path of another user, or one that a pooler has left out, leads elsewhere.
#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn no_second_registry_is_made_beside_one_in_another_schema_on_postgres() {
    let server = OwnServer::start(Server::Postgres);
    server.run("CREATE SCHEMA ids");
    let named = |schema: &str| format!("{}?options=-csearch_path={schema}", server.url());
    let first = registry(&named("ids")).assign(&request()).unwrap().worker;
    let error = registry(&server.url()).assign(&request()).unwrap_err();
    let sentence = "its tables are in the schema ids, and this user's search_path does not lead \
                    there; name the schema in the address, such as ?options=-csearch_path=ids; or";
    assert!(error.to_string().contains(sentence), "{error}");
    // Who says which one is meant gets it.
    assert_eq!(registry(&named("ids")).assign(&request()).unwrap().worker, first + 1);
    assert_eq!(registry(&named("public")).assign(&request()).unwrap().worker, 1);
    // And now nobody makes any.
    assert_eq!(registry(&server.url()).assign(&request()).unwrap().worker, 2);
}

/// The schema that the address names is the one, also where a pooler does not tell the server.
#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn the_address_names_the_schema_also_behind_a_pooler_that_drops_it_on_postgres() {
    let server = OwnServer::start(Server::Postgres);
    server.run("CREATE SCHEMA ids; CREATE SCHEMA \"Made, too\"");
    let path = |url: &str, path: &str| registry(&format!("{url}?options=-csearch_path={path}"));
    let assign = |mut registry: StoreRegistry| registry.assign(&request()).unwrap().worker;
    assert_eq!(assign(path(&server.url(), "ids")), 1);
    let pooler = without_options(&server.url());
    assert_eq!(assign(path(&pooler, "ids")), 2);
    assert_eq!(assign(path(&pooler, "ids,public")), 3);
    assert_eq!(path(&pooler, "ids").workers().unwrap().len(), 3);
    // Where there is none yet, the first schema gets it, or nobody.
    let text = refusal(path(&pooler, "nowhere,public"));
    assert!(text.contains("make the schema, or name another in search_path"), "{text}");
    path(&pooler, "nowhere,public").try_out(&Layout::DEFAULT).unwrap_err();
    path(&pooler, "%22Made,%5c%20too%22,public").try_out(&Layout::DEFAULT).unwrap();
    assert_eq!(assign(path(&pooler, "%22Made,%5c%20too%22,public")), 1);
    let places = "SELECT string_agg(table_schema, '; ' ORDER BY table_schema) \
                  FROM information_schema.tables WHERE table_name = 'uidring_layout'";
    assert_eq!(server.run(places), "Made, too; ids");
    // A column that is missing is told from the right place.
    server.run("ALTER TABLE ids.uidring_worker_node DROP COLUMN holder CASCADE");
    let text = refusal(leased(&format!("{pooler}?options=-csearch_path=ids"), 60));
    assert!(text.contains("does not have the column holder"), "{text}");
}

/// A table may be several: its partitions, and those that inherit from it.
#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn each_part_of_a_table_is_looked_at_on_postgres() {
    let server = OwnServer::start(Server::Postgres);
    let open = || leased(&server.url(), 60);
    builder(open()).build().unwrap();
    let refused = |what: &str| {
        let text = refusal(open());
        assert!(text.contains(what), "{text}");
        text
    };
    server.run("CREATE UNLOGGED TABLE child () INHERITS (uidring_worker_node)");
    let text = refused("its table child is not logged, so that a crash of the server would empty");
    server.run(remedy(&text));
    builder(open()).build().unwrap();
    server.run("DROP TABLE child");

    server.run(
        "ALTER TABLE uidring_worker_node RENAME TO old; \
         CREATE TABLE uidring_worker_node (LIKE old INCLUDING ALL) PARTITION BY RANGE (id); \
         CREATE TABLE low PARTITION OF uidring_worker_node FOR VALUES FROM (0) TO (5); \
         CREATE TABLE high PARTITION OF uidring_worker_node FOR VALUES FROM (5) TO (MAXVALUE) \
         PARTITION BY RANGE (id); \
         CREATE TABLE higher PARTITION OF high FOR VALUES FROM (5) TO (MAXVALUE); \
         INSERT INTO uidring_worker_node SELECT * FROM old",
    );
    builder(open()).build().unwrap();
    for part in ["low", "higher"] {
        server.run(&format!("ALTER TABLE {part} SET UNLOGGED"));
        let text = refused(&format!("its table {part} is not logged"));
        server.run(remedy(&text));
        builder(open()).build().unwrap();
    }
    server.run(
        "CREATE EXTENSION postgres_fdw; \
         CREATE SERVER elsewhere FOREIGN DATA WRAPPER postgres_fdw; \
         CREATE FOREIGN TABLE far () INHERITS (uidring_layout) SERVER elsewhere",
    );
    refused("its table far is on another server, which need not keep a commit");
}

/// The machine of the first one is off, which says nothing, not even that it is away.
#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn a_host_that_does_not_answer_leaves_time_for_the_others_on_postgres() {
    let database = Server::Postgres.database();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    // Nobody accepts these, and when there are too many, the system answers no more.
    let connect = || TcpStream::connect_timeout(&address, Duration::from_millis(300)).ok();
    let waiting: Vec<_> = std::iter::from_fn(connect).collect();
    let (user, host) = database.url.split_once('@').unwrap();
    let url = format!("{user}@{address},{host}");
    assert_eq!(builder(registry(&url)).build().unwrap().worker_id(), 1);
    drop(waiting);
}

/// A standby takes no writes until it is promoted.
#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn a_standby_and_a_read_only_role_are_told_apart_on_postgres() {
    let mut server = OwnServer::start(Server::Postgres);
    let open = |url: &str| leased(url, 60);
    builder(open(&server.url())).build().unwrap();
    for (set, reset) in [
        (
            "ALTER ROLE postgres SET default_transaction_read_only = on",
            "ALTER ROLE postgres RESET default_transaction_read_only",
        ),
        (
            "ALTER DATABASE postgres SET default_transaction_read_only = on",
            "SET default_transaction_read_only = off; \
             ALTER DATABASE postgres RESET default_transaction_read_only",
        ),
    ] {
        server.run(set);
        let error = builder(open(&server.url())).build().unwrap_err();
        let text = with_causes(&error);
        let only_reads = "its transactions only read, as default_transaction_read_only is on; if \
                          it may be written again, set that to off where it was set";
        assert!(text.contains(only_reads) && !text.contains("primary"), "{text}");
        let BuildError::Registry(error) = error else { panic!("{text}") };
        assert!(error.is_transient(), "it may be switched on again at any time: {text}");
        // What only reads is not kept from it.
        assert!(!open(&server.url()).workers().unwrap().is_empty());
        server.run(&format!("BEGIN READ WRITE; {reset}; COMMIT"));
        builder(open(&server.url())).build().unwrap();
    }
    std::fs::write(server.data_file("standby.signal"), "").unwrap();
    server.crash_and_restart();
    let text = refusal(open(&server.url()));
    let standby = "it is a standby, which takes no writes; give the address of the primary";
    assert!(text.contains(standby), "{text}");
    assert!(!open(&server.url()).workers().unwrap().is_empty());
}

/// An authority in PEM, and a certificate of its for `name`, with its key.
fn certificates(name: &str) -> [String; 3] {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/certificates");
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
    [read("authority.pem"), read(&format!("{name}.pem")), read(&format!("{name}-key.pem"))]
}

#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn tls_to_postgresql_is_checked() {
    let dir = tempfile::tempdir().unwrap();
    let authority = dir.path().join("our authority.pem");
    let named = "sslrootcert=".to_owned() + &authority.to_str().unwrap().replace(' ', "%20");
    for (name, is_ours) in [("127.0.0.1", true), ("another.example", false)] {
        let [authority_pem, certificate, key] = certificates(name);
        std::fs::write(&authority, authority_pem).unwrap();
        let server = OwnServer::start_with_tls(Server::Postgres, certificate, key);
        for mode in ["require", "verify-full"] {
            let url = format!("{}?sslmode={mode}", server.url());
            let text = refusal(registry(&url));
            assert!(text.contains("UnknownIssuer"), "{text}");
            let trusting =
                || PostgresRegistry::open(&url).unwrap().with_root_certificate(&authority).unwrap();
            if is_ours {
                builder(trusting()).build().unwrap();
                builder(registry(&format!("{url}&{named}"))).build().unwrap();
            } else {
                let text = refusal(trusting());
                assert!(text.contains("see the server's certificate"), "{text}");
            }
        }
        // With `prefer`, the client goes on without TLS.
        builder(registry(&server.url())).build().unwrap();
        // With a named authority it does not, unless `sslmode` allows it.
        let by_name = registry(&format!("{}?{named}", server.url()));
        let prefer = format!("{}?{named}&sslmode=prefer", server.url());
        builder(registry(&prefer)).build().unwrap();
        if is_ours {
            builder(by_name).build().unwrap();
        } else {
            let text = refusal(by_name);
            assert!(text.contains("see the server's certificate"), "{text}");
        }
    }
    let server = OwnServer::start(Server::Postgres);
    let text = refusal(registry(&format!("{}?{named}", server.url())));
    assert!(text.contains("does not support TLS"), "{text}");
    let text = PostgresRegistry::open("postgres://db/ids")
        .unwrap()
        .with_root_certificate("/dev/null")
        .unwrap_err();
    assert!(text.to_string().contains("/dev/null: it holds no certificate"), "{text}");
}

#[cfg(feature = "mysql")]
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn tls_to_mysql_is_checked() {
    let dir = tempfile::tempdir().unwrap();
    let authority = dir.path().join("our authority.pem");
    let named = "ssl-ca=".to_owned() + &authority.to_str().unwrap().replace(' ', "%20");
    for (name, is_ours) in [("127.0.0.1", true), ("another.example", false)] {
        let [authority_pem, certificate, key] = certificates(name);
        std::fs::write(&authority, authority_pem).unwrap();
        let server = OwnServer::start_with_tls(Server::MySql, certificate, key);
        // A user who is let in with TLS alone.
        server.run("CREATE USER me REQUIRE SSL; GRANT ALL ON ids.* TO me");
        let url = server.url().replace("root@", "me@");
        let text = refusal(registry(&url));
        assert!(text.contains("write require_ssl=true in the address"), "{text}");
        let text = refusal(registry(&format!("{url}?require_ssl=true")));
        assert!(text.contains("see the server's certificate"), "{text}");
        let trusting = || -> Box<dyn WorkerRegistry> {
            Box::new(MySqlRegistry::open(&url).unwrap().with_root_certificate(&authority))
        };
        let by_name =
            || -> Box<dyn WorkerRegistry> { Box::new(registry(&format!("{url}?{named}"))) };
        for trusting in [&trusting as &dyn Fn() -> Box<dyn WorkerRegistry>, &by_name] {
            if is_ours {
                builder(trusting()).build().unwrap();
            } else {
                let text = refusal(trusting());
                assert!(text.contains("see the server's certificate"), "{text}");
            }
        }
    }
}

#[cfg(feature = "postgres")]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn a_wrong_password_is_refused_by_postgresql() {
    let server = OwnServer::start(Server::Postgres);
    server.require_password(
        "CREATE ROLE me LOGIN PASSWORD 'secret'; GRANT CREATE ON SCHEMA public TO me",
        "me",
    );
    let url = |password: &str| server.url().replace("postgres@", &format!("me:{password}@"));
    builder(registry(&url("secret"))).build().unwrap();
    let text = refusal(registry(&url("wrong")));
    assert!(text.contains("password authentication failed for user \"me\""), "{text}");
    assert!(!text.contains("wrong"), "{text}");
}

#[cfg(feature = "postgres")]
#[test]
fn what_is_no_address_of_postgresql_is_refused() {
    for (url, problem) in [
        ("", "it is empty; an address is such as postgres://user:password@host:5432/database"),
        ("uidring.db", "it is not an address such as postgres://user:password@host:5432/database"),
        (
            "me:secret@db:5432/ids",
            "it is not an address such as postgres://user:password@host:5432/database",
        ),
        (
            "host=db dbname=ids password=secret",
            "it is a list of keys and values; write it as an address, such as",
        ),
        (
            "mysql://me:secret@db/ids",
            "it begins with mysql://, and an address of PostgreSQL with postgres://",
        ),
        (
            "postgre://me:secret@db/ids",
            "it begins with postgre://, and an address of PostgreSQL with postgres://",
        ),
        ("postgres:///ids", "it names no host; write localhost for a server on this machine"),
        (
            "postgres://me:secret@/ids",
            "it names no host; write localhost for a server on this machine",
        ),
        ("postgres://me:secret@db:port/ids", "see the address"),
        ("postgres://me:secret@db/ids?sslmod=require", "see the address"),
        ("postgres://me:secret@db/ids?sslrootcert=", "sslrootcert names no file"),
        ("postgres://me:secret@db/ids?sslrootcert=/no/such.pem", "/no/such.pem: "),
        ("postgres://me:secret@db/ids?sslrootcert=/dev/null", "/dev/null: it holds no certificate"),
    ] {
        let text = PostgresRegistry::open(url).unwrap_err().to_string();
        assert!(text.contains(problem) && !text.contains("secret"), "{text}");
    }
}

#[cfg(feature = "mysql")]
#[test]
fn what_is_no_address_of_mysql_is_refused() {
    for (url, problem) in [
        ("", "it is empty; an address is such as mysql://user:password@host:3306/database"),
        ("uidring.db", "it is not an address such as mysql://user:password@host:3306/database"),
        (
            "host=db dbname=ids password=secret",
            "it is a list of keys and values; write it as an address, such as",
        ),
        (
            "mariadb://me:secret@db/ids",
            "it begins with mariadb://, and an address of MySQL or MariaDB with mysql://",
        ),
        ("mysql:///ids", "it names no host; write localhost for a server on this machine"),
        (
            "mysql://me:secret@/ids",
            "it names no host; write localhost for a server on this machine",
        ),
        ("mysql://me:secret@db", "the address names no database"),
        ("mysql://me:secret@db:port/ids", "see the address"),
        ("mysql://me:secret@db/ids?requiressl=true", "see the address"),
        ("mysql://me:secret@db/ids?ssl-ca=", "ssl-ca names no file"),
        ("mysql://me:secret@db/ids?ssl-ca=/no/such.pem", "/no/such.pem: "),
        ("mysql://me:secret@db/ids?ssl-ca=/dev/null", "/dev/null: it holds no certificate"),
    ] {
        let text = MySqlRegistry::open(url).unwrap_err().to_string();
        assert!(text.contains(problem) && !text.contains("secret"), "{text}");
    }
}
