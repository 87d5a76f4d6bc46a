//! The loader of segments without its threads: a test moves the time, makes the calls to the source
//! by hand, and lets them fail.

mod any_mixture;
#[cfg(feature = "tracing")]
mod events;
mod rates;

use std::collections::BTreeSet;
use std::time::Duration;

use super::SECOND;
use crate::backend::StorageError;
use crate::engine::TakeError;
use crate::segment::load::loaded_tag::LoadedTag;
use crate::segment::load::policy::Policy;
use crate::segment::load::scheduler::{Job, Scheduler};
use crate::segment::load::supplier::Reporting;
use crate::segment::tag::claim::{Claim, Numbers};
use crate::segment::tag::request_list::RequestList;
use crate::segment::{Segment, SegmentError};
use crate::sync::{Arc, lock};

const MS: Duration = Duration::from_millis(1);

/// Calls that run at once.
const LOADS: usize = 2;

/// A call to the source that has begun.
struct Call {
    job: Job,
    since: Duration,
}

/// The claim of a thread that is stopped before it looks where its tickets lead, and the largest
/// number that takes had returned before.
struct Held {
    tag: Arc<LoadedTag>,
    claim: Claim,
    after: u64,
}

/// A thread that waits, and the largest number that takes had returned before.
struct Waiting {
    position: u64,
    after: u64,
    /// The numbers that it has got.
    claim: Option<Claim>,
}

/// One tag with its loader, its row, and all that has been taken.
struct Simulation {
    now: Duration,
    requests: Arc<RequestList>,
    scheduler: Scheduler,
    tag: Arc<LoadedTag>,
    calls: Vec<Call>,
    /// The row: the number that it gives next.
    next: u64,
    step: u64,
    /// How many numbers have been loaded, and which.
    loaded: u64,
    segments: Vec<Segment>,
    loads: u64,
    taken: BTreeSet<u64>,
    held: Vec<Held>,
    /// How many tickets threads have ever held for a while. Only these may be lost.
    held_ever: u64,
    waiting: Vec<Waiting>,
    given_back: Option<Segment>,
    given_back_ever: u64,
    /// The tags of this name that were given up.
    retired: Vec<Arc<LoadedTag>>,
}

fn policy() -> Policy {
    Policy {
        ahead: 10 * SECOND,
        refresh: 900 * SECOND,
        max_step: 1_000_000,
        max_in_memory: u64::MAX,
        // Takers that wait are simulated by their positions in line.
        max_wait: Duration::ZERO,
        rest: None,
    }
}

impl Simulation {
    /// A tag whose row takes `step` numbers at a time, after its first load.
    fn new(step: u64) -> Simulation {
        let rng = fastrand::Rng::with_seed(7);
        let mut scheduler =
            Scheduler::new(policy(), LOADS, "the row".to_owned(), Reporting::default(), rng);
        let (requests, _) = RequestList::new();
        let requests = Arc::new(requests);
        let (tag, is_new) = scheduler.enter("orders", &requests, Duration::ZERO);
        assert!(is_new);
        let mut simulation = Simulation {
            now: Duration::ZERO,
            requests,
            scheduler,
            tag,
            calls: Vec::new(),
            next: 1,
            step,
            loaded: 0,
            segments: Vec::new(),
            loads: 0,
            taken: BTreeSet::new(),
            held: Vec::new(),
            held_ever: 0,
            waiting: Vec::new(),
            given_back: None,
            given_back_ever: 0,
            retired: Vec::new(),
        };
        simulation.run_due();
        simulation.answer(0, Answer::Numbers);
        simulation
    }

    /// The work of the loader's thread after a wake-up.
    fn run_due(&mut self) {
        self.scheduler.run_due(&self.requests, self.now);
        self.begin_calls();
        self.scheduler.take_wake_ups().wake_takers();
    }

    fn begin_calls(&mut self) {
        while let Some(job) = self.scheduler.next_job(self.now) {
            assert!(self.calls.len() < LOADS, "too many calls at once");
            self.calls.push(Call { job, since: self.now });
        }
    }

    /// The source answers one of the calls.
    fn answer(&mut self, call: usize, answer: Answer) {
        if self.calls.is_empty() {
            return;
        }
        let Call { job, since } = self.calls.remove(call % self.calls.len());
        match job {
            Job::Load { tag, count, .. } => {
                let result = self.load(count, answer);
                let segment = result.as_ref().ok().cloned();
                let before = tag.engine.loaded.get();
                let refused = self.scheduler.loaded(&tag, result, self.now - since, self.now);
                if let Some(segment) = segment.filter(|_| tag.engine.loaded.get() > before) {
                    assert_eq!(tag.engine.loaded.get() - before, segment.count);
                    self.loaded += segment.count;
                    self.segments.push(segment);
                    self.loads += 1;
                } else if let Some(refused) = refused {
                    self.give_back(&refused);
                }
            }
            Job::GiveBack { tag, unused } => {
                let result = match answer {
                    Answer::Away => Err(SegmentError::unreachable("away")),
                    _ => Ok(self.give_back(&unused)),
                };
                let is_given_back = matches!(result, Ok(true));
                self.scheduler.gave_back(&tag, &unused, result, self.now);
                if is_given_back {
                    self.given_back_ever += unused.count;
                    self.given_back = Some(unused);
                }
            }
        }
        self.begin_calls();
        self.scheduler.take_wake_ups().wake_takers();
    }

    fn load(&mut self, count: Option<u64>, answer: Answer) -> Result<Segment, SegmentError> {
        let store = || "the row".to_owned();
        match answer {
            Answer::Away => return Err(SegmentError::unreachable("away")),
            Answer::Locked => {
                return Err(StorageError::Locked { what: store(), waited: SECOND }.into());
            }
            Answer::Failed => return Err(SegmentError::other("broken")),
            // Another process was first.
            Answer::AfterAnother => self.next += self.step,
            // A copy is restored, the process loads, and the operator mends the row. It gets
            // nothing back.
            Answer::WentBack => {
                let segment = Segment::new(1, self.step, 1, 1 + self.step);
                return Ok(segment);
            }
            Answer::OtherDelta => {
                self.next += 3 * self.step;
                let first = self.next - 3 * self.step;
                return Ok(Segment::new(first, self.step, 3, self.next));
            }
            // A source may give fewer.
            Answer::Few => {
                self.next += 1;
                let mut segment = Segment::new(self.next - 1, 1, 1, self.next);
                segment.step = self.step;
                return Ok(segment);
            }
            Answer::Numbers => {}
        }
        let count = count.unwrap_or(self.step);
        let first = self.next;
        self.next += count;
        let mut segment = Segment::new(first, count, 1, self.next);
        segment.step = self.step;
        Ok(segment)
    }

    fn give_back(&mut self, unused: &Segment) -> bool {
        let is_last = unused.row_end == self.next;
        if is_last {
            self.next = unused.first;
        }
        is_last
    }

    fn newest(&self) -> u64 {
        self.taken.last().copied().unwrap_or(0)
    }

    /// Notes a number that a take has returned which began when `after` was the largest.
    fn note(&mut self, number: u64, after: u64) {
        assert!(number > after, "{number} after {after}");
        let of_a_segment =
            |segment: &&Segment| (segment.first..segment.first + segment.count).contains(&number);
        assert!(self.segments.iter().any(|segment| of_a_segment(&segment)), "{number} from where?");
        assert!(self.taken.insert(number), "{number} came twice");
    }

    /// `count` takes that do not wait.
    fn take(&mut self, count: u64) {
        for _ in 0..count {
            match self.tag.engine.try_take() {
                Ok(uid) => self.note(uid.get(), self.newest()),
                Err(error) => {
                    assert!(matches!(error, TakeError::SegmentExhausted { .. }), "{error}");
                    return;
                }
            }
        }
    }

    /// As `fill` does.
    fn fill(&mut self, count: u64) {
        if let Ok(claim) = self.tag.engine.claim(count) {
            let after = self.newest();
            self.note_claim(&Arc::clone(&self.tag), claim, after);
        }
    }

    /// Notes the numbers of `claim`. It began when `after` was the largest number.
    fn note_claim(&mut self, tag: &LoadedTag, mut claim: Claim, after: u64) {
        while let Some(numbers) = tag.engine.next_numbers(&mut claim) {
            for index in 0..numbers.count {
                self.note(numbers.first.get() + index * numbers.delta, after);
            }
        }
    }

    /// A local taker uses `used` numbers of a claim, looks up the rest, and is dropped.
    fn local(&mut self, count: u64, used: u64) {
        let tag = Arc::clone(&self.tag);
        let Ok(mut claim) = tag.engine.claim(count) else { return };
        let after = self.newest();
        let mut parts = Vec::new();
        let mut used_until = None;
        while let Some(Numbers { first, count, .. }) = if parts.is_empty() {
            tag.engine.next_numbers(&mut claim)
        } else {
            tag.engine.next_unused(&mut claim)
        } {
            let tickets = claim.next - count..claim.next;
            parts.push((tickets.clone(), tag.engine.chain.origin(tickets.start, first.get())));
            let until = *used_until.get_or_insert(tickets.start + used.max(1));
            for ticket in tickets.start..tickets.end.min(until) {
                tag.engine.use_later(
                    &(ticket..tickets.end),
                    tag.engine.chain.origin(ticket, first.get()),
                );
                self.note(first.get() + ticket - tickets.start, after);
            }
        }
        let Some(until) = used_until else { return };
        let unused = parts.into_iter().rev().filter(|(tickets, _)| tickets.end > until);
        tag.engine.give_back(
            unused.map(|(tickets, origin)| (tickets.start.max(until)..tickets.end, origin)),
        );
    }

    /// A thread claims tickets, and is stopped.
    fn hold(&mut self, count: u64) {
        let next = self.tag.engine.chain.cursor.claim(count);
        if !crate::ring::cursor::is_closed(next) {
            self.held_ever += count;
            let claim = Claim { next, end: next + count, range: None };
            self.held.push(Held { tag: Arc::clone(&self.tag), claim, after: self.newest() });
        }
    }

    /// The thread goes on.
    fn release(&mut self, index: usize) {
        if !self.held.is_empty() {
            let Held { tag, claim, after } = self.held.remove(index % self.held.len());
            self.note_claim(&tag, claim, after);
        }
    }

    /// A thread that wants so many numbers waits if there are none.
    fn join(&mut self, count: u64) {
        let mut supply = lock(&self.tag.engine.supply);
        if !supply.open(&self.tag.engine.chain) && supply.left(&self.tag.engine.chain) == 0 {
            let position = supply.join(count);
            drop(supply);
            self.tag.engine.request_maintenance();
            let waiting = Waiting { position, after: self.newest(), claim: None };
            self.waiting.push(waiting);
        }
    }

    /// A thread sees what it has got, or has waited for long enough.
    fn leave(&mut self, index: usize) {
        if self.waiting.is_empty() {
            return;
        }
        let Waiting { position, after, mut claim } =
            self.waiting.remove(index % self.waiting.len());
        let mut supply = lock(&self.tag.engine.supply);
        claim = claim.or_else(|| supply.leave(position));
        drop(supply);
        if let Some(claim) = claim {
            self.note_claim(&Arc::clone(&self.tag), claim, after);
        }
    }

    /// The tag is given up, and entered again by somebody who waits for its numbers.
    fn retire(&mut self) {
        if self.scheduler.retire(&self.tag) {
            // Takes and loads go on until the takes have ended.
            self.answer(0, Answer::Numbers);
            self.take(3);
            self.tag.engine.shut_down();
            while !self.waiting.is_empty() {
                self.leave(0);
            }
            self.scheduler.retired(&self.tag, self.now);
            self.retired.push(Arc::clone(&self.tag));
        }
        self.begin_calls();
        // Its name is free when its numbers have gone back, and that is tried once.
        loop {
            let (tag, is_new) = self.scheduler.enter("orders", &self.requests, self.now);
            if is_new {
                self.tag = tag;
                break;
            }
            self.now += 10 * SECOND;
            self.run_due();
            assert!(!self.calls.is_empty(), "nothing is under way");
            self.answer(0, Answer::Numbers);
        }
        while lock(&self.tag.state).last_size == 0 {
            self.now += 10 * SECOND;
            self.run_due();
            assert!(!self.calls.is_empty(), "nothing is loaded");
            self.answer(0, Answer::Numbers);
        }
    }

    /// Everything is given up, and each number that was loaded is accounted for.
    fn end_retired(mut self) {
        self.retire();
        while !self.held.is_empty() {
            self.release(0);
        }
        let lost: u64 = self.retired.iter().map(|tag| tag.engine.lost()).sum();
        let left: u64 = self.retired.iter().map(|tag| tag.engine.left()).sum();
        let taken = self.taken.len() as u64;
        let ever = self.loaded - self.tag.engine.loaded.get();
        assert_eq!(taken + lost + left, ever, "{taken} taken, {lost} lost, {left} left");
        assert!(self.given_back_ever <= left, "more than was left came back");
        assert!(lost <= self.held_ever, "lost without a reason");
    }

    /// Checks that waiting threads got numbers in order, as far as there were any.
    fn check_waiting(&mut self) {
        let mut supply = lock(&self.tag.engine.supply);
        for waiting in &mut self.waiting {
            waiting.claim = waiting.claim.take().or_else(|| supply.served(waiting.position));
        }
        let is_served = |waiting: &Waiting| waiting.claim.is_some();
        assert!(self.waiting.is_sorted_by_key(|waiting| !is_served(waiting)), "out of order");
        let waits = self.waiting.last().is_some_and(|last| !is_served(last));
        assert!(
            !waits || supply.left(&self.tag.engine.chain) == 0,
            "one waits while there are numbers"
        );
    }

    /// Everything ends. What is in memory is given back as far as it can be, and each number that
    /// was loaded is accounted for.
    fn end(mut self) {
        for tag in self.scheduler.end() {
            tag.engine.shut_down();
        }
        // Numbers that are unclaimed now are never taken.
        let left = self.tag.engine.left();
        while !self.held.is_empty() {
            self.release(0);
        }
        while !self.waiting.is_empty() {
            self.leave(0);
        }
        assert_eq!(self.tag.engine.left(), left);
        let loaded_before = self.loaded;
        while !self.calls.is_empty() {
            self.answer(0, Answer::Numbers);
        }
        let left = left + self.loaded - loaded_before;
        let row_end = self.next;
        assert_eq!(self.tag.engine.loaded.get(), self.loaded);
        assert_eq!(self.tag.engine.left(), left);
        let lost = self.tag.engine.chain.cursor.lost();
        assert_eq!(self.taken.len() as u64 + lost + left, self.loaded, "{lost} lost, {left} left");
        assert!(lost <= self.held_ever, "lost without a reason");
        self.scheduler.clear_out(self.now);
        self.begin_calls();
        self.answer(0, Answer::Numbers);
        assert!(self.calls.is_empty() && !self.scheduler.is_busy());

        let is_last = self.segments.last().unwrap().row_end == row_end;
        let given_back = self.given_back.as_ref().map_or(0, |unused| unused.count);
        assert!(given_back <= left);
        let has_gone_back = lock(&self.tag.state).has_gone_back();
        assert!(!has_gone_back || given_back == 0);
        if is_last && left > 0 && !has_gone_back {
            assert!(given_back > 0, "{left} numbers left, and none given back");
            // All that follows without a gap up to the end.
            let mut tail = self.segments.pop().unwrap();
            while let Some(before) = self.segments.pop() {
                if before.row_end != tail.first {
                    break;
                }
                tail = Segment { first: before.first, count: before.count + tail.count, ..tail };
            }
            assert_eq!(given_back, left.min(tail.count));
        }
        assert!(self.newest() < self.next, "{} comes again", self.newest());
    }
}

/// How the source answers a call.
#[derive(Clone, Copy, Debug)]
enum Answer {
    Numbers,
    Few,
    AfterAnother,
    Away,
    Locked,
    Failed,
    WentBack,
    OtherDelta,
}
