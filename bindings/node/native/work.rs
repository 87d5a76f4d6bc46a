//! Threads for what waits for a store.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The most threads at a time. More calls wait for these.
const MOST: usize = 16;

/// How long a thread waits for another call before it ends.
const IDLE: Duration = Duration::from_secs(1);

type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Jobs {
    waiting: VecDeque<Job>,
    threads: usize,
    idle: usize,
}

static JOBS: Mutex<Option<Jobs>> = Mutex::new(None);
static MORE: Condvar = Condvar::new();

fn lock() -> MutexGuard<'static, Option<Jobs>> {
    // Nothing panics while it is locked.
    JOBS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a job on a thread.
pub(crate) fn run(job: impl FnOnce() + Send + 'static) {
    let mut jobs = lock();
    let all = jobs.get_or_insert_default();
    all.waiting.push_back(Box::new(job));
    if all.idle >= all.waiting.len() {
        MORE.notify_one();
        return;
    }
    if all.threads == MOST {
        return;
    }
    all.threads += 1;
    let started = thread::Builder::new().name("uidring-calls".to_owned()).spawn(work);
    if started.is_ok() {
        return;
    }
    all.threads -= 1;
    // There can be no more threads, and there is none to run the job.
    let job = if all.threads == 0 { all.waiting.pop_back() } else { None };
    drop(jobs);
    if let Some(job) = job {
        job();
    }
}

fn work() {
    let mut jobs = lock();
    loop {
        let all = jobs.get_or_insert_default();
        if let Some(job) = all.waiting.pop_front() {
            drop(jobs);
            // What it was to answer is told by the job itself.
            let _ = catch_unwind(AssertUnwindSafe(job));
            jobs = lock();
            continue;
        }
        all.idle += 1;
        let waited = MORE.wait_timeout(jobs, IDLE).unwrap_or_else(PoisonError::into_inner);
        jobs = waited.0;
        let all = jobs.get_or_insert_default();
        all.idle -= 1;
        if waited.1.timed_out() && all.waiting.is_empty() {
            all.threads -= 1;
            return;
        }
    }
}
