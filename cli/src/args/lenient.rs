//! Command lines that were guessed: the value of an argument under a name of its own, as in
//! `series create orders --pattern P`, and a value without its option, as in `take orders`.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Parser};

use crate::args::negative;

/// The most options that a hint names.
const MOST: usize = 3;

/// Options that many commands have. A hint is about the others.
const COMMON: [&str; 3] = ["db", "table", "format"];

/// Parses the command line. An argument may have the name that the help gives it, as an option: the
/// help of `series create` calls its second one PATTERN. A value without an option that it could
/// belong to is refused with a hint.
pub(crate) fn parsed<C: Parser>() -> Result<C, clap::Error> {
    parsed_from(&env::args_os().collect::<Vec<_>>())
}

fn parsed_from<C: Parser>(args: &[OsString]) -> Result<C, clap::Error> {
    let args = &uidring_args::normalize_options(&C::command(), args.iter().cloned());
    let error = match negative::parsed::<C>(args) {
        Err(error) if error.kind() == ErrorKind::UnknownArgument => error,
        parsed => return parsed,
    };
    let mut tool = C::command();
    tool.build();
    let (depth, command) = command_of(&tool, args);
    match unnamed(command, args, depth).map(|args| negative::parsed::<C>(&args)) {
        Some(Ok(parsed)) => Ok(parsed),
        Some(Err(of_value)) if negative::is_of_value(&of_value) => Err(of_value),
        _ => Err(hinted::<C>(error, command, args)),
    }
}

/// The command that `args` name, and how many of them come before its own.
fn command_of<'a>(tool: &'a Command, args: &[OsString]) -> (usize, &'a Command) {
    let (mut depth, mut command) = (1, tool);
    while let Some(next) = args.get(depth).and_then(|name| command.find_subcommand(name)) {
        (depth, command) = (depth + 1, next);
    }
    (depth, command)
}

/// The arguments without the names of those that have none, in the order in which the command wants
/// them. `None` if no such name is there.
fn unnamed(command: &Command, args: &[OsString], depth: usize) -> Option<Vec<OsString>> {
    let mut options = args[..depth].to_vec();
    let (mut named, mut plain) = (BTreeMap::new(), Vec::new());
    let mut rest = args[depth..].iter();
    while let Some(arg) = rest.next() {
        if arg == "--" {
            plain.extend(rest.by_ref().cloned());
            break;
        }
        let text = arg.to_string_lossy();
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(OsString::from(value))),
            None => (&*text, None),
        };
        if let Some(option) = command.get_arguments().find(|option| is_named(option, name)) {
            options.push(arg.clone());
            let is_apart = value.is_none() && !option.is_require_equals_set();
            if is_apart && option.get_action().takes_values() {
                options.extend(rest.next().cloned());
            }
        } else if let Some(index) = place_of(command, name) {
            named.insert(index, value.or_else(|| rest.next().cloned())?);
        } else if text.starts_with('-') && text.len() > 1 {
            options.push(arg.clone());
        } else {
            plain.push(arg.clone());
        }
    }
    let last = *named.last_key_value()?.0;
    let mut plain = plain.into_iter();
    options.push("--".into());
    for index in 1..=last {
        options.push(named.remove(&index).or_else(|| plain.next())?);
    }
    options.extend(plain);
    Some(options)
}

/// Whether an option is written so, `--count` or `-n`.
fn is_named(option: &Arg, name: &str) -> bool {
    let long = name.strip_prefix("--").filter(|name| !name.is_empty());
    let short = name.strip_prefix('-').and_then(|name| {
        let mut letters = name.chars();
        letters.next().filter(|_| letters.next().is_none())
    });
    let is_long = long.is_some_and(|long| option.get_long() == Some(long));
    is_long || (short.is_some() && option.get_short() == short)
}

/// The place of the argument without a name that `--name` means: its own name, or that in the help.
fn place_of(command: &Command, name: &str) -> Option<usize> {
    let name = name.strip_prefix("--")?;
    let is_meant = |argument: &&Arg| {
        let own = argument.get_id().as_str();
        let shown = argument.get_value_names().unwrap_or_default();
        own.trim_end_matches('s') == name.trim_end_matches('s')
            || shown.iter().any(|shown| shown.eq_ignore_ascii_case(name))
    };
    command.get_positionals().find(is_meant)?.get_index()
}

/// The error, with a hint at the options to which the value could belong.
fn hinted<C: Parser>(mut error: clap::Error, command: &Command, args: &[OsString]) -> clap::Error {
    let Some(ContextValue::String(value)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    if value.starts_with('-') {
        return error;
    }
    // Options of a command to run are not this tool's, and are not respelt.
    if command.get_positionals().any(Arg::is_last_set) {
        let hint = StyledStr::from(format!("write -- before {value}, if it is the command to run"));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint]));
        return error;
    }
    let Some(at) = args.iter().position(|arg| arg == OsStr::new(value)) else { return error };
    let has_room = |option: &&Arg| {
        let is_common = COMMON.contains(&option.get_id().as_str());
        option.get_long().is_some() && option.get_action().takes_values() && !is_common
    };
    let written = command.get_opts().filter(has_room).filter_map(|option| {
        let long = option.get_long()?;
        let mut tried = args.to_vec();
        tried[at] = format!("--{long}={value}").into();
        C::try_parse_from(&tried).ok()?;
        Some(match option.get_short() {
            Some(short) => format!("-{short} {value}"),
            None => format!("--{long} {value}"),
        })
    });
    let written: Vec<String> = written.take(MOST).collect();
    if written.is_empty() {
        return error;
    }
    let hint = StyledStr::from(format!("did you mean {}?", written.join(" or ")));
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint]));
    error
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::*;

    #[derive(Debug, Parser, PartialEq, Eq)]
    #[command(name = "tool")]
    enum Tool {
        Make {
            #[arg(value_name = "NAME")]
            series: String,
            pattern: String,
            #[arg(short = 'n', long)]
            count: Option<u64>,
            #[arg(long)]
            gapless: bool,
        },
        Read {
            uids: Vec<u64>,
        },
        Take {
            #[arg(short = 'n', long)]
            count: Option<u64>,
            #[arg(long)]
            tag: Option<String>,
            #[arg(long)]
            db: Option<String>,
        },
    }

    fn parsed(line: &str) -> Result<Tool, clap::Error> {
        let args: Vec<OsString> =
            ["tool"].into_iter().chain(line.split(' ')).map(Into::into).collect();
        parsed_from(&args)
    }

    #[test]
    fn an_argument_may_be_named() {
        let made = |count, gapless| Tool::Make {
            series: "a".to_owned(),
            pattern: "p".to_owned(),
            count,
            gapless,
        };
        for (line, expected) in [
            ("make a p", made(None, false)),
            ("make a --pattern p", made(None, false)),
            ("make --pattern p a", made(None, false)),
            ("make --pattern=p --name=a", made(None, false)),
            ("make --series a --pattern p --gapless", made(None, true)),
            ("make --gapless -n 5 --pattern p a", made(Some(5), true)),
            ("make a --count=5 --pattern p", made(Some(5), false)),
            ("make --Count=5 --PATTERN p a", made(Some(5), false)),
            ("read --uid 5", Tool::Read { uids: vec![5] }),
            ("read --uids 5 6 7", Tool::Read { uids: vec![5, 6, 7] }),
        ] {
            assert_eq!(parsed(line).map_err(|error| error.to_string()), Ok(expected), "{line}");
        }
    }

    #[test]
    fn what_is_still_wrong_is_told_as_it_was_written() {
        for (line, said) in [
            ("make a --pattern", "unexpected argument '--pattern'"),
            ("make a --patern p", "unexpected argument '--patern'"),
            ("make a --pattern p q", "unexpected argument '--pattern'"),
            ("read --uid x", "invalid value 'x'"),
            ("take --tags x", "unexpected argument '--tags'"),
            ("take orders", "did you mean --tag orders?"),
            ("take -n 5 orders", "did you mean --tag orders?"),
            ("take 5", "did you mean -n 5 or --tag 5?"),
            ("read 5 x", "invalid value 'x'"),
        ] {
            let error = parsed(line).unwrap_err().to_string();
            assert!(error.contains(said), "{line}: {error}");
        }
    }
}
