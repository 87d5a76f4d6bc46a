//! What a server says, in a form fit for an error.

use serde_json::Value;

/// The most characters of it that an error repeats.
const LONGEST: usize = 200;

/// `text`, short, in one line, and with `instead` in place of each of the `secrets`: servers repeat
/// what they were sent.
pub fn sanitize(text: &str, secrets: &[&str], instead: &str) -> String {
    let mut text = text.to_owned();
    for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
        // As it is, and as JSON has it, with escapes.
        let json = Value::from(*secret).to_string();
        for form in [secret, &json[1..json.len() - 1]] {
            text = text.replace(form, instead);
        }
    }
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, sanitize};

    #[test]
    fn what_is_said_is_bounded_and_has_no_secret() {
        let text = "no\r\n\tse cret\u{7}and more";
        assert_eq!(sanitize(text, &["", "se cret"], "(x)"), "no (x) and more");
        let text = r#"{"detail":"a\"b\\c of a"b\c"}"#;
        assert_eq!(sanitize(text, &[r#"a"b\c"#], "(x)"), r#"{"detail":"(x) of (x)"}"#);
        let long = sanitize(&"\u{e9}".repeat(5000), &["of two", "secrets"], "(x)");
        assert_eq!(long.chars().count(), LONGEST + "...".len());
        assert_eq!(sanitize("one, two", &["one", "two"], "(x)"), "(x), (x)");
    }
}
