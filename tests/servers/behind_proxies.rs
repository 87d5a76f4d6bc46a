//! Ids, numbers of tags and numbers of series through what stands between programs and servers.

use std::collections::HashSet;
use std::thread;
use std::time::Duration;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder};
use tokio::runtime::Runtime;
use tokio::sync::Mutex;
use tokio_postgres::NoTls;
use uidring::registry::{Request, WorkerRegistry};
use uidring::segment::{SegmentSource, Tag};
use uidring::series::{Dialect, Series, SeriesDefinition, SeriesGenerator};
use uidring::{Layout, RegistryOptions, Store};

use crate::asking::each;
use crate::causes::with_causes;
use crate::databases::{OwnServer, Server};
use crate::driver_rows::{mysql_rows, postgres_rows};
use crate::proxies::{PgBouncer, Pgpool};
use crate::read_splitter::{Split, split_reads};

const PROGRAMS: u64 = 6;
const ROUNDS: u64 = 8;

fn request() -> Request {
    Request::new(Layout::DEFAULT, 10_000_000, Layout::DEFAULT.max_tick())
}

fn leased(store: &Store) -> impl WorkerRegistry {
    store.registry_with(RegistryOptions::new().leased(Duration::from_secs(60))).unwrap()
}

/// With takes that wait for a server that is busy.
fn series(store: &Store) -> Series {
    Series::builder().store(store).max_wait(Duration::from_secs(60)).build().unwrap()
}

/// Several programs take all at once through `address`, and nothing comes twice.
fn nothing_comes_twice(address: &str) {
    let store = Store::open(address).unwrap();
    store.segments().unwrap().create("orders", &Tag::new().step(10)).unwrap();
    let tickets = SeriesDefinition::new("{scope}-{n:6}").unwrap().step(3);
    series(&store).create("tickets", tickets).unwrap();
    let all = std::sync::Mutex::new(HashSet::new());
    let note = |given: String| {
        let is_new = all.lock().unwrap().insert(given.clone());
        assert!(is_new, "{given} comes twice");
    };
    let take = |program: u64| {
        let store = Store::open(address).unwrap();
        let (series, segments) = (series(&store), store.segments().unwrap());
        let tickets = series.get("tickets").unwrap();
        let (mut permanent, mut leased) = (store.registry().unwrap(), leased(&store));
        for round in 0..ROUNDS {
            note(format!("id {}", permanent.assign(&request()).unwrap().worker));
            let lease = leased.assign(&request()).unwrap();
            leased.reserve(&lease, lease.last + 3).unwrap();
            (lease.first..lease.first + 3)
                .for_each(|tick| note(format!("id {} at {tick}", lease.worker)));
            if round % 2 == 0 {
                leased.release(&lease, lease.first + 2).unwrap();
            }
            let segment = segments.load("orders", Some(5)).unwrap();
            (0..5).for_each(|at| note(format!("order {}", segment.first + at)));
            let tickets = tickets.scope(["north", "south"][(program % 2) as usize]);
            (0..5).for_each(|_| note(tickets.take().unwrap().to_string()));
        }
    };
    thread::scope(|scope| {
        (0..PROGRAMS).for_each(|program| drop(scope.spawn(move || take(program))));
    });
    let given = all.lock().unwrap().len() as u64;
    assert_eq!(given, PROGRAMS * ROUNDS * (1 + 3 + 5 + 5));
}

/// Clients that commit, roll back and lose their connections. What is committed has the numbers
/// from 1 on, each once.
fn documents_have_all_numbers_once(address: &str, server: &OwnServer) {
    let series = series(&Store::open(address).unwrap());
    let definition = SeriesDefinition::new("{n:6}").unwrap().gapless();
    let invoices = series.create("invoices", definition).unwrap();
    let write = async |invoices: &SeriesGenerator, fate: u64| {
        let (mut db, connection) = tokio_postgres::connect(address, NoTls).await.unwrap();
        tokio::spawn(connection);
        for fate in fate..fate + ROUNDS {
            let mut transaction = db.transaction().await.unwrap();
            // As documents are read before.
            transaction.batch_execute("SELECT COUNT(*) FROM invoice").await.unwrap();
            let number = if fate % 2 == 0 {
                invoices.take_in(&mut transaction).await.unwrap()
            } else {
                let run = |sql, values| postgres_rows(&transaction, sql, values);
                invoices.take_with_async(Dialect::Postgres, run).await.unwrap()
            };
            let insert = format!("INSERT INTO invoice VALUES ('{number}')");
            transaction.batch_execute(&insert).await.unwrap();
            if fate % 4 == 0 {
                transaction.rollback().await.unwrap();
            } else {
                transaction.commit().await.unwrap();
            }
        }
        // The last one is left to the server.
        let mut transaction = db.transaction().await.unwrap();
        invoices.take_in(&mut transaction).await.unwrap();
    };
    thread::scope(|scope| {
        for program in 0..PROGRAMS {
            let (write, invoices) = (&write, invoices.clone());
            scope.spawn(move || runtime().block_on(write(&invoices, program)));
        }
    });
    assert_all_once(&server.run("SELECT number FROM invoice ORDER BY number"));
}

fn assert_all_once(numbers: &str) {
    let expected: Vec<_> = (1..=PROGRAMS * ROUNDS * 3 / 4).map(|at| format!("{at:06}")).collect();
    assert_eq!(numbers.lines().collect::<Vec<_>>(), expected);
}

/// Not by the server's socket, which the driver would ask for.
async fn connect(address: &str) -> Conn {
    let options = OptsBuilder::from_opts(Opts::from_url(address).unwrap()).prefer_socket(false);
    Conn::new(options).await.unwrap()
}

/// What [`documents_have_all_numbers_once`] does, through `address` of MySQL.
fn documents_of_mysql_have_all_numbers_once(address: &str, server: &OwnServer) {
    let series = series(&Store::open(address).unwrap());
    let definition = SeriesDefinition::new("{n:6}").unwrap().gapless();
    let invoices = series.create("invoices", definition).unwrap();
    let write = async |fate: u64| {
        let db = Mutex::new(connect(address).await);
        let run = |sql: String| async { db.lock().await.query_drop(sql).await.unwrap() };
        for fate in fate..fate + ROUNDS {
            let number = loop {
                run("START TRANSACTION".to_owned()).await;
                run("SELECT COUNT(*) FROM invoice".to_owned()).await;
                let rows = |sql, values| mysql_rows(&db, sql, values);
                match invoices.take_with_async(Dialect::MySql, rows).await {
                    Ok(number) => break number,
                    // A deadlock, which MySQL ends by itself.
                    Err(error) => assert!(error.is_transient(), "{error}"),
                }
                run("ROLLBACK".to_owned()).await;
            };
            run(format!("INSERT INTO invoice VALUES ('{number}')")).await;
            run(if fate % 4 == 0 { "ROLLBACK" } else { "COMMIT" }.to_owned()).await;
        }
        db.into_inner().disconnect().await.unwrap();
    };
    thread::scope(|scope| {
        for program in 0..PROGRAMS {
            let write = &write;
            scope.spawn(move || runtime().block_on(write(program)));
        }
    });
    assert_all_once(&server.run("SELECT number FROM invoice ORDER BY number"));
}

fn with_documents() -> OwnServer {
    let server = OwnServer::start(Server::Postgres);
    server.run("CREATE TABLE invoice (number TEXT PRIMARY KEY)");
    server
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// What each kind of call says that is refused.
fn refusals(address: &str) -> [String; 3] {
    let store = Store::open(address).unwrap();
    let series = series(&store);
    let definition = SeriesDefinition::new("{n:6}").unwrap();
    [
        store.registry().unwrap().assign(&request()).unwrap_err().to_string(),
        store.segments().unwrap().create("orders", &Tag::new()).unwrap_err().to_string(),
        series.create("tickets", definition).unwrap_err().to_string(),
    ]
}

#[test]
#[ignore = "needs a PostgreSQL server, and pgbouncer"]
fn pgbouncer_shares_connections_by_session_and_by_transaction() {
    for mode in ["session", "transaction"] {
        let server = with_documents();
        // Fewer than there are programs.
        let lines = format!("pool_mode = {mode}\ndefault_pool_size = 3\nquery_wait_timeout = 60");
        let pooler = PgBouncer::start(server.port(), &lines);
        let address = pooler.url("postgres", "postgres");
        nothing_comes_twice(&address);
        documents_have_all_numbers_once(&address, &server);
    }
}

#[test]
#[ignore = "needs a PostgreSQL server, and pgbouncer"]
fn pgbouncer_by_statement_is_refused() {
    let server = OwnServer::start(Server::Postgres);
    let pooler = PgBouncer::start(server.port(), "pool_mode = statement");
    for text in refusals(&pooler.url("postgres", "postgres")) {
        let remedy = "it is a pooler that gives each statement another connection; have it keep a \
                      transaction on one, as PgBouncer does with pool_mode = transaction";
        assert!(text.contains(remedy), "{text}");
    }
    assert_eq!(server.run("SELECT to_regclass('uidring_layout') IS NULL"), "t");
}

/// Each query that may go to the standby goes there, also within transactions.
#[test]
#[ignore = "needs a PostgreSQL server, and pgpool"]
fn postgresql_behind_pgpool_with_a_standby_that_lags_is_asked_at_the_primary() {
    for (late, lines) in [
        (Duration::from_secs(3600), ""),
        (Duration::from_millis(300), "statement_level_load_balance = on"),
        (Duration::from_secs(3600), "disable_load_balance_on_write = 'off'"),
        (Duration::from_millis(300), "allow_sql_comments = on\nmemory_cache_enabled = on"),
        (Duration::from_millis(300), "write_function_list = 'nextval,setval'"),
    ] {
        let mut server = with_documents();
        let standby = server.standby(late);
        let pgpool = Pgpool::start(&server, &standby, lines);
        let address = pgpool.url();
        nothing_comes_twice(&address);
        documents_have_all_numbers_once(&address, &server);
    }
}

/// Each server runs each statement. Under load that alone makes them differ.
#[test]
#[ignore = "needs a PostgreSQL server, and pgpool"]
fn postgresql_that_pgpool_itself_replicates_is_refused_where_servers_differ() {
    for mode in ["native_replication", "snapshot_isolation"] {
        let isolation = ["-c", "default_transaction_isolation=repeatable read"];
        let [first, second] = [(); 2].map(|()| OwnServer::start_with(Server::Postgres, &isolation));
        let pgpool = Pgpool::start_as(mode, &first, &second, "");
        each(&[(pgpool.url(), "")]);
        let ids = "SELECT last_worker FROM uidring_layout";
        assert_eq!([first.run(ids), second.run(ids)], ["1", "1"], "{mode}");
        second.run("DELETE FROM uidring_layout");
        let remedy = "it is Pgpool-II, whose servers have answered differently; have PostgreSQL \
                      replicate, with backend_clustering_mode = 'streaming_replication', or give \
                      the address of one server";
        each(&[(pgpool.url(), remedy)]);
        assert_eq!(first.run(ids), "1", "{mode}");
    }
}

/// The replica has what the primary had when the programs started.
#[test]
#[ignore = "needs MariaDB's server"]
fn mysql_behind_a_proxy_that_has_a_replica_answer_other_queries_is_asked_at_the_primary() {
    let mut server = OwnServer::start(Server::MySql);
    server.run("CREATE TABLE invoice (number VARCHAR(9) PRIMARY KEY)");
    let replica = server.copy();
    let address = split_reads(&server.url(), replica.port(), Split::Outside);
    nothing_comes_twice(&address);
    documents_of_mysql_have_all_numbers_once(&address, &server);
    assert_eq!(replica.run("SHOW TABLES"), "invoice");
}

/// Also where the two are one, which tells of commits alone.
#[test]
#[ignore = "needs MariaDB's server"]
fn mysql_behind_a_proxy_that_has_another_connection_answer_queries_is_refused() {
    let mut server = OwnServer::start(Server::MySql);
    let store = Store::open(server.url()).unwrap();
    leased(&store).assign(&request()).unwrap();
    let definition = SeriesDefinition::new("{n:6}").unwrap().gapless();
    let invoices = series(&store).create("invoices", definition).unwrap();
    let replica = server.copy();
    let count = async |address: &str| {
        let db = Mutex::new(connect(address).await);
        db.lock().await.query_drop("START TRANSACTION").await.unwrap();
        let rows = |sql, values| mysql_rows(&db, sql, values);
        let error = invoices.take_with_async(Dialect::MySql, rows).await.unwrap_err();
        db.into_inner().disconnect().await.unwrap();
        with_causes(&error)
    };
    let tables = server.run("SELECT * FROM uidring_layout");
    for replica in [replica.port(), server.port()] {
        for split in [Split::All, Split::AllButLocks] {
            let address = split_reads(&server.url(), replica, split);
            let counted = runtime().block_on(count(&address));
            for text in refusals(&address).into_iter().chain([counted]) {
                let remedy = "it is behind a proxy that has another connection answer the queries \
                              of a transaction, where what was given last may be missing; have \
                              the proxy keep a transaction on one connection to the primary, as \
                              ProxySQL does with transaction_persistent = 1, or give the address \
                              of the primary itself";
                assert!(text.contains(remedy), "{split:?}: {text}");
            }
        }
    }
    assert_eq!(server.run("SELECT * FROM uidring_layout"), tables);
    assert_eq!(server.run("SELECT * FROM uidring_series_counter"), "");
}
