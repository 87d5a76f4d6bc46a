//! An older and a newer program on one database: what this program makes of a database that another
//! version has left, and of one that a newer version is using at the same time.
//!
//! The files of 0.1.0 here repeat the schemas on purpose: they stay as that version has left them.
#![cfg(all(feature = "series", feature = "sqlite"))]
#![allow(missing_docs, clippy::panic, clippy::unwrap_used)]

#[path = "../common/causes.rs"]
mod causes;
#[cfg(all(feature = "mysql", feature = "postgres"))]
#[path = "../common/databases/mod.rs"]
mod databases;
#[path = "../common/folder.rs"]
mod folder;
#[cfg(all(feature = "mysql", feature = "postgres"))]
mod servers;
mod sqlite;

use std::error::Error;
use std::fmt::Debug;
use std::time::Duration;

use uidring::lend::LendOptions;
use uidring::registry::RegistryAdmin;
use uidring::segment::{SegmentAdmin, SegmentSource, Tag, TagChange};
use uidring::series::{Series, SeriesDefinition};
use uidring::store::RegistryOptions;
use uidring::{Layout, Store, UidGenerator};

use causes::with_causes;

/// A database of a test's own.
trait Place {
    fn store(&self) -> Store;

    /// Runs statements, and returns what the last one selects, one value a line.
    fn run(&self, sql: &str) -> String;

    /// The name of the table with a row for each worker id.
    fn workers(&self) -> &'static str;
}

/// The text of an error and its causes.
fn text<T: Debug, E: Error>(result: Result<T, E>) -> String {
    with_causes(&result.unwrap_err())
}

/// The worker id that a program gets which starts now.
fn worker(place: &dyn Place, options: &RegistryOptions) -> u64 {
    let registry = place.store().registry_with(options.clone()).unwrap();
    let uids = UidGenerator::builder().registry(registry).build().unwrap();
    uids.take().unwrap();
    uids.worker_id()
}

fn series(place: &dyn Place) -> Series {
    Series::builder().store(&place.store()).build().unwrap()
}

/// One call that needs all columns of its table, for each table.
fn calls(place: &dyn Place) -> Vec<Result<(), String>> {
    let told = |error: &dyn Error| text(Err::<(), _>(error));
    let registry = || {
        let registry = place.store().registry().map_err(|error| told(&error))?;
        registry.workers().map(drop).map_err(|error| told(&error))
    };
    let tags = || {
        let segments = place.store().segments().map_err(|error| told(&error))?;
        segments.tags().map(drop).map_err(|error| told(&error))
    };
    let listed = || {
        let series = Series::builder().store(&place.store()).build();
        series.and_then(|series| series.list()).map(drop).map_err(|error| told(&error))
    };
    let pools = || place.store().worker_pools().map(drop).map_err(|error| told(&error));
    vec![registry(), tags(), listed(), pools()]
}

/// Runs what errors say that adds the columns and tables which an older version did not make.
fn add_what_is_missing(place: &dyn Place) {
    for _ in 0..20 {
        let Some(error) = calls(place).into_iter().find_map(Result::err) else { return };
        let Some((_, added)) = error.split_once("do not mind: ") else {
            panic!("it does not say what to do: {error}");
        };
        place.run(added);
    }
    panic!("columns are missing, whatever is added: {:?}", calls(place));
}

/// Worker ids, dense numbers and numbers of series go on after those that were given.
fn what_was_given_is_not_given_again(place: &dyn Place) {
    // Past the lease of the second one, which is given to the next that asks for a lease.
    assert_eq!(worker(place, &RegistryOptions::new()), 8);
    assert_eq!(worker(place, &RegistryOptions::new().leased(Duration::from_secs(60))), 2);
    let segments = place.store().segments().unwrap();
    assert_eq!(segments.load("orders", None).unwrap().first, 1001);
    segments.set("orders", &TagChange::new().step(7)).unwrap();
    let tags = segments.tags().unwrap();
    assert_eq!((tags[0].next, tags[0].step), (1101, 7));
    assert_eq!(tags[0].description.as_deref(), Some("of the shop"));
    assert_eq!(series(place).get("invoices").unwrap().take().unwrap().to_string(), "INV-000003");
}

/// The same for what was not there before.
fn new_rows_are_made(place: &dyn Place) {
    place.store().segments().unwrap().create("letters", &Tag::new()).unwrap();
    assert_eq!(place.store().segments().unwrap().load("letters", None).unwrap().first, 1);
    let definition = SeriesDefinition::new("L{yyyy}-{n:6}").unwrap();
    let letters = series(place).create("letters", definition).unwrap();
    assert_eq!(letters.take().unwrap().value(), 1);
    let pool = place.store().worker_pool("shop", 10).unwrap();
    assert_eq!(pool.lend(LendOptions::new()).unwrap().id(), 1);
}

/// `place` is as the oldest version has left it.
fn a_database_of_an_older_version_is_used(place: &dyn Place) {
    add_what_is_missing(place);
    what_was_given_is_not_given_again(place);
    new_rows_are_made(place);
}

/// `place` is as the oldest version has left it.
fn a_database_of_a_newer_version_is_used(place: &dyn Place) {
    add_what_is_missing(place);
    let workers = place.workers();
    let tables =
        [workers, "uidring_layout", "uidring_series", "uidring_segment", "uidring_series_counter"];
    for table in tables {
        // What a newer version may add: columns that may be empty or have a default, and indexes.
        place.run(&format!("ALTER TABLE {table} ADD COLUMN newer_note VARCHAR(99)"));
        place.run(&format!("ALTER TABLE {table} ADD COLUMN newer_rank BIGINT NOT NULL DEFAULT 7"));
        place.run(&format!("UPDATE {table} SET newer_note = 'kept', newer_rank = 8"));
        place.run(&format!("CREATE INDEX newer_{table} ON {table} (newer_rank)"));
    }
    // And tables.
    place.run(
        "CREATE TABLE uidring_newer (id BIGINT PRIMARY KEY); INSERT INTO uidring_newer \
               VALUES (5)",
    );
    what_was_given_is_not_given_again(place);
    new_rows_are_made(place);
    // What the newer version has written is there, also in rows that this one has changed.
    for table in tables {
        let changed = format!("SELECT COUNT(*) FROM {table} WHERE newer_rank = 8");
        let kept = format!("{changed} AND newer_note = 'kept'");
        let rows = if table == workers { "3" } else { "1" };
        assert_eq!((&*place.run(&changed), &*place.run(&kept)), (rows, rows), "{table}");
    }
    // Rows of this version have what the newer one expects of an older one.
    for table in [workers, "uidring_series", "uidring_segment", "uidring_series_counter"] {
        let made = format!("SELECT COUNT(*) FROM {table} WHERE newer_rank = 7");
        assert_eq!(place.run(&made), "1", "{table}");
    }
    assert_eq!(place.run("SELECT id FROM uidring_newer"), "5");
}

/// `place` is as the oldest version has left it.
fn a_column_that_is_missing_is_told_with_what_adds_it(place: &dyn Place) {
    add_what_is_missing(place);
    let segments = place.store().segments().unwrap();
    let first = |segments: &dyn SegmentSource| segments.load("orders", None).map(|s| s.first);
    assert_eq!(first(&segments).unwrap(), 1001);

    place.run("ALTER TABLE uidring_segment DROP COLUMN description");
    let error = text(segments.tags());
    let sentence = "its table uidring_segment does not have the column description; if an older \
                    uidring has made it, run this there, which programs that are running do not \
                    mind: ALTER TABLE uidring_segment ADD COLUMN description ";
    assert!(error.contains(sentence), "{error}");
    // What does not need it goes on.
    assert_eq!(first(&segments).unwrap(), 1101);
    place.run(error.split_once("do not mind: ").unwrap().1);
    assert_eq!(segments.tags().unwrap()[0].next, 1201);

    // A start tells it of its own table, and uses up no worker id.
    place.run(&format!("ALTER TABLE {} DROP COLUMN reserved_until", place.workers()));
    let registry = place
        .store()
        .registry_with(RegistryOptions::new().leased(Duration::from_secs(60)))
        .unwrap();
    let error = text(registry.workers());
    let sentence =
        format!("its table {} does not have the column reserved_until; ", place.workers());
    assert!(error.contains(&sentence), "{error}");
    let told = text(registry.try_out(&Layout::DEFAULT));
    assert!(told.contains(&sentence), "{told}");
    place.run(error.split_once("do not mind: ").unwrap().1);
    assert_eq!(worker(place, &RegistryOptions::new()), 8);

    // Nobody can say what was in a column that has always been there.
    place.run("ALTER TABLE uidring_segment DROP COLUMN last_number");
    let error = text(segments.load("orders", None));
    assert!(error.contains("uidring_segment"), "{error}");
    let cause = "its table uidring_segment does not have the column last_number";
    assert!(error.ends_with(cause), "{error}");
}

/// Each with its statements in the words of one kind of database.
macro_rules! tests {
    ($place:expr $(, ignore = $reason:literal)?) => {
        #[test]
        $(#[ignore = $reason])?
        fn a_database_of_an_older_version() {
            a_database_of_an_older_version_is_used(&$place);
        }

        #[test]
        $(#[ignore = $reason])?
        fn a_database_of_a_newer_version() {
            a_database_of_a_newer_version_is_used(&$place);
        }

        #[test]
        $(#[ignore = $reason])?
        fn a_column_that_is_missing() {
            a_column_that_is_missing_is_told_with_what_adds_it(&$place);
        }
    };
}
use tests;
