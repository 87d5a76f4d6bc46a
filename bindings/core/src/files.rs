//! Which SQLite files this process has open through the library's copy of SQLite, and which through
//! the program's own.
//!
//! Two copies in one process undo each other's locks on a file: those of a process are one, and end
//! where one copy closes the file. So one copy alone may use it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use arc_swap::ArcSwap;

use crate::error::{Error, Kind};

/// The files. They are changed without a lock, which a fork could leave locked.
static FILES: LazyLock<ArcSwap<Files>> = LazyLock::new(ArcSwap::default);

#[derive(Clone, Debug, Default)]
struct Files {
    /// Those that the library has open, each with what stands for it. Those of a process that was
    /// forked are its own.
    ours: BTreeSet<(u32, PathBuf, u64)>,
    /// Those in which the program has counted.
    theirs: BTreeSet<PathBuf>,
}

impl Files {
    fn has_ours(&self) -> bool {
        let process = process::id();
        self.ours.iter().any(|(of, ..)| *of == process)
    }
}

/// A file that the library has open.
#[derive(Debug)]
pub(crate) struct OurFile(Option<(u32, PathBuf, u64)>);

/// The same for all ways to a file.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

impl OurFile {
    /// Before the library opens `path`.
    ///
    /// # Errors
    /// The program has counted in it.
    pub(crate) fn open(path: &Path) -> Result<OurFile, Error> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // A file that is not there yet is one of a folder that is.
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let file = path.file_name().map(|name| real(folder.unwrap_or(Path::new("."))).join(name));
        let path = if path.exists() { real(path) } else { file.unwrap_or_else(|| real(path)) };
        if FILES.load().theirs.contains(&path) {
            let shown = path.display();
            let message = format!(
                "this process counts gapless numbers in {shown} through its own copy of SQLite, \
                 and a second copy, which uidring has, would undo its locks: open {shown} in \
                 another process, or ask by the program's connection"
            );
            return Err(Error { kind: Kind::Refused, message });
        }
        // ORDERING: it only has to be another number.
        let ours = (process::id(), path, NEXT.fetch_add(1, Ordering::Relaxed));
        FILES.rcu(|files| {
            let mut files = Files::clone(files);
            files.ours.insert(ours.clone());
            files
        });
        Ok(OurFile(Some(ours)))
    }
}

impl Drop for OurFile {
    fn drop(&mut self) {
        let Some(ours) = self.0.take() else { return };
        FILES.rcu(|files| {
            let mut files = Files::clone(files);
            files.ours.remove(&ours);
            files
        });
    }
}

/// Whether the library has no file open.
pub(crate) fn none_is_ours() -> bool {
    !FILES.load().has_ours()
}

/// Before the program counts in the file at `path`, which the library does not open from then on.
///
/// # Errors
/// The library has it open.
pub(crate) fn leave_to_program(path: &Path) -> Result<(), Error> {
    let path = real(path);
    FILES.rcu(|files| {
        let mut files = Files::clone(files);
        files.theirs.insert(path.clone());
        files
    });
    let files: Arc<Files> = FILES.load_full();
    let process = process::id();
    if files.ours.iter().any(|(of, ours, _)| *of == process && *ours == path) {
        FILES.rcu(|files| {
            let mut files = Files::clone(files);
            files.theirs.remove(&path);
            files
        });
        return Err(two_copies(&path.display().to_string()));
    }
    Ok(())
}

/// The library and the program would have the file `shown` open.
pub(crate) fn two_copies(shown: &str) -> Error {
    let message = format!(
        "uidring has {shown} open in this process, and two copies of SQLite in one process, its \
         own and the program's, undo each other's locks on a file: close what was opened there, \
         and count by series that were opened in transactions alone"
    );
    Error { kind: Kind::Refused, message }
}
