//! The short way: one id from memory, which is what nearly all requests ask for.
//!
//! It answers only what it can answer at once, in the same words as the long way, which answers all
//! else. It costs no router, no boxed future and no extractors.

use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, Response};
use uidring::Uid;
use uidring::segment::Number;

use crate::app::App;
use crate::http::bearer::bearer;
use crate::http::compat::leaf;
use crate::http::{ids, negotiate};
use crate::security::access::Wish;

/// The answer, if it is one of these.
pub(crate) fn answer<B>(app: &App, request: &Request<B>) -> Option<Response<Body>> {
    let (uri, headers) = (request.uri(), request.headers());
    if request.method() != Method::GET || uri.query().is_some() {
        return None;
    }
    if uri.path() == "/v1/uids" {
        let form = negotiate::form(headers).ok()?;
        let uid = app.options.uids.then(|| uid(app, headers)).flatten()?;
        return Some(ids::one(form, &ids::UIDS, uid.into()));
    }
    if let Some(key) = uri.path().strip_prefix("/api/segment/get/") {
        // Leaf has one form, whatever is accepted.
        let number = app.options.paths.leaf_segment.then(|| number(app, key, headers)).flatten()?;
        return Some(leaf::id(number));
    }
    let tag = uri.path().strip_prefix("/v1/tags/")?.strip_suffix("/ids")?;
    let form = negotiate::form(headers).ok()?;
    Some(ids::one(form, &ids::NUMBERS, number(app, tag, headers)?.into()))
}

fn uid(app: &App, headers: &HeaderMap) -> Option<Uid> {
    app.access.may(bearer(headers), Wish::Uids).ok()?;
    let uid = app.uids().ok()?.try_take().ok()?;
    app.counters().uids.add(1);
    Some(uid)
}

/// The next number of a tag that is in memory, if its name stands for itself in a path.
fn number(app: &App, name: &str, headers: &HeaderMap) -> Option<Number> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if !name.bytes().all(is_plain) {
        return None;
    }
    app.access.may(bearer(headers), Wish::Tag(name)).ok()?;
    let number = App::known_tag(name, |tag| tag.try_take().ok()).flatten()?;
    app.counters().numbers.add(1);
    Some(number)
}
