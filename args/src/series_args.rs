//! The options that say what a new series is, beside its pattern.

use uidring::series::SeriesDefinition;

use crate::quantity;

/// The options that say what a new series is, beside its pattern.
#[derive(Clone, Debug, clap::Args)]
pub struct SeriesArgs {
    /// Where its days begin, by the name in the database of IANA [default: UTC]
    #[arg(long, value_name = "ZONE")]
    time_zone: Option<String>,

    /// Count without gaps, each number in the transaction that stores the document
    #[arg(long)]
    gapless: bool,

    /// The month that fiscal years begin with, 1 to 12, for a pattern with {fy}
    #[arg(long, value_name = "MONTH", value_parser = month)]
    fiscal_year: Option<u8>,

    /// How many numbers a process takes at a time, fewer where the pattern has few: 500, 20k
    /// [default: 100]
    #[arg(long, value_name = "N", value_parser = quantity::count)]
    step: Option<u64>,

    /// The first number of each period [default: 1]
    #[arg(long, value_name = "N", value_parser = quantity::count)]
    first: Option<u64>,
}

fn month(text: &str) -> Result<u8, String> {
    quantity::count_of(text, "months", 1..=12)
}

impl SeriesArgs {
    /// `new`, with what the options say.
    #[must_use]
    pub fn complete(&self, mut new: SeriesDefinition) -> SeriesDefinition {
        if let Some(zone) = &self.time_zone {
            new = new.time_zone(zone);
        }
        if self.gapless {
            new = new.gapless();
        }
        if let Some(month) = self.fiscal_year {
            new = new.fiscal_year(month);
        }
        if let Some(step) = self.step {
            new = new.step(step);
        }
        if let Some(first) = self.first {
            new = new.first(first);
        }
        new
    }
}
