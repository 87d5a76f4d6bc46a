//! The limit on the lead: what takers get beyond it.

use super::*;
use crate::filler::allowance::Allowance;
use crate::filler::lease_manager::LeaseManager;

#[test]
fn rollback_beyond_max_lead_waits_for_the_clock() {
    for policy in [LeadLimit::Wait, LeadLimit::Fail] {
        let mut world = World::new(Settings { policy, ..settings() });
        world.take_many(20);
        let to = world.now() - 2 * HOUR;
        world.jump(to);
        let wait = world.take().unwrap_err().retry_in().unwrap();
        assert!((HOUR..=HOUR + 8 * SECOND).contains(&wait), "{wait:?}");
        assert!(world.status().at_lead_limit);
        world.pass(wait - Duration::from_millis(2));
        world.take().unwrap_err();
        world.pass(Duration::from_millis(2));
        world.take_many(4); // the rest of that second
        world.take().unwrap_err();
    }
}

#[test]
fn lead_limit_with_a_new_worker() {
    let mut world = World::new(settings());
    world.take_many(100_000);
    assert_eq!(world.status().new_workers, 100_000 / (3601 * 8));
}

#[test]
fn one_uid_beyond_the_limit_takes_one_worker_id_however_long_the_ring() {
    for lead in [1, 3, 7, 31] {
        let mut world = World::new(Settings { slots: 64, max_lead: lead * SECOND, ..settings() });
        world.take_many(8 * u64::from(lead + 1));
        while world.take().is_err() {}
        assert_eq!(world.status().new_workers, 1, "lead {lead} s");
    }
}

#[test]
fn lead_limit_with_a_new_worker_but_none_to_be_had() {
    let mut world = World::new(settings());
    let lease = Lease::permanent(1, &settings().layout);
    let allowance = Allowance::new(u64::MAX, HOUR);
    let workers = LeaseManager::new(Box::new(Refusing), lease, allowance);
    world.maintenance = Maintenance::new(workers, fastrand::Rng::with_seed(1), None, 0);
    world.take_many(3601 * 8);
    for _ in 0..20 {
        world.take().unwrap_err();
        world.pass(SECOND);
        world.take_many(8);
    }
    assert_eq!(world.status().new_workers, 0);
}

struct Refusing;

impl WorkerRegistry for Refusing {
    fn assign(&mut self, _: &Request) -> Result<Lease, RegistryError> {
        Err(RegistryError::Exhausted { used: 1, capacity: 1, next: None })
    }
}

#[test]
fn lead_limit_with_waiting_or_failing_paces_to_the_layout() {
    for policy in [LeadLimit::Wait, LeadLimit::Fail] {
        let mut world = World::new(Settings { policy, ..settings() });
        world.take_many(3601 * 8);
        for _ in 0..50 {
            // Failed takes consume nothing.
            for _ in 0..100 {
                world.take().unwrap_err();
            }
            world.pass(SECOND);
            world.take_many(8);
        }
    }
}

#[test]
fn failing_takes_use_nothing_up() {
    let world = World::new(Settings { policy: LeadLimit::Fail, max_lead: SECOND, ..settings() });
    let take = || take_or_wait(&world.engine);
    for _ in 0..16 {
        take().unwrap();
    }
    for _ in 0..1000 {
        assert!(matches!(take(), Err(TakeError::LeadLimit { .. })));
    }
    for _ in 0..10 {
        world.clock.advance(SECOND);
        for _ in 0..8 {
            // At most the ticket that found the end of the window is lost.
            let uid = take();
            assert!(uid.is_ok() || take().is_err());
        }
    }
    assert!(world.engine.taken() >= 16 + 10 * 7);
}
