//! Ids per second in the last minutes.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::app::App;
use crate::counters::{Counter, Counters};
use crate::server::EndSender;
use crate::threads;

/// How many seconds are remembered.
pub(crate) const SECONDS: usize = 120;
const STEP: Duration = Duration::from_secs(1);

/// What one second brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rate {
    pub(crate) uids: u64,
    pub(crate) numbers: u64,
}

/// The last seconds.
#[derive(Debug, Default)]
pub(crate) struct Rates(Mutex<VecDeque<Rate>>);

impl Rates {
    /// The oldest first.
    pub(crate) fn last(&self) -> Vec<Rate> {
        self.lock().iter().copied().collect()
    }

    fn push(&self, rate: Rate) {
        let mut rates = self.lock();
        if rates.len() == SECONDS {
            rates.pop_front();
        }
        rates.push_back(rate);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Rate>> {
        // Nothing panics while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What all threads have counted.
pub(crate) fn sum(app: &App, of: fn(&Counters) -> &Counter) -> u64 {
    app.counters.iter().map(|thread| of(thread).get()).fold(0, u64::wrapping_add)
}

/// Begins to measure, on a thread of its own.
pub(crate) fn begin(app: &'static App, end: &EndSender) -> Result<(), String> {
    let measure = || {
        let totals = || Rate { uids: sum(app, |of| &of.uids), numbers: sum(app, |of| &of.numbers) };
        let (mut before, mut since) = (totals(), Instant::now());
        loop {
            thread::sleep(STEP);
            let (now, took) = (totals(), since.elapsed());
            app.watch.rates.push(rate(before, now, took));
            (before, since) = (now, since + took);
        }
    };
    threads::begin("uidring-rates", end, measure).map(drop)
}

fn rate(before: Rate, now: Rate, took: Duration) -> Rate {
    let per_second = |before: u64, now: u64| {
        let count = u128::from(now.wrapping_sub(before)) * 1000;
        u64::try_from(count / took.as_millis().max(1)).unwrap_or(u64::MAX)
    };
    Rate {
        uids: per_second(before.uids, now.uids),
        numbers: per_second(before.numbers, now.numbers),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_per_second() {
        let before = Rate { uids: u64::MAX, numbers: 10 };
        let now = Rate { uids: 2999, numbers: 10 };
        let expected = Rate { uids: 2000, numbers: 0 };
        assert_eq!(rate(before, now, Duration::from_millis(1500)), expected);
        let rates = Rates::default();
        for uids in 0..SECONDS as u64 + 5 {
            rates.push(Rate { uids, numbers: 0 });
        }
        assert_eq!((rates.last().len(), rates.last()[0].uids), (SECONDS, 5));
    }
}
