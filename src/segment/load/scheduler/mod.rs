//! [`Scheduler`]: decides what to load next. It neither blocks nor reads a clock: the loader's
//! threads report what has happened and when, and ask for the next job.

mod answers;
mod retirement;
#[cfg(feature = "metrics")]
mod totals;

#[cfg(feature = "metrics")]
pub use totals::{Source, Totals};

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::mem;
use std::time::Duration;

#[cfg(feature = "async")]
use crate::engine::wait_queue::CALL_PATIENCE;
use crate::segment::load::alarm::Alarms;
use crate::segment::load::loaded_tag::LoadedTag;
use crate::segment::load::policy::Policy;
use crate::segment::load::supplier::Reporting;
use crate::segment::load::tag_state::{LoadState, Rank, TagState};
use crate::segment::load::trouble::failure_of;
use crate::segment::tag::engine::{Level, TagEngine};
use crate::segment::tag::request_list::RequestList;
use crate::segment::{Segment, SegmentError};
use crate::support::callbacks::catch_panic;
use crate::support::named::ByName;
use crate::sync::{Arc, Mutex, lock};

/// One call to the source.
#[derive(Debug)]
pub enum Job {
    /// Takers wait for `wanted` numbers.
    Load {
        tag: Arc<LoadedTag>,
        count: Option<u64>,
        wanted: u64,
    },
    GiveBack {
        tag: Arc<LoadedTag>,
        unused: Segment,
    },
}

/// The state of all tags and of the source.
#[derive(Debug)]
pub struct Scheduler {
    policy: Policy,
    /// The most calls at once.
    limit: usize,
    /// The name of the source.
    source: String,
    reporting: Reporting,
    names: HashSet<ByName<LoadedTag>>,
    /// The tags that have received numbers. Each tag's index is its position here.
    tags: Vec<Arc<LoadedTag>>,
    /// The indexes of tags that were given up, and that somebody may still have.
    retired_indexes: VecDeque<usize>,
    /// The indexes that later tags get, and the tag that is there meanwhile.
    free_indexes: Vec<usize>,
    placeholder: Option<Arc<LoadedTag>>,
    /// When to look next for tags that rest.
    next_sweep: Duration,
    /// The totals of the tags that were given up, of which nothing is in memory any more.
    #[cfg(feature = "metrics")]
    retired_totals: Totals,
    /// The tags that wait for a load. The key is (rank, order of arrival).
    queue: BTreeMap<(Rank, u64), Arc<LoadedTag>>,
    /// How many of them wait for their first load.
    first_loads: usize,
    /// When each tag next needs maintenance.
    timers: BTreeMap<(Duration, u64), Arc<LoadedTag>>,
    /// Makes the keys of the queue and the timers unique.
    count: u64,
    /// How many calls are running.
    running: usize,
    /// How many of them are loads of tags that are stuck.
    stuck: usize,
    outage: Option<Outage>,
    /// The tags whose takers are woken after the scheduler is unlocked.
    wake_ups: WakeUps,
    /// The calls that give numbers back: of tags that are given up, and at the end of all tags.
    left_over: VecDeque<Job>,
    /// Whether the next call is one of them even if a tag waits for a load.
    is_return_next: bool,
    pub has_ended: bool,
    /// What operators know, and the events still to be sent.
    pub alarms: Alarms,
    /// Set when the loader has ended: whether everything left was given back.
    pub end: Option<Result<(), Arc<SegmentError>>>,
    /// Set when all events have been sent.
    pub are_events_sent: bool,
    rng: fastrand::Rng,
}

/// An outage of the source. One call at a time finds out whether the source is back.
#[derive(Debug)]
struct Outage {
    failures: u32,
    until: Duration,
    error: Arc<SegmentError>,
}

/// The tags whose takers must be woken. Wakers are foreign code, so no lock is held while they are
/// called.
#[derive(Debug, Default)]
pub struct WakeUps {
    /// Tags with numbers for waiting tasks, or with tasks whose time is over.
    #[cfg(feature = "async")]
    tasks: Vec<Arc<LoadedTag>>,
    /// Tags whose takers must all check again.
    all: Vec<Arc<LoadedTag>>,
}

impl WakeUps {
    pub fn wake_takers(self) {
        // One at a time, because the waker of a task may panic.
        #[cfg(feature = "async")]
        for tag in self.tasks {
            catch_panic(|| tag.engine.call_tasks());
        }
        for tag in self.all {
            catch_panic(|| tag.engine.wake_all());
        }
    }
}

impl Scheduler {
    pub fn new(
        policy: Policy,
        limit: usize,
        source: String,
        reporting: Reporting,
        rng: fastrand::Rng,
    ) -> Scheduler {
        Scheduler {
            policy,
            limit,
            source,
            reporting,
            names: HashSet::new(),
            tags: Vec::new(),
            retired_indexes: VecDeque::new(),
            free_indexes: Vec::new(),
            placeholder: None,
            next_sweep: Duration::ZERO,
            #[cfg(feature = "metrics")]
            retired_totals: Totals::default(),
            queue: BTreeMap::new(),
            first_loads: 0,
            timers: BTreeMap::new(),
            count: 0,
            running: 0,
            stuck: 0,
            outage: None,
            wake_ups: WakeUps::default(),
            left_over: VecDeque::new(),
            is_return_next: false,
            has_ended: false,
            alarms: Alarms::new(reporting.is_of_series),
            end: None,
            are_events_sent: false,
            rng,
        }
    }

    /// Returns the tag of this name, and whether it is new. The first load of a new tag is queued.
    pub fn enter(
        &mut self,
        name: &str,
        requests: &Arc<RequestList>,
        now: Duration,
    ) -> (Arc<LoadedTag>, bool) {
        if let Some(ByName(tag)) = self.names.get(name) {
            return (Arc::clone(tag), false);
        }
        let engine = TagEngine::new(Arc::clone(requests), self.policy.max_wait);
        let state = Mutex::new(TagState::new(now));
        let tag = Arc::new(LoadedTag { name: name.into(), engine, state });
        self.names.insert(ByName(Arc::clone(&tag)));
        self.first_loads += 1;
        self.maintain(&tag, now);
        (tag, true)
    }

    /// Whether `name` has to be asked for again later, because it is new and too many first loads
    /// wait already. The limit lets a take that waits for its first load wait for few others.
    #[cfg(feature = "series")]
    pub fn is_too_many(&self, name: &str) -> bool {
        self.first_loads >= MOST_FIRST_LOADS * self.limit && !self.names.contains(name)
    }

    /// Whether the tag of this name was given up, and its numbers are on their way back.
    #[cfg(feature = "series")]
    pub fn is_returning(&self, name: &str) -> bool {
        !self.has_ended
            && self.names.get(name).is_some_and(|ByName(tag)| lock(&tag.state).is_retired())
    }

    /// Drops `tag` if it waits for its first load and nobody but the caller has it. Returns whether
    /// it did.
    pub fn drop_unwanted(&mut self, tag: &Arc<LoadedTag>) -> bool {
        let state = lock(&tag.state);
        let LoadState::Queued(key) = state.load else { return false };
        // The names, the queue and the caller have it. Nobody gets it from them meanwhile, because
        // the scheduler is locked.
        if state.last_size > 0 || Arc::strong_count(tag) > 3 {
            return false;
        }
        drop(state);
        self.queue.remove(&key);
        self.first_loads -= 1;
        self.free_name(tag);
        true
    }

    /// Maintains the tags that requested it, and those whose timer has expired.
    pub fn run_due(&mut self, requests: &RequestList, now: Duration) {
        let mut index = requests.first();
        while let Some(tag) = index.and_then(|index| self.tags.get(index)).cloned() {
            index = tag.engine.entry.next();
            self.maintain(&tag, now);
        }
        while let Some(entry) = self.timers.first_entry().filter(|entry| entry.key().0 <= now) {
            let tag = entry.remove();
            lock(&tag.state).timer = None;
            self.maintain(&tag, now);
        }
    }

    /// Publishes what is in memory, measures the demand, and queues a load if one is due.
    fn maintain(&mut self, tag: &Arc<LoadedTag>, now: Duration) {
        if self.has_ended {
            return;
        }
        let mut state = lock(&tag.state);
        if state.is_retired() {
            return;
        }
        let engine = &tag.engine;
        let is_held_up = engine.publish(state.is_patient(now));
        if let Some(at) = state.set_held_up(is_held_up, now) {
            self.set_timer(tag, &mut state, at);
        }
        let Level { left, claimed, end, is_requested, .. } = engine.level();
        state.demand.measure(claimed, now, self.policy.ahead);
        self.alarms.check_lost(&tag.name, &mut state.alarm, engine.lost(), now);
        let has_tasks = engine.has_tasks();
        #[cfg(feature = "async")]
        if has_tasks {
            self.wake_ups.tasks.push(Arc::clone(tag));
            let due = if left == 0 {
                // A little late, so that tasks that started at about the same time are called
                // together.
                let due = engine.tasks.next_due(self.policy.max_wait);
                due.map(|due| due.saturating_add(self.policy.max_wait / 8))
            } else {
                // Those who are called now may never be polled.
                Some(CALL_PATIENCE)
            };
            if let Some(due) = due {
                self.set_timer(tag, &mut state, now.saturating_add(due));
            }
        }
        // Each further load would advance the row, up to numbers that other processes may have.
        if state.went_back {
            return;
        }
        let usual = state.steps.step.min(state.last_size);
        let low = self.policy.low_water(&state.demand, state.load_time, usual);
        let low = low.min(self.policy.highest_mark(state.steps));
        engine.set_range(Policy::longest_range(left), end.saturating_sub(low));
        if left >= low {
            return;
        }
        // This does not depend on the waiting threads, because a taker may use `try_take`, and the
        // tag may be new.
        let is_waited_for = left == 0;
        if let Some(outage) = &self.outage
            && is_waited_for
            && (is_requested || has_tasks)
        {
            state.last_failure = Some(Arc::clone(&outage.error));
            engine.set_failure(Some(failure_of(&outage.error)));
        }
        let rank = match is_waited_for {
            _ if state.is_stuck => Rank::Stuck,
            true => Rank::Empty,
            false => Rank::Ahead,
        };
        match state.load {
            LoadState::Loading if is_waited_for && state.last_size > 0 => {
                if let Some(at) = self.alarms.note_empty_load(&tag.name, &mut state.alarm, now) {
                    self.set_timer(tag, &mut state, at);
                }
            }
            LoadState::Loading => {}
            _ if now < state.retry_at => {
                let at = state.retry_at;
                self.set_timer(tag, &mut state, at);
            }
            LoadState::Queued((before, _)) if before <= rank => {}
            before => {
                if let LoadState::Queued(key) = before {
                    self.queue.remove(&key);
                }
                self.count += 1;
                let key = (rank, self.count);
                state.load = LoadState::Queued(key);
                self.queue.insert(key, Arc::clone(tag));
            }
        }
    }

    fn set_timer(&mut self, tag: &Arc<LoadedTag>, state: &mut TagState, at: Duration) {
        if let Some(key) = state.timer {
            if key.0 <= at {
                return;
            }
            self.timers.remove(&key);
        }
        self.count += 1;
        state.timer = Some((at, self.count));
        self.timers.insert((at, self.count), Arc::clone(tag));
    }

    /// Returns the next call to the source, if one may begin now.
    pub fn next_job(&mut self, now: Duration) -> Option<Job> {
        let limit = if self.outage.is_some() { 1 } else { self.limit };
        if self.running >= limit {
            return None;
        }
        if self.has_ended {
            let job = self.left_over.pop_front()?;
            self.running += 1;
            return Some(job);
        }
        if self.outage.as_ref().is_some_and(|outage| now < outage.until) {
            return None;
        }
        let next = self.next_queued();
        // One after the other, so that neither kind waits for ever.
        if (next.is_none() || self.is_return_next)
            && let Some(job) = self.left_over.pop_front()
        {
            self.is_return_next = false;
            self.running += 1;
            return Some(job);
        }
        let (key, tag) = next?;
        self.is_return_next = true;
        self.queue.remove(&key);
        let mut state = lock(&tag.state);
        self.stuck += usize::from(state.is_stuck);
        state.load = LoadState::Loading;
        let Level { left, wanted, wanted_at_once, .. } = tag.engine.level();
        state.wanted_at_once = u32::try_from(wanted_at_once).unwrap_or(u32::MAX);
        let count = if state.last_size == 0 {
            self.first_loads -= 1;
            None
        } else {
            if left == 0
                && let Some(at) = self.alarms.note_empty_load(&tag.name, &mut state.alarm, now)
            {
                self.set_timer(&tag, &mut state, at);
            }
            self.policy.size(&state.demand, state.steps, state.last_size, wanted, left)
        };
        drop(state);
        self.running += 1;
        Some(Job::Load { tag, count, wanted })
    }

    /// The queued tag whose load is next, and its key. Stuck tags get half of the calls, so that
    /// the others go on even if each load of those takes as long as the source waits.
    fn next_queued(&mut self) -> Option<((Rank, u64), Arc<LoadedTag>)> {
        loop {
            let (&key, tag) = self.queue.first_key_value()?;
            if key.0 == Rank::Stuck && self.stuck >= (self.limit / 2).max(1) {
                return None;
            }
            let tag = Arc::clone(tag);
            if !self.drop_unwanted(&tag) {
                return Some((key, tag));
            }
        }
    }

    /// How long the loader may sleep, unless it is woken.
    pub fn next_run(&self, now: Duration) -> Duration {
        let timer = self.timers.first_key_value().map(|((at, _), _)| *at);
        let has_jobs = !self.queue.is_empty() || !self.left_over.is_empty();
        let outage = self.outage.as_ref().filter(|_| has_jobs && self.running == 0);
        let sweep = self.policy.rest.map(|_| self.next_sweep);
        let next = [timer, outage.map(|outage| outage.until), sweep];
        let next = next.into_iter().flatten().min();
        next.map_or(LONG, |next| next.saturating_sub(now).max(SHORT))
    }

    /// Lets the name of `tag` be entered again.
    fn free_name(&mut self, tag: &Arc<LoadedTag>) {
        if self.names.get(&*tag.name).is_some_and(|ByName(known)| Arc::ptr_eq(known, tag)) {
            self.names.remove(&*tag.name);
        }
    }

    /// The error of the outage, if the source is away, and no call may begin now that finds out
    /// whether it is back.
    pub fn outage(&self, now: Duration) -> Option<Arc<SegmentError>> {
        let outage = self.outage.as_ref()?;
        (self.running > 0 || now < outage.until).then(|| Arc::clone(&outage.error))
    }

    /// The tags whose takers must be woken now.
    pub fn take_wake_ups(&mut self) -> WakeUps {
        mem::take(&mut self.wake_ups)
    }

    /// Whether a call is running.
    pub fn is_calling(&self) -> bool {
        self.running > 0
    }

    /// Whether a call is running or could start.
    pub fn is_busy(&self) -> bool {
        self.running > 0 || !self.left_over.is_empty()
    }
}

/// How many first loads may wait, for each call that may run at once, before a take that does not
/// wait has to come again for its own.
#[cfg(feature = "series")]
const MOST_FIRST_LOADS: usize = 8;

/// The longest idle sleep.
const LONG: Duration = Duration::from_secs(3600 * 24);
/// The shortest sleep.
pub const SHORT: Duration = Duration::from_millis(1);
