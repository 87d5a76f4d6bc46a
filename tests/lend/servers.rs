//! PostgreSQL, MySQL and MariaDB; etcd, ZooKeeper and Redis.

use uidring::Store;

use crate::contract;
use crate::databases::Server;
use crate::key_servers::KeyServer;

#[test]
#[ignore = "needs a PostgreSQL server"]
fn pools_in_postgres() {
    let database = Server::Postgres.database();
    contract::check(&Store::open(&database.url).unwrap());
}

#[test]
#[ignore = "needs a MySQL or MariaDB server"]
fn pools_in_mysql() {
    let database = Server::MySql.database();
    contract::check(&Store::open(&database.url).unwrap());
}

fn check(server: &KeyServer) {
    contract::check(&Store::open(server.url()).unwrap());
}

#[test]
#[ignore = "needs etcd's server"]
fn pools_in_etcd() {
    check(&KeyServer::etcd(&[]));
}

#[test]
#[ignore = "needs ZooKeeper"]
fn pools_in_zookeeper() {
    check(&KeyServer::zookeeper(""));
}

#[test]
#[ignore = "needs Redis' server"]
fn pools_in_redis() {
    check(&KeyServer::redis(""));
}
