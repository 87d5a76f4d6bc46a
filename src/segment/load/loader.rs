//! [`Loader`]: one thread that decides what to load for all tags, and short-lived threads that run
//! the loads, because a source blocks.

use std::io;
use std::mem;
use std::time::Duration;

use crate::clock::Stopwatch;
use crate::engine::TakeError;
#[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
use crate::engine::fork::{self, Abandon};
use crate::segment::load::events;
use crate::segment::load::label::Label;
use crate::segment::load::loaded_tag::LoadedTag;
#[cfg(feature = "metrics")]
use crate::segment::load::metrics::{Metrics, PERIOD, load_times};
use crate::segment::load::policy::Policy;
use crate::segment::load::scheduler::{Job, SHORT, Scheduler};
use crate::segment::load::supplier::{Supplier, Telling};
use crate::segment::load::trouble::SourcePanicked;
use crate::segment::tag::request_list::RequestList;
use crate::segment::{SegmentError, SegmentSource};
use crate::support::callbacks::caught;
use crate::sync::{
    Arc, AtomicBool, Condvar, Mutex, MutexGuard, Ordering, Parker, ThreadId, lock, thread,
    thread_id, wait_timeout,
};

/// The state that the loader's threads and the handles share.
pub struct Loader {
    pub supplier: Box<dyn Supplier>,
    /// The name of the source. Read only once, because the source is foreign code and may panic.
    pub source_name: String,
    /// The name of the source in events and metrics.
    label: Label,
    telling: Telling,
    /// Locked only by the loader's thread.
    #[cfg(feature = "metrics")]
    metrics: Mutex<Metrics>,
    #[cfg(feature = "metrics")]
    load_times: metrics::Histogram,
    pub policy: Policy,
    scheduler: Mutex<Scheduler>,
    /// Notified when a load ends, when the loader ends, and when events have been sent.
    changed: Condvar,
    /// The loader's thread, once it runs.
    thread: Mutex<Option<ThreadId>>,
    requests: Arc<RequestList>,
    /// Set in a child process, where the threads do not exist and locks may be held for ever.
    is_forked: AtomicBool,
}

/// How long the loader waits for a call to the source before it checks again whether it has ended.
const RECHECK: Duration = Duration::from_secs(1);

impl Loader {
    pub fn new(
        supplier: Box<dyn Supplier>,
        policy: Policy,
        loads: usize,
        #[cfg(feature = "metrics")] measured_tags: Vec<String>,
    ) -> (Loader, Parker) {
        let (requests, parker) = RequestList::new();
        let source_name = supplier.source().name();
        let telling = supplier.telling();
        // The tags of the same store have its name.
        let label = if telling.is_of_series {
            Label::new(&format!("series in {source_name}"))
        } else {
            Label::new(&source_name)
        };
        let rng = fastrand::Rng::new();
        let scheduler = Scheduler::new(policy, loads.max(1), source_name.clone(), telling, rng);
        let loader = Loader {
            supplier,
            telling,
            source_name,
            #[cfg(feature = "metrics")]
            metrics: Mutex::new(Metrics::new(label.as_str(), telling, measured_tags, policy)),
            #[cfg(feature = "metrics")]
            load_times: load_times(label.as_str()),
            label,
            policy,
            scheduler: Mutex::new(scheduler),
            changed: Condvar::new(),
            thread: Mutex::new(None),
            requests: Arc::new(requests),
            is_forked: AtomicBool::new(false),
        };
        (loader, parker)
    }

    /// Where the numbers come from.
    pub fn source(&self) -> &dyn SegmentSource {
        self.supplier.source()
    }

    /// The time since the loader was made.
    pub fn now(&self) -> Duration {
        self.requests.clock.elapsed()
    }

    /// Whether this is a copy in a process that was forked from the one that loads.
    pub fn is_forked(&self) -> bool {
        // ORDERING: written while the child has one thread.
        self.is_forked.load(Ordering::Relaxed)
    }

    /// The tag of this name. Waits until its first load has ended.
    pub fn tag(&self, name: &str) -> Result<Arc<LoadedTag>, SegmentError> {
        if self.is_forked() {
            return Err(SegmentError::Ended { cause: TakeError::Forked });
        }
        let since = Stopwatch::start();
        let mut scheduler = lock(&self.scheduler);
        let mut tag = self.enter(&mut scheduler, name)?;
        loop {
            if scheduler.has_ended {
                return Err(SegmentError::Ended { cause: TakeError::ShutDown });
            }
            let stock = lock(&tag.stock);
            let is_retired = stock.is_retired();
            if !is_retired && stock.last_size > 0 {
                drop(stock);
                return Ok(tag);
            }
            if let Some(error) = stock.last_failure.as_ref().filter(|_| !is_retired) {
                return Err(SegmentError::clone(error));
            }
            if self.is_own_thread() {
                return Err(SegmentError::unreachable(
                    "the loader's own thread cannot wait for the first load of a tag",
                ));
            }
            if is_retired {
                // Its numbers go back to the row before the next ones are taken, one call after the
                // other.
                drop(stock);
                // Who waits for nothing else still waits for the call that is under way.
                let patience = self.policy.max_wait.max(RECHECK);
                let Some(left) = patience.checked_sub(since.elapsed()) else {
                    let error =
                        scheduler.outage(self.now()).map(|error| SegmentError::clone(&error));
                    return Err(error.unwrap_or_else(|| {
                        SegmentError::unreachable(
                            "the numbers that it had before are still on their way back",
                        )
                    }));
                };
                scheduler = wait_timeout(&self.changed, scheduler, left.clamp(SHORT, RECHECK));
                tag = self.enter(&mut scheduler, name)?;
                continue;
            }
            let is_loading = stock.is_loading();
            drop(stock);
            let mut pause = RECHECK;
            // A running load is always waited for, because it ends within the source's own time
            // limit. Nobody knows when one begins that waits for others.
            if !is_loading {
                let outage = scheduler.outage(self.now());
                let patience = self.policy.max_wait;
                let patience = if outage.is_some() { patience } else { patience.max(RECHECK) };
                if since.elapsed() >= patience {
                    scheduler.drop_unwanted(&tag);
                    return Err(outage.map_or_else(too_busy, |error| SegmentError::clone(&error)));
                }
                pause = if outage.is_some() {
                    tag.engine.pause(since)
                } else {
                    patience.saturating_sub(since.elapsed()).max(SHORT)
                };
            }
            scheduler = wait_timeout(&self.changed, scheduler, pause.min(RECHECK));
        }
    }

    /// The tag of this name, whose first load is queued if it is new.
    #[cfg_attr(
        not(all(unix, not(any(uidring_loom, uidring_shuttle)))),
        allow(clippy::unnecessary_wraps, reason = "only the list of what a fork visits can fail")
    )]
    fn enter(&self, scheduler: &mut Scheduler, name: &str) -> Result<Arc<LoadedTag>, SegmentError> {
        let (tag, is_new) = scheduler.enter(name, &self.requests, self.now());
        if is_new {
            // Registered before any take, so that a fork always finds the tag.
            #[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
            fork::watch(&tag).map_err(SegmentError::other)?;
            self.requests.signal.wake_filler();
        }
        Ok(tag)
    }

    /// The tag of this name, whose first load is queued if it is new. Nothing is waited for. `None`
    /// if too many others wait for theirs.
    #[cfg(feature = "series")]
    pub fn begin(&self, name: &str) -> Result<Option<Arc<LoadedTag>>, SegmentError> {
        if self.is_forked() {
            return Err(SegmentError::Ended { cause: TakeError::Forked });
        }
        let mut scheduler = lock(&self.scheduler);
        if scheduler.has_ended {
            return Err(SegmentError::Ended { cause: TakeError::ShutDown });
        }
        if scheduler.is_too_many(name) {
            return Ok(None);
        }
        self.enter(&mut scheduler, name).map(Some)
    }

    /// Waits until the numbers of a tag that was given up are back in its row, for [`RECHECK`] at
    /// most.
    #[cfg(feature = "series")]
    pub fn settle(&self, name: &str) {
        if self.is_forked() || self.is_own_thread() {
            return;
        }
        let since = Stopwatch::start();
        let mut scheduler = lock(&self.scheduler);
        while scheduler.is_returning(name)
            && let Some(left) = RECHECK.checked_sub(since.elapsed())
        {
            scheduler = wait_timeout(&self.changed, scheduler, left.max(SHORT));
        }
    }

    /// Fails if the loader ends or belongs to the parent process.
    pub fn check_end(&self) -> Result<(), SegmentError> {
        let cause = if self.is_forked() {
            TakeError::Forked
        } else if lock(&self.scheduler).has_ended {
            TakeError::ShutDown
        } else {
            return Ok(());
        };
        Err(SegmentError::Ended { cause })
    }

    /// Whether takers fail for good, because the loader ends or belongs to the parent process.
    #[cfg(feature = "series")]
    pub fn has_ended(&self) -> bool {
        self.is_forked() || self.requests.signal.is_stopped()
    }

    /// Gives `tag` up: its takes fail from now on, and what is left goes back to its row. Later
    /// uses of its name load it anew.
    pub fn retire(&self, tag: &Arc<LoadedTag>) {
        if self.is_forked() || !lock(&self.scheduler).retire(tag) {
            return;
        }
        // A task's waker may panic.
        caught(|| tag.engine.shut_down());
        lock(&self.scheduler).retired(tag, self.now());
        self.changed.notify_all();
        self.requests.signal.wake_filler();
    }

    /// The loader thread's main loop.
    fn run(self: &Arc<Self>, parker: &Parker) {
        *lock(&self.thread) = Some(thread_id());
        while !self.requests.signal.is_stopped() {
            // Cleared before the list is read, see `Signal::wake_filler`.
            self.requests.signal.take_wake_up();
            // A bug of ours must not end the thread, because takers would wait for ever.
            let pause = caught(|| self.run_once()).unwrap_or(RECHECK);
            self.start_telling();
            // A recorder is foreign code.
            #[cfg(feature = "metrics")]
            let pause = caught(|| self.update_metrics()).map_or(PERIOD, |next| next.min(pause));
            parker.park_timeout(pause);
        }
        self.finish();
    }

    /// Updates the metrics if an update is due. Returns the time until the next one.
    #[cfg(feature = "metrics")]
    fn update_metrics(&self) -> Duration {
        let fullness = || self.supplier.fullness();
        lock(&self.metrics).update_if_due(&self.scheduler, fullness, self.now())
    }

    /// Maintains the tags that need it, and starts the loads that are due. Returns how long to
    /// sleep.
    fn run_once(self: &Arc<Self>) -> Duration {
        let now = self.now();
        let mut scheduler = lock(&self.scheduler);
        scheduler.run_due(&self.requests, now);
        let jobs: Vec<Job> = std::iter::from_fn(|| scheduler.next_job(now)).collect();
        let pause = scheduler.next_run(now);
        let resting = scheduler.resting(now);
        wake(scheduler);
        for job in jobs {
            self.start(job);
        }
        if let Some(resting) = resting {
            for tag in resting {
                self.retire(&tag);
            }
            #[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
            fork::forget_dropped();
        }
        pause
    }

    /// Runs `job` on a thread of its own, followed by the jobs that are due after it.
    fn start(self: &Arc<Self>, job: Job) {
        let loader = Arc::clone(self);
        let job = Arc::new(Mutex::new(Some(job)));
        let body = {
            let job = Arc::clone(&job);
            move || loader.work(&job)
        };
        let started = thread::Builder::new().name("uidring-load".to_owned()).spawn(body);
        let is_started = started.is_ok();
        lock(&self.scheduler).alarms.load_thread(started.map(drop));
        if !is_started {
            // If no thread can be started, this thread runs the job. The next job tries a new
            // thread again.
            self.work(&job);
        }
    }

    fn work(&self, job: &Mutex<Option<Job>>) {
        let mut next = lock(job).take();
        while let Some(job) = next {
            match job {
                Job::Load { tag, count, wanted } => self.load(&tag, count, wanted),
                Job::GiveBack { tag, unused } => {
                    let result = self.call(|| self.source().give_back(&tag.name, &unused));
                    lock(&self.scheduler).gave_back(&tag, &unused, result, self.now());
                }
            }
            self.changed.notify_all();
            next = lock(&self.scheduler).next_job(self.now());
            // Makes the loader compute its next run, and start further jobs.
            self.requests.signal.wake_filler();
        }
    }

    fn load(&self, tag: &Arc<LoadedTag>, count: Option<u64>, wanted: u64) {
        let since = Stopwatch::start();
        let result = self.call(|| self.supplier.load(&tag.name, count, wanted));
        let now = self.now();
        let took = since.elapsed();
        let mut scheduler = lock(&self.scheduler);
        let refused = scheduler.loaded(tag, result, took, now);
        wake(scheduler);
        #[cfg(feature = "metrics")]
        if !self.is_forked() {
            caught(|| self.load_times.record(took));
        }
        if let Some(segment) = refused {
            let result = self.call(|| self.source().give_back(&tag.name, &segment));
            if !matches!(result, Ok(true)) {
                lock(&self.scheduler).lose_refused(tag, segment.count, self.now());
            }
        }
    }

    /// Calls the source, which is foreign code. A panic becomes an error.
    fn call<T>(&self, call: impl FnOnce() -> Result<T, SegmentError>) -> Result<T, SegmentError> {
        caught(call).unwrap_or_else(|| {
            Err(SegmentError::other(SourcePanicked { source: self.source_name.clone() }))
        })
    }

    /// Starts the end: takes fail from now on, and the loader gives back what is left.
    pub fn begin_end(&self) {
        if self.is_forked() || self.requests.signal.is_stopped() {
            return;
        }
        let tags = lock(&self.scheduler).end();
        for tag in tags {
            // A task's waker may panic.
            caught(|| tag.engine.shut_down());
        }
        self.changed.notify_all();
        self.requests.signal.stop();
    }

    /// Waits for the running calls, and gives back what is left.
    fn finish(self: &Arc<Self>) {
        self.wait_while(Scheduler::is_calling);
        let mut scheduler = lock(&self.scheduler);
        scheduler.clear_out(self.now());
        let jobs: Vec<Job> = std::iter::from_fn(|| scheduler.next_job(Duration::ZERO)).collect();
        drop(scheduler);
        for job in jobs {
            self.start(job);
        }
        self.wait_while(Scheduler::is_busy);
        lock(&self.scheduler).set_end();
        self.changed.notify_all();
        #[cfg(feature = "metrics")]
        caught(|| {
            let fullness = self.supplier.fullness();
            lock(&self.metrics).finish(&self.scheduler, fullness, self.now());
        });
        self.tell();
        let mut scheduler = lock(&self.scheduler);
        while !scheduler.alarms.events.are_told() {
            scheduler = wait_timeout(&self.changed, scheduler, RECHECK);
        }
        // Lets the next loader of this source have the same label.
        self.label.release();
        scheduler.is_told = true;
        drop(scheduler);
        self.changed.notify_all();
    }

    /// Sends the queued events on a separate thread. Subscribers are foreign code, and no load may
    /// wait for them.
    fn start_telling(self: &Arc<Self>) {
        if !lock(&self.scheduler).alarms.events.need_a_thread() {
            return;
        }
        let loader = Arc::clone(self);
        let started =
            thread::Builder::new().name("uidring-events".to_owned()).spawn(move || loader.tell());
        if started.is_err() {
            self.tell();
        }
    }

    /// Sends the queued events, unless another thread does.
    fn tell(&self) {
        // In a forked process the lock may be held by a thread that does not exist.
        while !self.is_forked() {
            let Some(event) = lock(&self.scheduler).alarms.events.take_next() else {
                self.changed.notify_all();
                return;
            };
            caught(|| event.tell(self.label.as_str(), self.telling));
        }
    }

    /// Whether the calling thread is the loader's thread, running a task's waker or a subscriber.
    fn is_own_thread(&self) -> bool {
        *lock(&self.thread) == Some(thread_id())
    }

    /// Whether the loader, when it ends, waits for the calling thread, so that this thread must not
    /// wait for the loader.
    fn is_waited_for(&self) -> bool {
        self.is_own_thread() || lock(&self.scheduler).alarms.events.is_this_thread()
    }

    fn wait_while(&self, is_so: fn(&Scheduler) -> bool) {
        let mut scheduler = lock(&self.scheduler);
        while is_so(&scheduler) {
            scheduler = wait_timeout(&self.changed, scheduler, RECHECK);
        }
    }
}

#[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
impl Abandon for Loader {
    fn abandon(&self) {
        // ORDERING: the child has one thread.
        self.is_forked.store(true, Ordering::Relaxed);
    }
}

/// The error of a first load that has not begun in time.
fn too_busy() -> SegmentError {
    SegmentError::unreachable(
        "the first load of the tag waits for loads of other tags; try again, and let more loads \
         run at once if this happens often",
    )
}

/// Unlocks the scheduler, then wakes the takers for whom something has changed. Wakers are foreign
/// code, and may panic.
fn wake(mut scheduler: MutexGuard<'_, Scheduler>) {
    let wake_ups = scheduler.take_wake_ups();
    drop(scheduler);
    wake_ups.wake_takers();
}

/// The running loader. Dropping it ends all tags, gives back what is left, and joins the thread. In
/// a forked process, where the thread does not exist, dropping it does nothing.
pub struct Running {
    pub loader: Arc<Loader>,
    /// `None` only while this is dropped.
    thread: Option<thread::JoinHandle<()>>,
    shutdown_deadline: Duration,
    is_overdue: AtomicBool,
    /// Dropped last, after the tags.
    #[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
    _forget: fork::ForgetDropped,
}

impl Running {
    pub fn start(
        loader: Loader,
        parker: Parker,
        shutdown_deadline: Duration,
    ) -> io::Result<Running> {
        let loader = Arc::new(loader);
        #[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
        fork::watch(&loader)?;
        let body = {
            let loader = Arc::clone(&loader);
            move || loader.run(&parker)
        };
        let thread = thread::Builder::new().name("uidring-segments".to_owned()).spawn(body)?;
        let running = Running {
            loader,
            thread: Some(thread),
            shutdown_deadline,
            is_overdue: AtomicBool::new(false),
            #[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
            _forget: fork::ForgetDropped,
        };
        events::started(running.loader.label.as_str());
        Ok(running)
    }

    /// Ends all tags, and waits until what is left has been given back, but no longer than the
    /// deadline.
    pub fn shut_down(&self) -> Result<(), SegmentError> {
        self.loader.begin_end();
        if self.loader.is_forked() || self.loader.is_own_thread() {
            return Ok(());
        }
        let since = Stopwatch::start();
        let mut scheduler = lock(&self.loader.scheduler);
        loop {
            let left = self.shutdown_deadline.saturating_sub(since.elapsed());
            let is_told = scheduler.is_told || scheduler.alarms.events.is_this_thread();
            if left.is_zero() && !scheduler.is_told {
                // ORDERING: the last handle is dropped after this call.
                self.is_overdue.store(true, Ordering::Relaxed);
            }
            match &scheduler.end {
                Some(result) if is_told || left.is_zero() => {
                    return result.as_ref().map_err(|error| SegmentError::clone(error)).copied();
                }
                None if left.is_zero() => {
                    return Err(SegmentError::NotGivenBack { waited: since.elapsed() });
                }
                _ => {}
            }
            scheduler = wait_timeout(&self.loader.changed, scheduler, left.min(RECHECK));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.loader.is_forked() {
            // There is no thread to join. Its handle is leaked, because dropping or waking it may
            // take a lock that is held by a thread that does not exist here.
            mem::forget(self.thread.take());
            return;
        }
        self.loader.begin_end();
        let is_waited_for = self.loader.is_waited_for();
        // ORDERING: see `shut_down`.
        let is_overdue = self.is_overdue.load(Ordering::Relaxed);
        if let Some(thread) = self.thread.take()
            && !is_waited_for
            && !is_overdue
        {
            // The thread catches all panics of foreign code, so joining it does not fail.
            let _ = thread.join();
        }
    }
}
