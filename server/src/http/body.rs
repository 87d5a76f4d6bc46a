//! Request bodies, with limits of size and time.

use axum::body::Body;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::app::App;
use crate::http::params;
use crate::http::problem::Problem;

/// Reads a JSON object. Where it is no `T`, the problem has this title and says what a `T` has.
pub(crate) async fn json<T: DeserializeOwned>(
    app: &App,
    headers: &HeaderMap,
    body: Body,
    title: &'static str,
    fields: &str,
) -> Result<T, Problem> {
    require_json(headers)?;
    let bytes = read(app, body, usize::MAX).await?;
    object(&bytes).map_err(|error| {
        Problem::bad_request("bad-body", title).detail(format!("{error}; it {fields}"))
    })
}

/// A number, or a text with a number, because JavaScript has no exact numbers above 2^53.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Number {
    Number(u64),
    Text(String),
}

impl Number {
    pub(crate) fn value(&self, name: &str) -> Result<u64, Problem> {
        let number = match self {
            Number::Number(number) if *number >= 1 << 53 => {
                let detail = format!(
                    "{name} may have been rounded, as JavaScript does with integers from 2^53 on; \
                     send it as a string"
                );
                return Err(Problem::bad_request("bad-number", "a number may be another one")
                    .detail(detail)
                    .value(&number.to_string()));
            }
            Number::Number(number) => params::number(&number.to_string(), u64::MAX >> 1),
            Number::Text(text) => params::number(text, u64::MAX >> 1),
        };
        number.ok_or_else(|| {
            let value = match self {
                Number::Number(number) => number.to_string(),
                Number::Text(text) => text.clone(),
            };
            Problem::bad_request("bad-number", "a number is out of its range")
                .detail(format!("{name} is a whole number from 1 to {}", u64::MAX >> 1))
                .value(&value)
        })
    }
}

/// Reads the whole body, of `most` bytes and of `--max-body` at most.
pub(crate) async fn read(app: &App, body: Body, most: usize) -> Result<Vec<u8>, Problem> {
    let limits = &app.options.limits;
    let most = most.min(limits.max_body as usize);
    // A body whose announced length is too large is refused unread.
    if body.size_hint().lower() > most as u64 {
        return Err(too_large(most));
    }
    timeout(limits.body_timeout, collect(body, most)).await.unwrap_or_else(|_| {
        let problem =
            Problem::new(StatusCode::REQUEST_TIMEOUT, "slow-body", "the body did not come in time");
        Err(problem.detail(format!("a body has {:?}", limits.body_timeout)))
    })
}

/// Copies the parts of the body into one text. To keep them as they are would cost many times their
/// length, because a client may send each byte as a part of its own.
async fn collect(mut body: Body, most: usize) -> Result<Vec<u8>, Problem> {
    // What is announced fits.
    let mut bytes = Vec::with_capacity(usize::try_from(body.size_hint().lower()).unwrap_or(0));
    while let Some(part) = body.frame().await {
        let part = part.map_err(|_| {
            Problem::bad_request("broken-body", "the body ended before its end, or is malformed")
        })?;
        // Anything else is headers behind the body.
        let Ok(part) = part.into_data() else { continue };
        if bytes.len() + part.len() > most {
            return Err(too_large(most));
        }
        bytes.extend_from_slice(&part);
    }
    Ok(bytes)
}

fn too_large(most: usize) -> Problem {
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "large-body", "the body is too large")
        .detail(format!("a body has at most {most} bytes"))
}

/// Refuses a body that is not JSON or that is compressed.
fn require_json(headers: &HeaderMap) -> Result<(), Problem> {
    let unsupported = |detail: &str, value: &str| {
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        let problem = Problem::new(status, "no-such-type", "the body has a type that is not read");
        Err(problem.detail(detail).value(value))
    };
    if let Some(encoding) = headers.get(CONTENT_ENCODING) {
        return unsupported(
            "send the body without a content-encoding",
            encoding.to_str().unwrap_or_default(),
        );
    }
    if is_of_type(headers, "application/json") {
        return Ok(());
    }
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    unsupported("send it as application/json, in UTF-8", kind.unwrap_or_default())
}

/// Parses a JSON object. An array is refused, because serde would accept its elements as the fields
/// in their order.
fn object<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, serde_json::Error> {
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(serde::de::Error::custom("it is a list, and must be an object"));
    }
    serde_json::from_slice(bytes)
}

/// Whether the body has the media type `expected`.
pub(crate) fn is_of_type(headers: &HeaderMap, expected: &str) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(expected)
}
