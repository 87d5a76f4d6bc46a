//! [`PastGenerator`]: UIDs of times that were, for rows that are older than their ids.
//!
//! A worker id that was never given before has all its ticks, those of the past as well. So a
//! generator that has one to itself only has to count what it has given of each tick.
//!
//! ```text
//!   time ─▶ tick ─▶ taken of it: 0 … 8,191     ─▶ tick | first worker  | 0 … 8,191
//!                                8,192 … 16,383 ─▶ tick | second worker | 0 … 8,191
//!                                ⋮                  each worker id is asked for when it is needed
//! ```

mod error;
mod status;
mod used_ticks;

pub use error::{TakeAtError, TakeTimesError};
pub use status::PastStatus;

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::time::SystemTime;

use crate::clock::Clock;
use crate::engine::events;
use crate::filler::allowance::Allowance;
#[cfg(feature = "metrics")]
use crate::filler::metrics::StatusMetrics;
#[cfg(feature = "async")]
use crate::generator::blocking;
use crate::layout::Layout;
use crate::registry::{Lease, Request, WorkerRegistry};
use crate::support::rule::{BrokenRule, Rule};
use crate::sync::{Arc, AtomicBool, Mutex, MutexGuard, Ordering, lock};
use crate::uid::Uid;
use used_ticks::UsedTicks;

/// Gives UIDs of times that were, such as to rows that get an id long after they were made.
///
/// It has a worker id of its own that was never given before, and so all ticks of it up to now. A
/// program builds it beside a [`UidGenerator`](crate::UidGenerator), on the same store.
///
/// ```
/// # #[cfg(feature = "sqlite")] {
/// use std::time::{Duration, SystemTime};
/// use uidring::{Store, UidGenerator};
///
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("uidring.db");
/// let store = Store::open(&file)?;
/// let past = UidGenerator::builder().registry(store.registry()?).build_past()?;
/// let made = SystemTime::now() - Duration::from_secs(30 * 24 * 3600);
/// let uid = past.take_at(made)?;
/// let time = past.layout().parts(uid).time;
/// assert!(time <= made && made < time + past.layout().tick());
/// assert!(past.take_at(made)? > uid);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Guarantees
///
/// * **Unique**: no UID comes twice, and none that any other generator of the same store gives. A
///   second run, or two at once, have worker ids of their own. What a process that was killed had
///   taken is the caller's, and is not given again.
/// * **Its time is the tick of the time asked for**, exactly. So UIDs sort by the times asked for,
///   whatever order these came in.
/// * **Ascending within a tick**, in the order in which they were taken from one generator. Where
///   two generators take UIDs of one tick, all of one come before all of the other.
/// * **A tick has as many UIDs as it is asked for.** When those of one worker id are taken, a
///   further worker id is asked for, within [`max_new_workers`](crate::Builder::max_new_workers).
///
/// # Limits
///
/// * **The worker id must be new to the ids, not only to the store.** If ids of the same layout
///   were made without this store, such as by a Snowflake that it replaces, have the registry give
///   worker ids that those never had (`worker_ids`), or choose another epoch.
/// * **3.5 million ticks are remembered**, in at most 80 MB. A time before those that are still
///   known takes a further worker id. Times that come roughly in order need one for all.
///
/// # Progress
///
/// A take holds a lock for some 100 ns, and while a further worker id is asked for, which waits for
/// the registry. A failure takes nothing.
#[derive(Clone)]
pub struct PastGenerator {
    shared: Arc<Shared>,
}

struct Shared {
    layout: Layout,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    /// What the last call has left, so that nobody who asks for it waits for a registry.
    status: Mutex<PastStatus>,
    is_forked: AtomicBool,
}

struct State {
    registry: Box<dyn WorkerRegistry>,
    /// The worker ids in use, one after the other for each tick.
    workers: Vec<u64>,
    /// All worker ids that this generator has had.
    had: BTreeSet<u64>,
    used: UsedTicks,
    allowance: Allowance,
    taken: u64,
    broken: Option<BrokenRule>,
    #[cfg(feature = "metrics")]
    metrics: StatusMetrics<PastStatus>,
}

impl PastGenerator {
    /// With a permanent `lease` of all ticks from `registry`.
    // Nothing fails where no process is forked.
    #[cfg_attr(any(not(unix), uidring_loom, uidring_shuttle), allow(clippy::unnecessary_wraps))]
    pub(crate) fn new(
        layout: Layout,
        clock: Arc<dyn Clock>,
        registry: Box<dyn WorkerRegistry>,
        lease: &Lease,
        allowance: Allowance,
    ) -> io::Result<PastGenerator> {
        let used = UsedTicks::new(used_ticks::MOST);
        let past = PastGenerator::remembering(used, layout, clock, registry, lease, allowance);
        #[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
        crate::engine::fork::watch(&past.shared)?;
        Ok(past)
    }

    fn remembering(
        used: UsedTicks,
        layout: Layout,
        clock: Arc<dyn Clock>,
        registry: Box<dyn WorkerRegistry>,
        lease: &Lease,
        allowance: Allowance,
    ) -> PastGenerator {
        #[cfg(feature = "metrics")]
        let metrics = status::metrics(lease.worker, &registry.name());
        let state = State {
            registry,
            workers: vec![lease.worker],
            had: BTreeSet::from([lease.worker]),
            used,
            allowance,
            taken: 0,
            broken: None,
            #[cfg(feature = "metrics")]
            metrics,
        };
        let shared = Shared {
            layout,
            clock,
            state: Mutex::new(state),
            status: Mutex::new(PastStatus::NOTHING),
            is_forked: AtomicBool::new(false),
        };
        lock(&shared.state).show(&shared);
        PastGenerator { shared: Arc::new(shared) }
    }

    /// Takes a UID whose time is the tick of `time`, which is not after now.
    ///
    /// # Errors
    ///
    /// [`TakeAtError`] says why there is none. Nothing is taken then.
    pub fn take_at(&self, time: SystemTime) -> Result<Uid, TakeAtError> {
        let tick = self.shared.tick_of(time, self.shared.clock.now())?;
        let mut state = self.shared.state()?;
        let uid = state.take(&self.shared, time, tick);
        state.show(&self.shared);
        uid
    }

    /// Takes a UID for each of `times`, in their order. All times are looked at before the first
    /// UID is taken.
    ///
    /// ```
    /// # #[cfg(feature = "sqlite")] {
    /// # use std::time::{Duration, SystemTime};
    /// # use uidring::{Store, UidGenerator};
    /// # let folder = tempfile::tempdir()?;
    /// # let store = Store::open(folder.path().join("uidring.db"))?;
    /// # let past = UidGenerator::builder().registry(store.registry()?).build_past()?;
    /// let now = SystemTime::now();
    /// let times = [60, 3600, 60].map(|seconds| now - Duration::from_secs(seconds));
    /// let uids = past.take_times(&times)?;
    /// assert!(uids[1] < uids[0] && uids[0] < uids[2]);
    ///
    /// let error = past.take_times(&[now, now + Duration::from_secs(60)]).unwrap_err();
    /// assert_eq!(error.index, 1);
    /// assert_eq!(past.status().taken, 3);
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`TakeTimesError`] says which time cannot be had, and why. UIDs that were taken before a
    /// further worker id could not be had are given to nobody.
    pub fn take_times(&self, times: &[SystemTime]) -> Result<Vec<Uid>, TakeTimesError> {
        let now = self.shared.clock.now();
        let at = |index| move |cause| TakeTimesError { index, cause };
        let ticks = times.iter().enumerate();
        let ticks = ticks.map(|(index, &time)| self.shared.tick_of(time, now).map_err(at(index)));
        let ticks: Vec<u64> = ticks.collect::<Result<_, _>>()?;
        let mut state = self.shared.state().map_err(at(0))?;
        let ticks = times.iter().zip(ticks).enumerate();
        let uids = ticks
            .map(|(index, (&time, tick))| state.take(&self.shared, time, tick).map_err(at(index)))
            .collect();
        state.show(&self.shared);
        uids
    }

    /// Does what [`take_times`](PastGenerator::take_times) does, on a thread of its own, so that no
    /// runtime is blocked. It needs no particular runtime. If the future is dropped, the UIDs are
    /// taken all the same, and given to nobody.
    ///
    /// # Errors
    ///
    /// As [`take_times`](PastGenerator::take_times).
    #[cfg(feature = "async")]
    pub fn take_times_async(
        &self,
        times: Vec<SystemTime>,
    ) -> impl Future<Output = Result<Vec<Uid>, TakeTimesError>> + Send + 'static {
        let past = self.clone();
        let result = blocking::run("uidring-past", move || past.take_times(&times));
        async {
            let spawn = |error| TakeTimesError { index: 0, cause: TakeAtError::Spawn(error) };
            result.await.unwrap_or_else(|error| Err(spawn(error)))
        }
    }

    /// The layout of the UIDs.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.shared.layout
    }

    /// What the generator has done up to the last call that has returned. In a forked process,
    /// nothing. It does not wait for a call that waits for the registry.
    #[must_use]
    pub fn status(&self) -> PastStatus {
        match self.shared.check_fork() {
            Ok(()) => lock(&self.shared.status).clone(),
            Err(_) => PastStatus::NOTHING,
        }
    }
}

impl Shared {
    /// The tick of `time`, which must not be after `now`.
    fn tick_of(&self, time: SystemTime, now: SystemTime) -> Result<u64, TakeAtError> {
        let layout = &self.layout;
        match u64::try_from(layout.signed_tick_at(time)) {
            Err(_) => Err(TakeAtError::BeforeEpoch { time, epoch: layout.epoch() }),
            Ok(_) if time > now => Err(TakeAtError::Future { time, now }),
            Ok(tick) if tick > layout.final_tick() => {
                Err(TakeAtError::AfterEnd { time, expires_at: layout.expires_at() })
            }
            Ok(tick) => Ok(tick),
        }
    }

    fn check_fork(&self) -> Result<(), TakeAtError> {
        // In a child process, a thread that does not exist there may hold a lock.
        // ORDERING: set before the fork has returned in the child.
        if self.is_forked.load(Ordering::Relaxed) { Err(TakeAtError::Forked) } else { Ok(()) }
    }

    fn state(&self) -> Result<MutexGuard<'_, State>, TakeAtError> {
        self.check_fork()?;
        let state = lock(&self.state);
        match state.broken {
            Some(broken) => Err(TakeAtError::BrokenRule(broken)),
            None => Ok(state),
        }
    }
}

impl State {
    fn status(&self) -> PastStatus {
        PastStatus {
            worker_id: self.workers.last().copied().unwrap_or(0),
            workers: self.had.len() as u64,
            taken: self.taken,
            ticks: self.used.len(),
            broken_rule: self.broken,
        }
    }

    /// Shows what was done to those who ask for the status, and by the metrics.
    fn show(&mut self, shared: &Shared) {
        let status = self.status();
        #[cfg(feature = "metrics")]
        self.metrics.show(&status);
        *lock(&shared.status) = status;
    }

    /// Takes the next UID of `tick`, the one of `time`.
    fn take(&mut self, shared: &Shared, time: SystemTime, tick: u64) -> Result<Uid, TakeAtError> {
        let layout = &shared.layout;
        let per_worker = layout.max_sequence() + 1;
        let mut used = if let Some(used) = self.used.of(tick) {
            used
        } else {
            // Another worker id knows nothing of what was taken, and need not.
            let worker = self.further_worker(shared, time, false)?;
            self.workers = vec![worker];
            self.used.reset();
            0
        };
        loop {
            let known = self.workers.get(index(used / per_worker)).copied();
            let worker = if let Some(worker) = known {
                worker
            } else {
                let worker = self.further_worker(shared, time, true)?;
                self.workers.push(worker);
                worker
            };
            let uid = layout.compose(tick, worker, used % per_worker);
            used += 1;
            // No UID has 0 in all fields.
            if let Some(uid) = uid {
                self.used.note(tick, used);
                self.taken += 1;
                return Ok(uid);
            }
        }
    }

    /// A worker id that this generator has not had.
    fn further_worker(
        &mut self,
        shared: &Shared,
        time: SystemTime,
        is_full: bool,
    ) -> Result<u64, TakeAtError> {
        if !self.allowance.is_any_left() {
            self.allowance.announce();
            let retry_in = self.allowance.until_next();
            return Err(TakeAtError::NoNewWorker { time, is_full, retry_in });
        }
        let layout = shared.layout;
        let now = layout.tick_at(shared.clock.now()).unwrap_or(layout.final_tick());
        let lease = self.registry.assign(&Request::new(layout, now, now));
        let lease = lease.and_then(|lease| lease.check(&layout)).map_err(TakeAtError::Registry)?;
        let (worker, first) = (lease.worker, lease.first);
        let is_new = lease.is_permanent() && first == 0 && self.had.insert(worker);
        Rule::WorkerIdOnce.check(is_new, worker, first, now).map_err(|broken| {
            self.broken = Some(broken);
            events::rule_broken(&broken);
            TakeAtError::BrokenRule(broken)
        })?;
        self.allowance.use_one();
        events::worker_id_added(worker, self.had.len());
        Ok(worker)
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl Drop for Shared {
    fn drop(&mut self) {
        // ORDERING: as in `check_fork`.
        if !self.is_forked.load(Ordering::Relaxed) {
            let state = lock(&self.state);
            events::stopped(state.workers.last().copied().unwrap_or(0), state.taken);
        }
    }
}

#[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
impl crate::engine::fork::Abandon for Shared {
    fn abandon(&self) {
        // ORDERING: the child has one thread.
        self.is_forked.store(true, Ordering::Relaxed);
    }
}

impl fmt::Debug for PastGenerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PastGenerator").field("layout", &self.shared.layout).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clock::SystemClock;
    use crate::registry::RegistryError;

    struct Counted(u64);

    impl WorkerRegistry for Counted {
        fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
            self.0 += 1;
            Ok(Lease::permanent(self.0, &request.layout))
        }
    }

    /// Rows in order need one worker id, however many there are.
    #[test]
    fn a_time_long_before_the_others_takes_a_further_worker_id() {
        let layout = Layout::DEFAULT;
        let lease = Lease::permanent(1, &layout);
        let past = PastGenerator::remembering(
            UsedTicks::new(100),
            layout,
            Arc::new(SystemClock),
            Box::new(Counted(1)),
            &lease,
            Allowance::new(1, Duration::from_secs(3600)),
        );
        let take = |second| {
            let uid = past.take_at(layout.epoch() + Duration::from_secs(second));
            uid.map(|uid| (layout.parts(uid).worker, layout.parts(uid).sequence)).ok()
        };
        assert!((0..1000).all(|second| take(second) == Some((1, 0))));
        assert!((50..=100).contains(&past.status().ticks));
        // Roughly in order is good enough.
        assert_eq!(take(960), Some((1, 1)));
        assert_eq!(take(0), Some((2, 0)));
        assert_eq!(take(999), Some((2, 0)));
        assert_eq!((past.status().ticks, past.status().workers), (2, 2));
        // None is left for another time before those that are known.
        assert!((0..1000).all(|second| take(second).is_some()));
        assert_eq!(take(0), None);
        assert_eq!(take(1000), Some((2, 0)));
    }
}
