//! [`SeriesDefinition`], what a series is.

use jiff::tz::{TimeZone, TimeZoneDatabase};

use super::error::{PatternError, SeriesDefinitionError};
use super::first_day::FirstDay;
use super::pattern::Pattern;
use super::period::Unit;

/// How many numbers a process takes at once, unless it is set.
const STEP: u64 = 100;
/// The largest step that can be set.
const MAX_STEP: u64 = 1_000_000_000;
/// A process takes at once at most one of so many parts of a period's numbers.
const PARTS: u64 = 16;
/// So many may always be taken at once.
const FEW: u64 = 10;

/// What a series is: how its numbers are written, when it begins anew, how it is counted.
///
/// ```
/// use uidring::series::SeriesDefinition;
///
/// let orders = SeriesDefinition::new("SO{yyyy}{MM}{dd}-{n:6}")?.time_zone("Asia/Shanghai");
/// orders.check()?;
/// assert_eq!(orders.pattern().largest(), 999_999);
///
/// let invoices = SeriesDefinition::new("{fy}-{n:5}{check:damm}")?
///     .fiscal_year_from(4, 6)
///     .gapless();
/// invoices.check()?;
///
/// let error = SeriesDefinition::new("{n}")?.time_zone("Asia/Shangai").check().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "there is no time zone \"Asia/Shangai\": did you mean \"Asia/Shanghai\"?"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesDefinition {
    pattern: Pattern,
    /// `None` is UTC.
    time_zone: Option<Box<str>>,
    is_gapless: bool,
    /// The month and the day, as they were given.
    fiscal_year_from: Option<(u8, u8)>,
    step: u64,
    first: u64,
}

impl SeriesDefinition {
    /// A fast series from 1 on, in UTC.
    ///
    /// # Errors
    ///
    /// [`PatternError`], if `pattern` is not a [`Pattern`].
    pub fn new(pattern: &str) -> Result<SeriesDefinition, PatternError> {
        Ok(SeriesDefinition {
            pattern: pattern.parse()?,
            time_zone: None,
            is_gapless: false,
            fiscal_year_from: None,
            step: STEP,
            first: 1,
        })
    }

    /// The same with another pattern, such as one with a wider number. What the number begins anew
    /// with stays where [`restart`](SeriesDefinition::restart) has set it apart from what is shown.
    ///
    /// ```
    /// use uidring::series::SeriesDefinition;
    ///
    /// let seats = SeriesDefinition::new("S{n:2}")?.time_zone("Europe/Berlin").first(10);
    /// let wider = seats.with_pattern("S{n:3}")?;
    /// assert_eq!((wider.time_zone_name(), wider.first_number()), ("Europe/Berlin", 10));
    /// # Ok::<(), uidring::series::PatternError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`new`](SeriesDefinition::new).
    pub fn with_pattern(self, pattern: &str) -> Result<SeriesDefinition, PatternError> {
        let (shown, unit) = (self.pattern.shown(), self.pattern.unit());
        let mut with = SeriesDefinition { pattern: pattern.parse()?, ..self };
        if let Some((month, day)) = with.fiscal_year_from {
            with = with.fiscal_year_from(month, day);
        }
        Ok(if unit == shown { with } else { with.restart(unit) })
    }

    /// The time zone in which days begin, by its name in the database of IANA, such as
    /// `Asia/Shanghai`. It is UTC unless it is set.
    ///
    /// The database is the system's, or where the system has none or lacks the name, the one that
    /// is compiled in.
    #[must_use]
    pub fn time_zone(mut self, name: &str) -> SeriesDefinition {
        self.time_zone = Some(name.into());
        self
    }

    /// Counts without gaps, each number in the transaction of the document that has it.
    #[must_use]
    pub fn gapless(mut self) -> SeriesDefinition {
        self.is_gapless = true;
        self
    }

    /// The month and the day with which fiscal years begin, for a pattern with `{fy}`, or one that
    /// [begins anew](SeriesDefinition::restart) with the fiscal year. Each year has to have that
    /// day, so it is not 29 February.
    ///
    /// ```
    /// use uidring::series::SeriesDefinition;
    ///
    /// let invoices = SeriesDefinition::new("INV/{fy:yy-yy}/{n:5}")?.fiscal_year_from(4, 6);
    /// invoices.check()?;
    /// let text = invoices.pattern().format("2027-04-05".parse()?, None, 42)?;
    /// assert_eq!(text, "INV/26-27/00042");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn fiscal_year_from(mut self, month: u8, day: u8) -> SeriesDefinition {
        self.fiscal_year_from = Some((month, day));
        self.pattern.begin_fiscal_years_on(FirstDay::nearest(month, day));
        self
    }

    /// With what the number begins anew. Unless it is set, this is the finest period that the
    /// pattern shows: `{yy}{MM}-{n:4}` begins anew with each month. A longer one lets the numbers
    /// go on while what is shown changes; with [`Unit::Ever`] they always go on.
    ///
    /// A [`Unit::FiscalYear`] says its first day, as
    /// [`fiscal_year_from`](SeriesDefinition::fiscal_year_from) does: the later call counts.
    ///
    /// [`check`](SeriesDefinition::check) refuses what would give two numbers one text: a period
    /// that the pattern does not show, as a month where it shows the year alone.
    ///
    /// ```
    /// use uidring::series::{SeriesDefinition, Unit};
    ///
    /// let invoices = SeriesDefinition::new("{yy}{MM}-{n:4}")?.restart(Unit::Year);
    /// invoices.check()?;
    /// let parsed = invoices.pattern().parse("2611-0042")?;
    /// assert_eq!((parsed.value(), parsed.period().to_string()), (42, "2026".to_owned()));
    ///
    /// let months = SeriesDefinition::new("{yyyy}-{n:4}")?.restart(Unit::Month);
    /// assert_eq!(
    ///     months.check().unwrap_err().to_string(),
    ///     "at byte 0 of the pattern: the number begins anew with each month, and {yyyy} does not \
    ///      say which one it is, so two numbers would have one text: show it by {yyyy}{MM}"
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn restart(mut self, unit: Unit) -> SeriesDefinition {
        self.pattern.restart(unit);
        match unit {
            Unit::FiscalYear { first_month, first_day } => {
                self.fiscal_year_from(first_month, first_day)
            }
            _ => self,
        }
    }

    /// How many numbers a process takes at once, 1 to 10^9. It is 100 unless it is set, and of a
    /// pattern with few numbers never more than [`most_at_once`](SeriesDefinition::most_at_once).
    #[must_use]
    pub fn step(mut self, step: u64) -> SeriesDefinition {
        self.step = step;
        self
    }

    /// The first number of each period, at least 1. It is 1 unless it is set.
    #[must_use]
    pub fn first(mut self, first: u64) -> SeriesDefinition {
        self.first = first;
        self
    }

    /// How the numbers are written.
    #[must_use]
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// The name of the time zone, `UTC` unless it is set.
    #[must_use]
    pub fn time_zone_name(&self) -> &str {
        self.time_zone.as_deref().unwrap_or("UTC")
    }

    /// Whether the series is counted without gaps.
    #[must_use]
    pub fn is_gapless(&self) -> bool {
        self.is_gapless
    }

    /// The month and the day with which fiscal years begin, if they are set.
    #[must_use]
    pub fn fiscal_first_day(&self) -> Option<(u8, u8)> {
        self.fiscal_year_from
    }

    /// How many numbers a process takes at once.
    #[must_use]
    pub fn step_size(&self) -> u64 {
        self.step
    }

    /// The first number of each period.
    #[must_use]
    pub fn first_number(&self) -> u64 {
        self.first
    }

    /// The most numbers that a process takes at once: a sixteenth of those of a period, or 10 if
    /// that is more. One that is killed loses them, and one that is idle has them in memory.
    #[must_use]
    pub fn most_at_once(&self) -> u64 {
        (self.pattern.largest() / PARTS).max(FEW)
    }

    /// Whether its numbers are those of `before`, written wider.
    pub(crate) fn only_widens(&self, before: &SeriesDefinition) -> bool {
        self.pattern.only_widens(&before.pattern)
            && self.pattern.unit() == before.pattern.unit()
            && self.first == before.first
    }

    /// Whether numbers can be counted by this definition. Whoever creates a series asks this.
    ///
    /// # Errors
    ///
    /// [`SeriesDefinitionError`]: what is set to something else than what its method says.
    pub fn check(&self) -> Result<(), SeriesDefinitionError> {
        let restarts = matches!(self.pattern.unit(), Unit::FiscalYear { .. });
        let has_fiscal_year = restarts || self.pattern.has_fiscal_year();
        match self.fiscal_year_from {
            Some((month, day)) if FirstDay::new(month, day).is_none() => {
                return Err(SeriesDefinitionError::FirstDay { month, day });
            }
            Some(_) if !has_fiscal_year => return Err(SeriesDefinitionError::NoFiscalYear),
            None if has_fiscal_year => return Err(SeriesDefinitionError::NoFirstDay),
            _ => {}
        }
        self.pattern.check_restart().map_err(SeriesDefinitionError::Restart)?;
        if !(1..=MAX_STEP).contains(&self.step) {
            return Err(SeriesDefinitionError::Step { step: self.step, most: MAX_STEP });
        }
        let largest = self.pattern.largest();
        if !(1..=largest).contains(&self.first) {
            return Err(SeriesDefinitionError::First { first: self.first, largest });
        }
        self.zone().map(drop)
    }

    /// The time zone.
    pub(crate) fn zone(&self) -> Result<TimeZone, SeriesDefinitionError> {
        let name = self.time_zone_name();
        // Some systems have all zones but those names that were replaced by others.
        let zone = jiff::tz::db().get(name).or_else(|_| TimeZoneDatabase::bundled().get(name));
        // The database of a system can have files beside those of IANA, such as that of its own
        // zone, which are other zones on other systems. And one zone stands for none.
        let is_known = |zone: &TimeZone| !zone.is_unknown() && is_iana(name);
        zone.ok().filter(is_known).ok_or_else(|| SeriesDefinitionError::TimeZone {
            name: name.into(),
            alike: similar_names(name),
        })
    }
}

/// Whether a zone of this name is in the database that is compiled in, or is one of a later
/// database, which all have a continent.
fn is_iana(name: &str) -> bool {
    name.contains('/') || TimeZoneDatabase::bundled().get(name).is_ok()
}

/// The name of a time zone that is most like this one.
fn similar_names(name: &str) -> Option<String> {
    const ENOUGH: f64 = 0.7;
    let wanted = name.to_lowercase();
    let likeness =
        |known: &str| strsim::normalized_damerau_levenshtein(&wanted, &known.to_lowercase());
    let bundled = TimeZoneDatabase::bundled();
    let known = bundled.available().map(|known| (likeness(known.as_str()), known.to_string()));
    let likely = known.filter(|(likeness, _)| *likeness >= ENOUGH);
    likely.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, known)| known)
}
