//! Listens to the events of uidring.

use std::fmt::{Debug, Write};
use std::sync::Mutex;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};

#[derive(Clone, Debug)]
#[allow(dead_code)] // not every test looks at all of it
pub struct Event {
    pub name: &'static str,
    /// "LEVEL message".
    pub text: String,
    /// "field=value", each followed by a blank.
    pub fields: String,
}

pub static EVENTS: Mutex<Vec<Event>> = Mutex::new(Vec::new());

/// Keeps all events of this process from now on.
#[allow(dead_code)] // not every test does
pub fn observe() {
    listen(|event| {
        let metadata = event.metadata();
        let text = format!("{} ", metadata.level());
        let mut kept = Event { name: metadata.name(), text, fields: String::new() };
        event.record(&mut kept);
        EVENTS.lock().unwrap().push(kept);
    });
}

/// Calls `listener` for each event of this process from now on, on the thread that sends it.
pub fn listen(listener: fn(&tracing::Event<'_>)) {
    tracing::subscriber::set_global_default(Listener(listener)).unwrap();
}

struct Listener(fn(&tracing::Event<'_>));

impl Visit for Event {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            write!(self.text, "{value:?}").unwrap();
        } else {
            write!(self.fields, "{}={value:?} ", field.name()).unwrap();
        }
    }
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "uidring"
    }

    fn event(&self, event: &tracing::Event<'_>) {
        (self.0)(event);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}
