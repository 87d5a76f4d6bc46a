//! What all requests share: the generators, once the database has answered, and whether all is
//! well.

pub(crate) mod condition;
pub(crate) mod health;
pub(crate) mod in_flight;
pub(crate) mod measure;
pub(crate) mod reload;
pub(crate) mod start;
pub(crate) mod tags;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use axum::body::Bytes;
use tokio::sync::Semaphore;
use uidring::segment::{SegmentGenerator, SegmentSource, Segments};
use uidring::{Layout, UidGenerator};

use crate::app::in_flight::{FOR_OPERATORS, InFlight};
use crate::config::open_files::Plan;
use crate::config::options::Options;
use crate::security::access::Access;
use crate::security::hosts::Hosts;
use crate::security::tls::Tls;
use crate::stats::counters::Counters;
use crate::stats::trouble::{Cause, Trouble};
use crate::stats::watch::Watch;

/// Lives as long as the process, so that requests hold it without counting references.
pub(crate) struct App {
    pub(crate) options: Options,
    pub(crate) access: Access,
    pub(crate) hosts: Hosts,
    pub(crate) tls: Option<Tls>,
    /// Those of each thread.
    pub(crate) counters: Vec<Counters>,
    /// What people and monitoring look at.
    pub(crate) watch: Watch,
    /// Connections that are open.
    pub(crate) connections: AtomicUsize,
    /// How many loads of numbers run at once.
    pub(crate) loads: usize,
    /// The memory of answers that are being sent.
    pub(crate) in_flight: InFlight,
    /// That of answers to operators.
    pub(crate) for_operators: InFlight,
    /// Turns of requests at the database.
    pub(crate) calls: Semaphore,
    /// Turns of requests that wait for a tag's first numbers.
    pub(crate) first_uses: Semaphore,
    pub(crate) leaf_layout: Layout,
    /// `/openapi.json`.
    pub(crate) description: OnceLock<Bytes>,
    /// What is set once the database has answered.
    uids: OnceLock<UidGenerator>,
    snowflakes: OnceLock<UidGenerator>,
    tags: OnceLock<Tags>,
    /// The tags that any thread has used.
    used_tags: Mutex<BTreeMap<Box<str>, SegmentGenerator>>,
    /// Why the database cannot be used, if it cannot.
    trouble: Mutex<Option<Trouble>>,
    /// Whether all that needs the database has started.
    has_started: AtomicBool,
    is_ending: AtomicBool,
}

/// The dense numbers.
pub(crate) struct Tags {
    pub(crate) segments: Segments,
    /// For segments that go to clients.
    pub(crate) source: Arc<dyn SegmentSource>,
}

thread_local! {
    /// Which of [`App::counters`] are this thread's. The last is for threads without requests.
    static THREAD: Cell<usize> = const { Cell::new(usize::MAX) };
    /// The tags that this thread has answered for.
    static TAGS: RefCell<HashMap<Box<str>, SegmentGenerator>> = RefCell::default();
}

/// Makes the counters with this index those of the thread.
pub(crate) fn enter_thread(index: usize) {
    THREAD.set(index);
}

/// Nothing can be given until the database answers.
#[derive(Debug)]
pub(crate) struct NotReady;

/// A thread that panics leaves nothing half written here, so a poisoned lock is taken, too.
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
    ) -> App {
        let threads = options.limits.threads();
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
            // One more, for the threads that answer no requests.
            counters: (0..=threads).map(|_| Counters::default()).collect(),
            watch: Watch::new(),
            connections: AtomicUsize::new(0),
            loads: files.loads,
            calls: Semaphore::new(files.calls),
            first_uses: Semaphore::new(files.calls),
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
            is_ending: AtomicBool::new(false),
        }
    }

    /// The counters of this thread.
    pub(crate) fn counters(&self) -> &Counters {
        &self.counters[THREAD.get().min(self.counters.len() - 1)]
    }

    pub(crate) fn uids(&self) -> Result<&UidGenerator, NotReady> {
        self.uids.get().ok_or(NotReady)
    }

    pub(crate) fn snowflakes(&self) -> Result<&UidGenerator, NotReady> {
        self.snowflakes.get().ok_or(NotReady)
    }

    /// The generators of UIDs that run, by what they make.
    pub(crate) fn generators(&self) -> impl Iterator<Item = (&'static str, &UidGenerator)> {
        let uids = self.uids().ok().map(|uids| ("uids", uids));
        uids.into_iter().chain(self.snowflakes().ok().map(|uids| ("snowflakes", uids)))
    }

    pub(crate) fn tags(&self) -> Result<&Tags, NotReady> {
        self.tags.get().ok_or(NotReady)
    }

    /// Whether a generator has started, or the tags have.
    pub(crate) fn gives_something(&self) -> bool {
        self.uids().is_ok() || self.snowflakes().is_ok() || self.tags().is_ok()
    }

    pub(crate) fn set_uids(&self, uids: UidGenerator) {
        let _ = self.uids.set(uids);
    }

    pub(crate) fn set_snowflakes(&self, uids: UidGenerator) {
        let _ = self.snowflakes.set(uids);
    }

    pub(crate) fn set_tags(&self, tags: Tags) {
        let _ = self.tags.set(tags);
    }

    /// The numbers of a tag that this thread has used before.
    pub(crate) fn known_tag<T>(
        name: &str,
        use_it: impl FnOnce(&SegmentGenerator) -> T,
    ) -> Option<T> {
        TAGS.with_borrow(|tags| tags.get(name).map(use_it))
    }

    /// Remembers the tag for this thread.
    pub(crate) fn remember_tag(&self, name: &str, tag: SegmentGenerator) {
        lock(&self.used_tags).insert(name.into(), tag.clone());
        TAGS.with_borrow_mut(|tags| tags.insert(name.into(), tag));
    }

    /// A tag that any thread has used before.
    pub(crate) fn used_tag(&self, name: &str) -> Option<SegmentGenerator> {
        lock(&self.used_tags).get(name).cloned()
    }

    /// The tags that this process has used, in their order.
    pub(crate) fn used_tags(&self) -> Vec<SegmentGenerator> {
        lock(&self.used_tags).values().cloned().collect()
    }

    /// Why the database cannot be used, if it cannot.
    pub(crate) fn database_trouble(&self) -> Option<Trouble> {
        lock(&self.trouble).clone()
    }

    /// Notes what is wrong now, and returns what was before.
    pub(crate) fn set_trouble(&self, trouble: Option<Trouble>) -> Option<Trouble> {
        let is_away = trouble.is_some();
        let before = std::mem::replace(&mut *lock(&self.trouble), trouble);
        if before.is_some() != is_away {
            self.watch.database_changed();
        }
        before
    }

    /// Whether all that needs the database has started.
    pub(crate) fn has_started(&self) -> bool {
        // ORDERING: only the flag itself matters: what has started is found by itself.
        self.has_started.load(Ordering::Relaxed)
    }

    pub(crate) fn set_started(&self) {
        // ORDERING: as above.
        self.has_started.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_ending(&self) -> bool {
        // ORDERING: only the flag itself matters.
        self.is_ending.load(Ordering::Relaxed)
    }

    pub(crate) fn begin_end(&self) {
        // ORDERING: as above.
        self.is_ending.store(true, Ordering::Relaxed);
    }

    /// Gives worker ids and numbers back. Waits for the database.
    pub(crate) fn give_back(&self) {
        // Each on a thread of its own, because each may wait for the database.
        std::thread::scope(|scope| {
            for uids in [self.uids.get(), self.snowflakes.get()].into_iter().flatten() {
                scope.spawn(|| {
                    if let Err(error) = uids.clone().shutdown() {
                        tracing::warn!(%error, "a worker id was not given back");
                    }
                });
            }
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
