//! What is said where the address of a server cannot be used.

use super::error::StoreError;
use super::refusals;
use crate::backend::address::escapes::ESCAPES;
use crate::backend::address::redaction::{UNCLEAR, without_password};
use crate::backend::error::Error;

/// What ends a user or a password in an address, unless it is escaped.
const SEPARATORS: [char; 5] = ['@', '/', '?', '#', '&'];

/// The error where this address of a server cannot be used.
pub(super) fn refused(address: &str, mut error: Error) -> StoreError {
    let shown = without_password(address);
    // What the driver takes for the host or a parameter may be a part of the password.
    let is_unclear = shown.ends_with(UNCLEAR)
        || address.split_once("password=").is_some_and(|(_, rest)| rest.contains(SEPARATORS));
    if is_unclear {
        error = Error::problem(format!(
            "{ESCAPES}; if the password is a parameter, write it before the host, as in \
             user:password@host; the error itself is not shown, because it could show a part of \
             the password"
        ));
    }
    refusals::refused(&shown, error)
}

#[cfg(test)]
mod tests {
    use super::{Error, refused};

    #[test]
    fn what_a_driver_says_does_not_show_a_part_of_a_password() {
        for (address, is_shown) in [
            ("postgres://me@db/ids?password=first&second", false),
            ("postgres://me:fir@second?@db/ids", false),
            ("postgres:///?password=first@db?second=1", false),
            ("password=second", false),
            ("postgres://me:pass@db/ids?second", true),
            ("postgres://me@db/ids?second&password=pass", true),
        ] {
            let error = Error::problem("unknown option `second`");
            let text = refused(address, error).to_string();
            assert_eq!(text.contains("unknown option `second`"), is_shown, "{text}");
            assert_eq!(text.contains("write these as %2F"), !is_shown, "{text}");
            assert!(!text.contains("first") && !text.contains("pass@"), "{text}");
        }
    }
}
