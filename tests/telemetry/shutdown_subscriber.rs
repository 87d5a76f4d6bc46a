//! Subscribers of the events that shut the generator down, or panic, on the filler's thread.

use std::fmt::Debug;
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use tracing::Event;
use tracing::field::{Field, Visit};
use uidring::clock::ManualClock;
use uidring::registry::{FixedWorker, Lease, Request, WorkerRegistry};
use uidring::{Layout, LeadLimit, RegistryError, ShutdownError, UidGenerator};

use crate::alone::alone;

/// The worker id whose generator is shut down when its lease is exhausted.
const SHUT_DOWN: u64 = 1;
/// The worker id for whose end the subscriber panics.
const PANICS: u64 = 2;

/// The generator to shut down, and who is told of it.
static REACTION: OnceLock<(UidGenerator, Mutex<Sender<Outcome>>)> = OnceLock::new();

type Outcome = Result<(), ShutdownError>;

#[derive(Default)]
struct Worker(u64);

impl Visit for Worker {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "worker" {
            self.0 = value;
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}

fn react(event: &Event<'_>) {
    let mut worker = Worker::default();
    event.record(&mut worker);
    match (event.metadata().name(), worker.0) {
        ("lease_exhausted", SHUT_DOWN) => {
            if let Some((uids, told)) = REACTION.get() {
                told.lock().unwrap().send(uids.clone().shutdown()).unwrap();
            }
        }
        ("stopped", PANICS) => panic!("a subscriber that panics"),
        _ => {}
    }
}

/// Leases this worker id, and reserves nothing more. Asked for another one, it gives the same.
struct Fixed(u64);

impl WorkerRegistry for Fixed {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        let ticks = request.now..=request.now + 10;
        Ok(Lease::leased(self.0, ticks, Duration::from_secs(3600), "one"))
    }

    fn reserve(&mut self, _: &Lease, _: u64) -> Result<u64, RegistryError> {
        Err(RegistryError::unreachable("it is away"))
    }
}

fn generator(worker: u64, shutdown_deadline: Duration) -> UidGenerator {
    let clock = ManualClock::new(Layout::DEFAULT.epoch() + Duration::from_secs(1_000_000));
    let builder = UidGenerator::builder().registry(Fixed(worker)).clock(clock);
    let builder = builder.on_lead_limit(LeadLimit::Wait);
    builder.shutdown_deadline(shutdown_deadline).build().unwrap()
}

/// Such as one that writes to a pipe whose reader is gone. Each maintenance that came to the event
/// anew would end there.
#[test]
fn a_generator_follows_the_clock_whatever_a_subscriber_does() {
    alone("shutdown_subscriber::a_generator_follows_the_clock_whatever_a_subscriber_does", || {
        crate::observer::listen(|event| assert_ne!(event.metadata().name(), "clock_forward"));
        let start = Layout::DEFAULT.epoch() + Duration::from_secs(1_000_000);
        let (clock, jump) = (ManualClock::new(start), Duration::from_secs(7200));
        let builder = UidGenerator::builder().registry(FixedWorker::new(7)).clock(clock.clone());
        let uids = builder.build().unwrap();
        uids.take().unwrap();
        clock.advance(jump);
        let since = Instant::now();
        while uids.layout().parts(uids.take().unwrap()).time < start + jump {
            assert!(since.elapsed() < Duration::from_secs(60), "its UIDs stay behind");
            std::thread::sleep(Duration::from_millis(20));
        }
    });
}

#[test]
fn a_shutdown_ends_whatever_a_subscriber_does() {
    alone("shutdown_subscriber::a_shutdown_ends_whatever_a_subscriber_does", || {
        crate::observer::listen(react);
        let (told, result) = mpsc::channel();
        let uids = generator(SHUT_DOWN, Duration::from_secs(3600));
        REACTION.set((uids.clone(), Mutex::new(told))).unwrap();
        while uids.take().is_ok() {}
        // It does not wait for the thread that it runs on.
        let error = result.recv_timeout(Duration::from_secs(20)).unwrap().unwrap_err();
        assert!(
            matches!(
                error,
                ShutdownError::Deadline { worker: SHUT_DOWN, deadline: Duration::ZERO }
            ),
            "{error:?}"
        );
        // Another thread does, and learns how it ended.
        uids.shutdown().unwrap();

        generator(PANICS, Duration::from_secs(10)).shutdown().unwrap();
    });
}
