//! PostgreSQL, MySQL and MariaDB.

use super::*;
use crate::databases::{Database, Server};

struct OnServer(Database);

impl OnServer {
    /// As the oldest version has left it.
    fn oldest(server: Server) -> OnServer {
        let database = server.database();
        database.run(match server {
            Server::Postgres => include_str!("0.1.0.postgres.sql"),
            Server::MySql => include_str!("0.1.0.mysql.sql"),
        });
        OnServer(database)
    }
}

impl Place for OnServer {
    fn store(&self) -> Store {
        Store::open(&self.0.url).unwrap()
    }

    fn run(&self, sql: &str) -> String {
        self.0.run(sql)
    }

    fn workers(&self) -> &'static str {
        "uidring_worker_node"
    }
}

mod postgres {
    use super::*;
    tests!(OnServer::oldest(Server::Postgres), ignore = "needs a PostgreSQL server");
}

mod mysql {
    use super::*;
    tests!(OnServer::oldest(Server::MySql), ignore = "needs a MySQL or MariaDB server");
}
