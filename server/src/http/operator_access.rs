//! Access to the page, the status and the metrics, which name tags and the database.

use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::app::App;
use crate::http::problem::Problem;
use crate::security::access::{Denied, Permission};

/// The answer if access is denied.
pub(crate) struct AccessDenied(Denied);

/// Allows administrators. Without tokens, allows everybody.
pub(crate) fn check_admin(app: &App, headers: &HeaderMap) -> Result<(), AccessDenied> {
    check(app, headers, Permission::Admin)
}

/// Allows administrators and tokens with the role `metrics`. Without tokens, allows everybody.
pub(crate) fn check_metrics(app: &App, headers: &HeaderMap) -> Result<(), AccessDenied> {
    check(app, headers, Permission::Metrics)
}

/// Browsers cannot send bearer tokens, so the token is also accepted as the password of HTTP basic
/// authentication.
fn check(app: &App, headers: &HeaderMap, permission: Permission<'_>) -> Result<(), AccessDenied> {
    if app.access.is_open() {
        return Ok(());
    }
    let token = headers.get(AUTHORIZATION).and_then(|value| token(value.as_bytes()));
    app.access.check(token.as_deref(), permission).map_err(AccessDenied)
}

/// Whether the request has an administrator's token. False if no tokens are configured.
pub(crate) fn is_administrator(app: &App, headers: &HeaderMap) -> bool {
    !app.access.is_open() && check_admin(app, headers).is_ok()
}

fn token(value: &[u8]) -> Option<Vec<u8>> {
    let space = value.iter().position(|&byte| byte == b' ')?;
    let (scheme, rest) = (&value[..space], value[space..].trim_ascii());
    if scheme.eq_ignore_ascii_case(b"bearer") {
        return Some(rest.to_vec());
    }
    if !scheme.eq_ignore_ascii_case(b"basic") {
        return None;
    }
    // The user name before the colon is ignored.
    let mut text = STANDARD.decode(rest).ok()?;
    let colon = text.iter().position(|&byte| byte == b':')?;
    Some(text.split_off(colon + 1))
}

impl IntoResponse for AccessDenied {
    fn into_response(self) -> Response {
        let mut response = Problem::from(self.0).into_response();
        if response.headers().contains_key(WWW_AUTHENTICATE) {
            let basic = HeaderValue::from_static("Basic realm=\"uidring\", charset=\"UTF-8\"");
            response.headers_mut().append(WWW_AUTHENTICATE, basic);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::token;

    #[test]
    fn a_token_is_a_bearer_s_or_a_password() {
        for (header, expected) in [
            ("Bearer secret", Some("secret")),
            ("basic  OmE6Yg==", Some("a:b")),
            ("Basic dXNlcjpzZWNyZXQ=", Some("secret")),
            ("Basic dXNlcg==", None),
            ("Basic *", None),
            ("Digest x", None),
            ("secret", None),
        ] {
            let expected = expected.map(|text| text.as_bytes().to_vec());
            assert_eq!(token(header.as_bytes()), expected, "{header}");
        }
    }
}
