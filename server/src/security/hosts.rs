//! The hosts that the service answers for.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::HeaderValue;

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

    /// Whether the options name it.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.names.iter().any(|named| named.eq_ignore_ascii_case(name))
    }

    /// No page can make an address lead elsewhere. So one of this machine is good, and any where
    /// others reach it: they may have translated it.
    fn has_ip(&self, name: &str) -> bool {
        let bare = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
        let Ok(ip) = bare.parse::<IpAddr>() else { return false };
        ip == self.listen || !self.listen.is_loopback() || ip.to_canonical().is_loopback()
    }

    /// Whether it does not answer for the host.
    pub(crate) fn refuse(&self, host: &HeaderValue) -> bool {
        self.is_strict && !host.to_str().is_ok_and(|host| self.has(host))
    }

    /// Whether it is the first one that is refused.
    pub(crate) fn is_first_refused(&self) -> bool {
        // ORDERING: only the flag itself matters.
        !self.is_told.swap(true, Ordering::Relaxed)
    }
}

/// A name, or an address in brackets, without the port behind it.
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
