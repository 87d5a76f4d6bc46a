//! Dense numbers: the loader, takers that wait for it, and the end.

use std::time::Duration;

use shuttle::future::block_on;
use shuttle::thread::JoinHandle;
use uidring::TakeError;
use uidring::segment::{Number, SegmentGenerator, SegmentStatus, Segments};
use uidring_shuttle_tests::registry::Fault;
use uidring_shuttle_tests::source::{Row, Source};
use uidring_shuttle_tests::{DAY, SECOND, World, explore, is_one_of, linger};

use crate::takers::{ALL, Way, poll_once};

fn segments(source: Source, max_wait: Duration) -> Segments {
    let builder = Segments::builder().source(source).max_wait(max_wait).loads(2);
    builder.shutdown_deadline(DAY).build().unwrap()
}

/// Starts a thread that takes `count` numbers, and stops if a take fails.
fn start(
    world: &World,
    orders: &SegmentGenerator,
    way: Way,
    count: usize,
) -> JoinHandle<Result<(), TakeError>> {
    let orders = orders.clone();
    world.spawn(move |world| {
        let mut taken = world.history.of("a taker of numbers");
        let mut local = orders.local().with_claim_length(3);
        for round in 0..count {
            let number = match way {
                Way::Take => orders.take()?,
                Way::TryTake => orders.try_take()?,
                Way::Fill if round > 0 => break,
                Way::Fill => {
                    let mut buffer = vec![Number::MAX; count];
                    let result = orders.fill(&mut buffer);
                    let filled = result.as_ref().map_or_else(|error| error.filled(), |()| count);
                    buffer[..filled].iter().for_each(|&number| taken.add(0, number));
                    return result.map_err(|error| error.cause());
                }
                Way::Local => local.take()?,
                Way::Async => block_on(orders.take_async())?,
                Way::Dropped => match poll_once(orders.take_async()) {
                    Some(result) => result?,
                    None => continue,
                },
            };
            taken.add(0, number);
        }
        Ok(())
    })
}

/// Once all has ended: every number that the row has given out was taken by one taker or is counted
/// as lost. What was in memory is back in the row, unless numbers after it were lost on their way.
fn check_sum(world: &World, row: &Row, status: &SegmentStatus) {
    let (row, taken) = (row.lock(), world.history.ids());
    let given_out = row.next - 1;
    assert!(taken.last().is_none_or(|last| *last <= given_out), "{taken:?} of {given_out}");
    assert_eq!(status.in_memory, 0, "nothing can be taken any more");
    let gone = taken.len() as u64 + status.lost + row.unanswered;
    let kept = given_out.checked_sub(gone);
    let kept = kept.unwrap_or_else(|| panic!("{gone} of {given_out}: {status:?}"));
    assert!(kept == 0 || row.unanswered > 0, "{kept} are not given back: {status:?}");
}

/// Takers of all kinds come to their end, and what is left is given back. No time passes, so
/// whoever is not woken is a deadlock.
#[test]
fn numbers() {
    explore("numbers", || {
        let (world, row) = (World::new(), Row::new(4));
        let source = Source::with_faults(&row, &[Fault::Slow], 2);
        let segments = segments(source, DAY);
        let orders = segments.tag("orders").unwrap();
        let threads = ALL.map(|way| start(&world, &orders, way, 6));
        for (way, thread) in ALL.into_iter().zip(threads) {
            let result = thread.join().unwrap();
            let may_fail = matches!(way, Way::TryTake);
            assert!(may_fail || result == Ok(()), "{way:?}: {result:?}");
        }
        let status = orders.status();
        assert_eq!(status.taken, world.history.count(), "{status:?}");
        segments.shutdown().unwrap();
        check_sum(&world, &row, &orders.status());
    });
}

/// The end comes while takers take and wait, and loads run. No time passes.
#[test]
fn numbers_end() {
    explore("numbers_end", || {
        let (world, row) = (World::new(), Row::new(4));
        let source = Source::with_faults(&row, &[Fault::Slow], 5);
        let segments = segments(source, DAY);
        let orders = segments.tag("orders").unwrap();
        let ways = [Way::Take, Way::Fill, Way::Async];
        let threads = ways.map(|way| start(&world, &orders, way, 50));
        let asking = {
            let segments = segments.clone();
            world.spawn(move |_| drop(segments.tag("invoices")))
        };
        linger(80);
        if is_one_of(2) {
            segments.shutdown().unwrap();
        } else {
            block_on(segments.shutdown_async()).unwrap();
        }
        assert_eq!(orders.take(), Err(TakeError::ShutDown));
        for thread in threads {
            let result = thread.join().unwrap();
            assert!(matches!(result, Ok(()) | Err(TakeError::ShutDown)), "{result:?}");
        }
        asking.join().unwrap();
    });
}

/// The source is slow and away. Takers wait, fail when their time is over, and take again when it
/// is back.
#[test]
fn flaky_source() {
    const FAULTS: &[Fault] = &[Fault::Slow, Fault::Stuck, Fault::Away, Fault::AnswerLost];
    explore("flaky_source", || {
        let (world, row) = (World::new(), Row::new(3));
        let segments = segments(Source::with_faults(&row, FAULTS, 6), SECOND);
        let orders = {
            let segments = segments.clone();
            world.spawn(move |_| {
                loop {
                    if let Ok(orders) = segments.tag("orders") {
                        return orders;
                    }
                }
            })
        };
        world.pass_until_all_end(|_| ());
        let orders = orders.join().unwrap();
        let ways = [Way::Take, Way::Fill, Way::Local, Way::Async, Way::Dropped];
        let threads = ways.map(|way| start(&world, &orders, way, 7));
        world.pass_until_all_end(|_| ());
        for thread in threads {
            let result = thread.join().unwrap();
            let is_away = matches!(result, Err(TakeError::SegmentExhausted { .. }));
            assert!(is_away || result == Ok(()), "{result:?}");
        }
        let again = {
            let orders = orders.clone();
            world.spawn(move |world| {
                while let Err(error) = orders.take().map(|n| world.history.add("again", n)) {
                    assert!(matches!(error, TakeError::SegmentExhausted { .. }), "{error:?}");
                }
            })
        };
        world.pass_until_all_end(|_| ());
        again.join().unwrap();
        let end = world.spawn(move |_| segments.shutdown());
        world.pass_until_all_end(|_| ());
        let result = end.join().unwrap();
        if result.is_ok() {
            check_sum(&world, &row, &orders.status());
        }
    });
}
