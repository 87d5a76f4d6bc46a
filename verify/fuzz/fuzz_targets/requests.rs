//! What connections send to the service. Without a token nobody gets anything from a service that
//! has tokens, and the short way means by a path what the router means by it.

#![no_main]

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use rusqlite::Connection;
use uidring_fuzz::folder;
use uidring_server::fuzzing::Service;

/// The tags that are there, each far from the others.
const TAGS: [(&str, u64); 2] = [("orders", 1_000_000), ("a", 2_000_000_000)];

/// What is answered where a tag is created.
const CREATED: &[u8] = b"201 Created";

struct Services {
    /// Everybody may do everything.
    open: Service,
    /// Nobody has its token.
    closed: Service,
    /// For what inputs leave in the file.
    file: Connection,
}

thread_local! {
    static SERVICES: OnceLock<Services> = const { OnceLock::new() };
}

fuzz_target!(|data: &[u8]| {
    SERVICES.with(|services| {
        let services = services.get_or_init(start);
        let refused = services.closed.answer(data);
        check(&refused);
        assert_eq!(services.closed.ids_given(), 0, "something was given without a token");
        // An answer may also repeat these words.
        if has(&refused, CREATED) {
            let sql = "SELECT count(*) FROM uidring_segment";
            let count: i64 = services.file.query_row(sql, [], |row| row.get(0)).unwrap();
            assert_eq!(count, 2, "a tag was created without a token");
        }
        let answer = services.open.answer(data);
        check(&answer);
        if let Some((short, long)) = both_ways(data) {
            compare(&short, &services.open.answer(&short), &services.open.answer(&long));
        }
        if has(&answer, CREATED) {
            let others = "DELETE FROM uidring_segment WHERE tag NOT IN ('orders', 'a')";
            services.file.execute(others, []).unwrap();
        }
    });
});

fn start() -> Services {
    let folder = folder();
    let path = |name: &str| folder.join(name).display().to_string();
    let (file, tokens) = (path("ids.db"), path("tokens.toml"));
    let token = |salt: u8| format!("{:032x}", RandomState::new().hash_one(salt));
    let text = format!("[[token]]\ntoken = \"{}\"\ntags = [\"*\"]\nadmin = true\n", token(1));
    fs::write(&tokens, text).unwrap();
    let listen = "--listen=127.0.0.1:8080";
    let db = format!("--db={file}");
    let open = Service::start(&[&db, listen]).unwrap();
    for (tag, first) in TAGS {
        let body = format!("{{\"first\":\"{first}\"}}");
        let answer = open.answer(
            format!(
                "PUT /v1/tags/{tag} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\
                 \r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            )
            .as_bytes(),
        );
        assert!(has(&answer, CREATED), "{}", String::from_utf8_lossy(&answer));
    }
    let closed = Service::start(&[&db, listen, &format!("--tokens={tokens}")]).unwrap();
    Services { open, closed, file: Connection::open(&file).unwrap() }
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Each answer is HTTP, and none that gives something may be kept by a cache.
fn check(answer: &[u8]) {
    let Some((head, _)) = parts(answer) else {
        assert!(answer.is_empty(), "no answer: {:?}", String::from_utf8_lossy(answer));
        return;
    };
    assert!(head.starts_with("HTTP/1."), "{head}");
    if is_good(&head) {
        assert!(head.contains("\r\ncache-control: no-store\r\n"), "{head}");
    }
}

/// Whether the head is one of an answer that gives something.
fn is_good(head: &str) -> bool {
    head[8..].starts_with(" 200") || head[8..].starts_with(" 201")
}

/// The head of the first answer, and what follows it.
fn parts(answer: &[u8]) -> Option<(String, &[u8])> {
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let (head, rest) = answer.split_at(end);
    Some((String::from_utf8_lossy(head).to_ascii_lowercase().replacen("http", "HTTP", 1), rest))
}

/// The first request of `data`, if it is one for an id without a query, and the same with a query
/// that says nothing. It goes the long way.
fn both_ways(data: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let end = data.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = &data[..end];
    // Lines may end with a line feed alone, so that the head can be of several requests.
    if has(&head[..end - 2], b"\n\n") || has(&head[..end - 2], b"\n\r\n") {
        return None;
    }
    let path = head.strip_prefix(b"GET ")?;
    let length = path.windows(10).position(|window| window == b" HTTP/1.1\r")?;
    let is_plain = path[0] == b'/' && !path[..length].iter().any(|byte| b" ?#\r\n".contains(byte));
    if !is_plain {
        return None;
    }
    let (before, after) = head.split_at(4 + length);
    Some((head.to_vec(), [before, b"?", after].concat()))
}

/// Both answers say the same, but for the numbers in them.
fn compare(request: &[u8], short: &[u8], long: &[u8]) {
    let (Some((one, first)), Some((other, next))) = (parts(short), parts(long)) else {
        assert_eq!(short.is_empty(), long.is_empty());
        return;
    };
    let kind = |head: &str| {
        let line = head.lines().find(|line| line.starts_with("content-type:"));
        (head.lines().next().map(str::to_owned), line.map(str::to_owned))
    };
    let told = || String::from_utf8_lossy(request).into_owned();
    assert_eq!(kind(&one), kind(&other), "{}", told());
    if one.contains("octet-stream") {
        assert_eq!(first.len(), next.len(), "{}", told());
        return;
    }
    let (first, next) = (String::from_utf8_lossy(first), String::from_utf8_lossy(next));
    let (shape, numbers) = without_numbers(&first);
    let (other_shape, other_numbers) = without_numbers(&next);
    if !is_page(request) {
        assert_eq!(shape, other_shape, "{}", told());
    }
    let gives_number = is_good(&one)
        && (request.starts_with(b"GET /v1/tags/") || request.starts_with(b"GET /api/seg"));
    if let ([one], [other], true) = (&numbers[..], &other_numbers[..], gives_number) {
        let one: u64 = one.parse().unwrap();
        assert_eq!(other.parse(), Ok(one + 1), "another tag: {}", told());
    }
}

/// What differs with the state of the service.
fn is_page(request: &[u8]) -> bool {
    [&b"GET / "[..], b"GET /metrics", b"GET /v1/status", b"GET /cache", b"GET /db"]
        .iter()
        .any(|start| request.starts_with(start))
}

fn without_numbers(text: &str) -> (String, Vec<String>) {
    let (mut shape, mut numbers) = (String::new(), Vec::new());
    let mut before = ' ';
    for character in text.chars() {
        if !character.is_ascii_digit() {
            shape.push(character);
        } else if before.is_ascii_digit() {
            if let Some(number) = numbers.last_mut() {
                String::push(number, character);
            }
        } else {
            shape.push('#');
            numbers.push(character.to_string());
        }
        before = character;
    }
    (shape, numbers)
}
