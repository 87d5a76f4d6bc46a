//! Times as they are written.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use uidring::Layout;

/// Formats the times of one layout, all to the same precision: whole seconds if its ticks are
/// whole seconds, else milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    digits: usize,
}

impl Times {
    /// For the times of this layout.
    #[must_use]
    pub fn of(layout: &Layout) -> Times {
        let whole = |time: SystemTime| {
            Timestamp::try_from(time).is_ok_and(|time| time.subsec_nanosecond() == 0)
        };
        let seconds = layout.tick() == Duration::from_secs(1) && whole(layout.epoch());
        Times { digits: if seconds { 0 } else { 3 } }
    }

    /// For the times of a registry, which are in whole seconds.
    #[must_use]
    pub fn registry() -> Times {
        Times { digits: 0 }
    }

    /// How many decimals the seconds have.
    #[must_use]
    pub fn digits(self) -> usize {
        self.digits
    }

    /// `time` in UTC, in RFC 3339; `None` after the year 9999, which RFC 3339 cannot express.
    #[must_use]
    pub fn rfc3339(self, time: SystemTime) -> Option<String> {
        Timestamp::try_from(time).ok().map(|time| format!("{time:.*}", self.digits))
    }

    /// Like [`Times::rfc3339`], but every time has a text.
    #[must_use]
    pub fn utc(self, time: SystemTime) -> String {
        self.rfc3339(time).unwrap_or_else(|| {
            let seconds = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
            format!("Unix time {seconds}")
        })
    }
}
