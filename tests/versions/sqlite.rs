//! SQLite files.

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

    fn connect(&self) -> Connection {
        Connection::open(self.0.path().join("uidring.db")).unwrap()
    }
}

impl Place for File {
    fn store(&self) -> Store {
        Store::open(self.0.path().join("uidring.db")).unwrap()
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
