//! UIDs through diesel: a round trip on SQLite, unsigned columns of MySQL, and what each backend
//! would be sent.

#[path = "../../tests/common/databases/mod.rs"]
mod databases;
mod diesel_gapless;
mod uids;

use diesel::connection::SimpleConnection;
use diesel::deserialize::FromSql;
use diesel::dsl::sql;
use diesel::mysql::Mysql;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::serialize::ToSql;
use diesel::sql_types::{Array, BigInt, Nullable, Unsigned};
use diesel::sqlite::Sqlite;
use diesel::{debug_query, insert_into};
use uidring::Uid;

diesel::table! {
    orders {
        id -> BigInt,
        invoice -> Nullable<BigInt>,
    }
}

#[derive(
    Clone,
    Debug,
    PartialEq,
    AsChangeset,
    Identifiable,
    Insertable,
    Queryable,
    QueryableByName,
    Selectable,
)]
#[diesel(table_name = orders)]
struct Order {
    id: Uid,
    invoice: Option<Uid>,
}

#[test]
fn sqlite() {
    let dir = tempfile::tempdir().unwrap();
    let mut db =
        SqliteConnection::establish(dir.path().join("orders.db").to_str().unwrap()).unwrap();
    db.batch_execute("CREATE TABLE orders (id BIGINT PRIMARY KEY, invoice BIGINT)").unwrap();

    let [first, second] = uids::two();
    let mut one = Order { id: first, invoice: None };
    let other = Order { id: second, invoice: Some(first) };
    insert_into(orders::table).values(&one).execute(&mut db).unwrap();
    let values = (orders::id.eq(second), orders::invoice.eq(first));
    insert_into(orders::table).values(values).execute(&mut db).unwrap();
    assert_eq!(orders::table.find(second).first::<Order>(&mut db).unwrap(), other);
    let some = orders::table.filter(orders::id.eq_any(vec![first, second])).order(orders::id);
    assert_eq!(some.load::<Order>(&mut db).unwrap(), [one.clone(), other.clone()]);
    let later = orders::table.filter(orders::id.gt(&first)).select(Order::as_select());
    assert_eq!(later.load(&mut db).unwrap(), std::slice::from_ref(&other));
    one.invoice = Some(second);
    diesel::update(&one).set(&one).execute(&mut db).unwrap();
    let named = diesel::sql_query("SELECT * FROM orders WHERE id = ?").bind::<BigInt, _>(first);
    assert_eq!(named.get_result::<Order>(&mut db).unwrap(), one);
    one.invoice = None;
    diesel::update(&one).set(orders::invoice.eq(None::<Uid>)).execute(&mut db).unwrap();
    assert_eq!(orders::table.find(&first).first::<Order>(&mut db).unwrap(), one);

    for (id, reason) in uids::NO_UIDS {
        let error = diesel::select(sql::<BigInt>(&id.to_string())).get_result::<Uid>(&mut db);
        assert_eq!(cause(error.unwrap_err()), reason);
    }
    let null = diesel::select(sql::<BigInt>("NULL")).get_result::<Uid>(&mut db);
    assert_eq!(cause(null.unwrap_err()), "Unexpected null for non-null column");
}

mod unsigned {
    use super::*;

    diesel::table! {
        orders {
            id -> Unsigned<BigInt>,
            invoice -> Nullable<Unsigned<BigInt>>,
        }
    }

    #[derive(
        Clone,
        Debug,
        PartialEq,
        AsChangeset,
        Identifiable,
        Insertable,
        Queryable,
        QueryableByName,
        Selectable,
    )]
    #[diesel(table_name = orders)]
    pub struct Order {
        pub id: Uid,
        pub invoice: Option<Uid>,
    }
}

/// As Laravel and Rails make their keys.
#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn unsigned_columns_of_mysql_are_read() {
    use unsigned::{Order, orders as unsigned_orders};

    let database = databases::Server::MySql.database();
    let mut db = MysqlConnection::establish(&database.url).unwrap();
    let create = "CREATE TABLE orders (id BIGINT UNSIGNED PRIMARY KEY, invoice BIGINT UNSIGNED)";
    db.batch_execute(create).unwrap();
    let [first, second] = uids::two();
    for (id, invoice) in [(first, None), (second, Some(first)), (Uid::MAX, Some(Uid::MIN))] {
        let mut order = Order { id, invoice };
        insert_into(unsigned_orders::table).values(&order).execute(&mut db).unwrap();
        assert_eq!(unsigned_orders::table.find(id).first::<Order>(&mut db).unwrap(), order);
        order.invoice = Some(second);
        diesel::update(&order).set(&order).execute(&mut db).unwrap();
        let found = unsigned_orders::table
            .filter(unsigned_orders::id.eq_any([id]))
            .select(Order::as_select());
        assert_eq!(found.load(&mut db).unwrap(), [order.clone()]);
        // A schema that says otherwise.
        let signed = orders::table.filter(orders::id.eq(id));
        assert_eq!(signed.first::<(Uid, Option<Uid>)>(&mut db).unwrap(), (id, Some(second)));
    }
    for id in ["0", "9223372036854775808", "18446744073709551615"] {
        let select = diesel::select(sql::<Unsigned<BigInt>>(&format!("CAST({id} AS UNSIGNED)")));
        let error = select.get_result::<Uid>(&mut db).unwrap_err();
        assert!(cause(error).starts_with(&format!("{id} is not a UID")));
    }
}

/// What a value was refused for. Where diesel names the field, the reason is the source.
fn cause(error: diesel::result::Error) -> String {
    let diesel::result::Error::DeserializationError(field) = error else { panic!("{error:?}") };
    field.source().map_or_else(|| field.to_string(), ToString::to_string)
}

#[test]
fn what_a_query_is_sent_with() {
    let [first, second] = uids::two();
    let query = orders::table.find(first).filter(orders::invoice.eq(Some(second)));
    let binds = format!("binds: [{first}, {second}]");
    for text in [
        debug_query::<Sqlite, _>(&query).to_string(),
        debug_query::<Pg, _>(&query).to_string(),
        debug_query::<Mysql, _>(&query).to_string(),
    ] {
        assert!(text.replace("Some(Uid(", "").replace("))", "").contains(&binds), "{text}");
    }
    let any = orders::table.filter(orders::id.eq_any([first, second]));
    let text = debug_query::<Pg, _>(&any).to_string();
    assert!(text.contains("= ANY($1)"), "{text}");
}

/// Not called: it compiles.
#[allow(dead_code)]
fn each_backend_has_uids() {
    fn has<DB>()
    where
        DB: diesel::backend::Backend,
        Uid: ToSql<BigInt, DB> + FromSql<BigInt, DB>,
        Option<Uid>: ToSql<Nullable<BigInt>, DB> + FromSql<Nullable<BigInt>, DB>,
    {
    }
    fn has_unsigned<T: ToSql<Unsigned<BigInt>, Mysql> + FromSql<Unsigned<BigInt>, Mysql>>() {}
    fn has_arrays<T: ToSql<Array<BigInt>, Pg> + FromSql<Array<BigInt>, Pg>>() {}
    has::<Sqlite>();
    has::<Pg>();
    has::<Mysql>();
    has_unsigned::<Uid>();
    has_arrays::<Vec<Uid>>();
}
