//! Outages: a database is locked by another program, or is away.

use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use rusqlite::Connection;

use crate::state::{FOREVER, LEASE, State};

/// How long it is until the next outage.
const QUIET: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(6)];
/// How long an outage lasts: often shorter than a lease, and sometimes longer.
const SHORTEST: Duration = Duration::from_millis(200);
const LONGEST: Duration = LEASE.saturating_mul(6);

/// Disturbs both databases, one at a time. No outage is longer than a sixth of `length`.
pub fn disturb(state: &State, files: [&Path; 2], length: Duration) {
    let mut rng = fastrand::Rng::new();
    let mut between = |range: [Duration; 2]| {
        let [from, to] = range.map(|one| u64::try_from(one.as_millis()).unwrap_or(u64::MAX));
        Duration::from_millis(rng.u64(from..=to.max(from)))
    };
    let most = length / 6;
    for turn in 0_usize.. {
        state.pause(between(QUIET.map(|one| one.min(most))));
        if !state.goes_on() {
            break;
        }
        let (file, time) = (files[turn % 2], between([SHORTEST, LONGEST.min(most)]));
        let done = if turn % 4 < 2 {
            lock(file, || state.pause(time))
        } else {
            take_away(file, || state.pause(time))
        };
        state.check(done.map_err(|error| format!("{}: {error}", file.display())));
        state.counts.outages.add(1);
    }
}

/// Keeps `file` locked while `wait` runs.
fn lock(file: &Path, wait: impl FnOnce()) -> Result<(), String> {
    let text = |error: rusqlite::Error| error.to_string();
    let locking = Connection::open(file).map_err(text)?;
    locking.busy_timeout(FOREVER).map_err(text)?;
    locking.execute_batch("BEGIN EXCLUSIVE").map_err(text)?;
    wait();
    locking.execute_batch("ROLLBACK").map_err(text)
}

/// Moves `file` away while `wait` runs.
fn take_away(file: &Path, wait: impl FnOnce()) -> Result<(), String> {
    let away = file.with_extension("away");
    let text = |error: io::Error| error.to_string();
    // Locked, so that it moves between two transactions: a journal does not move with its file.
    let mut moved = Ok(());
    lock(file, || moved = fs::rename(file, &away))?;
    moved.map_err(text)?;
    wait();
    if file.exists() {
        return Err("another file was made in its place".to_owned());
    }
    fs::rename(&away, file).map_err(text)
}
