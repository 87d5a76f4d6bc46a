//! A gapless number on a connection that stays open, as a program's does.

#[path = "../../tests/common/driver_rows.rs"]
mod driver_rows;

use driver_rows::mysql_rows;
use mysql_async::prelude::Queryable;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Mutex;
use uidring::Store;
use uidring::series::{Dialect, Series, SeriesDefinition, SeriesGenerator};

pub struct Gapless {
    series: SeriesGenerator,
    connection: Connection,
    runtime: Runtime,
}

enum Connection {
    Sqlite(rusqlite::Connection),
    Postgres(Box<tokio_postgres::Client>),
    MySql(Box<Mutex<mysql_async::Conn>>),
}

impl Gapless {
    /// `None` where the store is no database.
    pub fn open(store: &Store, address: &str) -> Option<Gapless> {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let connection = if address.starts_with("postgres") {
            Connection::Postgres(Box::new(runtime.block_on(postgres(address))))
        } else if address.starts_with("mysql") {
            let open = mysql_async::Conn::from_url(address);
            Connection::MySql(Box::new(Mutex::new(runtime.block_on(open).expect("a connection"))))
        } else if address.contains("://") {
            return None;
        } else {
            Connection::Sqlite(rusqlite::Connection::open(address).expect("a connection"))
        };
        let series = Series::builder().store(store).build().expect("series");
        let definition = SeriesDefinition::new("{n}").expect("a pattern").gapless();
        let series = series.create("bench", definition).expect("a series");
        Some(Gapless { series, connection, runtime })
    }

    /// Counts one in a transaction of its own.
    pub fn count(&mut self) {
        let series = &self.series;
        match &mut self.connection {
            Connection::Sqlite(connection) => {
                let mut transaction = connection.transaction().expect("a transaction");
                series.take_in(&mut transaction).expect("a number");
                transaction.commit().expect("a commit");
            }
            Connection::Postgres(client) => self.runtime.block_on(async {
                let mut transaction = client.transaction().await.expect("a transaction");
                series.take_in(&mut transaction).await.expect("a number");
                transaction.commit().await.expect("a commit");
            }),
            Connection::MySql(connection) => self.runtime.block_on(async {
                let rows = |sql, values| mysql_rows(connection, sql, values);
                connection.lock().await.query_drop("BEGIN").await.expect("a transaction");
                series.take_with_async(Dialect::MySql, rows).await.expect("a number");
                connection.lock().await.query_drop("COMMIT").await.expect("a commit");
            }),
        }
    }
}

async fn postgres(address: &str) -> tokio_postgres::Client {
    let open = tokio_postgres::connect(address, tokio_postgres::NoTls);
    let (client, connection) = open.await.expect("a connection");
    tokio::spawn(connection);
    client
}
