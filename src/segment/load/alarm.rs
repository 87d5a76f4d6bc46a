//! [`Alarms`]: the state of a source and its tags as operators know it. Each change of it is an
//! event.

use std::collections::HashSet;
use std::io;
#[cfg(feature = "metrics")]
use std::mem;
use std::time::Duration;

use crate::segment::load::events::{End, Event, Events};
use crate::segment::load::trouble::Trouble;
use crate::segment::{Segment, SegmentError};
use crate::sync::Arc;

/// A load is slow if it takes longer than this while its tag has no numbers left.
pub const SLOW: Duration = Duration::from_secs(1);
/// The shortest interval between two events about lost numbers of one tag.
const LOST_PAUSE: Duration = Duration::from_secs(60);
/// Of how many full periods it is known at most that they were told.
const MOST_FULL: usize = 10_000;

/// The state of a tag as operators know it. Written under the lock of the loader's scheduler. Most
/// tags have no trouble, and allocate nothing.
#[derive(Debug, Default)]
pub struct TagAlarm(Option<Box<ReportedState>>);

#[derive(Debug, Default)]
struct ReportedState {
    /// A bit for each [`Trouble`] of the tag.
    troubles: u16,
    /// When the trouble began.
    since: Option<Duration>,
    /// When a load was first found running while no numbers are left.
    empty_since: Option<Duration>,
    /// Whether that load is slow.
    is_slow: bool,
    /// Loaded numbers that were rejected and that the row did not take back.
    refused: u64,
    /// How many lost numbers operators know of, and when they were last told.
    lost: u64,
    lost_reported_at: Option<Duration>,
}

impl TagAlarm {
    /// When loads stopped succeeding, if the last one failed or the present one is slow.
    pub fn since(&self) -> Option<Duration> {
        self.0.as_ref()?.since
    }

    /// Numbers of the tag that nobody will get. `by_takers` of them were lost by takers.
    pub fn lost(&self, by_takers: u64) -> u64 {
        by_takers + self.0.as_ref().map_or(0, |reported| reported.refused)
    }

    fn reported(&mut self) -> &mut ReportedState {
        self.0.get_or_insert_default()
    }
}

impl ReportedState {
    /// Whether the tag has trouble of its own.
    fn is_failing(&self) -> bool {
        self.troubles & !bit(Trouble::Away) != 0
    }

    /// Records `trouble`. Returns whether it is new.
    fn add(&mut self, trouble: Trouble) -> bool {
        let before = self.troubles;
        self.troubles |= bit(trouble);
        self.troubles != before
    }

    /// Records that `trouble` is over. Returns whether there was any.
    fn remove(&mut self, trouble: Trouble) -> bool {
        let before = self.troubles;
        self.troubles &= !bit(trouble);
        self.troubles != before
    }
}

fn bit(trouble: Trouble) -> u16 {
    1 << trouble as u16
}

/// The metrics of a source, without those of its tags.
#[cfg(feature = "metrics")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    pub counts: Counts,
    pub is_away: bool,
    pub failing_tags: u64,
    pub given_back: u64,
}

/// Totals of loads and of their numbers, for metrics.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(not(feature = "metrics"), allow(dead_code))]
pub struct Counts {
    pub loads: u64,
    pub failures: u64,
    /// Numbers in successfully loaded segments.
    pub loaded: u64,
    /// Numbers that were rejected and that their rows did not take back.
    pub refused: u64,
    /// How often a tag has come to 80 % of the numbers that it can give.
    pub nearly_full: u64,
}

/// The state of a source and its tags as operators know it, and the events that are still to be
/// sent.
#[derive(Debug, Default)]
pub struct Alarms {
    /// When the source went away.
    away_since: Option<Duration>,
    /// How many tags' last load failed because the source is away.
    away_tags: u64,
    /// How many tags have trouble of their own.
    failing_tags: u64,
    /// Whether the last thread for a load could not be started.
    lacks_threads: bool,
    /// Whether the tags are periods and scopes of series.
    are_of_series: bool,
    /// Those of which operators know that all numbers have been given.
    full: HashSet<Box<str>>,
    pub events: Events,
    pub end: End,
    counts: Counts,
    /// The names of tags that have begun to fail since the last update of the metrics.
    #[cfg(feature = "metrics")]
    failed: Vec<Box<str>>,
}

impl Alarms {
    /// Those of a source whose tags are periods and scopes of series, or not.
    pub fn new(are_of_series: bool) -> Alarms {
        Alarms { are_of_series, ..Alarms::default() }
    }

    /// When the source went away.
    #[cfg(all(test, feature = "tracing"))]
    pub fn away_since(&self) -> Option<Duration> {
        self.away_since
    }

    /// How many tags have trouble of their own.
    #[cfg(all(test, feature = "tracing"))]
    pub fn failing_tags(&self) -> u64 {
        self.failing_tags
    }

    /// The metrics of the source.
    #[cfg(feature = "metrics")]
    pub fn measure(&self) -> Measured {
        Measured {
            counts: self.counts,
            is_away: self.away_since.is_some(),
            failing_tags: self.failing_tags,
            given_back: self.end.given_back,
        }
    }

    /// The names of tags that have begun to fail since the last call.
    #[cfg(feature = "metrics")]
    pub fn take_failed(&mut self) -> Vec<Box<str>> {
        mem::take(&mut self.failed)
    }

    /// Records that a load of `tag` is running while no numbers of the tag are left. Returns when
    /// the load will count as slow, unless it already does.
    pub fn note_empty_load(
        &mut self,
        tag: &str,
        alarm: &mut TagAlarm,
        now: Duration,
    ) -> Option<Duration> {
        let reported = alarm.reported();
        let since = *reported.empty_since.get_or_insert(now);
        if now < since + SLOW {
            return Some(since + SLOW);
        }
        reported.is_slow = true;
        reported.since.get_or_insert(since);
        self.failing_tags += u64::from(!reported.is_failing());
        if reported.add(Trouble::Slow) {
            #[cfg(feature = "metrics")]
            self.failed.push(tag.into());
            self.events.push(Event::Slow { tag: tag.into(), waited: now.saturating_sub(since) });
        }
        None
    }

    /// Records that a load of `tag` has brought `numbers` numbers.
    pub fn loaded(&mut self, tag: &str, alarm: &mut TagAlarm, numbers: u64, now: Duration) {
        self.counts.loads += 1;
        self.counts.loaded += numbers;
        self.full.remove(tag);
        self.answered(alarm, now);
        let Some(reported) = &mut alarm.0 else { return };
        let was_failing = reported.is_failing();
        // After a slow load the next one is likely to be slow, too, and would cause the same event
        // again.
        reported.troubles &= if reported.is_slow { bit(Trouble::Slow) } else { 0 };
        (reported.empty_since, reported.is_slow) = (None, false);
        if reported.troubles != 0 {
            return;
        }
        let since = reported.since.take().unwrap_or(now);
        if was_failing {
            self.failing_tags -= 1;
            let failing = now.saturating_sub(since);
            self.events.push(Event::TagRecovered { tag: tag.into(), failing });
        }
        if (reported.lost, reported.refused) == (0, 0) {
            alarm.0 = None;
        }
    }

    /// Looks whether a loaded segment comes to 80 % of the numbers that its row can give.
    pub fn check_full(&mut self, tag: &str, segment: &Segment, last: u64) {
        let most = segment.largest - segment.largest / 5;
        if (segment.first..=last).contains(&most) {
            self.counts.nearly_full += 1;
            let largest = segment.largest;
            self.events.push(Event::NearlyFull { tag: tag.into(), last, largest });
        }
    }

    /// Forgets the troubles of a tag that is given up. If no other tag keeps the source away, it is
    /// back, unless the last call that was made did not reach it.
    pub fn retired(&mut self, alarm: &mut TagAlarm, is_away: bool, now: Duration) {
        if let Some(reported) = &mut alarm.0 {
            self.failing_tags -= u64::from(reported.is_failing());
            self.away_tags -= u64::from(reported.remove(Trouble::Away));
            reported.troubles = 0;
            (reported.since, reported.empty_since, reported.is_slow) = (None, None, false);
        }
        if !is_away {
            self.reached(now);
        }
    }

    /// Records that a load of `tag` has failed. A new tag causes no event, because the call that
    /// asked for it returns the error. But a period of a series that is full is told once, however
    /// often its scope is asked for anew, and is no failure.
    pub fn failed(
        &mut self,
        tag: &str,
        alarm: &mut TagAlarm,
        is_new: bool,
        trouble: Trouble,
        error: &Arc<SegmentError>,
        now: Duration,
    ) {
        self.counts.failures += 1;
        let reported = alarm.reported();
        reported.since.get_or_insert(now);
        (reported.empty_since, reported.is_slow) = (None, false);
        let error = Arc::clone(error);
        if trouble == Trouble::Away {
            self.away_tags += u64::from(!is_new && reported.add(Trouble::Away));
            if self.away_since.is_none() {
                self.away_since = Some(now);
                self.events.push(Event::Unreachable { tag: tag.into(), error });
            }
            return;
        }
        if trouble != Trouble::Panicked {
            self.answered(alarm, now);
        }
        if self.are_of_series && trouble == Trouble::RanOut {
            // Takes go on as long as others are in memory.
            if is_new {
                self.report_full(tag, trouble, error);
            }
            return;
        }
        // Its takers go on with another tag, and each call for a new one returns the error.
        if is_new || trouble == Trouble::Superseded {
            return;
        }
        let reported = alarm.reported();
        self.failing_tags += u64::from(!reported.is_failing());
        if reported.add(trouble) {
            #[cfg(feature = "metrics")]
            self.failed.push(tag.into());
            self.events.push(Event::TagFailing { tag: tag.into(), trouble, error });
        }
    }

    /// Tells once that a period of a series has given all its numbers.
    fn report_full(&mut self, tag: &str, trouble: Trouble, error: Arc<SegmentError>) {
        if self.full.len() >= MOST_FULL {
            self.full.clear();
        }
        if self.full.insert(tag.into()) {
            self.events.push(Event::TagFailing { tag: tag.into(), trouble, error });
        }
    }

    /// Records that the source has answered a load of a tag. The source counts as back when all
    /// tags have reached it in their last load. So if one of several databases is away, there is
    /// one event, and none for each answer of the others.
    fn answered(&mut self, alarm: &mut TagAlarm, now: Duration) {
        if let Some(reported) = &mut alarm.0 {
            self.away_tags -= u64::from(reported.remove(Trouble::Away));
        }
        self.reached(now);
    }

    /// Records that the source has answered a call that was not a load of a tag.
    pub fn reached(&mut self, now: Duration) {
        if self.away_tags == 0
            && let Some(since) = self.away_since.take()
        {
            self.events.push(Event::SourceRecovered { away: now.saturating_sub(since) });
        }
    }

    /// Counts `numbers` that were loaded and rejected, and that the tag's row has not taken back.
    pub fn refused(&mut self, alarm: &mut TagAlarm, numbers: u64) {
        self.counts.refused += numbers;
        alarm.reported().refused += numbers;
    }

    /// Sends an event about lost numbers, at most once in [`LOST_PAUSE`]. `by_takers` numbers were
    /// lost by takers.
    pub fn check_lost(&mut self, tag: &str, alarm: &mut TagAlarm, by_takers: u64, now: Duration) {
        let reported_at = alarm.0.as_ref().and_then(|reported| reported.lost_reported_at);
        if reported_at.is_none_or(|reported_at| now >= reported_at + LOST_PAUSE) {
            self.report_lost(tag, alarm, by_takers, now);
        }
    }

    fn report_lost(&mut self, tag: &str, alarm: &mut TagAlarm, by_takers: u64, now: Duration) {
        let lost = alarm.lost(by_takers);
        if lost > alarm.0.as_ref().map_or(0, |reported| reported.lost) {
            let reported = alarm.reported();
            let numbers = lost - reported.lost;
            (reported.lost, reported.lost_reported_at) = (lost, Some(now));
            self.events.push(Event::Lost { tag: tag.into(), numbers });
        }
    }

    /// Adds a tag that has ended to the totals: how many of its numbers were claimed, how many were
    /// lost by takers, and how many are left and will be given back.
    pub fn ended(
        &mut self,
        tag: &str,
        alarm: &mut TagAlarm,
        (claimed, by_takers, left): (u64, u64, u64),
        now: Duration,
    ) {
        self.report_lost(tag, alarm, by_takers, now);
        self.end.taken += claimed.saturating_sub(by_takers);
        self.end.left += left;
        self.end.tags += u64::from(left > 0);
    }

    /// Records whether the thread of a load could be started.
    pub fn load_thread(&mut self, started: Result<(), io::Error>) {
        let lacked = self.lacks_threads;
        self.lacks_threads = started.is_err();
        if let (false, Err(error)) = (lacked, started) {
            self.events.push(Event::NoLoadThread(error));
        }
    }
}
