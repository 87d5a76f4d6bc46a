//! What an operator hears of: one line per change of state, however many UIDs are taken.

use std::thread;
use std::time::{Duration, Instant};

use tracing::Level;
use uidring::clock::ManualClock;
use uidring::registry::{Lease, Request, WorkerRegistry};
use uidring::{Layout, LeadLimit, RegistryError, UidGenerator};

use crate::alone::alone;
use crate::observer::EVENTS;

struct Counting {
    used: u64,
    capacity: u64,
}

impl Counting {
    fn new(capacity: u64) -> Counting {
        Counting { used: 0, capacity }
    }
}

impl WorkerRegistry for Counting {
    fn assign(&mut self, request: &Request) -> Result<Lease, RegistryError> {
        let Counting { used, capacity } = *self;
        if used == capacity {
            return Err(RegistryError::Exhausted { used, capacity, next: None });
        }
        self.used += 1;
        Ok(Lease::permanent(self.used, &request.layout))
    }
}

fn count(message: &str) -> usize {
    EVENTS.lock().unwrap().iter().filter(|event| event.text.contains(message)).count()
}

/// The filler speaks when it next looks at the clock.
fn wait_for(message: &str) {
    let since = Instant::now();
    while count(message) == 0 {
        assert!(
            since.elapsed() < Duration::from_secs(60),
            "no {message:?} in {:?}",
            EVENTS.lock().unwrap()
        );
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn one_line_per_change_of_state() {
    alone("events::one_line_per_change_of_state", || {
        crate::observer::observe();
        let layout = Layout::new(30, 20, 3).unwrap();
        let day = Duration::from_secs(24 * 3600);
        let clock = ManualClock::new(layout.epoch() + 1000 * day);
        let uids = UidGenerator::builder()
            .registry(Counting::new(3))
            .layout(layout)
            .clock(clock.clone())
            .max_lead(Duration::from_secs(1000))
            .on_lead_limit(LeadLimit::NewWorker)
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
        wait_for(&format!("{} dropped blocks", Level::DEBUG));
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
    });
}

/// However many are wanted: also when one has come again, six seconds later.
#[test]
fn used_up_worker_ids_are_told_once() {
    alone("events::used_up_worker_ids_are_told_once", || {
        crate::observer::observe();
        let layout = Layout::new(30, 20, 3).unwrap();
        let day = Duration::from_secs(24 * 3600);
        let clock = ManualClock::new(layout.epoch() + 1000 * day);
        let builder =
            UidGenerator::builder().registry(Counting::new(u64::MAX)).layout(layout).clock(clock);
        let builder = builder.max_lead(Duration::ZERO).on_lead_limit(LeadLimit::NewWorker);
        let uids = builder.max_new_workers(600).build().unwrap();
        let used_up = format!("{} as many worker ids as a generator may take on", Level::WARN);
        let since = Instant::now();
        let mut before = None;
        while before.is_none_or(|before| uids.status().new_workers == before) {
            assert!(since.elapsed() < Duration::from_secs(60), "{}", uids.status());
            let _ = uids.try_take();
            if before.is_none() && count(&used_up) > 0 {
                before = Some(uids.status().new_workers);
            }
        }
        assert_eq!(count(&used_up), 1);
    });
}
