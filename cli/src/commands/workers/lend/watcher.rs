//! The watcher: a second process of the tool. It ends the command where the tool cannot, because it
//! was killed or stands still.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::process::{ChildStdin, ExitCode, Stdio};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::Pid;

use crate::commands::workers::lend::child::this_program;
use crate::commands::workers::lend::deadline::{Deadline, now};
use crate::commands::workers::lend::group::{Ending, Group};

/// The first argument of the watcher's process.
pub(super) const ROLE: &str = "workers-lend-watcher";

/// What the tool says when the command has ended.
const DONE: &str = "done";

/// The tool's end of the pipe.
#[derive(Debug)]
pub(super) struct Watcher {
    pub(super) process: Pid,
    pipe: ChildStdin,
}

impl Watcher {
    /// Starts it, without anything to watch yet.
    pub(super) fn start() -> io::Result<Watcher> {
        Watcher::start_with(&[])
    }

    /// Starts it in the place of one that has ended: it knows from its beginning what to watch,
    /// also if the tool is killed or stopped at once.
    pub(super) fn start_anew(group: Group, deadline: Deadline) -> io::Result<Watcher> {
        Watcher::start_with(&[order(group, deadline)])
    }

    fn start_with(orders: &[String]) -> io::Result<Watcher> {
        let mut program = this_program();
        let program = program.arg(ROLE).args(orders).stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child = program.stderr(Stdio::null()).spawn()?;
        let process = Pid::from_raw(i32::try_from(child.id()).map_err(io::Error::other)?);
        let pipe = child.stdin.take().ok_or_else(|| io::Error::other("no pipe"))?;
        Ok(Watcher { process, pipe })
    }

    /// Tells it when the group has to end, unless it hears of a later time.
    pub(super) fn tell(&self, group: Group, deadline: Deadline) -> io::Result<()> {
        self.write(&format!("{}\n", order(group, deadline)))
    }

    /// Tells it that there is nothing to watch any more.
    pub(super) fn done(&self) {
        let _ = self.write(&format!("{DONE}\n"));
    }

    /// Writes without waiting: if the watcher stands still, it misses what does not fit, and so
    /// ends the command too early at worst.
    fn write(&self, line: &str) -> io::Result<()> {
        let mut places = [PollFd::new(self.pipe.as_fd(), PollFlags::POLLOUT)];
        poll(&mut places, PollTimeout::ZERO)?;
        match places[0].any() {
            Some(true) => (&self.pipe).write_all(line.as_bytes()),
            _ => Ok(()),
        }
    }
}

/// When the group has to end, as the watcher is told.
fn order(group: Group, deadline: Deadline) -> String {
    let Deadline { end, lease } = deadline;
    format!("{} {} {}", group.0, end.as_nanos(), lease.as_nanos())
}

/// Watches until the command has ended. The arguments are orders, as the lines that follow.
pub(super) fn watch(args: impl Iterator<Item = OsString>) -> ExitCode {
    let mut orders = Orders::default();
    args.for_each(|order| orders.obey(&order.to_string_lossy()));
    let mut ending: Option<Ending> = None;
    loop {
        // All that was said counts before anything is done.
        if orders.read().is_err() {
            orders.is_closed = true;
        }
        let Some((group, deadline)) = orders.watched.filter(|_| !orders.is_done) else {
            if orders.is_done || orders.is_closed {
                return ExitCode::SUCCESS;
            }
            orders.wait(None);
            continue;
        };
        if orders.is_closed && !group.is_there() {
            return ExitCode::SUCCESS;
        }
        if ending.is_none() && orders.is_closed {
            ending = Some(Ending::begin(group, deadline.kill()));
        } else if ending.is_none() && now() >= deadline.watcher_asks() {
            ending = Some(Ending::until(group, deadline.kill()));
        }
        match ending {
            None => orders.wait(Some(deadline.watcher_asks())),
            Some(ending) => {
                ending.go_on();
                orders.wait(Some(ending.next(LOOK)));
            }
        }
    }
}

/// How often the watcher looks whether a group that was asked to end is gone.
const LOOK: Duration = Duration::from_millis(100);

/// What the tool has said.
#[derive(Default)]
struct Orders {
    /// The part of a line whose rest is still to come.
    begun: Vec<u8>,
    watched: Option<(Group, Deadline)>,
    is_done: bool,
    /// Whether the tool is gone.
    is_closed: bool,
}

impl Orders {
    /// Reads all that is there.
    fn read(&mut self) -> io::Result<()> {
        let mut part = [0; 4096];
        while !self.is_closed && is_readable()? {
            match io::stdin().lock().read(&mut part)? {
                0 => self.is_closed = true,
                read => self.begun.extend_from_slice(&part[..read]),
            }
        }
        while let Some(end) = self.begun.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = self.begun.drain(..=end).collect();
            self.obey(String::from_utf8_lossy(&line).trim_end());
        }
        Ok(())
    }

    fn obey(&mut self, line: &str) {
        self.is_done |= line == DONE;
        let mut words = line.split(' ');
        let mut next = || words.next()?.parse::<u64>().ok();
        if let (Some(group), Some(end), Some(lease)) = (next(), next(), next())
            && let Ok(group) = i32::try_from(group)
        {
            let [end, lease] = [end, lease].map(Duration::from_nanos);
            self.watched = Some((Group(Pid::from_raw(group)), Deadline { end, lease }));
        }
    }

    /// Waits until the tool says more, or until this time.
    fn wait(&self, until: Option<Duration>) {
        let stdin = io::stdin();
        let alarm = until.and_then(alarm::at);
        let mut places = Vec::new();
        if !self.is_closed {
            places.push(PollFd::new(stdin.as_fd(), PollFlags::POLLIN));
        }
        if let Some(alarm) = &alarm {
            places.push(PollFd::new(alarm.as_fd(), PollFlags::POLLIN));
        }
        let timeout = match (until, &alarm) {
            (None, _) | (_, Some(_)) => PollTimeout::NONE,
            // Without an alarm that rings when the machine wakes up, in small steps.
            (Some(until), None) => {
                let step = until.saturating_sub(now()).min(Duration::from_secs(1));
                PollTimeout::try_from(step).unwrap_or(PollTimeout::ZERO)
            }
        };
        let _ = poll(&mut places, timeout);
    }
}

/// Whether a read of standard input would return at once.
fn is_readable() -> io::Result<bool> {
    let stdin = io::stdin();
    let mut places = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
    Ok(poll(&mut places, PollTimeout::ZERO)? > 0)
}

/// A timer that rings as soon as the machine wakes up, if it slept past the time.
#[cfg(any(target_os = "linux", target_os = "android"))]
mod alarm {
    use std::time::Duration;

    use nix::sys::time::TimeSpec;
    use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

    pub(super) fn at(time: Duration) -> Option<TimerFd> {
        let timer = TimerFd::new(ClockId::CLOCK_BOOTTIME, TimerFlags::TFD_CLOEXEC).ok()?;
        // A time of 0 would be none.
        let time = TimeSpec::from_duration(time.max(Duration::from_nanos(1)));
        timer.set(Expiration::OneShot(time), TimerSetTimeFlags::TFD_TIMER_ABSTIME).ok()?;
        Some(timer)
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod alarm {
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    pub(super) fn at(_: Duration) -> Option<OwnedFd> {
        None
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::*;

    #[test]
    fn the_newest_order_counts() {
        let mut orders = Orders::default();
        for line in ["7 100 10", "nothing", "7 200 10", "-1 5 5", "7 x 5", ""] {
            orders.obey(line);
        }
        let (group, deadline) = orders.watched.unwrap();
        assert_eq!(group, Group(Pid::from_raw(7)));
        let [end, lease] = [200, 10].map(Duration::from_nanos);
        assert_eq!(deadline, Deadline { end, lease });
        assert!(!orders.is_done);
        orders.obey(DONE);
        assert!(orders.is_done);
    }
}
