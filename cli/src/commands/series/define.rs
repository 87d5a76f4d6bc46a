//! `uidring series create` and `change`: what a series is.

use uidring::series::{
    Date, ParseDateError, Pattern, Series, SeriesDefinition, SeriesError, SeriesRecord,
    SeriesVersion, Unit, valid_scope,
};
use uidring_args::{Db, SeriesArgs, present_definition, quantity, with_causes};

use super::{about, describe, failure};
use crate::args::db::{self, DbArg};
use crate::args::wait_notice::with_wait_notice;
use crate::text::{
    self, DIM, Failure, columns, command, failure_with_command, footnote, paint, paragraph,
};

/// Create a series
///
/// A pattern is text with fields in braces. `{n:6}` is the number in six digits, `{n:4+}` in at
/// least four; `{n}` has as many as it needs. `{yyyy}` `{yy}` `{MM}` `{dd}` `{DDD}` `{GGGG}` `{ww}`
/// `{q}` `{fy}` are the year, the month, the day, the day of the year, the year of a week and the
/// week, the quarter and the fiscal year, also `{fy:yy}` `{fy:yy-yy}` `{fy:yyyy-yy}`
/// `{fy:yyyy-yyyy}` or, by its end, `{fye}` `{fye:yy}`; the finest of them says with what the
/// numbers begin anew, unless `--restart` does. `{scope}` is the scope, such as a shop.
/// `{check:luhn}` `{check:damm}` `{check:mod11_10}` `{check:gs1}` `{check:mod97}`
/// `{check:mod97_10}` are check digits over what is before them, or as `{check:gs1:n}` over the
/// number alone, and `RF{check:iso11649}` over what is behind. A pattern in which two numbers could
/// have one text is refused.
///
/// A series that is there as it is asked for is left as it is. A registry that does not exist yet
/// is created, too.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  uidring series create orders 'SO{yyyy}{MM}{dd}-{n:6}' --time-zone Asia/Tokyo
  uidring series create parcels '{scope}/{GGGG}W{ww}-{n:4}' --step 20
  uidring series create invoices '{yyyy}-{n:5}{check:damm}' --gapless
  uidring series create bills '{yy}{MM}-{n:4}' --restart year
  uidring series create claims 'C{fy}-{n:5}' --fiscal-year-from 04-06 --first 7")]
pub(crate) struct Create {
    /// Its name, of 1 to 64 letters, digits, `-`, `_` and `.`
    #[arg(value_name = "NAME", value_parser = name)]
    series: String,

    /// How its numbers are written
    #[arg(value_name = "PATTERN")]
    pattern: Pattern,

    #[command(flatten)]
    options: SeriesArgs,

    #[command(flatten)]
    db: DbArg,
}

fn name(text: &str) -> Result<String, String> {
    match valid_scope(text) {
        Ok(()) => Ok(text.to_owned()),
        Err(_) => Err("a name is 1 to 64 letters and digits of ASCII, '-', '_' and '.'".to_owned()),
    }
}

impl Create {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let new = self.options.complete(definition(&self.pattern)?);
        let new = new.map_err(|error| Failure::Usage(with_causes(&error)))?;
        // Before a file is made for it.
        new.check().map_err(|error| Failure::Usage(with_causes(&error)))?;
        let db = self.db.db()?;
        text::print(&with_wait_notice(&db, || self.create(&db, &db::series(&db)?, new))?)
    }

    fn create(&self, db: &Db, series: &Series, new: SeriesDefinition) -> Result<String, Failure> {
        let is_there = match series.get(&self.series) {
            Ok(_) => true,
            Err(SeriesError::NoSuchSeries { .. }) => false,
            Err(error) => return Err(error.into()),
        };
        let created = series.create(&self.series, new);
        let record = created.and_then(|series| series.record());
        let record = record.map_err(|error| self.failure(db, error))?;
        let lead = if is_there { " is there already, as it is asked for:" } else { ":" };
        let newest = describe(&record.newest().definition);
        let page = paragraph(&format!("the series {}{lead} {newest}", self.series));
        Ok(page + &next(db, &record))
    }

    /// The failure for `error`, with the command that helps.
    fn failure(&self, db: &Db, error: SeriesError) -> Failure {
        let SeriesError::Differs { field: "pattern" | "restart" | "step" | "first", .. } = error
        else {
            return error.into();
        };
        let (pattern, why) = (self.pattern.to_string(), with_causes(&error));
        let mut options = vec![&*pattern, "--from", "DATE"];
        let asked = match &error {
            SeriesError::Differs { field: "restart", asked, .. } => Some(&**asked),
            _ => None,
        };
        if let Some(unit) = self.options.restart().or(asked) {
            options.extend(["--restart", unit]);
        }
        let change = about(db, "change", &self.series, &options);
        failure_with_command(&format!("{why}:"), &change)
    }
}

/// Write the numbers of a series otherwise, from a day on
///
/// A period begins with that day, is not closed, and has given no number yet. More digits for the
/// number may begin at once, `--from now`, also where the period has given all its numbers. Older
/// numbers are still read, and programs that run learn of the change by themselves. The time zone
/// and the kind of the series stay, and so do its step and its first number unless they are named.
/// A pattern that could write the text of an older number is refused.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  uidring series change orders 'SO{yyyy}{MM}{dd}-{n:7}' --from now
  uidring series change orders 'SO{yyyy}{MM}-{n:7}' --from 2027-01-01
  uidring series change parcels '{scope}/{GGGG}W{ww}-{n:5}' --from 2027-01-04
  uidring series change claims 'C{fy}-{n:6}' --from 2027-04-06 --step 500")]
pub(crate) struct Change {
    /// Its name
    #[arg(value_name = "NAME")]
    series: String,

    /// How its numbers are written from then on
    #[arg(value_name = "PATTERN")]
    pattern: Pattern,

    /// The first day of the change, with which a period begins: 2027-01-01, or now
    #[arg(long, value_name = "DATE", value_parser = begins)]
    from: Begins,

    /// With what the numbers begin anew: day, week, month, quarter, year, fiscal-year or never
    /// [default: as before, or the finest period that the pattern shows where it was that]
    #[arg(long, value_name = "UNIT", value_parser = uidring_args::restart)]
    restart: Option<String>,

    /// How many numbers a process takes at a time, fewer where the pattern has few: 500, 20k
    /// [default: as before]
    #[arg(long, value_name = "N", value_parser = quantity::count)]
    step: Option<u64>,

    /// The first number of each period [default: as before]
    #[arg(long, value_name = "N", value_parser = quantity::count)]
    first: Option<u64>,

    #[command(flatten)]
    db: DbArg,
}

/// When a change begins.
#[derive(Clone, Copy, Debug)]
enum Begins {
    Now,
    On(Date),
}

fn begins(text: &str) -> Result<Begins, String> {
    match text {
        "now" => Ok(Begins::Now),
        text => text.parse().map(Begins::On).map_err(|error: ParseDateError| error.to_string()),
    }
}

impl Change {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let db = self.db.db()?;
        text::print(&with_wait_notice(&db, || self.change(&db, &db::existing_series(&db)?))?)
    }

    fn change(&self, db: &Db, series: &Series) -> Result<String, Failure> {
        let series_of_name = series.get(&self.series).map_err(|error| failure(db, &error))?;
        let record = series_of_name.record()?;
        let before = match self.from {
            Begins::On(from) => &record.version_on(from).definition,
            Begins::Now => present_definition(&record, &series_of_name.pattern()),
        };
        let new = before.clone().with_pattern(&self.pattern.to_string());
        let mut new = new.map_err(|error| Failure::Usage(with_causes(&error)))?;
        if let Some(unit) = &self.restart {
            let unit = Unit::from_name(unit, before.fiscal_first_day());
            new = new.restart(unit.map_err(|error| Failure::Usage(with_causes(&error)))?);
        }
        let new = counted(new, self.step, self.first);
        let record = match self.from {
            Begins::On(from) => series.change(&self.series, new, from),
            Begins::Now => series.widen(&self.series, new),
        };
        let record = record?;
        let SeriesVersion { begins, definition, .. } = record.newest();
        let from = match self.from {
            Begins::On(from) if from == *begins => format!("from {from} on"),
            _ => "from now on".to_owned(),
        };
        let page =
            paragraph(&format!("the series {} {from}: {}", self.series, describe(definition)));
        Ok(page + &footnote("numbers from before are still read"))
    }
}

fn definition(pattern: &Pattern) -> Result<SeriesDefinition, Failure> {
    let definition = SeriesDefinition::new(&pattern.to_string());
    definition.map_err(|error| Failure::Usage(with_causes(&error)))
}

fn counted(new: SeriesDefinition, step: Option<u64>, first: Option<u64>) -> SeriesDefinition {
    let new = if let Some(step) = step { new.step(step) } else { new };
    if let Some(first) = first { new.first(first) } else { new }
}

/// How a number of it is taken.
fn next(db: &Db, record: &SeriesRecord) -> String {
    let definition = &record.newest().definition;
    if definition.is_gapless() {
        return footnote(
            "a program takes one in its transaction, with take_in, or next_in of a binding",
        );
    }
    let scope: &[&str] = if definition.pattern().has_scope() { &["--scope", "SCOPE"] } else { &[] };
    let take = about(db, "next", &record.name, scope);
    paint(DIM, command("to take one:", &take, columns()))
}
