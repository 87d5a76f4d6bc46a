//! What is given, from memory or not at all, where a real database is the cause.

use std::fs;

use serde_json::Value;

use crate::common::{Server, in_browser};

const JSON: &str = "content-type: application/json";

fn status(server: &Server) -> Value {
    server.get("/v1/status").json()
}

fn kinds(server: &Server) -> Vec<String> {
    let conditions = status(server)["health"]["conditions"].clone();
    let conditions = conditions.as_array().unwrap().iter();
    conditions.map(|one| one["kind"].as_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn assert_metric(server: &Server, line: &str) {
    let metrics = server.get("/metrics");
    assert!(metrics.text().lines().any(|one| one == line), "{line}: {}", metrics.text());
}

fn database(server: &Server) -> rusqlite::Connection {
    let database = rusqlite::Connection::open(server.file()).unwrap();
    database.busy_timeout(crate::common::FOREVER).unwrap();
    database
}

fn series(server: &Server, name: &str, pattern: &str) {
    let body = format!(r#"{{"pattern":"{pattern}"}}"#);
    let made = server.send("PUT", &format!("/v1/series/{name}"), &[JSON], &body);
    assert_eq!(made.status, 201, "{made:?}");
}

fn take(server: &Server, name: &str, scope: &str, count: u64) -> u16 {
    let body = format!(r#"{{"scope":"{scope}","n":{count}}}"#);
    server.send("POST", &format!("/v1/series/{name}/numbers"), &[JSON], &body).status
}

/// A server with a leased worker id whose file is replaced by an older copy, in which the id is
/// free. UIDs end with the lease.
fn restored(options: &[&str]) -> Server {
    let options = [&["--lease=3s"], options].concat();
    let first = Server::start(&options);
    assert_eq!(first.put("orders", r#"{"step":100}"#).status, 201);
    let folder = first.stop();
    let copy = fs::read(folder.path().join("ids.db")).unwrap();
    let server = Server::start_on(folder, &options);
    assert_eq!(server.get("/v1/uids").status, 200);
    assert_eq!(server.get("/v1/tags/orders/ids").status, 200);
    fs::write(server.file(), copy).unwrap();
    server
}

#[test]
fn uids_of_a_restored_copy_that_end_are_seen_everywhere() {
    let server = restored(&[]);
    server.wait_for("spent", || server.get("/v1/uids?n=100000").status == 503);
    let generator = || status(&server)["generators"][0].clone();
    server.wait_for("empty", || generator()["state"] == "empty");
    assert_eq!(server.get("/v1/uids").status, 503);
    let generator = generator();
    assert!(generator["problem"].is_string() && generator["advice"].is_string(), "{generator}");
    let why = generator["problem"].as_str().unwrap();
    assert!(!why.contains("clock"), "{why}");
    assert_eq!(kinds(&server), ["uids-empty"]);
    let page = server.get("/");
    for text in ["NOT GIVEN", "UIDs cannot be given", "class=\"Warning\"", "#uidringnouids"] {
        assert!(page.text().contains(text), "{text}: {}", page.text());
    }
    assert!(!page.text().contains("All is well"), "{}", page.text());
    assert_metric(&server, "uidring_giving_uids{generator=\"uids\"} 0");
    assert_metric(&server, "uidring_condition{kind=\"uids-empty\"} 1");
    server.wait_for("told", || server.log().contains("UIDs cannot be given"));
    // It gives the numbers that clients ask for.
    assert_eq!(server.get("/v1/tags/orders/ids").status, 200);
    assert_eq!(server.get("/readyz").status, 200);
}

/// Nobody has asked for anything since the lease ended.
#[test]
fn uids_that_end_are_seen_before_anybody_asks() {
    let server = restored(&[]);
    server.wait_for("ended", || kinds(&server) == ["uids-empty"]);
    server.wait_for("told", || server.log().contains("UIDs cannot be given"));
}

#[test]
fn uids_that_end_at_some_time_are_seen_until_then() {
    let server = Server::start(&["--lease=1h"]);
    database(&server).execute_batch("ALTER TABLE worker_node RENAME TO away").unwrap();
    server.wait_for("seen", || kinds(&server) == ["database-away", "uids-from-memory"]);
    let generator = status(&server)["generators"][0].clone();
    assert_eq!(generator["state"], "from-memory", "{generator}");
    let page = server.get("/");
    assert!(page.text().contains("UIDs end at 20"), "{}", page.text());
    assert_metric(&server, "uidring_uids_from_memory{generator=\"uids\"} 1");
    assert_metric(&server, "uidring_giving_uids{generator=\"uids\"} 1");
    assert_eq!(server.get("/v1/uids").status, 200);
    assert_eq!(server.get("/readyz").status, 200);
}

#[test]
fn a_series_that_is_full_or_soon_will_be_is_seen_everywhere() {
    let server = Server::start(&[]);
    series(&server, "tickets", "{scope}-{n:2}");
    // Few: what the loader has in memory beside them counts as given, too.
    assert_eq!(take(&server, "tickets", "lima", 20), 200);
    assert!(kinds(&server).is_empty());
    assert_eq!(take(&server, "tickets", "lima", 70), 200);
    server.wait_for("nearly full", || kinds(&server) == ["series-nearly-full"]);
    let line = || status(&server)["series"][0].clone();
    assert_eq!(line()["state"], "nearly-full");
    assert_metric(&server, "uidring_series_nearly_full{series=\"tickets\"} 1");
    assert_eq!(take(&server, "tickets", "lima", 9), 200);
    assert_eq!(take(&server, "tickets", "lima", 1), 409);
    assert_eq!(take(&server, "tickets", "oslo", 1), 200);
    server.wait_for("full", || kinds(&server) == ["series-full"]);
    assert_eq!((&line()["state"], &line()["failures"]), (&"full".into(), &0.into()));
    assert_eq!(line()["full"].as_array().unwrap(), &["tickets in ever, scope lima"]);
    assert_metric(&server, "uidring_series_full{series=\"tickets\"} 1");
    assert_metric(&server, "uidring_series_failing{series=\"tickets\"} 0");
    let page = server.get("/");
    let shown = page.text().split("Last events").next().unwrap();
    for text in ["tickets in ever, scope lima", ">full<", "series change", "#uidringseriesfull"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    assert!(!shown.contains("uidring tags"), "{shown}");
    server.wait_for("told", || server.log().contains("All numbers are given of the series"));
    // What loads them is not a second one of the same name.
    assert!(server.log().contains("source=\"series in ") && !server.log().contains("#2"));
    assert_eq!(server.get("/readyz").status, 200);
    // After a restart as well, as soon as somebody asks.
    let server = Server::start_on(server.stop(), &[]);
    assert!(kinds(&server).is_empty());
    assert_eq!(take(&server, "tickets", "lima", 1), 409);
    assert_eq!(kinds(&server), ["series-full"]);
}

/// Everything that may be wrong at once, as on the worst of days.
fn worst() -> Server {
    let server = restored(&["--leaf-snowflake", "--name=ids-1"]);
    for tag in ["invoices", "parcels", "payments", "refunds", "shipments", "tickets"] {
        assert_eq!(server.put(tag, r#"{"step":100,"max_step":100}"#).status, 201);
        assert_eq!(server.get(&format!("/v1/tags/{tag}/ids?n=7")).status, 200);
    }
    let file = database(&server);
    let last = |tag: &str, last: i64| {
        let sql = "UPDATE uidring_segment SET last_number = ?2 WHERE tag = ?1";
        assert_eq!(file.execute(sql, (tag, last)).unwrap(), 1);
    };
    last("invoices", i64::MAX);
    last("parcels", i64::MAX);
    last("payments", 0);
    for (tag, count) in [("invoices", 500), ("parcels", 60), ("payments", 500)] {
        server.wait_for("fails", || {
            let _ = server.get(&format!("/v1/tags/{tag}/ids?n={}", count.min(30)));
            status(&server)["tags"]
                .as_array()
                .unwrap()
                .iter()
                .any(|line| line["tag"] == tag && line["state"] != "ok")
        });
    }
    server.wait_for("empty", || server.get("/v1/tags/invoices/ids?n=50").status != 200);
    series(&server, "contracts", "{scope}-{n:2}");
    series(&server, "orders", "{scope}-{yyyy}-{n:6}");
    assert_eq!(take(&server, "contracts", "lima", 99), 200);
    assert_eq!(take(&server, "contracts", "lima", 1), 409);
    assert_eq!(take(&server, "contracts", "oslo", 90), 200);
    for scope in 0..41 {
        assert_eq!(take(&server, "orders", &format!("shop-{scope}"), 1), 200);
    }
    for path in ["/v1/tags/nobody/ids", "/v1/series/nobody/numbers"] {
        assert!(server.get(path).status >= 400);
    }
    server.wait_for("ended", || kinds(&server).contains(&"uids-empty".to_owned()));
    server
}

#[test]
#[ignore = "needs chromium"]
fn in_a_browser_each_thing_that_ends_is_told_with_its_reason() {
    in_browser(&worst(), "worst");
}

#[test]
#[ignore = "needs chromium"]
fn in_a_browser_what_comes_from_memory_says_until_when() {
    let server = Server::start(&["--lease=1h", "--leaf-snowflake", "--name=ids-1"]);
    for tag in ["invoices", "orders"] {
        assert_eq!(server.put(tag, "{}").status, 201);
        assert_eq!(server.get(&format!("/v1/tags/{tag}/ids?n=7")).status, 200);
    }
    series(&server, "contracts", "{scope}-{n}");
    assert_eq!(take(&server, "contracts", "lima", 3), 200);
    let file = database(&server);
    file.execute_batch("BEGIN EXCLUSIVE").unwrap();
    in_browser(&server, "from_memory");
}
