//! `uidring series close` and `prune`: periods that are over.

use uidring::series::Period;
use uidring_args::Db;

use super::{about, closed_before, failure};
use crate::args::db::{self, DbArg};
use crate::args::wait_notice::with_wait_notice;
use crate::text::words::counted;
use crate::text::{self, DIM, Failure, columns, command, paint, paragraph};

/// Close a period that is over, and all before it
///
/// None of them gives a number any more, in no scope and no program. It stays so: what is closed
/// cannot be opened again. Their numbers are still read.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  uidring series close orders 2026-10-31
  uidring series close parcels 2026-W44
  uidring series close claims FY2025-04 --db postgres://shop@db.example.com/shop")]
pub(crate) struct Close {
    /// Its name
    #[arg(value_name = "NAME")]
    series: String,

    /// The period, as `uidring series list NAME` shows it: 2026-10-31, 2026-W44, 2026-10, 2026-Q4,
    /// 2026 or FY2026-04
    #[arg(value_name = "PERIOD")]
    period: Period,

    #[command(flatten)]
    db: DbArg,
}

impl Close {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let db = self.db.db()?;
        text::print(&with_wait_notice(&db, || self.close(&db))?)
    }

    fn close(&self, db: &Db) -> Result<String, Failure> {
        let series = db::existing_series(db)?;
        let closed = series.close(&self.series, self.period);
        let record = closed.map_err(|error| failure(db, &error))?;
        let before = closed_before(&record).unwrap_or_default();
        let page = paragraph(&format!(
            "the series {} is closed before {before}: periods that ended by then give no number",
            self.series
        ));
        let prune =
            command("to remove their counters:", &about(db, "prune", &self.series, &[]), columns());
        Ok(page + &paint(DIM, prune))
    }
}

/// Remove the counters of closed periods
///
/// No number comes twice by that, as closed periods give none.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  uidring series prune orders
  uidring series prune orders --db uidring.db
  uidring series prune orders --db postgres://shop@db.example.com/shop")]
pub(crate) struct Prune {
    /// Its name
    #[arg(value_name = "NAME")]
    series: String,

    #[command(flatten)]
    db: DbArg,
}

impl Prune {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let db = self.db.db()?;
        let removed = with_wait_notice(&db, || {
            let pruned = db::existing_series(&db)?.prune(&self.series);
            pruned.map_err(|error| failure(&db, &error))
        })?;
        let counters = counted(removed, "counter");
        text::print(&paragraph(&format!(
            "{counters} of closed periods of the series {} removed",
            self.series
        )))
    }
}
