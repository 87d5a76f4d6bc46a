//! What starts and stops a database server: its programs, and the commands around them.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Runs a command that has to succeed.
pub fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} runs: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

pub fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().expect("id runs");
    id.stdout == b"0\n"
}

/// A program of PostgreSQL's server, which Debian keeps out of the path.
pub fn postgres_program(name: &str) -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().filter_map(Result::ok);
    let found = versions
        .map(|version| version.path().join("bin").join(name))
        .filter(|program| program.exists())
        .max();
    found.unwrap_or_else(|| PathBuf::from(name))
}
