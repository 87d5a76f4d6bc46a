//! A copy of a program, to be run by a user who cannot reach the original.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Copies the program `from` to `to`, where everybody may run it.
///
/// Another process writes the copy. If this one did, the processes that other tests start meanwhile
/// would hold it open for writing for a moment, and a program that is open so cannot be run.
pub fn copy_program(from: impl AsRef<OsStr>, to: &Path) {
    let copied = Command::new("cp").arg(from).arg(to).status().expect("cp runs");
    assert!(copied.success(), "cp to {} fails", to.display());
    fs::set_permissions(to, fs::Permissions::from_mode(0o755)).expect("the copy is there");
}
