//! The process group of the command.

use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::commands::workers::lend::deadline::now;

/// How long those have who were asked to end, where the lease leaves as much.
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

    /// When there is something to do again.
    pub(super) fn next(self) -> Duration {
        self.kill
    }
}
