//! The last events, for the page: those that the log has, too.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

const MOST: usize = 50;
/// The most characters of a text.
const LONGEST: usize = 600;

/// Something that happened. It names no id and no token, because the log does not.
#[derive(Clone, Debug)]
pub(crate) struct Happened {
    /// The last time.
    pub(crate) at: SystemTime,
    pub(crate) level: Level,
    pub(crate) text: String,
    /// How often it happened one after the other.
    pub(crate) times: u64,
}

/// Like the log itself, there is one for the process.
static LAST: Mutex<VecDeque<Happened>> = Mutex::new(VecDeque::new());

fn last() -> MutexGuard<'static, VecDeque<Happened>> {
    // Nothing panics while it is locked.
    LAST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The last events, the newest first.
pub(crate) fn recent() -> Vec<Happened> {
    last().iter().rev().cloned().collect()
}

/// Remembers events.
#[derive(Debug)]
pub(crate) struct Recorder;

impl<S: Subscriber> Layer<S> for Recorder {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let level = *event.metadata().level();
        let mut words = Words::default();
        event.record(&mut words);
        let mut text = words.message + &words.fields;
        if let Some((end, _)) = text.char_indices().nth(LONGEST) {
            text.truncate(end);
            text.push('…');
        }
        note(&mut last(), Happened { at: SystemTime::now(), level, text, times: 1 });
    }
}

fn note(events: &mut VecDeque<Happened>, event: Happened) {
    match events.back_mut() {
        Some(before) if before.text == event.text && before.level == event.level => {
            before.at = event.at;
            before.times += 1;
        }
        _ => {
            if events.len() == MOST {
                events.pop_front();
            }
            events.push_back(event);
        }
    }
}

/// An event as a line: what it says, then its fields.
#[derive(Default)]
struct Words {
    message: String,
    fields: String,
}

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a text never fails.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, "; {name}: {value:?}"),
        };
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.record_debug(field, &format_args!("{}", crate::db::with_causes(value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_events_stay_and_repeated_ones_are_one() {
        let mut events = VecDeque::new();
        let event =
            |text: String| Happened { at: SystemTime::now(), level: Level::INFO, text, times: 1 };
        for index in 0..MOST + 10 {
            note(&mut events, event(format!("number {index}")));
        }
        note(&mut events, event("again".to_owned()));
        note(&mut events, event("again".to_owned()));
        assert_eq!(events.len(), MOST);
        assert_eq!(events[0].text, "number 11");
        let newest = events.back().map(|event| (event.text.as_str(), event.times));
        assert_eq!(newest, Some(("again", 2)));
    }
}
