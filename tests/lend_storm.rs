//! Holders that are killed, stand still beyond their lease, return ids, and have clocks that go
//! wrong, on a store that is away now and then. Each ends by its own clock. No id may have two
//! holders at once, and none may make a tick again.
//!
//! ```sh
//! UIDRING_STORM_SEED=1 UIDRING_STORM_SECONDS=60 \
//!     cargo test --all-features --test lend_storm -- --ignored --nocapture storm
//! ```
#![cfg(target_os = "linux")]
#![allow(missing_docs, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "common/bad_key_servers.rs"]
mod bad_key_servers;
#[path = "common/databases/mod.rs"]
mod databases;
#[path = "common/key_servers/mod.rs"]
mod key_servers;
#[path = "common/takers.rs"]
mod takers;

use std::collections::BTreeMap;
use std::fs;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use bad_key_servers::{BadEtcd, BadZooKeeper};
use databases::{OwnServer, Server};
use key_servers::redis::OwnRedis;
use takers::{BadServer, Fragile, number, until_shown};
use uidring::Store;
use uidring::lend::{LendError, LoanRequest, WorkerPool};

const HOLDERS: u64 = 24;
const BITS: u32 = 4;
/// The ids of a pool of this width.
const IDS: RangeInclusive<u64> = 1..=15;
const LEASE: Duration = Duration::from_secs(1);
const REST: Duration = Duration::from_secs(1);
const TIMEOUT: Duration = Duration::from_secs(2);
/// By how many milliseconds clocks differ: by more than lease and rest together.
const SKEW: u64 = 3000;

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
    /// Why the last id that was asked for was not lent.
    last_refusal: Mutex<Option<LendError>>,
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
            // How far its clock is ahead of this machine's.
            let ahead = ms(random.u64(0..SKEW));
            self.live(pool, random, ahead);
            // With too few ids, only those whose clocks are ahead get one. Then no clock is ahead
            // of a holder's, and the rule of clocks hides a breach of lease and rest.
            thread::sleep(ms(random.u64(0..4000)));
        }
    }

    fn live(&self, pool: &WorkerPool, random: &mut fastrand::Rng, mut ahead: Duration) {
        let asked = Instant::now();
        let first = SystemTime::now() + ahead;
        let request = LoanRequest { lease: LEASE, rest: REST, clock: first, ..LoanRequest::new() };
        let grant = match pool.grant(&request) {
            Ok(grant) => grant,
            Err(error) => {
                *self.last_refusal.lock().unwrap() = Some(error);
                return thread::sleep(ms(20));
            }
        };
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
                // Its clock is set back, which some do not survive.
                1..=4 => {
                    ahead /= 4;
                    if random.bool() {
                        break;
                    }
                }
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
}

/// A file that is away for a while, now and then.
struct BadFile {
    file: PathBuf,
    away: PathBuf,
    moves_at: Instant,
}

impl BadFile {
    fn new(file: PathBuf) -> BadFile {
        let away = file.with_extension("away");
        BadFile { file, away, moves_at: Instant::now() }
    }

    fn maybe_disturb(&mut self, random: &mut fastrand::Rng) {
        if Instant::now() < self.moves_at {
            return;
        }
        let is_away = self.away.exists();
        let (from, to) = if is_away { (&self.away, &self.file) } else { (&self.file, &self.away) };
        fs::rename(from, to).unwrap();
        let pause = if is_away { random.u64(500..2500) } else { random.u64(50..900) };
        self.moves_at = Instant::now() + ms(pause);
    }

    fn put_back(&mut self) {
        if self.away.exists() {
            fs::rename(&self.away, &self.file).unwrap();
        }
    }
}

#[test]
#[ignore = "takes seconds to minutes"]
fn storm_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("uidring.db");
    let (store, mut bad) = (Store::open(&file).unwrap(), BadFile::new(file));
    until_shown(|seconds| {
        let is_enough = storm(seconds, &store, |random| bad.maybe_disturb(random));
        bad.put_back();
        is_enough
    });
}

#[test]
#[ignore = "takes seconds to minutes; needs PostgreSQL's server"]
fn storm_postgres() {
    storm_on(OwnServer::start(Server::Postgres));
}

#[test]
#[ignore = "takes seconds to minutes; needs MariaDB's server"]
fn storm_mysql() {
    storm_on(OwnServer::start(Server::MySql));
}

#[test]
#[ignore = "takes seconds to minutes; needs etcd's server"]
fn storm_etcd() {
    storm_on(BadEtcd::start());
}

#[test]
#[ignore = "takes seconds to minutes; needs ZooKeeper"]
fn storm_zookeeper() {
    storm_on(BadZooKeeper::start());
}

#[test]
#[ignore = "takes seconds to minutes; needs Redis' server"]
fn storm_redis() {
    storm_on(OwnRedis::start(""));
}

/// On a server that crashes and starts again, hangs, and loses its connections.
fn storm_on(server: impl Fragile + 'static) {
    let mut bad = BadServer::new(server);
    let store = Store::open(bad.server.url()).unwrap();
    // MySQL makes one table after the other. A server that crashes meanwhile, or is given little
    // time, is left with some of them, and says what to run.
    let patient = store.clone().with_timeout(Duration::from_secs(60));
    patient.worker_pool("first", 1).unwrap().grant(&LoanRequest::new()).unwrap();
    let store = store.with_timeout(TIMEOUT);
    until_shown(|seconds| {
        let is_enough = storm(seconds, &store, |random| bad.maybe_disturb(random));
        bad.resume();
        is_enough
    });
}

/// A storm in which `disturb` does what is bad for the database. Returns whether enough has
/// happened.
fn storm(seconds: u64, database: &Store, mut disturb: impl FnMut(&mut fastrand::Rng)) -> bool {
    let name = format!("storm-{seconds}");
    let pool = database.worker_pool(&name, BITS).unwrap();
    let storm = Storm::default();
    let seed = number("UIDRING_STORM_SEED", fastrand::u64(..));
    println!("seed {seed}");
    thread::scope(|scope| {
        let (storm, pool) = (&storm, &pool);
        let holders: Vec<_> = (0..HOLDERS)
            .map(|number| {
                scope.spawn(move || {
                    storm.run(pool, &mut fastrand::Rng::with_seed(seed.wrapping_add(number)));
                })
            })
            .collect();
        let (since, mut random) = (Instant::now(), fastrand::Rng::with_seed(seed));
        while since.elapsed() < Duration::from_secs(seconds)
            && !holders.iter().any(thread::ScopedJoinHandle::is_finished)
        {
            thread::sleep(ms(50));
            disturb(&mut random);
        }
        storm.is_over.store(true, Ordering::Relaxed);
    });
    let uses = storm.uses.into_inner().unwrap();
    let again = uses.values().filter(|holders| holders.len() > 1).count();
    let (loans, losses) = (storm.loans.into_inner(), storm.losses.into_inner());
    println!("{loans} loans, {losses} lost, {again} ids of {} had several holders", uses.len());
    if let Some(error) = storm.last_refusal.into_inner().unwrap() {
        println!("the last refusal: {error}");
    }
    assert!(uses.keys().all(|id| IDS.contains(id)), "{uses:?}");
    let is_each_used = uses.keys().copied().eq(IDS);
    is_each_used && loans >= 40 && losses > 0 && again >= 10
}
