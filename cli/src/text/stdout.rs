//! Output to standard output.

use std::fs::File;
use std::io::{self, Write};

use anstream::ColorChoice;

use crate::text::failure::Failure;
use crate::text::visible::{visible_json, visible_page};

/// Prints `page` at once. Its colours are kept only on a terminal, and only if `NO_COLOR` is not
/// set. What else a terminal would obey is escaped, whoever has put it there.
pub(crate) fn print(page: &str) -> Result<(), Failure> {
    print_raw(&visible_page(page))
}

/// Whether a page keeps its colours.
pub(crate) fn has_colours() -> bool {
    anstream::stdout().current_choice() != ColorChoice::Never
}

/// Prints `text`, which a program reads, as it is.
pub(crate) fn print_raw(text: &str) -> Result<(), Failure> {
    // Only what may have colours is looked through for them.
    let mut stdout: Box<dyn Write> = if text.contains('\u{1b}') {
        Box::new(anstream::stdout().lock())
    } else {
        Box::new(io::stdout().lock())
    };
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Failure::Output)
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
        Ok(text) => Ok(visible_json(&text).into_owned() + "\n"),
        Err(error) => Err(Failure::Failed(format!("cannot write JSON: {error}"))),
    }
}
