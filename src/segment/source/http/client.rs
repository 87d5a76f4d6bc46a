//! One call to one server: its limits, and the meaning of failures.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use ureq::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use ureq::http::{HeaderMap, Method, Request, Response, StatusCode};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body};

use super::address::{Address, encoded};
use crate::backend::StorageError;
use crate::backend::call::Deadline;
use crate::backend::pem;
use crate::backend::server_message;
use crate::clock::human;
use crate::segment::SegmentError;
use crate::support::flat_error::FlatError;
use crate::sync::Arc;

/// The longest answer to a load, in bytes. A segment needs some hundred. A list of tags has its own
/// limit.
pub const SHORT: u64 = 64 << 10;
pub const LONG: u64 = 64 << 20;

/// The HTTP client and the token, shared by all calls.
pub struct Client {
    agent: Agent,
    token: Token,
}

/// A secret.
#[derive(Default)]
struct Token {
    text: String,
    /// The value of the header. `None` if there is no token.
    header: Option<HeaderValue>,
}

/// A server during one call of the source.
pub struct Server<'a> {
    pub client: &'a Client,
    pub address: &'a Address,
    /// The time limit for all questions of the call.
    pub deadline: Deadline,
}

/// An HTTP request.
pub struct ApiRequest {
    pub method: Method,
    /// The path and query, appended to the address.
    pub path: String,
    /// The JSON body, or an empty text.
    pub body: String,
    /// The longest accepted answer, in bytes.
    pub limit: u64,
    /// Whether to send the token in the header.
    pub has_token: bool,
}

/// The answer of a server. Never a redirect.
pub struct ApiResponse {
    pub status: StatusCode,
    pub text: String,
    /// The JSON body, if it is a problem of RFC 9457.
    pub problem: Option<Value>,
    /// The time after which the server accepts another request, if it says so.
    pub retry_after: Option<Duration>,
}

/// Why a server has not given an answer that can be used.
pub struct ServerError {
    pub error: SegmentError,
    /// Whether other servers would answer the same.
    pub is_final: bool,
    /// The time after which the server accepts another request, if it says so.
    pub pause: Option<Duration>,
}

impl Client {
    /// A client with this token, or why the token is invalid.
    pub fn new(token: &str) -> Result<Client, &'static str> {
        let header = match token {
            "" => None,
            token => {
                let header = HeaderValue::try_from(format!("Bearer {token}"));
                let mut header = header.map_err(|_| {
                    "the token has characters that no header can hold; give it without spaces at \
                     its ends and without line breaks"
                })?;
                header.set_sensitive(true);
                Some(header)
            }
        };
        let agent = agent(RootCerts::WebPki);
        Ok(Client { agent, token: Token { text: token.to_owned(), header } })
    }

    /// Trusts only the certificate authorities in the file at `path`. Returns why that fails.
    pub fn trust(&mut self, path: &Path) -> Result<(), String> {
        let certificates = pem::certificates(path)?;
        let certificates = certificates.iter().map(|der| Certificate::from_der(der).to_owned());
        self.agent = agent(RootCerts::from(certificates.collect::<Vec<_>>()));
        Ok(())
    }

    /// The token, encoded for a query.
    pub fn encoded_token(&self) -> String {
        encoded(&self.token.text)
    }

    /// What a server said, in a form fit for an error.
    pub fn sanitized(&self, quoted: &str) -> String {
        // The second is what is in an address.
        server_message::sanitize(quoted, &[&self.token.text, &self.encoded_token()], "(the token)")
    }
}

fn agent(root_certs: RootCerts) -> Agent {
    let config = Agent::config_builder()
        .tls_config(TlsConfig::builder().root_certs(root_certs).build())
        // A proxy set in the environment would see the token.
        .proxy(None)
        // With redirects, a server could send the token elsewhere.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .user_agent(concat!("uidring/", env!("CARGO_PKG_VERSION")))
        // A kept connection may have been closed by the server, and a forked process must not share
        // one.
        .max_idle_connections(0)
        .max_idle_connections_per_host(0)
        // Twice the longest header, because otherwise a header that is too long looks like a closed
        // connection.
        .input_buffer_size(32 << 10)
        .output_buffer_size(16 << 10)
        .max_response_header_size(16 << 10)
        .build();
    Agent::new_with_config(config)
}

impl Server<'_> {
    /// Sends `request`, within the remaining time.
    pub fn ask(&self, request: ApiRequest) -> Result<ApiResponse, ServerError> {
        let limit = request.limit;
        let mut response = self.send(request).map_err(|error| self.unanswered(error))?;
        let status = response.status();
        if status.is_redirection() {
            return Err(self.unexpected(format!(
                "it answers with a redirect ({}), which is not followed; give the address that it \
                 leads to",
                status.as_u16()
            )));
        }
        let read = response.body_mut().with_config().limit(limit).lossy_utf8(true).read_to_string();
        let text = read.map_err(|error| self.unanswered(error))?;
        let headers = response.headers();
        let problem = is_problem(headers).then(|| serde_json::from_str(&text).ok()).flatten();
        Ok(ApiResponse { status, text, problem, retry_after: retry_after(headers) })
    }

    /// Fails if the answer says that the server is temporarily unavailable.
    pub fn check_serves(&self, answer: &ApiResponse) -> Result<(), ServerError> {
        let ApiResponse { status, text, problem, retry_after } = answer;
        let is_away = status.is_server_error()
            || matches!(*status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS);
        if !is_away {
            return Ok(());
        }
        let words = problem.as_ref().and_then(words_of);
        let quoted = self.quote(*status, words.unwrap_or(text));
        let error = self.away(format!("it does not serve this call for now{quoted}"));
        Err(ServerError { pause: *retry_after, ..error })
    }

    fn send(&self, request: ApiRequest) -> Result<Response<Body>, ureq::Error> {
        let ApiRequest { method, path, body, has_token, .. } = request;
        let mut builder = Request::builder().method(method).uri(format!("{}{path}", self.address));
        builder = builder.header(ACCEPT, HeaderValue::from_static("*/*"));
        if let Some(header) = self.client.token.header.as_ref().filter(|_| has_token) {
            builder = builder.header(AUTHORIZATION, header);
        }
        if !body.is_empty() {
            builder = builder.header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        // Not zero, which ureq takes for no limit.
        let left = self.deadline.left().max(Duration::from_millis(1));
        let agent = &self.client.agent;
        let request = agent
            .configure_request(builder.body(body)?)
            .timeout_global(Some(left))
            // Leaves time for the request itself if the server is slow to connect to.
            .timeout_connect(Some(left / 2))
            .build();
        agent.run(request)
    }

    /// The meaning of a call that ended without an answer.
    fn unanswered(&self, error: ureq::Error) -> ServerError {
        match error {
            ureq::Error::Timeout(_) => self.away(format!(
                "it did not answer for {}; see that the server runs, is not overloaded, and can be \
                 reached from here",
                human(self.deadline.timeout)
            )),
            ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                self.bad_certificate(ureq::Error::Io(error))
            }
            error @ (ureq::Error::Rustls(_) | ureq::Error::Tls(_) | ureq::Error::Pem(_)) => {
                self.bad_certificate(error)
            }
            error @ (ureq::Error::Io(_)
            | ureq::Error::HostNotFound
            | ureq::Error::ConnectionFailed
            | ureq::Error::BodyStalled) => {
                let problem = "see that the server runs and can be reached from here";
                self.away(problem.to_owned()).because(error)
            }
            ureq::Error::BodyExceedsLimit(limit) => {
                self.unexpected(format!("its answer has more than {limit} bytes; see the address"))
            }
            error @ (ureq::Error::Protocol(_) | ureq::Error::LargeResponseHeader(..)) => {
                let problem = "what it answers is not HTTP; see the address";
                self.unexpected(problem.to_owned()).because(error)
            }
            // Other errors may contain the address, and with it the token.
            _ => self.unexpected("it cannot be asked; see the address".to_owned()),
        }
    }

    fn bad_certificate(&self, error: ureq::Error) -> ServerError {
        let problem = "see the server's certificate; name its authority by with_root_certificate";
        self.unexpected(problem.to_owned()).because(error)
    }

    /// The subject of an error.
    fn what(&self) -> String {
        format!("the tags in {}", self.address)
    }

    /// The server may serve the request later, and another server may now.
    pub fn away(&self, problem: String) -> ServerError {
        ServerError::new(StorageError::Unreachable { what: self.what(), problem, source: None })
    }

    /// This is not a server of numbers, but another one may be.
    pub fn unexpected(&self, problem: String) -> ServerError {
        ServerError::new(StorageError::unusable(self.what(), problem))
    }

    /// The server refuses the request, and every other would, too.
    pub fn refused(&self, problem: String) -> ServerError {
        ServerError { is_final: true, ..self.unexpected(problem) }
    }

    /// The server refuses the token.
    pub fn refused_token(&self, tag: &str, quoted: &str) -> ServerError {
        self.refused(format!(
            "it refuses the token{quoted}; give it one that may use the tag {tag:?}"
        ))
    }

    pub fn no_such_tag(&self, tag: &str) -> ServerError {
        let (store, tag) = (self.address.to_string(), tag.to_owned());
        ServerError::last(SegmentError::NoSuchTag { store, tag, alike: Vec::new() })
    }

    pub fn bad_row(&self, tag: &str, problem: String) -> ServerError {
        let (store, tag) = (self.address.to_string(), tag.to_owned());
        ServerError::last(SegmentError::BadRow { store, tag, problem })
    }

    /// The status and the message: " (503: the database is away)".
    pub fn quote(&self, status: StatusCode, text: &str) -> String {
        self.quote_with_code(&status.as_u16().to_string(), text)
    }

    pub fn quote_with_code(&self, code: &str, text: &str) -> String {
        match self.client.sanitized(text) {
            quoted if quoted.is_empty() => format!(" ({code})"),
            quoted => format!(" ({code}: {quoted})"),
        }
    }
}

impl ServerError {
    /// A trouble of one server.
    fn new(error: StorageError) -> ServerError {
        ServerError { error: error.into(), is_final: false, pause: None }
    }

    /// A trouble that every server would have.
    pub fn last(error: SegmentError) -> ServerError {
        ServerError { error, is_final: true, pause: None }
    }

    fn because(mut self, cause: ureq::Error) -> ServerError {
        if let SegmentError::Storage(
            StorageError::Unreachable { source, .. } | StorageError::Unusable { source, .. },
        ) = &mut self.error
        {
            *source = Some(Arc::new(FlatError::new(cause)));
        }
        self
    }
}

/// The human-readable part of a problem.
pub fn words_of(problem: &Value) -> Option<&str> {
    problem["detail"].as_str().or_else(|| problem["title"].as_str())
}

fn is_problem(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim() == "application/problem+json"
}

/// The delay in seconds. A date is ignored, because it would compare two clocks.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_has_no_token() {
        let client = Client::new("se cret").unwrap_or_else(|problem| unreachable!("{problem}"));
        assert_eq!(client.sanitized("se cret\nand se%20cret"), "(the token) and (the token)");
    }

    #[test]
    fn a_token_that_no_header_can_hold_is_refused() {
        for token in ["a\nb", "a\0", "\u{7f}"] {
            assert!(Client::new(token).is_err(), "{token:?}");
        }
    }
}
