//! A shop with axum and sqlx, in which each number is of the kind that it needs to be:
//!
//! * the primary keys of orders are UIDs,
//! * in addresses they are opaque, so that they do not tell how many orders there are,
//! * people see a number that begins anew each day for each branch: `berlin-20261125-0001`,
//! * invoices have numbers without gaps, counted in the transaction that stores them.
//!
//! ```sh
//! cd examples/shop
//! cargo run
//! curl localhost:3000/orders -H 'content-type: application/json' \
//!     -d '{"branch": "berlin", "item": "tea"}'
//! curl -X POST localhost:3000/orders/ord_.../invoice    # the id of the answer above
//! curl 'localhost:3000/orders?from=2026-01-01T00:00:00Z&to=2030-01-01T00:00:00Z&limit=10'
//! ```
//!
//! If `DATABASE_URL` is set, it is the address of a PostgreSQL server (`postgres://...`). Otherwise
//! all is in a SQLite file in the working directory, and the service runs on one machine. `LISTEN`
//! is the address to listen on, and `SHOP_KEY` the secret behind the opaque ids: 64 hexadecimal
//! digits, from `openssl rand -hex 32`.

use std::env;
use std::io;
use std::time::{Duration, SystemTime};

use anyhow::Context;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::postgres::PgPool;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use uidring::masked::{Key, Opaque};
use uidring::series::{Series, SeriesDefinition, SeriesError, SeriesGenerator};
use uidring::{RegistryOptions, Store, Uid, UidGenerator};

/// A service that is killed does not give its worker id back. After this time another may have it.
const LEASE: Duration = Duration::from_secs(600);
const MAX_PAGE: u32 = 1000;

/// An order as the database has it.
#[derive(sqlx::FromRow)]
struct Row {
    id: Uid,
    number: String,
    item: String,
    invoice: Option<String>,
}

/// An order as the outside sees it.
#[derive(Serialize)]
struct Order {
    /// The opaque form of the key.
    id: String,
    number: String,
    item: String,
    invoice: Option<String>,
}

#[derive(Deserialize)]
struct NewOrder {
    branch: String,
    item: String,
}

#[derive(Deserialize)]
struct Page {
    from: Timestamp,
    to: Timestamp,
    /// The last id of the page before.
    after: Option<String>,
    limit: Option<u32>,
}

#[derive(Clone)]
struct Shop {
    db: Db,
    uids: UidGenerator,
    ids: Opaque,
    orders: SeriesGenerator,
    invoices: SeriesGenerator,
}

#[derive(Clone)]
enum Db {
    Postgres(PgPool),
    Sqlite(SqlitePool),
}

/// Runs a query on either database. The SQL is the same, and both bind a `Uid`.
macro_rules! on {
    ($db:expr, $pool:ident => $query:expr) => {
        match $db {
            Db::Postgres($pool) => $query,
            Db::Sqlite($pool) => $query,
        }
    };
}

// An error that it returns is printed with its causes, and the exit status is 1.
#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let stop = stop_signal()?;
    let address = env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:3000".to_owned());
    // The port comes first: a start that fails for want of it takes no worker id.
    let listener =
        TcpListener::bind(&address).await.with_context(|| format!("cannot listen on {address}"))?;
    let shop = open().await?;
    let uids = shop.uids.clone();

    println!("listening on http://{}", listener.local_addr()?);
    // Requests that have begun are answered before this returns.
    axum::serve(listener, routes(shop)).with_graceful_shutdown(stop).await?;
    // The next service to start can have the worker id at once.
    uids.shutdown_async().await?;
    Ok(())
}

/// Completes at SIGTERM or Ctrl-C.
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

async fn open() -> anyhow::Result<Shop> {
    // Worker ids, series and documents are in one database: gapless numbers need that.
    let url = env::var("DATABASE_URL").ok();
    let store = Store::open(url.as_deref().unwrap_or("shop.db"))?;
    let registry = store.registry_with(RegistryOptions::new().leased(LEASE))?;
    let uids = UidGenerator::builder().registry(registry).build_async().await?;

    let series = Series::builder().store(&store).build()?;
    let orders = SeriesDefinition::new("{scope}-{yyyy}{MM}{dd}-{n:4}")?.time_zone("Europe/Berlin");
    let orders = series.create_async("orders", orders).await?;
    let invoices = SeriesDefinition::new("{yyyy}-{n:5}{check:damm}")?;
    let invoices = invoices.time_zone("Europe/Berlin").gapless();
    let invoices = series.create_async("invoices", invoices).await?;

    let key = env::var("SHOP_KEY").unwrap_or_else(|_| {
        eprintln!("SHOP_KEY is not set: the ids in addresses are no secret");
        "0".repeat(64)
    });
    let ids = Opaque::new(&key.parse::<Key>()?, "ord");

    let db = if let Some(url) = url {
        Db::Postgres(PgPool::connect(&url).await?)
    } else {
        // One connection, because SQLite has one writer at a time.
        let file = SqliteConnectOptions::new().filename("shop.db");
        Db::Sqlite(SqlitePoolOptions::new().max_connections(1).connect_with(file).await?)
    };
    // In SQLite, only an `INTEGER` is the key of the table itself.
    let integer = if matches!(db, Db::Sqlite(_)) { "INTEGER" } else { "BIGINT" };
    let create = format!(
        "CREATE TABLE IF NOT EXISTS orders (id {integer} PRIMARY KEY, number TEXT NOT NULL UNIQUE, \
         item TEXT NOT NULL, invoice TEXT UNIQUE)"
    );
    on!(&db, pool => sqlx::query(&create).execute(pool).await.map(drop))?;
    Ok(Shop { db, uids, ids, orders, invoices })
}

fn routes(shop: Shop) -> Router {
    Router::new()
        .route("/orders", post(create).get(list))
        .route("/orders/{id}", get(find))
        .route("/orders/{id}/invoice", post(invoice))
        .route("/livez", get(StatusCode::OK))
        .with_state(shop)
}

impl Shop {
    /// The order as the outside sees it.
    fn show(&self, row: Row) -> Order {
        let Row { id, number, item, invoice } = row;
        Order { id: self.ids.encode(id).to_string(), number, item, invoice }
    }
}

async fn create(State(shop): State<Shop>, Json(new): Json<NewOrder>) -> Result<Response, Failure> {
    // If there is no number for the moment, only this task waits, and not the runtime's thread.
    let id = shop.uids.take_async().await?;
    let number = match shop.orders.scope(&new.branch).take_async().await {
        Err(error @ (SeriesError::Scope(_) | SeriesError::Format(_))) => {
            return Ok((StatusCode::BAD_REQUEST, error.to_string()).into_response());
        }
        number => number?.into_string(),
    };
    let row = Row { id, number, item: new.item, invoice: None };
    let sql = "INSERT INTO orders (id, number, item) VALUES ($1, $2, $3)";
    on!(&shop.db, pool => {
        let insert = sqlx::query(sql).bind(row.id).bind(&row.number).bind(&row.item);
        insert.execute(pool).await.map(drop)
    })?;
    Ok((StatusCode::CREATED, Json(shop.show(row))).into_response())
}

async fn find(State(shop): State<Shop>, Path(id): Path<String>) -> Result<Response, Failure> {
    // One that was made up is not looked for.
    let Ok(id) = shop.ids.decode(&id) else {
        return Ok(StatusCode::NOT_FOUND.into_response());
    };
    let sql = "SELECT id, number, item, invoice FROM orders WHERE id = $1";
    let row: Option<Row> =
        on!(&shop.db, pool => sqlx::query_as(sql).bind(id).fetch_optional(pool).await)?;
    let order = row.map(|row| Json(shop.show(row)));
    Ok(order.ok_or(StatusCode::NOT_FOUND).into_response())
}

/// Gives the order an invoice, once. The number is counted in the transaction that stores it: if
/// that does not come to its end, the next invoice has this number.
async fn invoice(State(shop): State<Shop>, Path(id): Path<String>) -> Result<Response, Failure> {
    let Ok(id) = shop.ids.decode(&id) else {
        return Ok(StatusCode::NOT_FOUND.into_response());
    };
    let number: Option<String> = on!(&shop.db, pool => loop {
        let mut transaction = pool.begin().await?;
        let select = sqlx::query_scalar("SELECT invoice FROM orders WHERE id = $1").bind(id);
        let known: Option<Option<String>> = select.fetch_optional(&mut *transaction).await?;
        let Some(None) = known else { break known.flatten() };
        let number = shop.invoices.take_in(&mut transaction).await?.into_string();
        let sql = "UPDATE orders SET invoice = $1 WHERE id = $2 AND invoice IS NULL";
        let update = sqlx::query(sql).bind(&number).bind(id);
        // Otherwise another request was first: this one has counted nothing, and reads its number.
        if update.execute(&mut *transaction).await?.rows_affected() == 1 {
            transaction.commit().await?;
            break Some(number);
        }
        transaction.rollback().await?;
    });
    Ok(number.ok_or(StatusCode::NOT_FOUND).into_response())
}

/// The orders whose ids have their time in `from..to`. It needs no column for the time, and no
/// index beside the key. The time in an id may differ from the clock's: see `Layout::uids_in`.
async fn list(
    State(shop): State<Shop>,
    Query(page): Query<Page>,
) -> Result<Json<Vec<Order>>, Failure> {
    let ids = shop.uids.layout().uids_in(SystemTime::from(page.from)..page.to.into());
    let (first, last) = ids.into_inner();
    // One lower bound, so that the database does not read the pages before this one again.
    let page_before = page.after.as_deref().and_then(|id| shop.ids.decode(id).ok());
    let after = (i64::from(first) - 1).max(page_before.map_or(0, i64::from));
    let limit = page.limit.unwrap_or(100).min(MAX_PAGE);
    let sql = "SELECT id, number, item, invoice FROM orders WHERE id > $1 AND id <= $2 \
               ORDER BY id LIMIT $3";
    let rows: Vec<Row> = on!(&shop.db, pool => {
        sqlx::query_as(sql).bind(after).bind(last).bind(i64::from(limit)).fetch_all(pool).await
    })?;
    Ok(Json(rows.into_iter().map(|row| shop.show(row)).collect()))
}

/// The reason is for the log, and not for the caller.
struct Failure(anyhow::Error);

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure(error.into())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        eprintln!("{:#}", self.0);
        StatusCode::INTERNAL_SERVER_ERROR.into_response()
    }
}
