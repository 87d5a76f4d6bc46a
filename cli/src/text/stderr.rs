//! Output to standard error.

use std::io::Write as _;

use crate::text::page::{error_columns, folded};

/// Writes a sentence to standard error. If that fails too, there is nobody left to tell.
pub(crate) fn complain(sentence: &str) {
    say(&format!("uidring: {sentence}\n"));
}

/// Writes to standard error what is not part of the output.
pub(crate) fn say(page: &str) {
    let page = folded(page, error_columns(), 0);
    let _ = anstream::stderr().write_all(page.as_bytes());
}
