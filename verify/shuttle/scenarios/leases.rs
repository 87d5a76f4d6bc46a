//! Generators that lease their worker ids, from a registry that is slow, away or forgetful.

use uidring::{LeadLimit, ShutdownError, TakeError, Uid, UidGenerator};
use uidring_shuttle_tests::registry::{Fault, Registry, RegistryConfig, Rows};
use uidring_shuttle_tests::{DAY, SECOND, World, explore, is_one_of, linger};

use crate::takers::{self, Way};

/// A lease of a few ticks, of which more have to be reserved again and again.
const SHORT: RegistryConfig = RegistryConfig { duration: SECOND.saturating_mul(3), ticks: 2 };

const WAYS: [Way; 4] = [Way::Take, Way::Fill, Way::Local, Way::Async];

fn generator(world: &World, registry: Registry) -> UidGenerator {
    let builder = world.builder().registry(registry).max_lead(DAY);
    builder.on_lead_limit(LeadLimit::Wait).build().unwrap()
}

/// Checks that the tick of a UID is reserved for its worker id.
fn check_reserved(world: &World, rows: &Rows) -> impl Fn(Uid) + Clone + use<> {
    let (layout, rows) = (world.layout, rows.clone());
    move |uid| {
        let worker = layout.parts(uid).worker;
        let tick = u64::from(uid) >> (layout.worker_bits() + layout.sequence_bits());
        let reserved = rows.reserved_until(worker);
        assert!(tick <= reserved, "tick {tick} of worker id {worker}, reserved until {reserved}");
    }
}

/// Takers use up what is reserved. More is reserved, or the lease is lost and another is taken on.
/// No time passes, so whoever is not woken is a deadlock.
#[test]
fn extended_or_lost() {
    explore("extended_or_lost", || {
        let (world, rows) = (World::new(), Rows::default());
        let registry = Registry::with_faults(&rows, SHORT, &[Fault::Slow, Fault::Lost], 3);
        let uids = generator(&world, registry);
        let check = check_reserved(&world, &rows);
        let threads = WAYS.map(|way| takers::start(&world, &uids, way, 9, check.clone()));
        for thread in threads {
            assert_eq!(thread.join().unwrap(), Ok(()));
        }
        let lost = rows.lock().lost;
        let status = uids.status();
        assert!(status.new_workers >= lost.min(1), "a lost lease is replaced: {status:?}");
        uids.shutdown().unwrap();
    });
}

/// Two generators share the rows of a flaky registry, and leases expire.
#[test]
fn flaky_registry() {
    const FAULTS: &[Fault] =
        &[Fault::Slow, Fault::Stuck, Fault::Away, Fault::AnswerLost, Fault::Lost];
    explore("flaky_registry", || {
        let (world, rows) = (World::new(), Rows::default());
        let generators = [3, 4].map(|faults| {
            let registry = Registry::with_faults(&rows, SHORT, FAULTS, faults);
            world.builder().start_deadline(DAY).registry(registry).max_lead(DAY)
        });
        let check = check_reserved(&world, &rows);
        let ends = generators.map(|builder| {
            let check = check.clone();
            world.spawn(move |world| {
                let uids = builder.on_lead_limit(LeadLimit::Wait).build().unwrap();
                let ways = [Way::Take, Way::Fill, Way::Async];
                let threads = ways.map(|way| takers::start(world, &uids, way, 9, check.clone()));
                for thread in threads {
                    let result = thread.join().unwrap();
                    let is_down = matches!(result, Err(TakeError::LeaseExhausted { .. }));
                    assert!(is_down || result == Ok(()), "{result:?}");
                }
                takes_again(&uids, world);
                // It fails if the registry is away just then.
                let _ = uids.shutdown();
            })
        });
        world.pass_until_all_end(|_| ());
        for end in ends {
            end.join().unwrap();
        }
    });
}

/// After an outage a generator recovers by itself.
fn takes_again(uids: &UidGenerator, world: &World) {
    loop {
        match uids.take() {
            Ok(uid) => return world.history.add("a take after all", uid),
            Err(TakeError::LeaseExhausted { .. }) => linger(20),
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// A shutdown ends with its deadline or before, whatever the registry does, and so does the drop of
/// the last handle after it.
#[test]
fn shutdown_while_calls_run() {
    explore("shutdown_while_calls_run", || {
        let (world, rows) = (World::new(), Rows::default());
        let faults = &[Fault::Slow, Fault::Stuck, Fault::Away, Fault::Hanging];
        let uids = {
            let registry = Registry::with_faults(&rows, SHORT, faults, 6);
            let builder = world.builder().start_deadline(DAY).registry(registry).max_lead(DAY);
            let builder = builder.shutdown_deadline(SECOND).on_lead_limit(LeadLimit::Wait);
            world.spawn(move |_| builder.build().unwrap())
        };
        world.pass_until_all_end(|_| ());
        let uids = uids.join().unwrap();
        rows.lock().is_hanging = true;
        let check = check_reserved(&world, &rows);
        let threads = WAYS.map(|way| takers::start(&world, &uids, way, 20, check.clone()));
        let end = world.spawn(move |_| {
            linger(60);
            uids.shutdown()
        });
        // At first no time passes: many a shutdown ends without.
        linger(if is_one_of(2) { 200 } else { 0 });
        world.pass_until_all_end(|_| ());
        let result = end.join().unwrap();
        let is_late_or_refused = matches!(
            result,
            Ok(()) | Err(ShutdownError::Deadline { .. } | ShutdownError::NotReleased { .. })
        );
        assert!(is_late_or_refused, "{result:?}");
        for thread in threads {
            let result = thread.join().unwrap();
            let is_end = matches!(
                result,
                Ok(()) | Err(TakeError::ShutDown | TakeError::LeaseExhausted { .. })
            );
            assert!(is_end, "{result:?}");
        }
        // The filler ends as well when the registry lets it. Nobody may have waited for that.
        rows.lock().is_hanging = false;
        world.pass_while(|_| rows.lock().dropped == 0);
        check_released(&world, &rows);
    });
}

/// No UID was taken after the ticks with which its worker id was given back.
fn check_released(world: &World, rows: &Rows) {
    let shift = world.layout.worker_bits() + world.layout.sequence_bits();
    for &(worker, first, used) in &rows.lock().released {
        for uid in world.history.ids() {
            let tick = uid >> shift;
            let is_of_worker = uid >> world.layout.sequence_bits() & 0xf == worker;
            assert!(!is_of_worker || tick < first || tick <= used, "tick {tick} after {used}");
        }
    }
}
