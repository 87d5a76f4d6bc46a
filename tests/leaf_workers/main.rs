//! Worker ids from Leaf's own nodes in ZooKeeper, beside Leaf's servers.
#![allow(missing_docs, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod leaf;
#[path = "../common/key_servers/zookeeper.rs"]
#[allow(dead_code)] // each program uses a part
mod zookeeper;

use std::collections::BTreeSet;
use std::sync::{Barrier, Mutex};
use std::thread::{scope, sleep};
use std::time::{Duration, SystemTime};

use leaf::Leaf;
use uidring::registry::{LeafWorker, Lease, RegistryError, Request, WorkerRegistry};
use uidring::{Layout, Store, UidGenerator};
use zookeeper::ZooKeepers;

const TWITTER: Layout = Layout::TWITTER;

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

fn tick(ms: i64) -> u64 {
    let time = SystemTime::UNIX_EPOCH + Duration::from_millis(ms.unsigned_abs());
    TWITTER.tick_at(time).unwrap()
}

/// What a generator asks that can begin so much ahead of the clock.
fn request_at(ms: i64, ahead: u64) -> Request {
    Request::new(TWITTER, tick(ms), tick(ms) + ahead)
}

fn request() -> Request {
    request_at(now_ms(), 30_000)
}

/// The server with this address, as Leaf and as this library.
struct Place<'a> {
    servers: &'a ZooKeepers,
    name: &'a str,
    ip: String,
}

impl<'a> Place<'a> {
    fn new(servers: &'a ZooKeepers, name: &'a str, ip: impl Into<String>) -> Place<'a> {
        Place { servers, name, ip: ip.into() }
    }

    fn leaf(&self) -> Leaf {
        Leaf::connect(self.servers.port(0), self.name, &self.ip)
    }

    fn worker(&self) -> LeafWorker {
        let store = Store::open(format!("zookeeper://{}", self.servers.places())).unwrap();
        store.leaf_worker(self.name, &format!("{}:8080", self.ip)).unwrap()
    }

    fn assign(&self) -> Result<Lease, RegistryError> {
        self.worker().assign(&request())
    }
}

#[test]
#[ignore = "needs ZooKeeper"]
fn leafs_worker_ids_are_taken_beside_leaf() {
    let servers = ZooKeepers::start(1, "maxClientCnxns=0");
    a_thousand_that_start_beside_one_another_have_different_ids(&servers);
    the_id_that_all_first_servers_of_leaf_take_is_left_to_them(&servers);
    who_starts_again_has_the_same_id_and_begins_behind(&servers);
    a_time_ahead_of_the_clock_is_refused(&servers);
    a_node_that_another_has_taken_over_is_lost(&servers);
    a_lost_answer_loses_no_node(&servers);
    what_no_id_can_come_from_is_refused(&servers);
    a_generator_writes_its_time_until_it_ends(&servers);
    ids_end_where_leafs_do(&servers);
}

fn a_thousand_that_start_beside_one_another_have_different_ids(servers: &ZooKeepers) {
    const THREADS: usize = 8;
    const EACH: usize = 1_000 / THREADS;
    let name = "thousand";
    let first = Place::new(servers, name, "10.1.0.0").leaf().start(now_ms()).unwrap();
    let ids = Mutex::new(vec![first]);
    let barrier = Barrier::new(THREADS);
    scope(|scope| {
        for thread in 0..THREADS {
            let (ids, barrier) = (&ids, &barrier);
            scope.spawn(move || {
                barrier.wait();
                for index in 0..EACH {
                    let place = Place::new(servers, name, format!("10.2.{thread}.{index}"));
                    let id = if thread % 2 == 0 {
                        place.leaf().start(now_ms()).unwrap()
                    } else {
                        place.assign().unwrap().worker
                    };
                    ids.lock().unwrap().push(id);
                }
            });
        }
    });
    let ids = ids.into_inner().unwrap();
    assert_eq!(ids.len(), THREADS * EACH + 1);
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
    // Leaf reads each name, and finds its own in the end.
    let again = Place::new(servers, name, "10.2.0.7").leaf().start(now_ms()).unwrap();
    assert!(ids.contains(&again));
}

fn the_id_that_all_first_servers_of_leaf_take_is_left_to_them(servers: &ZooKeepers) {
    for round in 0..5 {
        let name = format!("first-{round}");
        let barrier = Barrier::new(4);
        let ids = Mutex::new(Vec::new());
        scope(|scope| {
            for index in 0..4 {
                let (name, ids, barrier) = (&name, &ids, &barrier);
                scope.spawn(move || {
                    let place = Place::new(servers, name, format!("10.3.0.{index}"));
                    if index < 2 {
                        let mut leaf = place.leaf();
                        barrier.wait();
                        leaf.start(now_ms()).unwrap();
                    } else {
                        barrier.wait();
                        ids.lock().unwrap().push(place.assign().unwrap().worker);
                    }
                });
            }
        });
        let ids = ids.into_inner().unwrap();
        assert!(ids[0] > 0 && ids[1] > 0 && ids[0] != ids[1], "{ids:?}");
    }
    // Nor is it taken where nobody else is, or over from Leaf.
    assert!(Place::new(servers, "alone", "10.3.1.0").assign().unwrap().worker > 0);
    let place = Place::new(servers, "alone-too", "10.3.1.0");
    assert_eq!(place.leaf().start(now_ms() - 60_000), Some(0));
    assert_eq!(place.assign().unwrap().worker, 1);
}

fn who_starts_again_has_the_same_id_and_begins_behind(servers: &ZooKeepers) {
    let place = Place::new(servers, "again", "10.4.0.1");
    let mut worker = place.worker();
    let lease = worker.assign(&request()).unwrap();
    let told = |worker| tick(place.leaf().time(worker));
    assert_eq!(told(lease.worker), lease.last);
    assert!(matches!(
        worker.assign(&request()),
        Err(RegistryError::FixedInUse { worker }) if worker == lease.worker
    ));
    assert_eq!(worker.reserve(&lease, lease.last + 1_000).unwrap(), lease.last + 1_000);
    // It was killed.
    drop(worker);
    let mut next = place.worker();
    let second = next.assign(&request()).unwrap();
    assert_eq!(second.worker, lease.worker);
    assert_eq!(second.first, lease.last + 1_001);
    // It ends as it should.
    next.release(&second, second.first + 5).unwrap();
    assert_eq!(told(lease.worker), second.first + 5);
    let third = place.worker().assign(&request()).unwrap();
    assert_eq!((third.worker, third.first), (lease.worker, second.first + 6));
    // Leaf refuses what is ahead, and has the same id after that.
    assert_eq!(place.leaf().start(now_ms()), None);
    assert_eq!(place.leaf().start(now_ms() + 60_000), Some(lease.worker));
}

fn a_time_ahead_of_the_clock_is_refused(servers: &ZooKeepers) {
    let place = Place::new(servers, "ahead", "10.5.0.1");
    place.leaf().start(now_ms()); // the number 0
    let mut leaf = Place::new(servers, "ahead", "10.5.0.2").leaf();
    let place = Place::new(servers, "ahead", "10.5.0.2");
    let now = now_ms();
    let id = leaf.start(now).unwrap();
    let mut worker = place.worker();
    // It may be running: what it has used since is written nowhere.
    for ms in [now + 3_600_000, now + 1, now, now - 4_000, now - 5_000] {
        leaf.beat(id, ms);
        match worker.assign(&request_at(now, 30_000)) {
            Err(RegistryError::UsedAhead { worker, wait, .. }) => {
                assert_eq!(worker, id);
                assert_eq!(wait, Duration::from_millis((ms + 5_001 - now).unsigned_abs()));
            }
            other => panic!("{other:?}"),
        }
        // Nothing was written.
        assert_eq!(leaf.time(id), ms);
    }
    leaf.beat(id, now - 5_001);
    let lease = worker.assign(&request_at(now, 30_000)).unwrap();
    assert_eq!((lease.worker, lease.first), (id, tick(now)));
    drop(worker);
    // One that writes meanwhile is running, also where it is late once.
    let mut worker = place.worker();
    leaf.beat(id, now);
    assert!(matches!(
        worker.assign(&request_at(now, 30_000)),
        Err(RegistryError::UsedAhead { .. })
    ));
    leaf.beat(id, now + 3_000);
    for late in [5_001, 60_000] {
        let error = worker.assign(&request_at(now + 3_000 + late, 30_000)).unwrap_err();
        assert!(!error.is_transient(), "{error}");
        assert!(error.to_string().contains("a server of Leaf runs with this address"), "{error}");
    }
    let ended = worker.assign(&request_at(now + 3_000 + 60_001, 30_000)).unwrap();
    assert_eq!(ended.worker, id);
    // As if that had not been.
    leaf.beat(id, now - 5_001);
    let lease = place.worker().assign(&request_at(now, 30_000)).unwrap();
    // Our own time may be ahead by as much as a generator can begin ahead.
    let ahead = i64::try_from(lease.last - tick(now)).unwrap();
    let early = place.worker().assign(&request_at(now - 60_000, 60_000 + 6_000));
    assert!(matches!(early, Err(RegistryError::UsedAhead { .. })), "{early:?}");
    let second = place.worker().assign(&request_at(now - 60_000, 60_001 + 6_000)).unwrap();
    assert_eq!(ahead, 6_000);
    assert_eq!((second.worker, second.first), (id, lease.last + 1));
}

fn a_node_that_another_has_taken_over_is_lost(servers: &ZooKeepers) {
    let place = Place::new(servers, "lost", "10.6.0.1");
    let (mut first, mut second) = (place.worker(), place.worker());
    let lease = first.assign(&request()).unwrap();
    let next = second.assign(&request()).unwrap();
    assert_eq!((next.worker, next.first), (lease.worker, lease.last + 1));
    let lost = |result: Result<u64, RegistryError>| {
        assert!(
            matches!(result, Err(RegistryError::LeaseLost { worker }) if worker == lease.worker)
        );
    };
    lost(first.reserve(&lease, lease.last + 10));
    lost(first.reserve(&lease, lease.last + 10));
    first.release(&lease, lease.last).unwrap();
    // What the second has reserved stands, and it goes on.
    assert_eq!(second.reserve(&next, next.last + 10).unwrap(), next.last + 10);
    // So is one that Leaf has written.
    place.leaf().beat(next.worker, now_ms());
    let mut held = next.clone();
    held.last += 10;
    lost(second.reserve(&held, held.last + 10));
    // What the second has used is not used again, even if an old time is put back.
    let now = now_ms();
    place.leaf().beat(next.worker, now - 60_000);
    let again = second.assign(&request_at(now, 30_000)).unwrap();
    assert_eq!((again.worker, again.first), (next.worker, held.last + 1));
    // Nor does it begin later than it may.
    place.leaf().beat(next.worker, now - 60_000);
    lost(second.reserve(&again, again.last + 10));
    let early = second.assign(&request_at(now, again.last - tick(now)));
    assert!(matches!(early, Err(RegistryError::UsedAhead { .. })), "{early:?}");
}

fn a_lost_answer_loses_no_node(servers: &ZooKeepers) {
    let cut = zookeeper::Switch::default();
    let port = zookeeper::proxy(servers.port(0), cut.clone());
    let place = Place::new(servers, "answer", "10.10.0.1");
    let store = Store::open(format!("zookeeper://127.0.0.1:{port}?admin=0")).unwrap();
    let mut worker = store.leaf_worker(place.name, "10.10.0.1:8080").unwrap();
    let lease = worker.assign(&request()).unwrap();
    // The answers to those that were sent are lost, once and several times.
    for round in 1..=3 {
        for _ in 0..round {
            cut.turn(true);
            let error = worker.reserve(&lease, lease.last + 10 * round).unwrap_err();
            assert!(error.is_transient(), "{error}");
            cut.turn(false);
        }
        let last = lease.last + 10 * round + 1;
        assert_eq!(worker.reserve(&lease, last).unwrap(), last);
        assert_eq!(tick(place.leaf().time(lease.worker)), last);
    }
    // Another's write is not taken for one's own, even if it says the same.
    cut.turn(true);
    let last = lease.last + 100;
    assert!(worker.reserve(&lease, last).unwrap_err().is_transient());
    cut.turn(false);
    let told = place.leaf().time(lease.worker);
    place.leaf().beat(lease.worker, told);
    let refused = worker.reserve(&lease, last);
    assert!(matches!(refused, Err(RegistryError::LeaseLost { .. })), "{refused:?}");
}

fn what_no_id_can_come_from_is_refused(servers: &ZooKeepers) {
    let place = Place::new(servers, "bad", "10.7.0.1");
    let lease = place.assign().unwrap();
    place.leaf().spoil(lease.worker, "{\"timestamp\":\"soon\"}");
    let error = place.assign().unwrap_err();
    assert!(error.to_string().contains("is not what Leaf writes"), "{error}");
    assert!(!error.is_transient());
    let other = Request::new(Layout::DEFAULT, 1_000, 2_000);
    let error = place.worker().assign(&other).unwrap_err();
    assert!(matches!(error, RegistryError::OtherLayout { .. }), "{error}");
    let store = Store::open(format!("zookeeper://{}", servers.places())).unwrap();
    for (name, address) in [("a/b", "10.7.0.1:80"), ("a", "my-host:80"), ("a", "10.7.0.1")] {
        let error = store.leaf_worker(name, address).unwrap_err();
        assert!(error.to_string().starts_with("cannot use Leaf's worker ids in zoo"), "{error}");
    }
    assert!(place.worker().name().ends_with("/snowflake/bad/forever"));
}

fn a_generator_writes_its_time_until_it_ends(servers: &ZooKeepers) {
    let place = Place::new(servers, "whole", "10.8.0.1");
    let build =
        || UidGenerator::builder().layout(TWITTER).registry(place.worker()).build().unwrap();
    let generator = build();
    let id = generator.worker_id();
    let mut uids = BTreeSet::new();
    let mut times = BTreeSet::new();
    while times.len() < 3 {
        uids.extend((0..100).map(|_| generator.take().unwrap()));
        times.insert(place.leaf().time(id));
        sleep(Duration::from_millis(100));
    }
    // What was given is never later than what the node said before.
    let last = TWITTER.parts(*uids.last().unwrap());
    assert!(tick(*times.last().unwrap()) >= TWITTER.tick_at(last.time).unwrap());
    drop(generator);
    let told = place.leaf().time(id);
    assert!(tick(told) >= TWITTER.tick_at(last.time).unwrap());
    sleep(Duration::from_secs(4));
    assert_eq!(place.leaf().time(id), told);
    // The next has the same id, and none of the same UIDs.
    let generator = build();
    assert_eq!(generator.worker_id(), id);
    for _ in 0..1_000 {
        assert!(uids.insert(generator.take().unwrap()));
    }
}

fn ids_end_where_leafs_do(servers: &ZooKeepers) {
    let mut leaf = Place::new(servers, "full", "10.9.0.1").leaf();
    for _ in 0..1_023 {
        leaf.create(now_ms());
    }
    let place = Place::new(servers, "full", "10.9.0.2");
    assert_eq!(place.assign().unwrap().worker, 1_023);
    for _ in 0..2 {
        let error = Place::new(servers, "full", "10.9.0.3").assign().unwrap_err();
        let is_next = |worker| worker == 1_024;
        assert!(
            matches!(error, RegistryError::WorkerRange { worker, max: 1_023 } if is_next(worker)),
            "{error}"
        );
    }
    // Leaf has a node with the number 1,024, and does not start.
    assert_eq!(Place::new(servers, "full", "10.9.0.3").leaf().start(now_ms()), Some(1_024));
    let error = Place::new(servers, "full", "10.9.0.3").assign().unwrap_err();
    assert!(matches!(error, RegistryError::WorkerRange { worker: 1_024, .. }), "{error}");
}
