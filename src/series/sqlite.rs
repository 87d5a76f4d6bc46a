//! Series in a SQLite file.

use super::sql::SqlSeries;
use crate::store::StorageError;
use crate::store::sql::{Access, Beside, Database, Deadline, Session, Sqlite};

impl SqlSeries<Sqlite> {
    /// Makes the file and its tables where they are missing. Once they have been seen, they are not
    /// made anew.
    pub(crate) fn make(&self) -> Result<(), StorageError> {
        if self.client.has_seen_tables() {
            return self.check();
        }
        let deadline = Deadline::after(self.client.timeout);
        let file = &self.client.database;
        let made = file.create(&Self::SCHEMA, Access::Define, Beside::Others, &deadline);
        if made.map_err(|error| self.client.told(&Self::WORDS, "make the tables of", error))? {
            self.client.tell_new();
        }
        Ok(())
    }

    /// Looks whether the file has the tables, and nothing more.
    pub(crate) fn check(&self) -> Result<(), StorageError> {
        let deadline = Deadline::after(self.client.timeout);
        let connected = self.client.database.connect(&Self::SCHEMA, &deadline);
        let looked = connected.and_then(|mut file| file.begin(Access::Read));
        looked.map_err(|error| self.client.told(&Self::WORDS, "open", error))
    }
}
