//! How tags are given up, one by one or all at the end, and what is left of them goes back.

use std::time::Duration;

use super::{Job, Scheduler};
use crate::segment::load::events::Event;
use crate::segment::load::loaded_tag::LoadedTag;
use crate::segment::load::tag_state::{LoadState, Retirement, TagState};
use crate::segment::load::trouble::Trouble;
use crate::segment::tag::engine::{Level, TagEngine};
use crate::segment::{Segment, SegmentError};
use crate::support::named::ByName;
use crate::sync::{Arc, Mutex, Ordering, fence, lock};

impl Scheduler {
    /// Frees the indexes of the tags that were given up and that nobody else has any more. Such a
    /// tag cannot come into the list of requests again, which goes by the indexes.
    pub(super) fn reclaim_indexes(&mut self) {
        let Some(first) = self.retired_indexes.front() else { return };
        let requests = Arc::clone(&self.tags[*first].engine.requests);
        let placeholder = self.placeholder.get_or_insert_with(|| {
            let mut state = TagState::new(Duration::ZERO);
            state.retirement = Retirement::Cleared;
            let engine = TagEngine::new(requests, Duration::ZERO);
            Arc::new(LoadedTag { name: "".into(), engine, state: Mutex::new(state) })
        });
        for index in std::mem::take(&mut self.retired_indexes) {
            let place = &mut self.tags[index];
            let is_unused = Arc::strong_count(place) == 1;
            // ORDERING: Acquire, pairs with the release of those who had the tag.
            fence(Ordering::Acquire);
            if is_unused && !place.engine.entry.is_listed() {
                *place = Arc::clone(placeholder);
                self.free_indexes.push(index);
            } else {
                self.retired_indexes.push_back(index);
            }
        }
    }

    /// The tags that have given no number for the time that the policy lets them rest. The caller
    /// gives them up. `None` while it is too early to look.
    pub fn resting(&mut self, now: Duration) -> Option<Vec<Arc<LoadedTag>>> {
        let rest = self.policy.rest.filter(|_| now >= self.next_sweep)?;
        self.next_sweep = now + rest / 2;
        self.reclaim_indexes();
        let since = now.saturating_sub(rest);
        let ahead = self.policy.ahead;
        let is_resting = |tag: &&Arc<LoadedTag>| {
            let mut state = lock(&tag.state);
            let Level { claimed, wanted, .. } = tag.engine.level();
            let is_resting = state.demand.is_resting(claimed, since);
            if !state.demand.is_resting(claimed, now) {
                state.demand.measure(claimed, now, ahead);
            }
            // The next one of the name would not know that the row went back.
            let is_kept = state.went_back || state.is_retired();
            is_resting && wanted == 0 && !tag.engine.has_tasks() && !is_kept
        };
        Some(self.tags.iter().filter(is_resting).cloned().collect())
    }

    /// Begins to give `tag` up: nothing more is loaded for it. The caller ends its takes, and then
    /// calls [`retired`](Scheduler::retired). Returns whether there is anything to do.
    pub fn retire(&mut self, tag: &Arc<LoadedTag>) -> bool {
        let mut state = lock(&tag.state);
        let is_known = self.names.get(&*tag.name).is_some_and(|ByName(of)| Arc::ptr_eq(of, tag));
        if self.has_ended || !is_known || state.is_retired() {
            return false;
        }
        state.retirement = Retirement::Begun;
        if let LoadState::Queued(key) = state.load {
            self.queue.remove(&key);
            state.load = LoadState::Idle;
        }
        if let Some(key) = state.timer.take() {
            self.timers.remove(&key);
        }
        true
    }

    /// The takes of a tag that is given up have ended.
    pub fn retired(&mut self, tag: &Arc<LoadedTag>, now: Duration) {
        lock(&tag.state).retirement = Retirement::Ended;
        self.clear_out_retired(tag, now);
    }

    /// Prepares the calls that give back what is left of `tag`, if its takes have ended because it
    /// was given up, and no load of it is running.
    pub(super) fn clear_out_retired(&mut self, tag: &Arc<LoadedTag>, now: Duration) {
        let mut state = lock(&tag.state);
        if self.has_ended || state.retirement != Retirement::Ended || state.is_loading() {
            return;
        }
        state.retirement = Retirement::Cleared;
        let unused = self.clear_out_tag(tag, &mut state, now);
        self.alarms.retired(&mut state.alarm, self.outage.is_some(), now);
        // There is one for each database at most.
        state.returns = u32::try_from(unused.len()).unwrap_or(u32::MAX);
        drop(state);
        if unused.is_empty() {
            self.forget(tag);
        }
        self.left_over.extend(unused);
    }

    /// The calls that give back what is left of a tag that hands out no more numbers.
    fn clear_out_tag(
        &mut self,
        tag: &Arc<LoadedTag>,
        state: &mut TagState,
        now: Duration,
    ) -> Vec<Job> {
        let (claimed, left) = tag.engine.claimed_and_left();
        let numbers = (claimed, tag.engine.lost(), left);
        self.alarms.ended(&tag.name, &mut state.alarm, numbers, now);
        // Others may have taken such a row to where it ended for this process.
        if state.has_gone_back() {
            self.alarms.end.gave_back(left, Ok(false));
            return Vec::new();
        }
        let unused = state.unused(left, tag.engine.delta());
        unused.into_iter().map(|unused| Job::GiveBack { tag: Arc::clone(tag), unused }).collect()
    }

    /// Forgets a tag that was given up. Its name can be entered again.
    fn forget(&mut self, tag: &Arc<LoadedTag>) {
        self.free_name(tag);
        #[cfg(feature = "metrics")]
        {
            self.retired_totals.add(&tag.engine);
            self.retired_totals.in_memory = 0;
        }
        if let Some(index) = tag.engine.entry.index() {
            self.retired_indexes.push_back(index);
        }
    }

    /// Starts the end: no load begins from now on. Returns all tags, which the caller shuts down.
    /// A tag whose first load is running is one of them, because what that brings goes back.
    pub fn end(&mut self) -> Vec<Arc<LoadedTag>> {
        self.has_ended = true;
        self.queue.clear();
        self.first_loads = 0;
        self.timers.clear();
        self.names.iter().map(|ByName(tag)| Arc::clone(tag)).collect()
    }

    /// Prepares the calls that give back what is left. All loads have ended, and no tag hands out
    /// any more numbers.
    pub fn clear_out(&mut self, now: Duration) {
        self.outage = None;
        for tag in self.tags.clone() {
            let mut state = lock(&tag.state);
            if state.retirement != Retirement::Cleared {
                let jobs = self.clear_out_tag(&tag, &mut state, now);
                self.left_over.extend(jobs);
            }
        }
    }

    /// Handles the result of a call that gives `unused` of `tag` back. At the end, if its database
    /// is away, the calls for other tags in it are dropped.
    pub fn gave_back(
        &mut self,
        tag: &Arc<LoadedTag>,
        unused: &Segment,
        result: Result<bool, SegmentError>,
        now: Duration,
    ) {
        self.running -= 1;
        if !self.has_ended {
            // What is not given back may not have been asked for.
            if matches!(result, Ok(true)) {
                self.outage = None;
                self.alarms.reached(now);
            }
            let left = {
                let returns = &mut lock(&tag.state).returns;
                *returns = returns.saturating_sub(1);
                *returns
            };
            // Others of its calls may be running.
            if left == 0 {
                self.forget(tag);
            }
            // What a source that is away does not take back is lost, as what others do not.
            self.alarms.end.gave_back(unused.count, result.or(Ok(false)));
            return;
        }
        if result.as_ref().is_err_and(|error| Trouble::of(error) == Trouble::Away) {
            let is_of_another = |job: &Job| match job {
                Job::GiveBack { unused: other, .. } => other.database != unused.database,
                Job::Load { .. } => true,
            };
            self.left_over.retain(is_of_another);
        }
        self.alarms.end.gave_back(unused.count, result);
    }

    /// Records that the loader has ended, and its result.
    pub fn set_end(&mut self) {
        let end = self.alarms.end.clone();
        self.end = Some(end.error.clone().map_or(Ok(()), Err));
        self.alarms.events.push(Event::Stopped(end));
    }
}
