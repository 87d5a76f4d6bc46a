//! Output to standard output.

use std::fs::File;
use std::io::{self, Write as _};

use crate::text::failure::Failure;

/// Prints `page` at once. Its colours are kept only on a terminal, and only if `NO_COLOR` is not
/// set.
pub(crate) fn print(page: &str) -> Result<(), Failure> {
    let mut stdout = anstream::stdout().lock();
    stdout.write_all(page.as_bytes()).and_then(|()| stdout.flush()).map_err(Failure::Output)
}

/// Standard output, which writes what it is given at once, so that a failure tells how much was
/// written.
pub(crate) fn unbuffered_stdout() -> io::Result<File> {
    #[cfg(unix)]
    let stdout = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned();
    #[cfg(windows)]
    let stdout = std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned();
    stdout.map(File::from)
}

/// `value` as one line of JSON.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    match serde_json::to_string(value) {
        Ok(text) => Ok(text + "\n"),
        Err(error) => Err(Failure::Failed(format!("cannot write JSON: {error}"))),
    }
}
