//! A small HTTP server that answers as a test says. It ends when it is dropped.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A client's request.
#[derive(Clone, Debug)]
pub struct Request {
    /// "POST /path?query".
    pub line: String,
    /// Each as "name: value", the name in lower case.
    pub headers: Vec<String>,
    pub body: String,
}

impl Request {
    /// Whether it asks tinyid for a segment.
    pub fn is_tinyid(&self) -> bool {
        self.line.starts_with("POST /tinyid/id/nextSegmentIdSimple?")
    }
}

/// The behaviour of the server.
pub enum Reply {
    /// Sends this and closes.
    Bytes(Vec<u8>),
    /// Sends this and then the second part again and again, for as long as the client reads.
    Endless(Vec<u8>, Vec<u8>),
    /// Sends this and no more, and keeps the connection open.
    Silence(Vec<u8>),
}

/// An answer of this status, with these headers, each with its end of line.
pub fn answer(status: &str, headers: &str, body: &str) -> Reply {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{headers}\r\n");
    Reply::Bytes((head + body).into_bytes())
}

pub fn ok(body: &str) -> Reply {
    answer("200 OK", "Content-Type: text/plain\r\n", body)
}

pub fn json(status: &str, body: &str) -> Reply {
    answer(status, "Content-Type: application/json\r\n", body)
}

pub fn problem(status: &str, body: &str) -> Reply {
    answer(status, "Content-Type: application/problem+json\r\n", body)
}

pub fn not_found() -> Reply {
    answer("404 Not Found", "Content-Type: text/html\r\n", "<html>not found</html>")
}

type Handler = dyn Fn(&Request) -> Reply + Send + Sync;

pub struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    is_ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// A server on a free port of this machine.
    pub fn start(handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Server {
        Server::start_at("127.0.0.1:0".parse().unwrap(), handler)
    }

    pub fn start_at(
        address: SocketAddr,
        handler: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Server {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::<Mutex<Vec<Request>>>::default();
        let is_ending = Arc::new(AtomicBool::new(false));
        let handler: Arc<Handler> = Arc::new(handler);
        let body = {
            let (requests, is_ending) = (Arc::clone(&requests), Arc::clone(&is_ending));
            move || {
                let mut connections = Vec::new();
                for connection in listener.incoming() {
                    if is_ending.load(Ordering::Acquire) {
                        break;
                    }
                    let Ok(connection) = connection else { continue };
                    let (handler, requests) = (Arc::clone(&handler), Arc::clone(&requests));
                    let is_ending = Arc::clone(&is_ending);
                    connections.push(thread::spawn(move || {
                        serve(&connection, &*handler, &requests, &is_ending);
                    }));
                }
                for connection in connections {
                    connection.join().unwrap();
                }
            }
        };
        let thread = Some(thread::spawn(body));
        Server { address, requests, is_ending, thread }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    pub fn lines(&self) -> Vec<String> {
        self.requests().into_iter().map(|request| request.line).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_ending.store(true, Ordering::Release);
        // Wakes the thread that accepts.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
            && !thread::panicking()
        {
            panic!("the server panicked");
        }
    }
}

fn serve(
    connection: &TcpStream,
    handler: &Handler,
    requests: &Mutex<Vec<Request>>,
    is_ending: &AtomicBool,
) {
    // A client that is gone is none of the server's business.
    let Some(request) = request(connection) else { return };
    requests.lock().unwrap().push(request.clone());
    let mut out = connection;
    match handler(&request) {
        Reply::Bytes(bytes) => drop(out.write_all(&bytes)),
        Reply::Endless(head, rest) => {
            let mut result = out.write_all(&head);
            while result.is_ok() && !is_ending.load(Ordering::Acquire) {
                result = out.write_all(&rest);
            }
        }
        Reply::Silence(bytes) => {
            drop(out.write_all(&bytes));
            connection.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
            // Until the client closes.
            while !is_ending.load(Ordering::Acquire) && !matches!(out.read(&mut [0]), Ok(0)) {}
        }
    }
}

fn request(connection: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(connection.take(1 << 20));
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let line = line.trim_end().strip_suffix(" HTTP/1.1")?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        headers.push(format!("{}: {}", name.to_lowercase(), value.trim()));
    }
    let length = headers.iter().find_map(|header| header.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some(Request { line, headers, body: String::from_utf8(body).unwrap() })
}
