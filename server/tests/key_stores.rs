//! The service on etcd, Redis and `ZooKeeper`, and while they are away.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod common;
#[path = "../../tests/common/key_servers/mod.rs"]
mod key_servers;

use common::{GOOD, Server, begins, check, check_and_start, command, folder};
use key_servers::redis::OwnRedis;
use key_servers::{KeyServer, losing_servers, on_key_servers};

on_key_servers! {
    fn ids_come_from_it_and_it_may_go_away(database) {
        let url = database.url();
        assert_eq!(check(&url), (Some(0), GOOD.to_owned() + &begins(&url)));
        // A check makes nothing, and two services share what a start makes.
        let one = Server::start_with(&url, &[]);
        let two = Server::start_with(&url, &["--lease=10m"]);
        assert_eq!(one.put("orders", r#"{"step":10}"#).status, 201);
        let again = two.put("orders", "{}");
        assert_eq!((again.status, &again.json()["step"]), (200, &"10".into()));
        let mut numbers = Vec::new();
        for server in [&one, &two, &one, &two] {
            let answer = server.get("/v1/tags/orders/ids?n=25").json();
            let ids = answer["ids"].as_array().unwrap().clone();
            numbers.extend(ids.iter().map(|id| id.as_str().unwrap().parse::<u64>().unwrap()));
        }
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 100);
        assert_ne!(one.worker(), two.worker());

        // Away: what is in memory goes on, and the service is ready.
        database.kill();
        let status = || one.get("/v1/status").json();
        one.wait_for("noticed", || status()["database"]["up"] == false);
        assert_eq!(one.get("/v1/uids?n=1000").status, 200);
        assert_eq!(one.get("/readyz").status, 200);
        let health = status()["health"].clone();
        assert_eq!((&health["level"], &health["ready"]), (&"warning".into(), &true.into()));
        assert_eq!(health["conditions"][0]["kind"], "database-away", "{health}");
        one.wait_for("told", || one.log().contains("the database cannot be used"));
        let none = one.get("/v1/tags/orders/ids?n=100000");
        assert_eq!((none.status, none.header("retry-after")), (503, "1"), "{none:?}");
        assert!(!none.text().contains("127.0.0.1"), "{none:?}");
        let (code, said) = check(&url);
        assert!(code == Some(3) && said.contains("cannot reach the tags"), "{said}");
        // One that starts meanwhile waits.
        let late = Server::launch_with(folder(), &[], &[("UIDRING_SERVER_DB", &url)]);
        assert_eq!((late.get("/readyz").status, late.get("/v1/uids").status), (503, 503));

        database.restart();
        one.wait_for("noticed", || status()["database"]["up"] == true);
        late.wait_until_ready();
        for server in [&one, &two, &late] {
            server.wait_until_ready();
            server.wait_for("numbers", || server.get("/v1/tags/orders/ids").status == 200);
            assert_eq!(server.get("/v1/uids").status, 200);
        }
        one.wait_for("told", || one.log().contains("the database answers"));
        assert_eq!(status()["health"]["ready"], true);
        // What is left of the segments is given back.
        for server in [one, two, late] {
            drop(server.stop());
        }
    }
}

on_key_servers! {
    fn a_check_refuses_what_a_start_refuses(database) {
        let url = database.url();
        let refused = |options: &[&str], said: &str| {
            let [check, start] = check_and_start(&url, options);
            assert!(check.1.contains(said), "{options:?}: {check:?}");
            assert_eq!((check.0, &check), (Some(1), &start), "{options:?}");
        };
        refused(&["--preset=uid-generator"], "ended");
        refused(&["--preset=twitter", "--worker-ids=1000-2000"], "ends at 1023");
        refused(&["--partition=0/1048576"], "worker ids");
        refused(&["--table=leaf", "--uids=false"], "leaf_alloc");
        let one = Server::start_with(&url, &["--worker-ids=5-5"]);
        refused(&["--worker-ids=5-5"], "worker ids");
        refused(&["--worker-ids=5-6"], "first used with the worker ids 5 to 5");
        refused(&["--preset=seata"], "was first used with the layout");
        drop(one.stop());
        database.kill();
        let (code, said) = check(&url);
        assert!(code == Some(3) && said.contains("cannot reach"), "{code:?} {said}");
    }
}

/// A server that syncs each second makes each wait for its disk take up to a second, so a call has
/// one of them. Not each version tells when it has synced.
#[test]
#[ignore = "needs Redis' server"]
fn a_check_and_a_start_pass_with_a_sync_each_second_if_that_is_told_on_redis() {
    let database = OwnRedis::start("appendfsync everysec");
    let url = database.url("");
    let (code, said) = check(&url);
    if said.contains("its appendfsync is everysec") {
        let [check, start] = check_and_start(&url, &[]);
        assert_eq!((check.0, &check), (Some(1), &start));
        return;
    }
    assert_eq!((code, said), (Some(0), GOOD.to_owned() + &begins(&url)));
    // Each wait begins with a mark, and a commit sets keys besides.
    let sets = || {
        let stats = database.run(&["INFO", "commandstats"]);
        let calls = stats.lines().find_map(|line| line.strip_prefix("cmdstat_set:calls="));
        calls.map_or(0, |calls| calls.split(',').next().unwrap().parse::<u32>().unwrap())
    };
    let server = Server::start_with(&url, &["--lease=10m"]);
    assert_eq!(check(&url), (Some(0), GOOD.to_owned()));
    assert_eq!(server.put("orders", r#"{"step":10}"#).status, 201);
    database.set(&["CONFIG", "RESETSTAT"]);
    assert_eq!(server.get("/v1/tags/orders/ids").text(), r#"{"ids":["1"]}"#);
    let load = sets();
    drop(server.stop());
    database.set(&["CONFIG", "RESETSTAT"]);
    let server = Server::start_with(&url, &[]);
    let start = sets();
    drop(server.stop());
    // A load waits with its commit, a start with the look at the tags and with the worker id.
    assert_eq!((load, start), (1 + 1, 1 + (1 + 2)));
}

#[test]
#[ignore = "needs the servers of etcd, Redis and ZooKeeper"]
fn a_server_that_may_lose_ids_is_refused_with_what_to_set() {
    for (server, setting) in losing_servers() {
        let url = server.url();
        let (code, said) = check(&url);
        assert!(code == Some(1) && said.contains(setting), "{code:?}: {said}");
        // A start ends with the same.
        let folder = folder();
        let mut start = command(folder.path());
        let done = start.args(["--listen=127.0.0.1:0", "--db", &url]).output().unwrap();
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!((done.status.code(), &*done.stdout), (Some(1), &b""[..]), "{said}");
        assert!(said.contains(setting), "{said}");
    }
}

/// Beside a program with `CosId`, whose commands `redis-cli` sends.
#[test]
#[ignore = "needs Redis' server"]
fn numbers_of_cosid_go_on() {
    let database = OwnRedis::start("");
    let (key, url) = ("cosid:{shop.orders}.adder", database.url(""));
    database.run(&["SETNX", key, "0"]);
    database.run(&["INCRBY", key, "10"]);
    let options = ["--table=cosid", "--uids=false"];
    let server = Server::start_with(&url, &options);
    // Neither a start nor a probe goes through all keys of the database.
    let has = |command: &str| database.run(&["INFO", "commandstats"]).contains(command);
    assert!(has("cmdstat_get:") && !has("cmdstat_scan:"));
    database.set(&["CONFIG", "RESETSTAT"]);
    server.wait_for("probed", || has("cmdstat_get:"));
    assert_eq!(server.get("/v1/tags/shop.orders/ids?n=2").text(), r#"{"ids":["11","12"]}"#);
    assert_eq!(database.run(&["GET", key]), "1010");
    let segment = server.send("POST", "/v1/tags/shop.orders/segments?size=5", &[], "").json();
    assert_eq!((&segment["first"], &segment["count"]), (&"1011".into(), &"5".into()));
    assert_eq!(database.run(&["GET", key]), "1015");
    let tinyid = server.get("/tinyid/id/nextSegmentIdSimple?bizType=shop.orders");
    assert_eq!(tinyid.text(), "1015,1215,2015,1,0");

    for (body, why) in [
        (r#"{"step":50}"#, "CosId keeps no step in Redis: each program has its own"),
        (r#"{"max_step":50}"#, "leave it out"),
        (r#"{"description":"x"}"#, "leave it out"),
    ] {
        let answer = server.put("shop.bills", body);
        assert!(answer.status == 400 && answer.text().contains(why), "{}", answer.text());
    }
    assert!(server.get(&format!("/v1/tags/{}/ids", "x".repeat(101))).text().contains("1 to 100"));
    assert_eq!(server.put("shop.bills", r#"{"first":501}"#).status, 201);
    assert_eq!(server.put("shop.bills", "{}").status, 200);
    assert_eq!(server.put("shop.bills", r#"{"first":601}"#).status, 409);
    assert!(!has("cmdstat_scan:"));
    assert_eq!(database.run(&["INCRBY", "cosid:{shop.bills}.adder", "10"]), "510");
    let rows = server.get("/v1/tags").json();
    let next =
        |index: usize| (rows["tags"][index]["tag"].clone(), rows["tags"][index]["next"].clone());
    assert_eq!(next(0), ("shop.bills".into(), "511".into()));
    assert_eq!(next(1), ("shop.orders".into(), "2016".into()));
    drop(server.stop());
    // Beside the counters there is nothing.
    assert_eq!(database.run(&["DBSIZE"]), "2");
}
