//! One call to one server: its limits, and what an answer that is none means.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use ureq::http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use ureq::http::{HeaderMap, Method, Request, Response, StatusCode};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

use super::address::{Address, encoded};
use crate::clock::{Stopwatch, human};
use crate::segment::SegmentError;
use crate::sync::Arc;
use crate::told::Told;

/// The longest answer that is read: a segment has some hundred bytes, a list of tags may have many.
pub const SHORT: u64 = 64 << 10;
pub const LONG: u64 = 64 << 20;
/// How much of a server's own words an error repeats.
const WORDS: usize = 200;

/// What all calls have in common.
pub struct Client {
    agent: Agent,
    token: Token,
}

/// A secret.
#[derive(Default)]
struct Token {
    text: String,
    /// As a header has it, unless there is none.
    header: Option<HeaderValue>,
}

/// A server during one call to it.
pub struct Server<'a> {
    pub client: &'a Client,
    pub address: &'a Address,
    pub since: Stopwatch,
    /// How long all that it is asked may take.
    pub timeout: Duration,
}

/// What is asked.
pub struct Question {
    pub method: Method,
    /// Follows the address.
    pub path: String,
    /// JSON, if there is any.
    pub body: String,
    /// The longest answer that is read.
    pub limit: u64,
    /// Whether the token goes along as a header.
    pub has_token: bool,
}

/// What a server answered. Not a redirect.
pub struct Answer {
    pub status: StatusCode,
    pub text: String,
    /// The object in it, if it says that it is a problem as RFC 9457 has them.
    pub problem: Option<Value>,
    /// For how long the server asks to be left alone.
    pub retry_after: Option<Duration>,
}

/// Why a server gave no answer to a question.
pub struct Trouble {
    pub error: SegmentError,
    /// Whether other servers would say the same.
    pub is_final: bool,
    /// For how long the server asks to be left alone.
    pub pause: Option<Duration>,
}

impl Client {
    /// A client with this token, or what is wrong with the token.
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

    /// Trusts the authorities in the file at `path` alone, or returns what is wrong with it.
    pub fn trust(&mut self, path: &Path) -> Result<(), String> {
        let refuse = |problem: &dyn fmt::Display| format!("{}: {problem}", path.display());
        let pem = std::fs::read(path).map_err(|error| refuse(&error))?;
        let mut certificates: Vec<Certificate<'static>> = Vec::new();
        for item in parse_pem(&pem) {
            if let PemItem::Certificate(certificate) = item.map_err(|error| refuse(&error))? {
                certificates.push(certificate);
            }
        }
        if certificates.is_empty() {
            return Err(refuse(&"it holds no certificate"));
        }
        self.agent = agent(RootCerts::from(certificates));
        Ok(())
    }

    /// The token as a part of an address.
    pub fn encoded_token(&self) -> String {
        encoded(&self.token.text)
    }

    /// What a server said, as an error may repeat it: not long, in one line, and without the token.
    pub fn words(&self, said: &str) -> String {
        let token = self.token.text.as_str();
        let mut said = said.to_owned();
        if !token.is_empty() {
            for secret in [token, self.encoded_token().as_str()] {
                said = said.replace(secret, "(the token)");
            }
        }
        let line: Vec<&str> = said
            .split(|c: char| c.is_whitespace() || c.is_control())
            .filter(|w| !w.is_empty())
            .collect();
        let line = line.join(" ");
        match line.char_indices().nth(WORDS) {
            Some((end, _)) => format!("{}...", &line[..end]),
            None => line,
        }
    }
}

fn agent(root_certs: RootCerts) -> Agent {
    let config = Agent::config_builder()
        .tls_config(TlsConfig::builder().root_certs(root_certs).build())
        // A proxy from the environment would see the token.
        .proxy(None)
        // Nor does a server decide who else gets it.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .user_agent(concat!("uidring/", env!("CARGO_PKG_VERSION")))
        // Between two loads a server may have closed a connection, and a forked process must not
        // share one.
        .max_idle_connections(0)
        .max_idle_connections_per_host(0)
        // Twice the longest header, or it could not be told from a connection that was closed.
        .input_buffer_size(32 << 10)
        .output_buffer_size(16 << 10)
        .max_response_header_size(16 << 10)
        .build();
    Agent::new_with_config(config)
}

impl Server<'_> {
    /// Asks `question`, within what is left of the time.
    pub fn ask(&self, question: Question) -> Result<Answer, Trouble> {
        let limit = question.limit;
        let mut response = self.send(question).map_err(|error| self.unanswered(error))?;
        let status = response.status();
        if status.is_redirection() {
            return Err(self.strange(format!(
                "it answers with a redirect ({}), which is not followed; give the address that it \
                 leads to",
                status.as_u16()
            )));
        }
        let read = response.body_mut().with_config().limit(limit).lossy_utf8(true).read_to_string();
        let text = read.map_err(|error| self.unanswered(error))?;
        let headers = response.headers();
        let problem = is_problem(headers).then(|| serde_json::from_str(&text).ok()).flatten();
        Ok(Answer { status, text, problem, retry_after: retry_after(headers) })
    }

    /// Fails if the answer says that the server does not serve for now.
    pub fn check_serves(&self, answer: &Answer) -> Result<(), Trouble> {
        let Answer { status, text, problem, retry_after } = answer;
        let is_away = status.is_server_error()
            || matches!(*status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS);
        if !is_away {
            return Ok(());
        }
        let words = problem.as_ref().and_then(words_of);
        let said = self.said(*status, words.unwrap_or(text));
        let trouble = self.away(format!("it does not serve this call for now{said}"));
        Err(Trouble { pause: *retry_after, ..trouble })
    }

    fn send(&self, question: Question) -> Result<Response<Body>, ureq::Error> {
        let Question { method, path, body, has_token, .. } = question;
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.address));
        request = request.header(ACCEPT, HeaderValue::from_static("*/*"));
        if let Some(header) = self.client.token.header.as_ref().filter(|_| has_token) {
            request = request.header(AUTHORIZATION, header);
        }
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let left = self.left();
        let agent = &self.client.agent;
        let request = agent
            .configure_request(request.body(body)?)
            .timeout_global(Some(left))
            // Time is left for the call of a server that takes long to connect to.
            .timeout_connect(Some(left / 2))
            .build();
        agent.run(request)
    }

    /// What is left of the time, and not nothing, which would be no limit.
    fn left(&self) -> Duration {
        self.timeout.saturating_sub(self.since.elapsed()).max(Duration::from_millis(1))
    }

    /// What a call that ended without an answer means.
    fn unanswered(&self, error: ureq::Error) -> Trouble {
        match error {
            ureq::Error::Timeout(_) => self.away(format!(
                "it did not answer for {}; see that the server runs, is not overloaded, and can be \
                 reached from here",
                human(self.timeout)
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
                self.strange(format!("its answer has more than {limit} bytes; see the address"))
            }
            error @ (ureq::Error::Protocol(_) | ureq::Error::LargeResponseHeader(..)) => {
                let problem = "what it answers is not HTTP; see the address";
                self.strange(problem.to_owned()).because(error)
            }
            // Others may repeat the address, and with it the token.
            _ => self.strange("it cannot be asked; see the address".to_owned()),
        }
    }

    fn bad_certificate(&self, error: ureq::Error) -> Trouble {
        let problem = "see the server's certificate; name its authority by with_root_certificate";
        self.strange(problem.to_owned()).because(error)
    }

    /// The server may serve the call in a moment, and another one may now.
    pub fn away(&self, problem: String) -> Trouble {
        let error =
            SegmentError::Unreachable { place: self.address.to_string(), problem, source: None };
        Trouble { error, is_final: false, pause: None }
    }

    /// What is there is no server of numbers; but another one may be.
    pub fn strange(&self, problem: String) -> Trouble {
        let error = SegmentError::Open { place: self.address.to_string(), problem, source: None };
        Trouble { error, is_final: false, pause: None }
    }

    /// The server refuses the call, as each one would.
    pub fn refused(&self, problem: String) -> Trouble {
        Trouble { is_final: true, ..self.strange(problem) }
    }

    /// The server refuses the token.
    pub fn refused_token(&self, tag: &str, said: &str) -> Trouble {
        self.refused(format!(
            "it refuses the token{said}; give it one that may use the tag {tag:?}"
        ))
    }

    pub fn no_such_tag(&self, tag: &str) -> Trouble {
        let (place, tag) = (self.address.to_string(), tag.to_owned());
        Trouble::last(SegmentError::NoSuchTag { place, tag, alike: Vec::new() })
    }

    pub fn bad_row(&self, tag: &str, problem: String) -> Trouble {
        let (place, tag) = (self.address.to_string(), tag.to_owned());
        Trouble::last(SegmentError::BadRow { place, tag, problem })
    }

    /// " (503: the database is away)", or what there is of it.
    pub fn said(&self, status: StatusCode, text: &str) -> String {
        self.said_with(&status.as_u16().to_string(), text)
    }

    pub fn said_with(&self, code: &str, text: &str) -> String {
        match self.client.words(text) {
            words if words.is_empty() => format!(" ({code})"),
            words => format!(" ({code}: {words})"),
        }
    }
}

impl Trouble {
    /// That of all servers.
    pub fn last(error: SegmentError) -> Trouble {
        Trouble { error, is_final: true, pause: None }
    }

    fn because(mut self, cause: ureq::Error) -> Trouble {
        if let SegmentError::Unreachable { source, .. } | SegmentError::Open { source, .. } =
            &mut self.error
        {
            *source = Some(Arc::new(Told::new(cause)));
        }
        self
    }
}

/// What a problem says for people.
pub fn words_of(problem: &Value) -> Option<&str> {
    problem["detail"].as_str().or_else(|| problem["title"].as_str())
}

fn is_problem(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim() == "application/problem+json"
}

/// In seconds. A date would rest on two clocks.
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
    fn words_are_bounded_and_have_no_token() {
        let client = Client::new("se cret").unwrap_or_else(|problem| unreachable!("{problem}"));
        let said = "no\r\n\tse cret\u{7}and se%20cret";
        assert_eq!(client.words(said), "no (the token) and (the token)");
        let words = client.words(&"\u{e9}".repeat(5000));
        assert_eq!(words.chars().count(), WORDS + 3);
        for token in ["a\nb", "a\0", "\u{7f}"] {
            assert!(Client::new(token).is_err(), "{token:?}");
        }
    }
}
