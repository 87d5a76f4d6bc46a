//! Rates over the last minutes: ids, requests and errors per second, and response times.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::stats::counter::float;
use crate::stats::counters::{Counters, sum};
use crate::stats::requests::Traffic;

/// How many seconds are kept.
pub(crate) const SECONDS: usize = 120;
/// The interval between two counts.
pub(crate) const STEP: Duration = Duration::from_secs(1);

/// The rates of one second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rate {
    pub(crate) uids: u64,
    pub(crate) numbers: u64,
    pub(crate) requests: u64,
    pub(crate) errors: u64,
    /// The median response time in seconds, if there were requests.
    pub(crate) median: Option<f64>,
    /// The 99th percentile of response times.
    pub(crate) slowest: Option<f64>,
}

/// The rates of the last seconds.
#[derive(Debug, Default)]
pub(crate) struct Rates(Mutex<VecDeque<Rate>>);

/// Locks a mutex. No code panics while it holds one of these.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Rates {
    /// The rates, the oldest first.
    pub(crate) fn last(&self) -> Vec<Rate> {
        lock(&self.0).iter().copied().collect()
    }

    pub(crate) fn push(&self, rate: Rate) {
        let mut rates = lock(&self.0);
        if rates.len() == SECONDS {
            rates.pop_front();
        }
        rates.push_back(rate);
    }
}

/// How many numbers of one tag were handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TagCount {
    /// One by one, from the memory of this process.
    pub(crate) here: u64,
    /// In segments to clients.
    pub(crate) to_clients: u64,
}

/// Numbers per second of one tag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TagRate {
    /// Only numbers from the memory of this process.
    pub(crate) here: f64,
    pub(crate) all: f64,
}

/// Two counts of all tags, the older one first.
#[derive(Debug)]
pub(crate) struct TagRates(Mutex<[TagCounts; 2]>);

#[derive(Clone, Debug)]
struct TagCounts {
    at: Instant,
    counts: Arc<HashMap<Box<str>, TagCount>>,
}

impl TagRates {
    /// Starts with empty counts.
    pub(crate) fn new(now: Instant) -> TagRates {
        let counts = TagCounts { at: now, counts: Arc::default() };
        TagRates(Mutex::new([counts.clone(), counts]))
    }

    pub(crate) fn push(&self, at: Instant, counts: HashMap<Box<str>, TagCount>) {
        let mut both = lock(&self.0);
        both.swap(0, 1);
        both[1] = TagCounts { at, counts: Arc::new(counts) };
    }

    /// Returns a function that computes a tag's rate from its present count.
    pub(crate) fn since(&self, now: Instant) -> impl Fn(&str, TagCount) -> TagRate + use<> {
        let TagCounts { at, counts } = lock(&self.0)[0].clone();
        // At least one step: right after the start, the interval would be too short for a rate.
        let seconds = now.duration_since(at).max(STEP).as_secs_f64();
        move |tag, TagCount { here, to_clients }| {
            let before = counts.get(tag).copied().unwrap_or_default();
            let per_second = |now: u64, before: u64| float(now.saturating_sub(before)) / seconds;
            let here = per_second(here, before.here);
            TagRate { here, all: here + per_second(to_clients, before.to_clients) }
        }
    }
}

/// Totals since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    uids: u64,
    numbers: u64,
    traffic: Traffic,
}

impl Totals {
    pub(crate) fn of(threads: &[Counters]) -> Totals {
        Totals {
            uids: sum(threads, |of| &of.uids),
            numbers: sum(threads, |of| &of.numbers)
                .wrapping_add(sum(threads, |of| &of.numbers_in_segments))
                .wrapping_add(sum(threads, |of| &of.series_numbers)),
            traffic: Traffic::of(threads.iter().map(|thread| &thread.requests)),
        }
    }
}

/// The rates between two counts.
pub(crate) fn rate(before: Totals, now: Totals, took: Duration) -> Rate {
    let per_second = |count: u64| {
        // Rounded up, so that a single error is visible.
        let rate = (u128::from(count) * 1000).div_ceil(took.as_millis().max(1));
        u64::try_from(rate).unwrap_or(u64::MAX)
    };
    let traffic = now.traffic.since(&before.traffic);
    Rate {
        uids: per_second(now.uids.wrapping_sub(before.uids)),
        numbers: per_second(now.numbers.wrapping_sub(before.numbers)),
        requests: per_second(traffic.count()),
        errors: per_second(traffic.failures),
        median: traffic.quantile(0.5),
        slowest: traffic.quantile(0.99),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_per_second() {
        let before = Totals { uids: u64::MAX, numbers: 10, ..Totals::default() };
        let now = Totals { uids: 2999, numbers: 11, ..Totals::default() };
        let expected = Rate { uids: 2000, numbers: 1, ..Rate::default() };
        assert_eq!(rate(before, now, Duration::from_millis(1500)), expected);
        let rates = Rates::default();
        for uids in 0..SECONDS as u64 + 5 {
            rates.push(Rate { uids, ..Rate::default() });
        }
        assert_eq!((rates.last().len(), rates.last()[0].uids), (SECONDS, 5));
    }

    #[test]
    fn the_rate_of_a_tag_is_that_since_the_older_of_two_counts() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let count = |here, to_clients| TagCount { here, to_clients };
        let counts = |here| HashMap::from([("a".into(), count(here, 0))]);
        let rates = TagRates::new(start);
        let rate = |seconds, tag, count| {
            let TagRate { here, all } = rates.since(after(seconds))(tag, count);
            (here, all)
        };
        // The interval is at least one second long.
        assert_eq!(rate(0, "a", count(30, 5)), (30.0, 35.0));
        assert_eq!(rate(2, "a", count(30, 10)), (15.0, 20.0));
        rates.push(after(10), counts(100));
        assert_eq!(rate(20, "a", count(200, 0)), (10.0, 10.0));
        rates.push(after(20), counts(200));
        assert_eq!(rate(30, "a", count(300, 0)), (10.0, 10.0));
        // A tag without an earlier count began at zero.
        assert_eq!(rate(30, "b", count(0, 40)), (0.0, 2.0));
        rates.push(after(30), counts(300));
        assert_eq!(rate(30, "a", count(300, 0)), (10.0, 10.0));
        assert_eq!(rate(40, "a", count(300, 0)), (5.0, 5.0));
    }
}
