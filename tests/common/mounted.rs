//! A folder that is mounted as a file system in user space, by `bindfs`.
#![allow(dead_code)] // each test program uses a part

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Shows another folder, as a file system of the kind that it is told to be. It ends with this.
pub struct Mounted {
    folder: tempfile::TempDir,
    bindfs: Child,
}

impl Mounted {
    /// Calls itself `kind`, such as `sshfs`, or nothing.
    pub fn as_a(kind: Option<&str>) -> Mounted {
        let folder = tempfile::tempdir().expect("a folder");
        let (source, place) = (folder.path().join("source"), folder.path().join("place"));
        fs::create_dir(&source).expect("a folder");
        fs::create_dir(&place).expect("a folder");
        let mut command = Command::new("bindfs");
        command.arg("-f");
        if let Some(kind) = kind {
            command.arg("-o").arg(format!("subtype={kind}"));
        }
        let bindfs = command.arg(&source).arg(&place).spawn().expect("bindfs is installed");
        let since = Instant::now();
        let wanted = format!(" {} ", place.display());
        while !fs::read_to_string("/proc/self/mountinfo").expect("mounts").contains(&wanted) {
            assert!(since.elapsed() < Duration::from_secs(60), "{} is mounted", place.display());
            sleep(Duration::from_millis(20));
        }
        Mounted { folder, bindfs }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("place")
    }

    /// The folder that is shown, on its own file system.
    pub fn source(&self) -> PathBuf {
        self.folder.path().join("source")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        unmount(&self.path());
        let _ = self.bindfs.wait();
    }
}

fn unmount(place: &Path) {
    let unmounted = Command::new("umount").arg(place).status();
    assert!(unmounted.is_ok_and(|status| status.success()), "{} is unmounted", place.display());
}
