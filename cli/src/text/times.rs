//! Times as they are written.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use uidring::Layout;

/// Formats the times of one layout, all to the same precision: whole seconds if its ticks are
/// whole seconds, else milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    digits: usize,
}

impl Times {
    pub(crate) fn of(layout: &Layout) -> Times {
        let whole = |time: SystemTime| {
            Timestamp::try_from(time).is_ok_and(|time| time.subsec_nanosecond() == 0)
        };
        let seconds = layout.tick() == Duration::from_secs(1) && whole(layout.epoch());
        Times { digits: if seconds { 0 } else { 3 } }
    }

    /// For the times of a registry, which are in whole seconds.
    pub(crate) fn registry() -> Times {
        Times { digits: 0 }
    }

    /// `time` in UTC, in RFC 3339; `None` after the year 9999, which RFC 3339 cannot express.
    pub(crate) fn rfc3339(self, time: SystemTime) -> Option<String> {
        Timestamp::try_from(time).ok().map(|time| format!("{time:.*}", self.digits))
    }

    /// Like [`Times::rfc3339`], but every time has a text.
    pub(crate) fn utc(self, time: SystemTime) -> String {
        self.rfc3339(time).unwrap_or_else(|| {
            let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
            format!("Unix time {seconds}")
        })
    }

    /// `time` in the local time zone with its offset from UTC, in RFC 3339.
    pub(crate) fn local(self, time: SystemTime) -> Option<String> {
        let format = if self.digits == 0 { "%FT%T%:z" } else { "%FT%T%.3f%:z" };
        let time = Timestamp::try_from(time).ok()?;
        Some(time.to_zoned(TimeZone::system()).strftime(format).to_string())
    }
}

/// Whether local time differs from UTC at `time`.
pub(crate) fn differs_from_utc(time: SystemTime) -> bool {
    Timestamp::try_from(time).is_ok_and(|time| !TimeZone::system().to_offset(time).is_zero())
}
