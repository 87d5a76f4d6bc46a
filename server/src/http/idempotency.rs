//! `Idempotency-Key`: a request that is repeated gets the answer that it had, for a day, from
//! whichever server it reaches.
//!
//! The answer is in the database. If two servers answer the same request at once, both take numbers
//! and store them, the first one counts, and the other's are lost. So are those of a server that
//! is killed before it has stored them.

use std::fmt::Write as _;

use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::Response;
use serde_json::json;
use sha2::{Digest, Sha256};
use uidring::series::Remembered;

use crate::http::bearer::bearer;
use crate::http::ids;
use crate::http::negotiate::Form;
use crate::http::problem::Problem;
use crate::http::series_numbers::{self, Wanted};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The most characters of a key.
const LONGEST: usize = 255;
/// The most numbers of a request with a key, because its answer is kept in the database for a day.
const MOST: usize = 1000;

/// A request that may be repeated.
pub(crate) struct Repeatable {
    /// The key as it was sent.
    key: String,
    /// A hash of the key and the client's token: two clients may have one key.
    pub(crate) request: String,
    /// What is asked for, in one form whatever the body looks like.
    pub(crate) asked: String,
}

impl Repeatable {
    /// The request, if it has a key.
    pub(crate) fn of(headers: &HeaderMap, wanted: &Wanted) -> Result<Option<Repeatable>, Problem> {
        let Some(key) = key_of(headers)? else { return Ok(None) };
        if wanted.count > MOST {
            let title = "so many numbers are not remembered";
            return Err(Problem::bad_request("bad-count", title)
                .detail(format!("with an Idempotency-Key, n is a whole number from 1 to {MOST}"))
                .value(&wanted.count.to_string()));
        }
        let date = wanted.date.map(|date| date.to_string());
        let asked = json!({ "scope": wanted.scope, "date": date, "n": wanted.count });
        let request = hash(bearer(headers).unwrap_or_default(), key.as_bytes());
        Ok(Some(Repeatable { key, request, asked: asked.to_string() }))
    }

    /// The answer that was given to this request, in this form.
    pub(crate) fn answer(&self, form: Form, remembered: Remembered) -> Result<Response, Problem> {
        if remembered.asked != self.asked {
            let title = "another request had this Idempotency-Key";
            return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "key-reused", title)
                .detail("send another request with a key of its own; a key is kept for a day")
                .value(&self.key));
        }
        let (kind, body) = series_numbers::in_form(form, remembered.answer);
        Ok(ids::answer(kind, body.into_bytes()))
    }
}

/// The key of the request, if it has one.
pub(crate) fn key_of(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let mut keys = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(key) = keys.next() else { return Ok(None) };
    let text = String::from_utf8_lossy(key.as_bytes());
    if !is_key(key.as_bytes()) || keys.next().is_some() {
        return Err(Problem::bad_request("bad-key", "the header Idempotency-Key is no key")
            .detail(format!("it is sent once, and has 1 to {LONGEST} characters of ASCII"))
            .value(&text));
    }
    Ok(Some(text.into_owned()))
}

/// Whether this may be a key.
pub(crate) fn is_key(key: &[u8]) -> bool {
    (1..=LONGEST).contains(&key.len()) && key.iter().all(|byte| (b' '..=b'~').contains(byte))
}

/// A secret that the client's request has each time that it is sent, and no other request has. Who
/// does not know both token and key cannot tell it.
pub(crate) fn secret_of(token: Option<&[u8]>, key: &str, asked: &str) -> String {
    hash(token.unwrap_or_default(), format!("{} {asked}{key}", asked.len()).as_bytes())
}

/// A hash of both, in hexadecimal digits.
fn hash(token: &[u8], key: &[u8]) -> String {
    // The length comes first, so that no other two parts are the same text.
    let length = (token.len() as u64).to_le_bytes();
    let hash = Sha256::new().chain_update(length).chain_update(token).chain_update(key).finalize();
    hash.iter().fold(String::new(), |mut text, byte| {
        // A text has room for whatever is written to it.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
