//! The tool on etcd, Redis and `ZooKeeper`.

use std::fs;

use uidring::Layout;

use super::key_servers::redis::OwnRedis;
use super::key_servers::{KeyServer, losing_servers, on_key_servers};
use super::{folder, json, stderr, stdout, uids};

on_key_servers! {
    fn everything_works(server) {
        let (folder, url) = (folder(), server.url());
        let on = |args: &[&str]| stdout(folder.path(), &[args, &["--db", &url]].concat());
        let refused = |args: &[&str], status, why: &str| {
            let complaint = stderr(folder.path(), &[args, &["--db", &url]].concat(), status);
            assert!(complaint.contains(why), "{args:?}: {why:?} is not in {complaint}");
        };
        refused(&["layout"], 1, "has not been used with a layout yet");
        refused(&["workers"], 1, "its keys are not there");
        // What cannot be built leaves nothing.
        refused(&["take", "--slots", "3"], 1, "3");
        refused(&["workers"], 1, "its keys are not there");

        let layout = Layout::new(35, 10, 15).unwrap();
        let worker = |lines: &str| layout.parts(uids(lines)[0]).worker;
        assert_eq!(worker(&on(&["take", "-n", "3", "--layout", "35,10,15"])), 1);
        let leased = || worker(&on(&["take", "--lease", "10m"]));
        assert_eq!([leased(), leased()], [2, 2]);
        assert_eq!(json(&on(&["layout", "--json"]))["time_bits"], 35);
        assert_eq!(json(&on(&["status", "--json", "--for", "50ms"]))["worker_id"], 3);
        refused(&["take", "--preset", "default"], 1, "35 | 10 | 15");
        refused(&["take", "--partition", "0/2"], 1, "worker ids 1 to 1023, and 1 to 511");
        let page = on(&["workers"]);
        let end = "\n3 of 1,023 worker ids used; 1 leased, 1 of them free to be given again\n";
        assert!(page.ends_with(end), "{page}");
        refused(&["workers", "release", "1"], 1, "once and for all");
        refused(&["workers", "release", "2"], 1, "is free already");

        assert!(on(&["tags"]).starts_with("no tags yet"));
        on(&["tags", "create", "orders", "--first", "5000", "--step", "20"]);
        refused(&["tags", "create", "orders"], 1, "the tag orders is there already");
        assert_eq!(on(&["take", "--tag", "orders", "-n", "3"]), "5000\n5001\n5002\n");
        let row = json(&on(&["tags", "--json"]))["tags"][0].clone();
        assert_eq!((&row["next"], &row["step"]), (&"5003".into(), &20.into()));
        on(&["tags", "set", "orders", "--next", "9000"]);
        refused(&["take", "--tag", "order"], 1, "uidring tags create order");
        refused(&["tags", "--table", "leaf"], 1, "leaf_alloc is in a database with SQL");
        refused(&["take", "--uid-generator", "--layout", "28,22,13"], 2, "--db mysql://..");
        if !matches!(server, KeyServer::Redis(_)) {
            refused(&["tags", "--table", "cosid"], 2, "name the server with --db redis://..");
        }

        server.kill();
        let place = url.split('/').nth(2).unwrap();
        for (args, what) in [
            (&["take"][..], "cannot reach the registry"),
            (&["workers"], "cannot reach the registry"),
            (&["tags"], "cannot reach the tags in"),
            (&["take", "--tag", "orders"], "cannot reach the tags in"),
        ] {
            refused(args, 1, what);
            refused(args, 1, place);
            refused(args, 1, "see that");
        }
        server.restart();
        assert_eq!(worker(&on(&["take"])), 4);
        assert_eq!(on(&["take", "--tag", "orders"]), "9000\n");
        refused(&["tags", "remove", "orders"], 1, "--force");
        on(&["tags", "remove", "orders", "--force"]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "no file was made");
    }
}

#[test]
#[ignore = "needs the servers of etcd, Redis and ZooKeeper"]
fn a_server_that_may_lose_ids_is_refused_with_what_to_set() {
    let folder = folder();
    for (server, setting) in losing_servers() {
        let url = server.url();
        for args in [&["take"][..], &["tags", "create", "orders"]] {
            let args = [args, &["--db", &url]].concat();
            let complaint = stderr(folder.path(), &args, 1);
            // A server that has just started may have been waited for.
            let complaint = complaint.lines().last().unwrap();
            assert!(complaint.starts_with("uidring: cannot use the "), "{complaint}");
            assert!(complaint.contains(setting), "{complaint}");
        }
    }
}

/// Beside a program with `CosId`, whose commands `redis-cli` sends.
#[test]
#[ignore = "needs Redis' server"]
fn numbers_of_cosid_go_on() {
    let (folder, server) = (folder(), OwnRedis::start(""));
    let (key, url) = ("cosid:{shop.orders}.adder", server.url(""));
    let there = ["--db", &url, "--table", "cosid"];
    let on = |args: &[&str]| stdout(folder.path(), &[args, &there].concat());
    let refused = |args: &[&str], why: &str| {
        let complaint = stderr(folder.path(), &[args, &there].concat(), 1);
        assert!(complaint.contains(why), "{args:?}: {why:?} is not in {complaint}");
    };
    assert!(on(&["tags"]).starts_with("no tags yet"));
    refused(&["take", "--tag", "shop.orders"], &format!("shop.orders {}", there.join(" ")));
    server.run(&["SETNX", key, "0"]);
    server.run(&["INCRBY", key, "10"]);
    assert_eq!(on(&["take", "--tag", "shop.orders", "-n", "3"]), "11\n12\n13\n");
    assert_eq!(server.run(&["GET", key]), "13");

    // Nobody knows the step of others.
    let page = on(&["tags"]);
    let head: Vec<&str> = page.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(head, ["TAG", "NEXT"], "{page}");
    assert!(page.ends_with("\n1 tag; --for 1m tells how many numbers are taken meanwhile\n"));
    let row = json(&on(&["tags", "--json", "--for", "1ms"]))["tags"][0].clone();
    assert_eq!((&row["next"], &row["step"]), (&"14".into(), &serde_json::Value::Null));
    assert_eq!(row["pace"]["step_lasts_seconds"], serde_json::Value::Null);
    assert!(on(&["tags", "--for", "1ms"]).starts_with("TAG          NEXT  TAKEN\n"));

    let no_step = "CosId keeps no step in Redis: each program has its own";
    refused(&["tags", "create", "shop.bills", "--step", "50"], no_step);
    refused(&["tags", "create", "shop.bills", "--max-step", "50"], "leave it out");
    refused(&["tags", "create", "shop.bills", "--description", "x"], "leave it out");
    refused(&["tags", "create", "shop.orders"], "is there already: its next number is 14; ");
    assert_eq!(server.run(&["DBSIZE"]), "1");
    let created = on(&["tags", "create", "shop.bills", "--first", "501"]);
    assert!(created.starts_with("the tag shop.bills: its next number is 501\n"), "{created}");
    assert_eq!(server.run(&["INCRBY", "cosid:{shop.bills}.adder", "10"]), "510");

    refused(&["tags", "set", "shop.orders", "--step", "50"], no_step);
    on(&["tags", "set", "shop.orders", "--next", "1000"]);
    assert_eq!(server.run(&["GET", key]), "999");
    for force in [&[][..], &["--force"]] {
        let remove = [&["tags", "remove", "shop.orders"], force].concat();
        refused(&remove, "remove the key cosid:{shop.orders}.adder in Redis");
    }
    assert_eq!(server.run(&["GET", key]), "999");
}
