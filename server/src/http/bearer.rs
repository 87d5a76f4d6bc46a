//! The token of a request. `security::access` says what it may do.

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;

/// The token of `Authorization: Bearer`.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let value = headers.get(AUTHORIZATION)?.as_bytes();
    let (scheme, token) = value.split_at_checked("bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"bearer ").then(|| token.trim_ascii())
}
