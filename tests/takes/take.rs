//! What a user relies on when taking UIDs, by whatever means and from however many threads.

use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, SystemTime};

use uidring::clock::{Clock, ManualClock};
use uidring::registry::{FixedWorker, Lease, Request, WorkerRegistry};
use uidring::{
    BuildError, Builder, Layout, LeadLimit, Parts, RegistryError, TakeError, Uid, UidGenerator,
};

use crate::size::size;

const WORKER: u64 = 5;
/// What the clocks of these tests show: so long after the epoch.
const NOW: Duration = Duration::from_secs(1_000_000);

fn builder(layout: Layout) -> Builder {
    let clock = ManualClock::new(layout.epoch() + NOW);
    UidGenerator::builder().registry(FixedWorker::new(WORKER)).layout(layout).clock(clock)
}

/// Milliseconds with few UIDs in each: a ring of 8 is used up by `8 << sequence_bits` takes. A day
/// of them, the most that may be borrowed, is more than any test here takes.
fn short_blocks(sequence_bits: u32) -> Layout {
    Layout::new(40, 10, sequence_bits).unwrap().with_tick(Duration::from_millis(1)).unwrap()
}

/// Runs `body` on so many threads at once, and returns what they return.
fn on_threads<T: Send>(threads: usize, body: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let start = Barrier::new(threads);
    thread::scope(|scope| {
        let run = |index| {
            let (start, body) = (&start, &body);
            scope.spawn(move || {
                start.wait();
                body(index)
            })
        };
        let running: Vec<_> = (0..threads).map(run).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// The UIDs that one thread got: one bit for each UID that there is from `NOW` on.
struct Returned {
    layout: Layout,
    first_tick: u64,
    last: u64,
    count: u64,
    words: Vec<u64>,
}

impl Returned {
    fn new(uids: &UidGenerator) -> Returned {
        let layout = *uids.layout();
        let first_tick = u64::try_from(NOW.as_millis() / layout.tick().as_millis()).unwrap();
        Returned { layout, first_tick, last: 0, count: 0, words: Vec::new() }
    }

    /// Notes a UID, which must be larger than the one before, of the right worker and not of the
    /// past.
    fn add(&mut self, uid: Uid) {
        let (uid, sequence_bits) = (uid.get(), self.layout.sequence_bits());
        assert!(uid > self.last, "{uid} came after {}", self.last);
        self.last = uid;
        assert_eq!(uid >> sequence_bits & self.layout.max_worker(), WORKER, "in {uid}");
        let ticks =
            (uid >> (sequence_bits + self.layout.worker_bits())).checked_sub(self.first_tick);
        let place = ticks.unwrap() << sequence_bits | uid & self.layout.max_sequence();
        assert!(place < 1 << 32, "{uid} is of a time far ahead");
        let word = usize::try_from(place / 64).unwrap();
        if word >= self.words.len() {
            self.words.resize(word * 2 + 1, 0);
        }
        self.words[word] |= 1 << (place % 64);
        self.count += 1;
    }

    fn add_all(&mut self, uids: &[Uid]) {
        for &uid in uids {
            self.add(uid);
        }
    }
}

/// How many different UIDs there are. No UID may have been returned to two threads.
fn assert_unique(returned: Vec<Returned>) -> u64 {
    let mut all: Vec<u64> = Vec::new();
    let mut count = 0;
    for mut one in returned {
        if all.len() < one.words.len() {
            std::mem::swap(&mut all, &mut one.words);
        }
        for (known, new) in all.iter_mut().zip(&one.words) {
            assert_eq!(*known & new, 0, "a UID was returned to two threads");
            *known |= new;
        }
        count += one.count;
    }
    // Each thread's own increase, so each has set as many bits as it has noted UIDs.
    assert_eq!(all.iter().map(|word| u64::from(word.count_ones())).sum::<u64>(), count);
    count
}

/// Whether `b` is the very next UID: of the same second, or the first of the next.
fn follows(layout: &Layout, a: Uid, b: Uid) -> bool {
    let stride = 1 << (layout.worker_bits() + layout.sequence_bits());
    let next = if a.get() & layout.max_sequence() < layout.max_sequence() {
        a.get() + 1
    } else {
        a.get() - layout.max_sequence() + stride
    };
    b.get() == next
}

fn assert_gapless(layout: &Layout, uids: &[Uid]) {
    for pair in uids.windows(2) {
        assert!(
            follows(layout, pair[0], pair[1]),
            "{:?}, then {:?}",
            layout.parts(pair[0]),
            layout.parts(pair[1])
        );
    }
}

fn take_many(uids: &UidGenerator, count: usize) -> Vec<Uid> {
    (0..count).map(|_| uids.take().unwrap()).collect()
}

// unique, ordered

#[test]
fn unique_and_ordered_in_up_to_100_million_takes_by_4_threads() {
    let takes = size(25_000_000, 2_500_000);
    let uids = builder(Layout::DEFAULT).build().unwrap();
    let newest = AtomicU64::new(0);
    let returned = on_threads(4, |_| {
        let mut returned = Returned::new(&uids);
        for take in 0..takes {
            if take % 10 == 0 {
                // Every UID up to this one was returned before the next take starts, here or on
                // another thread.
                let before = newest.load(Ordering::Acquire);
                let uid = uids.take().unwrap();
                assert!(uid.get() > before, "{uid} was taken after {before} had been returned");
                newest.fetch_max(uid.get(), Ordering::Release);
                returned.add(uid);
            } else {
                returned.add(uids.take().unwrap());
            }
        }
        returned
    });
    assert_eq!(assert_unique(returned), 4 * takes);
}

#[test]
fn unique_and_ordered_where_every_other_take_begins_a_block() {
    const TAKES: u64 = 1_000_000;
    let uids = builder(short_blocks(1)).slots(2).build().unwrap();
    let newest = AtomicU64::new(0);
    let returned = on_threads(4, |_| {
        let mut returned = Returned::new(&uids);
        for _ in 0..TAKES {
            let before = newest.load(Ordering::Acquire);
            let uid = uids.take().unwrap();
            assert!(uid.get() > before, "{uid} was taken after {before} had been returned");
            newest.fetch_max(uid.get(), Ordering::Release);
            returned.add(uid);
        }
        returned
    });
    assert_eq!(assert_unique(returned), 4 * TAKES);
}

#[test]
fn unique_whatever_takes() {
    let uids = builder(short_blocks(6)).build().unwrap();
    let returned = on_threads(6, |thread| {
        let mut returned = Returned::new(&uids);
        let mut local = uids.local().with_claim_length([1, 64, 100_000][thread % 3]);
        match thread {
            0..3 => (0..300_000).for_each(|_| returned.add(local.take().unwrap())),
            3 => (0..300_000).for_each(|_| returned.add(uids.take().unwrap())),
            4 => (0..300_000).for_each(|_| returned.add(uids.try_take().unwrap())),
            _ => {
                let mut buffer = vec![Uid::MIN; 2000];
                for length in (0..2000).step_by(7) {
                    uids.fill(&mut buffer[..length]).unwrap();
                    returned.add_all(&buffer[..length]);
                }
            }
        }
        returned
    });
    assert_eq!(assert_unique(returned), 5 * 300_000 + (0..2000).step_by(7).sum::<u64>());
}

#[test]
fn unique_two_generators_in_one_process() {
    let layout = Layout::DEFAULT;
    let generator = |worker| builder(layout).registry(FixedWorker::new(worker)).build().unwrap();
    let (a, b) = (generator(1), generator(2));
    assert_eq!((a.worker_id(), b.worker_id()), (1, 2));
    let taken = on_threads(2, |thread| take_many([&a, &b][thread], 100_000));
    for (uids, worker) in taken.iter().zip([1, 2]) {
        assert!(uids.iter().all(|&uid| layout.parts(uid).worker == worker));
        assert_gapless(&layout, uids);
    }
}

#[test]
fn ordered_clones_share_one_sequence() {
    let first = builder(Layout::DEFAULT).build().unwrap();
    let second = first.clone();
    let mut taken = Vec::new();
    for _ in 0..10_000 {
        taken.extend([
            first.take().unwrap(),
            second.take().unwrap(),
            first.clone().take().unwrap(),
        ]);
    }
    assert_gapless(first.layout(), &taken);
    assert_eq!(first.worker_id(), second.worker_id());
}

#[test]
fn the_first_uid_is_of_the_present_second() {
    let layout = Layout::DEFAULT;
    let now = layout.epoch() + NOW;
    for into_the_second in [Duration::ZERO, Duration::from_millis(999)] {
        let uids = builder(layout).clock(ManualClock::new(now + into_the_second)).build().unwrap();
        assert_eq!(layout.parts(uids.take().unwrap()).time, now);
    }
}

// nothing wasted

#[test]
fn nothing_wasted_takes_of_one_thread_use_every_uid() {
    for bits in [1, 2, 6, 13] {
        let uids = builder(short_blocks(bits)).build().unwrap();
        assert_gapless(uids.layout(), &take_many(&uids, 100 << bits));
        assert_eq!(uids.status().lost, 0);
    }
}

#[test]
fn nothing_wasted_fill_of_any_length_is_gapless() {
    const BLOCK: usize = 64;
    const RING: usize = 8 * BLOCK;
    let uids = builder(short_blocks(6)).build().unwrap();
    let mut filled = Vec::new();
    for length in
        [0, 1, 7, BLOCK - 8, BLOCK, BLOCK + 1, RING - 1, RING, RING + 1, 3 * RING, 3 * RING + 7]
    {
        let mut buffer = vec![Uid::MIN; length];
        uids.fill(&mut buffer).unwrap();
        // Within the call and from the one before to this one.
        filled.extend(buffer);
        assert_gapless(uids.layout(), &filled);
    }
    filled.push(uids.take().unwrap());
    assert_gapless(uids.layout(), &filled);
}

/// Wherever a slice lies in memory, and whatever its length: how it is written depends on both.
#[test]
fn nothing_wasted_fill_of_any_part_of_a_buffer_is_gapless_and_stays_inside() {
    let uids = builder(Layout::DEFAULT).build().unwrap();
    let mut filled = Vec::new();
    for begin in 1..=8 {
        for length in (0..100).chain([1000, 5000]) {
            let mut buffer = vec![Uid::MIN; begin + length + 1];
            uids.fill(&mut buffer[begin..begin + length]).unwrap();
            assert!(
                buffer[..begin].iter().chain(&buffer[begin + length..]).all(|&uid| uid == Uid::MIN)
            );
            filled.extend_from_slice(&buffer[begin..begin + length]);
        }
    }
    assert_gapless(uids.layout(), &filled);
}

#[test]
fn fill_while_others_take_is_in_order_and_unique() {
    /// Ends the taking when the filling has ended, also where it fails.
    struct Filling<'a>(&'a AtomicBool);
    impl Drop for Filling<'_> {
        fn drop(&mut self) {
            self.0.store(false, Ordering::Relaxed);
        }
    }

    let uids = builder(short_blocks(6)).build().unwrap();
    let taking = AtomicBool::new(true);
    let returned = on_threads(4, |thread| {
        let mut returned = Returned::new(&uids);
        if thread == 0 {
            let _filling = Filling(&taking);
            for length in [0, 1, 7, 63, 64, 65, 511, 512, 513, 1536, 100_000].repeat(10) {
                let mut buffer = vec![Uid::MIN; length];
                uids.fill(&mut buffer).unwrap();
                returned.add_all(&buffer);
            }
        } else {
            while taking.load(Ordering::Relaxed) {
                returned.add(uids.take().unwrap());
            }
        }
        returned
    });
    assert!(returned.iter().all(|one| one.count > 0));
    assert_unique(returned);
}

#[test]
fn nothing_wasted_local_takers_are_gapless_across_blocks() {
    for length in [0, 1, 3, 64, 100_000] {
        let uids = builder(short_blocks(1)).build().unwrap();
        let mut local = uids.local().with_claim_length(length);
        let taken: Vec<Uid> = (0..100_000).map(|_| local.take().unwrap()).collect();
        assert_gapless(uids.layout(), &taken);
    }
}

#[test]
fn local_takers_hold_runs_of_their_own() {
    let uids = builder(Layout::DEFAULT).build().unwrap();
    let mut runs =
        [uids.local(), uids.local().with_claim_length(1000), uids.local().with_claim_length(1)];
    let first = runs.each_mut().map(|local| local.take().unwrap().get());
    // Each claimed its whole run at its first take.
    assert_eq!(first.map(|uid| uid - first[0]), [0, 64, 1064]);
    assert_eq!(uids.take().unwrap().get() - first[0], 1065);
    for (local, first) in runs.iter_mut().zip(first).take(2) {
        assert_eq!(local.take().unwrap().get(), first + 1);
    }
}

#[test]
fn true_time_local_takers_drop_what_has_become_old() {
    let layout = Layout::new(31, 10, 22).unwrap();
    let clock = ManualClock::new(layout.epoch() + NOW);
    let uids = builder(layout).clock(clock.clone()).build().unwrap();
    let mut locals = [u32::MAX, 1000, 64].map(|length| uids.local().with_claim_length(length));
    for local in &mut locals {
        local.take().unwrap();
    }
    clock.advance(Duration::from_secs(30));
    let is_old = |uid| layout.parts(uid).time < clock.now() - Duration::from_secs(2);
    // The filler looks once a second. The longest run would last for ten minutes of this.
    let looks = (0..6000).take_while(|_| {
        thread::sleep(Duration::from_millis(10));
        is_old(locals[0].take().unwrap())
    });
    assert!(looks.count() < 6000);
    assert!(!locals.iter_mut().any(|local| is_old(local.take().unwrap())));
}

// Every configuration that there is, and none that there is not.

#[test]
fn every_number_of_slots_works() {
    for slots in (1..=16).map(|bits| 1 << bits) {
        let uids = builder(short_blocks(1)).slots(slots).build().unwrap();
        assert_eq!(uids.status().available, 2 * slots as u64, "full when built");
        assert_gapless(uids.layout(), &take_many(&uids, 6 * slots));
    }
}

#[test]
fn other_numbers_of_slots_are_refused_with_the_nearest() {
    for (slots, nearest) in [
        (0, "the nearest is 2"),
        (1, "the nearest is 2"),
        (3, "the nearest are 2 and 4"),
        (6, "the nearest are 4 and 8"),
        (65_535, "the nearest are 32768 and 65536"),
        (65_537, "the nearest is 65536"),
        (1 << 17, "the nearest is 65536"),
        (usize::MAX, "the nearest is 65536"),
    ] {
        let error = builder(Layout::DEFAULT).slots(slots).build().unwrap_err();
        let rule = "the number is a power of two from 2 to 65536";
        assert_eq!(
            error.to_string(),
            format!("the ring cannot have {slots} slots: {rule}; {nearest}")
        );
    }
}

#[test]
fn every_refill_mark_works_and_others_are_refused() {
    for percent in [1, 50, 99] {
        let uids = builder(short_blocks(4)).refill_at(percent).build().unwrap();
        assert_gapless(uids.layout(), &take_many(&uids, 10_000));
    }
    for percent in [0, 100, u32::MAX] {
        let error = builder(Layout::DEFAULT).refill_at(percent).build().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("the ring cannot be refilled at {percent} percent: the mark is from 1 to 99")
        );
    }
}

#[test]
fn no_loss_of_meaning_a_worker_id_that_does_not_fit_is_refused() {
    let layout = Layout::new(30, 3, 13).unwrap();
    let build = |worker| builder(layout).registry(FixedWorker::new(worker)).build();
    assert_eq!(build(7).unwrap().worker_id(), 7);
    for worker in [8, u64::MAX] {
        let error = build(worker).unwrap_err().to_string();
        assert!(error.contains(&format!("worker id {worker} does not fit")), "{error}");
        assert!(error.contains("the largest is 7"), "{error}");
    }
}

/// Gives what it was made with.
struct Gives(Lease);

impl WorkerRegistry for Gives {
    fn assign(&mut self, _: &Request) -> Result<Lease, RegistryError> {
        Ok(self.0.clone())
    }
}

#[test]
fn no_loss_of_meaning_ticks_that_the_layout_does_not_have_are_refused() {
    let max = Layout::DEFAULT.max_tick();
    let build = |first, last, duration| {
        let mut lease = Lease::permanent(WORKER, &Layout::DEFAULT);
        if let Some(duration) = duration {
            lease = Lease::leased(WORKER, first..=last, duration, "one");
        }
        (lease.first, lease.last) = (first, last);
        builder(Layout::DEFAULT).registry(Gives(lease)).build()
    };
    let leased = Some(Duration::from_secs(600));
    assert!(build(max, max, leased).is_ok() && build(5, max, None).is_ok());
    // The last one could never be extended, as it is no lease.
    for (first, last, duration) in
        [(0, u64::MAX, leased), (0, max + 1, None), (6, 5, leased), (0, max - 1, None)]
    {
        let error = build(first, last, duration).unwrap_err().to_string();
        let ticks = format!(
            "the registry gave worker id {WORKER} with the ticks {first} to {last}: a lease has"
        );
        assert!(error.contains(&ticks) && error.contains(&max.to_string()), "{error}");
    }
}

#[test]
fn no_registry_no_generator() {
    let error = UidGenerator::builder().build().unwrap_err();
    assert!(matches!(error, BuildError::NoRegistry));
    assert_eq!(
        error.to_string(),
        "a generator needs a registry for its worker id: give the builder a SqliteRegistry, or a \
         FixedWorker with a number that is yours alone"
    );
}

#[test]
fn a_build_that_fails_uses_up_no_worker_id() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counting = || {
        builder(Layout::DEFAULT)
            .registry(Counting { asked: Arc::clone(&asked), dropped: Arc::default() })
    };
    assert!(counting().slots(3).build().is_err());
    assert!(counting().refill_at(0).build().is_err());
    let unset = ManualClock::new(SystemTime::UNIX_EPOCH);
    assert!(counting().clock(unset).start_deadline(Duration::ZERO).build().is_err());
    assert!(
        counting()
            .layout(Layout::UID_GENERATOR)
            .clock(ManualClock::new(SystemTime::now()))
            .build()
            .is_err()
    );
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    assert!(counting().build().is_ok());
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

/// Gives `WORKER`, counts how often it is asked, and tells when it is dropped, after a while.
struct Counting {
    asked: Arc<AtomicUsize>,
    dropped: Arc<AtomicBool>,
}

impl WorkerRegistry for Counting {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Ok(Lease::permanent(WORKER, &request.layout))
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        thread::sleep(Duration::from_millis(50));
        self.dropped.store(true, Ordering::Relaxed);
    }
}

// clean end

#[test]
fn clean_end_the_last_handle_waits_for_the_filler_and_drops_the_registry() {
    let dropped = Arc::new(AtomicBool::new(false));
    let registry = Counting { asked: Arc::default(), dropped: Arc::clone(&dropped) };
    let uids = builder(Layout::DEFAULT).registry(registry).build().unwrap();
    let (clone, local) = (uids.clone(), uids.local());
    for handle in [uids, clone] {
        drop(handle);
        assert!(!dropped.load(Ordering::Relaxed), "a handle is left");
    }
    drop(local);
    assert!(
        dropped.load(Ordering::Relaxed),
        "the registry, which lives on the filler's thread, outlived the last handle"
    );
}

#[test]
fn clean_end_handles_may_drop_while_others_take() {
    for _ in 0..20 {
        let dropped = Arc::new(AtomicBool::new(false));
        let registry = Counting { asked: Arc::default(), dropped: Arc::clone(&dropped) };
        let uids = builder(short_blocks(4)).registry(registry).build().unwrap();
        let takers: Vec<_> = (1..=4)
            .map(|thread| {
                let uids = uids.clone();
                thread::spawn(move || {
                    let mut returned = Returned::new(&uids);
                    (0..thread * 5_000).for_each(|_| returned.add(uids.take().unwrap()));
                    returned
                })
            })
            .collect();
        drop(uids);
        let returned = takers.into_iter().map(|taker| taker.join().unwrap()).collect();
        assert_eq!(assert_unique(returned), 50_000);
        assert!(dropped.load(Ordering::Relaxed));
    }
}

// Both ends of time.

#[test]
fn no_loss_of_meaning_worker_0_at_the_very_epoch_makes_no_uid_0() {
    let layout = short_blocks(1);
    let uids = builder(layout)
        .registry(FixedWorker::new(0))
        .clock(ManualClock::new(layout.epoch()))
        .build()
        .unwrap();
    let mut buffer = [Uid::MAX; 9];
    uids.fill(&mut buffer).unwrap();
    let taken = [buffer.to_vec(), take_many(&uids, 100)].concat();
    assert_gapless(&layout, &taken);
    assert!(taken.iter().all(|&uid| uid.get() > 0 && layout.parts(uid).worker == 0));
    // At most the second is passed over in which 0 lies.
    assert!(layout.parts(taken[0]).time <= layout.epoch() + layout.tick());
}

/// In whole seconds; ends 2026-01-13T03:16:16Z.
fn ending() -> Layout {
    Layout::new(20, 10, 10).unwrap()
}

/// This many seconds of the time field are left, and there is no further worker id.
fn at_the_end(seconds: u64) -> Builder {
    let clock = ManualClock::new(ending().expires_at() - Duration::from_secs(seconds));
    builder(ending()).clock(clock).on_lead_limit(LeadLimit::Fail)
}

fn assert_exhausted(error: TakeError) {
    assert_eq!(error, TakeError::TimeExhausted { expires_at_ms: 1_768_274_176_000 });
    assert_eq!(
        error.to_string(),
        "the layout's time field is used up: it ends at 2026-01-13T03:16:16Z; move to a layout \
         with a later epoch or more time bits"
    );
}

#[test]
fn time_exhausted_what_is_left_comes_out_once_and_then_the_error_for_ever() {
    for seconds in [1, 2, 7, 8, 9, 20] {
        let uids = at_the_end(seconds).build().unwrap();
        let taken = on_threads(4, |_| {
            let mut taken = Vec::new();
            let error = loop {
                match uids.take() {
                    Ok(uid) => taken.push(uid),
                    Err(error) => break error,
                }
            };
            assert_exhausted(error);
            for _ in 0..1000 {
                assert_eq!(uids.take(), Err(error));
                assert_eq!(uids.try_take(), Err(error));
                assert_eq!(uids.local().take(), Err(error));
                assert_eq!(uids.fill(&mut [Uid::MIN; 3]).unwrap_err().filled(), 0);
            }
            assert!(taken.is_sorted_by(|a, b| a < b));
            taken
        });
        let mut all = taken.concat();
        all.sort_unstable();
        assert!(all.is_sorted_by(|a, b| a < b), "none twice");
        assert_eq!(
            all.len() as u64 + uids.status().lost,
            seconds * 1024,
            "{seconds} seconds before the end"
        );
        if seconds <= 8 {
            // They were all in the ring, and no slow taker can have lost its own.
            assert_gapless(&ending(), &all);
            assert_eq!(uids.status().lost, 0);
        }
    }
}

#[test]
fn take_n_takes_as_many_as_asked_in_order() {
    let uids = builder(Layout::DEFAULT).build().unwrap();
    let mut before = uids.take().unwrap();
    for count in [0, 1, 2, 4095, 4096, 4097, 100_000] {
        let mut batch = uids.take_n(count);
        assert_eq!(batch.size_hint(), (count.min(1), Some(count)));
        let taken: Vec<Uid> = batch.by_ref().collect::<Result<_, _>>().unwrap();
        assert_eq!(taken.len(), count);
        assert!(batch.next().is_none(), "no more than {count}");
        for uid in taken {
            assert!(before < uid, "{before} before {uid}");
            before = uid;
        }
    }
    assert_eq!(uids.status().lost, 0);
    // What is not taken is lost: at most half a block.
    let number = |uid| {
        let Parts { time, sequence, .. } = uids.layout().parts(uid);
        uids.layout().tick_at(time).unwrap() * 8192 + sequence
    };
    let first = number(uids.take_n(1_000_000).next().unwrap().unwrap());
    let next = number(uids.take().unwrap());
    assert!((first + 1..=first + 4096).contains(&next), "{first}, then {next}");
}

#[test]
fn time_exhausted_take_n_ends_with_the_error() {
    let uids = at_the_end(1).build().unwrap();
    let mut batch = uids.take_n(5000);
    let taken: Vec<Uid> = batch.by_ref().map_while(Result::ok).collect();
    assert_gapless(&ending(), &taken);
    assert!(batch.next().is_none());
    assert_exhausted(uids.take_n(1).next().unwrap().unwrap_err());
}

#[test]
fn time_exhausted_fill_says_how_many_are_good() {
    for (before, length) in [(0, 1025), (0, 5000), (1000, 25), (1000, 1024), (1024, 1)] {
        let uids = at_the_end(1).build().unwrap();
        let taken = take_many(&uids, before);
        let mut buffer = vec![Uid::MAX; length];
        let error = uids.fill(&mut buffer).unwrap_err();
        assert_eq!(error.filled(), 1024 - before);
        assert_exhausted(error.cause());
        assert_exhausted(TakeError::from(error));
        assert_eq!(
            error.to_string(),
            match 1024 - before {
                1 => "the buffer holds 1 new UID and no more".to_owned(),
                new => format!("the buffer holds {new} new UIDs and no more"),
            }
        );
        assert_eq!(error.source().unwrap().to_string(), error.cause().to_string());
        let (new, untouched) = buffer.split_at(error.filled());
        assert_gapless(&ending(), &[&taken, new].concat());
        assert!(untouched.iter().all(|&uid| uid == Uid::MAX));
    }
    // To the last UID, and not beyond.
    let uids = at_the_end(1).build().unwrap();
    let mut buffer = vec![Uid::MIN; 1024];
    uids.fill(&mut buffer).unwrap();
    assert_gapless(&ending(), &buffer);
    uids.fill(&mut []).unwrap();
    assert_exhausted(uids.take().unwrap_err());
}

#[test]
fn time_exhausted_local_takers_hand_out_their_run_first() {
    let uids = at_the_end(1).build().unwrap();
    let mut locals = [uids.local().with_claim_length(1000), uids.local()];
    let mut taken = Vec::new();
    for local in &mut locals {
        let error = loop {
            match local.take() {
                Ok(uid) => taken.push(uid),
                Err(error) => break error,
            }
        };
        assert_exhausted(error);
        assert_eq!(local.take(), Err(error));
    }
    assert_gapless(&ending(), &taken);
    assert_eq!(taken.len(), 1024);
}

/// However fast takers empty the ring, and however late the filler comes: the lead is not used up
/// by that.
#[test]
fn ordered_for_as_long_as_there_is_lead_the_worker_id_stays() {
    let asked = Arc::new(AtomicUsize::new(0));
    let registry = Counting { asked: Arc::clone(&asked), dropped: Arc::default() };
    let uids = builder(short_blocks(1)).registry(registry).slots(2).build().unwrap();
    assert!(take_many(&uids, size(20_000_000, 2_000_000)).is_sorted_by(|a, b| a < b));
    assert_eq!((uids.status().new_workers, uids.worker_id()), (0, WORKER));
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[test]
fn never_blocked_a_take_reads_no_clock_and_asks_no_registry() {
    /// Tells of calls from any thread but the filler's, once it is armed.
    #[derive(Clone, Default)]
    struct Watch {
        armed: Arc<AtomicBool>,
        seen: Arc<AtomicUsize>,
    }
    impl Watch {
        fn look(&self) {
            let filler = thread::current().name().is_some_and(|name| name == "uidring-filler");
            if self.armed.load(Ordering::Relaxed) && !filler {
                self.seen.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
    impl Clock for Watch {
        fn now(&self) -> SystemTime {
            self.look();
            Layout::DEFAULT.epoch() + NOW
        }
    }
    impl WorkerRegistry for Watch {
        fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
            self.look();
            Ok(Lease::permanent(WORKER, &request.layout))
        }
    }

    let watch = Watch::default();
    let uids =
        builder(short_blocks(4)).clock(watch.clone()).registry(watch.clone()).build().unwrap();
    watch.armed.store(true, Ordering::Relaxed);
    take_many(&uids, 500_000);
    uids.fill(&mut vec![Uid::MIN; 500_000]).unwrap();
    let mut local = uids.local();
    for _ in 0..500_000 {
        local.take().unwrap();
    }
    assert_eq!(watch.seen.load(Ordering::Relaxed), 0);
    watch.look();
    assert_eq!(watch.seen.load(Ordering::Relaxed), 1, "it does see");
}
