//! The fast path for one id from memory, which is what nearly all requests ask for.
//!
//! It answers only if it can do so at once, with the same bytes as the regular path, which handles
//! all other requests. It avoids the router, boxed futures and extractors.

use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, Response};
use uidring::segment::Number;

use crate::app::App;
use crate::http::bearer::bearer;
use crate::http::compat::leaf;
use crate::http::{ids, negotiate, numbers};
use crate::routes::Route;

/// The answer, if the fast path handles this request.
pub(crate) fn answer<B>(
    app: &App,
    found: Option<(Route, &str)>,
    request: &Request<B>,
) -> Option<Response<Body>> {
    let ((route, part), headers) = (found?, request.headers());
    if request.method() != Method::GET || request.uri().query().is_some() {
        return None;
    }
    match route {
        Route::Uids => {
            let form = negotiate::form(headers).ok()?;
            let id = numbers::uid_in_memory(app, bearer(headers))?;
            Some(ids::one(form, &ids::UIDS, id))
        }
        Route::TagIds => {
            let form = negotiate::form(headers).ok()?;
            Some(ids::one(form, &ids::NUMBERS, number(app, part, headers)?.into()))
        }
        Route::LeafSegment => {
            // Leaf has only one format, so `Accept` is ignored.
            let number = app.options.has(route).then(|| number(app, part, headers)).flatten()?;
            Some(leaf::id(number))
        }
        _ => None,
    }
}

/// The next number of a tag in memory, if the tag's name needs no decoding.
fn number(app: &App, name: &str, headers: &HeaderMap) -> Option<Number> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if !name.bytes().all(is_plain) {
        return None;
    }
    numbers::number_in_memory(app, bearer(headers), name)
}
