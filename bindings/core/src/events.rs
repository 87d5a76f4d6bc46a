//! Changes of state that operators are told, for the logs of a program in any language.
//!
//! Whoever has something to tell must not wait for the log of a program, nor enter an interpreter.
//! So it leaves an event in a queue, and threads of the program take it out:
//!
//! ```text
//! filler, loader, calls ──► [ queue ] ──► wait, take ──► log of the program
//! ```
//!
//! Each process has a queue of its own: that of the parent may be locked by a thread that a forked
//! child does not have, and the child would wait for ever.

use std::collections::VecDeque;
use std::error::Error;
use std::fmt::{self, Write as _};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use arc_swap::ArcSwapOption;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};
use uidring_args::with_causes;

/// The most events that wait. Those that come later are counted, and left out.
const MOST: usize = 1_000;
/// The target of the library's events.
const TARGET: &str = "uidring";

/// How much an event matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Takes fail, or soon will.
    Error,
    /// Something does not work, and takes go on.
    Warn,
    /// Something has begun, ended or come back.
    Info,
    /// Details for whoever looks for a fault.
    Debug,
}

/// A change of state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When it came.
    pub time: SystemTime,
    /// How much it matters.
    pub level: Level,
    /// Its kind, such as `lease_lost`, by which programs know it.
    pub name: &'static str,
    /// What it says to people.
    pub message: String,
    /// What else is known, such as `worker`.
    pub fields: Vec<(&'static str, Value)>,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A count, or an id.
    Number(u64),
    /// Anything else.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => number.fmt(f),
            // One that is several words would run into the next field, or end the line.
            Value::Text(text) if text.contains(is_escaped) => write!(f, "{text:?}"),
            Value::Text(text) => text.fmt(f),
        }
    }
}

fn is_escaped(one: char) -> bool {
    one.is_whitespace() || one.is_control() || matches!(one, '"' | '=')
}

impl Event {
    /// When it came, in milliseconds since 1970.
    #[must_use]
    pub fn unix_ms(&self) -> i64 {
        let since = self.time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }

    /// Name, message and fields in a line, as a log has them.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("{}: {}", self.name, self.message);
        for (name, value) in &self.fields {
            // Writing to a text does not fail.
            let _ = write!(text, " {name}={value}");
        }
        text
    }
}

/// Keeps events from now on. They are taken from the queue by [`take`].
///
/// This is not a `Once`, because a child must not wait for a thread of its parent. A child that is
/// forked during the very first call keeps no events.
pub fn listen() {
    const NOBODY: u32 = 0;
    const DONE: u32 = u32::MAX;
    /// Otherwise the process in which a thread is at it.
    static BY: AtomicU32 = AtomicU32::new(NOBODY);
    let own = process::id();
    // ORDERING: Acquire and Release: who finds it done has its events kept.
    match BY.compare_exchange(NOBODY, own, Ordering::Acquire, Ordering::Acquire) {
        Ok(_) => {
            // Fails if the program has a subscriber of its own, which is told then.
            let _ = tracing::subscriber::set_global_default(Queueing);
            BY.store(DONE, Ordering::Release);
        }
        Err(_) => {
            while BY.load(Ordering::Acquire) == own {
                thread::yield_now();
            }
        }
    }
}

/// The oldest event. `None` if there is none now.
#[must_use]
pub fn take() -> Option<Event> {
    queue().lock().take()
}

/// Waits until there is an event, or [`wake`] is called, or `most` is over.
pub fn wait(most: Option<Duration>) {
    queue().wait(most);
}

/// Ends a [`wait`], the next one if there is none now.
pub fn wake() {
    let queue = queue();
    queue.lock().is_woken = true;
    queue.changed.notify_all();
}

struct Queue {
    process: u32,
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    events: VecDeque<Event>,
    left_out: u64,
    is_woken: bool,
}

/// The queue of this process.
fn queue() -> Arc<Queue> {
    static QUEUE: ArcSwapOption<Queue> = ArcSwapOption::const_empty();
    let process = process::id();
    loop {
        let known = QUEUE.load_full();
        match known {
            Some(queue) if queue.process == process => return queue,
            // The first use, or that of the parent.
            known => {
                let own = Queue { process, waiting: Mutex::default(), changed: Condvar::new() };
                QUEUE.compare_and_swap(&known, Some(Arc::new(own)));
                // The memory of a queue of the parent stays: another thread may have locked it.
                std::mem::forget(known);
            }
        }
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Nothing panics while it is locked.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, event: Event) {
        let mut waiting = self.lock();
        if waiting.events.len() < MOST {
            waiting.events.push_back(event);
        } else {
            waiting.left_out += 1;
        }
        drop(waiting);
        self.changed.notify_all();
    }

    fn wait(&self, most: Option<Duration>) {
        let mut waiting = self.lock();
        let until = most.and_then(|most| Instant::now().checked_add(most));
        while waiting.is_empty() && !waiting.is_woken {
            let Some(until) = until else {
                waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.changed.wait_timeout(waiting, left);
            waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        waiting.is_woken = false;
    }
}

impl Waiting {
    fn is_empty(&self) -> bool {
        self.events.is_empty() && self.left_out == 0
    }

    fn take(&mut self) -> Option<Event> {
        if let Some(event) = self.events.pop_front() {
            return Some(event);
        }
        let left_out = std::mem::take(&mut self.left_out);
        (left_out > 0).then(|| Event {
            time: SystemTime::now(),
            level: Level::Warn,
            name: "events_left_out",
            message: "events came faster than the program took them; these were left out".into(),
            fields: vec![("events", Value::Number(left_out))],
        })
    }
}

/// The subscriber that keeps events of the library. It knows no spans, as there are none.
struct Queueing;

impl Subscriber for Queueing {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && metadata.target() == TARGET
    }

    fn event(&self, event: &tracing::Event<'_>) {
        let metadata = event.metadata();
        let level = match *metadata.level() {
            tracing::Level::ERROR => Level::Error,
            tracing::Level::WARN => Level::Warn,
            tracing::Level::INFO => Level::Info,
            _ => Level::Debug,
        };
        let mut fields = Fields::default();
        event.record(&mut fields);
        let Fields { message, fields } = fields;
        let time = SystemTime::now();
        queue().push(Event { time, level, name: metadata.name(), message, fields });
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Fields {
    message: String,
    fields: Vec<(&'static str, Value)>,
}

impl Fields {
    fn add(&mut self, field: &Field, text: String) {
        match field.name() {
            "message" => self.message = text,
            name => self.fields.push((name, Value::Text(text))),
        }
    }
}

impl Visit for Fields {
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.fields.push((field.name(), Value::Number(value)));
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        match u64::try_from(value) {
            Ok(value) => self.record_u64(field, value),
            Err(_) => self.add(field, value.to_string()),
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value.to_owned());
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.add(field, with_causes(value));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, format!("{value:?}"));
    }
}
