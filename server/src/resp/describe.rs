//! What the service tells of itself and of its commands.

use crate::commands::{Command, CommandGroup, CommandRow};
use crate::resp::codec::Arguments;
use crate::resp::refusal::Refusal;
use crate::resp::reply::Reply;

/// Answers `COMMAND`.
pub(crate) fn commands(arguments: Arguments<'_>, reply: &mut Reply) -> Result<(), Refusal> {
    let subcommand = arguments.get(1).unwrap_or_default().to_ascii_uppercase();
    match (subcommand.as_slice(), arguments.len()) {
        (_, 1) | (b"INFO", 2) => {
            reply.array(Command::ALL.len());
            for command in Command::ALL {
                row(command, reply);
            }
        }
        (b"COUNT", 2) => reply.integer(Command::ALL.len()),
        (b"LIST", 2) => {
            reply.set(Command::ALL.len());
            for command in Command::ALL {
                reply.bulk(command.row().name.to_ascii_lowercase().as_bytes());
            }
        }
        (b"INFO", _) => {
            reply.array(arguments.len() - 2);
            for name in arguments.from(2) {
                match Command::find(name) {
                    Some(command) => row(command, reply),
                    None => reply.null_array(),
                }
            }
        }
        (b"DOCS", 2) => docs(&Command::ALL, reply),
        (b"DOCS", _) => {
            let named: Vec<Command> = arguments.from(2).filter_map(Command::find).collect();
            docs(&named, reply);
        }
        _ => {
            let advice = "COMMAND has COUNT, DOCS, INFO and LIST";
            return Err(Refusal::argument(arguments.get(1).unwrap_or_default(), advice));
        }
    }
    Ok(())
}

/// The row of a command, in the form of Redis 7.
fn row(command: Command, reply: &mut Reply) {
    let CommandRow { name, least, most, group, .. } = *command.row();
    reply.array(10);
    reply.bulk(name.to_ascii_lowercase().as_bytes());
    // With its name. Below zero, it may have more.
    let arity = i64::try_from(least + 1).unwrap_or(1);
    reply.integer(if least == most { arity } else { -arity });
    let flags: &[&str] = match (group, command) {
        (CommandGroup::Gives, _) => &["write", "fast"],
        (CommandGroup::Looks, _) => &["readonly", "fast"],
        (_, Command::Auth | Command::Hello | Command::Reset | Command::Quit) => {
            &["loading", "stale", "fast", "no_auth"]
        }
        _ => &["loading", "stale", "fast"],
    };
    reply.set(flags.len());
    for flag in flags {
        reply.simple(flag);
    }
    // The places of the keys: the first argument is the tag, the series or the pool, and EXISTS has
    // many.
    let has_keys = matches!(group, CommandGroup::Gives) || is_about_keys(command);
    let key = i64::from(has_keys && least > 0);
    reply.integer(key);
    reply.integer(if command == Command::Exists { -1 } else { key });
    reply.integer(key);
    // Categories of rights, tips, specifications of keys and subcommands.
    reply.set(0);
    (0..3).for_each(|_| reply.array(0));
}

fn is_about_keys(command: Command) -> bool {
    matches!(command, Command::Exists | Command::Type)
}

/// The documentation of commands, in the form of Redis 7. redis-cli completes by it.
fn docs(commands: &[Command], reply: &mut Reply) {
    reply.map(commands.len());
    for command in commands {
        let CommandRow { name, usage, group, summary, .. } = *command.row();
        reply.bulk(name.to_ascii_lowercase().as_bytes());
        let group = match group {
            CommandGroup::Gives | CommandGroup::Looks => "generic",
            CommandGroup::Connection => "connection",
            CommandGroup::Server => "server",
            CommandGroup::Transactions => "transactions",
        };
        let usage = usage_of(usage);
        reply.map(3 + usize::from(!usage.is_empty()));
        reply.pair("summary", summary);
        reply.pair("since", env!("CARGO_PKG_VERSION"));
        reply.pair("group", group);
        if !usage.is_empty() {
            reply.bulk(b"arguments");
            reply.array(usage.len());
            for argument in usage {
                argument.write(reply);
            }
        }
    }
}

/// An argument of a command, as documentation shows it.
#[derive(Debug, PartialEq, Eq)]
struct Argument {
    name: &'static str,
    is_optional: bool,
}

impl Argument {
    fn write(&self, reply: &mut Reply) {
        reply.map(2 + usize::from(self.is_optional));
        reply.pair("name", self.name);
        reply.pair("type", "string");
        if self.is_optional {
            reply.bulk(b"flags");
            reply.array(1);
            reply.simple("optional");
        }
    }
}

/// The arguments in a usage such as `tag [count]`. Empty if it has parts within parts.
fn usage_of(usage: &'static str) -> Vec<Argument> {
    let is_plain = !usage.contains("...") && !usage.contains("]]");
    let mut rest = if is_plain { usage } else { "" };
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (part, after, is_optional) = if let Some(inside) = rest.strip_prefix('[') {
            let (part, after) = inside.split_once(']').unwrap_or((inside, ""));
            (part, after.trim_start(), true)
        } else {
            let (part, after) = rest.split_once(' ').unwrap_or((rest, ""));
            (part, after, false)
        };
        found.push(Argument { name: part, is_optional });
        rest = after;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usage_has_its_arguments() {
        let argument = |name, is_optional| Argument { name, is_optional };
        assert_eq!(usage_of("tag [count]"), [argument("tag", false), argument("count", true)]);
        assert_eq!(
            usage_of("[username] token"),
            [argument("username", true), argument("token", false)]
        );
        for none in ["", "key [key ...]", "[a [b]]"] {
            assert_eq!(usage_of(none), []);
        }
    }
}
