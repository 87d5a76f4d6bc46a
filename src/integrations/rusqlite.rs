//! rusqlite 0.32 to 0.42 (feature `rusqlite`): a `Uid` or a `Number` is an `INTEGER`.
//!
//! ```
//! use rusqlite::Connection;
//! use uidring::Uid;
//!
//! let db = Connection::open_in_memory()?;
//! db.execute_batch("CREATE TABLE orders (id INTEGER PRIMARY KEY, invoice INTEGER)")?;
//! let id: Uid = "180363646902239241".parse()?;
//! db.execute("INSERT INTO orders VALUES (?1, ?2)", (id, None::<Uid>))?;
//!
//! let select = "SELECT id, invoice FROM orders WHERE id = ?1";
//! let row: (Uid, Option<Uid>) = db.query_row(select, [id], |row| row.try_into())?;
//! assert_eq!(row, (id, None));
//!
//! let error = db.query_row("SELECT 0", [], |row| row.get::<_, Uid>(0)).unwrap_err();
//! assert!(error.to_string().contains("0 is not a UID: a UID is in 1..=9223372036854775807"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

use crate::number::Number;
use crate::uid::Uid;

macro_rules! integrate {
    ($Id:ident) => {
        impl ToSql for $Id {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(i64::from(*self).into())
            }
        }

        impl FromSql for $Id {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<$Id> {
                let number = i64::column_result(value)?;
                $Id::try_from(number).map_err(|error| FromSqlError::Other(error.into()))
            }
        }
    };
}

integrate!(Uid);
integrate!(Number);
