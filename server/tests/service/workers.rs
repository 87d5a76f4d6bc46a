//! Worker ids that are lent, over HTTP and the Redis protocol.

use std::collections::HashSet;
use std::io::BufReader;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use uidring::Store;

use crate::common::resp::Client;
use crate::common::{Answer, Server, metric};

const JSON: &str = "content-type: application/json";

fn lend(server: &Server, body: &str) -> Answer {
    server.send("POST", "/v1/workers", &[JSON], body)
}

/// The id and the header with the secret of an answer that lends one.
fn lent(answer: &Answer) -> (u64, String) {
    assert_eq!(answer.status, 201, "{answer:?}");
    let json = answer.json();
    (json["id"].as_u64().unwrap(), format!("loan-secret: {}", json["secret"].as_str().unwrap()))
}

fn loan(server: &Server, method: &str, place: &str, headers: &[&str]) -> Answer {
    server.send(method, &format!("/v1/workers/{place}"), headers, "")
}

fn kind_of(answer: &Answer) -> (u16, String) {
    let kind = answer.json()["type"].as_str().unwrap().to_owned();
    (answer.status, kind.trim_start_matches("urn:uidring:problem:").to_owned())
}

#[test]
fn an_id_is_lent_renewed_and_returned_by_its_holder_alone() {
    let server = Server::start(&[]);
    let first = lend(&server, r#"{"pool":"shop","bits":2,"lease_seconds":60,"host":"web-1"}"#);
    let (id, secret) = lent(&first);
    assert_eq!((id, first.header("location")), (1, "/v1/workers/shop/1"));
    let json = first.json();
    assert_eq!((&json["lease_seconds"], &json["rest_seconds"]), (&60.into(), &600.into()));
    assert_eq!(json["pool"], "shop");
    let (_, other) = lent(&lend(&server, r#"{"pool":"shop","bits":2}"#));
    for method in ["PUT", "DELETE"] {
        let answer = loan(&server, method, "shop/1", &[&other]);
        assert_eq!(kind_of(&answer), (410, "loan-over".to_owned()), "{method}");
        let answer = loan(&server, method, "shop/1", &[]);
        assert_eq!(kind_of(&answer), (400, "no-secret".to_owned()), "{method}");
    }
    assert_eq!(loan(&server, "PUT", "shop/1", &[&secret]).status, 204);
    assert_eq!(loan(&server, "DELETE", "shop/1?clock=2026-11-30", &[&secret]).status, 204);
    // Again, as the answer may have been lost.
    assert_eq!(loan(&server, "DELETE", "shop/1", &[&secret]).status, 204);
    let over = loan(&server, "PUT", "shop/1", &[&secret]);
    assert_eq!(kind_of(&over), (410, "loan-over".to_owned()));
    assert_eq!(lent(&lend(&server, r#"{"pool":"shop","bits":2}"#)).0, 3, "1 rests");
    let full = lend(&server, r#"{"pool":"shop","bits":2}"#);
    assert_eq!(kind_of(&full), (409, "pool-full".to_owned()));
    assert!(full.header("retry-after").parse::<u64>().unwrap() > 60, "{full:?}");
    let pools = server.get("/v1/workers").json();
    let pool = &pools["pools"][0];
    assert_eq!((&pool["pool"], &pool["bits"]), (&"shop".into(), &2.into()));
    assert_eq!([&pool["held"], &pool["resting"], &pool["free"]], [2, 1, 0]);
    let loans = server.get("/v1/workers/shop").json();
    let states: Vec<(u64, &str)> = loans["loans"]
        .as_array()
        .unwrap()
        .iter()
        .map(|loan| (loan["id"].as_u64().unwrap(), loan["state"].as_str().unwrap()))
        .collect();
    assert_eq!(states, [(1, "resting"), (2, "held"), (3, "held")]);
    assert_eq!(loans["loans"][0]["host"], "web-1");
    let last = server.get("/v1/workers/shop?last=1").json();
    assert_eq!(last["loans"].as_array().unwrap().len(), 1);
    assert_eq!(last["loans"][0]["id"], 3);
    assert_eq!(kind_of(&server.get("/v1/workers/none")), (404, "no-such-pool".to_owned()));
    // Nobody is shown a secret.
    let shown = loans.to_string();
    assert!(!shown.contains(secret.rsplit_once(' ').unwrap().1) && !shown.contains("secret"));
}

#[test]
fn a_request_with_a_key_has_the_same_id_each_time() {
    let server = Server::start(&[]);
    let ask = |body: &str, key: &str| server.send("POST", "/v1/workers", &[JSON, key], body);
    let body = r#"{"pool":"shop"}"#;
    let first = ask(body, "idempotency-key: one");
    let same = ask(body, "idempotency-key: one");
    assert_eq!((first.status, first.text()), (201, same.text()));
    let secret = lent(&first).1;
    let ids: HashSet<u64> = [
        lent(&first).0,
        lent(&ask(body, "idempotency-key: two")).0,
        lent(&ask(r#"{"pool":"shop","lease_seconds":60}"#, "idempotency-key: one")).0,
        lent(&ask(body, "x-other: one")).0,
    ]
    .into();
    assert_eq!(ids.len(), 4, "each other request has an id of its own");
    assert_eq!(loan(&server, "PUT", "shop/1", &[&secret]).status, 204);
    // When the loan is over, the key lends another.
    assert_eq!(loan(&server, "DELETE", "shop/1", &[&secret]).status, 204);
    assert_eq!(lent(&ask(body, "idempotency-key: one")).0, 5);
    let long = format!("idempotency-key: {}", "x".repeat(256));
    assert_eq!(kind_of(&ask(body, &long)), (400, "bad-key".to_owned()));
}

#[test]
fn two_clients_never_have_one_id() {
    let server = Server::start(&[]);
    let ids: Vec<u64> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let lend = |_| lent(&lend(&server, r#"{"pool":"shop","bits":7}"#)).0;
                    (0..25).map(lend).collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 100);
    assert!(ids.iter().all(|id| (1..=127).contains(id)));
}

#[test]
fn a_clock_that_is_behind_the_last_holder_s_waits() {
    let server = Server::start(&[]);
    let ask = |clock: &str| {
        let body = format!(
            r#"{{"pool":"one","bits":1,"lease_seconds":1,"rest_seconds":1,"clock":"{clock}"}}"#
        );
        lend(&server, &body)
    };
    let (id, secret) = lent(&ask("2040-01-01T00:00:00Z"));
    let returned = loan(&server, "DELETE", "one/1?clock=2040-01-01T00:00:01Z", &[&secret]);
    assert_eq!((id, returned.status), (1, 204));
    thread::sleep(Duration::from_millis(1200));
    let behind = ask("2039-12-31T00:00:00Z");
    assert_eq!(kind_of(&behind), (409, "clock-behind".to_owned()));
    assert!(behind.header("retry-after").parse::<u64>().unwrap() > 24 * 3600);
    assert_eq!(lent(&ask("2040-01-01T00:00:10Z")).0, 1);
}

#[test]
fn what_is_wrong_with_a_loan_is_said() {
    let server = Server::start(&[]);
    lent(&lend(&server, r#"{"pool":"shop"}"#));
    for (body, status, kind) in [
        (r#"{"pool":"shop","bits":9}"#, 409, "differs"),
        (r#"{"pool":"a/b"}"#, 400, "bad-pool"),
        (r#"{"pool":""}"#, 400, "bad-pool"),
        (r#"{"pool":"a","bits":0}"#, 400, "bad-bits"),
        (r#"{"pool":"a","bits":23}"#, 400, "bad-bits"),
        (r#"{"pool":"a","lease_seconds":0}"#, 400, "bad-lease"),
        (r#"{"pool":"a","lease_seconds":18446744073709551615}"#, 400, "bad-lease"),
        (r#"{"pool":"a","rest_seconds":0}"#, 400, "bad-rest"),
        (r#"{"pool":"a","clock":"now"}"#, 400, "bad-time"),
        (r#"{"pool":"a","secret":"x"}"#, 400, "bad-body"),
        (r#"["a"]"#, 400, "bad-body"),
        ("{}", 400, "bad-body"),
    ] {
        let answer = lend(&server, body);
        assert_eq!(kind_of(&answer), (status, kind.to_owned()), "{body}: {answer:?}");
    }
    let host = "h".repeat(256);
    let answer = lend(&server, &format!(r#"{{"pool":"a","host":"{host}"}}"#));
    assert_eq!(kind_of(&answer), (400, "bad-host".to_owned()));
    let large = format!(r#"{{"pool":"{}"}}"#, "a".repeat(1 << 20));
    assert_eq!(kind_of(&lend(&server, &large)), (413, "large-body".to_owned()));
    let secret = "loan-secret: 0123456789abcdef";
    for (place, status, kind) in [
        ("shop/0", 400, "bad-id"),
        ("shop/x", 400, "bad-id"),
        ("shop/4194304", 400, "bad-id"),
        ("shop/1?clock=x", 400, "bad-time"),
        ("shop/1?time=1", 400, "no-such-parameter"),
        ("a%2Fb/1", 400, "bad-pool"),
        ("none/1", 410, "loan-over"),
        ("shop/2", 410, "loan-over"),
    ] {
        for method in ["PUT", "DELETE"] {
            let answer = loan(&server, method, place, &[secret]);
            assert_eq!(kind_of(&answer), (status, kind.to_owned()), "{method} {place}");
        }
    }
    assert_eq!(server.get("/v1/workers").json()["pools"].as_array().unwrap().len(), 1);
}

const FILE: &str = r#"
public_pools = ["open"]

[[token]]
token = "0123456789abcdef-shop"
pools = ["shop", "shop-*"]

[[token]]
token = "0123456789abcdef-tags"
tags = ["*"]

[[token]]
token = "0123456789abcdef-admin"
admin = true
"#;

#[test]
fn a_token_opens_its_pools() {
    let server = Server::start_with_tokens(FILE, &[]);
    let bearer = |of: &str| format!("authorization: Bearer 0123456789abcdef-{of}");
    let (shop, tags, admin) = (&*bearer("shop"), &*bearer("tags"), &*bearer("admin"));
    let ask = |method: &str, path: &str, token: &str, body: &str| {
        let headers = [JSON, token];
        server.send(method, path, &headers[..2 - usize::from(token.is_empty())], body)
    };
    for (pool, token, status) in [
        ("shop", "", 401),
        ("shop", tags, 403),
        // As for tags: to take ids, an administrator's token names them.
        ("shop", admin, 403),
        ("shop", shop, 201),
        ("shop-2", shop, 201),
        ("shops", shop, 403),
        ("open", "", 201),
        ("open", tags, 201),
    ] {
        let answer = ask("POST", "/v1/workers", token, &format!(r#"{{"pool":"{pool}"}}"#));
        assert_eq!(answer.status, status, "{pool} {token}: {answer:?}");
    }
    let (id, secret) = lent(&ask("POST", "/v1/workers", shop, r#"{"pool":"shop"}"#));
    let place = format!("/v1/workers/shop/{id}");
    for method in ["PUT", "DELETE"] {
        // Whoever has the secret needs the token as well.
        for (token, status) in [("x-no: token", 401), (tags, 403), (shop, 204)] {
            let answer = server.send(method, &place, &[token, &secret], "");
            assert_eq!(answer.status, status, "{method} {token}");
        }
    }
    for (token, names) in [
        (shop, &["open", "shop", "shop-2"][..]),
        (tags, &["open"]),
        (admin, &["open", "shop", "shop-2"]),
    ] {
        let shown = ask("GET", "/v1/workers", token, "").json()["pools"].clone();
        let shown = shown.as_array().unwrap().iter().map(|one| one["pool"].as_str().unwrap());
        assert_eq!(shown.collect::<Vec<_>>(), names, "{token}");
    }
    for (token, status) in [("", 401), (shop, 403), (tags, 403), (admin, 200)] {
        assert_eq!(ask("GET", "/v1/workers/shop", token, "").status, status, "{token}");
    }
    // The same key of two clients is not one request.
    let key = "idempotency-key: one";
    let of = |token: &str| {
        let headers = [JSON, key, token];
        lent(&server.send("POST", "/v1/workers", &headers, r#"{"pool":"open"}"#))
    };
    assert_ne!(of(shop), of(tags));
}

#[test]
fn loans_outlive_the_service_and_are_the_library_s() {
    let server = Server::start(&[]);
    let (id, secret) = lent(&lend(&server, r#"{"pool":"shop"}"#));
    let folder = server.stop();
    let server = Server::start_on(folder, &[]);
    assert_eq!(loan(&server, "PUT", &format!("shop/{id}"), &[&secret]).status, 204);
    let pool = Store::open(server.file()).unwrap().worker_pool("shop", 10).unwrap();
    let worker = pool.lend(uidring::lend::LendOptions::new()).unwrap();
    assert_eq!(worker.id(), 2);
    assert_eq!(server.get("/v1/workers").json()["pools"][0]["held"], 2);
    worker.close().unwrap();
    let metrics = server.get("/metrics");
    assert_eq!(metric(metrics.text(), "uidring_lent_renewals_total"), Some(1.0));
}

#[test]
fn operators_see_how_the_pools_are_used() {
    let server = Server::start(&[]);
    let of_pool = |state: &str| {
        let series = format!("uidring_pool_{state}_ids{{pool=\"shop\"}}");
        metric(server.get("/metrics").text(), &series)
    };
    let used = || ["held", "resting", "free"].map(of_pool);
    assert_eq!(used(), [None; 3]);
    let (id, secret) = lent(&lend(&server, r#"{"pool":"shop","bits":2}"#));
    lent(&lend(&server, r#"{"pool":"shop","bits":2}"#));
    server.wait_for("the loans", || used() == [Some(2.0), Some(0.0), Some(1.0)]);
    assert_eq!(loan(&server, "DELETE", &format!("shop/{id}"), &[&secret]).status, 204);
    server.wait_for("the return", || used() == [Some(1.0), Some(1.0), Some(1.0)]);
    let given =
        |what: &str| metric(server.get("/metrics").text(), &format!("uidring_lent_{what}_total"));
    assert_eq!((given("worker_ids"), given("returns")), (Some(2.0), Some(1.0)));
    let status = server.get("/v1/status").json();
    assert_eq!(
        (&status["pools"][0]["held"], &status["given"]["worker_ids"]),
        (&1.into(), &2.into())
    );
    let page = server.get("/");
    assert!(page.text().contains("1 held · 1 resting · 1 free"), "{}", page.text());
}

#[test]
fn redis_clients_lend_as_others_do() {
    let server = Server::start(&["--resp-listen", "127.0.0.1:0"]);
    let mut client = Client(BufReader::new(server.connect_resp()));
    let answer = client.ask("WORKER.LEND shop BITS 2 LEASE 60 REST 60 HOST web-1 KEY one");
    let words: Vec<&str> = answer.trim_matches(['[', ']']).split(' ').collect();
    let [id, secret, lease] = words[..] else { panic!("{answer}") };
    assert_eq!((id, lease), (":1", ":60"));
    let secret = secret.trim_matches('\'');
    let again = client.ask("worker.lend shop KEY one HOST web-1 REST 60 BITS 2 LEASE 60");
    assert_eq!(again, answer);
    assert_eq!(client.ask(&format!("WORKER.RENEW shop 1 {secret}")), "+OK");
    let clock = "1795996800000";
    assert_eq!(client.ask(&format!("WORKER.RENEW shop 1 {secret} {clock}")), "+OK");
    let wrong = client.ask("WORKER.RENEW shop 1 0123456789abcdef");
    assert!(wrong.starts_with("-ERR the loan is over: '1'; "), "{wrong}");
    assert_eq!(client.ask(&format!("WORKER.RETURN shop 1 {secret}")), "+OK");
    let over = client.ask(&format!("WORKER.RENEW shop 1 {secret}"));
    assert!(over.starts_with("-ERR the loan is over"), "{over}");
    for (command, said) in [
        ("WORKER.LEND", "-ERR wrong number of arguments for 'worker.lend' command"),
        ("WORKER.LEND shop BITS", "-ERR syntax error: 'BITS'; write BITS, LEASE,"),
        ("WORKER.LEND shop BIT 3", "-ERR syntax error: 'BIT'"),
        ("WORKER.LEND shop BITS x", "-ERR BITS is a whole number from 1 on, and not 'x'"),
        ("WORKER.LEND new BITS 4294967298", "-ERR syntax error: '4294967298'; an id has 1 to 22"),
        ("WORKER.LEND shop BITS 3", "-ERR the pool is there, and is another: '3'"),
        ("WORKER.LEND a/b", "-ERR there can be no such pool: 'a/b'"),
        ("WORKER.RENEW shop x y", "-ERR this is no worker id: 'x'"),
    ] {
        let answer = client.ask(command);
        assert!(answer.starts_with(said), "{command}: {answer}");
    }
    let docs = client.ask("COMMAND DOCS WORKER.RETURN");
    assert!(docs.contains("'secret'") && docs.contains("'clock'"), "{docs}");
    let loans: Value = server.get("/v1/workers/shop").json();
    assert_eq!((&loans["loans"][0]["state"], &loans["bits"]), (&"resting".into(), &2.into()));
    assert_eq!(loans["loans"][0]["host"], "web-1");
}
