//! What a process holds, as Linux tells.

use std::fs;

/// What a process holds.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    pub kib: u64,
    pub threads: u64,
    pub files: u64,
}

impl Held {
    /// What the process `id` holds now.
    pub fn by(id: u32) -> Result<Held, String> {
        let folder = format!("/proc/{id}");
        let told = |error| format!("{folder} cannot be read: {error}");
        let status = fs::read_to_string(format!("{folder}/status")).map_err(told)?;
        let number = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key));
            let number = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
            number.ok_or_else(|| format!("{folder}/status has no {key}"))
        };
        let files = fs::read_dir(format!("{folder}/fd")).map_err(told)?.count() as u64;
        // A process that reads its own folder has it open.
        let files = files - u64::from(id == std::process::id());
        Ok(Held { kib: number("VmRSS:")?, threads: number("Threads:")?, files })
    }

    /// The smaller of each. What comes and goes, such as the thread and the file of one call, is
    /// not in it. What leaks is.
    pub fn min(self, other: Held) -> Held {
        Held {
            kib: self.kib.min(other.kib),
            threads: self.threads.min(other.threads),
            files: self.files.min(other.files),
        }
    }
}
