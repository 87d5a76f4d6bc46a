//! Clients that ask for much and do not read it: the memory of the process has a bound.

use std::io::Write;
use std::net::TcpStream;

use crate::common::Server;

/// A client that asks for the path so often, and does not read.
pub(crate) fn ask(server: &Server, path: &str, times: usize) -> TcpStream {
    let mut stream = server.connect();
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    stream.write_all(request.repeat(times).as_bytes()).unwrap();
    stream
}

/// A server with the tag `orders`, whose numbers are as long as numbers are.
pub(crate) fn with_orders(options: &[&str]) -> Server {
    let server = Server::start(&[&["--write-timeout=1h"], options].concat());
    let first = r#"{"first":"1000000000000000000","step":100000000}"#;
    assert_eq!(server.put("orders", first).status, 201);
    assert_eq!(server.get("/v1/tags/orders/ids").status, 200);
    server
}

pub(crate) const MANY: &str = "/v1/tags/orders/ids?n=100000";

#[test]
fn large_answers_without_room_are_refused() {
    let server = with_orders(&["--max-answer-memory=1048576"]);
    // Each of them asks for more than the system's buffers hold, and so keeps a slice.
    let clients: Vec<_> = (0..40).map(|_| ask(&server, MANY, 10)).collect();
    let is_refused = || {
        let refused = server.get(MANY);
        if refused.status == 200 {
            return false;
        }
        assert_eq!((refused.status, refused.header("retry-after")), (503, "1"), "{refused:?}");
        assert_eq!(refused.json()["type"], "urn:uidring:problem:too-many-answers");
        assert_eq!(refused.header("cache-control"), "no-store");
        true
    };
    server.wait_for("full", is_refused);
    // Small answers go on.
    assert_eq!(server.get("/v1/tags/orders/ids?n=1000").status, 200);
    assert_eq!(server.get("/v1/uids").status, 200);
    drop(clients);
    server.wait_for("free", || server.get(MANY).status == 200);
}

#[test]
fn long_lists_have_a_place_too() {
    let server = Server::start(&["--write-timeout=1h", "--max-answer-memory=1048576"]);
    let mut file = rusqlite::Connection::open(server.file()).unwrap();
    let rows = file.transaction().unwrap();
    for index in 0..3000 {
        let sql = "INSERT INTO uidring_segment (tag, last_number, step) VALUES (?1, 0, 1)";
        rows.execute(sql, [format!("tag-{index:04}")]).unwrap();
    }
    rows.commit().unwrap();
    let whole = server.get("/v1/tags");
    assert_eq!(whole.json()["tags"].as_array().unwrap().len(), 3000);
    let length: usize = whole.header("content-length").parse().unwrap();
    assert!(length > 100_000, "{length}");
    // Each of these clients asks for more than the system's buffers hold.
    let clients: Vec<_> = (0..3).map(|_| ask(&server, "/v1/tags", 50)).collect();
    server.wait_for("full", || server.get("/v1/tags").status == 503);
    assert_eq!(server.get("/livez").status, 200);
    drop(clients);
    server.wait_for("free", || server.get("/v1/tags").status == 200);
}
