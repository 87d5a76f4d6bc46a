//! `uidring workers lend`: runs a command with a worker id that nobody else has meanwhile.

#[cfg(unix)]
mod child;
#[cfg(unix)]
mod deadline;
#[cfg(unix)]
mod event;
#[cfg(unix)]
mod group;
#[cfg(unix)]
mod run;
#[cfg(unix)]
mod signals;
#[cfg(unix)]
mod supervisor;
#[cfg(unix)]
mod terminal;
#[cfg(unix)]
mod watcher;
mod words;

use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

use uidring_args::{LoanArgs, quantity};

use crate::args::db::DbArg;
use crate::commands::workers::lend::words::{Split, Variable, names_datacenter, names_worker};
use crate::text::Failure;
#[cfg(unix)]
use crate::text::print_error;

/// Run a command with a worker id that no other command of the pool has meanwhile
///
/// For programs with a Snowflake generator of their own, which have to be told a worker id. The id
/// is one of the pool's, from 1 on, and is told by a variable or in the command's arguments. It is
/// renewed while the command runs, and returned when nothing of its process group is left.
///
/// If it cannot be renewed, the command gets SIGTERM at two thirds of the lease, and what is left
/// of it is killed before the end of the lease. That also holds if this process is stopped or
/// killed. So the command has to stay in its process group: it must not become a daemon.
///
/// The exit status is the command's own, or 128 and the number of the signal that ended it. It is
/// 124 if the id was lost, 75 if the pool has no free id, 126 or 127 if the command cannot be run
/// or is not there, and 125 if no id was lent for another reason.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  uidring workers lend --pool shop --env WORKER_ID -- java -jar shop.jar
  uidring workers lend --pool shop --bits 8 -- ./shop --node {worker}
  uidring workers lend --pool a --datacenter-bits 5 -- a {datacenter} {worker}")]
pub(crate) struct Args {
    /// The name of the pool. The first use of a name makes the pool
    #[arg(long, value_name = "NAME")]
    pool: String,

    /// How many bits the ids of the pool have, as long as it exists: 1 to 22
    #[arg(long, value_name = "N", default_value = "10", value_parser = bits)]
    bits: u8,

    #[command(flatten)]
    loan: LoanArgs,

    /// Tell the command its worker id by this variable, or a text in which {worker} and
    /// {datacenter} stand for it. May be given more than once
    #[arg(long = "env", value_name = "NAME[=TEXT]", value_parser = Variable::parse)]
    variables: Vec<Variable>,

    /// Split the id in two: {datacenter} is its upper N bits, and {worker} the others
    #[arg(long, value_name = "N", value_parser = bits)]
    datacenter_bits: Option<u8>,

    /// Print nothing but what goes wrong
    #[arg(short, long)]
    quiet: bool,

    #[command(flatten)]
    db: DbArg,

    /// The command and its arguments, in which {worker} and {datacenter} stand for the id
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

fn bits(text: &str) -> Result<u8, String> {
    quantity::count_of(text, "bits of an id", 1..=22)
}

impl Args {
    #[cfg(unix)]
    pub(crate) fn run(self) -> Result<(), Failure> {
        let split = self.split()?;
        run::run(&self, split)
    }

    #[cfg(not(unix))]
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.split()?;
        Err(Failure::Failed(
            "this system has no signals to end a command with; lend a worker id in the program \
             itself, or from the service"
                .to_owned(),
        ))
    }

    /// Says how it goes, unless nobody wants to know.
    #[cfg(unix)]
    fn say(&self, sentence: &str) {
        if !self.quiet {
            print_error(sentence);
        }
    }

    /// How the id is told, if it is told at all.
    fn split(&self) -> Result<Split, Failure> {
        let usage = |problem: &str| Err(Failure::Usage(problem.to_owned()));
        let texts = self.command.iter().chain(self.variables.iter().map(|it| &it.text));
        let names = |name: fn(&OsStr) -> bool| texts.clone().any(|text| name(text));
        if self.datacenter_bits.is_none() && names(names_datacenter) {
            return usage(
                "{datacenter} is the upper bits of the id: say how many with --datacenter-bits, \
                 such as 5",
            );
        }
        if !names(names_worker) {
            return usage(
                "the command is not told its worker id: name a variable with --env, or write \
                 {worker} where its arguments have the id",
            );
        }
        if self.datacenter_bits.is_some() && !names(names_datacenter) {
            return usage(
                "the command is told only a part of its id: write {datacenter} where it has the \
                 other one, as in --env DATACENTER={datacenter}",
            );
        }
        let datacenter_bits = self.datacenter_bits.unwrap_or(0);
        if datacenter_bits >= self.bits {
            return usage(&format!(
                "an id of {} bits has no {datacenter_bits} for the datacenter and some for the \
                 worker",
                self.bits
            ));
        }
        Ok(Split { datacenter_bits, bits: self.bits })
    }
}

/// What this process is to do as a part of a command that was lent an id, if it is one.
pub(crate) fn role() -> Option<ExitCode> {
    #[cfg(unix)]
    {
        let mut args = std::env::args_os().skip(1);
        let role = args.next()?;
        if role == watcher::ROLE {
            return Some(watcher::watch(args));
        }
        if role == child::ROLE {
            return Some(child::become_command(args));
        }
    }
    None
}
