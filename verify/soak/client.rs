//! The clients of the service, which come and go.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use crate::latency::Kind;
use crate::ledger::TAGS;
use crate::state::{FOREVER, State};
use crate::takers::tag_name;

/// The most requests of one connection.
const MOST: u32 = 200;
/// The most ids of one request.
const MOST_IDS: u64 = 200;
/// After so many requests a client measures the control.
const CONTROL: u32 = 16;
/// Connections that are open at once and send nothing.
const SILENT: usize = 30;

/// The bytes of a request.
pub struct Request(String);

impl Request {
    pub fn new(method: &str, path: &str) -> Request {
        Request(format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n"))
    }

    pub fn admin(self, token: &str) -> Request {
        Request(format!("{}authorization: Bearer {token}\r\n", self.0))
    }

    pub fn json(self, body: &str) -> Request {
        let length = body.len();
        let head = format!("content-type: application/json\r\ncontent-length: {length}\r\n");
        Request(format!("{}{head}\r\n{body}", self.0))
    }

    fn bytes(&self) -> String {
        let end = if self.0.contains("\r\n\r\n") { "" } else { "\r\n" };
        format!("{}{end}", self.0)
    }
}

pub struct Answer {
    pub status: u16,
    body: Vec<u8>,
}

impl Answer {
    fn read(stream: &mut impl BufRead) -> io::Result<Answer> {
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, "this is no answer");
        let (mut line, mut status, mut length) = (String::new(), None, 0);
        loop {
            line.clear();
            stream.read_line(&mut line)?;
            let text = line.strip_suffix("\r\n").ok_or_else(wrong)?;
            if status.is_none() {
                status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
                status.ok_or_else(wrong)?;
            } else if let Some((name, value)) = text.split_once(':') {
                if name.eq_ignore_ascii_case("content-length") {
                    length = value.trim().parse().map_err(|_| wrong())?;
                }
            } else {
                break;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body)?;
        Ok(Answer { status: status.ok_or_else(wrong)?, body })
    }

    /// The ids, of eight bytes each.
    fn ids(&self) -> Vec<u64> {
        let (ids, _) = self.body.as_chunks();
        ids.iter().map(|id| u64::from_le_bytes(*id)).collect()
    }
}

pub struct Connection(BufReader<TcpStream>);

impl Connection {
    pub fn open(address: SocketAddr) -> io::Result<Connection> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(FOREVER))?;
        Ok(Connection(BufReader::new(stream)))
    }

    pub fn ask(&mut self, request: &Request) -> io::Result<Answer> {
        self.0.get_mut().write_all(request.bytes().as_bytes())?;
        Answer::read(&mut self.0)
    }
}

/// A byte goes to another thread and comes back.
struct Echo(TcpStream);

impl Echo {
    fn start() -> io::Result<Echo> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let near = TcpStream::connect(listener.local_addr()?)?;
        let (mut far, _) = listener.accept()?;
        for end in [&near, &far] {
            end.set_nodelay(true)?;
        }
        // It ends with the connection.
        thread::spawn(move || {
            let mut byte = [0];
            while far.read_exact(&mut byte).and_then(|()| far.write_all(&byte)).is_ok() {}
        });
        Ok(Echo(near))
    }

    fn measure(&mut self, state: &State) -> io::Result<()> {
        let since = Instant::now();
        self.0.write_all(&[1])?;
        self.0.read_exact(&mut [0])?;
        state.latencies.add_one(Kind::Echo, since.elapsed());
        Ok(())
    }
}

/// A client that asks for ids on one connection after the other.
pub fn ask(state: &State, address: SocketAddr) {
    let mut rng = fastrand::Rng::new();
    let done = Echo::start().and_then(|mut echo| {
        while state.goes_on() {
            ask_on_one_connection(state, address, &mut rng, &mut echo)?;
        }
        Ok(())
    });
    state.check(done.map_err(|error| format!("a client got no answer: {error}")));
}

fn ask_on_one_connection(
    state: &State,
    address: SocketAddr,
    rng: &mut fastrand::Rng,
    echo: &mut Echo,
) -> io::Result<()> {
    let mut connection = Connection::open(address)?;
    state.counts.connections.add(1);
    for turn in 0..rng.u32(1..=MOST) {
        if !state.goes_on() {
            return Ok(());
        }
        let tag = rng.bool().then(|| rng.usize(..TAGS));
        let count = if rng.bool() { 1 } else { rng.u64(1..=MOST_IDS) };
        let request = request(tag, count);
        let since = Instant::now();
        let answer = connection.ask(&request)?;
        let time = since.elapsed();
        state.counts.requests.add(1);
        match answer.status {
            200 => {
                if count == 1 {
                    state.latencies.add_one(Kind::Request, time);
                }
                state.check(note(state, tag, count, &answer.ids()));
            }
            // Its database is locked, or its file is missing.
            500 | 503 => {
                state.counts.refused.add(1);
                state.pause(Duration::from_millis(20));
            }
            status => state.trouble(format!("a request for {count} ids is answered {status}")),
        }
        if turn.is_multiple_of(CONTROL) {
            echo.measure(state)?;
        }
    }
    // Some go away in the middle of a request, or do not read the answer.
    let last = request(None, MOST_IDS).bytes();
    let sent = last.len() * rng.usize(0..=2) / 2;
    connection.0.get_mut().write_all(&last.as_bytes()[..sent])
}

/// Asks for an id of each kind. The outer result says whether the service answers, the inner one
/// whether it has ids.
pub fn ask_for_each(state: &State, address: SocketAddr) -> io::Result<Result<(), u16>> {
    let mut connection = Connection::open(address)?;
    for tag in (0..TAGS).map(Some).chain([None]) {
        let answer = connection.ask(&request(tag, 1))?;
        if answer.status != 200 {
            return Ok(Err(answer.status));
        }
        state.check(note(state, tag, 1, &answer.ids()));
    }
    Ok(Ok(()))
}

fn request(tag: Option<usize>, count: u64) -> Request {
    let path = match tag {
        Some(tag) => format!("/v1/tags/{}/ids", tag_name(tag)),
        None => "/v1/uids".to_owned(),
    };
    // One id without a query is answered on another path of the program.
    let query = if count > 1 { format!("?n={count}") } else { String::new() };
    let Request(head) = Request::new("GET", &format!("{path}{query}"));
    Request(format!("{head}accept: application/octet-stream\r\n"))
}

fn note(state: &State, tag: Option<usize>, count: u64, ids: &[u64]) -> Result<(), String> {
    if ids.len() as u64 != count {
        return Err(format!("{} ids are the answer to a request for {count}", ids.len()));
    }
    let noted = match tag {
        Some(tag) => state.of_service.note_numbers(tag, ids),
        None => state.of_service.note_uids(ids),
    };
    noted.map_err(|error| format!("the service: {error}"))
}

/// Clients that connect, send nothing, and go.
pub fn connect(state: &State, address: SocketAddr) {
    let mut rng = fastrand::Rng::new();
    while state.goes_on() {
        let open: io::Result<Vec<_>> = (0..SILENT).map(|_| Connection::open(address)).collect();
        state.counts.connections.add(SILENT);
        state.pause(Duration::from_millis(rng.u64(50..1000)));
        state.check(open.map(drop).map_err(|error| format!("no connection: {error}")));
    }
}
