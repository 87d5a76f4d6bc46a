//! [`RoundRobin`]: the rotation among several databases or servers.

use std::time::Duration;

use super::SegmentError;
use crate::clock::Stopwatch;
use crate::sync::{AtomicU64, Mutex, Ordering, lock};

/// How long one that did not answer is asked last: the first time, and at most.
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The rotation among several members, known by their indexes. One that does not answer is asked
/// last for a while, which grows with each failure.
#[derive(Debug)]
pub struct RoundRobin {
    /// The counter of turns. It does not start at zero.
    turn: AtomicU64,
    members: Mutex<Vec<Option<Failing>>>,
}

/// One that has failed since it last answered.
#[derive(Clone, Copy, Debug)]
struct Failing {
    failures: u32,
    since: Stopwatch,
    pause: Duration,
}

impl Failing {
    fn is_over(&self) -> bool {
        self.since.elapsed() >= self.pause
    }
}

impl RoundRobin {
    pub fn of(members: usize) -> RoundRobin {
        RoundRobin {
            // The process id is a start that differs between processes, so that they do not all
            // begin with the same one.
            turn: AtomicU64::new(std::process::id().into()),
            members: Mutex::new(vec![None; members]),
        }
    }

    /// Adds one more.
    #[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
    pub fn add(&self) {
        lock(&self.members).push(None);
    }

    /// All of them, in the order for this turn.
    pub fn next(&self) -> Vec<usize> {
        let members = lock(&self.members);
        let all = members.len();
        // ORDERING: only the number matters, and each call gets its own.
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) % (all as u64).max(1);
        let first = usize::try_from(turn).unwrap_or(0);
        let mut order: Vec<usize> = (0..all).map(|next| (first + next) % all).collect();
        order.sort_by_key(|&index| members[index].is_some_and(|failing| !failing.is_over()));
        order
    }

    /// Whether this one is asked last for now.
    #[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
    pub fn is_away(&self, index: usize) -> bool {
        lock(&self.members)[index].is_some_and(|failing| !failing.is_over())
    }

    pub fn answered(&self, index: usize) {
        lock(&self.members)[index] = None;
    }

    /// Puts this one last for a while, or for the time that it `asked` for if that is longer.
    pub fn failed(&self, index: usize, asked: Option<Duration>) {
        let mut members = lock(&self.members);
        let failures = match members[index] {
            // Calls that ran at the same time count as one failure.
            Some(failing) if !failing.is_over() => return,
            before => before.map_or(0, |failing| failing.failures).saturating_add(1),
        };
        let pause = pause(failures).max(asked.unwrap_or_default()).min(LONGEST_PAUSE);
        members[index] = Some(Failing { failures, since: Stopwatch::start(), pause });
    }
}

/// How long one is put last after this many failures in a row.
fn pause(failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    SHORTEST_PAUSE.saturating_mul(1 << doublings).min(LONGEST_PAUSE)
}

/// The more informative of two errors: the first transient one, otherwise the first.
pub fn more_informative(first: Option<SegmentError>, next: SegmentError) -> SegmentError {
    match first {
        Some(first) if first.is_transient() || !next.is_transient() => first,
        _ => next,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_asked_by_turns_and_those_that_failed_last() {
        let rotation = RoundRobin::of(3);
        let firsts: Vec<usize> = (0..6).map(|_| rotation.next()[0]).collect();
        assert_eq!(firsts[..3], firsts[3..]);
        for index in 0..3 {
            assert!(firsts.contains(&index), "by turns: {firsts:?}");
        }
        rotation.failed(1, None);
        for _ in 0..3 {
            assert_eq!(rotation.next()[2], 1, "it comes last");
        }
        rotation.answered(1);
        assert!((0..3).any(|_| rotation.next()[0] == 1), "it is back");
        assert!(RoundRobin::of(0).next().is_empty());
    }

    #[test]
    fn a_pause_grows_to_a_limit_and_those_who_fail_together_count_once() {
        let seconds = [1, 2, 3, 6, 7, 1000, u32::MAX].map(|failures| pause(failures).as_secs());
        assert_eq!(seconds, [1, 2, 4, 32, 60, 60, 60]);
        let rotation = RoundRobin::of(1);
        for _ in 0..4 {
            rotation.failed(0, Some(Duration::from_secs(3600)));
        }
        let failing = lock(&rotation.members)[0];
        assert_eq!(
            failing.map(|failing| (failing.failures, failing.pause)),
            Some((1, LONGEST_PAUSE))
        );
    }
}
