//! Subscribers of the events of segments that panic, come back to the segments, or hang.

use std::fmt::Debug;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use tracing::Event;
use tracing::field::{Field, Visit};
use uidring::TakeError;
use uidring::segment::{SegmentGenerator, Segments};

use crate::alone::alone;
use crate::rows::{Row, Rows, row, unreachable, wait_for};

/// Longer than any test takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the subscriber does at an event of this name.
type Reaction = Box<dyn FnMut() + Send>;
static REACTION: Mutex<Option<(&'static str, Reaction)>> = Mutex::new(None);

/// The names of all events.
static HEARD: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

fn react(event: &Event<'_>) {
    let name = event.metadata().name();
    HEARD.lock().unwrap().push(name);
    let mut source = Source::default();
    event.record(&mut source);
    // The next source is called "rows #2" if the thread of the one before has not ended yet.
    assert!(source.0.starts_with("rows"), "{}", source.0);
    let reaction = REACTION.lock().unwrap().take_if(|(at, _)| *at == name);
    if let Some((_, mut reaction)) = reaction {
        reaction();
    }
}

#[derive(Default)]
struct Source(String);

impl Visit for Source {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "source" {
            value.clone_into(&mut self.0);
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}

fn at(event: &'static str, reaction: impl FnMut() + Send + 'static) {
    *REACTION.lock().unwrap() = Some((event, Box::new(reaction)));
}

fn times(event: &str) -> usize {
    HEARD.lock().unwrap().iter().filter(|name| **name == event).count()
}

/// A source that goes away when the first numbers of "a" are used up.
fn segments() -> (Rows, Segments, SegmentGenerator) {
    let small = Row { max_step: Some(5), ..row(5) };
    let rows = Rows::default().with("a", small).with("b", small).with("c", small);
    let builder = rows.builder().max_wait(PATIENCE).shutdown_deadline(10 * PATIENCE);
    let segments = builder.build().unwrap();
    let a = segments.tag("a").unwrap();
    rows.fail(Some(unreachable));
    (rows, segments, a)
}

/// Takes until the source is found to be away.
fn find_out(a: &SegmentGenerator) {
    let before = times("source_unreachable");
    wait_for("event", || {
        let _ = a.try_take();
        times("source_unreachable") > before
    });
}

// One test, since a program has one subscriber.
#[test]
fn loads_go_on_whatever_a_subscriber_does() {
    alone("segment_subscriber::loads_go_on_whatever_a_subscriber_does", || {
        crate::observer::listen(react);
        a_subscriber_may_panic();
        a_subscriber_may_come_back();
        a_subscriber_may_shut_down();
        a_subscriber_may_drop_the_last_handle();
        no_load_waits_for_a_subscriber();
    });
}

fn a_subscriber_may_panic() {
    static IS_TOLD: AtomicBool = AtomicBool::new(false);

    at("source_unreachable", || panic!("a subscriber that panics"));
    let (rows, segments, a) = segments();
    find_out(&a);
    rows.fail(None);
    assert!(a.take().is_ok());
    wait_for("next event", || times("source_recovered") == 1);
    at("segments_stopped", || {
        thread::sleep(Duration::from_millis(200));
        IS_TOLD.store(true, Ordering::SeqCst);
        panic!("a subscriber that panics");
    });
    drop(a);
    segments.shutdown().unwrap();
    assert!(IS_TOLD.load(Ordering::SeqCst), "a process may end after the shutdown");
}

fn a_subscriber_may_come_back() {
    let (rows, segments, a) = segments();
    let (told, result) = mpsc::channel();
    let (again, reached) = (segments.clone(), a.clone());
    let source = rows.clone();
    at("source_unreachable", move || {
        source.fail(None);
        // The first load of another tag, and a take that waits for a load.
        let new = again.tag("b").unwrap().take().unwrap();
        let more: Vec<u64> = (0..20).map(|_| reached.take().unwrap().get()).collect();
        told.send((new.get(), more, again.create("d", uidring::segment::Tag::new()).is_ok()))
            .unwrap();
    });
    find_out(&a);
    let (new, more, is_created) = result.recv_timeout(PATIENCE).unwrap();
    assert_eq!((new, more.len(), is_created), (1, 20, true));
    assert!(more.is_sorted());
    // The reaction holds a handle.
    wait_for("end of the reaction", || REACTION.lock().unwrap().is_none());
    // At the end, on the loader's own thread.
    let (told, result) = mpsc::channel();
    let again = segments.clone();
    at("segments_stopped", move || {
        let answers = (again.tag("c").is_err(), again.clone().shutdown().is_ok());
        told.send(answers).unwrap();
    });
    let take = a.clone();
    drop(a);
    segments.shutdown().unwrap();
    assert_eq!(result.recv_timeout(PATIENCE).unwrap(), (true, true));
    assert_eq!(take.take(), Err(TakeError::ShutDown));
}

fn a_subscriber_may_shut_down() {
    let (rows, segments, a) = segments();
    let (told, result) = mpsc::channel();
    let mut last = Some(segments.clone());
    at("source_unreachable", move || {
        rows.fail(None);
        told.send(last.take().unwrap().shutdown()).unwrap();
    });
    let stopped = times("segments_stopped");
    find_out(&a);
    result.recv_timeout(PATIENCE).unwrap().unwrap();
    segments.shutdown().unwrap();
    assert_eq!(times("segments_stopped"), stopped + 1, "it is told when the shutdown has ended");
}

fn a_subscriber_may_drop_the_last_handle() {
    let (rows, segments, a) = segments();
    let (told, result) = mpsc::channel();
    let stopped = times("segments_stopped");
    let slot = std::sync::Arc::new(Mutex::new(None));
    let of_reaction = std::sync::Arc::clone(&slot);
    at("source_unreachable", move || {
        rows.fail(None);
        // Until the others are gone.
        while of_reaction.lock().unwrap().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        drop(of_reaction.lock().unwrap().take());
        told.send(()).unwrap();
    });
    find_out(&a);
    drop(a);
    *slot.lock().unwrap() = Some(segments);
    result.recv_timeout(PATIENCE).unwrap();
    wait_for("end", || times("segments_stopped") == stopped + 1);
}

fn no_load_waits_for_a_subscriber() {
    let (rows, segments, a) = segments();
    let (go, may_go): (Sender<()>, Receiver<()>) = mpsc::channel();
    let (told, has_come) = mpsc::channel();
    at("source_unreachable", move || {
        told.send(()).unwrap();
        let _ = may_go.recv();
    });
    find_out(&a);
    has_come.recv_timeout(PATIENCE).unwrap();
    let recovered = times("source_recovered");
    rows.fail(None);
    let (b, since) = (segments.tag("b").unwrap(), Instant::now());
    for tag in [&a, &b] {
        assert!((0..500).map(|_| tag.take().unwrap()).is_sorted());
    }
    assert!(since.elapsed() < PATIENCE);
    assert_eq!(times("source_recovered"), recovered, "events come in order");
    drop(go);
    wait_for("event", || times("source_recovered") == recovered + 1);
    drop((a, b));
    segments.shutdown().unwrap();
}
