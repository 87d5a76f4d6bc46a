//! The address of a server, and the encoding of its parts.

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use ureq::http::Uri;

/// The characters to encode: all except those that RFC 3986 calls unreserved.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// `text`, encoded for a path or a query.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// The address of a server: `http://host:port/prefix`, without a slash at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address(String);

impl Address {
    /// Parses an address. The error does not repeat `text`, because it may contain a password.
    pub fn of(text: &str) -> Result<Address, &'static str> {
        const FORM: &str = "it is not an address such as http://ids.example.com:9999";
        let uri: Uri = text.parse().map_err(|_| FORM)?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(FORM);
        };
        if !["http", "https"].contains(&scheme) || authority.host().is_empty() {
            return Err(FORM);
        }
        if authority.as_str().contains('@') {
            return Err("it names a user; give the token beside the addresses");
        }
        if uri.query().is_some() {
            return Err("it has a query; give the token beside the addresses");
        }
        let prefix = uri.path().trim_end_matches('/');
        Ok(Address(format!("{scheme}://{authority}{prefix}")))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_and_a_host_and_may_have_a_path() {
        for (text, address) in [
            ("http://a:9999", "http://a:9999"),
            ("https://ids.example.com/", "https://ids.example.com"),
            ("http://[::1]:80/id/service//", "http://[::1]:80/id/service"),
            ("HTTP://a", "http://a"),
        ] {
            assert_eq!(Address::of(text).map(|found| found.to_string()).as_deref(), Ok(address));
        }
        for text in ["", "a", "a:9999", "ftp://a", "http://", "http:///x", "http://a b", "/x"] {
            assert!(Address::of(text).is_err_and(|problem| problem.contains("such as")), "{text}");
        }
        for text in ["http://me:secret@a:9999", "http://a/?token=secret"] {
            let problem = Address::of(text).err().unwrap_or_default();
            assert!(problem.ends_with("give the token beside the addresses"), "{problem}");
        }
    }

    #[test]
    fn what_has_a_meaning_in_an_address_is_encoded() {
        assert_eq!(encoded("a-b.c_d~9"), "a-b.c_d~9");
        assert_eq!(encoded("a b/c?d&e=f%+\u{e9}#"), "a%20b%2Fc%3Fd%26e%3Df%25%2B%C3%A9%23");
    }
}
