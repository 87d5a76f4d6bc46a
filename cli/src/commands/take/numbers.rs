//! `uidring take --tag`: prints numbers of a tag.

use std::io::ErrorKind;
use std::time::Duration;

use indicatif::HumanCount;
use uidring::segment::{SegmentGenerator, SegmentStatus, Segments};
use uidring_args::{Db, Table};

use crate::args::db;
use crate::args::tag_store::TagStore;
use crate::args::wait_notice::with_wait_notice;
use crate::run::lines::{Format, NumberLines};
use crate::run::live::RateMeter;
use crate::run::load::{Load, Run};
use crate::run::progress::Progress;
use crate::run::stream;
use crate::text::words::{counted, measured};
use crate::text::{self, Failure};

/// What to take from which tag.
#[derive(Debug)]
pub(crate) struct Order<'a> {
    pub(crate) tag: &'a str,
    pub(crate) table: Table,
    /// The most numbers in memory.
    pub(crate) max_in_memory: Option<u64>,
    pub(crate) load: Load,
    /// `None` where the numbers are dropped.
    pub(crate) format: Option<Format>,
    /// Whether to tell at the end how it went.
    pub(crate) is_test: bool,
}

impl Order<'_> {
    /// Takes the numbers, prints them, and gives back what is left of the segment.
    pub(crate) fn run(&self, db: &Db) -> Result<(), Failure> {
        let lines = self.format.map(|format| NumberLines::new(format, self.tag)).transpose()?;
        let segments = Segments::builder().source(db::existing_tags(db, self.table)?);
        let segments = segments.max_in_memory(self.max_in_memory.unwrap_or(u64::MAX)).build()?;
        let store = TagStore { db, table: self.table };
        let numbers = with_wait_notice(db, || segments.tag(self.tag))
            .map_err(|error| store.failure(&error, None))?;
        let run = Run::start(self.load);
        run.stop_on_interrupt()?;
        let done = self.take(&numbers, &run, lines);
        // Before the numbers that are left are given back.
        let status = numbers.status();
        drop(numbers);
        let given_back = with_wait_notice(db, || segments.shutdown());
        // If the reader has closed the pipe, it wants no summary either.
        if matches!(&done, Err(Failure::Output(error)) if error.kind() == ErrorKind::BrokenPipe) {
            return done;
        }
        if self.is_test {
            text::print_note(&summary(self.tag, &run, &status));
        }
        done?;
        given_back?;
        match self.load.count {
            Some(all) if !self.is_test && run.done() < all && run.is_stopped() => {
                Err(Failure::Interrupted { done: run.done(), all, what: "number" })
            }
            _ => Ok(()),
        }
    }

    fn take(
        &self,
        numbers: &SegmentGenerator,
        run: &Run,
        lines: Option<NumberLines>,
    ) -> Result<(), Failure> {
        let Some(lines) = lines else {
            return stream::drop_all(numbers, run, Duration::MAX, || {});
        };
        let progress = || self.load.count.and_then(|all| Progress::new(all, "number"));
        let progress = if self.is_test { None } else { progress() };
        stream::print(numbers, run, &lines, progress, Duration::MAX, || {})
    }
}

fn summary(tag: &str, run: &Run, status: &SegmentStatus) -> String {
    let elapsed = run.elapsed();
    let rate = RateMeter::new().rate(elapsed, run.done());
    let SegmentStatus { segment, loads, load_time, failures, waits, longest_wait, .. } = *status;
    format!(
        "{} of {tag} in {}: {} a second\n\
         {}, the last of {} in {}; {} failed\n\
         {} waited for one, {} at most\n",
        counted(run.done(), "number"),
        measured(elapsed),
        HumanCount(rate),
        counted(loads, "segment"),
        counted(segment, "number"),
        measured(load_time),
        HumanCount(failures),
        counted(waits, "take"),
        measured(longest_wait),
    )
}
