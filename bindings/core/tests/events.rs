//! What the log of a program gets. The queue is one for the process, so there is one test.

#![allow(clippy::unwrap_used)] // a test that cannot go on has failed

use std::iter;
use std::thread;
use std::time::Duration;

use uidring_bindings::events::{self, Event, Level, Value};
use uidring_bindings::{Close as _, Open as _, Uids};

fn open_and_close() {
    Uids::fixed(7, &[("epoch", "2026-01-01")]).unwrap().close().unwrap();
}

fn taken() -> Vec<Event> {
    iter::from_fn(events::take).collect()
}

#[test]
fn events_wait_in_a_queue_until_the_program_takes_them() {
    // None is kept for a program that does not want any.
    open_and_close();
    assert_eq!(taken(), []);
    events::listen();
    events::listen();

    open_and_close();
    let heard = taken();
    assert_eq!(heard.iter().map(|event| event.name).collect::<Vec<_>>(), ["started", "stopped"]);
    assert!(heard[0].time <= heard[1].time);
    let stopped = &heard[1];
    assert_eq!(stopped.level, Level::Info);
    assert_eq!(stopped.message, "the generator has stopped");
    assert_eq!(stopped.fields, [("worker", Value::Number(7)), ("taken", Value::Number(0))]);
    assert_eq!(stopped.text(), "stopped: the generator has stopped worker=7 taken=0");
    let text = heard[0].text();
    assert!(
        text.starts_with("started: the generator has started worker=7 kind=permanent registry=")
    );
    assert!(text.contains(r#" layout="30 | 20 | 13 in seconds from 2026-01-01"#), "{text}");

    // As another folder has, where the path of the store is a relative one.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("uidring.db").display().to_string();
    for count in [1, 0] {
        Uids::open(&file, &[]).unwrap().close().unwrap();
        let new: Vec<_> = taken().into_iter().filter(|event| event.name == "new_store").collect();
        assert_eq!(new.len(), count);
        for event in new {
            assert_eq!(event.level, Level::Warn);
            assert_eq!(event.fields, [("store", Value::Text(file.clone()))]);
        }
    }

    // A value of several lines does not end the line.
    let odd = Event {
        fields: vec![("path", Value::Text("a\nb".into())), ("empty", Value::Text(String::new()))],
        ..stopped.clone()
    };
    assert_eq!(odd.text(), "stopped: the generator has stopped path=\"a\\nb\" empty=");

    // A log that stands still costs no more than so much memory, and learns what it has missed.
    (0..600).for_each(|_| open_and_close());
    let heard = taken();
    assert_eq!(heard.len(), 1_001);
    let last = &heard[1_000];
    assert_eq!((last.name, last.level), ("events_left_out", Level::Warn));
    assert_eq!(last.fields, [("events", Value::Number(200))]);
    assert_eq!(taken(), []);

    // A wait ends with an event, by a call, or when its time is over.
    let waiting = thread::spawn(|| {
        events::wait(None);
        events::take().unwrap().name
    });
    open_and_close();
    assert_eq!(waiting.join().unwrap(), "started");
    assert_eq!(taken().len(), 1);
    events::wake();
    events::wait(None);
    events::wait(Some(Duration::from_millis(1)));
    assert_eq!(taken(), []);
}
