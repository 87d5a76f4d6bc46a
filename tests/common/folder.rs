//! A folder for files that need no disk.
#![allow(clippy::unwrap_used)] // a test that cannot go on has failed

use tempfile::TempDir;

/// A folder in memory where there is one. What a test shows of files holds there too, because only
/// a power cut tells a disk from memory, and the package `power-cut` has tests of that. A test on a
/// disk would wait for it at each sync, and for all other programs that write there.
pub fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}
