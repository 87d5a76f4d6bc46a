//! [`Alarms`]: what operators know about a source and its tags. A change of that is an event.

use std::io;
#[cfg(feature = "metrics")]
use std::mem;
use std::time::Duration;

use crate::segment::SegmentError;
use crate::segment::load::events::{End, Event, Events};
use crate::segment::load::trouble::Trouble;
use crate::sync::Arc;

/// A load under way is slow after this time, if no numbers of its tag are left.
pub const SLOW: Duration = Duration::from_secs(1);
/// Lost numbers of one tag are told again after this time at the earliest.
const LOST_PAUSE: Duration = Duration::from_secs(60);

/// What operators know about a tag. Written under the lock of the loader's scheduler. Most tags
/// have no trouble, and no memory for it.
#[derive(Debug, Default)]
pub struct TagAlarm(Option<Box<Known>>);

#[derive(Debug, Default)]
struct Known {
    /// A bit for each [`Trouble`] of the tag.
    troubles: u16,
    /// Since when there has been trouble.
    since: Option<Duration>,
    /// Since when a load has been under way while no numbers are left.
    empty_since: Option<Duration>,
    /// Whether that load is slow.
    is_slow: bool,
    /// Numbers that were loaded and refused, and that the row did not take back.
    refused: u64,
    /// How many lost numbers operators know of, and since when.
    lost: u64,
    lost_told: Option<Duration>,
}

impl TagAlarm {
    /// Since when no load has succeeded, if one has failed or is slow.
    pub fn since(&self) -> Option<Duration> {
        self.0.as_ref()?.since
    }

    /// Numbers of the tag that nobody will get, of which takers have lost so many.
    pub fn lost(&self, by_takers: u64) -> u64 {
        by_takers + self.0.as_ref().map_or(0, |known| known.refused)
    }

    fn known(&mut self) -> &mut Known {
        self.0.get_or_insert_default()
    }
}

impl Known {
    /// Whether the tag has trouble of its own.
    fn is_failing(&self) -> bool {
        self.troubles & !bit(Trouble::Away) != 0
    }

    /// Notes `trouble`. Returns whether it is new.
    fn add(&mut self, trouble: Trouble) -> bool {
        let before = self.troubles;
        self.troubles |= bit(trouble);
        self.troubles != before
    }

    /// Notes that `trouble` is over. Returns whether there was any.
    fn remove(&mut self, trouble: Trouble) -> bool {
        let before = self.troubles;
        self.troubles &= !bit(trouble);
        self.troubles != before
    }
}

fn bit(trouble: Trouble) -> u16 {
    1 << trouble as u16
}

/// What the metrics show of a source, but for its tags.
#[cfg(feature = "metrics")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    pub counts: Counts,
    pub is_away: bool,
    pub failing_tags: u64,
    pub given_back: u64,
}

/// Loads and what became of their numbers. For metrics.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(not(feature = "metrics"), allow(dead_code))]
pub struct Counts {
    pub loads: u64,
    pub failures: u64,
    /// Numbers in the segments of these loads.
    pub loaded: u64,
    /// Numbers that were refused and that their rows did not take back.
    pub refused: u64,
}

/// What operators know about a source and its tags, and what they are still to be told.
#[derive(Debug, Default)]
pub struct Alarms {
    /// Since when the source has been away.
    away_since: Option<Duration>,
    /// Tags whose last load failed because the source is away.
    away_tags: u64,
    /// Tags that have trouble of their own.
    failing_tags: u64,
    /// Whether the last thread for a load could not be started.
    lacks_threads: bool,
    pub events: Events,
    pub end: End,
    counts: Counts,
    /// The names of tags that fail since the metrics were brought up to date.
    #[cfg(feature = "metrics")]
    failed: Vec<Box<str>>,
}

impl Alarms {
    /// Since when the source has been away.
    #[cfg(all(test, feature = "tracing"))]
    pub fn away_since(&self) -> Option<Duration> {
        self.away_since
    }

    /// Tags that have trouble of their own.
    #[cfg(all(test, feature = "tracing"))]
    pub fn failing_tags(&self) -> u64 {
        self.failing_tags
    }

    /// What the metrics show of the source.
    #[cfg(feature = "metrics")]
    pub fn measure(&self) -> Measured {
        Measured {
            counts: self.counts,
            is_away: self.away_since.is_some(),
            failing_tags: self.failing_tags,
            given_back: self.end.given_back,
        }
    }

    /// The names of the tags that fail for the first time, or again, since this was called last.
    #[cfg(feature = "metrics")]
    pub fn take_failed(&mut self) -> Vec<Box<str>> {
        mem::take(&mut self.failed)
    }

    /// A load of `tag` is under way, and no numbers of the tag are left. Returns when the load will
    /// be slow, unless it is.
    pub fn is_loading(
        &mut self,
        tag: &str,
        alarm: &mut TagAlarm,
        now: Duration,
    ) -> Option<Duration> {
        let known = alarm.known();
        let since = *known.empty_since.get_or_insert(now);
        if now < since + SLOW {
            return Some(since + SLOW);
        }
        known.is_slow = true;
        known.since.get_or_insert(since);
        self.failing_tags += u64::from(!known.is_failing());
        if known.add(Trouble::Slow) {
            #[cfg(feature = "metrics")]
            self.failed.push(tag.into());
            self.events.push(Event::Slow { tag: tag.into(), waited: now.saturating_sub(since) });
        }
        None
    }

    /// Notes that a load of `tag` has brought `numbers` numbers.
    pub fn loaded(&mut self, tag: &str, alarm: &mut TagAlarm, numbers: u64, now: Duration) {
        self.counts.loads += 1;
        self.counts.loaded += numbers;
        self.answered(alarm, now);
        let Some(known) = &mut alarm.0 else { return };
        let was_failing = known.is_failing();
        // A slow load is likely to be followed by another, which is not told again.
        known.troubles &= if known.is_slow { bit(Trouble::Slow) } else { 0 };
        (known.empty_since, known.is_slow) = (None, false);
        if known.troubles != 0 {
            return;
        }
        let since = known.since.take().unwrap_or(now);
        if was_failing {
            self.failing_tags -= 1;
            let failing = now.saturating_sub(since);
            self.events.push(Event::TagRecovered { tag: tag.into(), failing });
        }
        if (known.lost, known.refused) == (0, 0) {
            alarm.0 = None;
        }
    }

    /// Notes that a load of `tag` has failed. If the tag is new there is no event: the call that
    /// asked for the tag returns the error.
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
        let known = alarm.known();
        known.since.get_or_insert(now);
        (known.empty_since, known.is_slow) = (None, false);
        let error = Arc::clone(error);
        if trouble == Trouble::Away {
            self.away_tags += u64::from(!is_new && known.add(Trouble::Away));
            if self.away_since.is_none() {
                self.away_since = Some(now);
                self.events.push(Event::Unreachable { tag: tag.into(), error });
            }
            return;
        }
        if trouble != Trouble::Panicked {
            self.answered(alarm, now);
        }
        if is_new {
            return;
        }
        let known = alarm.known();
        self.failing_tags += u64::from(!known.is_failing());
        if known.add(trouble) {
            #[cfg(feature = "metrics")]
            self.failed.push(tag.into());
            self.events.push(Event::TagFailing { tag: tag.into(), trouble, error });
        }
    }

    /// Notes that the source has answered a load of a tag. It counts as back when no tag is left
    /// whose last load did not reach it. So if one of several databases is away, that is told once,
    /// and not again with each answer of the others.
    fn answered(&mut self, alarm: &mut TagAlarm, now: Duration) {
        if let Some(known) = &mut alarm.0 {
            self.away_tags -= u64::from(known.remove(Trouble::Away));
        }
        if self.away_tags == 0
            && let Some(since) = self.away_since.take()
        {
            self.events.push(Event::SourceRecovered { away: now.saturating_sub(since) });
        }
    }

    /// Counts `numbers` that were loaded and refused, and that the tag's row has not taken back.
    pub fn refused(&mut self, alarm: &mut TagAlarm, numbers: u64) {
        self.counts.refused += numbers;
        alarm.known().refused += numbers;
    }

    /// Tells operators of lost numbers, at most once in [`LOST_PAUSE`]. Takers have lost
    /// `by_takers`.
    pub fn check_lost(&mut self, tag: &str, alarm: &mut TagAlarm, by_takers: u64, now: Duration) {
        let told = alarm.0.as_ref().and_then(|known| known.lost_told);
        if told.is_none_or(|told| now >= told + LOST_PAUSE) {
            self.tell_lost(tag, alarm, by_takers, now);
        }
    }

    fn tell_lost(&mut self, tag: &str, alarm: &mut TagAlarm, by_takers: u64, now: Duration) {
        let lost = alarm.lost(by_takers);
        if lost > alarm.0.as_ref().map_or(0, |known| known.lost) {
            let known = alarm.known();
            let numbers = lost - known.lost;
            (known.lost, known.lost_told) = (lost, Some(now));
            self.events.push(Event::Lost { tag: tag.into(), numbers });
        }
    }

    /// Adds a tag that has ended to the totals: how many of its numbers were claimed, how many
    /// takers have lost, and how many are left and will be given back.
    pub fn ends(
        &mut self,
        tag: &str,
        alarm: &mut TagAlarm,
        (claimed, by_takers, left): (u64, u64, u64),
        now: Duration,
    ) {
        self.tell_lost(tag, alarm, by_takers, now);
        self.end.taken += claimed.saturating_sub(by_takers);
        self.end.left += left;
        self.end.tags += u64::from(left > 0);
    }

    /// Notes whether a thread for a load could be started.
    pub fn load_thread(&mut self, started: Result<(), io::Error>) {
        let lacked = self.lacks_threads;
        self.lacks_threads = started.is_err();
        if let (false, Err(error)) = (lacked, started) {
            self.events.push(Event::NoLoadThread(error));
        }
    }
}
