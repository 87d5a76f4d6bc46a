//! A histogram of response times.

use std::time::Duration;

use crate::stats::counter::{Counter, float};

/// The upper ends of the histogram's buckets, in microseconds.
pub(crate) const BOUNDS_US: [u32; 16] = [
    25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000,
];

/// How many response times were in each bucket. Buckets are not cumulative.
pub(crate) type Buckets = [u64; BOUNDS_US.len() + 1];

/// The response times of one thread.
#[derive(Debug, Default)]
pub(crate) struct Times {
    /// Buckets are not cumulative.
    buckets: [Counter; BOUNDS_US.len() + 1],
    nanos: Counter,
}

impl Times {
    /// Counts `count` answers that took this long.
    pub(crate) fn add(&self, count: u64, took: Duration) {
        let micros = took.as_micros();
        let bucket = BOUNDS_US.partition_point(|&bound| u128::from(bound) < micros);
        self.buckets[bucket].add(count);
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.nanos.add(nanos.saturating_mul(count));
    }

    /// Adds these times to the sums of other threads.
    pub(crate) fn sum_up(&self, buckets: &mut Buckets) {
        for (sum, bucket) in buckets.iter_mut().zip(&self.buckets) {
            *sum = sum.wrapping_add(bucket.get());
        }
    }
}

/// The response times of all threads.
#[derive(Debug)]
pub(crate) struct TimeTotals {
    /// Cumulative buckets: each bound in seconds, and how many answers took at most this long.
    pub(crate) buckets: Vec<(f64, u64)>,
    pub(crate) count: u64,
    pub(crate) seconds: f64,
}

impl TimeTotals {
    pub(crate) fn of<'a>(threads: impl Iterator<Item = &'a Times>) -> TimeTotals {
        let (mut all, mut nanos) = (Buckets::default(), 0_u64);
        for times in threads {
            times.sum_up(&mut all);
            nanos = nanos.wrapping_add(times.nanos.get());
        }
        let mut count = 0;
        let buckets = all.into_iter().enumerate().map(|(index, bucket)| {
            count += bucket;
            let bound = BOUNDS_US.get(index).map_or(f64::INFINITY, |&us| f64::from(us) / 1e6);
            (bound, count)
        });
        let buckets = buckets.collect();
        TimeTotals { buckets, count, seconds: float(nanos) / 1e9 }
    }
}
