//! [`Turns`]: which of several databases or servers is asked next.

use std::time::Duration;

use super::SegmentError;
use crate::clock::Stopwatch;
use crate::sync::{AtomicU64, Mutex, Ordering, lock};

/// For how long one that did not answer comes last: at first, and at most.
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The turns of several equals, known by their indexes. One that does not answer comes last for a
/// while, which grows with each failure.
#[derive(Debug)]
pub struct Turns {
    /// How many turns there were, besides the number that it began with.
    turn: AtomicU64,
    equals: Mutex<Vec<Option<Away>>>,
}

/// One that failed since it last answered.
#[derive(Clone, Copy, Debug)]
struct Away {
    failures: u32,
    since: Stopwatch,
    pause: Duration,
}

impl Away {
    fn is_over(&self) -> bool {
        self.since.elapsed() >= self.pause
    }
}

impl Turns {
    pub fn of(equals: usize) -> Turns {
        Turns {
            // Processes that start at once do not all begin with the same one.
            turn: AtomicU64::new(std::process::id().into()),
            equals: Mutex::new(vec![None; equals]),
        }
    }

    /// Adds one more.
    #[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
    pub fn add(&self) {
        lock(&self.equals).push(None);
    }

    /// All of them, in the order in which they are to be asked this time.
    pub fn next(&self) -> Vec<usize> {
        let equals = lock(&self.equals);
        let all = equals.len();
        // ORDERING: only the number itself matters, and it is this operation's own.
        let turn = self.turn.fetch_add(1, Ordering::Relaxed) % (all as u64).max(1);
        let first = usize::try_from(turn).unwrap_or(0);
        let mut order: Vec<usize> = (0..all).map(|next| (first + next) % all).collect();
        order.sort_by_key(|&index| equals[index].is_some_and(|away| !away.is_over()));
        order
    }

    /// Whether this one is left out for now.
    #[cfg(any(feature = "mysql", feature = "postgres", feature = "sqlite"))]
    pub fn is_away(&self, index: usize) -> bool {
        lock(&self.equals)[index].is_some_and(|away| !away.is_over())
    }

    pub fn answered(&self, index: usize) {
        lock(&self.equals)[index] = None;
    }

    /// Leaves this one out for a while, or for as long as it `asked` for if that is longer.
    pub fn failed(&self, index: usize, asked: Option<Duration>) {
        let mut equals = lock(&self.equals);
        let failures = match equals[index] {
            // Those that were asked at the same time do not count again.
            Some(away) if !away.is_over() => return,
            before => before.map_or(0, |away| away.failures).saturating_add(1),
        };
        let pause = pause(failures).max(asked.unwrap_or_default()).min(LONGEST_PAUSE);
        equals[index] = Some(Away { failures, since: Stopwatch::start(), pause });
    }
}

/// How long one is left out after so many failures in a row.
fn pause(failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    SHORTEST_PAUSE.saturating_mul(1 << doublings).min(LONGEST_PAUSE)
}

/// Of two errors the one that tells whether to try again: the first transient one, else the first.
pub fn telling(first: Option<SegmentError>, next: SegmentError) -> SegmentError {
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
        let turns = Turns::of(3);
        let firsts: Vec<usize> = (0..6).map(|_| turns.next()[0]).collect();
        assert_eq!(firsts[..3], firsts[3..]);
        for index in 0..3 {
            assert!(firsts.contains(&index), "by turns: {firsts:?}");
        }
        turns.failed(1, None);
        for _ in 0..3 {
            assert_eq!(turns.next()[2], 1, "it comes last");
        }
        turns.answered(1);
        assert!((0..3).any(|_| turns.next()[0] == 1), "it is back");
        assert!(Turns::of(0).next().is_empty());
    }

    #[test]
    fn a_pause_grows_to_a_limit_and_those_who_fail_together_count_once() {
        let seconds = [1, 2, 3, 6, 7, 1000, u32::MAX].map(|failures| pause(failures).as_secs());
        assert_eq!(seconds, [1, 2, 4, 32, 60, 60, 60]);
        let turns = Turns::of(1);
        for _ in 0..4 {
            turns.failed(0, Some(Duration::from_secs(3600)));
        }
        let away = lock(&turns.equals)[0];
        assert_eq!(away.map(|away| (away.failures, away.pause)), Some((1, LONGEST_PAUSE)));
    }
}
