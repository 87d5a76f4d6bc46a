//! [`Scheduler`]: decides what to load next. It neither blocks nor reads a clock: the loader's
//! threads report what has happened and when, and ask for the next job.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashSet};
use std::hash::{Hash, Hasher};
use std::mem;
#[cfg(feature = "metrics")]
use std::ops::Range;
use std::time::Duration;

use crate::engine::{SegmentFailure, TakeError};
use crate::filler::caught;
use crate::segment::load::alarm::Alarms;
#[cfg(feature = "metrics")]
use crate::segment::load::alarm::Measured;
use crate::segment::load::events::Event;
use crate::segment::load::loaded_tag::LoadedTag;
use crate::segment::load::policy::{Policy, pause};
use crate::segment::load::stock::{LoadState, Stock};
use crate::segment::load::trouble::{Trouble, kind};
use crate::segment::tag::engine::{Level, TagEngine, is_worth_waiting};
use crate::segment::tag::request_list::RequestList;
use crate::segment::{Segment, SegmentError};
use crate::sync::{Arc, Mutex, lock};

/// One call to the source.
#[derive(Debug)]
pub enum Job {
    Load { tag: Arc<LoadedTag>, count: Option<u64> },
    GiveBack { tag: Arc<LoadedTag>, unused: Segment },
}

/// The state of all tags and of the source.
#[derive(Debug)]
pub struct Scheduler {
    policy: Policy,
    /// The most calls at once.
    limit: usize,
    /// The name of the source.
    source: String,
    names: HashSet<ByName>,
    /// The tags that have received numbers. Each tag's index is its position here.
    tags: Vec<Arc<LoadedTag>>,
    /// The tags that wait for a load. The key is (whether no taker waits for it, order of arrival).
    queue: BTreeMap<(bool, u64), Arc<LoadedTag>>,
    /// When each tag next needs maintenance.
    timers: BTreeMap<(Duration, u64), Arc<LoadedTag>>,
    /// Makes the keys of the queue and the timers unique.
    count: u64,
    /// How many calls are running.
    running: usize,
    outage: Option<Outage>,
    /// The tags whose takers are woken after the scheduler is unlocked.
    wake_ups: WakeUps,
    /// The calls at the end that give numbers back.
    left_over: Vec<Job>,
    pub has_ended: bool,
    /// What operators know, and the events still to be sent.
    pub alarms: Alarms,
    /// Set when the loader has ended: whether everything left was given back.
    pub end: Option<Result<(), Arc<SegmentError>>>,
    /// Set when all events have been sent.
    pub is_told: bool,
    rng: fastrand::Rng,
}

/// An outage of the source. One call at a time finds out whether the source is back.
#[derive(Debug)]
struct Outage {
    failures: u32,
    until: Duration,
    error: Arc<SegmentError>,
}

/// A source and some of its tags, for the metrics.
#[cfg(feature = "metrics")]
#[derive(Debug, Default)]
pub struct Source {
    pub measured: Measured,
    pub tags: usize,
    /// Tags that have begun to fail.
    pub failed: Vec<Arc<LoadedTag>>,
    /// Tags that the program named and that now have numbers.
    pub named: Vec<Arc<LoadedTag>>,
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
            caught(|| tag.engine.call_tasks());
        }
        for tag in self.all {
            caught(|| tag.engine.wake_all());
        }
    }
}

/// A tag that is looked up by its name.
#[derive(Debug)]
struct ByName(Arc<LoadedTag>);

impl Borrow<str> for ByName {
    fn borrow(&self) -> &str {
        &self.0.name
    }
}

impl Hash for ByName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}

impl PartialEq for ByName {
    fn eq(&self, other: &ByName) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for ByName {}

impl Scheduler {
    pub fn new(policy: Policy, limit: usize, source: String, rng: fastrand::Rng) -> Scheduler {
        Scheduler {
            policy,
            limit,
            source,
            names: HashSet::new(),
            tags: Vec::new(),
            queue: BTreeMap::new(),
            timers: BTreeMap::new(),
            count: 0,
            running: 0,
            outage: None,
            wake_ups: WakeUps::default(),
            left_over: Vec::new(),
            has_ended: false,
            alarms: Alarms::default(),
            end: None,
            is_told: false,
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
        let stock = Mutex::new(Stock::new(now));
        let tag = Arc::new(LoadedTag { name: name.into(), engine, stock });
        self.names.insert(ByName(Arc::clone(&tag)));
        self.maintain(&tag, now);
        (tag, true)
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
            lock(&tag.stock).timer = None;
            self.maintain(&tag, now);
        }
    }

    /// Publishes what is in stock, measures the demand, and queues a load if one is due.
    fn maintain(&mut self, tag: &Arc<LoadedTag>, now: Duration) {
        if self.has_ended {
            return;
        }
        let mut stock = lock(&tag.stock);
        let engine = &tag.engine;
        let is_held_up = engine.publish(stock.is_patient(now));
        if let Some(at) = stock.set_held_up(is_held_up, now) {
            self.set_timer(tag, &mut stock, at);
        }
        let Level { left, claimed, end, is_requested, .. } = engine.level();
        stock.demand.measure(claimed, now, self.policy.ahead);
        self.alarms.check_lost(&tag.name, &mut stock.alarm, engine.lost(), now);
        let has_tasks = engine.has_tasks();
        #[cfg(feature = "async")]
        if has_tasks {
            self.wake_ups.tasks.push(Arc::clone(tag));
            if let Some(due) = engine.tasks.next_due(self.policy.max_wait).filter(|_| left == 0) {
                // A little late, so that tasks that started at about the same time are called
                // together.
                let due = due.saturating_add(self.policy.max_wait / 8);
                self.set_timer(tag, &mut stock, now.saturating_add(due));
            }
        }
        // Each further load would advance the row, up to numbers that other processes may have.
        if stock.went_back {
            return;
        }
        let usual = stock.steps.step.min(stock.last_size);
        let low = self.policy.low_water(&stock.demand, stock.load_time, usual);
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
            stock.last_failure = Some(Arc::clone(&outage.error));
            engine.set_failure(Some(kind(&outage.error)));
        }
        match stock.state {
            LoadState::Loading if is_waited_for && stock.last_size > 0 => {
                if let Some(at) = self.alarms.is_loading(&tag.name, &mut stock.alarm, now) {
                    self.set_timer(tag, &mut stock, at);
                }
            }
            LoadState::Loading => {}
            _ if now < stock.retry_at => {
                let at = stock.retry_at;
                self.set_timer(tag, &mut stock, at);
            }
            LoadState::Queued((false, _)) => {}
            LoadState::Queued(_) if !is_waited_for => {}
            before => {
                if let LoadState::Queued(key) = before {
                    self.queue.remove(&key);
                }
                self.count += 1;
                let key = (!is_waited_for, self.count);
                stock.state = LoadState::Queued(key);
                self.queue.insert(key, Arc::clone(tag));
            }
        }
    }

    fn set_timer(&mut self, tag: &Arc<LoadedTag>, stock: &mut Stock, at: Duration) {
        if let Some(key) = stock.timer {
            if key.0 <= at {
                return;
            }
            self.timers.remove(&key);
        }
        self.count += 1;
        stock.timer = Some((at, self.count));
        self.timers.insert((at, self.count), Arc::clone(tag));
    }

    /// Returns the next call to the source, if one may begin now.
    pub fn next_job(&mut self, now: Duration) -> Option<Job> {
        let limit = if self.outage.is_some() { 1 } else { self.limit };
        if self.running >= limit {
            return None;
        }
        if self.has_ended {
            let job = self.left_over.pop()?;
            self.running += 1;
            return Some(job);
        }
        if self.outage.as_ref().is_some_and(|outage| now < outage.until) {
            return None;
        }
        let (_, tag) = self.queue.pop_first()?;
        let mut stock = lock(&tag.stock);
        stock.state = LoadState::Loading;
        let Level { left, wanted, .. } = tag.engine.level();
        let count = if stock.last_size == 0 {
            None
        } else {
            if left == 0
                && let Some(at) = self.alarms.is_loading(&tag.name, &mut stock.alarm, now)
            {
                self.set_timer(&tag, &mut stock, at);
            }
            self.policy.size(&stock.demand, stock.steps, stock.last_size, wanted)
        };
        drop(stock);
        self.running += 1;
        Some(Job::Load { tag, count })
    }

    /// How long the loader may sleep, unless it is woken.
    pub fn next_run(&self, now: Duration) -> Duration {
        let timer = self.timers.first_key_value().map(|((at, _), _)| *at);
        let outage = self.outage.as_ref().filter(|_| !self.queue.is_empty() && self.running == 0);
        let next = timer.into_iter().chain(outage.map(|outage| outage.until)).min();
        next.map_or(LONG, |next| next.saturating_sub(now).max(SHORT))
    }

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
        let mut stock = lock(&tag.stock);
        stock.state = LoadState::Idle;
        let is_new = stock.last_size == 0;
        let (result, refused) = match result {
            Ok(segment) => match self.accept(tag, &mut stock, &segment) {
                Ok(()) => (Ok(segment.count), None),
                Err(error) => {
                    let mut trouble = Trouble::of(&error);
                    if trouble == Trouble::BadRow && segment.delta != tag.engine.delta() {
                        trouble = Trouble::DeltaChanged;
                    }
                    stock.went_back = trouble == Trouble::WentBack;
                    (Err((trouble, error)), (!stock.went_back).then_some(segment))
                }
            },
            Err(error) => (Err((Trouble::of(&error), error)), None),
        };
        match result {
            Ok(numbers) => {
                self.alarms.loaded(&tag.name, &mut stock.alarm, numbers, now);
                self.outage = None;
                stock.load_time = took.max(stock.load_time.mul_f64(0.75));
                (stock.failures, stock.retry_at) = (0, Duration::ZERO);
                stock.last_failure = None;
                tag.engine.set_failure(None);
                tag.engine.clear_request();
                tag.engine.counters.loads.add(1);
                if is_new {
                    tag.engine.entry.set_index(self.tags.len() as u64);
                    self.tags.push(Arc::clone(tag));
                }
                drop(stock);
                self.maintain(tag, now);
            }
            Err((trouble, error)) => self.failed(tag, &mut stock, trouble, error, now),
        }
        refused
    }

    /// Hands a loaded segment to the tag, or rejects it if this process may not use its numbers.
    fn accept(
        &self,
        LoadedTag { name, engine, .. }: &LoadedTag,
        stock: &mut Stock,
        segment: &Segment,
    ) -> Result<(), SegmentError> {
        let last = stock.check(name, &self.source, segment, engine.delta())?;
        if stock.last_size == 0 {
            engine.set_delta(segment.delta);
        }
        engine.receive(segment.first, segment.count);
        stock.note(segment, last, engine.left());
        Ok(())
    }

    fn failed(
        &mut self,
        tag: &Arc<LoadedTag>,
        stock: &mut Stock,
        trouble: Trouble,
        error: SegmentError,
        now: Duration,
    ) {
        let cause = kind(&error);
        let is_worth_waiting = is_worth_waiting(TakeError::SegmentExhausted { cause });
        let error = Arc::new(error);
        tag.engine.counters.failures.add(1);
        tag.engine.set_failure(Some(cause));
        stock.failures = stock.failures.saturating_add(1);
        stock.retry_at = now + pause(stock.failures, &mut self.rng);
        stock.last_failure = Some(Arc::clone(&error));
        let is_new = stock.last_size == 0;
        self.alarms.failed(&tag.name, &mut stock.alarm, is_new, trouble, &error, now);
        if trouble == Trouble::Away {
            let failures = self.outage.as_ref().map_or(0, |outage| outage.failures) + 1;
            let until = now + pause(failures, &mut self.rng);
            self.tell_queued(&error, cause);
            self.outage = Some(Outage { failures, until, error });
        } else {
            // An answer ends the outage.
            self.outage = None;
        }
        if is_new {
            self.names.remove(&*tag.name);
        } else if is_worth_waiting {
            let at = stock.retry_at;
            self.set_timer(tag, stock, at);
        } else {
            // The next take that needs a number starts another try. Takes that are waiting now
            // fail.
            tag.engine.clear_request();
            self.wake_ups.all.push(Arc::clone(tag));
        }
    }

    /// Records for all queued tags why they get no numbers.
    fn tell_queued(&self, error: &Arc<SegmentError>, cause: SegmentFailure) {
        for (_, tag) in self.queue.iter().filter(|((is_ahead, _), _)| !is_ahead) {
            let mut stock = lock(&tag.stock);
            // A new tag has no takers yet, and its first load may still succeed.
            if stock.last_size > 0 {
                stock.last_failure = Some(Arc::clone(error));
                tag.engine.set_failure(Some(cause));
            }
        }
    }

    /// Counts rejected `numbers` as lost, because the row of `tag` has not taken them back.
    pub fn lose_refused(&mut self, tag: &Arc<LoadedTag>, numbers: u64, now: Duration) {
        let alarm = &mut lock(&tag.stock).alarm;
        self.alarms.refused(alarm, numbers);
        self.alarms.check_lost(&tag.name, alarm, tag.engine.lost(), now);
    }

    /// Reads the state of the source for the metrics. Adds the tags with these indexes to `tags`,
    /// and looks up those that the program named.
    #[cfg(feature = "metrics")]
    pub fn measure(
        &mut self,
        indexes: Range<usize>,
        tags: &mut Vec<Arc<LoadedTag>>,
        wanted: &[String],
    ) -> Source {
        let end = indexes.end.min(self.tags.len());
        tags.extend_from_slice(&self.tags[indexes.start.min(end)..end]);
        let find = |name: &str| self.names.get(name).map(|ByName(tag)| Arc::clone(tag));
        let mut named: Vec<_> = wanted.iter().filter_map(|name| find(name)).collect();
        named.retain(|tag| lock(&tag.stock).last_size > 0);
        let failed = self.alarms.take_failed().iter().filter_map(|name| find(name)).collect();
        Source { measured: self.alarms.measure(), tags: self.tags.len(), failed, named }
    }

    /// The error of the outage, if the source is away.
    pub fn outage(&self) -> Option<Arc<SegmentError>> {
        self.outage.as_ref().map(|outage| Arc::clone(&outage.error))
    }

    /// The tags whose takers must be woken now.
    pub fn take_wake_ups(&mut self) -> WakeUps {
        mem::take(&mut self.wake_ups)
    }

    /// Starts the end: no load begins from now on. Returns all tags, which the caller shuts down.
    pub fn end(&mut self) -> Vec<Arc<LoadedTag>> {
        self.has_ended = true;
        self.queue.clear();
        self.timers.clear();
        self.tags.clone()
    }

    /// Prepares the calls that give back what is left. All loads have ended, and no tag hands out
    /// any more numbers.
    pub fn clear_out(&mut self, now: Duration) {
        self.outage = None;
        for tag in &self.tags {
            let mut stock = lock(&tag.stock);
            let (claimed, left) = tag.engine.claimed_and_left();
            let numbers = (claimed, tag.engine.lost(), left);
            self.alarms.ends(&tag.name, &mut stock.alarm, numbers, now);
            let jobs = stock
                .unused(left, tag.engine.delta())
                .into_iter()
                .map(|unused| Job::GiveBack { tag: Arc::clone(tag), unused });
            self.left_over.extend(jobs);
        }
    }

    /// Handles the result of a call that gives `unused` back. If its database is away, the calls
    /// for other tags in it are dropped.
    pub fn gave_back(&mut self, unused: &Segment, result: Result<bool, SegmentError>) {
        self.running -= 1;
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

    /// Whether a call is running or could start.
    pub fn is_busy(&self) -> bool {
        self.running > 0 || !self.left_over.is_empty()
    }
}

/// The longest idle sleep.
const LONG: Duration = Duration::from_secs(3600 * 24);
/// The shortest sleep.
const SHORT: Duration = Duration::from_millis(1);
