//! Holds the models against the library: the same operations on both, and the library's own
//! generators and takers on stores of the models.

#![allow(clippy::unwrap_used)]

mod generator;
mod past;
mod registry;
mod source;
mod taker;

/// A folder in memory if possible, because each write waits for the disk.
fn folder() -> tempfile::TempDir {
    let memory = std::path::Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}
