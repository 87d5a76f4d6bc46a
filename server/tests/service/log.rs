//! A log that cannot be written, and nobody who reads it.

use std::cell::Cell;
use std::fs::{self, File, OpenOptions};
use std::io::{PipeReader, Write, pipe};
use std::process::Stdio;

use crate::common::{Server, folder, metric};

const ORDERS: &str = "authorization: Bearer 0123456789abcdef-orders";
const ADMIN: &str = "authorization: Bearer 0123456789abcdef-admin";
const TOKENS: &str = "[[token]]\ntoken = '0123456789abcdef-admin'\nadmin = true\ntags = ['*']\n";
const REVOKED: &str = "[[token]]\ntoken = '0123456789abcdef-orders'\ntags = ['orders']\n";

/// A place for the log, and what has to live as long.
type Log = (&'static str, Stdio, Stdio, Option<PipeReader>);

fn full() -> File {
    OpenOptions::new().write(true).open("/dev/full").unwrap()
}

/// Logs that cannot be written: each line fails, or holds its writer up for ever.
fn logs() -> Vec<Log> {
    let (reader, closed) = pipe().unwrap();
    drop(reader);
    let (reader, mut stopped) = pipe().unwrap();
    // As much as a pipe of Linux holds.
    stopped.write_all(&vec![b'\n'; 65_536]).unwrap();
    vec![
        ("a full disk", full().into(), full().into(), None),
        ("a closed pipe", closed.try_clone().unwrap().into(), closed.into(), None),
        ("a stopped reader", stopped.try_clone().unwrap().into(), stopped.into(), Some(reader)),
    ]
}

#[test]
fn a_log_that_cannot_be_written_takes_nothing_down() {
    for (case, stdout, stderr, reader) in logs() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), [TOKENS, REVOKED].concat()).unwrap();
        let tokens = file.path().to_str().unwrap().to_owned();
        let options = ["--tokens", &tokens, "--token-refresh=50ms"];
        let mut server = Server::launch_to(&options, stdout, stderr);
        server.wait_until_ready();
        let json = "content-type: application/json";
        let created = server.send("PUT", "/v1/tags/orders", &[json, ADMIN], r#"{"step":1000}"#);
        assert_eq!(created.status, 201, "{case}: {created:?}");
        let taken = Cell::new(0);
        let take = || {
            let status = server.send("GET", "/v1/tags/orders/ids", &[ORDERS], "").status;
            taken.set(taken.get() + i64::from(status == 200));
            status
        };
        assert_eq!(take(), 200, "{case}");
        // An event, whose line cannot be written.
        fs::write(file.path(), "nonsense").unwrap();
        let status = || server.send("GET", "/v1/status", &[ADMIN], "").json();
        let health = || status()["health"]["text"].as_str().unwrap().to_owned();
        server.wait_for("told of", || health().contains("It cannot read the tokens of the file"));
        // The thread that reads tokens lives.
        fs::write(file.path(), TOKENS).unwrap();
        server.wait_for("revoked", || take() == 401);
        let metrics = server.send("GET", "/metrics", &[ADMIN], "").text().to_owned();
        assert_eq!(metric(&metrics, "uidring_panics_total"), Some(0.0), "{case}");
        let lost = metric(&metrics, "uidring_log_lines_lost_total").unwrap();
        if reader.is_none() {
            assert!(lost >= 3.0, "{case}: {lost}");
            assert!(health().contains("The log cannot be written"), "{case}: {}", health());
        }
        server.terminate();
        assert_eq!(server.wait().code(), Some(0), "{case}");
        // The numbers that were not taken have been given back.
        let database = rusqlite::Connection::open(server.file()).unwrap();
        let sql = "SELECT last_number FROM uidring_segment WHERE tag = 'orders'";
        let end: i64 = database.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(end, taken.get(), "{case}");
    }
}

#[test]
fn a_log_that_can_be_written_again_says_what_is_missing() {
    let (mut reader, writer) = pipe().unwrap();
    let options = ["--log=json"];
    let server = Server::launch_to(&options, full().into(), writer.into());
    server.wait_until_ready();
    server.terminate();
    let mut server = server;
    assert_eq!(server.wait().code(), Some(0));
    let mut log = String::new();
    std::io::Read::read_to_string(&mut reader, &mut log).unwrap();
    // That where it listens could not be said.
    assert!(log.contains("lines of the log were lost"), "{log}");
    for line in log.lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{log}");
    }
}

#[test]
fn an_end_with_an_error_does_not_wait_for_the_log() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for (case, stdout, stderr, _reader) in logs() {
        let folder = folder();
        let mut command = crate::common::command(folder.path());
        command.args(["--listen", &address]).stdout(stdout).stderr(stderr);
        assert_eq!(command.status().unwrap().code(), Some(1), "{case}");
    }
}
