//! UIDs through the clients of PostgreSQL and MySQL that the registries have, on real servers. What
//! else `Uid` is integrated with is tested in `verify/compatibility/`, or by the examples of
//! `uidring::integrations`.

use tokio::runtime::Builder;
use uidring::Uid;

use crate::databases::Server;

const CREATE: &str = "CREATE TABLE orders (id BIGINT PRIMARY KEY, invoice BIGINT)";
const OTHERS: &str = "INSERT INTO orders VALUES (0, NULL), (-1, NULL)";

fn run(test: impl Future<Output = ()>) {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
}

#[cfg(all(feature = "postgres", feature = "postgres-types-0_2"))]
#[test]
#[ignore = "needs a PostgreSQL server"]
fn postgres() {
    use std::error::Error;

    use tokio_postgres::NoTls;

    let database = Server::Postgres.database();
    run(async {
        let (db, connection) = tokio_postgres::connect(&database.url, NoTls).await.unwrap();
        tokio::spawn(connection);
        db.batch_execute(&format!("{CREATE}; {OTHERS}")).await.unwrap();
        for (id, invoice) in [(Uid::MIN, None), (Uid::MAX, Some(Uid::MIN))] {
            db.execute("INSERT INTO orders VALUES ($1, $2)", &[&id, &invoice]).await.unwrap();
            let select = "SELECT id, invoice FROM orders WHERE id = $1";
            let row = db.query_one(select, &[&id]).await.unwrap();
            assert_eq!((row.get(0), row.get(1)), (id, invoice));
        }
        let select = "SELECT array_agg(id ORDER BY id) FROM orders WHERE id = ANY($1)";
        let both = [Uid::MIN, Uid::MAX];
        let row = db.query_one(select, &[&both.as_slice()]).await.unwrap();
        assert_eq!(row.get::<_, Vec<Uid>>(0), both);

        let rows = db.query("SELECT id, invoice FROM orders WHERE id < 1", &[]).await.unwrap();
        for row in rows {
            let number: i64 = row.get(0);
            let error = row.try_get::<_, Uid>(0).unwrap_err();
            let reason = format!("{number} is not a UID: a UID is in 1..=9223372036854775807");
            assert_eq!(error.source().unwrap().to_string(), reason);
            assert!(row.try_get::<_, Uid>(1).is_err(), "NULL");
        }
    });
}

#[cfg(all(feature = "mysql", feature = "mysql-common-0_37"))]
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn mysql() {
    use mysql_async::Conn;
    use mysql_async::prelude::Queryable;

    let database = Server::MySql.database();
    run(async {
        let mut db = Conn::from_url(&database.url).await.unwrap();
        db.query_drop(CREATE).await.unwrap();
        db.query_drop(OTHERS).await.unwrap();
        for (id, invoice) in [(Uid::MIN, None), (Uid::MAX, Some(Uid::MIN))] {
            db.exec_drop("INSERT INTO orders VALUES (?, ?)", (id, invoice)).await.unwrap();
            let select = "SELECT id, invoice FROM orders WHERE id = ?";
            let row: Option<(Uid, Option<Uid>)> = db.exec_first(select, (id,)).await.unwrap();
            assert_eq!(row, Some((id, invoice)));
        }
        let all = "SELECT id, invoice FROM orders WHERE id < 1";
        let rows: Vec<mysql_async::Row> = db.exec(all, ()).await.unwrap();
        assert_eq!(rows.len(), 2);
        for row in rows {
            assert!(row.get_opt::<Uid, _>(0).unwrap().is_err(), "{row:?}");
            assert!(row.get_opt::<Uid, _>(1).unwrap().is_err(), "{row:?}");
        }
        db.disconnect().await.unwrap();
    });
}
