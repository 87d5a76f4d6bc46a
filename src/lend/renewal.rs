//! The thread that renews a loan.
//!
//! A call may hang, so each has a thread of its own that ends with it. The thread here waits for
//! its answer, and tells in time when none comes:
//!
//! ```text
//!  asked      1/3: renewal        failing: 2/3 of what is left      end of the lease
//!    ├───────────┼─── tries again ───────────┼── on_loss ─────────────┤ not held any more
//! ```

use std::io;
use std::time::{Duration, SystemTime};

use super::error::LendError;
use super::metrics;
use super::options::Loss;
use super::pool::WorkerPool;
use super::request::Grant;
use super::status::LentStatus;
use crate::clock::{Clock, SleepStopwatch, SystemClock};
#[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
use crate::engine::fork;
use crate::support::callbacks::{catch_panic, event};
use crate::sync::{
    Arc, AtomicBool, AtomicU64, Condvar, Mutex, Ordering, ThreadId, lock, thread, thread_id,
    wait_timeout,
};

/// The longest sleep: a machine that has slept longer than a lease is noticed so soon.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

type OnLoss = Arc<dyn Fn(&Loss) + Send + Sync>;

/// What the thread, its calls and the owner share.
pub struct Shared {
    pool: WorkerPool,
    grant: Grant,
    /// Started before the id was asked for. Times below are counted from then on.
    since: SleepStopwatch,
    /// The lease's end, in nanoseconds; 0 where the id is lost, or returned, or the parent's.
    until: AtomicU64,
    /// The most that the clock has shown, and when that was.
    shown: Mutex<(Duration, SystemTime)>,
    /// Whether this is a child of the process that has the loan.
    is_abandoned: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_closing: bool,
    /// The store has refused a renewal.
    is_refused: bool,
    /// When the last renewal was asked for that has been answered, and the answer.
    answer: Option<(Duration, Result<(), LendError>)>,
    renewals: u64,
    failed: u64,
    last_error: Option<String>,
}

impl Shared {
    /// The clock has shown `told` when the id was asked for.
    pub fn new(pool: WorkerPool, grant: Grant, since: SleepStopwatch, told: SystemTime) -> Shared {
        let until = AtomicU64::new(nanoseconds(grant.lease));
        Shared {
            pool,
            grant,
            since,
            until,
            shown: Mutex::new((Duration::ZERO, told)),
            is_abandoned: AtomicBool::new(false),
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    pub fn id(&self) -> u64 {
        self.grant.id
    }

    /// The most that the clock has shown: what it shows, or what it must have shown if it has gone
    /// back.
    fn shown(&self) -> SystemTime {
        let (now, clock) = (self.since.elapsed(), SystemClock.now());
        let mut shown = lock(&self.shown);
        let (at, told) = *shown;
        let most = told.checked_add(now.saturating_sub(at)).map_or(clock, |must| must.max(clock));
        *shown = (now, most);
        most
    }

    fn until(&self) -> Duration {
        // ORDERING: nothing else depends on it.
        Duration::from_nanos(self.until.load(Ordering::Relaxed))
    }

    fn set_until(&self, until: Duration) {
        // ORDERING: nothing else depends on it.
        self.until.store(nanoseconds(until), Ordering::Relaxed);
    }

    pub fn time_left(&self) -> Duration {
        self.until().saturating_sub(self.since.elapsed())
    }

    pub fn status(&self) -> LentStatus {
        let time_left = self.time_left();
        let mut status = LentStatus {
            id: self.id(),
            is_held: !time_left.is_zero(),
            time_left,
            renewals: 0,
            failed_renewals: 0,
            last_error: None,
        };
        // A child may find the lock taken for ever.
        if !self.is_abandoned() {
            let state = lock(&self.state);
            status.renewals = state.renewals;
            status.failed_renewals = state.failed;
            status.last_error.clone_from(&state.last_error);
        }
        status
    }

    fn is_abandoned(&self) -> bool {
        // ORDERING: a child has one thread when it is set.
        self.is_abandoned.load(Ordering::Relaxed)
    }

    /// Renews the loan, on a thread of its own. The answer comes to the state.
    fn ask(self: &Arc<Self>) -> io::Result<thread::JoinHandle<()>> {
        let shared = Arc::clone(self);
        thread::Builder::new().name("uidring-renewal".to_owned()).spawn(move || {
            let asked = shared.since.elapsed();
            let Grant { id, secret, .. } = &shared.grant;
            let answer = shared.pool.renew(*id, secret, shared.shown());
            lock(&shared.state).answer = Some((asked, answer));
            shared.changed.notify_all();
        })
    }
}

#[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
impl fork::Abandon for Shared {
    fn abandon(&self) {
        // ORDERING: a child has one thread.
        self.is_abandoned.store(true, Ordering::Relaxed);
        self.until.store(0, Ordering::Relaxed);
    }
}

/// The thread, as its owner has it.
pub struct Renewal {
    pub shared: Arc<Shared>,
    thread: Option<thread::JoinHandle<()>>,
    /// `None` until the thread has begun.
    thread_id: Arc<Mutex<Option<ThreadId>>>,
    is_ended: bool,
}

impl Renewal {
    /// Starts the thread. If it cannot be started, the id is returned.
    pub fn start(shared: Arc<Shared>, on_loss: Option<OnLoss>) -> Result<Renewal, LendError> {
        let thread_id = Arc::default();
        let mut renewal = Renewal { shared, thread: None, thread_id, is_ended: false };
        match renewal.spawn(on_loss) {
            Ok(()) => Ok(renewal),
            Err(error) => {
                let _ = renewal.end();
                Err(LendError::Spawn(error))
            }
        }
    }

    fn spawn(&mut self, on_loss: Option<OnLoss>) -> io::Result<()> {
        #[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
        fork::watch(&self.shared)?;
        let (shared, own) = (Arc::clone(&self.shared), Arc::clone(&self.thread_id));
        let body = move || {
            *lock(&own) = Some(thread_id());
            Guard { shared, on_loss, unanswered: None, call: None }.run();
        };
        self.thread = Some(thread::Builder::new().name("uidring-lend".to_owned()).spawn(body)?);
        Ok(())
    }

    /// Ends the thread, and returns the id. Does nothing the second time, or in a child.
    pub fn end(&mut self) -> Result<(), LendError> {
        if self.is_ended || self.shared.is_abandoned() {
            return Ok(());
        }
        self.is_ended = true;
        lock(&self.shared.state).is_closing = true;
        self.shared.changed.notify_all();
        let thread = self.thread.take();
        // The owner may be dropped by its own `on_loss`.
        if *lock(&self.thread_id) != Some(thread_id()) {
            // The thread catches the panics of call-backs, so joining it does not fail.
            let _ = thread.map(thread::JoinHandle::join);
        }
        #[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
        fork::unwatch(&self.shared);
        self.give_back()
    }

    fn give_back(&self) -> Result<(), LendError> {
        let shared = &self.shared;
        let Grant { id, secret, .. } = &shared.grant;
        let is_over = lock(&shared.state).is_refused || shared.time_left().is_zero();
        shared.set_until(Duration::ZERO);
        if is_over {
            return Err(LendError::Lost { id: *id });
        }
        let returned = shared.pool.give_back(*id, secret, shared.shown());
        match &returned {
            Ok(()) => {
                event!(info, "worker_returned", worker = id, "the worker id was returned");
            }
            Err(error) => {
                #[cfg(not(feature = "tracing"))]
                let _ = error;
                event!(
                    warn,
                    "worker_not_returned",
                    worker = id,
                    error = %error,
                    "the worker id is held until its lease ends"
                );
            }
        }
        returned
    }
}

/// What the thread knows.
struct Guard {
    shared: Arc<Shared>,
    on_loss: Option<OnLoss>,
    /// When the first renewal was asked for since the last one that succeeded.
    unanswered: Option<Duration>,
    call: Option<thread::JoinHandle<()>>,
}

impl Guard {
    fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        let mut next = self.third();
        loop {
            let now = shared.since.elapsed();
            let mut state = lock(&shared.state);
            if state.is_closing {
                break;
            }
            let answer = state.answer.take();
            drop(state);
            match answer {
                Some((asked, Ok(()))) => next = self.renewed(asked),
                Some((_, Err(LendError::Lost { .. }))) => {
                    self.refused();
                    break;
                }
                Some((_, Err(error))) => next = now + self.failed(&error),
                None => {}
            }
            let tell = self.tell_at();
            if tell.is_some_and(|tell| tell <= now) {
                self.about_to_lose();
                break;
            }
            if self.call.is_none() && next <= now {
                self.unanswered.get_or_insert(now);
                match shared.ask() {
                    Ok(call) => self.call = Some(call),
                    Err(error) => next = now + self.failed(&LendError::Spawn(error)),
                }
                continue;
            }
            let due = if self.call.is_none() { Some(next) } else { None };
            let until = [due, tell].into_iter().flatten().min();
            let pause = until.map_or(LONGEST_SLEEP, |until| until.saturating_sub(now));
            self.sleep(pause);
        }
        // The last call may still run. Its answer does not count any more.
        self.join();
    }

    /// A third of the lease.
    fn third(&self) -> Duration {
        self.shared.grant.lease / 3
    }

    /// Waits for an answer, or to be closed.
    fn sleep(&self, pause: Duration) {
        let state = lock(&self.shared.state);
        if !state.is_closing && state.answer.is_none() {
            drop(wait_timeout(&self.shared.changed, state, pause.min(LONGEST_SLEEP)));
        }
    }

    fn join(&mut self) {
        // A call that panics is a fault of the library, and leaves no answer.
        let _ = self.call.take().map(thread::JoinHandle::join);
    }

    /// The loan lasts for another lease since it was asked for. Returns when it is renewed next.
    fn renewed(&mut self, asked: Duration) -> Duration {
        self.join();
        self.unanswered = None;
        self.shared.set_until(asked + self.shared.grant.lease);
        let mut state = lock(&self.shared.state);
        state.renewals += 1;
        let has_failed = state.last_error.take().is_some();
        drop(state);
        tell_renewed(self.shared.id(), has_failed);
        asked + self.third()
    }

    /// A renewal failed, which is told once until one succeeds. Returns the pause before the next.
    fn failed(&mut self, error: &LendError) -> Duration {
        self.join();
        metrics::count_failure(&self.shared.pool.labels());
        let mut state = lock(&self.shared.state);
        state.failed += 1;
        let is_first = state.last_error.replace(error.to_string()).is_none();
        drop(state);
        if is_first {
            event!(
                warn,
                "worker_not_renewed",
                worker = self.shared.id(),
                left = ?self.shared.time_left(),
                error = %error,
                "the loan could not be renewed; see that the store runs"
            );
        }
        (self.shared.grant.lease / 30).clamp(Duration::from_millis(50), Duration::from_secs(10))
    }

    /// The store says that the loan is over.
    fn refused(&mut self) {
        self.shared.set_until(Duration::ZERO);
        let reason = LendError::Lost { id: self.shared.id() }.to_string();
        {
            let mut state = lock(&self.shared.state);
            state.is_refused = true;
            state.failed += 1;
            state.last_error = Some(reason.clone());
        }
        metrics::count_failure(&self.shared.pool.labels());
        self.tell(Duration::ZERO, reason);
        tell_lost(self.shared.id());
    }

    /// When it is told that renewals fail: at two thirds of the time that was left.
    fn tell_at(&self) -> Option<Duration> {
        let failing = self.unanswered?;
        Some(failing + self.shared.until().saturating_sub(failing) * 2 / 3)
    }

    /// Tells that no renewal succeeds, and waits for the end.
    fn about_to_lose(&mut self) {
        let shared = Arc::clone(&self.shared);
        let last = lock(&shared.state).last_error.clone();
        let reason = last.unwrap_or_else(|| "the store does not answer".to_owned());
        event!(
            error,
            "worker_about_to_be_lost",
            worker = shared.id(),
            left = ?shared.time_left(),
            error = %reason,
            "no renewal succeeds: make the last ids with this worker id"
        );
        self.tell(shared.time_left(), reason);
        while !lock(&shared.state).is_closing {
            let left = shared.time_left();
            if left.is_zero() {
                tell_lost(self.shared.id());
                break;
            }
            // An answer that comes now is not looked at: the program has been told to end.
            let state = lock(&shared.state);
            if !state.is_closing {
                drop(wait_timeout(&shared.changed, state, left.min(LONGEST_SLEEP)));
            }
        }
    }

    fn tell(&mut self, time_left: Duration, reason: String) {
        let loss = Loss { id: self.shared.id(), time_left, reason };
        if let Some(on_loss) = self.on_loss.take() {
            catch_panic(|| on_loss(&loss));
            // What it captured may own the worker.
            catch_panic(|| drop(on_loss));
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg_attr(not(feature = "tracing"), allow(unused_variables, reason = "it is told by events"))]
fn tell_renewed(worker: u64, has_failed: bool) {
    if has_failed {
        event!(info, "worker_renewed_again", worker, "the loan is renewed again");
    } else {
        event!(debug, "worker_renewed", worker, "the loan was renewed");
    }
}

#[cfg_attr(not(feature = "tracing"), allow(unused_variables, reason = "it is told by events"))]
fn tell_lost(worker: u64) {
    event!(error, "worker_lost", worker, "the worker id is lost; lend another");
}
