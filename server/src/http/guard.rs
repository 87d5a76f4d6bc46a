//! Requests that a page of somebody else may have had its reader's browser send.
//!
//! The reader may be on this machine or in this network, where no token is needed. A page can send
//! requests to any address, and under any name of its own, because it can make the name lead here
//! (DNS rebinding). All requests pass here, so no handler has to think of it.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::header::{ACCEPT_LANGUAGE, HOST, ORIGIN, USER_AGENT};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, Version};

use crate::app::App;
use crate::http::problem::Problem;
use crate::stats::requests::PathIndex;

/// Browsers tell it where a connection is safe from eavesdroppers, or does not leave the machine.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// In place of a name: all names.
const ANY: &str = "*";

/// The hosts that the service answers for.
#[derive(Debug)]
pub(crate) struct Hosts {
    /// Whether others are refused.
    is_strict: bool,
    /// Those that the options name.
    names: Vec<String>,
    listen: IpAddr,
    /// Whether somebody has been told of one that was refused.
    is_told: AtomicBool,
}

impl Hosts {
    /// Those of `names`, and those that it listens on. Without tokens, others are refused.
    pub(crate) fn new(names: &[String], listen: IpAddr, is_open: bool) -> Hosts {
        let is_any = names.iter().any(|name| name == ANY);
        let is_strict = (is_open || !names.is_empty()) && !is_any;
        Hosts { is_strict, names: names.to_vec(), listen, is_told: AtomicBool::new(false) }
    }

    /// Whether it answers for the host, with or without a port: a port may have been forwarded.
    fn has(&self, host: &str) -> bool {
        let name = without_port(host);
        name.eq_ignore_ascii_case("localhost") || self.is_named(name) || self.has_ip(name)
    }

    fn is_named(&self, name: &str) -> bool {
        self.names.iter().any(|named| named.eq_ignore_ascii_case(name))
    }

    /// No page can make an address lead elsewhere. So one of this machine is good, and any where
    /// others reach it: they may have translated it.
    fn has_ip(&self, name: &str) -> bool {
        let bare = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
        let Ok(ip) = bare.parse::<IpAddr>() else { return false };
        ip == self.listen || !self.listen.is_loopback() || ip.to_canonical().is_loopback()
    }

    fn check(&self, host: &HeaderValue) -> Result<(), Problem> {
        if !self.is_strict || host.to_str().is_ok_and(|host| self.has(host)) {
            return Ok(());
        }
        let host = String::from_utf8_lossy(host.as_bytes());
        // ORDERING: only the flag itself matters.
        if !self.is_told.swap(true, Ordering::Relaxed) {
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
}

/// A name, or an address in brackets, without the port behind it.
fn without_port(host: &str) -> &str {
    let end = match host.strip_prefix('[') {
        Some(rest) => rest.find(']').map(|end| end + 2),
        None => host.find(':'),
    };
    &host[..end.unwrap_or(host.len())]
}

/// Refuses what may come from a page of somebody else.
pub(crate) fn check<B>(app: &App, path: PathIndex, request: &Request<B>) -> Result<(), Problem> {
    let headers = request.headers();
    let host = only_host(headers, request.version())?;
    if let Some(host) = host {
        app.hosts.check(host)?;
    }
    if path.only_shows() { Ok(()) } else { refuse_other_sites(&app.hosts, headers, host) }
}

/// The host of the request. RFC 9112 demands that it names one, because a proxy may have read
/// another one in it. HTTP/1.0 has no such header.
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

/// Refuses what changes something if a page of another site has its reader's browser send it.
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

/// Whether the page is from the host that it asks, or from one that the options name: a proxy may
/// have changed the name.
fn is_own(hosts: &Hosts, origin: &HeaderValue, host: Option<&HeaderValue>) -> bool {
    let Some((_, from)) = origin.to_str().ok().and_then(|origin| origin.split_once("://")) else {
        return false;
    };
    let host = host.and_then(|host| host.to_str().ok());
    host.is_some_and(|host| host.eq_ignore_ascii_case(from)) || hosts.is_named(without_port(from))
}

/// Whether this looks like a browser. Over http it does not say which page has an image loaded,
/// unless the connection stays on the machine.
fn is_silent_browser(headers: &HeaderMap) -> bool {
    headers.contains_key(ACCEPT_LANGUAGE)
        && headers.get(USER_AGENT).is_some_and(|name| name.as_bytes().starts_with(b"Mozilla/"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::*;

    fn hosts(names: &[&str], listen: &str) -> Hosts {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        Hosts::new(&names, listen.parse().unwrap(), true)
    }

    #[test]
    fn a_host_is_one_that_it_listens_on_or_that_is_named() {
        let of_machine = hosts(&["ids.example.com"], "127.0.0.1");
        for good in [
            "localhost",
            "LocalHost:80",
            "127.0.0.1",
            "127.0.0.1:9000",
            "127.1.2.3",
            "[::1]",
            "[::1]:8080",
            "[::ffff:127.0.0.1]",
            "ids.example.com",
            "IDS.example.com:443",
        ] {
            assert!(of_machine.has(good), "{good}");
        }
        for bad in [
            "",
            ":80",
            "evil.example",
            "localhost.evil.example",
            "evil.example:8080",
            "10.0.0.1",
            "0.0.0.0",
            "[::2]",
            "[::1",
            "127.0.0.1.evil.example",
            "x@localhost",
            "*",
            "ids.example.com.",
            "localhost, evil.example",
        ] {
            assert!(!of_machine.has(bad), "{bad}");
        }
        let of_network = hosts(&[], "0.0.0.0");
        for good in ["localhost", "10.0.0.1:8080", "[fe80::1]:8080", "127.0.0.1"] {
            assert!(of_network.has(good), "{good}");
        }
        assert!(!of_network.has("ids.example.com"));
    }

    #[test]
    fn a_page_is_its_own_or_of_a_named_host() {
        let hosts = hosts(&["ids.example.com"], "127.0.0.1");
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
