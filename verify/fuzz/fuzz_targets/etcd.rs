//! What etcd answers to worker ids and segments: keys with any values, answers that are lost or
//! come as errors or as anything else. Segments and leases lie within their bounds, no number and
//! no tick comes twice unless the server lied, and no error shows the password or the token.

#![no_main]

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{ErrorKind, Read, Write};
use std::iter::successors;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use uidring::registry::{Request, WorkerRegistry};
use uidring::segment::{Segment, SegmentSource, Tag};
use uidring::{Layout, RegistryOptions, Store};
use uidring_fuzz::{number, rest, unsigned};

/// With characters that JSON escapes.
const PASSWORD: &str = "Q7zX9\"kW3";
const ESCAPED: &str = "Q7zX9%22kW3";
const TOKEN: &str = "t5vB8n.77";
/// A part of each that nothing else has.
const PARTS: [&str; 2] = ["Q7zX9", "t5vB8n"];

/// A cluster with one member, and what it does to requests instead of answering them.
#[derive(Default)]
struct Server {
    revision: u64,
    /// Each key's value and revision.
    keys: BTreeMap<String, (String, u64)>,
    /// One for each of the next requests, backwards. After these, it refuses them all.
    plan: Vec<Turn>,
    /// Whether it has answered what is not so.
    has_lied: bool,
}

#[derive(Clone)]
enum Turn {
    Answer,
    /// It does what it is asked, and does not answer.
    Lose,
    /// It ends the connection.
    Close,
    /// It says this with a status, and does nothing.
    Refuse(u16, String),
    /// It sends these bytes, and does nothing.
    Send(Vec<u8>),
}

static SERVER: Mutex<Option<Server>> = Mutex::new(None);

fuzz_target!(|data: &[u8]| {
    static ADDRESS: OnceLock<SocketAddr> = OnceLock::new();
    let address = *ADDRESS.get_or_init(serve);
    let _ = check(&mut Unstructured::new(data), address);
});

fn check(input: &mut Unstructured<'_>, address: SocketAddr) -> Result<()> {
    let mut server = Server { revision: 1, ..Server::default() };
    for _ in 0..input.int_in_range(0..=3)? {
        let key =
            *input.choose(&["store", "layout", "workers/1", "permanent/2", "segments/orders"])?;
        server.revision += 1;
        server.keys.insert(format!("ids/{key}"), (document(input)?, server.revision));
    }
    let is_registry = input.arbitrary()?;
    let wish = if input.arbitrary()? { Some(unsigned(input)?) } else { None };
    for _ in 0..input.int_in_range(4..=24)? {
        server.plan.push(turn(input)?);
    }
    // So that many of them reach the keys: the status, the token, the metrics.
    server.plan.extend([const { Turn::Answer }; 3]);
    server.plan.reverse();
    *SERVER.lock().unwrap() = Some(server);
    let store = Store::open(format!("etcd://me:{ESCAPED}@{address}/ids")).unwrap();
    let store = store.with_timeout(Duration::from_millis(100));
    if is_registry {
        leases(&store)
    } else {
        segments(&store, wish)
    }
    Ok(())
}

fn segments(store: &Store, wish: Option<u64>) {
    let source = match store.segments() {
        Ok(source) => source,
        Err(error) => return hides(&error),
    };
    match source.tags() {
        Ok(tags) => assert!(tags.is_sorted_by_key(|record| &record.tag)),
        Err(error) => hides(&error),
    }
    if let Err(error) = source.create("orders", &Tag::new()) {
        hides(&error);
    }
    let mut loaded: Vec<Segment> = Vec::new();
    for _ in 0..3 {
        match source.load("orders", wish) {
            Ok(segment) => loaded.push(segment),
            Err(error) => hides(&error),
        }
    }
    for segment in &loaded {
        let [first, count, delta] = [segment.first, segment.count, segment.delta].map(i128::from);
        assert!(first >= 1 && count >= 1 && delta >= 1, "{segment:?}");
        assert!(first + (count - 1) * delta <= i128::from(i64::MAX), "{segment:?}");
    }
    if has_lied() {
        return;
    }
    for pair in loaded.windows(2) {
        let last = pair[0].first + (pair[0].count - 1) * pair[0].delta;
        assert!(last < pair[1].first, "{pair:?}");
    }
}

fn leases(store: &Store) {
    let options = RegistryOptions::new().leased(Duration::from_secs(60));
    let mut registry = match store.registry_with(options) {
        Ok(registry) => registry,
        Err(error) => return hides(&error),
    };
    let layout = Layout::DEFAULT;
    let mut workers = Vec::new();
    for _ in 0..3 {
        let request = Request::new(layout, 10_000_000, layout.max_tick());
        match registry.assign(&request) {
            Ok(lease) => {
                assert!(lease.worker <= layout.max_worker(), "{lease:?}");
                assert!(lease.first >= 10_000_000 && lease.first <= lease.last, "{lease:?}");
                workers.push(lease.worker);
            }
            Err(error) => hides(&error),
        }
    }
    workers.sort_unstable();
    let given = workers.len();
    workers.dedup();
    assert!(has_lied() || workers.len() == given, "a worker id is leased twice: {workers:?}");
}

fn has_lied() -> bool {
    SERVER.lock().unwrap().as_ref().is_some_and(|server| server.has_lied)
}

fn hides(error: &dyn Error) {
    let shown = |text: String| {
        assert!(!PARTS.iter().any(|part| text.contains(part)), "a secret is in {text:?}");
    };
    shown(format!("{error:?}"));
    successors(Some(error), |&error| error.source()).for_each(|error| shown(error.to_string()));
}

/// A value of a key: mostly a JSON object with members that the library knows.
fn document(input: &mut Unstructured<'_>) -> Result<String> {
    if input.ratio(1, 8)? {
        return Ok(rest(input).chars().take(40).collect());
    }
    let mut text = "{\"version\":1".to_owned();
    let names = [
        "id",
        "last_number",
        "step",
        "max_step",
        "row",
        "description",
        "modified",
        "created",
        "reserved_until",
        "lease_until",
        "holder",
        "last_worker",
        "ids_from",
        "ids_to",
        "tick_ms",
        "epoch_ms",
        "type",
        "time_bits",
        "worker_bits",
        "sequence_bits",
        "worker_first",
        "launched",
    ];
    for name in names {
        if input.arbitrary()? {
            let value = match input.int_in_range(0..=7)? {
                0 => "\"x\"".to_owned(),
                1 => "null".to_owned(),
                _ => number(input)?.to_string(),
            };
            text += &format!(",\"{name}\":{value}");
        }
    }
    Ok(text + "}")
}

fn turn(input: &mut Unstructured<'_>) -> Result<Turn> {
    Ok(match input.int_in_range(0..=15)? {
        0 => Turn::Lose,
        1 => Turn::Close,
        2 | 3 => {
            let messages = [
                "etcdserver: request timed out",
                "etcdserver: mvcc: database space exceeded",
                "etcdserver: invalid auth token",
                "etcdserver: permission denied",
                "etcdserver: no leader",
                "etcdserver: authentication is not enabled",
                "etcdserver: user name is empty",
                "what is this?",
            ];
            let status = *input.choose(&[200, 301, 400, 401, 403, 404, 429, 500, 503])?;
            let (message, code) = (*input.choose(&messages)?, input.int_in_range(0..=16)?);
            let message = format!("{message} {PASSWORD} {TOKEN}");
            Turn::Refuse(status, json!({"message": message, "code": code}).to_string())
        }
        4 => {
            let numbers = (unsigned(input)?, unsigned(input)?, unsigned(input)?);
            let header = json!({
                "cluster_id": numbers.0.to_string(), "member_id": "2",
                "revision": numbers.1.to_string(), "raft_term": numbers.2.to_string(),
            });
            let value = STANDARD.encode(document(input)?);
            let key = STANDARD.encode("ids/segments/orders");
            let pair = json!({"key": key, "mod_revision": number(input)?, "value": value});
            let range = json!({"kvs": [pair], "more": input.arbitrary::<bool>()?});
            let responses = vec![json!({"response_range": range}); input.int_in_range(0..=3)?];
            let succeeded: bool = input.arbitrary()?;
            let body = json!({
                "header": header, "responses": responses, "succeeded": succeeded,
                "kvs": [pair], "more": range["more"], "token": TOKEN, "version": "3.5.9",
            });
            Turn::Refuse(200, body.to_string())
        }
        5 => Turn::Send(rest(input).into_bytes().into_iter().take(100).collect()),
        _ => Turn::Answer,
    })
}

/// Starts the server.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || {
                // A client that went away is none of the server's business.
                let _ = converse(stream);
            });
        }
    });
    address
}

fn converse(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    loop {
        let (path, body, has_token) = request(&mut stream)?;
        let (turn, answer) = {
            let mut server = SERVER.lock().unwrap();
            let Some(server) = server.as_mut() else { return Ok(()) };
            let refusal = Turn::Refuse(400, "{\"code\":3,\"message\":\"enough\"}".to_owned());
            let turn = server.plan.pop().unwrap_or(refusal);
            let answer = match &turn {
                Turn::Answer | Turn::Lose => server.answer(&path, &body),
                Turn::Refuse(200, _) | Turn::Send(_) => {
                    server.has_lied = true;
                    String::new()
                }
                _ => String::new(),
            };
            (turn, answer)
        };
        let (status, body) = match turn {
            Turn::Answer => (200, answer),
            // A token that the client does not have is none of its secrets.
            Turn::Refuse(status, body) if status != 200 && !has_token => {
                (status, body.replace(TOKEN, ""))
            }
            Turn::Refuse(status, body) => (status, body),
            Turn::Send(bytes) => return stream.write_all(&bytes),
            Turn::Lose | Turn::Close => return Ok(()),
        };
        let length = body.len();
        // In one piece, which the system sends at once.
        let answer = format!(
            "HTTP/1.1 {status} Any\r\ndate: Tue, 24 Nov 2026 20:16:32 GMT\r\n\
             content-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(answer.as_bytes())?;
    }
}

/// The path and the body of a request, and whether it has the token.
fn request(stream: &mut TcpStream) -> std::io::Result<(String, String, bool)> {
    let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        if let Some(end) = request.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&request[..end]).into_owned();
            let lower = head.to_ascii_lowercase();
            let length = lower.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
            if request.len() >= end + 4 + length {
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                let body = String::from_utf8_lossy(&request[end + 4..]).into_owned();
                return Ok((path, body, head.contains(TOKEN)));
            }
        }
        match stream.read(&mut buffer)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            length => request.extend_from_slice(&buffer[..length]),
        }
    }
}

impl Server {
    fn answer(&mut self, path: &str, body: &str) -> String {
        let body: Value = serde_json::from_str(body).unwrap_or_default();
        let mut answer = match path {
            "/v3/maintenance/status" => json!({"version": "3.5.17"}),
            "/v3/auth/authenticate" => json!({"token": TOKEN}),
            "/v3/kv/range" => self.range(&body),
            "/v3/kv/txn" => self.transact(&body),
            _ => {
                return "etcd_disk_wal_fsync_duration_seconds_count 100\n\
                         etcd_disk_wal_write_bytes_total 1\n"
                    .to_owned();
            }
        };
        answer["header"] = json!({
            "cluster_id": "1", "member_id": "2", "revision": self.revision.to_string(),
            "raft_term": "2",
        });
        answer.to_string()
    }

    fn range(&self, range: &Value) -> Value {
        let (from, limit) = (text(&range["key"]), range["limit"].as_str());
        let to = range.get("range_end").map_or_else(|| format!("{from}\0"), text);
        let limit = limit.and_then(|limit| limit.parse().ok()).unwrap_or(usize::MAX);
        let found = self.keys.range(from..to);
        let pairs = found.map(|(key, (value, revision))| {
            json!({
                "key": STANDARD.encode(key), "value": STANDARD.encode(value),
                "mod_revision": revision.to_string(),
            })
        });
        let pairs: Vec<Value> = pairs.collect();
        json!({"more": pairs.len() > limit, "kvs": &pairs[..pairs.len().min(limit)]})
    }

    fn transact(&mut self, body: &Value) -> Value {
        let list = |name: &str| body[name].as_array().cloned().unwrap_or_default();
        let fits = |compare: &Value| {
            let is = self.keys.get(&text(&compare["key"])).map_or(0, |(_, revision)| *revision);
            let wanted = compare.get("mod_revision").unwrap_or(&compare["create_revision"]);
            wanted.as_str().unwrap() == is.to_string()
        };
        if !list("compare").iter().all(fits) {
            return json!({});
        }
        let (next, mut responses) = (self.revision + 1, Vec::new());
        for operation in list("success") {
            if let Some(put) = operation.get("request_put") {
                self.revision = next;
                self.keys.insert(text(&put["key"]), (text(&put["value"]), next));
            } else if let Some(delete) = operation.get("request_delete_range") {
                if self.keys.remove(&text(&delete["key"])).is_some() {
                    self.revision = next;
                }
            } else {
                responses.push(json!({"response_range": self.range(&operation["request_range"])}));
            }
        }
        json!({"succeeded": true, "responses": responses})
    }
}

/// What the gateway writes in base64.
fn text(value: &Value) -> String {
    let bytes = STANDARD.decode(value.as_str().unwrap_or_default()).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
