//! The life of the command: its signals, its lease, its end.

use std::io;
use std::thread;
use std::time::Duration;

use crossbeam::channel::{Receiver, Sender};
use nix::errno::Errno;
use nix::sys::signal::{Signal, raise};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};

use crate::commands::workers::lend::deadline::{Deadline, now};
use crate::commands::workers::lend::event::Event;
use crate::commands::workers::lend::group::{Ending, Group};
use crate::commands::workers::lend::signals::status_of;
use crate::commands::workers::lend::terminal::Terminal;
use crate::commands::workers::lend::watcher::Watcher;

/// How often the tool looks whether a group that was asked to end is gone.
const LOOK: Duration = Duration::from_millis(50);

/// What is known of the id.
pub(super) trait Held {
    fn is_held(&self) -> bool;
    /// How long it is still held, by a clock that counts while the machine sleeps.
    fn time_left(&self) -> Duration;
}

/// How the command ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// By itself, or by a signal that was passed on, with this exit status.
    Status(u8),
    /// It was ended because of its id.
    Lost(String),
}

/// The exit status of shells for a command that has ended so.
pub(super) fn status(ended: WaitStatus) -> u8 {
    match ended {
        WaitStatus::Exited(_, status) => u8::try_from(status & 0xff).unwrap_or(u8::MAX),
        WaitStatus::Signaled(_, signal, _) => status_of(signal),
        _ => u8::MAX,
    }
}

/// Has the command's parent become that of all its descendants whose own parents end, so that it
/// can see whether any of the group is left. Elsewhere than on Linux that is the first process.
pub(super) fn adopt_descendants() {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = nix::sys::prctl::set_child_subreaper(true);
}

/// Tells of each child that stops or ends, on a thread of its own.
pub(super) fn look_after_children(events: Sender<Event>) -> io::Result<()> {
    let wait = move || {
        loop {
            match waitpid(None, Some(WaitPidFlag::WUNTRACED)) {
                Ok(status) if events.send(Event::Child(status)).is_ok() => {}
                Err(Errno::EINTR) => {}
                _ => return,
            }
        }
    };
    thread::Builder::new().name("children".to_owned()).spawn(wait).map(drop)
}

pub(super) struct Supervisor<'a> {
    pub(super) held: &'a dyn Held,
    pub(super) group: Group,
    pub(super) watcher: Watcher,
    pub(super) terminal: Option<Terminal>,
    pub(super) deadline: Deadline,
    ended: Option<WaitStatus>,
    ending: Option<Ending>,
    loss: Option<String>,
}

impl<'a> Supervisor<'a> {
    /// Has `watcher` watch the group.
    pub(super) fn new(
        held: &'a dyn Held,
        group: Group,
        watcher: Watcher,
        lease: Duration,
    ) -> io::Result<Supervisor<'a>> {
        let deadline = Deadline { end: now() + held.time_left(), lease };
        watcher.tell(group, deadline)?;
        Ok(Supervisor {
            held,
            group,
            watcher,
            terminal: None,
            deadline,
            ended: None,
            ending: None,
            loss: None,
        })
    }

    /// Lets the command begin, and returns when nothing of its group is left.
    pub(super) fn run(mut self, events: &Receiver<Event>) -> Outcome {
        self.terminal = Terminal::open();
        // The tool may have stood still since it was lent the id.
        self.look_at_lease();
        if self.ending.is_none() {
            self.resume();
        }
        let ended = loop {
            if let Some(ending) = self.ending {
                ending.go_on();
            }
            if let Some(ended) = self.ended.filter(|_| !self.group.is_there()) {
                break ended;
            }
            let event = events.recv_timeout(self.next().saturating_sub(now()));
            self.look_at_lease();
            match event {
                Ok(Event::Signal(signal)) => self.pass_on(signal),
                Ok(Event::Child(status)) => self.look_at(status),
                Ok(Event::Loss(why)) => self.lose(why),
                Err(_) => {}
            }
        };
        self.watcher.done();
        if let Some(terminal) = &self.terminal {
            terminal.take_back(self.group.0);
        }
        self.loss.map_or_else(|| Outcome::Status(status(ended)), Outcome::Lost)
    }

    /// When there is something to do, though nothing happens.
    fn next(&self) -> Duration {
        if let Some(ending) = self.ending {
            return ending.next(LOOK);
        }
        self.deadline.ask().min(now() + self.deadline.pace())
    }

    fn look_at_lease(&mut self) {
        if self.ending.is_some() {
            return;
        }
        // By now the watcher has asked it: the tool stood still, whether it can be renewed or not.
        if now() >= self.deadline.watcher_asks() {
            self.lose("the tool stood still".to_owned());
            return;
        }
        // The time is read first, so that the end is rather too early.
        let end = now() + self.held.time_left();
        if !self.held.is_held() {
            self.lose("the lease has ended".to_owned());
        } else if end > self.deadline.end + self.deadline.pace() {
            self.deadline.end = end;
            self.tell_watcher();
        } else if now() >= self.deadline.ask() {
            self.lose("it could not be renewed".to_owned());
        }
    }

    /// The id may be another's when its lease has ended.
    fn lose(&mut self, why: String) {
        if self.loss.is_none() {
            self.loss = Some(why);
            self.ending = Some(Ending::until(self.group, self.deadline.kill()));
        }
    }

    fn tell_watcher(&mut self) {
        // If it is gone, its end is an event, too.
        let _ = self.watcher.tell(self.group, self.deadline);
    }

    fn look_at(&mut self, status: WaitStatus) {
        if let WaitStatus::Stopped(pid, signal) = status {
            if pid == self.group.0 {
                self.stop(signal);
            }
            return;
        }
        match status.pid() {
            Some(pid) if pid == self.watcher.process => self.watch_anew(),
            Some(pid) if pid == self.group.0 => {
                self.ended = Some(status);
                // What the command has left behind would go on with the id.
                if self.ending.is_none() && self.group.is_there() {
                    self.ending = Some(Ending::begin(self.group, self.deadline.kill()));
                }
            }
            _ => {}
        }
    }

    fn watch_anew(&mut self) {
        // Without a watcher, the command ends with the tool where the system has that, and the tool
        // still ends it in time itself.
        if let Ok(watcher) = Watcher::start_anew(self.group, self.deadline) {
            self.watcher = watcher;
        }
    }

    fn pass_on(&mut self, signal: Signal) {
        if signal == Signal::SIGCONT { self.resume() } else { self.group.send(signal) }
    }

    /// The command was stopped. In a terminal, as by Ctrl-Z, the tool stops with it, so that the
    /// shell has the terminal. If that lasts, the watcher ends the command.
    fn stop(&self, signal: Signal) {
        let Some(terminal) = &self.terminal else { return };
        let needs_it = matches!(signal, Signal::SIGTTIN | Signal::SIGTTOU);
        // Shells do not tell a tool that runs when they put it into the foreground.
        if needs_it && terminal.is_ours() {
            self.resume();
        } else {
            terminal.take_back(self.group.0);
            let _ = raise(Signal::SIGSTOP);
        }
    }

    /// The command goes on, in the foreground if the tool is there.
    fn resume(&self) {
        if let Some(terminal) = &self.terminal {
            terminal.give(self.group.0);
        }
        self.group.send(Signal::SIGCONT);
    }
}
