//! Cuts the power under the stores, at random points of random calls, on a disk that drops and
//! tears what was not synced. No tick and no number may come twice, and no store may be lost.
//!
//! ```sh
//! UIDRING_POWER_CUTS=10000 cargo test --release -p uidring-power-cut -- --nocapture files
//! UIDRING_SERVER_POWER_CUTS=200 cargo test -p uidring-power-cut -F servers -- \
//!     --include-ignored --nocapture servers::postgres servers::mariadb
//! ```
#![cfg(target_os = "linux")]
#![cfg_attr(not(feature = "servers"), allow(dead_code))] // what only the servers' cuts use
#![allow(missing_docs, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod account;
#[path = "../calls.rs"]
mod calls;
mod disk;
mod files;
mod life;
mod log;
mod machine;
#[cfg(feature = "servers")]
mod servers;

use std::env;

use calls::CALLS;
use disk::Lie;
use fastrand::Rng;
use files::FileMachine;
use machine::Found;

/// The number in an environment variable.
fn number<T: std::str::FromStr>(variable: &str) -> Option<T> {
    env::var(variable).ok().map(|text| text.parse().ok().expect(variable))
}

fn seed() -> u64 {
    number("UIDRING_POWER_CUT_SEED").unwrap_or_else(|| fastrand::u64(..1_000_000))
}

fn report(name: &str, seed: u64, found: &Found) {
    let all: u32 = found.cuts.values().sum();
    let wrong = found.wrong().len();
    println!("{name}: {all} cuts from seed {seed}, {wrong} went wrong; {:?}", found.cuts);
}

/// Cuts the power of machines with files.
fn cut(cuts: u32, lie: Lie, is_over: fn(&Found) -> bool) -> Found {
    let folder = tempfile::tempdir().unwrap();
    let (layer, seed) = (life::compile_layer(folder.path()), seed());
    let found = machine::cut(seed, cuts, |rng| FileMachine::new(&layer, rng, lie), is_over);
    report(&format!("{lie:?}"), seed, &found);
    found
}

/// What every run of the files' cuts makes.
const FEW: u32 = 400;

#[test]
fn files() {
    let found = cut(number("UIDRING_POWER_CUTS").unwrap_or(FEW), Lie::None, |_| false);
    assert!(found.wrong().is_empty(), "{}", found.wrong().join("\n"));
    for call in CALLS {
        assert!(found.cuts.contains_key(call), "no cut in {call}: {:?}", found.cuts);
    }
}

/// A disk that acknowledges syncs and does not make them gives numbers twice, and the test sees it.
#[track_caller]
fn must_come_twice(lie: Lie) {
    let found = cut(FEW, lie, |found| !found.twice.is_empty());
    assert!(!found.twice.is_empty(), "nothing came twice; broken: {:#?}", found.broken);
    println!("{}", found.twice[0]);
}

#[test]
fn without_the_syncs_of_the_database_ids_come_twice() {
    must_come_twice(Lie::All("ids"));
}

#[test]
fn without_the_syncs_of_the_databases_folder_ids_come_twice() {
    must_come_twice(Lie::Names("ids"));
}

#[test]
fn without_the_syncs_of_the_state_file_ticks_come_twice() {
    must_come_twice(Lie::All("state/"));
}

#[test]
fn without_the_syncs_of_the_state_files_folder_ticks_come_twice() {
    must_come_twice(Lie::Names("state"));
}

#[test]
fn the_layer_sees_all_that_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let layer = life::compile_layer(folder.path());
    let mut machine = FileMachine::new(&layer, Rng::with_seed(seed()), Lie::None);
    for _ in 0..20 {
        machine.check_the_layer();
    }
}
