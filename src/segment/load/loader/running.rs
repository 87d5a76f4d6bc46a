//! [`Running`]: the handle of the running loader, which ends it when it is dropped.

use std::io;
use std::mem;
use std::time::Duration;

use super::{Loader, RECHECK};
use crate::clock::Stopwatch;
#[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
use crate::engine::fork;
use crate::segment::SegmentError;
use crate::segment::load::events;
use crate::sync::{Arc, AtomicBool, Ordering, Parker, lock, thread, wait_timeout};

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
            let are_events_sent = scheduler.are_events_sent || scheduler.alarms.events.is_sender();
            if left.is_zero() && !scheduler.are_events_sent {
                // ORDERING: the last handle is dropped after this call.
                self.is_overdue.store(true, Ordering::Relaxed);
            }
            match &scheduler.end {
                Some(result) if are_events_sent || left.is_zero() => {
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

impl Loader {
    /// Whether the loader, when it ends, waits for the calling thread, so that this thread must not
    /// wait for the loader.
    fn is_waited_for(&self) -> bool {
        self.is_own_thread() || lock(&self.scheduler).alarms.events.is_sender()
    }
}
