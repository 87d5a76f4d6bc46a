//! Servers of stores of keys of a test's own.
#![allow(dead_code)] // each program uses a part

pub mod etcd;
pub mod redis;
pub mod zookeeper;

/// One server of any kind.
pub enum KeyServer {
    Etcd(etcd::Etcds),
    Redis(redis::OwnRedis),
    ZooKeeper(zookeeper::ZooKeepers),
}

impl KeyServer {
    pub fn etcd(arguments: &[&str]) -> KeyServer {
        KeyServer::Etcd(etcd::Etcds::start(1, arguments))
    }

    pub fn redis(lines: &str) -> KeyServer {
        KeyServer::Redis(redis::OwnRedis::start(lines))
    }

    pub fn zookeeper(lines: &str) -> KeyServer {
        KeyServer::ZooKeeper(zookeeper::ZooKeepers::start(1, lines))
    }

    /// Its address, with a folder of ids.
    pub fn url(&self) -> String {
        match self {
            KeyServer::Etcd(members) => format!("etcd://{}/ids", members.places()),
            KeyServer::Redis(server) => server.url("/0/ids"),
            KeyServer::ZooKeeper(servers) => format!("zookeeper://{}/ids", servers.places()),
        }
    }

    /// Ends it without giving it time to do anything.
    pub fn kill(&mut self) {
        match self {
            KeyServer::Etcd(members) => members.kill(0),
            KeyServer::Redis(server) => server.kill(),
            KeyServer::ZooKeeper(servers) => servers.kill(0),
        }
    }

    /// Starts it again, and waits until it answers.
    pub fn restart(&mut self) {
        match self {
            KeyServer::Etcd(members) => members.restart(&[0]),
            KeyServer::Redis(server) => server.restart(),
            KeyServer::ZooKeeper(servers) => servers.restart(0),
        }
    }
}

/// Runs each test on a server of each kind.
#[allow(unused_macros)]
macro_rules! on_key_servers {
    ($(fn $name:ident($server:ident) $body:block)*) => {$(
        mod $name {
            use super::*;

            fn on(mut $server: KeyServer) $body

            #[test]
            #[ignore = "needs etcd's server"]
            fn etcd() {
                on(KeyServer::etcd(&[]));
            }

            #[test]
            #[ignore = "needs Redis' server"]
            fn redis() {
                on(KeyServer::redis(""));
            }

            #[test]
            #[ignore = "needs ZooKeeper"]
            fn zookeeper() {
                on(KeyServer::zookeeper(""));
            }
        }
    )*};
}
#[allow(unused_imports)]
pub(crate) use on_key_servers;

/// Servers that may lose what they have confirmed, and what is told to be set.
pub fn losing_servers() -> Vec<(KeyServer, &'static str)> {
    vec![
        (KeyServer::etcd(&["--unsafe-no-fsync"]), "start it without --unsafe-no-fsync"),
        (KeyServer::redis("appendonly no"), "run CONFIG SET appendonly yes, CONFIG SET"),
        (KeyServer::zookeeper("forceSync=no"), "set forceSync=yes"),
    ]
}
