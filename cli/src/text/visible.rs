//! What the tool escapes on its pages and in its JSON, where they have texts of others.

use std::borrow::Cow;

use uidring_args::escaped;

/// What a page of the tool itself has beside text: the ends of its lines, and its colours.
const OWN: [&str; 10] = [
    "\n",
    "\u{1b}[0m",
    "\u{1b}[1m",
    "\u{1b}[2m",
    "\u{1b}[31m",
    "\u{1b}[32m",
    "\u{1b}[33m",
    "\u{1b}[34m",
    "\u{1b}[35m",
    "\u{1b}[36m",
];

/// `page` with such escapes, but with the lines and the colours that the tool has given it.
pub(crate) fn visible_page(page: &str) -> Cow<'_, str> {
    escaped(page, &OWN, |character| character.escape_default().to_string())
}

/// `text` with the escapes of JSON, which some shells have as well. A text of JSON stays the same
/// value.
pub(crate) fn visible_json(text: &str) -> Cow<'_, str> {
    // None of them is above U+FFFF.
    escaped(text, &[], |character| format!("\\u{:04x}", u32::from(character)))
}

#[cfg(test)]
mod tests {
    use super::{visible_json, visible_page};
    use crate::text::page::{BOLD, DIM, GREEN, RED, SEQUENCE, TIME, WORKER, YELLOW, paint};

    #[test]
    fn a_page_keeps_its_lines_and_colours() {
        let styles = [BOLD, DIM, RED, GREEN, YELLOW, TIME, WORKER, SEQUENCE, GREEN.bold()];
        let page: String = styles.map(|style| paint(style, "text") + "\n").concat();
        assert_eq!(visible_page(&page), page);
        let colours = "\u{1b}[8m \u{1b}[31;8m \u{1b}[2J\r\n";
        assert_eq!(visible_page(colours), "\\u{1b}[8m \\u{1b}[31;8m \\u{1b}[2J\\r\n");
    }

    #[test]
    fn json_stays_the_same_value() {
        let text = "\u{7}\u{7f}\u{9b}\u{202e}\u{feff}";
        let json = serde_json::Value::from(text).to_string();
        let shown = visible_json(&json);
        assert_eq!(shown, r#""\u0007\u007f\u009b\u202e\ufeff""#);
        assert_eq!(serde_json::from_str(&shown).ok(), Some(serde_json::Value::from(text)));
    }
}
