//! Commands that a page names, to be copied into a shell.

use std::borrow::Cow;

use console::measure_text_width;
use uidring_args::visible;

use crate::text::failure::Failure;
use crate::text::page::error_columns;
use crate::text::visible::visible_json;

/// `text` as a shell takes it for one word. One with characters that are not seen is for the shells
/// that know `$'..'`, such as bash and zsh.
pub(crate) fn quote(text: &str) -> Cow<'_, str> {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || "_-./:,@%+".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.into()
    } else if let Cow::Owned(_) = visible(text) {
        let quoted = text.replace('\\', r"\\").replace('\'', r"\'");
        format!("$'{}'", visible_json(&quoted)).into()
    } else {
        format!("'{}'", text.replace('\'', r"'\''")).into()
    }
}

/// `lead`, and the command of these words: on the same line, or below if it does not fit there.
/// Where it needs several lines, a shell reads them as one.
pub(crate) fn command(lead: &str, words: &[String], columns: usize) -> String {
    let words: Vec<Cow<'_, str>> = words.iter().map(|text| quote(text)).collect();
    let line = format!("{lead} {}", words.join(" "));
    if measure_text_width(&line) <= columns {
        return line + "\n";
    }
    let mut lines = format!("{lead}\n ");
    let mut column = 1;
    for word in words {
        let width = measure_text_width(&word);
        // With the space before it, and the sign that the command goes on.
        if column > 4 && column + 1 + width + 2 > columns {
            lines += " \\\n   ";
            column = 3;
        }
        lines = lines + " " + &word;
        column += 1 + width;
    }
    lines + "\n"
}

/// The same as a failure. Its complaint begins with the name of the tool.
pub(crate) fn failure_with_command(lead: &str, words: &[String]) -> Failure {
    let columns = error_columns().saturating_sub("uidring: ".len());
    Failure::Explained(command(&visible(lead), words, columns).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::{command, quote};

    #[test]
    fn words_are_quoted_where_a_shell_would_not_leave_them() {
        for (text, shown) in [
            ("orders", "orders"),
            ("a/b.c-d_e:f,g@h%i+j", "a/b.c-d_e:f,g@h%i+j"),
            ("", "''"),
            ("a b", "'a b'"),
            ("ü", "'ü'"),
            ("it's", r"'it'\''s'"),
            ("~", "'~'"),
            ("it's\n\\n\u{202e}", r"$'it\'s\u000a\\n\u202e'"),
            ("x=y", "'x=y'"),
        ] {
            assert_eq!(quote(text), shown);
        }
    }

    #[test]
    fn a_long_command_goes_on_in_the_next_line() {
        let words = ["uidring", "tags", "create", "a b", "--first", "1000"].map(str::to_owned);
        let text = |columns| command("so:", &words, columns);
        assert_eq!(text(80), "so: uidring tags create 'a b' --first 1000\n");
        assert_eq!(text(42), "so: uidring tags create 'a b' --first 1000\n");
        assert_eq!(text(41), "so:\n  uidring tags create 'a b' --first \\\n    1000\n");
        assert_eq!(text(30), "so:\n  uidring tags create 'a b' \\\n    --first 1000\n");
        let lines = ["uidring", "tags", "create", "'a b'", "--first", "1000"];
        assert_eq!(text(1), format!("so:\n  {}\n", lines.join(" \\\n    ")));
    }
}
