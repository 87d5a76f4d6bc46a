//! Exact time: the tick of each UID is the clock's at the take.
#![allow(clippy::cast_possible_truncation)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use uidring::clock::{Clock, ManualClock};
use uidring::registry::{FixedWorker, Lease, Request, WorkerRegistry};
use uidring::{
    BuildError, Builder, FieldOrder, Layout, LeadLimit, RegistryError, TakeError, Uid, UidGenerator,
};

const MS: Duration = Duration::from_millis(1);
/// The UIDs of a tick in `small`.
const TICK: u64 = 256;

fn exact(layout: Layout) -> Builder {
    UidGenerator::builder().registry(FixedWorker::new(5)).layout(layout).exact_time()
}

fn small() -> Layout {
    Layout::new(41, 10, 8).unwrap().with_tick(MS).unwrap()
}

/// A generator under a clock that stands still, at the beginning of a tick.
fn still(change: impl FnOnce(Builder) -> Builder) -> (ManualClock, UidGenerator) {
    let clock = ManualClock::new(Layout::DEFAULT.epoch() + Duration::from_secs(1_000_000));
    let uids = change(exact(small())).clock(clock.clone()).build().unwrap();
    (clock, uids)
}

fn tick_of(uids: &UidGenerator, uid: Uid) -> u64 {
    uids.layout().tick_at(uids.layout().parts(uid).time).unwrap()
}

fn clock_tick(uids: &UidGenerator, clock: &impl Clock) -> u64 {
    uids.layout().tick_at(clock.now()).unwrap()
}

/// Takes what the present tick has.
fn drain(uids: &UidGenerator) -> Vec<Uid> {
    std::iter::from_fn(|| uids.try_take().ok()).collect()
}

#[test]
fn a_uid_has_the_time_of_its_take() {
    let orders = [FieldOrder::TimeFirst, FieldOrder::WorkerFirst];
    for layout in orders.map(|order| Layout::TWITTER.with_order(order)) {
        let uids = exact(layout).build().unwrap();
        let tick = || layout.tick_at(SystemTime::now()).unwrap();
        let (mut mine, mut buffer) = (uids.local(), [Uid::MIN; 3]);
        for pause_us in [0, 50, 700, 1300, 9000].repeat(20) {
            thread::sleep(Duration::from_micros(pause_us));
            let before = tick();
            uids.fill(&mut buffer).unwrap();
            let taken = [uids.take(), uids.try_take(), uids.take(), mine.take(), mine.take()];
            let after = tick();
            let taken = taken.map(Result::unwrap);
            for uid in taken.iter().chain(&buffer) {
                assert!((before..=after).contains(&tick_of(&uids, *uid)));
                assert_eq!(layout.parts(*uid).worker, 5);
            }
            assert!(buffer[2] < taken[0] && taken[..3].is_sorted() && taken[3] < taken[4]);
        }
        let status = uids.status();
        assert!(status.exact_time && status.lag.is_zero());
        assert_eq!((status.taken >= 800, status.lost), (true, 0));
    }
}

/// A thread remembers the tick that it has seen the clock in. Another generator has other ticks,
/// and the clock moves.
#[test]
fn generators_on_one_thread_have_ticks_of_their_own() {
    let clock = ManualClock::new(Layout::DEFAULT.epoch() + Duration::from_secs(1_000_000));
    let later = small().epoch() + 77 * MS;
    let layouts = [
        small(),
        small().with_tick(10 * MS).unwrap(),
        small().with_epoch(later).unwrap(),
        small().with_order(FieldOrder::WorkerFirst),
    ];
    let generators = layouts.map(|layout| {
        exact(layout).clock(clock.clone()).max_lead(Duration::from_secs(60)).build().unwrap()
    });
    for step in [1, 9, 10, 11, 100, 3, 1000, 7].repeat(5) {
        clock.advance(step * MS);
        for uids in &generators {
            for _ in 0..3 {
                assert_eq!(tick_of(uids, uids.take().unwrap()), clock_tick(uids, &clock));
            }
        }
    }
    // Set back, UIDs go on where they were.
    let ticks = generators.each_ref().map(|uids| clock_tick(uids, &clock));
    clock.rewind(Duration::from_secs(1));
    for (uids, tick) in generators.iter().zip(ticks) {
        assert_eq!(tick_of(uids, uids.take().unwrap()), tick);
    }
}

/// Nothing is left out in a tick that is used up, and nothing comes twice.
#[test]
fn at_the_limit_every_uid_of_a_tick_is_taken() {
    for threads in [1, 4, 16] {
        let uids = exact(small()).build().unwrap();
        let barrier = Barrier::new(threads);
        let taken = Mutex::new(BTreeMap::<u64, BTreeSet<u64>>::new());
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let mut mine = Vec::new();
                    barrier.wait();
                    let mut last = Uid::MIN;
                    for _ in 0..20_000 / threads {
                        let uid = uids.take().unwrap();
                        assert!(last < uid, "ordered");
                        last = uid;
                        mine.push(uid);
                    }
                    let mut taken = taken.lock().unwrap();
                    for uid in mine {
                        let sequence = uids.layout().parts(uid).sequence;
                        let ticks = taken.entry(tick_of(&uids, uid)).or_default();
                        assert!(ticks.insert(sequence), "twice: {uid:?}");
                    }
                });
            }
        });
        let taken = taken.into_inner().unwrap();
        // A tick after a full one begins at its first UID. If it is full as well, it is whole, but
        // for what a taker drops that is stopped between its claim and its look at the clock until
        // the tick is past.
        let (mut full, mut whole) = (0, 0);
        for ((tick, sequences), (next, _)) in taken.iter().zip(taken.iter().skip(1)) {
            let is_full = sequences.contains(&(TICK - 1));
            if is_full && sequences.contains(&0) && *next == tick + 1 {
                full += 1;
                whole += usize::from(sequences.len() as u64 == TICK);
            }
        }
        let status = uids.status();
        assert!(whole > full / 2, "{threads} threads: {whole} of {full} are whole: {status:?}");
        assert!(status.waits > 0);
    }
}

#[test]
fn a_full_tick_fails_a_take_that_may_not_wait() {
    for policy in [LeadLimit::Wait, LeadLimit::Fail] {
        let (clock, uids) = still(|builder| builder.on_lead_limit(policy));
        let first = drain(&uids);
        // The first tick after a pause begins in the first quarter, or in the 64 UIDs after that.
        assert!((TICK / 2..=TICK).contains(&(first.len() as u64)), "{}", first.len());
        for _ in 0..1000 {
            let error = uids.try_take().unwrap_err();
            assert!(matches!(error, TakeError::LeadLimit { retry_in_ms: 1 }), "{error:?}");
        }
        if policy == LeadLimit::Fail {
            uids.take().unwrap_err();
            let error = uids.fill(&mut [Uid::MIN; 10]).unwrap_err();
            assert_eq!(error.filled(), 0);
            uids.local().take().unwrap_err();
        }
        clock.advance(MS);
        let second = drain(&uids);
        assert!(first.last() < second.first());
        // What failed has used nothing up, and the low bits go on where they were.
        assert!(second.len() as u64 >= TICK - 64, "{policy:?}: {}", second.len());
        assert_eq!(tick_of(&uids, second[0]), tick_of(&uids, first[0]) + 1);
        assert_eq!(uids.status().lost, 0);
    }
}

#[test]
fn a_fill_of_many_ticks_takes_them_one_after_the_other() {
    let uids = exact(small()).build().unwrap();
    let mut buffer = vec![Uid::MIN; 20 * TICK as usize];
    uids.fill(&mut buffer).unwrap();
    assert!(buffer.is_sorted() && buffer.windows(2).all(|pair| pair[0] != pair[1]));
    let last = tick_of(&uids, *buffer.last().unwrap());
    assert!(last - tick_of(&uids, buffer[0]) >= 19);
    assert!(last <= clock_tick(&uids, &uidring::clock::SystemClock));
}

#[test]
fn a_clock_that_goes_back_is_waited_for() {
    let (clock, uids) = still(|builder| builder);
    let before = uids.take().unwrap();
    clock.rewind(3 * MS);
    let error = uids.try_take().unwrap_err();
    assert_eq!(error.retry_in(), Some(3 * MS));
    let waiting = thread::spawn({
        let uids = uids.clone();
        move || uids.take().unwrap()
    });
    // Until it waits.
    while uids.status().waits == 0 {
        thread::yield_now();
    }
    clock.advance(2 * MS);
    assert!(!waiting.is_finished());
    clock.advance(MS);
    let uid = waiting.join().unwrap();
    assert!(uid > before && tick_of(&uids, uid) == tick_of(&uids, before));
}

#[test]
fn a_clock_that_goes_back_is_tolerated_up_to_max_lead() {
    let (clock, uids) = still(|builder| builder.max_lead(5 * MS));
    let before = uids.take().unwrap();
    let time = uids.layout().parts(before).time;
    clock.rewind(5 * MS);
    let uid = uids.take().unwrap();
    assert!(uid > before && uids.layout().parts(uid).time == time);
    assert_eq!(uids.status().lead, 5 * MS);
    clock.rewind(MS);
    assert_eq!(uids.try_take().unwrap_err().retry_in(), Some(MS));
    clock.advance(7 * MS);
    assert_eq!(uids.layout().parts(uids.take().unwrap()).time, time + MS);
}

#[test]
fn operators_see_that_the_clock_went_back() {
    let (clock, uids) = still(|builder| builder);
    uids.take().unwrap();
    let since = Instant::now();
    while uids.status().clock_steps == 0 || !uids.status().at_lead_limit {
        assert!(since.elapsed() < Duration::from_secs(60));
        clock.rewind(3 * MS);
        uids.try_take().unwrap_err();
        thread::sleep(MS);
    }
}

#[test]
fn a_clock_that_goes_back_is_refused_by_those_who_may_not_wait() {
    let (clock, uids) = still(|builder| builder.on_lead_limit(LeadLimit::Fail));
    let before = uids.take().unwrap();
    clock.rewind(Duration::from_secs(7));
    for _ in 0..100 {
        let error = uids.take().unwrap_err();
        assert_eq!(error.retry_in(), Some(Duration::from_secs(7)));
    }
    clock.advance(Duration::from_secs(7));
    let after = uids.take().unwrap();
    assert_eq!(after.get(), before.get() + 1, "what failed has used nothing up");
}

#[test]
fn a_jump_that_is_not_followed_moves_nothing() {
    let jump = Duration::from_secs(3600);
    let (clock, uids) = still(|builder| builder.max_forward_jump(jump));
    let before = uids.take().unwrap();
    clock.advance(1000 * jump);
    let uid = uids.take().unwrap();
    let time = uids.layout().parts(before).time;
    assert!(uids.layout().parts(uid).time < time + jump);
    assert!(uids.status().refused_jump.unwrap() > 999 * jump);
    // Past the time for which the generator went on without the clock.
    clock.rewind(999 * jump + jump / 2);
    assert!(uids.take().unwrap() > uid);
}

#[test]
fn a_shutdown_wakes_those_who_wait() {
    let (_clock, uids) = still(|builder| builder);
    drain(&uids);
    let waiting: Vec<_> = (0..4)
        .map(|_| {
            let uids = uids.clone();
            thread::spawn(move || uids.take())
        })
        .collect();
    while uids.status().waits < 4 {
        thread::yield_now();
    }
    uids.clone().shutdown().unwrap();
    for thread in waiting {
        assert_eq!(thread.join().unwrap(), Err(TakeError::ShutDown));
    }
    assert_eq!(uids.take(), Err(TakeError::ShutDown));
    assert_eq!(uids.try_take(), Err(TakeError::ShutDown));
}

#[test]
fn another_worker_id_is_no_way_out() {
    let error = exact(small()).on_lead_limit(LeadLimit::NewWorker).build().unwrap_err();
    assert!(matches!(error, BuildError::ExactTime));
    let text = error.to_string();
    assert!(text.contains("set on_lead_limit to Wait or Fail"), "{text}");
    // Without exact time, so long a lead would have another worker id taken on.
    for lead in [3600, 7200] {
        exact(small()).max_lead(Duration::from_secs(lead)).build().unwrap();
    }
}

/// Grants `ticks` ticks at a time, while it answers, and notes up to where.
#[derive(Clone, Default)]
struct Granting {
    is_down: Arc<AtomicBool>,
    is_lost: Arc<AtomicBool>,
    given: u64,
    /// The last tick granted to each worker id.
    granted: Arc<Mutex<BTreeMap<u64, u64>>>,
    released: Arc<Mutex<Vec<(u64, u64)>>>,
}

const GRANT: u64 = 50;

impl WorkerRegistry for Granting {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        self.given += 1;
        self.is_lost.store(false, Ordering::SeqCst);
        let ticks = request.now..=request.now + GRANT;
        self.granted.lock().unwrap().insert(self.given, *ticks.end());
        Ok(Lease::leased(self.given, ticks, Duration::from_millis(GRANT), "me"))
    }

    fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        if self.is_lost.load(Ordering::SeqCst) {
            return Err(RegistryError::LeaseLost { worker: lease.worker });
        }
        if self.is_down.load(Ordering::SeqCst) {
            return Err(RegistryError::unreachable("it is away"));
        }
        self.granted.lock().unwrap().insert(lease.worker, last);
        Ok(last)
    }

    fn release(&mut self, lease: &Lease, used: u64) -> Result<(), RegistryError> {
        self.released.lock().unwrap().push((lease.worker, used));
        Ok(())
    }
}

#[test]
fn only_reserved_ticks_are_used() {
    let registry = Granting::default();
    let (is_down, is_lost) = (Arc::clone(&registry.is_down), Arc::clone(&registry.is_lost));
    let (granted, released) = (Arc::clone(&registry.granted), Arc::clone(&registry.released));
    let uids = exact(small()).registry(registry).build().unwrap();
    let mut last = uids.take().unwrap();
    let mut until = |is_done: &dyn Fn(Result<Uid, TakeError>) -> bool| {
        let since = Instant::now();
        loop {
            let result = uids.take();
            if let Ok(uid) = result {
                let worker = uids.layout().parts(uid).worker;
                assert!(worker != uids.layout().parts(last).worker || last < uid);
                assert!(tick_of(&uids, uid) <= granted.lock().unwrap()[&worker]);
                last = uid;
            }
            if is_done(result) {
                break;
            }
            assert!(since.elapsed() < Duration::from_secs(60), "{result:?}");
        }
    };
    // Longer than the first lease: more is reserved.
    let end = tick_of(&uids, uids.take().unwrap()) + 4 * GRANT;
    until(&|result| result.is_ok_and(|uid| tick_of(&uids, uid) > end));
    is_down.store(true, Ordering::SeqCst);
    until(&|result| matches!(result, Err(TakeError::LeaseExhausted { worker: 1 })));
    is_down.store(false, Ordering::SeqCst);
    until(&|result| result.is_ok());
    is_lost.store(true, Ordering::SeqCst);
    until(&|result| result.is_ok_and(|uid| uids.layout().parts(uid).worker == 2));
    let end = tick_of(&uids, last);
    uids.shutdown().unwrap();
    let released = released.lock().unwrap();
    let (worker, used) = *released.last().unwrap();
    assert_eq!(worker, 2);
    assert!((end..end + GRANT).contains(&used), "{used} after {end}");
}

/// Neither has anything to do with exact time, so neither may hold it up.
#[test]
fn max_lag_and_slots_have_no_effect() {
    let clock = ManualClock::new(small().epoch() + MS);
    let registry = Granting::default();
    let is_lost = Arc::clone(&registry.is_lost);
    let builder = exact(small()).registry(registry).clock(clock.clone());
    let uids = builder.max_lag(Duration::ZERO).slots(65_536).build().unwrap();
    assert_eq!(tick_of(&uids, uids.take().unwrap()), 1);
    is_lost.store(true, Ordering::SeqCst);
    let since = Instant::now();
    let worker = |uid| uids.layout().parts(uid).worker;
    while !uids.take().is_ok_and(|uid| worker(uid) == 2) {
        assert!(since.elapsed() < Duration::from_secs(60), "{}", uids.status());
        clock.advance(MS);
        thread::sleep(MS);
    }
}

#[test]
fn a_worker_id_that_was_not_used_comes_back_unused() {
    let registry = Granting::default();
    let released = Arc::clone(&registry.released);
    let clock = ManualClock::new(Layout::DEFAULT.epoch() + Duration::from_secs(1_000_000));
    let uids = exact(small()).registry(registry).clock(clock.clone()).build().unwrap();
    let first = clock_tick(&uids, &clock);
    uids.shutdown().unwrap();
    let released = released.lock().unwrap();
    assert!(released[0].1 <= first, "{released:?}, from {first} on");
}

#[test]
fn a_rest_is_no_jump() {
    // The filler looks at the clock in half of this time, and a busy machine may hold it up.
    let builder = exact(small()).max_forward_jump(400 * MS);
    let uids = builder.on_lead_limit(LeadLimit::Fail).build().unwrap();
    for _ in 0..3 {
        thread::sleep(Duration::from_millis(700));
        uids.take().unwrap();
    }
}

/// Takes by `count` tasks at once, each on a thread of its own.
#[cfg(feature = "async")]
fn take_by_tasks(uids: &UidGenerator, count: usize) -> Vec<Result<Uid, TakeError>> {
    thread::scope(|scope| {
        let task = || pollster::block_on(uids.take_async());
        let tasks: Vec<_> = (0..count).map(|_| scope.spawn(task)).collect();
        tasks.into_iter().map(|task| task.join().unwrap()).collect()
    })
}

#[cfg(feature = "async")]
#[test]
fn tasks_wait_for_the_next_tick() {
    let layout = Layout::new(41, 10, 4).unwrap().with_tick(MS).unwrap();
    let uids = exact(layout).build().unwrap();
    let mut all = BTreeSet::new();
    for _ in 0..10 {
        let taken = take_by_tasks(&uids, 64);
        assert!(taken.into_iter().all(|uid| all.insert(uid.unwrap())));
    }
    assert!(uids.status().waits > 0);
}

/// Tasks behind the first in line are woken, too.
#[cfg(feature = "async")]
#[test]
fn tasks_do_not_wait_for_a_registry_that_is_away() {
    let registry = Granting::default();
    registry.is_down.store(true, Ordering::SeqCst);
    let layout = Layout::new(41, 10, 4).unwrap().with_tick(MS).unwrap();
    let uids = exact(layout).registry(registry).build().unwrap();
    let since = Instant::now();
    while !matches!(uids.try_take(), Err(TakeError::LeaseExhausted { .. })) {
        // At each tick's end most of them are in line.
        take_by_tasks(&uids, 50);
        assert!(since.elapsed() < Duration::from_secs(60));
    }
    let taken = take_by_tasks(&uids, 50);
    assert_eq!(taken, [Err(TakeError::LeaseExhausted { worker: 1 }); 50]);
}

/// UIDs end in all remainders alike, however seldom they are taken.
#[test]
fn low_bits_are_even() {
    for pause_ms in [1, 2, 5, 125, 1000, 3_600_000] {
        for burst in [1, 3, 100] {
            let clock = ManualClock::new(Layout::TWITTER.epoch() + Duration::from_secs(1 << 30));
            let uids = exact(Layout::TWITTER).clock(clock.clone()).build().unwrap();
            let mut taken = Vec::new();
            while taken.len() < 64_000 {
                clock.advance(pause_ms * MS);
                taken.extend((0..burst).map(|_| uids.take().unwrap().get()));
            }
            for n in [2, 8, 64, 1000] {
                assert!(is_even(&taken, n), "{burst} each {pause_ms} ms, modulo {n}");
            }
        }
    }
}

/// Whether the remainders are no less even than those of random numbers: the statistic of the
/// chi-square test lies below its 99.9 % point, by the approximation of Wilson and Hilferty.
#[allow(clippy::cast_precision_loss)]
fn is_even(numbers: &[u64], n: u64) -> bool {
    let mut counts = vec![0_u64; n as usize];
    for number in numbers {
        counts[(number % n) as usize] += 1;
    }
    let expected = numbers.len() as f64 / n as f64;
    let square = |&count: &u64| (count as f64 - expected).powi(2) / expected;
    let (statistic, freedom) = (counts.iter().map(square).sum::<f64>(), (n - 1) as f64);
    let spread = 2.0 / (9.0 * freedom);
    statistic <= freedom * (1.0 - spread + 3.09 * spread.sqrt()).powi(3)
}
