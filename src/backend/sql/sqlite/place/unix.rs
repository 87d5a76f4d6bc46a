//! What a Unix tells of the place of a file.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::mounts::Mounts;

pub struct Place<'a> {
    path: &'a Path,
    found: Option<&'a Metadata>,
    mounts: Mounts,
}

impl<'a> Place<'a> {
    /// That of the file `path`, which was found to be so unless it is still to be made.
    pub fn of(path: &'a Path, found: Option<&'a Metadata>) -> Place<'a> {
        Place { path, found, mounts: Mounts::of_process() }
    }

    /// Whether a hard link leads to the file, too.
    pub fn has_second_name(&self) -> bool {
        self.found.is_some_and(|found| found.nlink() > 1)
    }

    /// Whether SQLite takes a symbolic link for the file. Here it follows it first.
    #[allow(clippy::unused_self, reason = "as on Windows")]
    pub fn is_link(&self) -> bool {
        false
    }

    /// Whether the file is mounted without its folder.
    pub fn is_mounted_alone(&self) -> bool {
        self.found.is_some() && self.mounts.are_at(self.path)
    }

    /// The type of the network file system that it is on, or will be on.
    pub fn network(&self) -> Option<String> {
        self.mounts.network_of(self.path)
    }
}
