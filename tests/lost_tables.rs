//! A storm over tables: generators with leased worker ids and takers of segments and of series go
//! on while their tables are renamed, dropped, made anew by hand and put back, one of them or all,
//! in any order. No id and no number comes twice, nothing is made in the place of a table that is
//! gone, and all go on when the old ones are back.
//!
//! Where all tables are gone, nobody can know that there were any: so nobody starts then. Those who
//! run already go on all the time.
//!
//! ```sh
//! UIDRING_STORM_SEED=1 UIDRING_STORM_SECONDS=300 \
//!     cargo test --release --all-features --test lost_tables -- --ignored --nocapture storm
//! ```
#![cfg(all(target_os = "linux", feature = "sqlite", feature = "postgres", feature = "mysql"))]
#![allow(missing_docs, clippy::expect_used, clippy::panic, clippy::unwrap_used)]

#[path = "common/databases/mod.rs"]
mod databases;
#[path = "common/takers.rs"]
mod takers;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use databases::{Database, Server, TABLES};
use takers::{number, storm_seconds, until_shown};
use uidring::segment::{Number, SegmentError, SegmentSource, Segments, Tag};
use uidring::series::{Date, Series, SeriesDefinition, SeriesError, SeriesGenerator, SeriesNumber};
use uidring::store::{StoreRegistry, StoreSegments};
use uidring::{RegistryError, RegistryOptions, Store, Uid, UidGenerator};

/// The shortest lease there is, so that each generator asks often.
const LEASE: Duration = Duration::from_secs(1);
const TIMEOUT: Duration = Duration::from_secs(2);
/// So many generators, and so many takers of segments and of series.
const TAKERS: usize = 3;

#[test]
#[ignore = "takes minutes"]
fn storm_sqlite() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("uidring.db");
    Store::open(&file).unwrap().segments().unwrap();
    storm(&Place::File(file));
}

#[test]
#[ignore = "takes minutes; needs a PostgreSQL server"]
fn storm_postgres() {
    storm(&Place::Server(Server::Postgres, Server::Postgres.database()));
}

#[test]
#[ignore = "takes minutes; needs a MySQL or MariaDB server"]
fn storm_mysql() {
    storm(&Place::Server(Server::MySql, Server::MySql.database()));
}

/// Where the tables are. Each is renamed by itself, because whoever has one may wait for another.
enum Place {
    File(PathBuf),
    Server(Server, Database),
}

impl Place {
    /// Each one is new, and knows nothing of what others have seen.
    fn store(&self) -> Store {
        let store = match self {
            Place::File(file) => Store::open_existing(file),
            Place::Server(_, database) => Store::open(&database.url),
        };
        store.unwrap().with_timeout(TIMEOUT)
    }

    fn registry(&self) -> Result<StoreRegistry, RegistryError> {
        self.store().registry_with(RegistryOptions::new().leased(LEASE))
    }

    fn source(&self) -> Result<StoreSegments, SegmentError> {
        self.store().segments()
    }

    /// Takes `tables` away. A file has all of them.
    fn take_away(&self, tables: &[&str]) {
        match self {
            Place::File(file) => rename(file, &away(file)),
            Place::Server(_, database) => {
                let each = |table: &&str| format!("ALTER TABLE {table} RENAME TO away_{table};");
                database.script(&tables.iter().map(each).collect::<String>());
            }
        }
    }

    /// Makes `tables` anew, as an operator might with the schema.
    fn make_anew(&self) {
        match self {
            Place::File(file) => drop(Store::open(file).unwrap().segments().unwrap()),
            Place::Server(Server::Postgres, database) => {
                drop(database.run(include_str!("../schema.postgres.sql")));
            }
            Place::Server(Server::MySql, database) => {
                drop(database.run(include_str!("../schema.mysql.sql")));
            }
        }
    }

    /// Puts `tables` back, in place of whatever stands there. Returns whether anything did.
    fn put_back(&self, tables: &[&str]) -> bool {
        match self {
            Place::File(file) => {
                let was_made = file.exists();
                rename(&away(file), file);
                was_made
            }
            Place::Server(_, database) => {
                let names = format!("'{}'", tables.join("', '"));
                let found = database.run(&format!(
                    "SELECT COUNT(*) FROM information_schema.tables \
                     WHERE table_schema = '{}' AND table_name IN ({names})",
                    database.name()
                ));
                let each = |table: &&str| {
                    format!(
                        "DROP TABLE IF EXISTS {table}; ALTER TABLE away_{table} RENAME TO {table};"
                    )
                };
                database.script(&tables.iter().map(each).collect::<String>());
                found != "0"
            }
        }
    }
}

fn orders_as_asked() -> SeriesDefinition {
    SeriesDefinition::new("{n}").unwrap().step(50)
}

/// A process's own series. Its scope rests now and then.
fn series_of(place: &Place) -> Result<(Series, SeriesGenerator), SeriesError> {
    let series = Series::builder().store(&place.store()).max_wait(Duration::from_millis(20));
    let series = series.rest(Duration::from_secs(1)).build()?;
    let orders = series.create("orders", orders_as_asked())?;
    Ok((series, orders))
}

fn away(file: &Path) -> PathBuf {
    file.with_extension("away")
}

/// Renames a file that nobody is in the middle of writing to.
fn rename(from: &Path, to: &Path) {
    let db = rusqlite::Connection::open(from).unwrap();
    db.busy_timeout(Duration::from_secs(60)).unwrap();
    db.execute_batch("BEGIN EXCLUSIVE").unwrap();
    fs::rename(from, to).unwrap();
    // Anything else would look for the journal by the old name.
    drop(db);
}

/// What has been taken: the first and the number of ids that follow one another.
type Runs = Mutex<Vec<(u64, u64)>>;

struct Storm<'a> {
    place: &'a Place,
    stop: AtomicBool,
    /// Held by those who start, and by whoever takes all tables away.
    starts: RwLock<()>,
    uids: Runs,
    numbers: Runs,
    of_series: Runs,
    started: AtomicU32,
    not_started: AtomicU32,
    failed: AtomicU32,
    gone: AtomicU32,
    anew: AtomicU32,
}

fn storm(place: &Place) {
    until_shown(|seconds| storm_for(seconds, place));
}

/// Returns whether enough has happened.
fn storm_for(seconds: u64, place: &Place) -> bool {
    let seed = number("UIDRING_STORM_SEED", 1);
    let storm = Storm {
        place,
        stop: AtomicBool::new(false),
        starts: RwLock::default(),
        uids: Runs::default(),
        numbers: Runs::default(),
        of_series: Runs::default(),
        started: AtomicU32::new(0),
        not_started: AtomicU32::new(0),
        failed: AtomicU32::new(0),
        gone: AtomicU32::new(0),
        anew: AtomicU32::new(0),
    };
    // The tables already exist.
    drop(UidGenerator::builder().registry(place.registry().unwrap()).build().unwrap());
    place.source().unwrap().create("orders", &Tag::new().step(100)).unwrap();
    drop(series_of(place).unwrap());
    let mut rng = fastrand::Rng::with_seed(seed);
    let [some, all, by_hand, made] = thread::scope(|scope| {
        for taker in 0..TAKERS {
            let rng = fastrand::Rng::with_seed(seed + taker as u64);
            let [a, b, c, d] = [(); 4].map(|()| rng.clone());
            let storm = &storm;
            scope.spawn(move || storm.generators(a));
            scope.spawn(move || storm.segments(b));
            scope.spawn(move || storm.sources(c));
            scope.spawn(move || storm.series(d));
        }
        let counts = storm.disturb(&mut rng, Duration::from_secs(seconds));
        storm.stop.store(true, Ordering::Relaxed);
        counts
    });
    let count = |counter: &AtomicU32| counter.load(Ordering::Relaxed);
    let started = [&storm.started, &storm.not_started].map(count);
    let failed = [&storm.failed, &storm.gone, &storm.anew].map(count);
    let uids = none_twice("UID", seed, storm.uids);
    let numbers = none_twice("number", seed, storm.numbers);
    let of_series = none_twice("number of a series", seed, storm.of_series);
    println!(
        "seed {seed}: {uids} UIDs, {numbers} numbers and {of_series} of a series, none twice; some \
         tables were away {some} times, all of them {all} times, {by_hand} of these with others \
         in their place; {made} tables were made by a process; {} starts, {} refused; {} failed \
         calls, {} as tables were gone, {} as others were there",
        started[0], started[1], failed[0], failed[1], failed[2]
    );
    assert_eq!(made, 0, "a process has made tables in the place of others, with seed {seed}");
    uids > 1000 * storm_seconds()
        && numbers > 100 * storm_seconds()
        && of_series > 10 * storm_seconds()
        && all > 0
        && by_hand > 0
        && (some > 0 || matches!(place, Place::File(_)))
        && started[0] > 0
        && failed.iter().all(|failed| *failed > 0)
}

/// Panics where one came twice. Returns how many there are.
fn none_twice(what: &str, seed: u64, runs: Runs) -> u64 {
    let mut runs = runs.into_inner().unwrap();
    runs.sort_unstable();
    let twice: u64 = runs
        .windows(2)
        .map(|two| (two[0].0 + two[0].1).saturating_sub(two[1].0).min(two[1].1))
        .sum();
    assert_eq!(twice, 0, "a {what} came twice, so many of them; seed {seed}");
    runs.iter().map(|run| run.1).sum()
}

impl Storm<'_> {
    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// A process of one's own, that starts.
    fn start<T, E>(&self, start: impl FnOnce() -> Result<T, E>) -> Option<T> {
        let result = {
            let _starts = self.starts.read().unwrap();
            start()
        };
        let counter = if result.is_ok() { &self.started } else { &self.not_started };
        counter.fetch_add(1, Ordering::Relaxed);
        if result.is_err() {
            thread::sleep(Duration::from_millis(20));
        }
        result.ok()
    }

    fn note_failure(&self, error: &impl Error) {
        self.failed.fetch_add(1, Ordering::Relaxed);
        let text = error.to_string();
        if ["gone", "no such file"].iter().any(|gone| text.contains(gone)) {
            self.gone.fetch_add(1, Ordering::Relaxed);
        } else if ["is not the one", "no tag", "no series"].iter().any(|new| text.contains(new)) {
            self.anew.fetch_add(1, Ordering::Relaxed);
        }
        thread::sleep(Duration::from_millis(5));
    }

    /// Generators, one after the other: each takes for a while and ends.
    fn generators(&self, mut rng: fastrand::Rng) {
        let mut buffer = [Uid::MIN; 100];
        while !self.is_over() {
            let start = || {
                let registry = self.place.registry().map_err(|_| ())?;
                let builder = UidGenerator::builder().registry(registry);
                builder.start_deadline(Duration::ZERO).build().map_err(|_| ())
            };
            let Some(uids) = self.start(start) else { continue };
            let (since, life) = (Instant::now(), Duration::from_millis(rng.u64(300..6000)));
            while since.elapsed() < life && !self.is_over() {
                let good = uids.fill(&mut buffer).map_or_else(|error| error.filled(), |()| 100);
                let runs = buffer[..good].chunk_by(|one, next| one.get() + 1 == next.get());
                let runs = runs.map(|run| (run[0].get(), run.len() as u64));
                self.uids.lock().unwrap().extend(runs);
                thread::sleep(Duration::from_millis(if good == 0 { 20 } else { 2 }));
            }
            if self.is_over() {
                goes_on("a generator", || uids.take().map_err(|error| error.to_string()));
            }
        }
    }

    /// Tags as programs have them.
    fn segments(&self, mut rng: fastrand::Rng) {
        while !self.is_over() {
            let start = || {
                let source = self.place.source()?;
                let segments = Segments::builder().source(source);
                let segments = segments.max_wait(Duration::from_millis(20)).build().unwrap();
                segments.create("orders", Tag::new()).map(|tag| (segments, tag))
            };
            let Some((segments, tag)) = self.start(start) else { continue };
            let (since, life) = (Instant::now(), Duration::from_millis(rng.u64(300..6000)));
            while since.elapsed() < life && !self.is_over() {
                let taken: Vec<u64> =
                    (0..50).map_while(|_| tag.take().ok().map(Number::get)).collect();
                let runs = taken.chunk_by(|one, next| one + 1 == *next);
                let runs = runs.map(|run| (run[0], run.len() as u64));
                self.numbers.lock().unwrap().extend(runs);
                thread::sleep(Duration::from_millis(2));
                // Many programs create their tags whenever they want one.
                if taken.len() < 50
                    && let Err(error) = segments.create("orders", Tag::new())
                {
                    self.note_failure(&error);
                }
            }
            if self.is_over() {
                goes_on("a tag", || tag.take().map_err(|error| error.to_string()));
            }
        }
    }

    /// Whole segments, as the service gives them to its clients.
    fn sources(&self, mut rng: fastrand::Rng) {
        while !self.is_over() {
            let start = || {
                let source = self.place.source()?;
                source.create("orders", &Tag::new())?;
                let segment = source.load("orders", None)?;
                self.numbers.lock().unwrap().push((segment.first, segment.count));
                Ok::<_, SegmentError>(source)
            };
            let Some(source) = self.start(start) else { continue };
            let (since, life) = (Instant::now(), Duration::from_millis(rng.u64(300..6000)));
            while since.elapsed() < life && !self.is_over() {
                match source.load("orders", Some(rng.u64(1..200))) {
                    Ok(segment) => {
                        self.numbers.lock().unwrap().push((segment.first, segment.count));
                        thread::sleep(Duration::from_millis(5));
                    }
                    Err(error) => self.note_failure(&error),
                }
            }
            if self.is_over() {
                goes_on("a source", || {
                    source.load("orders", None).map_err(|error| error.to_string())
                });
            }
        }
    }

    /// Series as programs have them, in all ways to take.
    fn series(&self, mut rng: fastrand::Rng) {
        // Any day is of the one period.
        let today: Date = "2026-11-24".parse().unwrap();
        while !self.is_over() {
            let start = || {
                let (series, orders) = series_of(self.place)?;
                let first = orders.take()?;
                self.of_series.lock().unwrap().push((first.value(), 1));
                Ok::<_, SeriesError>((series, orders))
            };
            let Some((series, orders)) = self.start(start) else { continue };
            let (since, life) = (Instant::now(), Duration::from_millis(rng.u64(300..6000)));
            while since.elapsed() < life && !self.is_over() {
                let count = rng.usize(1..60);
                let taken = match rng.u8(0..4) {
                    0 => orders.take_batch(count),
                    1 => orders.take_n_for(today, count as u64),
                    _ => orders.take_n(count).collect(),
                };
                match taken {
                    Ok(taken) => {
                        let numbers: Vec<u64> = taken.iter().map(SeriesNumber::value).collect();
                        let runs = numbers.chunk_by(|one, next| one + 1 == *next);
                        let runs = runs.map(|run| (run[0], run.len() as u64));
                        self.of_series.lock().unwrap().extend(runs);
                    }
                    Err(error) => self.note_failure(&error),
                }
                thread::sleep(Duration::from_millis(2));
                // Many programs create their series whenever they want one.
                if rng.u8(0..20) == 0
                    && let Err(error) = series.create("orders", orders_as_asked())
                {
                    self.note_failure(&error);
                }
            }
            if self.is_over() {
                goes_on("a series", || orders.take().map_err(|error| error.to_string()));
            }
        }
    }

    /// Takes tables away and puts them back for `time`. Returns how often some of them were away,
    /// how often all, how often others stood in their place then, and how many were made by nobody
    /// who was asked to.
    fn disturb(&self, rng: &mut fastrand::Rng, time: Duration) -> [u32; 4] {
        let [mut some, mut all, mut by_hand, mut made] = [0; 4];
        let since = Instant::now();
        let is_file = matches!(self.place, Place::File(_));
        for anew in [true, false, false].into_iter().cycle() {
            if since.elapsed() >= time {
                break;
            }
            thread::sleep(Duration::from_millis(rng.u64(100..800)));
            let mut tables = TABLES.to_vec();
            rng.shuffle(&mut tables);
            let most = tables.len();
            tables.truncate(if anew { most } else { rng.usize(1..=most) });
            let are_all = tables.len() == most || is_file;
            let starts = are_all.then(|| self.starts.write().unwrap());
            self.place.take_away(&tables);
            thread::sleep(Duration::from_millis(rng.u64(50..1000)));
            if anew {
                self.place.make_anew();
                thread::sleep(Duration::from_millis(rng.u64(500..1000)));
            }
            let was_made = self.place.put_back(&tables);
            drop(starts);
            all += u32::from(are_all);
            some += u32::from(!are_all);
            by_hand += u32::from(anew);
            made += u32::from(was_made && !anew);
        }
        [some, all, by_hand, made]
    }
}

/// Takes until it succeeds.
fn goes_on<T>(who: &str, mut take: impl FnMut() -> Result<T, String>) {
    let since = Instant::now();
    while let Err(error) = take() {
        assert!(since.elapsed() < Duration::from_secs(60), "{who} goes on: {error}");
        thread::sleep(Duration::from_millis(20));
    }
}
