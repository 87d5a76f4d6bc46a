//! The terminal, which the command has while it runs in the foreground.

use std::fs::File;
use std::io::{self, IsTerminal as _};

use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};

/// The terminal that the tool was started in the foreground of. The signals of its keys go to the
/// command, which can read from it.
#[derive(Debug)]
pub(super) struct Terminal(File);

impl Terminal {
    /// `None` where the tool is in the background, or part of a pipe, whose other programs need the
    /// terminal as well.
    pub(super) fn of_foreground() -> Option<Terminal> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return None;
        }
        let terminal = Terminal(File::options().read(true).write(true).open("/dev/tty").ok()?);
        terminal.is_ours().then_some(terminal)
    }

    /// Whether the tool is in the foreground now.
    pub(super) fn is_ours(&self) -> bool {
        tcgetpgrp(&self.0) == Ok(getpgrp())
    }

    /// Puts another group into the foreground. The tool has blocked the signal that this would
    /// stop it with.
    pub(super) fn give(&self, group: Pid) {
        let _ = tcsetpgrp(&self.0, group);
    }

    /// Takes the foreground back.
    pub(super) fn take_back(&self) {
        let _ = tcsetpgrp(&self.0, getpgrp());
    }
}
