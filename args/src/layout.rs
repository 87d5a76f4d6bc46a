//! The options that name a layout.

use std::time::{Duration, SystemTime};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use uidring::{FieldOrder, Layout};
use uidring_layouts::{LayoutChoice, Preset, WrongChoice, tick, time, widths};

/// The options that name a layout.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Layout options")]
pub struct LayoutArgs {
    /// A layout that is known by a name
    #[arg(long, value_name = "NAME", value_parser = preset(), hide_possible_values = true,
        conflicts_with = "layout", help = preset_help())]
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

/// Reads a preset. Those that no generator has are known, so that they are told from misspelt
/// names, but not listed.
fn preset() -> impl TypedValueParser<Value = Preset> {
    let values = Preset::ALL.map(|preset| {
        let (name, others) = preset.names().split_first().unwrap_or((&"", &[]));
        PossibleValue::new(*name).aliases(others.to_vec()).hide(preset.layout().is_none())
    });
    PossibleValuesParser::new(values)
        .try_map(|name| Preset::named(&name).ok_or("no layout has this name"))
}

fn preset_help() -> String {
    let made = Preset::ALL.into_iter().filter(|preset| preset.layout().is_some());
    let names: Vec<String> = made.map(|preset| format!("`{}`", preset.name())).collect();
    format!("A layout that is known by a name: {}", names.join(", "))
}

/// [`FieldOrder`] on the command line.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Order {
    TimeFirst,
    WorkerFirst,
}

impl From<Order> for FieldOrder {
    fn from(order: Order) -> FieldOrder {
        match order {
            Order::TimeFirst => FieldOrder::TimeFirst,
            Order::WorkerFirst => FieldOrder::WorkerFirst,
        }
    }
}

impl LayoutArgs {
    /// The options given.
    #[must_use]
    pub fn choice(&self) -> LayoutChoice {
        let &LayoutArgs { preset, layout, order, epoch, tick } = self;
        LayoutChoice { preset, widths: layout, order: order.map(FieldOrder::from), epoch, tick }
    }

    /// The layout asked for, for a generator; `None` if no option was given.
    ///
    /// # Errors
    /// There is no such layout, or no generator can have it.
    pub fn requested(&self) -> Result<Option<Layout>, WrongChoice> {
        self.choice().layout()
    }
}
