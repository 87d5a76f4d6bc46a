//! The options that name a layout, as the tool `uidring` has them.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use uidring::{FieldOrder, Layout, LayoutError};
use uidring_args::some_length;

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "UIDs of time")]
pub(crate) struct LayoutOptions {
    /// A layout that is known by a name
    #[arg(long, value_name = "NAME", env = "UIDRING_SERVER_PRESET", conflicts_with = "layout")]
    preset: Option<Preset>,

    /// The widths of time, worker and sequence in bits, such as 29,21,13
    #[arg(long, value_name = "T,W,S", env = "UIDRING_SERVER_LAYOUT", value_parser = widths)]
    layout: Option<Layout>,

    /// Which field is on top
    #[arg(long, value_name = "ORDER", env = "UIDRING_SERVER_ORDER")]
    order: Option<Order>,

    /// When the time field begins: RFC 3339, or a date, which begins at
    /// midnight UTC
    #[arg(long, value_name = "TIME", env = "UIDRING_SERVER_EPOCH", value_parser = epoch)]
    epoch: Option<SystemTime>,

    /// What the time field counts, such as 1s or 10ms
    #[arg(
        long, value_name = "LENGTH", env = "UIDRING_SERVER_TICK", value_parser = some_length
    )]
    tick: Option<Duration>,
}

/// The constants of [`Layout`].
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Preset {
    Default,
    UidGenerator,
    #[value(alias = "leaf")]
    Twitter,
    ShardingSphere,
    Seata,
    JsSafe,
}

impl Preset {
    fn layout(self) -> Layout {
        match self {
            Preset::Default => Layout::DEFAULT,
            Preset::UidGenerator => Layout::UID_GENERATOR,
            Preset::Twitter => Layout::TWITTER,
            Preset::ShardingSphere => Layout::SHARDING_SPHERE,
            Preset::Seata => Layout::SEATA,
            Preset::JsSafe => Layout::JS_SAFE,
        }
    }
}

/// [`FieldOrder`] as an option.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Order {
    TimeFirst,
    WorkerFirst,
}

impl LayoutOptions {
    /// The layout asked for; `None` where no option was given.
    pub(crate) fn asked(&self) -> Result<Option<Layout>, LayoutError> {
        let &LayoutOptions { preset, layout, order, epoch, tick } = self;
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
    let widths: Option<Vec<u32>> = text.split(',').map(|width| width.trim().parse().ok()).collect();
    match widths.unwrap_or_default()[..] {
        [time, worker, sequence] => {
            Layout::new(time, worker, sequence).map_err(|error| error.to_string())
        }
        _ => Err("a layout is three widths in bits, such as 29,21,13".to_owned()),
    }
}

pub(crate) fn epoch(text: &str) -> Result<SystemTime, String> {
    // `Date` also parses a longer text that begins with a date: such a text is a time.
    let time = match text.parse::<Date>() {
        Ok(date) if text.len() == "2026-01-01".len() => {
            date.to_zoned(TimeZone::UTC).map(|zoned| zoned.timestamp())
        }
        _ => text.parse::<Timestamp>(),
    };
    time.map(SystemTime::from).map_err(|_| {
        "a time is such as 2026-01-01T00:00:00Z, or a date such as 2026-01-01".to_owned()
    })
}
