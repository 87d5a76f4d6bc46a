//! What a gapless number costs in a transaction of each crate, beside the same statement by hand:
//! as the library sends it, with its values, and on MySQL with the query that reads the number.
//!
//! ```sh
//! cargo run --release --manifest-path benches/adapters/Cargo.toml -- POSTGRES MYSQL
//! ```
//!
//! The two take turns, so many calls each, in one transaction that is rolled back. It prints the
//! medians, and the median of the ratios of each turn. The contents of the databases do not matter.

use std::env;
use std::future::Future;
use std::time::Instant;

use diesel::{Connection, RunQueryDsl, sql_query};
use mysql_async::prelude::Queryable;
use uidring::Store;
use uidring::series::{Dialect, Series, SeriesDefinition, SeriesGenerator, SqlValue};

const CALLS: u32 = 50;
const ROUNDS: usize = 40;

/// Times both, in turns.
macro_rules! turns {
    ($hand:expr, $take:expr) => {{
        let mut turns = Vec::new();
        // The first one prepares what is prepared once.
        for _ in 0..=ROUNDS {
            let since = Instant::now();
            for _ in 0..CALLS {
                $hand;
            }
            let hand = since.elapsed();
            let since = Instant::now();
            for _ in 0..CALLS {
                $take;
            }
            let each = |time: std::time::Duration| time.as_secs_f64() * 1e9 / f64::from(CALLS);
            turns.push((each(hand), each(since.elapsed())));
        }
        turns.remove(0);
        turns
    }};
}

macro_rules! in_diesel {
    ($db:expr, $invoices:expr, $hand:expr) => {{
        let mut turns = Vec::new();
        let result = $db.transaction(|db| {
            turns = turns!(by_hand!(db, $hand), $invoices.take_in(db).expect("a number"));
            Err::<(), _>(diesel::result::Error::RollbackTransaction)
        });
        assert!(result.is_err());
        turns
    }};
}

macro_rules! by_hand {
    ($db:expr, $hand:expr) => {{
        use diesel::sql_types::{BigInt, Text};
        let mut query = sql_query($hand.count).into_boxed();
        for value in &$hand.values {
            query = match value {
                SqlValue::Integer(number) => query.bind::<BigInt, _>(number),
                SqlValue::Text(text) => query.bind::<Text, _>(text),
            };
        }
        if $hand.count.contains("RETURNING") {
            let _: Vec<Number> = query.load($db).expect("a number");
        } else {
            query.execute($db).expect("a count");
            let [series, scope, period] = &$hand.key;
            let read = $hand.read.replace(" FROM", " AS last_number FROM");
            let query = sql_query(read).bind::<Text, _>(series).bind::<Text, _>(scope);
            let _: Vec<Number> = query.bind::<Text, _>(period).load($db).expect("a number");
        }
    }};
}

fn main() {
    let addresses: Vec<String> = env::args().skip(1).collect();
    let [postgres, mysql] = &addresses[..] else {
        eprintln!("name the addresses of a PostgreSQL and a MySQL server");
        std::process::exit(2);
    };
    println!("| crate | database | by hand, µs | `take_in`, µs | ratio |");
    println!("|---|---|---:|---:|---:|");
    in_sqlite();
    for (address, dialect) in [(postgres, Dialect::Postgres), (mysql, Dialect::MySql)] {
        let name = if dialect == Dialect::Postgres { "PostgreSQL" } else { "MySQL" };
        let invoices = invoices(address);
        let hand = Hand::new(&invoices, dialect);
        if dialect == Dialect::Postgres {
            print("tokio-postgres", name, run(in_tokio_postgres(address, &invoices, &hand)));
            print("sqlx 0.8", name, run(sqlx_0_8::postgres(address, &invoices, &hand)));
            print("sqlx 0.9", name, run(sqlx_0_9::postgres(address, &invoices, &hand)));
            let mut db = diesel::PgConnection::establish(address).expect("a connection");
            print("diesel 2", name, in_diesel!(db, invoices, hand));
        } else {
            print("mysql_async", name, run(in_mysql_async(address, &invoices, &hand)));
            print("sqlx 0.8", name, run(sqlx_0_8::mysql(address, &invoices, &hand)));
            print("sqlx 0.9", name, run(sqlx_0_9::mysql(address, &invoices, &hand)));
            let mut db = diesel::MysqlConnection::establish(address).expect("a connection");
            print("diesel 2", name, in_diesel!(db, invoices, hand));
        }
        print("SeaORM 1", name, run(sea_orm_1::any(address, &invoices, &hand)));
        print("SeaORM 2", name, run(sea_orm_2::any(address, &invoices, &hand)));
    }
}

fn run<T>(call: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(call)
}

/// Nanoseconds of a call by hand and of one by the library, in each turn.
type Turns = Vec<(f64, f64)>;

fn print(name: &str, database: &str, turns: Turns) {
    let median = |value: fn(&(f64, f64)) -> f64| {
        let mut values: Vec<f64> = turns.iter().map(value).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let (hand, take) = (median(|turn| turn.0) / 1e3, median(|turn| turn.1) / 1e3);
    let ratio = median(|turn| turn.1 / turn.0);
    println!("| {name} | {database} | {hand:.0} | {take:.0} | {ratio:.2} |");
}

/// A gapless series with a number already.
fn invoices(address: &str) -> SeriesGenerator {
    let store = Store::open(address).expect("an address");
    let series = Series::builder().store(&store).build().expect("series");
    let definition = SeriesDefinition::new("{yyyy}-{n:9}").expect("a pattern").gapless();
    series.create("adapters", definition).expect("a series")
}

/// What a program would send that does by itself what the library does.
struct Hand {
    count: &'static str,
    values: Vec<SqlValue>,
    /// Reads the number, where the statement that counts does not return it.
    read: &'static str,
    key: [String; 3],
}

impl Hand {
    /// As the library sends it to a driver that fails.
    fn new(invoices: &SeriesGenerator, dialect: Dialect) -> Hand {
        let mut sent = None;
        let _ = invoices.take_with(dialect, |sql, values| {
            if sql.starts_with("INSERT") {
                sent = Some((sql.to_owned(), values.to_owned()));
            }
            match sql {
                "SAVEPOINT uidring_count" | "RELEASE SAVEPOINT uidring_count" => Ok(Vec::new()),
                _ if sql.contains("config('") => Ok(vec![vec![Some("yes".to_owned())]]),
                _ if sql.contains("current_setting") => Ok(vec![vec![Some("yes".to_owned())]]),
                _ => Err("it is in a transaction, and counts nothing"),
            }
        });
        let (count, values) = sent.expect("a statement");
        let text = |at: usize| match &values[at] {
            SqlValue::Text(text) => text.clone(),
            SqlValue::Integer(number) => number.to_string(),
        };
        let key = [text(5), text(0), text(1)];
        let read = "SELECT CAST(last_number AS CHAR) FROM uidring_series_counter \
                    WHERE series = ? AND scope = ? AND period = ?";
        Hand { count: count.leak(), values, read, key }
    }
}

fn in_sqlite() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("uidring.db").display().to_string();
    let invoices = invoices(&file);
    let hand = Hand::new(&invoices, Dialect::Sqlite);
    let mut db = rusqlite::Connection::open(&file).expect("a connection");
    let mut transaction = db.transaction().expect("a transaction");
    let values: Vec<rusqlite::types::Value> = hand
        .values
        .iter()
        .map(|value| match value {
            SqlValue::Integer(number) => (*number).into(),
            SqlValue::Text(text) => text.clone().into(),
        })
        .collect();
    let turns = turns!(
        {
            let mut statement = transaction.prepare_cached(hand.count).expect("a statement");
            let params = rusqlite::params_from_iter(&values);
            statement.query_row(params, |row| row.get::<_, String>(0)).expect("a number");
        },
        invoices.take_in(&mut transaction).expect("a number")
    );
    print("rusqlite", "SQLite", turns);
}

async fn in_tokio_postgres(address: &str, invoices: &SeriesGenerator, hand: &Hand) -> Turns {
    use tokio_postgres::types::ToSql;
    let open = tokio_postgres::connect(address, tokio_postgres::NoTls);
    let (mut db, connection) = open.await.expect("a connection");
    tokio::spawn(connection);
    let mut transaction = db.transaction().await.expect("a transaction");
    let values: Vec<&(dyn ToSql + Sync)> = hand
        .values
        .iter()
        .map(|value| match value {
            SqlValue::Integer(number) => number as &(dyn ToSql + Sync),
            SqlValue::Text(text) => text,
        })
        .collect();
    turns!(
        {
            let row = transaction.query_one(hand.count, &values).await.expect("a number");
            row.get::<_, String>(0)
        },
        invoices.take_in(&mut transaction).await.expect("a number")
    )
}

async fn in_mysql_async(address: &str, invoices: &SeriesGenerator, hand: &Hand) -> Turns {
    let mut db = mysql_async::Conn::from_url(address).await.expect("a connection");
    let begin = db.start_transaction(mysql_async::TxOpts::default());
    let mut transaction = begin.await.expect("a transaction");
    let values: Vec<mysql_async::Value> = hand
        .values
        .iter()
        .map(|value| match value {
            SqlValue::Integer(number) => (*number).into(),
            SqlValue::Text(text) => text.as_str().into(),
        })
        .collect();
    turns!(
        {
            transaction.exec_drop(hand.count, values.clone()).await.expect("a count");
            let read = transaction.exec_first(hand.read, hand.key.to_vec());
            read.await.expect("a number").map(|number: String| number)
        },
        invoices.take_in(&mut transaction).await.expect("a number")
    )
}

/// Both versions have the same names.
macro_rules! in_sqlx {
    ($name:ident) => {
        mod $name {
            use super::*;
            use ::$name::Connection;

            pub async fn postgres(address: &str, invoices: &SeriesGenerator, hand: &Hand) -> Turns {
                let connection = ::$name::PgConnection::connect(address).await;
                let mut db = connection.expect("a connection");
                let mut transaction = db.begin().await.expect("a transaction");
                turns!(
                    {
                        let mut query = ::$name::query_scalar::<_, String>(hand.count);
                        for value in &hand.values {
                            query = match value {
                                SqlValue::Integer(number) => query.bind(number),
                                SqlValue::Text(text) => query.bind(text),
                            };
                        }
                        query.fetch_one(&mut *transaction).await.expect("a number")
                    },
                    invoices.take_in(&mut transaction).await.expect("a number")
                )
            }

            pub async fn mysql(address: &str, invoices: &SeriesGenerator, hand: &Hand) -> Turns {
                let connection = ::$name::MySqlConnection::connect(address).await;
                let mut db = connection.expect("a connection");
                let mut transaction = db.begin().await.expect("a transaction");
                turns!(
                    {
                        let mut query = ::$name::query(hand.count);
                        for value in &hand.values {
                            query = match value {
                                SqlValue::Integer(number) => query.bind(number),
                                SqlValue::Text(text) => query.bind(text),
                            };
                        }
                        query.execute(&mut *transaction).await.expect("a count");
                        let mut query = ::$name::query_scalar::<_, String>(hand.read);
                        for part in &hand.key {
                            query = query.bind(part);
                        }
                        query.fetch_one(&mut *transaction).await.expect("a number")
                    },
                    invoices.take_in(&mut transaction).await.expect("a number")
                )
            }
        }
    };
}

in_sqlx!(sqlx_0_8);
in_sqlx!(sqlx_0_9);

/// Version 2 has another name for the call that runs a statement as it is.
macro_rules! in_sea_orm {
    ($name:ident, $query_one:ident, $execute:ident) => {
        mod $name {
            use super::*;
            use ::$name::{
                ConnectOptions, ConnectionTrait, Database, DbBackend, Statement, TransactionTrait,
                Value,
            };

            pub async fn any(address: &str, invoices: &SeriesGenerator, hand: &Hand) -> Turns {
                let mut options = ConnectOptions::new(address);
                options.sqlx_logging(false);
                let db = Database::connect(options).await.expect("a connection");
                let backend = db.get_database_backend();
                let mut transaction = db.begin().await.expect("a transaction");
                let values: Vec<Value> = hand
                    .values
                    .iter()
                    .map(|value| match value {
                        SqlValue::Integer(number) => (*number).into(),
                        SqlValue::Text(text) => text.clone().into(),
                    })
                    .collect();
                turns!(
                    {
                        let values = values.clone();
                        let mut sent = Statement::from_sql_and_values(backend, hand.count, values);
                        if backend == DbBackend::MySql {
                            transaction.$execute(sent).await.expect("a count");
                            let key = hand.key.iter().map(|part| part.clone().into());
                            sent = Statement::from_sql_and_values(backend, hand.read, key);
                        }
                        let row = transaction.$query_one(sent).await.expect("a number");
                        row.expect("a row").try_get_by_index::<String>(0).expect("a text")
                    },
                    invoices.take_in(&mut transaction).await.expect("a number")
                )
            }
        }
    };
}

in_sea_orm!(sea_orm_1, query_one, execute);
in_sea_orm!(sea_orm_2, query_one_raw, execute_raw);

/// The number, by the name of its column.
#[derive(diesel::QueryableByName)]
struct Number {
    #[allow(dead_code)]
    #[diesel(sql_type = diesel::sql_types::Text)]
    last_number: String,
}
