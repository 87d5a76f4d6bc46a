//! What a generator costs, and that nothing is left of it. One test, since the counts are those of
//! the whole process.

use std::thread;
use std::time::{Duration, Instant};

use stats_alloc::Region;
use uidring::registry::FixedWorker;
use uidring::{LocalTaker, Uid, UidGenerator};

use crate::alone::alone;
use crate::{MEMORY, held, threads};

fn generator() -> UidGenerator {
    UidGenerator::builder().registry(FixedWorker::new(1)).build().unwrap()
}

fn local(uids: &UidGenerator) -> LocalTaker {
    uids.local().with_claim_length(1000)
}

fn use_all_of(uids: &UidGenerator, local: &mut LocalTaker) {
    let clone = uids.clone();
    let mut buffer = [Uid::MIN; 100];
    for _ in 0..10_000 {
        clone.take().unwrap();
        clone.try_take().unwrap();
        local.take().unwrap();
        clone.fill(&mut buffer).unwrap();
    }
    assert_eq!(uids.status().worker_id, 1);
}

/// Waits for what must come, however slow the machine is.
fn wait_for(what: &str, mut came: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !came() {
        assert!(begin.elapsed() < Duration::from_secs(60), "no {what}");
        thread::yield_now();
    }
}

#[test]
fn clean_end_a_generator_is_small_takes_allocate_nothing_and_nothing_is_left() {
    alone(
        "generators::clean_end_a_generator_is_small_takes_allocate_nothing_and_nothing_is_left",
        || {
            // What the platform allocates once, for the first thread or the first look at the
            // clock, is not ours.
            for _ in 0..3 {
                let uids = generator();
                use_all_of(&uids, &mut local(&uids));
            }
            let threads_before = threads();
            let all = Region::new(MEMORY);

            let uids = generator();
            // The filler's thread has begun, and has what a thread needs.
            let at_first = uids.status().refilled_by_filler;
            wait_for("refill", || {
                use_all_of(&uids, &mut local(&uids));
                uids.status().refilled_by_filler > at_first
            });
            let size = held(&all);
            assert!(
                (64 * 64..8 * 1024).contains(&size),
                "a generator of 64 slots of 64 bytes takes {size} bytes"
            );

            let mut local = local(&uids);
            let takes = Region::new(MEMORY);
            use_all_of(&uids, &mut local);
            assert_eq!((takes.change().allocations, takes.change().reallocations), (0, 0));

            drop((uids, local));
            assert_eq!(held(&all), 0, "bytes are left");

            for _ in 0..1000 {
                generator().take().unwrap();
            }
            assert_eq!(held(&all), 0, "bytes are left");
            // A thread that has been joined may be listed a moment longer.
            wait_for("end of the threads", || threads() <= threads_before);
        },
    );
}
