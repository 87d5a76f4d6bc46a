//! Protection against cross-site requests, which a page of another site may make its reader's
//! browser send.
//!
//! The reader's browser may be on this machine or in this network, where no token is needed. A page
//! can send requests to any address. It can also use a name of its own, because its owner can point
//! that name here (DNS rebinding). All requests pass this check, so no handler has to think of it.

use axum::http::header::{ACCEPT_LANGUAGE, HOST, ORIGIN, USER_AGENT};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, Version};

use crate::app::App;
use crate::http::problem::Problem;
use crate::routes::Route;
use crate::security::hosts::{Hosts, without_port};

/// Browsers send this header if the connection is encrypted or does not leave the machine.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Refuses requests that may come from a page of another site.
pub(crate) fn check<B>(
    app: &App,
    route: Option<Route>,
    request: &Request<B>,
) -> Result<(), Problem> {
    let headers = request.headers();
    let host = only_host(headers, request.version())?;
    if let Some(host) = host {
        check_host(&app.hosts, host)?;
    }
    if route.is_some_and(Route::only_shows) {
        Ok(())
    } else {
        refuse_other_sites(&app.hosts, headers, host)
    }
}

fn check_host(hosts: &Hosts, host: &HeaderValue) -> Result<(), Problem> {
    if !hosts.refuse(host) {
        return Ok(());
    }
    let host = String::from_utf8_lossy(host.as_bytes());
    if hosts.is_first_refused() {
        let host = host.as_ref();
        tracing::warn!(host, "refused a request for another host; see --host");
    }
    let title = "the service does not answer for this host";
    Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, "other-host", title)
        .detail(
            "any web page can make a name of its own lead here, so only localhost and \
                 addresses are answered for; start the service with --host and this name, or \
                 with --tokens",
        )
        .value(&host))
}

/// The `Host` header. RFC 9112 requires exactly one, because a proxy may have read another one.
/// HTTP/1.0 has no such header.
fn only_host(headers: &HeaderMap, version: Version) -> Result<Option<&HeaderValue>, Problem> {
    let mut hosts = headers.get_all(HOST).iter();
    let detail = match (hosts.next(), hosts.next()) {
        (host @ Some(_), None) => return Ok(host),
        (None, _) if version == Version::HTTP_10 => return Ok(None),
        (None, _) => "a request has the header host",
        (Some(_), Some(_)) => "a request has the header host once",
    };
    Err(Problem::bad_request("bad-host", "the request does not name one host").detail(detail))
}

/// Refuses requests that change something if they come from a page of another site.
fn refuse_other_sites(
    hosts: &Hosts,
    headers: &HeaderMap,
    host: Option<&HeaderValue>,
) -> Result<(), Problem> {
    if let Some(site) = headers.get(&SEC_FETCH_SITE) {
        let is_own = site == "same-origin" || site == "none";
        return if is_own { Ok(()) } else { Err(other_site(headers.get(ORIGIN))) };
    }
    match headers.get(ORIGIN) {
        Some(origin) if is_own(hosts, origin, host) => Ok(()),
        Some(origin) => Err(other_site(Some(origin))),
        None if is_silent_browser(headers) => {
            let title = "a browser does not say which page asks";
            Err(Problem::new(StatusCode::FORBIDDEN, "unknown-site", title).detail(
                "over http, browsers say it to localhost alone; use https, or another client",
            ))
        }
        None => Ok(()),
    }
}

fn other_site(origin: Option<&HeaderValue>) -> Problem {
    let title = "pages of other sites may not do this";
    let problem = Problem::new(StatusCode::FORBIDDEN, "other-site", title)
        .detail("have the server of the page ask, or name the host of the page with --host");
    match origin {
        Some(origin) => problem.value(&String::from_utf8_lossy(origin.as_bytes())),
        None => problem,
    }
}

/// Whether the page comes from the requested host, or from one that the options list, because a
/// proxy may have changed the name.
fn is_own(hosts: &Hosts, origin: &HeaderValue, host: Option<&HeaderValue>) -> bool {
    let Some((_, from)) = origin.to_str().ok().and_then(|origin| origin.split_once("://")) else {
        return false;
    };
    let host = host.and_then(|host| host.to_str().ok());
    host.is_some_and(|host| host.eq_ignore_ascii_case(from)) || hosts.is_named(without_port(from))
}

/// Whether the client looks like a browser that sends no `Sec-Fetch-Site`. Over plain HTTP to
/// another machine, browsers do not say which page loads an image.
fn is_silent_browser(headers: &HeaderMap) -> bool {
    headers.contains_key(ACCEPT_LANGUAGE)
        && headers.get(USER_AGENT).is_some_and(|name| name.as_bytes().starts_with(b"Mozilla/"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::*;

    #[test]
    fn a_page_is_its_own_or_of_a_named_host() {
        let names = ["ids.example.com".to_owned()];
        let hosts = Hosts::new(&names, "127.0.0.1".parse().unwrap(), true);
        let host = HeaderValue::from_static("localhost:8080");
        for (origin, expected) in [
            ("http://localhost:8080", true),
            ("https://ids.example.com", true),
            ("http://IDS.example.com:81", true),
            ("http://localhost:3000", false),
            ("http://localhost", false),
            ("https://evil.example", false),
            ("null", false),
            ("", false),
        ] {
            let origin = HeaderValue::from_static(origin);
            assert_eq!(is_own(&hosts, &origin, Some(&host)), expected, "{origin:?}");
        }
    }
}
