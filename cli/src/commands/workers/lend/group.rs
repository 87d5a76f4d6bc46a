//! The process group of the command.

use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::commands::workers::lend::deadline::now;

/// How long a group has to end once it was asked, if the lease lasts as long.
const GRACE: Duration = Duration::from_secs(10);

/// A process group. The process that leads it has the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group(pub(super) Pid);

impl Group {
    /// Sends a signal to all of the group. Those that have ended need none.
    pub(super) fn send(self, signal: Signal) {
        let _ = killpg(self.0, signal);
    }

    /// Whether anything of it is left, be it only what its parent has not looked after yet.
    pub(super) fn is_there(self) -> bool {
        killpg(self.0, None) != Err(Errno::ESRCH)
    }
}

/// The end of a group, once it was decided. It is not taken back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ending {
    group: Group,
    kill: Duration,
}

impl Ending {
    /// Asks the group to end. It has some time for that, until `latest` at most.
    pub(super) fn begin(group: Group, latest: Duration) -> Ending {
        group.send(Signal::SIGTERM);
        // One that is stopped hears it only when it goes on.
        group.send(Signal::SIGCONT);
        Ending { group, kill: latest.min(now() + GRACE) }
    }

    /// The same with all the time until `latest`.
    pub(super) fn until(group: Group, latest: Duration) -> Ending {
        Ending { kill: latest, ..Ending::begin(group, latest) }
    }

    /// Kills what is left if it is time.
    pub(super) fn go_on(self) {
        if now() >= self.kill {
            self.group.send(Signal::SIGKILL);
        }
    }

    /// When there is something to do again: it is time to kill, or a `pause` is over after which
    /// the group may be gone.
    pub(super) fn next(self, pause: Duration) -> Duration {
        let now = now();
        // A process that was killed may take its time.
        let kill = Some(self.kill).filter(|&kill| kill > now);
        kill.map_or(now + pause, |kill| kill.min(now + pause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process that does not die at once, or whose parent stands still, costs no processor.
    #[test]
    fn the_end_of_a_group_is_awaited_in_pauses() {
        let (group, pause) = (Group(Pid::from_raw(1)), Duration::from_secs(100));
        let next = |kill| Ending { group, kill }.next(pause);
        let begin = now();
        let soon = begin + Duration::from_secs(50);
        assert_eq!(next(soon), soon);
        for kill in [Duration::ZERO, begin, begin + Duration::from_secs(3600)] {
            let found = next(kill);
            assert!(begin + pause <= found && found <= now() + pause);
        }
    }
}
