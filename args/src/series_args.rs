//! The options that say what a new series is, beside its pattern.

use uidring::series::{
    Pattern, SeriesDefinition, SeriesDefinitionError, SeriesRecord, SeriesVersion, Unit,
};
use uidring_layouts::quantity;

/// The options that say what a new series is, beside its pattern.
#[derive(Clone, Debug, clap::Args)]
pub struct SeriesArgs {
    /// Where its days begin, by the name in the database of IANA [default: UTC]
    #[arg(long, value_name = "ZONE")]
    time_zone: Option<String>,

    /// Count without gaps, each number in the transaction that stores the document
    #[arg(long)]
    gapless: bool,

    /// With what the numbers begin anew: day, week, month, quarter, year, fiscal-year or never
    /// [default: the finest period that the pattern shows]
    #[arg(long, value_name = "UNIT", value_parser = restart)]
    restart: Option<String>,

    /// The month and the day that fiscal years begin with, such as 04-06, for {fy}
    #[arg(long, value_name = "MM-DD", value_parser = first_day)]
    fiscal_year_from: Option<(u8, u8)>,

    /// How many numbers a process takes at a time, fewer where the pattern has few: 500, 20k
    /// [default: 100]
    #[arg(long, value_name = "N", value_parser = quantity::count)]
    step: Option<u64>,

    /// The first number of each period [default: 1]
    #[arg(long, value_name = "N", value_parser = quantity::count)]
    first: Option<u64>,
}

/// The name of what the numbers of a series begin anew with.
///
/// # Errors
///
/// What is wrong with it.
pub fn restart(text: &str) -> Result<String, String> {
    let any_day = Some((1, 1));
    Unit::from_name(text, any_day).map_err(|error| error.to_string())?;
    Ok(text.to_owned())
}

/// The month and the day that a text such as `04-06` says. Whether there is such a day is for
/// [`SeriesDefinition::check`] to say.
///
/// # Errors
///
/// What is wrong with it.
pub fn first_day(text: &str) -> Result<(u8, u8), String> {
    let number = |digits: &str| {
        let is_number = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { digits.parse().ok() } else { None }
    };
    let parts = text.split_once('-').and_then(|(month, day)| Some((number(month)?, number(day)?)));
    parts.ok_or_else(|| format!("{text:?} is no month and day: write them like 04-06"))
}

/// The text that [`first_day`] reads.
#[must_use]
pub fn first_day_text((month, day): (u8, u8)) -> String {
    format!("{month:02}-{day:02}")
}

/// The definition of a series whose numbers of today are written by `pattern`. A version of later
/// days may be there already.
#[must_use]
pub fn present_definition<'a>(record: &'a SeriesRecord, pattern: &Pattern) -> &'a SeriesDefinition {
    let writes = |version: &&SeriesVersion| version.definition.pattern() == pattern;
    let present = record.versions.iter().rev().find(writes);
    &present.unwrap_or_else(|| record.newest()).definition
}

impl SeriesArgs {
    /// With what the numbers begin anew, where an option says it.
    #[must_use]
    pub fn restart(&self) -> Option<&str> {
        self.restart.as_deref()
    }

    /// `new`, with what the options say.
    ///
    /// # Errors
    ///
    /// [`SeriesDefinitionError`], if the numbers begin anew with fiscal years, and nothing says
    /// when these begin.
    pub fn complete(
        &self,
        mut new: SeriesDefinition,
    ) -> Result<SeriesDefinition, SeriesDefinitionError> {
        if let Some(zone) = &self.time_zone {
            new = new.time_zone(zone);
        }
        if self.gapless {
            new = new.gapless();
        }
        if let Some((month, day)) = self.fiscal_year_from {
            new = new.fiscal_year_from(month, day);
        }
        if let Some(unit) = &self.restart {
            new = new.restart(Unit::from_name(unit, self.fiscal_year_from)?);
        }
        if let Some(step) = self.step {
            new = new.step(step);
        }
        if let Some(first) = self.first {
            new = new.first(first);
        }
        Ok(new)
    }
}
