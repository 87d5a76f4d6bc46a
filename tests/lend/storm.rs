//! Holders that are killed, stand still beyond their lease, return ids, and have clocks that go
//! wrong, on a store that is away now and then. Each ends by its own clock.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use uidring::Store;
use uidring::lend::{LendError, LoanRequest, WorkerPool};

use crate::folder::folder;

const LEASE: Duration = Duration::from_secs(1);
/// Longer than any two clocks differ.
const REST: Duration = Duration::from_secs(1);
const LENGTH: Duration = Duration::from_secs(20);

fn ms(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// Who has used an id, in their order, and the last tick that each used.
type Uses = BTreeMap<u64, Vec<(u64, SystemTime)>>;

#[derive(Default)]
struct Storm {
    uses: Mutex<Uses>,
    loans: AtomicU64,
    losses: AtomicU64,
    is_over: AtomicBool,
}

impl Storm {
    /// The holder makes an id, if its lease lasts, of the tick that its clock shows.
    fn makes(&self, id: u64, holder: u64, until: Instant, clock: SystemTime) -> bool {
        let mut uses = self.uses.lock().unwrap();
        if Instant::now() >= until {
            return false;
        }
        let holders = uses.entry(id).or_default();
        match holders.iter().position(|(known, _)| *known == holder) {
            Some(at) => assert_eq!(at + 1, holders.len(), "{id} has two holders at once"),
            None => holders.push((holder, clock)),
        }
        let earlier = holders[..holders.len() - 1].iter().map(|(_, last)| *last).max();
        assert!(earlier.is_none_or(|last| last < clock), "{id} makes a tick again");
        let last = &mut holders.last_mut().unwrap().1;
        *last = clock.max(*last);
        true
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// One process after the other, which ends in one way or another.
    fn run(&self, pool: &WorkerPool, random: &mut fastrand::Rng) {
        while !self.is_over() {
            // Ahead of this machine's clock, or behind it.
            let ahead = ms(random.u64(0..900));
            self.live(pool, random, ahead);
        }
    }

    fn live(&self, pool: &WorkerPool, random: &mut fastrand::Rng, mut ahead: Duration) {
        let asked = Instant::now();
        let first = SystemTime::now() + ahead;
        let request = LoanRequest { lease: LEASE, rest: REST, clock: first, ..LoanRequest::new() };
        let Ok(grant) = pool.grant(&request) else { return thread::sleep(ms(20)) };
        let holder = self.loans.fetch_add(1, Ordering::Relaxed);
        let (mut until, mut renewed) = (asked + LEASE, asked);
        let life = ms(random.u64(0..4000));
        while asked.elapsed() < life && !self.is_over() {
            // A generator refuses a clock that has gone back, and waits.
            let clock = SystemTime::now() + ahead;
            if clock >= first && !self.makes(grant.id, holder, until, clock) {
                self.losses.fetch_add(1, Ordering::Relaxed);
                return;
            }
            match random.u32(0..200) {
                // It stands still, beyond the lease or not.
                0 => thread::sleep(ms(random.u64(0..3000))),
                // Its clock is set back.
                1 => ahead /= 2,
                _ => thread::sleep(ms(5)),
            }
            if renewed.elapsed() > LEASE / 3 {
                renewed = Instant::now();
                match pool.renew(grant.id, &grant.secret, SystemTime::now() + ahead) {
                    Ok(()) => until = renewed + LEASE,
                    Err(LendError::Lost { .. }) => return,
                    Err(_) => {}
                }
            }
        }
        if random.bool() {
            // Where that fails, it is as if it was killed.
            let _ = pool.give_back(grant.id, &grant.secret, SystemTime::now() + ahead);
        }
    }

    /// The file is away for a while, now and then.
    fn take_away(&self, file: &Path, random: &mut fastrand::Rng) {
        let away = file.with_extension("away");
        while !self.is_over() {
            thread::sleep(ms(random.u64(500..2500)));
            fs::rename(file, &away).unwrap();
            thread::sleep(ms(random.u64(50..900)));
            fs::rename(&away, file).unwrap();
        }
    }
}

#[test]
fn no_id_has_two_holders_in_a_storm() {
    let folder = folder();
    let file = folder.path().join("uidring.db");
    let pool = Store::open(&file).unwrap().worker_pool("storm", 3).unwrap();
    let (storm, seed) = (Storm::default(), fastrand::u64(..));
    println!("seed {seed}");
    thread::scope(|scope| {
        let (storm, pool) = (&storm, &pool);
        let holders: Vec<_> = (0..12)
            .map(|number| {
                scope.spawn(move || {
                    storm.run(pool, &mut fastrand::Rng::with_seed(seed.wrapping_add(number)));
                })
            })
            .collect();
        let file = &file;
        scope.spawn(move || storm.take_away(file, &mut fastrand::Rng::with_seed(seed)));
        let since = Instant::now();
        while since.elapsed() < LENGTH && !holders.iter().any(thread::ScopedJoinHandle::is_finished)
        {
            thread::sleep(ms(50));
        }
        storm.is_over.store(true, Ordering::Relaxed);
    });
    let uses = storm.uses.into_inner().unwrap();
    let again = uses.values().filter(|holders| holders.len() > 1).count();
    let (loans, losses) = (storm.loans.into_inner(), storm.losses.into_inner());
    println!("{loans} loans, {losses} lost, {again} ids of {} had several holders", uses.len());
    assert!(uses.keys().copied().collect::<BTreeSet<_>>() == (1..=7).collect());
    assert!(loans >= 20 && losses > 0 && again >= 5, "it has shown nothing");
}
