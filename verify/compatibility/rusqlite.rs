//! UIDs through rusqlite.

mod uids;

use rusqlite::types::FromSqlError;
use rusqlite::{Connection, Error};
use uidring::Uid;

#[test]
fn sqlite() {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch("CREATE TABLE orders (id INTEGER PRIMARY KEY, invoice INTEGER)").unwrap();
    let [first, second] = uids::two();
    for (id, invoice) in [(first, None), (second, Some(first))] {
        db.execute("INSERT INTO orders VALUES (?1, ?2)", (id, invoice)).unwrap();
        let select = "SELECT id, invoice FROM orders WHERE id = ?1";
        let row: (Uid, Option<Uid>) =
            db.query_row(select, [id], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        assert_eq!(row, (id, invoice));
    }
    for (id, reason) in uids::NO_UIDS {
        let error = db.query_row("SELECT ?1", [id], |row| row.get::<_, Uid>(0)).unwrap_err();
        assert!(matches!(error, Error::FromSqlConversionFailure(..)), "{error:?}");
        assert!(error.to_string().contains(reason), "{error}");
    }
    let null = db.query_row("SELECT NULL", [], |row| row.get::<_, Uid>(0)).unwrap_err();
    assert!(matches!(null, Error::InvalidColumnType(..)), "{null:?}");
    let text = rusqlite::types::FromSql::column_result("7".into());
    assert_eq!(text, Err::<Uid, _>(FromSqlError::InvalidType));
}
