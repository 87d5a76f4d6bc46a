//! The options that name a layout.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use uidring::{Layout, LayoutError};

use crate::db::{self, Db};
use crate::output::{Failure, with_causes};
use crate::patience::patiently;
use crate::quantity;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Layout options")]
pub(crate) struct LayoutArgs {
    /// How a UID is split: `default` (30,20,13), `uid-generator` (28,22,13 from
    /// 2016-05-19T16:00:00Z), or the widths of time, worker and sequence in bits, such as 29,21,13
    #[arg(long, value_name = "NAME|T,W,S", value_parser = named_or_widths)]
    layout: Option<Layout>,

    /// When the time field begins: RFC 3339, or a date, which begins at midnight UTC
    #[arg(long, value_name = "TIME", value_parser = epoch)]
    epoch: Option<SystemTime>,

    /// What the time field counts, such as 1s or 10ms
    #[arg(long, value_name = "LENGTH", value_parser = tick)]
    tick: Option<Duration>,
}

impl LayoutArgs {
    /// The layout asked for; `None` where no option was given.
    pub(crate) fn asked(&self) -> Result<Option<Layout>, LayoutError> {
        let &LayoutArgs { layout, epoch, tick } = self;
        if layout.is_none() && epoch.is_none() && tick.is_none() {
            return Ok(None);
        }
        let mut asked = layout.unwrap_or_default();
        if let Some(tick) = tick {
            asked = asked.with_tick(tick)?;
        }
        if let Some(epoch) = epoch {
            asked = asked.with_epoch(epoch)?;
        }
        Ok(Some(asked))
    }
}

/// [`LayoutArgs`], or the layout of a registry.
#[derive(Debug, clap::Args)]
pub(crate) struct LayoutOrDb {
    #[command(flatten)]
    layout: LayoutArgs,

    /// Use the layout of this registry: a SQLite file, or the address of a server, postgres://.. or
    /// mysql://.. Without this option and without a layout, `UIDRING_DB` names the registry
    #[arg(
        long, value_name = "FILE|URL", value_parser = db::parser(),
        conflicts_with_all = ["layout", "epoch", "tick"]
    )]
    db: Option<Db>,
}

impl LayoutOrDb {
    pub(crate) fn layout(&self) -> Result<Layout, Failure> {
        if let Some(db) = &self.db {
            return remembered(db);
        }
        match (self.layout.asked()?, Db::of_environment()) {
            (Some(asked), _) => Ok(asked),
            (None, Some(db)) => remembered(&db),
            (None, None) => Ok(Layout::DEFAULT),
        }
    }
}

fn remembered(db: &Db) -> Result<Layout, Failure> {
    let layout = patiently(db, || Ok::<_, Failure>(db.open_existing()?.layout()?))?;
    layout.ok_or_else(|| {
        Failure::Failed(format!("the registry {db} has not been used with a layout yet"))
    })
}

fn named_or_widths(text: &str) -> Result<Layout, String> {
    match text {
        "default" => return Ok(Layout::DEFAULT),
        "uid-generator" => return Ok(Layout::UID_GENERATOR),
        _ => {}
    }
    let widths: Vec<u32> = text
        .split(',')
        .map(|width| width.trim().parse().ok())
        .collect::<Option<_>>()
        .unwrap_or_default();
    match widths[..] {
        [time, worker, sequence] => {
            Layout::new(time, worker, sequence).map_err(|error| with_causes(&error))
        }
        _ => {
            Err("a layout is `default`, `uid-generator`, or three widths in bits such as 29,21,13"
                .to_owned())
        }
    }
}

pub(crate) fn epoch(text: &str) -> Result<SystemTime, String> {
    let midnight = |date: Date| date.to_zoned(TimeZone::UTC).map(|zoned| zoned.timestamp());
    // `Date` also parses a longer text that begins with a date: such a text is a time.
    let time = match text.parse::<Date>() {
        Ok(date) if text.len() == "2026-01-01".len() => midnight(date),
        _ => text.parse::<Timestamp>(),
    };
    match time {
        Ok(time) => Ok(time.into()),
        Err(_) => {
            Err("a time is such as 2026-01-01T00:00:00Z, or a date such as 2026-01-01".to_owned())
        }
    }
}

fn tick(text: &str) -> Result<Duration, String> {
    quantity::length(text).map_err(|_| "a tick is a length such as 1s or 10ms".to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that cannot go on has failed
mod tests {
    use super::{epoch, named_or_widths, tick};
    use std::time::{Duration, SystemTime};
    use uidring::Layout;

    #[test]
    fn layouts_have_names_or_widths() {
        assert_eq!(named_or_widths("default"), Ok(Layout::DEFAULT));
        assert_eq!(named_or_widths("uid-generator"), Ok(Layout::UID_GENERATOR));
        assert_eq!(
            named_or_widths("29,21,13"),
            Layout::new(29, 21, 13).map_err(|error| error.to_string())
        );
        for wrong in ["", "29,21", "29,21,13,1", "29,21,x", "-29,21,13", "leaf"] {
            assert!(named_or_widths(wrong).unwrap_err().contains("three widths"), "{wrong}");
        }
        assert!(named_or_widths("40,20,13").unwrap_err().contains("73"));
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
