//! ZooKeeper that is restored while it runs, by the admin server of its version 3.9.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use uidring::registry::{Request, WorkerRegistry};
use uidring::segment::{SegmentSource, Tag};
use uidring::{Layout, RegistryOptions, Store};

use crate::causes::with_causes;
use crate::key_servers::zookeeper::{ZooKeepers, free_port};

fn request() -> Request {
    Request::new(Layout::DEFAULT, 10_000_000, Layout::DEFAULT.max_tick())
}

fn leased(store: &Store) -> impl WorkerRegistry + use<> {
    store.registry_with(RegistryOptions::new().leased(Duration::from_secs(60))).unwrap()
}

/// What the admin server at `port` answers to a command.
fn command(port: u16, method: &str, name: &str, body: &[u8]) -> Vec<u8> {
    let mut server = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let head = format!(
        "{method} /commands/{name} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
         authorization: digest any:any\r\ncontent-type: application/octet-stream\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    server.write_all(head.as_bytes()).unwrap();
    server.write_all(body).unwrap();
    let mut answer = Vec::new();
    server.read_to_end(&mut answer).unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    answer.split_off(end + 4)
}

/// A program that has seen more says so, by the number of the newest change, and by its own record
/// when others have made more changes. A program that starts cannot know.
#[test]
#[ignore = "needs ZooKeeper 3.9: verify/stores/install zookeeper-3.9"]
fn zookeeper_that_is_restored_while_it_runs_is_an_old_copy() {
    let port = free_port();
    let servers = ZooKeepers::start_3_9(&format!(
        "admin.enableServer=true\nadmin.serverAddress=127.0.0.1\nadmin.serverPort={port}\n\
         admin.rateLimiterIntervalInMS=0"
    ));
    let address = format!("zookeeper://{}/ids", servers.places());
    let store = Store::open(&address).unwrap();
    let (mut before, tags) = (leased(&store), store.segments().unwrap());
    let lease = before.assign(&request()).unwrap();
    tags.create("orders", &Tag::new()).unwrap();
    let copy = command(port, "GET", "snapshot?streaming=true", &[]);
    before.reserve(&lease, lease.last + 1000).unwrap();
    assert_eq!(leased(&store).assign(&request()).unwrap().worker, 2);
    assert_eq!(tags.load("orders", None).unwrap().first, 1);
    command(port, "POST", "restore", &copy);

    let behind = "the newest change of the server";
    let error = with_causes(&before.reserve(&lease, lease.last + 2000).unwrap_err());
    assert!(error.contains(behind), "{error}");
    let error = with_causes(&tags.load("orders", None).unwrap_err());
    assert!(error.contains(behind), "{error}");

    let other = Store::open(&address).unwrap();
    assert_eq!(leased(&other).assign(&request()).unwrap().worker, 2, "as it was then");
    let others = other.segments().unwrap();
    for load in 0..20 {
        let first = others.load("orders", None).unwrap().first;
        assert_eq!(first, 1000 * load + 1, "as it was then");
    }
    let error = with_causes(&before.reserve(&lease, lease.last + 2000).unwrap_err());
    assert!(error.contains("or an old copy of them, and would give ids again"), "{error}");
}
