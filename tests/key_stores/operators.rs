//! What operators see and do: in the store, and with its own tools.

use std::time::Duration;

use uidring::registry::{RegistryAdmin, WorkerKind};
use uidring::segment::{SegmentAdmin, SegmentError, SegmentSource, Segments, Tag, TagChange};
use uidring::{RegistryError, RegistryOptions, Store, Table, UidGenerator};

use crate::key_servers::etcd::Etcds;
use crate::key_servers::redis::OwnRedis;
use crate::key_servers::zookeeper::ZooKeepers;

/// All that operators do, in the folder `address`.
fn check(address: &str) {
    let store = Store::open(address).unwrap();
    assert_eq!(store.to_string(), address);
    let leased = RegistryOptions::new()
        .leased(Duration::from_secs(600))
        .partition(1, 4)
        .host("orders-3", "8080");
    let registry = store.registry_with(leased.clone()).unwrap();
    let error = registry.workers().unwrap_err().to_string();
    assert!(error.contains("its keys are not there; start a generator with it"), "{error}");
    assert_eq!((registry.layout().unwrap(), registry.ids().unwrap()), (None, None));

    let uids = UidGenerator::builder().registry(registry.clone()).build().unwrap();
    uids.take().unwrap();
    let worker = uids.worker_id();
    let [record] = &registry.workers().unwrap()[..] else { panic!("one worker id") };
    assert_eq!((record.id, &*record.host_name, &*record.port), (worker, "orders-3", "8080"));
    assert!([WorkerKind::Actual, WorkerKind::Container].contains(&record.kind));
    let lease = record.lease.clone().unwrap();
    assert!(lease.holder.is_some() && lease.until > record.launched);
    assert_eq!(registry.largest_given().unwrap(), worker);
    assert_eq!(registry.layout().unwrap(), Some(*uids.layout()));
    let ids = registry.ids().unwrap().unwrap();
    assert_eq!(*ids.start(), worker);
    registry.try_out(uids.layout()).unwrap();

    // Another layout, another partition, and an id that is not leased are refused.
    let other = store.registry_with(leased.partition(2, 4)).unwrap();
    let error = UidGenerator::builder().registry(other).build().unwrap_err().to_string();
    assert!(error.contains("was first used with the worker ids"), "{error}");
    let error = registry.revoke(worker + 1).unwrap_err();
    assert!(matches!(error, RegistryError::NotLeased { .. }), "{error}");

    // A lease that an operator revokes is the next one's.
    registry.revoke(worker).unwrap();
    let next = UidGenerator::builder().registry(registry.clone()).build().unwrap();
    assert_eq!(next.worker_id(), worker);
    next.shutdown().unwrap();
    assert_eq!(registry.workers().unwrap()[0].lease.clone().unwrap().holder, None);

    tags(&store);
}

fn tags(store: &Store) {
    let source = store.segments().unwrap();
    assert_eq!(source.tags().unwrap(), []);
    let segments = Segments::builder().source(source.clone()).build().unwrap();
    let tag = Tag::new().first(5000).step(20).description("of the shop / Überweisung");
    assert_eq!(segments.create("orders/ü", tag).unwrap().take().unwrap().get(), 5000);
    drop(segments);
    let [record] = &source.tags().unwrap()[..] else { panic!("one tag") };
    assert_eq!((&*record.tag, record.next, record.step), ("orders/ü", 5001, 20));
    assert_eq!(record.description.as_deref(), Some("of the shop / Überweisung"));
    assert!(record.updated.is_some());
    let changed = source.set("orders/ü", &TagChange::new().next(9000).max_step(50)).unwrap();
    assert_eq!((changed.next, changed.max_step), (9000, Some(50)));
    let error = source.set("orders/ü", &TagChange::new().next(8000)).unwrap_err();
    assert!(matches!(error, SegmentError::Lower { next: 9000, asked: 8000, .. }), "{error}");
    let error = source.load("orders/u", None).unwrap_err();
    assert!(
        matches!(&error, SegmentError::NoSuchTag { alike, .. } if alike == &["orders/ü"]),
        "{error}"
    );
    let error = source.remove("orders/ü", Some(5001)).unwrap_err();
    assert!(matches!(error, SegmentError::Moved { next: 9000, seen: 5001, .. }), "{error}");
    source.remove("orders/ü", Some(9000)).unwrap();
    assert_eq!(source.tags().unwrap(), []);

    // Tables of others are in databases.
    for (table, name) in [(Table::Leaf, "leaf_alloc"), (Table::TinyId, "tiny_id_info")] {
        let error = store.segments_in(table).unwrap_err().to_string();
        assert!(error.contains(&format!("the table {name} is in a database")), "{error}");
    }
    let error = store.tinyid_tokens().unwrap_err().to_string();
    assert!(error.contains("the table tiny_id_info is in a database"), "{error}");
    let error = store.registry_with(RegistryOptions::new().uid_generator()).unwrap_err();
    assert!(error.to_string().contains("the table WORKER_NODE"), "{error}");
}

/// What the store's own tool shows of the worker id 1, of a generator in the folder `ids`.
fn is_readable(address: &str, shown: impl Fn(&str) -> String) {
    let registry = Store::open(address).unwrap().registry().unwrap();
    let uids = UidGenerator::builder().registry(registry).build().unwrap();
    for (key, parts) in [
        ("permanent/1", ["\"version\":1", "\"launched\":", "\"host_name\":"]),
        ("layout", ["\"version\":1", "\"last_worker\":1", "\"worker_bits\":"]),
        ("store", ["\"version\":1", "\"id\":\"", "\"created\":"]),
    ] {
        let shown = shown(key);
        for part in parts {
            assert!(shown.contains(part), "{key}: {shown}");
        }
    }
    drop(uids);
}

#[test]
#[ignore = "needs etcd's server"]
fn etcd() {
    let members = Etcds::start(1, &[]);
    check(&format!("etcd://{}/ids", members.places()));
    let address = format!("etcd://{}/read", members.places());
    is_readable(&address, |key| members.ctl(0, &["get", &format!("read/{key}")]));
}

#[test]
#[ignore = "needs ZooKeeper"]
fn zookeeper() {
    let servers = ZooKeepers::start(1, "");
    check(&format!("zookeeper://{}/ids", servers.places()));
}

#[test]
#[ignore = "needs Redis' server"]
fn redis() {
    let server = OwnRedis::start("");
    check(&server.url("/0/ids"));
    let address = server.url("/0/read");
    is_readable(&address, |key| server.run(&["GET", &format!("read/{key}")]));
}

/// As after the first step of many a restore. New keys would give the first id again.
#[test]
#[ignore = "needs Redis' server"]
fn what_one_part_has_seen_the_other_does_not_make_anew_on_redis() {
    let server = OwnRedis::start("");
    let store = Store::open(server.url("/0/ids")).unwrap();
    let gives_an_id = || {
        let built = UidGenerator::builder().registry(store.registry().unwrap()).build();
        built.map(drop).map_err(|error| format!("{error:?}"))
    };
    let gives_a_number = || {
        let created = store.segments().unwrap().create("orders", &Tag::new());
        created.map(drop).map_err(|error| format!("{error:?}"))
    };
    gives_an_id().unwrap();
    server.run(&["FLUSHALL"]);
    for error in [gives_a_number().unwrap_err(), gives_an_id().unwrap_err()] {
        assert!(error.contains("its keys are gone"), "{error}");
    }
}
