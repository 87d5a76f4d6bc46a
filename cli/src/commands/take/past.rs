//! `uidring take --at` and `--times`: UIDs of times that were.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::PathBuf;
use std::time::SystemTime;

use uidring::{PastGenerator, TakeTimesError};
use uidring_args::{Db, time, with_causes};

use crate::args::ids::each_line;
use crate::commands::take::explained::{explain, is_explained};
use crate::run::lines::{Format, Lines as _, UidLines};
use crate::text::{Failure, unbuffered_stdout};

/// How many UIDs are taken at once.
const BATCH: usize = 10_000;

/// The times whose UIDs are taken.
pub(crate) enum Times {
    /// As many of one time.
    Each(SystemTime, u64),
    /// A time in each line of the file; `-` is standard input.
    Lines(PathBuf),
}

impl Times {
    /// Takes the UIDs and prints them.
    pub(crate) fn run(
        &self,
        past: &PastGenerator,
        format: Option<Format>,
        db: &Db,
    ) -> Result<(), Failure> {
        let failed = |error: TakeTimesError| Failure::Failed(with_causes(&error.cause));
        let mut printer = Printer::new(past, format)?;
        match self {
            Times::Each(time, count) if format.is_none() && is_explained(*count) => {
                let uids = past.take_times(&batch_of(*time, *count)).map_err(failed)?;
                explain(past.layout(), &uids, past.status().worker_id, false, db)
            }
            Times::Each(time, count) => {
                let mut left = *count;
                while left > 0 {
                    let times = batch_of(*time, left);
                    left -= times.len() as u64;
                    printer.print(&times)?.map_or(Ok(()), |error| Err(failed(error)))?;
                }
                Ok(())
            }
            Times::Lines(file) if file.as_os_str() == "-" => {
                printer.print_lines(BufReader::new(io::stdin().lock()), "standard input")
            }
            Times::Lines(file) => {
                let name = file.display().to_string();
                let open = File::open(file);
                let open = open.map_err(|e| Failure::Failed(format!("cannot open {name}: {e}")))?;
                printer.print_lines(BufReader::with_capacity(1 << 16, open), &name)
            }
        }
    }
}

/// `time` as often as it is left, and as often as is taken at once at most.
fn batch_of(time: SystemTime, left: u64) -> Vec<SystemTime> {
    vec![time; usize::try_from(left).unwrap_or(BATCH).min(BATCH)]
}

struct Printer<'a> {
    past: &'a PastGenerator,
    lines: UidLines,
    stdout: File,
    /// The lines of a batch.
    text: Vec<u8>,
}

impl<'a> Printer<'a> {
    fn new(past: &'a PastGenerator, format: Option<Format>) -> Result<Printer<'a>, Failure> {
        let lines = UidLines::new(format.unwrap_or(Format::Decimal), *past.layout());
        let stdout = unbuffered_stdout().map_err(Failure::Output)?;
        Ok(Printer { past, lines, stdout, text: Vec::new() })
    }

    /// Prints a UID for each of `times`, or for those before the one that has none, whose error it
    /// returns.
    fn print(&mut self, times: &[SystemTime]) -> Result<Option<TakeTimesError>, Failure> {
        let (uids, error) = match self.past.take_times(times) {
            Ok(uids) => (uids, None),
            Err(error) => {
                let before = times.get(..error.index).unwrap_or_default();
                match self.past.take_times(before) {
                    Ok(uids) => (uids, Some(error)),
                    Err(earlier) => (Vec::new(), Some(earlier)),
                }
            }
        };
        self.text.clear();
        self.lines.append(&uids, &mut self.text);
        self.stdout.write_all(&self.text).map_err(Failure::Output)?;
        Ok(error)
    }

    /// Prints a UID for each line of `file`, as soon as no further line is there.
    fn print_lines<R: Read>(&mut self, file: BufReader<R>, name: &str) -> Result<(), Failure> {
        // The times of the lines from the `first` on, whose UIDs are to be printed.
        let (mut times, mut first) = (Vec::new(), 1);
        let failed = |line: usize, problem: String| {
            Err(Failure::Failed(format!("line {line} of {name}: {problem}")))
        };
        let mut print = |times: &mut Vec<SystemTime>, first: &mut usize| {
            if let Some(error) = self.print(times)? {
                return failed(*first + error.index, with_causes(&error.cause));
            }
            *first += times.len();
            times.clear();
            Ok(())
        };
        each_line(file, name, |text, is_another_there| {
            match time(text) {
                Ok(time) => times.push(time),
                Err(problem) => {
                    print(&mut times, &mut first)?;
                    return failed(first, format!("{text:?}: {problem}"));
                }
            }
            if times.len() == BATCH || !is_another_there {
                print(&mut times, &mut first)?;
            }
            Ok(())
        })
    }
}
