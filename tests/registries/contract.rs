//! Every registry keeps the contract, on real databases.

#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod kept {
    use std::time::Duration;

    use uidring::registry::contract;

    const LEASE: Duration = Duration::from_secs(2);

    #[cfg(feature = "sqlite")]
    #[test]
    fn sqlite() {
        use uidring::registry::SqliteRegistry;

        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| dir.path().join(name);
        contract::check(|name| {
            let file = file(name);
            move || SqliteRegistry::open(&file).unwrap()
        });
        contract::check(|name| {
            let file = file(&format!("{name}_leased"));
            move || SqliteRegistry::open(&file).unwrap().leased(LEASE)
        });
    }

    #[cfg(feature = "postgres")]
    #[test]
    #[ignore = "needs a PostgreSQL server"]
    fn postgres() {
        use crate::databases::Server;
        use uidring::registry::PostgresRegistry;

        contract::check(|_| {
            let database = Server::Postgres.database();
            move || PostgresRegistry::open(&database.url).unwrap()
        });
        contract::check(|_| {
            let database = Server::Postgres.database();
            move || PostgresRegistry::open(&database.url).unwrap().leased(LEASE)
        });
    }

    #[cfg(feature = "mysql")]
    #[test]
    #[ignore = "needs a MySQL or MariaDB server"]
    fn mysql() {
        use crate::databases::Server;
        use uidring::registry::MySqlRegistry;

        contract::check(|_| {
            let database = Server::MySql.database();
            move || MySqlRegistry::open(&database.url).unwrap()
        });
        contract::check(|_| {
            let database = Server::MySql.database();
            move || MySqlRegistry::open(&database.url).unwrap().leased(LEASE)
        });
    }
}
