//! Ids as arguments, or as lines of standard input.

use std::io::{self, BufRead, BufReader, IsTerminal, Read};

use crate::text::Failure;

/// Fails if there are neither texts nor a pipe to read them from. `what` is missing then, such as
/// "UID to parse".
pub(crate) fn check(texts: &[String], what: &str) -> Result<(), Failure> {
    if texts.is_empty() && io::stdin().is_terminal() {
        return Err(Failure::Usage(format!("no {what}: name one, or pipe them in, one a line")));
    }
    Ok(())
}

/// Calls `act` with each text of the arguments or of standard input, and with whether another one
/// is available without waiting.
pub(crate) fn each(
    texts: &[String],
    mut act: impl FnMut(&str, bool) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if texts.is_empty() {
        return each_of_stdin(&mut act);
    }
    for text in texts {
        if text == "-" {
            each_of_stdin(&mut act)?;
        } else {
            act(text, true)?;
        }
    }
    Ok(())
}

/// Passes over empty lines.
fn each_of_stdin(act: &mut impl FnMut(&str, bool) -> Result<(), Failure>) -> Result<(), Failure> {
    let stdin = BufReader::with_capacity(1 << 16, io::stdin().lock());
    each_line(stdin, "standard input", |text, is_another_there| {
        if text.is_empty() { Ok(()) } else { act(text, is_another_there) }
    })
}

/// Calls `act` with each line of the file with this `name`, without the spaces around it, and with
/// whether another one is available without waiting.
pub(crate) fn each_line<R: Read>(
    mut file: BufReader<R>,
    name: &str,
    mut act: impl FnMut(&str, bool) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = file.read_until(b'\n', &mut line);
        let read = read.map_err(|error| Failure::Failed(format!("cannot read {name}: {error}")))?;
        if read == 0 {
            return Ok(());
        }
        act(String::from_utf8_lossy(&line).trim(), !file.buffer().is_empty())?;
    }
}
