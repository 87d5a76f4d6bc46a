//! The metrics of a generator say what its status says.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use uidring::clock::{Clock, SystemClock};
use uidring::registry::{FixedWorker, Lease, Request, WorkerRegistry};
use uidring::{RegistryError, UidGenerator};

use crate::alone::alone;
use crate::recorder::Keeping;

/// The metrics by their registry and name. All are of generators that began with worker id 7.
struct Metrics {
    recorder: Arc<Keeping>,
    values: BTreeMap<(String, String), f64>,
}

const FIXED: &str = "a fixed number";
const OTHER: &str = "another registry";

impl Metrics {
    fn update(&mut self) {
        for ((name, labels), value) in self.recorder.values(&["generator", "registry"]) {
            let [generator, registry] = &labels[..] else { panic!("{name}: {labels:?}") };
            assert_eq!(generator, "7");
            self.values.insert((registry.clone(), name), value);
        }
    }

    fn get(&self, registry: &str, name: &str) -> f64 {
        self.values[&(registry.to_owned(), name.to_owned())]
    }

    /// The filler wakes at least once a second.
    #[allow(clippy::float_cmp)] // both are small integers
    fn wait_for(&mut self, registry: &str, name: &str, value: f64) {
        let since = Instant::now();
        loop {
            self.update();
            if self.get(registry, name) == value {
                return;
            }
            assert!(since.elapsed() < Duration::from_secs(20), "{name} {value}: {:?}", self.values);
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Panics while it is told to.
#[derive(Clone, Debug, Default)]
struct Moody(Arc<AtomicBool>);

impl Clock for Moody {
    fn now(&self) -> SystemTime {
        assert!(!self.0.load(Ordering::Relaxed), "the clock is in a bad mood");
        SystemClock.now()
    }
}

struct Other;

impl WorkerRegistry for Other {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        Ok(Lease::permanent(7, &request.layout))
    }

    fn name(&self) -> String {
        OTHER.to_owned()
    }
}

// One test, since a program has one recorder.
#[test]
fn the_metrics_say_what_the_status_says() {
    alone("metrics::the_metrics_say_what_the_status_says", || {
        let mut metrics = Metrics { recorder: Keeping::install(), values: BTreeMap::new() };
        let clock = Moody::default();
        let build = || UidGenerator::builder().registry(FixedWorker::new(7)).clock(clock.clone());
        let uids = build().build().unwrap();
        assert_eq!(uids.take_n(1000).flatten().count(), 1000);
        metrics.wait_for(FIXED, "uidring_taken_uids_total", 1000.0);
        let names: Vec<&str> = metrics.values.keys().map(|(_, name)| name.as_str()).collect();
        assert_eq!(
            names,
            [
                "uidring_at_lead_limit",
                "uidring_at_worker_limit",
                "uidring_available_uids",
                "uidring_clock_skew_seconds",
                "uidring_clock_steps_total",
                "uidring_expires_timestamp_seconds",
                "uidring_filler_blocks_total",
                "uidring_filler_running",
                "uidring_giving_uids",
                "uidring_lag_seconds",
                "uidring_lead_seconds",
                "uidring_lost_uids_total",
                "uidring_new_workers_total",
                "uidring_refused_jump_seconds",
                "uidring_reserved_until_timestamp_seconds",
                "uidring_skipped_uids_total",
                "uidring_taken_uids_total",
                "uidring_taker_blocks_total",
                "uidring_waits_total",
                "uidring_worker_id",
                "uidring_worker_ids",
                "uidring_worker_ids_left",
            ]
        );
        let is = |name: &str, value: f64| {
            assert!((metrics.get(FIXED, name) - value).abs() < 0.5, "{:?}", metrics.values);
        };
        is("uidring_worker_id", 7.0);
        assert!(metrics.get(FIXED, "uidring_worker_ids_left").is_infinite());
        is("uidring_filler_running", 1.0);
        is("uidring_at_lead_limit", 0.0);
        is("uidring_giving_uids", 1.0);
        assert!(metrics.get(FIXED, "uidring_reserved_until_timestamp_seconds").is_infinite());
        is("uidring_expires_timestamp_seconds", 2_840_967_424.0);
        assert!(metrics.get(FIXED, "uidring_available_uids") > 0.0);
        assert!(metrics.get(FIXED, "uidring_lead_seconds") > 0.0);

        // The gauge follows the filler, whatever becomes of it.
        clock.0.store(true, Ordering::Relaxed);
        metrics.wait_for(FIXED, "uidring_filler_running", 0.0);
        clock.0.store(false, Ordering::Relaxed);
        metrics.wait_for(FIXED, "uidring_filler_running", 1.0);
        uids.shutdown().unwrap();
        metrics.update();
        assert!(metrics.get(FIXED, "uidring_filler_running") < 0.5, "{:?}", metrics.values);

        // The counters of the next generator with this worker id continue where those of this one
        // were.
        let uids = build().build().unwrap();
        assert_eq!(uids.take_n(500).flatten().count(), 500);
        metrics.wait_for(FIXED, "uidring_taken_uids_total", 1500.0);
        metrics.wait_for(FIXED, "uidring_filler_running", 1.0);

        // A generator of another registry, which also begins with worker id 7, has its own.
        let others = UidGenerator::builder().registry(Other).build().unwrap();
        assert_eq!(others.take_n(10).flatten().count(), 10);
        metrics.wait_for(OTHER, "uidring_taken_uids_total", 10.0);
        assert_eq!(uids.take_n(1).flatten().count(), 1);
        metrics.wait_for(FIXED, "uidring_taken_uids_total", 1501.0);
    });
}
