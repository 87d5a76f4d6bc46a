//! What an operator hears of: one line per change of state, however many UIDs are taken.
#![cfg(feature = "tracing")]
#![allow(missing_docs, clippy::unwrap_used)]

use std::fmt::{Debug, Write};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use uidring::clock::ManualClock;
use uidring::registry::{Lease, Request, WorkerRegistry};
use uidring::{Layout, RegistryError, UidGenerator};

/// Keeps every event of uidring as "LEVEL message".
struct Keeping;

static EVENTS: Mutex<Vec<String>> = Mutex::new(Vec::new());

impl Subscriber for Keeping {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "uidring"
    }

    fn event(&self, event: &Event<'_>) {
        struct Message(String);
        impl Visit for Message {
            fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
                if field.name() == "message" {
                    write!(self.0, "{value:?}").unwrap();
                }
            }
        }
        let mut message = Message(format!("{} ", event.metadata().level()));
        event.record(&mut message);
        EVENTS.lock().unwrap().push(message.0);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

struct Counting(u64);

impl WorkerRegistry for Counting {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        self.0 += 1;
        if self.0 <= 3 {
            Ok(Lease::fresh(self.0, &request.layout))
        } else {
            Err(RegistryError::Exhausted { used: 3, capacity: 3 })
        }
    }
}

fn count(message: &str) -> usize {
    EVENTS.lock().unwrap().iter().filter(|event| event.contains(message)).count()
}

/// The filler speaks when it next looks at the clock.
fn wait_for(message: &str) {
    let since = Instant::now();
    while count(message) == 0 {
        assert!(since.elapsed() < Duration::from_secs(60), "no {message:?} in {:?}", EVENTS.lock().unwrap());
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn one_line_per_change_of_state() {
    tracing::subscriber::set_global_default(Keeping).unwrap();
    let layout = Layout::new(30, 20, 3).unwrap();
    let day = Duration::from_secs(24 * 3600);
    let clock = ManualClock::new(layout.epoch() + 1000 * day);
    let uids = UidGenerator::builder()
        .registry(Counting(0))
        .layout(layout)
        .clock(clock.clone())
        .max_lead(Duration::from_secs(1000))
        .build()
        .unwrap();

    // Two workers' leads, and a part of the third's, which is the last there is.
    for _ in 0..20_000 {
        uids.take().unwrap();
    }
    wait_for(&format!("{} took on another worker id", Level::INFO));
    clock.rewind(Duration::from_secs(10));
    wait_for(&format!("{} the clock went back", Level::WARN));
    clock.advance(Duration::from_secs(3 * 3600));
    wait_for(&format!("{} the clock jumped forward", Level::WARN));
    wait_for(&format!("{} dropped seconds", Level::DEBUG));
    while uids.try_take().is_ok() {}
    wait_for(&format!("{} the lead limit is reached", Level::WARN));
    wait_for(&format!("{} no new worker id", Level::WARN));
    // Failing takes by the thousand are no change of state.
    let before = EVENTS.lock().unwrap().len();
    for _ in 0..100_000 {
        uids.try_take().unwrap_err();
    }
    thread::sleep(Duration::from_millis(1500));
    assert!(EVENTS.lock().unwrap().len() <= before + 1, "{:?}", EVENTS.lock().unwrap());
    clock.set(layout.expires_at() - 300 * day);
    wait_for(&format!("{} the layout's time field ends within a year", Level::WARN));

    assert_eq!(count("took on another worker id"), 2);
    assert_eq!(count("ends within a year"), 1);
    assert!(EVENTS.lock().unwrap().len() < 20, "{:?}", EVENTS.lock().unwrap());
}
