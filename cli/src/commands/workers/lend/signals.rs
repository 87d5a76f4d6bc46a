//! Signals, which go to the command.

use std::io;
use std::process;
use std::sync::{Arc, OnceLock};
use std::thread;

use crossbeam::channel::Sender;
use nix::sys::signal::{SigSet, Signal};

use crate::commands::workers::lend::event::Event;

/// The signals that are passed on to the command. SIGKILL and SIGSTOP cannot be caught: the
/// watcher is there for them.
const PASSED: [Signal; 9] = [
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGQUIT,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGWINCH,
    Signal::SIGTSTP,
    Signal::SIGCONT,
];

/// The ones among them that end no program which does nothing about them.
const HARMLESS: [Signal; 3] = [Signal::SIGWINCH, Signal::SIGTSTP, Signal::SIGCONT];

/// The exit status of shells for a program that a signal has ended.
pub(super) fn status_of(signal: Signal) -> u8 {
    u8::try_from(128 + signal as i32).unwrap_or(u8::MAX)
}

/// The signals that came while there was no command yet, and those that come.
#[derive(Debug)]
pub(super) struct Signals {
    is_running: Arc<OnceLock<()>>,
}

impl Signals {
    /// Has all signals come to `events`. Call it before any thread starts: each thread of the tool
    /// has them blocked, and so has none of the command's.
    pub(super) fn listen(events: Sender<Event>) -> io::Result<Signals> {
        let passed: SigSet = PASSED.into_iter().collect();
        passed.thread_block()?;
        // The tool may put groups into the foreground while it is in the background.
        SigSet::from_iter([Signal::SIGTTOU]).thread_block()?;
        let is_running = Arc::new(OnceLock::new());
        let is_there = is_running.clone();
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            while let Ok(signal) = passed.wait() {
                // An id that is just being lent is free after its lease and rest.
                if is_there.get().is_none() && !HARMLESS.contains(&signal) {
                    process::exit(status_of(signal).into());
                }
                if events.send(Event::Signal(signal)).is_err() {
                    return;
                }
            }
        })?;
        Ok(Signals { is_running })
    }

    /// From now on there is a command that the signals are for.
    pub(super) fn begin(&self) {
        self.is_running.get_or_init(|| ());
    }
}
