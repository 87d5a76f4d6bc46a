//! A disk that drops what was not synced.
//!
//! What a file held when it was last synced lasts. Of what was written since, each write is kept,
//! dropped or torn at a sector, by itself. A folder lasts as it was when it was synced; of the
//! names that were made, changed and removed since, the first ones are kept, none to all of them.
//! That is the least that POSIX and journaling file systems promise.
//!
//! The servers rely on more, and get it: a journal, as ext4 and XFS have it. There, the sync of a
//! new file keeps its name, and what was written after a new size is not kept without that size.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::iter;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};

use fastrand::Rng;

use crate::log::Change;

const SECTOR: usize = 512;

/// Which syncs the disk acknowledges and does not make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    None,
    /// Those of all files and folders below the first.
    All(&'static str),
    /// Those of this folder's names.
    Names(&'static str),
}

impl Lie {
    fn swallows(self, change: &Change) -> bool {
        match (self, change) {
            (Lie::All(folder), Change::Sync(name) | Change::SyncFolder(name)) => {
                name.starts_with(folder)
            }
            (Lie::Names(folder), Change::SyncFolder(name)) => name == folder,
            _ => false,
        }
    }
}

/// What the disk holds, and a copy that programs work on.
pub struct Disk {
    pub durable: PathBuf,
    pub live: PathBuf,
    /// Whether the file system has a journal.
    pub has_journal: bool,
    pub lie: Lie,
}

/// A file, whatever its names.
struct Inode {
    /// Its durable content before the first of its changes.
    source: Option<PathBuf>,
    changes: Vec<Change>,
    /// How many of them have been synced.
    synced: usize,
}

/// The names that were touched, each with its inode; `None` for no such file.
type Names = BTreeMap<String, Option<usize>>;
/// What one operation does to names, all of it or nothing.
type NameChange = Vec<(String, Option<usize>)>;

struct Model<'a> {
    disk: &'a Disk,
    inodes: Vec<Inode>,
    now: Names,
    durable: Names,
    /// For each folder, what was not synced.
    pending: BTreeMap<String, Vec<NameChange>>,
}

impl Disk {
    /// The power fails after `changes`: both copies become what `rng` leaves of them. The disk lies
    /// from the change with the number `lies_from`, counted from 0.
    pub fn cut(&self, changes: &[Change], lies_from: usize, rng: &mut Rng) {
        let mut model = Model::after(self, changes, lies_from);
        model.fail_names(rng);
        // How much of what was not synced is kept, from nothing to all of it.
        let share = [0.0, 0.2, 0.5, 0.8, 1.0][rng.usize(..5)];
        let mut written = Vec::new();
        for (name, inode) in &model.durable {
            // Most files are only synced. One that was removed, or replaced by another, comes back.
            let keeps_name = model.now[name] == *inode;
            let inode = inode.map(|inode| &model.inodes[inode]);
            let is_untouched = |inode: &Inode| inode.is_untouched(&self.durable.join(name));
            if !keeps_name || !inode.is_some_and(is_untouched) {
                written
                    .push((name, inode.map(|inode| inode.after_cut(share, self.has_journal, rng))));
            }
        }
        for (name, content) in written {
            for copy in [&self.durable, &self.live] {
                put(&copy.join(name), content.as_deref());
            }
        }
        // What was made and is not durable.
        for name in files(&self.live).difference(&files(&self.durable)) {
            fs::remove_file(self.live.join(name)).unwrap();
        }
    }

    /// Removes files, as a machine may do when it starts.
    pub fn forget(&self, names: &[&str]) {
        for name in names {
            for copy in [&self.durable, &self.live] {
                put(&copy.join(name), None);
            }
        }
    }

    /// Whether the programs' files are what `changes` have made of them. If not, the layer has
    /// missed something. `skips` are files of which nothing has to be known.
    pub fn check(&self, changes: &[Change], skips: fn(&str) -> bool) {
        let model = Model::after(self, changes, 0);
        let mut expected = files(&self.durable);
        for (name, inode) in &model.now {
            match inode {
                Some(_) => expected.insert(name.clone()),
                None => expected.remove(name),
            };
        }
        let found: BTreeSet<_> = files(&self.live);
        let differing: Vec<_> = found.symmetric_difference(&expected).collect();
        assert!(differing.is_empty(), "the layer has seen all files: {differing:?}");
        for name in found.iter().filter(|name| !skips(name)) {
            let content = match model.now.get(name) {
                Some(Some(inode)) => model.inodes[*inode].content(iter::repeat_with(|| Fate::Kept)),
                _ => fs::read(self.durable.join(name)).unwrap(),
            };
            let live = fs::read(self.live.join(name)).unwrap();
            let differs = live.iter().zip(&content).position(|(a, b)| a != b);
            assert!(live == content, "the layer has seen all of {name}, but not at {differs:?}");
        }
    }
}

impl<'a> Model<'a> {
    fn after(disk: &'a Disk, changes: &[Change], lies_from: usize) -> Model<'a> {
        let (inodes, now, durable) = (Vec::new(), Names::new(), Names::new());
        let mut model = Model { disk, inodes, now, durable, pending: BTreeMap::new() };
        for (number, change) in changes.iter().enumerate() {
            if number < lies_from || !disk.lie.swallows(change) {
                model.apply(change);
            }
        }
        model
    }

    /// The inode that has the name now.
    fn look_up(&mut self, name: &str) -> Option<usize> {
        if let Some(known) = self.now.get(name) {
            return *known;
        }
        let source = self.disk.durable.join(name);
        let inode = source.is_file().then(|| self.make(Some(source)));
        self.now.insert(name.to_owned(), inode);
        self.durable.insert(name.to_owned(), inode);
        inode
    }

    fn make(&mut self, source: Option<PathBuf>) -> usize {
        self.inodes.push(Inode { source, changes: Vec::new(), synced: 0 });
        self.inodes.len() - 1
    }

    fn rename(&mut self, change: NameChange) {
        let folders: BTreeSet<_> = change.iter().map(|(name, _)| folder_of(name)).collect();
        assert_eq!(folders.len(), 1, "a file stays in its folder: {change:?}");
        self.now.extend(change.iter().cloned());
        self.pending.entry(folder_of(&change[0].0).to_owned()).or_default().push(change);
    }

    fn apply(&mut self, change: &Change) {
        match change {
            Change::Create(name) => {
                if self.look_up(name).is_none() {
                    let inode = self.make(None);
                    self.rename(vec![(name.clone(), Some(inode))]);
                }
            }
            Change::Write { name, .. }
            | Change::Resize { name, .. }
            | Change::Extend { name, .. } => {
                // A stream makes its file where the layer does not see it.
                self.apply(&Change::Create(name.clone()));
                let inode = self.look_up(name).unwrap();
                self.inodes[inode].changes.push(change.clone());
            }
            Change::Sync(name) => {
                if let Some(number) = self.look_up(name) {
                    let inode = &mut self.inodes[number];
                    inode.synced = inode.changes.len();
                    if self.disk.has_journal {
                        self.keep_name(name, number);
                    }
                }
            }
            Change::SyncFolder(folder) => {
                let pending = self.pending.remove(folder).unwrap_or_default();
                self.durable.extend(pending.into_iter().flatten());
            }
            Change::Unlink(name) => {
                if self.look_up(name).is_some() {
                    self.rename(vec![(name.clone(), None)]);
                }
            }
            Change::Link { from, to } => {
                let inode = self.look_up(from);
                self.look_up(to);
                self.rename(vec![(to.clone(), inode)]);
            }
            Change::Rename { from, to } => {
                let inode = self.look_up(from);
                self.look_up(to);
                if inode.is_some() {
                    self.rename(vec![(from.clone(), None), (to.clone(), inode)]);
                }
            }
        }
    }

    /// Makes what was done in the folder durable, up to when the inode got the name.
    fn keep_name(&mut self, name: &str, inode: usize) {
        let Some(pending) = self.pending.get_mut(folder_of(name)) else { return };
        let names =
            |change: &NameChange| change.iter().any(|(n, i)| n == name && *i == Some(inode));
        if let Some(last) = pending.iter().rposition(names) {
            self.durable.extend(pending.drain(..=last).flatten());
        }
    }

    fn fail_names(&mut self, rng: &mut Rng) {
        for (_, changes) in std::mem::take(&mut self.pending) {
            let kept = match rng.u8(..3) {
                0 => 0,
                1 => changes.len(),
                _ => rng.usize(..=changes.len()),
            };
            self.durable.extend(changes.into_iter().take(kept).flatten());
        }
    }
}

/// What becomes of a change.
enum Fate {
    Kept,
    Dropped,
    /// Of each sector, whether it is kept.
    Torn(Rng),
}

impl Inode {
    /// Whether it is as it was, and has this one of its names.
    fn is_untouched(&self, path: &Path) -> bool {
        self.changes.is_empty() && self.source.as_deref() == Some(path)
    }

    fn after_cut(&self, share: f64, has_journal: bool, rng: &mut Rng) -> Vec<u8> {
        let mut fate = |index| {
            if index < self.synced || rng.f64() < share {
                Fate::Kept
            } else if rng.bool() {
                Fate::Dropped
            } else {
                Fate::Torn(rng.fork())
            }
        };
        let mut fates: Vec<_> = (0..self.changes.len()).map(&mut fate).collect();
        if has_journal {
            let is_there = |fate: &Fate| !matches!(fate, Fate::Dropped);
            let last = fates.iter().rposition(is_there).unwrap_or_default();
            for (fate, change) in fates[..last].iter_mut().zip(&self.changes) {
                if !matches!(change, Change::Write { .. }) {
                    *fate = Fate::Kept;
                }
            }
        }
        self.content(fates)
    }

    fn content(&self, fates: impl IntoIterator<Item = Fate>) -> Vec<u8> {
        let source = self.source.as_ref().map(|source| fs::read(source).unwrap());
        let mut content = source.unwrap_or_default();
        for (change, fate) in self.changes.iter().zip(fates) {
            if matches!(fate, Fate::Dropped) {
                continue;
            }
            match change {
                Change::Write { offset, bytes, .. } => write(&mut content, *offset, bytes, fate),
                Change::Resize { size, .. } => content.resize(*size, 0),
                Change::Extend { size, .. } => content.resize(content.len().max(*size), 0),
                _ => panic!("it does not change what is in a file: {change:?}"),
            }
        }
        content
    }
}

fn write(content: &mut Vec<u8>, offset: usize, bytes: &[u8], fate: Fate) {
    let mut sectors = match fate {
        Fate::Torn(rng) => Some(rng),
        _ => None,
    };
    let (mut at, end) = (offset, offset + bytes.len());
    while at < end {
        let next = end.min((at / SECTOR + 1) * SECTOR);
        if sectors.as_mut().is_none_or(Rng::bool) {
            content.resize(content.len().max(next), 0);
            content[at..next].copy_from_slice(&bytes[at - offset..next - offset]);
        }
        at = next;
    }
}

fn folder_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Makes the file what it is to be, with its folder's owner. A server may own that.
fn put(path: &Path, content: Option<&[u8]>) {
    let Some(content) = content else {
        if path.exists() {
            fs::remove_file(path).unwrap();
        }
        return;
    };
    fs::write(path, content).unwrap();
    let folder = path.parent().unwrap().metadata().unwrap();
    chown(path, Some(folder.uid()), Some(folder.gid())).unwrap();
}

/// The names of all files in `folder` and below.
fn files(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inside) = folders.pop() {
        for entry in fs::read_dir(inside).unwrap() {
            let (path, kind) = entry.map(|entry| (entry.path(), entry.file_type())).unwrap();
            if kind.as_ref().unwrap().is_dir() {
                folders.push(path);
            } else if kind.unwrap().is_file() {
                let name = path.strip_prefix(folder).unwrap();
                found.insert(name.to_str().unwrap().to_owned());
            }
        }
    }
    found
}

/// A file whose removal the disk has lost is there again for the programs, too, and not what has
/// taken its place.
#[test]
fn what_was_removed_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let [durable, live] = ["durable", "live"].map(|copy| folder.path().join(copy));
    for copy in [&durable, &live] {
        fs::create_dir(copy).unwrap();
    }
    let name = || "journal".to_owned();
    let write = Change::Write { name: name(), offset: 0, bytes: b"new".to_vec() };
    let changes = [Change::Unlink(name()), Change::Create(name()), write];
    for has_journal in [false, true] {
        let disk =
            Disk { durable: durable.clone(), live: live.clone(), has_journal, lie: Lie::None };
        for (count, content) in [(1, None), (2, Some(&b""[..])), (3, Some(&b"new"[..]))] {
            for seed in 0..20 {
                put(&disk.durable.join(name()), Some(b"old"));
                put(&disk.live.join(name()), content);
                disk.check(&changes[..count], |_| false);
                disk.cut(&changes[..count], 0, &mut Rng::with_seed(seed));
                disk.check(&[], |_| false);
            }
        }
    }
}
