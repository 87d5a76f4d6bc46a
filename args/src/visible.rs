//! Texts of others, such as a description, a host name or what a server answers. They may hold what
//! a terminal or a browser obeys instead of showing it.

use std::borrow::Cow;

/// `text` in one line, with escapes for the characters that are not seen.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, &[], |character| character.escape_default().to_string())
}

/// `text` with `escape` in place of the characters that are not seen, but for the texts in `kept`.
pub fn escaped<'a>(text: &'a str, kept: &[&str], escape: impl Fn(char) -> String) -> Cow<'a, str> {
    let mut escaped = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(is_hidden) {
        let (before, hidden) = rest.split_at(at);
        escaped += before;
        rest = if let Some(kept) = kept.iter().find(|kept| hidden.starts_with(**kept)) {
            escaped += kept;
            &hidden[kept.len()..]
        } else {
            let mut characters = hidden.chars();
            escaped.extend(characters.next().map(&escape));
            characters.as_str()
        };
    }
    if escaped.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(escaped + rest) }
}

/// Whether nothing is shown for this character, and something is done, such as to turn around the
/// order of what follows.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn what_is_not_seen_is_escaped() {
        for (text, shown) in [
            ("", ""),
            ("größer als 7 ✔", "größer als 7 ✔"),
            ("\u{1b}[31mred", r"\u{1b}[31mred"),
            ("a\n\tb\r\u{7f}\u{9b}", r"a\n\tb\r\u{7f}\u{9b}"),
            ("\u{202e}\u{2066}\u{200f}\u{2028}", r"\u{202e}\u{2066}\u{200f}\u{2028}"),
            // It joins the parts of a sign that people see.
            ("👩\u{200d}🚀", "👩\u{200d}🚀"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }
}
