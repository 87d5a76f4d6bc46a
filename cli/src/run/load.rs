//! Taking UIDs at a rate: how many are due at which time, and the threads that take them.

use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use crossbeam::channel::{RecvTimeoutError, bounded};
use uidring_args::quantity::{Quantity, saturating_u64};

use crate::text::Failure;

/// How many UIDs a thread takes at once.
pub(crate) const BATCH: usize = 4 * 1024;
/// The shortest pause between two checks of what is due: the output looks continuous, and the
/// processor stays idle.
const SHORTEST_PAUSE: Duration = Duration::from_millis(2);
/// A thread notices within this time that it should stop.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// How many UIDs to take, how fast, and for how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// At least one.
    pub(crate) threads: u16,
    /// UIDs a second of all threads together; `None` for as many as possible.
    pub(crate) rate: Option<Quantity>,
    /// How many; `None` for no end.
    pub(crate) count: Option<u64>,
    /// For how long; `None` for no end.
    pub(crate) length: Option<Duration>,
}

impl Load {
    /// How many UIDs all threads together should have taken after `elapsed`.
    fn due(&self, elapsed: Duration) -> u64 {
        let within = self.length.map_or(elapsed, |length| length.min(elapsed));
        let by_rate = self.rate.map_or(u64::MAX, |rate| {
            saturating_u64(u128::from(rate.thousandths) * within.as_nanos() / 1_000_000_000_000)
        });
        self.count.map_or(by_rate, |count| count.min(by_rate))
    }

    /// The part of `due` that falls to one thread.
    fn share(&self, due: u64, thread: u16) -> u64 {
        let threads = u64::from(self.threads);
        due / threads + u64::from(u64::from(thread) < due % threads)
    }

    /// Whether it is one batch of one thread, as soon as possible.
    pub(crate) fn is_one_batch(&self) -> bool {
        let is_plain = self.threads == 1 && self.rate.is_none() && self.length.is_none();
        is_plain && self.count.is_some_and(|count| count <= BATCH as u64)
    }

    /// Roughly how long until each thread has something to do again.
    fn pause(&self) -> Duration {
        let thousandths = self.rate.map_or(u64::MAX, |rate| rate.thousandths).max(1);
        let pause = Duration::from_secs(1000 * u64::from(self.threads))
            / u32::try_from(thousandths).unwrap_or(u32::MAX);
        pause.clamp(SHORTEST_PAUSE, LONGEST_PAUSE)
    }
}

/// A load that is running.
#[derive(Debug)]
pub(crate) struct Run {
    load: Load,
    started: Instant,
    stopped: Arc<AtomicBool>,
    done: AtomicU64,
}

impl Run {
    pub(crate) fn start(load: Load) -> Run {
        Run { load, started: Instant::now(), stopped: Arc::default(), done: AtomicU64::new(0) }
    }

    /// Makes the first Ctrl-C end the run instead of the process. Another one ends the process.
    pub(crate) fn stop_on_interrupt(&self) -> Result<(), Failure> {
        let stopped = Arc::clone(&self.stopped);
        let handler = move || {
            if stopped.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        };
        ctrlc::set_handler(handler)
            .map_err(|error| Failure::Failed(format!("cannot listen to Ctrl-C: {error}")))
    }

    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(crate) fn load(&self) -> &Load {
        &self.load
    }

    /// How many UIDs have been written, or taken to be dropped.
    pub(crate) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    pub(crate) fn advance(&self, count: usize) {
        self.done.fetch_add(count as u64, Ordering::Relaxed);
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Runs the load with one thread for each of `takers`. A taker is called with the number of
    /// UIDs to take, and returns how many it has taken: fewer if there are no more for now, `None`
    /// if there is nothing left to do. Meanwhile this thread calls `look` at each `interval`.
    pub(crate) fn run_takers<T>(
        &self,
        takers: Vec<T>,
        interval: Duration,
        mut look: impl FnMut(),
    ) -> Result<(), Failure>
    where
        T: FnMut(usize) -> Result<Option<usize>, Failure> + Send,
    {
        thread::scope(|scope| {
            // Nothing is sent on this channel. It closes when the last thread ends.
            let (alive, ended) = bounded::<()>(0);
            let threads: Vec<_> = (0..)
                .zip(takers)
                .map(|(thread, take)| {
                    let alive = alive.clone();
                    scope.spawn(move || {
                        let done = self.take_share(thread, take);
                        if done.is_err() {
                            self.stop();
                        }
                        drop(alive);
                        done
                    })
                })
                .collect();
            drop(alive);
            while ended.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                look();
            }
            // Join all threads before returning the first failure.
            let done: Vec<Result<(), Failure>> = threads.into_iter().map(joined).collect();
            done.into_iter().collect()
        })
    }

    /// Takes one thread's part. A thread that has fallen behind takes as fast as possible until it
    /// has caught up or the time is over.
    pub(crate) fn take_share(
        &self,
        thread: u16,
        mut take: impl FnMut(usize) -> Result<Option<usize>, Failure>,
    ) -> Result<(), Failure> {
        let load = &self.load;
        let all = load.count.map_or(u64::MAX, |count| load.share(count, thread));
        let mut taken = 0;
        while taken < all && !self.is_stopped() {
            let elapsed = self.elapsed();
            let is_last = load.length.is_some_and(|length| elapsed >= length);
            let due = load.share(load.due(elapsed), thread) - taken;
            let batch = usize::try_from(due).unwrap_or(BATCH).min(BATCH);
            let mut is_short = false;
            if batch > 0 && !(is_last && load.rate.is_none()) {
                let Some(got) = take(batch)? else { break };
                taken += got as u64;
                is_short = got < batch;
            }
            if is_last {
                break;
            }
            if (is_short || due <= BATCH as u64) && taken < all {
                let left =
                    load.length.map_or(LONGEST_PAUSE, |length| length.saturating_sub(elapsed));
                thread::sleep(load.pause().min(left));
            }
        }
        Ok(())
    }
}

/// Waits for what `thread` returns. A panic goes on in this thread.
pub(crate) fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::{BATCH, Load, Run};
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;
    use uidring_args::quantity::Quantity;

    const FREE: Load = Load { threads: 1, rate: None, count: None, length: None };

    #[test]
    fn so_many_are_due() {
        let second = Duration::from_secs(1);
        assert_eq!(FREE.due(Duration::ZERO), u64::MAX);
        assert_eq!(Load { count: Some(7), ..FREE }.due(Duration::ZERO), 7);
        let paced = Load { rate: Some(Quantity { thousandths: 2_500 }), ..FREE };
        assert_eq!([0, 1, 2].map(|seconds| paced.due(second * seconds)), [0, 2, 5]);
        assert_eq!(Load { length: Some(second * 2), ..paced }.due(second * 100), 5);
        assert_eq!(Load { count: Some(4), ..paced }.due(second * 100), 4);
    }

    #[test]
    fn a_few_ids_at_once_are_one_batch() {
        let few = Load { count: Some(5), ..FREE };
        assert!(few.is_one_batch());
        assert!(Load { count: Some(BATCH as u64), ..FREE }.is_one_batch());
        for many in [
            FREE,
            Load { count: Some(BATCH as u64 + 1), ..FREE },
            Load { threads: 2, ..few },
            Load { rate: Some(Quantity::whole(1)), ..few },
            Load { length: Some(Duration::from_secs(1)), ..few },
        ] {
            assert!(!many.is_one_batch(), "{many:?}");
        }
    }

    #[test]
    fn shares_are_the_whole() {
        for threads in 1..9 {
            let load = Load { threads, ..FREE };
            for due in 0..100 {
                assert_eq!((0..threads).map(|thread| load.share(due, thread)).sum::<u64>(), due);
            }
        }
    }

    #[test]
    fn a_run_takes_what_is_due_and_no_more() {
        let length = Some(Duration::from_millis(300));
        let cases = [
            (Load { threads: 3, rate: Some(Quantity::whole(10_000)), length, ..FREE }, 3000),
            (
                Load { threads: 2, rate: Some(Quantity::whole(100_000)), count: Some(777), ..FREE },
                777,
            ),
            (Load { threads: 4, count: Some(100_001), ..FREE }, 100_001),
            (Load { rate: Some(Quantity::whole(0)), length, ..FREE }, 0),
        ];
        for (load, expected) in cases {
            let taken = AtomicU64::new(0);
            let take = |count: usize| {
                taken.fetch_add(count as u64, Ordering::Relaxed);
                Ok(Some(count))
            };
            let takers = (0..load.threads).map(|_| take).collect();
            Run::start(load).run_takers(takers, Duration::from_secs(60), || {}).unwrap();
            assert_eq!(taken.into_inner(), expected, "{load:?}");
        }
    }
}
