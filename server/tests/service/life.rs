//! The start, the database's absence, and clients that hold connections up.

use std::fs;
use std::io::{BufReader, Read, Write};
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Answer, Server, command, folder, request};

/// A start that fails each time, as after a wrong option, uses no worker ids up.
#[test]
fn a_start_that_fails_leaves_the_worker_ids() {
    let folder = Server::start(&["--leaf-snowflake"]).stop();
    for options in [&["--leaf-snowflake", "--leaf-epoch=2020-01-01"][..], &["--table=leaf"]] {
        for _ in 0..2 {
            let mut command = command(folder.path());
            let done = command.arg("--listen=127.0.0.1:0").args(options).output().unwrap();
            assert_eq!(done.status.code(), Some(1), "{options:?}: {done:?}");
        }
    }
    let server = Server::start_on(folder, &[]);
    assert_eq!(server.worker(), "2");
}

#[test]
fn a_port_in_use_is_one_clear_line() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let folder = folder();
    let done = command(folder.path()).args(["--listen", &address]).output().unwrap();
    assert_eq!(done.status.code(), Some(1));
    let expected = format!(
        "uidring-server: cannot listen on {address}: another program does; choose another \
         --listen\n"
    );
    assert_eq!(String::from_utf8(done.stderr).unwrap(), expected);
    // It has not even made a database.
    assert!(!folder.path().join("ids.db").exists());
    // Two of this program are no exception.
    let server = Server::start(&[]);
    let address = server.address.to_string();
    let done = command(folder.path()).args(["--listen", &address]).output().unwrap();
    assert_eq!(done.status.code(), Some(1));
}

#[test]
fn a_database_that_cannot_be_used_is_one_clear_line() {
    let folder = folder();
    fs::write(folder.path().join("ids.db"), "this is no database, and long enough to be read")
        .unwrap();
    let done = command(folder.path()).args(["--listen=127.0.0.1:0"]).output().unwrap();
    let stderr = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(1), "{stderr}");
    assert!(stderr.lines().last().unwrap().starts_with("uidring-server: cannot use"), "{stderr}");
}

#[test]
fn a_database_that_is_away_at_the_start_is_waited_for() {
    let (server, file) = Server::launch_locked(&["--leaf-snowflake"]);
    assert_eq!(server.get("/livez").status, 200);
    let ready = server.get("/readyz");
    assert_eq!((ready.status, ready.header("retry-after")), (503, "1"), "{ready:?}");
    for path in ["/v1/uids", "/v1/tags/orders/ids", "/v1/tags", "/v1/uids/1", "/db"] {
        let answer = server.get(path);
        assert_eq!((answer.status, answer.header("retry-after")), (503, "1"), "{answer:?}");
        assert_eq!(answer.json()["type"], "urn:uidring:problem:not-ready");
    }
    for path in ["/api/segment/get/orders", "/api/snowflake/get/x"] {
        let answer = server.get(path);
        assert_eq!(answer.status, 500);
        assert_eq!(answer.json()["message"], "Result{id=-1, status=EXCEPTION}");
    }
    let answer = server.get("/tinyid/id/nextId?bizType=orders");
    assert_eq!((answer.status, answer.json()["code"].as_u64()), (200, Some(6)), "{answer:?}");
    server.wait_for("told why", || server.log().contains("the database cannot be used"));
    let why = server.get("/readyz").json()["detail"].as_str().unwrap().to_owned();
    assert!(why.contains("locked"), "{why}");
    drop(file);
    server.wait_until_ready();
    assert_eq!(server.get("/v1/uids").status, 200);
    assert_eq!(server.get("/v1/tags/orders/ids").text(), r#"{"ids":["1"]}"#);
}

#[test]
fn clients_that_go_away_while_the_database_hangs_take_nothing() {
    let server = Server::start(&[]);
    server.put("orders", r#"{"step":1000}"#);
    let file = rusqlite::Connection::open(server.file()).unwrap();
    file.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let ask = request("POST", "/v1/tags/orders/segments", &[], "");
    let streams: Vec<_> = (0..100)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(ask.as_bytes()).unwrap();
            stream
        })
        .collect();
    thread::sleep(Duration::from_millis(300));
    drop(streams);
    thread::sleep(Duration::from_millis(300));
    file.execute_batch("ROLLBACK").unwrap();
    let answer = server.raw(&ask);
    let first: u64 = answer.json()["first"].as_str().unwrap().parse().unwrap();
    assert!(first <= 16_001, "of 100, only those that had their turn took: {first}");
}

#[test]
fn a_slow_head_is_cut_off() {
    let server = Server::start(&["--header-timeout=200ms"]);
    let mut stream = server.connect();
    let writer = stream.try_clone().unwrap();
    // A byte now and then does not help.
    let sent = thread::spawn(move || {
        let mut writer = writer;
        let head = b"GET /v1/uids HTTP/1.1\r\nx: ".iter().chain([b'a'; 10_000].iter());
        let slow = head.inspect(|_| thread::sleep(Duration::from_millis(20)));
        slow.take_while(|byte| writer.write_all(&[**byte]).is_ok()).count()
    });
    // Closed, or reset because bytes were on their way.
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(!String::from_utf8_lossy(&rest).starts_with("HTTP/1.1 200"), "{rest:?}");
    drop(stream);
    // On a slow machine fewer bytes are sent in that time.
    let sent = sent.join().unwrap();
    assert!(sent < 500, "it was cut off after {sent} bytes");
    // An idle connection is closed, too.
    let mut idle = server.connect();
    assert_eq!(idle.read(&mut [0]).unwrap(), 0);
}

#[test]
fn a_slow_body_is_cut_off() {
    let server = Server::start(&["--body-timeout=200ms"]);
    let mut stream = server.connect();
    let head = "PUT /v1/tags/a HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                content-length: 2\r\n\r\n{";
    stream.write_all(head.as_bytes()).unwrap();
    let answer = Answer::read(&mut BufReader::new(stream));
    assert_eq!(answer.status, 408, "{answer:?}");
    assert_eq!(answer.json()["type"], "urn:uidring:problem:slow-body");
}

#[test]
fn a_client_that_never_reads_is_cut_off() {
    let server = Server::start(&["--write-timeout=300ms"]);
    let mut stream = server.connect();
    let asked = "GET /v1/uids?n=100000 HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(100);
    stream.write_all(asked.as_bytes()).unwrap();
    // The buffers of the system are full by now, and the server waits. When it has given up, a
    // write fails: nothing else ends the connection.
    let start = Instant::now();
    while stream.write_all(b"x").is_ok() {
        assert!(start.elapsed() < crate::common::FOREVER, "it is never cut off");
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(server.get("/livez").status, 200);
}

#[test]
fn connections_have_a_limit() {
    let server = Server::start(&["--max-connections=3", "--threads=1"]);
    let streams: Vec<_> = (0..3)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
            let mut stream = BufReader::new(stream);
            assert_eq!(Answer::read(&mut stream).status, 200);
            stream
        })
        .collect();
    let mut stream = BufReader::new(server.connect());
    let answer = Answer::read(&mut stream);
    assert_eq!((answer.status, answer.header("retry-after")), (503, "1"));
    assert_eq!(answer.header("cache-control"), "no-store");
    assert_eq!(answer.json()["type"], "urn:uidring:problem:too-many-connections");
    assert_eq!(stream.read(&mut [0]).unwrap(), 0, "it is closed");
    drop(streams);
    server.wait_for("room", || {
        let mut stream = server.connect();
        let _ = stream.write_all(request("GET", "/livez", &[], "").as_bytes());
        Answer::try_read(&mut BufReader::new(stream)).is_some_and(|answer| answer.status == 200)
    });
}

/// Clients that hold connections open leave files for the database.
#[cfg(unix)] // Windows has no such limit
#[test]
fn connections_leave_files_for_the_database() {
    let folder = folder();
    let server = Server::launch_after("ulimit -n 64", folder, &["--threads=2"]);
    server.wait_until_ready();
    server.wait_for("told", || server.log().contains("too few open files for --max-connections"));
    server.put("orders", r#"{"step":1}"#);
    let idle: Vec<_> = (0..100).map(|_| server.connect()).collect();
    // A client that has a connection can go on. It sees that others are turned away.
    let mut answered = 0;
    for stream in &idle {
        let mut stream = stream.try_clone().unwrap();
        let ask = "POST /v1/tags/orders/segments?size=1 HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";
        if stream.write_all(ask.as_bytes()).is_err() {
            continue;
        }
        match Answer::try_read(&mut BufReader::new(stream)) {
            Some(answer) if answer.status == 200 => answered += 1,
            Some(answer) => {
                assert_eq!(answer.json()["type"], "urn:uidring:problem:too-many-connections");
            }
            None => {}
        }
    }
    assert!((5..60).contains(&answered), "{answered} connections");
    // A first use, and takes that need the database.
    let mut stream = idle[0].try_clone().unwrap();
    let mut reader = BufReader::new(idle[0].try_clone().unwrap());
    for _ in 0..20 {
        let ask = "GET /v1/tags/orders/ids?n=10 HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";
        stream.write_all(ask.as_bytes()).unwrap();
        let answer = Answer::read(&mut reader);
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    let log = server.log();
    assert!(!log.contains("cannot") && !log.contains("no further file"), "{log}");
}

#[cfg(unix)] // Windows has no such limit
#[test]
fn too_few_files_are_one_clear_line() {
    let folder = folder();
    let program = env!("CARGO_BIN_EXE_uidring-server");
    let start = "ulimit -n 30; exec \"$0\" --listen 127.0.0.1:0 --threads 2";
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", start, program]).env("HOME", folder.path()).current_dir(folder.path());
    let done = command.output().unwrap();
    let stderr = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("30 open files, and it needs 55 at least"), "{stderr}");
}

#[test]
fn requests_on_one_connection_are_answered_in_order() {
    let server = Server::start(&[]);
    server.put("orders", "{}");
    let mut stream = server.connect();
    let asked = "GET /v1/tags/orders/ids HTTP/1.1\r\nhost: localhost\r\naccept: text/plain\r\n\r\n";
    stream.write_all(asked.repeat(500).as_bytes()).unwrap();
    let mut stream = BufReader::new(stream);
    for number in 1..=500 {
        assert_eq!(Answer::read(&mut stream).text(), format!("{number}\n"));
    }
}
