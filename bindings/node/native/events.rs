//! Events for the log of a program.

use std::sync::Once;
use std::thread;

use uidring_bindings::events::{self, Event, Level};

/// Has events told from now on, by a thread of this process.
pub(crate) fn start(tell: fn(&Event)) {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        events::listen();
        // Ids are worth more than a log.
        let _ = thread::Builder::new().name("uidring-events".to_owned()).spawn(move || run(tell));
    });
}

fn run(tell: fn(&Event)) {
    loop {
        events::wait(None);
        while let Some(event) = events::take() {
            tell(&event);
        }
    }
}

/// An event as JavaScript gets it: its level, name, text, time, and of each field the name, whether
/// it is a `number` or a `text`, and the value.
pub(crate) fn told(event: Event) -> Vec<String> {
    let level = match event.level {
        Level::Error => "error",
        Level::Warn => "warn",
        Level::Info => "info",
        Level::Debug => "debug",
    };
    let mut all =
        vec![level.to_owned(), event.name.to_owned(), event.text(), event.unix_ms().to_string()];
    for (name, value) in event.fields {
        all.push(name.to_owned());
        all.extend(match value {
            events::Value::Number(number) => ["number".to_owned(), number.to_string()],
            events::Value::Text(text) => ["text".to_owned(), text],
        });
    }
    all
}
