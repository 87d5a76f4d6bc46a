//! `uidring plan`: which layout a service needs.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Serialize;
use uidring::Layout;
use uidring::clock::{Clock, SystemClock};
use uidring_args::quantity::{Quantity, count, count_of, millis, quantity, saturating_u64};
use uidring_args::{some_length, time};

use crate::commands::plan::candidates::{Candidate, candidates};
use crate::commands::plan::headroom::headroom;
use crate::commands::plan::page;
use crate::commands::plan::sizing::{FieldWidths, Needs, YEAR_MS};
use crate::commands::plan::trade_offs::{TradeOffs, trade_offs};
use crate::text::{self, Failure, Times};

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
    #[arg(long, value_name = "N", default_value = "1", value_parser = some_nodes)]
    nodes: u64,

    /// How often each node restarts, for deployments and after crashes. Each start uses up a worker
    /// id
    #[arg(long, value_name = "K", default_value = "1", value_parser = quantity)]
    restarts_per_day: Quantity,

    /// For how many years from now the layout must last
    #[arg(long, value_name = "Y", default_value = "30", value_parser = some_years)]
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

fn some_years(text: &str) -> Result<u64, String> {
    count_of(text, "years", 1..=10_000)
}

fn some_nodes(text: &str) -> Result<u64, String> {
    match count(text)? {
        0 => Err("there is at least 1 node".to_owned()),
        nodes @ ..=1_000_000_000 => Ok(nodes),
        _ => Err("there are at most 1,000,000,000 nodes".to_owned()),
    }
}

#[derive(Serialize)]
struct Report {
    fits: bool,
    needs: MinimumBits,
    recommended: Option<Row>,
    others: Vec<Row>,
    /// Each would be enough.
    instead: Vec<String>,
    /// When the old ids pass those of the recommended layout, if that is soon.
    old_ids_pass_in_ms: Option<u64>,
}

#[derive(Serialize)]
struct MinimumBits {
    bits: u32,
    #[serde(flatten)]
    least: FieldWidths,
    until: Option<String>,
    starts: u64,
    average_per_second: f64,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    fits: bool,
    #[serde(flatten)]
    split: FieldWidths,
    epoch: Option<String>,
    expires: Option<String>,
    worker_ids: u64,
    worker_ids_needed: u64,
    worker_ids_per_peak: u64,
    uids_per_second: u64,
    peak_borrows_ms: u64,
    /// How long a peak may last; null for ever.
    peak_may_last_ms: Option<u64>,
    rust: String,
    flags: String,
    /// The call of each binding.
    bindings: BTreeMap<&'static str, String>,
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let now = SystemClock.now();
        let epoch = self.first_time(now)?;
        let needs = self.needs(epoch, now)?;
        let Some(split) = needs.recommended() else {
            if self.json {
                text::print(&text::json(&report(&needs, &[], now))?)?;
            }
            let without = Needs { above: 0, ..needs };
            return Err(match without.recommended() {
                Some(_) => Failure::Failed(page::nothing_exceeds(&needs)),
                None => Failure::Explained(page::refusal(&needs)),
            });
        };
        let candidates = candidates(&needs, split, epoch, now)?;
        let page = if self.json {
            text::json(&report(&needs, &candidates, now))?
        } else {
            // It has an epoch of its own.
            let age = now.duration_since(Layout::DEFAULT.epoch()).unwrap_or_default();
            let of_default = Needs { age_ms: saturating_u64(age.as_millis()), ..needs };
            let is_enough = of_default.fits(FieldWidths::of(&Layout::DEFAULT))
                && self.oldest.is_none_or(|oldest| oldest >= Layout::DEFAULT.epoch())
                && Layout::DEFAULT.min_uid(now).is_some_and(|first| first.get() > needs.above);
            page::page(&needs, &candidates, is_enough, now)
        };
        text::print(&page)
    }

    /// When the time field begins.
    fn first_time(&self, now: SystemTime) -> Result<SystemTime, Failure> {
        let usage = |sentence: &str| Err(Failure::Usage(sentence.to_owned()));
        match (self.epoch, self.oldest) {
            (_, Some(oldest)) if oldest > now => {
                usage("the time of --oldest has not come: it is that of a row which is there")
            }
            (Some(epoch), Some(oldest)) if epoch > oldest => {
                usage("--epoch is after --oldest, whose row could have no id: leave --epoch out")
            }
            (Some(epoch), _) => Ok(epoch),
            (None, None) => start_of_year(now),
            (None, Some(oldest)) => Ok(start_of_year(now)?.min(midnight(oldest, |day| day)?)),
        }
    }

    fn needs(&self, epoch: SystemTime, now: SystemTime) -> Result<Needs, Failure> {
        let Args {
            above,
            rate,
            peak,
            peak_for,
            peaks_per_day,
            nodes,
            restarts_per_day,
            years,
            max_lead,
            ..
        } = *self;
        let usage = |sentence: &str| Err(Failure::Usage(sentence.to_owned()));
        let Ok(age) = now.duration_since(epoch) else {
            return usage("the epoch has not begun: choose one in the past");
        };
        let rate = rate.unwrap_or(Quantity::whole(1000));
        let peak = peak.unwrap_or(rate);
        if peak < rate {
            return usage("--peak is below --rate: a peak is when more is taken");
        }
        if rate.thousandths == 0 && peak.thousandths == 0 {
            return usage("nothing is taken at a rate of 0");
        }
        let peaks = u128::from(peaks_per_day.thousandths) * peak_for.as_millis();
        if peak > rate && peaks > 86_400_000 * 1000 {
            return usage(
                "the peaks take more than the day: lower --peak-for or --peaks-per-day, \
                 or raise --rate",
            );
        }
        let age_ms = saturating_u64(age.as_millis());
        let peaks_per_day = if peak == rate { Quantity { thousandths: 0 } } else { peaks_per_day };
        Ok(Needs {
            above: above.unwrap_or(0),
            age_ms,
            years,
            nodes,
            restarts_per_day,
            rate,
            peak,
            peak_for,
            peaks_per_day,
            max_lead,
        })
    }
}

fn start_of_year(now: SystemTime) -> Result<SystemTime, Failure> {
    midnight(now, Date::first_of_year)
}

/// The beginning of the day that `of` makes of that of `time`, in UTC.
fn midnight(time: SystemTime, of: impl FnOnce(Date) -> Date) -> Result<SystemTime, Failure> {
    let start = Timestamp::try_from(time).and_then(|time| {
        Ok(of(time.to_zoned(TimeZone::UTC).date()).to_zoned(TimeZone::UTC)?.timestamp())
    });
    start
        .map(SystemTime::from)
        .map_err(|_| Failure::Failed("the clock shows no time to plan from".to_owned()))
}

fn row(candidate: &Candidate, needs: &Needs) -> Row {
    let Candidate { name, split, layout } = candidate;
    let times = Times::of(layout);
    Row {
        name,
        fits: needs.fits(*split),
        split: *split,
        epoch: times.rfc3339(layout.epoch()),
        expires: times.rfc3339(layout.expires_at()),
        worker_ids: layout.max_worker(),
        worker_ids_needed: saturating_u64(needs.ids(*split)),
        worker_ids_per_peak: saturating_u64(needs.ids_per_peak(*split)),
        uids_per_second: split.uids_per_second(),
        peak_borrows_ms: saturating_u64(needs.borrowed_ms(*split)),
        peak_may_last_ms: needs.peak_lasts_ms(*split).map(saturating_u64),
        rust: candidate.rust().concat(),
        flags: candidate.flags(),
        bindings: candidate.bindings().into(),
    }
}

#[allow(clippy::cast_precision_loss)] // a rate with three decimals
fn report(needs: &Needs, candidates: &[Candidate], now: SystemTime) -> Report {
    let least = candidates
        .first()
        .map_or_else(|| needs.smallest(), |first| needs.least(first.split.tick_ms));
    let until = now.checked_add(millis(u128::from(needs.years) * YEAR_MS));
    let mut rows = candidates.iter().map(|candidate| row(candidate, needs));
    let instead = match candidates {
        [] => match trade_offs(needs) {
            TradeOffs::AnyOf(ways) => ways,
            TradeOffs::AllOf(changes) => vec![changes.join(", ")],
        },
        _ => Vec::new(),
    };
    Report {
        fits: !candidates.is_empty(),
        needs: MinimumBits {
            bits: least.bits(),
            least,
            until: until.and_then(|until| Times::of(&Layout::DEFAULT).rfc3339(until)),
            starts: saturating_u64(needs.starts()),
            average_per_second: needs.average().thousandths as f64 / 1000.0,
        },
        recommended: rows.next(),
        others: rows.collect(),
        instead,
        old_ids_pass_in_ms: candidates
            .first()
            .and_then(|first| headroom(needs.above, &first.layout, now))
            .map(|headroom| saturating_u64(headroom.lasts.as_millis())),
    }
}
