//! A storm over gapless numbers: programs store documents with numbers of two series, each in two
//! scopes, in transactions that are committed, rolled back whole or to a savepoint, given up, or
//! refused as deadlocks. They are killed, stopped and woken again, and servers crash and start
//! again, hang, and lose their connections. Whoever finds a series full gives it one more digit. At
//! the end the documents of each series and scope have the numbers from 1 to N, each once.
//!
//! ```sh
//! UIDRING_STORM_SEED=1 UIDRING_STORM_SECONDS=60 \
//!     cargo test --release --all-features --test gapless_storm -- --ignored --nocapture storm
//! ```
//!
//! Programs in other languages can join it: each line of `UIDRING_STORM_WRITERS` is a command,
//! which `sh` runs beside those of Rust, and which is killed and begun anew as they are. It finds
//! the address of the database in `UIDRING_STORM_DATABASE`, and a seed in
//! `UIDRING_STORM_CHILD_SEED`. Until its standard input ends, it takes numbers of the series
//! `invoices` and `receipts`, in the scopes `north` and `south`, and inserts what it has taken into
//! `document (series, scope, value, text, writer)`, in one transaction. `writer` is its language.
//! It ends with 0 unless it has found something wrong. `bindings/storm/gapless` has some.
#![cfg(all(
    target_os = "linux",
    feature = "mysql",
    feature = "postgres",
    feature = "series",
    feature = "sqlite"
))]
#![allow(missing_docs, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "../common/databases/mod.rs"]
mod databases;
#[path = "../common/driver_rows.rs"]
mod driver_rows;
#[path = "../common/takers.rs"]
mod takers;
mod writer;

use std::collections::BTreeMap;
use std::env;
use std::process::Command;
use std::time::Duration;

use databases::{OwnServer, Server};
use rusqlite::Connection;
use takers::{BadServer, Taker, disturb, number, storm_seconds, until_shown};
use uidring::Store;
use uidring::series::{Series, SeriesDefinition};

const DATABASE: &str = "UIDRING_STORM_DATABASE";
const SEED: &str = "UIDRING_STORM_CHILD_SEED";
/// More commands, one in each line.
const WRITERS: &str = "UIDRING_STORM_WRITERS";
const PROCESSES: usize = 4;
const SERIES: [&str; 2] = ["invoices", "receipts"];
const SCOPES: [&str; 2] = ["north", "south"];
const TIMEOUT: Duration = Duration::from_secs(2);

/// With so many digits.
fn definition(width: u32) -> SeriesDefinition {
    SeriesDefinition::new(&format!("{{scope}}/{{n:{width}}}")).unwrap().gapless()
}

/// Without a key, so that a number that comes twice is stored twice.
const CREATE: &str = "CREATE TABLE document (series VARCHAR(32), scope VARCHAR(32), value BIGINT, \
                      text VARCHAR(64), writer VARCHAR(32))";

/// Stores documents until its standard input ends.
#[test]
#[ignore = "a child process of the storm"]
fn child() {
    if let Ok(database) = env::var(DATABASE) {
        writer::write(&database, number(SEED, 0));
    }
}

#[test]
#[ignore = "takes minutes"]
fn storm_sqlite() {
    until_shown(|seconds| storm_for(seconds, None));
}

#[test]
#[ignore = "takes minutes; needs PostgreSQL's server"]
fn storm_postgres() {
    until_shown(|seconds| storm_for(seconds, Some(Server::Postgres)));
}

#[test]
#[ignore = "takes minutes; needs MariaDB's server"]
fn storm_mysql() {
    until_shown(|seconds| storm_for(seconds, Some(Server::MySql)));
}

/// Returns whether enough has happened.
fn storm_for(seconds: u64, kind: Option<Server>) -> bool {
    let seed = number("UIDRING_STORM_SEED", 1);
    println!("seed {seed}");
    let dir = tempfile::tempdir().unwrap();
    let mut server = kind.map(|kind| BadServer::new(OwnServer::start(kind)));
    let file = dir.path().join("uidring.db").display().to_string();
    let database = server.as_ref().map_or(file, |bad| bad.server.url());
    let series = Series::builder().store(&Store::open(&database).unwrap()).build().unwrap();
    for name in SERIES {
        series.create(name, definition(2)).unwrap();
    }
    match kind {
        Some(kind) => assert!(kind.script(&database, &format!("{CREATE};")).0),
        None => Connection::open(&database).unwrap().execute_batch(CREATE).unwrap(),
    }
    let mut rng = fastrand::Rng::with_seed(seed);
    let others = others();
    // Each place has always the same program.
    let start = |number: usize, place: usize| {
        let set = |command: &mut Command| {
            command.env(DATABASE, &database).env(SEED, number.to_string());
        };
        match place.checked_sub(PROCESSES) {
            None => Taker::start(number, set),
            Some(other) => Taker::start_command(number, &others[other], set),
        }
    };
    let places = (PROCESSES + others.len(), PROCESSES);
    let counts = disturb(seconds, &mut rng, server.as_mut(), places, start);

    let (documents, writers) = documents(kind, &database);
    for name in SERIES {
        let generator = series.get(name).unwrap();
        for scope in SCOPES {
            let key = (name.to_owned(), scope.to_owned());
            let values = documents.get(&key).map_or(&[][..], Vec::as_slice);
            for (index, (value, text)) in values.iter().enumerate() {
                let expected = index as u64 + 1;
                assert!(*value >= expected, "seed {seed}: {value} of {name}, {scope} came twice");
                assert!(*value == expected, "seed {seed}: {name}, {scope} has a gap at {expected}");
                let parsed = generator.parse(text).unwrap();
                assert_eq!((parsed.value(), parsed.scope()), (*value, Some(scope)));
            }
            let counters = generator.scope(scope).counters().unwrap();
            let last = counters.iter().find(|counter| counter.scope == scope);
            let last = last.map_or(0, |counter| counter.last);
            assert_eq!(last, values.len() as u64, "seed {seed}: {name}, {scope} ends with a gap");
        }
    }
    let all: usize = documents.values().map(Vec::len).sum();
    println!(
        "seed {seed}: {all} documents of {} series and scopes by {writers:?}, no gap, none twice; \
         {counts:?}{}",
        documents.len(),
        server.map_or(String::new(), |bad| format!(
            ", {} crashes, {} pauses, {} cuts of the server",
            bad.crashes, bad.pauses, bad.cuts
        ))
    );
    all as u64 > 10 * storm_seconds()
        && documents.len() == SERIES.len() * SCOPES.len()
        && writers.len() == 1 + others.len()
        && counts.killed > 0
        && counts.paused > 0
        && counts.ended > 0
}

/// The values and texts of each series and scope, in order.
type Documents = BTreeMap<(String, String), Vec<(u64, String)>>;

/// What was committed, and how many by each language.
fn documents(kind: Option<Server>, database: &str) -> (Documents, BTreeMap<String, usize>) {
    let sql = "SELECT concat_ws(' ', series, scope, value, text, writer) FROM document \
               ORDER BY series, scope, value";
    let said = if let Some(kind) = kind {
        let (is_good, said) = kind.script(database, &format!("{sql};"));
        assert!(is_good, "{said}");
        said
    } else {
        let db = Connection::open(database).unwrap();
        let sql = sql.replace(
            "concat_ws(' ', series, scope, value, text, writer)",
            "series || ' ' || scope || ' ' || value || ' ' || text || ' ' || writer",
        );
        let mut query = db.prepare(&sql).unwrap();
        let rows = query.query_map([], |row| row.get::<_, String>(0)).unwrap();
        rows.map(|row| row.unwrap() + "\n").collect()
    };
    let (mut documents, mut writers) = (Documents::new(), BTreeMap::new());
    for line in said.lines() {
        let columns: Vec<&str> = line.split(' ').collect();
        let [series, scope, value, text, writer] = columns[..] else { panic!("{line}") };
        let key = (series.to_owned(), scope.to_owned());
        documents.entry(key).or_default().push((value.parse().unwrap(), text.to_owned()));
        *writers.entry(writer.to_owned()).or_default() += 1;
    }
    (documents, writers)
}

/// The commands of other languages, each of which is run as this program is.
fn others() -> Vec<String> {
    let commands = env::var(WRITERS).unwrap_or_default();
    commands.lines().map(str::to_owned).filter(|line| !line.trim().is_empty()).collect()
}
