//! UIDs through sqlx, and numbers without gaps in its transactions, in each database that it knows.

#[path = "../../tests/common/databases/mod.rs"]
mod databases;
mod uids;

use databases::{OwnServer, Server};
use sqlx::{AnyConnection, Connection, MySqlConnection, PgConnection, Row, SqliteConnection};
use uidring::segment::Number;
use uidring::series::{Series, SeriesDefinition, SeriesError, SeriesGenerator};
use uidring::{Store, Uid};

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

/// As Laravel and Rails make their keys.
#[tokio::test(flavor = "current_thread")]
#[ignore = "needs a MySQL or MariaDB server"]
async fn unsigned_columns_of_mysql_are_read() {
    let database = Server::MySql.database();
    let mut db = MySqlConnection::connect(&database.url).await.unwrap();
    let create = "CREATE TABLE orders (id BIGINT UNSIGNED PRIMARY KEY, invoice BIGINT UNSIGNED, \
        small INT UNSIGNED, tiny TINYINT UNSIGNED, mid MEDIUMINT UNSIGNED, \
        short SMALLINT UNSIGNED)";
    sqlx::query(create).execute(&mut db).await.unwrap();
    let [first, second] = uids::two();
    let insert = "INSERT INTO orders VALUES (?, ?, 4294967295, 255, 16777215, 65535)";
    for (id, invoice) in [(first, None), (second, Some(first)), (Uid::MAX, Some(Uid::MIN))] {
        sqlx::query(insert).bind(id).bind(invoice).execute(&mut db).await.unwrap();
        let select = "SELECT id, invoice FROM orders WHERE id = ?";
        let row: (Uid, Option<Uid>) =
            sqlx::query_as(select).bind(id).fetch_one(&mut db).await.unwrap();
        assert_eq!(row, (id, invoice));
        let select = "SELECT small, tiny, mid, short FROM orders WHERE id = ?";
        let row: (Uid, Uid, Number, Number) =
            sqlx::query_as(select).bind(id).fetch_one(&mut db).await.unwrap();
        assert_eq!((row.0.get(), row.1.get()), (u32::MAX.into(), 255));
        assert_eq!((row.2.get(), row.3.get()), (16_777_215, 65_535));
    }
    // In the protocol of texts, which a statement without parameters has.
    let all = sqlx::raw_sql("SELECT id FROM orders ORDER BY id").fetch_all(&mut db).await.unwrap();
    let all: Vec<Uid> = all.iter().map(|row| row.get(0)).collect();
    assert_eq!(all, [first, second, Uid::MAX]);

    for (id, reason) in [
        ("0", "0 is not a UID"),
        ("9223372036854775808", "9223372036854775808 is not a UID"),
        ("18446744073709551615", "18446744073709551615 is not a UID"),
    ] {
        let insert = format!("INSERT INTO orders (id) VALUES ({id})");
        database.run(&insert);
        let select = "SELECT id FROM orders WHERE id = CAST(? AS UNSIGNED)";
        let row: Result<Uid, _> = sqlx::query_scalar(select).bind(id).fetch_one(&mut db).await;
        let error = row.unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

/// Clients at once, each with a connection of its own.
const CLIENTS: u64 = 8;
const ROUNDS: u64 = 40;

/// Each client commits some documents and rolls others back. Those that are committed have all
/// numbers from 1 on, each once.
macro_rules! gapless {
    ($connection:ty, $url:expr, $store:expr, $begin:literal, $insert:literal) => {{
        let series = Series::builder().store(&Store::open($store).unwrap()).build().unwrap();
        let definition = SeriesDefinition::new("{yyyy}-{n:6}").unwrap().gapless();
        let invoices = series.create("invoices", definition).unwrap();
        let day = "2026-11-24".parse().unwrap();
        let mut db = <$connection>::connect($url).await.unwrap();
        let create = "CREATE TABLE invoice (number VARCHAR(64) PRIMARY KEY)";
        sqlx::query(create).execute(&mut db).await.unwrap();
        let run = |client: u64| {
            let (invoices, url) = (invoices.clone(), $url.to_owned());
            async move {
                let mut db = <$connection>::connect(&url).await.unwrap();
                let mut refused = 0;
                for round in 0..ROUNDS {
                    let mut transaction = db.begin_with($begin).await.unwrap();
                    let number = match invoices.take_in_for(&mut transaction, day).await {
                        Ok(number) => number,
                        // The database may refuse one of several, which is rolled back.
                        Err(SeriesError::Transaction { .. }) => {
                            refused += 1;
                            continue;
                        }
                        Err(error) => panic!("{error:?}"),
                    };
                    let insert = sqlx::query($insert).bind(number.as_str());
                    insert.execute(&mut *transaction).await.unwrap();
                    if (client + round) % 4 == 0 {
                        transaction.rollback().await.unwrap();
                    } else {
                        transaction.commit().await.unwrap();
                    }
                }
                refused
            }
        };
        let mut refused = 0;
        let clients: Vec<_> = (0..CLIENTS).map(|client| tokio::spawn(run(client))).collect();
        for client in clients {
            refused += client.await.unwrap();
        }
        let select = "SELECT number FROM invoice ORDER BY number";
        let numbers: Vec<String> = sqlx::query_scalar(select).fetch_all(&mut db).await.unwrap();
        let value = |text: &String| invoices.pattern().parse(text).unwrap().value();
        let numbers: Vec<u64> = numbers.iter().map(value).collect();
        assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
        let most = CLIENTS * ROUNDS * 3 / 4;
        assert!(numbers.len() as u64 + refused >= most, "{} documents", numbers.len());
        assert!(refused < most / 2, "{refused} refused");
    }};
}

#[tokio::test(flavor = "current_thread")]
async fn sqlite_counts_without_gaps() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("orders.db");
    gapless!(
        SqliteConnection,
        &format!("sqlite://{}", file.display()),
        &file,
        "BEGIN IMMEDIATE",
        "INSERT INTO invoice VALUES (?)"
    );
}

#[tokio::test(flavor = "current_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn postgres_counts_without_gaps() {
    let database = Server::Postgres.database();
    gapless!(
        PgConnection,
        &database.url,
        &database.url,
        "BEGIN",
        "INSERT INTO invoice VALUES ($1)"
    );
}

#[tokio::test(flavor = "current_thread")]
#[ignore = "needs a MySQL or MariaDB server"]
async fn mysql_counts_without_gaps() {
    let database = Server::MySql.database();
    gapless!(
        MySqlConnection,
        &database.url,
        &database.url,
        "BEGIN",
        "INSERT INTO invoice VALUES (?)"
    );
}

/// A gapless series of `url`, and transactions of it.
fn invoices(url: &str) -> SeriesGenerator {
    let series = Series::builder().store(&Store::open(url).unwrap()).build().unwrap();
    series.create("invoices", SeriesDefinition::new("{yyyy}-{n:5}").unwrap().gapless()).unwrap()
}

/// With these, MySQL calls texts bytes.
#[tokio::test(flavor = "current_thread")]
#[ignore = "needs a MySQL or MariaDB server"]
async fn connections_of_mysql_with_any_collation_count() {
    let database = Server::MySql.database();
    let invoices = invoices(&database.url);
    let mut counted = 0;
    for names in ["utf8mb4 COLLATE utf8mb4_bin", "utf8mb4", "latin1 COLLATE latin1_bin", "binary"] {
        let mut db = MySqlConnection::connect(&database.url).await.unwrap();
        sqlx::raw_sql(leaked(format!("SET NAMES {names}"))).execute(&mut db).await.unwrap();
        for _ in 0..2 {
            let mut transaction = db.begin().await.unwrap();
            let number = invoices.take_in(&mut transaction).await;
            counted += 1;
            assert_eq!(number.unwrap().value(), counted, "{names}");
            transaction.commit().await.unwrap();
        }
        // What is read when the series has been changed.
        let other = Series::builder().store(&Store::open(&database.url).unwrap()).build().unwrap();
        let begins = format!("{}-01-01", 2900 + counted).parse().unwrap();
        let pattern = format!("{{yyyy}}-{{n:{}}}", 5 + counted / 2);
        let changed = SeriesDefinition::new(&pattern).unwrap().gapless();
        other.change("invoices", changed, begins).unwrap();
        let mut transaction = db.begin().await.unwrap();
        let number = invoices.take_in_for(&mut transaction, begins).await.unwrap();
        assert_eq!(number.value(), 1, "{names}");
        transaction.commit().await.unwrap();
    }
}

/// Two versions of sqlx take it each in its own way.
fn leaked(sql: String) -> &'static str {
    Box::leak(sql.into_boxed_str())
}

/// In a transaction of `Any`, which may be one of each database.
async fn any_counts(url: &str, store: &str) {
    sqlx::any::install_default_drivers();
    let invoices = invoices(store);
    let mut db = AnyConnection::connect(url).await.unwrap();
    for value in [1, 2, 2] {
        let mut transaction = db.begin().await.unwrap();
        assert_eq!(invoices.take_in(&mut transaction).await.unwrap().value(), value);
        if value == 1 {
            transaction.commit().await.unwrap();
        } else {
            transaction.rollback().await.unwrap();
        }
    }
    // What is read when the series has been changed.
    let other = Series::builder().store(&Store::open(store).unwrap()).build().unwrap();
    let begins = "2999-01-01".parse().unwrap();
    let changed = SeriesDefinition::new("{yyyy}-{n:6}").unwrap().gapless();
    other.change("invoices", changed, begins).unwrap();
    let mut transaction = db.begin().await.unwrap();
    let number = invoices.take_in_for(&mut transaction, begins).await.unwrap();
    assert_eq!(number.as_str(), "2999-000001");
    transaction.commit().await.unwrap();
}

#[tokio::test(flavor = "current_thread")]
async fn any_counts_in_sqlite() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("orders.db").display().to_string();
    any_counts(&format!("sqlite://{file}"), &file).await;
}

#[tokio::test(flavor = "current_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn any_counts_in_postgres() {
    let database = Server::Postgres.database();
    any_counts(&database.url, &database.url).await;
}

#[tokio::test(flavor = "current_thread")]
#[ignore = "needs a MySQL or MariaDB server"]
async fn any_counts_in_mysql() {
    let database = Server::MySql.database();
    any_counts(&database.url, &database.url).await;
    // Of its bytes, too.
    sqlx::any::install_default_drivers();
    let mut db = AnyConnection::connect(&database.url).await.unwrap();
    sqlx::raw_sql("SET NAMES utf8mb4 COLLATE utf8mb4_bin").execute(&mut db).await.unwrap();
    let mut transaction = db.begin().await.unwrap();
    let series = Series::builder().store(&Store::open(&database.url).unwrap()).build().unwrap();
    let invoices = series.get("invoices").unwrap();
    assert_eq!(invoices.take_in(&mut transaction).await.unwrap().value(), 2);
    transaction.rollback().await.unwrap();
}

/// Makes two transactions count the same numbers, each in the other order, and says what the one
/// was told that the database has refused.
macro_rules! deadlock {
    ($connection:ty, $url:expr, $invoices:expr) => {{
        let [a, b] = ["a", "b"].map(|scope| $invoices.scope(scope));
        let mut one = <$connection>::connect($url).await.unwrap();
        let mut other = <$connection>::connect($url).await.unwrap();
        let (mut first, mut second) = (one.begin().await.unwrap(), other.begin().await.unwrap());
        a.take_in(&mut first).await.unwrap();
        b.take_in(&mut second).await.unwrap();
        // Whoever is refused lets the other go on.
        let run = async {
            let said = b.take_in(&mut first).await.err();
            first.rollback().await.unwrap();
            said
        };
        let beside = async {
            let said = a.take_in(&mut second).await.err();
            second.rollback().await.unwrap();
            said
        };
        let (said, also) = tokio::join!(run, beside);
        said.or(also).expect("one is refused")
    }};
}

/// Has a transaction wait for the number that another one holds, by the limit that `set` sets.
macro_rules! wait_too_long {
    ($connection:ty, $url:expr, $invoices:expr, $set:expr) => {{
        let mut one = <$connection>::connect($url).await.unwrap();
        let mut other = <$connection>::connect($url).await.unwrap();
        let mut holds = one.begin().await.unwrap();
        $invoices.take_in(&mut holds).await.unwrap();
        sqlx::raw_sql($set).execute(&mut other).await.unwrap();
        let mut waits = other.begin().await.unwrap();
        let error = $invoices.take_in(&mut waits).await.unwrap_err();
        waits.rollback().await.unwrap();
        holds.rollback().await.unwrap();
        error
    }};
}

fn is_worth_another_try(error: &SeriesError, what: &str) {
    assert!(matches!(error, SeriesError::Transaction { .. }), "{what}: {error:?}");
    assert!(error.is_transient(), "{what}: {error:?}");
    let said = "roll it back, and try again in a new one";
    assert!(error.to_string().ends_with(said), "{what}: {error}");
}

#[tokio::test(flavor = "current_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn conflicts_in_postgres_are_worth_another_try() {
    let database = Server::Postgres.database();
    let invoices = invoices(&database.url);
    let url = &database.url;
    is_worth_another_try(&deadlock!(PgConnection, url, invoices), "deadlock");
    sqlx::any::install_default_drivers();
    is_worth_another_try(&deadlock!(AnyConnection, url, invoices), "deadlock of Any");
    for set in ["SET lock_timeout = 100", "SET statement_timeout = 100"] {
        is_worth_another_try(&wait_too_long!(PgConnection, url, invoices, set), set);
    }
}

#[tokio::test(flavor = "current_thread")]
#[ignore = "needs a MySQL or MariaDB server"]
async fn conflicts_in_mysql_are_worth_another_try() {
    let database = Server::MySql.database();
    let invoices = invoices(&database.url);
    let url = &database.url;
    is_worth_another_try(&deadlock!(MySqlConnection, url, invoices), "deadlock");
    sqlx::any::install_default_drivers();
    is_worth_another_try(&deadlock!(AnyConnection, url, invoices), "deadlock of Any");
    let mut limits = vec!["SET innodb_lock_wait_timeout = 1"];
    if database.run("SELECT @@version").contains("MariaDB") {
        limits.push("SET max_statement_time = 0.2");
    }
    for set in limits {
        is_worth_another_try(&wait_too_long!(MySqlConnection, url, invoices, set), set);
        is_worth_another_try(&wait_too_long!(AnyConnection, url, invoices, set), set);
    }
    // Not so what no other transaction mends.
    let mut db = MySqlConnection::connect(url).await.unwrap();
    database.run("RENAME TABLE uidring_series_counter TO gone");
    let error = invoices.take_in(&mut db.begin().await.unwrap()).await.unwrap_err();
    assert!(!error.is_transient() && error.to_string().ends_with("roll it back"), "{error}");
}

#[tokio::test(flavor = "current_thread")]
async fn a_locked_file_is_worth_another_try() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("orders.db").display().to_string();
    let invoices = invoices(&file);
    let url = format!("sqlite://{file}");
    let set = "PRAGMA busy_timeout = 50";
    is_worth_another_try(&wait_too_long!(SqliteConnection, &url, invoices, set), set);
    sqlx::any::install_default_drivers();
    is_worth_another_try(&wait_too_long!(AnyConnection, &url, invoices, set), set);
}

/// MariaDB, from 11.6 on unless set otherwise, refuses to a transaction what others have written
/// since it read anything. One that counts first has read nothing.
#[tokio::test(flavor = "current_thread")]
#[ignore = "needs a MySQL or MariaDB server"]
async fn a_transaction_of_mariadb_that_counts_first_is_not_refused() {
    let database = Server::MySql.database();
    let invoices = invoices(&database.url);
    let mut db = MySqlConnection::connect(&database.url).await.unwrap();
    let mut other = MySqlConnection::connect(&database.url).await.unwrap();
    let set = "SET innodb_snapshot_isolation = ON";
    sqlx::raw_sql(set).execute(&mut db).await.unwrap();
    let mut refused = 0;
    for counts_first in [false, true, true] {
        let mut transaction = db.begin().await.unwrap();
        if !counts_first {
            let read = "SELECT COUNT(*) FROM uidring_layout";
            sqlx::query(read).execute(&mut *transaction).await.unwrap();
        }
        let mut meanwhile = other.begin().await.unwrap();
        invoices.take_in(&mut meanwhile).await.unwrap();
        meanwhile.commit().await.unwrap();
        match invoices.take_in(&mut transaction).await {
            Ok(_) => transaction.commit().await.unwrap(),
            Err(error) => {
                is_worth_another_try(&error, set);
                assert!(!counts_first);
                refused += 1;
                transaction.rollback().await.unwrap();
            }
        }
    }
    assert_eq!(refused, 1);
    // Also where it waits for another one.
    sqlx::raw_sql(set).execute(&mut other).await.unwrap();
    let (mut first, mut second) = (db.begin().await.unwrap(), other.begin().await.unwrap());
    let value = invoices.take_in(&mut first).await.unwrap().value();
    let waits = async {
        let number = invoices.take_in(&mut second).await;
        second.commit().await.unwrap();
        number
    };
    let (number, ()) = tokio::join!(waits, async { first.commit().await.unwrap() });
    assert_eq!(number.unwrap().value(), value + 1);
}

/// MySQL shows the transaction the versions of the series as they were, and locks its row as it is.
#[tokio::test(flavor = "current_thread")]
#[ignore = "needs a MySQL or MariaDB server"]
async fn a_transaction_of_mysql_from_before_a_change_gives_no_number() {
    let database = Server::MySql.database();
    let series = || Series::builder().store(&Store::open(&database.url).unwrap()).build().unwrap();
    let definition = |pattern| SeriesDefinition::new(pattern).unwrap().gapless();
    // A text of the old pattern, which has a check digit, may be one of the new pattern, too.
    let [here, there] = [series(), series()];
    let invoices = here.create("invoices", definition("{yyyy}-{n:4}{check:damm}")).unwrap();
    let mut db = MySqlConnection::connect(&database.url).await.unwrap();
    let mut transaction = db.begin().await.unwrap();
    let look = sqlx::query("SELECT COUNT(*) FROM uidring_series_version");
    look.execute(&mut *transaction).await.unwrap();
    let begins = "2999-01-01".parse().unwrap();
    there.change("invoices", definition("{yyyy}-{n:5}"), begins).unwrap();
    let error = invoices.take_in_for(&mut transaction, begins).await.unwrap_err();
    // With innodb_snapshot_isolation, MariaDB refuses it itself.
    let is_told = matches!(error, SeriesError::Changed { .. } | SeriesError::Transaction { .. });
    assert!(is_told && error.is_transient(), "{error:?}");
    transaction.rollback().await.unwrap();
    let mut transaction = db.begin().await.unwrap();
    let number = invoices.take_in_for(&mut transaction, begins).await.unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(number.as_str(), "2999-00001");
}

/// On one connection, whose driver prepares each statement once, a number that was not counted is
/// not read from what the one before has left, and one that was counted is read.
async fn what_is_not_counted_is_not_given(url: &str) {
    let series = || Series::builder().store(&Store::open(url).unwrap()).build().unwrap();
    let definition = |pattern| SeriesDefinition::new(pattern).unwrap().gapless();
    let [here, there] = [series(), series()];
    for (name, is_refused_first) in [("invoices", false), ("receipts", true)] {
        let generator = here.create(name, definition("{yyyy}-{n:5}")).unwrap();
        let mut db = MySqlConnection::connect(url).await.unwrap();
        let mut taken = Vec::new();
        let steps: [&str; 5] = ["take", "change", "take", "close", "take"];
        for step in steps.iter().skip(usize::from(is_refused_first)) {
            let begins = "2998-01-01".parse().unwrap();
            match *step {
                "change" => drop(there.change(name, definition("{yyyy}-{n:6}"), begins).unwrap()),
                "close" => drop(there.close(name, "2001".parse().unwrap()).unwrap()),
                _ => {
                    let mut transaction = db.begin().await.unwrap();
                    let date = "2001-02-03".parse().unwrap();
                    let number = generator.take_in_for(&mut transaction, date).await;
                    transaction.commit().await.unwrap();
                    taken.push(number.map(|number| number.value()).map_err(|e| e.to_string()));
                }
            }
        }
        let closed = Err(format!("the period 2001 of the series {name:?} is closed"));
        let expected = [Ok(1), Ok(2)].into_iter().take(taken.len() - 1);
        assert_eq!(taken, expected.chain([closed]).collect::<Vec<_>>());
    }
}

#[tokio::test(flavor = "current_thread")]
#[ignore = "needs a MySQL or MariaDB server"]
async fn what_mariadb_has_not_counted_is_not_given() {
    what_is_not_counted_is_not_given(&Server::MySql.database().url).await;
}

#[tokio::test(flavor = "current_thread")]
#[ignore = "needs MySQL 9: verify/stores/install mysql-9"]
async fn what_mysql_9_has_not_counted_is_not_given() {
    let server = OwnServer::start_mysql_9(&[]);
    what_is_not_counted_is_not_given(&server.url()).await;
}

/// A table that was put back without its key, or with an engine that has no locks: two transactions
/// would get one number.
#[tokio::test(flavor = "current_thread")]
#[ignore = "needs a MySQL or MariaDB server"]
async fn a_counter_of_mysql_without_a_key_or_locks_gives_no_number() {
    for (breaks, told) in [
        ("DROP PRIMARY KEY", "has lost its primary key"),
        (
            "DROP PRIMARY KEY, ADD PRIMARY KEY (series, scope, period, version)",
            "has lost its primary key",
        ),
        ("ENGINE = MyISAM", "has another engine than InnoDB"),
    ] {
        let database = Server::MySql.database();
        let store = Store::open(&database.url).unwrap();
        let series = Series::builder().store(&store).build().unwrap();
        let definition = SeriesDefinition::new("{n:5}").unwrap().gapless();
        let invoices = series.create("invoices", definition).unwrap();
        let mut db = MySqlConnection::connect(&database.url).await.unwrap();
        let mut transaction = db.begin().await.unwrap();
        assert_eq!(invoices.take_in(&mut transaction).await.unwrap().value(), 1);
        transaction.commit().await.unwrap();
        database.run(&format!("ALTER TABLE uidring_series_counter {breaks}"));
        for _ in 0..2 {
            let mut transaction = db.begin().await.unwrap();
            let error = invoices.take_in(&mut transaction).await.unwrap_err();
            let SeriesError::Transaction { source, .. } = &error else { panic!("{error:?}") };
            assert!(source.to_string().contains(told), "{breaks}: {source}");
            transaction.rollback().await.unwrap();
        }
    }
}
