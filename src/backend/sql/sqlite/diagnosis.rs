//! What an error of SQLite means, and what to do.

use rusqlite::ErrorCode;
use rusqlite::ffi::SQLITE_READONLY_DBMOVED;

use crate::backend::sql::Error;
use crate::support::flat_error::FlatError;

pub const READ_ONLY: &str =
    "it cannot be written; give this user the right to write to the file and to its directory";

/// Told by a connection that still has the file open.
const MOVED: &str = "there is no such file any more: it was moved or deleted while a call used it; \
                     put it back";

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Error {
        // Our SQL is good, so what is wrong with it is that tables or columns are not there.
        let is_sql = matches!(error, rusqlite::Error::SqlInputError { .. });
        let code = error.sqlite_error_code();
        let detail = error.sqlite_error().map(|error| error.extended_code);
        let source = Box::new(FlatError::new(error));
        let problem = match code {
            _ if is_sql => return Error::IncompatibleTables(Some(source)),
            Some(ErrorCode::Unknown | ErrorCode::TypeMismatch) => {
                return Error::IncompatibleTables(Some(source));
            }
            Some(ErrorCode::NotADatabase) => {
                let problem = "it is not a SQLite database";
                return Error::NotADatabase { problem, source: Some(source) };
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => return Error::Locked,
            Some(ErrorCode::DiskFull) => return Error::Full(source),
            Some(ErrorCode::CannotOpen) => {
                "it cannot be opened; give this user the right to read and write the file and to \
                 write to its directory"
            }
            Some(ErrorCode::ReadOnly) if detail == Some(SQLITE_READONLY_DBMOVED) => MOVED,
            Some(ErrorCode::ReadOnly) => READ_ONLY,
            Some(ErrorCode::DatabaseCorrupt) => {
                "it is damaged; let the sqlite3 shell's .recover write what it holds to a new \
                 file, and see that sqlite_sequence there is not below any worker id given"
            }
            _ => return Error::Other(source),
        };
        Error::Unusable { problem: problem.into(), source: Some(source) }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::Error;

    #[test]
    fn a_full_disk_is_called_so() {
        let full = rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_FULL), None);
        assert!(matches!(full.into(), Error::Full(_)));
    }

    #[test]
    fn a_file_that_was_moved_is_not_one_without_rights() {
        for (code, start) in [
            (ffi::SQLITE_READONLY_DBMOVED, "there is no such file any more"),
            (ffi::SQLITE_READONLY, "it cannot be written"),
        ] {
            let error = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None).into();
            assert!(
                matches!(&error, Error::Unusable { problem, .. } if problem.starts_with(start)),
                "{error:?}"
            );
        }
    }
}
