//! One request to one server.

use std::time::Duration;

use ureq::http::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderValue};
use ureq::http::{HeaderMap, Method, Request, Response, StatusCode};
use ureq::{Agent, Body, Timeout};

use crate::backend::keys::Error;
use crate::clock::human;
use crate::support::flat_error::FlatError;

/// The longest answer that is read, in bytes.
const LONGEST: u64 = 16 << 20;

/// With less time than this, no server could answer, so that none is asked.
const SHORTEST: Duration = Duration::from_millis(1);

/// What a server answers.
pub struct Reply {
    pub status: StatusCode,
    pub text: String,
    /// When it answered, by its own clock, in milliseconds since 1970.
    pub date: Option<i64>,
}

/// Why there is no answer.
pub struct SendError {
    pub error: Error,
    /// Whether the request never reached the server.
    pub is_unsent: bool,
}

/// Sends `body` to `url`, or gets what is there. The answer must come within `time`.
pub fn send(
    agent: &Agent,
    url: &str,
    body: Option<&str>,
    token: Option<&str>,
    time: Duration,
) -> Result<Reply, SendError> {
    if time < SHORTEST {
        return Err(SendError { error: no_time_left(), is_unsent: true });
    }
    let answer = || {
        let mut response = request(agent, url, body, token, time)?;
        let body = response.body_mut().with_config().limit(LONGEST).lossy_utf8(true);
        let text = body.read_to_string()?;
        Ok(Reply { status: response.status(), text, date: date(response.headers()) })
    };
    answer().map_err(|error| send_error(error, time, url.starts_with("https:")))
}

fn request(
    agent: &Agent,
    url: &str,
    body: Option<&str>,
    token: Option<&str>,
    time: Duration,
) -> Result<Response<Body>, ureq::Error> {
    let method = if body.is_some() { Method::POST } else { Method::GET };
    let mut request = Request::builder().method(method).uri(url);
    if let Some(token) = token {
        let mut token = HeaderValue::try_from(token).map_err(ureq::http::Error::from)?;
        token.set_sensitive(true);
        request = request.header(AUTHORIZATION, token);
    }
    if body.is_some() {
        request = request.header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    let request = agent
        .configure_request(request.body(body.unwrap_or_default().to_owned())?)
        .timeout_global(Some(time))
        // Leaves time for the request itself if the server is slow to connect to.
        .timeout_connect(Some(time / 2))
        .build();
    agent.run(request)
}

/// What it means that no answer came for `time`.
fn send_error(error: ureq::Error, time: Duration, is_secret: bool) -> SendError {
    let is_unsent = match &error {
        ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect)
        | ureq::Error::HostNotFound
        | ureq::Error::ConnectionFailed
        | ureq::Error::Http(_)
        | ureq::Error::BadUri(_) => true,
        // Only a server that is asked for a connection refuses it.
        ureq::Error::Io(error) => error.kind() == std::io::ErrorKind::ConnectionRefused,
        _ => false,
    };
    SendError { error: diagnose(error, time, is_secret, is_unsent), is_unsent }
}

/// The error of a request for which no time is left.
fn no_time_left() -> Error {
    let problem = "the time of the call was over before it was asked; wait longer, or see what \
                   took so long";
    Error::Unreachable { problem: problem.to_owned(), source: None }
}

fn diagnose(error: ureq::Error, time: Duration, is_secret: bool, is_unsent: bool) -> Error {
    let unreachable = |problem: String, source| Error::Unreachable { problem, source };
    let unusable = |problem: &str, error: ureq::Error| Error::Unusable {
        problem: problem.to_owned(),
        source: Some(Box::new(FlatError::new(error))),
    };
    match error {
        ureq::Error::Timeout(_) => unreachable(
            format!(
                "it did not answer for {}; see that the server runs, is not overloaded, and can be \
                 reached from here",
                human(time)
            ),
            None,
        ),
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            unusable(BAD_CERTIFICATE, ureq::Error::Io(error))
        }
        error @ (ureq::Error::Rustls(_) | ureq::Error::Tls(_) | ureq::Error::Pem(_)) => {
            unusable(BAD_CERTIFICATE, error)
        }
        error @ (ureq::Error::Io(_)
        | ureq::Error::HostNotFound
        | ureq::Error::ConnectionFailed
        | ureq::Error::BodyStalled) => {
            let is_unknown = error.to_string().contains("lookup address");
            let problem = match is_secret {
                _ if is_unsent || is_unknown => {
                    "see that the server runs and can be reached from here"
                }
                true => {
                    "it closed the connection without an answer; see that it speaks TLS at this \
                     port, as without TLS the address begins with etcd://, and name cert and key \
                     if the server wants a certificate"
                }
                false => {
                    "it closed the connection without an answer; if it speaks TLS at this port, \
                     begin the address with etcds://; if not, see the port, and the server's log"
                }
            };
            unreachable(problem.to_owned(), Some(Box::new(FlatError::new(error))))
        }
        ureq::Error::BodyExceedsLimit(limit) => {
            Error::problem(format!("its answer has more than {limit} bytes; see the address"))
        }
        error @ (ureq::Error::Protocol(_) | ureq::Error::LargeResponseHeader(..)) => {
            unusable(NOT_HTTP, error)
        }
        // Other errors may contain the token.
        _ => Error::problem("it cannot be asked; see the address"),
    }
}

const NOT_HTTP: &str = "what it answers is not HTTP; see the address: where etcd has a port for \
                        gRPC alone, that of its gateway for JSON is in --listen-client-http-urls; \
                        what speaks as etcd and has no gateway, as Kine, is none to use";
const BAD_CERTIFICATE: &str = "see the certificates: name the authority of the server's as ca in \
                               the address, and cert and key if the server wants a certificate";

/// The header `Date`, which HTTP writes as e-mails do.
fn date(headers: &HeaderMap) -> Option<i64> {
    let text = headers.get(DATE)?.to_str().ok()?;
    let parser = jiff::fmt::rfc2822::DateTimeParser::new();
    Some(parser.parse_timestamp(text).ok()?.as_millisecond())
}
