//! The state that all requests share: generators, tags and statistics.

pub(crate) mod condition;
mod conditions;
pub(crate) mod health;
pub(crate) mod in_flight;
pub(crate) mod loans;
pub(crate) mod measure;
pub(crate) mod past;
pub(crate) mod refusal;
pub(crate) mod reload;
pub(crate) mod series;
pub(crate) mod start;
pub(crate) mod supply;
pub(crate) mod tags;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;
use uidring::masked::Masked;
use uidring::segment::{SegmentGenerator, SegmentSource, Segments};
use uidring::store::StoreSegments;
use uidring::{Layout, UidGenerator};

use crate::app::in_flight::{FOR_OPERATORS, InFlight};
use crate::app::loans::AppLoans;
use crate::app::past::AppPast;
use crate::app::series::{AppSeries, SeriesState};
use crate::config::open_files::Plan;
use crate::config::options::Options;
use crate::security::access::Access;
use crate::security::hosts::Hosts;
use crate::security::tls::Tls;
use crate::stats::counters::Counters;
use crate::stats::trouble::{Cause, Trouble};
use crate::stats::watch::Watch;

/// How long a request waits for the start.
const PATIENCE: Duration = Duration::from_secs(5);

/// The state of the service. It lives as long as the process, so requests need no reference count.
pub(crate) struct App {
    pub(crate) options: Options,
    pub(crate) access: Access,
    pub(crate) hosts: Hosts,
    pub(crate) tls: Option<Tls>,
    /// Masks the UIDs that clients get, if they are to be masked.
    pub(crate) masked: Option<Masked>,
    /// The counters of each thread.
    pub(crate) counters: Vec<Counters>,
    /// Statistics for operators.
    pub(crate) watch: Watch,
    /// How many connections are open.
    pub(crate) connections: AtomicUsize,
    /// How many loads of numbers may run at once.
    pub(crate) loads: usize,
    /// The memory budget of answers to clients.
    pub(crate) in_flight: InFlight,
    /// The memory budget of answers to operators.
    pub(crate) for_operators: InFlight,
    pub(crate) series: AppSeries,
    pub(crate) past: AppPast,
    pub(crate) loans: AppLoans,
    /// Permits to call the database.
    pub(crate) calls: Semaphore,
    /// Permits to wait for the first numbers of a tag.
    pub(crate) first_uses: Semaphore,
    /// The permit to make a list of all tags or of all series, besides one to call the database.
    pub(crate) lists: Semaphore,
    /// The permit to read the counters of a series, besides one to call the database.
    pub(crate) counter_reads: Semaphore,
    pub(crate) leaf_layout: Layout,
    /// The content of `/openapi.json`.
    pub(crate) description: OnceLock<Bytes>,
    /// The fields below are set once the database has answered.
    uids: OnceLock<UidGenerator>,
    snowflakes: OnceLock<UidGenerator>,
    tags: OnceLock<DenseNumbers>,
    /// The tags that any thread has used.
    used_tags: Mutex<BTreeMap<Box<str>, SegmentGenerator>>,
    /// Why the database cannot be used, if it cannot.
    trouble: Mutex<Option<Trouble>>,
    /// Whether everything that needs the database has started.
    has_started: AtomicBool,
    /// Whether the first try to start is over. The end of the service sets it, too.
    is_tried: watch::Sender<bool>,
    is_ending: AtomicBool,
}

/// The dense numbers.
pub(crate) struct DenseNumbers {
    pub(crate) segments: Segments,
    /// For segments that go to clients.
    pub(crate) source: Arc<dyn SegmentSource>,
    /// For probes.
    pub(crate) store: StoreSegments,
}

thread_local! {
    /// The index of this thread in [`App::counters`]. Threads without requests share the last one.
    static THREAD: Cell<usize> = const { Cell::new(usize::MAX) };
    /// The tags that this thread has used.
    static TAGS: RefCell<HashMap<Box<str>, SegmentGenerator>> = RefCell::default();
}

/// Assigns the counters with this index to the calling thread.
pub(crate) fn enter_thread(index: usize) {
    THREAD.set(index);
}

/// Nothing can be given until the database answers.
#[derive(Debug)]
pub(crate) struct NotReady(pub(crate) Cause);

/// Locks a mutex. A poisoned lock is accepted, because no panic can leave this data half written.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl App {
    pub(crate) fn new(
        options: Options,
        files: Plan,
        access: Access,
        tls: Option<Tls>,
        leaf_layout: Layout,
        masked: Option<Masked>,
    ) -> App {
        let threads = options.limits.threads();
        let max_in_memory = options.limits.max_in_memory.unwrap_or(u64::MAX);
        let names = &options.security.host;
        let hosts = Hosts::new(names, options.listen.ip(), access.is_open());
        let in_flight = |bytes| InFlight::new(bytes, options.limits.write_timeout);
        let (in_flight, for_operators) =
            (in_flight(options.limits.max_answer_memory), in_flight(FOR_OPERATORS));
        App {
            in_flight,
            for_operators,
            options,
            access,
            hosts,
            tls,
            masked,
            // One more for the threads that answer no requests.
            counters: (0..=threads).map(|_| Counters::default()).collect(),
            watch: Watch::new(),
            connections: AtomicUsize::new(0),
            loads: files.loads,
            series: AppSeries::new(files.loads, max_in_memory),
            past: AppPast::default(),
            loans: AppLoans::default(),
            calls: Semaphore::new(files.calls),
            first_uses: Semaphore::new(files.calls),
            lists: Semaphore::new(1),
            counter_reads: Semaphore::new(1),
            leaf_layout,
            description: OnceLock::new(),
            uids: OnceLock::new(),
            snowflakes: OnceLock::new(),
            tags: OnceLock::new(),
            used_tags: Mutex::default(),
            trouble: Mutex::new(Some(Trouble {
                cause: Cause::NotAsked,
                text: Cause::NotAsked.sentence().to_owned(),
                at: Instant::now(),
            })),
            has_started: AtomicBool::new(false),
            is_tried: watch::Sender::new(false),
            is_ending: AtomicBool::new(false),
        }
    }

    /// The counters of the calling thread.
    pub(crate) fn counters(&self) -> &Counters {
        &self.counters[THREAD.get().min(self.counters.len() - 1)]
    }

    pub(crate) fn uids(&self) -> Result<&UidGenerator, NotReady> {
        self.uids.get().ok_or_else(|| self.not_ready())
    }

    pub(crate) fn snowflakes(&self) -> Result<&UidGenerator, NotReady> {
        self.snowflakes.get().ok_or_else(|| self.not_ready())
    }

    /// The running generators of UIDs, with their names.
    pub(crate) fn generators(&self) -> impl Iterator<Item = (&'static str, &UidGenerator)> {
        let uids = self.uids().ok().map(|uids| ("uids", uids));
        uids.into_iter().chain(self.snowflakes().ok().map(|uids| ("snowflakes", uids)))
    }

    pub(crate) fn tags(&self) -> Result<&DenseNumbers, NotReady> {
        self.tags.get().ok_or_else(|| self.not_ready())
    }

    /// Whether a generator or the tags have started.
    pub(crate) fn gives_something(&self) -> bool {
        self.uids().is_ok() || self.snowflakes().is_ok() || self.tags().is_ok()
    }

    pub(crate) fn set_uids(&self, uids: UidGenerator) {
        let _ = self.uids.set(uids);
    }

    pub(crate) fn set_snowflakes(&self, uids: UidGenerator) {
        let _ = self.snowflakes.set(uids);
    }

    pub(crate) fn set_tags(&self, tags: DenseNumbers) {
        let _ = self.tags.set(tags);
    }

    /// Calls a function with a tag that the calling thread has used before.
    pub(crate) fn known_tag<T>(
        name: &str,
        use_it: impl FnOnce(&SegmentGenerator) -> T,
    ) -> Option<T> {
        TAGS.with_borrow(|tags| tags.get(name).map(use_it))
    }

    /// Remembers the tag for the calling thread.
    pub(crate) fn remember_tag(&self, name: &str, tag: SegmentGenerator) {
        lock(&self.used_tags).insert(name.into(), tag.clone());
        TAGS.with_borrow_mut(|tags| tags.insert(name.into(), tag));
    }

    /// A tag that any thread has used before.
    pub(crate) fn used_tag(&self, name: &str) -> Option<SegmentGenerator> {
        lock(&self.used_tags).get(name).cloned()
    }

    /// The tags that this process has used, sorted.
    pub(crate) fn used_tags(&self) -> Vec<SegmentGenerator> {
        lock(&self.used_tags).values().cloned().collect()
    }

    /// Why the database cannot be used, if it cannot.
    pub(crate) fn database_trouble(&self) -> Option<Trouble> {
        lock(&self.trouble).clone()
    }

    /// Why something has not started.
    fn not_ready(&self) -> NotReady {
        NotReady(self.database_trouble().map_or(Cause::NotAsked, |trouble| trouble.cause))
    }

    /// The series that this process has used.
    pub(crate) fn series_states(&self) -> Vec<SeriesState> {
        self.series.states(self.database_trouble().as_ref())
    }

    /// Sets what is wrong with the database, and returns the previous value.
    pub(crate) fn set_trouble(&self, trouble: Option<Trouble>) -> Option<Trouble> {
        let is_away = trouble.is_some();
        let before = std::mem::replace(&mut *lock(&self.trouble), trouble);
        if before.is_some() != is_away {
            self.watch.database_changed();
        }
        before
    }

    /// Whether everything that needs the database has started.
    pub(crate) fn has_started(&self) -> bool {
        // ORDERING: the flag guards no data; the generators are in `OnceLock`s.
        self.has_started.load(Ordering::Relaxed)
    }

    pub(crate) fn set_started(&self) {
        // ORDERING: as above.
        self.has_started.store(true, Ordering::Relaxed);
    }

    /// Waits until the first try to start is over, for at most [`PATIENCE`]. So a request that
    /// comes a moment too early, as through a socket of systemd, gets its ids.
    pub(crate) async fn first_try(&self) {
        if !self.has_started() {
            let mut is_tried = self.is_tried.subscribe();
            let _ = timeout(PATIENCE, is_tried.wait_for(|is_tried| *is_tried)).await;
        }
    }

    /// Answers the requests that wait for the first try to start.
    pub(crate) fn end_first_try(&self) {
        self.is_tried.send_replace(true);
    }

    pub(crate) fn is_ending(&self) -> bool {
        // ORDERING: the flag guards no data.
        self.is_ending.load(Ordering::Relaxed)
    }

    pub(crate) fn begin_end(&self) {
        // ORDERING: as above.
        self.is_ending.store(true, Ordering::Relaxed);
        self.end_first_try();
    }

    /// Gives worker ids and unused numbers back. Blocks on the database.
    pub(crate) fn give_back(&self) {
        // One thread each, because each call may block on the database.
        std::thread::scope(|scope| {
            for uids in [self.uids.get(), self.snowflakes.get()].into_iter().flatten() {
                scope.spawn(|| {
                    if let Err(error) = uids.clone().shutdown() {
                        tracing::warn!(%error, "a worker id was not given back");
                    }
                });
            }
            scope.spawn(|| self.series.give_back());
            if let Some(tags) = self.tags.get() {
                scope.spawn(|| {
                    if let Err(error) = tags.segments.clone().shutdown() {
                        tracing::warn!(%error, "not all numbers were given back");
                    }
                });
            }
        });
    }
}
