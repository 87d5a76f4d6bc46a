//! What takes do when no more seconds may be borrowed: they wait, parked, or say how long to wait.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

use std::collections::{BTreeSet, HashSet};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use uidring::clock::ManualClock;
use uidring::registry::{FixedWorker, Lease, Request, WorkerRegistry};
use uidring::{Builder, Layout, LeadLimit, RegistryError, TakeError, Uid, UidGenerator};

const TICK: Duration = Duration::from_millis(10);
const A_TICK_OF_UIDS: usize = 16;

/// 16 UIDs every 10 ms, and nothing borrowed.
fn paced(policy: LeadLimit) -> Builder {
    let layout = Layout::new(41, 10, 4).unwrap().with_tick(TICK).unwrap();
    let builder = UidGenerator::builder().registry(FixedWorker::new(1)).layout(layout);
    builder.max_lead(Duration::ZERO).on_lead_limit(policy)
}

/// Like the function above, with a clock that stands still.
fn stuck(policy: LeadLimit) -> (ManualClock, UidGenerator) {
    let clock = ManualClock::new(Layout::DEFAULT.epoch() + Duration::from_secs(1_000_000));
    let uids = paced(policy).clock(clock.clone()).build().unwrap();
    (clock, uids)
}

#[test]
fn a_take_waits_for_the_clock_and_keeps_its_place() {
    for policy in [LeadLimit::Wait, LeadLimit::NewWorker] {
        let uids = paced(policy).build().unwrap();
        let mut last = uids.take().unwrap();
        // Not the time of now: a busy machine may have held this thread up since the start.
        let first = uids.layout().parts(last).time;
        for _ in 0..20 * A_TICK_OF_UIDS {
            let uid = uids.take().unwrap();
            assert!(uid > last);
            assert!(uids.layout().parts(uid).time <= SystemTime::now(), "nothing is borrowed");
            last = uid;
        }
        let needed = uids.layout().parts(last).time.duration_since(first).unwrap();
        assert!(needed >= 17 * TICK, "{A_TICK_OF_UIDS} UIDs a tick: {needed:?}");
        // The fixed worker has no other id.
        assert_eq!(uids.status().new_workers, 0);
    }
}

/// None is passed over, however the machine shares its processors out.
#[test]
fn each_thread_that_waits_gets_a_uid_of_the_next_tick() {
    const THREADS: u64 = 8;
    const TICKS: u64 = 100;
    let (clock, uids) = stuck(LeadLimit::Wait);
    let is_over = AtomicBool::new(false);
    let taken: Vec<Vec<Uid>> = thread::scope(|scope| {
        let taker = || {
            let mut taken = Vec::new();
            while !is_over.load(Ordering::SeqCst) {
                taken.push(uids.take().unwrap());
            }
            taken
        };
        let handles: Vec<_> = (0..THREADS).map(|_| scope.spawn(taker)).collect();
        for tick in 1..=TICKS {
            while uids.status().waits < THREADS * tick {
                thread::sleep(Duration::from_millis(1));
            }
            is_over.store(tick == TICKS, Ordering::SeqCst);
            clock.advance(TICK);
        }
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    });
    let distinct: HashSet<Uid> = taken.iter().flatten().copied().collect();
    assert_eq!(distinct.len(), taken.iter().map(Vec::len).sum::<usize>());
    let first = uids.layout().parts(*distinct.iter().min().unwrap()).time;
    for (index, taken) in taken.iter().enumerate() {
        assert!(taken.is_sorted_by(|a, b| a < b));
        let times: HashSet<_> = taken.iter().map(|&uid| uids.layout().parts(uid).time).collect();
        for tick in 1..=TICKS {
            let time = first + TICK * u32::try_from(tick).unwrap();
            assert!(times.contains(&time), "thread {index} got none of tick {tick}");
        }
    }
}

#[test]
fn try_take_says_at_once_how_long_to_wait() {
    for policy in [LeadLimit::Wait, LeadLimit::NewWorker, LeadLimit::Fail] {
        let (clock, uids) = stuck(policy);
        for round in 1..=5 {
            for _ in 0..A_TICK_OF_UIDS {
                uids.try_take().unwrap();
            }
            for _ in 0..1000 {
                let error = uids.try_take().unwrap_err();
                assert_eq!(error, TakeError::LeadLimit { retry_in_ms: 10 }, "round {round}");
                assert_eq!(error.retry_in(), Some(TICK));
            }
            clock.advance(TICK);
        }
        let text = uids
            .try_take()
            .and_then(|_| (0..A_TICK_OF_UIDS).try_for_each(|_| uids.try_take().map(drop)));
        assert!(text.unwrap_err().to_string().contains("due in 10 ms"));
    }
}

#[test]
fn a_failing_take_uses_nothing_up() {
    let (clock, uids) = stuck(LeadLimit::Fail);
    let mut taken = 0;
    for _ in 0..100 {
        for _ in 0..1000 {
            taken += usize::from(uids.take().is_ok());
        }
        let mut buffer = [Uid::MIN; 100];
        let error = uids.fill(&mut buffer).unwrap_err();
        assert!(error.filled() < buffer.len() && error.cause().retry_in().is_some());
        clock.advance(TICK);
    }
    // The last buffer has had what was left.
    assert_eq!(taken, 100 * A_TICK_OF_UIDS);
}

/// Calls of any length, which fail where the tick's UIDs end, leave all that they did not get to
/// others.
#[test]
fn a_failing_fill_or_local_take_uses_nothing_up() {
    let layout = Layout::new(41, 10, 12).unwrap();
    let a_tick = layout.max_sequence() + 1;
    let clock = ManualClock::new(layout.epoch() + Duration::from_secs(1_000_000));
    let builder =
        UidGenerator::builder().registry(FixedWorker::new(1)).layout(layout).clock(clock.clone());
    // So long a lag that no run of a local taker expires.
    let builder = builder.max_lag(Duration::from_secs(3600)).max_lead(Duration::ZERO);
    let uids = builder.on_lead_limit(LeadLimit::Fail).build().unwrap();
    let mut mine = uids.local().with_claim_length(1000);
    let mut growing = uids.local();
    for length in [4096, 2048, 1000, 1, 5000, 3] {
        let mut buffer = vec![Uid::MIN; length];
        let mut taken = 0;
        loop {
            let before = taken;
            taken += (0..100).filter(|_| mine.take().is_ok()).count();
            taken += (0..10).filter(|_| growing.take().is_ok()).count();
            taken += uids.fill(&mut buffer).map_or_else(|error| error.filled(), |()| length);
            taken += (0..3).filter(|_| uids.take().is_ok()).count();
            taken += (0..3).filter(|_| uids.try_take().is_ok()).count();
            if taken == before {
                break;
            }
        }
        assert_eq!((taken as u64, uids.status().lost), (a_tick, 0), "buffers of {length}");
        clock.advance(Duration::from_secs(1));
    }
}

/// Threads that fail at once give back what they have claimed, or say that it is lost.
#[test]
fn failing_takes_of_several_threads_use_nothing_up_uncounted() {
    const TICKS: usize = 200;
    let (clock, uids) = stuck(LeadLimit::Fail);
    let taken: usize = (0..TICKS)
        .map(|_| {
            let barrier = Barrier::new(4);
            let take = || {
                barrier.wait();
                (0..A_TICK_OF_UIDS).filter(|_| uids.take().is_ok()).count()
            };
            let taken = thread::scope(|scope| {
                let threads: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
            });
            clock.advance(TICK);
            taken
        })
        .sum();
    let lost = usize::try_from(uids.status().lost).unwrap();
    assert_eq!(taken + lost, TICKS * A_TICK_OF_UIDS);
    assert!(lost <= TICKS, "{lost} lost in {TICKS} ticks");
}

#[test]
fn waiting_takes_are_woken_by_a_clock_that_moves_on() {
    let (clock, uids) = stuck(LeadLimit::Wait);
    let taker = uids.clone();
    let waiting = thread::spawn(move || {
        (0..3 * A_TICK_OF_UIDS).map(|_| taker.take().unwrap()).collect::<Vec<_>>()
    });
    while !waiting.is_finished() {
        clock.advance(TICK);
        thread::sleep(Duration::from_millis(1));
    }
    assert!(waiting.join().unwrap().is_sorted_by(|a, b| a < b));
    // The filler may not have run yet since the clock has moved last.
    while !uids.status().at_lead_limit && uids.status().available == 0 {
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_generator_can_be_dropped_while_a_clone_waits() {
    let (clock, uids) = stuck(LeadLimit::Wait);
    let taker = uids.clone();
    let waiting = thread::spawn(move || {
        (0..2 * A_TICK_OF_UIDS).map(|_| taker.take().unwrap()).collect::<Vec<_>>().len()
    });
    drop(uids);
    while !waiting.is_finished() {
        clock.advance(TICK);
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(waiting.join().unwrap(), 2 * A_TICK_OF_UIDS);
}

#[cfg(feature = "async")]
mod tasks {
    use super::*;
    use std::future::Future;
    use std::pin::pin;
    use std::sync::{Arc, mpsc};
    use std::task::{Context, Poll, Wake, Waker};

    #[test]
    fn a_task_waits_without_a_runtime() {
        let uids = paced(LeadLimit::Wait).build().unwrap();
        let taken = pollster::block_on(async {
            let mut taken = Vec::new();
            for _ in 0..10 * A_TICK_OF_UIDS {
                taken.push(uids.take_async().await.unwrap());
            }
            taken
        });
        assert!(taken.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn dropping_a_waiting_future_loses_nothing() {
        let (clock, uids) = stuck(LeadLimit::Wait);
        let mut taken = 0;
        for _ in 0..20 {
            while let Poll::Ready(uid) = poll_once(uids.take_async()) {
                uid.unwrap();
                taken += 1;
            }
            // Each of these waits, and is dropped.
            (0..100).for_each(|_| assert!(poll_once(uids.take_async()).is_pending()));
            clock.advance(TICK);
        }
        assert_eq!(taken, 20 * A_TICK_OF_UIDS);
        assert_eq!(uids.status().lost, 0);
    }

    #[test]
    fn a_task_that_need_not_wait_fails_where_a_take_does() {
        let (_, uids) = stuck(LeadLimit::Fail);
        let error = (0..=A_TICK_OF_UIDS).find_map(|_| pollster::block_on(uids.take_async()).err());
        assert_eq!(error, Some(TakeError::LeadLimit { retry_in_ms: 10 }));
    }

    /// As many tasks are woken as there are UIDs, those that came first.
    #[test]
    fn fifty_thousand_tasks_cost_what_they_are_given() {
        const TASKS: usize = 50_000;
        const TICKS: usize = 200;
        let (clock, uids) = stuck(LeadLimit::Wait);
        let (sender, woken) = mpsc::channel();
        let waker = |task| Waker::from(Arc::new(Called(task, sender.clone())));
        let mut tasks: Vec<_> =
            (0..TASKS).map(|task| (Box::pin(uids.take_async()), waker(task))).collect();
        let mut poll = |task: usize| {
            let (future, waker) = &mut tasks[task];
            future.as_mut().poll(&mut Context::from_waker(waker))
        };
        let at_once = (0..TASKS).filter(|&task| poll(task).is_ready()).count();
        assert_eq!(at_once, A_TICK_OF_UIDS);

        let (mut polls, mut served) = (0, Vec::new());
        let mut last = Uid::MIN;
        for tick in 1..=TICKS {
            clock.advance(TICK);
            while served.len() < tick * A_TICK_OF_UIDS {
                let Ok(task) = woken.try_recv() else {
                    thread::yield_now();
                    continue;
                };
                polls += 1;
                if let Poll::Ready(uid) = poll(task) {
                    served.push(task);
                    assert!(last < uid.unwrap());
                    last = uid.unwrap();
                }
            }
        }
        // They are called in order. The filler and a task may call at once, and the wake-ups of one
        // overtake those of the other.
        let is_in_turn = |(&task, turn): (&usize, usize)| task.abs_diff(turn) <= 2 * A_TICK_OF_UIDS;
        assert!(served.iter().zip(A_TICK_OF_UIDS..).all(is_in_turn), "first come, first served");
        let calls = polls + woken.try_iter().count();
        assert!(calls <= served.len() + 4 * TICKS, "{calls} wake-ups for {} UIDs", served.len());
    }

    /// Who was called, and is dropped before it comes, does not keep the UID from the next in line.
    #[test]
    fn a_task_that_was_called_and_is_dropped_lets_the_next_one_go_on() {
        let (clock, uids) = stuck(LeadLimit::Wait);
        (0..A_TICK_OF_UIDS).try_for_each(|_| uids.take().map(drop)).unwrap();
        let (sender, woken) = mpsc::channel();
        let waker = |task| Waker::from(Arc::new(Called(task, sender.clone())));
        let mut tasks: Vec<_> =
            (0..100).map(|task| Some((Box::pin(uids.take_async()), waker(task)))).collect();
        for (future, waker) in tasks.iter_mut().flatten() {
            assert!(future.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
        }
        clock.advance(TICK);
        let mut served = 0;
        while served < A_TICK_OF_UIDS {
            let Ok(task) = woken.try_recv() else {
                thread::yield_now();
                continue;
            };
            // Every second one is dropped instead.
            if let Some((mut future, waker)) = tasks[task].take()
                && task % 2 == 0
            {
                served +=
                    usize::from(future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready());
            }
        }
    }

    /// Who was called and is never polled does not keep the UIDs from the others for ever.
    #[test]
    fn tasks_that_were_called_and_are_not_polled_let_the_others_go_on() {
        let (clock, uids) = stuck(LeadLimit::Wait);
        (0..A_TICK_OF_UIDS).try_for_each(|_| uids.take().map(drop)).unwrap();
        let (sender, woken) = mpsc::channel();
        let waker = |task| Waker::from(Arc::new(Called(task, sender.clone())));
        let mut tasks: Vec<_> =
            (0..100).map(|task| (Box::pin(uids.take_async()), waker(task))).collect();
        let mut poll = |task: usize| {
            let (future, waker) = &mut tasks[task];
            future.as_mut().poll(&mut Context::from_waker(waker))
        };
        assert!((0..100).all(|task| poll(task).is_pending()));
        clock.advance(TICK);
        let next = || woken.recv_timeout(Duration::from_secs(60)).expect("another is called");
        let forgotten: HashSet<usize> = (0..A_TICK_OF_UIDS).map(|_| next()).collect();
        let mut served = 0;
        while served < A_TICK_OF_UIDS {
            let task = next();
            assert!(!forgotten.contains(&task));
            served += usize::from(poll(task).is_ready());
        }
    }

    /// Sends its number when it is woken.
    struct Called(usize, mpsc::Sender<usize>);

    impl Wake for Called {
        fn wake(self: Arc<Self>) {
            let _ = self.1.send(self.0);
        }
    }

    fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
        pin!(future).poll(&mut Context::from_waker(Waker::noop()))
    }
}

/// Takes on from a worker whose seconds are used up to the next, without a pause and without a
/// duplicate.
#[test]
fn a_saturated_generator_takes_on_one_worker_after_the_other() {
    let layout = Layout::new(30, 20, 13).unwrap();
    let builder = UidGenerator::builder()
        .registry(Counting(0))
        .layout(layout)
        .max_lead(Duration::from_secs(60));
    let uids = builder.on_lead_limit(LeadLimit::NewWorker).build().unwrap();
    let taken: Vec<Vec<Uid>> = thread::scope(|scope| {
        let handles: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    (0..1_000_000)
                        .map(|_| {
                            let uid = uids.take().unwrap();
                            let time = layout.parts(uid).time;
                            assert!(time <= SystemTime::now() + Duration::from_secs(60));
                            uid
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    });
    let mut all: Vec<Uid> = taken.concat();
    all.sort_unstable();
    assert!(all.is_sorted_by(|a, b| a < b), "no UID twice");
    let status = uids.status();
    assert!(status.new_workers >= 4_000_000 / (61 * 8192) - 1, "{status}");
}

struct Counting(u64);

impl WorkerRegistry for Counting {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        self.0 += 1;
        Ok(Lease::permanent(self.0, &request.layout))
    }
}

/// Takes all that there is in each of so many ticks, and says which worker ids it is of.
fn workers_of_ticks(uids: &UidGenerator, clock: &ManualClock, ticks: u32) -> BTreeSet<u64> {
    let mut workers = BTreeSet::new();
    for _ in 0..ticks {
        while let Ok(uid) = uids.try_take() {
            workers.insert(uids.layout().parts(uid).worker);
        }
        // The filler is asked for more meanwhile, and asks the registry.
        thread::sleep(Duration::from_millis(5));
        clock.advance(uids.layout().tick());
    }
    workers
}

fn saturated(worker_bits: u32, registry: impl WorkerRegistry) -> (ManualClock, Builder) {
    let layout = Layout::new(30, worker_bits, 4).unwrap().with_tick(TICK).unwrap();
    let clock = ManualClock::new(layout.epoch() + Duration::from_secs(1_000_000));
    let builder = UidGenerator::builder().registry(registry).layout(layout).clock(clock.clone());
    (clock, builder.max_lead(Duration::ZERO))
}

#[test]
fn with_a_short_lead_a_generator_uses_no_worker_ids_up_unless_told_to() {
    for max_lead in [Duration::ZERO, TICK, Duration::from_secs(10), Duration::from_secs(3599)] {
        let (clock, builder) = saturated(10, Counting(0));
        let uids = builder.max_lead(max_lead).build().unwrap();
        assert_eq!(workers_of_ticks(&uids, &clock, 20), BTreeSet::from([1]), "{max_lead:?}");
    }
}

#[test]
fn with_a_lead_of_an_hour_a_saturated_generator_takes_on_another_worker_id() {
    let layout = Layout::new(30, 20, 4).unwrap();
    let builder = UidGenerator::builder().registry(Counting(0)).layout(layout);
    let uids = builder.max_lead(Duration::from_secs(3600)).build().unwrap();
    while uids.status().new_workers == 0 {
        uids.take().unwrap();
    }
}

/// Worker ids that a generator has used after so many ticks, of those that do not come back; with
/// them, how many an hour brings meanwhile.
fn bounded(builder: Builder, clock: &ManualClock, per_hour: u32) -> (usize, usize) {
    let since = Instant::now();
    let uids = builder.on_lead_limit(LeadLimit::NewWorker).build().unwrap();
    let ids = workers_of_ticks(&uids, clock, 100).len();
    assert!(uids.status().at_worker_limit);
    let error = (0..=2 * A_TICK_OF_UIDS).find_map(|_| uids.try_take().err()).unwrap();
    assert_eq!(error, TakeError::LeadLimit { retry_in_ms: 10 });
    (ids, (since.elapsed().as_secs_f64() * f64::from(per_hour) / 3600.0) as usize)
}

#[test]
fn a_generator_takes_on_as_many_worker_ids_an_hour_as_it_may() {
    for most in [0, 1, 3, 20] {
        let (clock, builder) = saturated(20, Counting(0));
        let (ids, more) = bounded(builder.max_new_workers(most), &clock, most);
        let least = 1 + most as usize;
        assert!((least..=least + more).contains(&ids), "{ids} worker ids, with {most} an hour");
    }
}

#[test]
fn a_generator_takes_on_few_of_its_layouts_worker_ids_an_hour() {
    for (worker_bits, most) in [(2, 1), (10, 1), (14, 1), (15, 3), (17, 13)] {
        let (clock, builder) = saturated(worker_bits, Counting(0));
        let (ids, more) = bounded(builder, &clock, most);
        let least = 1 + most as usize;
        assert!((least..=least + more).contains(&ids), "{ids} of {worker_bits} bits");
    }
}

/// Leases so many ticks at a time, and loses each lease before its first reservation.
struct Leasing {
    ids: Counting,
    ticks: u64,
}

impl WorkerRegistry for Leasing {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        let lease = self.ids.assign(request)?;
        let last = lease.last.min(request.now + self.ticks);
        Ok(Lease::leased(lease.worker, request.now..=last, Duration::from_secs(3600), "one"))
    }

    fn reserve(&mut self, lease: &Lease, _: u64) -> Result<u64, RegistryError> {
        Err(RegistryError::LeaseLost { worker: lease.worker })
    }
}

/// Without a lead they come back at once.
#[test]
fn leased_worker_ids_that_come_back_are_not_counted() {
    let (clock, builder) = saturated(20, Leasing { ids: Counting(0), ticks: u64::MAX / 2 });
    let uids = builder.on_lead_limit(LeadLimit::NewWorker).max_new_workers(1).build().unwrap();
    while uids.status().new_workers < 5 {
        workers_of_ticks(&uids, &clock, 1);
    }
}

/// What is used up to the end of a lead comes back after half of it.
#[test]
fn a_generator_takes_on_few_of_the_leased_worker_ids_while_they_are_away() {
    for (worker_bits, most) in [(2, 1), (4, 1), (6, 3), (7, 7)] {
        let registry = Leasing { ids: Counting(0), ticks: 1 << 20 };
        let builder = saturated(worker_bits, registry).1.max_lead(Duration::from_secs(3600));
        let builder = builder.layout(Layout::new(30, worker_bits, 4).unwrap());
        let uids = builder.max_new_workers(1000).build().unwrap();
        while !uids.status().at_worker_limit || uids.try_take().is_ok() {
            let _ = uids.try_take();
        }
        assert_eq!(uids.status().new_workers, most, "{worker_bits} bits");
    }
}

/// Otherwise it could give no UID until the time is over.
#[test]
fn a_lost_lease_is_replaced_however_many_there_were() {
    let (clock, builder) = saturated(4, Leasing { ids: Counting(0), ticks: 20 });
    let uids = builder.max_lead(Duration::from_secs(3600)).build().unwrap();
    while uids.status().new_workers < 5 {
        workers_of_ticks(&uids, &clock, 1);
    }
    assert!(uids.status().at_worker_limit);
}
