//! What is asked for, and the layouts that are compared.

use std::error::Error;
use std::fmt;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use uidring::{Layout, LayoutError};

use crate::plan::candidates::{Candidate, candidates};
use crate::plan::sizing::{FieldWidths, Needs};
use crate::quantity::{Quantity, count, count_of, counted, saturating_u64};

/// What is asked for, as on a command line.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// UIDs a second of each node, without peaks; 1,000 if `None`.
    pub rate: Option<Quantity>,
    /// Likewise, in a peak; without peaks if `None`.
    pub peak: Option<Quantity>,
    /// How long a peak lasts.
    pub peak_for: Duration,
    /// How many peaks there are a day.
    pub peaks_per_day: Quantity,
    /// How many processes have a generator of their own.
    pub nodes: u64,
    /// How often each restarts.
    pub restarts_per_day: Quantity,
    /// For how many years from now the layout must last.
    pub years: u64,
    /// When the time field begins; with this year if `None`.
    pub epoch: Option<SystemTime>,
    /// The time of the oldest row that shall have an id.
    pub oldest: Option<SystemTime>,
    /// The largest id in use, which all UIDs must exceed.
    pub above: Option<u64>,
    /// How far UIDs may run ahead of the clock.
    pub max_lead: Duration,
}

impl Default for Request {
    fn default() -> Request {
        Request {
            rate: None,
            peak: None,
            peak_for: Duration::from_secs(3600),
            peaks_per_day: Quantity::whole(1),
            nodes: 1,
            restarts_per_day: Quantity::whole(1),
            years: 30,
            epoch: None,
            oldest: None,
            above: None,
            max_lead: Duration::from_secs(24 * 3600),
        }
    }
}

/// Why a request cannot be met as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The oldest row is of a time that has not come.
    OldestInFuture,
    /// The time field would begin after the oldest row.
    EpochAfterOldest,
    /// The time field would begin in the future.
    EpochInFuture,
    /// A peak is below the rate.
    PeakBelowRate,
    /// Nothing is taken.
    NoRate,
    /// The peaks take more than the day.
    PeaksFillDay,
    /// The clock shows no time of the years 0 to 9999.
    NoClock,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Problem::OldestInFuture => {
                "the time of --oldest has not come: it is that of a row which is there"
            }
            Problem::EpochAfterOldest => {
                "--epoch is after --oldest, whose row could have no id: leave --epoch out"
            }
            Problem::EpochInFuture => "the epoch has not begun: choose one in the past",
            Problem::PeakBelowRate => "--peak is below --rate: a peak is when more is taken",
            Problem::NoRate => "nothing is taken at a rate of 0",
            Problem::PeaksFillDay => {
                "the peaks take more than the day: lower --peak-for or --peaks-per-day, or raise \
                 --rate"
            }
            Problem::NoClock => "the clock shows no time to plan from",
        })
    }
}

impl Error for Problem {}

/// The layouts that are compared.
#[derive(Clone, Debug)]
pub enum Plan {
    /// The recommended layout, then others.
    Fits(Vec<Candidate>),
    /// Some layout would fit, but none whose UIDs exceed those in use.
    NothingExceeds,
    /// The needs have to be reduced.
    TooMuch,
}

impl Request {
    /// When the time field begins.
    ///
    /// # Errors
    /// The epoch and the oldest row exclude each other, or the clock shows no usable time.
    pub fn first_time(&self, now: SystemTime) -> Result<SystemTime, Problem> {
        match (self.epoch, self.oldest) {
            (_, Some(oldest)) if oldest > now => Err(Problem::OldestInFuture),
            (Some(epoch), Some(oldest)) if epoch > oldest => Err(Problem::EpochAfterOldest),
            (Some(epoch), _) => Ok(epoch),
            (None, None) => start_of_year(now),
            (None, Some(oldest)) => Ok(start_of_year(now)?.min(midnight(oldest, |day| day)?)),
        }
    }

    /// What a layout whose time field begins with `epoch` has to meet.
    ///
    /// # Errors
    /// The numbers contradict one another.
    pub fn needs(&self, epoch: SystemTime, now: SystemTime) -> Result<Needs, Problem> {
        let Ok(age) = now.duration_since(epoch) else { return Err(Problem::EpochInFuture) };
        let rate = self.rate.unwrap_or(Quantity::whole(1000));
        let peak = self.peak.unwrap_or(rate);
        if peak < rate {
            return Err(Problem::PeakBelowRate);
        }
        if rate.thousandths == 0 && peak.thousandths == 0 {
            return Err(Problem::NoRate);
        }
        let peaks = u128::from(self.peaks_per_day.thousandths) * self.peak_for.as_millis();
        if peak > rate && peaks > 86_400_000 * 1000 {
            return Err(Problem::PeaksFillDay);
        }
        let has_peaks = peak != rate;
        Ok(Needs {
            above: self.above.unwrap_or(0),
            age_ms: saturating_u64(age.as_millis()),
            years: self.years,
            nodes: self.nodes,
            restarts_per_day: self.restarts_per_day,
            rate,
            peak,
            peak_for: self.peak_for,
            peaks_per_day: if has_peaks { self.peaks_per_day } else { Quantity::whole(0) },
            max_lead: self.max_lead,
        })
    }

    /// Whether [`Layout::DEFAULT`], which has an epoch of its own, meets `needs` as well.
    #[must_use]
    pub fn default_is_enough(&self, needs: &Needs, now: SystemTime) -> bool {
        let age = now.duration_since(Layout::DEFAULT.epoch()).unwrap_or_default();
        let of_default = Needs { age_ms: saturating_u64(age.as_millis()), ..*needs };
        of_default.fits(FieldWidths::of(&Layout::DEFAULT))
            && self.oldest.is_none_or(|oldest| oldest >= Layout::DEFAULT.epoch())
            && Layout::DEFAULT.min_uid(now).is_some_and(|first| first.get() > needs.above)
    }
}

impl Plan {
    /// The layouts for `needs`, whose time fields begin with `epoch` or earlier.
    ///
    /// # Errors
    /// A layout cannot be made, as where the platform has no time so early.
    pub fn new(needs: &Needs, epoch: SystemTime, now: SystemTime) -> Result<Plan, LayoutError> {
        match needs.recommended() {
            Some(split) => candidates(needs, split, epoch, now).map(Plan::Fits),
            None if Needs { above: 0, ..*needs }.recommended().is_some() => {
                Ok(Plan::NothingExceeds)
            }
            None => Ok(Plan::TooMuch),
        }
    }

    /// The recommended layout and the others; empty where nothing fits.
    #[must_use]
    pub fn candidates(&self) -> &[Candidate] {
        match self {
            Plan::Fits(candidates) => candidates,
            Plan::NothingExceeds | Plan::TooMuch => &[],
        }
    }
}

fn start_of_year(now: SystemTime) -> Result<SystemTime, Problem> {
    midnight(now, Date::first_of_year)
}

/// The beginning of the day that `of` makes of that of `time`, in UTC.
fn midnight(time: SystemTime, of: impl FnOnce(Date) -> Date) -> Result<SystemTime, Problem> {
    let start = Timestamp::try_from(time).and_then(|time| {
        Ok(of(time.to_zoned(TimeZone::UTC).date()).to_zoned(TimeZone::UTC)?.timestamp())
    });
    start.map(SystemTime::from).map_err(|_| Problem::NoClock)
}

/// Reads for how many years a layout must last.
///
/// # Errors
/// The text is no number from 1 to 10,000.
pub fn years(text: &str) -> Result<u64, String> {
    count_of(text, "years", 1..=10_000)
}

/// Reads how many nodes there are.
///
/// # Errors
/// The text is no number from 1 to 1,000,000,000.
pub fn nodes(text: &str) -> Result<u64, String> {
    match count(text)? {
        0 => Err("there is at least 1 node".to_owned()),
        nodes @ ..=1_000_000_000 => Ok(nodes),
        _ => Err(format!("there are at most {}", counted(1_000_000_000, "node"))),
    }
}
