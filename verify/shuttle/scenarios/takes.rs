//! Takes in all ways, while the filler runs and the generator ends. No time passes, so whoever is
//! not woken is a deadlock.

use std::sync::{Arc, Mutex};

use shuttle::future::block_on;
use uidring::registry::{Lease, Request, WorkerRegistry};
use uidring::{Layout, RegistryError, TakeError, UidGenerator};
use uidring_shuttle_tests::{World, explore, is_one_of, linger};

use crate::takers::{self, Way};

/// Gives out one worker id, and notes which ticks were used when it gets the id back.
#[derive(Clone, Default)]
struct Noting(Arc<Mutex<Vec<u64>>>);

impl WorkerRegistry for Noting {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        Ok(Lease::permanent(1, &request.layout))
    }

    fn release(&mut self, _: &Lease, used: u64) -> Result<(), RegistryError> {
        shuttle::thread::yield_now();
        self.0.lock().unwrap().push(used);
        Ok(())
    }
}

/// Checks that the worker id was given back once, and that its next holder begins after all that
/// was taken.
fn check_release(world: &World, noting: &Noting) {
    let used = noting.0.lock().unwrap().clone();
    let &[used] = &used[..] else { panic!("given back {} times", used.len()) };
    if let Some(&last) = world.history.ids().last() {
        let tick = tick_of(&world.layout, last);
        assert!(tick <= used, "tick {tick} was taken, and given back after {used}");
    }
}

fn tick_of(layout: &Layout, uid: u64) -> u64 {
    uid >> (layout.worker_bits() + layout.sequence_bits())
}

#[test]
fn all_ways() {
    explore("all_ways", || {
        let (world, noting) = (World::new(), Noting::default());
        let uids = world.builder().registry(noting.clone()).build().unwrap();
        let threads = takers::ALL.map(|way| takers::start(&world, &uids, way, 7, |_| ()));
        for thread in threads {
            assert_eq!(thread.join().unwrap(), Ok(()));
        }
        let (status, count) = (uids.status(), world.history.count());
        assert_eq!(count, 6 * 7);
        // The local taker claims half a block at a time, and has used half of its last claim,
        // unless a ticket of a claim was lost.
        let unused = status.taken - count;
        assert!(unused == 1 || unused == 0 && status.lost > 0, "{status:?}");
        drop(uids);
        check_release(&world, &noting);
    });
}

#[test]
fn shutdown() {
    explore("shutdown", || {
        let (world, noting) = (World::new(), Noting::default());
        let uids = block_on(world.builder().registry(noting.clone()).build_async()).unwrap();
        let ways = [Way::Take, Way::Fill, Way::Local, Way::Async];
        let threads = ways.map(|way| takers::start(&world, &uids, way, 100, |_| ()));
        linger(60);
        let other = uids.clone();
        if is_one_of(2) {
            uids.shutdown().unwrap();
        } else {
            block_on(uids.shutdown_async()).unwrap();
        }
        assert_eq!(other.take(), Err(TakeError::ShutDown));
        for thread in threads {
            let result = thread.join().unwrap();
            assert!(matches!(result, Ok(()) | Err(TakeError::ShutDown)), "{result:?}");
        }
        check_release(&world, &noting);
    });
}

/// The last handle is dropped by whoever comes last, and waits for the filler.
#[test]
fn drops() {
    explore("drops", || {
        let (world, noting) = (World::new(), Noting::default());
        let uids: UidGenerator = world.builder().registry(noting.clone()).build().unwrap();
        let threads = [2, 5, 9].map(|count| {
            let uids = uids.clone();
            world.spawn(move |world| {
                let mut taken = world.history.of("a thread that drops its handle");
                for _ in 0..count {
                    taken.add(1, uids.take().unwrap());
                }
            })
        });
        drop(uids);
        for thread in threads {
            thread.join().unwrap();
        }
        check_release(&world, &noting);
    });
}
