//! The key of masked ids. It is never an argument, because other users of the machine see those.

use std::path::PathBuf;

use uidring_args::KeyFile;

use crate::text::Failure;

/// The variable with the key itself.
pub(crate) const VARIABLE: &str = "UIDRING_KEY";
/// The variable with the name of the file.
pub(crate) const FILE_VARIABLE: &str = "UIDRING_KEY_FILE";

#[derive(Debug, clap::Args)]
pub(crate) struct KeyArgs {
    /// The file with the key, 64 hexadecimal digits. Without it, the variable `UIDRING_KEY` has
    /// the key
    ///
    /// `openssl rand -hex 32` makes a key. A line of the file is a key, with its key id, 0 to 3,
    /// before it if that is not 0. The first key makes ids; opaque ids of the others are read.
    #[arg(long, value_name = "FILE", env = FILE_VARIABLE)]
    key_file: Option<PathBuf>,
}

impl KeyArgs {
    pub(crate) fn keys(&self) -> Result<KeyFile, Failure> {
        let named = || uidring_args::variable(FILE_VARIABLE).map(PathBuf::from);
        if let Some(path) = self.key_file.clone().or_else(named) {
            return KeyFile::read(&path).map_err(Failure::Failed);
        }
        let text = uidring_args::variable(VARIABLE).ok_or_else(|| {
            Failure::Usage(format!(
                "no key: name its file with --key-file, or put it into the variable {VARIABLE}; \
                 `openssl rand -hex 32` makes one"
            ))
        })?;
        let keys = text.to_string_lossy().parse();
        keys.map_err(|problem: String| {
            Failure::Failed(format!("the key in the variable {VARIABLE}: {problem}"))
        })
    }
}
