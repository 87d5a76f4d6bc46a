//! The calls to the source, each on a thread of its own.

use super::{Loader, unlock_and_wake};
use crate::clock::Stopwatch;
use crate::segment::SegmentError;
use crate::segment::load::loaded_tag::LoadedTag;
use crate::segment::load::scheduler::Job;
use crate::segment::load::trouble::SourcePanicked;
use crate::support::callbacks::catch_panic;
use crate::sync::{Arc, Mutex, lock, thread};

impl Loader {
    /// Runs `job` on a thread of its own, followed by the jobs that are due after it.
    pub(super) fn start(self: &Arc<Self>, job: Job) {
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
        unlock_and_wake(scheduler);
        #[cfg(feature = "metrics")]
        if !self.is_forked() {
            catch_panic(|| self.load_times.record(took));
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
        catch_panic(call).unwrap_or_else(|| {
            Err(SegmentError::other(SourcePanicked { source: self.source_name.clone() }))
        })
    }
}
