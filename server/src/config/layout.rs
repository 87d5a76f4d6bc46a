//! How the service shows the options of [`LayoutArgs`](uidring_args::LayoutArgs).

use clap::Arg;

/// The option `arg` with the service's heading and variable, if it is one of the layout's.
pub(crate) fn as_of_service(arg: Arg) -> Arg {
    let arg = match arg.get_id().as_str() {
        "preset" => {
            let arg = arg.env("UIDRING_SERVER_PRESET").hide_possible_values(false);
            arg.help("A layout that is known by a name")
        }
        "layout" => arg.env("UIDRING_SERVER_LAYOUT"),
        "order" => {
            let arg = arg.env("UIDRING_SERVER_ORDER").hide_possible_values(false);
            arg.help("Which field is on top")
        }
        "epoch" => arg.env("UIDRING_SERVER_EPOCH"),
        "tick" => arg.env("UIDRING_SERVER_TICK"),
        _ => return arg,
    };
    arg.help_heading("Time-ordered ids")
}
