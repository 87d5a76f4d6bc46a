//! Takers at the limits of time: they wait for the clock, which also goes back, or for another
//! worker id.

use std::time::{Duration, SystemTime};

use shuttle::rand::{Rng, thread_rng};
use uidring::clock::Clock;
use uidring::registry::{FixedWorker, Lease, Request, WorkerRegistry};
use uidring::{LeadLimit, RegistryError, TakeError, Uid};
use uidring_shuttle_tests::{MS, SECOND, World, explore, is_one_of, linger};

use crate::takers::{self, Way};

/// Those that wait at a limit.
const WAITING: [Way; 4] = [Way::Take, Way::Fill, Way::Local, Way::Async];

/// Checks that a UID is at most `lead` ahead of the clock, and then pauses. If the clock was set
/// back, and the filler had not followed it when the take began, its time before counts.
fn check_lead(
    world: &World,
    way: Way,
    lead: Duration,
    pause: impl Fn() + Send + 'static,
) -> impl FnMut(Uid) + Send + 'static {
    let world = world.clone();
    let mut followed = 0;
    move |uid| {
        let (time, latest) = (world.layout.parts(uid).time, world.latest(followed));
        assert!(time <= latest + lead, "{time:?} is too far ahead of {latest:?}");
        pause();
        // The next take begins now, except that a `fill` has taken all of its UIDs before.
        if !matches!(way, Way::Fill) {
            followed = world.followed();
        }
    }
}

/// Three ticks' UIDs for takers that may have none of a tick to come.
#[test]
fn clock_awaited() {
    explore("clock_awaited", || {
        let world = World::new();
        let builder = world.builder().registry(FixedWorker::new(1));
        let uids = builder.max_lead(SECOND / 2).on_lead_limit(LeadLimit::Wait).build().unwrap();
        let threads = [Way::Take, Way::Fill, Way::Local, Way::Async, Way::Dropped].map(|way| {
            takers::start(&world, &uids, way, 3, check_lead(&world, way, SECOND / 2, || ()))
        });
        world.pass_until_all_end(|_| ());
        for thread in threads {
            assert_eq!(thread.join().unwrap(), Ok(()));
        }
        uids.shutdown().unwrap();
    });
}

/// Whoever waits for the clock is woken by a shutdown. The clock stands still.
#[test]
fn shutdown_at_the_limit() {
    explore("shutdown_at_the_limit", || {
        let world = World::new();
        let mut builder = world.builder().registry(FixedWorker::new(1));
        builder = builder.max_lead(Duration::ZERO).on_lead_limit(LeadLimit::Wait);
        if is_one_of(2) {
            builder = builder.exact_time();
        }
        let uids = builder.build().unwrap();
        let threads = WAITING.map(|way| takers::start(&world, &uids, way, 3, |_| ()));
        linger(60);
        uids.shutdown().unwrap();
        let results = threads.map(|thread| thread.join().unwrap());
        for result in results {
            assert!(matches!(result, Ok(()) | Err(TakeError::ShutDown)), "{result:?}");
        }
        assert!(world.history.count() <= 4, "one tick's");
    });
}

/// The clock goes back and forth, further than UIDs may be ahead.
#[test]
fn clock_steps() {
    explore("clock_steps", || {
        let world = World::new();
        // Ready ranges of several blocks.
        let builder = world.builder().slots(16).registry(FixedWorker::new(1));
        let lead = 8 * SECOND;
        let uids = builder.max_lead(lead).on_lead_limit(LeadLimit::Wait).build().unwrap();
        let threads = WAITING.map(|way| {
            // Now and then the filler runs several times between two takes.
            let pause = || linger(if is_one_of(4) { 1000 } else { 30 });
            takers::start(&world, &uids, way, 9, check_lead(&world, way, lead, pause))
        });
        let mut steps_left = 3;
        world.pass_until_all_end(|world| {
            if steps_left > 0 && is_one_of(4) {
                steps_left -= 1;
                let step = MS * thread_rng().gen_range(0..12_000);
                if is_one_of(3) { world.clock.advance(step) } else { world.set_back(step) }
            }
        });
        for thread in threads {
            assert_eq!(thread.join().unwrap(), Ok(()));
        }
        uids.shutdown().unwrap();
    });
}

/// The tick of each UID is one in which the clock was during its take.
#[test]
fn exact_time() {
    explore("exact_time", || {
        let world = World::new();
        let uids = world.builder().registry(FixedWorker::new(1)).exact_time().build().unwrap();
        let start = |way: &'static str, mut take: Box<dyn FnMut() -> Uid + Send>| {
            world.spawn(move |world| {
                let mut taken = world.history.of(way);
                for _ in 0..4 {
                    let before = world.clock.now();
                    let uid = take();
                    check_exact(world, uid, before);
                    taken.add(1, uid);
                }
            })
        };
        let [a, b, c] = [(); 3].map(|()| uids.clone());
        let mut local = a.local().with_claim_length(3);
        let threads = [
            start("take", Box::new(move || b.take().unwrap())),
            start("a local taker", Box::new(move || local.take().unwrap())),
            start(
                "take_async",
                Box::new(move || shuttle::future::block_on(c.take_async()).unwrap()),
            ),
        ];
        world.pass_until_all_end(|_| ());
        for thread in threads {
            thread.join().unwrap();
        }
        uids.shutdown().unwrap();
    });
}

fn check_exact(world: &World, uid: Uid, before: SystemTime) {
    let (time, after) = (world.layout.parts(uid).time, world.clock.now());
    assert!(time + SECOND > before && time <= after, "{before:?}, {time:?}, {after:?}");
}

/// Gives out the worker ids 1, 2 and so on, and takes its time.
struct Counting(u64);

impl WorkerRegistry for Counting {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        linger(if self.0 == 0 { 0 } else { 20 });
        self.0 += 1;
        Ok(Lease::permanent(self.0, &request.layout))
    }
}

/// Takers use up the lead, and go on with other worker ids. No time passes.
#[test]
fn new_workers() {
    explore("new_workers", || {
        let world = World::new();
        let mut builder = world.builder().registry(Counting(0)).max_lead(SECOND);
        builder = builder.on_lead_limit(LeadLimit::NewWorker).max_new_workers(1000);
        let uids = builder.build().unwrap();
        let threads = WAITING.map(|way| {
            takers::start(&world, &uids, way, 7, check_lead(&world, way, SECOND, || ()))
        });
        for thread in threads {
            assert_eq!(thread.join().unwrap(), Ok(()));
        }
        assert!(uids.status().new_workers >= 3, "8 UIDs each: {:?}", uids.status());
        uids.shutdown().unwrap();
    });
}
