//! The small file beside a fixed worker id: up to which second the number has been used.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{self, Path, PathBuf};
use std::time::Duration;

use crate::error::RegistryError;
use crate::layout::Layout;
use crate::sync::sleep;

/// An open state file, locked for its one holder.
#[derive(Debug)]
pub struct StateFile {
    path: PathBuf,
    /// The lines that say whose file it is.
    owner: String,
    /// The lock is on a file of its own, as the state file is replaced by each write. It ends with the process.
    _lock: File,
}

const TITLE: &str = "uidring: seconds used by a fixed worker id, version 1\n";

impl StateFile {
    /// Opens, or will make, the file of `worker` and `layout`, and says up to which second the number has been used.
    pub fn open(path: &Path, worker: u64, layout: &Layout) -> Result<(StateFile, Option<u64>), RegistryError> {
        // Each write names the file anew, and the program may change its directory.
        let path = &path::absolute(path)
            .map_err(|error| refused(path, &format!("{error}; give the path of a file"), Some(error)))?;
        let lock = with_suffix(path, ".lock");
        let open = OpenOptions::new().create(true).truncate(false).write(true).open(&lock);
        let lock_file = open.map_err(|error| refused(&lock, &error.to_string(), Some(error)))?;
        match try_lock(&lock_file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(refused(path, "another generator has it; give each a number and a file of its own", None));
            }
            Err(TryLockError::Error(error)) => return Err(refused(&lock, &error.to_string(), Some(error))),
        }
        let owner = format!("{TITLE}worker {worker}\nlayout {layout}\n");
        let used = match fs::read_to_string(path) {
            Ok(text) => Some(parse(&text, &owner).map_err(|problem| refused(path, &problem, None))?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(refused(path, &error.to_string(), Some(error))),
        };
        Ok((StateFile { path: path.clone(), owner, _lock: lock_file }, used))
    }

    /// Replaces the file, durably and in one step: a crash leaves the old one or the new one.
    pub fn write(&mut self, used: u64) -> Result<(), RegistryError> {
        let replace = || {
            let new = with_suffix(&self.path, ".new");
            let mut file = File::create(&new)?;
            file.write_all(format!("{}used until {used}\nend\n", self.owner).as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, &self.path)?;
            // The name is the directory's: without this a power failure can bring the old file back.
            #[cfg(unix)]
            File::open(self.path.parent().unwrap_or(&self.path))?.sync_all()?;
            Ok(())
        };
        replace().map_err(|error: io::Error| RegistryError::Storage {
            doing: format!("write the state file {}", self.path.display()),
            source: Box::new(error),
        })
    }
}

/// Tries for a second: a child process that is just being started has its parent's locks for a moment.
fn try_lock(file: &File) -> Result<(), TryLockError> {
    for _ in 0..20 {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => sleep(Duration::from_millis(50)),
            done => return done,
        }
    }
    file.try_lock()
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The second in a file that belongs to `owner`, else what is wrong with it.
fn parse(text: &str, owner: &str) -> Result<u64, String> {
    if !text.starts_with(TITLE) {
        return Err("it is not a state file of uidring; give the path of one, or of none".to_owned());
    }
    let Some(rest) = text.strip_prefix(owner) else {
        let lines = |text: &str| text.lines().skip(1).take(2).collect::<Vec<_>>().join(", ");
        return Err(format!("it belongs to {}, and not to {}; give each its own file", lines(text), lines(owner)));
    };
    let used = rest.strip_prefix("used until ").and_then(|rest| rest.strip_suffix("\nend\n"));
    used.and_then(|digits| digits.parse().ok()).ok_or_else(|| {
        "it is damaged, and what this number has used is not known; take another number, or remove the file when the \
         clock is past all that was used"
            .to_owned()
    })
}

fn refused(path: &Path, problem: &str, source: Option<io::Error>) -> RegistryError {
    RegistryError::Open {
        registry: path.display().to_string(),
        problem: problem.to_owned(),
        source: source.map(Into::into),
    }
}
