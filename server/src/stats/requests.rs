//! Request counters by path and status, and a histogram of response times.
//!
//! Each request costs two clock readings, a search in a short list, and three additions to counters
//! that only its own thread writes.

use std::time::Duration;

use crate::routes::Route;
use crate::stats::commands::Commands;
use crate::stats::counter::{Counter, float};
use crate::stats::times::{BOUNDS_US, Buckets, TimeTotals, Times};

/// The statuses that have a counter of their own.
const STATUSES: [u16; 17] =
    [200, 201, 400, 401, 403, 404, 405, 406, 408, 409, 413, 415, 421, 422, 429, 500, 503];

/// Whether an answer failed, if its status does not tell: tinyid answers failures with 200, and
/// Leaf answers 500 even for a client's mistake.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HasFailed(pub(crate) bool);

/// The paths of the table, and one entry for all others. An unknown path is never shown, because it
/// may be any text.
const PATHS: usize = Route::ALL.len() + 1;

fn index(route: Option<Route>) -> usize {
    route.map_or(PATHS - 1, |route| route as usize)
}

/// The requests that one thread has answered.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    paths: [PathCounters; PATHS],
    /// Those of the Redis protocol.
    pub(crate) commands: Commands,
}

#[derive(Debug, Default)]
struct PathCounters {
    statuses: [Counter; STATUSES.len() + 1],
    failures: Counter,
    times: Times,
}

impl Requests {
    pub(crate) fn answered(
        &self,
        route: Option<Route>,
        status: u16,
        HasFailed(has_failed): HasFailed,
        took: Duration,
    ) {
        let counters = &self.paths[index(route)];
        if has_failed {
            counters.failures.add(1);
        }
        let status = STATUSES.iter().position(|&one| one == status).unwrap_or(STATUSES.len());
        counters.statuses[status].add(1);
        counters.times.add(1, took);
    }
}

/// The requests of clients: all paths except those for operators, and all commands.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traffic {
    pub(crate) failures: u64,
    buckets: Buckets,
}

impl Traffic {
    pub(crate) fn of<'a>(threads: impl Iterator<Item = &'a Requests>) -> Traffic {
        let is_shown =
            |path: usize| Route::ALL.get(path).is_none_or(|route| !route.is_for_operators());
        let mut traffic = Traffic::default();
        for thread in threads {
            let paths = thread.paths.iter().enumerate().filter(|&(path, _)| is_shown(path));
            for (_, counters) in paths {
                counters.times.sum_up(&mut traffic.buckets);
                traffic.failures = traffic.failures.wrapping_add(counters.failures.get());
            }
            thread.commands.times.sum_up(&mut traffic.buckets);
            traffic.failures = traffic.failures.wrapping_add(thread.commands.failures());
        }
        traffic
    }

    /// The difference to an earlier reading.
    pub(crate) fn since(&self, before: &Traffic) -> Traffic {
        let mut buckets = self.buckets;
        for (bucket, before) in buckets.iter_mut().zip(before.buckets) {
            *bucket = bucket.wrapping_sub(before);
        }
        Traffic { failures: self.failures.wrapping_sub(before.failures), buckets }
    }

    pub(crate) fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// The response time in seconds that this part of the answers did not exceed. Within a bucket,
    /// times are assumed to be spread evenly. Times above the last bound count as the last bound.
    pub(crate) fn quantile(&self, part: f64) -> Option<f64> {
        let rank = float(self.count()) * part;
        let (mut below, mut start) = (0.0, 0.0);
        for (index, &count) in self.buckets.iter().enumerate() {
            let end = BOUNDS_US.get(index).map_or(start, |&us| f64::from(us) / 1e6);
            if count > 0 && below + float(count) >= rank {
                return Some(start + (end - start) * (rank - below) / float(count));
            }
            (below, start) = (below + float(count), end);
        }
        None
    }
}

/// The requests for one path, over all threads.
#[derive(Debug)]
pub(crate) struct PathTotals {
    pub(crate) path: &'static str,
    /// How many answers had each status. `None` stands for all rare ones.
    pub(crate) statuses: Vec<(Option<u16>, u64)>,
    /// How many answers failed.
    pub(crate) failures: u64,
    pub(crate) times: TimeTotals,
}

/// The totals of all paths that were requested.
pub(crate) fn totals<'a>(
    threads: impl Iterator<Item = &'a Requests> + Clone,
) -> impl Iterator<Item = PathTotals> {
    (0..PATHS).filter_map(move |path| {
        let counters = threads.clone().map(|thread| &thread.paths[path]);
        let sum = |of: &dyn Fn(&PathCounters) -> &Counter| {
            counters.clone().map(|counters| of(counters).get()).fold(0, u64::wrapping_add)
        };
        let statuses = (0..=STATUSES.len()).map(|index| {
            (STATUSES.get(index).copied(), sum(&|counters| &counters.statuses[index]))
        });
        let statuses: Vec<_> = statuses.filter(|&(_, count)| count > 0).collect();
        let failures = sum(&|counters| &counters.failures);
        let times = TimeTotals::of(counters.map(|counters| &counters.times));
        let path = Route::ALL.get(path).map_or("other", |route| route.text());
        let totals = PathTotals { path, statuses, failures, times };
        (!totals.statuses.is_empty()).then_some(totals)
    })
}

/// How many answers to clients had each status that has a counter, over all paths. Operators' paths
/// do not count, nor does the Redis protocol, which has no statuses.
pub(crate) fn answers<'a>(
    threads: impl Iterator<Item = &'a Requests> + Clone,
) -> impl Iterator<Item = (u16, u64)> {
    let is_of_clients =
        |path: usize| Route::ALL.get(path).is_none_or(|route| !route.is_for_operators());
    let answers = STATUSES.into_iter().enumerate().map(move |(index, status)| {
        let paths = threads.clone().flat_map(|thread| thread.paths.iter().enumerate());
        let paths = paths.filter(|(path, _)| is_of_clients(*path));
        let counts = paths.map(|(_, counters)| counters.statuses[index].get());
        (status, counts.fold(0, u64::wrapping_add))
    });
    answers.filter(|(_, count)| *count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(path: &str) -> Option<Route> {
        Route::find(path).map(|(route, _)| route)
    }

    #[test]
    fn what_operators_look_at_is_no_traffic() {
        let threads: Box<[Requests]> = (0..2).map(|_| Requests::default()).collect();
        let us = Duration::from_micros;
        for path in ["/", "/metrics", "/livez", "/readyz", "/v1/status", "/page/script.js", "/db"] {
            threads[0].answered(route(path), 500, HasFailed(true), us(1));
        }
        let before = Traffic::of(threads.iter());
        assert_eq!((before.count(), before.failures, before.quantile(0.5)), (0, 0, None));
        for (path, status) in [("/v1/uids", 200), ("/v1/tags/a/ids", 503), ("/nowhere", 404)] {
            threads[1].answered(route(path), status, HasFailed(status == 503), us(90));
        }
        let traffic = Traffic::of(threads.iter()).since(&before);
        assert_eq!((traffic.count(), traffic.failures), (3, 1));
        let late = Duration::from_secs(60);
        threads[0].answered(route("/v1/uids"), 200, HasFailed(false), late);
        let all = Traffic::of(threads.iter());
        let close = |found: Option<f64>, expected: f64| {
            assert!(found.is_some_and(|found| (found - expected).abs() < 1e-9), "{found:?}");
        };
        // Three between 50 and 100 µs, and one that is longer than any bound.
        close(all.quantile(0.375), 75e-6);
        close(all.quantile(0.75), 100e-6);
        close(all.quantile(0.99), 2.5);
        assert_eq!(all.since(&all).quantile(0.99), None);
    }

    #[test]
    fn buckets_count_all_that_took_no_longer() {
        let threads: Box<[Requests]> = (0..2).map(|_| Requests::default()).collect();
        let path = route("/livez");
        let good = HasFailed(false);
        threads[0].answered(path, 200, good, Duration::from_micros(25));
        threads[1].answered(path, 200, HasFailed(true), Duration::from_nanos(25_001));
        threads[1].answered(path, 418, good, Duration::from_micros(26));
        threads[1].answered(path, 503, HasFailed(true), Duration::from_secs(9));
        let all: Vec<PathTotals> = totals(threads.iter()).collect();
        assert_eq!(all.len(), 1);
        let PathTotals { path, statuses, failures, times } = &all[0];
        let TimeTotals { buckets, count, seconds } = times;
        assert_eq!((*path, *count, *failures), ("/livez", 4, 2));
        assert_eq!(statuses, &[(Some(200), 2), (Some(503), 1), (None, 1)]);
        // Whole microseconds are compared.
        assert_eq!(buckets[..2], [(0.000_025, 2), (0.000_05, 3)]);
        assert_eq!(buckets.last(), Some(&(f64::INFINITY, 4)));
        assert!((seconds - 9.000_076_001).abs() < 1e-9, "{seconds}");
    }
}
