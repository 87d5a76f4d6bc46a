//! Takes from the ring, while it is refilled and while its window moves.

use std::time::Duration;

use super::*;

#[test]
fn takes_use_up_the_ring_in_order_and_without_a_gap() {
    let uids = builder(1, &Ticks::new()).build().unwrap();
    let take = || many(8, || uids.take());
    let all = checked(&on_threads([Box::new(take) as Body<_>, Box::new(take), Box::new(take)]));
    // A taker that is stopped for long loses the UID of its ticket.
    let last = place(&uids, *all.last().unwrap());
    assert_eq!(last + 1, all.len() as u64 + uids.status().lost);
}

#[test]
fn a_later_take_gets_the_larger_uid() {
    let uids = builder(1, &Ticks::new()).build().unwrap();
    let newest = Newest::default();
    let take = || many(6, || newest.before(|| uids.take(), |uid| uid.unwrap().get()));
    checked(&on_threads([Box::new(take) as Body<_>, Box::new(take), Box::new(take)]));
}

#[test]
fn ways_to_take_share_the_ring() {
    let uids = builder(1, &Ticks::new()).build().unwrap();
    let all = checked(&on_threads([
        Box::new(|| many(5, || uids.take())) as Body<_>,
        Box::new(|| many(5, || uids.try_take())),
        Box::new(|| {
            let mut local = uids.local().with_claim_length(3);
            many(5, || local.take())
        }),
        Box::new(|| {
            let mut buffer = [Uid::MIN; 5];
            uids.fill(&mut buffer).unwrap();
            buffer.into_iter().chain(uids.take_n(2).map(Result::unwrap)).collect()
        }),
    ]));
    assert_eq!(uids.status().taken, all.len() as u64);
}

/// The filler drops what becomes old, in the ring and in the claims of local takers.
#[test]
fn the_clock_moves_on_and_back_while_threads_take() {
    const PAUSE: Duration = TICK.saturating_mul(20);
    let clock = Ticks::new();
    let uids = builder(2, &clock).build().unwrap();
    let mut local = uids.local();
    let all = checked(&on_threads([
        Box::new(|| {
            many(10, || {
                thread::sleep(PAUSE / 2);
                uids.take()
            })
        }) as Body<_>,
        Box::new(|| {
            many(10, || {
                thread::sleep(PAUSE / 2);
                local.take()
            })
        }),
        Box::new(|| {
            for step in 0..6 {
                thread::sleep(PAUSE);
                if step == 3 { clock.rewind(30) } else { clock.advance(40) }
            }
            Vec::new()
        }),
    ]));
    assert!(place(&uids, *all.last().unwrap()) > 4 * 20, "it has followed the clock");
}

/// At the limit the filler takes on further worker ids, so takers go from lease to lease.
#[test]
fn the_worker_id_changes_while_threads_take() {
    let builder = builder(1, &Ticks::new()).registry(Counting(0)).max_new_workers(1000);
    let builder = builder.max_lead(2 * TICK).on_lead_limit(uidring::LeadLimit::NewWorker);
    let uids = builder.build().unwrap();
    // The time begins anew with each worker id.
    let rank = |uid| (uids.layout().parts(uid).worker, uid);
    let take = || many(8, || uids.take().map(rank));
    checked(&on_threads([Box::new(take) as Body<_>, Box::new(take)]));
    assert!(uids.status().new_workers >= 1);
}
