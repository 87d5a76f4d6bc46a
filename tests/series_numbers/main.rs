//! Numbers of series from real stores, as programs meet them.
#![cfg(all(feature = "series", feature = "sqlite"))]
#![allow(missing_docs, clippy::panic, clippy::unwrap_used)]

mod batches;
mod close;
#[cfg(all(feature = "mysql", feature = "postgres"))]
mod connections;
#[cfg(all(feature = "mysql", feature = "postgres"))]
#[path = "../common/databases/mod.rs"]
mod databases;
#[cfg(all(feature = "mysql", feature = "postgres"))]
#[path = "../common/driver_rows.rs"]
mod driver_rows;
#[path = "../common/folder.rs"]
mod folder;
mod forecast;
mod full;
mod gapless;
mod gapless_many;
#[cfg(all(feature = "mysql", feature = "postgres"))]
mod gapless_mysql;
mod gapless_with;
mod midnight;
mod old_copies;
mod restart;
#[cfg(all(feature = "mysql", feature = "postgres"))]
mod savepoints;
mod scopes;
#[cfg(all(feature = "mysql", feature = "postgres"))]
mod servers;
mod shared_file;
mod takes;
#[cfg(all(feature = "mysql", feature = "postgres"))]
mod turns;

use std::time::{Duration, SystemTime};

use uidring::Store;
use uidring::clock::ManualClock;
use uidring::series::{Series, SeriesDefinition, SeriesError};

/// A clock at this time of UTC, given as jiff reads it.
fn clock(at: &str) -> ManualClock {
    ManualClock::new(time(at))
}

fn time(at: &str) -> SystemTime {
    let at: jiff::Timestamp = at.parse().unwrap();
    at.into()
}

/// The series of a store, by a clock.
fn series(store: &Store, clock: &ManualClock) -> Series {
    Series::builder().store(store).clock(clock.clone()).build().unwrap()
}

fn definition(pattern: &str) -> SeriesDefinition {
    SeriesDefinition::new(pattern).unwrap()
}

/// A file with this clock's series in it, until the folder is dropped.
fn file() -> (tempfile::TempDir, Store) {
    let folder = folder::folder();
    let store = Store::open(folder.path().join("uidring.db")).unwrap();
    (folder, store)
}

/// What the takes of a series say.
fn texts(
    takes: impl Iterator<Item = Result<uidring::series::SeriesNumber, SeriesError>>,
) -> Vec<String> {
    takes.map(|number| number.unwrap().to_string()).collect()
}

const SOON: Duration = Duration::from_secs(30);

/// What a call returns that must not wait for a database that does not answer.
fn in_time<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> T {
    let (said, answer) = std::sync::mpsc::channel();
    std::thread::spawn(move || said.send(call()));
    answer.recv_timeout(SOON).unwrap_or_else(|_| panic!("it waits for the database"))
}

/// Waits until something holds that is done on another thread.
fn until(what: &str, holds: impl Fn() -> bool) {
    let since = std::time::Instant::now();
    while !holds() {
        assert!(since.elapsed() < SOON, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
