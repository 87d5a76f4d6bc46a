//! [`Event`]: a change of state that operators are told. [`Events`]: the queue that keeps them in
//! order.

#![cfg_attr(
    not(feature = "tracing"),
    allow(dead_code, unused_variables, clippy::match_same_arms, clippy::needless_pass_by_value)
)]

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::time::Duration;

use crate::segment::SegmentError;
use crate::segment::load::supplier::{Reporting, TagLabel};
use crate::segment::load::trouble::Trouble;
use crate::support::callbacks::event;
use crate::sync::{Arc, ThreadId, thread_id};

/// The most events that are queued while a subscriber blocks.
const MOST: usize = 10_000;

/// A change of the state of a source or of one of its tags.
#[derive(Debug)]
pub enum Event {
    /// The source is away. A load of this tag has found that.
    Unreachable {
        tag: Box<str>,
        error: Arc<SegmentError>,
    },
    SourceRecovered {
        away: Duration,
    },
    TagFailing {
        tag: Box<str>,
        trouble: Trouble,
        error: Arc<SegmentError>,
    },
    Slow {
        tag: Box<str>,
        waited: Duration,
    },
    TagRecovered {
        tag: Box<str>,
        failing: Duration,
    },
    NearlyFull {
        tag: Box<str>,
        last: u64,
        largest: u64,
    },
    Lost {
        tag: Box<str>,
        numbers: u64,
    },
    NoLoadThread(io::Error),
    Stopped(End),
}

/// What happened at the end to the numbers in memory.
#[derive(Clone, Debug, Default)]
pub struct End {
    /// The total of numbers taken.
    pub taken: u64,
    /// How many tags had numbers left, and how many numbers.
    pub tags: u64,
    pub left: u64,
    pub given_back: u64,
    /// Numbers that their rows did not take back, because other processes have loaded since.
    pub refused: u64,
    /// Why some numbers were not given back.
    pub error: Option<Arc<SegmentError>>,
}

/// The queue of events. Only one thread at a time sends them, so they stay in order.
#[derive(Debug, Default)]
pub struct Events {
    waiting: VecDeque<Event>,
    sender: Option<ThreadId>,
}

impl Events {
    pub fn push(&mut self, event: Event) {
        if cfg!(feature = "tracing") && self.waiting.len() < MOST {
            self.waiting.push_back(event);
        }
    }

    /// Whether events are queued and no thread is sending them.
    pub fn need_a_sender(&self) -> bool {
        self.sender.is_none() && !self.waiting.is_empty()
    }

    /// Takes the next event. The calling thread then sends this one and all that follow. `None` if
    /// the queue is empty, or if another thread is sending.
    pub fn take_next(&mut self) -> Option<Event> {
        if self.sender.is_some() && !self.is_sender() {
            return None;
        }
        let next = self.waiting.pop_front();
        if next.is_some() {
            self.sender = Some(thread_id());
        } else {
            self.sender = None;
            // Frees the memory of a queue that has been long.
            mem::take(&mut self.waiting);
        }
        next
    }

    /// Whether the calling thread is sending events, that is, running a subscriber.
    pub fn is_sender(&self) -> bool {
        self.sender == Some(thread_id())
    }

    /// Whether all events have been sent.
    pub fn are_sent(&self) -> bool {
        self.sender.is_none() && self.waiting.is_empty()
    }
}

/// Sends an event about a tag, or with the names and the sentence behind `|` one about a period and
/// a scope of a series.
macro_rules! send {
    (
        $subject:expr,
        $level:ident,
        $name:literal | $of_series:literal,
        $source:ident,
        ($($fields:tt)+),
        $message:literal | $message_of_series:literal
    ) => {
        match $subject {
            TagLabel::Tag(tag) => {
                event!($level, $name, $source, tag, $($fields)+, $message);
            }
            TagLabel::Series { series, period, scope } => {
                event!(
                    $level,
                    $of_series,
                    $source,
                    series,
                    period,
                    scope,
                    $($fields)+,
                    $message_of_series
                );
            }
        }
    };
}

/// The error as the field of an event. Subscribers that know errors also show its causes.
#[cfg(feature = "tracing")]
fn cause(error: &SegmentError) -> &(dyn std::error::Error + 'static) {
    error
}

pub fn started(source: &str) {
    event!(info, "segments_started", source, "the loader of segments has started");
}

impl Event {
    /// Sends the event to subscribers, which are foreign code.
    pub fn send(&self, source: &str, reporting: Reporting) {
        let tag_label = reporting.tag_label;
        match self {
            Event::Unreachable { tag, error } => send!(
                tag_label(tag),
                warn,
                "source_unreachable" | "source_unreachable",
                source,
                (error = cause(error)),
                "the source gives no numbers for now; takes continue with those in memory"
                    | "the source gives no numbers for now; takes continue with those in memory"
            ),
            Event::SourceRecovered { away } => {
                event!(info, "source_recovered", source, ?away, "the source gives numbers again");
            }
            Event::TagFailing { tag, trouble, error } => {
                send_trouble(source, tag_label(tag), *trouble, error);
            }
            Event::Slow { tag, waited } => send!(
                tag_label(tag),
                warn,
                "tag_slow" | "series_slow",
                source,
                (?waited),
                "a load takes long, and no numbers are left; takes wait or fail"
                    | "a load takes long, and no numbers are left; takes wait or fail"
            ),
            Event::TagRecovered { tag, failing } => send!(
                tag_label(tag),
                info,
                "tag_recovered" | "series_recovered",
                source,
                (?failing),
                "numbers of the tag are loaded again" | "numbers of the series are loaded again"
            ),
            Event::NearlyFull { tag, last, largest } => send!(
                tag_label(tag),
                warn,
                "tag_nearly_full" | "series_nearly_full",
                source,
                (last, largest),
                "the tag has given 80 % of the numbers that it can give"
                    | "the series has given 80 % of the numbers that fit its pattern; a wider \
                       one begins at once: uidring series change NAME PATTERN --from now"
            ),
            Event::Lost { tag, numbers } => send!(
                tag_label(tag),
                info,
                "numbers_lost" | "numbers_lost",
                source,
                (numbers),
                "numbers of the tag were lost; they are left out"
                    | "numbers of the series were lost; they are left out"
            ),
            Event::NoLoadThread(error) => {
                event!(
                    warn,
                    "no_load_thread",
                    source,
                    error = error as &(dyn std::error::Error + 'static),
                    "no thread for a load can be started; loads come one after the other"
                );
            }
            Event::Stopped(end) => end.send(source),
        }
    }
}

/// Sends the event of a tag's own trouble.
pub fn send_trouble(source: &str, tag_label: TagLabel<'_>, trouble: Trouble, error: &SegmentError) {
    macro_rules! trouble {
        ($level:ident, $name:tt | $of_series:tt, $message:tt | $message_of_series:tt) => {
            send!(
                tag_label,
                $level,
                $name | $of_series,
                source,
                (error = cause(error)),
                $message | $message_of_series
            )
        };
    }
    match trouble {
        // The first two have events of their own.
        Trouble::Away | Trouble::Slow | Trouble::Superseded => {}
        Trouble::Locked => trouble!(
            warn,
            "tag_locked" | "series_locked",
            "others hold the row of the tag" | "others hold the row of the series' numbers"
        ),
        Trouble::NoSuchTag => trouble!(
            error,
            "tag_gone" | "series_gone",
            "the source no longer has the tag" | "the store no longer has the series"
        ),
        Trouble::RanOut => trouble!(
            error,
            "tag_ran_out" | "series_full",
            "the tag has no numbers left" | "the series has given all numbers of the period"
        ),
        Trouble::WentBack => trouble!(
            error,
            "tag_went_back" | "series_went_back",
            "the row of the tag gives numbers that were given before; none are loaded any more"
                | "the row of the series' numbers gives some again that it had given; none are \
                   loaded any more"
        ),
        Trouble::DeltaChanged => trouble!(
            error,
            "tag_delta_changed" | "series_failed",
            "the row of the tag has another distance between its numbers; none are loaded"
                | "no numbers of the series can be loaded"
        ),
        Trouble::BadRow => trouble!(
            error,
            "tag_bad_row" | "series_failed",
            "the row of the tag has values that give no numbers"
                | "no numbers of the series can be loaded"
        ),
        Trouble::Panicked => trouble!(
            error,
            "source_panicked" | "source_panicked",
            "the source panicked; the load is tried again"
                | "the source panicked; the load is tried again"
        ),
        Trouble::Failed => trouble!(
            error,
            "tag_failed" | "series_failed",
            "no numbers of the tag can be loaded" | "no numbers of the series can be loaded"
        ),
    }
}

impl End {
    /// Records the result of a call that gave this many numbers back.
    pub fn gave_back(&mut self, numbers: u64, result: Result<bool, SegmentError>) {
        match result {
            Ok(true) => self.given_back += numbers,
            Ok(false) => self.refused += numbers,
            Err(error) => {
                self.error.get_or_insert(Arc::new(error));
            }
        }
    }

    fn send(&self, source: &str) {
        let End { taken, tags, left, given_back, .. } = *self;
        if let Some(error) = &self.error {
            let numbers = left.saturating_sub(given_back + self.refused);
            event!(
                warn,
                "not_given_back",
                source,
                numbers,
                error = cause(error),
                "not all numbers in memory could be given back; the others are lost"
            );
        }
        event!(
            info,
            "segments_stopped",
            source,
            taken,
            tags,
            left,
            given_back,
            "the loader of segments has stopped"
        );
    }
}
