//! The Redis protocol, from outside: raw bytes, and redis-cli where it is installed.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::resp::{Client, encoded, number, numbers};
use crate::common::{FOREVER, Server, certify, command, folder, metric, over_tls};

const LISTEN: &str = "--resp-listen=127.0.0.1:0";

pub(crate) fn start(options: &[&str]) -> Server {
    Server::start(&[&[LISTEN], options].concat())
}

pub(crate) fn connect(server: &Server) -> Client<TcpStream> {
    Client(BufReader::new(server.connect_resp()))
}

fn create_series(server: &Server, name: &str, body: &str) {
    let headers = ["content-type: application/json"];
    let created = server.send("PUT", &format!("/v1/series/{name}"), &headers, body);
    assert_eq!(created.status, 201, "{created:?}");
}

#[test]
fn ids_and_numbers_are_those_of_http() {
    let server = start(&[]);
    server.put("orders", "{}");
    create_series(&server, "invoices", r#"{"pattern":"R{yyyy}-{n:4}"}"#);
    let mut client = connect(&server);
    // A text, because JavaScript has no exact numbers of this size.
    let first = client.ask("UID.NEXT");
    assert!(first.starts_with('\''), "{first}");
    let more = numbers(&client.ask("uid.next 3"));
    assert_eq!(more.len(), 3);
    assert!(more[0] > number(&first) && more.is_sorted(), "{first} {more:?}");
    let uid = server.get(&format!("/v1/uids/{}", more[2]));
    assert_eq!(uid.json()["worker"], "1", "{uid:?}");
    assert_eq!(client.ask("INCR orders"), ":1");
    assert_eq!(client.ask("incr orders"), ":2");
    // Some clients send this for it.
    assert_eq!(client.ask("INCRBY orders 1"), ":3");
    assert_eq!(client.ask("TAG.NEXT orders"), "'4'");
    assert_eq!(client.ask("TAG.NEXT orders 2"), "['5' '6']");
    assert_eq!(client.ask("Tag.Next orders 1"), "['7']");
    assert_eq!(server.get("/v1/tags/orders/ids").text(), r#"{"ids":["8"]}"#);
    server.put("others", "{}");
    assert_eq!(client.ask("INCRBY others 1"), ":1");
    let of = |options: &str| format!("SERIES.NEXT invoices {options}");
    assert_eq!(client.ask(&of(" 2025-03-01")), "'R2025-0001'");
    assert_eq!(client.ask(&of("a 2025-12-31")), "'R2025-0001'");
    let two = "['R2025-0002' 'R2025-0003']";
    assert_eq!(client.ask(&of("a 2025-01-01 2")), two);
    // A scope may look like a date, where there is a date as well.
    assert_eq!(client.ask(&of("2025-01-01 2025-01-01")), "'R2025-0001'");
    let today = client.ask("SERIES.NEXT invoices");
    assert!(today.starts_with("'R2") && today.ends_with("-0001'"), "{today}");
    // The names of tags are those of HTTP, too.
    server.put("a%20b%C3%A4", "{}");
    client.send("*2\r\n$4\r\nINCR\r\n$5\r\na b\u{e4}\r\n");
    assert_eq!(client.read(), ":1");
}

/// JavaScript and Lua read integers as doubles, so that two numbers above 2^53 may become one.
#[test]
fn an_integer_that_a_client_would_round_is_refused_and_not_used_up() {
    let server = start(&[]);
    for (tag, body) in [
        ("near", r#"{"first":"9007199254740990"}"#),
        ("beyond", r#"{"first":"9007199254740993"}"#),
        ("last", r#"{"first":"9223372036854775000","step":10}"#),
        ("small", "{}"),
    ] {
        assert_eq!(server.put(tag, body).status, 201, "{tag}");
    }
    let mut client = connect(&server);
    assert_eq!(client.ask("INCR small"), ":1");
    assert_eq!(client.ask("INCR near"), ":9007199254740990");
    assert_eq!(client.ask("INCRBY near 1"), ":9007199254740991");
    for (asked, way) in [
        ("INCR near", "come to 9007199254740992, and JavaScript and Lua round integers above "),
        ("INCRBY near 1", "9007199254740991; take it as a text, with TAG.NEXT near"),
        ("INCR beyond", "come to 9007199254740993, "),
        ("INCRBY beyond 1", "with TAG.NEXT beyond"),
        ("INCR last", "come to 9223372036854775000, "),
    ] {
        let answer = client.ask(asked);
        assert!(answer.starts_with("-ERR value is too large for an integer: "), "{answer}");
        assert!(answer.contains(way), "{asked}: {answer}");
    }
    // A refusal uses nothing up, whatever connection and thread it is on.
    for connection in 0..4 {
        assert!(connect(&server).ask("INCR near").starts_with("-ERR "), "{connection}");
    }
    assert_eq!(client.ask("TAG.NEXT near"), "'9007199254740992'");
    assert_eq!(client.ask("TAG.NEXT near 2"), "['9007199254740993' '9007199254740994']");
    assert!(client.ask("INCR near").contains("come to 9007199254740995, "));
    assert_eq!(client.ask("TAG.NEXT last"), "'9223372036854775000'");
    // The other tags go on.
    assert_eq!(client.ask("INCR small"), ":2");
    let metrics = server.get("/metrics");
    let refused = r#"uidring_resp_requests_total{command="INCR",answer="ERR"}"#;
    assert_eq!(metric(metrics.text(), refused), Some(8.0));
}

#[test]
fn commands_about_the_connection_are_answered_as_by_redis() {
    let server = start(&[]);
    let mut client = connect(&server);
    for (asked, answer) in [
        ("PING", "+PONG"),
        ("ping hello", "'hello'"),
        ("ECHO hello", "'hello'"),
        ("SELECT 0", "+OK"),
        ("CLIENT GETNAME", "$-1"),
        ("CLIENT SETNAME shop", "+OK"),
        ("CLIENT GETNAME", "'shop'"),
        ("CLIENT SETINFO LIB-NAME redis-py", "+OK"),
        ("CLIENT NO-EVICT on", "+OK"),
        ("CLIENT NO-TOUCH off", "+OK"),
        ("CLIENT TRACKING off", "+OK"),
        ("READONLY", "+OK"),
        ("READWRITE", "+OK"),
        ("COMMAND COUNT", ":34"),
        ("COMMAND INFO nope incr", "[*-1 ['incr' :2 [+write +fast] :1 :1 :1 [] [] [] []]]"),
        (
            "COMMAND DOCS echo nope",
            "['echo' ['summary' 'Answers the message' 'since' '0.1.0' 'group' 'connection' \
             'arguments' [['name' 'message' 'type' 'string']]]]",
        ),
        ("RESET", "+RESET"),
        ("CLIENT GETNAME", "$-1"),
        ("QUIT", "+OK"),
    ] {
        assert_eq!(client.ask(asked), answer, "{asked}");
    }
    assert!(client.is_over());
    let mut client = connect(&server);
    let all = client.ask("COMMAND");
    assert_eq!(all.matches("['").count(), 34, "{all}");
    assert!(client.ask("COMMAND DOCS").contains("'series.next' ['summary' "));
    assert!(client.ask("COMMAND LIST").contains("'uid.next'"));
    let info = client.ask("INFO");
    assert!(info.contains("loading:0") && info.contains("uidring_version:"), "{info}");
    let id = number(&client.ask("CLIENT ID"));
    assert!(number(&connect(&server).ask("CLIENT ID")) > id);
    assert!(client.ask("HELLO").starts_with("['server' 'uidring' 'version' '0.1.0' 'proto' :2 "));
}

/// Spring Boot, ioredis, redis-py and others read these of a server before they use it, and
/// call one that lacks them down.
#[test]
fn a_health_check_of_redis_finds_what_it_asks_for() {
    let server = start(&[]);
    server.put("orders", "{}");
    server.put("unused", "{}");
    let mut client = connect(&server);
    assert_eq!(client.ask("DBSIZE"), ":0");
    assert_eq!(client.ask("SCAN 0"), "['0' []]");
    assert_eq!(client.ask("INCR orders"), ":1");
    let info = client.ask("INFO");
    for line in [
        "# Server",
        "redis_version:7.0.0",
        "redis_mode:standalone",
        "uidring_version:",
        "uptime_in_seconds:",
        "connected_clients:1",
        "used_memory:",
        "maxmemory_policy:noeviction",
        "loading:0",
        "total_connections_received:1",
        "total_commands_processed:3",
        "role:master",
        "connected_slaves:0",
        "cluster_enabled:0",
        "db0:keys=1,expires=0,avg_ttl=0",
    ] {
        assert!(info.contains(line), "{line}: {info}");
    }
    for (asked, parts, without) in [
        ("INFO server", &["redis_version:", "uptime_in_days:"][..], "role:"),
        ("info Replication", &["role:master", "connected_slaves:0"], "redis_version:"),
        ("INFO server clients", &["redis_version:", "connected_clients:"], "role:"),
        ("INFO all", &["redis_version:", "role:", "cluster_enabled:"], "slave_read_only"),
        ("INFO everything", &["redis_version:", "loading:0"], "slave_read_only"),
        ("INFO nope", &[], "redis_version:"),
    ] {
        let info = client.ask(asked);
        assert!(parts.iter().all(|part| info.contains(part)), "{asked}: {info}");
        assert!(!info.contains(without), "{asked}: {info}");
    }
    for (asked, answer) in [
        ("PING", "+PONG"),
        ("EXISTS orders", ":1"),
        ("EXISTS orders unused nope orders", ":3"),
        // As Envoy asks whether a server is taken out.
        ("EXISTS maintenance", ":0"),
        ("TYPE orders", "+tag"),
        ("TYPE nope", "+none"),
        ("DBSIZE", ":1"),
        ("SCAN 0", "['0' ['orders']]"),
        ("SCAN 0 MATCH o* COUNT 100 TYPE tag", "['0' ['orders']]"),
        ("SCAN 0 MATCH x*", "['0' []]"),
        ("SCAN 0 TYPE string", "['0' []]"),
        ("CONFIG GET databases", "['databases' '1']"),
        ("CONFIG GET save appendonly", "['appendonly' 'no' 'save' '']"),
        ("config get MAXMEMORY*", "['maxmemory' '0' 'maxmemory-policy' 'noeviction']"),
        ("CONFIG GET slave-read-only", "[]"),
        ("CLUSTER NODES", "-ERR This instance has cluster support disabled"),
        ("CLUSTER INFO", "-ERR This instance has cluster support disabled"),
        ("MODULE LIST", "[]"),
        ("ROLE", "['master' :0 []]"),
        ("COMMAND INFO exists", "[['exists' :-2 ~[+readonly +fast] :1 :-1 :1 ~[] [] [] []]]"),
    ] {
        let answer = answer.replace('~', "");
        assert_eq!(client.ask(asked), answer, "{asked}");
    }
    let time = client.ask("TIME");
    assert!(time.starts_with("['1") && time.matches('\'').count() == 4, "{time}");
    for (asked, kind) in [
        ("SCAN x", "-ERR invalid cursor: 'x'; "),
        ("SCAN 0 MATCH", "-ERR syntax error: 'MATCH'; SCAN has MATCH pattern, "),
        ("SCAN 0 MATCH [a]", "-ERR syntax error: '[a]'; a pattern here has * and ? alone"),
        ("SCAN 0 COUNT 0", "-ERR syntax error: '0'; a count is "),
        ("CONFIG SET timeout 1", "-ERR syntax error: 'SET'; CONFIG has GET name"),
        ("MODULE LOAD x", "-ERR syntax error: 'LOAD'; MODULE has LIST"),
        ("GET orders", "-ERR unknown command 'GET'; "),
    ] {
        let answer = client.ask(asked);
        assert!(answer.starts_with(kind), "{asked}: {answer}");
    }
    // All tags, in steps.
    for tag in 0..25 {
        server.put(&format!("t{tag:02}"), "{}");
        assert_eq!(client.ask(&format!("INCR t{tag:02}")), ":1");
    }
    let (mut cursor, mut found) = ("0".to_owned(), HashSet::new());
    loop {
        let answer = client.ask(&format!("SCAN {cursor} MATCH t*"));
        let (next, tags) = answer.strip_prefix("['").unwrap().split_once("' [").unwrap();
        let digits: Vec<&str> = tags.matches(char::is_numeric).collect();
        found.extend(digits.chunks(2).map(<[&str]>::concat));
        cursor = next.to_owned();
        if cursor == "0" {
            break;
        }
    }
    assert_eq!(found.len(), 25, "{found:?}");
}

/// With tokens, a client sees what it may take from.
#[test]
fn a_health_check_without_a_token_learns_no_names() {
    let folder = folder();
    let path = folder.path().join("tokens.toml");
    let tokens = "public = ['open']\n[[token]]\ntoken = 'one-long-secret-of-somebody'\n\
                  tags = ['*']\nadmin = true\n[[token]]\n\
                  token = 'two-long-secret-of-somebody'\ntags = ['orders']\n";
    fs::write(path, tokens).unwrap();
    let server = Server::start_on(folder, &[LISTEN, "--tokens=tokens.toml"]);
    let bearer = "authorization: Bearer one-long-secret-of-somebody";
    let headers = ["content-type: application/json", bearer];
    for tag in ["open", "orders", "secret"] {
        let created = server.send("PUT", &format!("/v1/tags/{tag}"), &headers, "{}");
        assert_eq!(created.status, 201, "{created:?}");
    }
    let mut admin = connect(&server);
    assert_eq!(admin.ask("AUTH one-long-secret-of-somebody"), "+OK");
    for tag in ["open", "orders", "secret"] {
        assert_eq!(admin.ask(&format!("INCR {tag}")), ":1");
    }
    assert_eq!(admin.ask("DBSIZE"), ":3");
    let mut client = connect(&server);
    assert_eq!(client.ask("PING"), "+PONG");
    assert!(client.ask("INFO").contains("redis_version:"));
    assert!(client.ask("INFO keyspace").contains("db0:keys=1,"));
    assert_eq!(client.ask("SCAN 0"), "['0' ['open']]");
    assert_eq!(client.ask("EXISTS open"), ":1");
    assert!(client.ask("EXISTS orders").starts_with("-NOAUTH "));
    assert!(client.ask("TYPE nope").starts_with("-NOAUTH "));
    assert_eq!(client.ask("AUTH two-long-secret-of-somebody"), "+OK");
    assert_eq!(client.ask("SCAN 0"), "['0' ['open' 'orders']]");
    assert_eq!(client.ask("EXISTS orders"), ":1");
    assert!(client.ask("EXISTS secret").starts_with("-NOPERM "));
}

#[test]
fn version_3_of_the_protocol_has_forms_of_its_own() {
    let server = start(&[]);
    let mut client = connect(&server);
    let hello = client.ask("HELLO 3 SETNAME shop");
    let parts = "'proto' :3 'id' :";
    assert!(hello.starts_with("{'server' 'uidring' ") && hello.contains(parts), "{hello}");
    assert!(hello.ends_with("'mode' 'standalone' 'role' 'master' 'modules' []}"), "{hello}");
    assert_eq!(client.ask("CLIENT GETNAME"), "'shop'");
    assert!(client.ask("INFO server").starts_with("=txt:# Server"));
    assert_eq!(client.ask("COMMAND INFO nope"), "[_]");
    assert!(client.ask("COMMAND DOCS incr").starts_with("{'incr' {'summary' "));
    assert!(client.ask("COMMAND LIST").starts_with("~['uid.next' "));
    assert_eq!(numbers(&client.ask("UID.NEXT 2")).len(), 2);
    // What is not understood leaves the version as it is.
    assert!(client.ask("HELLO 4").starts_with("-NOPROTO unsupported protocol version: '4'"));
    assert!(client.ask("HELLO 2 SETNAME").starts_with("-ERR syntax error: 'SETNAME'"));
    assert!(client.ask("HELLO").contains("'proto' :3 "));
    assert_eq!(client.ask("RESET"), "+RESET");
    assert_eq!(client.ask("CLIENT GETNAME"), "$-1");
    assert!(client.ask("HELLO 3 AUTH me").starts_with("-ERR syntax error: 'AUTH'"));
    assert!(client.ask("HELLO 3").starts_with('{'));
    assert!(client.ask("HELLO 2").starts_with('['));
}

#[test]
fn an_error_names_the_value_and_what_to_do() {
    let server = start(&[]);
    server.put("orders", "{}");
    create_series(&server, "invoices", r#"{"pattern":"R{yyyy}-{n:4}"}"#);
    create_series(&server, "gapless", r#"{"pattern":"G{n}","gapless":true}"#);
    let mut client = connect(&server);
    let long = "x".repeat(129);
    for (asked, kind, parts) in [
        ("GET orders", "-ERR unknown command 'GET'; ", &["UID.NEXT, TAG.NEXT, INCR and "][..]),
        ("SET orders 5", "-ERR unknown command 'SET'; ", &[]),
        ("INCRBY orders 5", "-ERR value is not an integer or out of range: '5'; ", &["TAG.NEXT"]),
        ("INCRBY orders -1", "-ERR value is not an integer or out of range: '-1'; ", &[]),
        ("INCRBY nope 1", "-ERR there is no such tag: 'nope'; ", &[]),
        ("INCR", "-ERR wrong number of arguments for 'incr' command; ", &["write INCR tag"]),
        ("INCR orders 5", "-ERR wrong number of arguments for 'incr' command; ", &[]),
        ("PING a b", "-ERR wrong number of arguments for 'ping' command; ", &[]),
        ("QUIT now", "-ERR wrong number of arguments for 'quit' command; write QUIT", &[]),
        ("INCR nope", "-ERR there is no such tag: 'nope'; ", &["if it was there before"]),
        ("TAG.NEXT nope 3", "-ERR there is no such tag: 'nope'; ", &[]),
        (&format!("INCR {long}"), "-ERR there can be no such tag: ", &["1 to 128 characters"]),
        ("UID.NEXT 0", "-ERR value is not an integer or out of range: '0'; ", &["1 to 100000"]),
        ("UID.NEXT -1", "-ERR value is not an integer or out of range: '-1'; ", &[]),
        ("UID.NEXT 100001", "-ERR value is not an integer or out of range: '100001'; ", &[]),
        ("TAG.NEXT orders 1.5", "-ERR value is not an integer or out of range: '1.5'; ", &[]),
        ("SERIES.NEXT nope", "-ERR there is no such series: 'nope'; ", &[]),
        ("SERIES.NEXT a/b", "-ERR there can be no such series: 'a/b'; ", &[]),
        ("SERIES.NEXT gapless", "-ERR the series is gapless: 'gapless'; ", &["take_in"]),
        ("SERIES.NEXT invoices /", "-ERR there can be no such scope: '/'; ", &[]),
        (
            "SERIES.NEXT invoices 2025-11-01",
            "-ERR there can be no such scope: '2025-11-01'; ",
            &["has no {scope}", "give none"],
        ),
        ("SERIES.NEXT invoices  2025-02-30", "-ERR the date is none: '2025-02-30'; ", &[]),
        ("SERIES.NEXT invoices   0", "-ERR value is not an integer or out of ", &["'0'"]),
        ("SELECT 1", "-ERR DB index is out of range: '1'; use 0", &[]),
        ("SELECT x", "-ERR DB index is out of range: 'x'; use 0", &[]),
        ("CLIENT LIST", "-ERR syntax error: 'LIST'; CLIENT has ID, ", &[]),
        ("CLIENT TRACKING on", "-ERR syntax error: 'on'; ", &["CLIENT TRACKING OFF"]),
        ("CLIENT SETNAME a\tb", "-ERR a name of a connection has neither blanks ", &["'a\\tb'"]),
        ("COMMAND GETKEYS", "-ERR syntax error: 'GETKEYS'; COMMAND has COUNT, ", &[]),
        ("MULTI", "-ERR MULTI is not there: each command stands alone", &[]),
        ("EXEC", "-ERR EXEC is not there: each command stands alone", &[]),
        ("WATCH a", "-ERR WATCH is not there: each command stands alone", &[]),
        ("AUTH secret", "-ERR AUTH called, and the service has no tokens; ", &[]),
        ("HELLO x", "-NOPROTO unsupported protocol version: 'x'; use 2 or 3", &[]),
    ] {
        let answer = client.ask(asked);
        let is_told = parts.iter().all(|part| answer.contains(part));
        assert!(answer.starts_with(kind) && is_told, "{asked}: {answer}");
    }
    // What is no text is shown as one, and cannot end the line of the error.
    client.send(b"*1\r\n$6\r\na\r\n\xff\x1bb\r\n");
    assert!(client.read().starts_with("-ERR unknown command 'a\\r\\n\u{fffd}\\u{1b}b'; "));
    client.send(b"*2\r\n$4\r\nINCR\r\n$1\r\n\xff\r\n");
    assert!(client.read().starts_with("-ERR a tag is not UTF-8: '\u{fffd}'"));
    // None of that took a number.
    assert_eq!(client.ask("INCR orders"), ":1");
    assert_eq!(client.ask("SERIES.NEXT invoices  2025-01-01"), "'R2025-0001'");
}

#[test]
fn a_service_without_uids_says_so() {
    let server = start(&["--uids=false"]);
    let answer = connect(&server).ask("UID.NEXT");
    assert!(answer.starts_with("-ERR there are no time-ordered ids here: "), "{answer}");
}

#[test]
fn inline_commands_are_read() {
    let server = start(&[]);
    let mut client = connect(&server);
    client.send("PING\r\nping\n  ECHO  \"a b\\x41\"  \r\n\r\nECHO 'it\\'s'\nNOPE\n");
    for answer in ["+PONG", "+PONG", "'a bA'", "'it\\'s'"] {
        assert_eq!(client.read(), answer);
    }
    assert!(client.read().starts_with("-ERR unknown command 'NOPE'"));
    client.send("ECHO 'a\n");
    assert_eq!(client.read(), "-ERR Protocol error: unbalanced quotes in request");
    assert!(client.is_over());
}

/// A page in a browser can send a request to any address, with commands in its body.
#[test]
fn a_request_of_a_browser_takes_nothing() {
    let server = start(&[]);
    server.put("orders", "{}");
    for request in [
        "POST / HTTP/1.1\r\nhost: a.example\r\n\r\nINCR orders\r\n",
        "GET / HTTP/1.1\r\nHost: a.example\r\n\r\nINCR orders\r\n",
    ] {
        let mut client = connect(&server);
        client.send(request);
        let mut answers = String::new();
        client.0.read_to_string(&mut answers).unwrap();
        assert!(answers.ends_with("HTTP has the address of --listen\r\n"), "{answers}");
    }
    // The first message of TLS, with the ticket of a server that the page has chosen.
    let mut client = connect(&server);
    client.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 random \xff\r\nINCR orders\r\n");
    let mut answers = String::new();
    client.0.read_to_string(&mut answers).unwrap();
    assert!(answers.starts_with("-ERR this is TLS, which "), "{answers}");
    assert_eq!(answers.lines().count(), 1, "{answers}");
    assert_eq!(connect(&server).ask("INCR orders"), ":1");
}

#[test]
fn a_pipeline_is_answered_in_order_wherever_it_is_cut() {
    let server = start(&[]);
    server.put("orders", "{}");
    let pipeline = [
        &encoded("INCR orders")[..],
        b"PING\r\n",
        &encoded("TAG.NEXT orders 2"),
        b"*0\r\n",
        &encoded("ECHO hello"),
        b"INCR orders\r\n",
    ]
    .concat();
    let mut client = connect(&server);
    client.0.get_ref().set_nodelay(true).unwrap();
    for (cut, first) in (1..pipeline.len()).zip((1..).step_by(4)) {
        client.send(&pipeline[..cut]);
        thread::sleep(Duration::from_millis(1));
        client.send(&pipeline[cut..]);
        let expected = [
            format!(":{first}"),
            "+PONG".to_owned(),
            format!("['{}' '{}']", first + 1, first + 2),
            "'hello'".to_owned(),
            format!(":{}", first + 3),
        ];
        assert_eq!(expected.each_ref().map(|_| client.read()), expected, "cut at {cut}");
    }
    // Byte by byte.
    for byte in &pipeline {
        client.send([*byte]);
    }
    let answers: Vec<String> = (0..5).map(|_| client.read()).collect();
    assert_eq!((&*answers[1], &*answers[3]), ("+PONG", "'hello'"));
    // One that is longer than any buffer.
    let first = number(&answers[4]) + 1;
    let mut writer = client.0.get_ref().try_clone().unwrap();
    let sent = thread::spawn(move || writer.write_all(&encoded("INCR orders").repeat(50_000)));
    for number in first..first + 50_000 {
        assert_eq!(client.read(), format!(":{number}"));
    }
    sent.join().unwrap().unwrap();
}

#[test]
fn what_breaks_the_protocol_is_told_and_ends_the_connection() {
    let server = start(&["--max-body=1000"]);
    let long = [b'a'; 2000];
    for (bytes, problem) in [
        (&b"*65\r\n"[..], "invalid multibulk length: '65'; a command has 64 arguments at most"),
        (b"*99999999999999999999\r\n", "invalid multibulk length: '99999999999999999999'"),
        (b"*1\r\n$-1\r\n", "invalid bulk length: '-1'"),
        (b"*1\r\n$1001\r\n", "too big request: a command has 1000 bytes at most"),
        (b"*1\r\n$18446744073709551616\r\n", "invalid bulk length: '18446744073709551616'"),
        (b"*2\r\n$600\r\n", ""),
        (b"*1\r\n*1\r\n$4\r\nPING\r\n", "expected '$', got '*'"),
        (b"*1\r\n$4\r\nPINGPONG\r\n", "an argument is longer than its length says"),
        (&long, "too big inline request: a line has 1000 bytes at most"),
    ] {
        let mut client = connect(&server);
        client.send(encoded("PING"));
        client.send(bytes);
        assert_eq!(client.read(), "+PONG");
        if problem.is_empty() {
            continue;
        }
        let answer = client.read();
        assert!(answer.starts_with(&format!("-ERR Protocol error: {problem}")), "{answer}");
        assert!(client.is_over(), "{problem}");
    }
    // Half of the limit is no error, and more than the limit in two arguments is one.
    let mut client = connect(&server);
    client.send(format!("*2\r\n$600\r\n{}\r\n$600\r\n", "a".repeat(600)));
    assert!(client.read().starts_with("-ERR Protocol error: too big request: a command has 1000"));
    // A command without arguments needs no answer, whatever its number is.
    let mut client = connect(&server);
    client.send("*0\r\n*-1\r\n*-5\r\n\r\nPING\r\n");
    assert_eq!(client.read(), "+PONG");
}

#[test]
fn an_idle_connection_and_a_slow_command_are_cut_off() {
    let server = start(&["--header-timeout=2s"]);
    let mut idle = connect(&server);
    let mut slow = connect(&server);
    // A command now and then keeps a connection open.
    let mut busy = connect(&server);
    for _ in 0..10 {
        assert_eq!(busy.ask("PING"), "+PONG");
        thread::sleep(Duration::from_millis(300));
    }
    assert!(idle.is_over());
    // A byte now and then does not.
    let start = Instant::now();
    while slow.0.get_mut().write_all(b" ").is_ok() {
        assert!(start.elapsed() < FOREVER, "it is never cut off");
        thread::sleep(Duration::from_millis(20));
    }
    assert!(busy.is_over());
}

#[test]
fn a_client_that_never_reads_is_cut_off() {
    let server = start(&["--write-timeout=300ms"]);
    for asked in ["UID.NEXT 100000", "ECHO aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]
    {
        let mut client = connect(&server);
        let bytes = encoded(asked);
        let start = Instant::now();
        while client.0.get_mut().write_all(&bytes).is_ok() {
            assert!(start.elapsed() < FOREVER, "it is never cut off");
        }
    }
    assert_eq!(connect(&server).ask("PING"), "+PONG");
}

#[test]
fn a_long_answer_comes_in_slices() {
    let server = start(&[]);
    server.put("orders", r#"{"step":1000}"#);
    let mut client = connect(&server);
    client.send([encoded("UID.NEXT 100000"), encoded("PING")].concat());
    let is_whole = |answer: &str| {
        let numbers = numbers(answer);
        numbers.len() == 100_000 && numbers.is_sorted_by(|a, b| a < b)
    };
    assert!(is_whole(&client.read()));
    assert_eq!(client.read(), "+PONG");
    assert!(is_whole(&client.ask("TAG.NEXT orders 100000")));
    create_series(&server, "invoices", r#"{"pattern":"{n}"}"#);
    assert!(is_whole(&client.ask("SERIES.NEXT invoices   100000")));
}

const TOKENS: &str = r#"
public = ["open"]
[[token]]
token = "0123456789abcdef-orders"
tags = ["orders"]
series = ["invoices"]
[[token]]
token = "0123456789abcdef-admin"
tags = ["*"]
admin = true
"#;

fn with_tokens(options: &[&str]) -> Server {
    let options = [&[LISTEN, "--token-refresh=50ms"], options].concat();
    let server = Server::start_with_tokens(TOKENS, &options);
    let admin = "authorization: Bearer 0123456789abcdef-admin";
    server.create_tags(admin, &["orders", "others", "open"]);
    server
}

#[test]
fn a_token_opens_its_tags() {
    let server = with_tokens(&[]);
    let mut client = connect(&server);
    let no_token = "-NOAUTH a token is needed; send AUTH TOKEN first";
    for (asked, answer) in [
        ("INCR orders", no_token),
        ("INCR open", ":1"),
        ("UID.NEXT", no_token),
        ("SERIES.NEXT invoices", no_token),
        ("PING", "+PONG"),
        ("AUTH wrong", "-WRONGPASS the token is not known"),
        ("INCR orders", no_token),
        ("AUTH 0123456789abcdef-orders", "+OK"),
        ("INCR orders", ":1"),
        ("TAG.NEXT orders 2", "['2' '3']"),
        ("INCR others", "-NOPERM the token does not allow the tag 'others'"),
        ("INCR unknown", "-NOPERM the token does not allow the tag 'unknown'"),
        ("SERIES.NEXT other", "-NOPERM the token does not allow the series 'other'"),
        // One that is not known leaves the one before.
        ("AUTH me wrong", "-WRONGPASS the token is not known"),
        ("INCR orders", ":4"),
        ("AUTH me 0123456789abcdef-admin", "+OK"),
        ("INCR others", ":1"),
        ("RESET", "+RESET"),
        ("INCR others", no_token),
    ] {
        assert_eq!(client.ask(asked), answer, "{asked}");
    }
    assert!(client.ask("HELLO 3 AUTH me wrong").starts_with("-WRONGPASS "));
    let hello = client.ask("HELLO 3 AUTH default 0123456789abcdef-orders SETNAME shop");
    assert!(hello.starts_with('{'), "{hello}");
    assert!(client.ask("UID.NEXT").starts_with('\''));
    // A token that is withdrawn opens nothing more.
    let others = TOKENS.replace("abcdef-orders", "abcdef-nobody");
    fs::write(server.folder().join("tokens.toml"), others).unwrap();
    server.wait_for("withdrawn", || {
        let mut other = connect(&server);
        other.ask("AUTH 0123456789abcdef-nobody") == "+OK"
    });
    assert_eq!(client.ask("UID.NEXT"), "-NOAUTH the token is not known any more; send AUTH TOKEN");
    assert!(!server.log().contains("0123456789abcdef"), "{}", server.log());
}

#[test]
fn a_command_before_auth_is_short() {
    let server = with_tokens(&[]);
    let echo = |length: usize| format!("*2\r\n$4\r\nECHO\r\n${length}\r\n");
    let too_big = "-ERR Protocol error: too big request: a command has 4096 bytes at most; larger \
                   ones need AUTH first";
    let too_long = "-ERR Protocol error: too big inline request: a line has 4096 bytes at most; \
                    larger ones need AUTH first";
    for (bytes, problem) in [
        (echo(4100), too_big),
        (format!("*2\r\n$2100\r\n{}\r\n$2000\r\n", "a".repeat(2100)), too_big),
        ("a".repeat(4097), too_long),
    ] {
        let mut client = connect(&server);
        // What is public needs no token, and is short.
        assert_eq!(client.ask("PING"), "+PONG");
        assert!(client.ask("INCR open").starts_with(':'));
        client.send(&bytes);
        let answer = client.read();
        assert!(answer.starts_with(problem), "{answer}");
        assert!(client.is_over(), "{problem}");
    }
    // One that fits, one behind AUTH in the same packet, and one behind RESET.
    let mut client = connect(&server);
    let long = |length| format!("{}{}\r\n", echo(length), "a".repeat(length));
    let auth = "AUTH 0123456789abcdef-orders\r\n";
    client.send([&long(4000), auth, &long(60_000), "RESET\r\n", &long(60_000)].concat());
    assert_eq!(client.read().len(), 4002);
    assert_eq!(client.read(), "+OK");
    assert_eq!(client.read().len(), 60_002);
    assert_eq!(client.read(), "+RESET");
    assert_eq!(client.read(), too_big);
    assert!(client.is_over());
    // Where there are no tokens, nobody needs AUTH.
    let server = start(&[]);
    let mut client = connect(&server);
    client.send(long(60_000));
    assert_eq!(client.read().len(), 60_002);
}

#[test]
fn uids_are_masked_where_http_masks_them() {
    let folder = folder();
    fs::write(folder.path().join("mask.key"), "07".repeat(32)).unwrap();
    let server = Server::start_on(folder, &[LISTEN, "--mask-key=mask.key"]);
    let mut client = connect(&server);
    let uids = numbers(&client.ask("UID.NEXT 3"));
    let one = number(&client.ask("UID.NEXT"));
    let parts = |uid: u64| server.get(&format!("/v1/uids/{uid}")).json();
    let times: HashSet<String> = uids.iter().map(|&uid| parts(uid)["time"].to_string()).collect();
    let year = parts(one)["time"].as_str().unwrap()[..4].to_owned();
    assert!(times.iter().all(|time| time.contains(&year)), "{times:?} {one}");
    assert!(uids.iter().all(|&uid| parts(uid)["masked"].as_str() == Some(&uid.to_string())));
}

#[test]
fn numbers_go_on_after_a_restart() {
    let server = start(&[]);
    server.put("orders", r#"{"step":10}"#);
    let mut given = HashSet::new();
    let mut folder = None;
    let mut server = Some(server);
    for _ in 0..3 {
        let running =
            server.take().unwrap_or_else(|| Server::start_on(folder.take().unwrap(), &[LISTEN]));
        let mut client = connect(&running);
        for asked in ["TAG.NEXT orders 25", "UID.NEXT 25"] {
            for number in numbers(&client.ask(asked)) {
                assert!(given.insert(number), "{number} twice");
            }
        }
        folder = Some(running.stop());
    }
}

#[test]
fn many_connections_with_pipelines_get_each_number_once() {
    let server = start(&[]);
    server.put("orders", r#"{"step":100}"#);
    let of_thread = |_| {
        let mut client = connect(&server);
        thread::spawn(move || {
            let pipeline = [
                encoded("INCR orders"),
                encoded("UID.NEXT"),
                encoded("TAG.NEXT orders 3"),
                encoded("UID.NEXT 3"),
            ]
            .concat()
            .repeat(25);
            let (mut dense, mut uids) = (Vec::new(), Vec::new());
            for _ in 0..4 {
                client.send(&pipeline);
                for _ in 0..25 {
                    dense.push(number(&client.read()));
                    uids.push(number(&client.read()));
                    dense.extend(numbers(&client.read()));
                    uids.extend(numbers(&client.read()));
                }
            }
            (dense, uids)
        })
    };
    let threads: Vec<_> = (0..16).map(of_thread).collect();
    let (mut dense, mut uids) = (HashSet::new(), HashSet::new());
    for thread in threads {
        let (of_tag, of_time) = thread.join().unwrap();
        // On one connection, they are in order.
        assert!(of_tag.is_sorted_by(|a, b| a < b) && of_time.is_sorted_by(|a, b| a < b));
        dense.extend(of_tag);
        uids.extend(of_time);
    }
    assert_eq!((dense.len(), uids.len()), (16 * 400, 16 * 400), "a number came twice");
    assert_eq!(dense.iter().max(), Some(&(16 * 400)), "none is missing");
}

#[test]
fn a_database_that_hangs_holds_up_its_own_connection_alone() {
    let server = start(&["--threads=1"]);
    server.put("orders", r#"{"step":1000}"#);
    server.put("others", r#"{"step":1000}"#);
    let mut client = connect(&server);
    assert_eq!(client.ask("INCR orders"), ":1");
    let file = rusqlite::Connection::open(server.file()).unwrap();
    file.execute_batch("BEGIN EXCLUSIVE").unwrap();
    // The first number of this tag is in the database, and the answers behind it wait.
    let mut waiting = connect(&server);
    waiting.send([encoded("PING"), encoded("INCR others"), encoded("INCR orders")].concat());
    assert_eq!(client.ask("INCR orders"), ":2");
    assert!(client.ask("UID.NEXT").starts_with('\''));
    // What is before it is sent, and not held back.
    assert_eq!(waiting.read(), "+PONG");
    thread::sleep(Duration::from_millis(100));
    file.execute_batch("ROLLBACK").unwrap();
    assert_eq!(waiting.read(), ":1");
    assert_eq!(waiting.read(), ":3");
}

#[test]
fn what_http_answers_with_503_is_worth_another_try() {
    let (server, file) = Server::launch_locked(&[LISTEN]);
    let mut client = connect(&server);
    for asked in ["UID.NEXT", "INCR orders", "TAG.NEXT orders 2", "SERIES.NEXT invoices"] {
        let answer = client.ask(asked);
        assert!(answer.starts_with("-LOADING there are no ids yet; "), "{asked}: {answer}");
    }
    assert!(client.ask("INFO").contains("loading:1"));
    drop(file);
    server.wait_until_ready();
    assert_eq!(client.ask("INCR orders"), ":1");
    // The database goes away again: what is in memory is given, and then there is nothing.
    let file = rusqlite::Connection::open(server.file()).unwrap();
    file.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let mut answer = String::new();
    let start = Instant::now();
    while !answer.starts_with('-') {
        assert!(start.elapsed() < FOREVER);
        answer = client.ask("INCR orders");
    }
    assert!(answer.starts_with("-TRYAGAIN there are no ids for now; "), "{answer}");
    file.execute_batch("ROLLBACK").unwrap();
    server.wait_for("back", || connect(&server).ask("INCR orders").starts_with(':'));
    let text = server.get("/metrics").text().to_owned();
    let failures = metric(&text, "uidring_resp_failures_total{command=\"INCR\"}");
    assert!(failures.is_some_and(|count| count >= 2.0), "{failures:?}");
}

#[test]
fn commands_are_counted_as_requests_are() {
    let server = start(&[]);
    server.put("orders", "{}");
    let before = server.get("/metrics");
    assert!(!before.text().contains("uidring_resp_requests_total"), "none has come");
    let mut client = connect(&server);
    for asked in ["UID.NEXT", "UID.NEXT 3", "UID.NEXT 0", "INCR orders", "SECRET 1", "PING"] {
        client.ask(asked);
    }
    let text = server.get("/metrics").text().to_owned();
    for (name, expected) in [
        ("uidring_resp_requests_total{command=\"UID.NEXT\",answer=\"OK\"}", 2.0),
        ("uidring_resp_requests_total{command=\"UID.NEXT\",answer=\"ERR\"}", 1.0),
        ("uidring_resp_requests_total{command=\"INCR\",answer=\"OK\"}", 1.0),
        ("uidring_resp_requests_total{command=\"other\",answer=\"ERR\"}", 1.0),
        ("uidring_resp_failures_total{command=\"UID.NEXT\"}", 0.0),
        ("uidring_resp_request_duration_seconds_count", 6.0),
        ("uidring_resp_connections_total", 1.0),
        ("uidring_http_connections", 2.0),
        ("uidring_given_uids_total", 4.0),
        ("uidring_given_numbers_total", 1.0),
    ] {
        let found = metric(&text, name);
        assert!(found.is_some_and(|found| (found - expected).abs() < 1e-9), "{name}: {found:?}");
    }
    assert!(!text.contains("SECRET"));
    let status = || server.get("/v1/status").json();
    assert_eq!(status()["given"]["uids"], 4);
    server.wait_for("in the rates", || {
        let rates = status()["per_second"]["requests"].as_array().unwrap().clone();
        rates.iter().any(|rate| rate.as_u64() >= Some(6))
    });
}

#[test]
fn connections_have_a_limit_with_those_of_http() {
    let server = start(&["--max-connections=3", "--threads=1"]);
    let mut clients: Vec<_> = (0..3).map(|_| connect(&server)).collect();
    for client in &mut clients {
        assert_eq!(client.ask("PING"), "+PONG");
    }
    let mut refused = connect(&server);
    assert_eq!(refused.read(), "-ERR max number of clients reached");
    assert!(refused.is_over());
    assert_eq!(server.get("/livez").status, 503);
    drop(clients);
    server.wait_for("room", || {
        let mut client = connect(&server);
        client.0.get_mut().write_all(b"PING\r\n").is_ok()
            && client.try_read().is_some_and(|answer| answer == "+PONG")
    });
}

#[test]
fn tls_is_that_of_http() {
    let folder = folder();
    let root = certify(folder.path(), 2100);
    let server = Server::launch(folder, &[LISTEN, "--tls-cert=cert.pem", "--tls-key=key.pem"]);
    let address = server.resp.strip_prefix("rediss://").unwrap();
    let stream = || {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(FOREVER)).unwrap();
        stream
    };
    let mut client = Client(BufReader::new(over_tls(&root, stream())));
    server.wait_for("ready", || server.get_tls(&root, "/readyz").unwrap().status == 200);
    client.send(encoded("UID.NEXT").repeat(100));
    let uids: HashSet<String> = (0..100).map(|_| client.read()).collect();
    assert_eq!(uids.len(), 100);
    // Without TLS, nothing is answered.
    let mut plain = Client(BufReader::new(stream()));
    plain.send(encoded("PING"));
    let mut answer = Vec::new();
    let _ = plain.0.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"+"), "{}", answer.escape_ascii());
}

#[test]
fn an_address_in_use_is_one_clear_line() {
    let server = start(&[]);
    let (_, address) = server.resp.split_once("://").unwrap();
    let folder = folder();
    let mut command = command(folder.path());
    let done = command.args(["--listen=127.0.0.1:0", "--resp-listen", address]).output().unwrap();
    let expected = format!(
        "uidring-server: cannot listen on {address}: another program does; choose another \
         --resp-listen\n"
    );
    assert_eq!(String::from_utf8(done.stderr).unwrap(), expected);
    assert_eq!(done.status.code(), Some(1));
}

/// What redis-cli prints for these lines of input.
fn redis_cli(server: &Server, options: &[&str], lines: &str) -> String {
    let (_, port) = server.resp.rsplit_once(':').unwrap();
    let mut child = Command::new("redis-cli")
        .args(["-p", port])
        .args(options)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
#[ignore = "needs redis-cli"]
fn redis_cli_looks_at_all_keys_and_at_the_server() {
    let server = start(&[]);
    server.put("orders", "{}");
    server.put("bills", "{}");
    let printed = redis_cli(&server, &[], "INCR orders\nINCR bills\n");
    assert_eq!(printed, "1\n1\n");
    let keys = redis_cli(&server, &["--bigkeys"], "");
    assert!(keys.contains("Sampled 2 keys in the keyspace!"), "{keys}");
    assert!(!keys.contains("ERR"), "{keys}");
    let mut names: Vec<String> =
        redis_cli(&server, &["--scan"], "").lines().map(ToOwned::to_owned).collect();
    names.sort_unstable();
    assert_eq!(names, ["bills", "orders"]);
    // It goes on for ever.
    let (_, port) = server.resp.rsplit_once(':').unwrap();
    let mut stat = Command::new("redis-cli")
        .args(["-p", port, "-i", "0.01", "--stat"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(stat.stdout.take().unwrap()).lines();
    let rows = lines.map(Result::unwrap).filter(|line| line.starts_with("2  "));
    let rows: Vec<String> = rows.take(2).collect();
    stat.kill().unwrap();
    stat.wait().unwrap();
    assert!(rows.len() == 2 && rows.iter().all(|row| row.contains("M   1 ")), "{rows:?}");
}

#[test]
#[ignore = "needs redis-cli"]
fn redis_cli_is_a_client() {
    let server = start(&[]);
    server.put("orders", "{}");
    let lines = "INCR orders\nTAG.NEXT orders\nTAG.NEXT orders 2\nSELECT 1\nPING\n";
    for options in [&[][..], &["-3"]] {
        let printed = redis_cli(&server, options, lines);
        let first = 1 + 4 * options.len();
        let expected = format!(
            "{first}\n{}\n{}\n{}\nERR DB index is out of range: '1'; use 0\n\nPONG\n",
            first + 1,
            first + 2,
            first + 3
        );
        assert_eq!(printed, expected);
    }
    let help = redis_cli(&server, &["--csv", "COMMAND", "DOCS", "incr"], "");
    assert!(help.starts_with("\"incr\","), "{help}");
    let server = with_tokens(&[]);
    let options = ["-a", "0123456789abcdef-orders", "--no-auth-warning"];
    assert_eq!(redis_cli(&server, &options, "INCR orders\n"), "1\n");
}

/// The memory of a process that is in use, in bytes.
fn resident(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
}

/// Clients have pools of connections, most of which wait.
#[test]
#[ignore = "needs 11,000 open files"]
fn ten_thousand_idle_connections_cost_little() {
    const COUNT: u32 = 10_000;
    let most = format!("--max-connections={COUNT}");
    let server = start(&[&most, "--header-timeout=10m"]);
    let before = resident(server.id());
    let mut idle: Vec<_> = (0..COUNT).map(|_| connect(&server)).collect();
    for client in &mut idle {
        assert_eq!(client.ask("PING"), "+PONG");
    }
    let each = (resident(server.id()) - before) / u64::from(COUNT);
    assert!(each < 16 * 1024, "{each} bytes a connection");
    // One more is told so, and the others go on.
    let mut more = connect(&server);
    assert_eq!(more.read(), "-ERR max number of clients reached");
    assert!(more.is_over());
    for index in [0, idle.len() / 2, idle.len() - 1] {
        number(&idle[index].ask("UID.NEXT"));
    }
    drop(idle.pop());
    server.wait_for("room for another", || {
        let mut another = connect(&server);
        let asked = another.0.get_mut().write_all(&encoded("PING"));
        asked.is_ok() && another.try_read().as_deref() == Some("+PONG")
    });
}
