//! Clean ends: what is under way is answered, and nobody holds an end up.

use std::collections::HashSet;
use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use crate::common::resp::{encoded, number};
use crate::common::{Answer, Server, certify, folder, request, signal};
use crate::resp::{connect, start};
use crate::tls::TLS;

#[test]
fn a_request_under_way_is_answered_at_the_end() {
    let mut server = Server::start(&[]);
    let body = r#"{"step":10}"#;
    let mut stream = server.connect();
    let head = format!(
        "PUT /v1/tags/late HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    // It is known when the server has begun to answer.
    stream.write_all(&body.as_bytes()[..3]).unwrap();
    let mut idle = server.connect();
    idle.write_all(b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut idle = BufReader::new(idle);
    assert_eq!(Answer::read(&mut idle).status, 200);
    server.terminate();
    // A connection that waits for another request is closed at once.
    assert_eq!(idle.read(&mut [0]).unwrap(), 0);
    assert!(server.has_ended().is_none(), "{}", server.log());
    stream.write_all(&body.as_bytes()[3..]).unwrap();
    let answer = Answer::read(&mut BufReader::new(stream));
    assert_eq!((answer.status, answer.header("connection")), (201, "close"));
    assert_eq!(server.wait().code(), Some(0), "{}", server.log());
}

/// Whoever connects meanwhile is told so at once, and the next process can listen.
#[test]
fn the_addresses_are_free_while_requests_under_way_are_answered() {
    let folder = folder();
    let path = folder.path().join("resp.sock");
    let resp = format!("--resp-listen=unix:{}", path.display());
    let mut server = Server::start_on(folder, &[&resp, "--grace=1h"]);
    let mut stream = server.connect();
    let head = "PUT /v1/tags/late HTTP/1.1\r\nhost: localhost\r\n\
                content-type: application/json\r\ncontent-length: 2\r\n\r\n{";
    stream.write_all(head.as_bytes()).unwrap();
    // It is known when the server has begun to answer.
    let mut idle = server.connect();
    idle.write_all(b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    assert_eq!(Answer::read(&mut BufReader::new(idle)).status, 200);
    server.terminate();
    server.wait_for("closed", || {
        TcpStream::connect(server.address).is_err() && UnixStream::connect(&path).is_err()
    });
    let listen = format!("--listen={}", server.address);
    let next = Server::start(&[&listen, &resp]);
    assert!(server.has_ended().is_none(), "{}", server.log());
    stream.write_all(b"}").unwrap();
    assert_eq!(Answer::read(&mut BufReader::new(stream)).status, 201);
    assert_eq!(server.wait().code(), Some(0), "{}", server.log());
    // The socket is the next one's, and stays.
    assert!(UnixStream::connect(&path).is_ok());
    assert_eq!(next.get("/livez").status, 200);
}

#[test]
fn what_does_not_end_is_cut_off() {
    let mut server = Server::start(&["--grace=200ms"]);
    let mut stream = server.connect();
    stream.write_all(b"PUT /v1/tags/a HTTP/1.1\r\nhost: localhost\r\n").unwrap();
    let answered = server.get("/livez");
    assert_eq!(answered.status, 200);
    server.terminate();
    assert_eq!(server.wait().code(), Some(0));
    server.wait_for("told", || server.log().contains("cut off what had not ended in time"));
}

#[test]
fn what_was_asked_before_the_end_is_answered() {
    for _ in 0..5 {
        let mut server = Server::start(&["--threads=1"]);
        let ask = |stream: &mut TcpStream| {
            stream.write_all(b"GET /v1/uids HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
        };
        let mut kept: Vec<_> = (0..20).map(|_| BufReader::new(server.connect())).collect();
        for stream in &mut kept {
            ask(stream.get_mut());
            assert_eq!(Answer::read(stream).header("connection"), "");
        }
        // It sees all of it at once: connections to accept, requests on all, and the signal.
        signal(server.id(), "STOP");
        for stream in &mut kept {
            ask(stream.get_mut());
        }
        let streams: Vec<_> = (0..20)
            .map(|_| {
                let mut stream = server.connect();
                stream.write_all(request("GET", "/v1/uids", &[], "").as_bytes()).unwrap();
                stream
            })
            .collect();
        server.terminate();
        signal(server.id(), "CONT");
        for mut stream in kept.into_iter().chain(streams.into_iter().map(BufReader::new)) {
            assert_eq!(Answer::read(&mut stream).status, 200);
        }
        assert_eq!(server.wait().code(), Some(0));
    }
}

#[test]
fn a_connection_without_a_request_does_not_hold_up_the_end() {
    let mut server = Server::start(&["--grace=1h", "--threads=1"]);
    let mut silent = server.connect();
    // The connection has been accepted when a later one is answered.
    assert_eq!(server.get("/livez").status, 200);
    server.terminate();
    assert_eq!(silent.read(&mut [0]).unwrap(), 0);
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn what_redis_clients_asked_before_the_end_is_answered() {
    for _ in 0..5 {
        let mut server = start(&["--threads=1"]);
        server.put("orders", "{}");
        let mut kept: Vec<_> = (0..20).map(|_| connect(&server)).collect();
        for client in &mut kept {
            assert!(client.ask("INCR orders").starts_with(':'));
        }
        // It sees all of it at once: connections to accept, commands on all, and the signal.
        signal(server.id(), "STOP");
        kept.extend((0..20).map(|_| connect(&server)));
        for client in &mut kept {
            client.send(encoded("INCR orders").repeat(3));
        }
        server.terminate();
        signal(server.id(), "CONT");
        let mut given = HashSet::new();
        for client in &mut kept {
            given.extend((0..3).map(|_| number(&client.read())));
            assert!(client.is_over());
        }
        assert_eq!(given.len(), 120);
        assert_eq!(server.wait().code(), Some(0), "{}", server.log());
    }
}

#[test]
fn a_client_that_never_pauses_does_not_hold_up_the_end() {
    let mut server = start(&["--grace=1h"]);
    let mut client = connect(&server);
    let busy = thread::spawn(move || {
        let mut count = 0;
        let pipeline = encoded("UID.NEXT").repeat(10);
        while client.0.get_mut().write_all(&pipeline).is_ok() {
            for _ in 0..10 {
                if client.try_read().is_none() {
                    return count;
                }
                count += 1;
            }
        }
        count
    });
    thread::sleep(Duration::from_millis(100));
    server.terminate();
    assert_eq!(server.wait().code(), Some(0), "{}", server.log());
    assert!(busy.join().unwrap() > 0);
}

#[test]
fn a_connection_without_a_handshake_does_not_hold_up_the_end() {
    let folder = folder();
    let cert = certify(folder.path(), 2100);
    // Less than a handshake may take.
    let mut server = Server::launch(folder, &[&TLS[..], &["--threads=1", "--grace=5s"]].concat());
    server.wait_for("ready", || server.get_tls(&cert, "/readyz").unwrap().status == 200);
    let mut silent = server.connect();
    // The connection has been accepted when a later one is answered.
    assert_eq!(server.get_tls(&cert, "/livez").unwrap().status, 200);
    server.terminate();
    assert_eq!(silent.read(&mut [0]).unwrap(), 0);
    assert_eq!(server.wait().code(), Some(0));
    server.wait_for("ended", || server.log().contains("ended"));
    assert!(!server.log().contains("cut off"), "{}", server.log());
}
