//! `uidring-server`: time-ordered ids and dense numbers over HTTP, for programs in any language.
//!
//! `config` holds the options. `app` is the state that requests share, and `app::start` fills
//! it once the database answers. `net` accepts connections, `http` answers requests, and `resp`
//! the commands of Redis' clients.

mod app;
#[cfg(test)]
mod causes;
mod commands;
mod config;
#[cfg(fuzzing)]
pub mod fuzzing;
mod http;
mod net;
mod process;
mod resp;
mod routes;
mod security;
mod stats;
mod text;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::CommandFactory as _;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use uidring::Audience;

use crate::config::db::StoreFailure;
use crate::config::options::{Check, Log, Options};
use crate::process::end::{AWAY, USAGE};
use crate::process::events::Recorder;

/// Runs the service until it is asked to end: the whole of the program `uidring-server`.
#[must_use]
pub fn main() -> ExitCode {
    Audience::Service.set();
    let options = match config::options_file::read(std::env::args_os()) {
        Ok(options) => options,
        Err(refusal) => return refusal.report(),
    };
    match run(options) {
        Ok(()) => {
            process::output::end(None);
            ExitCode::SUCCESS
        }
        Err(Stopped { code, problem }) => {
            process::output::end(Some(&problem));
            ExitCode::from(code)
        }
    }
}

/// Why the program ends early.
struct Stopped {
    code: u8,
    problem: String,
}

fn run(options: Options) -> Result<(), Stopped> {
    let failed = |problem| Stopped { code: 1, problem };
    if let Some(what) = options.generate {
        let text = what.text(Options::command()).map_err(|error| failed(error.to_string()))?;
        return print(&text).map_err(failed);
    }
    let wrong = |problem| Stopped { code: USAGE, problem };
    let checked = options.check().map_err(wrong)?;
    let mistaken = config::variables::mistaken(&options);
    if let Some(check) = options.check {
        for sentence in mistaken {
            let _ = writeln!(io::stderr(), "uidring-server: {sentence}");
        }
        print_line("the options are good");
        if check == Check::All {
            let of = |unusable: StoreFailure| Stopped {
                code: if unusable.is_transient { AWAY } else { 1 },
                problem: unusable.problem,
            };
            let in_use = net::server::dry_run(&options).map_err(failed)?;
            let new = app::start::dry_run(&options, &checked).map_err(of)?;
            print_line("a start with the database would succeed");
            for sentence in in_use.into_iter().chain(new) {
                print_line(&sentence);
            }
        }
        return Ok(());
    }
    let (end, ended) = tokio::sync::watch::channel(None);
    process::output::begin(&end).map_err(failed)?;
    log_to_stderr(options.log);
    for sentence in mistaken {
        tracing::warn!("{sentence}");
    }
    process::threads::install_panic_hook();
    net::server::serve(options, checked, &end, ended).map_err(failed)
}

/// Writes the whole text to stdout, unless its reader has seen enough.
fn print(text: &str) -> Result<(), String> {
    let mut stdout = io::stdout();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write to stdout: {error}"))
        }
        _ => Ok(()),
    }
}

fn print_line(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

fn log_to_stderr(format: Log) {
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::INFO)
        .with_writer(|| process::output::Log);
    // The subscriber would otherwise report its own errors on stderr, and panic if that fails.
    let subscriber = subscriber.log_internal_errors(false);
    match format {
        Log::Text => subscriber.with_ansi(false).finish().with(Recorder).init(),
        Log::Json => subscriber.json().flatten_event(true).finish().with(Recorder).init(),
    }
}
