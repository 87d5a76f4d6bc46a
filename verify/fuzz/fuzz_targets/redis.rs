//! What a server of Redis says of itself, and answers. Numbers are taken from one that keeps what
//! it confirms alone, before and after the write; they lie within what it has counted; and no error
//! shows the password.

#![no_main]

use std::error::Error;
use std::io::{Read, Write};
use std::iter::successors;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use uidring::segment::{SegmentError, SegmentSource};
use uidring::{Store, Table};
use uidring_fuzz::{number, unsigned};

const PASSWORD: &str = "Q7zX9kW3t5vB8n";

/// What the server sends to the next connection.
static ANSWERS: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// The names in each section of `INFO`, with their values: a good one first.
const INFO: [&[(&str, &[&str])]; 4] = [
    &[
        ("redis_version", &["7.0.15", "7.2.0", "8.0.1", "7.10", "6.2", "x"]),
        ("redis_mode", &["standalone", "cluster", "sentinel", ""]),
        ("executable", &["/usr/bin/redis-server", "/usr/bin/keydb-server"]),
    ],
    &[
        ("loading", &["0", "1"]),
        ("aof_enabled", &["1", "0", "2"]),
        ("aof_rewrite_in_progress", &["0", "1"]),
        ("aof_rewrite_scheduled", &["0", "1"]),
        ("aof_last_write_status", &["ok", "err"]),
    ],
    &[("role", &["master", "slave", "active-replica"]), ("connected_slaves", &["0", "1", "2"])],
    &[("cluster_enabled", &["0", "1"])],
];

const SETTINGS: [(&str, &[&str]); 5] = [
    ("appendonly", &["yes", "no"]),
    ("appendfsync", &["always", "everysec", "no"]),
    ("no-appendfsync-on-rewrite", &["no", "yes"]),
    ("maxmemory-policy", &["noeviction", "allkeys-lru", "volatile-ttl"]),
    ("maxmemory", &["0", "1000"]),
];

fuzz_target!(|data: &[u8]| {
    static ADDRESS: OnceLock<SocketAddr> = OnceLock::new();
    let address = *ADDRESS.get_or_init(serve);
    let _ = check(&mut Unstructured::new(data), address);
});

fn check(input: &mut Unstructured<'_>, address: SocketAddr) -> Result<()> {
    let (before, after) = (Server::draw(input)?, Server::draw(input)?);
    let mut sent = b"+OK\r\n+OK\r\n".to_vec();
    sent.extend(before.answers());
    sent.extend(b"+OK\r\n*0\r\n*2\r\n:0\r\n:0\r\n+OK\r\n");
    sent.extend(b"+QUEUED\r\n".repeat(11));
    sent.extend(b"*11\r\n*2\r\n");
    let start = if is_rare(input)? { number(input)? } else { input.int_in_range(0..=1000)? };
    let more = if is_rare(input)? { number(input)? } else { input.int_in_range(1..=1000)? };
    let end = start.saturating_add(more);
    sent.extend([bulk(&start.to_string()), bulk(&end.to_string())].concat());
    sent.extend(after.answers());
    let synced = i64::from(!is_rare(input)?);
    if before.tells() {
        if before.get("appendfsync") != "always" {
            sent.extend(b"+OK\r\n");
        }
        sent.extend(format!("*2\r\n:{synced}\r\n:0\r\n").into_bytes());
    }
    let is_whole = !is_rare(input)?;
    if !is_whole {
        // Anything in place of a part.
        let at = input.int_in_range(0..=sent.len())?;
        let length = input.int_in_range(0..=40)?;
        let bytes = input.bytes(usize::min(length, input.len()))?.to_vec();
        let rest = usize::min(at + input.int_in_range(0..=40)?, sent.len());
        sent.splice(at..rest, bytes);
    }
    *ANSWERS.lock().unwrap() = sent;
    let store = Store::open(format!("redis://me:{PASSWORD}@{address}/0/ids")).unwrap();
    let store = store.with_timeout(Duration::from_secs(5));
    let source = store.segments_in(Table::CosId).unwrap();
    match source.load("shop.orders", Some(unsigned(input)?)) {
        Ok(segment) if is_whole => {
            assert!(before.keeps(), "{before:?}");
            assert!(after.keeps(), "{after:?}");
            assert!(!before.tells() || synced == 1, "{before:?}");
            assert!(start >= 0 && segment.first == start.unsigned_abs() + 1, "{segment:?}");
            assert_eq!(i128::from(segment.count), i128::from(end) - i128::from(start));
            assert_eq!(segment.row_end, end.unsigned_abs());
        }
        Ok(segment) => assert!(segment.first >= 1 && segment.count >= 1, "{segment:?}"),
        Err(error) => hides(&error),
    }
    Ok(())
}

/// What a server says of itself.
#[derive(Debug)]
struct Server {
    /// The lines of each section.
    info: [Vec<(&'static str, &'static str)>; 4],
    settings: Vec<(&'static str, &'static str)>,
    watchers: u8,
}

impl Server {
    fn draw(input: &mut Unstructured<'_>) -> Result<Server> {
        let mut server = Server { info: Default::default(), settings: Vec::new(), watchers: 0 };
        for (lines, names) in server.info.iter_mut().zip(INFO) {
            for (name, values) in names {
                if !is_rare(input)? {
                    // Valkey has another name for it.
                    let name = if *name == "redis_mode" && input.arbitrary()? {
                        "server_mode"
                    } else {
                        name
                    };
                    lines.push((name, value(input, values)?));
                }
            }
        }
        for (name, values) in SETTINGS {
            server.settings.push((name, value(input, values)?));
        }
        if is_rare(input)? {
            server.watchers = input.int_in_range(1..=3)?;
        }
        Ok(server)
    }

    fn answers(&self) -> Vec<u8> {
        let mut answers = Vec::new();
        for lines in &self.info {
            let lines = lines.iter().map(|(name, value)| format!("{name}:{value}\r\n"));
            answers.extend(bulk(&format!("# Section\r\n{}", lines.collect::<String>())));
        }
        answers.extend(b"*2\r\n$18\r\n__sentinel__:hello\r\n");
        answers.extend(format!(":{}\r\n", self.watchers).into_bytes());
        for (name, value) in &self.settings {
            answers.extend([b"*2\r\n".to_vec(), bulk(name), bulk(value)].concat());
        }
        answers
    }

    fn get(&self, name: &str) -> &'static str {
        let mut lines = self.info.iter().flatten().chain(&self.settings);
        lines.find(|line| line.0 == name).map_or("", |line| line.1)
    }

    /// Whether it has `WAITAOF`.
    fn tells(&self) -> bool {
        ["7.2.0", "8.0.1", "7.10"].contains(&self.get("redis_version"))
    }

    /// What the documentation says of a server that keeps what it confirms.
    fn keeps(&self) -> bool {
        let modes = [self.get("redis_mode"), self.get("server_mode")];
        let is_idle =
            self.get("aof_rewrite_in_progress") == "0" && self.get("aof_rewrite_scheduled") == "0";
        let sync = self.get("appendfsync");
        !self.get("redis_version").is_empty()
            && modes.contains(&"standalone")
            && !self.get("executable").contains("keydb")
            && self.get("loading") == "0"
            && self.get("aof_enabled") == "1"
            && self.get("aof_last_write_status") != "err"
            && self.get("role") == "master"
            && self.get("connected_slaves") == "0"
            && self.get("cluster_enabled") != "1"
            && self.watchers == 0
            && self.get("appendonly") == "yes"
            && (sync == "always" || sync == "everysec" && self.tells())
            && self.get("no-appendfsync-on-rewrite") == "no"
            && (self.get("maxmemory-policy") == "noeviction" || self.get("maxmemory") == "0")
            && (self.tells() || is_idle)
    }
}

fn is_rare(input: &mut Unstructured<'_>) -> Result<bool> {
    Ok(input.int_in_range(0..=31)? == 31)
}

fn value(input: &mut Unstructured<'_>, values: &'static [&'static str]) -> Result<&'static str> {
    if is_rare(input)? { Ok(*input.choose(values)?) } else { Ok(values[0]) }
}

fn bulk(text: &str) -> Vec<u8> {
    format!("${}\r\n{text}\r\n", text.len()).into_bytes()
}

fn hides(error: &SegmentError) {
    let shown = |text: String| assert!(!text.contains(PASSWORD), "the password is in {text:?}");
    shown(format!("{error:?}"));
    let causes = successors(Some(error as &dyn Error), |&error| error.source());
    causes.for_each(|error| shown(error.to_string()));
}

/// Starts the server. It says everything at once, and then reads until the client has gone.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let answers = std::mem::take(&mut *ANSWERS.lock().unwrap());
            // A client that went away is none of the server's business.
            let _ = stream.write_all(&answers);
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let _ = stream.set_read_timeout(Some(Duration::from_secs(1)));
            let mut buffer = [0; 4096];
            while stream.read(&mut buffer).is_ok_and(|length| length > 0) {}
        }
    });
    address
}
