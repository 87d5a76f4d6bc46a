//! Output to standard error.

use std::io::Write as _;

use uidring_args::visible;

use crate::text::page::{error_columns, folded};
use crate::text::visible::visible_page;

/// Writes a sentence to standard error, which may have texts of others. If that fails too, there is
/// nobody left to tell.
pub(crate) fn complain(sentence: &str) {
    complain_at_length(&visible(sentence));
}

/// The same with lines or colours of the tool itself.
pub(crate) fn complain_at_length(page: &str) {
    say(&format!("uidring: {page}\n"));
}

/// Writes to standard error what is not part of the output.
pub(crate) fn say(page: &str) {
    let page = folded(&visible_page(page), error_columns(), 0);
    let _ = anstream::stderr().write_all(page.as_bytes());
}
