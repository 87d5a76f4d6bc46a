//! `uidring series next`: takes numbers.

use std::io::{self, Write};

use uidring::series::{Date, Pattern, Series, SeriesGenerator, SeriesNumber, valid_scope};
use uidring_args::{Db, quantity};

use super::{Record, failure};
use crate::args::db::{self, DbArg};
use crate::args::wait_notice::with_wait_notice;
use crate::run::load::{Load, Run};
use crate::text::{self, Failure};

/// Numbers of another day than today are taken so many at a time.
const BATCH: u64 = 10_000;

/// Take numbers of a series, and print them, one a line
///
/// What is left of the numbers in memory goes back at the end. The numbers of a gapless series are
/// counted in the transaction of the document that has them, which this tool does not have.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  uidring series next orders
  uidring series next orders -n 100 > orders.txt
  uidring series next parcels --scope shop-7
  uidring series next orders --date 2026-11-01   those of another day
  uidring series next orders --json")]
pub(crate) struct Args {
    /// Its name
    #[arg(value_name = "NAME")]
    series: String,

    /// What counts by itself, such as a shop, if the pattern has a {scope}
    #[arg(long, value_name = "SCOPE", value_parser = scope)]
    scope: Option<String>,

    /// The day of the document [default: today, where the series is]
    #[arg(long, value_name = "DATE")]
    date: Option<Date>,

    /// How many numbers: 500, 20k
    #[arg(
        short = 'n', long, value_name = "N", default_value = "1", value_parser = quantity::count
    )]
    count: u64,

    /// Print a JSON object for each number, one a line
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    db: DbArg,
}

fn scope(text: &str) -> Result<String, String> {
    valid_scope(text).map(|()| text.to_owned()).map_err(|error| error.to_string())
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let db = self.db.db()?;
        let series = with_wait_notice(&db, || db::existing_series(&db))?;
        let done = self.take(&db, &series);
        let given_back = with_wait_notice(&db, || series.shutdown());
        done?;
        Ok(given_back?)
    }

    fn take(&self, db: &Db, series: &Series) -> Result<(), Failure> {
        let numbers = with_wait_notice(db, || self.numbers(db, series))?;
        let (threads, count) = (1, Some(self.count));
        let run = Run::start(Load { threads, rate: None, count, length: None });
        run.stop_on_interrupt()?;
        let mut stdout = io::BufWriter::new(io::stdout().lock());
        let printed = match self.date {
            Some(date) => self.print_of(date, db, &numbers, &run, &mut stdout),
            None => self.print(db, &numbers, &run, &mut stdout),
        };
        // Those that were taken before it failed are nobody else's.
        stdout.flush().map_err(Failure::Output)?;
        printed?;
        if run.done() < self.count {
            let (done, all) = (run.done(), self.count);
            return Err(Failure::Interrupted { done, all, what: "number" });
        }
        Ok(())
    }

    /// The series, or the scope of it, from which to take.
    fn numbers(&self, db: &Db, series: &Series) -> Result<SeriesGenerator, Failure> {
        let numbers = series.get(&self.series).map_err(|error| failure(db, &error))?;
        let record = numbers.record()?;
        if record.newest().definition.is_gapless() {
            return Err(Failure::Failed(format!(
                "the series {:?} is gapless: each number is counted in the transaction that stores \
                 its document, and this tool has none; a program takes it there with take_in, or \
                 next_in of a binding",
                self.series
            )));
        }
        let pattern: Pattern = match self.date {
            Some(date) => record.version_on(date).definition.pattern().clone(),
            None => numbers.pattern(),
        };
        match (&self.scope, pattern.has_scope()) {
            (None, false) => Ok(numbers),
            (Some(scope), true) => Ok(numbers.scope(scope)),
            (None, true) => Err(Failure::Failed(format!(
                "the series {:?} counts by scopes, as its pattern is {pattern}: name one with \
                 --scope",
                self.series
            ))),
            (Some(scope), false) => Err(Failure::Failed(format!(
                "the series {:?} has no scopes, as its pattern {pattern} has no {{scope}}: leave \
                 --scope {scope} out",
                self.series
            ))),
        }
    }

    /// Numbers of now, from memory.
    fn print(
        &self,
        db: &Db,
        numbers: &SeriesGenerator,
        run: &Run,
        to: &mut impl Write,
    ) -> Result<(), Failure> {
        while run.done() < self.count && !run.is_stopped() {
            // The first one waits for the store.
            let number = match run.done() {
                0 => with_wait_notice(db, || numbers.take()),
                _ => numbers.take(),
            };
            self.write(&number.map_err(|error| failure(db, &error))?, run, to)?;
        }
        Ok(())
    }

    /// Numbers of the day `date`.
    fn print_of(
        &self,
        date: Date,
        db: &Db,
        numbers: &SeriesGenerator,
        run: &Run,
        to: &mut impl Write,
    ) -> Result<(), Failure> {
        while run.done() < self.count && !run.is_stopped() {
            let count = BATCH.min(self.count - run.done());
            let taken = with_wait_notice(db, || numbers.take_n_for(date, count));
            for number in taken.map_err(|error| failure(db, &error))? {
                self.write(&number, run, to)?;
            }
        }
        Ok(())
    }

    fn write(&self, number: &SeriesNumber, run: &Run, to: &mut impl Write) -> Result<(), Failure> {
        let line = if self.json {
            text::json(&Record {
                number: number.as_str(),
                value: number.value().to_string(),
                period: number.period().to_string(),
                shown: number.shown().to_string(),
                scope: self.scope.as_deref(),
            })?
        } else {
            format!("{number}\n")
        };
        to.write_all(line.as_bytes()).map_err(Failure::Output)?;
        run.advance(1);
        Ok(())
    }
}
