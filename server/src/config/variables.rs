//! Environment variables that look like options of the service but are not.

use std::env;
use std::ffi::{OsStr, OsString};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command, CommandFactory};
use uidring_args::{is_near, is_variable, nearest, normalized};

use crate::config::options::Options;

/// The prefix of the service's variables.
const PREFIX: &str = "UIDRING_SERVER_";
/// The prefix of the tool's variables.
const PREFIX_OF_TOOL: &str = "UIDRING_";

/// The options that variables name in another spelling than clap knows, such as
/// `uidring.server.max-body`, as arguments. Those that are set as clap knows them are left out.
pub(crate) fn normalized_arguments(command: &Command, set: &ArgMatches) -> Vec<OsString> {
    use ValueSource::{CommandLine, EnvVariable};
    let argument = |arg: &Arg| {
        let variable = arg.get_env()?;
        if let Some(CommandLine | EnvVariable) = set.value_source(arg.get_id().as_str()) {
            return None;
        }
        let mut argument = OsString::from(format!("--{}=", arg.get_long()?));
        argument.push(uidring_args::variable(variable.to_str()?)?);
        Some(argument)
    };
    command.get_arguments().filter_map(argument).collect()
}

/// Whether the variable `name` is another spelling of `known`, and the only one of it.
fn is_in_force(name: &str, known: &str) -> bool {
    normalized(name) == normalized(known)
        && env::var_os(known).is_none()
        && uidring_args::variable(known).is_some()
}

/// A warning for each variable that was probably meant for the service.
pub(crate) fn mistaken(options: &Options) -> Vec<String> {
    let command = Options::command();
    // This variable belongs to the tool, and is probably meant for it if the service has its own.
    let is_the_tools = |name: &str| name == "UIDRING_DB" && options.db.is_some();
    uidring_args::mistaken(
        |name, value| {
            if is_the_tools(name) { None } else { mistake(&command, name, value) }
        },
    )
}

fn mistake(command: &Command, name: &str, value: &OsStr) -> Option<String> {
    let all = || command.get_arguments().filter_map(Arg::get_env).filter_map(|env| env.to_str());
    let upper = name.to_uppercase();
    let counts = |known| is_variable(name, known) || is_in_force(name, known);
    if all().any(counts) || is_of_kubernetes(name, value) {
        return None;
    }
    let has_prefix = upper.starts_with(PREFIX);
    let meant = if let Some(known) = all().find(|known| normalized(name) == normalized(known)) {
        // It counts only where it is the one spelling of it.
        Some(known)
    } else if has_prefix {
        nearest(&upper, all())
    } else {
        // For example UIDRING_LISTEN or UIDRING_SERVR_LISTEN.
        let option = upper.strip_prefix(PREFIX_OF_TOOL);
        let is_short = |known: &&str| option.is_some() && known.strip_prefix(PREFIX) == option;
        let is_near = |known: &&str| is_near(&upper, known, 2);
        all().find(is_short).or_else(|| all().find(is_near))
    };
    match meant {
        Some(known) => Some(uidring_args::meant(name, known)),
        None if has_prefix => {
            Some(format!("the variable {name} has no effect; --help lists those that have"))
        }
        None => None,
    }
}

/// Whether Kubernetes set the variable. For a Kubernetes service called uidring-server it sets
/// `UIDRING_SERVER_SERVICE_HOST`, `UIDRING_SERVER_PORT_8080_TCP_ADDR` and so on in each container.
fn is_of_kubernetes(name: &str, value: &OsStr) -> bool {
    let value = value.to_string_lossy();
    let is_address = ["tcp://", "udp://", "sctp://"].iter().any(|begin| value.starts_with(begin));
    let has_port = name
        .split_once("_PORT_")
        .is_some_and(|(_, rest)| rest.starts_with(|first: char| first.is_ascii_digit()));
    is_address || has_port || name.contains("_SERVICE_HOST") || name.contains("_SERVICE_PORT")
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use clap::CommandFactory;

    use super::mistake;
    use crate::config::options::Options;

    #[test]
    fn a_misspelt_variable_has_a_nearest() {
        let command = Options::command();
        for (name, value, expected) in [
            ("UIDRING_SERVER_LISTEN", "x", None),
            ("UIDRING_SERVER_LISTE", "x", Some("did you mean UIDRING_SERVER_LISTEN?")),
            ("UIDRING_SERVER_MAXBODY", "x", Some("did you mean UIDRING_SERVER_MAX_BODY?")),
            ("UIDRING_SERVR_LISTEN", "x", Some("did you mean UIDRING_SERVER_LISTEN?")),
            ("UIDRING_LISTEN", "x", Some("did you mean UIDRING_SERVER_LISTEN?")),
            ("UIDRING_DB", "x", Some("did you mean UIDRING_SERVER_DB?")),
            ("UIDRING_SERVER_COLOUR_OF_THE_PAGE", "x", Some("--help lists those that have")),
            ("UIDRING_SERVER_PORT", "8080", Some("")),
            ("UIDRING_SERVER_PORT", "tcp://10.0.0.1:8080", None),
            ("UIDRING_SERVER_SERVICE_HOST", "10.0.0.1", None),
            ("UIDRING_SERVER_SERVICE_PORT_HTTP", "8080", None),
            ("UIDRING_SERVER_PORT_8080_TCP_ADDR", "10.0.0.1", None),
            ("UIDRING_TEST_POSTGRES", "x", None),
            ("LISTEN", "x", None),
        ] {
            let said = mistake(&command, name, OsStr::new(value));
            assert_eq!(said.is_some(), expected.is_some(), "{said:?}");
            let (said, expected) = (said.unwrap_or_default(), expected.unwrap_or_default());
            assert!(said.ends_with(expected), "{name}: {said}");
        }
    }
}
