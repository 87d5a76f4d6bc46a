//! `uidring series parse`: reads numbers.

use std::io::{self, Write};

use anstyle::Style;
use uidring::series::{Parsed, Pattern, SeriesGenerator};
use uidring_args::with_causes;

use super::{Record, existing};
use crate::args::db::DbArg;
use crate::args::ids::{self, each};
use crate::args::wait_notice::with_wait_notice;
use crate::text::table::{Column, Stream, Table};
use crate::text::{self, BOLD, DIM, Failure, SEQUENCE, TIME, paint, row};

/// Read numbers of a series: value, period and scope
///
/// Each is read by the version of the series that wrote it. A text that is none of its numbers is
/// refused with the place.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  uidring series parse orders SO20261124-000042
  uidring series parse orders SO20261124-000042 SO20261125-000001
  cut -f1 orders.tsv | uidring series parse orders --json")]
pub(crate) struct Args {
    /// Its name
    #[arg(value_name = "NAME")]
    series: String,

    /// Numbers. `-`, or none, reads the lines of standard input and prints each as
    /// it comes
    #[arg(value_name = "NUMBER", allow_negative_numbers = true)]
    texts: Vec<String>,

    /// Print a JSON object for each number, one a line
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    db: DbArg,
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        ids::check(&self.texts, "number to parse")?;
        let db = self.db.db()?;
        let series = with_wait_notice(&db, || existing(&db, &self.series))?;
        let mut reader = Reader { series, is_wrong: false };
        if self.json {
            reader.print_lines(&self.texts, String::new, record)?;
        } else if self.texts.is_empty() || self.texts.iter().any(|text| text == "-") {
            let rows = Stream::new(columns(), widths(&reader.series.pattern()), &[]);
            let line = |text: &str, parsed: &Parsed| Ok(rows.line(cells(text, parsed)));
            reader.print_lines(&self.texts, || rows.headings(), line)?;
        } else {
            reader.print(&self.texts)?;
        }
        // Each wrong text has been reported.
        if reader.is_wrong { Err(Failure::Reported) } else { Ok(()) }
    }
}

struct Reader {
    series: SeriesGenerator,
    /// Whether one of the texts was no number.
    is_wrong: bool,
}

impl Reader {
    fn parse(&mut self, text: &str) -> Option<Parsed> {
        match self.series.parse(text) {
            Ok(parsed) => Some(parsed),
            Err(error) => {
                self.is_wrong = true;
                let (name, why) = (self.series.name(), with_causes(&error));
                text::print_error(&format!("{text:?} is not a number of the series {name}: {why}"));
                None
            }
        }
    }

    /// Prints a line for each text, as soon as it comes.
    fn print_lines(
        &mut self,
        texts: &[String],
        headings: impl Fn() -> String,
        line: impl Fn(&str, &Parsed) -> Result<String, Failure>,
    ) -> Result<(), Failure> {
        let mut stdout = io::BufWriter::new(anstream::stdout().lock());
        let mut is_first = true;
        each(texts, |text, more| {
            if let Some(parsed) = self.parse(text) {
                let headings = if is_first { headings() } else { String::new() };
                is_first = false;
                let line = headings + &line(text, &parsed)?;
                stdout.write_all(line.as_bytes()).map_err(Failure::Output)?;
            }
            // A program that sends one line and waits for the answer must get it.
            if more { Ok(()) } else { stdout.flush().map_err(Failure::Output) }
        })?;
        stdout.flush().map_err(Failure::Output)
    }

    fn print(&mut self, texts: &[String]) -> Result<(), Failure> {
        let mut all = Vec::new();
        each(texts, |text, _| {
            all.extend(self.parse(text).map(|parsed| (text.to_owned(), parsed)));
            Ok(())
        })?;
        match &all[..] {
            [] => Ok(()),
            [(text, parsed)] => text::print(&card(text, parsed)),
            _ => {
                let mut table = Table::new(columns());
                for (text, parsed) in &all {
                    table.row(cells(text, parsed));
                }
                text::print(&table.to_string())
            }
        }
    }
}

/// The page for a single number.
fn card(text: &str, parsed: &Parsed) -> String {
    let line = |name, value: String| row::<6>(name, DIM, value);
    let mut card = line("number", paint(BOLD, text));
    card += &line("value", paint(SEQUENCE, parsed.value()));
    card += &line("period", paint(TIME, parsed.period()));
    if parsed.shown() != parsed.period() {
        card += &line("shown", paint(TIME, parsed.shown()));
    }
    if let Some(scope) = parsed.scope() {
        card += &line("scope", scope.to_owned());
    }
    card
}

fn columns() -> [Column; 4] {
    [
        Column::text("NUMBER", BOLD),
        Column::number("VALUE", SEQUENCE),
        Column::text("PERIOD", TIME),
        Column::text("SCOPE", Style::new()),
    ]
}

/// The widths of the columns, for scopes of usual lengths.
fn widths(pattern: &Pattern) -> [usize; 4] {
    const SCOPE: &str = "shop-0001";
    let scope = pattern.has_scope().then_some(SCOPE);
    let (day, largest) = (*pattern.dates().end(), pattern.largest());
    // Patterns without a width get by with what people count.
    let number = pattern.width().map_or(999_999, |_| largest);
    let text = pattern.format(day, scope, number).map_or(0, |text| text.len());
    [text, number.to_string().len(), "2026-11-24".len(), scope.map_or(0, str::len)]
}

fn cells(text: &str, parsed: &Parsed) -> [String; 4] {
    [
        text.to_owned(),
        parsed.value().to_string(),
        parsed.period().to_string(),
        parsed.scope().unwrap_or_default().to_owned(),
    ]
}

fn record(text: &str, parsed: &Parsed) -> Result<String, Failure> {
    text::json(&Record {
        number: text,
        value: parsed.value().to_string(),
        period: parsed.period().to_string(),
        shown: parsed.shown().to_string(),
        scope: parsed.scope(),
    })
}
