//! What the subcommands share in their output: failures and exit statuses, colours, and times.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anstyle::{AnsiColor, Style};
use indicatif::HumanCount;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use uidring::{BuildError, Layout, LayoutError, RegistryError, TakeError};

use crate::db::without_passwords;

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
    let _ = writeln!(anstream::stderr(), "uidring: {sentence}");
}

/// Writes to standard error what is not part of the output.
pub(crate) fn say(page: &str) {
    let _ = anstream::stderr().write_all(page.as_bytes());
}

impl From<clap::Error> for Failure {
    fn from(error: clap::Error) -> Failure {
        Failure::Arguments(error)
    }
}

impl From<LayoutError> for Failure {
    fn from(error: LayoutError) -> Failure {
        Failure::Usage(error.to_string())
    }
}

impl From<RegistryError> for Failure {
    fn from(error: RegistryError) -> Failure {
        Failure::Failed(error.to_string())
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Failure {
        Failure::Failed(error.to_string())
    }
}

impl From<TakeError> for Failure {
    fn from(error: TakeError) -> Failure {
        Failure::Failed(error.to_string())
    }
}

/// Prints `page` at once. Its colours are kept only on a terminal, and only if `NO_COLOR` is not
/// set.
pub(crate) fn print(page: &str) -> Result<(), Failure> {
    let mut stdout = anstream::stdout().lock();
    stdout.write_all(page.as_bytes()).and_then(|()| stdout.flush()).map_err(Failure::Output)
}

/// `value` as one line of JSON.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    match serde_json::to_string(value) {
        Ok(text) => Ok(text + "\n"),
        Err(error) => Err(Failure::Failed(format!("cannot write JSON: {error}"))),
    }
}

/// `text` in `style`.
pub(crate) fn paint(style: Style, text: impl fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// A length of time in the largest unit that gives at least two, rounded down: "90 seconds",
/// "47 hours", "34 years".
pub(crate) fn span(length: Duration) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    const YEAR: u64 = 31_556_952; // 365.2425 days
    let seconds = length.as_secs();
    let (unit, name) = match seconds {
        0..120 => (1, "second"),
        120..7_200 => (MINUTE, "minute"),
        7_200..172_800 => (HOUR, "hour"),
        172_800..63_113_904 => (DAY, "day"),
        _ => (YEAR, "year"),
    };
    let count = seconds / unit;
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {name}{plural}", HumanCount(count))
}

/// The distance of `time` from `now`: "in 3 hours", "9 years ago".
pub(crate) fn distance(time: SystemTime, now: SystemTime) -> String {
    match (now.duration_since(time), time.duration_since(now)) {
        (Ok(since), _) if since.as_secs() == 0 => "now".to_owned(),
        (Ok(since), _) => span(since) + " ago",
        (_, Ok(until)) => format!("in {}", span(until)),
        (Err(_), Err(_)) => String::new(),
    }
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
    use super::{distance, span};
    use std::time::{Duration, SystemTime};

    #[test]
    fn a_span_has_one_unit() {
        let texts = [1, 119, 120, 7_199, 7_200, 172_800, 63_113_903, 63_113_904, 1 << 30]
            .map(|seconds| span(Duration::from_secs(seconds)));
        let expected = [
            "1 second",
            "119 seconds",
            "2 minutes",
            "119 minutes",
            "2 hours",
            "2 days",
            "730 days",
            "2 years",
            "34 years",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn distances_look_both_ways() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        assert_eq!(distance(now, now), "now");
        assert_eq!(distance(now - Duration::from_secs(10), now), "10 seconds ago");
        assert_eq!(distance(now + Duration::from_secs(10), now), "in 10 seconds");
    }
}
