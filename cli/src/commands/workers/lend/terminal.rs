//! The terminal, which the command has while it runs in the foreground.

use std::fs::File;
use std::io::{self, IsTerminal as _};

use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};

/// The terminal that the tool was started in. The signals of its keys go to the command, which can
/// read from it, while the shell has the tool in the foreground.
#[derive(Debug)]
pub(super) struct Terminal(File);

impl Terminal {
    /// `None` where the tool is part of a pipe, whose other programs need the terminal as well.
    pub(super) fn open() -> Option<Terminal> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return None;
        }
        File::options().read(true).write(true).open("/dev/tty").ok().map(Terminal)
    }

    /// Whether the tool is in the foreground now.
    pub(super) fn is_ours(&self) -> bool {
        self.is_of(getpgrp())
    }

    fn is_of(&self, group: Pid) -> bool {
        tcgetpgrp(&self.0) == Ok(group)
    }

    /// Puts another group into the foreground if the tool is there. The tool has blocked the signal
    /// that this would stop it with.
    pub(super) fn give(&self, group: Pid) {
        if self.is_ours() {
            let _ = tcsetpgrp(&self.0, group);
        }
    }

    /// Takes the foreground back from a group, if it has it.
    pub(super) fn take_back(&self, group: Pid) {
        if self.is_of(group) {
            let _ = tcsetpgrp(&self.0, getpgrp());
        }
    }
}
