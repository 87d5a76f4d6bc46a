//! `uidring`, the command-line tool: takes UIDs, decodes them, and shows which workers made them.
//!
//! [`commands`] has a file or a folder for each subcommand. They read [`args`], take ids in
//! [`run`], and write with [`text`].

mod args;
mod commands;
mod run;
mod text;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use uidring::Audience;

use crate::args::{lenient, variables};
use crate::commands::{
    bench, layout, mask, pages, parse, plan, series, sql, status, tags, take, workers,
};
use crate::text::Failure;

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Unique, positive, time-ordered 64-bit ids.
#[derive(Parser)]
#[command(
    name = "uidring",
    // Also where the program's file is uidring.exe.
    bin_name = "uidring",
    version,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = "\
Examples:
  uidring take -n 5                      five new UIDs
  uidring take -n 1000000 > uids.txt     a million, one a line
  uidring parse 240475639809867779       decode a UID
  uidring plan --rate 5k --nodes 20      which layout to choose
  uidring status --watch --rate 20k      a generator under load
  uidring take --tag orders              a dense number of the tag orders
  uidring series next orders             a number that people see
  uidring <COMMAND> --help               more of each"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Take(take::Args),
    Parse(parse::Args),
    Mask(mask::Mask),
    Unmask(mask::Unmask),
    Workers(workers::Args),
    Tags(tags::Args),
    Series(series::Args),
    Layout(layout::Args),
    Plan(plan::Args),
    Sql(sql::Args),
    Status(status::Args),
    Bench(bench::Args),
    Completions(pages::Completions),
    Man(pages::Manual),
}

fn main() -> ExitCode {
    if let Some(done) = workers::role() {
        return done;
    }
    Audience::Tool.set();
    variables::warn();
    let done = lenient::parsed::<Cli>().map_err(Failure::from).and_then(|cli| match cli.command {
        Command::Take(args) => args.run(),
        Command::Parse(args) => args.run(),
        Command::Mask(args) => args.run(),
        Command::Unmask(args) => args.run(),
        Command::Workers(args) => args.run(),
        Command::Tags(args) => args.run(),
        Command::Series(args) => args.run(),
        Command::Layout(args) => args.run(),
        Command::Plan(args) => args.run(),
        Command::Sql(args) => args.run(),
        Command::Status(args) => args.run(),
        Command::Bench(args) => args.run(),
        Command::Completions(args) => args.run(Cli::command()),
        Command::Man(args) => args.run(Cli::command()),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
