//! `CosId`'s counters, beside programs with `CosId`, whose commands `redis-cli` sends.

use std::collections::BTreeSet;

use uidring::segment::{SegmentAdmin, SegmentError, SegmentSource, Tag, TagChange, contract};

use uidring::store::{StorageError, StoreSegments};
use uidring::{Store, Table};

use crate::key_servers::redis::OwnRedis;

const TAG: &str = "shop.orders";
const KEY: &str = "cosid:{shop.orders}.adder";

fn open(server: &OwnRedis) -> StoreSegments {
    let store = Store::open(format!("redis://{}/0/ids", server.place())).unwrap();
    store.segments_in(Table::CosId).unwrap()
}

/// What a program with `CosId` does when it starts, and when it needs numbers: the last of them.
fn begin(server: &OwnRedis, offset: i64) {
    server.run(&["SETNX", KEY, &offset.to_string()]);
}

fn count(server: &OwnRedis, step: u64) -> u64 {
    server.run(&["INCRBY", KEY, &step.to_string()]).parse().unwrap()
}

/// Each store is a database of the server.
#[test]
#[ignore = "needs Redis' server"]
fn the_contract_is_kept() {
    let server = OwnRedis::start("databases 64");
    let made = std::cell::Cell::new(0);
    contract::check(|_| {
        made.set(made.get() + 1);
        let address = format!("redis://{}/{}/ids", server.place(), made.get());
        let source = Store::open(address).unwrap().segments_in(Table::CosId).unwrap();
        move || source.clone()
    });
}

#[test]
#[ignore = "needs Redis' server"]
fn a_tag_is_the_counter_of_cosid() {
    let server = OwnRedis::start("");
    let source = open(&server);
    assert!(matches!(source.load(TAG, None), Err(SegmentError::NoSuchTag { .. })));
    assert_eq!(server.run(&["EXISTS", KEY]), "0");

    begin(&server, 0);
    assert_eq!(count(&server, 10), 10);
    let segment = source.load(TAG, Some(5)).unwrap();
    assert_eq!((segment.first, segment.count, segment.row_end), (11, 5, 15));
    assert_eq!(count(&server, 10), 25);
    assert_eq!(server.run(&["GET", KEY]), "25");
    // Neither beside the counter is there anything.
    assert_eq!(server.run(&["DBSIZE"]), "1");

    // The other way round.
    source.create("shop.invoices", &Tag::new().first(501)).unwrap();
    let key = "cosid:{shop.invoices}.adder";
    assert_eq!(server.run(&["GET", key]), "500");
    assert_eq!(server.run(&["SETNX", key, "0"]), "0");
    let names: Vec<String> = source.tags().unwrap().into_iter().map(|tag| tag.tag).collect();
    assert_eq!(names, ["shop.invoices", TAG]);
    assert_eq!(source.create(TAG, &Tag::new()).unwrap().next, 26);
}

#[test]
#[ignore = "needs Redis' server"]
fn nothing_is_given_twice_beside_cosid() {
    let server = OwnRedis::start("");
    let source = open(&server);
    begin(&server, 0);
    let (ours, theirs) = std::thread::scope(|scope| {
        let ours = scope.spawn(|| {
            let mut numbers = Vec::new();
            for round in 0..200 {
                let segment = source.load(TAG, Some(7)).unwrap();
                let mut unused = segment.clone();
                (unused.first, unused.count) = (segment.first + 3, segment.count - 3);
                // What is not used is given back at times, and then it is no longer ours.
                if round % 2 == 0 {
                    source.give_back(TAG, &unused).unwrap();
                    numbers.extend(segment.first..unused.first);
                } else {
                    numbers.extend(segment.first..segment.first + segment.count);
                }
            }
            numbers
        });
        let mut theirs = Vec::new();
        let mut before = 0;
        for _ in 0..200 {
            let last = count(&server, 10);
            // A program with CosId takes nothing lower from its counter.
            assert!(last >= before + 10, "{last} after {before}");
            before = last;
            theirs.extend(last - 9..=last);
        }
        (ours.join().unwrap(), theirs)
    });
    let all: BTreeSet<u64> = ours.iter().chain(&theirs).copied().collect();
    assert_eq!(all.len(), ours.len() + theirs.len());
}

#[test]
#[ignore = "needs Redis' server"]
fn what_is_given_back_stays_where_cosid_has_counted_on() {
    let server = OwnRedis::start("");
    let source = open(&server);
    begin(&server, 0);
    let segment = source.load(TAG, Some(100)).unwrap();
    let mut unused = segment.clone();
    (unused.first, unused.count) = (41, 60);
    assert_eq!(count(&server, 10), 110);
    assert!(!source.give_back(TAG, &unused).unwrap());
    assert_eq!(server.run(&["GET", KEY]), "110");

    let segment = source.load(TAG, Some(100)).unwrap();
    let mut unused = segment.clone();
    (unused.first, unused.count) = (151, 60);
    assert!(source.give_back(TAG, &unused).unwrap());
    assert!(!source.give_back(TAG, &unused).unwrap());
    assert_eq!(count(&server, 10), 160);
}

#[test]
#[ignore = "needs Redis' server"]
fn a_step_is_that_of_the_process() {
    let server = OwnRedis::start("");
    let (source, other) = (open(&server), open(&server));
    source.create(TAG, &Tag::new().step(50)).unwrap();
    assert_eq!(source.load(TAG, None).unwrap().count, 50);
    assert_eq!(other.load(TAG, None).unwrap().count, 1000);
    other.create(TAG, &Tag::new().step(70)).unwrap();
    assert_eq!(other.load(TAG, None).unwrap().count, 70);
    assert!(matches!(
        source.create(TAG, &Tag::new().step(70)),
        Err(SegmentError::Differs { field: "step", .. })
    ));
    for new in [Tag::new().max_step(2000), Tag::new().description("x")] {
        assert!(matches!(source.create("shop.x", &new), Err(SegmentError::BadTag { .. })));
    }
    let error = source.set(TAG, &TagChange::new().step(5)).unwrap_err().to_string();
    assert!(error.contains("each program has its own"), "{error}");
}

#[test]
#[ignore = "needs Redis' server"]
fn an_operator_can_raise_a_counter_and_not_remove_it() {
    let server = OwnRedis::start("");
    let source = open(&server);
    begin(&server, 100);
    assert_eq!(source.set(TAG, &TagChange::new().next(501)).unwrap().next, 501);
    assert_eq!(count(&server, 10), 510);
    assert!(matches!(
        source.set(TAG, &TagChange::new().next(11)),
        Err(SegmentError::Lower { next: 511, asked: 11, .. })
    ));
    let error = source.remove(TAG, None).unwrap_err().to_string();
    assert!(error.contains("remove the key cosid:{shop.orders}.adder in Redis"), "{error}");
    assert_eq!(server.run(&["GET", KEY]), "510");
}

#[test]
#[ignore = "needs Redis' server"]
fn a_counter_that_is_none_gives_nothing() {
    let server = OwnRedis::start("");
    let source = open(&server);
    begin(&server, -5);
    let error = source.load(TAG, Some(10)).unwrap_err().to_string();
    assert!(error.contains("its value is -5, and numbers begin at 1"), "{error}");
    assert_eq!(server.run(&["GET", KEY]), "-5");
    server.run(&["SET", KEY, "many"]);
    let error = source.load(TAG, None).unwrap_err().to_string();
    assert!(error.contains("of another kind"), "{error}");
    // Redis counts up no number in another form than its own.
    for text in ["0100", "+100", "-0"] {
        server.run(&["SET", KEY, text]);
        let error = source.load(TAG, None).unwrap_err().to_string();
        assert!(error.contains("of another kind") || error.contains("no number"), "{error}");
        let error = source.set(TAG, &TagChange::new().next(501)).unwrap_err().to_string();
        assert!(error.contains(&format!("is \"{text}\", and no number")), "{error}");
    }
    // A number that Lua would round.
    let large = 9_007_199_254_740_993_u64;
    server.run(&["SET", KEY, &large.to_string()]);
    let segment = source.load(TAG, Some(2)).unwrap();
    assert_eq!((segment.first, segment.row_end), (large + 1, large + 2));
}

#[test]
fn other_stores_have_no_counters_of_cosid() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().join("uidring.db")).unwrap();
    let error = store.segments_in(Table::CosId).unwrap_err();
    assert!(matches!(&error, SegmentError::Storage(StorageError::Unusable { .. })), "{error}");
    assert!(error.to_string().contains("name the server with redis://"), "{error}");
}
