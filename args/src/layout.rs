//! The options that name a layout.

use std::time::{Duration, SystemTime};

use clap::ValueEnum;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use uidring::{FieldOrder, Layout, LayoutError};

use crate::errors::with_causes;
use crate::length::length;

/// The options that name a layout.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Layout options")]
pub struct LayoutArgs {
    /// A layout that is known by a name
    #[arg(long, value_name = "NAME", hide_possible_values = true, conflicts_with = "layout",
        help = preset_help())]
    preset: Option<Preset>,

    /// The widths of time, worker and sequence in bits, such as 29,21,13
    #[arg(long, value_name = "T,W,S", value_parser = widths)]
    layout: Option<Layout>,

    /// Which field is on top: `time-first`, so that all UIDs sort by time, or `worker-first`
    #[arg(long, value_name = "ORDER", hide_possible_values = true)]
    order: Option<Order>,

    /// When the time field begins: RFC 3339, or a date, which begins at midnight UTC
    #[arg(long, value_name = "TIME", value_parser = epoch)]
    epoch: Option<SystemTime>,

    /// What the time field counts, such as 1s or 10ms
    #[arg(long, value_name = "LENGTH", value_parser = tick)]
    tick: Option<Duration>,
}

/// The constants of [`Layout`].
#[allow(missing_docs)] // a comment would be shown in the help
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Preset {
    Default,
    UidGenerator,
    UidGeneratorStarter,
    #[value(alias = "leaf")]
    Twitter,
    ShardingSphere,
    Seata,
    JsSafe,
}

impl Preset {
    /// The constant.
    #[must_use]
    pub fn layout(self) -> Layout {
        match self {
            Preset::Default => Layout::DEFAULT,
            Preset::UidGenerator => Layout::UID_GENERATOR,
            Preset::UidGeneratorStarter => Layout::UID_GENERATOR_STARTER,
            Preset::Twitter => Layout::TWITTER,
            Preset::ShardingSphere => Layout::SHARDING_SPHERE,
            Preset::Seata => Layout::SEATA,
            Preset::JsSafe => Layout::JS_SAFE,
        }
    }

    /// As it is written on the command line.
    #[must_use]
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

fn preset_help() -> String {
    let names: Vec<String> =
        Preset::value_variants().iter().map(|preset| format!("`{}`", preset.name())).collect();
    format!("A layout that is known by a name: {}", names.join(", "))
}

/// [`FieldOrder`] on the command line.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Order {
    TimeFirst,
    WorkerFirst,
}

impl LayoutArgs {
    /// The layout asked for; `None` if no option was given.
    ///
    /// # Errors
    /// There is no such layout.
    pub fn requested(&self) -> Result<Option<Layout>, LayoutError> {
        let &LayoutArgs { preset, layout, order, epoch, tick } = self;
        let named = preset.map(Preset::layout).or(layout);
        if named.is_none() && order.is_none() && epoch.is_none() && tick.is_none() {
            return Ok(None);
        }
        let mut asked = named.unwrap_or_default();
        match order {
            Some(Order::TimeFirst) => asked = asked.with_order(FieldOrder::TimeFirst),
            Some(Order::WorkerFirst) => asked = asked.with_order(FieldOrder::WorkerFirst),
            None => {}
        }
        if let Some(tick) = tick {
            asked = asked.with_tick(tick)?;
        }
        if let Some(epoch) = epoch {
            asked = asked.with_epoch(epoch)?;
        }
        Ok(Some(asked))
    }
}

fn widths(text: &str) -> Result<Layout, String> {
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
    let is_wide = |word: &&&str| is_number(word) && word.len() > 9;
    if words.len() == 3
        && words.iter().all(is_number)
        && let Some(wide) = words.iter().find(is_wide)
    {
        return Err(format!("a field of {wide} bits is too wide: a UID has 63 in all"));
    }
    let widths: Option<Vec<u32>> = words.iter().map(|width| width.parse().ok()).collect();
    match widths.unwrap_or_default()[..] {
        [time, worker, sequence] => {
            Layout::new(time, worker, sequence).map_err(|error| with_causes(&error))
        }
        _ => Err("a layout is three widths in bits, such as 29,21,13; a layout with a name is \
                  chosen by --preset"
            .to_owned()),
    }
}

/// Parses a time in RFC 3339, or a date, which begins at midnight UTC.
///
/// # Errors
/// The text is neither.
pub fn epoch(text: &str) -> Result<SystemTime, String> {
    let midnight = |date: Date| date.to_zoned(TimeZone::UTC).map(|zoned| zoned.timestamp());
    // `Date` also parses a longer text that begins with a date: such a text is a time.
    let time = match text.parse::<Date>() {
        Ok(date) if text.len() == "2026-01-01".len() => midnight(date),
        _ => text.parse::<Timestamp>(),
    };
    match time {
        Ok(time) => system_time(time).ok_or_else(|| {
            format!("{time} is a time that this system does not have: take a later one")
        }),
        Err(_) => {
            Err("a time is such as 2026-01-01T00:00:00Z, or a date such as 2026-01-01".to_owned())
        }
    }
}

/// `None` where the system has no such time, as Windows has none before the year 1601.
fn system_time(time: Timestamp) -> Option<SystemTime> {
    let distance = time.as_duration();
    let length = distance.unsigned_abs();
    if distance.is_negative() {
        SystemTime::UNIX_EPOCH.checked_sub(length)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(length)
    }
}

fn tick(text: &str) -> Result<Duration, String> {
    length(text).map_err(|_| "a tick is a length from 1ms to 1s, such as 10ms".to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::{epoch, tick, widths};
    use std::time::{Duration, SystemTime};
    use uidring::Layout;

    #[test]
    fn layouts_have_three_widths() {
        let expected = Layout::new(29, 21, 13).map_err(|error| error.to_string());
        assert_eq!(widths("29,21,13"), expected);
        for wrong in ["", "29,21", "29,21,13,1", "29,21,x", "-29,21,13", "leaf"] {
            assert!(widths(wrong).unwrap_err().contains("three widths"), "{wrong}");
        }
        assert!(widths("40,20,13").unwrap_err().contains("73"));
    }

    #[test]
    fn an_epoch_is_a_time_or_a_date() {
        let expected = Ok(SystemTime::UNIX_EPOCH + Duration::from_secs(1_474_300_800));
        for text in ["2016-09-19T16:00:00Z", "2016-09-20T00:00:00+08:00", "2016-09-19 16:00:00Z"] {
            assert_eq!(epoch(text), expected, "{text}");
        }
        assert_eq!(
            epoch("2016-09-19"),
            Ok(SystemTime::UNIX_EPOCH + Duration::from_secs(1_474_243_200))
        );
        for (text, ms) in [
            ("1969-12-31T23:59:59.999Z", -1),
            ("1601-01-01", -11_644_473_600_000_i64),
            ("1970-01-01", 0),
            ("9999-12-30T22:00:00Z", 253_402_207_200_000),
        ] {
            let since = epoch(text).unwrap().duration_since(SystemTime::UNIX_EPOCH);
            let found = match since {
                Ok(since) => i64::try_from(since.as_millis()).unwrap(),
                Err(before) => -i64::try_from(before.duration().as_millis()).unwrap(),
            };
            assert_eq!(found, ms, "{text}");
        }
        // Before the first time of Windows.
        assert_eq!(epoch("1600-01-01").is_ok(), cfg!(not(windows)));
        // Midnight of where?
        for wrong in ["", "2016-09-19T16:00:00", "yesterday", "1474300800"] {
            assert!(epoch(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_tick_has_a_unit() {
        assert_eq!(tick("1s"), Ok(Duration::from_secs(1)));
        assert_eq!(tick("10ms"), Ok(Duration::from_millis(10)));
        for wrong in ["", "1", "s", "ms", "-1s"] {
            assert!(tick(wrong).is_err(), "{wrong}");
        }
    }
}
