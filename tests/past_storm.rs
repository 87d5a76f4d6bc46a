//! A storm over ids of the past: processes take ids of the same seconds at once, of that of now
//! among them, while they are killed, stopped, woken again and ended, beside generators of the
//! present that recycle leased worker ids; servers crash and start again, hang, and lose their
//! connections. No id may come twice, each has the tick that was asked for, and those of a tick
//! ascend within a process.
//!
//! ```sh
//! UIDRING_STORM_SEED=1 UIDRING_STORM_SECONDS=60 \
//!     cargo test --release --all-features --test past_storm -- --ignored --nocapture storm
//! ```
#![cfg(all(target_os = "linux", feature = "sqlite", feature = "postgres", feature = "mysql"))]
#![allow(missing_docs, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "common/databases/mod.rs"]
mod databases;
#[path = "common/takers.rs"]
mod takers;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};
use std::{env, thread};

use databases::{OwnServer, Server};
use takers::{BadServer, Taker, disturb, number, storm_seconds, until_shown};
use uidring::{
    BuildError, Builder, Layout, PastGenerator, RegistryError, RegistryOptions, StorageError,
    Store, TakeTimesError, Uid, UidGenerator,
};

const DATABASE: &str = "UIDRING_STORM_DATABASE";
const OUT: &str = "UIDRING_STORM_OUT";
/// Which of the roles a child has.
const ROLE: &str = "UIDRING_STORM_ROLE";
const PROCESSES: usize = 8;
const LEASE: Duration = Duration::from_secs(1);
const TIMEOUT: Duration = Duration::from_secs(2);
/// Of so many seconds ids are taken, beside that of now.
const SECONDS: u64 = 8;
/// In place of the tick that was asked for, where none was.
const NONE: u64 = u64::MAX;

/// 256 ids of a second and worker id, so that further worker ids are needed all the time.
fn layout() -> Layout {
    Layout::new(30, 24, 8).unwrap()
}

/// What a child takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Past,
    /// The same, but it first asks a registry that leases, which has to refuse.
    PastOfLeases,
    PresentOfLeases,
    Present,
}

impl Role {
    fn in_place(place: usize) -> Role {
        match place {
            0..=2 => Role::Past,
            3..=4 => Role::PastOfLeases,
            5..=6 => Role::PresentOfLeases,
            _ => Role::Present,
        }
    }

    fn is_past(self) -> bool {
        matches!(self, Role::Past | Role::PastOfLeases)
    }
}

/// Takes until its standard input ends, and writes pairs: the tick that was asked for, and the UID.
#[test]
#[ignore = "a child process of the storm"]
fn child() {
    let (Ok(database), Ok(out)) = (env::var(DATABASE), env::var(OUT)) else { return };
    let role = Role::in_place(env::var(ROLE).unwrap().parse().unwrap());
    let mut out = File::create(out).unwrap();
    let stop = AtomicBool::new(false);
    let store = Store::open(&database).unwrap().with_timeout(TIMEOUT);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut word = [0];
            while std::io::stdin().read(&mut word).is_ok_and(|read| read == 1) {}
            stop.store(true, Ordering::Relaxed);
        });
        let is_over = || stop.load(Ordering::Relaxed);
        if role.is_past() {
            take_past(&store, role, &mut out, is_over);
        } else {
            take_present(&store, role, &mut out, is_over);
        }
    });
}

/// What builds a generator on the store. `None` where the store is away for long.
fn builder(store: &Store, is_leased: bool) -> Option<Builder> {
    let options = RegistryOptions::new();
    let options = if is_leased { options.leased(LEASE) } else { options };
    match store.registry_with(options) {
        // A process that was stopped in the middle of a transaction keeps the others out of a file.
        Err(RegistryError::Storage(StorageError::Locked { .. })) => None,
        opened => {
            let builder = UidGenerator::builder().registry(opened.unwrap()).layout(layout());
            Some(builder.max_new_workers(u32::MAX))
        }
    }
}

/// `None` where the store is away for long, or crashed in the middle of an answer.
fn built<T>(built: Result<T, BuildError>) -> Option<T> {
    match built {
        Err(
            BuildError::StartDeadline { .. }
            | BuildError::Registry(RegistryError::Storage(StorageError::Failed { .. })),
        ) => None,
        built => Some(built.unwrap()),
    }
}

/// The generator of the past of this role, and whether it is the one that had to be refused.
fn past_of(store: &Store, role: Role) -> Option<(PastGenerator, bool)> {
    if role == Role::PastOfLeases {
        match builder(store, true)?.build_past() {
            Err(BuildError::NotForThePast { is_leased: true, .. }) => {}
            other => return Some((built(other)?, true)),
        }
    }
    Some((built(builder(store, false)?.build_past())?, false))
}

fn take_past(store: &Store, role: Role, out: &mut File, is_over: impl Fn() -> bool) {
    let Some((past, is_leased)) = past_of(store, role) else { return };
    let mut rng = fastrand::Rng::new();
    while !is_over() {
        let now = SystemTime::now();
        let time = |rng: &mut fastrand::Rng| match rng.u64(0..=SECONDS) {
            0 => now,
            second => layout().epoch() + Duration::from_secs(second * 1000),
        };
        let times: Vec<SystemTime> = (0..200).map(|_| time(&mut rng)).collect();
        let uids = match past.take_times(&times) {
            Ok(uids) => uids,
            // What it has taken is in the account, which shows why it should not have been there.
            Err(_) if is_leased => return,
            Err(TakeTimesError { cause, .. }) => {
                assert!(cause.is_transient(), "{cause}");
                thread::sleep(Duration::from_millis(10));
                continue;
            }
        };
        let ticks = times.iter().map(|time| layout().tick_at(*time).unwrap());
        write(out, ticks.zip(uids));
        thread::sleep(Duration::from_millis(1));
    }
}

fn take_present(store: &Store, role: Role, out: &mut File, is_over: impl Fn() -> bool) {
    let is_leased = role == Role::PresentOfLeases;
    let Some(builder) = builder(store, is_leased) else { return };
    let Some(uids) = built(builder.build()) else { return };
    let mut buffer = [Uid::MIN; 20];
    while !is_over() {
        let good = uids.fill(&mut buffer).map_or_else(|error| error.filled(), |()| buffer.len());
        write(out, buffer[..good].iter().map(|uid| (NONE, *uid)));
        // About as many as a second has, so that it is not far ahead of the clock.
        thread::sleep(Duration::from_millis(50));
    }
}

/// In one call, so that a kill leaves at most one pair half-written.
fn write(out: &mut File, pairs: impl Iterator<Item = (u64, Uid)>) {
    let bytes: Vec<u8> =
        pairs.flat_map(|(tick, uid)| [tick, uid.get()]).flat_map(u64::to_le_bytes).collect();
    out.write_all(&bytes).unwrap();
}

/// The pairs that a process has written.
fn read(path: &Path) -> Vec<(u64, Uid)> {
    let bytes = fs::read(path).unwrap_or_default();
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
    let pairs = bytes.chunks_exact(16).map(|pair| (number(&pair[..8]), number(&pair[8..])));
    pairs.map(|(tick, uid)| (tick, Uid::try_from(uid).unwrap())).collect()
}

#[test]
#[ignore = "takes seconds to minutes"]
fn storm_sqlite() {
    storm(None);
}

#[test]
#[ignore = "takes seconds to minutes; needs PostgreSQL's server"]
fn storm_postgres() {
    storm(Some(BadServer::new(OwnServer::start(Server::Postgres))));
}

#[test]
#[ignore = "takes seconds to minutes; needs MariaDB's server"]
fn storm_mysql() {
    storm(Some(BadServer::new(OwnServer::start(Server::MySql))));
}

fn storm(mut server: Option<BadServer>) {
    until_shown(|seconds| storm_for(seconds, server.as_mut()));
}

/// Returns whether enough has happened.
fn storm_for(seconds: u64, server: Option<&mut BadServer>) -> bool {
    let seed = number("UIDRING_STORM_SEED", 1);
    let mut rng = fastrand::Rng::with_seed(seed);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("uidring.db");
    let database =
        server.as_ref().map_or_else(|| file.to_str().unwrap().to_owned(), |bad| bad.server.url());
    let out = |number: usize| dir.path().join(format!("{number}.pairs"));
    let counts = disturb(seconds, &mut rng, server, (PROCESSES, PROCESSES), |number, place| {
        Taker::start(number, |command| {
            command.env(DATABASE, &database).env(ROLE, place.to_string()).env(OUT, out(number));
        })
    });
    let pairs: Vec<Vec<(u64, Uid)>> =
        (1..=counts.started).map(|number| read(&out(number))).collect();
    for of_one in &pairs {
        check_times(of_one);
    }
    check_unique(&pairs, seed);
    let shown = Shown::of(&pairs);
    println!("seed {seed}: none twice; {shown:?}; {counts:?}");
    shown.is_enough() && counts.killed > 0 && counts.paused > 0 && counts.ended > 0
}

/// Each UID of one process has the tick that was asked for, and those of a tick ascend.
fn check_times(of_one: &[(u64, Uid)]) {
    let mut last: BTreeMap<u64, Uid> = BTreeMap::new();
    for &(tick, uid) in of_one.iter().filter(|(tick, _)| *tick != NONE) {
        let time = layout().parts(uid).time;
        assert_eq!(layout().tick_at(time), Some(tick), "{uid} has not the time asked for");
        let before = last.insert(tick, uid);
        assert!(before.is_none_or(|before| before < uid), "{uid} is not above {before:?}");
    }
}

fn check_unique(pairs: &[Vec<(u64, Uid)>], seed: u64) {
    let of_one = |(at, of_one)| {
        let number: usize = at;
        let pairs: &Vec<(u64, Uid)> = of_one;
        pairs.iter().map(move |(tick, uid)| (*uid, number + 1, *tick == NONE))
    };
    let mut all: Vec<(Uid, usize, bool)> = pairs.iter().enumerate().flat_map(of_one).collect();
    all.sort_unstable();
    for pair in all.windows(2) {
        let parts = layout().parts(pair[0].0);
        assert!(
            pair[0].0 != pair[1].0,
            "{} came twice; seed {seed}; {parts:?}; UID, process, whether of the present: {pair:?}",
            pair[0].0
        );
    }
}

#[derive(Debug, Default)]
struct Shown {
    past: usize,
    present: usize,
    workers: usize,
    /// The fewest processes that took ids of one of the seconds.
    processes: usize,
    /// The ids that a generator of the past took of a second in which one of the present did.
    beside_present: usize,
}

impl Shown {
    fn of(pairs: &[Vec<(u64, Uid)>]) -> Shown {
        let tick = |uid: Uid| layout().tick_at(layout().parts(uid).time).unwrap();
        let all = || pairs.iter().flatten();
        let present: BTreeSet<u64> =
            all().filter(|(asked, _)| *asked == NONE).map(|(_, uid)| tick(*uid)).collect();
        let takers = |second: u64| {
            let took = |of_one: &&Vec<(u64, Uid)>| of_one.iter().any(|(at, _)| *at == second);
            pairs.iter().filter(took).count()
        };
        Shown {
            past: all().filter(|(asked, _)| *asked != NONE).count(),
            present: all().filter(|(asked, _)| *asked == NONE).count(),
            workers: all()
                .map(|(_, uid)| layout().parts(*uid).worker)
                .collect::<BTreeSet<_>>()
                .len(),
            processes: (1..=SECONDS).map(|second| takers(second * 1000)).min().unwrap_or(0),
            beside_present: all().filter(|(asked, _)| present.contains(asked)).count(),
        }
    }

    fn is_enough(&self) -> bool {
        let seconds = usize::try_from(storm_seconds()).unwrap();
        self.past > 2000 * seconds
            && self.present > 20 * seconds
            && self.workers > 50
            && self.processes >= 5
            && self.beside_present > 0
    }
}
