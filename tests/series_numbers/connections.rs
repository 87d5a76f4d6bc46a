//! A program's own connections to the databases of series, and a gapless series in one.

use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls};
use uidring::Store;
use uidring::series::SeriesGenerator;

use super::databases::Database;
use super::{clock, definition, series};

pub fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

pub fn run<T>(call: impl Future<Output = T>) -> T {
    runtime().block_on(call)
}

pub async fn postgres(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

pub async fn mysql(url: &str) -> mysql_async::Conn {
    mysql_async::Conn::from_url(url).await.unwrap()
}

/// A gapless series of this `pattern`, on 24 November 2026.
pub fn invoices(database: &Database, pattern: &str) -> SeriesGenerator {
    let series = series(&Store::open(&database.url).unwrap(), &clock("2026-11-24T12:00:00Z"));
    series.create("invoices", definition(pattern).gapless()).unwrap()
}
