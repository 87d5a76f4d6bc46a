//! What operators are told of a lease: a test runs the filler by hand, on the thread on which it
//! listens.

use std::time::Duration;

use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Metadata, Subscriber};

use crate::clock::{ManualClock, Stopwatch};
use crate::engine::Engine;
use crate::filler::maintenance::Maintenance;
use crate::generator::builder::Builder;
use crate::layout::Layout;
use crate::registry::RegistryError;
use crate::registry::{Lease, Request, WorkerRegistry};
use crate::sync::{Arc, Condvar, Mutex, lock, thread, wait_timeout};

/// Keeps the names of the events.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Vec<&'static str>>>);

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "uidring" && metadata.name() != "stale_blocks_dropped"
    }

    fn event(&self, event: &Event<'_>) {
        lock(&self.0).push(event.metadata().name());
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Assign,
    Reserve,
    Release,
}

/// A registry that leases worker ids 1, 2 and so on, with 200 ticks each.
#[derive(Clone)]
struct Registry {
    lease: Duration,
    script: Arc<(Mutex<Script>, Condvar)>,
}

#[derive(Default)]
struct Script {
    assigned: u64,
    /// The call that does not answer.
    hanging: Option<Call>,
    /// The error of the next reservations.
    refusal: Option<fn(&Lease) -> RegistryError>,
}

impl Registry {
    fn new(lease: Duration) -> Registry {
        Registry { lease, script: Arc::default() }
    }

    fn hang(&self, call: Option<Call>) {
        lock(&self.script.0).hanging = call;
        self.script.1.notify_all();
    }

    fn refuse(&self, refusal: Option<fn(&Lease) -> RegistryError>) {
        lock(&self.script.0).refusal = refusal;
    }

    fn answer<T>(&self, call: Call, answer: impl FnOnce(&mut Script) -> T) -> T {
        let mut script = lock(&self.script.0);
        while script.hanging == Some(call) {
            script = wait_timeout(&self.script.1, script, Duration::from_secs(60));
        }
        answer(&mut script)
    }
}

impl WorkerRegistry for Registry {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        let worker = self.answer(Call::Assign, |script| {
            script.assigned += 1;
            script.assigned
        });
        Ok(Lease::leased(worker, request.now..=request.now + 199, self.lease, "one"))
    }

    fn reserve(&mut self, lease: &Lease, last: u64) -> Result<u64, RegistryError> {
        let refusal = self.answer(Call::Reserve, |script| script.refusal);
        refusal.map_or(Ok(last), |refusal| Err(refusal(lease)))
    }

    fn release(&mut self, _: &Lease, _: u64) -> Result<(), RegistryError> {
        self.answer(Call::Release, |_| Ok(()))
    }
}

/// A generator with a clock that stands still.
struct Generator {
    engine: Arc<Engine>,
    maintenance: Maintenance,
    heard: Listener,
    _others: [Dispatch; 2],
    _listening: tracing::subscriber::DefaultGuard,
}

/// 16 UIDs in each tick of ten milliseconds.
const UIDS: usize = 16;

impl Generator {
    fn start(registry: &Registry) -> Generator {
        let heard = Listener::default();
        // If tracing knows of one subscriber alone, a thread that has none and comes to an event
        // first turns that event off for all threads.
        let others = [(); 2].map(|()| Dispatch::new(Listener::default()));
        let listening = tracing::subscriber::set_default(heard.clone());
        let layout = Layout::new(40, 10, 4).unwrap().with_tick(Duration::from_millis(10)).unwrap();
        let clock = ManualClock::new(layout.epoch() + Duration::from_secs(100_000));
        let builder = Builder::new().registry(registry.clone()).layout(layout).clock(clock);
        let (engine, maintenance, _) =
            builder.slots(4).assemble(fastrand::Rng::with_seed(7)).unwrap();
        Generator { engine, maintenance, heard, _others: others, _listening: listening }
    }

    fn run_filler(&mut self) {
        self.maintenance.run_once(&self.engine);
    }

    /// Takes the UIDs of this many ticks, or what there is.
    fn take_ticks(&mut self, ticks: usize) {
        for _ in 0..ticks * UIDS {
            if self.engine.try_take().is_err() {
                break;
            }
        }
    }

    fn run_filler_until(&mut self, is_so: impl Fn(&Generator) -> bool) {
        let since = Stopwatch::start();
        while !is_so(self) {
            assert!(since.elapsed() < Duration::from_secs(20), "{:?}", self.events());
            self.run_filler();
            thread::yield_now();
        }
    }

    fn events(&self) -> Vec<&'static str> {
        lock(&self.heard.0).clone()
    }

    fn was_sent(&self, event: &str) -> bool {
        self.events().contains(&event)
    }

    /// The events after the last `event`.
    fn events_since(&self, event: &str) -> Vec<&'static str> {
        let events = self.events();
        let last = events.iter().rposition(|&name| name == event);
        let last = last.unwrap_or_else(|| panic!("no {event} in {events:?}"));
        events[last + 1..].to_vec()
    }
}

fn lost(lease: &Lease) -> RegistryError {
    RegistryError::LeaseLost { worker: lease.worker }
}

fn away(_: &Lease) -> RegistryError {
    RegistryError::unreachable("it is away")
}

/// Short, so that operators soon learn of a registry that does not answer.
const SHORT: Duration = Duration::from_millis(80);
const LONG: Duration = Duration::from_secs(80);

#[test]
fn a_lease_that_ends_while_another_call_hangs_is_told() {
    let registry = Registry::new(SHORT);
    let mut generator = Generator::start(&registry);
    registry.refuse(Some(lost));
    registry.hang(Some(Call::Release));
    generator.take_ticks(110);
    generator.run_filler_until(|generator| generator.engine.status().new_workers == 1);
    registry.refuse(None);
    // The first worker id is being given back, so nothing can be reserved for the second one.
    generator.take_ticks(1000);
    generator.run_filler_until(|generator| generator.was_sent("lease_exhausted"));
    let mut events = generator.events_since("worker_id_changed");
    // On a slow machine, getting the worker id took so long that it was told as well.
    events.retain(|event| *event != "recovered");
    assert_eq!(events, ["registry_unreachable", "lease_exhausted"]);
    registry.hang(None);
    generator.run_filler_until(|generator| generator.was_sent("recovered"));
}

#[test]
fn a_lost_lease_is_not_blamed_on_a_registry_that_has_answered() {
    let registry = Registry::new(SHORT);
    let mut generator = Generator::start(&registry);
    registry.refuse(Some(lost));
    registry.hang(Some(Call::Assign));
    generator.take_ticks(110);
    generator.run_filler_until(|generator| generator.was_sent("lease_lost"));
    generator.take_ticks(1000);
    generator.run_filler_until(|generator| generator.was_sent("lease_exhausted"));
    assert_eq!(generator.events_since("lease_lost"), ["lease_exhausted"]);
    registry.refuse(None);
    registry.hang(None);
    generator.run_filler_until(|generator| generator.engine.status().new_workers == 1);
    // An alert for the exhausted lease ends here.
    assert_eq!(generator.events_since("lease_exhausted"), ["worker_id_changed", "recovered"]);
}

#[test]
fn a_lost_lease_that_is_replaced_at_once_was_no_alarm() {
    let registry = Registry::new(LONG);
    let mut generator = Generator::start(&registry);
    registry.refuse(Some(lost));
    generator.take_ticks(110);
    generator.run_filler_until(|generator| generator.engine.status().new_workers == 1);
    assert_eq!(generator.events_since("started"), ["lease_lost", "worker_id_changed"]);
}

#[test]
fn a_lease_runs_out_when_a_quarter_of_what_was_reserved_is_left() {
    let registry = Registry::new(LONG);
    let mut generator = Generator::start(&registry);
    registry.refuse(Some(away));
    // Half of the 200 ticks are used. Twice as many are requested, and refused.
    generator.take_ticks(105);
    generator.run_filler_until(|generator| generator.was_sent("registry_unreachable"));
    generator.take_ticks(40);
    generator.run_filler();
    assert_eq!(generator.events_since("started"), ["registry_unreachable"]);
    generator.take_ticks(10);
    generator.run_filler();
    assert_eq!(generator.events_since("started"), ["registry_unreachable", "lease_running_out"]);
}
