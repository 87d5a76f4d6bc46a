//! What operators are told of segments, held against what happened: a test makes the calls to the
//! source by hand, and lets them fail in every way.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proptest::prelude::*;

use crate::backend::StorageError;
use crate::segment::load::alarm::SLOW;
use crate::segment::load::events::Event;
use crate::segment::load::loaded_tag::LoadedTag;
use crate::segment::load::policy::Policy;
use crate::segment::load::scheduler::{Job, Scheduler};
use crate::segment::load::supplier::Reporting;
use crate::segment::load::trouble::{SourcePanicked, Trouble};
use crate::segment::tag::request_list::RequestList;
use crate::segment::{Segment, SegmentError};
use crate::simulation::SECOND;
use crate::sync::{Arc, lock};

const STEP: u64 = 20;

/// An event as this test sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ObservedEvent {
    Away,
    Back { away: Duration },
    Trouble(String, Trouble),
    Well(String, Duration),
}

/// How the source answers a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Numbers,
    Fails(Trouble),
}

/// The history of a tag.
#[derive(Debug, Default)]
struct State {
    /// Its troubles since its last recovery.
    troubles: BTreeMap<u8, Trouble>,
    since: Option<Duration>,
    /// Whether it has received numbers.
    is_known: bool,
    went_back: bool,
}

/// A running load.
struct Call {
    tag: Arc<LoadedTag>,
    since: Duration,
    /// Since when its tag has had no numbers left.
    empty_since: Option<Duration>,
}

struct EventSimulation {
    now: Duration,
    requests: Arc<RequestList>,
    scheduler: Scheduler,
    tags: Vec<Arc<LoadedTag>>,
    /// Those that the program waits for.
    entered: Vec<Arc<LoadedTag>>,
    calls: Vec<Call>,
    next: BTreeMap<String, u64>,
    states: BTreeMap<String, State>,
    /// Tags whose last load failed because the source is away.
    away: BTreeSet<String>,
    away_since: Option<Duration>,
    expected: Vec<ObservedEvent>,
    observed: Vec<ObservedEvent>,
    names: u32,
    /// Those that were given up.
    retired: Vec<Arc<LoadedTag>>,
    /// How the source answers what gives numbers back.
    returns: Answer,
}

impl EventSimulation {
    fn new() -> EventSimulation {
        let policy = Policy {
            rest: None,
            ahead: 10 * SECOND,
            refresh: 900 * SECOND,
            max_step: 1_000_000,
            max_in_memory: u64::MAX,
            max_wait: Duration::ZERO,
        };
        let rng = fastrand::Rng::with_seed(7);
        let mut simulation = EventSimulation {
            now: Duration::ZERO,
            requests: Arc::new(RequestList::new().0),
            scheduler: Scheduler::new(policy, 3, "the rows".to_owned(), Reporting::default(), rng),
            tags: Vec::new(),
            entered: Vec::new(),
            calls: Vec::new(),
            next: BTreeMap::new(),
            states: BTreeMap::new(),
            away: BTreeSet::new(),
            away_since: None,
            expected: Vec::new(),
            observed: Vec::new(),
            names: 0,
            retired: Vec::new(),
            returns: Answer::Numbers,
        };
        for _ in 0..3 {
            simulation.enter();
            simulation.answer(0, Answer::Numbers);
        }
        simulation
    }

    /// A program uses another tag.
    fn enter(&mut self) {
        let name = format!("tag {}", self.names);
        self.names += 1;
        let (tag, _) = self.scheduler.enter(&name, &self.requests, self.now);
        self.entered.push(tag);
        self.run_due();
    }

    fn run_due(&mut self) {
        self.scheduler.run_due(&self.requests, self.now);
        for call in &mut self.calls {
            let tag = &call.tag;
            let state = self.states.entry(tag.name.to_string()).or_default();
            if !state.is_known || tag.engine.left() > 0 {
                continue;
            }
            let since = *call.empty_since.get_or_insert(self.now);
            if self.now >= since + SLOW {
                state.since.get_or_insert(since);
                if state.troubles.insert(Trouble::Slow as u8, Trouble::Slow).is_none() {
                    self.expected.push(ObservedEvent::Trouble(tag.name.to_string(), Trouble::Slow));
                }
            }
        }
        self.begin_calls();
    }

    fn begin_calls(&mut self) {
        while let Some(job) = self.scheduler.next_job(self.now) {
            let tag = match job {
                Job::Load { tag, .. } => tag,
                Job::GiveBack { tag, unused } => {
                    let is_back = self.returns == Answer::Numbers;
                    let result =
                        if is_back { Ok(true) } else { Err(SegmentError::unreachable("away")) };
                    self.scheduler.gave_back(&tag, &unused, result, self.now);
                    if is_back {
                        self.expect_back();
                    }
                    continue;
                }
            };
            let is_known = self.states.get(&*tag.name).is_some_and(|state| state.is_known);
            let is_empty = is_known && tag.engine.left() == 0;
            let empty_since = is_empty.then_some(self.now);
            self.calls.push(Call { tag, since: self.now, empty_since });
        }
    }

    /// Takes so many numbers of a tag and, if that were all, tries once more.
    fn take(&mut self, tag: usize, count: u64) {
        if self.tags.is_empty() {
            return;
        }
        let tag = &self.tags[tag % self.tags.len()];
        for _ in 0..count {
            let _ = tag.engine.try_take();
        }
        if tag.engine.left() == 0 {
            assert!(tag.engine.try_take().is_err());
        }
    }

    /// A tag is given up. What is left of it goes back, if the source takes it.
    fn retire(&mut self, tag: usize, answer: Answer) {
        if self.tags.is_empty() {
            return;
        }
        let tag = self.tags.remove(tag % self.tags.len());
        if !self.scheduler.retire(&tag) {
            return;
        }
        // A load that is running is answered first.
        while let Some(call) = self.calls.iter().position(|call| Arc::ptr_eq(&call.tag, &tag)) {
            self.answer(call, answer);
        }
        tag.engine.shut_down();
        self.scheduler.retired(&tag, self.now);
        self.states.remove(&*tag.name);
        self.away.remove(&*tag.name);
        if self.scheduler.outage(Duration::ZERO).is_none() {
            self.expect_back();
        }
        self.retired.push(tag);
        self.returns = answer;
        self.begin_calls();
    }

    fn answer(&mut self, call: usize, answer: Answer) {
        if self.calls.is_empty() {
            return;
        }
        let Call { tag, since, empty_since } = self.calls.remove(call % self.calls.len());
        let is_slow = empty_since.is_some_and(|since| self.now >= since + SLOW);
        let name = tag.name.to_string();
        let before = self.next.get(&name).copied().unwrap_or(1);
        let is_known = self.states.entry(name.clone()).or_default().is_known;
        let segment = |first, delta| Ok(Segment::new(first, STEP, delta, first + STEP * delta));
        let of_row = ("the rows".to_owned(), name.clone());
        let result = match answer {
            Answer::Numbers => segment(before, 1),
            Answer::Fails(trouble) => match trouble {
                // A row that begins in this way has done nothing wrong.
                Trouble::WentBack if is_known => segment(1, 1),
                Trouble::DeltaChanged if is_known => segment(before, 3),
                Trouble::BadRow => segment(0, 1),
                Trouble::Locked => {
                    Err(StorageError::Locked { what: of_row.0, waited: 2 * SECOND }.into())
                }
                Trouble::NoSuchTag => {
                    let (store, tag) = of_row;
                    Err(SegmentError::NoSuchTag { store, tag, alike: Vec::new() })
                }
                Trouble::RanOut => {
                    let (store, tag) = of_row;
                    Err(SegmentError::RanOut { store, tag, last: 9 })
                }
                Trouble::Panicked => Err(SegmentError::other(SourcePanicked { source: of_row.0 })),
                Trouble::Failed => Err(SegmentError::other("broken")),
                _ => Err(SegmentError::unreachable("away")),
            },
        };
        let outcome = match &result {
            Ok(Segment { first: 0, .. }) => Some(Trouble::BadRow),
            Ok(Segment { delta: 3, .. }) => Some(Trouble::DeltaChanged),
            Ok(Segment { first, .. }) if is_known && *first < before => Some(Trouble::WentBack),
            Ok(_) => None,
            Err(error) => Some(Trouble::of(error)),
        };
        if outcome.is_none() {
            self.next.insert(name.clone(), before + STEP);
            if !is_known {
                self.tags.push(Arc::clone(&tag));
            }
        }
        self.expect(&name, outcome, is_slow);
        self.scheduler.loaded(&tag, result, self.now - since, self.now);
        self.begin_calls();
        drop(self.scheduler.take_wake_ups());
    }

    /// Records the events that operators must get when a load of `tag` ends in this way.
    fn expect(&mut self, tag: &str, trouble: Option<Trouble>, is_slow: bool) {
        if trouble == Some(Trouble::Away) {
            let state = self.states.get_mut(tag).unwrap();
            if state.is_known {
                self.away.insert(tag.to_owned());
                state.since.get_or_insert(self.now);
            }
            if self.away_since.is_none() {
                self.away_since = Some(self.now);
                self.expected.push(ObservedEvent::Away);
            }
            return;
        }
        // A panic does not show that the source answers.
        if trouble != Some(Trouble::Panicked) {
            self.away.remove(tag);
            self.expect_back();
        }
        let state = self.states.get_mut(tag).unwrap();
        match trouble {
            Some(trouble) if state.is_known => {
                state.since.get_or_insert(self.now);
                state.went_back |= trouble == Trouble::WentBack;
                if state.troubles.insert(trouble as u8, trouble).is_none() {
                    self.expected.push(ObservedEvent::Trouble(tag.to_owned(), trouble));
                }
            }
            Some(_) => {}
            None if is_slow => {
                state.troubles.retain(|_, trouble| *trouble == Trouble::Slow);
            }
            None => {
                let since = state.since.take();
                if !state.troubles.is_empty() {
                    let failing = self.now - since.unwrap();
                    self.expected.push(ObservedEvent::Well(tag.to_owned(), failing));
                }
                state.troubles.clear();
                state.is_known = true;
            }
        }
    }

    /// Records the event that the source is back, unless a tag has not reached it.
    fn expect_back(&mut self) {
        if let Some(since) = self.away_since.filter(|_| self.away.is_empty()) {
            self.away_since = None;
            self.expected.push(ObservedEvent::Back { away: self.now - since });
        }
    }

    /// Holds what has been told against what has happened.
    fn check(&mut self) -> Result<(), TestCaseError> {
        while let Some(event) = self.scheduler.alarms.events.take_next() {
            let name = |tag: &str| tag.to_owned();
            self.observed.push(match &event {
                Event::Unreachable { .. } => ObservedEvent::Away,
                Event::SourceRecovered { away } => ObservedEvent::Back { away: *away },
                Event::TagFailing { tag, trouble, .. } => {
                    ObservedEvent::Trouble(name(tag), *trouble)
                }
                Event::Slow { tag, waited } => {
                    prop_assert!(*waited >= SLOW);
                    ObservedEvent::Trouble(name(tag), Trouble::Slow)
                }
                Event::TagRecovered { tag, failing } => ObservedEvent::Well(name(tag), *failing),
                other => return Err(TestCaseError::fail(format!("{other:?}"))),
            });
        }
        // Loads that are found to be slow at the same time are told in any order.
        for list in [&mut self.expected, &mut self.observed] {
            let key = |event: &ObservedEvent| match event {
                ObservedEvent::Trouble(tag, Trouble::Slow) => Some(tag.clone()),
                _ => None,
            };
            for run in list.chunk_by_mut(|a, b| key(a).is_some() && key(b).is_some()) {
                run.sort_by_key(key);
            }
        }
        prop_assert_eq!(&self.observed, &self.expected);
        let failing = self.states.values().filter(|state| !state.troubles.is_empty()).count();
        prop_assert_eq!(self.scheduler.alarms.failing_tags(), failing as u64);
        prop_assert_eq!(self.scheduler.alarms.away_since(), self.away_since);
        for tag in &self.retired {
            prop_assert_eq!(lock(&tag.state).alarm.since(), None);
        }
        Ok(())
    }
}

#[derive(Clone, Debug)]
enum Step {
    Wait(u64),
    Take(usize, u64),
    Enter,
    Retire(usize, Answer),
    Answer(usize, Answer),
}

fn step() -> impl Strategy<Value = Step> {
    let fails = |trouble| Just(Answer::Fails(trouble));
    let answer = prop_oneof![
        8 => Just(Answer::Numbers),
        4 => fails(Trouble::Away),
        1 => fails(Trouble::Locked),
        1 => fails(Trouble::NoSuchTag),
        1 => fails(Trouble::RanOut),
        1 => fails(Trouble::WentBack),
        1 => fails(Trouble::DeltaChanged),
        1 => fails(Trouble::BadRow),
        1 => fails(Trouble::Panicked),
        1 => fails(Trouble::Failed),
    ];
    prop_oneof![
        4 => (0_u64..4000).prop_map(Step::Wait),
        4 => (0_usize..8, 1..2 * STEP).prop_map(|(tag, count)| Step::Take(tag, count)),
        1 => Just(Step::Enter),
        1 => (0_usize..8, answer.clone()).prop_map(|(tag, answer)| Step::Retire(tag, answer)),
        6 => (0_usize..4, answer).prop_map(|(call, answer)| Step::Answer(call, answer)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 2))]

    #[test]
    fn each_change_of_a_source_and_its_tags_is_told_once(
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let mut simulation = EventSimulation::new();
        for step in steps {
            match step {
                Step::Wait(ms) => simulation.now += Duration::from_millis(ms),
                Step::Take(tag, count) => simulation.take(tag, count),
                Step::Enter => simulation.enter(),
                Step::Retire(tag, answer) => simulation.retire(tag, answer),
                Step::Answer(call, answer) => simulation.answer(call, answer),
            }
            simulation.run_due();
            simulation.check()?;
        }
    }
}
