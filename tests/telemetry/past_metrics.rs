//! The metrics of a generator of the past say what its status says.

use std::time::Duration;

use uidring::registry::{Lease, Request, WorkerRegistry};
use uidring::{Layout, RegistryError, UidGenerator};

use crate::alone::alone;
use crate::recorder::Keeping;

const REGISTRY: &str = "a registry that counts";

/// Gives ascending worker ids; from a limit on, the same again.
struct Counting {
    next: u64,
    last: u64,
}

impl WorkerRegistry for Counting {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        let worker = self.next.min(self.last);
        self.next += 1;
        Ok(Lease::permanent(worker, &request.layout))
    }

    fn name(&self) -> String {
        REGISTRY.to_owned()
    }
}

// One test, since a program has one recorder.
#[test]
fn the_metrics_of_the_past_say_what_its_status_says() {
    alone("past_metrics::the_metrics_of_the_past_say_what_its_status_says", || {
        let recorder = Keeping::install();
        let show = || -> Vec<(String, f64)> {
            let values = recorder.values(&["generator", "registry"]).into_iter();
            values
                .map(|((name, labels), value)| {
                    assert_eq!(labels, ["7", REGISTRY]);
                    (name, value)
                })
                .collect()
        };
        let expected = |broken: f64, taken: f64, ticks: f64, workers: f64| {
            [
                ("uidring_past_broken".to_owned(), broken),
                ("uidring_past_taken_uids_total".to_owned(), taken),
                ("uidring_past_ticks".to_owned(), ticks),
                ("uidring_past_workers_total".to_owned(), workers),
            ]
        };
        let layout = Layout::new(30, 20, 3).unwrap();
        let build = || {
            let registry = Counting { next: 7, last: 8 };
            UidGenerator::builder().registry(registry).layout(layout).build_past().unwrap()
        };
        let past = build();
        assert_eq!(show(), expected(0.0, 0.0, 0.0, 1.0));
        past.take_at(layout.epoch()).unwrap();
        assert_eq!(show(), expected(0.0, 1.0, 1.0, 1.0));
        past.take_times(&[layout.epoch() + Duration::from_secs(1); 9]).unwrap();
        assert_eq!(show(), expected(0.0, 10.0, 2.0, 2.0));
        // What is refused takes nothing.
        past.take_at(layout.epoch() - Duration::from_secs(1)).unwrap_err();
        assert_eq!(show(), expected(0.0, 10.0, 2.0, 2.0));
        // 8 came before.
        past.take_times(&[layout.epoch(); 16]).unwrap_err();
        assert_eq!(show(), expected(1.0, 25.0, 2.0, 2.0));
        assert_eq!(past.status().taken, 25);
        // The counters of the next one continue where those of this one were.
        drop(past);
        build().take_at(layout.epoch()).unwrap();
        assert_eq!(show(), expected(0.0, 26.0, 1.0, 3.0));
    });
}
