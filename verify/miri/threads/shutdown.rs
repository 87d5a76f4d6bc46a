//! The end of a generator, while threads take and wait.

use std::sync::Mutex;

use uidring::{LeadLimit, TakeError};

use super::*;

/// Leases worker id 1, and notes with which tick it was given back.
#[derive(Clone, Default)]
struct Leasing(Arc<Mutex<Option<u64>>>);

impl WorkerRegistry for Leasing {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        let hour = Duration::from_secs(3600);
        Ok(Lease::leased(1, request.now..=request.now + 1_000_000, hour, "one"))
    }

    fn release(&mut self, _: &Lease, used: u64) -> Result<(), RegistryError> {
        *self.0.lock().unwrap() = Some(used);
        Ok(())
    }
}

fn take_to_the_end(uids: &UidGenerator) -> Vec<Uid> {
    let mut taken = Vec::new();
    let mut local = uids.local().with_claim_length(2);
    loop {
        match uids.take().and_then(|uid| Ok([uid, local.take()?])) {
            Ok(both) => taken.extend(both),
            Err(error) => {
                assert_eq!(error, TakeError::ShutDown);
                return taken;
            }
        }
    }
}

/// Whoever gets the worker id next has the ticks after those that are said to be used.
fn nothing_is_taken_after_what_is_given_back(is_exact: bool) {
    let registry = Leasing::default();
    let mut builder = builder(1, &Ticks::new()).registry(registry.clone());
    if is_exact {
        builder = builder.exact_time().max_lead(TICK * 100);
    }
    let uids = builder.build().unwrap();
    let other = uids.clone();
    let take = || take_to_the_end(&uids);
    thread::scope(|scope| {
        let takers = [scope.spawn(take), scope.spawn(take)];
        thread::sleep(TICK);
        other.shutdown().unwrap();
        let used = registry.0.lock().unwrap().expect("the worker id was given back");
        let taken = takers.map(|taker| taker.join().unwrap());
        checked(&taken);
        for uid in taken.concat() {
            let tick = tick_of(&uids, uid);
            assert!(tick <= used, "{uid} of tick {tick}, but {used} is the last one used");
        }
    });
}

#[test]
fn no_take_beside_a_shutdown_gets_a_later_tick() {
    nothing_is_taken_after_what_is_given_back(false);
}

#[test]
fn no_take_beside_a_shutdown_gets_a_later_tick_in_exact_time() {
    nothing_is_taken_after_what_is_given_back(true);
}

#[test]
fn threads_and_tasks_that_wait_are_told_of_a_shutdown() {
    let builder = builder(1, &Ticks::new()).max_lead(Duration::ZERO);
    let uids = builder.on_lead_limit(LeadLimit::Wait).build().unwrap();
    let count = |take: &dyn Fn() -> Result<Uid, TakeError>| {
        (0..).map(|_| take()).take_while(Result::is_ok).count()
    };
    let other = uids.clone();
    let taken = thread::scope(|scope| {
        let thread = scope.spawn(|| count(&|| uids.take()));
        let task = scope.spawn(|| count(&|| pollster::block_on(uids.take_async())));
        // Longer than it takes to wait.
        thread::sleep(TICK * 10);
        other.shutdown().unwrap();
        [thread, task].map(|taker| taker.join().unwrap())
    });
    assert_eq!(taken.iter().sum::<usize>(), 2);
}

#[test]
fn a_handle_outlives_the_others() {
    let clock = Ticks::new();
    let builder = builder(1, &clock).max_lead(Duration::ZERO);
    let uids = builder.on_lead_limit(LeadLimit::Wait).build().unwrap();
    let other = uids.clone();
    let waiting = thread::spawn(move || many(5, || other.take()));
    drop(uids);
    clock.run_until(|| waiting.is_finished());
    checked(&[waiting.join().unwrap()]);
}
