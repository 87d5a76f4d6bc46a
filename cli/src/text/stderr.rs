//! Output to standard error.

use std::io::Write as _;

use uidring_args::visible;

use crate::text::page::{error_columns, folded};
use crate::text::visible::visible_page;

/// The words of the library before statements that somebody has to run. Nothing comes after these.
const BEFORE_STATEMENTS: &str = "have somebody who may run this:\n\n";

/// Writes a sentence to standard error, which may have texts of others. If that fails too, there is
/// nobody left to tell.
pub(crate) fn print_error(sentence: &str) {
    print_error_page(&escaped(sentence));
}

/// `sentence` in one line, and statements at its end in lines of their own.
fn escaped(sentence: &str) -> String {
    let Some((words, statements)) = sentence.split_once(BEFORE_STATEMENTS) else {
        return visible(sentence).into_owned();
    };
    let lines: Vec<_> = statements.trim_end().split('\n').map(visible).collect();
    format!("{}{BEFORE_STATEMENTS}{}", visible(words), lines.join("\n"))
}

/// The same with lines or colours of the tool itself.
pub(crate) fn print_error_page(page: &str) {
    print_note(&format!("uidring: {page}\n"));
}

/// Writes to standard error what is not part of the output.
pub(crate) fn print_note(page: &str) {
    let page = folded(&visible_page(page), error_columns(), 0);
    let _ = anstream::stderr().write_all(page.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn statements_that_somebody_has_to_run_are_lines() {
        let sentence = "the\nstore: have somebody who may run this:\n\nBEGIN;\nCOMMIT;\u{7}\n\n";
        let page = "the\\nstore: have somebody who may run this:\n\nBEGIN;\nCOMMIT;\\u{7}";
        assert_eq!(escaped(sentence), page);
        assert_eq!(escaped("a\nb"), "a\\nb");
    }
}
