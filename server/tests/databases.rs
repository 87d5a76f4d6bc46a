//! The service on PostgreSQL and MySQL: with their tables, and while they are away.

#![cfg(all(feature = "mysql", feature = "postgres"))]
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod common;
#[path = "../../tests/common/databases/mod.rs"]
mod databases;

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::{GOOD, Server, begins, check, check_and_start, metric};
use databases::{OwnServer, Server as Kind};

/// Runs each test on both kinds of servers.
macro_rules! on_servers {
    ($(fn $name:ident($kind:ident) $body:block)*) => {$(
        mod $name {
            use super::*;

            fn on($kind: Kind) $body

            #[test]
            #[ignore = "needs PostgreSQL"]
            fn postgres() {
                on(Kind::Postgres);
            }

            #[test]
            #[ignore = "needs MySQL"]
            fn mysql() {
                on(Kind::MySql);
            }
        }
    )*};
}

on_servers! {
    fn ids_come_from_our_own_tables(kind) {
        let database = kind.database();
        let start = || Server::start_with(&database.url, &[]);
        let (one, two) = (start(), start());
        assert_eq!(one.put("orders", r#"{"step":10}"#).status, 201);
        assert_eq!(two.put("orders", "{}").status, 200);
        let mut numbers = Vec::new();
        for server in [&one, &two, &one, &two] {
            for _ in 0..25 {
                let lines = server.send("GET", "/v1/tags/orders/ids", &["accept: text/plain"], "");
                numbers.push(lines.text().trim_end().parse::<u64>().unwrap());
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 100);
        assert_ne!(one.worker(), two.worker());
    }

    fn a_repeated_request_gets_the_same_numbers_of_a_series(kind) {
        let database = kind.database();
        let start = || Server::start_with(&database.url, &["--threads=4"]);
        let servers = [start(), start()];
        let json = "content-type: application/json";
        let body = r#"{"pattern":"{yyyy}-{n:6}","step":5}"#;
        let created = servers[0].send("PUT", "/v1/series/orders", &[json], body);
        assert_eq!(created.status, 201, "{created:?}");
        let post = |index: usize, key: &str, body: &str| {
            let headers = [json, &format!("idempotency-key: {key}")];
            servers[index].send("POST", "/v1/series/orders/numbers", &headers, body)
        };
        let mut given = Vec::new();
        for key in 0..10 {
            let ask = |index: usize| post(index % 2, &key.to_string(), r#"{"n":3}"#).json();
            let all: Vec<_> = thread::scope(|scope| {
                let ask = &ask;
                let clients: Vec<_> =
                    (0..8).map(|index| scope.spawn(move || ask(index))).collect();
                clients.into_iter().map(|client| client.join().unwrap()).collect()
            });
            assert!(all.iter().all(|one| *one == all[0]), "{all:?}");
            given.extend(all[0]["numbers"].as_array().unwrap().clone());
        }
        let count = given.len();
        given.sort_by_key(ToString::to_string);
        given.dedup();
        assert_eq!((count, given.len()), (30, 30));
        assert_eq!(post(1, "0", "{}").status, 422);
        // As if they were two days old, so that the next answer removes them.
        let old = "UPDATE uidring_request SET created = created - 172800000";
        database.run(old);
        assert_eq!(post(0, "0", "{}").status, 200);
        assert_eq!(post(1, "0", "{}").status, 200);
        assert_eq!(database.run("SELECT COUNT(*) FROM uidring_request").trim(), "1");
    }

    fn leafs_table_is_used_as_it_is(kind) {
        let database = kind.database();
        database.run(
            "CREATE TABLE leaf_alloc (biz_tag VARCHAR(128) NOT NULL DEFAULT '', \
             max_id BIGINT NOT NULL DEFAULT 1, step INT NOT NULL, \
             description VARCHAR(256) DEFAULT NULL, \
             update_time TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (biz_tag))",
        );
        database.run(
            "INSERT INTO leaf_alloc (biz_tag, max_id, step) VALUES ('leaf-segment-test', 1, 2000)",
        );
        // Without time-ordered ids, nothing but Leaf's table is needed.
        let server = Server::start_with(&database.url, &["--table=leaf", "--uids=false"]);
        assert_eq!(server.get("/api/segment/get/leaf-segment-test").text(), "1");
        let row = "SELECT max_id FROM leaf_alloc";
        assert_eq!(database.run(row), "2001");
        assert!(server.get("/db").text().contains("<td>2001</td><td>2000</td>"));
        assert_eq!(server.get("/v1/uids").status, 404);
        drop(server.stop());
        assert_eq!(database.run(row), "2");
    }

    fn tinyids_tables_are_used_as_they_are(kind) {
        let database = kind.database();
        let serial = if kind == Kind::MySql { "BIGINT AUTO_INCREMENT" } else { "BIGSERIAL" };
        database.run(&format!(
            "CREATE TABLE tiny_id_info (id {serial} PRIMARY KEY, \
             biz_type VARCHAR(63) NOT NULL DEFAULT '' UNIQUE, begin_id BIGINT NOT NULL DEFAULT 0, \
             max_id BIGINT NOT NULL DEFAULT 0, step INT DEFAULT 0, delta INT NOT NULL DEFAULT 1, \
             remainder INT NOT NULL DEFAULT 0, \
             create_time TIMESTAMP NOT NULL DEFAULT '2010-01-01 00:00:00', \
             update_time TIMESTAMP NOT NULL DEFAULT '2010-01-01 00:00:00', \
             version BIGINT NOT NULL DEFAULT 0)"
        ));
        database.run(&format!(
            "CREATE TABLE tiny_id_token (id {serial} PRIMARY KEY, \
             token VARCHAR(255) NOT NULL DEFAULT '', biz_type VARCHAR(63) NOT NULL DEFAULT '', \
             remark VARCHAR(255) NOT NULL DEFAULT '')"
        ));
        database.run(
            "INSERT INTO tiny_id_info (biz_type, begin_id, max_id, step, delta, remainder) \
             VALUES ('test_odd', 1, 1, 100000, 2, 1)",
        );
        database.run("INSERT INTO tiny_id_token (token, biz_type) VALUES ('secret', 'test_odd')");
        let server = Server::start_with(&database.url, &["--table=tinyid"]);
        let ask = |path: &str, token: &str| {
            let path = format!("/tinyid/id/{path}?bizType=test_odd&token={token}");
            server.send("POST", &path, &[], "").text().to_owned()
        };
        assert_eq!(ask("nextSegmentIdSimple", "secret"), "1,20001,100001,2,1");
        assert_eq!(ask("nextSegmentIdSimple", "wrong"), "");
        assert_eq!(ask("nextIdSimple", "secret"), "100003");
        assert_eq!(database.run("SELECT max_id FROM tiny_id_info"), "200001");
    }

    fn a_database_that_gives_numbers_is_up_though_the_probe_waits_in_vain(kind) {
        let database = kind.database();
        let server = Server::start_with(&database.url, &[]);
        assert_eq!(server.put("orders", "{}").status, 201);
        let is_up = || metric(server.get("/metrics").text(), "uidring_database_up") == Some(1.0);
        assert!(is_up());
        // The probe reads it, and loads do not.
        let table = "uidring_worker_node";
        let locked = database.lock(&match kind {
            Kind::Postgres => format!("LOCK TABLE {table}"),
            Kind::MySql => format!("LOCK TABLES {table} WRITE"),
        });
        server.wait_for("locked", || !is_up());
        server.wait_for("busy", || {
            let segment = server.send("POST", "/v1/tags/orders/segments?size=10", &[], "");
            assert_eq!(segment.status, 200, "{segment:?}");
            is_up()
        });
        server.wait_for("locked again", || !is_up());
        drop(locked);
        server.wait_for("unlocked", is_up);
    }

    fn a_check_looks_at_the_password_and_the_rights(kind) {
        let database = kind.database();
        let tables = || match kind {
            Kind::Postgres => database
                .run("SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"),
            Kind::MySql => database.run(
                "SELECT count(*) FROM information_schema.tables WHERE table_schema = DATABASE()",
            ),
        };
        let shown = database.url.split('?').next().unwrap();
        let new = GOOD.to_owned() + &begins(shown);
        assert_eq!(check(&database.url), (Some(0), new));
        assert_eq!(tables(), "0", "nothing is made");
        // A user who may not make tables.
        let user = format!("check_{}", std::process::id());
        let (make, drop) = match kind {
            Kind::Postgres => (
                format!(
                    "CREATE ROLE {user} LOGIN PASSWORD 'right'; \
                     GRANT USAGE ON SCHEMA {} TO {user}",
                    database.run("SELECT current_schema()")
                ),
                format!("DROP OWNED BY {user}; DROP ROLE {user}"),
            ),
            Kind::MySql => (
                format!(
                    "CREATE USER {user} IDENTIFIED BY 'right'; \
                     GRANT SELECT, INSERT, UPDATE ON * TO {user}"
                ),
                format!("DROP USER {user}"),
            ),
        };
        database.run(&make);
        let (scheme, rest) = database.url.split_once("://").unwrap();
        let (_, place) = rest.split_once('@').unwrap();
        let rights = check(&format!("{scheme}://{user}:right@{place}"));
        let password = check(&format!("{scheme}://{user}:wrong@{place}"));
        // With the tables there, the rights to these are looked at.
        let server = Server::start_with(&database.url, &[]);
        let taken = server.get("/v1/uids").status;
        let again = check(&database.url);
        database.run(&drop);
        let (code, text) = &rights;
        assert!(*code == Some(1) && text.contains("may not make them"), "{rights:?}");
        // A server that trusts all of this machine asks for none.
        let trusts = kind == Kind::Postgres && password == rights;
        assert!(trusts || password.0 == Some(1), "{password:?}");
        assert!(!password.1.contains("the database would"), "{password:?}");
        assert_eq!((taken, again), (200, (Some(0), GOOD.to_owned())));
    }

    fn a_check_refuses_what_a_start_refuses(kind) {
        let database = kind.database();
        let refused = |options: &[&str], said: &str| {
            let [check, start] = check_and_start(&database.url, options);
            assert!(check.1.contains(said), "{options:?}: {check:?}");
            // A shell and a client may have ports and times of their own in what they say.
            assert_eq!(check, start, "{options:?}");
            assert_eq!(check.0, Some(1), "{options:?}: {check:?}");
        };
        // Nothing is there yet.
        refused(&["--preset=uid-generator"], "ended");
        refused(&["--preset=twitter", "--worker-ids=1000-2000"], "ends at 1023");
        refused(&["--partition=0/1048576"], "worker ids");
        refused(&["--table=leaf", "--uids=false"], "leaf_alloc");
        refused(&["--table=tinyid", "--uids=false"], "tiny_id_");
        let one = Server::start_with(&database.url, &["--worker-ids=5-5"]);
        refused(&["--worker-ids=5-5"], "worker ids");
        refused(&["--worker-ids=5-6"], "first used with the worker ids 5 to 5");
        refused(&["--preset=seata"], "was first used with the layout");
        refused(&["--preset=uid-generator"], "ended");
        // A database that lost one of its tables.
        drop(one.stop());
        database.run("DROP TABLE uidring_worker_node");
        refused(&["--worker-ids=5-5"], "uidring_worker_node");
    }

    fn a_server_that_is_away_is_waited_for(kind) {
        let database = kind.database();
        let proxy = Proxy::new(&database.url);
        proxy.set_open(false);
        let folder = tempfile::tempdir().unwrap();
        let server = Server::launch_with(folder, &[], &[("UIDRING_SERVER_DB", &proxy.url)]);
        let ready = server.get("/readyz");
        assert_eq!((ready.status, ready.header("retry-after")), (503, "1"));
        let told = || server.log().contains("the database cannot be used");
        server.wait_for("told why", told);
        // Health checks end up in the logs of others.
        let (_, name) = proxy.url.rsplit_once('/').unwrap();
        for secret in ["127.0.0.1", name, "postgres", "mysql", "root"] {
            assert!(!ready.text().contains(secret), "{secret}: {ready:?}");
        }
        assert_eq!(server.get("/v1/uids").status, 503);
        proxy.set_open(true);
        server.wait_until_ready();
        server.put("orders", r#"{"step":1000}"#);
        assert_eq!(server.get("/v1/tags/orders/ids").text(), r#"{"ids":["1"]}"#);
        // Away again: what is in memory goes on, and the service is ready.
        proxy.set_open(false);
        let status = || server.get("/v1/status").json();
        server.wait_for("noticed", || status()["database"]["up"] == false);
        assert_eq!(server.get("/v1/tags/orders/ids").text(), r#"{"ids":["2"]}"#);
        assert_eq!(server.get("/readyz").status, 200);
        let health = status()["health"].clone();
        assert_eq!((&health["level"], &health["ready"]), (&"warning".into(), &true.into()));
        assert_eq!(health["conditions"][0]["kind"], "database-away", "{health}");
        // The numbers in memory are used up.
        let none = server.get("/v1/tags/orders/ids?n=100000");
        assert_eq!((none.status, none.header("retry-after")), (503, "1"), "{none:?}");
        assert_eq!(server.get("/readyz").status, 503);
        let unknown = server.get("/v1/tags/others/ids");
        assert_eq!(unknown.status, 503, "{unknown:?}");
        let segment = server.send("POST", "/v1/tags/orders/segments", &[], "");
        assert_eq!(segment.status, 503, "{segment:?}");
        let tinyid = server.get("/tinyid/id/nextSegmentId?bizType=others");
        assert_eq!(tinyid.json()["code"], 6);
        assert_eq!(server.get("/readyz").status, 503);
        for answer in [none, unknown, segment, tinyid] {
            for secret in ["127.0.0.1", name, "postgres", "mysql", "root"] {
                assert!(!answer.text().contains(secret), "{secret}: {answer:?}");
            }
        }
        // As long as UIDs are asked for, something can be given.
        assert_eq!(server.get("/v1/uids?n=1000").status, 200);
        server.wait_for("seen", || server.get("/readyz").status == 200);
        proxy.set_open(true);
        server.wait_until_ready();
        server.wait_for("ids", || server.get("/v1/tags/orders/ids").status == 200);
    }

    fn it_is_ready_again_when_takes_succeed(kind) {
        let database = kind.database();
        let proxy = Proxy::new(&database.url);
        let server = Server::start_with(&proxy.url, &[]);
        server.put("orders", r#"{"step":10}"#);
        assert_eq!(server.get("/v1/tags/orders/ids").status, 200);
        proxy.set_open(false);
        // The pauses between tries grow.
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(12) {
            server.get("/v1/tags/orders/ids?n=1000");
        }
        assert_eq!(server.get("/readyz").status, 503);
        proxy.set_open(true);
        let start = Instant::now();
        while server.get("/readyz").status != 200 {
            assert!(start.elapsed() < common::FOREVER, "{}", server.log());
        }
        let take = server.get("/v1/tags/orders/ids");
        assert_eq!(take.status, 200, "{take:?}");
    }
}

/// Stands between the service and a database, which it can make go away.
struct Proxy {
    url: String,
    is_open: Arc<AtomicBool>,
}

impl Proxy {
    fn new(url: &str) -> Proxy {
        let (begin, rest) = url.split_once('@').unwrap();
        let (host, end) = rest.split_once('/').unwrap();
        let target = if host.contains(':') { host.to_owned() } else { panic!("no port: {host}") };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("{begin}@{}/{end}", listener.local_addr().unwrap());
        let is_open = Arc::new(AtomicBool::new(true));
        let open = Arc::clone(&is_open);
        let target: SocketAddr = target.parse().unwrap();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if open.load(Ordering::Relaxed) {
                    let open = Arc::clone(&open);
                    thread::spawn(move || forward(&client, target, &open));
                }
            }
        });
        Proxy { url, is_open }
    }

    fn set_open(&self, is_open: bool) {
        self.is_open.store(is_open, Ordering::Relaxed);
    }
}

fn forward(client: &TcpStream, target: SocketAddr, open: &AtomicBool) {
    let server = TcpStream::connect(target).unwrap();
    thread::scope(|scope| {
        let copy = |mut from: &TcpStream, mut to: &TcpStream| {
            let _ = io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Both);
            let _ = from.shutdown(Shutdown::Both);
        };
        let (client, server) = (&client, &server);
        let there = scope.spawn(move || copy(client, server));
        scope.spawn(move || copy(server, client));
        while !there.is_finished() {
            if !open.load(Ordering::Relaxed) {
                let _ = client.shutdown(Shutdown::Both);
                let _ = server.shutdown(Shutdown::Both);
            }
            thread::sleep(Duration::from_millis(5));
        }
    });
}

/// Worker ids of tables of our own beside those of `UidGenerator` could be the same ones.
#[test]
#[ignore = "needs MySQL"]
fn worker_ids_come_from_the_table_of_uid_generator_on_mysql() {
    let database = Kind::MySql.database();
    database.run(
        "CREATE TABLE WORKER_NODE (ID BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, \
         HOST_NAME VARCHAR(64) NOT NULL, PORT VARCHAR(64) NOT NULL, TYPE INT NOT NULL, \
         LAUNCH_DATE DATE NOT NULL, MODIFIED TIMESTAMP NOT NULL, CREATED TIMESTAMP NOT NULL) \
         ENGINE = INNODB; \
         INSERT INTO WORKER_NODE (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED) \
         VALUES ('java-1', '8080-1', 1, CURRENT_DATE, NOW(), NOW()), \
         ('java-2', '8080-2', 1, CURRENT_DATE, NOW(), NOW())",
    );
    // As the page on moving over has it.
    let page = include_str!("../../docs/migration/uid-generator.md").replace("\\\n", "");
    let line = page.lines().find_map(|line| line.strip_prefix("$ uidring-server --uid-generator "));
    let theirs: Vec<&str> = line.unwrap().split_whitespace().skip(2).take(4).collect();
    assert_eq!(theirs, ["--layout", "29,21,13", "--epoch", "2016-09-19T16:00:00Z"]);
    let folder = tempfile::tempdir().unwrap();
    let mut refused = common::command(folder.path());
    refused.env("UIDRING_SERVER_DB", &database.url).args(&theirs);
    let refused = refused.arg("--listen=127.0.0.1:0").output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8(refused.stderr).unwrap();
    for way in ["up to 2,", "--uid-generator", "with --worker-ids or --partition", "--db"] {
        assert!(said.contains(way), "{way} is not in {said}");
    }
    assert!(!said.contains("uid_generator"), "an option, and not a method: {said}");
    let own = database.run("SHOW TABLES LIKE 'uidring_worker_node'");
    assert_eq!(own.trim(), "", "no registry of our own is made");

    let options = [&theirs[..], &["--uid-generator"]].concat();
    let mut check = common::command(folder.path());
    check.env("UIDRING_SERVER_DB", &database.url).args(&options).arg("--check");
    let check = check.output().unwrap();
    assert_eq!(check.status.code(), Some(0), "{}", String::from_utf8_lossy(&check.stderr));
    for worker in ["3", "4"] {
        let server = Server::start_with(&database.url, &options);
        let uid = server.send("GET", "/v1/uids", &["accept: text/plain"], "");
        let parts = server.get(&format!("/v1/uids/{}", uid.text().trim())).json();
        assert_eq!(parts["worker"], worker, "{parts}");
    }
    let rows = database.run("SELECT COUNT(*), COUNT(DISTINCT ID) FROM WORKER_NODE");
    assert_eq!(rows.split_whitespace().collect::<Vec<_>>(), ["4", "4"]);
}

/// The address in the file of options is read again: a service goes on after its password has
/// changed, without a restart.
fn goes_by_another_password(server: &databases::OwnServer, change: &str) {
    let whole = server.url();
    let (scheme, rest) = whole.split_once("://").unwrap();
    let place = rest.split_once('@').unwrap().1;
    let folder = common::folder();
    let file = folder.path().join("options.toml");
    let write = |password: &str, place: &str| {
        let db = format!("db = \"{scheme}://me:{password}@{place}\"\n");
        std::fs::write(&file, db).unwrap();
    };
    write("Q7old", place);
    let config = format!("--config={}", file.display());
    let options = [config.as_str(), "--lease=2s"];
    let service = Server::launch_after("unset UIDRING_SERVER_DB", folder, &options);
    service.wait_until_ready();
    assert_eq!(service.put("orders", r#"{"step":10}"#).status, 201);

    server.run(change);
    service.wait_for("told", || service.log().contains("correct the address in the file of"));
    for (place, problem) in [
        (place.replace("127.0.0.1", "127.0.0.2"), "it is another store than"),
        ("nobody:here/ids".to_owned(), "--db: cannot use the store"),
    ] {
        write("Q7new", &place);
        common::signal(service.id(), "HUP");
        service.wait_for("refused", || {
            let log = service.log();
            let stay = "the addresses of the stores stay as they were";
            log.lines().any(|line| line.contains(stay) && line.contains(problem))
        });
    }
    assert!(service.get("/readyz").text().len() > 2);
    write("Q7new", place);
    common::signal(service.id(), "HUP");
    service.wait_for("read", || service.log().contains("addresses of the stores were read again"));
    let numbers = || service.get("/v1/tags/orders/ids?n=25").status;
    service.wait_for("going on", || numbers() == 200);
    service.wait_until_ready();
    service.wait_for("giving UIDs", || service.get("/v1/uids").status == 200);
    let log = service.log();
    assert!(!log.contains("Q7"), "{log}");
}

/// The library's own sentence.
#[test]
#[ignore = "needs PostgreSQL"]
fn another_server_with_the_language_of_postgresql_is_refused() {
    let database = Kind::Postgres.database();
    database.run(
        "CREATE FUNCTION version() RETURNS text LANGUAGE sql AS \
         $$ SELECT 'PostgreSQL 8.2.23 server protocol using H2 2.3.232 (2024-08-11)' $$",
    );
    let url = format!("{},pg_catalog", database.url);
    for (code, said) in check_and_start(&url, &[]) {
        assert_eq!(code, Some(1), "{said}");
        let expected = "it is H2, which speaks as PostgreSQL does, and on which nobody has tried";
        assert!(said.contains(expected), "{said}");
        assert!(said.contains("write untried=yes in the address"), "{said}");
    }
    Server::start_with(&format!("{url}&untried=yes"), &[]);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn sighup_reads_a_changed_password_of_postgresql() {
    let server = databases::OwnServer::start(Kind::Postgres);
    server.require_password(
        "CREATE ROLE me LOGIN PASSWORD 'Q7old'; GRANT CREATE ON SCHEMA public TO me",
        "me",
    );
    goes_by_another_password(&server, "ALTER ROLE me PASSWORD 'Q7new'");
}

/// Where several servers share the keys, each gives every tenth, and rows that were taken back have
/// used keys up.
fn the_end_of_worker_node(database: &OwnServer) {
    database.run(
        "CREATE TABLE WORKER_NODE (ID BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, \
         HOST_NAME VARCHAR(64) NOT NULL, PORT VARCHAR(64) NOT NULL, TYPE INT NOT NULL, \
         LAUNCH_DATE DATE NOT NULL, MODIFIED TIMESTAMP NOT NULL, CREATED TIMESTAMP NOT NULL) \
         COMMENT = 'with ) in it' ENGINE = INNODB",
    );
    // Worker ids end at 1,023.
    let options = ["--uid-generator", "--layout=41,10,12", "--epoch=2020-01-01"];
    let url = database.url();
    let refused = |next: u64, step: u64| {
        database.run(&format!("SET GLOBAL auto_increment_increment = {step}"));
        database.run(&format!("ALTER TABLE WORKER_NODE AUTO_INCREMENT = {next}"));
        let [check, start] = check_and_start(&url, &options);
        // A start uses a key up.
        let key = |text: &str| {
            let (_, rest) = text.split_once("has come to the id ").unwrap_or_default();
            rest.split(',').next().unwrap().parse::<u64>().ok()
        };
        assert_eq!((check.0, start.0), (Some(1), Some(1)), "{next} {step}: {check:?} {start:?}");
        assert_eq!(key(&check.1), key(&start.1), "{next} {step}");
        key(&check.1)
    };
    assert_eq!(refused(1024, 1), Some(1024));
    // The keys of such a server are 1,021 and 1,031.
    assert_eq!(refused(1022, 10), Some(1031));
    assert_eq!(database.run("SELECT COUNT(*) FROM WORKER_NODE").trim(), "0");
    let passes = |next: u64, step: u64| {
        // The count of a table that is empty can be set back.
        database.run(&format!("SET GLOBAL auto_increment_increment = {step}"));
        database.run(&format!(
            "TRUNCATE WORKER_NODE; \
                               ALTER TABLE WORKER_NODE AUTO_INCREMENT = {next}"
        ));
        let folder = tempfile::tempdir().unwrap();
        let mut check = common::command(folder.path());
        check.env("UIDRING_SERVER_DB", &url).args(options).arg("--check");
        let done = check.output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        let server = Server::start_with(&url, &options);
        assert_eq!(server.get("/v1/uids").status, 200);
    };
    passes(1023, 1);
    passes(1015, 10);
    assert_eq!(database.run("SELECT ID FROM WORKER_NODE").trim(), "1021");
}

#[test]
#[ignore = "needs MySQL"]
fn sighup_reads_a_changed_password_of_mysql() {
    let server = databases::OwnServer::start(Kind::MySql);
    server.run("CREATE USER me IDENTIFIED BY 'Q7old'; GRANT ALL ON ids.* TO me");
    goes_by_another_password(&server, "ALTER USER me IDENTIFIED BY 'Q7new'");
}

#[test]
#[ignore = "needs MySQL"]
fn a_check_finds_the_end_of_worker_node_as_a_start_does_on_mariadb() {
    the_end_of_worker_node(&OwnServer::start(Kind::MySql));
}

#[test]
#[ignore = "needs MySQL 9: verify/stores/install mysql-9"]
fn a_check_finds_the_end_of_worker_node_as_a_start_does_on_mysql_9() {
    the_end_of_worker_node(&OwnServer::start_mysql_9(&[]));
}
