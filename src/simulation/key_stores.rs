//! Worker ids and segments in a store of keys that loses requests and answers, and makes commits
//! late: nothing is given twice.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use crate::backend::keys::{KeyStore, Memory, Version};
use crate::clock::{Clock, SystemClock};
use crate::layout::Layout;
use crate::registry::{
    KeyRegistry, Lease, RegistryAdmin, RegistryError, Request, WorkerRegistry, contract,
};
use crate::segment::{
    KeySegments, Segment, SegmentAdmin, SegmentError, SegmentSource, Tag, TagChange, TagRecord,
    contract as segments,
};
use crate::sync::{Arc, Mutex, lock, sleep, thread};

fn leased<K: KeyStore>(store: &K, duration: Duration) -> KeyRegistry<K> {
    let mut registry = KeyRegistry::on(store.clone());
    registry.config.leased(duration);
    registry
}

#[test]
fn permanent_ids_keep_the_contract() {
    contract::check(|_| {
        let store = Memory::default();
        move || KeyRegistry::on(store.clone())
    });
}

#[test]
fn leased_ids_keep_the_contract() {
    contract::check(|_| {
        let store = Memory::default();
        move || leased(&store, Duration::from_secs(2))
    });
}

#[test]
fn segments_keep_the_contract() {
    segments::check(|_| {
        let store = Memory::default();
        move || KeySegments::on(store.clone())
    });
}

/// Those that were changed last, though they are read in the order of their names.
#[test]
fn the_newest_tags_are_those_of_all() {
    let source = KeySegments::on(Memory::default());
    for tag in 0..1_200 {
        source.create(&format!("t{tag}"), &Tag::new()).unwrap();
    }
    source.load("t7", None).unwrap();
    let mut all = source.tags().unwrap();
    all.sort_by(TagRecord::newest_first);
    for most in [0, 1, 10, 700, 1_200, usize::MAX] {
        let (newest, count) = source.newest_tags(most).unwrap();
        assert_eq!(newest, all[..most.min(1_200)], "{most}");
        assert_eq!(count, 1_200);
    }
}

/// The ranges that were given of each key, and whether a new one overlaps them.
#[derive(Default)]
struct GivenRanges(BTreeMap<u64, Vec<RangeInclusive<u64>>>);

impl GivenRanges {
    fn note(&mut self, key: u64, range: RangeInclusive<u64>) {
        let all = self.0.entry(key).or_default();
        for other in &*all {
            let overlap = range.start() <= other.end() && other.start() <= range.end();
            assert!(!overlap, "{range:?} of {key} after {other:?}");
        }
        all.push(range);
    }
}

/// Ten million ticks after the epoch.
const NOW: u64 = 10_000_000;

/// Starts, renewals and ends of many generators at once, with leases of which half expire at once,
/// and answers that are lost.
fn storm_of_leases(seed: u64) {
    let store = Memory::default();
    let given = Mutex::new(GivenRanges::default());
    drop(KeyRegistry::on(store.clone()).assign(&request(NOW)));
    store.lose(10, seed);
    thread::scope(|scope| {
        for thread in 0..4 {
            let (store, given) = (&store, &given);
            scope.spawn(move || {
                let mut rng = fastrand::Rng::with_seed(seed * 4 + thread);
                for _ in 0..30 {
                    let mut registry = leased(store, Duration::from_secs(600));
                    if rng.bool() {
                        registry.config.lease = Some(Duration::ZERO);
                    }
                    registry.client.timeout = Duration::from_millis(rng.u64(5..50));
                    if rng.bool() {
                        // Operators may do that at any time.
                        let _ = registry.revoke(rng.u64(1..4));
                    }
                    use_one(&mut registry, &mut rng, given);
                }
            });
        }
    });
    let held: usize = lock(&given).0.values().map(Vec::len).sum();
    assert!(held > 20, "{held} leases only");
}

fn request(now: u64) -> Request {
    Request::new(Layout::DEFAULT, now, Layout::DEFAULT.max_tick())
}

fn use_one<K: KeyStore>(
    registry: &mut KeyRegistry<K>,
    rng: &mut fastrand::Rng,
    given: &Mutex<GivenRanges>,
) {
    let Ok(lease) = registry.assign(&request(NOW)) else { return };
    let Lease { worker, first, mut last, .. } = lease.clone();
    for _ in 0..rng.usize(..4) {
        match registry.reserve(&lease, last + 10) {
            Ok(reserved) => last = reserved,
            Err(RegistryError::LeaseLost { .. }) => break,
            Err(error) => assert!(error.is_transient(), "{error}"),
        }
    }
    // It has used what it says, whatever becomes of the answer.
    let used = if rng.bool() { first } else { last };
    lock(given).note(worker, first..=used);
    if used == last || rng.bool() {
        let _ = registry.release(&lease, used);
    }
}

#[test]
fn no_tick_is_given_twice_though_answers_are_lost() {
    (0..8).for_each(storm_of_leases);
}

/// Loads, and numbers given back, changed and removed by many at once.
fn storm_of_segments(seed: u64) {
    let store = Memory::default();
    let given = Mutex::new(GivenRanges::default());
    let tags = ["orders", "Überweisung / 1.%"];
    for tag in tags {
        KeySegments::on(store.clone()).create(tag, &Tag::new().step(10)).unwrap();
    }
    store.lose(10, seed);
    thread::scope(|scope| {
        for thread in 0..4 {
            let (store, given) = (&store, &given);
            scope.spawn(move || {
                let mut rng = fastrand::Rng::with_seed(seed * 4 + thread);
                let mut source = KeySegments::on(store.clone());
                source.client.timeout = Duration::from_millis(20);
                for _ in 0..100 {
                    let index = rng.usize(..tags.len());
                    load(&source, tags[index], index as u64, &mut rng, given);
                }
            });
        }
    });
    let loaded: usize = lock(&given).0.values().map(Vec::len).sum();
    assert!(loaded > 100, "{loaded} loads only");
}

fn load<K: KeyStore>(
    source: &KeySegments<K>,
    tag: &str,
    key: u64,
    rng: &mut fastrand::Rng,
    given: &Mutex<GivenRanges>,
) {
    let segment = match source.load(tag, rng.bool().then(|| rng.u64(1..50))) {
        Ok(segment) => segment,
        Err(error) => return assert!(error.is_transient(), "{error}"),
    };
    let used = rng.u64(1..=segment.count);
    lock(given).note(key, segment.first..=segment.first + used - 1);
    if used < segment.count {
        let mut unused = segment.clone();
        (unused.first, unused.count) = (segment.first + used, segment.count - used);
        let _ = source.give_back(tag, &unused);
    }
    if rng.u8(..10) == 0 {
        let _ = source.set(tag, &TagChange::new().step(rng.u64(1..100)));
    }
}

#[test]
fn no_number_is_given_twice_though_answers_are_lost() {
    (0..8).for_each(storm_of_segments);
}

/// The answer to a commit that gives numbers back is lost, and another process takes them all
/// before anybody has found out. The row ends then where it did before.
#[test]
fn numbers_that_others_have_taken_meanwhile_are_not_given_back_again() {
    let store = Memory::default();
    let (one, other) = (KeySegments::on(store.clone()), KeySegments::on(store.clone()));
    one.create("orders", &Tag::new()).unwrap();
    let unused = one.load("orders", None).unwrap();
    let taken = other.clone();
    store.lose_answer(move || assert_eq!(taken.load("orders", None).unwrap().first, 1));
    assert!(!one.give_back("orders", &unused).unwrap());
    assert_eq!(other.load("orders", None).unwrap().first, 1001);
}

/// The process that removes a tag still has numbers of it, and others have taken those of the next
/// row to where the one before ended.
#[test]
fn numbers_of_a_removed_tag_do_not_go_back_to_the_next_one() {
    let store = Memory::default();
    let (one, other) = (KeySegments::on(store.clone()), KeySegments::on(store.clone()));
    one.create("orders", &Tag::new()).unwrap();
    let left = one.load("orders", None).unwrap();
    one.remove("orders", None).unwrap();
    other.create("orders", &Tag::new()).unwrap();
    assert_eq!(other.load("orders", None).unwrap().row_end, left.row_end);
    assert!(!one.give_back("orders", &left).unwrap());
    // Nor when it knows the next row itself.
    assert_eq!(one.load("orders", None).unwrap().first, 1001);
    let merged = Segment { count: 2000, row_end: 2000, ..left };
    assert!(!one.give_back("orders", &merged).unwrap());
    assert_eq!(other.load("orders", None).unwrap().first, 2001);
    // What is left of the next row itself goes back.
    let last = one.load("orders", None).unwrap();
    assert!(one.give_back("orders", &last).unwrap());
}

/// As above, and another process creates the tag again.
#[test]
fn a_tag_that_others_have_created_meanwhile_is_not_removed() {
    let store = Memory::default();
    let (one, other) = (KeySegments::on(store.clone()), KeySegments::on(store.clone()));
    one.create("orders", &Tag::new()).unwrap();
    let again = other.clone();
    store.lose_answer(move || drop(again.create("orders", &Tag::new()).unwrap()));
    let error = one.remove("orders", None).unwrap_err();
    assert!(matches!(error, SegmentError::NoSuchTag { .. }), "{error}");
    assert_eq!(other.load("orders", None).unwrap().first, 1);
}

/// The tags that are alike are for the error alone. A store with many may take too long to list
/// them, and is not away.
#[test]
fn a_missing_tag_is_told_without_those_that_are_alike() {
    let store = Memory::default();
    let source = KeySegments::on(store.clone());
    source.create("orders", &Tag::new()).unwrap();
    let missing = |source: &KeySegments<Memory>| match source.load("order", None).unwrap_err() {
        SegmentError::NoSuchTag { tag, alike, .. } if tag == "order" => alike,
        error => panic!("{error}"),
    };
    assert_eq!(missing(&source), ["orders"]);
    store.lose_lists();
    assert!(missing(&source).is_empty());
}

/// The answer to a commit that revokes a lease is lost, and another process takes the id before
/// anybody has found out.
#[test]
fn a_lease_that_was_given_meanwhile_is_not_revoked() {
    let store = Memory::default();
    let open = || leased(&store, Duration::from_secs(600));
    let (mut one, mut other) = (open(), open());
    one.assign(&request(NOW)).unwrap();
    let taken = Arc::new(Mutex::new(None));
    let (given, mut next) = (taken.clone(), other.clone());
    store.lose_answer(move || *lock(&given) = Some(next.assign(&request(NOW)).unwrap()));
    one.revoke(1).unwrap();
    let lease = lock(&taken).take().unwrap();
    assert_eq!(lease.worker, 1);
    assert_eq!(other.reserve(&lease, lease.last + 1).unwrap(), lease.last + 1);
}

/// The commit that removes a tag is lost, and others take more numbers and remove it. What this
/// call has seen of it is too old by then to tell where a new tag may begin.
#[test]
fn a_tag_that_others_have_removed_meanwhile_is_not_told_of() {
    let store = Memory::default();
    let (one, other) = (KeySegments::on(store.clone()), KeySegments::on(store.clone()));
    one.create("orders", &Tag::new()).unwrap();
    store.lose_commit(move || {
        other.load("orders", None).unwrap();
        assert_eq!(other.remove("orders", None).unwrap().next, 1001);
    });
    let error = one.remove("orders", None).unwrap_err();
    assert!(matches!(error, SegmentError::NoSuchTag { .. }), "{error}");
}

#[test]
fn who_lives_notices_lost_keys_and_an_old_copy() {
    let store = Memory::default();
    let empty = store.copy();
    let (mut ids, tags) = (KeyRegistry::on(store.clone()), KeySegments::on(store.clone()));
    ids.assign(&request(NOW)).unwrap();
    let early = store.copy();
    ids.assign(&request(NOW)).unwrap();
    tags.create("orders", &Tag::new()).unwrap();
    tags.load("orders", None).unwrap();
    let now = store.copy();

    store.restore(empty.clone());
    let lost = "its keys are gone, the only memory of what has been given";
    for error in [
        ids.assign(&request(NOW)).unwrap_err().to_string(),
        tags.load("orders", None).unwrap_err().to_string(),
        tags.create("orders", &Tag::new()).unwrap_err().to_string(),
    ] {
        assert!(error.contains(lost), "{error}");
    }
    store.restore(early);
    let error = ids.assign(&request(NOW)).unwrap_err().to_string();
    assert!(error.contains("that gave worker id 2 to this process, or an old copy"), "{error}");
    store.restore(now.clone());
    assert_eq!(ids.assign(&request(NOW)).unwrap().worker, 3);

    // Other keys, as if the folder had been removed and used again.
    store.restore(empty);
    KeyRegistry::on(store.clone()).assign(&request(NOW)).unwrap();
    let other = store.copy();
    let error = ids.assign(&request(NOW)).unwrap_err().to_string();
    assert!(error.contains("its keys are not those that this process has used"), "{error}");

    // The same in the middle of a call.
    store.restore(now.clone());
    store.restore_before_commit(other.clone());
    let error = tags.create("users", &Tag::new()).unwrap_err().to_string();
    assert!(error.contains("its keys are not those that this process has used"), "{error}");
    assert_eq!(store.copy(), other);

    // One key of several, put back or lost by hand.
    let mut mixed = now.clone();
    mixed.insert("layout".to_owned(), other["layout"].clone());
    store.restore(mixed);
    let fresh = || KeyRegistry::on(store.clone());
    let error = fresh().assign(&request(NOW)).unwrap_err().to_string();
    assert!(error.contains("1 is the largest worker id ever given, and there is"), "{error}");
    let mut nameless = now;
    nameless.remove("store");
    store.restore(nameless);
    let error = fresh().assign(&request(NOW)).unwrap_err().to_string();
    assert!(error.contains("its key store is gone, and other keys are there"), "{error}");
}

/// An old copy in which the id that a process holds is free: it would take the id again, from the
/// present on, and repeat what it has given itself.
#[test]
fn a_process_takes_its_own_id_from_no_old_copy() {
    let store = Memory::default();
    let open = || leased(&store, Duration::from_secs(600));
    let (mut first, mut ids) = (open(), open());
    let lease = first.assign(&request(NOW)).unwrap();
    first.release(&lease, lease.first).unwrap();
    let copy = store.copy();
    let lease = ids.assign(&request(NOW)).unwrap();
    assert_eq!(lease.worker, 1);
    let current = store.copy();
    store.restore(copy);
    let reserved = ids.reserve(&lease, lease.last + 1).map(|_| lease.clone());
    for given in [reserved, ids.assign(&request(NOW))] {
        let error = given.unwrap_err().to_string();
        assert!(error.contains("that gave worker id 1 to this process, or an old"), "{error}");
    }
    store.restore(current);
    assert_eq!(ids.reserve(&lease, lease.last + 1).unwrap(), lease.last + 1);
}

/// An old copy in which the process holds its id already, and has reserved less than it has since.
/// Whoever takes the id after it would begin too early.
#[test]
fn a_process_reserves_no_ticks_in_an_old_copy() {
    let store = Memory::default();
    let mut ids = leased(&store, Duration::from_secs(600));
    let lease = ids.assign(&request(NOW)).unwrap();
    let copy = store.copy();
    let last = ids.reserve(&lease, lease.last + 100).unwrap();
    let current = store.copy();
    store.restore(copy.clone());
    let error = ids.reserve(&lease, last + 1).unwrap_err().to_string();
    assert!(error.contains("that gave worker id 1 to this process, or an old"), "{error}");
    assert_eq!(store.copy(), copy);
    store.restore(current);
    assert_eq!(ids.reserve(&lease, last + 1).unwrap(), last + 1);
}

/// Another process makes the first commit of all while this one reads, which has seen that there
/// was no key `store`.
#[test]
fn a_store_that_others_begin_meanwhile_has_lost_nothing() {
    let store = Memory::default();
    let (mut one, mut other) = (KeyRegistry::on(store.clone()), KeyRegistry::on(store.clone()));
    store.interrupt_read(move || assert_eq!(other.assign(&request(NOW)).unwrap().worker, 1));
    assert_eq!(one.assign(&request(NOW)).unwrap().worker, 2);
}

/// As above, and the other one is a clone, which tells this one what it has seen.
#[test]
fn a_store_that_a_clone_begins_meanwhile_has_lost_nothing() {
    let store = Memory::default();
    let one = KeySegments::on(store.clone());
    let clone = one.clone();
    store.interrupt_read(move || drop(clone.create("users", &Tag::new()).unwrap()));
    one.create("orders", &Tag::new()).unwrap();
    assert_eq!(one.tags().unwrap().len(), 2);
}

/// Others are first each time. It says so, instead of asking once more with no time for an answer.
#[test]
fn who_is_always_late_ends_in_time() {
    const RUN: Duration = Duration::from_millis(40);
    fn overtake(store: Memory, runs: Arc<Mutex<i64>>) {
        *lock(&runs) += 1;
        let mut keys = store.copy();
        let layout = keys.get_mut("layout").unwrap();
        layout.version = Version::Number(100 + *lock(&runs));
        store.restore_before_commit(keys);
        sleep(RUN);
        store.clone().interrupt_read(move || overtake(store, runs));
    }
    let (store, runs) = (Memory::default(), Arc::<Mutex<i64>>::default());
    let mut registry = KeyRegistry::on(store.clone());
    registry.client.timeout = RUN * 5 / 2;
    registry.assign(&request(NOW)).unwrap();
    let (again, counted) = (store.clone(), runs.clone());
    store.interrupt_read(move || overtake(again, counted));
    let error = registry.assign(&request(NOW)).unwrap_err();
    assert!(error.to_string().starts_with("others wrote to the registry memory first"), "{error}");
    let runs = *lock(&runs);
    assert!((1..=2).contains(&runs), "{runs} runs of {RUN:?} in {:?}", registry.client.timeout);
}

#[test]
fn a_row_that_was_made_anew_is_noticed() {
    let store = Memory::default();
    let (one, other) = (KeySegments::on(store.clone()), KeySegments::on(store));
    one.create("orders", &Tag::new()).unwrap();
    one.load("orders", None).unwrap();
    other.remove("orders", None).unwrap();
    other.create("orders", &Tag::new()).unwrap();
    let error = one.load("orders", None).unwrap_err();
    assert!(matches!(error, SegmentError::BadRow { .. }), "{error}");
    assert!(error.to_string().contains("it is not the one that this process took"), "{error}");
}

#[test]
fn a_record_that_cannot_be_read_is_named_by_its_key() {
    let store = Memory::default();
    leased(&store, Duration::from_secs(2)).assign(&request(NOW)).unwrap();
    let mut keys = store.copy();
    let record = keys.get_mut("workers/1").unwrap();
    record.value = record.value.replace("\"reserved_until\":", "\"reserved_until\":-");
    store.restore(keys);
    let error = KeyRegistry::on(store).workers().unwrap_err().to_string();
    assert!(error.contains("in its key workers/1 the member reserved_until is -"), "{error}");
}

/// How many keys are read by a start with a leased id, its end, and a start that checks its clock.
fn reads_of_leased(store: &Memory) -> usize {
    let before = store.reads();
    let mut registry = leased(store, Duration::from_secs(600));
    let lease = registry.assign(&request(NOW)).unwrap();
    registry.reserve(&lease, lease.last + 1).unwrap();
    registry.release(&lease, lease.last).unwrap();
    registry.last_assigned().unwrap();
    store.reads() - before
}

/// A registry of ids up to `last`, of which `largest` was given last, and so many are leased. They
/// are held, but for those that are `free`.
fn with_leased_ids(
    ids: u64,
    [largest, last]: [u64; 2],
    free: &[u64],
) -> (Memory, KeyRegistry<Memory>) {
    let store = Memory::default();
    let open = || {
        let mut registry = leased(&store, Duration::from_secs(600));
        registry.config.worker_ids(&(1..=last)).unwrap();
        registry
    };
    open().assign(&request(NOW)).unwrap();
    let mut keys = store.copy();
    let held = keys["workers/1"].clone();
    for id in 1..=ids {
        let mut record = held.clone();
        if free.contains(&id) {
            record.value = record.value.replace("\"holder\":", "\"former_holder\":");
        }
        keys.insert(format!("workers/{id}"), record);
    }
    let layout = keys.get_mut("layout").unwrap();
    let largest = format!("\"last_worker\":{largest}");
    layout.value = layout.value.replace("\"last_worker\":1", &largest);
    store.restore(keys);
    let registry = open();
    (store, registry)
}

#[test]
fn a_start_reads_few_records_of_many_leased_ids() {
    let (most, last) = (510, Layout::DEFAULT.max_worker());
    for (ids, every) in [(400, 7), (3000, 2), (30_000, 2)] {
        let free: Vec<u64> = (1..=ids).filter(|id| id % every == 0).collect();
        let (store, mut registry) = with_leased_ids(ids, [ids, last], &free);
        let before = store.reads();
        let lease = registry.assign(&request(NOW)).unwrap();
        assert!(free.contains(&lease.worker), "{}", lease.worker);
        assert!(store.reads() - before < most, "{}", store.reads() - before);
    }
    // All are held.
    let (store, mut registry) = with_leased_ids(30_000, [30_000, last], &[]);
    let before = store.reads();
    let lease = registry.assign(&request(NOW)).unwrap();
    assert_eq!(lease.worker, 30_001);
    assert!(store.reads() - before < most, "{}", store.reads() - before);
}

#[test]
fn a_free_leased_id_is_found_where_no_other_is_left_or_most_are_given_once() {
    let largest = Layout::DEFAULT.max_worker();
    for (largest, free) in [(600, 577), (largest, 1), (largest, 600)] {
        let (_, mut registry) = with_leased_ids(600, [largest; 2], &[free]);
        let lease = registry.assign(&request(NOW)).unwrap();
        assert_eq!(lease.worker, free);
        let error = registry.assign(&request(NOW)).unwrap_err();
        assert!(matches!(error, RegistryError::Exhausted { next: Some(_), .. }), "{error}");
    }
}

#[test]
fn a_start_reads_no_record_of_an_id_that_is_given_once() {
    let store = Memory::default();
    let mut permanent = KeyRegistry::on(store.clone());
    permanent.assign(&request(NOW)).unwrap();
    reads_of_leased(&store);
    let few = reads_of_leased(&store);
    for _ in 0..500 {
        permanent.assign(&request(NOW)).unwrap();
    }
    assert_eq!(reads_of_leased(&store), few);
    let before = store.reads();
    permanent.assign(&request(NOW)).unwrap();
    assert!(store.reads() - before <= few);
}

#[test]
fn pages_and_counts_are_those_of_the_list() {
    let store = Memory::default();
    let mut permanent = KeyRegistry::on(store.clone());
    let mut leases = leased(&store, Duration::from_secs(600));
    for id in 1..=50 {
        let registry = if id % 5 == 0 { &mut leases } else { &mut permanent };
        assert_eq!(registry.assign(&request(NOW)).unwrap().worker, id);
    }
    // As an older version has left it, and as people remove records.
    let mut keys = store.copy();
    let old = keys.remove("permanent/7").unwrap();
    keys.insert("workers/7".to_owned(), old);
    keys.retain(|key, _| !key.ends_with("/1") && !key.starts_with("permanent/4"));
    store.restore(keys);
    let mut all = permanent.workers().unwrap();
    all.reverse();
    let mut paged = permanent.workers_below(u64::MAX, 7).unwrap();
    while let Some(last) = paged.last().filter(|_| paged.len() < all.len()) {
        let page = permanent.workers_below(last.id, 7).unwrap();
        assert_eq!(page.len(), 7.min(all.len() - paged.len()));
        paged.extend(page);
    }
    assert_eq!(paged, all);
    assert_eq!(permanent.workers_below(2, 7).unwrap(), []);
    let counts = permanent.count_workers(SystemClock.now()).unwrap();
    assert_eq!((counts.all, counts.held), (all.len() as u64, 10));
    assert_eq!(counts.first_created, all.last().map(|first| first.created));
    assert_eq!(leases.assign(&request(NOW)).unwrap().worker, 51);
}

/// The layout is an old copy, and a record is none: the id that comes next has been given.
#[test]
fn a_record_beyond_the_largest_id_is_noticed() {
    for (is_leased, would_lease) in [(false, false), (false, true), (true, false), (true, true)] {
        let store = Memory::default();
        let assign = |is_leased| {
            let duration = Duration::from_secs(600);
            let mut registry = KeyRegistry::on(store.clone());
            if is_leased {
                registry.config.leased(duration);
            }
            registry.assign(&request(NOW))
        };
        assign(is_leased).unwrap();
        let before = store.copy();
        assert_eq!(assign(is_leased).unwrap().worker, 2);
        let mut after = store.copy();
        after.insert("layout".to_owned(), before["layout"].clone());
        store.restore(after);
        let error = assign(would_lease).unwrap_err().to_string();
        assert!(error.contains("there is a record of 2"), "{error}");
    }
}

#[test]
fn trying_out_leaves_nothing() {
    let store = Memory::default();
    KeyRegistry::on(store.clone()).try_out(&Layout::DEFAULT).unwrap();
    assert!(store.copy().is_empty());
    KeyRegistry::on(store.clone()).assign(&request(NOW)).unwrap();
    let before = store.copy();
    KeyRegistry::on(store.clone()).try_out(&Layout::DEFAULT).unwrap();
    KeyRegistry::on(store.clone()).try_out(&Layout::TWITTER).unwrap_err();
    assert_eq!(store.copy(), before);
}
