//! Every registry keeps the contract, on real databases.

#[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
mod kept {
    use std::ffi::OsString;
    use std::time::Duration;

    use uidring::registry::contract;
    use uidring::{RegistryOptions, Store};

    /// Permanent ids, and leased ones. `database` makes a database that was never used, by a name
    /// that is new each time; it lasts as long as the second of what it returns.
    fn check<T: Sync>(database: impl Fn(&str) -> (OsString, T)) {
        let leased = RegistryOptions::new().leased(Duration::from_secs(2));
        for options in [RegistryOptions::new(), leased] {
            contract::check(|name| {
                let ((address, kept), options) = (database(name), &options);
                move || {
                    let _ = &kept;
                    // Those who ask at once wait for each other on a busy machine.
                    let store = Store::open(&address).unwrap();
                    let store = store.with_timeout(Duration::from_secs(60));
                    store.registry_with(options.clone()).unwrap()
                }
            });
        }
    }

    #[cfg(feature = "sqlite")]
    #[test]
    fn sqlite() {
        check(|name| {
            let folder = crate::folder::folder();
            (folder.path().join(name).into_os_string(), folder)
        });
    }

    #[cfg(feature = "postgres")]
    #[test]
    #[ignore = "needs a PostgreSQL server"]
    fn postgres() {
        check(|_| {
            let database = crate::databases::Server::Postgres.database();
            (OsString::from(&database.url), database)
        });
    }

    #[cfg(feature = "mysql")]
    #[test]
    #[ignore = "needs a MySQL or MariaDB server"]
    fn mysql() {
        check(|_| {
            let database = crate::databases::Server::MySql.database();
            (OsString::from(&database.url), database)
        });
    }
}
