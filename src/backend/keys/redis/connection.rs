//! A connection to Redis, and what its errors mean.
//!
//! The driver packs commands and reads answers. Its own connection is not used: it does not keep
//! the deadline of a call, and it panics in a program that has several providers of cryptography.

use std::error::Error as StdError;
use std::io::{self, Read, Write};

use redis::{Cmd, Parser, Value};
use rustls::AlertDescription;

use super::Redis;
use super::diagnosis::diagnose;
use crate::backend::keys::socket::{Stream, TimedSocket, certificate_name};
use crate::backend::keys::{Deadline, Error};
use crate::clock::human;
use crate::support::flat_error::FlatError;
use crate::sync::Arc;

const DOWN: &str = "see that the server runs and can be reached from here";
const BAD_CERTIFICATE: &str =
    "see the server's certificate; name its authority in the address with ca=";
const WANTS_CERTIFICATE: &str = "the server asks for a certificate, and for one that it trusts; \
                              name it and its key in the address with cert= and key=";
const CLOSED: &str = "it closed the connection without a word; if it speaks TLS at this port, \
                      begin the address with rediss://; if not, see the port, and the server's log";
const NO_TLS: &str = "see that the server speaks TLS at this port; without TLS, the address begins \
                      with redis://";

/// The longest answer that is read, in MiB. The names of a million keys are not as long.
const LONGEST: u64 = 64;

pub struct Connection<'a> {
    store: &'a Redis,
    stream: Stream<'a>,
    parser: Parser,
    deadline: &'a Deadline,
    /// Whether nothing was asked yet.
    is_first: bool,
}

impl<'a> Connection<'a> {
    pub fn open(store: &'a Redis, deadline: &'a Deadline) -> Result<Connection<'a>, Error> {
        let socket = TimedSocket::connect(&store.server, deadline, deadline.timeout);
        let socket = socket.map_err(|error| connection_error(error, deadline))?;
        let stream = match &store.tls {
            Some(config) => {
                let stream = socket.start_tls(certificate_name(&store.server.0)?, config);
                stream.map_err(|error| handshake_error(error, deadline))?
            }
            None => Stream::Plain(socket),
        };
        Ok(Connection { store, stream, parser: Parser::new(), deadline, is_first: true })
    }

    /// Sends the commands together, and returns the answer to each. After an error it is unknown
    /// which of them were run, and each later call fails: the parser stays at what it could not
    /// read.
    pub fn ask(&mut self, commands: &[Cmd]) -> Result<Vec<Value>, Error> {
        let mut answers = Vec::with_capacity(commands.len());
        let result = self.exchange(commands, &mut answers);
        // With TLS, the handshake has shown what answers.
        let is_first =
            std::mem::take(&mut self.is_first) && matches!(self.stream, Stream::Plain(_));
        match (result, &answers[..]) {
            (Ok(()), _) => Ok(answers),
            // A server that turns a client away says why, whatever it was sent, and nothing else.
            (Err(_), [Value::ServerError(error)]) => Err(diagnose(error, self.store)),
            (Err(error), []) if is_first && is_closed(&*error) => {
                let source = Some(Box::new(FlatError::new(error)) as _);
                Err(Error::Unreachable { problem: CLOSED.to_owned(), source })
            }
            (Err(error), _) => Err(connection_error(error, self.deadline)),
        }
    }

    fn exchange(
        &mut self,
        commands: &[Cmd],
        answers: &mut Vec<Value>,
    ) -> Result<(), Box<dyn StdError + Send + Sync>> {
        let mut bytes = Vec::new();
        for command in commands {
            command.write_packed_command(&mut bytes);
        }
        let sent = self.stream.write_all(&bytes).and_then(|()| self.stream.flush());
        while answers.len() < commands.len() {
            let mut rest = (&mut self.stream).take(LONGEST << 20);
            match self.parser.parse_value(&mut rest) {
                Ok(answer) => answers.push(answer),
                Err(_) if rest.limit() == 0 => {
                    return Err(format!("its answer has more than {LONGEST} MiB").into());
                }
                // What could not be sent is why no answer came.
                Err(error) => return sent.map_err(Into::into).and(Err(error.into())),
            }
        }
        sent.map_err(Into::into)
    }

    pub fn deadline(&self) -> &'a Deadline {
        self.deadline
    }
}

/// Why a connection could not be made, or broke.
fn connection_error(
    error: impl Into<Box<dyn StdError + Send + Sync>>,
    deadline: &Deadline,
) -> Error {
    let error = error.into();
    if deadline.left().is_zero() {
        return timed_out(deadline);
    }
    let problem = tls_advice(&*error).map(str::to_owned);
    let source = Some(Box::new(FlatError::new(error)) as _);
    match problem {
        Some(problem) => Error::Unusable { problem, source },
        None => Error::Unreachable { problem: DOWN.to_owned(), source },
    }
}

/// Whether the error, or one of its causes, is that the server has ended the connection.
fn is_closed(error: &(dyn StdError + 'static)) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    let mut next = Some(error);
    while let Some(cause) = next {
        let shared = cause.downcast_ref::<Shared>();
        let cause: &(dyn StdError + 'static) = shared.map_or(cause, |shared| &**shared);
        let kind = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        if matches!(kind, Some(BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof))
            || cause.to_string() == "unexpected end of file"
        {
            return true;
        }
        next = cause.source();
    }
    false
}

/// Why no handshake was made. A server that speaks no TLS may wait for more of what it has got.
fn handshake_error(error: io::Error, deadline: &Deadline) -> Error {
    match connection_error(error, deadline) {
        Error::Unreachable { problem, source } => {
            Error::Unreachable { problem: format!("{problem}; {NO_TLS}"), source }
        }
        error => error,
    }
}

/// The error of a server that has not answered in time.
pub fn timed_out(deadline: &Deadline) -> Error {
    Error::Unreachable {
        problem: format!(
            "it did not answer for {}; see that the server runs, is not overloaded, and can be \
             reached from here",
            human(deadline.timeout)
        ),
        source: None,
    }
}

type Shared = Arc<dyn StdError + Send + Sync>;

/// What to do about an error of TLS, if it is one.
fn tls_advice(error: &(dyn StdError + 'static)) -> Option<&'static str> {
    let mut next = Some(error);
    while let Some(cause) = next {
        if let Some(error) = tls_error(cause) {
            return Some(match error {
                rustls::Error::InvalidCertificate(_) => BAD_CERTIFICATE,
                rustls::Error::AlertReceived(
                    AlertDescription::CertificateRequired
                    | AlertDescription::BadCertificate
                    | AlertDescription::UnknownCA
                    | AlertDescription::CertificateUnknown
                    | AlertDescription::CertificateExpired
                    | AlertDescription::HandshakeFailure,
                ) => WANTS_CERTIFICATE,
                _ => NO_TLS,
            });
        }
        next = cause.source();
    }
    None
}

/// The error of TLS that this one is, or holds: the driver's errors hold others behind an `Arc`,
/// and those of the system one that is not their source.
fn tls_error<'a>(cause: &'a (dyn StdError + 'static)) -> Option<&'a rustls::Error> {
    let shared = cause.downcast_ref::<Shared>();
    let cause: &'a (dyn StdError + 'static) = shared.map_or(cause, |shared| &**shared);
    let held = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    cause.downcast_ref().or_else(|| held?.downcast_ref())
}
