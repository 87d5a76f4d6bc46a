//! Options of the command line in other spellings.

use std::ffi::OsString;

use clap::{Arg, Command};

use crate::variables::find_spelling;

/// The long names of all options of `command` and its subcommands.
#[must_use]
pub fn long_names(command: &Command) -> Vec<&str> {
    let own = command.get_arguments().filter_map(Arg::get_long);
    own.chain(command.get_subcommands().flat_map(long_names)).collect()
}

/// `args` with the names of options as `command` spells them: `--max-lead` for `--max_lead`,
/// `--max.lead`, `--maxLead` and `--MAX-LEAD`. What comes after `--` stays as it is.
#[must_use]
pub fn normalize_options(
    command: &Command,
    args: impl IntoIterator<Item = OsString>,
) -> Vec<OsString> {
    let longs = long_names(command);
    let mut is_over = false;
    let respelt = |arg: OsString| {
        is_over |= arg == "--";
        let Some(option) = arg.to_str().and_then(|arg| arg.strip_prefix("--")) else { return arg };
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option, None),
        };
        match find_spelling(name, longs.iter().copied()) {
            Some(long) if !is_over && long != name => match value {
                Some(value) => format!("--{long}={value}").into(),
                None => format!("--{long}").into(),
            },
            _ => arg,
        }
    };
    args.into_iter().map(respelt).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_respelt_and_nothing_else_is() {
        let take = Command::new("take").arg(Arg::new("lead").long("max-lead"));
        let command = Command::new("x").arg(Arg::new("db").long("db")).subcommand(take);
        for (line, expected) in [
            ("x --DB a take --maxLead 1m", "x --db a take --max-lead 1m"),
            ("x take --max_lead=1m_a", "x take --max-lead=1m_a"),
            ("x take --max.lead=", "x take --max-lead="),
            ("x take --MAX-LEAD=1=2", "x take --max-lead=1=2"),
            ("x take --max-lead=1m", "x take --max-lead=1m"),
            ("x take --max-leads=1m -db maxLead", "x take --max-leads=1m -db maxLead"),
            ("x take -- --maxLead --", "x take -- --maxLead --"),
        ] {
            let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
            assert_eq!(normalize_options(&command, words(line)), words(expected));
        }
    }
}
