//! Statements of a gapless series, run by drivers that the library does not know.
#![allow(dead_code)] // each program uses a part

use mysql_async::prelude::Queryable;
use tokio::sync::Mutex;
use tokio_postgres::GenericClient;
use tokio_postgres::types::ToSql;
use uidring::series::SqlValue;

pub type Rows = Vec<Vec<Option<String>>>;

pub async fn postgres_rows(
    client: &impl GenericClient,
    sql: String,
    values: Vec<SqlValue>,
) -> Result<Rows, tokio_postgres::Error> {
    let values: Vec<Box<dyn ToSql + Sync + Send>> = values
        .into_iter()
        .map(|value| match value {
            SqlValue::Integer(number) => Box::new(number) as Box<dyn ToSql + Sync + Send>,
            SqlValue::Text(text) => Box::new(text),
        })
        .collect();
    let values: Vec<&(dyn ToSql + Sync)> =
        values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
    let rows = client.query(&sql, &values).await?;
    let texts = |row: &tokio_postgres::Row| (0..row.len()).map(|at| row.try_get(at)).collect();
    rows.iter().map(texts).collect()
}

/// What may not be prepared is sent as it is.
pub async fn mysql_rows(
    db: &Mutex<mysql_async::Conn>,
    sql: String,
    values: Vec<SqlValue>,
) -> Result<Rows, mysql_async::Error> {
    let values: Vec<mysql_async::Value> = values
        .into_iter()
        .map(|value| match value {
            SqlValue::Integer(number) => number.into(),
            SqlValue::Text(text) => text.into(),
        })
        .collect();
    let mut db = db.lock().await;
    let rows: Vec<mysql_async::Row> =
        if values.is_empty() { db.query(sql).await? } else { db.exec(sql, values).await? };
    let texts = |row: mysql_async::Row| (0..row.len()).map(|at| row.get(at).flatten()).collect();
    Ok(rows.into_iter().map(texts).collect())
}
