//! How much memory a client costs.

use std::fs;
use std::io::{BufReader, Write};

use super::memory::{MANY, ask, with_orders};
use crate::common::resp::Client;
use crate::common::{Answer, Server, metric, request};

/// The most memory that the process has had, in KiB.
fn peak(server: &Server) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// How much memory a client without a token costs, in KiB, that `does` this.
fn cost<T>(does: impl Fn(&Server) -> T) -> u64 {
    const COUNT: u32 = 300;
    let tokens = "[[token]]\ntoken = '0123456789abcdef-admin'\nadmin = true";
    let options = ["--resp-listen=127.0.0.1:0", "--threads=1", "--body-timeout=1h"];
    let server = Server::start_with_tokens(tokens, &options);
    let before = peak(&server);
    let clients: Vec<T> = (0..COUNT).map(|_| does(&server)).collect();
    // By now the one thread has read what was sent before.
    for _ in 0..20 {
        assert_eq!(server.get("/livez").status, 200);
    }
    drop(clients);
    (peak(&server) - before) / u64::from(COUNT)
}

#[test]
fn clients_without_a_token_cost_little() {
    // Part of a command, as large as it may be, or larger, after one with a long answer.
    for length in [4_000, 60_000] {
        let each = cost(|server| {
            let mut client = Client(BufReader::new(server.connect_resp()));
            client.ask("COMMAND DOCS");
            let part = format!("*2\r\n$4\r\nECHO\r\n${length}\r\n{}", "a".repeat(length - 100));
            let _ = client.0.get_mut().write_all(part.as_bytes());
            client
        });
        assert!(each < 24, "{each} KiB for each part of a command of {length} bytes");
    }
    // Part of a form, at once and in chunks of a byte, of which each is a part of its own.
    let head = "POST /tinyid/id/nextId HTTP/1.1\r\nhost: localhost\r\n\
                content-type: application/x-www-form-urlencoded\r\n";
    for (kind, part) in [
        ("content-length: 4096\r\n\r\n", "a".repeat(4_000)),
        ("content-length: 60000\r\n\r\n", "a".repeat(59_000)),
        ("transfer-encoding: chunked\r\n\r\n", "1\r\na\r\n".repeat(4_000)),
        ("transfer-encoding: chunked\r\n\r\n", "1\r\na\r\n".repeat(20_000)),
    ] {
        let each = cost(|server| {
            let mut stream = server.connect();
            let _ = stream.write_all([head, kind, &part].concat().as_bytes());
            stream
        });
        assert!(each < 32, "{each} KiB for each part of a form, {} bytes long", part.len());
    }
}

#[test]
fn clients_that_do_not_read_cost_little() {
    const CLIENTS: u32 = 20;
    let server = with_orders(&[]);
    let before = peak(&server);
    // The system's buffers hold the first answer, and perhaps the second, of 2 MB each.
    let mut clients: Vec<_> = (0..CLIENTS).map(|_| ask(&server, MANY, 4)).collect();
    let taken = || metric(server.get("/metrics").text(), "uidring_given_numbers_total").unwrap();
    server.wait_for("asked", || taken() > 2.0 * 100_000.0 * f64::from(CLIENTS));
    let each = (peak(&server) - before) / u64::from(CLIENTS);
    assert!(each < 400, "{each} KiB for each client");
    // Late answers are complete, and no id comes twice.
    let mut numbers: Vec<u64> = Vec::new();
    for client in clients.drain(..4) {
        let mut client = BufReader::new(client);
        for _ in 0..4 {
            let answer = Answer::read(&mut client).json();
            let ids = answer["ids"].as_array().unwrap();
            assert_eq!(ids.len(), 100_000);
            numbers.extend(ids.iter().map(|id| id.as_str().unwrap().parse::<u64>().unwrap()));
        }
    }
    // The others go away, and what they have not read is nobody's.
    drop(clients);
    let held = || metric(server.get("/metrics").text(), "uidring_answer_memory_bytes");
    server.wait_for("free", || held() == Some(0.0));
    let next = server.get("/v1/tags/orders/ids").json()["ids"][0].as_str().unwrap().to_owned();
    numbers.push(next.parse().unwrap());
    assert_eq!(numbers.iter().max(), numbers.last());
    let count = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), count, "a number came twice");
}

/// Any token may ask for the list of tags, also where it is shown none of them.
#[test]
fn many_lists_at_once_cost_about_as_much_as_one() {
    let tokens = "[[token]]\ntoken = '0123456789abcdef-small'\ntags = ['a']";
    let server = Server::start_with_tokens(tokens, &["--threads=1"]);
    let mut file = rusqlite::Connection::open(server.file()).unwrap();
    let rows = file.transaction().unwrap();
    for index in 0..50_000 {
        let sql = "INSERT INTO uidring_segment (tag, last_number, step) VALUES (?1, 0, 1)";
        rows.execute(sql, [format!("tag-{index:06}")]).unwrap();
    }
    rows.commit().unwrap();
    let headers = ["authorization: Bearer 0123456789abcdef-small"];
    let asked = request("GET", "/v1/tags", &headers, "");
    let before = peak(&server);
    assert_eq!(server.raw(&asked).status, 200);
    let one = peak(&server) - before;
    let streams: Vec<_> = (0..40)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(asked.as_bytes()).unwrap();
            BufReader::new(stream)
        })
        .collect();
    for mut stream in streams {
        // Some wait for too long, and are to come again.
        let status = Answer::read(&mut stream).status;
        assert!([200, 503].contains(&status), "{status}");
    }
    let all = peak(&server) - before;
    assert!(all < 4 * one, "{one} KiB for one list, and {all} KiB for many");
}
