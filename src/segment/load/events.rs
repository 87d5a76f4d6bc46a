//! [`Event`]: what operators are told, one for each change of state. [`Events`] keeps their order.

#![cfg_attr(
    not(feature = "tracing"),
    allow(dead_code, unused_variables, clippy::match_same_arms, clippy::needless_pass_by_value)
)]

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::time::Duration;

use crate::engine::events::event;
use crate::segment::SegmentError;
use crate::segment::load::trouble::Trouble;
use crate::sync::{Arc, thread};

/// The most events that are kept for subscribers that do not return.
const MOST: usize = 10_000;

/// A change of the state of a source or of one of its tags.
#[derive(Debug)]
pub enum Event {
    /// The source is away, as a load of this tag has shown.
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
    Lost {
        tag: Box<str>,
        numbers: u64,
    },
    NoLoadThread(io::Error),
    Stopped(End),
}

/// What became of the numbers in memory at the end.
#[derive(Clone, Debug, Default)]
pub struct End {
    /// Numbers taken in all.
    pub taken: u64,
    /// How many tags had numbers left, and how many numbers.
    pub tags: u64,
    pub left: u64,
    pub given_back: u64,
    /// Numbers that their rows did not take back, because other processes have loaded since.
    pub refused: u64,
    /// Why some were not given back.
    pub error: Option<Arc<SegmentError>>,
}

/// The events that are to be told. One thread at a time tells them, so they come in order.
#[derive(Debug, Default)]
pub struct Events {
    waiting: VecDeque<Event>,
    teller: Option<thread::ThreadId>,
}

impl Events {
    pub fn push(&mut self, event: Event) {
        if cfg!(feature = "tracing") && self.waiting.len() < MOST {
            self.waiting.push_back(event);
        }
    }

    /// Whether there are events, and no thread tells them.
    pub fn need_a_thread(&self) -> bool {
        self.teller.is_none() && !self.waiting.is_empty()
    }

    /// The next event, if there is one. It is this thread's to tell, and so is what follows. `None`
    /// also if another thread tells them.
    pub fn take_next(&mut self) -> Option<Event> {
        if self.teller.is_some() && !self.is_this_thread() {
            return None;
        }
        let next = self.waiting.pop_front();
        if next.is_some() {
            self.teller = Some(thread::current().id());
        } else {
            self.teller = None;
            // Frees the memory of a time with many events.
            mem::take(&mut self.waiting);
        }
        next
    }

    /// Whether this thread tells events: then it runs a subscriber now.
    pub fn is_this_thread(&self) -> bool {
        self.teller == Some(thread::current().id())
    }

    /// Whether all have been told.
    pub fn are_told(&self) -> bool {
        self.teller.is_none() && self.waiting.is_empty()
    }
}

/// As the field of an event, with the causes of the error: subscribers that know errors show them.
#[cfg(feature = "tracing")]
fn cause(error: &SegmentError) -> &(dyn std::error::Error + 'static) {
    error
}

pub fn started(source: &str) {
    event!(info, "segments_started", source, "the loader of segments has started");
}

impl Event {
    /// Tells subscribers, which are foreign code.
    pub fn tell(&self, source: &str) {
        match self {
            Event::Unreachable { tag, error } => {
                event!(
                    warn,
                    "source_unreachable",
                    source,
                    tag = &**tag,
                    error = cause(error),
                    "the source gives no numbers for now; takes continue with those in memory"
                );
            }
            Event::SourceRecovered { away } => {
                event!(info, "source_recovered", source, ?away, "the source gives numbers again");
            }
            Event::TagFailing { tag, trouble, error } => {
                tell_trouble(source, tag, *trouble, error);
            }
            Event::Slow { tag, waited } => {
                event!(
                    warn,
                    "tag_slow",
                    source,
                    tag = &**tag,
                    ?waited,
                    "a load takes long, and no numbers are left; takes wait or fail"
                );
            }
            Event::TagRecovered { tag, failing } => {
                event!(
                    info,
                    "tag_recovered",
                    source,
                    tag = &**tag,
                    ?failing,
                    "numbers of the tag are loaded again"
                );
            }
            Event::Lost { tag, numbers } => {
                event!(
                    info,
                    "numbers_lost",
                    source,
                    tag = &**tag,
                    numbers,
                    "numbers of the tag were lost; they are left out"
                );
            }
            Event::NoLoadThread(error) => {
                event!(
                    warn,
                    "no_load_thread",
                    source,
                    error = error as &(dyn std::error::Error + 'static),
                    "no thread for a load can be started; loads come one after the other"
                );
            }
            Event::Stopped(end) => end.tell(source),
        }
    }
}

/// A tag fails for a reason of its own.
fn tell_trouble(source: &str, tag: &str, trouble: Trouble, error: &SegmentError) {
    macro_rules! tell {
        ($level:ident, $name:literal, $message:literal) => {{
            event!($level, $name, source, tag, error = cause(error), $message);
        }};
    }
    match trouble {
        // These have events of their own.
        Trouble::Away | Trouble::Slow => {}
        Trouble::Locked => tell!(warn, "tag_locked", "others hold the row of the tag"),
        Trouble::NoSuchTag => {
            tell!(error, "tag_gone", "the source no longer has the tag");
        }
        Trouble::RanOut => tell!(error, "tag_ran_out", "the tag has no numbers left"),
        Trouble::WentBack => tell!(
            error,
            "tag_went_back",
            "the row of the tag gives numbers again that it had given; none are loaded any more"
        ),
        Trouble::DeltaChanged => tell!(
            error,
            "tag_delta_changed",
            "the row of the tag has another distance between its numbers; none are loaded"
        ),
        Trouble::BadRow => {
            tell!(error, "tag_bad_row", "the row of the tag has values that give no numbers");
        }
        Trouble::Panicked => {
            tell!(error, "source_panicked", "the source panicked; the load is tried again");
        }
        Trouble::Failed => tell!(error, "tag_failed", "no numbers of the tag can be loaded"),
    }
}

impl End {
    /// The call that was to give so many numbers back has ended.
    pub fn gave_back(&mut self, numbers: u64, result: Result<bool, SegmentError>) {
        match result {
            Ok(true) => self.given_back += numbers,
            Ok(false) => self.refused += numbers,
            Err(error) => {
                self.error.get_or_insert(Arc::new(error));
            }
        }
    }

    fn tell(&self, source: &str) {
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
