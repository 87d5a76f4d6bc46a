//! What the subcommands share in their output: failures and exit statuses, colours, and times.

use std::env;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anstyle::{AnsiColor, Style};
use console::{Term, measure_text_width};
use indicatif::HumanCount;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use uidring::segment::{self, SegmentError};
use uidring::{BuildError, Layout, LayoutError, RegistryError, TakeError};
use uidring_args::{BesideUidGenerator, with_causes};

use crate::args::db::without_passwords;
use crate::text::words::counted;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const RED: Style = AnsiColor::Red.on_default();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default();
/// The three fields have the same colours everywhere.
pub(crate) const TIME: Style = AnsiColor::Cyan.on_default();
pub(crate) const WORKER: Style = AnsiColor::Magenta.on_default();
pub(crate) const SEQUENCE: Style = AnsiColor::Green.on_default();

/// Why the tool did not do what it was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line is not understood, or it is a question to the tool itself, such as
    /// `--help`.
    Arguments(clap::Error),
    /// The command line asks for something impossible. Exit status 2.
    Usage(String),
    /// The command line is right, but the action failed. Exit status 1.
    Failed(String),
    /// Like `Failed`, but the failure has already been reported.
    Reported,
    /// Ctrl-C came after so many of those asked for, "UID" or "number". Exit status 130, as shells
    /// have it.
    Interrupted { done: u64, all: u64, what: &'static str },
    /// Standard output cannot be written. Exit status 1, or 0 if its reader closed the pipe.
    Output(io::Error),
}

impl Failure {
    /// Reports the failure on standard error, and returns the exit status.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Failure::Arguments(error) if !error.use_stderr() => {
                let _ = error.print();
                ExitCode::SUCCESS
            }
            Failure::Arguments(error) => {
                let text = without_passwords(&error.render().to_string());
                match text.strip_prefix("error: ") {
                    Some(text) => complain(text.trim_end()),
                    None => drop(error.print()),
                }
                ExitCode::from(2)
            }
            Failure::Usage(sentence) => {
                complain(&sentence);
                ExitCode::from(2)
            }
            Failure::Failed(sentence) => {
                complain(&sentence);
                ExitCode::FAILURE
            }
            Failure::Reported => ExitCode::FAILURE,
            Failure::Interrupted { done, all, what } => {
                let (done, all) = (HumanCount(done), counted(all, what));
                complain(&format!("interrupted after {done} of {all}"));
                ExitCode::from(130)
            }
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                ExitCode::SUCCESS
            }
            Failure::Output(error) => {
                complain(&format!("cannot write to standard output: {error}"));
                ExitCode::FAILURE
            }
        }
    }
}

/// Writes a sentence to standard error. If that fails too, there is nobody left to tell.
pub(crate) fn complain(sentence: &str) {
    say(&format!("uidring: {sentence}\n"));
}

/// Writes to standard error what is not part of the output.
pub(crate) fn say(page: &str) {
    let page = folded(page, error_columns(), 0);
    let _ = anstream::stderr().write_all(page.as_bytes());
}

impl From<clap::Error> for Failure {
    fn from(error: clap::Error) -> Failure {
        Failure::Arguments(error)
    }
}

impl From<LayoutError> for Failure {
    fn from(error: LayoutError) -> Failure {
        Failure::Usage(with_causes(&error))
    }
}

const BESIDE_UID_GENERATOR: BesideUidGenerator =
    BesideUidGenerator { worker_ids: "--worker-ids or --partition", db: "--db" };

impl From<RegistryError> for Failure {
    fn from(error: RegistryError) -> Failure {
        Failure::Failed(BESIDE_UID_GENERATOR.told(&error))
    }
}

impl From<SegmentError> for Failure {
    fn from(error: SegmentError) -> Failure {
        Failure::Failed(with_causes(&error))
    }
}

impl From<segment::BuildError> for Failure {
    fn from(error: segment::BuildError) -> Failure {
        Failure::Failed(with_causes(&error))
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Failure {
        match error {
            BuildError::Registry(error) => Failure::from(error),
            error => Failure::Failed(with_causes(&error)),
        }
    }
}

impl From<TakeError> for Failure {
    fn from(error: TakeError) -> Failure {
        Failure::Failed(with_causes(&error))
    }
}

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

/// The width of the pages on standard output: that of the terminal. Elsewhere it is `COLUMNS`, or
/// there is no limit, as programs that look for a line want it whole.
pub(crate) fn columns() -> usize {
    columns_of(&Term::stdout())
}

/// The width of what is said on standard error.
pub(crate) fn error_columns() -> usize {
    columns_of(&Term::stderr())
}

fn columns_of(term: &Term) -> usize {
    let shown = term.size_checked().map(|(_, columns)| columns.into());
    let named = || env::var("COLUMNS").ok()?.parse().ok();
    shown.or_else(named).unwrap_or(usize::MAX)
}

/// `text` with its long lines broken between words. The rest of a line is indented as the line is,
/// and by `indent` more. Commands stay as they are: [`shell::command`](crate::text::shell::command) has
/// broken them where a shell allows it.
pub(crate) fn folded(text: &str, columns: usize, indent: usize) -> String {
    let mut folded = String::new();
    let mut is_command = false;
    for line in text.split_inclusive('\n') {
        let goes_on = is_command && folded.ends_with("\\\n");
        is_command = goes_on || line.starts_with("  uidring ");
        if is_command || measure_text_width(line.trim_end()) <= columns {
            folded += line;
            continue;
        }
        let indent = indent + line.len() - line.trim_start_matches(' ').len();
        let mut column = 0;
        for word in line.split_inclusive(' ') {
            if column > indent && column + measure_text_width(word.trim_end()) > columns {
                folded.truncate(folded.trim_end_matches(' ').len());
                folded += "\n";
                folded += &" ".repeat(indent);
                column = indent;
            }
            folded += word;
            column += measure_text_width(word);
        }
    }
    folded
}

/// `text` in `style`.
pub(crate) fn paint(style: Style, text: impl fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// `text` in lines that fit on standard output.
pub(crate) fn paragraph(text: &str) -> String {
    folded(text, columns(), 0) + "\n"
}

/// A remark below a page.
pub(crate) fn remark(text: &str) -> String {
    paint(DIM, folded(text, columns(), 0)) + "\n"
}

/// A line of a page: a name that fills a column of `WIDTH`, and what is said about it, in one line
/// or several.
pub(crate) fn row<const WIDTH: usize>(name: &str, style: Style, text: impl fmt::Display) -> String {
    folded(&unfolded_row::<WIDTH>(name, style, text), columns(), WIDTH + 2)
}

/// The same, for what is folded later.
pub(crate) fn unfolded_row<const WIDTH: usize>(
    name: &str,
    style: Style,
    text: impl fmt::Display,
) -> String {
    format!("{}  {text}\n", paint(style, format_args!("{name:<WIDTH$}")))
}

/// `part` of `all` as a bar of `width`: of the first sign where it is full, else of the other.
pub(crate) fn gauge(signs: [&str; 2], width: usize, part: u128, all: u128, style: Style) -> String {
    let full = usize::try_from(width as u128 * part / all.max(1)).unwrap_or(width).min(width);
    paint(style, signs[0].repeat(full)) + &paint(DIM, signs[1].repeat(width - full))
}

/// Formats the times of one layout, all to the same precision: whole seconds if its ticks are
/// whole seconds, else milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    digits: usize,
}

impl Times {
    pub(crate) fn of(layout: &Layout) -> Times {
        let whole = |time: SystemTime| {
            Timestamp::try_from(time).is_ok_and(|time| time.subsec_nanosecond() == 0)
        };
        let seconds = layout.tick() == Duration::from_secs(1) && whole(layout.epoch());
        Times { digits: if seconds { 0 } else { 3 } }
    }

    /// For the times of a registry, which are in whole seconds.
    pub(crate) fn registry() -> Times {
        Times { digits: 0 }
    }

    /// `time` in UTC, in RFC 3339; `None` after the year 9999, which RFC 3339 cannot express.
    pub(crate) fn rfc3339(self, time: SystemTime) -> Option<String> {
        Timestamp::try_from(time).ok().map(|time| format!("{time:.*}", self.digits))
    }

    /// Like [`Times::rfc3339`], but every time has a text.
    pub(crate) fn utc(self, time: SystemTime) -> String {
        self.rfc3339(time).unwrap_or_else(|| {
            let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
            format!("Unix time {seconds}")
        })
    }

    /// `time` in the local time zone with its offset from UTC, in RFC 3339.
    pub(crate) fn local(self, time: SystemTime) -> Option<String> {
        let format = if self.digits == 0 { "%FT%T%:z" } else { "%FT%T%.3f%:z" };
        let time = Timestamp::try_from(time).ok()?;
        Some(time.to_zoned(TimeZone::system()).strftime(format).to_string())
    }
}

/// Whether local time differs from UTC at `time`.
pub(crate) fn is_elsewhere(time: SystemTime) -> bool {
    Timestamp::try_from(time).is_ok_and(|time| !TimeZone::system().to_offset(time).is_zero())
}

#[cfg(test)]
mod tests {
    use super::{folded, gauge};
    use anstyle::Style;

    #[test]
    fn lines_are_folded_between_words() {
        assert_eq!(folded("one two three\nfour\n", 13, 2), "one two three\nfour\n");
        assert_eq!(folded("one two three\nfour\n", 9, 2), "one two\n  three\nfour\n");
        assert_eq!(folded("  a   bc defghijkl m", 6, 1), "  a\n   bc\n   defghijkl\n   m");
        let command = "so:\n  uidring take \\\n    --tag 'a b c d e f g h'\n";
        assert_eq!(folded(command, 9, 0), command);
        assert_eq!(
            folded(&format!("{command}a b c d e f g"), 9, 0),
            format!("{command}a b c d e\nf g")
        );
        assert_eq!(folded("\u{1b}[31mred red\u{1b}[0m", 7, 0), "\u{1b}[31mred red\u{1b}[0m");
    }

    #[test]
    fn a_gauge_is_full_at_the_limit() {
        let gauges = [0, 1, 2, 4, 28].map(|part| gauge(["#", "-"], 2, part, 4, Style::new()));
        let texts = gauges.map(|gauge| anstream::adapter::strip_str(&gauge).to_string());
        assert_eq!(texts, ["--", "--", "#-", "##", "##"]);
    }
}
