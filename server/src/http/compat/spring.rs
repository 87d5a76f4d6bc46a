//! Errors in the form of Spring Boot 1.5, for clients of Leaf and tinyid.

use axum::handler::Handler;
use axum::http::header::{ACCEPT, ALLOW, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{self, MethodRouter};
use jiff::{Timestamp, Zoned};
use serde::Serialize;

use crate::app::App;
use crate::http::compat::html;

/// The methods that Spring lists for a path that accepts any.
const METHODS: &str = "GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS";

/// Routes all methods to one handler, except `OPTIONS`, which lists the methods.
pub(crate) fn any<T: 'static>(
    handler: impl Handler<T, &'static App>,
) -> MethodRouter<&'static App> {
    routing::any(handler).options(options)
}

async fn options() -> [(HeaderName, &'static str); 1] {
    [(ALLOW, METHODS)]
}

/// An error, with its keys in Spring's order.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct SpringError<'a> {
    /// In milliseconds since 1970.
    timestamp: i64,
    status: u16,
    error: &'static str,
    exception: &'static str,
    message: String,
    path: &'a str,
}

impl<'a> SpringError<'a> {
    pub(crate) fn new(
        status: StatusCode,
        exception: &'static str,
        message: String,
        path: &'a str,
    ) -> SpringError<'a> {
        SpringError {
            timestamp: Timestamp::now().as_millisecond(),
            status: status.as_u16(),
            error: status.canonical_reason().unwrap_or_default(),
            exception,
            message,
            path,
        }
    }

    /// The response: JSON, or a page for a browser.
    pub(crate) fn answer(&self, headers: &HeaderMap) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        if wants_html(headers) {
            return (status, html::page(self.page())).into_response();
        }
        let body = serde_json::to_vec(self).unwrap_or_default();
        let kind = HeaderValue::from_static("application/json;charset=UTF-8");
        (status, [(CONTENT_TYPE, kind)], body).into_response()
    }

    /// The page in Spring's words.
    fn page(&self) -> String {
        let now = Zoned::now().strftime("%a %b %d %H:%M:%S %Z %Y").to_string();
        format!(
            "<html><body><h1>Whitelabel Error Page</h1><p>This application has no explicit mapping \
             for /error, so you are seeing this as a fallback.</p><div id='created'>{now}</div>\
             <div>There was an unexpected error (type={}, status={}).</div><div>{}</div></body>\
             </html>",
            self.error,
            self.status,
            html::escaped(&self.message)
        )
    }
}

/// Whether the client is a browser.
fn wants_html(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let first = accept.split(',').next().unwrap_or_default();
    first.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/html")
}
