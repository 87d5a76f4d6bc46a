//! A replica of Redis that takes the place of a master which it had lost contact to.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::Duration;

use uidring::registry::{Request, WorkerRegistry};
use uidring::segment::{SegmentAdmin, SegmentSource, Tag, TagChange};
use uidring::{Layout, RegistryOptions, Store};

use crate::causes::with_causes;
use crate::key_servers::redis::OwnRedis;

/// What an address leads to, as a name or a proxy in front of servers does.
struct Place {
    port: u16,
    /// The port of a server.
    leads_to: Arc<AtomicU16>,
    connections: Arc<Mutex<Vec<TcpStream>>>,
}

impl Place {
    fn of(server: &OwnRedis) -> Place {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let leads_to = Arc::new(AtomicU16::new(server.port()));
        let to = Arc::clone(&leads_to);
        let connections: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let open = Arc::clone(&connections);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = TcpStream::connect(("127.0.0.1", to.load(Ordering::SeqCst)));
                let Ok(server) = server else { continue };
                let again = |socket: &TcpStream| socket.try_clone().unwrap();
                open.lock().unwrap().push(again(&client));
                for (mut from, mut to) in [(again(&client), again(&server)), (server, client)] {
                    thread::spawn(move || {
                        let _ = io::copy(&mut from, &mut to);
                        let _ = to.shutdown(Shutdown::Both);
                    });
                }
            }
        });
        Place { port, leads_to, connections }
    }

    /// Leads to the server at this port from now on. What is connected is so no longer.
    fn lead_to(&self, port: u16) {
        self.leads_to.store(port, Ordering::SeqCst);
        for connection in self.connections.lock().unwrap().drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

#[test]
#[ignore = "needs Redis' server"]
fn a_replica_that_was_promoted_is_refused_on_redis() {
    let mut master = OwnRedis::start("repl-diskless-sync-delay 0");
    let link = Place::of(&master);
    let mut replica = OwnRedis::start(&format!("replicaof 127.0.0.1 {}", link.port));
    while !replica.run(&["INFO", "replication"]).contains("master_link_status:up") {
        sleep(Duration::from_millis(10));
    }
    // With everything from its master, it writes its append-only file anew.
    while !replica.run(&["INFO", "persistence"]).contains("aof_rewrite_in_progress:0") {
        sleep(Duration::from_millis(10));
    }
    let place = Place::of(&master);
    let address = format!("redis://127.0.0.1:{}/0/ids?replicas=never-promoted", place.port);
    let open = || Store::open(&address).unwrap();
    let leased = || RegistryOptions::new().leased(Duration::from_secs(60));
    let layout = Layout::DEFAULT;
    let request = Request::new(layout, 1000, layout.max_tick());
    let running = open();
    let tags = running.segments().unwrap();
    tags.create("orders", &Tag::new().step(10)).unwrap();
    assert_eq!(tags.load("orders", None).unwrap().first, 1);
    let mut registry = running.registry_with(leased()).unwrap();
    assert_eq!(registry.assign(&request).unwrap().worker, 1);

    // The replica gets no more, its master goes on, and fails.
    master.run(&["WAIT", "1", "10000"]);
    link.lead_to(0);
    assert_eq!(tags.load("orders", None).unwrap().first, 11);
    assert_eq!(registry.assign(&request).unwrap().worker, 2);
    master.kill();
    replica.set(&["REPLICAOF", "NO", "ONE"]);
    place.lead_to(replica.port());
    assert!(replica.run(&["GET", "ids/segments/orders"]).contains("\"last_number\":10"));
    let part = "it is a replica that was promoted (its master_replid2 is ";
    for store in [&running, &open()] {
        let error = store.segments().unwrap().load("orders", None).unwrap_err();
        assert!(with_causes(&error).contains(part), "{error}");
        let error = store.registry_with(leased()).unwrap().assign(&request).unwrap_err();
        assert!(with_causes(&error).contains(part), "{error}");
    }
    assert!(with_causes(&registry.assign(&request).unwrap_err()).contains(part));

    // It counts as an old copy: what has run notices it, and others begin above what was given.
    replica.set(&["CONFIG", "REWRITE"]);
    replica.kill();
    replica.restart();
    let error = with_causes(&registry.assign(&request).unwrap_err());
    assert!(error.contains("or an old copy of them"), "{error}");
    let newer = open().segments().unwrap();
    newer.set("orders", &TagChange::new().next(21)).unwrap();
    assert_eq!(newer.load("orders", None).unwrap().first, 21);
}
