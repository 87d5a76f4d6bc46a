//! What an operator hears of a lease whose registry hangs: each change of state once, in order.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use uidring::clock::ManualClock;
use uidring::registry::{Lease, Request, WorkerRegistry};
use uidring::{Layout, LeadLimit, RegistryError, TakeError, UidGenerator};

use crate::alone::alone;
use crate::observer::EVENTS;

/// While this is true, reservations do not answer.
#[derive(Clone, Default)]
struct Hanging(Arc<(Mutex<bool>, Condvar)>);

impl Hanging {
    fn set(&self, hangs: bool) {
        *self.0.0.lock().unwrap() = hangs;
        self.0.1.notify_all();
    }
}

impl WorkerRegistry for Hanging {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        let ticks = request.now..=request.now + 199;
        Ok(Lease::leased(7, ticks, Duration::from_secs(2), "one"))
    }

    fn reserve(&mut self, _: &Lease, last: u64) -> Result<u64, RegistryError> {
        let hangs = self.0.0.lock().unwrap();
        drop(self.0.1.wait_while(hangs, |hangs| *hangs).unwrap());
        Ok(last)
    }

    fn name(&self) -> String {
        "one that hangs".to_owned()
    }
}

fn names() -> Vec<&'static str> {
    let events = EVENTS.lock().unwrap();
    let told = events.iter().filter(|event| event.name != "stale_blocks_dropped");
    told.map(|event| event.name).collect()
}

fn wait_until(is_so: impl Fn() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < Duration::from_secs(60), "{:?}", EVENTS.lock().unwrap());
        thread::sleep(Duration::from_millis(10));
    }
}

/// Starts a generator whose registry hangs, takes until its lease is used up, and lets the registry
/// answer again.
fn use_up_a_lease() {
    let layout = Layout::new(40, 10, 4).unwrap().with_tick(Duration::from_millis(10)).unwrap();
    let registry = Hanging::default();
    registry.set(true);
    let builder = UidGenerator::builder().registry(registry.clone()).layout(layout);
    let uids = builder.on_lead_limit(LeadLimit::Wait).slots(16).build().unwrap();

    // A UID every ten milliseconds, as the clock gives them.
    let is_exhausted = || uids.try_take() == Err(TakeError::LeaseExhausted { worker: 7 });
    wait_until(|| is_exhausted() && names().contains(&"lease_exhausted"));
    // Takes wait for the registry, and fail only if it refuses. They are no change of state.
    let waiting = {
        let uids = uids.clone();
        thread::spawn(move || while uids.take().is_ok() {})
    };
    thread::sleep(Duration::from_millis(1500));
    registry.set(false);
    wait_until(|| names().contains(&"recovered"));
    uids.shutdown().unwrap();
    waiting.join().unwrap();
}

#[test]
fn each_change_of_a_lease_is_told_once() {
    alone("lease_events::each_change_of_a_lease_is_told_once", || {
        crate::observer::observe();
        let expected = [
            "started",
            "registry_unreachable",
            "lease_running_out",
            "lease_exhausted",
            "recovered",
            "stopped",
        ];
        let is_late = |name: &&str| *name != "lease_running_out";
        for _ in 0..5 {
            EVENTS.lock().unwrap().clear();
            use_up_a_lease();
            // A busy machine may look at the lease only when it is used up. Then once more.
            if names() != expected.into_iter().filter(is_late).collect::<Vec<_>>() {
                break;
            }
        }
        let events = EVENTS.lock().unwrap().clone();
        assert_eq!(names(), expected, "{events:#?}");
        for (name, fields) in [
            ("started", "worker=7 kind=\"leased\" registry=\"one that hangs\" layout=40 | 10 | 4"),
            ("registry_unreachable", "worker=7 waited="),
            ("lease_running_out", "worker=7 left="),
            ("recovered", "worker=7 reserved_until="),
            ("stopped", "worker=7 taken="),
        ] {
            let event = events.iter().find(|event| event.name == name).unwrap();
            assert!(event.fields.starts_with(fields), "{event:?}");
        }
    });
}

/// A registry whose clock differs from this machine's by so many milliseconds.
#[derive(Clone, Default)]
struct Skewed(Arc<AtomicI64>);

impl WorkerRegistry for Skewed {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        let ticks = request.now..=request.now + 1;
        Ok(Lease::leased(7, ticks, Duration::from_secs(1), "one"))
    }

    fn reserve(&mut self, _: &Lease, last: u64) -> Result<u64, RegistryError> {
        Ok(last)
    }

    fn clock_skew_ms(&self) -> Option<i64> {
        Some(self.0.load(Ordering::Relaxed))
    }
}

/// The same with a permanent id.
struct Forever(Skewed);

impl WorkerRegistry for Forever {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        Ok(Lease::permanent(8, &request.layout))
    }

    fn clock_skew_ms(&self) -> Option<i64> {
        self.0.clock_skew_ms()
    }
}

#[test]
fn clocks_that_are_apart_are_told_once() {
    alone("lease_events::clocks_that_are_apart_are_told_once", || {
        crate::observer::observe();
        let registry = Skewed(Arc::new(AtomicI64::new(-90_000)));
        let last_skew = || {
            let events = EVENTS.lock().unwrap();
            events.iter().rfind(|event| event.name == "clock_skew").unwrap().fields.clone()
        };
        let set = |skew_ms| registry.0.store(skew_ms, Ordering::Relaxed);
        let uids = UidGenerator::builder().registry(registry.clone()).build().unwrap();
        assert_eq!(names(), ["started", "clock_skew"]);
        assert_eq!(last_skew(), "by=90s side=\"behind\" ");
        assert_eq!(uids.status().clock_skew_ms, Some(-90_000));
        let told = uids.status().to_string();
        assert!(told.contains("the clock is 90 s behind the registry's"), "{told}");
        // Each reservation compares them.
        set(60_000);
        wait_until(|| names().contains(&"clocks_agree"));
        assert!(!uids.status().to_string().contains("the registry's"));
        set(60_001);
        wait_until(|| names().len() == 4);
        set(60_002);
        wait_until(|| uids.status().clock_skew_ms == Some(60_002));
        assert_eq!(names(), ["started", "clock_skew", "clocks_agree", "clock_skew"]);
        assert_eq!(last_skew(), "by=60.001s side=\"ahead\" ");

        // A permanent id needs no further call. Nothing is known any more when the clock was set.
        let clock = ManualClock::new(SystemTime::now());
        let builder = UidGenerator::builder().registry(Forever(registry.clone()));
        let uids = builder.clock(clock.clone()).build().unwrap();
        assert_eq!(uids.status().clock_skew_ms, Some(60_002));
        clock.advance(Duration::from_secs(60));
        wait_until(|| uids.status().clock_skew_ms.is_none());
    });
}
