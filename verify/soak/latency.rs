//! [`Latencies`]: how long calls take, beside controls that meet the same disturbances.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;
use quanta::Clock;

/// Calls whose time is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Take,
    LocalTake,
    NumberTake,
    Request,
    /// The control of all takes: a bare counter.
    Count,
    /// The control of requests: a byte that comes back from another thread over TCP.
    Echo,
}

pub const KINDS: [Kind; 6] =
    [Kind::Take, Kind::LocalTake, Kind::NumberTake, Kind::Request, Kind::Count, Kind::Echo];

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Take => "take",
            Kind::LocalTake => "local take",
            Kind::NumberTake => "segment take",
            Kind::Request => "request",
            Kind::Count => "counter",
            Kind::Echo => "echo",
        }
    }

    /// What it is compared with, if it is not a control itself.
    pub fn control(self) -> Option<Kind> {
        match self {
            Kind::Take | Kind::LocalTake | Kind::NumberTake => Some(Kind::Count),
            Kind::Request => Some(Kind::Echo),
            Kind::Count | Kind::Echo => None,
        }
    }
}

pub const QUANTILES: [(&str, f64); 3] = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)];

/// The calls of one kind in one slice: how many there were, and nanoseconds at each quantile.
#[derive(Clone, Copy, Debug, Default)]
pub struct Summary {
    pub calls: u64,
    pub ns: [u64; QUANTILES.len()],
}

/// Histograms of the present slice.
#[derive(Debug)]
pub struct Latencies {
    pub clock: Clock,
    kinds: [Mutex<Histogram<u64>>; KINDS.len()],
}

impl Latencies {
    pub fn new() -> Latencies {
        // Three digits, up to an hour.
        let longest = 3_600_000_000_000;
        #[allow(clippy::unwrap_used)] // the bounds are constants
        let empty = |_| Mutex::new(Histogram::new_with_bounds(1, longest, 3).unwrap());
        Latencies { clock: Clock::new(), kinds: KINDS.map(empty) }
    }

    /// Adds calls, each in ticks of the clock.
    pub fn add(&self, kind: Kind, calls: &[u64]) {
        let histogram = &self.kinds[kind as usize];
        let mut histogram = histogram.lock().unwrap_or_else(PoisonError::into_inner);
        for ticks in calls {
            histogram.saturating_record(self.clock.delta_as_nanos(0, *ticks));
        }
    }

    pub fn add_one(&self, kind: Kind, time: Duration) {
        let histogram = &self.kinds[kind as usize];
        let mut histogram = histogram.lock().unwrap_or_else(PoisonError::into_inner);
        histogram.saturating_record(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Ends the slice, and begins the next one.
    pub fn end_slice(&self) -> [Summary; KINDS.len()] {
        KINDS.map(|kind| {
            let histogram = &self.kinds[kind as usize];
            let mut histogram = histogram.lock().unwrap_or_else(PoisonError::into_inner);
            let ns = QUANTILES.map(|(_, quantile)| histogram.value_at_quantile(quantile));
            let summary = Summary { calls: histogram.len(), ns };
            histogram.reset();
            summary
        })
    }
}
