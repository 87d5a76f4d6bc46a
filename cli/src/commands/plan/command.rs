//! `uidring plan`: which layout a service needs.

use std::time::{Duration, SystemTime};

use uidring::clock::{Clock, SystemClock};
use uidring_layouts::plan::{self, Plan, Problem, Report, Request};
use uidring_layouts::quantity::{Quantity, quantity};
use uidring_layouts::{some_length, time};

use crate::commands::plan::page;
use crate::text::{self, Failure};

/// Find the layout that a service needs
///
/// Rates are those of one node, a process with a generator of its own. Divide the rate of a whole
/// fleet by --nodes. A node may take more UIDs than a tick holds: it borrows from later ticks, up
/// to --max-lead, and gives them back when it takes fewer. So the average has to fit, and a peak
/// has to end before --max-lead is used up. Spare bits go to the field with the least room.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  uidring plan --rate 1000
  uidring plan --rate 2k --peak 20k --peak-for 2h --nodes 20 --years 20
  uidring plan --rate 500 --nodes 1000 --restarts-per-day 0.5
  uidring plan --above 1256557484213448722
  uidring plan --rate 500 --oldest 2015-03-01      for rows since then
  uidring plan --rate 10k --json | jq -r .recommended.rust")]
pub(crate) struct Args {
    /// UIDs a second of each node, without peaks: 500, 20k, 1.5M. With --above, 1000 unless given
    #[arg(long, value_name = "R", value_parser = quantity, required_unless_present = "above")]
    rate: Option<Quantity>,

    /// UIDs a second of each node during a peak [default: --rate, no peaks]
    #[arg(long, value_name = "R", value_parser = quantity)]
    peak: Option<Quantity>,

    /// How long a peak lasts
    #[arg(long, value_name = "LENGTH", default_value = "1h", value_parser = some_length)]
    peak_for: Duration,

    /// How many peaks a day, such as 1, or 0.033 for one a month
    #[arg(long, value_name = "P", default_value = "1", value_parser = quantity)]
    peaks_per_day: Quantity,

    /// How many nodes
    #[arg(long, value_name = "N", default_value = "1", value_parser = plan::nodes)]
    nodes: u64,

    /// How often each node restarts, for deployments and after crashes. Each start uses up a worker
    /// id
    #[arg(long, value_name = "K", default_value = "1", value_parser = quantity)]
    restarts_per_day: Quantity,

    /// For how many years from now the layout must last
    #[arg(long, value_name = "Y", default_value = "30", value_parser = plan::years)]
    years: u64,

    /// When the time field begins: RFC 3339, or a date [default: the start of this year]
    #[arg(long, value_name = "TIME", value_parser = time)]
    epoch: Option<SystemTime>,

    /// The time of the oldest row that shall have an id: the time field begins on that day, or with
    /// this year if that is earlier
    #[arg(long, value_name = "TIME", value_parser = time)]
    oldest: Option<SystemTime>,

    /// Make each UID larger than this one, the largest id of another generator when it is replaced
    /// (an estimate from above will do: its ids may grow much faster than these). The time field
    /// then begins earlier, and ends earlier
    #[arg(long, value_name = "MAX_ID", value_parser = parse_above, allow_negative_numbers = true)]
    above: Option<u64>,

    /// How far UIDs may run ahead of the clock
    #[arg(long, value_name = "LENGTH", default_value = "1d", value_parser = some_length)]
    max_lead: Duration,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// 0 for a negative id, as every UID is larger.
fn parse_above(text: &str) -> Result<u64, String> {
    match text.parse::<i64>() {
        Ok(id) => Ok(u64::try_from(id).unwrap_or(0)),
        Err(_) => Err("an id is a whole number below 2^63".to_owned()),
    }
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let now = SystemClock.now();
        let request = self.request();
        let epoch = request.first_time(now)?;
        let needs = request.needs(epoch, now)?;
        let plan = Plan::new(&needs, epoch, now)?;
        if self.json {
            text::print(&text::json(&Report::of(&needs, plan.candidates(), now))?)?;
        }
        match plan {
            Plan::NothingExceeds => Err(Failure::Failed(page::nothing_exceeds(&needs))),
            Plan::TooMuch => Err(Failure::Explained(page::refusal(&needs))),
            Plan::Fits(_) if self.json => Ok(()),
            Plan::Fits(candidates) => {
                let is_enough = request.default_is_enough(&needs, now);
                text::print(&page::page(&needs, &candidates, is_enough, now))
            }
        }
    }

    fn request(&self) -> Request {
        let Args { rate, peak, peak_for, peaks_per_day, nodes, .. } = *self;
        let Args { restarts_per_day, years, epoch, oldest, above, max_lead, .. } = *self;
        Request {
            rate,
            peak,
            peak_for,
            peaks_per_day,
            nodes,
            restarts_per_day,
            years,
            epoch,
            oldest,
            above,
            max_lead,
        }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Failure {
        match problem {
            Problem::NoClock => Failure::Failed(problem.to_string()),
            _ => Failure::Usage(problem.to_string()),
        }
    }
}
