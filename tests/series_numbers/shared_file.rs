//! A SQLite file that a program shares with its series. Nothing in it but uidring's own tables is
//! read or written.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};
use uidring::registry::RegistryAdmin;
use uidring::segment::{SegmentSource, Tag};
use uidring::series::{SeriesError, SeriesGenerator};
use uidring::{Layout, Store, UidGenerator};

use super::{clock, definition, file, series};

/// What the file has that is not uidring's: what a program sees of it.
fn theirs(path: &Path) -> (i64, i64, String, Vec<String>) {
    let db = Connection::open(path).unwrap();
    let pragma =
        |name: &str| -> i64 { db.pragma_query_value(None, name, |row| row.get(0)).unwrap() };
    let mode = db.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    let sql = "SELECT ifnull(sql, name) FROM sqlite_master WHERE tbl_name NOT LIKE 'uidring%' \
               AND tbl_name NOT IN ('worker_node', 'sqlite_sequence')";
    let mut statement = db.prepare(sql).unwrap();
    let items = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    (pragma("user_version"), pragma("application_id"), mode, items)
}

const DOCUMENTS: &str = "CREATE TABLE invoice (number TEXT PRIMARY KEY);
    CREATE INDEX invoice_of ON invoice (number);
    CREATE VIEW last AS SELECT max(number) FROM invoice;
    PRAGMA user_version = 3; PRAGMA application_id = 77;";

/// Stores a document with its number.
fn store_one(path: &Path, invoices: &SeriesGenerator) -> Result<String, SeriesError> {
    let mut db = Connection::open(path).unwrap();
    let mut transaction = db.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    let number = invoices.take_in(&mut transaction)?;
    transaction.execute("INSERT INTO invoice VALUES (?)", [number.as_str()]).unwrap();
    transaction.commit().unwrap();
    Ok(number.to_string())
}

#[test]
fn series_tags_and_worker_ids_lie_beside_documents() {
    let (folder, store) = file();
    let path = folder.path().join("uidring.db");
    Connection::open(&path).unwrap().execute_batch(DOCUMENTS).unwrap();
    let before = theirs(&path);
    let clock = clock("2026-11-24T12:00:00Z");

    // Reading makes nothing.
    let reads = Store::open_existing(&path).unwrap();
    let error = uidring::series::Series::builder().store(&reads).build().unwrap_err();
    let said = "it has tables of another program, and none of uidring's; see that the path is \
                right and that nobody has removed them; if they have never been there, create a \
                series in it, which makes them";
    assert!(error.to_string().ends_with(said), "{error}");

    let series = series(&store, &clock);
    let invoices = series.create("invoices", definition("{yyyy}-{n:5}").gapless()).unwrap();
    assert_eq!(store_one(&path, &invoices).unwrap(), "2026-00001");
    let orders = series.create("orders", definition("SO{n:5}")).unwrap();
    assert_eq!(orders.take().unwrap().as_str(), "SO00001");
    store.segments().unwrap().create("letters", &Tag::new()).unwrap();
    assert_eq!(store.segments().unwrap().load("letters", None).unwrap().first, 1);
    let uids = UidGenerator::builder().registry(store.registry().unwrap()).build().unwrap();
    assert_eq!(uids.worker_id(), 1);
    assert_eq!(theirs(&path), before);

    // The program goes on with its migrations.
    let db = Connection::open(&path).unwrap();
    db.execute_batch("ALTER TABLE invoice ADD COLUMN note; PRAGMA user_version = 4").unwrap();
    assert_eq!(store_one_more(&path, &invoices), "2026-00002");
    for read in [&store, &reads] {
        let series = super::series(read, &clock);
        assert_eq!(series.list().unwrap().len(), 2);
        series.close("invoices", "2025".parse().unwrap()).unwrap();
    }
    assert_eq!((theirs(&path).0, theirs(&path).1), (4, 77));
}

/// With a second column in the table.
fn store_one_more(path: &Path, invoices: &SeriesGenerator) -> String {
    let mut db = Connection::open(path).unwrap();
    let mut transaction = db.transaction().unwrap();
    let number = invoices.take_in(&mut transaction).unwrap();
    transaction.execute("INSERT INTO invoice VALUES (?, NULL)", [number.as_str()]).unwrap();
    transaction.commit().unwrap();
    number.to_string()
}

/// A program that counts its migrations in `user_version` leaves out as many as stand there.
#[test]
fn a_file_that_uidring_makes_has_no_marks() {
    let (folder, store) = file();
    let path = folder.path().join("uidring.db");
    let series = series(&store, &clock("2026-11-24T12:00:00Z"));
    let invoices = series.create("invoices", definition("{yyyy}-{n:5}").gapless()).unwrap();
    store.segments().unwrap();
    store.registry().unwrap();
    let (user_version, application, ..) = theirs(&path);
    assert_eq!((user_version, application), (0, 0));
    Connection::open(&path).unwrap().execute_batch(DOCUMENTS).unwrap();
    assert_eq!(store_one(&path, &invoices).unwrap(), "2026-00001");
    assert_eq!((theirs(&path).0, theirs(&path).1), (3, 77));
}

/// A program keeps its file in WAL mode. It is not switched; series are defined in it, and gapless
/// numbers counted, and nothing is given in it besides.
#[test]
fn a_file_that_a_program_keeps_in_wal_mode() {
    let (folder, store) = file();
    let path = folder.path().join("uidring.db");
    let store = store.with_timeout(Duration::from_millis(200));
    // Open throughout, as a program has it.
    let program = Connection::open(&path).unwrap();
    program.execute_batch(&format!("PRAGMA journal_mode = WAL; {DOCUMENTS}")).unwrap();
    let before = theirs(&path);
    assert_eq!(before.2, "wal");
    let clock = clock("2026-11-24T12:00:00Z");
    let series = series(&store, &clock);
    let invoices = series.create("invoices", definition("{yyyy}-{n:5}").gapless()).unwrap();
    for number in 1..=3 {
        assert_eq!(store_one(&path, &invoices).unwrap(), format!("2026-0000{number}"));
    }
    let begins = "2027-01-01".parse().unwrap();
    series.change("invoices", definition("{yyyy}-{n:6}").gapless(), begins).unwrap();
    series.close("invoices", "2025".parse().unwrap()).unwrap();
    assert_eq!(series.prune("invoices").unwrap(), 0);
    clock.set(super::time("2027-01-01T12:00:00Z"));
    assert_eq!(store_one(&path, &invoices).unwrap(), "2027-000001");

    let orders = series.create("orders", definition("SO{n:5}")).unwrap();
    let said = "it is in WAL mode, so that what is given could be lost with its file -wal, and it \
                has tables of another program, whose choice that is; have that program run PRAGMA \
                journal_mode = DELETE, or use a file of its own";
    let refused = [
        orders.take().unwrap_err().to_string(),
        store.segments().unwrap().create("letters", &Tag::new()).unwrap_err().to_string(),
        store.registry().unwrap().try_out(&Layout::DEFAULT).unwrap_err().to_string(),
        Store::open(&path).unwrap().registry().map(drop).unwrap_err().to_string(),
        Store::open(&path).unwrap().segments().map(drop).unwrap_err().to_string(),
    ];
    for error in refused {
        assert!(error.ends_with(said), "{error}");
    }
    assert_eq!(theirs(&path), before);

    program.execute_batch("PRAGMA journal_mode = DELETE").unwrap();
    assert_eq!(orders.take().unwrap().as_str(), "SO00001");
    assert_eq!(store.registry().unwrap().largest_given().unwrap(), 0);
}

/// A table that another program calls `worker_node` is its own. The other tables lie beside it.
#[test]
fn a_program_has_a_table_of_the_name_of_ours() {
    for made in [
        "CREATE TABLE worker_node (id INTEGER PRIMARY KEY AUTOINCREMENT, host_name TEXT NOT NULL, \
         port TEXT NOT NULL, type INTEGER NOT NULL, launch_date DATE, modified TIMESTAMP, \
         created TIMESTAMP)",
        "CREATE VIEW worker_node AS SELECT 1 AS id",
    ] {
        let (folder, store) = file();
        let path = folder.path().join("uidring.db");
        Connection::open(&path).unwrap().execute_batch(made).unwrap();
        let before = fs::read(&path).unwrap();
        let foreign = "its tables are not those of schema.sql; give the registry a file of its own";
        let error = store.registry().map(drop).unwrap_err().to_string();
        assert!(error.ends_with(foreign), "{error}");
        assert!(fs::read(&path).unwrap() == before, "{made}");

        let series = series(&store, &clock("2026-11-24T12:00:00Z"));
        let orders = series.create("orders", definition("SO{n:5}")).unwrap();
        assert_eq!(orders.take().unwrap().as_str(), "SO00001");
        let error = store.registry().map(drop).unwrap_err().to_string();
        assert!(error.ends_with(foreign), "{error}");
        let sql = "SELECT sql FROM sqlite_master WHERE name = 'worker_node'";
        let db = Connection::open(&path).unwrap();
        let found: String = db.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(found, made);
    }
}

/// Tables that are lost are not made anew beside those of others.
#[test]
fn tables_that_a_process_has_seen_are_missed() {
    let (folder, store) = file();
    let path = folder.path().join("uidring.db");
    let db = Connection::open(&path).unwrap();
    db.execute_batch(DOCUMENTS).unwrap();
    let series = series(&store, &clock("2026-11-24T12:00:00Z"));
    series.create("invoices", definition("{yyyy}-{n:5}").gapless()).unwrap();
    // One of them, for anybody.
    db.execute_batch("ALTER TABLE uidring_series_counter RENAME TO gone").unwrap();
    let error = super::Series::builder().store(&Store::open(&path).unwrap()).build().unwrap_err();
    assert!(error.to_string().contains("are not those of the schema"), "{error}");
    // All of them, for a process that has had them.
    let names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'uidring%' \
                 OR name IN ('gone', 'worker_node')";
    let mut statement = db.prepare(names).unwrap();
    let names: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().flatten().collect();
    drop(statement);
    for name in names {
        db.execute_batch(&format!("DROP TABLE {name}")).unwrap();
    }
    let before = theirs(&path);
    let error = series.create("invoices", definition("{yyyy}-{n:5}").gapless()).unwrap_err();
    let said = "it has tables of another program, and none of uidring's";
    assert!(error.to_string().contains(said), "{error}");
    assert!(super::Series::builder().store(&store).build().is_err());
    assert_eq!(theirs(&path), before);
}
