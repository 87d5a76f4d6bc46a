//! Signals: those that end the service, and those that must not.

use std::fs;
use std::io::Write;

use crate::common::{Server, folder, metric, signal};

const OLD: &str = "[[token]]\ntoken = '0123456789abcdef-old'\nadmin = true\ntags = ['*']\n";
const NEW: &str = "[[token]]\ntoken = '0123456789abcdef-new'\nadmin = true\ntags = ['*']\n";

#[test]
fn signals_that_mean_nothing_here_end_nothing() {
    let mut server = Server::start(&[]);
    server.put("orders", r#"{"step":1000}"#);
    for (taken, name) in ["HUP", "USR1", "USR2", "PIPE", "XFSZ", "HUP"].into_iter().enumerate() {
        signal(server.id(), name);
        let answer = server.get("/v1/tags/orders/ids");
        assert_eq!(answer.json()["ids"][0], (taken + 1).to_string(), "{name}: {answer:?}");
    }
    server.wait_for("told of", || server.log().contains("asked to read tokens"));
    server.terminate();
    assert_eq!(server.wait().code(), Some(0), "{}", server.log());
    let database = rusqlite::Connection::open(server.file()).unwrap();
    let sql = "SELECT last_number FROM uidring_segment WHERE tag = 'orders'";
    let last: i64 = database.query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(last, 6, "numbers are lost");
}

#[test]
fn sighup_reads_tokens_again() {
    let folder = folder();
    fs::write(folder.path().join("tokens.toml"), OLD).unwrap();
    let server = Server::start_on(folder, &["--tokens=tokens.toml", "--token-refresh=1h"]);
    let file = server.folder().join("tokens.toml");
    let ask = |token: &str| {
        let header = format!("authorization: Bearer 0123456789abcdef-{token}");
        server.send("GET", "/metrics", &[&header], "")
    };
    let failing =
        |token: &str| metric(ask(token).text(), "uidring_reload_failing{what=\"tokens\"}");
    assert_eq!((ask("old").status, ask("new").status), (200, 401));
    assert_eq!(failing("old"), Some(0.0));
    fs::write(&file, "nonsense").unwrap();
    signal(server.id(), "HUP");
    server.wait_for("failing", || failing("old") == Some(1.0));
    // The log is written a little later.
    let told = "the tokens of the file stay as they were";
    server.wait_for("told", || server.log().contains(told));
    fs::write(&file, NEW).unwrap();
    signal(server.id(), "HUP");
    server.wait_for("new", || ask("new").status == 200);
    assert_eq!((ask("old").status, failing("new")), (401, Some(0.0)));
}

#[test]
fn a_second_signal_ends_it_at_once() {
    for (first, second) in [("TERM", "TERM"), ("INT", "INT"), ("TERM", "INT")] {
        let mut server = Server::start(&["--grace=1h"]);
        let mut stream = server.connect();
        stream.write_all(b"PUT /v1/tags/a HTTP/1.1\r\nhost: localhost\r\n").unwrap();
        assert_eq!(server.get("/livez").status, 200);
        signal(server.id(), first);
        server.wait_for("asked", || server.log().contains("asked to end"));
        assert!(server.has_ended().is_none());
        signal(server.id(), second);
        assert_eq!(server.wait().code(), Some(1), "{}", server.log());
        server.wait_for("told why", || server.log().contains("asked to end at once"));
    }
}
