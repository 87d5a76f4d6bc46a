//! Which errors of a program's transaction another transaction may not meet: conflicts with others,
//! waits that took too long, and connections that broke.

use std::error::Error;
#[cfg(feature = "postgres")]
use std::io;

/// Whether the error that a driver said, or one of its causes, is such a one.
pub(crate) fn is_transient(error: &(dyn Error + 'static)) -> bool {
    of_a_driver(error).unwrap_or_else(|| error.source().is_some_and(is_transient))
}

/// `None` where the error is none of a driver's.
#[allow(unused_variables, reason = "there are no drivers but those of features")]
fn of_a_driver(error: &(dyn Error + 'static)) -> Option<bool> {
    let known: &[Option<bool>] = &[
        #[cfg(feature = "sqlite")]
        rusqlite(error),
        #[cfg(feature = "postgres")]
        tokio_postgres(error),
        #[cfg(feature = "mysql")]
        mysql_async(error),
        #[cfg(feature = "sqlx-0_8")]
        error.downcast_ref().map(sqlx_0_8),
        #[cfg(feature = "sqlx-0_9")]
        error.downcast_ref().map(sqlx_0_9),
        #[cfg(feature = "sea-orm-1")]
        sea_orm_1(error),
        #[cfg(feature = "sea-orm-2")]
        sea_orm_2(error),
        #[cfg(feature = "diesel-2")]
        error.downcast_ref().map(diesel),
    ];
    known.iter().copied().flatten().next()
}

#[cfg(feature = "sqlite")]
fn rusqlite(error: &(dyn Error + 'static)) -> Option<bool> {
    let code = error.downcast_ref::<rusqlite::Error>()?.sqlite_error()?.extended_code;
    Some(is_sqlite(code))
}

#[cfg(feature = "postgres")]
fn tokio_postgres(error: &(dyn Error + 'static)) -> Option<bool> {
    let error = error.downcast_ref::<tokio_postgres::Error>()?;
    // Without a code, the connection broke; or a value of the program's did not fit.
    let broke = || error.is_closed() || error.source().is_some_and(<dyn Error>::is::<io::Error>);
    Some(error.code().map_or_else(broke, |code| is_sqlstate(code.code())))
}

#[cfg(feature = "mysql")]
fn mysql_async(error: &(dyn Error + 'static)) -> Option<bool> {
    use mysql_async::{DriverError, Error as MySql};
    Some(match error.downcast_ref::<MySql>()? {
        MySql::Server(error) => is_sqlstate(&error.state) || is_mysql(error.code),
        // The connection broke.
        error => matches!(error, MySql::Io(_) | MySql::Driver(DriverError::ConnectionClosed)),
    })
}

/// All versions have the same names.
#[cfg(any(
    feature = "sea-orm-1",
    feature = "sea-orm-2",
    feature = "sqlx-0_8",
    feature = "sqlx-0_9"
))]
macro_rules! of_sqlx {
    ($name:ident, $($sqlx:ident)::+) => {
        fn $name(error: &::$($sqlx)::+::Error) -> bool {
            match error {
                ::$($sqlx)::+::Error::Database(error) => {
                    is_code(error.code().as_deref(), &error.to_string())
                }
                // The connection broke, or there was none to have.
                error => matches!(
                    error,
                    ::$($sqlx)::+::Error::Io(_) | ::$($sqlx)::+::Error::PoolTimedOut
                ),
            }
        }
    };
}

#[cfg(feature = "sqlx-0_8")]
of_sqlx!(sqlx_0_8, sqlx_0_8);
#[cfg(feature = "sqlx-0_9")]
of_sqlx!(sqlx_0_9, sqlx_0_9);
#[cfg(feature = "sea-orm-1")]
of_sqlx!(sea_orm_1_sqlx, sea_orm_1::sqlx);
#[cfg(feature = "sea-orm-2")]
of_sqlx!(sea_orm_2_sqlx, sea_orm_2::sqlx);

/// SeaORM's error is the cause of one that says what failed.
#[cfg(any(feature = "sea-orm-1", feature = "sea-orm-2"))]
macro_rules! of_sea_orm {
    ($name:ident, $sqlx:ident) => {
        fn $name(error: &(dyn Error + 'static)) -> Option<bool> {
            match error.downcast_ref::<::$name::RuntimeErr>()? {
                ::$name::RuntimeErr::SqlxError(error) => Some($sqlx(error)),
                _ => Some(false),
            }
        }
    };
}

#[cfg(feature = "sea-orm-1")]
of_sea_orm!(sea_orm_1, sea_orm_1_sqlx);
#[cfg(feature = "sea-orm-2")]
of_sea_orm!(sea_orm_2, sea_orm_2_sqlx);

/// Diesel tells a kind of few errors, and the code of none.
#[cfg(feature = "diesel-2")]
fn diesel(error: &diesel_2::result::Error) -> bool {
    use diesel_2::result::DatabaseErrorKind as Kind;
    use diesel_2::result::Error as Diesel;
    match error {
        Diesel::DatabaseError(Kind::SerializationFailure | Kind::ClosedConnection, _)
        | Diesel::BrokenTransactionManager => true,
        Diesel::DatabaseError(_, said) => is_english(said.message()),
        _ => false,
    }
}

/// By how the messages of databases begin, in English.
#[allow(dead_code, reason = "it is that of a feature's transactions")]
fn is_english(message: &str) -> bool {
    const BEGINNINGS: [&str; 20] = [
        // PostgreSQL, and its client.
        "deadlock detected",
        "could not serialize access",
        "could not obtain lock on",
        "canceling statement due to",
        "terminating connection",
        "server closed the connection unexpectedly",
        "no connection to the server",
        "could not receive data from server",
        // MySQL and MariaDB, and their clients.
        "Deadlock found when trying to get lock",
        "Lock wait timeout exceeded",
        "Record has changed since last read",
        "Query execution was interrupted",
        "Statement aborted because lock(s) could not be acquired",
        "Wait on a lock was aborted",
        "Connection was killed",
        "Lost connection to",
        "MySQL server has gone away",
        "Server has gone away",
        // SQLite.
        "database is locked",
        "database table is locked",
    ];
    BEGINNINGS.iter().any(|beginning| message.starts_with(beginning))
}

/// By the `code` of sqlx, which is a SQLSTATE or a number of SQLite's. The number of MySQL's is in
/// the `text` alone, in front of it: "1205 (HY000): Lock wait timeout exceeded".
#[allow(dead_code, reason = "it is that of a feature's transactions")]
fn is_code(code: Option<&str>, text: &str) -> bool {
    let Some(code) = code else { return false };
    if code.len() != 5 {
        return code.parse().is_ok_and(is_sqlite);
    }
    let number = text.split_once(&format!(" ({code})")).map(|(number, _)| number.parse());
    is_sqlstate(code) || matches!(number, Some(Ok(number)) if is_mysql(number))
}

/// Of PostgreSQL, and of MySQL where it has no better number.
#[allow(dead_code, reason = "each is that of a feature's transactions")]
pub(crate) fn is_sqlstate(code: &str) -> bool {
    const CODES: [&str; 9] = [
        "40",    // serialization_failure, deadlock_detected
        "55P03", // lock_not_available, lock_timeout
        "57014", // query_canceled, statement_timeout
        "25P03", // idle_in_transaction_session_timeout
        "25P04", // transaction_timeout
        "08",    // connection_exception
        "57P01", // admin_shutdown
        "57P02", // crash_shutdown
        "57P03", // cannot_connect_now
    ];
    CODES.iter().any(|known| code.starts_with(known))
}

/// By its primary code.
#[allow(dead_code, reason = "each is that of a feature's transactions")]
pub(crate) fn is_sqlite(code: i32) -> bool {
    // SQLITE_BUSY, also of a transaction in WAL mode that has read before, and SQLITE_LOCKED.
    matches!(code & 0xff, 5 | 6)
}

#[allow(dead_code, reason = "each is that of a feature's transactions")]
pub(crate) fn is_mysql(number: u16) -> bool {
    matches!(
        number,
        1020 // ER_CHECKREAD, of innodb_snapshot_isolation
            | 1205 // ER_LOCK_WAIT_TIMEOUT
            | 1213 // ER_LOCK_DEADLOCK
            | 1317 // ER_QUERY_INTERRUPTED
            | 1689 // ER_LOCK_ABORTED
            | 1969 // ER_STATEMENT_TIMEOUT, of MariaDB
            | 3024 // ER_QUERY_TIMEOUT
            | 3572 // ER_LOCK_NOWAIT
            // On the way down, or done with us.
            | 1053 | 1927 | 3169 | 4031
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicts_and_waits_that_took_too_long_are_worth_another_try() {
        for code in ["40001", "40P01", "55P03", "57014", "08006", "57P01"] {
            assert!(is_sqlstate(code), "{code}");
        }
        for code in ["23505", "42P01", "25P02", "HY000", "53100"] {
            assert!(!is_sqlstate(code), "{code}");
        }
        assert!([5, 6, 261, 517, 773].into_iter().all(is_sqlite));
        assert!(![1, 8, 13, 19, 2067].into_iter().any(is_sqlite));
        assert!([1020, 1205, 1213, 3572].into_iter().all(is_mysql));
        assert!(![1062, 1146, 1114].into_iter().any(is_mysql));
        assert!(is_code(Some("HY000"), "1205 (HY000): Lock wait timeout exceeded"));
        assert!(!is_code(Some("HY000"), "1364 (HY000): Field 'a' has no default value"));
        assert!(is_code(Some("517"), "(code: 517) database is locked"));
        assert!(is_code(Some("40P01"), "deadlock detected"));
        assert!(is_english("database is locked") && is_english("deadlock detected"));
        assert!(!is_english("Duplicate entry 'deadlock detected' for key 'PRIMARY'"));
    }
}
