//! `--generate`: what packages need to know of the program, and what nobody should write by hand.

use std::fmt::Write as _;
use std::io;

use clap::builder::PossibleValue;
use clap::{Arg, Command};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::config::options::Generate;
use crate::config::options_file;

/// How wide the comments in the file of options are.
const WIDTH: usize = 78;

impl Generate {
    /// The text about `command`.
    pub(crate) fn text(self, mut command: Command) -> io::Result<String> {
        let mut text = Vec::new();
        match self {
            Generate::Config => return Ok(config(&command)),
            Generate::Man => Man::new(command)
                // Without a date the fields after it would take its place.
                .date(" ")
                .section("8")
                .source(format!("uidring {}", env!("CARGO_PKG_VERSION")))
                .manual("System Administration")
                .render(&mut text)?,
            Generate::Bash => complete(Shell::Bash, &mut command, &mut text),
            Generate::Fish => complete(Shell::Fish, &mut command, &mut text),
            Generate::Zsh => complete(Shell::Zsh, &mut command, &mut text),
        }
        // The heading that manual pages have for what is left.
        Ok(String::from_utf8_lossy(&text).replace("\n.SH EXTRA\n", "\n.SH NOTES\n"))
    }
}

fn complete(shell: Shell, command: &mut Command, text: &mut Vec<u8>) {
    clap_complete::generate(shell, command, "uidring-server", text);
}

/// A file of options in which each one is a comment.
fn config(command: &Command) -> String {
    let mut text = String::from(
        "# Options of uidring-server, in TOML. To set one, remove the # in front of its\n\
         # name. What stands there is its default, or, in capitals, the kind of its\n\
         # value. The command line and variables go before this file.\n",
    );
    let mut heading = None;
    for arg in command.get_arguments().filter(|arg| options_file::has(arg)) {
        if arg.get_help_heading() != heading {
            heading = arg.get_help_heading();
            let _ = write!(text, "\n\n### {}\n", heading.unwrap_or_default());
        }
        text.push('\n');
        let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string);
        for line in filled(&help.unwrap_or_default()) {
            let _ = writeln!(text, "# {line}");
        }
        let values = arg.get_possible_values();
        if !values.is_empty() && !values.iter().any(|value| value.get_name() == "true") {
            let names: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
            for line in filled(&format!("One of: {}.", names.join(", "))) {
                let _ = writeln!(text, "# {line}");
            }
        }
        let _ = writeln!(text, "#{} = {}", arg.get_long().unwrap_or_default(), value(arg));
    }
    text
}

/// The default of an option, or the kind of its value, as TOML.
fn value(arg: &Arg) -> String {
    let default = arg.get_default_values().first().map(|value| value.to_string_lossy());
    let kind = || arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    let text = default.map_or_else(|| kind().unwrap_or_default(), Into::into);
    match text.as_str() {
        "true" | "false" => text,
        // Not 0660, which no TOML has.
        number if number.parse::<i64>().is_ok_and(|it| it.to_string() == number) => text,
        // None of them has a character that TOML would escape.
        _ => format!("\"{text}\""),
    }
}

/// The words of `text` in lines.
fn filled(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
#[allow(clippy::panic, clippy::unwrap_used)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::config::options::Options;

    /// The file with each default set is a file of options, and has each of them.
    #[test]
    fn the_file_of_options_has_all_of_them_with_their_defaults() {
        let command = Options::command();
        let text = Generate::Config.text(command.clone()).unwrap();
        assert!(text.lines().all(|line| line.is_empty() || line.starts_with('#')));
        assert!(text.lines().all(|line| line.len() <= WIDTH + 2 || line.contains(" = ")));
        let set: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix('#')).collect();
        for arg in command.get_arguments().filter(|arg| options_file::has(arg)) {
            let name = arg.get_long().unwrap();
            let line = set.iter().find(|line| line.starts_with(&format!("{name} = ")));
            let line = line.unwrap_or_else(|| panic!("there is no {name}"));
            if arg.get_default_values().is_empty() {
                continue;
            }
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("options.toml");
            std::fs::write(&file, line).unwrap();
            let config = format!("--config={}", file.display());
            let args = ["uidring-server".into(), config.into()];
            assert!(options_file::read(args).is_ok(), "{line}");
        }
    }

    #[test]
    fn pages_and_scripts_name_the_options() {
        for (what, named) in [
            (Generate::Man, ".TH uidring-server 8"),
            (Generate::Man, ".SH NOTES\nEach option has a variable"),
            (Generate::Bash, "--resp-listen"),
            (Generate::Fish, "-l resp-listen"),
            (Generate::Zsh, "--resp-listen="),
        ] {
            let text = what.text(Options::command()).unwrap();
            assert!(text.contains(named), "{what:?}: {text}");
        }
    }
}
