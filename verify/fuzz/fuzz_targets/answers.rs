//! What servers answer over HTTP, of tinyid and of the project's own service. A segment lies within
//! its bounds, no more of an answer is read than its limit, and no error shows the token.

#![no_main]

use std::error::Error;
use std::io::{ErrorKind, Read, Write};
use std::iter::successors;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use uidring::segment::{HttpSegments, Segment, SegmentError, SegmentSource, Tag, TagRecord};
use uidring_fuzz::{number, unsigned};

/// With characters that addresses and JSON escape.
const TOKEN: &str = "Q7zX9\"kW3/t\\5vB8n";
const ESCAPED: &str = "Q7zX9%22kW3%2Ft%5C5vB8n";
/// Parts of it that nothing else has.
const PARTS: [&str; 3] = ["Q7zX9", "kW3", "5vB8n"];
/// What a server sends that does not end: more than any system keeps for a reader.
const ENDLESS: usize = 64 << 20;
/// What a client may read of an answer, and what systems keep for a reader.
const MOST: u64 = 24 << 20;

/// What the server answers next, and whether it then goes on for ever.
static ANSWERS: Mutex<Vec<(Vec<u8>, bool)>> = Mutex::new(Vec::new());
/// How much of the last answer was taken from the server.
static SENT: AtomicU64 = AtomicU64::new(0);

fuzz_target!(|data: &[u8]| {
    static ADDRESS: OnceLock<SocketAddr> = OnceLock::new();
    let address = *ADDRESS.get_or_init(serve);
    let _ = check(&mut Unstructured::new(data), address);
});

fn check(input: &mut Unstructured<'_>, address: SocketAddr) -> Result<()> {
    let (call, is_tinyid) = (input.int_in_range(0..=5)?, input.arbitrary()?);
    let wish = if input.arbitrary()? { Some(unsigned(input)?) } else { None };
    let mut answers = Vec::new();
    for _ in 0..input.int_in_range(1..=3)? {
        answers.push((answer(input)?, input.ratio(1, 64)?));
    }
    answers.reverse();
    *ANSWERS.lock().unwrap() = answers;
    SENT.store(0, Ordering::SeqCst);
    let source = HttpSegments::new([format!("http://{address}")], TOKEN);
    let source = if is_tinyid { source.tinyid() } else { source };
    let source = source.with_timeout(Duration::from_secs(5));
    match call {
        0 => source.tags().map_or_else(|error| hides(&error), |tags| listed(&tags)),
        1 => match source.create("orders", &Tag::new().first(wish.unwrap_or(1))) {
            Ok(record) => assert!(record.next >= wish.unwrap_or(1), "{record:?}"),
            Err(error) => hides(&error),
        },
        _ => match source.load("orders", wish) {
            Ok(segment) => within(&segment, is_tinyid),
            Err(error) => hides(&error),
        },
    }
    assert!(SENT.load(Ordering::SeqCst) < MOST, "an answer without an end is read");
    Ok(())
}

fn within(segment: &Segment, is_tinyid: bool) {
    let [first, count, delta] = [segment.first, segment.count, segment.delta].map(i128::from);
    assert!(first >= 1 && count >= 1 && delta >= 1, "{segment:?}");
    let last = first + (count - 1) * delta;
    assert!(last <= i128::from(i64::MAX), "{segment:?}");
    assert!(i128::from(segment.row_end) >= last, "{segment:?}");
    assert!(segment.step >= 1, "{segment:?}");
    assert_eq!(u64::try_from(segment.database), Ok(segment.first % segment.delta), "{segment:?}");
    if is_tinyid {
        let step = segment.row_end - segment.row_start;
        assert!(segment.row_start < segment.first && count <= i128::from(step), "{segment:?}");
    }
}

fn listed(tags: &[TagRecord]) {
    assert!(tags.is_sorted_by_key(|record| &record.tag));
}

fn hides(error: &SegmentError) {
    let shown = |text: String| {
        // One of them alone may be a server's own word.
        let is_shown = PARTS.iter().all(|part| text.contains(part));
        assert!(!is_shown, "the token is in {text:?}");
    };
    shown(format!("{error:?}"));
    let causes = successors(Some(error as &dyn Error), |&error| error.source());
    causes.for_each(|error| shown(error.to_string()));
}

/// What a server sends as a whole.
fn answer(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let body = match input.int_in_range(0..=5)? {
        0 => return Ok(raw(input)?.into_bytes()),
        1 => raw(input)?,
        2 => segment(input)?,
        3 => tinyid(input)?,
        4 => problem(input)?,
        _ => {
            let (first, next) = (segment(input)?, segment(input)?);
            format!("{{\"tags\":[{first},{next}]}}")
        }
    };
    let status = *input.choose(&[200, 200, 200, 200, 201, 301, 400, 401, 404, 409, 429, 503])?;
    let kinds = ["application/json", "application/problem+json", "text/plain"];
    let kind = *input.choose(&kinds)?;
    let retry = unsigned(input)?;
    let length = body.len();
    Ok(format!(
        "HTTP/1.1 {status} Any\r\ncontent-type: {kind}\r\nretry-after: {retry}\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
    .into_bytes())
}

/// Any text, with the token in it now and then.
fn raw(input: &mut Unstructured<'_>) -> Result<String> {
    let length = input.int_in_range(0..=300)?;
    let bytes = input.bytes(usize::min(length, input.len()))?;
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    for part in PARTS {
        text = text.replace(part, "");
    }
    Ok(text.replace('\u{1}', TOKEN).replace('\u{2}', ESCAPED))
}

fn field(input: &mut Unstructured<'_>) -> Result<String> {
    Ok(match input.int_in_range(0..=15)? {
        0 => "null".to_owned(),
        1 => format!("\"{}\"", number(input)?),
        2 => format!("{}.5", number(input)?),
        3..=8 => format!("\"{}\"", unsigned(input)?),
        _ => unsigned(input)?.to_string(),
    })
}

/// A segment, or a record of a tag, as the service writes it.
fn segment(input: &mut Unstructured<'_>) -> Result<String> {
    let tag = if input.ratio(1, 16)? { "other" } else { "orders" };
    let mut text = format!("{{\"tag\":\"{tag}\"");
    for name in ["first", "count", "delta", "step", "max_step", "next"] {
        if !input.ratio(1, 16)? {
            text += &format!(",\"{name}\":{}", field(input)?);
        }
    }
    Ok(text + "}")
}

/// A segment as tinyid writes it, in short or at length.
fn tinyid(input: &mut Unstructured<'_>) -> Result<String> {
    let numbers = [number(input)?, number(input)?, number(input)?, number(input)?, number(input)?];
    let [current, loading, max, delta, remainder] = numbers;
    let code = *input.choose(&[200, 200, 200, 5, 6])?;
    Ok(match input.int_in_range(0..=3)? {
        0 => String::new(),
        1 => format!(
            "{{\"code\":{code},\"message\":{TOKEN:?},\"data\":{{\"currentId\":{current},\
             \"maxId\":{max},\"delta\":{delta},\"remainder\":{remainder}}}}}"
        ),
        _ => format!("{current},{loading},{max},{delta},{remainder}"),
    })
}

/// A problem of the service, whose words repeat the token.
fn problem(input: &mut Unstructured<'_>) -> Result<String> {
    let kinds = ["no-such-tag", "ran-out", "no-ids-any-more", "behind", "differs", "bad-tag", "x"];
    let kind = *input.choose(&kinds)?;
    let (last, next) = (field(input)?, field(input)?);
    Ok(format!(
        "{{\"type\":\"urn:uidring:problem:{kind}\",\"title\":\"no\",\"detail\":{TOKEN:?},\
         \"last\":{last},\"next\":{next}}}"
    ))
}

/// Starts the server.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that went away is none of the server's business.
            let _ = send(stream);
        }
    });
    address
}

fn send(mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
    while !is_whole(&request) {
        match stream.read(&mut buffer)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            length => request.extend_from_slice(&buffer[..length]),
        }
    }
    let Some((answer, is_endless)) = ANSWERS.lock().unwrap().pop() else { return Ok(()) };
    stream.write_all(&answer)?;
    if is_endless {
        let more = [b'1'; 64 << 10];
        for _ in 0..ENDLESS / more.len() {
            stream.write_all(&more)?;
            SENT.fetch_add(more.len() as u64, Ordering::SeqCst);
        }
    }
    Ok(())
}

/// Whether the request is there with its body.
fn is_whole(request: &[u8]) -> bool {
    let Some(end) = request.windows(4).position(|window| window == b"\r\n\r\n") else {
        return false;
    };
    let head = String::from_utf8_lossy(&request[..end]).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length: usize = length.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    request.len() >= end + 4 + length
}
