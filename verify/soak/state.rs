//! [`State`]: what all threads of the soak share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use uidring::TakeError;

use crate::latency::Latencies;
use crate::ledger::Ids;

pub const TICK: Duration = Duration::from_millis(1);
/// So short that it is renewed all the time, and that an outage may be longer.
pub const LEASE: Duration = Duration::from_secs(1);
/// Nothing takes so long, unless it never comes.
pub const FOREVER: Duration = Duration::from_secs(60);
/// More troubles are like the first ones.
const TROUBLES: usize = 20;

/// What all threads of the soak share.
#[derive(Debug)]
pub struct State {
    /// Whether the threads of the load are to end.
    pub is_over: AtomicBool,
    pub latencies: Latencies,
    /// The ids of this process, and of its visitors.
    pub own: Ids,
    /// Those that the service gave.
    pub of_service: Ids,
    pub counts: Counts,
    troubles: Mutex<Vec<String>>,
}

/// How often something happened.
#[derive(Debug, Default)]
pub struct Counts {
    pub uids: Count,
    pub numbers: Count,
    pub failed_takes: Count,
    pub renewals: Count,
    pub failed_renewals: Count,
    pub visits: Count,
    pub failed_visits: Count,
    pub requests: Count,
    pub refused: Count,
    pub connections: Count,
    pub reloads: Count,
    pub outages: Count,
}

#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    pub fn add(&self, more: usize) {
        self.0.fetch_add(more as u64, Ordering::Relaxed);
    }

    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counts {
    pub fn all(&self) -> [(&'static str, u64); 12] {
        let Counts { uids, numbers, failed_takes, renewals, failed_renewals, .. } = self;
        let Counts { visits, failed_visits, requests, refused, .. } = self;
        let Counts { connections, reloads, outages, .. } = self;
        [
            ("UIDs", uids),
            ("numbers", numbers),
            ("failed takes", failed_takes),
            ("renewals", renewals),
            ("failed renewals", failed_renewals),
            ("visits", visits),
            ("failed visits", failed_visits),
            ("requests", requests),
            ("refused requests", refused),
            ("connections", connections),
            ("reloads", reloads),
            ("outages", outages),
        ]
        .map(|(name, count)| (name, count.get()))
    }
}

impl State {
    pub fn new() -> State {
        State {
            is_over: AtomicBool::new(false),
            latencies: Latencies::new(),
            own: Ids::new(),
            of_service: Ids::new(),
            counts: Counts::default(),
            troubles: Mutex::default(),
        }
    }

    pub fn goes_on(&self) -> bool {
        !self.is_over.load(Ordering::Relaxed)
    }

    pub fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Sleeps, at most until the load ends.
    pub fn pause(&self, length: Duration) {
        let since = Instant::now();
        while self.goes_on() && since.elapsed() < length {
            thread::sleep(Duration::from_millis(20).min(length));
        }
    }

    /// Notes what must not happen, which ends the soak.
    pub fn trouble(&self, what: impl Into<String>) {
        let mut troubles = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        if troubles.len() < TROUBLES {
            let what = what.into();
            println!("TROUBLE: {what}");
            troubles.push(what);
        }
        self.end();
    }

    /// Notes what is wrong, if something is.
    pub fn check(&self, result: Result<(), String>) {
        if let Err(what) = result {
            self.trouble(what);
        }
    }

    pub fn troubles(&self) -> Vec<String> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes a take that failed. Outages are a reason to fail, for as long as they last.
    pub fn note_failed(&self, error: TakeError) {
        match error {
            TakeError::LeaseExhausted { .. } | TakeError::SegmentExhausted { .. } => {
                self.counts.failed_takes.add(1);
                self.pause(Duration::from_millis(1));
            }
            other => self.trouble(format!("a take failed: {other}")),
        }
    }
}
