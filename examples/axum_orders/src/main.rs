//! A service that takes orders, with axum and sqlx. The primary keys are UIDs.
//!
//! ```sh
//! cd examples/axum_orders
//! cargo run
//! curl localhost:3000/orders -H 'content-type: application/json' -d '{"item": "tea"}'
//! curl 'localhost:3000/orders?from=2026-01-01T00:00:00Z&to=2030-01-01T00:00:00Z&limit=10'
//! ```
//!
//! If `DATABASE_URL` is set, it is the address of a PostgreSQL server (`postgres://...`), which has
//! the orders and leases the worker ids. Otherwise both are in SQLite files in the working
//! directory, and the service runs on one machine. `LISTEN` is the address to listen on.

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
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use uidring::registry::{PostgresRegistry, SqliteRegistry};
use uidring::{Uid, UidGenerator};

/// A service that is killed does not give its worker id back. After this time another may have it.
const LEASE: Duration = Duration::from_secs(600);
const MAX_PAGE: u32 = 1000;

/// In JSON the id is a string, because JavaScript loses digits of large numbers.
#[derive(Serialize, sqlx::FromRow)]
struct Order {
    id: Uid,
    item: String,
}

#[derive(Deserialize)]
struct NewOrder {
    item: String,
}

#[derive(Deserialize)]
struct Page {
    from: Timestamp,
    to: Timestamp,
    /// The last id of the page before.
    after: Option<Uid>,
    limit: Option<u32>,
}

#[derive(Clone)]
struct Shop {
    db: Db,
    uids: UidGenerator,
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
    let builder = UidGenerator::builder();
    let (db, builder) = if let Ok(url) = env::var("DATABASE_URL") {
        let registry = PostgresRegistry::open(&url)?.leased(LEASE);
        let pool = PgPool::connect(&url).await?;
        let create =
            "CREATE TABLE IF NOT EXISTS orders (id BIGINT PRIMARY KEY, item TEXT NOT NULL)";
        sqlx::query(create).execute(&pool).await?;
        (Db::Postgres(pool), builder.registry(registry))
    } else {
        let registry = SqliteRegistry::open("uidring.db")?.leased(LEASE);
        let file = SqliteConnectOptions::new()
            .filename("orders.db")
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal);
        // One connection, because SQLite has one writer at a time.
        let pool = SqlitePoolOptions::new().max_connections(1).connect_with(file).await?;
        // In SQLite, only an `INTEGER` is the key of the table itself.
        let create =
            "CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, item TEXT NOT NULL)";
        sqlx::query(create).execute(&pool).await?;
        (Db::Sqlite(pool), builder.registry(registry))
    };
    Ok(Shop { db, uids: builder.build_async().await? })
}

fn routes(shop: Shop) -> Router {
    Router::new()
        .route("/orders", post(create).get(list))
        .route("/orders/{id}", get(find))
        .route("/livez", get(StatusCode::OK))
        .with_state(shop)
}

async fn create(State(shop): State<Shop>, Json(new): Json<NewOrder>) -> Result<Response, Failure> {
    // If there is no UID for the moment, only this task waits, and not the runtime's thread.
    let order = Order { id: shop.uids.take_async().await?, item: new.item };
    let sql = "INSERT INTO orders (id, item) VALUES ($1, $2)";
    on!(&shop.db, pool => {
        sqlx::query(sql).bind(order.id).bind(&order.item).execute(pool).await.map(drop)
    })?;
    Ok((StatusCode::CREATED, Json(order)).into_response())
}

async fn find(State(shop): State<Shop>, Path(id): Path<Uid>) -> Result<Response, Failure> {
    let sql = "SELECT id, item FROM orders WHERE id = $1";
    let order: Option<Order> =
        on!(&shop.db, pool => sqlx::query_as(sql).bind(id).fetch_optional(pool).await)?;
    Ok(order.map(Json).ok_or(StatusCode::NOT_FOUND).into_response())
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
    let after = (i64::from(first) - 1).max(page.after.map_or(0, i64::from));
    let limit = page.limit.unwrap_or(100).min(MAX_PAGE);
    let sql = "SELECT id, item FROM orders WHERE id > $1 AND id <= $2 ORDER BY id LIMIT $3";
    let orders = on!(&shop.db, pool => {
        sqlx::query_as(sql).bind(after).bind(last).bind(i64::from(limit)).fetch_all(pool).await
    })?;
    Ok(Json(orders))
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
