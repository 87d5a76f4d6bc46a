//! The options that name a layout.

use std::time::{Duration, SystemTime};

use clap::ValueEnum;
use uidring::{FieldOrder, Layout, LayoutError};

use crate::errors::with_causes;
use crate::length::length;
use crate::time::time;

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
    #[arg(long, value_name = "TIME", value_parser = time)]
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

fn tick(text: &str) -> Result<Duration, String> {
    length(text).map_err(|_| "a tick is a length from 1ms to 1s, such as 10ms".to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::{tick, widths};
    use std::time::Duration;
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
    fn a_tick_has_a_unit() {
        assert_eq!(tick("1s"), Ok(Duration::from_secs(1)));
        assert_eq!(tick("10ms"), Ok(Duration::from_millis(10)));
        for wrong in ["", "1", "s", "ms", "-1s"] {
            assert!(tick(wrong).is_err(), "{wrong}");
        }
    }
}
