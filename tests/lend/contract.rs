//! What pools promise, whatever the store. Times are those of real clocks, so leases and rests are
//! as short as they may be.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use uidring::Store;
use uidring::lend::{Grant, LendError, LoanRequest, LoanState, WorkerPool};

const SECOND: Duration = Duration::from_secs(1);

/// A request for the shortest lease and rest, or for a lease that outlasts the test.
fn short() -> LoanRequest {
    LoanRequest { lease: SECOND, rest: SECOND, ..LoanRequest::new() }
}

fn long() -> LoanRequest {
    LoanRequest { lease: 600 * SECOND, rest: SECOND, ..LoanRequest::new() }
}

fn with_secret(request: LoanRequest, secret: &str) -> LoanRequest {
    LoanRequest { secret: Some(secret.to_owned()), ..request }
}

/// Asks until the pool gives an id, and returns after how long.
fn lend_at_last(pool: &WorkerPool, mut request: impl FnMut() -> LoanRequest) -> (Grant, Duration) {
    let since = Instant::now();
    loop {
        match pool.grant(&request()) {
            Ok(grant) => return (grant, since.elapsed()),
            Err(LendError::Full { .. } | LendError::ClockBehind { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        assert!(since.elapsed() < 30 * SECOND, "nothing is lent");
        thread::sleep(Duration::from_millis(50));
    }
}

/// All of it, in pools of its own. `store` may have others.
pub fn check(store: &Store) {
    ids_that_were_never_lent_come_first(store);
    an_id_has_one_holder(store);
    a_pool_has_one_width(store);
    an_id_rests_before_it_is_lent_again(store);
    the_id_that_rested_the_longest_is_next(store);
    a_clock_that_is_behind_gets_nothing(store);
    a_clock_that_went_back_is_remembered(store);
    a_loan_is_its_holders_alone(store);
    a_request_that_is_repeated_lends_once(store);
    all_pools_are_listed(store);
}

fn ids_that_were_never_lent_come_first(store: &Store) {
    let pool = store.worker_pool("fresh", 3).unwrap();
    assert_eq!((pool.loans().unwrap().len(), pool.counts().unwrap().free), (0, 7));
    let first = pool.grant(&long()).unwrap();
    pool.give_back(first.id, &first.secret, SystemTime::now()).unwrap();
    thread::sleep(Duration::from_millis(2_100));
    let others: Vec<u64> = (0..6).map(|_| pool.grant(&long()).unwrap().id).collect();
    assert_eq!((first.id, &*others), (1, &[2, 3, 4, 5, 6, 7][..]));
    // Only now the one that was returned; and never 0.
    let again = lend_at_last(&pool, || LoanRequest { clock: SystemTime::now(), ..long() }).0;
    assert_eq!(again.id, 1);
    let error = pool.grant(&long()).unwrap_err();
    assert!(matches!(error, LendError::Full { held: 7, resting: 0, .. }), "{error}");
}

fn an_id_has_one_holder(store: &Store) {
    let pool = store.worker_pool("crowd", 5).unwrap();
    let lend = || (0..4).map(|_| pool.grant(&long()).unwrap().id).collect::<Vec<_>>();
    let ids: Vec<u64> = thread::scope(|scope| {
        let threads: Vec<_> = (0..7).map(|_| scope.spawn(lend)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 28, "{ids:?}");
    let counts = pool.counts().unwrap();
    assert_eq!((counts.held, counts.resting, counts.free), (28, 0, 3));
}

fn a_pool_has_one_width(store: &Store) {
    store.worker_pool("width", 10).unwrap().grant(&long()).unwrap();
    let other = store.worker_pool("width", 12).unwrap();
    for error in [other.grant(&long()).unwrap_err(), other.loans().unwrap_err()] {
        assert!(matches!(error, LendError::OtherBits { stored: 10, asked: 12, .. }), "{error}");
    }
}

fn an_id_rests_before_it_is_lent_again(store: &Store) {
    let pool = store.worker_pool("rest", 1).unwrap();
    // etcd tells whole seconds alone, so that a rest may be so much shorter.
    let unseen = if store.scheme() == "etcd" { SECOND } else { Duration::ZERO };
    let since = Instant::now();
    let killed = pool.grant(&short()).unwrap();
    // While it is held, and while it rests.
    let mut seen = BTreeSet::new();
    let (again, _) = lend_at_last(&pool, || {
        let counts = pool.counts().unwrap();
        seen.insert((counts.held, counts.resting));
        LoanRequest { clock: SystemTime::now() + 60 * SECOND, ..short() }
    });
    assert!(since.elapsed() + unseen >= 2 * SECOND, "after {:?}", since.elapsed());
    assert_eq!(again.id, killed.id);
    assert!(seen.contains(&(1, 0)) && seen.contains(&(0, 1)), "{seen:?}");
    // A return ends the lease, and not the rest.
    let since = Instant::now();
    pool.give_back(again.id, &again.secret, SystemTime::now()).unwrap();
    let error = pool.grant(&short()).unwrap_err();
    assert!(matches!(error, LendError::Full { held: 0, resting: 1, .. }), "{error}");
    let later = || LoanRequest { clock: SystemTime::now() + 120 * SECOND, ..short() };
    lend_at_last(&pool, later);
    assert!(since.elapsed() + unseen >= SECOND, "after {:?}", since.elapsed());
}

fn the_id_that_rested_the_longest_is_next(store: &Store) {
    let pool = store.worker_pool("order", 2).unwrap();
    let grants: Vec<Grant> = (0..3).map(|_| pool.grant(&long()).unwrap()).collect();
    for index in [1, 2, 0] {
        let Grant { id, secret, .. } = &grants[index];
        pool.give_back(*id, secret, SystemTime::now()).unwrap();
        // etcd tells whole seconds alone.
        thread::sleep(Duration::from_millis(1_050));
    }
    thread::sleep(2 * SECOND);
    let ids: Vec<u64> = (0..3).map(|_| pool.grant(&long()).unwrap().id).collect();
    assert_eq!(ids, [2, 3, 1]);
}

fn a_clock_that_is_behind_gets_nothing(store: &Store) {
    let pool = store.worker_pool("clocks", 1).unwrap();
    let ahead = SystemTime::now() + 3600 * SECOND;
    // Killed: its clock may have shown all of the lease.
    pool.grant(&LoanRequest { clock: ahead, ..short() }).unwrap();
    thread::sleep(Duration::from_millis(3_100));
    let needed = ahead + 2 * SECOND;
    let at = |clock| pool.grant(&LoanRequest { clock, ..short() });
    let error = at(needed - Duration::from_millis(10)).unwrap_err();
    let LendError::ClockBehind { by } = error else { panic!("{error}") };
    assert_eq!(by, Duration::from_millis(10));
    assert_eq!(at(needed).unwrap().id, 1);
}

fn a_clock_that_went_back_is_remembered(store: &Store) {
    let pool = store.worker_pool("back", 1).unwrap();
    let ahead = SystemTime::now() + 3600 * SECOND;
    let grant = pool.grant(&LoanRequest { clock: ahead, ..long() }).unwrap();
    pool.renew(grant.id, &grant.secret, ahead).unwrap();
    pool.renew(grant.id, &grant.secret, ahead - 1800 * SECOND).unwrap();
    pool.give_back(grant.id, &grant.secret, ahead - 1000 * SECOND).unwrap();
    let loan = pool.loans().unwrap().remove(0);
    assert!(loan.clock_until >= ahead - SECOND / 1000, "{loan:?}");
    assert!(loan.state == LoanState::Resting && loan.clock_until < ahead + 60 * SECOND, "{loan:?}");
    thread::sleep(Duration::from_millis(2_100));
    let error = pool.grant(&LoanRequest { clock: ahead, ..long() }).unwrap_err();
    assert!(matches!(error, LendError::ClockBehind { .. }), "{error}");
}

fn a_loan_is_its_holders_alone(store: &Store) {
    let pool = store.worker_pool("holder", 4).unwrap();
    let now = SystemTime::now();
    let lost = |result: Result<(), LendError>| {
        let error = result.unwrap_err();
        assert!(matches!(error, LendError::Lost { .. }), "{error}");
    };
    let (one, two) = (pool.grant(&long()).unwrap(), pool.grant(&long()).unwrap());
    lost(pool.renew(one.id, &two.secret, now));
    lost(pool.give_back(one.id, &two.secret, now));
    lost(pool.renew(9, &one.secret, now));
    assert_eq!(pool.counts().unwrap().held, 2);
    pool.renew(one.id, &one.secret, now).unwrap();
    pool.give_back(one.id, &one.secret, now).unwrap();
    pool.give_back(one.id, &one.secret, now).unwrap();
    lost(pool.renew(one.id, &one.secret, now));

    // A renewal after the end, although nobody else has the id.
    let late = pool.grant(&short()).unwrap();
    thread::sleep(Duration::from_millis(2_050));
    lost(pool.renew(late.id, &late.secret, SystemTime::now()));
    // One that comes in time is for another lease.
    let kept = pool.grant(&LoanRequest { lease: 4 * SECOND, ..short() }).unwrap();
    for _ in 0..4 {
        thread::sleep(Duration::from_millis(1_500));
        pool.renew(kept.id, &kept.secret, SystemTime::now()).unwrap();
    }
}

fn a_request_that_is_repeated_lends_once(store: &Store) {
    let pool = store.worker_pool("repeated", 4).unwrap();
    let request = || with_secret(long(), "a-secret-of-a-client");
    let ids: Vec<u64> = (0..3).map(|_| pool.grant(&request()).unwrap().id).collect();
    assert_eq!((&*ids, pool.loans().unwrap().len()), (&[1, 1, 1][..], 1));
    // Whoever is told that it has an id for longer has it for longer.
    let longer = LoanRequest { lease: 900 * SECOND, rest: 2 * SECOND, ..request() };
    for asked in [longer, request()] {
        assert_eq!(pool.grant(&asked).unwrap().id, 1);
        let loan = &pool.loans().unwrap()[0];
        assert_eq!((loan.lease, loan.rests_until - 2 * SECOND), (900 * SECOND, loan.until));
        assert!(loan.until >= loan.since + 899 * SECOND, "{loan:?}");
    }
    let other = pool.grant(&with_secret(long(), "another-secret-of-one")).unwrap();
    assert_eq!(other.id, 2);
    pool.give_back(1, "a-secret-of-a-client", SystemTime::now()).unwrap();
    assert_eq!(pool.grant(&request()).unwrap().id, 3, "a loan that is over is not renewed");
    pool.renew(3, "a-secret-of-a-client", SystemTime::now()).unwrap();
}

fn all_pools_are_listed(store: &Store) {
    let pools = store.worker_pools().unwrap();
    let names: Vec<&str> = pools.iter().map(|pool| &*pool.name).collect();
    assert!(names.is_sorted() && names.len() >= 9, "{names:?}");
    let crowd = pools.iter().find(|pool| pool.name == "crowd").unwrap();
    assert_eq!((crowd.bits, crowd.counts.held, crowd.counts.free), (5, 28, 3));
    let pool = store.find_worker_pool("crowd").unwrap().unwrap();
    assert_eq!((pool.name(), pool.bits()), ("crowd", 5));
    assert!(store.find_worker_pool("nobody-s").unwrap().is_none());
    let loans = pool.loans().unwrap();
    assert_eq!(loans.iter().map(|loan| loan.id).collect::<Vec<_>>(), (1..=28).collect::<Vec<_>>());
    let loan = &loans[0];
    assert!(loan.state == LoanState::Held && loan.lease == 600 * SECOND, "{loan:?}");
    assert_eq!(loan.rests_until, loan.until + SECOND);
}
