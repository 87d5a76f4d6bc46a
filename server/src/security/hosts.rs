//! The host names that the service answers for. This stops DNS rebinding.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::HeaderValue;

/// An option value that stands for all names.
const ANY: &str = "*";

/// The hosts that the service answers for.
#[derive(Debug)]
pub(crate) struct Hosts {
    /// Whether requests for other hosts are refused.
    is_strict: bool,
    /// The names that the options list.
    names: Vec<String>,
    listen: IpAddr,
    /// Whether a refusal has already been logged.
    is_told: AtomicBool,
}

impl Hosts {
    /// Accepts `names` and the address that the service listens on. Other hosts are refused if
    /// there are no tokens, or if `names` is not empty.
    pub(crate) fn new(names: &[String], listen: IpAddr, is_open: bool) -> Hosts {
        let is_any = names.iter().any(|name| name == ANY);
        let is_strict = (is_open || !names.is_empty()) && !is_any;
        Hosts { is_strict, names: names.to_vec(), listen, is_told: AtomicBool::new(false) }
    }

    /// Whether the service answers for this host. The port is ignored, because it may have been
    /// forwarded.
    fn has(&self, host: &str) -> bool {
        let name = without_port(host);
        name.eq_ignore_ascii_case("localhost") || self.is_named(name) || self.has_ip(name)
    }

    /// Whether the options list this name.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.names.iter().any(|named| named.eq_ignore_ascii_case(name))
    }

    /// DNS rebinding needs a name, so addresses are safe: those of this machine always, and all
    /// others if the service listens beyond loopback, because a router may have translated the
    /// address.
    fn has_ip(&self, name: &str) -> bool {
        let bare = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
        let Ok(ip) = bare.parse::<IpAddr>() else { return false };
        ip == self.listen || !self.listen.is_loopback() || ip.to_canonical().is_loopback()
    }

    /// Whether a request for this host is refused.
    pub(crate) fn refuse(&self, host: &HeaderValue) -> bool {
        self.is_strict && !host.to_str().is_ok_and(|host| self.has(host))
    }

    /// Whether no refusal has been logged yet.
    pub(crate) fn is_first_refused(&self) -> bool {
        // ORDERING: the flag guards no data.
        !self.is_told.swap(true, Ordering::Relaxed)
    }
}

/// A name, or an address in brackets, without its port.
pub(crate) fn without_port(host: &str) -> &str {
    let end = match host.strip_prefix('[') {
        Some(rest) => rest.find(']').map(|end| end + 2),
        None => host.find(':'),
    };
    &host[..end.unwrap_or(host.len())]
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
}
