//! Each store keeps the contracts of registries and of sources of segments.

use std::sync::mpsc::{self, RecvTimeoutError::Timeout};
use std::thread;
use std::time::Duration;

use uidring::registry::{Request, WorkerRegistry};
use uidring::{Layout, RegistryOptions, Store, UidGenerator, registry, segment};

use crate::key_servers::etcd::Etcds;
use crate::key_servers::redis::OwnRedis;
use crate::key_servers::zookeeper::ZooKeepers;

/// How long a call may take of many that come at once.
const PATIENCE: Duration = Duration::from_secs(60);

/// Permanent ids, leased ones, and segments, each in folders of their own below `address`.
pub fn check(address: &str) {
    let open = |address: &str| Store::open(address).unwrap().with_timeout(PATIENCE);
    // As long as may be: on a busy machine, those who come at once take seconds.
    let leased = RegistryOptions::new().leased(Duration::from_secs(5));
    for (kind, options) in [("permanent", RegistryOptions::new()), ("leased", leased)] {
        registry::contract::check(|name| {
            let (address, options) = (format!("{address}/{kind}_{name}"), &options);
            move || open(&address).registry_with(options.clone()).unwrap()
        });
    }
    // Their clocks are compared with this machine's.
    let registry = open(&format!("{address}/clock")).registry().unwrap();
    let status = UidGenerator::builder().registry(registry).build().unwrap().status();
    assert!(status.clock_skew_ms.expect("a store has a clock").abs() < 60_000, "{status}");
    segment::contract::check(|name| {
        let address = format!("{address}/segments_{name}");
        move || open(&address).segments().unwrap()
    });
}

#[test]
#[ignore = "needs etcd's server"]
fn etcd() {
    let members = Etcds::start(1, &[]);
    check(&format!("etcd://{}/ids", members.places()));
}

#[test]
#[ignore = "needs etcd's server"]
fn etcd_of_three_members() {
    let members = Etcds::start(3, &[]);
    check(&format!("etcd://{}/ids", members.places()));
}

#[test]
#[ignore = "needs ZooKeeper"]
fn zookeeper() {
    let servers = ZooKeepers::start(1, "");
    check(&format!("zookeeper://{}/ids", servers.places()));
}

#[test]
#[ignore = "needs ZooKeeper"]
fn zookeeper_of_three_servers() {
    let servers = ZooKeepers::start(3, "");
    let others = format!("zookeeper://{}/others", servers.places());
    let (until, is_over) = mpsc::channel::<()>();
    thread::scope(|scope| {
        // Version 3.8.0 may forget to answer a client that is alone, until another one writes
        // (ZOOKEEPER-4537).
        scope.spawn(move || {
            let mut registry = Store::open(&*others).unwrap().registry().unwrap();
            while is_over.recv_timeout(Duration::from_millis(100)) == Err(Timeout) {
                let request = Request::new(Layout::DEFAULT, 0, Layout::DEFAULT.max_tick());
                // It may be forgotten as well, and asks again then.
                let _ = registry.assign(&request);
            }
        });
        // When this is dropped, the other client ends, also where the contract is broken.
        let _until = until;
        check(&format!("zookeeper://{}/ids", servers.places()));
    });
}

#[test]
#[ignore = "needs Redis' server"]
fn redis() {
    let server = OwnRedis::start("");
    check(&server.url("/0/ids"));
}
