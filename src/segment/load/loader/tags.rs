//! The tags that handles ask the loader for.

use super::{Loader, RECHECK};
use crate::clock::Stopwatch;
use crate::engine::TakeError;
#[cfg(all(unix, not(any(uidring_loom, uidring_shuttle))))]
use crate::engine::fork;
use crate::segment::SegmentError;
use crate::segment::load::loaded_tag::LoadedTag;
use crate::segment::load::scheduler::{SHORT, Scheduler};
use crate::support::callbacks::catch_panic;
use crate::sync::{Arc, lock, wait_timeout};

/// The error of a first load that has not begun in time.
fn too_busy() -> SegmentError {
    SegmentError::unreachable(
        "the first load of the tag waits for loads of other tags; try again, and let more loads \
         run at once if this happens often",
    )
}

impl Loader {
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
            let state = lock(&tag.state);
            let is_retired = state.is_retired();
            if !is_retired && state.last_size > 0 {
                drop(state);
                return Ok(tag);
            }
            if let Some(error) = state.last_failure.as_ref().filter(|_| !is_retired) {
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
                drop(state);
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
            let is_loading = state.is_loading();
            drop(state);
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
    pub fn begin_first_load(&self, name: &str) -> Result<Option<Arc<LoadedTag>>, SegmentError> {
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
    pub fn wait_for_return(&self, name: &str) {
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
        catch_panic(|| tag.engine.shut_down());
        lock(&self.scheduler).retired(tag, self.now());
        self.changed.notify_all();
        self.requests.signal.wake_filler();
    }
}
