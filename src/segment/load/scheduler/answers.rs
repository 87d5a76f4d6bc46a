//! What the answers of the source to loads bring about.

use std::time::Duration;

use super::{Outage, Scheduler};
use crate::engine::{SegmentFailure, TakeError};
use crate::segment::load::loaded_tag::LoadedTag;
use crate::segment::load::policy::pause;
use crate::segment::load::tag_state::{LoadState, Rank, TagState};
use crate::segment::load::trouble::{Trouble, failure_of};
use crate::segment::tag::engine::is_worth_waiting;
use crate::segment::{Segment, SegmentError};
use crate::sync::{Arc, lock};

impl Scheduler {
    /// Handles the result of a load of `tag`. Returns a rejected segment that its row may take
    /// back.
    pub fn loaded(
        &mut self,
        tag: &Arc<LoadedTag>,
        result: Result<Segment, SegmentError>,
        took: Duration,
        now: Duration,
    ) -> Option<Segment> {
        self.running -= 1;
        let mut state = lock(&tag.state);
        state.load = LoadState::Idle;
        self.stuck -= usize::from(state.is_stuck);
        let is_new = state.last_size == 0;
        let (result, refused) = match result {
            Ok(segment) => match self.accept(tag, &mut state, &segment) {
                Ok(last) => {
                    self.alarms.check_full(&tag.name, &segment, last);
                    (Ok(segment.count), None)
                }
                Err(error) => {
                    let error = (self.reporting.error)(error);
                    let mut trouble = Trouble::of(&error);
                    if trouble == Trouble::BadRow && segment.delta != tag.engine.delta() {
                        trouble = Trouble::DeltaChanged;
                    }
                    state.went_back = trouble == Trouble::WentBack;
                    (Err((trouble, error)), (!state.went_back).then_some(segment))
                }
            },
            Err(error) => {
                let error = (self.reporting.error)(error);
                (Err((Trouble::of(&error), error)), None)
            }
        };
        match result {
            Ok(numbers) => {
                self.alarms.loaded(&tag.name, &mut state.alarm, numbers, now);
                self.outage = None;
                state.load_time = took.max(state.load_time.mul_f64(0.75));
                (state.failures, state.retry_at) = (0, Duration::ZERO);
                state.is_stuck = false;
                // A batch of a series says nothing of the takes to come, and what is loaded for
                // those would be left over when the period ends.
                if self.reporting.is_of_series {
                    let at_once = u64::from(state.wanted_at_once).min(numbers);
                    state.demand.leave_out(at_once);
                }
                state.last_failure = None;
                tag.engine.set_failure(None);
                tag.engine.clear_request();
                tag.engine.counters.loads.add(1);
                if is_new {
                    self.assign_index(tag);
                }
                drop(state);
                self.maintain(tag, now);
            }
            Err((trouble, error)) => {
                self.failed(tag, &mut state, trouble, error, now);
                drop(state);
            }
        }
        self.clear_out_retired(tag, now);
        refused
    }

    /// Gives a new tag its index: that of a tag that was given up, or otherwise the next one.
    fn assign_index(&mut self, tag: &Arc<LoadedTag>) {
        if self.free_indexes.is_empty() {
            self.reclaim_indexes();
        }
        let index = self.free_indexes.pop().unwrap_or(self.tags.len());
        tag.engine.entry.set_index(index as u64);
        match self.tags.get_mut(index) {
            Some(place) => *place = Arc::clone(tag),
            None => self.tags.push(Arc::clone(tag)),
        }
    }

    /// Hands a loaded segment to the tag, and returns its last number. Rejects it if this process
    /// may not use its numbers.
    fn accept(
        &self,
        LoadedTag { name, engine, .. }: &LoadedTag,
        state: &mut TagState,
        segment: &Segment,
    ) -> Result<u64, SegmentError> {
        let last = state.check(name, &self.source, segment, engine.delta())?;
        if state.last_size == 0 {
            engine.set_delta(segment.delta);
        }
        engine.receive(segment.first, segment.count);
        state.note(segment, last, engine.left());
        Ok(last)
    }

    fn failed(
        &mut self,
        tag: &Arc<LoadedTag>,
        state: &mut TagState,
        trouble: Trouble,
        error: SegmentError,
        now: Duration,
    ) {
        let cause = failure_of(&error);
        let is_worth_waiting = is_worth_waiting(TakeError::SegmentExhausted { cause });
        let error = Arc::new(error);
        tag.engine.counters.failures.add(1);
        tag.engine.set_failure(Some(cause));
        state.failures = state.failures.saturating_add(1);
        state.retry_at = now + pause(state.failures, &mut self.rng);
        state.last_failure = Some(Arc::clone(&error));
        // What does not reach the source says nothing about the tag.
        state.is_stuck = trouble != Trouble::Away;
        let is_new = state.last_size == 0;
        self.alarms.failed(&tag.name, &mut state.alarm, is_new, trouble, &error, now);
        if trouble == Trouble::Away {
            let failures = self.outage.as_ref().map_or(0, |outage| outage.failures) + 1;
            let until = now + pause(failures, &mut self.rng);
            self.note_outage_in_queue(&error, cause);
            self.outage = Some(Outage { failures, until, error });
        } else {
            // An answer ends the outage.
            self.outage = None;
        }
        if is_new {
            self.free_name(tag);
        } else if is_worth_waiting {
            let at = state.retry_at;
            self.set_timer(tag, state, at);
        } else {
            // The next take that needs a number starts another try. Takes that are waiting now
            // fail.
            tag.engine.clear_request();
            self.wake_ups.all.push(Arc::clone(tag));
        }
    }

    /// Records for all queued tags why they get no numbers.
    fn note_outage_in_queue(&self, error: &Arc<SegmentError>, cause: SegmentFailure) {
        for (_, tag) in self.queue.iter().filter(|((rank, _), _)| *rank != Rank::Ahead) {
            let mut state = lock(&tag.state);
            // A new tag has no takers yet, and its first load may still succeed.
            if state.last_size > 0 {
                state.last_failure = Some(Arc::clone(error));
                tag.engine.set_failure(Some(cause));
            }
        }
    }

    /// Counts rejected `numbers` as lost, because the row of `tag` has not taken them back.
    pub fn lose_refused(&mut self, tag: &Arc<LoadedTag>, numbers: u64, now: Duration) {
        let alarm = &mut lock(&tag.state).alarm;
        self.alarms.refused(alarm, numbers);
        self.alarms.check_lost(&tag.name, alarm, tag.engine.lost(), now);
    }
}
