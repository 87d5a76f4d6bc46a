//! What a start reads of a file with many worker ids, and lists of them.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rusqlite::Connection;
use uidring::Layout;
use uidring::registry::{RegistryAdmin, Request, SqliteRegistry, WorkerRegistry};

use crate::folder::folder;

const HOUR: Duration = Duration::from_secs(3600);

/// Ids of other starts: every second one is leased, and its holder will have it for an hour.
fn fill(file: &Path, ids: u64) -> SqliteRegistry {
    let registry = SqliteRegistry::open(file).unwrap();
    let mut first = registry.clone().leased(HOUR);
    let first = first.assign(&request()).unwrap();
    let sql = format!(
        "WITH RECURSIVE ids (id) AS (SELECT 2 UNION ALL SELECT id + 1 FROM ids WHERE id < {ids})
         INSERT INTO worker_node (id, host_name, port, type, launch_date, modified, created,
             holder, reserved_until, lease_until)
         SELECT ids.id, host_name, port, type, launch_date, modified, created,
             iif(ids.id % 2, holder, NULL), iif(ids.id % 2, reserved_until + 7200, NULL),
             iif(ids.id % 2, lease_until, NULL)
         FROM worker_node, ids WHERE worker_node.id = {}",
        first.worker
    );
    Connection::open(file).unwrap().execute_batch(&sql).unwrap();
    registry
}

fn request() -> Request {
    Request::new(Layout::DEFAULT, 10_000_000, 10_000_030)
}

/// How many bytes this thread reads during a `call`, on which no other thread works.
fn bytes_read<T>(call: impl FnOnce() -> T) -> u64 {
    let read = || -> u64 {
        let counts = fs::read_to_string("/proc/thread-self/io").unwrap();
        let count = counts.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap();
        count.parse().unwrap()
    };
    let before = read();
    call();
    read() - before
}

/// What each call of a generator's life reads.
fn of_calls(file: &Path, ids: u64) -> Vec<(&'static str, u64)> {
    let mut registry = fill(file, ids);
    let mut leased = registry.clone().leased(HOUR);
    let mut read = vec![(
        "a start with an id that is given once",
        bytes_read(|| registry.assign(&request()).unwrap()),
    )];
    let mut lease = None;
    read.push((
        "a start with a new id to lease",
        bytes_read(|| lease = Some(leased.assign(&request()).unwrap())),
    ));
    let lease = lease.unwrap();
    assert_eq!(lease.worker, ids + 2);
    read.push(("a reservation", bytes_read(|| leased.reserve(&lease, lease.last + 1).unwrap())));
    read.push(("an end", bytes_read(|| leased.release(&lease, lease.first).unwrap())));
    read.push((
        "a start with an id that was given back",
        bytes_read(|| assert_eq!(leased.assign(&request()).unwrap().worker, lease.worker)),
    ));
    read.push((
        "the time of the last start",
        bytes_read(|| leased.last_assigned().unwrap().unwrap()),
    ));
    read.push((
        "a page of ids",
        bytes_read(|| assert_eq!(leased.workers_below(u64::MAX, 20).unwrap().len(), 20)),
    ));
    read
}

#[test]
fn a_start_reads_as_much_of_a_large_table_as_of_a_small_one() {
    let dir = folder();
    let small = of_calls(&dir.path().join("small.db"), 1_000);
    let large = of_calls(&dir.path().join("large.db"), 100_000);
    for ((call, small), (_, large)) in small.into_iter().zip(large) {
        // Each tree of the file is a page or two higher.
        assert!(large <= small + 16 * 4096, "{call}: {small} bytes, and {large} of a large table");
    }
}

#[test]
fn pages_and_counts_are_those_of_the_list() {
    let dir = folder();
    let registry = fill(&dir.path().join("uidring.db"), 1_000);
    let mut all = registry.workers().unwrap();
    all.reverse();
    let mut paged = Vec::new();
    while paged.len() < all.len() {
        let end = paged.last().map_or(u64::MAX, |last: &uidring::registry::WorkerRecord| last.id);
        let page = registry.workers_below(end, 300).unwrap();
        assert_eq!(page.len(), (all.len() - paged.len()).min(300));
        paged.extend(page);
    }
    assert_eq!(paged, all);
    assert_eq!(registry.workers_below(1, 300).unwrap(), []);

    let now = SystemTime::now();
    let counts = registry.count_workers(now).unwrap();
    assert_eq!((counts.all, counts.held, counts.expired, counts.given_back), (1_000, 500, 0, 0));
    assert_eq!(counts.first_created, all.last().map(|first| first.created));
    registry.revoke(3).unwrap();
    let counts = registry.count_workers(now + 2 * HOUR).unwrap();
    assert_eq!((counts.all, counts.held, counts.expired, counts.given_back), (1_000, 0, 499, 1));
}
