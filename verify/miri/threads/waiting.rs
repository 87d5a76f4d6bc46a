//! Takes at the lead limit: threads and tasks that wait, and takes that fail.

use std::pin::pin;
use std::task::{Context, Waker};

use uidring::{LeadLimit, TakeError};

use super::*;

/// Four UIDs a tick, and nothing borrowed.
fn paced(policy: LeadLimit, clock: &Ticks) -> UidGenerator {
    builder(2, clock).max_lead(Duration::ZERO).on_lead_limit(policy).build().unwrap()
}

/// Runs `bodies` while the clock goes on.
fn on_threads_in_time<const N: usize>(
    clock: &Ticks,
    bodies: [Body<'_, Vec<Uid>>; N],
) -> Vec<Vec<Uid>> {
    thread::scope(|scope| {
        let threads = bodies.map(|body| scope.spawn(body));
        clock.run_until(|| threads.iter().all(|thread| thread.is_finished()));
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn later(uids: &UidGenerator, newest: &Newest) -> Result<Uid, TakeError> {
    newest.before(|| uids.take(), |uid| uid.unwrap().get())
}

#[test]
fn threads_that_wait_are_served_in_order() {
    let clock = Ticks::new();
    let uids = paced(LeadLimit::Wait, &clock);
    let newest = Newest::default();
    let take = || many(5, || later(&uids, &newest));
    let taken = on_threads_in_time(&clock, [Box::new(take), Box::new(take), Box::new(take)]);
    assert_eq!(checked(&taken).len(), 15);
}

#[test]
fn tasks_and_threads_wait_together() {
    let clock = Ticks::new();
    let uids = paced(LeadLimit::Wait, &clock);
    let wait = || many(4, || pollster::block_on(uids.take_async()));
    let take = || many(4, || uids.take());
    // A future that is dropped while it waits takes nothing with it.
    let drop_it = || {
        let mut taken = Vec::new();
        for _ in 0..4 {
            if let std::task::Poll::Ready(uid) =
                pin!(uids.take_async()).poll(&mut Context::from_waker(Waker::noop()))
            {
                taken.push(uid.unwrap());
            }
        }
        taken
    };
    let bodies: [Body<_>; 4] = [Box::new(wait), Box::new(wait), Box::new(take), Box::new(drop_it)];
    let all = checked(&on_threads_in_time(&clock, bodies));
    assert_eq!(uids.status().taken, all.len() as u64);
}

#[test]
fn failing_takes_use_nothing_up() {
    let clock = Ticks::new();
    let uids = paced(LeadLimit::Fail, &clock);
    let fail = || (0..5).filter_map(|_| uids.take().ok()).collect::<Vec<Uid>>();
    let fill = || {
        let mut buffer = [Uid::MIN; 5];
        let filled = uids.fill(&mut buffer).map_or_else(|error| error.filled(), |()| 5);
        buffer[..filled].to_vec()
    };
    let mut taken = Vec::new();
    for _ in 0..2 {
        taken.extend(on_threads([Box::new(fail) as Body<_>, Box::new(fill)]));
        clock.advance(1);
    }
    // Each tick is used up, but for what a thread gave back too late.
    let all = checked(&taken);
    assert_eq!(all.len() as u64 + uids.status().lost, 2 * 4, "{all:?}");
}
