//! How the command is started: the tool runs itself, as a process that becomes the command once it
//! is watched.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use nix::sys::signal::{SigSet, Signal, raise};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getppid};
use uidring_args::visible;

use crate::text::print_error;

/// The first argument of the process that becomes the command. The number of its parent and the
/// command follow.
pub(super) const ROLE: &str = "workers-lend-command";

/// The exit status of shells for a command that is not there, and for one that cannot be run.
const NOT_FOUND: u8 = 127;
const NOT_RUN: u8 = 126;

/// This program, to be run again with a role.
pub(super) fn this_program() -> Command {
    // The name may be gone, or another version's.
    let own = PathBuf::from("/proc/self/exe");
    let path = if own.exists() { Ok(own) } else { env::current_exe() };
    let mut command = Command::new(path.unwrap_or_else(|_| "uidring".into()));
    command.arg0("uidring").process_group(0);
    command
}

/// Starts `command` in a group of its own, up to the point where it waits for [`Signal::SIGCONT`].
/// An error is the status of one that has ended already.
pub(super) fn start(
    command: &[OsString],
    variables: &[(String, OsString)],
) -> io::Result<Result<Pid, WaitStatus>> {
    let mut program = this_program();
    program.arg(ROLE).arg(Pid::this().to_string()).args(command);
    program.envs(variables.iter().map(|(name, value)| (name, value)));
    let child = Pid::from_raw(i32::try_from(program.spawn()?.id()).map_err(io::Error::other)?);
    match waitpid(child, Some(WaitPidFlag::WUNTRACED))? {
        WaitStatus::Stopped(..) => Ok(Ok(child)),
        ended => Ok(Err(ended)),
    }
}

/// Becomes the command. Returns only if that fails.
pub(super) fn become_command(mut args: impl Iterator<Item = OsString>) -> ExitCode {
    let parent = args.next().and_then(|text| text.to_str()?.parse().ok()).map(Pid::from_raw);
    // If the tool is killed, the command ends with it, even if its watcher is killed as well.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = nix::sys::prctl::set_pdeathsig(Signal::SIGKILL);
    let Some(program) = args.next().filter(|_| parent == Some(getppid())) else {
        return ExitCode::FAILURE;
    };
    // The tool goes on with it when the watcher knows it.
    let _ = raise(Signal::SIGSTOP);
    // The tool has blocked the signals that it passes on, and a process inherits that.
    let _ = SigSet::empty().thread_set_mask();
    let error = Command::new(&program).args(args).exec();
    let status = if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_RUN };
    print_error(&format!("cannot run {}: {error}", shown(&program)));
    ExitCode::from(status)
}

/// The name of a command in a sentence.
pub(super) fn shown(program: &OsStr) -> String {
    visible(&program.to_string_lossy()).into_owned()
}
