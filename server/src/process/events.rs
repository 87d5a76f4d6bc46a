//! Recent log events, shown on the page.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use uidring_args::with_causes;

const MOST: usize = 50;
/// The most characters of an event's text.
const LONGEST: usize = 600;
/// The same event for several tags within this time is shown as one.
const AT_ONCE: Duration = Duration::from_secs(600);

/// A log event. Like the log, it contains no id and no token.
#[derive(Clone, Debug)]
pub(crate) struct LoggedEvent {
    /// When it happened last.
    pub(crate) at: SystemTime,
    pub(crate) level: Level,
    pub(crate) text: String,
    /// The text without the names of the tag or the scope, for an event about one.
    without_name: Option<String>,
    /// How often it happened, in a row or for several tags within a short time.
    pub(crate) times: u64,
}

/// One list for the process, because there is one log.
static LAST: Mutex<VecDeque<LoggedEvent>> = Mutex::new(VecDeque::new());

fn last() -> MutexGuard<'static, VecDeque<LoggedEvent>> {
    // No code panics while it holds the lock.
    LAST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Recent events, the newest first.
pub(crate) fn recent() -> Vec<LoggedEvent> {
    last().iter().rev().cloned().collect()
}

/// The tracing layer that records events.
#[derive(Debug)]
pub(crate) struct Recorder;

impl<S: Subscriber> Layer<S> for Recorder {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let level = *event.metadata().level();
        let mut event_fields = EventFields::default();
        event.record(&mut event_fields);
        let EventFields { message, names, fields } = event_fields;
        let named = names.iter().flat_map(|(field, name)| ["; ", *field, ": ", name.as_str()]);
        let named: String = named.collect();
        let mut text = format!("{message}{named}{fields}");
        if let Some((end, _)) = text.char_indices().nth(LONGEST) {
            text.truncate(end);
            text.push('…');
        }
        let without_name = without(&names, &message, &fields);
        let at = SystemTime::now();
        add(&mut last(), LoggedEvent { at, level, text, without_name, times: 1 });
    }
}

/// The text of an event without the names that it is about: the reason may have them, too. The
/// event of a series keeps the series, and is one for all of its scopes. `None` if it is about no
/// tag and no scope.
fn without(names: &[(&'static str, String)], message: &str, fields: &str) -> Option<String> {
    let told = names.iter().filter(|(field, name)| *field != "series" && !name.is_empty());
    let is_of_many = names.iter().any(|(field, _)| *field != "series");
    is_of_many.then(|| {
        let series = names.iter().find(|(field, _)| *field == "series");
        let series = series.map_or("", |(_, series)| series);
        // The longest first: a name may be a part of another.
        let mut told: Vec<&str> = told.map(|(_, name)| name.as_str()).collect();
        told.sort_unstable_by_key(|name| std::cmp::Reverse(name.len()));
        let fields = told.into_iter().fold(fields.to_owned(), |text, name| text.replace(name, "…"));
        format!("{message}; {series}{fields}")
    })
}

/// Adds an event. A repeated event replaces the earlier one, so that a failure of many tags or
/// scopes does not push out all others. Where there is no room, the oldest of the least important
/// ones goes.
fn add(events: &mut VecDeque<LoggedEvent>, mut event: LoggedEvent) {
    let newest = events.len().saturating_sub(1);
    let is_at_once = |before: &LoggedEvent| {
        event.at.duration_since(before.at).is_ok_and(|passed| passed < AT_ONCE)
            && event.without_name.is_some()
            && before.without_name == event.without_name
    };
    let repeats = |(index, before): (usize, &LoggedEvent)| {
        let is_same = index == newest && before.text == event.text;
        before.level == event.level && (is_same || is_at_once(before))
    };
    if let Some(before) = events.iter().enumerate().position(repeats)
        && let Some(before) = events.remove(before)
    {
        event.times += before.times;
    } else if events.len() == MOST {
        // Levels are ordered by how much they tell, and errors are the least.
        let least = events.iter().map(|before| before.level).max();
        let oldest = events.iter().position(|before| Some(before.level) == least);
        drop(oldest.and_then(|oldest| events.remove(oldest)));
    }
    events.push_back(event);
}

/// An event's message, what it is about, and its other fields.
#[derive(Default)]
struct EventFields {
    message: String,
    /// The tag, or the series and its scope and period.
    names: Vec<(&'static str, String)>,
    fields: String,
}

impl Visit for EventFields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a `String` never fails.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name @ ("tag" | "series" | "scope" | "period") => {
                let named = format!("{value:?}");
                // No scope was named.
                if !named.is_empty() {
                    self.names.push((name, named));
                }
                Ok(())
            }
            name => write!(self.fields, "; {name}: {value:?}"),
        };
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.record_debug(field, &format_args!("{}", with_causes(value)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_events_stay_and_repeated_ones_are_one() {
        let mut events = VecDeque::new();
        let (at, level) = (SystemTime::now(), Level::INFO);
        let event = |text| LoggedEvent { at, level, text, without_name: None, times: 1 };
        for index in 0..MOST + 10 {
            add(&mut events, event(format!("number {index}")));
        }
        add(&mut events, event("again".to_owned()));
        add(&mut events, event("again".to_owned()));
        assert_eq!(events.len(), MOST);
        assert_eq!(events[0].text, "number 11");
        let newest = events.back().map(|event| (event.text.as_str(), event.times));
        assert_eq!(newest, Some(("again", 2)));
    }

    #[test]
    fn what_happens_to_many_scopes_of_a_series_is_one_event_and_hides_no_error() {
        let mut events = VecDeque::new();
        let at = SystemTime::now();
        let event = |level, text: &str, without_name| {
            let text = text.to_owned();
            LoggedEvent { at, level, text, without_name, times: 1 }
        };
        add(&mut events, event(Level::ERROR, "the one that matters", None));
        for series in ["inv", "orders"] {
            for scope in 0..41 {
                let scope = format!("shop-{scope}");
                let names = [("series", series.to_owned()), ("scope", scope.clone())];
                let fields = format!("; error: {series} of {scope} cannot be loaded");
                let without_name = without(&names, "no numbers", &fields);
                add(&mut events, event(Level::WARN, &format!("{scope}{fields}"), without_name));
            }
        }
        let times: Vec<u64> = events.iter().map(|event| event.times).collect();
        assert_eq!(times, [1, 41, 41]);
        // An event of the whole series is another one.
        assert_eq!(without(&[("series", "inv".to_owned())], "no numbers", ""), None);
        for index in 0..MOST {
            add(&mut events, event(Level::INFO, &format!("number {index}"), None));
        }
        assert_eq!(events[0].text, "the one that matters");
    }

    #[test]
    fn what_happens_to_many_tags_is_one_event() {
        let mut events = VecDeque::new();
        let (start, level) = (SystemTime::now(), Level::ERROR);
        let event = |seconds, tag: Option<u32>, text: &str| {
            let at = start + Duration::from_secs(seconds);
            let without_name = tag.map(|_| text.to_owned());
            let text = tag.map_or_else(|| text.to_owned(), |tag| format!("{text}; tag: {tag}"));
            LoggedEvent { at, level, text, without_name, times: 1 }
        };
        add(&mut events, event(0, Some(0), "away"));
        add(&mut events, event(1, None, "the database does not answer"));
        for tag in 1..200 {
            add(&mut events, event(2, Some(tag), "away"));
            add(&mut events, event(2, Some(tag), "full"));
        }
        // After this long, it is a new event.
        add(&mut events, event(1000, Some(7), "away"));
        let told: Vec<_> = events.iter().map(|event| (event.text.as_str(), event.times)).collect();
        let expected = [
            ("the database does not answer", 1),
            ("away; tag: 199", 200),
            ("full; tag: 199", 199),
            ("away; tag: 7", 1),
        ];
        assert_eq!(told, expected);
    }
}
