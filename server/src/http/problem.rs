//! Errors as problem details (RFC 9457).

use axum::extract::rejection::PathRejection;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use uidring::segment::SegmentError;
use uidring::{SegmentFailure, StorageError, TakeError};

use crate::app::NotReady;
use crate::http::take_failure::{BUSY, FULL, TakeFailure};
use crate::process::threads::Panicked;
use crate::security::access::Denied;
use crate::stats::trouble::Cause;

/// The most characters of an invalid value that an answer repeats.
const LONGEST_VALUE: usize = 200;

/// What is said to clients where the lease of the worker id gives no more.
const NO_TICKS: &str = "the ticks reserved for the worker id are used up, and the registry grants \
                        no more; make sure that it can be reached";

/// An error answer.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    body: Box<Details>,
    retry_after: Option<u32>,
}

/// The body that RFC 9457 defines.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Details {
    #[serde(rename = "type")]
    kind: String,
    title: &'static str,
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    /// The invalid value as it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    /// The field in which an existing tag or series differs from the requested one.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'static str>,
    /// The next number of the tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// The last number of the tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<String>,
}

impl Problem {
    /// Creates a problem. `kind` is stable, so that programs can rely on it.
    pub(crate) fn new(status: StatusCode, kind: &str, title: &'static str) -> Problem {
        let kind = format!("urn:uidring:problem:{kind}");
        let status_number = status.as_u16();
        let (detail, value, field, next, last) = (None, None, None, None, None);
        let body = Details { kind, title, status: status_number, detail, value, field, next, last };
        let body = Box::new(body);
        Problem { status, body, retry_after: None }
    }

    /// An error of the client.
    pub(crate) fn bad_request(kind: &str, title: &'static str) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, kind, title)
    }

    /// Adds what happened in this case and what to do.
    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Problem {
        self.body.detail = Some(detail.into());
        self
    }

    /// Adds the invalid value.
    pub(crate) fn value(mut self, value: &str) -> Problem {
        let end = value.char_indices().nth(LONGEST_VALUE).map_or(value.len(), |(end, _)| end);
        self.body.value = Some(value[..end].to_owned());
        self
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// Whether the database has not answered yet since the start.
    pub(crate) fn is_of_start(&self) -> bool {
        self.body.kind.ends_with(":not-ready")
    }

    /// The title, the value and the detail in one line.
    pub(crate) fn line(&self) -> String {
        let Details { title, detail, value, .. } = &*self.body;
        let value = value.as_ref().map_or_else(String::new, |value| format!(": '{value}'"));
        let detail = detail.as_ref().map_or_else(String::new, |detail| format!("; {detail}"));
        format!("{title}{value}{detail}")
    }

    pub(crate) fn field(mut self, field: &'static str) -> Problem {
        self.body.field = Some(field);
        self
    }

    fn next(mut self, next: u64) -> Problem {
        self.body.next = Some(next.to_string());
        self
    }

    fn last(mut self, last: u64) -> Problem {
        self.body.last = Some(last.to_string());
        self
    }

    /// Adds after how many seconds the client should try again.
    pub(crate) fn retry_after(mut self, seconds: u32) -> Problem {
        self.retry_after = Some(seconds);
        self
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        // Texts and numbers can always be serialized.
        let body = serde_json::to_vec(&self.body).unwrap_or_default();
        let mut response = (self.status, body).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<NotReady> for Problem {
    fn from(NotReady(cause): NotReady) -> Problem {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not-ready", "there are no ids yet")
            .detail(cause.sentence())
            .retry_after(1)
    }
}

/// The log has the details. Clients are told none of them.
impl From<Panicked> for Problem {
    fn from(_: Panicked) -> Problem {
        let title = "the service made a mistake";
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "mistake", title)
            .detail("the log says which; other requests are answered as before")
    }
}

impl From<Denied> for Problem {
    fn from(denied: Denied) -> Problem {
        match denied {
            Denied::NoToken => {
                Problem::new(StatusCode::UNAUTHORIZED, "no-token", "a token is needed")
                    .detail("send it as Authorization: Bearer TOKEN")
            }
            Denied::UnknownToken => {
                Problem::new(StatusCode::UNAUTHORIZED, "unknown-token", "the token is not known")
            }
            Denied::NotAllowed => {
                Problem::new(StatusCode::FORBIDDEN, "not-allowed", "the token does not allow this")
            }
        }
    }
}

impl From<PathRejection> for Problem {
    fn from(_: PathRejection) -> Problem {
        Problem::bad_request("bad-path", "the path is not UTF-8 behind its percent signs")
    }
}

/// There are no ids now, but there will be.
pub(crate) fn for_now(detail: String) -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "no-ids", "there are no ids for now")
        .detail(detail)
        .retry_after(1)
}

/// There are no ids until an operator acts.
pub(crate) fn broken(detail: String) -> Problem {
    let title = "there are no ids until somebody mends the cause";
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "no-ids-any-more", title).detail(detail)
}

impl From<TakeError> for Problem {
    fn from(error: TakeError) -> Problem {
        use SegmentFailure::{BadRow, Failed, NoSuchTag, RanOut, WentBack};
        let detail = match error {
            // Without the worker id, which masked UIDs hide.
            TakeError::LeaseExhausted { .. } => NO_TICKS.to_owned(),
            error => error.to_string(),
        };
        match error {
            TakeError::SegmentExhausted { cause: NoSuchTag } => no_such_tag(detail),
            TakeError::SegmentExhausted { cause: RanOut } => ran_out(detail),
            TakeError::SegmentExhausted { cause: BadRow | Failed | WentBack }
            | TakeError::TimeExhausted { .. }
            | TakeError::BrokenRule { .. } => broken(detail),
            _ => for_now(detail),
        }
    }
}

/// The tag has reached its last number.
fn ran_out(detail: String) -> Problem {
    let title = "the tag has no more numbers";
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "ran-out", title).detail(detail)
}

fn no_such_tag(detail: String) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, "no-such-tag", "there is no such tag").detail(detail)
}

impl From<TakeFailure> for Problem {
    fn from(none: TakeFailure) -> Problem {
        match none {
            TakeFailure::NotReady(none) => none.into(),
            TakeFailure::Take(error) => error.into(),
            TakeFailure::TooMany(detail) => {
                let title = "the batch is too long";
                Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "batch-too-long", title)
                    .detail(detail)
            }
            TakeFailure::Busy => for_now(BUSY.to_owned()),
            TakeFailure::Full => {
                let title = "there is no room for so large an answer for now";
                Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too-many-answers", title)
                    .detail(FULL)
                    .retry_after(1)
            }
            TakeFailure::Ending => for_now("the service is ending".to_owned()),
            TakeFailure::Source(error) => error.into(),
        }
    }
}

/// Uses texts that do not name the database, because any client may read them.
impl From<SegmentError> for Problem {
    fn from(error: SegmentError) -> Problem {
        let (cause, detail) = (Cause::of(&error), error.to_string());
        match &error {
            // Omits the similar tags, because not every client may see them.
            SegmentError::NoSuchTag { tag, .. } => {
                let advice = "create it with PUT /v1/tags/TAG; if it was there before, with a \
                              first number above all that were given, as it begins at 1";
                no_such_tag(advice.to_owned()).value(tag)
            }
            // The error's own text is safe: it only describes the name or the definition of the
            // tag.
            SegmentError::BadTag { tag, .. } => {
                Problem::bad_request("bad-tag", "there can be no such tag")
                    .detail(detail)
                    .value(tag)
            }
            SegmentError::Behind { first, next, .. } => {
                let title = "the tag is there, and begins below";
                Problem::new(StatusCode::CONFLICT, "behind", title)
                    .detail(format!(
                        "its next number is {next}, below the first one asked for, {first}; use \
                         it as it is, or set its next number"
                    ))
                    .value(&first.to_string())
                    .next(*next)
            }
            SegmentError::Differs { field, there, asked, .. } => {
                let there = there.as_deref().unwrap_or("not set");
                let title = "the tag is there, and is another";
                Problem::new(StatusCode::CONFLICT, "differs", title)
                    .detail(format!(
                        "its {field} is {there}, and {asked} was asked for; leave {field} out to \
                         use the tag as it is"
                    ))
                    .field(field)
                    .value(asked)
            }
            SegmentError::GivenElsewhere { table, last, .. } => {
                let title = "another table has given the numbers of the tag";
                Problem::new(StatusCode::CONFLICT, "given-elsewhere", title)
                    .detail(format!(
                        "the table {table} has given them up to {last}: take them from that table, \
                         or see that nobody does any more, and create the tag with a first number \
                         above {last}"
                    ))
                    .last(*last)
            }
            SegmentError::RanOut { last, .. } => {
                ran_out(format!("{last} was the last number; go on with another tag")).last(*last)
            }
            SegmentError::DatabasesOverlap { first, last, .. } => broken(format!(
                "two databases give the same numbers of the tag, from {first} to {last}; give each \
                 a remainder of its own and a next number above all that were given"
            )),
            SegmentError::WentBack { first, last, .. } => broken(format!(
                "the row of the tag went back: it gives {first} after {last}; set its next number, \
                 and after the restore of an old copy the worker ids too, above all that were \
                 given, and restart the service"
            )),
            SegmentError::BadRow { problem, .. } => {
                broken(format!("the row of the tag cannot be used: {problem}"))
            }
            error if error.is_transient() => for_now(cause.sentence().to_owned()),
            SegmentError::Storage(StorageError::Full { .. }) => {
                for_now(cause.sentence().to_owned())
            }
            SegmentError::Ended { .. } => for_now("the service is ending".to_owned()),
            _ => broken(format!("{}; the service's log and page say why", cause.sentence())),
        }
    }
}
