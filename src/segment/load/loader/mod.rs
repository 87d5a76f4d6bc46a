//! [`Loader`]: one thread that decides what to load for all tags, and short-lived threads that run
//! the loads, because a source blocks.

mod calls;
pub mod running;
mod tags;

use std::time::Duration;

#[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
use crate::engine::fork;
#[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
use crate::engine::fork::Abandon;
use crate::segment::SegmentSource;
use crate::segment::load::events::Event;
#[cfg(feature = "metrics")]
use crate::segment::load::metrics::{Metrics, PERIOD, load_times};
use crate::segment::load::policy::Policy;
use crate::segment::load::scheduler::{Job, Scheduler};
use crate::segment::load::source_label::SourceLabel;
use crate::segment::load::supplier::{Reporting, Supplier};
use crate::segment::load::trouble::Trouble;
use crate::segment::tag::request_list::RequestList;
use crate::support::callbacks::catch_panic;
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
    label: SourceLabel,
    reporting: Reporting,
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
        let reporting = supplier.reporting();
        // The tags of the same store have its name.
        let label = if reporting.is_of_series {
            SourceLabel::new(&format!("series in {source_name}"))
        } else {
            SourceLabel::new(&source_name)
        };
        let rng = fastrand::Rng::new();
        let scheduler = Scheduler::new(policy, loads.max(1), source_name.clone(), reporting, rng);
        let loader = Loader {
            supplier,
            reporting,
            source_name,
            #[cfg(feature = "metrics")]
            metrics: Mutex::new(Metrics::new(label.as_str(), reporting, measured_tags, policy)),
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

    /// The loader thread's main loop.
    fn run(self: &Arc<Self>, parker: &Parker) {
        *lock(&self.thread) = Some(thread_id());
        while !self.requests.signal.is_stopped() {
            // Cleared before the list is read, see `Signal::wake_filler`.
            self.requests.signal.take_wake_up();
            // A bug of ours must not end the thread, because takers would wait for ever.
            let pause = catch_panic(|| self.run_once()).unwrap_or(RECHECK);
            self.start_sending_events();
            // A recorder is foreign code.
            #[cfg(feature = "metrics")]
            let pause =
                catch_panic(|| self.update_metrics()).map_or(PERIOD, |next| next.min(pause));
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
        unlock_and_wake(scheduler);
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

    /// Starts the end: takes fail from now on, and the loader gives back what is left.
    pub fn begin_end(&self) {
        if self.is_forked() || self.requests.signal.is_stopped() {
            return;
        }
        let tags = lock(&self.scheduler).end();
        for tag in tags {
            // A task's waker may panic.
            catch_panic(|| tag.engine.shut_down());
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
        catch_panic(|| {
            let fullness = self.supplier.fullness();
            lock(&self.metrics).finish(&self.scheduler, fullness, self.now());
        });
        self.send_events();
        let mut scheduler = lock(&self.scheduler);
        while !scheduler.alarms.events.are_sent() {
            scheduler = wait_timeout(&self.changed, scheduler, RECHECK);
        }
        // Lets the next loader of this source have the same label.
        self.label.release();
        scheduler.are_events_sent = true;
        drop(scheduler);
        self.changed.notify_all();
    }

    /// Sends the queued events on a separate thread. Subscribers are foreign code, and no load may
    /// wait for them.
    fn start_sending_events(self: &Arc<Self>) {
        if !lock(&self.scheduler).alarms.events.need_a_sender() {
            return;
        }
        let loader = Arc::clone(self);
        let started = thread::Builder::new()
            .name("uidring-events".to_owned())
            .spawn(move || loader.send_events());
        if started.is_err() {
            self.send_events();
        }
    }

    /// Sends the queued events, unless another thread does.
    fn send_events(&self) {
        // In a forked process the lock may be held by a thread that does not exist.
        while !self.is_forked() {
            let Some(event) = lock(&self.scheduler).alarms.events.take_next() else {
                self.changed.notify_all();
                return;
            };
            if let Event::TagFailing { tag, trouble: Trouble::WentBack, .. } = &event
                && !self.supplier.is_news(tag)
            {
                continue;
            }
            catch_panic(|| event.send(self.label.as_str(), self.reporting));
        }
    }

    /// Whether the calling thread is the loader's thread, running a task's waker or a subscriber.
    fn is_own_thread(&self) -> bool {
        *lock(&self.thread) == Some(thread_id())
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

/// Unlocks the scheduler, then wakes the takers for whom something has changed. Wakers are foreign
/// code, and may panic.
fn unlock_and_wake(mut scheduler: MutexGuard<'_, Scheduler>) {
    let wake_ups = scheduler.take_wake_ups();
    drop(scheduler);
    wake_ups.wake_takers();
}
