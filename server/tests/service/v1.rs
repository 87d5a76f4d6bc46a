//! `/v1`: what is answered, in which form.

use std::collections::{BTreeSet, HashSet};
use std::io::{Read, Write};
use std::thread;

use crate::common::{Answer, Server, request};

fn strings(answer: &Answer, name: &str) -> Vec<u64> {
    let json = answer.json();
    let ids = json[name].as_array().unwrap_or_else(|| panic!("{answer:?}")).iter();
    ids.map(|id| id.as_str().unwrap().parse().unwrap()).collect()
}

#[test]
fn uids_come_in_three_forms() {
    let server = Server::start(&[]);
    let one = server.get("/v1/uids");
    assert_eq!((one.status, one.header("content-type")), (200, "application/json"));
    let json = server.get("/v1/uids?n=3");
    let lines = server.send("GET", "/v1/uids?n=3", &["accept: text/plain"], "");
    assert_eq!(lines.header("content-type"), "text/plain;charset=UTF-8");
    let bytes = server.send("GET", "/v1/uids?n=3", &["accept: application/octet-stream"], "");
    assert_eq!(bytes.header("content-type"), "application/octet-stream");
    let mut all = [strings(&one, "uids"), strings(&json, "uids")].concat();
    all.extend(lines.text().lines().map(|line| line.parse::<u64>().unwrap()));
    all.extend(bytes.body.chunks(8).map(|uid| u64::from_le_bytes(uid.try_into().unwrap())));
    assert_eq!(all.len(), 10);
    assert!(all.is_sorted_by(|a, b| a < b), "{all:?}");
    assert!(lines.text().ends_with('\n'));
    let description = server.get("/openapi.json");
    let said = description.text().matches("eight bytes each, little-endian").count();
    assert_eq!(said, 2, "{}", description.text());
}

#[test]
fn one_id_is_answered_in_the_words_of_many() {
    let server = Server::start(&[]);
    server.put("orders", "{}");
    let words = |path: &str, headers: &[&str]| {
        let Answer { status, mut headers, body } = server.send("GET", path, headers, "");
        headers.retain(|(name, _)| name != "date" && name != "content-length");
        let frame = String::from_utf8_lossy(&body).replace(|c: char| c.is_ascii_digit(), "");
        (status, headers, if status == 200 { frame } else { String::new() })
    };
    for accepts in [
        &[][..],
        &["accept: */*"],
        &["accept: application/json"],
        &["accept: text/plain"],
        &["accept: text/plain;q=0.1", "accept: application/json;q=0.2"],
        &["accept: text/html"],
    ] {
        for path in ["/v1/uids", "/v1/tags/orders/ids"] {
            let many = words(&format!("{path}?n=1"), accepts);
            assert_eq!(words(path, accepts), many, "{path} {accepts:?}");
        }
    }
}

#[test]
fn many_clients_get_different_ids() {
    let server = Server::start(&["--threads=4"]);
    server.put("orders", "{}");
    let of_client = |path: &str| -> Vec<u64> {
        let answers = (0..20).map(|_| server.get(path));
        let name = if path.contains("uids") { "uids" } else { "ids" };
        answers.flat_map(|answer| strings(&answer, name)).collect()
    };
    for path in ["/v1/uids?n=500", "/v1/tags/orders/ids?n=500"] {
        let all: Vec<Vec<u64>> = thread::scope(|scope| {
            let clients: Vec<_> = (0..4).map(|_| scope.spawn(|| of_client(path))).collect();
            clients.into_iter().map(|client| client.join().unwrap()).collect()
        });
        let different: HashSet<u64> = all.iter().flatten().copied().collect();
        assert_eq!(different.len(), 4 * 20 * 500, "{path}");
    }
}

#[test]
fn the_largest_batch_is_whole() {
    let server = Server::start(&[]);
    server.put("orders", "{}");
    for path in ["/v1/uids?n=100000", "/v1/tags/orders/ids?n=100000"] {
        let bytes = server.send("GET", path, &["accept: application/octet-stream"], "");
        let ids = bytes.body.chunks(8).map(|id| u64::from_le_bytes(id.try_into().unwrap()));
        let ids: Vec<u64> = ids.collect();
        assert_eq!(ids.len(), 100_000, "{path}");
        assert!(ids.is_sorted_by(|a, b| a < b), "{path}");
    }
    let lines = server.send("GET", "/v1/uids?n=100000", &["accept: text/plain"], "");
    assert_eq!(lines.text().lines().count(), 100_000);
    assert_eq!(strings(&server.get("/v1/uids?n=100000"), "uids").len(), 100_000);
}

#[test]
fn a_uid_says_when_and_where_it_was_made() {
    let server = Server::start(&["--layout=30,20,13", "--epoch=2026-01-01", "--tick=1s"]);
    // 5 seconds, worker 3, number 7.
    let uid = (5_u64 << 33) | (3 << 13) | 7;
    let answer = server.get(&format!("/v1/uids/{uid}"));
    let expected = format!(
        "{{\"uid\":\"{uid}\",\"base32\":\"0000018000R07\",\"time\":\"2026-01-01T00:00:05Z\",\
         \"worker\":\"3\",\"sequence\":\"7\"}}"
    );
    assert_eq!((answer.status, answer.text()), (200, expected.as_str()));
}

#[test]
fn a_tag_is_created_once() {
    let server = Server::start(&[]);
    let body = r#"{"first":"1001","step":10,"max_step":"5000","description":"of the shop"}"#;
    let created = server.put("orders%20%2F%C3%BC", body);
    assert_eq!(
        (created.status, created.header("location")),
        (201, "/v1/tags/orders%20%2F%C3%BC/ids")
    );
    let row = created.json();
    assert_eq!(row["tag"], "orders /ü");
    assert_eq!(row["next"], "1001");
    assert_eq!(row["step"], "10");
    assert_eq!(row["max_step"], "5000");
    assert_eq!(row["delta"], "1");
    assert_eq!(row["description"], "of the shop");
    let again = server.put("orders%20%2F%C3%BC", r#"{"step":10}"#);
    assert_eq!((again.status, again.json()["step"].as_str()), (200, Some("10")));
    let other = server.put("orders%20%2F%C3%BC", r#"{"step":77}"#);
    assert_eq!((other.status, other.json()["field"].as_str()), (409, Some("step")));
    let ids = server.get("/v1/tags/orders%20%2F%C3%BC/ids?n=3");
    assert_eq!((ids.status, ids.text()), (200, r#"{"ids":["1001","1002","1003"]}"#));
    let plain = server.send("GET", created.header("location"), &["accept: text/plain"], "");
    assert_eq!(plain.text(), "1004\n");
    let tags = server.get("/v1/tags").json();
    assert_eq!(tags["tags"][0]["tag"], "orders /ü");
    assert_eq!(tags["tags"].as_array().unwrap().len(), 1);
    let behind = server.put("orders%20%2F%C3%BC", r#"{"first":100000}"#);
    assert_eq!((behind.status, behind.json()["value"].as_str()), (409, Some("100000")));
}

#[test]
fn the_newest_tags_and_series_are_listed_alone() {
    let server = Server::start(&[]);
    for name in ["b", "a", "c"] {
        let json = ["content-type: application/json"];
        assert_eq!(server.send("PUT", &format!("/v1/tags/{name}"), &json, "{}").status, 201);
        let body = r#"{"pattern":"{n}"}"#;
        assert_eq!(server.send("PUT", &format!("/v1/series/{name}"), &json, body).status, 201);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    for (path, list, name) in [("/v1/tags", "tags", "tag"), ("/v1/series", "series", "name")] {
        let names = |query: &str| -> Vec<String> {
            let rows = server.get(&format!("{path}{query}")).json()[list].clone();
            let names = rows.as_array().unwrap().iter().map(|row| row[name].as_str().unwrap());
            names.map(str::to_owned).collect()
        };
        assert_eq!(names(""), ["a", "b", "c"]);
        assert_eq!(names("?last=2"), ["c", "a"]);
        assert_eq!(names("?last=9"), ["c", "a", "b"]);
        for wrong in ["?last=0", "?last=x", "?last=100001", "?last=1&last=2", "?first=1"] {
            assert_eq!(server.get(&format!("{path}{wrong}")).status, 400, "{path}{wrong}");
        }
    }
}

#[test]
fn a_batch_does_not_wait_for_a_load_for_each_number() {
    let server = Server::start(&[]);
    // Where no step is asked for, it is not above this.
    server.put("orders", r#"{"max_step":1}"#);
    let answer = server.get("/v1/tags/orders/ids?n=100000");
    assert_eq!((answer.status, answer.header("retry-after")), (422, ""), "{answer:?}");
    assert!(answer.text().contains("too short"), "{}", answer.text());
}

#[test]
fn a_batch_of_uids_does_not_take_all_the_time_it_needs() {
    // 8,192 a second.
    let server = Server::start(&["--exact-time"]);
    let answer = server.get("/v1/uids?n=100000");
    assert_eq!((answer.status, answer.header("retry-after")), (422, ""), "{answer:?}");
    assert!(answer.text().contains("too few UIDs a second"), "{}", answer.text());
    assert_eq!(server.get("/v1/uids?n=8000").status, 200);
}

#[test]
fn a_head_uses_nothing_up() {
    let server = Server::start(&[]);
    server.put("orders", "{}");
    for (path, allowed) in [("/v1/uids?n=7", "GET,POST"), ("/v1/tags/orders/ids?n=7", "GET")] {
        let mut answer = String::new();
        let mut stream = server.connect();
        stream.write_all(request("HEAD", path, &[], "").as_bytes()).unwrap();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 405 "), "{answer}");
        assert!(answer.contains(&format!("\r\nallow: {allowed}\r\n")), "{answer}");
    }
    assert_eq!(strings(&server.get("/v1/tags/orders/ids"), "ids"), [1]);
}

#[test]
fn segments_do_not_overlap() {
    let server = Server::start(&[]);
    server.put("orders", r#"{"step":1000}"#);
    let post =
        |query: &str| server.send("POST", &format!("/v1/tags/orders/segments{query}"), &[], "");
    let first = post("");
    assert_eq!(first.header("content-type"), "application/json");
    let text = |first, count| {
        format!(
            "{{\"tag\":\"orders\",\"first\":\"{first}\",\"count\":\"{count}\",\"delta\":\"1\",\
             \"step\":\"1000\",\"max_step\":null}}"
        )
    };
    assert_eq!(first.text(), text(1, 1000));
    assert_eq!(post("?size=5").text(), text(1001, 5));
    assert_eq!(strings(&server.get("/v1/tags/orders/ids"), "ids"), [1006]);
    let largest = post("?size=1000000000").json();
    assert_eq!(largest["count"], "1000000000");
}

#[cfg(unix)] // only a console asks for a clean end on Windows
#[test]
fn what_is_left_is_given_back_at_the_end() {
    let server = Server::start(&[]);
    server.put("orders", "{}");
    assert_eq!(strings(&server.get("/v1/tags/orders/ids?n=2"), "ids"), [1, 2]);
    let folder = server.stop();
    let server = Server::start_on(folder, &[]);
    assert_eq!(strings(&server.get("/v1/tags/orders/ids?n=2"), "ids"), [3, 4]);
}

/// One id without wishes is answered a shorter way, which must not be told from the long one.
#[test]
fn the_short_way_answers_as_the_long_one() {
    let server = Server::start(&[]);
    server.put("orders", r#"{"first":1001}"#);
    let seen = |answer: &Answer| {
        let digits = |character: char| if character.is_ascii_digit() { '0' } else { character };
        // Their order is of no meaning.
        let headers = answer.headers.iter().filter(|(name, _)| name != "date");
        let headers: BTreeSet<_> = headers.cloned().collect();
        let text: String = answer.text().chars().map(digits).collect();
        (answer.status, headers, text)
    };
    for path in ["/v1/uids", "/v1/tags/orders/ids", "/api/segment/get/orders"] {
        // The first one makes the tag known to the thread. An empty query takes the slow path.
        for _ in 0..20 {
            let (short, long) = (server.get(path), server.get(&format!("{path}?")));
            assert_eq!(short.status, 200, "{path}: {short:?}");
            assert_eq!(seen(&short), seen(&long), "{path}");
        }
    }
    for (path, status) in [
        ("/v1/tags/nobody/ids", 404),
        ("/v1/tags//ids", 400),
        ("/v1/tags/ids", 405),
        ("/api/segment/get/nobody", 500),
        ("/api/segment/get/orders/x", 404),
    ] {
        assert_eq!(server.get(path).status, status, "{path}");
    }
}

/// The bound of one load is none of what a kill loses.
#[test]
fn no_more_is_in_memory_than_may_be_and_the_page_says_how_much() {
    let begin = |options: &[&str]| {
        let server = Server::start(options);
        server.put("orders", r#"{"step":100,"max_step":100}"#);
        for _ in 0..10 {
            assert_eq!(server.get("/v1/tags/orders/ids?n=1000").status, 200);
        }
        server
    };
    let tag = |server: &Server| server.get("/v1/status").json()["tags"][0].clone();
    let server = begin(&["--max-in-memory=500"]);
    for given in 10_001..10_100 {
        assert_eq!(server.get("/v1/tags/orders/ids").text(), format!(r#"{{"ids":["{given}"]}}"#));
        // What a kill would lose.
        let file = rusqlite::Connection::open(server.file()).unwrap();
        let sql = "SELECT last_number FROM uidring_segment";
        let last = file.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
        assert!(last - given <= 500, "{last} {given}");
    }
    let shown = tag(&server);
    assert_eq!((&shown["max_in_memory"], &shown["segment"]), (&500.into(), &100.into()), "{shown}");
    assert!(shown["in_memory"].as_u64().unwrap() <= 500, "{shown}");
    let page = server.get("/");
    assert!(page.text().contains(" of 500</span>") && page.text().contains("Last load"));
    let server = begin(&[]);
    server.wait_for("more", || tag(&server)["in_memory"].as_u64().unwrap() > 500);
    assert_eq!(tag(&server)["max_in_memory"], serde_json::Value::Null);
}
