//! A generator and ten tags for ten years of simulated time, in one process.

use std::env;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use shuttle::rand::{Rng, thread_rng};
use uidring::clock::Clock;
use uidring::segment::{SegmentGenerator, Segments};
use uidring::{LeadLimit, Status, TakeError, Uid, UidGenerator};
use uidring_shuttle_tests::registry::{Fault, Registry, RegistryConfig, Rows};
use uidring_shuttle_tests::source::{Row, Source};
use uidring_shuttle_tests::{DAY, MS, SECOND, World, explore_once, is_one_of, linger};

/// There is one round of takes in so much time.
const ROUND: Duration = DAY;
const ROUNDS_A_YEAR: u32 = 365;
const TERMS: RegistryConfig = RegistryConfig { duration: SECOND.saturating_mul(30), ticks: 30 };
const MAX_LEAD: Duration = SECOND.saturating_mul(10);
/// Steps of a thread while others take what the lead allows, and more.
const BURST: u32 = 3000;
const FAULTS: &[Fault] = &[Fault::Slow, Fault::Stuck, Fault::Away, Fault::AnswerLost];
const OUTAGES: u32 = 1000;
/// What the ring and ten tags hold at most, however long it takes. A row gives 20 numbers, or four
/// times as many as it gave before.
const LARGEST: u64 = 2000;

/// What a round is about.
struct Soak {
    world: World,
    uids: UidGenerator,
    tags: Vec<SegmentGenerator>,
    rows: Rows,
    lead: Arc<Mutex<Lead>>,
}

/// How far UIDs are ahead of the clock.
#[derive(Default)]
struct Lead {
    /// The furthest that a UID was ahead of what it may be ahead of.
    furthest: Duration,
    /// The furthest that a UID was ahead of the clock, which had been set back.
    after_step: Duration,
}

impl Lead {
    /// Checks a UID of `time`, which has been taken. The clock is later by now, if anything. Until
    /// the filler follows a clock that was set back, UIDs are those of the time before: `latest` is
    /// that time, or the clock's.
    fn check(&mut self, time: SystemTime, now: SystemTime, latest: SystemTime) {
        assert!(time <= latest + MAX_LEAD, "{time:?} is too far ahead of {now:?}, {latest:?}");
        let ahead = |of| time.duration_since(of).unwrap_or_default();
        self.furthest = self.furthest.max(ahead(latest));
        self.after_step = self.after_step.max(ahead(now));
    }
}

#[test]
#[ignore = "needs ten simulated years: `verify/shuttle/run ten_years --ignored`"]
fn ten_years() {
    explore_once("ten_years", || {
        let years = env::var("UIDRING_SOAK_YEARS").map_or(10, |text| text.parse().unwrap());
        let (mut soak, segments) = start();
        // What is in memory after each year.
        let mut sizes = Vec::new();
        for round in 1..=years * ROUNDS_A_YEAR {
            let is_set_back = soak.move_clock(round);
            soak.round(is_set_back);
            if round % ROUNDS_A_YEAR == 0 {
                sizes.push(soak.size());
            }
        }
        assert!(sizes.iter().all(|size| *size <= LARGEST), "after each year: {sizes:?}");
        let (ids, lost) = (soak.world.history.count(), soak.rows.lock().lost);
        let Status { new_workers, clock_steps, waits, .. } = soak.uids.status();
        eprintln!(
            "{years} years: {ids} ids, {lost} lost leases, {new_workers} new worker ids, \
             {clock_steps} clock steps, {waits} waits, in memory after each year {sizes:?}"
        );
        assert!(lost > 0 && new_workers > 0 && clock_steps > 0 && waits > 0, "nothing happens");
        let Lead { furthest, after_step } = *lock(&soak.lead);
        assert!(furthest + SECOND > MAX_LEAD, "the lead is never used up: {furthest:?}");
        assert!(after_step > MAX_LEAD, "the clock goes back unseen: {after_step:?}");
        soak.end(segments);
    });
}

fn start() -> (Soak, Segments) {
    let (world, rows, row) = (World::new(), Rows::default(), Row::new(20));
    let starting = {
        let rows = rows.clone();
        world.spawn(move |world| {
            let mut faults = FAULTS.to_vec();
            faults.push(Fault::Lost);
            let registry = Registry::with_faults(&rows, TERMS, faults.leak(), OUTAGES);
            // Ready ranges of several blocks.
            let builder = world.builder().slots(16).registry(registry).start_deadline(DAY);
            let builder = builder.max_lead(MAX_LEAD).on_lead_limit(LeadLimit::Wait);
            let source = Source::with_faults(&row, FAULTS, OUTAGES);
            let segments = Segments::builder().source(source).shutdown_deadline(DAY);
            (builder.build().unwrap(), segments.build().unwrap())
        })
    };
    world.pass_until_all_end(|_| ());
    let (uids, segments) = starting.join().unwrap();
    let opening = {
        let segments = segments.clone();
        let open = move |number: u32| loop {
            if let Ok(tag) = segments.tag(&format!("tag {number}")) {
                return tag;
            }
        };
        world.spawn(move |_| (0..10).map(open).collect::<Vec<_>>())
    };
    world.pass_until_all_end(|_| ());
    let tags = opening.join().unwrap();
    (Soak { world, uids, tags, rows, lead: Arc::default() }, segments)
}

impl Soak {
    /// A day passes. The clock shows a leap second twice a year, and is set now and then.
    /// Returns whether it was set back.
    fn move_clock(&self, round: u32) -> bool {
        self.world.pass(ROUND);
        // When the clock is set, there are UIDs of the day in the ring.
        self.world.pass_while(|world| self.uids.status().newest < world.clock.now());
        let back = if round.is_multiple_of(ROUNDS_A_YEAR / 2) {
            SECOND
        } else if is_one_of(10) {
            MS * thread_rng().gen_range(1..50_000)
        } else {
            if is_one_of(10) {
                self.world.clock.advance(MS * thread_rng().gen_range(1..3_600_000));
            }
            return false;
        };
        self.world.set_back(back);
        // Now and then the filler follows it before anybody takes.
        if is_one_of(2) {
            self.world.pass_until_followed();
        }
        true
    }

    /// Two threads take UIDs and numbers of all tags.
    fn round(&mut self, is_set_back: bool) {
        // Now and then more than the lead allows, and more than is reserved.
        let is_burst = is_one_of(if is_set_back { 2 } else { 20 });
        let threads = ["one", "another"].map(|who| {
            let (uids, tags, rows) = (self.uids.clone(), self.tags.clone(), self.rows.clone());
            let lead = Arc::clone(&self.lead);
            self.world.spawn(move |world| {
                let mut taken = world.history.of(who);
                let count = if is_burst { 300 } else { 6 };
                for _ in 0..count {
                    let followed = world.followed();
                    let uid: Uid = until_there_is_one(|| uids.take());
                    let parts = world.layout.parts(uid);
                    taken.add(parts.worker, uid);
                    let (now, latest) = (world.clock.now(), world.latest(followed));
                    lock(&lead).check(parts.time, now, latest);
                    let tick = world.layout.tick_at(parts.time).unwrap();
                    assert!(tick <= rows.reserved_until(parts.worker), "{tick} is not reserved");
                }
                // The numbers are of one row, and have the top bit to tell them from UIDs.
                for tag in &tags {
                    let number = until_there_is_one(|| tag.take());
                    world.history.add(who, number.get() | 1 << 63);
                }
            })
        });
        // Time stands still until they have used up the lead, first of all and now and then.
        let mut is_first = true;
        self.world.pass_until_all_end(|_| {
            if is_burst && (std::mem::take(&mut is_first) || is_one_of(8)) {
                linger(BURST);
            }
        });
        for thread in threads {
            thread.join().unwrap();
        }
    }

    /// What the generator and the tags hold in memory.
    fn size(&self) -> u64 {
        let numbers: u64 = self.tags.iter().map(|tag| tag.status().in_memory).sum();
        numbers + self.uids.status().available
    }

    fn end(self, segments: Segments) {
        let Soak { world, uids, tags, .. } = self;
        drop(tags);
        let ending = world.spawn(move |_| {
            // They fail if the registry or the source is away just then.
            let _ = (uids.shutdown(), segments.shutdown());
        });
        world.pass_until_all_end(|_| ());
        ending.join().unwrap();
    }
}

/// The lock is from std, as that of the history. Nothing that shuttle sees is called while it is
/// held.
fn lock(lead: &Mutex<Lead>) -> MutexGuard<'_, Lead> {
    lead.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes until the registry, or the source, is back.
fn until_there_is_one<T>(take: impl Fn() -> Result<T, TakeError>) -> T {
    loop {
        match take() {
            Ok(id) => return id,
            Err(TakeError::LeaseExhausted { .. } | TakeError::SegmentExhausted { .. }) => {
                shuttle::thread::yield_now();
            }
            Err(error) => panic!("{error:?}"),
        }
    }
}
