//! [`Scheduler`]: decides what to load next. It neither blocks nor reads a clock: the loader's
//! threads report what has happened and when, and ask for the next job.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::mem;
#[cfg(feature = "metrics")]
use std::ops::Range;
use std::time::Duration;

#[cfg(feature = "async")]
use crate::engine::line::CALL_PATIENCE;
use crate::engine::{SegmentFailure, TakeError};
use crate::segment::load::alarm::Alarms;
#[cfg(feature = "metrics")]
use crate::segment::load::alarm::Measured;
use crate::segment::load::events::Event;
use crate::segment::load::loaded_tag::LoadedTag;
use crate::segment::load::policy::{Policy, pause};
use crate::segment::load::stock::{LoadState, Rank, Retirement, Stock};
use crate::segment::load::supplier::Telling;
use crate::segment::load::trouble::{Trouble, kind};
use crate::segment::tag::engine::{Level, TagEngine, is_worth_waiting};
use crate::segment::tag::request_list::RequestList;
use crate::segment::{Segment, SegmentError};
use crate::support::callbacks::caught;
use crate::support::named::ByName;
use crate::sync::{Arc, Mutex, Ordering, fence, lock};

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
    telling: Telling,
    names: HashSet<ByName<LoadedTag>>,
    /// The tags that have received numbers. Each tag's index is its position here.
    tags: Vec<Arc<LoadedTag>>,
    /// The places of tags that were given up, and that somebody may still have.
    vacant: VecDeque<usize>,
    /// The places that later tags get, and the tag that is there meanwhile.
    free: Vec<usize>,
    nobody: Option<Arc<LoadedTag>>,
    /// When to look next for tags that rest.
    next_sweep: Duration,
    /// The totals of the tags that were given up, of which nothing is in memory any more.
    #[cfg(feature = "metrics")]
    gone: Totals,
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
    is_their_turn: bool,
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

/// Totals of several tags, for the metrics.
#[cfg(feature = "metrics")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    pub in_memory: u64,
    pub taken: u64,
    pub lost: u64,
    pub waits: u64,
    pub longest_wait: Duration,
}

#[cfg(feature = "metrics")]
impl Totals {
    pub fn add(&mut self, tag: &TagEngine) {
        let counters = &tag.counters;
        let (claimed, left) = tag.claimed_and_left();
        let lost = tag.lost();
        self.in_memory += left;
        self.taken += claimed.saturating_sub(lost);
        self.lost += lost;
        self.waits += counters.waits.get();
        self.longest_wait = self.longest_wait.max(counters.longest_wait());
    }
}

/// A source and some of its tags, for the metrics.
#[cfg(feature = "metrics")]
#[derive(Debug, Default)]
pub struct Source {
    pub measured: Measured,
    /// How many tags are in use.
    pub tags: usize,
    /// The totals of those that were given up.
    pub gone: Totals,
    /// The index after the last tag that was read, unless that was the last of all.
    pub next: Option<usize>,
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

impl Scheduler {
    pub fn new(
        policy: Policy,
        limit: usize,
        source: String,
        telling: Telling,
        rng: fastrand::Rng,
    ) -> Scheduler {
        Scheduler {
            policy,
            limit,
            source,
            telling,
            names: HashSet::new(),
            tags: Vec::new(),
            vacant: VecDeque::new(),
            free: Vec::new(),
            nobody: None,
            next_sweep: Duration::ZERO,
            #[cfg(feature = "metrics")]
            gone: Totals::default(),
            queue: BTreeMap::new(),
            first_loads: 0,
            timers: BTreeMap::new(),
            count: 0,
            running: 0,
            stuck: 0,
            outage: None,
            wake_ups: WakeUps::default(),
            left_over: VecDeque::new(),
            is_their_turn: false,
            has_ended: false,
            alarms: Alarms::new(telling.is_of_series),
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
            && self.names.get(name).is_some_and(|ByName(tag)| lock(&tag.stock).is_retired())
    }

    /// Drops `tag` if it waits for its first load and nobody but the caller has it. Returns whether
    /// it did.
    pub fn drop_unwanted(&mut self, tag: &Arc<LoadedTag>) -> bool {
        let stock = lock(&tag.stock);
        let LoadState::Queued(key) = stock.state else { return false };
        // The names, the queue and the caller have it. Nobody gets it from them meanwhile, because
        // the scheduler is locked.
        if stock.last_size > 0 || Arc::strong_count(tag) > 3 {
            return false;
        }
        drop(stock);
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
        if stock.is_retired() {
            return;
        }
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
                self.set_timer(tag, &mut stock, now.saturating_add(due));
            }
        }
        // Each further load would advance the row, up to numbers that other processes may have.
        if stock.went_back {
            return;
        }
        let usual = stock.steps.step.min(stock.last_size);
        let low = self.policy.low_water(&stock.demand, stock.load_time, usual);
        let low = low.min(self.policy.highest_mark(stock.steps));
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
        let rank = match is_waited_for {
            _ if stock.is_stuck => Rank::Stuck,
            true => Rank::Empty,
            false => Rank::Ahead,
        };
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
            LoadState::Queued((before, _)) if before <= rank => {}
            before => {
                if let LoadState::Queued(key) = before {
                    self.queue.remove(&key);
                }
                self.count += 1;
                let key = (rank, self.count);
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
            let job = self.left_over.pop_front()?;
            self.running += 1;
            return Some(job);
        }
        if self.outage.as_ref().is_some_and(|outage| now < outage.until) {
            return None;
        }
        let next = self.next_queued();
        // One after the other, so that neither kind waits for ever.
        if (next.is_none() || self.is_their_turn)
            && let Some(job) = self.left_over.pop_front()
        {
            self.is_their_turn = false;
            self.running += 1;
            return Some(job);
        }
        let (key, tag) = next?;
        self.is_their_turn = true;
        self.queue.remove(&key);
        let mut stock = lock(&tag.stock);
        self.stuck += usize::from(stock.is_stuck);
        stock.state = LoadState::Loading;
        let Level { left, wanted, wanted_at_once, .. } = tag.engine.level();
        stock.wanted_at_once = u32::try_from(wanted_at_once).unwrap_or(u32::MAX);
        let count = if stock.last_size == 0 {
            self.first_loads -= 1;
            None
        } else {
            if left == 0
                && let Some(at) = self.alarms.is_loading(&tag.name, &mut stock.alarm, now)
            {
                self.set_timer(&tag, &mut stock, at);
            }
            self.policy.size(&stock.demand, stock.steps, stock.last_size, wanted, left)
        };
        drop(stock);
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
        self.stuck -= usize::from(stock.is_stuck);
        let is_new = stock.last_size == 0;
        let (result, refused) = match result {
            Ok(segment) => match self.accept(tag, &mut stock, &segment) {
                Ok(last) => {
                    self.alarms.check_full(&tag.name, &segment, last);
                    (Ok(segment.count), None)
                }
                Err(error) => {
                    let error = (self.telling.error)(error);
                    let mut trouble = Trouble::of(&error);
                    if trouble == Trouble::BadRow && segment.delta != tag.engine.delta() {
                        trouble = Trouble::DeltaChanged;
                    }
                    stock.went_back = trouble == Trouble::WentBack;
                    (Err((trouble, error)), (!stock.went_back).then_some(segment))
                }
            },
            Err(error) => {
                let error = (self.telling.error)(error);
                (Err((Trouble::of(&error), error)), None)
            }
        };
        match result {
            Ok(numbers) => {
                self.alarms.loaded(&tag.name, &mut stock.alarm, numbers, now);
                self.outage = None;
                stock.load_time = took.max(stock.load_time.mul_f64(0.75));
                (stock.failures, stock.retry_at) = (0, Duration::ZERO);
                stock.is_stuck = false;
                // A batch of a series says nothing of the takes to come, and what is loaded for
                // those would be left over when the period ends.
                if self.telling.is_of_series {
                    let at_once = u64::from(stock.wanted_at_once).min(numbers);
                    stock.demand.leave_out(at_once);
                }
                stock.last_failure = None;
                tag.engine.set_failure(None);
                tag.engine.clear_request();
                tag.engine.counters.loads.add(1);
                if is_new {
                    self.place(tag);
                }
                drop(stock);
                self.maintain(tag, now);
            }
            Err((trouble, error)) => {
                self.failed(tag, &mut stock, trouble, error, now);
                drop(stock);
            }
        }
        self.clear_out_retired(tag, now);
        refused
    }

    /// Gives a new tag its index: that of a tag that was given up, or otherwise the next one.
    fn place(&mut self, tag: &Arc<LoadedTag>) {
        if self.free.is_empty() {
            self.empty_places();
        }
        let index = self.free.pop().unwrap_or(self.tags.len());
        tag.engine.entry.set_index(index as u64);
        match self.tags.get_mut(index) {
            Some(place) => *place = Arc::clone(tag),
            None => self.tags.push(Arc::clone(tag)),
        }
    }

    /// Empties the places of the tags that were given up and that nobody else has any more. Such a
    /// tag cannot come into the list of requests again, which goes by the places.
    fn empty_places(&mut self) {
        let Some(first) = self.vacant.front() else { return };
        let nobody = Arc::clone(&self.tags[*first].engine.requests);
        let nobody = self.nobody.get_or_insert_with(|| {
            let mut stock = Stock::new(Duration::ZERO);
            stock.retirement = Retirement::Cleared;
            let engine = TagEngine::new(nobody, Duration::ZERO);
            Arc::new(LoadedTag { name: "".into(), engine, stock: Mutex::new(stock) })
        });
        for index in std::mem::take(&mut self.vacant) {
            let place = &mut self.tags[index];
            let is_unused = Arc::strong_count(place) == 1;
            // ORDERING: Acquire, pairs with the release of those who had the tag.
            fence(Ordering::Acquire);
            if is_unused && !place.engine.entry.is_listed() {
                *place = Arc::clone(nobody);
                self.free.push(index);
            } else {
                self.vacant.push_back(index);
            }
        }
    }

    /// The tags that have given no number for the time that the policy lets them rest. The caller
    /// gives them up. `None` while it is too early to look.
    pub fn resting(&mut self, now: Duration) -> Option<Vec<Arc<LoadedTag>>> {
        let rest = self.policy.rest.filter(|_| now >= self.next_sweep)?;
        self.next_sweep = now + rest / 2;
        self.empty_places();
        let since = now.saturating_sub(rest);
        let ahead = self.policy.ahead;
        let is_resting = |tag: &&Arc<LoadedTag>| {
            let mut stock = lock(&tag.stock);
            let Level { claimed, wanted, .. } = tag.engine.level();
            let is_resting = stock.demand.is_resting(claimed, since);
            if !stock.demand.is_resting(claimed, now) {
                stock.demand.measure(claimed, now, ahead);
            }
            // The next one of the name would not know that the row went back.
            let is_kept = stock.went_back || stock.is_retired();
            is_resting && wanted == 0 && !tag.engine.has_tasks() && !is_kept
        };
        Some(self.tags.iter().filter(is_resting).cloned().collect())
    }

    /// Begins to give `tag` up: nothing more is loaded for it. The caller ends its takes, and then
    /// calls [`retired`](Scheduler::retired). Returns whether there is anything to do.
    pub fn retire(&mut self, tag: &Arc<LoadedTag>) -> bool {
        let mut stock = lock(&tag.stock);
        let is_known = self.names.get(&*tag.name).is_some_and(|ByName(of)| Arc::ptr_eq(of, tag));
        if self.has_ended || !is_known || stock.is_retired() {
            return false;
        }
        stock.retirement = Retirement::Begun;
        if let LoadState::Queued(key) = stock.state {
            self.queue.remove(&key);
            stock.state = LoadState::Idle;
        }
        if let Some(key) = stock.timer.take() {
            self.timers.remove(&key);
        }
        true
    }

    /// The takes of a tag that is given up have ended.
    pub fn retired(&mut self, tag: &Arc<LoadedTag>, now: Duration) {
        lock(&tag.stock).retirement = Retirement::Ended;
        self.clear_out_retired(tag, now);
    }

    /// Prepares the calls that give back what is left of `tag`, if its takes have ended because it
    /// was given up, and no load of it is running.
    fn clear_out_retired(&mut self, tag: &Arc<LoadedTag>, now: Duration) {
        let mut stock = lock(&tag.stock);
        if self.has_ended || stock.retirement != Retirement::Ended || stock.is_loading() {
            return;
        }
        stock.retirement = Retirement::Cleared;
        let unused = self.clear_out_tag(tag, &mut stock, now);
        self.alarms.given_up(&mut stock.alarm, self.outage.is_some(), now);
        // There is one for each database at most.
        stock.returns = u32::try_from(unused.len()).unwrap_or(u32::MAX);
        drop(stock);
        if unused.is_empty() {
            self.forget(tag);
        }
        self.left_over.extend(unused);
    }

    /// The calls that give back what is left of a tag that hands out no more numbers.
    fn clear_out_tag(
        &mut self,
        tag: &Arc<LoadedTag>,
        stock: &mut Stock,
        now: Duration,
    ) -> Vec<Job> {
        let (claimed, left) = tag.engine.claimed_and_left();
        let numbers = (claimed, tag.engine.lost(), left);
        self.alarms.ends(&tag.name, &mut stock.alarm, numbers, now);
        // Others may have taken such a row to where it ended for this process.
        if stock.has_gone_back() {
            self.alarms.end.gave_back(left, Ok(false));
            return Vec::new();
        }
        let unused = stock.unused(left, tag.engine.delta());
        unused.into_iter().map(|unused| Job::GiveBack { tag: Arc::clone(tag), unused }).collect()
    }

    /// Lets the name of `tag` be entered again.
    fn free_name(&mut self, tag: &Arc<LoadedTag>) {
        if self.names.get(&*tag.name).is_some_and(|ByName(known)| Arc::ptr_eq(known, tag)) {
            self.names.remove(&*tag.name);
        }
    }

    /// Forgets a tag that was given up. Its name can be entered again.
    fn forget(&mut self, tag: &Arc<LoadedTag>) {
        self.free_name(tag);
        #[cfg(feature = "metrics")]
        {
            self.gone.add(&tag.engine);
            self.gone.in_memory = 0;
        }
        if let Some(index) = tag.engine.entry.index() {
            self.vacant.push_back(index);
        }
    }

    /// Hands a loaded segment to the tag, and returns its last number. Rejects it if this process
    /// may not use its numbers.
    fn accept(
        &self,
        LoadedTag { name, engine, .. }: &LoadedTag,
        stock: &mut Stock,
        segment: &Segment,
    ) -> Result<u64, SegmentError> {
        let last = stock.check(name, &self.source, segment, engine.delta())?;
        if stock.last_size == 0 {
            engine.set_delta(segment.delta);
        }
        engine.receive(segment.first, segment.count);
        stock.note(segment, last, engine.left());
        Ok(last)
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
        // What does not reach the source says nothing about the tag.
        stock.is_stuck = trouble != Trouble::Away;
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
            self.free_name(tag);
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
        for (_, tag) in self.queue.iter().filter(|((rank, _), _)| *rank != Rank::Ahead) {
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
        let is_in_use = |tag: &&Arc<LoadedTag>| !lock(&tag.stock).is_retired();
        tags.extend(self.tags[indexes.start.min(end)..end].iter().filter(is_in_use).cloned());
        let find = |name: &str| self.names.get(name).map(|ByName(tag)| Arc::clone(tag));
        let mut named: Vec<_> = wanted.iter().filter_map(|name| find(name)).collect();
        named.retain(|tag| lock(&tag.stock).last_size > 0);
        let failed = self.alarms.take_failed().iter().filter_map(|name| find(name)).collect();
        Source {
            measured: self.alarms.measure(),
            tags: self.tags.len() - self.vacant.len() - self.free.len(),
            gone: self.gone,
            next: (end < self.tags.len()).then_some(end),
            failed,
            named,
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
            let mut stock = lock(&tag.stock);
            if stock.retirement != Retirement::Cleared {
                let jobs = self.clear_out_tag(&tag, &mut stock, now);
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
                let returns = &mut lock(&tag.stock).returns;
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
