//! A folder for files that need no disk.
#![allow(clippy::unwrap_used)] // a test that cannot go on has failed

use std::process::Command;
use std::sync::LazyLock;

use tempfile::TempDir;

/// Where files are in memory.
const MEMORY: &str = "/dev/shm";
/// What has to be free there, in KiB: a server sets 64 MB aside for its log, and tests run many.
const ROOM: u64 = 4 << 20;

static HAS_ROOM: LazyLock<bool> = LazyLock::new(|| {
    let Ok(told) = Command::new("df").args(["--output=avail", "-k", MEMORY]).output() else {
        return false;
    };
    let told = String::from_utf8_lossy(&told.stdout);
    told.lines()
        .last()
        .and_then(|free| free.trim().parse().ok())
        .is_some_and(|free: u64| free >= ROOM)
});

/// A folder in memory where there is room. What a test shows of files holds there too, because only
/// a power cut tells a disk from memory, and `verify/power-cut` has tests of that. A test on a
/// disk would wait for it at each sync, and for all other programs that write there.
pub fn folder() -> TempDir {
    if *HAS_ROOM { tempfile::tempdir_in(MEMORY) } else { tempfile::tempdir() }.unwrap()
}
