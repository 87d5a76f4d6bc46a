//! One life of a machine: from when the power comes until it fails.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::log::Log;

/// What the processes of one life share with the layer.
pub struct Life {
    log: PathBuf,
    control: PathBuf,
}

/// A change at which no power fails.
pub const NEVER: u64 = u64::MAX;

impl Life {
    /// The power fails at the change of this number.
    pub fn begin(folder: &Path, cut_at: u64) -> Life {
        let life = Life { log: folder.join("changes"), control: folder.join("control") };
        for (path, content) in [(&life.log, &[][..]), (&life.control, &control(cut_at))] {
            fs::write(path, content).unwrap();
            // The processes may be another user's, as the folder is then.
            let owner = folder.metadata().unwrap();
            chown(path, Some(owner.uid()), Some(owner.gid())).unwrap();
        }
        life
    }

    /// Puts the layer between `command` and what it does in `folder`.
    pub fn watch(&self, command: &mut Command, layer: &Path, folder: &Path) {
        command
            .env("LD_PRELOAD", layer)
            .env("POWER_CUT_FOLDER", folder)
            .env("POWER_CUT_LOG", &self.log)
            .env("POWER_CUT_CONTROL", &self.control);
    }

    /// The power fails after so many more changes.
    pub fn cut_after(&self, changes: u64) {
        let cut_at = self.changes() + changes;
        let control = File::options().write(true).open(&self.control).unwrap();
        control.write_all_at(&cut_at.to_le_bytes(), 8).unwrap();
    }

    /// How many changes there were.
    pub fn changes(&self) -> u64 {
        self.numbers()[0]
    }

    pub fn has_power(&self) -> bool {
        let [changes, cut_at] = self.numbers();
        changes < cut_at
    }

    fn numbers(&self) -> [u64; 2] {
        let control = fs::read(&self.control).unwrap();
        [0, 8].map(|at| u64::from_le_bytes(control[at..at + 8].try_into().unwrap()))
    }

    pub fn log(&self) -> Log {
        Log::read(&self.log)
    }
}

/// No changes yet, and at which one the power fails.
fn control(cut_at: u64) -> [u8; 16] {
    let mut numbers = [0; 16];
    numbers[8..].copy_from_slice(&cut_at.to_le_bytes());
    numbers
}

/// The sources of the layer.
const PARTS: [&str; 4] = ["log.c", "names.c", "files.c", "memory.c"];

/// Compiles the layer into `folder`.
pub fn compile_layer(folder: &Path) -> PathBuf {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("layer");
    let layer = folder.join("layer.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-Wall", "-shared", "-fPIC", "-o"]).arg(&layer);
    compiler.args(PARTS.map(|part| sources.join(part))).arg("-ldl");
    let status = compiler.status().expect("a C compiler");
    assert!(status.success(), "the layer compiles");
    layer
}
