//! `uidring-server`: UIDs of time and dense numbers over HTTP, for programs in any language.
//!
//! [`options`] describes what can be set. [`app`] is what requests share, and [`start`] brings it
//! to life once the database answers. [`server`] accepts connections, and [`http`] answers.

mod access;
mod app;
mod connection;
mod counters;
mod db;
mod events;
mod http;
mod layout;
mod length;
mod limits;
mod loads;
mod options;
mod options_file;
mod rates;
mod requests;
mod server;
mod start;
mod tls;
mod tokens;
mod watch;

use std::io::Write;
use std::process::ExitCode;

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::events::Recorder;
use crate::options::{Log, Options};

/// What options that make no sense end with, as clap has it.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let options = match options_file::read(std::env::args_os()) {
        Ok(options) => options,
        Err(refusal) => return refusal.report(),
    };
    match run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(End { code, problem }) => {
            let _ = writeln!(std::io::stderr(), "uidring-server: {problem}");
            ExitCode::from(code)
        }
    }
}

/// Why the program ends before its time.
struct End {
    code: u8,
    problem: String,
}

fn run(options: Options) -> Result<(), End> {
    let wrong = |problem| End { code: USAGE, problem };
    let checked = options.check().map_err(wrong)?;
    if options.check {
        let _ = writeln!(std::io::stdout(), "the options are good");
        return Ok(());
    }
    log_to_stderr(options.log);
    server::serve(options, checked).map_err(|problem| End { code: 1, problem })
}

fn log_to_stderr(format: Log) {
    let subscriber =
        tracing_subscriber::fmt().with_max_level(LevelFilter::INFO).with_writer(std::io::stderr);
    match format {
        Log::Text => subscriber.with_ansi(false).finish().with(Recorder).init(),
        Log::Json => subscriber.json().flatten_event(true).finish().with(Recorder).init(),
    }
}
