//! How the service shows the options of [`LayoutArgs`](uidring_args::LayoutArgs) and
//! [`WorkerIdArgs`](uidring_args::WorkerIdArgs).

use clap::Arg;

/// Gives a shared option the service's heading and variable. Leaves other options as they are.
pub(crate) fn with_variable(arg: Arg) -> Arg {
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
        "lease" => arg.env("UIDRING_SERVER_LEASE"),
        "partition" => arg.env("UIDRING_SERVER_PARTITION"),
        "worker_ids" => arg.env("UIDRING_SERVER_WORKER_IDS"),
        _ => return arg,
    };
    arg.help_heading("Time-ordered ids")
}
