//! The state file of a fixed worker id: the last tick up to which the number has been used.
//!
//! ```text
//!   0        page 0: "... write 12, used until 28173987 ..., check ..."
//!   4096     page 1: "... write 13, used until 28173997 ..., check ..."    the later write counts
//! ```
//!
//! Each write overwrites the older page in place and syncs it. A write that a crash cuts short
//! leaves the other page, which says what the holder was told last. So the file stays the same one
//! by all its names, links as well, and the lock on it keeps a second holder out whatever name it
//! goes by. A lock on a second file beside it, `.lock`, stays where the state file is removed while
//! it is in use.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{self, Path, PathBuf};
use std::time::Duration;

use crate::backend::StorageError;
use crate::clock::utc;
use crate::layout::Layout;
use crate::registry::RegistryError;
use crate::sync::sleep;

/// An open state file, locked for its one holder.
#[derive(Debug)]
pub struct StateFile {
    /// The absolute path, which the next start will look up.
    path: PathBuf,
    /// Both are locked, and the locks end with the process.
    file: File,
    guard: File,
    format: PageFormat,
    /// The content of the file, as far as this holder knows.
    last: Option<Record>,
    /// A failed write, which may have reached the file nevertheless.
    tried: Option<Record>,
}

/// The content of one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Record {
    /// The number of the write, from 1.
    write: u64,
    /// The last tick used.
    used: u64,
}

/// The format of the pages of one number.
#[derive(Debug)]
struct PageFormat {
    worker: u64,
    layout: Layout,
    /// The lines that identify the file's owner.
    owner: String,
}

const TITLE: &str = "uidring: ticks used by a fixed worker id, version 2\n";
/// The unit that file systems and disks write as a whole, so that no write touches the other page.
const PAGE: usize = 4096;

impl StateFile {
    /// Opens or makes the file of `worker` and `layout`, and says up to which tick the number has
    /// been used. The caller keeps the locks of the state file that it has `held` until now.
    pub fn open(
        path: &Path,
        worker: u64,
        layout: &Layout,
        held: Option<&StateFile>,
    ) -> Result<(StateFile, Option<u64>), RegistryError> {
        // The path is looked up again later, and the program may change its directory.
        let path = path::absolute(path)
            .map_err(|error| refused(path, format!("{error}; give the path of a file")))?;
        let path = path.as_path();
        let failed = |error: io::Error| refused(path, error.to_string());
        // Checked before opening, because opening a pipe or a device may have an effect.
        if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            let problem = "it is not a file; give the path of a state file, or of none";
            return Err(refused(path, problem));
        }
        let open = options();
        let mut file = open.open(path).map_err(failed)?;
        let resolved = fs::canonicalize(path).map_err(failed)?;
        let guard_path = with_suffix(&resolved, ".lock");
        let mut guard =
            open.open(&guard_path).map_err(|error| refused(&guard_path, error.to_string()))?;
        let [held_guard, held_file] = [held.map(|it| &it.guard), held.map(|it| &it.file)];
        for (locked, held) in [(&mut guard, held_guard), (&mut file, held_file)] {
            if let Some(held) = held
                && is_same(held, locked).map_err(failed)?
            {
                *locked = held.try_clone().map_err(failed)?;
                continue;
            }
            match try_lock(locked) {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let problem =
                        "another generator has it; give each a number and a file of its own";
                    return Err(refused(path, problem));
                }
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
        let format = PageFormat::new(worker, *layout);
        let text = read(&mut file).map_err(failed)?;
        let last = format.newest(&text).map_err(|problem| refused(path, problem))?;
        if last.is_none() {
            make(&mut file, &resolved).map_err(failed)?;
        }
        let state = StateFile { path: path.to_owned(), file, guard, format, last, tried: None };
        Ok((state, last.map(|record| record.used)))
    }

    /// Stores durably that the number is used up to the tick `used`.
    ///
    /// [`RegistryError::LeaseLost`] where the file is no longer the holder's: somebody else has
    /// written to it, or its path leads elsewhere. A generator that starts with that path does not
    /// know of this write, so nothing may be used on the strength of it.
    pub fn write(&mut self, used: u64) -> Result<(), RegistryError> {
        let lost = RegistryError::LeaseLost { worker: self.format.worker };
        let is_kept = self.replace(used).map_err(|error| {
            StorageError::failed(format!("write the state file {}", self.path.display()), error)
        })?;
        if is_kept { Ok(()) } else { Err(lost) }
    }

    /// Writes `used`. Returns whether the file still belongs to the holder.
    fn replace(&mut self, used: u64) -> io::Result<bool> {
        let text = read(&mut self.file)?;
        let newest = self.format.newest(&text);
        if !newest
            .is_ok_and(|newest| newest == self.last || newest.is_some() && newest == self.tried)
        {
            return Ok(false);
        }
        let Some(write) = self.last.map_or(0, |last| last.write).checked_add(1) else {
            let problem = "its number of writes is the largest there is; take another number";
            return Err(io::Error::other(problem));
        };
        let record = Record { write, used };
        let page = if record.write.is_multiple_of(2) { 0 } else { PAGE };
        self.tried = Some(record);
        self.file.seek(SeekFrom::Start(page as u64))?;
        self.file.write_all(self.format.page(record).as_bytes())?;
        self.file.sync_data()?;
        // Checked after the write: if the file is removed later, it already holds the record.
        if !leads_to(&self.path, &self.file)? {
            return Ok(false);
        }
        (self.last, self.tried) = (Some(record), None);
        Ok(true)
    }
}

impl PageFormat {
    fn new(worker: u64, layout: Layout) -> PageFormat {
        PageFormat { worker, layout, owner: format!("{TITLE}worker {worker}\nlayout {layout}\n") }
    }

    /// The page for `record`: lines for people, padded with blanks.
    fn page(&self, Record { write, used }: Record) -> String {
        let time = utc(self.layout.begin_of(used.min(self.layout.max_tick())));
        let text = format!("{}write {write:020}\nused until {used:020}, {time}\n", self.owner);
        let text = format!("{text}check {:016x}", fnv1a(text.as_bytes()));
        page_of(&text)
    }

    /// The record of `page`, if the page is complete and belongs to this number.
    fn record(&self, page: &[u8]) -> Option<Record> {
        let text = str::from_utf8(page).ok()?;
        let mut lines = text.strip_prefix(&self.owner)?.lines();
        let write = lines.next()?.strip_prefix("write ")?.parse().ok()?;
        let (used, _) = lines.next()?.strip_prefix("used until ")?.split_once(',')?;
        let record = Record { write, used: used.parse().ok()? };
        (self.page(record) == text).then_some(record)
    }

    /// The later record of the two pages, or `None` in a file that was created but not yet written.
    /// The error says what is wrong.
    fn newest(&self, text: &[u8]) -> Result<Option<Record>, String> {
        // A file system may show blanks that were not synced as zeros.
        if text.len() <= 2 * PAGE && text.iter().all(|byte| matches!(byte, b' ' | b'\n' | 0)) {
            return Ok(None);
        }
        let newest = text
            .chunks(PAGE)
            .filter_map(|page| self.record(page))
            .max_by_key(|record| record.write);
        if newest.is_some() && text.len() == 2 * PAGE {
            return Ok(newest);
        }
        let text = String::from_utf8_lossy(text);
        let text = text.trim_start_matches([' ', '\n', '\0']);
        if !text.starts_with(TITLE) {
            let title = TITLE.trim_end().replace(": ticks used by a fixed worker id", "");
            return Err(format!(
                "it is not a state file of {title}; give the path of one, or of none"
            ));
        }
        if !text.starts_with(&self.owner) {
            let lines = |text: &str| text.lines().skip(1).take(2).collect::<Vec<_>>().join(", ");
            let (found, wanted) = (lines(text), lines(&self.owner));
            return Err(format!(
                "it belongs to {found}, and not to {wanted}; give each its own file"
            ));
        }
        Err("it is damaged, and what this number has used is not known; take another number, or \
            remove the file when \
             the clock is past all that was used"
            .to_owned())
    }
}

/// Gives a new file its full size, durably. Later writes then need no space on the disk, and the
/// file keeps its name.
fn make(file: &mut File, resolved: &Path) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    // Blank pages end as written ones do, so that a first write has one sector to change.
    file.write_all(page_of("").repeat(2).as_bytes())?;
    file.sync_all()?;
    // The name is stored in the directory, which other platforms do not open as a file.
    if cfg!(unix) {
        File::open(resolved.parent().unwrap_or(resolved))?.sync_all()?;
    }
    Ok(())
}

/// `text`, padded with blanks to the size of a page.
fn page_of(text: &str) -> String {
    format!("{text:<width$}\n", width = PAGE - 1)
}

/// The content of the file. One more byte is read, to detect a file that is too long.
fn read(file: &mut File) -> io::Result<Vec<u8>> {
    let mut text = Vec::with_capacity(2 * PAGE + 1);
    file.seek(SeekFrom::Start(0))?;
    file.take(2 * PAGE as u64 + 1).read_to_end(&mut text)?;
    Ok(text)
}

/// How the state file and the one beside it are opened. On Windows, a file that is removed while it
/// is open keeps its name, and what is written to it is lost when it is closed. So there nobody can
/// remove or rename either file while it is open.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(windows)]
    {
        use std::os::windows::fs::OpenOptionsExt;
        const FILE_SHARE_READ: u32 = 1;
        const FILE_SHARE_WRITE: u32 = 2;
        options.share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE);
    }
    options
}

/// Whether `path`, which may be a link, still leads to `file`, which is locked.
fn leads_to(path: &Path, file: &File) -> io::Result<bool> {
    let found = if cfg!(unix) {
        fs::metadata(path).map(|found| Ok(identity(&found) == identity(&file.metadata()?)))
    } else {
        File::open(path).map(|found| is_same(file, &found))
    };
    match found {
        Ok(is_same) => is_same,
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Whether `other` is the file `held`, which is locked.
#[cfg(unix)]
fn is_same(held: &File, other: &File) -> io::Result<bool> {
    Ok(identity(&held.metadata()?) == identity(&other.metadata()?))
}

/// Whether `other` is the file `held`, which is locked. std has no file number on this platform,
/// but here a lock keeps out the process that has it, too.
#[cfg(not(unix))]
fn is_same(held: &File, other: &File) -> io::Result<bool> {
    if identity(&held.metadata()?) != identity(&other.metadata()?) {
        return Ok(false);
    }
    match other.try_lock() {
        Ok(()) => other.unlock().map(|()| false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// The identity of a file, which no other file has.
#[cfg(unix)]
fn identity(file: &Metadata) -> impl PartialEq + use<> {
    use std::os::unix::fs::MetadataExt;
    (file.dev(), file.ino())
}

/// What two files seldom have in common.
#[cfg(not(unix))]
fn identity(file: &Metadata) -> impl PartialEq + use<> {
    (file.created().ok(), file.len())
}

/// Tries for a second, because a child process that is being started holds its parent's locks for a
/// moment.
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

/// The 64-bit FNV-1a hash (<http://www.isthe.com/chongo/tech/comp/fnv/>). It does not match on a
/// page that is half old and half new.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn refused(path: &Path, problem: impl Into<String>) -> RegistryError {
    let what = format!("the state file {}", path.display());
    StorageError::unusable(what, problem).into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn open(path: &Path) -> (StateFile, Option<u64>) {
        StateFile::open(path, 7, &Layout::DEFAULT, None).unwrap()
    }

    /// A power failure in the middle of a write leaves any mixture of the old page and the new one.
    #[test]
    fn a_write_that_is_cut_short_leaves_what_was_written_before() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("state");
        let (mut state, used) = open(&file);
        assert_eq!(used, None);
        let mut before = fs::read(&file).unwrap();
        for used in [9, 1000, 1001, 900, 123_456_789] {
            let known = state.last.map(|record| record.used);
            state.write(used).unwrap();
            let after = fs::read(&file).unwrap();
            drop(state);
            // There is nothing before the first write but its sectors, of which it has one that is
            // not blank.
            let step = if known.is_none() { 512 } else { 1 };
            for cut in (0..=after.len()).step_by(step) {
                let torn = [&after[..cut], &before[cut..]].concat();
                let found = PageFormat::new(7, Layout::DEFAULT)
                    .newest(&torn)
                    .unwrap()
                    .map(|record| record.used);
                assert!(found == known || found == Some(used), "cut at {cut}: {found:?}");
            }
            (state, before) = (open(&file).0, after);
            assert_eq!(state.last.map(|record| record.used), Some(used));
        }
    }

    #[test]
    fn a_write_that_failed_may_be_in_the_file_or_not() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("state");
        let (mut state, _) = open(&file);
        state.write(5).unwrap();
        for is_written in [false, true] {
            let record = Record { write: state.last.unwrap().write + 1, used: 10 };
            state.tried = Some(record);
            if is_written {
                let mut text = fs::read(&file).unwrap();
                let page = if record.write.is_multiple_of(2) { 0 } else { PAGE };
                text[page..page + PAGE].copy_from_slice(state.format.page(record).as_bytes());
                fs::write(&file, text).unwrap();
            }
            state.write(20).unwrap();
        }
        // But nobody else's.
        let record = Record { write: state.last.unwrap().write + 1, used: 10 };
        state.file.seek(SeekFrom::Start(0)).unwrap();
        state.file.write_all(state.format.page(record).as_bytes()).unwrap();
        assert!(matches!(state.write(30), Err(RegistryError::LeaseLost { worker: 7 })));
    }

    /// No holder writes so often, so somebody else has written it.
    #[test]
    fn the_largest_number_of_writes_has_none_after_it() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("state");
        let record = Record { write: u64::MAX, used: 10 };
        let page = PageFormat::new(7, Layout::DEFAULT).page(record);
        fs::write(&file, page.repeat(2)).unwrap();
        let (mut state, used) = open(&file);
        assert_eq!(used, Some(10));
        let error = state.write(20).unwrap_err();
        let source = std::error::Error::source(&error).map(ToString::to_string);
        assert!(source.unwrap().contains("take another number"), "{error}");
        drop(state);
        assert_eq!(open(&file).1, Some(10));
    }

    #[test]
    fn people_can_read_it() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("state");
        open(&file).0.write(86_400).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        let lines: Vec<_> = text.split_whitespace().collect();
        assert_eq!(
            lines[..lines.len() - 1].join(" "),
            "uidring: ticks used by a fixed worker id, version 2 worker 7 layout 30 | 20 | 13 in \
             seconds from 2026-01-01T00:00:00Z write 00000000000000000001 used until \
             00000000000000086400, 2026-01-02T00:00:00Z check"
        );
    }
}
