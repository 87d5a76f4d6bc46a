//! The process whose power is cut: it calls a SQLite store and a state file, and tells each call
//! and what it gave on its standard output.
//!
//! ```text
//! power-cut-worker FOLDER SEED CALLS [alone]
//! ```
//!
//! A worker that is alone also uses the state file, which one process may have, and may put the
//! database into WAL mode, which needs it for itself.
#![allow(missing_docs)]

mod calls;

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use calls::{Caller, Outcome, with_causes};
use fastrand::Rng;
use uidring::Store;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let mut out = io::stdout().lock();
    // One write a line, so that two processes may share the pipe.
    let mut tell = |line: &str| {
        let written = out.write_all(format!("{line}\n").as_bytes());
        // Without a reader nobody hears what is given.
        assert!(written.and_then(|()| out.flush()).is_ok(), "{line}");
    };
    match run(&arguments, &mut tell) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tell(&format!("broken {}", with_causes(&*error).replace('\n', " ")));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String], tell: &mut dyn FnMut(&str)) -> Outcome {
    let [folder, seed, calls, rest @ ..] = arguments else { return Err("too few words".into()) };
    let (folder, seed, calls) = (Path::new(folder), seed.parse()?, calls.parse::<u32>()?);
    let mut rng = Rng::with_seed(seed);
    let is_alone = !rest.is_empty();
    let database = folder.join("ids/uidring.db");
    if is_alone && rng.u8(..4) == 0 && database.metadata().is_ok_and(|found| found.len() > 0) {
        tell("do wal");
        put_into_wal_mode(&database)?;
    }
    let state = folder.join("state/uidring.state");
    let state = is_alone.then_some(state.as_path());
    let mut caller = Caller::open(&Store::open(&database)?, state, rng.u64(..), tell)?;
    if is_alone {
        caller.tell_tags()?;
    }
    for _ in 0..calls {
        caller.step()?;
    }
    Ok(())
}

/// As another program might. The next call puts it back, which is a checkpoint.
fn put_into_wal_mode(database: &Path) -> Result<(), Box<dyn Error>> {
    let file = rusqlite::Connection::open(database)?;
    let mode: String = file.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode == "wal" { Ok(()) } else { Err(mode.into()) }
}
