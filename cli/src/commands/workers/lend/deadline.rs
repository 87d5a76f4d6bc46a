//! When a command has to end that was given a lent worker id.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// The longest time before the end of a lease at which what is left of the command is killed.
const LONGEST_MARGIN: Duration = Duration::from_secs(5);

/// The time since the machine started. It also counts while the machine sleeps: on Linux by a clock
/// of that kind; macOS' own monotonic clock counts so, and that of the BSDs may stand still.
pub(super) fn now() -> Duration {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const CLOCK: ClockId = ClockId::CLOCK_BOOTTIME;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const CLOCK: ClockId = ClockId::CLOCK_MONOTONIC;
    // The clock is always there, and its time fits.
    clock_gettime(CLOCK).map_or(Duration::MAX, Duration::from)
}

/// The times of one lease, by [`now`]. Each success of a renewal makes a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deadline {
    /// When the lease ends.
    pub(super) end: Duration,
    /// How long it lasts in all.
    pub(super) lease: Duration,
}

impl Deadline {
    /// When the command is asked to end: at two thirds of the lease.
    pub(super) fn ask(self) -> Duration {
        self.end.saturating_sub(self.lease / 3)
    }

    /// When the watcher asks it. That is later, because the watcher is told of each renewal a
    /// moment after it.
    pub(super) fn watcher_asks(self) -> Duration {
        self.end.saturating_sub(self.lease / 4)
    }

    /// When what is left of the command is killed.
    pub(super) fn kill(self) -> Duration {
        self.end.saturating_sub((self.lease / 12).min(LONGEST_MARGIN))
    }

    /// How often to look whether the lease was renewed, so that the watcher knows in time.
    pub(super) fn pace(self) -> Duration {
        self.lease / 24
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_asked_then_watched_then_killed_before_the_end() {
        for seconds in [1, 3, 60, 600, 86_400] {
            let lease = Duration::from_secs(seconds);
            let deadline = Deadline { end: Duration::from_secs(100_000) + lease, lease };
            let start = Duration::from_secs(100_000);
            assert_eq!(deadline.ask().as_millis(), (start + lease * 2 / 3).as_millis());
            assert!(deadline.ask() + deadline.pace() < deadline.watcher_asks());
            assert!(deadline.watcher_asks() < deadline.kill());
            assert!(deadline.kill() < deadline.end);
            assert!(deadline.end <= deadline.kill() + LONGEST_MARGIN);
        }
    }

    #[test]
    fn the_clock_goes_on() {
        let first = now();
        assert!(first > Duration::ZERO && first < Duration::MAX);
        assert!(now() >= first);
    }
}
