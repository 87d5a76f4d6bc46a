//! UIDs through sqlx, in each database that it knows.

#[path = "../tests/common/databases/mod.rs"]
mod databases;
mod uids;

use databases::Server;
use sqlx::{Connection, MySqlConnection, PgConnection, SqliteConnection};
use uidring::Uid;

macro_rules! round_trip {
    ($connection:ty, $url:expr, $insert:literal, $select:literal) => {{
        let mut db = <$connection>::connect($url).await.unwrap();
        let create = "CREATE TABLE orders (id BIGINT PRIMARY KEY, invoice BIGINT)";
        sqlx::query(create).execute(&mut db).await.unwrap();

        let [first, second] = uids::two();
        for (id, invoice) in [(first, None), (second, Some(first))] {
            sqlx::query($insert).bind(id).bind(invoice).execute(&mut db).await.unwrap();
            let row: (Uid, Option<Uid>) =
                sqlx::query_as($select).bind(id).fetch_one(&mut db).await.unwrap();
            assert_eq!(row, (id, invoice));
        }

        for (id, reason) in uids::NO_UIDS {
            sqlx::query($insert).bind(id).bind(None::<Uid>).execute(&mut db).await.unwrap();
            let row: Result<(Uid, Option<Uid>), _> =
                sqlx::query_as($select).bind(id).fetch_one(&mut db).await;
            let error = row.unwrap_err();
            assert!(matches!(error, sqlx::Error::ColumnDecode { .. }), "{error:?}");
            assert!(error.to_string().contains(reason), "{error}");
        }
        let null: Result<(Uid, Uid), _> =
            sqlx::query_as($select).bind(first).fetch_one(&mut db).await;
        assert!(null.unwrap_err().to_string().contains("unexpected null"));
        db
    }};
}

#[tokio::test(flavor = "current_thread")]
async fn sqlite() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}?mode=rwc", dir.path().join("orders.db").display());
    round_trip!(
        SqliteConnection,
        &url,
        "INSERT INTO orders VALUES (?, ?)",
        "SELECT id, invoice FROM orders WHERE id = ?"
    );
}

#[tokio::test(flavor = "current_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn postgres() {
    let database = Server::Postgres.database();
    let mut db = round_trip!(
        PgConnection,
        &database.url,
        "INSERT INTO orders VALUES ($1, $2)",
        "SELECT id, invoice FROM orders WHERE id = $1"
    );
    let query = "SELECT id FROM orders WHERE invoice = ANY($1)";
    let all: Vec<Uid> = sqlx::query_scalar("SELECT id FROM orders WHERE id > 0 ORDER BY id")
        .fetch_all(&mut db)
        .await
        .unwrap();
    let found: Vec<Uid> = sqlx::query_scalar(query).bind(&all).fetch_all(&mut db).await.unwrap();
    assert_eq!(found, all[1..]);
    let array: Vec<Uid> =
        sqlx::query_scalar("SELECT $1").bind(&all[..]).fetch_one(&mut db).await.unwrap();
    assert_eq!(array, all);
}

#[tokio::test(flavor = "current_thread")]
#[ignore = "needs a MySQL or MariaDB server"]
async fn mysql() {
    let database = Server::MySql.database();
    round_trip!(
        MySqlConnection,
        &database.url,
        "INSERT INTO orders VALUES (?, ?)",
        "SELECT id, invoice FROM orders WHERE id = ?"
    );
}
