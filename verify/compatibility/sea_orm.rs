//! UIDs as primary keys of SeaORM, in each database that it knows.

#[path = "../../tests/common/databases/mod.rs"]
mod databases;
mod sea_orm_gapless;
mod uids;

use databases::Server;
use sea_orm::entity::prelude::*;
use sea_orm::{ConnectionTrait, Database, IntoActiveModel, QuerySelect, Schema, Set};
use uidring::Uid;

mod orders {
    use super::*;

    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "orders")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uid,
        pub invoice: Option<Uid>,
    }

    #[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

use orders::{ActiveModel, Column, Entity, Model};

async fn round_trip(url: &str) {
    let db = Database::connect(url).await.unwrap();
    let backend = db.get_database_backend();
    let table = Schema::new(backend).create_table_from_entity(Entity);
    db.execute_unprepared(&backend.build(&table).to_string()).await.unwrap();

    let [first, second] = uids::two();
    let one = ActiveModel { id: Set(first), invoice: Set(None) };
    assert_eq!(one.insert(&db).await.unwrap(), Model { id: first, invoice: None });
    let other = Model { id: second, invoice: Some(first) };
    let inserted = Entity::insert(other.clone().into_active_model()).exec(&db).await.unwrap();
    assert_eq!(inserted.last_insert_id, second);
    assert_eq!(Entity::find_by_id(second).one(&db).await.unwrap(), Some(other.clone()));
    let invoiced = Entity::find().filter(Column::Invoice.is_in([first, second]));
    assert_eq!(invoiced.all(&db).await.unwrap(), [other]);

    for (id, reason) in uids::NO_UIDS {
        db.execute_unprepared(&format!("INSERT INTO orders VALUES ({id}, NULL)")).await.unwrap();
        let error = Entity::find().filter(Column::Id.eq(id)).one(&db).await.unwrap_err();
        assert!(matches!(error, DbErr::Type(_)), "{error:?}");
        assert!(error.to_string().contains(reason), "{error}");
    }
    let invoice = Entity::find_by_id(first).select_only().column(Column::Invoice);
    let null = invoice.into_tuple::<Uid>().one(&db).await.unwrap_err();
    assert!(null.to_string().contains("null"), "{null}");
}

#[tokio::test(flavor = "current_thread")]
async fn sqlite() {
    let dir = tempfile::tempdir().unwrap();
    round_trip(&format!("sqlite://{}?mode=rwc", dir.path().join("orders.db").display())).await;
}

#[tokio::test(flavor = "current_thread")]
#[ignore = "needs a PostgreSQL server"]
async fn postgres() {
    round_trip(&Server::Postgres.database().url).await;
}

/// As Laravel and Rails make their keys.
#[tokio::test(flavor = "current_thread")]
#[ignore = "needs a MySQL or MariaDB server"]
async fn unsigned_columns_of_mysql_are_read() {
    let database = Server::MySql.database();
    let db = Database::connect(&database.url).await.unwrap();
    let create = "CREATE TABLE orders (id BIGINT UNSIGNED PRIMARY KEY, invoice BIGINT UNSIGNED)";
    db.execute_unprepared(create).await.unwrap();
    let [first, second] = uids::two();
    for (id, invoice) in [(first, None), (second, Some(first)), (Uid::MAX, Some(Uid::MIN))] {
        let order = ActiveModel { id: Set(id), invoice: Set(invoice) };
        assert_eq!(order.insert(&db).await.unwrap(), Model { id, invoice });
        let mut order = Entity::find_by_id(id).one(&db).await.unwrap().unwrap().into_active_model();
        order.invoice = Set(Some(second));
        assert_eq!(order.update(&db).await.unwrap(), Model { id, invoice: Some(second) });
    }
    for id in ["0", "9223372036854775808", "18446744073709551615"] {
        db.execute_unprepared(&format!("INSERT INTO orders VALUES ({id}, NULL)")).await.unwrap();
        let number: u64 = id.parse().unwrap();
        let error = Entity::find().filter(Column::Id.eq(number)).one(&db).await.unwrap_err();
        assert!(error.to_string().contains(&format!("{id} is not a UID")), "{error}");
    }
}

#[tokio::test(flavor = "current_thread")]
#[ignore = "needs a MySQL or MariaDB server"]
async fn mysql() {
    round_trip(&Server::MySql.database().url).await;
}
