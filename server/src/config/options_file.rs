//! The configuration file. Its keys are the long names of the options, in any spelling of them.
//!
//! Each key becomes an argument in front of those of the command line. So clap alone defines which
//! values are valid.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory, FromArgMatches};
use uidring_args::{find_spelling, nearest, normalize_options, without_passwords};

use crate::config::options::Options;
use crate::config::variables;
use crate::process::end::USAGE;
use crate::process::output;
use crate::security::secret::{may_be_token, without_the_line};

/// Options that are not allowed in the file.
const NOT_IN_A_FILE: [&str; 5] = ["config", "check", "generate", "help", "version"];

/// Why the program does not start with these arguments.
pub(crate) enum Refusal {
    /// An error of clap, the help, or the version.
    Clap(clap::Error),
    File(String),
}

impl Refusal {
    /// It in one sentence, without a password.
    pub(crate) fn text(&self) -> String {
        match self {
            Refusal::Clap(error) => {
                let text = error.to_string();
                let first = text.split("\n\n").next().unwrap_or_default();
                without_passwords(first.trim_start_matches("error: ")).replace('\n', " ")
            }
            Refusal::File(problem) => problem.clone(),
        }
    }

    pub(crate) fn report(self) -> ExitCode {
        match self {
            Refusal::Clap(error) => {
                let text = error.render().to_string();
                let shown = without_passwords(&text);
                // Printed by clap, it has colours.
                let _ = if shown == text {
                    error.print()
                } else {
                    io::stderr().write_all(shown.as_bytes())
                };
                ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE))
            }
            Refusal::File(problem) => {
                output::end(Some(&problem));
                ExitCode::from(USAGE)
            }
        }
    }
}

/// Reads the options from the command line, the environment, and the file that they name.
pub(crate) fn read(args: impl IntoIterator<Item = OsString>) -> Result<Options, Refusal> {
    let mut args = normalize_options(&Options::command(), args);
    let program = args.len().min(1);
    let of_environment = variables::normalized_arguments(&Options::command(), &parse(&args)?);
    args.splice(program..program, of_environment);
    let matches = parse(&args)?;
    if let Some(path) = Options::from_arg_matches(&matches).map_err(Refusal::Clap)?.config {
        let of_file = arguments(&path, &matches).map_err(|problem| {
            Refusal::File(format!("the file of options {}: {problem}", path.display()))
        })?;
        args.splice(program..program, of_file);
    }
    let matches = parse(&args)?;
    Options::from_arg_matches(&matches).map_err(Refusal::Clap)
}

fn parse(args: &[OsString]) -> Result<ArgMatches, Refusal> {
    let matches = Options::command().try_get_matches_from(args);
    matches.map_err(|error| Refusal::Clap(without_a_secret(error)))
}

/// The error without an argument that may be a token, or an address with its password, such as the
/// one behind `--db= `.
fn without_a_secret(error: clap::Error) -> clap::Error {
    match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(argument)))
            if !argument.starts_with('-') && may_be_token(argument) =>
        {
            let problem =
                "an argument belongs to no option; it is not shown, as it may be a password";
            Options::command().error(ErrorKind::UnknownArgument, problem)
        }
        _ => error,
    }
}

/// The keys of the file as arguments. Skips keys that the command line or the environment sets.
fn arguments(path: &Path, set: &ArgMatches) -> Result<Vec<OsString>, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let table: toml::Table = toml::from_str(&text).map_err(|e| without_the_line(&text, &e))?;
    let command = Options::command();
    let mut arguments = Vec::new();
    let mut known: Vec<(&str, String)> = Vec::new();
    for (key, value) in &flat(&command, table) {
        let arg = find(&command, key).ok_or_else(|| unknown(&command, key))?;
        let long = arg.get_long().unwrap_or_default();
        if let Some((_, other)) = known.iter().find(|(known, _)| *known == long) {
            return Err(format!("its keys {other:?} and {key:?} are the same option, {long}"));
        }
        known.push((long, key.clone()));
        let argument = OsString::from(format!("--{long}={}", texts_of(key, value, arg)?));
        check(&argument).map_err(|problem| format!("the key {key:?}: {problem}"))?;
        let source = set.value_source(arg.get_id().as_str());
        if !matches!(source, Some(ValueSource::CommandLine | ValueSource::EnvVariable)) {
            arguments.push(argument);
        }
    }
    Ok(arguments)
}

/// The keys of `table`, and for each key of a table in it that names an option, `table.key`: in
/// TOML, `max.body` is written in both ways.
fn flat(command: &Command, table: toml::Table) -> Vec<(String, toml::Value)> {
    let of_key = |(key, value): (String, toml::Value)| match value {
        toml::Value::Table(inner) if has_options(command, &key, &inner) => {
            inner.into_iter().map(|(name, value)| (format!("{key}.{name}"), value)).collect()
        }
        value => vec![(key, value)],
    };
    table.into_iter().flat_map(of_key).collect()
}

fn has_options(command: &Command, key: &str, inner: &toml::Table) -> bool {
    !inner.is_empty() && inner.keys().all(|name| find(command, &format!("{key}.{name}")).is_some())
}

/// Whether an option may stand in the file.
pub(crate) fn has(arg: &Arg) -> bool {
    arg.get_long().is_some_and(|name| !NOT_IN_A_FILE.contains(&name))
}

fn find<'a>(command: &'a Command, key: &str) -> Option<&'a Arg> {
    let of_file = || command.get_arguments().filter(|arg| has(arg));
    let long = find_spelling(key, of_file().filter_map(Arg::get_long))?;
    of_file().find(|arg| arg.get_long() == Some(long))
}

fn unknown(command: &Command, key: &str) -> String {
    let keys = command.get_arguments().filter(|arg| has(arg));
    let keys: Vec<&str> = keys.filter_map(Arg::get_long).collect();
    if may_be_token(key) && nearest(key, keys.iter().copied()).is_none() {
        return format!("one of its keys names no option; the keys are {}", keys.join(", "));
    }
    uidring_args::unknown("key", key, &keys)
}

/// The value of a key. An option that may be repeated accepts a list.
fn texts_of(key: &str, value: &toml::Value, arg: &Arg) -> Result<String, String> {
    match value {
        toml::Value::Array(values) if matches!(arg.get_action(), ArgAction::Append) => {
            let texts = values.iter().map(|value| text_of(key, value));
            Ok(texts.collect::<Result<Vec<_>, _>>()?.join(","))
        }
        value => text_of(key, value),
    }
}

fn text_of(key: &str, value: &toml::Value) -> Result<String, String> {
    match value {
        toml::Value::String(text) => Ok(text.clone()),
        toml::Value::Integer(number) => Ok(number.to_string()),
        toml::Value::Boolean(flag) => Ok(flag.to_string()),
        other => Err(format!(
            "the key {key:?} has a value of the kind {}; write a text, a whole number, true or \
             false",
            other.type_str()
        )),
    }
}

/// Checks one argument by itself. Conflicts with others are found later.
fn check(argument: &OsString) -> Result<(), String> {
    use ErrorKind::{ArgumentConflict, MissingRequiredArgument};
    match Options::command().try_get_matches_from([&OsString::from("uidring-server"), argument]) {
        Err(error) if !matches!(error.kind(), ArgumentConflict | MissingRequiredArgument) => {
            let text = error.to_string();
            let first = text.split("\n\n").next().unwrap_or_default();
            Err(without_passwords(first.trim_start_matches("error: ")).replace('\n', " "))
        }
        _ => Ok(()),
    }
}
