//! A connection to one server: with or without TLS, within the time of the call.
//!
//! It blocks. Of ZooKeeper's clients in Rust, `zookeeper-client` starts a thread that never ends,
//! and without which a forked process cannot connect, and `tokio-zookeeper` can neither
//! authenticate nor sync.

use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

use rustls::ClientConfig;

use super::wire::{Body, Reply, code};
use crate::backend::address::key_server::server_name;
use crate::backend::call::Deadline;
use crate::backend::error::Error;
use crate::backend::keys::socket::{Stream, TimedSocket, certificate_name};
use crate::sync::Arc;

/// The longest answer that is read. A server takes and keeps at most 1 MB at a time, unless its
/// `jute.maxbuffer` says otherwise; a list of names can be longer.
const LONGEST: u32 = 64 << 20;

/// How many requests are under way at once: some less than what a server takes before it lets a
/// client wait.
const AT_ONCE: usize = 100;

/// One server of an address.
#[derive(Clone, Copy)]
pub struct Server<'a> {
    pub place: &'a (String, u16),
    pub tls: Option<&'a Arc<ClientConfig>>,
}

impl Server<'_> {
    /// The server in a sentence.
    pub fn name(&self) -> String {
        server_name(self.place)
    }

    /// Connects, until so much of the call's time has passed.
    pub fn connect<'d>(
        &self,
        deadline: &'d Deadline,
        until: Duration,
    ) -> Result<Stream<'d>, Error> {
        let socket = TimedSocket::connect(self.place, deadline, until);
        let socket = socket.map_err(|error| self.unreachable("cannot be reached", error))?;
        match self.tls {
            Some(config) => {
                let stream = socket.start_tls(certificate_name(&self.place.0)?, config);
                stream.map_err(|error| match error.kind() {
                    ErrorKind::InvalidData => self.connection_error(error),
                    _ => self.without_tls(error),
                })
            }
            None => Ok(Stream::Plain(socket)),
        }
    }

    /// The error of a server that ends the connection, or says nothing, where TLS is to begin.
    fn without_tls(&self, error: io::Error) -> Error {
        Error::Unreachable {
            problem: format!(
                "the server {} does not begin with TLS; see that it runs and speaks TLS at this \
                 port: without TLS, the address begins with zookeeper://",
                self.name()
            ),
            source: Some(Box::new(error)),
        }
    }

    /// The error of a connection that broke, or waited for too long.
    pub fn connection_error(&self, error: io::Error) -> Error {
        match error.kind() {
            // What rustls refuses.
            ErrorKind::InvalidData => Error::Unusable {
                problem: format!(
                    "the server {} and this process do not agree on TLS; see the certificates of \
                     both, and the parameters ca, cert and key of the address",
                    self.name()
                ),
                source: Some(Box::new(error)),
            },
            ErrorKind::TimedOut | ErrorKind::WouldBlock => {
                self.unreachable("does not answer", error)
            }
            ErrorKind::UnexpectedEof => self.unreachable("closed the connection", error),
            _ => self.unreachable("is gone", error),
        }
    }

    fn unreachable(&self, what: &str, error: io::Error) -> Error {
        Error::Unreachable {
            problem: format!(
                "the server {} {what}; see that it runs, is not overloaded, and can be reached \
                 from here at this port",
                self.name()
            ),
            source: Some(Box::new(error)),
        }
    }

    /// The error of a server that speaks another language.
    pub fn unexpected_reply(&self) -> Error {
        Error::problem(format!(
            "what answers at {} does not speak as ZooKeeper does to its clients; see the port",
            self.name()
        ))
    }
}

impl Stream<'_> {
    /// Sends what `framed` has, and all of it.
    pub fn send(&mut self, framed: &[u8]) -> io::Result<()> {
        self.write_all(framed)?;
        self.flush()
    }

    /// The bytes behind the next length; `None` for a length that no server of ZooKeeper sends.
    pub fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut length = [0; 4];
        self.read_exact(&mut length)?;
        let length = u32::from_be_bytes(length);
        if length > LONGEST {
            return Ok(None);
        }
        // It grows with what arrives, not with what is announced.
        let mut bytes = Vec::new();
        self.take(length.into()).read_to_end(&mut bytes)?;
        let is_whole = u32::try_from(bytes.len()) == Ok(length);
        if is_whole { Ok(Some(bytes)) } else { Err(ErrorKind::UnexpectedEof.into()) }
    }
}

/// A session on a server: requests that are answered in their order.
pub struct Connection<'d> {
    pub server: Server<'d>,
    pub stream: Stream<'d>,
    /// The number of the last request.
    pub number: i32,
    pub has_user: bool,
}

impl Connection<'_> {
    /// The answers to `requests`, in their order.
    pub fn ask(&mut self, requests: &[(i32, Body)]) -> Result<Vec<Reply>, Error> {
        let mut replies = Vec::with_capacity(requests.len());
        for requests in requests.chunks(AT_ONCE) {
            let first = self.number + 1;
            let framed = requests.iter().flat_map(|(operation, body)| {
                self.number += 1;
                Body::new().int(self.number).int(*operation).then(body).framed()
            });
            let framed: Vec<u8> = framed.collect();
            self.stream.send(&framed).map_err(|error| self.session_error(error))?;
            for number in first..=self.number {
                replies.push(self.reply(number)?);
            }
        }
        Ok(replies)
    }

    /// The answer to the request with this number, which is the next.
    pub fn reply(&mut self, number: i32) -> Result<Reply, Error> {
        let bytes = self.stream.receive().map_err(|error| self.session_error(error))?;
        let reply = bytes.as_deref().and_then(Reply::parse);
        let reply =
            reply.filter(|reply| reply.number == number).ok_or_else(|| self.malformed_reply())?;
        if reply.code == code::SASL_REQUIRED { Err(self.scheme_refused()) } else { Ok(reply) }
    }

    /// The error of a server that enforces another scheme than the client has. It gives a session
    /// to everybody, does nothing of the first request, and ends the session.
    fn scheme_refused(&self) -> Error {
        let schemes = if self.has_user {
            "add digest to its enforce.auth.schemes, as SASL is not spoken here"
        } else {
            "name a user and a password in the address, if its enforce.auth.schemes have digest; \
             SASL is not spoken here"
        };
        Error::problem(format!(
            "the server {} has enforce.auth.enabled=true and lets in nobody without one of its \
             schemes; {schemes}",
            self.server.name()
        ))
    }

    /// The error of a session that broke. Whatever is the cause, it is unknown whether what was
    /// sent was done.
    fn session_error(&self, error: io::Error) -> Error {
        match error.kind() {
            ErrorKind::InvalidData => self.server.unreachable("is gone", error),
            _ => self.server.connection_error(error),
        }
    }

    /// The error of an answer that cannot be read. Here, too, what was sent may have been done.
    pub fn malformed_reply(&self) -> Error {
        let problem = format!(
            "the answer of the server {} to a request cannot be read; see what is between it and \
             this process",
            self.server.name()
        );
        Error::Unreachable { problem, source: None }
    }
}
