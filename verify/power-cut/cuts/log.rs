//! Reads what the layer has logged.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What a program did to the files of the folder. Names are relative to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Create(String),
    Write {
        name: String,
        offset: usize,
        bytes: Vec<u8>,
    },
    Resize {
        name: String,
        size: usize,
    },
    /// It has this size at least.
    Extend {
        name: String,
        size: usize,
    },
    Sync(String),
    SyncFolder(String),
    Rename {
        from: String,
        to: String,
    },
    Link {
        from: String,
        to: String,
    },
    Unlink(String),
}

/// The changes of all processes, in their order, and the processes that have made any.
pub struct Log {
    pub changes: Vec<Change>,
    pub processes: BTreeSet<u32>,
}

const MAGIC: &[u8; 8] = b"CHANGES\0";
/// The size of the layer's `struct header`.
const HEADER: usize = 40;

impl Log {
    pub fn read(path: &Path) -> Log {
        let text = fs::read(path).unwrap();
        let mut log = Log { changes: Vec::new(), processes: BTreeSet::new() };
        let mut at = 0;
        while let Some((change, process, size)) = entry(&text[at..]) {
            log.changes.extend(change);
            log.processes.insert(process);
            at += size;
        }
        log
    }
}

/// The first entry of `text`, its process and its size. A process that was killed in the middle of
/// an entry has not made the change.
fn entry(text: &[u8]) -> Option<(Option<Change>, u32, usize)> {
    if text.len() < HEADER {
        return None;
    }
    assert!(text.starts_with(MAGIC), "the log has entries only");
    let four = |at: usize| u32::from_le_bytes(text[at..at + 4].try_into().unwrap());
    let eight = |at: usize| u64::from_le_bytes(text[at..at + 8].try_into().unwrap());
    let [kind, process, name_size, other_size] = [8, 12, 16, 20].map(four);
    let [offset, size] = [24, 32].map(|at| usize::try_from(eight(at)).unwrap());
    let other_at = HEADER + name_size as usize;
    let bytes_at = other_at + other_size as usize;
    let whole = bytes_at + size;
    let cut = text[1..text.len().min(whole)].windows(MAGIC.len()).position(|found| found == MAGIC);
    if let Some(next) = cut {
        return Some((None, process, next + 1));
    }
    if text.len() < whole {
        return None;
    }
    let name = String::from_utf8(text[HEADER..other_at].to_vec()).unwrap();
    let to = String::from_utf8(text[other_at..bytes_at].to_vec()).unwrap();
    let change = match kind {
        1 => Change::Create(name),
        2 => Change::Write { name, offset, bytes: text[bytes_at..whole].to_vec() },
        3 => Change::Resize { name, size: offset },
        4 => Change::Extend { name, size: offset },
        5 => Change::Sync(name),
        6 => Change::SyncFolder(name),
        7 => Change::Rename { from: name, to },
        8 => Change::Link { from: name, to },
        9 => Change::Unlink(name),
        _ => panic!("the layer writes no kind {kind}"),
    };
    Some((Some(change), process, whole))
}
