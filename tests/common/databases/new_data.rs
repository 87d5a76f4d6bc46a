//! The data that a new server begins with. To make them takes seconds, so they are made once, kept
//! in cargo's target folder, and copied.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::server_programs::{in_path, run};

/// Makes the folder `data` by a command, which the server's program and options decide on.
pub fn make(command: &mut Command, program: &Path, options: &[&String], data: &Path) {
    let kept = kept(program, options);
    if kept.exists() {
        return copy_folder(&kept, data);
    }
    run(command);
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let copy = place.path().join("data");
    copy_folder(data, &copy);
    // MySQL keeps the number of a server there, and makes one where there is none.
    let _ = fs::remove_file(copy.join("auto.cnf"));
    // Another test may have been faster.
    let _ = fs::rename(copy, kept);
}

/// Where the data of a program with such options are kept.
fn kept(program: &Path, options: &[&String]) -> PathBuf {
    let found = program.to_str().and_then(in_path).unwrap_or_else(|| program.to_owned());
    // An upgrade is another program of the same name.
    let state = fs::metadata(&found).map(|file| (file.len(), file.modified().ok())).ok();
    let mut hasher = DefaultHasher::new();
    (found, state, options).hash(&mut hasher);
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("data-{:x}", hasher.finish()))
}

/// Copies a folder with the owners of its files, and the holes in them.
pub fn copy_folder(from: &Path, to: &Path) {
    run(Command::new("cp").args(["-a", "--sparse=always"]).arg(from).arg(to));
}
