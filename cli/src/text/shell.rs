//! Commands that a page names, to be copied into a shell.

use std::borrow::Cow;

use clap::ValueEnum;
use console::measure_text_width;
use uidring::segment::SegmentError;
use uidring_args::{Db, Table, with_causes};

use crate::args::db;
use crate::text::output::{Failure, error_columns};

/// `text` as a shell takes it for one word.
pub(crate) fn word(text: &str) -> Cow<'_, str> {
    let is_plain =
        |character: char| character.is_ascii_alphanumeric() || "_-./:,@%+".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.into()
    } else {
        format!("'{}'", text.replace('\'', r"'\''")).into()
    }
}

/// `lead`, and the command of these words: on the same line, or below if it does not fit there.
/// Where it needs several lines, a shell reads them as one.
pub(crate) fn command(lead: &str, words: &[String], columns: usize) -> String {
    let words: Vec<Cow<'_, str>> = words.iter().map(|text| word(text)).collect();
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

/// The same in a complaint, where the name of the tool comes first.
pub(crate) fn complaint(lead: &str, words: &[String]) -> String {
    let before = "uidring: ".len();
    command(lead, words, error_columns().saturating_sub(before)).trim_end().to_owned()
}

/// Where tags are, as commands name it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) db: &'a Db,
    pub(crate) table: Table,
}

impl Place<'_> {
    /// `uidring tags create`.
    pub(crate) fn create(self, tag: &str, first: Option<u64>) -> Vec<String> {
        let first = first.map_or_else(Vec::new, |first| strings(["--first", &first.to_string()]));
        let begin = strings(["uidring", "tags", "create"]);
        if tag.starts_with('-') {
            [begin, first, self.options(), strings(["--", tag])].concat()
        } else {
            [begin, strings([tag]), first, self.options()].concat()
        }
    }

    /// `uidring take`.
    pub(crate) fn take(self, tag: &str) -> Vec<String> {
        let tag = if tag.starts_with('-') {
            strings([&*format!("--tag={tag}")])
        } else {
            strings(["--tag", tag])
        };
        [strings(["uidring", "take"]), tag, self.options()].concat()
    }

    /// The failure for `error`, with the command that mends it.
    pub(crate) fn failure(self, error: &SegmentError) -> Failure {
        let why = with_causes(error);
        Failure::Failed(match error {
            SegmentError::NoSuchTag { tag, .. } => complaint(&(why + ":"), &self.create(tag, None)),
            _ => why,
        })
    }

    /// The options that name the place.
    pub(crate) fn options(self) -> Vec<String> {
        let mut options = db::option(self.db);
        if self.table != Table::Own {
            let table = self.table.to_possible_value();
            options.push("--table".to_owned());
            options.extend(table.map(|table| table.get_name().to_owned()));
        }
        options
    }
}

fn strings<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

#[cfg(test)]
mod tests {
    use super::{command, word};

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
            ("x=y", "'x=y'"),
        ] {
            assert_eq!(word(text), shown);
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
