//! [`FileLock`]: keeps two copies of this library in one process out of one SQLite file.
//!
//! The locks that SQLite takes on a Unix belong to the process. Two copies of SQLite in one process
//! do not know of each other, as where two plug-ins, or two applications of one Java server, each
//! bring this library: both would get the same lock and give the same ids, and each would drop the
//! other's locks when it closes the file. The lock here belongs to the open file, so that it keeps
//! out whoever has opened it anew. It is on a file of its own: closing the database drops SQLite's
//! locks.
//!
//! That file lies beside the database during a call, as SQLite's journal does. It is removed while
//! it is locked, so whoever locks it looks whether it is still there. One that a crash leaves is
//! locked and removed by the next call.

use std::fs::{self, File, Metadata, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

/// The lock of a database. It ends when it is dropped.
#[derive(Debug)]
pub struct FileLock {
    file: File,
    path: PathBuf,
}

impl FileLock {
    /// Locks `database`, which need not exist yet. `None` while somebody else has the lock;
    /// [`io::ErrorKind::ResourceBusy`] where a user has it who shares its file with no other.
    pub fn try_take(database: &Path) -> io::Result<Option<FileLock>> {
        let database = real(database)?;
        let mut path = database.clone().into_os_string();
        path.push("-lock");
        let path = PathBuf::from(path);
        let file = match make(&path, &database) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                match File::options().read(true).write(true).open(&path) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                    Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                        return Err(io::ErrorKind::ResourceBusy.into());
                    }
                    opened => opened?,
                }
            }
            made => made?,
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // Whoever had the lock before may have removed this file since it was opened.
        match fs::metadata(&path) {
            Ok(found) if identity(&found) == identity(&file.metadata()?) => {
                Ok(Some(FileLock { file, path }))
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(None),
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // One that stays is removed by the next call.
        let _ = fs::remove_file(&self.path);
        // Closing it would not do, where another thread has forked a child meanwhile, which has it
        // open as well.
        let _ = self.file.unlock();
    }
}

/// Where `path` leads, which may be a link. All names of a file have one lock.
fn real(path: &Path) -> io::Result<PathBuf> {
    match path.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let parent = path.parent().unwrap_or(path);
            if let Ok(target) = fs::read_link(path) {
                return real(&parent.join(target));
            }
            let name = path.file_name().unwrap_or_default();
            Ok(parent.canonicalize()?.join(name))
        }
        found => found,
    }
}

/// Makes the file of the lock. Like SQLite's journal, it has the mode and the owner of the
/// `database`, so that all users of that can lock it.
fn make(path: &Path, database: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    let Ok(found) = fs::metadata(database) else { return options.open(path) };
    let mode = found.mode() & 0o777;
    let file = options.mode(mode).open(path)?;
    let new = file.metadata()?;
    if new.mode() & 0o777 != mode {
        file.set_permissions(fs::Permissions::from_mode(mode))?;
    }
    if (new.uid(), new.gid()) != (found.uid(), found.gid()) {
        // Root alone may give it away, and others to a group of theirs.
        let owner = Some(found.uid());
        let group = Some(found.gid());
        let _ = fchown(&file, owner, group).or_else(|_| fchown(&file, None, group));
    }
    Ok(file)
}

fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A umask would keep out users who share the database.
    #[test]
    fn whoever_may_write_to_the_database_may_lock_it() {
        let dir = tempfile::tempdir().unwrap();
        let database = dir.path().join("uidring.db");
        File::create(&database).unwrap();
        for mode in [0o600, 0o666, 0o660] {
            fs::set_permissions(&database, fs::Permissions::from_mode(mode)).unwrap();
            let lock = FileLock::try_take(&database).unwrap().unwrap();
            assert_eq!(fs::metadata(&lock.path).unwrap().mode() & 0o777, mode);
        }
    }

    #[test]
    fn one_lock_is_for_all_links_and_ends_without_a_trace() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("folder");
        fs::create_dir(&folder).unwrap();
        let (database, link) = (folder.join("uidring.db"), dir.path().join("link.db"));
        symlink("folder/uidring.db", &link).unwrap();
        let is_free = |path| FileLock::try_take(path).unwrap().is_some();
        // Before the database is there, and after.
        for _ in 0..2 {
            let lock = FileLock::try_take(&link).unwrap().unwrap();
            assert!(!is_free(&database) && !is_free(&link));
            drop(lock);
            assert!(is_free(&database) && is_free(&link));
            assert!(!folder.join("uidring.db-lock").exists());
            File::create(&database).unwrap();
        }
    }
}
