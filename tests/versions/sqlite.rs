//! SQLite files.

use std::path::PathBuf;

use rusqlite::Connection;
use tempfile::TempDir;

use super::*;

struct File(TempDir);

impl File {
    /// As the oldest version has left it.
    fn oldest() -> File {
        let file = File(folder::folder());
        file.run(include_str!("0.1.0.sqlite.sql"));
        file
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("uidring.db")
    }

    fn connect(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }
}

impl Place for File {
    fn store(&self) -> Store {
        Store::open(self.path()).unwrap()
    }

    fn run(&self, sql: &str) -> String {
        let db = self.connect();
        if !sql.starts_with("SELECT") {
            db.execute_batch(sql).unwrap();
            return String::new();
        }
        db.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap().to_string()
    }

    fn workers(&self) -> &'static str {
        "worker_node"
    }
}

tests!(File::oldest());

/// Its marks, in numbers that SQLite sets aside for whoever has the file.
fn marks(file: &File) -> [String; 2] {
    ["application_id", "user_version"]
        .map(|name| file.run(&format!("SELECT {name} FROM pragma_{name}")))
}

const VERSION: &str = "SELECT version FROM uidring_schema";

#[test]
fn a_file_with_marks_gets_a_table_in_their_place() {
    let file = File::oldest();
    assert_eq!(marks(&file), ["1969841266", "4"]);
    // Reading changes nothing.
    Store::open_existing(file.path()).unwrap().registry().unwrap().workers().unwrap();
    assert_eq!(marks(&file), ["1969841266", "4"]);
    drop(file.store().registry());
    assert_eq!((marks(&file), file.run(VERSION)), (["0", "0"].map(str::to_owned), "4".to_owned()));
    a_database_of_an_older_version_is_used(&file);
}

/// A program has counted its migrations in `user_version` since then.
#[test]
fn a_file_whose_marks_are_a_programs_by_now_goes_on() {
    for (application, version) in [("1969841266", "6"), ("77", "4"), ("1969841266", "4")] {
        let file = File::oldest();
        file.run(&format!(
            "CREATE TABLE invoice (number TEXT); PRAGMA application_id = {application}; \
             PRAGMA user_version = {version}"
        ));
        a_database_of_an_older_version_is_used(&file);
        assert_eq!(marks(&file), [application, version]);
        assert_eq!(file.run(VERSION), "4");
    }
}

/// A table that is missing has been lost, and is not made by the way.
#[test]
fn a_table_that_an_old_file_has_lost_is_missed() {
    for (table, told) in [
        ("worker_node", "its tables are not those of schema.sql"),
        ("uidring_segment", "its tables are not those of schema.sql"),
        ("uidring_series_counter", "are not those of the schema"),
    ] {
        let file = File::oldest();
        add_what_is_missing(&file);
        file.run(&format!("DROP TABLE {table}; DROP TABLE uidring_schema"));
        let errors: Vec<String> = calls(&file).into_iter().filter_map(Result::err).collect();
        assert!(errors.len() == 1 && errors[0].contains(told), "{table}: {errors:?}");
    }
}
